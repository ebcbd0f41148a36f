"""Trees of scikit-learn that came from a file: node numbers are checked before anything follows them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree._tree import Tree

from pushrank.exceptions import ModelFileError

TREE = "sklearn.tree._tree.Tree"
"""The type's name: scikit-learn follows its node numbers without bounds, so a file's must be checked."""


def check_trees(loaded: Any) -> None:
    """Raise unless every tree within an object is one that prediction can walk safely.

    Raises
    ------
    ModelFileError
        When a node's child or feature is out of range, or a child does not come after its parent.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> check_trees({"model": DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])})
    """
    seen: set[int] = set()
    waiting = [loaded]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, str | bytes | int | float | type):
            continue
        seen.add(id(item))
        if isinstance(item, Tree):
            _check_tree(item)
        elif isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list | tuple | set):
            waiting += item
        elif isinstance(item, np.ndarray):
            waiting += item.ravel().tolist() if item.dtype == object else []
        elif hasattr(item, "__dict__"):
            waiting += vars(item).values()


def _check_tree(tree: Any) -> None:
    numbers = np.arange(tree.node_count)
    inner = tree.children_left != -1
    children = np.stack([tree.children_left[inner], tree.children_right[inner]])
    features = tree.feature[inner]
    ordered = np.all((children > numbers[inner]) & (children < tree.node_count))
    if not ordered or np.any((features < 0) | (features >= tree.n_features)):
        raise ModelFileError("the file holds a tree whose nodes point out of it; fit the model again.")
