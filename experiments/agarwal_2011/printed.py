"""The numbers printed in Agarwal, The Infinite Push, SDM 2011, as printed."""

from __future__ import annotations

from io import StringIO

import pandas as pd

TABLE_1 = {
    "f1": ([9.7, 7.3, 5.2, 4.0], [8.7, 6.3, 3.9, 2.7, 1.1, 0.8], "19/24", 1),
    "f2": ([9.5, 8.1, 7.2, 1.5], [6.3, 5.1, 4.4, 3.1, 2.7, 0.9], "19/24", 3),
}
"""Scores of the positives and of the negatives, the AUC, and the positives at the top."""

TABLE_2 = """
method            AUC     top   AP      DCG
RankSVM           0.9271  12.1  0.9330  16.6200
SVMMAP            0.9207  16.5  0.9357  16.7940
P-Norm Push p=1   0.9052  10.7  0.9086  16.4462
P-Norm Push p=4   0.8789   6.7  0.8849  16.2743
P-Norm Push p=16  0.9070  13.9  0.9218  16.6527
P-Norm Push p=64  0.8917   9.9  0.9064  16.4970
Infinite Push     0.9237  14.7  0.9328  16.6336
"""
"""Ionosphere."""

TABLE_3 = """
method            AUC     top   AP      DCG
RankSVM           0.9418  22.2  0.9010  189.6650
SVMMAP            0.9319  48.6  0.8957  189.6074
P-Norm Push p=1   0.9194  12.5  0.8714  188.2330
P-Norm Push p=4   0.8024   5.0  0.6905  180.4931
P-Norm Push p=16  0.8293  24.1  0.7707  185.4531
P-Norm Push p=64  0.8490  31.4  0.8143  187.3132
Infinite Push     0.9388  49.9  0.9028  189.8070
"""
"""Spambase."""

TABLE_4 = """
method            AUC     top   AP      DCG
RankSVM           0.8881  6.00  0.4708  6.4877
SVMMAP            0.8852  5.80  0.4778  6.5580
P-Norm Push p=1   0.8753  3.31  0.3714  5.9695
P-Norm Push p=4   0.8525  3.16  0.3178  5.5329
P-Norm Push p=16  0.8786  3.89  0.4005  6.1465
P-Norm Push p=64  0.8805  3.96  0.3997  6.1685
Infinite Push     0.8991  6.34  0.4910  6.6052
"""
"""Molecules: means over five targets."""


def as_rows(text: str) -> pd.DataFrame:
    """Return a row for each printed number: its method, measure and value."""
    table = pd.read_csv(StringIO(text), sep=r"\s{2,}", engine="python")
    return table.melt("method", var_name="measure", value_name="printed")
