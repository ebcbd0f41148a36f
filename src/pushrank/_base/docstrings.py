"""Shared paragraphs that are filled into docstrings."""

import inspect
import re
from collections.abc import Callable, Mapping
from textwrap import indent
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])

PLACEHOLDER = re.compile(r"^( *)%\(([\w ]+)\)s$", re.MULTILINE)
SECTION = re.compile(r"\w+\n-+\n")
RAISES = re.compile(r"^ *Raises$", re.MULTILINE)
EXAMPLES = re.compile(r"^( *)Examples$", re.MULTILINE)
UNDESCRIBED = re.compile(r"^( *)(\w+) : .*$(?!\n\1 +\S)", re.MULTILINE)
UNSTATED = re.compile(r"^ *(\w+) : (?!.*(?:default=|optional)).*$", re.MULTILINE)

PARAGRAPHS = {
    # Metrics.
    "y_true": "Labels of two values.",
    "scores": "Finite scores, the higher the better.",
    "scores : array-like of shape (n,) or (n_rankings, n)": """Finite scores, the higher the better; a table
holds a ranking in each row.""",
    "ties": "Whether a tied pair of a positive and a negative is an error, half an error, or none.",
    "ties_of_ranks": """ties : {"pessimistic", "half", "optimistic", "min", "max"}
    Where rows tie: negatives first; the expectation under a random order; positives first; or all of them
    take the first rank of the tie, or the last, as in ``scipy.stats.rankdata``.""",
    "whole_weights": """sample_weight : array-like of shape (n,), optional
    Non-negative whole numbers; a row counts as that many copies of itself.
pos_label : label, optional""",
    "ties_of_pairs": 'ties : {"pessimistic", "half", "optimistic"}',
    "ties_in_list": """ties : {"pessimistic", "half", "optimistic"}
    Where rows tie: negatives first; the expectation under a random order; or positives first.""",
    "ties_at_end": """ties : {"pessimistic", "half", "optimistic"}
    Where rows tie at the end of the first rows: fill these with negatives first, take the expectation under a
    random order, or fill them with positives first.""",
    "k": """The number of first rows that are looked at, from 1 to n; with weights, what they
weigh.""",
    "fraction": """In place of k: the share of all rows that is looked at, in (0, 1],
rounded up to whole rows. With weights that are not whole numbers it is that part of their sum.""",
    "fraction_of_positives": """In place of k: as many rows as this share of the positives,
in (0, 1], rounded to the nearest number from 1 on, halves to even: .25 of 10 is 2. With weights that are not
whole numbers it is that part of the positives' sum.""",
    "qid : array-like of shape (n,), optional": "The query of each row; by default all rows are one list.",
    "sample_weight": "Non-negative weights; an integer weight equals that many copies of the row.",
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
    "confidence_level": "The nominal coverage, strictly between 0 and 1.",
    "n_resamples": """The number of resamples that the bootstrap draws, at least 10. The default is 2,000;
with more than 100,000 rows it is as many as draw 200 million rows in all, and at least 200.""",
    "groups : array-like of shape (n,), optional": """The cluster that each row belongs to, such as its
customer: the resamples draw whole clusters, not rows.""",
    "resampling_parameters": """metric : str or callable
    A metric of this module that returns one number, or its name, such as ``"precision_at_k"``, or any
    ``metric(y_true, scores)`` that takes a boolean array and scores and returns a number.
method : {"bootstrap", "bca", "delong"}
    Percentiles of the stratified bootstrap; its bias-corrected and accelerated percentiles, which are also
    widened for a class of few rows; or DeLong's normal interval, for :func:`auc` with half ties.
confidence_level : float
n_resamples : int, optional
value : array-like of shape (n,), optional
    The value of each row, drawn with it, for :func:`value_at_k`.
groups : array-like of shape (n,), optional
sample_weight : array-like of shape (n,), optional
    %(weight_drawn)s
pos_label : label, optional
random_state : int, RandomState or None
    The seed of the resamples; the same seed gives the same interval with any number of threads.
**parameters
    Parameters of the metric, such as ``k=100``.""",
    "resampling_errors": """Raises
------
TypeError
    When `metric` is neither a name nor callable, or returns something other than one number, or a
    parameter is not a number.
ValueError
    When the data do not fit, a parameter is out of range, `metric` is not a known name, a
    ``functools.partial`` sets ``pos_label``, ``sample_weight`` or ``value``, there is a ``qid``, or the
    method is DeLong's and the metric is not the area with half ties.""",
    # Displays, each of which has its own "keywords".
    "name : str, optional": """The name in the legend, or the title of the picture; of an estimator by default
its class.""",
    "ax": "Where to draw; axes that hold a display already get one more curve. By default a new figure.",
    "curve_kwargs": "Keywords of matplotlib's ``plot``.",
    "plot_kwargs": "Keywords of ``plot``.",
    "drawing": """ax : matplotlib Axes, optional
curve_kwargs : dict, optional
plot_kwargs : dict, optional""",
    "ax_and_plot": """ax : matplotlib Axes, optional
plot_kwargs : dict, optional""",
    "without_drawing": """Compute the numbers without drawing them.

%(labels_and_scores keywords)s
pos_label : label, optional
name : str, optional

Returns
-------
display
    With the numbers, not drawn yet.

Raises
------
TypeError
    When a parameter has the wrong type.
ValueError
    When there are not two classes, a score is not finite, lengths differ, a weight is negative, or a
    parameter is out of range.""",
    "from_estimator": """Compute and draw from a fitted estimator and rows.

%(drawn_from_estimator)s""",
    "from_predictions": """Compute and draw from labels and scores.

%(labels_and_scores)s
%(drawn_with_keywords)s""",
    "drawn_from_estimator": """Parameters
----------
estimator : estimator or Pipeline
    Fitted, with ``decision_function`` or ``predict_proba``.
X : array-like, sparse matrix or data frame of shape (n, n_features)
    Rows, preferably rows that the estimator has not seen.
y : array-like of shape (n,)
    Their labels, of two values.
response_method : {"auto", "decision_function", "predict_proba"}
    The source of the scores; "auto" is the decision function, or if there is none the probability.
%(drawn_with_keywords)s""",
    "drawn_with_keywords": """%(keywords)s
pos_label : label, optional
name : str, optional
%(drawing drawn)s
ValueError
    When the data or a parameter is refused, or an estimator has not exactly two classes.""",
    "drawn": """Returns
-------
display
    With the numbers, and the matplotlib objects as ``ax_`` and ``figure_``.

Raises
------
ImportError
    When matplotlib is not installed.
TypeError
    When ``ax`` is not one Axes, or an estimator has nothing of what is drawn.""",
    "curve": "curve_kwargs : dict, optional",
    "axes": """Parameters
----------
ax : matplotlib Axes, optional
name : str, optional""",
    "curve_plotted": """%(axes)s
band : bool
    Whether to shade the interval.
curve_kwargs : dict, optional

%(drawn)s""",
    "where_drawn": """ax_, figure_ : matplotlib Axes and Figure
    Where it was drawn.""",
    "curve_drawn": """name : str, optional

Attributes
----------
line_, band_ : matplotlib artists
    The curve and its interval, after ``plot``.
%(where_drawn)s""",
    "score_vector": """Parameters
----------
y : array-like of shape (n,)
    Labels with two distinct values; the larger is the positive class.
scores : array-like of shape (n,)
sample_weight : array-like of shape (n,), optional""",
    # Estimators: the data of fits and scoring methods.
    "breast_cancer": """>>> from sklearn.datasets import load_breast_cancer
>>> X, y = load_breast_cancer(return_X_y=True)""",
    "scaled_breast_cancer": """>>> from sklearn.preprocessing import scale
%(breast_cancer)s""",
    "X": "Finite features. float32 and float64 arrays, dense, CSR or CSC, are used without a copy.",
    "X_trimmed": """%(X)s
A memory map of one of these types need not fit in memory (:doc:`/scale`). Rows on a cluster are
:class:`pushrank.distributed.DaskRows`, which hold ``y`` and ``sample_weight`` too.""",
    "y": """Labels of two classes; the larger in sorted order is positive and belongs at the
top. Texts other than yes and no or true and false raise a warning.""",
    "qid": """Query groups: a label for each row, in any order. Only rows of the same group are compared.
Sizes of consecutive groups become labels by ``np.repeat(np.arange(len(sizes)), sizes)``.""",
    "graded_labels": """y : array-like of shape (n_samples,), optional
    Labels of two classes, the larger of which in sorted order belongs at the top, or grades of relevance,
    which are numbers: rows of a higher grade should stand above rows of every lower grade. Three or more
    numbers always count as grades; for classes without an order pass ``y == c``, one class against the
    rest. None with ``pairs``.""",
    "weights_and_queries": """sample_weight : array-like of shape (n_samples,), optional
    Non-negative weights; a row of weight zero counts as no row.
qid : array-like of shape (n_samples,), optional
    Query groups: a label for each row, in any order. The risk is then the mean of the risks of the queries,
    each a separate list; those without rows of both classes are passed over.""",
    "two_class_rows": """Parameters
----------
X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
y : array-like of shape (n_samples,)
%(weights_and_queries)s""",
    "kernel_parameters": """gamma : {"scale", "auto"} or float
    The :math:`\\gamma` of ``"rbf"`` :math:`e^{-\\gamma \\|x - z\\|^2}` and ``"poly"``
    :math:`(\\gamma x \\cdot z + c)^d`: ``"scale"`` is 1 / (n_features * X.var()), ``"auto"`` 1 / n_features.
degree : int
    The d of ``"poly"``, at least 1.
coef0 : float
    The c of ``"poly"``, at least zero.
cache_size : float
    Megabytes of kernel values that may be kept.""",
    "gradient_projection": """``"gradient-projection"`` is the algorithm that Agarwal's paper prints, for
the hinge of two classes, with a variable for each pair: ``max_iter`` steps, 1,000 in the paper, and the
iterate of the lowest dual objective, as a rule far from the optimum. ``C`` and ``eta0`` are then chosen
together, by cross-validation.""",
    "weights_and_pairs": """sample_weight : array-like of shape (n_samples,), optional
    Non-negative weights; a row of weight zero counts as no row.
qid : array-like of shape (n_samples,), optional
pairs : (better, worse) or (better, worse, weight), optional
    Explicit crucial pairs: row ``better[m]`` of ``X`` should stand above row ``worse[m]``. An array with two
    or three columns is taken too. Pairs may contradict each other.""",
    "array_of_rows": """Parameters
----------
X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    Rows with the features of ``fit``.

Returns
-------
ndarray of shape (n_samples,)""",
    "fitted_or_value_error": """Returns
-------
self
    The fitted ranker.

Raises
------
ValueError""",
    "fitted_or_raises": """%(fitted_or_value_error)s
    When a parameter is out of range, the data are not finite, or there is nothing to rank.
TypeError
    When a parameter has the wrong type.""",
    "fitted": """%(fitted_or_raises)s

Warns
-----
ConvergenceWarning
    When the optimum was not reached to the tolerance; the message says what to do.""",
    "fitted_path": """Returns
-------
list
    Fitted rankers in the order of the values, with the other parameters of this ranker, which is not changed.

Raises
------
ValueError
    As for ``fit``, and when there is no value.
TypeError
    As for ``fit``.

Warns
-----
ConvergenceWarning
    As for ``fit``.""",
    # Parameters, whose defaults are added from the signature.
    "side": "Push the worst-placed negatives down, pull the worst-placed positives up, or both.",
    "bottom_weight": """The weight c of the pull with ``side="both"``, positive.""",
    "loss": "The pair loss, or its name in :mod:`pushrank.losses`.",
    "linear_push_parameters": """alpha : float
    The L2 strength, at least 0. With 0 separable data have no optimum, which is reported.
solver : {"lbfgs", "newton-cg", "coordinate"}
    L-BFGS, Newton's method with conjugate gradients, or exact steps along one coefficient at a time, which is
    the paper's boosting algorithm with columns as its weak rankers. All three end at the same coefficients.
tol : float
    Stop when neither the duality gap nor :math:`\\max_j |g_j| / s_j` exceeds this, with g the gradient and
    :math:`s_j` the standard deviation of feature j within the classes; with fewer rows than features these
    are axes of the rows' space. With ``alpha=0`` the gradient decides alone. On small dense data (n_samples *
    n_features ** 2 of at most 2 ** 26) L-BFGS continues until the objective stops decreasing.
max_iter : int
    The largest number of iterations.
warm_start : bool
    Start from the coefficients of the last fit, which must have had the same features.
verbose : bool
positive : bool
    Whether all coefficients are at least 0, so that scores fall with no feature: for features that are
    scores themselves, such as those of other models. Where no feature ranks better with a positive
    coefficient all are 0, which is warned of. The bound of the optimum is that over such coefficients, and
    ``solver="lbfgs"`` stands for Newton's method where the objective has one, and else for L-BFGS-B.""",
    "kernel": """Linear scores, or those of a kernel. A function takes two sets of rows and returns the matrix
of kernel values, which must be positive semi-definite; a ranker that holds a function cannot be saved.
``"precomputed"`` takes that matrix in place of ``X``.""",
    "eta0": 'The first step of ``solver="gradient-projection"``, step t being ``eta0 / sqrt(t)``.',
    "certified_parameters": """C : float
    The weight of the loss against the norm, positive and at most 1e30.
class_weight : dict, "balanced" or None
    The weight of a pair is the product of its classes' weights, by which C is multiplied where there are two
    classes; ``"balanced"`` is n / (2 n_c) for n_c rows of a class. The weights also move ``threshold_``.
tol : float
    Stop when the relative duality gap is at most this.
max_iter : int
    The largest number of iterations, or of cutting planes.
verbose : bool""",
    "Cs": "The values of C, in the order of the fits; rising values are fastest.",
    "verbose": "Show a progress bar on standard error.",
    "random_state": "The source of all random choices.",
    # Searches by cross-validation.
    "n_jobs_of_folds": """The number of folds to solve at a time, in threads that copy their rows; None is
one, or the setting of ``joblib.parallel_config``, and -1 all processors. It changes no result.""",
    "cv": "The folds. A number makes stratified folds in the order of the rows.",
    "time_stopping": """The times of the rows, as numbers or dates. Early stopping then validates on the
latest rows instead of rows drawn at random.""",
    # Searches for a budget.
    "precision_at_budget": """.. math:: \\frac{1}{k} \\sum_i 1[\\mathrm{rank}(i) \\le k]

over the positives i, on the parts of a cross-validation that were not learned from.""",
    "budget_search_parameters": """budget : int or Budget, default=None
    How many rows you can act on, of as many rows as ``X`` has, or in every period, such as ``Budget(150,
    per="day")`` of ``pushrank.budgets``; that needs `time`.
fraction : float, default=None
    The budget as a fraction of the rows, in (0, 1].
fraction_of_positives : float, default=None
    The budget as a fraction of the number of positives, in (0, 1]. It is 0.25 if none of the three is
    set.
cv : int, splitter or iterable
n_jobs : int or None
    %(n_jobs_of_folds)s
verbose : bool""",
    "scoring_of_a_search": """scoring : str or callable, default=None
    What to choose by in place of the precision at the budget: the name of a scorer in
    :mod:`pushrank.metrics.scorers` or in scikit-learn, or a scorer, a function of a model, rows and labels
    whose larger values are better. No member is then dropped early, equal are only equal scores, and
    ``candidates_`` has the ``"score"`` for the ``"precision"``.""",
    "best_params_candidate": """best_params_ : dict
    Its parameters, and its name as ``"candidate"``.""",
    "budget_search_": """best_score_ : float
    The mean precision at the budget, or score, of the chosen parameters over the folds. As the best of many
    it is optimistic: for a figure to report, put the whole estimator in ``cross_val_score``.
best_index_ : int
    The index of the chosen parameters in ``cv_results_``.
cv_results_ : dict of str to array
    As of scikit-learn's ``GridSearchCV``, without times, and with ``mean_average_precision``.
n_splits_ : int
    The number of folds.
candidates_ : list of dict
    For each ``"candidate"`` the parameters of its best member, the ``"precision"`` and its
    ``"standard_error"`` over the folds, the ``"average_precision"``, and ``"below_best"`` with its
    ``"below_best_standard_error"``, by which it was judged. ``pandas.DataFrame`` makes a table of them.""",
    "equals_of_a_candidate": """Members of a candidate count as equal if their precision differs by at
most one hit over all folds. Among them the best average precision decides. Tied rows count by their
expectation. The rule of one standard error is that of Breiman, Friedman, Olshen and Stone, *Classification
and regression trees* (1984), section 3.4.3.""",
    # Boosting.
    "weak_rankers": """Thresholds of binned features (``"stumps"``); the features themselves (``"columns"``);
a small tree in each round (``"regressors"``, ``"classifiers"``), or a regressor or classifier of
scikit-learn; a list of functions of the rows; or WeakRankers.""",
    "n_estimators": "The number of rounds, at least 1.",
    "choice": """The choice of a round: the ranker with the largest :math:`|r_j|`, or with the largest
:math:`r_j`. With the latter weights only grow, and rounds end when no :math:`r_j` is positive; the
mirror of a ranker then has to be a ranker itself, which those of stumps and columns are not.""",
    "n_iter_no_change": "Stop after this many rounds without a better score.",
    "boosted_parameters": """weak_rankers : str, object or list of callables
n_estimators : int
learning_rate : float
    The part of each step that is taken, in (0, 1].
positive : bool
    Whether all weights are at least 0, the paper's convex combinations: scores then rise with every weak
    ranker. Otherwise a weak ranker and its mirror :math:`1 - h` are one.
monotonic_cst : array-like of shape (n_features,) or dict of str to int, or None
    For stumps and columns: 1 if scores may only rise with a feature, -1 if they may only fall, and 0 without
    a constraint, as for categories.
subsample : float
    The fraction of the rows of each class or grade, or of the query groups, that a round uses for its choice
    and its step, in (0, 1].
max_features : float
    The fraction of the features that a round chooses from, in (0, 1].
early_stopping : bool
    Whether to stop when the score of a validation part stops rising, and return to the best round.
scoring : str, callable or None
    A scorer for the validation part: the name of one of :mod:`pushrank.metrics.scorers`, or what scikit-learn
    takes; None takes minus the objective there. With query groups, metrics that accept ``qid`` (such as
    ``"ndcg_at_10"``) are averaged over queries; others treat all rows as one list. With grades, binary
    metrics count every grade above the lowest as positive.
validation_fraction : float
    The fraction of the rows, query groups or explicit pairs to validate on, in (0, 1).
n_iter_no_change : int
tol : float
    Stop when no ranker's edge exceeds this, at least 0.
warm_start : bool
    Add rounds to the last fit, up to ``n_estimators`` in all, to the last bit as if it had not stopped; the
    data, the features and the weak rankers must be the same. Random draws continue where they stopped,
    whatever ``random_state`` is now.
n_jobs : int or None
    The number of threads; None and -1 stand for all processors. It changes no result.
random_state : int, RandomState or None
verbose : bool""",
    # Attributes.
    "weak_rankers_": """weak_rankers_ : WeakRankers
    The fitted weak rankers.""",
    "estimator_index_": """estimator_index_ : ndarray of int, shape (n_iter_,)
    The number of the weak ranker that each round added to the scores.""",
    "estimator_weights_": """estimator_weights_ : ndarray of shape (n_iter_,)
    The weight of each round's weak ranker.""",
    "constant_zero_": """constant_ : float
    Always 0: pairs ignore a constant.""",
    "edges_": """edges_ : ndarray of shape (n_iter_,)
    The edges :math:`r_t` of the chosen rankers, signed.""",
    "margin_": """margin_ : float
    The ranking margin: the smallest :math:`f(x_i) - f(x_k)` of a training pair over
    :math:`\\|\\lambda\\|_1`, at most 1; positive if all pairs are in the right order.""",
    "objective_path_log_": """objective_path_ : ndarray of shape (n_iter_ + 1,)
    :math:`\\ln F` before the first round and after each.""",
    "feature_importances_": """feature_importances_ : ndarray of shape (n_features,)
    The share of each feature in the fall of the objective.""",
    "validation_path_": """validation_path_ : ndarray
    The scores of the validation part before the first round and after each, including the rounds after the
    best, which are not kept and which a warm start repeats; empty without ``early_stopping``.""",
    "best_round_": """best_round_ : int
    The number of rounds kept.""",
    "converged_edge_": """converged_ : bool
    Whether no edge exceeded ``tol`` after the last round kept.""",
    "coef_": """coef_, intercept_ : ndarray of shape (n_features,), float
    The coefficients, in the dtype of the training data, and minus ``threshold_``; the scores are ``X @ coef_
    + intercept_``.""",
    "coef_linear_": """coef_, intercept_ : ndarray of shape (n_features,), float
    Of linear scores alone, not those of a kernel, stumps or trees: the coefficients, in the dtype of the
    training data, and minus ``threshold_``; the scores are ``X @ coef_ + intercept_``.""",
    "n_iter_": """n_iter_ : int
    The number of iterations or rounds.""",
    "support_vectors_": """support_vectors_ : array of shape (n_support, n_features) or None
    With a kernel, the ``support_`` rows; None for linear scores and a precomputed kernel.""",
    "gamma_": """gamma_ : float or None
    The :math:`\\gamma` of ``"rbf"`` and ``"poly"``; None for other kernels.""",
    "classes_": """classes_ : ndarray of shape (2,)
    The negative and the positive class.""",
    "classes_grades_": """classes_ : ndarray of shape (n_classes,) or None
    The two classes, or the grades, in ascending order; None after a fit to pairs.""",
    "threshold_": """threshold_ : float
    The break-even point of the training scores: as many rows score above it as are positive.""",
    "thresholds_": """thresholds_ : ndarray of shape (n_classes - 1,)
    The break-even points above each class or grade except the highest, or a zero after a fit to pairs;
    ``threshold_`` is the first.""",
    "objective_path_": """objective_path_ : ndarray of shape (n_iter_ + 1,)
    The objective at the start and after every iteration or round.""",
    "converged_gap_": """converged_ : bool
    Whether the duality gap came down to ``tol``.""",
    "converged_gap_gradient_": """converged_ : bool
    Whether the duality gap and the gradient came down to ``tol``; with ``alpha=0``, and if rounding ended the
    descent before the gap was closed, the gradient alone, whatever ``dual_gap_`` is.""",
    "primal_dual_penalty_": """%(primal_dual_)s
    With an alpha of 0 it is minus infinity far from the optimum, where there is none, as on separable rows,
    with more than 1,024 features, and (but for a push or a pull of a power) with rows that are not in
    memory.""",
    "dual_gap_log_": """dual_gap_ : float
    The difference of primal and dual objective, relative to the primal; on a log scale to one if that is
    less.""",
    "primal_dual_": """primal_objective_, dual_objective_ : float
    The objective at the answer, as rounded to the dtype of ``coef_``, and a lower bound of the optimum.""",
    "dual_gap_": """dual_gap_ : float
    The difference of primal and dual objective, relative to the primal.""",
    "features_": """n_features_in_ : int
    The number of features.
feature_names_in_ : ndarray of shape (n_features_in_,)
    The names of the features, if ``X`` had names that are all strings.""",
    # Rankers that learn from batches.
    "k : int or float": """The number of rows of a batch to predict positive. A float in (0, 1] is a fraction
of the batch's positives, rounded to between 1 and their number, halves to even; an int is a number of rows,
or in a batch with fewer positives all of these. Measures call such a fraction ``fraction_of_positives``.""",
    "batch_size": """The number of rows in a batch, at least 1; the last batch of a pass may be shorter.
Batches without a positive or without a negative are skipped. With 1, every row is compared with a row of
zeros of the other class, as in the classical perceptron without intercept.""",
    "average": "Whether ``coef_`` is the mean of the coefficients after every batch, or the last ones.",
    "batch_parameters": """shuffle : bool
    Whether ``fit`` draws a new order of the rows for every pass.
early_stopping : bool
    Whether ``fit`` validates on a part of the rows, keeps the coefficients after the pass with the best
    precision at k there, and ends when it no longer rises.
validation_fraction : float
    The fraction of the rows to validate on, in (0, 1).
n_iter_no_change : int
    The number of passes without a rise that ends ``fit`` with ``early_stopping``, at least 1.
random_state : int, RandomState or None
verbose : bool""",
    "mistakes_": """n_mistakes_ : float
    The number of negatives among the first k of every batch, before it was learned from, summed over batches.
mistakes_path_ : ndarray of shape (n_batches_,)
    The sum of these mistakes up to each batch.
mistake_rate_ : float
    The mean over batches of the fraction of negatives among the first k: an online estimate of 1 - precision
    at k.""",
    "margins_": """weak_margin_, margin_, strong_margin_ : float or None
    Weak, average and strong margin (Kar et al., definitions 2, 4, 5) of the training scores at unit norm of
    the coefficients: the k-th highest positive, the mean of the m - k + 1 lowest of m positives, and the
    lowest positive, each minus the highest negative; the smallest over queries. None after ``partial_fit``
    and ``fit_stream``.""",
    "epochs_": """validation_path_ : ndarray of shape (n_iter_,) or None
    Precision at k on the validation part after each pass; None without ``early_stopping``. A number of rows k
    is meant for a batch, and is multiplied by the number of batches that the part would fill.
best_iter_ : int or None
    The pass whose coefficients were kept; None without ``early_stopping``.
n_iter_ : int
    The number of passes made; 1 after ``partial_fit``.
n_batches_ : int
    The number of batches seen.""",
    "threshold_of_sample_": """threshold_ : float
    The break-even point of the scores of a random sample of up to 10,000 rows, or of one batch if that is
    larger.""",
}
"""The shared paragraphs by name, or by the whole entry where a name stands for several things."""


