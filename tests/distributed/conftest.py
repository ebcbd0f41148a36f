"""One cluster for all tests here: two workers of a thread each, in this process."""

import pytest


@pytest.fixture(scope="session")
def client():
    """Return a client of the cluster, the default one as long as it lives."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client
