"""``pushrank demo``: the comparison on real data that come with the library, offline."""

import numpy as np

from pushrank.cli.errors import say
from pushrank.cli.model import make_ranking_pipelines
from pushrank.cli.screen import print_comparison, progress
from pushrank.datasets import load_dataset
from pushrank.model_selection import compare

N_SHOWERS = 4000
BUDGET = 400
LEFT_OUT = (compare.FOREST, compare.LIGHTGBM, compare.XGBOOST, compare.LINEAR_CHOSEN)


def compare_showers() -> None:
    """Compare models of showers of particles, and print how good each is."""
    X, y = load_dataset("magic", return_X_y=True, as_frame=True)
    # The guide shows what the demo prints, so that the draw is the same each time.
    drawn = np.random.default_rng(0).permutation(len(y))[:N_SHOWERS]
    X, y = X.iloc[drawn].reset_index(drop=True), y.to_numpy()[drawn] == 1
    rankers = compare.default_rankers((16.0,), n_rows=N_SHOWERS, budget=BUDGET)
    # Forests but for one, and the choice of a linear ranker, take as long as all others together, and half of
    # what is compiled is for that choice. LightGBM and XGBoost are not installed everywhere, and the more
    # models, the larger a difference has to be.
    shown = {name: ranker for name, ranker in rankers.items() if not name.startswith(LEFT_OUT)}
    models = make_ranking_pipelines(shown, list(X.columns), [], sparse=False)
    with progress(5, len(models)) as advance:
        comparison = compare.compare_rankers(
            models, X, y, budget=BUDGET, together=True, random_state=0, callback=advance
        )
    print_comparison(
        comparison,
        f"Which of {len(y):,} showers are gamma rays? ({int(y.sum()):,} are; 5-fold cross-validation)",
    )
    takes, usual, n_best = comparison.chosen_, comparison.baseline_, len(comparison.may_be_best_)
    hits = {name: f"{comparison.mean(name, comparison.criterion):.0f}" for name in (takes, usual)}
    say(
        f"\nIn plain words: {hits[takes]} of {BUDGET} showers by {takes} are gamma rays.\n"
        f"With {usual} {hits[usual]} are, and of {BUDGET} showers drawn at random {BUDGET * y.mean():.0f}.\n"
        f"{n_best} of the {len(comparison.measures)} models may be the best. Take the simplest of them.\n"
        "Next, with your own table: pushrank compare data.csv --label fraud --budget 100"
    )
