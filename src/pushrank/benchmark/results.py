"""Results of several methods on several sets: tables, ranks, tests, a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import friedmanchisquare, studentized_range, t, wilcoxon

from pushrank._base.optional import import_optional
from pushrank._base.validation import check_choice
from pushrank.plots.axes import axes_or_new

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# The least two-sided p-value of signed ranks over five sets is 2 / 2^5, above 5 %.
MIN_SETS = 6


def critical_difference(n_methods: int, n_sets: int) -> float:
    """Return by how much mean ranks must differ at 5 %, by Nemenyi's test (Demsar 2006, section 3.2.2)."""
    quantile = studentized_range.ppf(0.95, n_methods, np.inf) / np.sqrt(2.0)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets)))


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """The measures of methods on the splits of sets, and what tests say of them.

    As splits share rows, the variance of a mean over V splits is
    :math:`(1 / V + n_{test} / n_{train}) s^2`: Nadeau and Bengio, *Inference for the generalization error*,
    Machine Learning 52 (2003). Ranks are tested as in Demsar, *Statistical comparisons of classifiers over
    multiple data sets*, JMLR 7 (2006). A method that failed has the last rank on that set, and no p-value.

    Parameters
    ----------
    frame : DataFrame
        A row for each ``set``, ``split`` and ``method``, with its measures; from `run` also with processor
        ``seconds``, what was ``chosen``, ``warnings``, the ``error`` of a failure, and whether the ``run``
        was here or its result is kept, and with which versions it was ``made``.
    measures : sequence of str
        The names of the measures, the greater the better.
    test_share : float, default=0.3
        The share of the rows that were tested.

    Examples
    --------
    >>> import pandas as pd
    >>> values = [(f"set {n}", 0, name, n + of) for n in range(1, 8) for name, of in [("a", n), ("b", 0)]]
    >>> results = Results(pd.DataFrame(values, columns=["set", "split", "method", "AP"]), ["AP"])
    >>> results.tests("AP", "b")[["difference", "effect", "p_holm"]].round(3).to_numpy().tolist()
    [[4.0, 1.0, 0.016]]
    """

    frame: pd.DataFrame
    measures: Sequence[str]
    test_share: float = 0.3

    def __repr__(self) -> str:
        n_methods, n_sets = (self.frame[name].nunique() for name in ("method", "set"))
        counts = self.frame.groupby(["run", "made"]).size() if "made" in self.frame else {}
        lines = [f"{count} results {run}, made with {made}" for (run, made), count in counts.items()]
        head = f"Results({n_methods} methods, {n_sets} sets, {len(self.failures)} failures)"
        return "\n".join([head, *lines])

    @property
    def failures(self) -> pd.DataFrame:
        """The ``set``, ``split``, ``method`` and ``error`` of methods that raised an error."""
        found = self.frame.reindex(columns=["set", "split", "method", "error"]).fillna({"error": ""})
        return found[found["error"] != ""]

    def by_split(self, measure: str) -> pd.DataFrame:
        """Return a measure with a row for each set and split, and a column for each method."""
        check_choice("measure", measure, list(self.measures))
        wide = self.frame.pivot(index=["set", "split"], columns="method", values=measure)
        sets, methods = (self.frame[name].unique() for name in ("set", "method"))
        return wide.reindex(columns=methods).reindex(sets, level="set")

    def means(self, measure: str) -> pd.DataFrame:
        """Return means over splits, a row for each method and a column for each set; NaN after a failure."""
        by_set = self.by_split(measure).groupby(level="set", sort=False)
        # The order of a sum would tell equal means apart by its rounding.
        return by_set.agg(lambda values: values.mean(skipna=False)).T.round(12)

    def standard_errors(self, measure: str) -> pd.DataFrame:
        """Return the standard errors of the means, NaN of a single split."""
        return np.sqrt(self._variances(self.by_split(measure))).T

    def _variances(self, splits: pd.DataFrame) -> pd.DataFrame:
        by_set = splits.groupby(level="set", sort=False)
        factor = 1.0 / by_set.size() + self.test_share / (1.0 - self.test_share)
        return by_set.var().mul(factor, axis="index")

    def ranks(self, measure: str) -> pd.DataFrame:
        """Return the ranks of means on each set, 1 the best; equals share a rank."""
        return self.means(measure).rank(ascending=False, na_option="bottom")

    def mean_ranks(self, measure: str) -> pd.Series:
        """Return the mean ranks over sets in their order."""
        return self.ranks(measure).mean(axis="columns").sort_values(kind="stable")

    def friedman(self, measure: str) -> float:
        """Return Friedman's p-value, that three methods or more rank equally."""
        return float(friedmanchisquare(*self.ranks(measure).to_numpy()).pvalue)

    def table(self, measure: str) -> pd.DataFrame:
        """Return a table to print: means ± standard errors, mean ranks, and what was run here."""
        means, errors, order = self.means(measure), self.standard_errors(measure), self.mean_ranks(measure)
        text = "{:.1f}" if means.max(axis=None) > 1.0 else "{:.3f}"
        cells = means.map(text.format) + errors.map(f" ±{text}".format).where(errors.notna(), "")
        cells = cells.where(means.notna(), "failed").loc[order.index].rename_axis(index=None, columns=None)
        cells["mean rank"] = order.map("{:.1f}".format)
        if "run" in self.frame:
            run = self.frame.groupby("method")["run"]
            cells["run"] = run.agg(lambda places: " and ".join(sorted({*places})))
        return cells

    def to_latex(self, measure: str) -> str:
        """Return the table in LaTeX, with the rules of booktabs and the best mean of each set in bold."""
        import_optional("jinja2", "report")
        table, means = self.table(measure).drop(columns="run", errors="ignore"), self.means(measure)
        best = means.eq(means.max()).reindex(table.index, columns=table.columns, fill_value=False)
        styled = table.style.apply(lambda _: best.map("textbf:--rwrap;".__mul__), axis=None)
        styled = styled.format(escape="latex").format_index(escape="latex")
        text = styled.format_index(escape="latex", axis="columns").to_latex(hrules=True)
        return str(text).replace("±", r"$\pm$")

    def tests(self, measure: str, reference: str | None = None) -> pd.DataFrame:
        """Return paired tests of the other methods against a reference, by default the best by mean rank.

        On six sets or more they are Wilcoxon's, of signed ranks of the differences in means, and the effect
        is the rank-biserial correlation. On fewer they are t-tests of the mean difference on these very sets,
        with corrected variances over splits and Welch's degrees of freedom, and the effect is in standard
        deviations of splits; there is no p-value of one split, or of differences that are all the same.
        ``p_holm`` is corrected for the number of methods by Holm's steps.
        """
        means, splits = self.means(measure), self.by_split(measure)
        best = self.mean_ranks(measure).index[0] if reference is None else reference
        check_choice("reference", best, list(means.index))
        by_sets, rows = means.shape[1] >= MIN_SETS, []
        for name in means.index.drop(best):
            gaps = means.loc[name] - means.loc[best]
            effect, p = _signed_ranks(gaps) if by_sets else self._corrected_t(splits[name] - splits[best])
            rows.append((name, best, gaps.mean(skipna=False), effect, p))
        columns = ["method", "other", "difference", "effect", "p"]
        tests = import_optional("pandas", "io").DataFrame(rows, columns=columns)
        steps = tests["p"].sort_values() * np.arange(len(tests), 0, -1)
        test = "Wilcoxon over sets" if by_sets else "corrected t over splits"
        return tests.assign(p_holm=steps.cummax().clip(upper=1.0), test=test)

    def _corrected_t(self, gaps: pd.Series) -> tuple[float, float]:
        by_set, variances = gaps.groupby(level="set", sort=False), self._variances(gaps)
        if gaps.eq(0.0).all():
            return 0.0, 1.0
        if gaps.isna().any() or not variances.sum() > 0.0:
            return np.nan, np.nan
        mean, freedom = by_set.mean().mean(), variances.sum() ** 2 / sum(variances**2 / (by_set.size() - 1))
        ratio = mean * len(variances) / np.sqrt(variances.sum())
        return float(mean / np.sqrt(by_set.var().mean())), float(2.0 * t.sf(abs(ratio), freedom))

    def plot_critical_difference(self, measure: str, ax: Axes | None = None) -> Axes:
        """Draw mean ranks on a line; thick lines join methods that Nemenyi's test does not tell apart."""
        ranks, n_sets = self.mean_ranks(measure), self.means(measure).shape[1]
        n, half, reach = len(ranks), (len(ranks) + 1) // 2, critical_difference(len(ranks), n_sets)
        ends = [int((ranks <= rank + reach).sum()) for rank in ranks]
        # A group inside an earlier one, which ends where this does, is left out.
        groups = [(i, end) for i, end in enumerate(ends) if end - i > 1 and end > max([0, *ends[:i]])]
        ax = axes_or_new(ax, figsize=(7.2, 0.1 * len(groups) + 0.25 * half + 1.2))
        for place, (name, rank) in enumerate(ranks.items()):
            side, edge = ("right", 0.8) if place < half else ("left", n + 0.2)
            down = 0.4 * len(groups) + 0.6 + min(place, n - 1 - place)
            ax.plot([rank, rank, edge], [0.0, down, down], color="black", linewidth=1.0, clip_on=False)
            ax.text(edge, down, f" {name} ", ha=side, va="center")
        for number, (first, end) in enumerate(groups, 1):
            line = ranks.iloc[first] - 0.05, ranks.iloc[end - 1] + 0.05
            ax.plot(line, [0.4 * number] * 2, color="black", linewidth=4.0, clip_on=False)
        ax.set(xlim=(1, n), ylim=(0.4 * len(groups) + half + 0.6, 0.0), yticks=[], xticks=range(1, n + 1))
        ax.set_title(f"{measure}: mean ranks on {n_sets} sets, critical difference {reach:.2f}")
        ax.xaxis.tick_top()
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        return ax


def _signed_ranks(gaps: pd.Series) -> tuple[float, float]:
    """Return the rank-biserial correlation of differences, and the p-value of Wilcoxon's test."""
    if not gaps.any() or gaps.isna().any():
        return (np.nan, np.nan) if gaps.isna().any() else (0.0, 1.0)
    ranks = gaps[gaps != 0.0].abs().rank()
    # Demsar shares out the ranks of zeros between both signs.
    return float((ranks * np.sign(gaps)).sum() / ranks.sum()), float(
        wilcoxon(gaps, zero_method="zsplit").pvalue
    )
