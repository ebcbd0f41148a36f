"""pushrank: learn to rank so that the top of the list is right."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushrank import losses, metrics, model_selection, objectives, prices, theory, weak_rankers
    from pushrank.estimators import *
    from pushrank.estimators.reasons import explain
    from pushrank.interop.numpy import export_numpy
    from pushrank.interop.scorer import load_scorer
    from pushrank.objectives import PushObjective
    from pushrank.persistence import load, save

    __version__: str

__all__ = [
    "SVMMAP", "AdaBoostRanker", "IRPush", "InfinitePush", "PNormPush", "PNormPushCV",
    "PerceptronAtK", "PushBoost", "PushBoostCV", "PushObjective", "PushRanker", "RampAtK", "RankBoost",
    "RankSVM", "SGDAtK", "SmoothMarginRanking", "StackingRanker", "StructSVM",
    "TopRankerCV", "TrimmedPush", "explain", "export_numpy", "load", "load_scorer", "losses", "metrics",
    "model_selection", "objectives", "prices", "save", "theory", "weak_rankers",
]  # fmt: skip

# Of the other public names those in small letters are modules, and the others estimators.
HOMES = {
    "PushObjective": "objectives",
    "explain": "estimators.reasons",
    "export_numpy": "interop.numpy",
    "load": "persistence",
    "load_scorer": "interop.scorer",
    "save": "persistence",
}
MORE_MODULES = {
    "benchmark", "budgets", "datasets", "estimators", "monitoring", "persistence", "plots",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a submodule or a name when it is first asked for: numba and scikit-learn take a second."""
    if name == "__version__":
        value: Any = import_module("importlib.metadata").version("pushrank")
    elif name in MORE_MODULES or (name in __all__ and name.islower() and name not in HOMES):
        value = import_module(f"pushrank.{name}")
    elif name in HOMES or name in __all__:
        value = getattr(import_module(f"pushrank.{HOMES.get(name, 'estimators')}"), name)
    else:
        raise AttributeError(f"module 'pushrank' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__, *MORE_MODULES, "__version__"})
