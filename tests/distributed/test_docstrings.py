"""The examples of docstrings and of the guide, which need a cluster and are skipped elsewhere."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "scale.md"
STAND_INS = {
    'Client("tcp://scheduler:8786")': "client",
    'dd.read_parquet("s3://bucket/transactions/")': "table",
    "10_000": "100",
}


@pytest.mark.nightly
@pytest.mark.usefixtures("client")
def test_the_docstrings_examples_run():
    runner, tests = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), doctest.DocTestFinder()
    for test in tests.find(import_module("pushrank.distributed.rows")):
        for example in test.examples:
            example.options.pop(doctest.SKIP, None)
        assert runner.run(test).failed == 0
    assert runner.tries > 0


@pytest.mark.nightly
def test_the_guides_code_runs(client):
    dd, datasets = pytest.importorskip("dask.dataframe"), import_module("sklearn.datasets")
    frame = datasets.load_breast_cancer(as_frame=True).frame.rename(columns={"target": "fraud"})
    frame.iloc[:, :-1] /= frame.iloc[:, :-1].std()
    names = {"client": client, "table": dd.from_pandas(frame, npartitions=2)}
    guide = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(?!>>>)(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    ran = [code for code in blocks if "import" in code and "pushrank.distributed" in code]
    assert len(ran) == 2
    for code in ran:
        for said, stand_in in STAND_INS.items():
            code = code.replace(said, stand_in)
        exec(code, names)  # noqa: S102
