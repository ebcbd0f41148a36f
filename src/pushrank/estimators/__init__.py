"""Rankers, named after the papers' algorithms, in scikit-learn's style."""

from pushrank.estimators.bottom_push import BottomPush
from pushrank.estimators.ir_push import IRPush
from pushrank.estimators.p_norm_push import PNormPush
from pushrank.estimators.push_ranker import PushRanker
from pushrank.estimators.top_bottom_push import TopBottomPush

__all__ = ["BottomPush", "IRPush", "PNormPush", "PushRanker", "TopBottomPush"]
