"""Names of models, without the import of what they name."""

import re

import pushrank
from pushrank.cli.errors import InputError

ENSEMBLE = "ensemble"


def kebab_case(name: str) -> str:
    """Return ``PNormPush`` as ``pnorm-push``, ``IRPush`` as ``ir-push``, ``RankBoost`` as ``rank-boost``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])", "-", name).lower()


def model_names() -> list[str]:
    """Return the names of the models of ``fit``."""
    ours = (name for name in pushrank.__all__ if name[0].isupper() and name not in pushrank.HOMES)
    others = {ENSEMBLE, "logistic-regression", "gradient-boosting", "random-forest"}
    return sorted(others.union(*[map(kebab_case, ours)]) - {"stacking-ranker"})


def unknown_model(name: str) -> InputError:
    """Return what to raise for a name that is no model's."""
    return InputError(
        f"--model {name!r} is not known; choose one of {', '.join(model_names())}, lightgbm, or a name "
        "that compare prints, such as 'boosted stumps, p = 16'."
    )


def check_model_name(name: str | None) -> str | None:
    """Return the name of a model, or raise InputError of one that can be none's."""
    # The names that compare prints are not written so.
    if name and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and name not in (*model_names(), "lightgbm"):
        raise unknown_model(name)
    return name
