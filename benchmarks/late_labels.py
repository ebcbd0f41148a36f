"""Does a watch raise false alarms where labels come late or never, and how late does it tell of a fall?

    python benchmarks/late_labels.py > benchmarks/late_labels.txt
    python benchmarks/late_labels.py --quick    # 10 streams of each kind

Scores are normal and labels follow them, with odds that vary from day to day. A reference of 60 days is
watched for the 180 days after these, with 3 of 10 rows a day looked at, or 30 of 60. At each look the file
has the rows up to that day, and the labels that have come by then: only of rows looked at, or of all. Rows
looked at are the first of each day; where `acted` names them, one is drawn from the others in place of the
last. `labels_after` is the longest delay of the stream. Looks are on every third day up to 30, and on days
60, 120 and 180. A run takes some twenty minutes on one processor.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank.budgets import Budget
from pushrank.monitoring import Reference, watch
from pushrank.monitoring.watching import NOT_KNOWN

HELD_OUT, WATCHED, FALL, LEVEL = 60, 180, 60, 0.05
LOOKS = (*range(3, 31, 3), 60, 120, 180)
LISTS = {3: 10, 30: 60}
"""Rows looked at a day, and all rows of it."""
DAY = np.timedelta64(1, "D")
DELAYS = (
    "at once",
    "hits after 10 days, misses 2",
    "hits after 2 to 30 days, misses 2",
    "misses after 10 days, hits 2",
    "each row after 0 to 30 days",
    "later the higher the score",
    "20 % never",
    "20 % never, hits after 10 days",
)
GIVEN = ("nothing", "acted", "labels_after", "both")
Floats = NDArray[np.float64]


class Stream(NamedTuple):
    """The watched rows of a stream: after how many days each has a label, and which two lists hold it."""

    reference: Reference
    scores: Floats
    day: NDArray[np.int64]
    y: Floats
    delay: Floats
    first: NDArray[np.bool_]
    acted: NDArray[np.bool_]

    @classmethod
    def draw(cls, seed: int, n: int, delays: str, falls: bool = False) -> Stream:
        """Draw a stream whose hits, if they fall, are halved from a day on."""
        rng, per_day = np.random.default_rng([seed, n]), LISTS[n]
        day = np.repeat(np.arange(-HELD_OUT, WATCHED), per_day)
        scores, odds = rng.normal(size=len(day)), 0.3 * rng.normal(size=HELD_OUT + WATCHED)
        chance = 1.0 / (1.0 + np.exp(1.8 - 1.2 * scores - odds[day + HELD_OUT]))
        y = (rng.random(len(day)) < chance).astype(float)
        if falls:
            y *= (rng.random(len(day)) < 0.5) | (day < FALL)
        known = day < 0
        reference = Reference.of(Budget(n), moment(day[known]), scores[known], y[known])
        # Only hits are watched here: that columns moved is another test.
        reference, day, scores, y = replace(reference, profiles={}), day[~known], scores[~known], y[~known]
        place = np.argsort(np.argsort(-scores.reshape(-1, per_day), axis=1), axis=1)
        drawn = rng.integers(n - 1, per_day, size=(WATCHED, 1))
        acted = (place < n - 1) | (place == drawn)
        delay = delays_of(delays, scores, y, rng)
        return cls(reference, scores, day, y, delay, (place < n).ravel(), acted.ravel())

    def look(self, at: int, given: str, of_all: bool) -> str:
        """Return what a watch says after a number of days, with labels of all rows or of those looked at."""
        is_listed = self.acted if given in ("acted", "both") else self.first
        # A file may hold the rows looked at alone, which is quicker.
        rows = np.flatnonzero((self.day < at) & (is_listed | of_all))
        y = np.where(self.day[rows] + self.delay[rows] < at, self.y[rows], np.nan)
        more: dict[str, Any] = {"acted": is_listed[rows]} if given in ("acted", "both") else {}
        if given in ("labels_after", "both"):
            more["labels_after"] = self.delay[np.isfinite(self.delay)].max() * DAY
        time, scores = moment(self.day[rows]), self.scores[rows]
        return watch(self.reference, scores, time, None, y, LEVEL, **more).sentence


def moment(day: NDArray[np.int64]) -> NDArray[np.datetime64]:
    """Return the dates of days."""
    return np.datetime64("2026-03-02") + day * DAY


def delays_of(kind: str, scores: Floats, y: Floats, rng: np.random.Generator) -> Floats:
    """Return after how many days each row has its label, infinite of those that never get one."""
    late = {DELAYS[1]: (2, 10), DELAYS[2]: (2, int(rng.integers(2, 31))), DELAYS[3]: (10, 2)}
    late |= {DELAYS[0]: (0, 0), DELAYS[6]: (2, 2), DELAYS[7]: (2, 10)}
    if kind == DELAYS[4]:
        return rng.integers(0, 31, len(y)).astype(float)
    if kind == DELAYS[5]:
        return np.clip(np.round(6.0 + 4.0 * scores), 0.0, 30.0)
    of_misses, of_hits = late[kind]
    delay = np.where(y == 1.0, of_hits, of_misses).astype(float)
    return np.where(rng.random(len(y)) < 0.2 * ("never" in kind), np.inf, delay)


def false_alarms(n_streams: int) -> None:
    """Print how many streams without a change ever raise an alarm, and how often nothing is known."""
    most = LEVEL + 3.0 * np.sqrt(LEVEL * (1.0 - LEVEL) / n_streams)
    print(f"Streams without a change that ever raise an alarm, of {n_streams}; at most {most:.3f} is 5 %")
    print("within three standard errors. In brackets: the looks that say that nothing is known of hits.\n")
    print(f"list  labelled   labels come{'':22s}" + "".join(f"{name:>16s}" for name in GIVEN))
    for n in LISTS:
        for of_all in (False, True):
            for delays in DELAYS:
                streams = [Stream.draw(seed, n, delays) for seed in range(n_streams)]
                cells = dict.fromkeys(GIVEN, "")
                # Where `acted` is given, labels of other rows are not used.
                for given in ("nothing", "labels_after") if of_all else GIVEN:
                    said = np.array([[of.look(at, given, of_all) for at in LOOKS] for of in streams])
                    alarms = np.char.startswith(said, "fewer").any(axis=1).mean()
                    unknown = 100.0 * np.char.startswith(said, NOT_KNOWN).mean()
                    cells[given] = f"{alarms:.3f} ({unknown:3.0f} %)"
                shown = "".join(f"{cell:>16s}" for cell in cells.values())
                labels = "all" if of_all else "looked at"
                print(f"{n:4d}  {labels:9s}  {delays:33s}{shown}".rstrip(), flush=True)
    print()


def told_after(stream: Stream, given: str) -> float:
    """Return how many days after the fall an alarm comes first, or infinity."""
    # A period that is tested keeps its labels, and an alarm stands: the first day is found by halving.
    low, high = 0, WATCHED + 1
    while high - low > 1:
        at = (low + high) // 2
        is_told = at == WATCHED + 1 or stream.look(at, given, False).startswith("fewer")
        low, high = (low, at) if is_told else (at, high)
    return float(high - FALL) if high <= WATCHED else np.inf


def falls(n_streams: int) -> None:
    """Print how many days after hits are halved an alarm comes."""
    print(
        f"Median days from the fall of hits to a half, on day {FALL}, to the alarm, {n_streams} streams each,"
    )
    print("with labels of rows looked at. In brackets: without an alarm by day 180.\n")
    print(f"list  labels come{'':22s}" + "".join(f"{name:>16s}" for name in GIVEN))
    for n in LISTS:
        for delays in DELAYS:
            streams, cells = [Stream.draw(seed, n, delays, True) for seed in range(n_streams)], ""
            for given in GIVEN:
                days = np.array([told_after(stream, given) for stream in streams])
                days = days[days > 0.0]
                never = f"({100.0 * np.mean(np.isinf(days)):3.0f} %)"
                cells += f"{np.quantile(days, 0.5, method='inverted_cdf'):9.0f} {never}"
            print(f"{n:4d}  {delays:33s}{cells}", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 streams of each kind")
    parser.add_argument("--streams", type=int, default=400, help="without a change; with a fall a quarter")
    arguments = parser.parse_args()
    n_streams = 10 if arguments.quick else arguments.streams
    false_alarms(n_streams)
    falls(10 if arguments.quick else max(10, n_streams // 4))


if __name__ == "__main__":
    main()
