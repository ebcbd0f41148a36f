"""How models are compared, and whether the rows suffice for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray

from pushrank.cli.errors import InputError

POWERS = [4.0, 16.0, 64.0]


@dataclass(frozen=True)
class Design:
    """How models are compared: which, on which splits, and by what."""

    powers: list[float] = field(default_factory=lambda: POWERS)
    alpha: float | None = None
    folds: int = 5
    repeats: int = 1
    seed: int = 0
    budget: int | None = None
    nested: bool = False

    @property
    def n_parts(self) -> int:
        """The number of test parts."""
        return self.folds * self.repeats

    @property
    def n_splits(self) -> int:
        """How many times over rows are split: nested, also to choose a model, and for it p and alpha."""
        return 3 if self.nested else 1

    def check(self, y: NDArray[np.bool_]) -> None:
        """Raise when these rows cannot be compared so.

        Raises
        ------
        InputError
            When a class has too few rows for the folds, p or alpha is out of range, or the budget exceeds the
            rows.
        """
        self._check_classes(int(min(y.sum(), (~y).sum())))
        for power in self.powers:
            if not 1.0 <= power < np.inf:
                raise InputError(f"--p must be finite and at least 1, got {power:g}.")
        if self.alpha is not None and not 0.0 <= self.alpha < np.inf:
            raise InputError(f"--alpha must be finite and at least 0, got {self.alpha:g}.")
        if self.budget is not None and self.budget > len(y):
            raise InputError(f"--budget {self.budget} exceeds the {len(y)} rows of the data.")

    def _check_classes(self, fewest: int) -> None:
        if _can_be_split(fewest, self.folds, self.n_splits):
            return
        possible = [folds for folds in range(2, self.folds) if _can_be_split(fewest, folds, self.n_splits)]
        least = _rows_needed(self.folds if possible else 2, self.n_splits)
        ways = [f"choose at most {possible[-1]} folds"] if possible else []
        if self.nested and fewest >= 2:
            fewer = f" and choose at most {fewest} folds" if fewest < self.folds else ""
            ways.append(f"leave out --nested{fewer}")
        raise InputError(
            f"a class has {fewest} row{'s' * (fewest != 1)}; --folds {self.folds if possible else 2}"
            + (", with --nested, which splits them three times over," if self.nested else "")
            + f" needs at least {least} rows in each class"
            + (f": {', or '.join(ways)}." if ways else ", and there are no fewer folds: add rows.")
        )


def _can_be_split(n_rows: int, folds: int, times: int) -> bool:
    """Return whether rows suffice for every part, where the training parts are split again and again."""
    for _ in range(times - 1):
        n_rows -= -(-n_rows // folds)
    return n_rows >= folds


def _rows_needed(folds: int, times: int) -> int:
    return next(n_rows for n_rows in count(folds) if _can_be_split(n_rows, folds, times))
