"""What was seen of a model in use, in sentences and tables of texts, and as a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pushrank.monitoring import Watch
from pushrank.monitoring.reference import BLOCKS, SCORES
from pushrank.monitoring.watching import NOT_KNOWN, TESTED, date_words
from pushrank.report.page import Page
from pushrank.report.pictures import Picture, over_time
from pushrank.report.words import row_count

MAX_MOVED = 10
MIN_EVIDENCE, MAX_EVIDENCE = 0.01, 1e6
"""Evidence beyond these is shown as the nearer of them."""
Cells = tuple[list[str], list[list[str]]]


@dataclass(frozen=True)
class WatchData(Page):
    """A model that was watched, and what a page shows of it.

    Parameters
    ----------
    watched : Watch
        What :func:`pushrank.monitoring.watch` returned.
    title : str
        What was watched, such as the name of the file.
    held_out : str
        What was found when the model was fitted.
    settings : dict of str to str
        Further facts, in the order to show them.
    """

    watched: Watch
    title: str
    held_out: str
    settings: Mapping[str, str]

    template = "watch.html"

    def words(self, period: str, unit: str) -> str:
        """Return a period in words, a week by its Monday."""
        return date_words(period, unit, self.watched.table[-1]["period"]).removeprefix("the week of ")

    @property
    def spent(self) -> str:
        """How much of the budget was spent."""
        table, budget = self.watched.table, self.watched.budget
        first, last = (self.words(record["period"], budget.per) for record in (table[0], table[-1]))
        n_rows, looked_at = (sum(record[name] for record in table) for name in ("rows", "looked_at"))
        when = f"{len(table):,} {budget.several} from {first} to {last}" if table[1:] else first
        return f"{n_rows:,} rows in {when}; {looked_at:,} looked at (budget {budget.n * len(table):,})."

    @property
    def by_period(self) -> Cells:
        """The table by period, in texts: means of the periods of each line, where it has several."""
        unit, lines = self.watched.folded()
        is_folded, several = unit != self.watched.budget.per, self.watched.budget.several
        # A line break keeps the table narrow in a terminal, and is a blank on the page.
        names = ["rows", "looked\nat", "labelled", "positive", "hits", "expected", "evidence"]
        cells, text = [], "{:,.1f}".format if is_folded else row_count
        for line in lines:
            known = line["known"]
            means = [text(line[name] / line["periods"]) for name in ("rows", "looked_at")]
            found = [line[name] for name in TESTED[:-1]]
            means += ["–" if of is None else text(of / known) for of in found[:-1]]
            expected = f"{line['expected'] / known:,.1f}" if known else "–"
            means += [expected, evidence_text(line["evidence"]) if known else "–"]
            cells.append([self.words(line["period"], unit), *[str(line["periods"])] * is_folded, *means])
        return [unit, *[several] * is_folded, *names], cells

    @property
    def notes(self) -> list[str]:
        """What was expected, how much speaks against it, and whether columns were compared."""
        watched, per, known = self.watched, self.watched.budget.per, self.known
        periods = watched.budget.several
        of_hits = f"No {per} has final labels of rows looked at: {NOT_KNOWN}."
        if known:
            hits, expected = (sum(record[name] for record in known) for name in ("hits", "expected"))
            # An alarm stands, whatever comes after it.
            highest = max(record["evidence"] for record in known)
            evidence = highest if highest >= watched.needed else known[-1]["evidence"]
            sign = "Clear signs" if evidence >= watched.needed else "Some sign" if evidence > 1 else "No sign"
            tested = f"{len(known):,} {periods}" if known[1:] else per
            of_hits = (
                f"In the {tested} whose labels are known you found {hits:,.0f}; {expected:,.0f} were "
                f"expected. {sign} of fewer hits (evidence {evidence_text(evidence)}; the alarm sounds at "
                f"{watched.needed:,.0f})."
            )
        if waiting := sum(record["hits"] is None and bool(record["labelled"]) for record in watched.table):
            of_hits += f" {waiting:,} {periods if waiting > 1 else per} with labels wait for more of them."
        notes = [f"At the fit: {self.held_out}", of_hits]
        if len(watched.table) < (length := BLOCKS.get(per, 1)):
            notes.append(f"Columns are compared by {length} {periods}, of which there are too few so far.")
        elif not self.moved[1]:
            notes.append("No column has moved by more than it did within the training rows.")
        return notes

    @property
    def known(self) -> list[dict[str, Any]]:
        """The periods whose hits are tested."""
        return [record for record in self.watched.table if record["hits"] is not None]

    @property
    def moved(self) -> Cells:
        """The columns that moved, the surest first, in texts."""
        header = ["column", "moved from", "to", "values", "share at\nthe fit", "share\nthen"]
        cells = []
        for record in self.watched.moved[:MAX_MOVED]:
            if record["has_moved"]:
                shares = (f"{100 * record[name]:.1f} %" for name in ("share_before", "share_now"))
                when = (self.words(record[name], self.watched.budget.per) for name in ("since", "told"))
                cells.append([record["column"], *when, record["part"], *shares])
        return header, cells

    def context(self) -> dict[str, object]:
        """Return the names that the template uses: the parts of the scores first, then of what moved."""
        records = [record for record in self.watched.moved if record["column"] == SCORES]
        records += [record for record in self.watched.moved[:MAX_MOVED] if record["has_moved"]]
        # Before the first whole week there is nothing to compare.
        has_shares = records[0]["parts"][0]["share_now"] is not None
        columns = {record["column"]: record for record in records if has_shares}
        return {"data": self, "columns": columns, "pictures": self.pictures()}

    def pictures(self) -> list[Picture]:
        """Return hits by week and the evidence, where labels are known."""
        watched, per = self.watched, self.watched.budget.per
        unit, lines = watched.folded(60)
        lines = [line for line in lines if line["known"]]
        if not lines:
            return []
        means = {name: [line[name] / line["known"] for line in lines] for name in ("hits", "expected")}
        # Evidence far below 1 and far above an alarm says no more than its end of the picture.
        evidence = np.clip([record["evidence"] for record in self.known], MIN_EVIDENCE, MAX_EVIDENCE)
        alarm = {f"an alarm, {watched.needed:,.0f}": [watched.needed] * len(evidence)}
        weeks = [self.words(line["period"], unit) for line in lines]
        periods = [self.words(record["period"], per) for record in self.known]
        hits = over_time("hits", f"Hits a {per}, found and expected", weeks, means, f"hits a {per}")
        title, evidence = "Evidence that there are fewer hits", {"evidence": evidence} | alarm
        return [hits, over_time("evidence", title, periods, evidence, "", is_log=True)]


def evidence_text(evidence: float) -> str:
    """Return evidence with three digits, or that it is beyond any doubt."""
    return f"> {MAX_EVIDENCE:,.0f}" if evidence > MAX_EVIDENCE else f"{evidence:,.3g}"
