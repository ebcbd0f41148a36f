"""Rows that come day by day, with weeks, storms, and a drift on a known day."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import expit, logit
from sklearn.utils import Bunch, check_random_state

from pushrank._base.user_types import Seed
from pushrank._base.validation import check_choice, check_number

__all__ = ["make_stream"]

COEFFICIENTS = np.array([1.5, 1.0, 0.7])
# How fast storms pass: the correlation of the log-odds of neighbouring days.
PERSISTENCE = 0.7


def make_stream(
    n_days: int = 120,
    rows_per_day: int = 300,
    n_features: int = 6,
    *,
    positive_fraction: float = 0.03,
    weekly: float = 0.5,
    storms: float = 0.5,
    drift_day: int | None = None,
    drift: Literal["label", "rows"] = "label",
    random_state: Seed = None,
) -> Bunch:
    r"""Make rows that come day by day, in weeks and storms, with a drift on a known day.

    .. math:: P(y = 1) = \sigma(b + w_d + z_d + 1.5 x_1 + x_2 + 0.7 x_3)

    for a row of day d, normal features, the rhythm :math:`w_d` of the week and storms :math:`z_d`, a normal
    autoregressive process of order 1 whose correlation is 0.7 from day to day.

    Within a day rows gather around 11 and 17 o'clock. O(n n_features).

    Parameters
    ----------
    n_days, rows_per_day : int, default=120, 300
        The number of days, and the mean number of rows of a working day, which is Poisson; on Saturdays and
        Sundays there are a share `weekly` fewer.
    n_features : int, default=6
        At least 3; those beyond the third are noise.
    positive_fraction : float, default=0.03
        The chance of a positive on a quiet day without features, which all of them raise.
    weekly : float, default=0.5
        The share of rows missing on weekends, in [0, 1), and the drop of the log-odds then.
    storms : float, default=0.5
        The standard deviation of :math:`z_d`, at least 0.
    drift_day : int, optional
        The number of the day, from 0, from which the drift holds.
    drift : {"label", "rows"}, default="label"
        Whether :math:`x_1` no longer tells anything of the label, or the mean of :math:`x_2` rises by 1
        while labels hang on the features as before.
    random_state : int, RandomState or None, default=None
        The seed, or the source of randomness.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (n, n_features) float64 in the order of time; ``target`` (n,) of 0 and 1; ``time`` (n,)
        datetime64[s], from Monday 5 January 2026; ``day`` (n,) the number of the day; ``chance`` (n,) of a
        positive; ``feature_names`` and ``DESCR``.

    Raises
    ------
    TypeError, ValueError
        When a parameter is not of its kind, or out of its range.

    Examples
    --------
    >>> stream = make_stream(28, drift_day=14, random_state=0)
    >>> stream.data.shape, str(stream.time[0]), int(stream.target.sum())
    ((7171, 6), '2026-01-05T02:33:20', 768)
    """
    for name, count, least in (("n_days", n_days, 1), ("rows_per_day", rows_per_day, 1)):
        check_number(name, count, least, integer=True)
    check_number("n_features", n_features, len(COEFFICIENTS), integer=True)
    check_number("positive_fraction", positive_fraction, above=0.0, below=1.0)
    check_number("weekly", weekly, 0.0, below=1.0)
    check_number("storms", storms, 0.0)
    if drift_day is not None:
        check_number("drift_day", drift_day, 0, integer=True)
    check_choice("drift", drift, ("label", "rows"))
    # It takes a tenth of a second to import, which rankers need not wait for.
    from scipy.signal import lfilter

    rng = check_random_state(random_state)
    days = np.arange(n_days)
    slack = weekly * (days % 7 >= 5)
    shocks = rng.normal(size=n_days) * storms * np.r_[1.0, np.full(n_days - 1, np.sqrt(1.0 - PERSISTENCE**2))]
    of_day = logit(positive_fraction) - slack + lfilter([1.0], [1.0, -PERSISTENCE], shocks)
    day = np.repeat(days, np.maximum(rng.poisson(rows_per_day * (1.0 - slack)), 1))
    data = rng.normal(size=(len(day), n_features))
    coefficients = np.tile(COEFFICIENTS, (len(day), 1))
    if drift_day is not None:
        later = day >= drift_day
        if drift == "label":
            coefficients[later, 0] = 0.0
        else:
            data[later, 1] += 1.0
    chance = expit(of_day[day] + np.sum(data[:, : len(COEFFICIENTS)] * coefficients, axis=1))
    hours = np.where(rng.random(len(day)) < 0.5, 11.0, 17.0) + rng.normal(size=len(day)) * 3.0
    seconds = 86400 * day + np.clip(3600.0 * hours, 0.0, 86399.0).astype(np.int64)
    order = np.argsort(seconds, kind="stable")
    return Bunch(
        data=data[order],
        target=(rng.random(len(day)) < chance).astype(np.int64)[order],
        time=np.datetime64("2026-01-05", "s") + seconds[order].astype("timedelta64[s]"),
        day=day[order],
        chance=chance[order],
        feature_names=[f"x{number + 1}" for number in range(n_features)],
        DESCR=__doc__,
    )
