"""Paragraphs that several estimators share in their docstrings."""

from pushrank._docstrings import shared_docs_from

PARAGRAPHS = {
    # The data that fits and scoring methods take.
    "breast_cancer": """>>> from sklearn.datasets import load_breast_cancer
>>> X, y = load_breast_cancer(return_X_y=True)""",
    "scaled_breast_cancer": """>>> from sklearn.preprocessing import scale
%(breast_cancer)s""",
    "X": "Finite features. float32 and float64 arrays, dense, CSR or CSC, are used without a copy.",
    "X_of_fit": """X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    Rows with the features of ``fit``.""",
    "row_results": "ndarray of shape (n_samples,)",
    "X_array_api": """Finite features. float32 and float64 arrays, dense, CSR or CSC, are used without a copy.
Under ``sklearn.set_config(array_api_dispatch=True)`` arrays of another library that keeps the array API
standard, such as torch tensors on any device, are taken by the solvers ``"lbfgs"`` and ``"newton-cg"``;
coefficients and scores are then arrays of that library, on that device.
Rows that need not fit in memory are :class:`pushrank.datasets.DiskRows`, which hold ``y`` and
``sample_weight`` too; they are for the exponential loss and ``solver="lbfgs"``.""",
    "X_trimmed": """%(X)s
Rows that need not fit in memory are :class:`pushrank.datasets.DiskRows`, which hold ``y`` and
``sample_weight`` too.""",
    "X_boosted": """Finite features; stumps take NaN as missing, and categorical columns of data frames.
float32 and float64 arrays, dense, CSR or CSC, are used without a copy.""",
    "y": """Labels of two classes; the larger in sorted order is positive and belongs at the
top. Texts other than yes and no or true and false raise a warning.""",
    "y_grades": """Labels of two classes, the larger of which in sorted order belongs at the top, or grades of
relevance, which are numbers: rows of a higher grade should stand above rows of every lower grade. Three or
more numbers always count as grades; for classes without an order pass ``y == c``, one class against the
rest. None with ``pairs``.""",
    "sample_weight": "Non-negative weights; an integer weight equals that many copies of the row.",
    "qid": """Query groups: a label for each row, in any order. Only rows of the same group are compared.
Sizes of consecutive groups become labels by ``np.repeat(np.arange(len(sizes)), sizes)``.""",
    "qid_mean": """Query groups: a label for each row, in any order. The risk is then the mean of the risks of
the queries, each a list of its own; those without rows of both classes are passed over.""",
    "pairs": """Explicit crucial pairs: row ``better[m]`` of ``X`` should stand above row ``worse[m]``. An
array with two or three columns is taken too. Pairs may contradict each other.""",
    "graded_labels": """y : array-like of shape (n_samples,), optional
    %(y_grades)s""",
    "weights_and_queries": """sample_weight : array-like of shape (n_samples,), optional
qid : array-like of shape (n_samples,), optional
    %(qid_mean)s""",
    "two_class_rows": """X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
y : array-like of shape (n_samples,)
%(weights_and_queries)s""",
    "kernel_parameters": """gamma : {"scale", "auto"} or float
degree : int
coef0 : float
cache_size : float""",
    "gradient_projection": """``"gradient-projection"`` is the algorithm that Agarwal's paper prints, for
the hinge of two classes, with a variable for each pair: ``max_iter`` steps, 1,000 in the paper, and the
iterate of the lowest dual objective, as a rule far from the optimum. ``C`` and ``eta0`` are then chosen
together, by cross-validation.""",
    "weights_and_pairs": """sample_weight : array-like of shape (n_samples,), optional
qid : array-like of shape (n_samples,), optional
pairs : (better, worse) or (better, worse, weight), optional""",
    "self": """self
    The fitted ranker.""",
    "value_error": "ValueError",
    "fit_value_error": """ValueError
    When a parameter is out of range, the data are not finite, or there is nothing to rank.""",
    "fit_type_error": """TypeError
    When a parameter has the wrong type.""",
    "convergence_warning": """ConvergenceWarning
    When the optimum was not reached to the tolerance; the message says what to do.""",
    # Parameters, whose defaults are added from the signature.
    "p": """The strength of the push, any finite number of at least 1. Powers of two from 1 to 64 are a
good grid.""",
    "side": "Push the worst-placed negatives down, pull the worst-placed positives up, or both.",
    "bottom_weight": """The weight c of the pull with ``side="both"``, positive.""",
    "loss": "The pair loss, or its name in :mod:`pushrank.losses`.",
    "accuracy": "The relative error of an analytic loss's sums over pairs, from 1e-13 to 0.1.",
    "alpha": "The L2 strength, at least 0. With 0 separable data have no optimum, which is reported.",
    "solver": """L-BFGS, Newton's method with conjugate gradients, or exact steps along one coefficient
at a time, which is the paper's boosting algorithm with the columns as its weak rankers. All three end at the
same coefficients.""",
    "linear_push_parameters": """alpha : float
solver : {"lbfgs", "newton-cg", "coordinate"}
tol : float
    Stop when neither the duality gap nor :math:`\\max_j |g_j| / s_j` exceeds this, with g the gradient and
    :math:`s_j` the standard deviation of feature j within the classes; with fewer rows than features these
    are axes of the rows' space. With ``alpha=0`` the gradient decides alone. On small dense data (n_samples *
    n_features ** 2 of at most 2 ** 26) L-BFGS continues until the objective stops decreasing.
max_iter : int
warm_start : bool
verbose : bool
positive : bool
    %(positive_coef)s""",
    "positive_coef": """Whether all coefficients are at least 0, so that scores fall with no feature: for
features that are scores themselves, such as those of other models. Where no feature ranks better with a
positive coefficient all are 0, which is warned of. The bound of the optimum is that over such coefficients,
and ``solver="lbfgs"`` stands for Newton's method where the objective has one, and else for L-BFGS-B.""",
    "tol": "Stop when the relative duality gap is at most this.",
    "max_iter": "The largest number of iterations.",
    "C": "The weight of the loss against the norm, positive and at most 1e30.",
    "kernel": """Linear scores, or those of a kernel. A function takes two sets of rows and returns the matrix
of kernel values, which must be positive semi-definite; a ranker that holds a function cannot be saved.
``"precomputed"`` takes that matrix in place of ``X``.""",
    "gamma": """The :math:`\\gamma` of ``"rbf"`` :math:`e^{-\\gamma \\|x - z\\|^2}` and ``"poly"``
:math:`(\\gamma x \\cdot z + c)^d`: ``"scale"`` is 1 / (n_features * X.var()), ``"auto"`` is
1 / n_features.""",
    "degree": """The d of ``"poly"``, at least 1.""",
    "coef0": """The c of ``"poly"``, at least zero.""",
    "eta0": 'The first step of ``solver="gradient-projection"``, step t being ``eta0 / sqrt(t)``.',
    "cache_size": "Megabytes of kernel values that may be kept.",
    "class_weight": """The weight of a pair is the product of its classes' weights; ``"balanced"`` is
n / (2 n_c) for n_c rows of a class. For two classes the weights are a factor of C, and move
``threshold_``.""",
    "class_weight_C": """C is multiplied by the product of the classes' weights; ``"balanced"`` is n / (2
n_c) for n_c rows of a class. The weights also move ``threshold_``.""",
    "max_iter_planes": "The largest number of cutting planes.",
    "Cs": "The values of C, in the order of the fits; rising values are fastest.",
    "cutting_plane_parameters": """C : float
class_weight : dict, "balanced" or None
    %(class_weight_C)s
tol : float
max_iter : int
    %(max_iter_planes)s
verbose : bool""",
    "certified_parameters": """C : float
class_weight : dict, "balanced" or None
    %(class_weight_C)s
tol : float
max_iter : int
verbose : bool""",
    "threshold_solver": """L-BFGS on an objective whose kinks are rounded, ever less, until the gap is closed;
an iteration costs two passes over the data and finding the threshold, O(n). Of 50,000 rows or more some
20,000, spread over all, are solved for first, then the positives and the rows near the threshold, which are
copied, and all rows confirm the answer. Weights count as copies of rows in the mean and in the threshold.
Ties at the threshold do not matter. Query groups take cutting planes.""",
    "rankers": """list
    Fitted rankers in the order of the values, with the other parameters of this ranker, which is not
    changed.""",
    "path_value_error": """ValueError
    As for ``fit``, and when there is no value.""",
    "path_type_error": """TypeError
    As for ``fit``.""",
    "path_warning": """ConvergenceWarning
    As for ``fit``.""",
    "warm_start": "Start from the coefficients of the last fit, which must have had the same features.",
    "verbose": "Show a progress bar on standard error.",
    "n_jobs": "The number of threads; None and -1 stand for all processors. It changes no result.",
    "random_state": "The source of all random choices.",
    # Searches by cross-validation.
    "alphas": "The L2 strengths, each at least 0.",
    "cv": "The folds. A number makes stratified folds in the order of the rows.",
    "groups": """Labels of rows that belong together, for a ``cv`` such as ``StratifiedGroupKFold`` that keeps
groups whole. In a pipeline they come by metadata routing.""",
    "time": """The times of the rows, as numbers or dates. With a number as ``cv`` every part that is
held out comes after the rows learnt from, by :class:`~pushrank.model_selection.TimeSplit`; a splitter has to
take them.""",
    "time_stopping": """The times of the rows, as numbers or dates. Early stopping then validates on the
latest rows instead of rows drawn at random.""",
    "search_value_error": """ValueError
    When a parameter is out of range, the data are not finite, ``y`` has not two classes, a part of the
    cross-validation lacks one of them, or a score is not a number.""",
    "search_type_error": """TypeError
    When a parameter has the wrong type, or weights are given to an estimator or a scorer that takes none.""",
    "search_warning": """ConvergenceWarning
    When solutions of linear rankers stopped early; the message says how many, or which.""",
    "search_": """alpha_ : float
    The chosen L2 strength.
best_params_ : dict
    The chosen parameters by name.
best_score_ : float
    The mean score of the chosen parameters over the folds. As the best of many it is optimistic: for a figure
    to report, put the whole estimator in ``cross_val_score``.
best_index_ : int
    The index of the chosen parameters in ``cv_results_``.
cv_results_ : dict of str to array
    As of scikit-learn's ``GridSearchCV``, with ``mean_n_iter`` in place of times, as each solution starts
    from those of its neighbours.
n_splits_ : int
    The number of folds.
n_iter_ : int
    The number of iterations of all solutions together.""",
    "objective_path_cv_": """objective_path_ : ndarray
    The objective on all rows, at the start and after every iteration of the last solution.""",
    "converged_cv_": """converged_ : bool
    Whether the gradient of the last solution came down to ``tol``.""",
    # Searches for a budget.
    "budget": """How many rows you can act on, of as many rows as ``X`` has, or in every period, such as
``Budget(150, per="day")`` of :mod:`pushrank.budgets`; that needs `time`.""",
    "fraction": "The budget as a fraction of the rows, in (0, 1].",
    "fraction_of_positives": """The budget as a fraction of the number of positives, in (0, 1]. It is 0.25 if
none of the three is set.""",
    "best_params_candidate": """best_params_ : dict
    Its parameters, and its name as ``"candidate"``.""",
    "budget_search_": """best_score_ : float
    The mean precision at the budget of the chosen parameters over the folds. As the best of many it is
    optimistic: for a figure to report, put the whole estimator in ``cross_val_score``.
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
scikit-learn; a tree that LightGBM grows (``"lightgbm"``); a list of functions of the rows; or
WeakRankers.""",
    "n_estimators": "The number of rounds, at least 1.",
    "choice": """The choice of a round: the ranker with the largest :math:`|r_j|`, or with the largest
:math:`r_j`. With the latter weights only grow, and rounds end when no :math:`r_j` is positive; the
mirror of a ranker then has to be a ranker itself, which those of stumps and columns are not.""",
    "learning_rate": "The part of each step that is taken, in (0, 1].",
    "positive": """Whether all weights are at least 0, the paper's convex combinations: scores then rise
with every weak ranker. Otherwise a weak ranker and its mirror :math:`1 - h` are one.""",
    "monotonic_cst": """For stumps and columns: 1 if scores may only rise with a feature, -1 if they may only
fall, and 0 without a constraint, as for categories.""",
    "subsample": """The fraction of the rows of each class or grade, or of the query groups, that a round uses
for its choice and its step, in (0, 1].""",
    "max_features": "The fraction of the features that a round chooses from, in (0, 1].",
    "early_stopping": """Whether to stop when the score of a validation part stops rising, and return to the
best round.""",
    "scoring": """A scorer for the validation part: the name of one of :mod:`pushrank.metrics.scorers`, or
what scikit-learn takes; None takes minus the objective there. With query groups, metrics that accept
``qid`` (such as ``"ndcg_at_10"``) are averaged over queries; others treat all rows as one list. With
grades, binary metrics count every grade above the lowest as positive.""",
    "validation_fraction": """The fraction of the rows, query groups or explicit pairs to validate on, in
(0, 1).""",
    "n_iter_no_change": "Stop after so many rounds without a better score.",
    "boosted_parameters": """weak_rankers : str, object or list of callables
n_estimators : int
learning_rate : float
positive : bool
monotonic_cst : array-like of shape (n_features,) or dict of str to int, or None
subsample : float
max_features : float
early_stopping : bool
scoring : str, callable or None
validation_fraction : float
n_iter_no_change : int
tol : float
    Stop when no ranker's edge exceeds this, at least 0.
warm_start : bool
    Add rounds to the last fit, up to ``n_estimators`` in all, to the last bit as if it had not stopped; the
    data, the features and the weak rankers must be the same. Random draws continue where they stopped,
    whatever ``random_state`` is now.
n_jobs : int or None
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
    "coef_columns_": """coef_, intercept_ : ndarray of shape (n_features,), float
    With ``weak_rankers="columns"`` alone: the coefficients, in the dtype of the training data, and minus
    ``threshold_``; the scores are ``X @ coef_ + intercept_``.""",
    "margin_": """margin_ : float
    The ranking margin: the smallest :math:`f(x_i) - f(x_k)` of a training pair over
    :math:`\\|\\lambda\\|_1`, at most 1; positive if all pairs are in the right order.""",
    "objective_path_log_": """objective_path_ : ndarray of shape (n_iter_ + 1,)
    :math:`\\ln F` before the first round and after each.""",
    "objective_path_rounds_": """objective_path_ : ndarray of shape (n_iter_ + 1,)
    The objective before the first round and after each.""",
    "feature_importances_": """feature_importances_ : ndarray of shape (n_features,)
    The share of each feature in the fall of the objective.""",
    "validation_path_": """validation_path_ : ndarray
    The scores of the validation part before the first round and after each, including the rounds after the
    best, which are not kept and which a warm start repeats; empty without ``early_stopping``.""",
    "best_round_": """best_round_ : int
    The number of rounds kept.""",
    "n_iter_rounds_": """n_iter_ : int
    The number of rounds.""",
    "converged_edge_": """converged_ : bool
    Whether no edge exceeded ``tol`` after the last round kept.""",
    "coef_": """coef_, intercept_ : ndarray of shape (n_features,), float
    The coefficients, in the dtype of the training data, and minus ``threshold_``; the scores are ``X @ coef_
    + intercept_``.""",
    "coef_kernel_": """coef_, intercept_ : ndarray of shape (n_features,), float
    Of linear scores alone: the coefficients, in the dtype of the training data, and minus ``threshold_``; the
    scores are ``X @ coef_ + intercept_``.""",
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
    "n_iter_": """n_iter_ : int
    The number of iterations run.""",
    "objective_path_": """objective_path_ : ndarray of shape (n_iter_ + 1,)
    The objective at the start and after every iteration.""",
    "converged_gap_": """converged_ : bool
    Whether the duality gap came down to ``tol``.""",
    "converged_gap_gradient_": """converged_ : bool
    Whether the duality gap and the gradient came down to ``tol``; with ``alpha=0``, and if rounding ended the
    descent before the gap was closed, the gradient alone, whatever ``dual_gap_`` is.""",
    "primal_dual_penalty_": """primal_objective_, dual_objective_ : float
    The objective at the answer, as rounded to the dtype of ``coef_``, and a lower bound of the optimum. With
    an alpha of 0 it is minus infinity far from the optimum, where there is none, as on separable rows, for
    other losses than the exponential, with ``positive``, with more than 1,024 features, and (but for a push
    or a pull of a power) with rows that are not in memory.""",
    "dual_gap_log_": """dual_gap_ : float
    The difference of primal and dual objective, relative to the primal, or to one if that is less, because it
    is a logarithm.""",
    "primal_dual_": """primal_objective_, dual_objective_ : float
    The objective at the answer, as rounded to the dtype of ``coef_``, and a lower bound of the optimum.""",
    "dual_gap_": """dual_gap_ : float
    The difference of primal and dual objective, relative to the primal.""",
    "features_": """n_features_in_ : int
    The number of features.
feature_names_in_ : ndarray of shape (n_features_in_,)
    The names of the features, if ``X`` had names that are all strings.""",
    # Rankers that learn from batches.
    "k": """The number of rows of a batch to predict positive. A float in (0, 1] is a fraction of the
batch's positives, rounded to between 1 and their number, halves to even; an int is a number of rows, or in a
batch with fewer positives all of these. Measures take such a fraction as ``fraction_of_positives``.""",
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
"""The shared paragraphs by name. Variants of an entry have names that differ from the name in the entry."""


def _sections(**names: str) -> str:
    """Return sections of paragraphs, whose names are separated by spaces."""
    parts = []
    for title, paragraphs in names.items():
        text = "\n".join(PARAGRAPHS[name] for name in paragraphs.split())
        parts.append(f"{title}\n{'-' * len(title)}\n{text}")
    return "\n\n".join(parts)


PARAGRAPHS["rows_of_fit"] = _sections(Parameters="X_of_fit")
PARAGRAPHS["array_of_rows"] = _sections(Parameters="X_of_fit", Returns="row_results")

# The sections that follow the parameters of a method that fits.
PARAGRAPHS["fitted_or_value_error"] = _sections(Returns="self", Raises="value_error")
PARAGRAPHS["fitted_or_raises"] = _sections(Returns="self", Raises="fit_value_error fit_type_error")
PARAGRAPHS["fitted"] = "\n\n".join([PARAGRAPHS["fitted_or_raises"], _sections(Warns="convergence_warning")])
PARAGRAPHS["fitted_path"] = _sections(
    Returns="rankers", Raises="path_value_error path_type_error", Warns="path_warning"
)
PARAGRAPHS["fitted_search"] = _sections(
    Returns="self", Raises="search_value_error search_type_error", Warns="search_warning"
)

SEARCH_PARAGRAPHS = {
    **PARAGRAPHS,
    "tol": """Stop when :math:`\\max_j |g_j| / s_j` is at most this, with g the gradient and
:math:`s_j` the standard deviation of feature j within the classes; with fewer rows than features these
are axes of the rows' space. On small dense data (n_samples * n_features ** 2 of at most 2 ** 26) L-BFGS
continues until the objective stops decreasing.""",
    "scoring": """The name of a scorer in :mod:`pushrank.metrics.scorers` or in scikit-learn, or a scorer.
A metric of few rows, such as the default, moves by chance, which ``selection="one_standard_error"`` allows
for.""",
    "max_iter": "The largest number of iterations of a solution.",
    "n_jobs": """The number of folds to solve at a time, in threads that copy their rows; None is
one, or the setting of ``joblib.parallel_config``, and -1 all processors. It changes no result.""",
    "verbose": "Show a progress bar on standard error, of the solutions in the folds.",
    "sample_weight": "Non-negative weights, for training and for scoring.",
}
"""Those of searches by cross-validation, where some names stand for other things."""

shared_docs = shared_docs_from(PARAGRAPHS)
search_docs = shared_docs_from(SEARCH_PARAGRAPHS)
