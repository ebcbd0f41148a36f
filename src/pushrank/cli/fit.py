"""``pushrank fit``: one model is fitted to a file and saved."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from pushrank.cli import model
from pushrank.cli.errors import InputError, say, warn
from pushrank.cli.features import read_features
from pushrank.cli.forms import FitOptions
from pushrank.cli.known import CHOSEN
from pushrank.cli.names import ENSEMBLE
from pushrank.cli.options import FeatureSource, parameters_of, refuse_given
from pushrank.cli.release import Released, release
from pushrank.cli.screen import print_json
from pushrank.cli.source.columns import warn_of_dates
from pushrank.cli.source.labels import AUDIT
from pushrank.model_selection.compare import STUMPS


def fit_model(source: FeatureSource, config: FitOptions) -> None:
    """Fit a model to a file, save it, and print what is known of it."""
    # Stumps found 277 of 818 hits on flights, where linear models found 207 at most.
    names = config.model or [STUMPS]
    ranker, name = ranker_of(names, config)
    whole = read_features(source, config).due()
    warn_of_dates(of for of in whole.dates if of.name != config.time)
    if chosen := model.missing_in(whole, config.seed):
        if chosen.endswith(CHOSEN):
            why = f"needs a label in every row, and {chosen}; {AUDIT}."
            by_rows = config.budget if isinstance(config.budget, int) else None
            refuse_given(vars(config) | {"budget": by_rows}, ("hold_out", "probability", "budget"), why)
        warn(f"{chosen}.")
    unlabelled = np.asarray(whole.rows.times)[~np.asarray(whole.known)] if chosen and config.time else ()
    data, kept = whole.labelled.hold_out(config.hold_out, config.budget, config.seed)
    show_released(release(ranker, name, data, kept, config, unlabelled), config)


def ranker_of(names: list[str], config: FitOptions) -> tuple[BaseEstimator, str]:
    """Return the model of these names, of several an ensemble of them, and what it is called."""
    name, parameters = names[0] if len(names) == 1 else ENSEMBLE, parameters_of(config.parameters)
    if config.jobs != 1 and (name != ENSEMBLE or not config.jobs):
        raise InputError(f"--jobs is a number of processes, or -1, for --model {ENSEMBLE}; leave it out.")
    if parameters and name == ENSEMBLE:
        raise InputError(f"--set is for one model, and an {ENSEMBLE} has several; names hold a strength.")
    ranker = model.make_model(name, config.seed, parameters)
    if len(names) > 1:
        ranker.set_params(estimators=[(of, model.make_model(of, config.seed)) for of in names])
    return ranker, name


def show_released(released: Released, config: FitOptions) -> None:
    """Print what is known of a model that was saved."""
    if config.as_json:
        print_json(released.facts)
        return
    for line in [*released.lines, f"Next: {released.facts['commands'][0]}"]:
        say(line)
