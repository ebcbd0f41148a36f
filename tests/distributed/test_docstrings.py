"""The examples of docstrings, which need a cluster and are skipped elsewhere."""

import doctest
from importlib import import_module

import pytest


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["linear", "stream", "xgboost"])
@pytest.mark.usefixtures("client")
def test_the_docstrings_examples_run(name):
    runner, tests = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), doctest.DocTestFinder()
    for test in tests.find(import_module(f"pushrank.distributed.{name}")):
        for example in test.examples:
            example.options.pop(doctest.SKIP, None)
        assert runner.run(test).failed == 0
    assert runner.tries > 0
