"""``pushrank demo``: the comparison on real data that come with the library, offline."""

import numpy as np

from pushrank.cli.compare import print_comparison
from pushrank.cli.errors import say
from pushrank.cli.model import make_ranking_pipelines, usual_rankers
from pushrank.cli.screen import progress
from pushrank.datasets import load_dataset
from pushrank.model_selection import compare

N_SHOWERS = 4000
BUDGET = 400


def compare_showers() -> None:
    """Compare models of showers of particles, and print how good each is."""
    X, y = load_dataset("magic", return_X_y=True, as_frame=True)
    # The guide shows what the demo prints, so that the draw is the same each time.
    drawn = np.random.default_rng(0).permutation(len(y))[:N_SHOWERS]
    X, y = X.iloc[drawn].reset_index(drop=True), y.to_numpy()[drawn] == 1
    # LightGBM is not installed everywhere.
    rankers = usual_rankers(n_rows=N_SHOWERS, lightgbm=False)
    models = make_ranking_pipelines(rankers, list(X.columns), [])
    with progress(5, len(models)) as advance:
        comparison = compare.compare_rankers(
            models, X, y, budget=BUDGET, together=True, random_state=0, callback=advance
        )
    print_comparison(
        comparison,
        f"Which of {len(y):,} showers are gamma rays? ({int(y.sum()):,} are; 5-fold cross-validation)",
    )
    say("With your own table: pushrank compare data.csv --label fraud --budget 100")
