"""On which day does a duel decide, and how often does it within half a year?

    python benchmarks/duel_by_day.py > benchmarks/duel_by_day.txt

The payments are made as those of docs/command_line_files.py, for 180 days in place of 60, with the same two
scores: of a rule, the champion, and of a model, the challenger. Ten a day are acted on in 101 duels that
differ by their coins alone. The script also draws docs/pictures/duel_by_day.png, the picture of
docs/command_line.md: the duel whose deciding day is the median of the 101. It needs no data, and takes some
twenty seconds.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from pushrank.budgets import Budget
from pushrank.datasets import make_stream
from pushrank.monitoring.duel import NEEDED, WHO, Duel, Verdict, evidence_by_day

N_DAYS, K, N_DUELS = 180, 10, 101
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "duel_by_day.png"
Floats = NDArray[np.float64]


class Payments:
    """Made payments that are on the list of a rule or of a model, with the scores of both."""

    def __init__(self) -> None:
        stream = make_stream(N_DAYS, random_state=0)
        scores = [stream.data[:, 0], stream.data[:, :3].sum(axis=1)]
        on_list = [self._places(of, stream.day) < K for of in scores]
        self.hits_a_day = [float(stream.target[of].sum() / N_DAYS) for of in on_list]
        # Payments on neither list have no part in a duel.
        kept = np.flatnonzero(on_list[0] | on_list[1])
        self.rule, self.model = (of[kept] for of in scores)
        self.time, self.day, self.fraud = stream.time[kept], stream.day[kept], stream.target[kept]

    @staticmethod
    def _places(scores: Floats, day: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the place of each payment in the list of its day, from 0."""
        order = np.lexsort((-scores, day))
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order)) - np.searchsorted(day[order], day[order])
        return places

    def credits(self, owners: NDArray[np.str_], owner: str) -> NDArray[np.int64]:
        """Return how many frauds of each day one of the two has brought."""
        return np.bincount(self.day[(owners == owner) & (self.fraud == 1)], minlength=N_DAYS)

    def duel(self, seed: int) -> tuple[Floats, Floats, Verdict]:
        """Return the evidence and the difference of credits by day, and the verdict after the last day."""
        duel, names = Duel(Budget(K), secret=f"coins {seed}"), np.arange(len(self.fraud))
        owners = duel.assign(self.rule, self.model, self.time, names)
        duel.credit(np.where(owners != "", self.fraud, np.nan), self.time, names)
        differences = self.credits(owners, "challenger") - self.credits(owners, "champion")
        brought = [np.bincount(self.day[owners == of], minlength=N_DAYS) for of in WHO]
        evidence = evidence_by_day(differences.astype(float), np.maximum(*brought).astype(float))
        return evidence.mean(axis=0), differences, duel.verdict()


def deciding_day(evidence: Floats) -> float:
    """Return the first day, from 1, whose evidence is enough, or infinity."""
    is_enough = evidence >= NEEDED
    return float(np.argmax(is_enough) + 1) if is_enough.any() else np.inf


def draw(evidence: Floats, day: int, path: Path) -> None:
    """Draw the evidence by day with the line that it has to reach."""
    mpl.use("Agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(7.2, 6.0), layout="constrained")
    top = 3.0 * max(evidence.max(), NEEDED)
    ax.axhspan(min(evidence.min(), 0.1) / 2.0, NEEDED, color="#e3e3e3", linewidth=0)
    ax.axhline(NEEDED, color="#6e6e6e", linewidth=2)
    ax.plot(np.arange(1, N_DAYS + 1), evidence, color="#1f5fa8", linewidth=3.5)
    ax.scatter([day], [evidence[day - 1]], s=190, color="#b3261e", marker="D", zorder=3)
    equal = f"not yet decided: of equal models\n{100.0 * (1.0 - 1.0 / NEEDED):g} % or more never leave it"
    ax.text(0.62 * N_DAYS, 0.3, equal, fontsize=16, ha="center", va="center")
    ax.annotate(
        f"day {day}: decided for\nthe challenger",
        (day, evidence[day - 1]),
        xytext=(0.27 * N_DAYS, np.sqrt(NEEDED * top)),
        arrowprops={"arrowstyle": "-", "color": "#b3261e", "linewidth": 2, "shrinkB": 8},
        fontsize=16,
        ha="center",
        va="center",
        weight="bold",
        color="#b3261e",
    )
    ax.set(xlim=(0, N_DAYS), ylim=(min(evidence.min(), 0.1) / 2.0, top), yscale="log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.tick_params(labelsize=15)
    ax.set_xlabel("days", fontsize=16)
    ax.set_title("Evidence of a difference (20 decides)", fontsize=18, weight="bold", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110, bbox_inches="tight")
    pyplot.close(figure)


def main() -> None:
    """Print how soon the duels decide and what the median one says, and draw that one."""
    payments = Payments()
    duels = [payments.duel(seed) for seed in range(N_DUELS)]
    days = np.array([deciding_day(evidence) for evidence, *_ in duels])
    shown = int(np.argsort(days, kind="stable")[N_DUELS // 2])
    evidence, differences, verdict = duels[shown]
    day, score = int(days[shown]), np.cumsum(differences)
    alone = payments.hits_a_day
    print(f"Made payments, {N_DAYS} days, {K} a day acted on, {N_DUELS} duels by their coins")
    print(f"hits a day of the list alone: champion {alone[0]:.2f}, challenger {alone[1]:.2f}")
    n_right = sum(verdict.winner == "challenger" for *_, verdict in duels)
    print(f"decided: {np.isfinite(days).sum()}, for the challenger {n_right}")
    print(f"the picture shows the duel of coins {shown}, decided on the median day: {day}")
    print()
    print("day  more hits  evidence")
    for number in [*range(20, N_DAYS + 1, 20), day - 1, day]:
        print(f"{number:3d}{score[number - 1]:+11d}{evidence[number - 1]:10.2f}")
    print()
    print("\n".join(verdict.sentences()))
    draw(evidence, day, PICTURE)


if __name__ == "__main__":
    main()
