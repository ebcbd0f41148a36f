"""
One list of a million rows
==========================

Libraries for learning to rank expect many short lists, because they go through pairs of rows. `CatBoost
<https://github.com/catboost/catboost/issues/2815>`__ refuses groups above 1,023 rows on a GPU, `LightGBM
<https://github.com/lightgbm-org/LightGBM/issues/5053>`__ above 10,000. pushrank sums over all pairs without
visiting them. This example fits one list of a million rows, 30,000 of them positive: 2.9e10 pairs.
"""

from time import perf_counter

import lightgbm
import numpy as np

from pushrank import PNormPush, metrics

rng = np.random.default_rng(0)
X = rng.normal(size=(1_000_000, 10))
y = X @ np.linspace(1.0, 0.1, 10) + 2.0 * rng.normal(size=1_000_000) > 5.25

start = perf_counter()
ranker = PNormPush(p=16).fit(X, y)
seconds = perf_counter() - start
print(f"fitted in {seconds:.1f} s, converged: {ranker.converged_}, duality gap {ranker.dual_gap_:.1e}")

# %%
# LightGBM's ranker refuses such a list:
try:
    lightgbm.LGBMRanker(n_estimators=1, verbose=-1).fit(X, y, group=[len(y)])
except lightgbm.basic.LightGBMError as error:
    print(error)

# %%
# Measures and pictures need only one sort of the scores.
from pushrank.plots import TopCurveDisplay

scores = ranker.decision_function(X)
print(f"AUC {metrics.auc(y, scores):.3f}, precision at 1,000 {metrics.precision_at_k(y, scores, k=1000):.3f}")
_ = TopCurveDisplay.from_predictions(y, scores, name="PNormPush(p=16)")

# %%
# For trees on such a list train LightGBM with :class:`~pushrank.interop.lightgbm.LGBMObjective`, or XGBoost
# with :class:`~pushrank.interop.xgboost.XGBObjective`. This takes about the time of their own log loss.
