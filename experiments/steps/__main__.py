"""Are small constant steps worth having? PushBoost with steps of .01 and .1 beside exact steps.

    python -m experiments.steps --splits 8    # fits what results.csv lacks, then tables
    python -m experiments.steps --quick        # all steps in seconds, into a temporary folder

Random stratified 70/30 splits of ten real sets, each cut once to 2,000 rows (of rare positives 200, or all).
The rounds are those of PushBoost as it comes, alpha included, with every step as far as the least objective
(exact), a tenth or a hundredth of that (``learning_rate``), or .1 or .01 in units of the weak ranker, in
whichever direction lowers the objective. After 100 rounds, and after as many as have the best average
precision over three folds of the training part, it is asked what stands at the top of the rows held out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits

from experiments.choosing_the_push.__main__ import rows
from experiments.protocol import TEST_SHARE, append, corrected_error, missing, tally, verdict, versions
from pushrank import PushBoost, metrics, weak_rankers

HERE = Path(__file__).parent
SETS = (
    "ionosphere", "housing", "spambase", "magic", "abalone",
    "letter H", "adult_a9a", "ijcnn1", "cover_odds", "kddcup99_smtp",
)  # fmt: skip
MOST_ROWS, FOLDS, EQUAL = 2000, 3, 100
ROUNDS = (10, 30, 100, 300)
CASES = (("columns", 4), ("columns", 64), ("stumps", 4))
EXACT = "exact"
STEPS: dict[str, dict[str, float]] = {
    EXACT: {},
    "a tenth": {"learning_rate": 0.1},
    "a hundredth": {"learning_rate": 0.01},
    "steps of .1": {"step": 0.1},
    "steps of .01": {"step": 0.01},
}
MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "precision at n+/4": partial(metrics.precision_at_k, fraction_of_positives=0.25),
    "precision at 5 %": partial(metrics.precision_at_k, fraction=0.05),
    "average precision": metrics.average_precision,
}
Found = tuple[Any, np.ndarray, np.ndarray]  # the fitted weak rankers, which of them were moved, and how far


def constant_steps(X: Any, y: Any, kind: str, p: float, step: float) -> Found:
    """Return the rounds of PushBoost without a penalty, each of them a constant step."""
    learner = weak_rankers.resolve(kind).fit(X)
    outputs, scores, weights = learner.training_outputs(X), np.zeros(len(y)), np.empty(len(y))
    chosen, steps = [], []
    for _ in range(ROUNDS[-1]):
        weights[y == 1], weights[y == 0] = softmax(-scores[y == 1]), -softmax(p * scores[y == 0])
        edges = outputs.edges(weights)
        chosen.append(int(np.argmax(np.abs(edges))))
        steps.append(step * np.sign(edges[chosen[-1]]))
        scores += steps[-1] * outputs.values(chosen[-1])
    return learner, np.array(chosen), np.array(steps)


def fitted(X: Any, y: Any, kind: str, p: float, way: dict[str, float]) -> Found:
    """Return the rounds of one way to step."""
    if "step" in way:
        return constant_steps(X, y, kind, p, **way)
    push = PushBoost(p, weak_rankers=kind, n_estimators=ROUNDS[-1], n_jobs=1, **way).fit(X, y)
    return push.weak_rankers_, push.estimator_index_, push.estimator_weights_


def after(found: Found, rounds: int, X: Any) -> Any:
    """Return the scores of rows after some of the rounds."""
    learner, index, steps = found
    return learner.scores(X, index[:rounds], steps[:rounds])


def one_split(name: str, split: int) -> Iterator[dict[str, Any]]:
    """Yield the measures of all ways to step, after equal rounds and after those that folds choose."""
    X, y = rows(name, MOST_ROWS)
    a, b, c, d = train_test_split(X, y, test_size=TEST_SHARE, stratify=y, random_state=split)
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=split).split(a, c))
    for (kind, p), (way, options) in product(CASES, STEPS.items()):
        start, means = time.process_time(), np.zeros(len(ROUNDS))
        for train, test in folds:
            found = fitted(a[train], c[train], kind, p, options)
            means += [metrics.average_precision(c[test], after(found, t, a[test])) for t in ROUNDS]
        found = fitted(a, c, kind, p, options)
        seconds = time.process_time() - start
        for chosen_by, t in (("equal", EQUAL), ("folds", ROUNDS[int(means.argmax())])):
            scores = after(found, t, b)
            row = {"set": name, "split": split, "weak rankers": kind, "p": p, "way": way}
            row |= {"rounds": chosen_by} | {measure: of(d, scores) for measure, of in MEASURES.items()}
            yield {**row, "t": t, "seconds": seconds}


def report(kept: pd.DataFrame) -> Iterator[str]:
    """Yield on how many sets each way to step is above exact steps, even with them, or below."""
    yield f"{versions()}; {kept['split'].nunique()} splits of {kept['set'].nunique()} sets"
    yield "mean difference to exact steps over the sets; sets above / even / below (5 %, corrected)"
    for (kind, p, rounds), of in kept.groupby(["weak rankers", "p", "rounds"], sort=False):
        yield f"\n{kind}, p = {p}, " + (f"{EQUAL} rounds" if rounds == "equal" else "rounds chosen by folds")
        for measure in MEASURES:
            wide = of.pivot_table(index=["set", "split"], columns="way", values=measure)
            exact = wide[EXACT].groupby("set").mean()
            yield f"  {measure}: exact {exact.mean():.3f}"
            for way in list(STEPS)[1:]:
                less = (wide[way] - wide[EXACT]).groupby("set")
                verdicts = [(verdict(values.to_numpy()), name) for name, values in less]
                means, errors = less.mean(), less.apply(lambda values: corrected_error(values.to_numpy()))
                error = np.sqrt((errors**2).sum()) / len(errors)
                yield f"    {way:14s}{means.mean():+.4f} ± {error:.4f}   {tally(verdicts)}"
    yield "\nrounds chosen by folds, median over sets and splits"
    chosen = kept[kept["rounds"] == "folds"].pivot_table(
        index=["weak rankers", "p"], columns="way", values="t", aggfunc="median"
    )
    yield chosen[list(STEPS)].to_string()
    yield f"\n{kept[kept['rounds'] == 'folds']['seconds'].sum():.0f} s of one core"


def main() -> None:
    """Fit what is missing, then report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--quick", action="store_true", help="two splits of a set, into a temporary folder")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp()) if options.quick else HERE
    sets, splits = (SETS[:1], 2) if options.quick else (SETS, options.splits)
    for split, name in missing(folder / "results.csv", sets, splits):
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")  # so many rounds are no optimum
            append(folder / "results.csv", list(one_split(name, split)))
    text = "\n".join(report(pd.read_csv(folder / "results.csv")))
    (folder / "results.txt").write_text(f"python -m experiments.steps\n\n{text}\n")
    print(text)


if __name__ == "__main__":
    main()
