"""Rankers, named after their papers' algorithms, with scikit-learn's interface."""

from pushrank.estimators.ada_boost_ranker import AdaBoostRanker
from pushrank.estimators.bottom_push import BottomPush
from pushrank.estimators.cascade import CascadeRanker
from pushrank.estimators.infinite_push import InfinitePush
from pushrank.estimators.ir_push import IRPush
from pushrank.estimators.p_norm_push import PNormPush
from pushrank.estimators.p_norm_push_cv import PNormPushCV
from pushrank.estimators.push_ranker import PushRanker
from pushrank.estimators.push_ranker_cv import PushRankerCV
from pushrank.estimators.rank_boost import RankBoost
from pushrank.estimators.rank_svm import RankSVM
from pushrank.estimators.smooth_margin_ranking import SmoothMarginRanking
from pushrank.estimators.svm_map import SVMMAP
from pushrank.estimators.top_bottom_push import TopBottomPush

__all__ = [
    "SVMMAP",
    "AdaBoostRanker",
    "BottomPush",
    "CascadeRanker",
    "IRPush",
    "InfinitePush",
    "PNormPush",
    "PNormPushCV",
    "PushRanker",
    "PushRankerCV",
    "RankBoost",
    "RankSVM",
    "SmoothMarginRanking",
    "TopBottomPush",
]
