"""
What a search chose from
========================

:class:`~pushrank.plots.CandidatesDisplay`: for every family of :class:`~pushrank.TopRankerCV`, every p
of :class:`~pushrank.PushBoostCV` or every candidate of :class:`~pushrank.RankerSearchCV`, the mean precision
at the budget with its standard error, and the average precision beside it. The choice is ringed.
"""

from matplotlib import pyplot
from sklearn.preprocessing import scale

from pushrank import TopRankerCV
from pushrank.datasets import load_dataset
from pushrank.plots import CandidatesDisplay

X, y = load_dataset("magic", return_X_y=True)
search = TopRankerCV(fraction_of_positives=0.25, random_state=0).fit(scale(X[::4]), y[::4])
figure, ax = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
_ = CandidatesDisplay.from_estimator(search, ax=ax)
