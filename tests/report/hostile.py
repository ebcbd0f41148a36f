"""ReportData whose every text tries to break out of the page."""

import numpy as np
import pandas as pd

from pushrank.model_selection import RankerComparison
from pushrank.report import ReportData

ATTACK = (
    "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">'&\""
)


def hostile_data(n_rows: int = 400, n_models: int = 3) -> ReportData:
    """Return the comparison of rankings of random rows, the first model better than the others."""
    rng = np.random.default_rng(0)
    y = rng.random(n_rows) < 0.3
    models = ["good", "baseline", *(f"{ATTACK} {m}" for m in range(n_models - 2))]
    scores = {model: rng.normal(size=n_rows) + 2.5 * y * (model == "good") for model in models}
    texts = [ATTACK, None, "x" * 500, "ok"] * (n_rows // 4)
    columns = {ATTACK: rng.normal(size=n_rows), "text": texts, "flag": y, "count": np.arange(n_rows)}
    rows = pd.DataFrame(columns | {f"more {c}": 1.0 for c in range(10)})
    rows.iloc[:50, 0] = np.nan
    values = {"good": [12.0, 13.0, 14.0], "baseline": [5.0, 7.0, 6.0]}
    comparison = RankerComparison(
        {m: {ATTACK: np.array(values.get(m, [5.0, 5.5, 6.5])), "AUC": np.full(3, 0.5)} for m in models},
        criterion=ATTACK,
        budget=40,
        scores=scores,
        folds=np.zeros(n_rows, dtype=np.intp),
        warnings={"good": [ATTACK, ATTACK]},
    )
    texts = {"title": ATTACK, "meaning": f"{ATTACK} = 1", "settings": {"File": ATTACK, ATTACK: "1"}}
    return ReportData(comparison, y, rows, **texts, seed=3)
