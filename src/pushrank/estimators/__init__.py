"""Rankers, named after their papers' algorithms, with scikit-learn's interface."""

from pushrank.estimators.ada_boost_ranker import AdaBoostRanker
from pushrank.estimators.bottom_push import BottomPush
from pushrank.estimators.cascade import CascadeRanker
from pushrank.estimators.infinite_push import InfinitePush
from pushrank.estimators.ir_push import IRPush
from pushrank.estimators.one_pass_mini_batch_at_k import OnePassMiniBatchAtK
from pushrank.estimators.p_norm_push import PNormPush
from pushrank.estimators.p_norm_push_cv import PNormPushCV
from pushrank.estimators.perceptron_at_k import PerceptronAtK
from pushrank.estimators.push_ranker import PushRanker
from pushrank.estimators.push_ranker_cv import PushRankerCV
from pushrank.estimators.ramp_at_k import RampAtK
from pushrank.estimators.rank_boost import RankBoost
from pushrank.estimators.rank_svm import RankSVM
from pushrank.estimators.sgd_at_k import SGDAtK
from pushrank.estimators.smooth_margin_ranking import SmoothMarginRanking
from pushrank.estimators.struct_svm_at_k import StructSVMAtK
from pushrank.estimators.svm_map import SVMMAP
from pushrank.estimators.top_bottom_push import TopBottomPush

__all__ = [
    "SVMMAP",
    "AdaBoostRanker",
    "BottomPush",
    "CascadeRanker",
    "IRPush",
    "InfinitePush",
    "OnePassMiniBatchAtK",
    "PNormPush",
    "PNormPushCV",
    "PerceptronAtK",
    "PushRanker",
    "PushRankerCV",
    "RampAtK",
    "RankBoost",
    "RankSVM",
    "SGDAtK",
    "SmoothMarginRanking",
    "StructSVMAtK",
    "TopBottomPush",
]
