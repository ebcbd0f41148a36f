"""Types of what users pass: features, labels, seeds, splitters and estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

__all__ = ["Estimator", "Floats", "GenericArray", "MatrixLike"]

Floats: TypeAlias = NDArray[np.float64]
"""An array of numbers in double precision."""

GenericArray: TypeAlias = NDArray[np.generic]
"""An array of any dtype, such as one of labels or times."""

Label: TypeAlias = int | float | str | bytes | np.generic
"""The label of a class, or a grade."""

PerRow: TypeAlias = ArrayLike | None
"""A value for each row, or none."""

Pairs: TypeAlias = ArrayLike | Sequence[ArrayLike] | None
"""Explicit pairs, (better, worse) or (better, worse, weight), or none."""

Seed: TypeAlias = int | np.random.RandomState | None
"""What scikit-learn's ``check_random_state`` takes."""


class FrameLike(Protocol):
    """A data frame of pandas, Polars or another library: a table whose columns have names."""

    @property
    def columns(self) -> Iterable[str]:
        """The names of the columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""


MatrixLike: TypeAlias = Union[ArrayLike, FrameLike, "spmatrix", "sparray"]
"""Features as users pass them; scikit-learn's ``validate_data`` makes a Matrix of them."""

Matrix: TypeAlias = Union[NDArray[np.floating], "spmatrix", "sparray"]
"""Checked features: one row for each row of data."""


class Estimator(Protocol):
    """What is fitted to features and labels: ``fit(X, y, **parameters)``."""

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name."""

    def set_params(self, **params: object) -> Self:
        """Set parameters and return the object."""

    @property
    def fit(self) -> Callable[..., Self]:
        """The method that fits, whose further arguments differ."""


class Splitter(Protocol):
    """What divides rows into training and test rows, as scikit-learn's splitters do."""

    @property
    def split(self) -> Callable[..., Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]]:
        """The method that returns the numbers of the training and of the test rows of each split."""

    @property
    def get_n_splits(self) -> Callable[..., int]:
        """The method that returns the number of splits."""


Splits: TypeAlias = Iterable[tuple[ArrayLike, ArrayLike]]
CrossValidation: TypeAlias = int | Splitter | Splits | None
"""What scikit-learn's ``check_cv`` takes."""
