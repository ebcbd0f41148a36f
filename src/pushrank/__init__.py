"""pushrank: learn to rank so that the top of the list is right."""

from importlib.metadata import version

from pushrank import losses, metrics, objectives, prices, theory, weak_rankers
from pushrank.estimators import (
    SVMMAP,
    AdaBoostRanker,
    BottomPush,
    CascadeRanker,
    InfinitePush,
    IRPush,
    OnePassMiniBatchAtK,
    PerceptronAtK,
    PNormPush,
    PNormPushCV,
    PushBoost,
    PushRanker,
    PushRankerCV,
    RampAtK,
    RankBoost,
    RankSVM,
    SGDAtK,
    SmoothMarginRanking,
    StructSVM,
    TopBottomPush,
)
from pushrank.objectives import PushObjective

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
    "PushBoost",
    "PushObjective",
    "PushRanker",
    "PushRankerCV",
    "RampAtK",
    "RankBoost",
    "RankSVM",
    "SGDAtK",
    "SmoothMarginRanking",
    "StructSVM",
    "TopBottomPush",
    "losses",
    "metrics",
    "objectives",
    "prices",
    "theory",
    "weak_rankers",
]

__version__ = version("pushrank")
