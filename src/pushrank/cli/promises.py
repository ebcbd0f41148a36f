"""``--promise`` and ``--require``: what the first rows of a coming list hold at least."""

import math
import re
import warnings
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import typer

from pushrank.budgets import Budget
from pushrank.cli.errors import InputError, refusing, say
from pushrank.metrics import HitsPromise, guarantee, guarantee_days
from pushrank.metrics.periods import COMING

SEEN = "{} was fitted to the very rows of {}, which promise nothing: take rows that it has not seen."
ASSUMED = (
    "This holds if no model has learnt from the labelled rows, and if those to come are drawn as these were."
)


def requirement(text: str) -> tuple[int, int]:
    """Return the depth of a text such as precision@100>=0.6, and the hits that it takes."""
    bare = re.sub(r"\s", "", text)
    parts = re.fullmatch(r"(precision|hits)@(\d{1,9})>=(\d{1,9}|\d?\.\d{1,9})", bare, re.ASCII)
    depth = int(parts[2]) if parts else 0
    # Fractions, because 0.07 of 100 rows are 7 hits, and more than 7 in floating-point numbers.
    hits = Fraction(parts[3]) * (depth if parts[1] == "precision" else 1) if parts else 0
    if not 0 < hits <= depth:
        raise InputError(
            f"--require {text!r} is not understood: write 'precision@100>=0.6', which is 1 at most, or "
            "'hits@100>=60', 100 at most, in quotes. Recall is not promised: nobody knows all positives."
        )
    return depth, math.ceil(hits)


def promise_of_rows(y: Any, scores: Any, budget: int, n_new: int) -> tuple[dict[str, Any], str]:
    """Return what the first of the next rows hold at least, by rows that no model has seen."""
    with refusing():
        found = guarantee(y, scores, k=budget, n_new=n_new)
    facts = {"hits": int(found.hits_at(budget)), "rows": budget, "new_rows": n_new, "confidence_level": 0.95}
    return facts, f"Guaranteed: {_small(found.sentence(budget))} {ASSUMED}"


def promise_of_periods(
    y: Any, scores: Any, periods: Any, budget: Budget
) -> tuple[dict[str, Any] | None, str]:
    """Return how many hits the first rows of the next periods hold together at least, and say it."""
    with warnings.catch_warnings():
        # The sentence says so, too.
        warnings.filterwarnings("ignore", message=".* promise no hit")
        least = guarantee_days(y, scores, periods, k=budget.n, n_coming=COMING).hits
    several = budget.several
    if not least:
        return None, f"No guarantee for the next {COMING} {several}: there are too few hits, or {several}."
    said = f"at least {least:,} of the {COMING * budget.n:,} rows in the next {COMING} {several} are hits"
    facts = {"hits": least, "n_coming": COMING, "rows": COMING * budget.n, "confidence_level": 0.95}
    return facts, f"Guaranteed (95 %): {said}, if they are as these were."


def _small(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


class Promises(NamedTuple):
    """What is promised of the lists, all of them together, and what is required of the only one."""

    of_lists: dict[str, HitsPromise]
    required: dict[str, tuple[int, int]]

    def sentences(self, depth: int) -> list[str]:
        """Return the promise of the first rows of each list, at most of all to come, and what it assumes."""
        depth = min(depth, next(iter(self.of_lists.values())).n_new)
        several = len(self.of_lists) > 1
        said = [f"{name}: " * several + found.sentence(depth) for name, found in self.of_lists.items()]
        return [*said, "All of these promises hold together. " * several + ASSUMED]

    def facts(self, depth: int) -> dict[str, Any]:
        """Return what is promised, and what is required, for other programs."""
        [found, *_] = self.of_lists.values()
        depth = min(depth, found.n_new)
        hits = {name: int(of_list.hits_at(depth)) for name, of_list in self.of_lists.items()}
        facts = {"confidence_level": found.confidence_level, "new_rows": found.n_new, "depth": depth}
        facts["labelled_rows"] = len(found.labelled_hits) - 1
        asked = self.required.items()
        required = {text: {"hits": int(found.hits_at(at)), "takes": takes} for text, (at, takes) in asked}
        return {"promise": facts | {"hits": hits, "required": required}}

    def judge(self, *, quiet: bool) -> None:
        """Say whether what is required is promised, and end with exit code 1 if it is not."""
        [found, *_], failed = self.of_lists.values(), False
        for text, (depth, hits) in self.required.items():
            misses = bool(found.hits_at(depth) < hits)
            failed |= misses
            if misses or not quiet:
                said = f"{text} is {'not ' * misses}reached: it takes {hits:,} hits. {found.sentence(depth)}"
                say(said, err=misses)
        if failed:
            raise typer.Exit(1)


def promises_of(
    y: Any, scores: Mapping[str, Any], level: float, depths: set[int], required: list[str], **more: Any
) -> Promises:
    """Return what is promised of lists to come, at a level that holds for all lists together."""
    if required and len(scores) > 1:
        raise InputError(f"--require judges one list; name one of the {len(scores)} columns of --score.")
    asked = {text: requirement(text) for text in required}
    more["k"] = sorted(depths.union(depth for depth, _ in asked.values()))
    if more["k"] and more["k"][-1] > (more["n_new"] or len(y)):
        raise InputError(f"there is no row {more['k'][-1]:,} to come; --new-rows says how many there are.")
    # Promises of several lists hold together where they share the chance to fail.
    more["confidence_level"] = 1.0 - (1.0 - level) / len(scores)
    with refusing():
        found = {name: guarantee(y, values, **more) for name, values in scores.items()}
    # The level that is shown is that of all lists together, and not the higher one of each.
    return Promises({name: of._replace(confidence_level=level) for name, of in found.items()}, asked)
