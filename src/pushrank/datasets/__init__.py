"""Data sets: real ones from a local folder or OpenML, and one with a known truth.

Every loader looks first in the folder that ``data_home`` or the environment variable ``PUSHRANK_DATA`` names,
for a Parquet file, and then, where OpenML has the same rows, fetches them through scikit-learn's cache. Both
ways give the same columns, checked against the known numbers of rows and of labels. Class 1 is the positive
class, the one that belongs at the top; which original label that is, every loader says.
"""

from __future__ import annotations

from pushrank.datasets.census import load_adult, load_adult_a9a
from pushrank.datasets.graded import load_lambdarank_example
from pushrank.datasets.hidden_positives import make_hidden_positives
from pushrank.datasets.molecules import load_chembl, load_dud, load_muv, load_tox21
from pushrank.datasets.parquet_batches import ParquetBatches
from pushrank.datasets.rare import (
    load_cod_rna,
    load_cover_odds,
    load_ijcnn1,
    load_kddcup99_http,
    load_kddcup99_smtp,
)
from pushrank.datasets.uci import (
    load_abalone,
    load_housing,
    load_ionosphere,
    load_letter,
    load_magic,
    load_spambase,
)

__all__ = [
    "ParquetBatches",
    "load_abalone",
    "load_adult",
    "load_adult_a9a",
    "load_chembl",
    "load_cod_rna",
    "load_cover_odds",
    "load_dud",
    "load_housing",
    "load_ijcnn1",
    "load_ionosphere",
    "load_kddcup99_http",
    "load_kddcup99_smtp",
    "load_lambdarank_example",
    "load_letter",
    "load_magic",
    "load_muv",
    "load_spambase",
    "load_tox21",
    "make_hidden_positives",
]
