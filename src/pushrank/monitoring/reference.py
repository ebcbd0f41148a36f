"""What a model carries of the rows that it was fitted to: the hits to expect of it, and where columns lay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, stdtr

from pushrank._base.user_types import Floats
from pushrank._base.validation import are_missing, as_numbers, column
from pushrank.budgets import Budget, Periods, chances_of_list, check_by_period

__all__ = [
    "BLOCKS", "BLOCK_ROWS", "SCORES", "Profile", "Reference", "consecutive_parts", "in_no_order",
    "most_moved", "profiles_of_rows",
]  # fmt: skip

# Shares of a period's negatives, at which the share of its positives above them is kept.
GRID = np.r_[0.0, np.geomspace(1e-4, 1.0, 120)]
# Whole weeks or days are compared with each other, so that their rhythm is no change.
BLOCKS = {"hour": 24, "day": 7}
QUARTERS = (0.25, 0.5, 0.75)
MAX_VALUES, MIN_SHARE = 10, 0.01
SCORES = "the scores"
# Rows of a block where there are no periods, and how seldom columns that have not moved are said to have.
BLOCK_ROWS, MOVED = 100, 0.01
# The spread of few periods is uncertain: its upper confidence limit is taken, at this level.
SPREAD_LEVEL = 2.0 / 3.0


class PeriodCounts(NamedTuple):
    """What the first rows of every period hold, and the hits to expect by their scores."""

    rows: Floats
    looked_at: Floats
    positives: Floats
    hits: Floats
    by_scores: Floats


@dataclass(frozen=True, eq=False)
class Profile:
    r"""Where a column lies: its values in parts, and what share of a block's rows each part has.

    .. math:: a_{bj} = \arcsin\sqrt{s_{bj}}

    for the share :math:`s_{bj}` of part j among the rows of block b, seven days for a budget a day.

    Parameters
    ----------
    cuts : list of float or list of str
        The quartiles of a column of numbers, of which a part takes its upper end, or the values of another.
    is_number : bool
        Which of both.
    moments : ndarray of shape (3, n_parts)
        The mean of :math:`a_{bj}` over blocks, its standard deviation, and its correlation from a block to
        the next, of each part, the last of which are larger or other values, and missing ones.
    n_blocks : int
        The number of blocks.

    Examples
    --------
    >>> profile = Profile.of(np.arange(8.0), np.arange(8) // 2, 4)
    >>> profile.cuts, profile.n_blocks
    ([1.75, 3.5, 5.25], 4)
    """

    cuts: list[Any]
    is_number: bool
    moments: Floats
    n_blocks: int

    @classmethod
    def of(cls, values: NDArray[Any], blocks: NDArray[np.int64], n_blocks: int) -> Self:
        """Return the profile of a column, by the number of each row's block, -1 of rows in none."""
        is_number = values.dtype.kind in "biuf"
        if is_number:
            cuts = np.unique(np.nanquantile(values, QUARTERS)) if np.isfinite(values).any() else np.empty(0)
        else:
            kinds, counts = np.unique(values[~are_missing(values)].astype(str), return_counts=True)
            common = np.argsort(-counts, kind="stable")[:MAX_VALUES]
            cuts = kinds[common[counts[common] >= MIN_SHARE * len(values)]]
        bare = cls(cuts.tolist(), is_number, np.empty(0), n_blocks)
        angles, sizes = bare.angles(values, blocks, n_blocks)
        centred = angles - angles.mean(axis=0)
        # Blocks of rows that are drawn at random differ by no less than this.
        least = 0.5 / np.sqrt(np.maximum(np.median(sizes), 1.0))
        deviation = np.maximum(np.sqrt((centred**2).sum(axis=0) / (n_blocks - 1)), least)
        products = (centred[1:] * centred[:-1]).sum(axis=0)
        # A part whose share never changes has no variance: its correlation is 0, and not 0 / 0.
        squares = np.maximum((centred**2).sum(axis=0), 1e-12)
        # The correlation of so few blocks is too low by about the inverse of their number.
        correlation = np.clip(products / squares + 1.0 / n_blocks, 0.0, 0.95)
        return replace(bare, moments=np.stack([angles.mean(axis=0), deviation, correlation]))

    def angles(
        self, values: Any, blocks: NDArray[np.int64], n_blocks: int, name: str = "the column"
    ) -> tuple[Floats, Floats]:
        """Return the arcsine roots of each part's share in blocks, and the number of rows of these."""
        n_parts = len(self.cuts) + 2
        if self.is_number:
            values = as_numbers(values, name)
            parts, missing = np.searchsorted(self.cuts, values), np.isnan(values)
        else:
            missing, order = are_missing(values), np.argsort(self.cuts)
            texts, parts = values.astype(str), np.full(len(values), n_parts - 2)
            if len(self.cuts):
                known = np.asarray(self.cuts)[order]
                at = np.minimum(np.searchsorted(known, texts), len(known) - 1)
                parts = np.where(known[at] == texts, order[at], parts)
        # The search puts NaN above the last cut, among the large values, so that gaps are marked after it.
        parts[missing] = n_parts - 1
        inside = blocks >= 0
        cells = np.bincount(blocks[inside] * n_parts + parts[inside], minlength=n_blocks * n_parts)
        counts = cells.reshape(n_blocks, n_parts).astype(np.float64)
        sizes = counts.sum(axis=1)
        # The arcsine of the root of a share has a standard deviation of 1 / (2 sqrt(n)) in n rows, whatever
        # the share: small shares and large ones are compared by one test.
        return np.arcsin(np.sqrt(counts / np.maximum(sizes, 1.0)[:, None])), sizes

    def test(self, angles: Floats, n_blocks: int) -> tuple[float, int]:
        """Return the p-value of the mean of some blocks, for all parts together, and the part that moved."""
        mean, deviation, correlation = self.moments
        inflation = (1.0 + correlation) / (1.0 - correlation)
        # Neighbouring blocks are similar, and a mean of several tells less than of as many others.
        variance = np.minimum(1.0, inflation / n_blocks) + np.minimum(1.0, inflation / self.n_blocks)
        sizes = np.abs(angles - mean) / (deviation * np.sqrt(variance))
        p_values = 2.0 * stdtr(self.n_blocks - 1, -sizes)
        # Bonferroni's bound holds although the shares of a column, which sum to one, depend on each other.
        return float(min(1.0, p_values.min() * len(p_values))), int(np.argmin(p_values))

    def words(self, part: int) -> str:
        """Return the values of a part in words."""
        if part >= len(self.cuts):
            last = f"above {self.cuts[-1]:.4g}" if self.is_number and self.cuts else "others"
            return last if part == len(self.cuts) else "missing"
        return f"up to {self.cuts[part]:.4g}" if self.is_number else str(self.cuts[part])


@dataclass(frozen=True, eq=False)
class Reference:
    r"""What is to be expected of a model, by the rows that it had not seen when it scored them.

    A period of n rows and m positives, of which b are looked at, should hold

    .. math:: g = m R(f), \quad m R(f) + (n - m) f = b,

    hits: R(f) is the share of the positives of held-out periods that less than a share f of the negatives of
    the same period are above. Where m is not known, each row that is looked at counts by the chance that
    held-out rows of its score were positive, by isotonic regression.

    Parameters
    ----------
    budget : Budget
        How many rows are looked at in each period.
    roc : ndarray of shape (121,)
        R at 121 shares of negatives, 0 and from 0.0001 to 1, their logarithms equally far apart.
    periods : ndarray of shape (n_periods,)
        The names of the held-out periods, in order of time.
    counts : ndarray of shape (5, n_periods)
        The rows of each, those looked at, the positives, the hits, and the hits to expect by scores.
    chances : list of ndarray of shape (2, n_scores)
        Scores and the chance of a positive there, of rows on the list and of rows below it.
    of_parts : bool
        Whether the periods are parts of one file, drawn at random, which tell of no spread between files.
    profiles : dict of str to Profile
        Where the scores and the columns lay.

    Examples
    --------
    >>> from pushrank.datasets import make_stream
    >>> stream = make_stream(60, random_state=0)
    >>> reference = Reference.of(Budget(30), stream.time, stream.data[:, 0], stream.target, stream.data)
    >>> reference.sentence
    '30 rows a day found on average 10.0 of 27.3 positives in each of 60 days held out.'
    """

    budget: Budget
    roc: Floats
    periods: NDArray[np.str_]
    counts: Floats
    chances: list[Floats]
    of_parts: bool = False
    profiles: dict[str, Profile] = field(default_factory=dict)

    @classmethod
    def of(cls, budget: Budget, time: Any, scores: ArrayLike, y: ArrayLike, X: Any = None) -> Self:
        """Return the reference of rows by their scores, NaN where a row was never held out.

        Parameters
        ----------
        budget : Budget
            How many rows are looked at in each period.
        time : array-like of shape (n,)
            Dates, or the batches of `budget`.
        scores : array-like of shape (n,)
            By fits that had not seen the row.
        y : array-like of shape (n,)
            Whether a row is positive.
        X : DataFrame or ndarray of shape (n, n_columns), optional
            Columns to watch, of numbers or texts; those of a sparse matrix are not watched.

        Returns
        -------
        Reference
            To be saved with the model. O(n log n) a column.

        Raises
        ------
        ValueError
            When fewer than two held-out periods have positives and negatives, a label or score is none, or
            lengths differ.
        TypeError
            When the budget is not one by period.
        """
        check_by_period(budget)
        scores, labels = as_numbers(column(scores, "scores"), "scores"), as_numbers(column(y, "y"), "y")
        if not len(scores) == len(labels) == len(time):
            raise ValueError(
                f"time, scores and y must be of one length, got {len(time)}, {len(scores)}, {len(labels)}."
            )
        if not (seen := ~np.isnan(scores)).any() or np.isinf(scores).any():
            raise ValueError("scores must be finite, or NaN of some rows, which were never held out.")
        if not np.isin(labels[seen], (0.0, 1.0)).all():
            raise ValueError("y must hold 0 or 1 for each row with a score; set other scores to NaN.")
        periods = budget.periods(time)
        held_out = budget.periods(periods.labels[periods.codes][seen])
        scores, is_positive = scores[seen], labels[seen] == 1.0
        on_list = chances_of_list(scores, held_out, budget.n)
        chances = [_chances(scores, is_positive, weight) for weight in (on_list, 1.0 - on_list)]
        counts = period_counts(held_out, is_positive, on_list, on_list * np.interp(scores, *chances[0]))
        places = []
        for at in held_out.rows:
            positive, negative = (np.sort(scores[at][is_positive[at] == kind]) for kind in (True, False))
            if len(positive) and len(negative):
                low, high = (np.searchsorted(negative, positive, side) for side in ("left", "right"))
                first, last = (np.searchsorted(positive, positive, side) for side in ("left", "right"))
                # Positives that tie lie evenly among the negatives of their score.
                share = (np.arange(len(positive)) - first + 0.5) / (last - first)
                places.append(1.0 - (low + share * (high - low)) / len(negative))
        if len(places) < 2:
            raise ValueError(
                f"a reference needs two held-out periods or more with positives and negatives, got "
                f"{len(places)} of {len(held_out.labels)}; take more rows, or longer periods."
            )
        roc = np.searchsorted(np.sort(np.concatenate(places)), GRID, "right") / sum(map(len, places))
        profiles = {name: _profile(values, periods, budget) for name, values in columns_of(X)}
        profiles[SCORES] = _profile(scores, held_out, budget)
        return cls(
            budget,
            np.asarray(roc),
            held_out.labels.astype(str),
            np.array(counts),
            chances,
            profiles={name: profile for name, profile in profiles.items() if profile is not None},
        )

    @classmethod
    def load(cls, fields: dict[str, Any]) -> Self:
        """Return the reference of what ``dataclasses.asdict`` made of one."""
        profiles = {name: Profile(**profile) for name, profile in fields["profiles"].items()}
        return cls(**fields | {"budget": Budget(**fields["budget"]), "profiles": profiles})

    @property
    def sentence(self) -> str:
        """What was found in the held-out periods."""
        _, _, positives, hits, _ = self.counts.mean(axis=1)
        # A list of a whole file was held out in parts of it, of which fewer rows were looked at.
        listed = min(self.budget.n, round(self.counts[1].max()))
        return (
            f"{listed:,} rows {self.budget.each} found on average {hits:.1f} of {positives:.1f} "
            f"positives in each of {len(self.periods):,} {self.budget.several} held out."
        )

    def facts(self) -> dict[str, Any]:
        """Return the sentence, the budget and the means of a held-out period, as plain values, for JSON."""
        names = [f"{name}_per_period" for name in PeriodCounts._fields]
        means = dict(zip(names, self.counts.mean(axis=1).tolist(), strict=True))
        ends = {"since": str(self.periods[0]), "until": str(self.periods[-1]), "periods": len(self.periods)}
        return {"sentence": self.sentence, "budget": str(self.budget)} | ends | means

    def expected_hits(self, counts: PeriodCounts, is_full: Any = True) -> tuple[Floats, Floats]:
        """Return the hits to expect of periods, by positives where these are known, and their limit."""
        m, n = counts.positives[:, None], counts.rows[:, None]
        taken = m * self.roc + (n - m) * GRID
        # Where even the positives above all negatives exceed the budget, all that are looked at are hits.
        shares = [np.interp(b, row, self.roc) for b, row in zip(counts.looked_at, taken, strict=True)]
        places = np.minimum(counts.positives, counts.looked_at)
        by_positives = np.minimum(counts.positives * shares, counts.looked_at)
        expected = np.where(is_full, by_positives, counts.by_scores)
        return expected, np.where(is_full, places, counts.looked_at)

    def chance_of(self, scores: Floats, on_list: Floats) -> Floats:
        """Return the chance of rows to be positive, by their scores and their chance to be on the list."""
        listed, below = (np.interp(scores, *curve) for curve in self.chances)
        # Where fewer rows come, or files are of another size, lists reach scores below all of these.
        listed = np.where(scores < self.chances[0][0, 0], below, listed)
        return on_list * listed + (1.0 - on_list) * below

    def spread(self, expected: Floats, places: Floats, hits: Floats | None = None) -> float:
        """Return the upper limit of how much hits spread, in units of the binomial variance, at least 1."""
        hits = PeriodCounts(*self.counts).hits if hits is None else hits
        residuals = hits - hits.sum() / max(expected.sum(), 1e-12) * expected
        variance = expected * (1.0 - expected / np.maximum(places, 1.0))
        total, spread = max(variance.sum(), 1e-12), 1.0
        # Sums of whole weeks show hits that rise and fall together on neighbouring days; single days hide it.
        for width in (1, BLOCKS.get(self.budget.per, 1)):
            n_blocks = len(residuals) // width
            if n_blocks > 1:
                sums = residuals[: n_blocks * width].reshape(n_blocks, width).sum(axis=1)
                least = chdtri(n_blocks - 1, SPREAD_LEVEL)
                # The ratio was estimated from the same periods, which takes a degree of freedom.
                spread = max(spread, float((sums**2).sum() / total * n_blocks / least))
        return spread


def _chances(scores: Floats, y: NDArray[Any], weight: Floats) -> Floats:
    """Return scores and the shares of positives there, which rise with the score, by isotonic regression."""
    # It takes long to import, which commands that score rows need not wait for.
    from scipy.optimize import isotonic_regression

    values, at = np.unique(scores[weight > 0.0], return_inverse=True)
    if not len(values):
        return np.zeros((2, 1))
    sizes, sums = (np.bincount(at, of[weight > 0.0]) for of in (weight, weight * y))
    found = isotonic_regression(sums / sizes, weights=sizes)
    ends = np.unique(np.r_[found.blocks[:-1], found.blocks[1:] - 1])
    return np.array([values[ends], found.x[ends]])


def period_counts(
    periods: Periods, y: NDArray[Any], looked_at: NDArray[Any], expected: Floats
) -> PeriodCounts:
    """Return what each period holds, by each row's chance to be looked at, and the hits its scores expect."""
    sums = (np.ones(len(y)), looked_at, y, looked_at * y, expected)
    return PeriodCounts(
        *(np.bincount(periods.codes, of, len(periods.labels)).astype(np.float64) for of in sums)
    )


def blocks_of(periods: Periods, budget: Budget) -> tuple[NDArray[np.int64], int]:
    """Return each row's block of periods, -1 of those that fill none, and their number."""
    length = BLOCKS.get(budget.per, 1)
    n_blocks = len(periods.labels) // length
    blocks = periods.codes // length
    return np.where(blocks < n_blocks, blocks, -1), n_blocks


def columns_of(X: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of columns; of a sparse matrix none."""
    if X is None or sp.issparse(X):
        return
    # Tables of Arrow keep names apart from their columns.
    names = getattr(X, "column_names", getattr(X, "columns", [f"x{n + 1}" for n in range(X.shape[1])]))
    for number, name in enumerate(names):
        if hasattr(X, "iloc"):
            values = X.iloc[:, number]
            is_number = values.dtype.kind in "biuf"
            of_texts = values if is_number else values.astype(object).where(values.notna(), None)
            values = values.to_numpy(np.float64, na_value=np.nan) if is_number else of_texts.to_numpy()
        else:
            values = np.asarray(X[name]) if hasattr(X, "columns") else np.asarray(X)[:, number]
            # Polars and Arrow give numbers among gaps as objects: read as texts they would be of this many
            # kinds that no part moves.
            if values.dtype.kind in "bO" and all(isinstance(v, Real | None) for v in values.tolist()):
                values = as_numbers(values, str(name))
        yield str(name), values


def _profile(values: Any, periods: Periods, budget: Budget) -> Profile | None:
    """Return the profile of a column, or None of fewer than three blocks, which tell of no spread."""
    blocks, n_blocks = blocks_of(periods, budget)
    return Profile.of(values, blocks, n_blocks) if n_blocks > 2 else None


def profiles_of_rows(X: Any, time: Any = None) -> dict[str, dict[str, Any]]:
    """Return where columns lie by blocks of rows that follow each other, for JSON; none of too few rows."""
    n_blocks = X.shape[0] // BLOCK_ROWS
    if n_blocks < 3:
        return {}
    order = in_no_order(X) if time is None else np.argsort(time, kind="stable")
    blocks = consecutive_parts(order, n_blocks)
    found = {name: Profile.of(values, blocks, n_blocks) for name, values in columns_of(X)}
    return {name: vars(of) | {"moments": of.moments.round(6).tolist()} for name, of in found.items()}


def consecutive_parts(order: NDArray[np.intp], n_parts: int) -> NDArray[np.int64]:
    """Return the part of each row, of equally many that follow each other in an order."""
    parts = np.empty(len(order), dtype=np.int64)
    parts[order] = np.arange(len(order)) * n_parts // max(len(order), 1)
    return parts


def in_no_order(X: Any) -> NDArray[np.int64]:
    """Return numbers of rows that say nothing of their order, which may be that of a column."""
    return np.random.default_rng(0).permutation(X.shape[0])


def most_moved(profiles: dict[str, dict[str, Any]], X: Any) -> str:
    """Return how the column that moved most differs from its profile, or nothing if chance may explain it."""
    n_blocks, least, said = X.shape[0] // BLOCK_ROWS, MOVED, ""
    blocks = in_no_order(X) * n_blocks // max(X.shape[0], 1)
    for name, values in columns_of(X) if n_blocks else ():
        if name not in profiles:
            continue
        profile = Profile(**profiles[name] | {"moments": np.array(profiles[name]["moments"])})
        angles = profile.angles(values, blocks, n_blocks, name)[0].mean(axis=0)
        p_value, part = profile.test(angles, n_blocks)
        if p_value * len(profiles) < least:
            least = p_value * len(profiles)
            before, now = 100.0 * np.sin([profile.moments[0, part], angles[part]]) ** 2
            said = f"{name!r} is {profile.words(part)} in {now:.0f} % of them, before in {before:.0f} %"
    return said