def shared_docs_from(paragraphs: Mapping[str, str], errors: str = "") -> Callable[[Documented], Documented]:
    r"""Return a decorator that fills paragraphs into the docstring of a function, or of a class and methods.

    The given paragraphs come before the shared ones. An entry such as ``alpha : float`` without a description
    gets the paragraph ``"alpha : float"``, or if there is none ``"alpha"``. A line ``%(alpha)s`` stands for
    the paragraph ``"alpha"``, and ``%(coef_ classes_)s`` for two, with an empty line before one that is a
    section. Paragraphs may hold such entries and lines too. Defaults are added from the signature, so that
    the two cannot differ, and before the examples of a docstring that does not say what it raises the
    paragraph that ``errors`` names.

    Examples
    --------
    >>> @shared_docs_from({"verbose": "Show a progress bar."})
    ... def fit(verbose=False):
    ...     '''Fit.
    ...
    ...     verbose : bool
    ...     '''
    >>> print(inspect.getdoc(fit))
    Fit.
    <BLANKLINE>
    verbose : bool, default=False
        Show a progress bar.
    """
    paragraphs = {**PARAGRAPHS, **paragraphs}

    def paragraph(line: re.Match[str]) -> str:
        parts = [filled(paragraphs[name]) for name in line[2].split()]
        # A section begins after an empty line.
        spaced = [parts[0], *(f"\n{part}" if SECTION.match(part) else part for part in parts[1:])]
        return indent("\n".join(spaced), line[1])

    def described(entry: re.Match[str]) -> str:
        description = paragraphs.get(entry[0].strip(), paragraphs.get(entry[2]))
        return entry[0] if description is None else f"{entry[0]}\n{indent(description, entry[1] + '    ')}"

    def filled(text: str) -> str:
        return PLACEHOLDER.sub(paragraph, UNDESCRIBED.sub(described, text))

    def fill(documented: Documented) -> Documented:
        methods = vars(documented).values() if isinstance(documented, type) else ()
        functions = (getattr(method, "__func__", method) for method in methods)
        for item in (documented, *filter(inspect.isfunction, functions)):
            # There are no docstrings under python -OO.
            if item.__doc__:
                text = filled(item.__doc__)
                if errors and not RAISES.search(text):
                    text = filled(EXAMPLES.sub(rf"\1%({errors})s\n\n\g<0>", text))
                item.__doc__ = _with_defaults(text, item)
        return documented

    return fill


def _with_defaults(docstring: str, documented: Any) -> str:
    """Return a docstring in which the entries of parameters state their defaults."""
    parameters = inspect.signature(documented).parameters

    def with_default(entry: re.Match[str]) -> str:
        default = parameters[entry[1]].default if entry[1] in parameters else inspect.Parameter.empty
        if default is inspect.Parameter.empty:
            return entry[0]
        shown = f'"{default}"' if isinstance(default, str) else default
        return f"{entry[0]}, default={shown}"

    return UNSTATED.sub(with_default, docstring)


shared_docs = shared_docs_from({})
"""The decorator of what adds no paragraphs."""

metric_docs = shared_docs_from({}, errors="errors")
"""The decorator of metrics, most of which raise the same errors."""
