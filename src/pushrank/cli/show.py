"""``pushrank show``: what a saved model holds."""

from pathlib import Path

from pushrank._base.files import MODEL_FORMAT, read_facts, written_by
from pushrank.cli.errors import say
from pushrank.cli.screen import print_json, print_table

MAX_SHOWN = 10
"""Weights that are printed; JSON has all."""
CANDIDATE = {
    "candidate": "{candidate}",
    "precision at the budget": "{precision:.4f} ± {standard_error:.4f}",
    "below the best": "{below_best:.4f} ± {below_best_standard_error:.4f}",
    "average precision": "{average_precision:.4f}",
}
"""The columns of the table of what a search has chosen among, by rows that it held out."""


def print_model(model: Path, *, as_json: bool) -> None:
    """Print what a saved model holds: its parameters, what it was fitted on, and its largest weights."""
    known = read_facts(model)
    if known.get("facts", {}).get("format") != MODEL_FORMAT:
        # pushrank.save wrote the file, or another version of pushrank, whose models are refused.
        from pushrank.cli.model import facts_of
        from pushrank.cli.pipelines import SavedModel

        known = facts_of(SavedModel.load(model), written_by(model.read_bytes()))
    facts, is_ensemble = known["facts"], known["is_ensemble"]
    if as_json:
        print_json(facts)
        return
    weights = facts["weights"] or facts["importances"]
    kind, sign = ("weight", "+") if facts["weights"] else ("importance", "")
    for name, text in known["lines"].items():
        if text:
            say(f"{name}: {text}")
    if facts["candidates"]:
        lines = [[text.format_map(found) for text in CANDIDATE.values()] for found in facts["candidates"]]
        print_table(list(CANDIDATE), lines)
    if weights:
        largest = [(name, f"{weight:{sign}.4f}") for name, weight in list(weights.items())[:MAX_SHOWN]]
        print_table(["member" if is_ensemble else "column", kind], largest)
    if len(weights) > MAX_SHOWN:
        say(f"The {MAX_SHOWN} largest of {len(weights):,} {kind}s; --json has all.")
