"""Write reference.md, the list of all public names: python docs/make_reference.py."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

PAGE = Path(__file__).parent / "reference.md"
SECTIONS = {
    "pushrank": (
        "Rankers",
        "`fit(X, y, sample_weight)` learns; `decision_function` gives scores, `rank` row numbers best\n"
        "first, `predict` classes and `score` the average precision.",
    ),
    "pushrank.metrics": ("Measures", ""),
    "pushrank.metrics.scorers": (
        "Scorers",
        "For `cross_val_score(scoring=...)` and grid searches; errors come negated. Those of query lists "
        "(`mean_reciprocal_rank`,\n`ndcg`, `ndcg_at_10`) ask metadata routing for `qid`.",
    ),
    "pushrank.losses": ("Losses", ""),
    "pushrank.prices": ("Prices", ""),
    "pushrank.weak_rankers": ("Weak rankers", ""),
    "pushrank.objectives": ("Objectives", ""),
    "pushrank.theory": ("Theory", ""),
    **{
        f"pushrank.theory.{paper}": (f"Theorems of {said}", "")
        for paper, said in {
            "rudin_2009": "Rudin, *The P-Norm Push*, JMLR 2009",
            "rudin_2005": "Rudin, Cortes, Mohri and Schapire, COLT 2005",
            "agarwal_2011": "Agarwal, *The Infinite Push*, SDM 2011",
            "kar_2015": "Kar, Narasimhan and Jain, ICML 2015",
        }.items()
    },
    "pushrank.model_selection": ("Comparisons of models", ""),
    "pushrank.interop.lightgbm": ("LightGBM", ""),
    "pushrank.interop.xgboost": ("XGBoost", ""),
    "pushrank.interop.torch": ("Losses for torch", ""),
    "pushrank.distributed": ("Where the rows are: Dask", ""),
    "pushrank.interop.onnx": ("ONNX", ""),
    "pushrank.plots": ("Displays", ""),
    "pushrank.datasets": ("Data sets", ""),
    "pushrank.persistence": ("Model files", ""),
    "pushrank.exceptions": ("Errors", ""),
}
HEAD = """# All public names

What there is, by the module it is imported from; `help(pushrank.PNormPush)` has the formula, every parameter,
the cost, the source and an example. [Which ranker?](which_ranker.md) says which to take.
"""


def summary(member: object) -> str:
    """Return the first sentence of a docstring; of a scorer, what it measures and how."""
    measure = getattr(member, "_score_func", None)
    if measure is None:
        sentence = (inspect.getdoc(member) or "").partition("\n\n")[0].replace("\n", " ")
        sentence = re.sub(r":math:`([^`]+)`", r"$\1$", sentence)
        return re.sub(r":\w+:(`[^`]+`)", r"\1", sentence).replace("``", "`")
    options = ", ".join(f"{name}={value!r}" for name, value in member._kwargs.items())  # type: ignore[attr-defined]
    return f"`{measure.__name__}`" + (f" with `{options}`" if options else "")


def reference() -> str:
    """Return the whole page."""
    page = [HEAD]
    for module_name, (title, text) in SECTIONS.items():
        module = importlib.import_module(module_name)
        members = {name: getattr(module, name) for name in sorted(module.__all__)}
        rows = [f"| `{name}` | {summary(m)} |" for name, m in members.items() if not inspect.ismodule(m)]
        head = f"## {title}: `{module_name}`\n\n" + (text and text + "\n\n")
        page.append(head + "| | |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(part.strip() for part in page) + "\n"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
