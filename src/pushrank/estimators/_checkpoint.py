"""The state of a boosting run in a file, from which it goes on to the last bit as if never stopped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pushrank._atomic import written_whole
from pushrank._log_space import Floats
from pushrank._trees import TREE, check_trees
from pushrank.estimators._target import Target
from pushrank.exceptions import ModelFileError
from pushrank.solvers.boosting import History, Run
from pushrank.weak_rankers import Functions, Regressors
from pushrank.weak_rankers.base import WeakRankers

FORMAT = "pushrank checkpoint 2"
FREE = ("max_rounds", "n_jobs", "verbose", "checkpoint", "checkpoint_every")
"""Parameters that may change between the parts of a run."""


def fingerprint(*parts: Any) -> str:
    """Return a digest of everything that a run depends on."""
    return str(joblib.hash(parts, hash_name="sha1"))


def described(value: Any) -> Any:
    """Return a parameter in words that are the same in every process: functions by their names.

    Examples
    --------
    >>> described({"scoring": len, "cst": np.array([1, 0])})
    {'scoring': 'builtins.len', 'cst': [1, 0]}
    """
    if isinstance(value, BaseEstimator):
        return type(value).__name__, described(value.get_params(deep=False))
    if isinstance(value, Mapping):
        return {name: described(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return value


class Checkpoint:
    """The file that a run is kept in.

    Parameters
    ----------
    path : str or Path
        Where; the folder must exist.
    every : int
        Write after every so many rounds.
    digest : str
        The fingerprint of parameters and data, which must agree for a run to go on.
    """

    def __init__(self, path: str | Path, every: int, digest: str) -> None:
        self.path, self.every, self.digest = Path(path), every, digest
        if not self.path.parent.is_dir():
            raise ValueError(f"checkpoint={str(path)!r}: the folder {self.path.parent} does not exist.")

    def read(self) -> dict[str, Any] | None:
        """Return the state kept in the file, or None where there is no file.

        Raises
        ------
        ModelFileError
            When the file is damaged, no checkpoint, or of another run.
        """
        from skops import io

        if not self.path.exists():
            return None
        try:
            state = io.load(self.path, trusted=[TREE])
            check_trees(state)
        except Exception as error:
            raise ModelFileError(
                f"checkpoint {self.path} cannot be read ({error}); delete it to start anew."
            ) from error
        if not isinstance(state, dict) or state.get("format") != FORMAT:
            raise ModelFileError(f"{self.path} is not a checkpoint of this version; delete it to start anew.")
        if state["fingerprint"] != self.digest:
            raise ModelFileError(
                f"checkpoint {self.path} is of a run with other data or other parameters; delete it to start "
                "anew, or restore them to go on."
            )
        return state

    def write(self, run: Run, family: WeakRankers, first_state: dict[str, Any]) -> None:
        """Write the run's state beside the file and move it there whole."""
        from skops import io

        state = {
            "format": FORMAT,
            "fingerprint": self.digest,
            "first_state": first_state,
            "random_state": random_state_arrays(run.random_state),
            "scores": run.descent.scores,
            "weights": run.descent.weights,
            "best_scores": run.best_scores,
            "history": run.history.arrays(),
            "rankers": grown(family),
        }
        with written_whole(self.path) as beside:
            io.dump(state, beside)


def alike(one: WeakRankers, other: WeakRankers, X: Any) -> bool:
    """Return whether two families are of the same weak rankers: functions are known by what they return."""
    if isinstance(one, Functions) and isinstance(other, Functions):
        return np.array_equal(one.outputs(X), other.outputs(X))
    return fingerprint(described(one)) == fingerprint(described(other))


def restored(state: dict[str, Any]) -> tuple[History, Floats, Floats, Floats | None]:
    """Return the history, the scores, the weights and the best scores of a kept state."""
    return History.from_arrays(state["history"]), state["scores"], state["weights"], state["best_scores"]


def grown(family: WeakRankers) -> dict[str, Any]:
    """Return the weak rankers that were made on the way."""
    if not isinstance(family, Regressors):
        return {}
    names = ("regressors_", "subsets_", "lows_", "ranges_")
    return {name: getattr(family, name) for name in names}


def keeper_of(
    ranker: Any, family: WeakRankers, X: Any, target: Target, max_rounds: int
) -> tuple[Checkpoint | None, dict[str, Any] | None]:
    """Return the keeper of a ranker's run, and the state that its file holds; None where there is none.

    Raises
    ------
    ValueError
        When the folder does not exist, the file holds more than ``max_rounds``, or weak rankers cannot be
        kept.
    ModelFileError
        When the file is damaged, no checkpoint, or of another run.
    """
    if ranker.checkpoint is None:
        return None, None
    check_keepable(family)
    parameters = {name: value for name, value in ranker.get_params(deep=False).items() if name not in FREE}
    if not isinstance(ranker.random_state, int | np.integer):
        parameters.pop("random_state")
    outputs = family.outputs(X) if isinstance(family, Functions) else None
    words = type(ranker).__name__, repr(described(parameters))
    digest = fingerprint(*words, X, target.weights, vars(target.sample), outputs)
    keeper = Checkpoint(ranker.checkpoint, int(ranker.checkpoint_every), digest)
    state = keeper.read()
    if state is not None and len(state["history"]["rankers"]) > max_rounds:
        raise ValueError(
            f"checkpoint {ranker.checkpoint} holds {len(state['history']['rankers'])} rounds, more than "
            f"max_rounds={max_rounds}; raise max_rounds or delete the file."
        )
    return keeper, state


def check_keepable(family: WeakRankers) -> None:
    """Raise unless the weak rankers made on the way can be kept in a file.

    Raises
    ------
    ValueError
        When a base learner is of a type that a checkpoint would not load.
    """
    from skops import io

    if isinstance(family, Regressors) and family.estimator is not None:
        strangers = set(io.get_untrusted_types(data=io.dumps(family.estimator))) - {TREE}
        if strangers:
            raise ValueError(
                f"a checkpoint can hold base learners of scikit-learn only, not {', '.join(strangers)}."
            )


def random_state_arrays(random_state: np.random.RandomState) -> dict[str, Any]:
    """Return the state of a random source as plain values."""
    _, keys, position, has_gauss, gauss = random_state.get_state(legacy=True)
    return {
        "keys": np.asarray(keys),
        "position": int(position),
        "has_gauss": int(has_gauss),
        "gauss": float(gauss),
    }


def random_state_from(state: dict[str, Any]) -> np.random.RandomState:
    """Return a random source in a kept state."""
    random_state = np.random.RandomState()
    keys: NDArray[np.uint32] = state["keys"]
    random_state.set_state(("MT19937", keys, state["position"], state["has_gauss"], state["gauss"]))
    return random_state
