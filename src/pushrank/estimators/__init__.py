"""Rankers, named after their papers' algorithms, with scikit-learn's interface."""

from pushrank._base.files import trust_in_files
from pushrank.estimators.boosting import AdaBoostRanker, PushBoost, RankBoost, SmoothMarginRanking
from pushrank.estimators.precision_at_k import PerceptronAtK, SGDAtK
from pushrank.estimators.push import IRPush, PNormPush, PushRanker
from pushrank.estimators.push_cv import PNormPushCV
from pushrank.estimators.ramp_at_k import RampAtK
from pushrank.estimators.search import PushBoostCV
from pushrank.estimators.stacking import StackingRanker
from pushrank.estimators.svm import SVMMAP, InfinitePush, RankSVM, StructSVM
from pushrank.estimators.top_ranker_cv import TopRankerCV
from pushrank.estimators.trimmed_push import TrimmedPush

__all__ = [
    "SVMMAP", "AdaBoostRanker", "IRPush", "InfinitePush", "PNormPush", "PNormPushCV",
    "PerceptronAtK", "PushBoost", "PushBoostCV", "PushRanker", "RampAtK", "RankBoost", "RankSVM",
    "SGDAtK", "SmoothMarginRanking", "StackingRanker", "StructSVM",
    "TopRankerCV", "TrimmedPush",
]  # fmt: skip

trust_in_files(*(globals()[name] for name in __all__))
