"""ReportData whose every text tries to break out of the page."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pushrank.report import Difference, Measured, ReportData

ATTACK = (
    "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">'&\""
)


def hostile_data(n_rows: int = 400, n_models: int = 3) -> ReportData:
    """Return the comparison of rankings of random rows, the first model better than the others."""
    rng = np.random.default_rng(0)
    y = rng.random(n_rows) < 0.3
    models = ["good", "baseline", *(f"{ATTACK} {m}" for m in range(n_models - 2))]
    scores = {model: rng.normal(size=n_rows) + 2.5 * y * (model == "good") for model in models}
    rows = pd.DataFrame(
        {
            ATTACK: rng.normal(size=n_rows),
            "text": [ATTACK, None, "x" * 500, "ok"] * (n_rows // 4),
            "flag": y,
            "count": np.arange(n_rows),
            **{f"more {c}": 1.0 for c in range(10)},
        }
    )
    rows.iloc[:50, 0] = np.nan
    return ReportData(
        title=ATTACK,
        y=y,
        held_out=scores,
        scores=scores,
        best="good",
        baseline="baseline",
        rival="baseline",
        depth=40,
        verdict=f"Best at the top: good, far above {ATTACK}.",
        criterion=ATTACK,
        differences={m: Difference(7.0, 2.0, 3.0, 11.0, True) for m in models[1:]},
        measures={m: {"average precision": Measured(0.5, 0.01), ATTACK: Measured(12.0, 1.0)} for m in models},
        rows=rows,
        settings={"File": ATTACK, ATTACK: "1"},
        meaning=f"{ATTACK} = 1",
        warnings={"good": [ATTACK, ATTACK]},
        seed=3,
    )
