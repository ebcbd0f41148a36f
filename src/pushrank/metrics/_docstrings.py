"""Paragraphs that the docstrings of several metrics share, each written once."""

from pushrank._docstrings import shared_docs_from

PARAGRAPHS = {
    "y_true": "Labels of two values.",
    "scores": "Finite scores, the higher the better.",
    "scores : array-like of shape (n,) or (n_rankings, n)": """Finite scores, the higher the better; a table
holds a ranking in each row.""",
    "ties": "Whether a tied pair of a positive and a negative is an error, half an error, or none.",
    'ties : {"pessimistic", "half", "optimistic", "min", "max"}': """Where rows tie: negatives first; the
expectation under a random order; positives first; or all of them take the first rank of the tie, or the last,
as in ``scipy.stats.rankdata``.""",
    "ties_in_list": """Where rows tie: negatives first; the expectation under a random order; or positives
first.""",
    "ties_at_end": """Where rows tie at the end of the first rows: fill these with negatives first, take
the expectation under a random order, or fill them with positives first.""",
    "rule_for_ties": 'ties : {"pessimistic", "half", "optimistic"}',
    "rule_ties_at_end": 'ties : {"pessimistic", "half", "optimistic"}\n    %(ties_at_end)s',
    "rule_ties_in_list": 'ties : {"pessimistic", "half", "optimistic"}\n    %(ties_in_list)s',
    "rule_for_tied_ranks": 'ties : {"pessimistic", "half", "optimistic", "min", "max"}',
    "k": "The number of first rows that are looked at, from 1 to n; with weights, what they weigh.",
    "fraction": """In place of k: the share of all rows that is looked at, in (0, 1], rounded up to whole
rows. With weights that are not whole numbers it is that part of their sum.""",
    "fraction_of_positives": """In place of k: as many rows as this share of the positives, in (0, 1],
rounded to the nearest number from 1 on, halves to even: .25 of 10 is 2. With weights that are not whole
numbers it is that part of the positives' sum.""",
    "qid": "The query of each row; by default all rows are one list.",
    "sample_weight": "Non-negative weights; an integer weight equals that many copies of the row.",
    "whole_weight": "Non-negative whole numbers; a row counts as that many copies of itself.",
    "query_weight": "Non-negative weights; a query weighs the mean of its rows' weights.",
    "weight_drawn": """Non-negative weights; a row is drawn with its weight, and one of weight zero is
left out.""",
    "pos_label": """The positive class; by default the larger of two numbers, yes of yes and no, true of
true and false. Of other texts it must be given.""",
    "norm": """The positive norm :math:`\\|\\lambda\\|_1` of the weights that made the scores.""",
    "labels_and_scores": """Parameters
----------
y_true : array-like of shape (n,)
scores : array-like of shape (n,)""",
    "labels_and_rankings": """Parameters
----------
y_true : array-like of shape (n,)
scores : array-like of shape (n,) or (n_rankings, n)""",
    "depth_parameters": """k : int, optional
fraction : float, optional
fraction_of_positives : float, optional""",
    "weight_parameters": """sample_weight : array-like of shape (n,), optional
pos_label : label, optional""",
    "whole_weight_parameters": """sample_weight : array-like of shape (n,), optional
    %(whole_weight)s
pos_label : label, optional""",
    "number_or_array": """Returns
-------
float, or ndarray of shape (n_rankings,)""",
    "unit_interval": """%(number_or_array)s
    Between 0 and 1; the higher the better.""",
    "errors": """Raises
------
TypeError
    When a parameter is not of its kind.
ValueError
    When there are not two classes, a score is not finite, lengths differ, a weight is negative, or a
    parameter is out of range.""",
    "depth_type_error": """Raises
------
TypeError
    When `k` is not an integer, or a share is not a number.""",
    "depth_errors": """%(depth_type_error)s
ValueError
    When there are not two classes, a score is not finite, lengths differ, none or several of `k`, `fraction`
    and `fraction_of_positives` are given, or one of them or `ties` is out of range.""",
    "aim_errors": """Raises
------
TypeError
    When a number is not of its kind.
ValueError
    When a number is out of range, or none of several is given.""",
    "promise_level": "The least chance that what is promised holds, from .5 to .9999.",
    "metric": """A metric of this module that returns one number, or its name, such as
``"precision_at_k"``, or any ``metric(y_true, scores)`` that takes a boolean array and scores and returns
a number.""",
    "method": """Percentiles of the stratified bootstrap; its bias-corrected and accelerated percentiles,
which are also widened for a class of few rows; or DeLong's normal interval, for :func:`auc` with half
ties.""",
    "confidence_level": "The nominal coverage, strictly between 0 and 1.",
    "n_resamples": """The number of resamples that the bootstrap draws, at least 10. The default is 2,000;
with more than 100,000 rows it is as many as draw 200 million rows in all, and at least 200.""",
    "value_resampled": "The value of each row, drawn with it, for :func:`value_at_k`.",
    "groups": """The cluster that each row belongs to, such as its customer: the resamples draw whole
clusters, not rows.""",
    "random_state": """The seed of the resamples; the same seed gives the same interval with any number of
threads.""",
    "parameters": "Parameters of the metric, such as ``k=100``.",
    "resampling_parameters": """metric : str or callable
method : {"bootstrap", "bca", "delong"}
confidence_level : float
n_resamples : int, optional
value : array-like of shape (n,), optional
    %(value_resampled)s
groups : array-like of shape (n,), optional
sample_weight : array-like of shape (n,), optional
    %(weight_drawn)s
pos_label : label, optional
random_state : int, RandomState or None
**parameters
    %(parameters)s""",
    "resampling_errors": """Raises
------
TypeError
    When `metric` is neither a name nor callable, or returns something other than one number, or a
    parameter is not a number.
ValueError
    When the data do not fit, a parameter is out of range, `metric` is not a known name, a
    ``functools.partial`` sets ``pos_label``, ``sample_weight`` or ``value``, there is a ``qid``, or the
    method is DeLong's and the metric is not the area with half ties.""",
}

shared_docs = shared_docs_from(PARAGRAPHS)
