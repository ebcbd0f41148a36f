"""The numbers printed in Rudin, The P-Norm Push, JMLR 10 (2009), as printed."""

from __future__ import annotations

from io import StringIO

import pandas as pd

TABLE_1 = """
labels    zero_one  exponential  logistic
-+-+--++  33        17160.17     430.79
+--+--++  34        72289.39     670.20
-+-+-+-+  98        130515.09    1212.23
"""
"""R_{4,l} of three orders of eight rows; the labels are those of rising scores."""

LABELS_2 = "++-----+++++--"
TABLE_2 = """
p   zero_one,f1  zero_one,f2  exponential,f1  exponential,f2  logistic,f1  logistic,f2
1   25           24           50.25           49.80           34.34        34.09
2   125          118          367.39          362.35          170.18       167.90
3   625          726          2.73e3          2.70e3          851.09       836.46
4   3.13e3       4.88e3       2.056e4         2.057e4         4.29e3       4.22e3
5   1.56e4       3.38e4       1.56e5          1.60e5          2.18e4       2.15e4
6   7.81e4       23.56e4      1.20e6          1.28e6          1.114e5      1.110e5
7   3.91e5       16.48e5      9.34e6          10.36e6         5.72e5       5.79e5
8   1.95e6       11.53e6      7.29e7          8.53e7          2.96e6       3.05e6
9   9.77e6       80.71e6      5.72e8          7.13e8          1.53e7       1.63e7
10  4.88e7       56.50e7      4.50e9          6.02e9          7.98e7       8.74e7
"""
"""R_{p,l} of two functions of 14 rows: f1 falls along the labels, f2 = -f1."""

LIST_3_3 = "++-++-++-++-++-++---"
"""The labels of the list of section 3.3, best first; its scores are 20/20, 19/20, ..., 1/20."""

TABLE_3 = """
measure  unit  p=1     p=2     p=4     p=8     p=16    p=64    IR
AUC      1     0.8370  0.8402  0.8397  0.8363  0.8329  0.8288  0.8284
R2;1     1e10  6.5515  5.9731  5.5896  5.4806  5.4990  5.5819  5.5886
R4;1     1e18  4.2134  3.4875  2.8875  2.5638  2.4291  2.3651  2.3582
R8;1     1e34  3.8830  2.9138  2.1091  1.6266  1.3923  1.2396  1.2257
R16;1    1e66  6.8153  4.7208  3.0545  1.9698  1.4494  1.1096  1.0823
DCG      1e3   1.4022  1.4048  1.4066  1.4084  1.4087  1.4087  1.4087
AveR     1     8.1039  8.5172  8.6860  9.6701  9.7520  9.7679  9.7688
"""
"""MAGIC."""

TABLE_4 = """
measure  unit  p=1      p=2      p=4      p=8      p=16     p=64     IR
AUC      1     0.6797   0.6732   0.6700   0.6612   0.6479   0.6341   0.6409
R2;1     1e4   2.1945   2.1931   2.1515   2.1213   2.1575   2.1974   2.1811
R4;1     1e7   2.0841   1.9891   1.8041   1.5911   1.4327   1.3104   1.4046
R8;1     1e13  3.7099   3.3459   2.6271   1.8950   1.3861   1.0823   1.2979
R16;1    1e26  1.7294   1.4558   0.8786   0.4236   0.2437   0.1884   0.2272
DCG      1     13.9197  14.1308  14.3261  14.5902  14.6916  14.7903  14.7169
AveR     1     2.9712   3.1610   3.3041   3.5084   3.5849   3.6571   3.6076
"""
"""Ionosphere, the last five features."""

TABLE_5 = """
measure  unit  p=1     p=2     p=4     p=8     p=16    p=64    IR
AUC      1     0.7739  0.7633  0.7532  0.7500  0.7420  0.7330  0.7373
R2;1     1     3222    3406    3665    3799    3818    3759    3847
R4;1     1     294078  292870  304457  307135  305498  298611  304915
R8;1     1e9   3.9056  3.5246  3.3908  3.2953  3.2479  3.3173  3.2346
R16;1    1e18  1.1762  0.9694  0.8337  0.8028  0.7801  0.8816  0.7788
DCG      1     3.6095  3.6476  3.6757  3.6858  3.6977  3.6671  3.6931
AveR     1     0.5241  0.5644  0.6022  0.6124  0.6258  0.6012  0.6250
"""
"""Boston housing, the river as the label."""


def as_table(text: str) -> pd.DataFrame:
    """Return the cells of a printed table, as text."""
    return pd.read_csv(StringIO(text), sep=r"\s+", dtype=str)


def as_rows(text: str) -> pd.DataFrame:
    """Return a row for each number of tables 3 to 5: its measure, unit, ranker and value."""
    rows = as_table(text).melt(["measure", "unit"], var_name="ranker", value_name="printed")
    return rows.astype({"unit": float, "printed": float})
