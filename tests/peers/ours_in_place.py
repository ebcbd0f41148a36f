"""A plugin of pytest that puts pushrank's measures in the place of a peer's, for the peer's own tests.

Calls that a measure of pushrank is not made for, such as several labels or an average of classes, go on to
the peer. The file that ``PEERS_TOUCHED`` names lists the tests that reached pushrank.
"""

import functools
import os
from pathlib import Path

import numpy as np
import sklearn.metrics
from sklearn.utils.multiclass import type_of_target

from pushrank import metrics

TOUCHED: set[str] = set()


def note():
    """Note that the running test has reached a measure of pushrank."""
    TOUCHED.add(os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0])


def is_binary(y_true, y_score):
    """Return whether labels are of two classes or fewer, and scores a vector."""
    return np.ndim(y_true) == np.ndim(y_score) == 1 and type_of_target(y_true) == "binary"


def instead_of(theirs, ours, takes):
    """Return a function that calls ours where it takes the arguments, and theirs elsewhere."""

    @functools.wraps(theirs)
    def measure(y_true, y_score=None, **options):
        y_score = options.pop("y_prob", y_score)
        if not takes(y_true, y_score, options):
            return theirs(y_true, y_score, **options)
        note()
        return ours(y_true, y_score, **options)

    return measure


def roc_auc(y_true, y_score, *, sample_weight=None, max_fpr=None, average=None):  # noqa: ARG001
    """Return the area under the ROC curve, in scikit-learn's terms."""
    labels = np.asarray(y_true) == np.max(y_true)
    if max_fpr in (None, 1):
        return metrics.auc(labels, y_score, sample_weight=sample_weight)
    return metrics.partial_auc(labels, y_score, max_fpr, sample_weight=sample_weight)


def average_precision(y_true, y_score, *, sample_weight=None, pos_label=1, average=None):  # noqa: ARG001
    """Return the average precision, in scikit-learn's terms: tied rows are one step of the list."""
    labels = np.asarray(y_true) == pos_label
    return metrics.average_precision(labels, y_score, sample_weight=sample_weight)


def ndcg(y_true, y_score, *, k=None, sample_weight=None, ignore_ties=False):  # noqa: ARG001
    """Return the mean NDCG of rows of documents, in scikit-learn's terms."""
    lists = [metrics.ndcg_at_k(*row, k) for row in zip(np.asarray(y_true), np.asarray(y_score), strict=True)]
    return np.average(lists, weights=sample_weight)


def takes_labels(y_true, y_score, given):
    """Return whether labels are of two classes, and options those of two classes."""
    two_classes = is_binary(y_true, y_score) and given.get("pos_label", 1) in np.asarray(y_true)
    return two_classes and given.keys() <= {"average", "sample_weight", "max_fpr", "pos_label"}


def takes_lists(y_true, y_score, given):
    """Return whether there are rows of two documents or more, and no option but those of every NDCG."""
    shapes = np.shape(y_true), np.shape(y_score)
    return (
        shapes[0] == shapes[1]
        and len(shapes[0]) == 2
        and shapes[0][1] > 1
        and np.min(y_true) >= 0
        and not given.get("ignore_ties")
        and given.keys() <= {"k", "sample_weight", "ignore_ties"}
    )


def pytest_configure():
    """Replace the names of the peer before its tests import them."""
    for name, ours, takes in (
        ("roc_auc_score", roc_auc, takes_labels),
        ("average_precision_score", average_precision, takes_labels),
        ("ndcg_score", ndcg, takes_lists),
    ):
        setattr(sklearn.metrics, name, instead_of(getattr(sklearn.metrics, name), ours, takes))


def pytest_sessionfinish():
    """Write the tests that reached pushrank."""
    Path(os.environ["PEERS_TOUCHED"]).write_text("\n".join(sorted(TOUCHED)))
