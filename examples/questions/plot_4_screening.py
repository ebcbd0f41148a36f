"""
AUC, BEDROC and enrichment of a virtual screening, with intervals
=================================================================

A user of a `docking tool <https://github.com/forlilab/Ringtail/issues/37>`__ wrote: "incredibly convenient
if, by simply inputting a command, automatic calculations of AUC, BEDROC, and EF could be performed, followed
by the generation of plots". You need a table with scores and a column that says what is active. The command
is ``pushrank measure scores.csv --label active --score docking``; below is the same in Python.

Here two scoring functions rank 5,000 compounds, 60 of them active. The scores are drawn at random. The lower
a docking energy, the better, so the energies are negated.
"""

import numpy as np

from pushrank.metrics import confidence_interval, measure
from pushrank.plots import RocLeftEdgeDisplay

rng = np.random.default_rng(0)
active = np.arange(5_000) < 60
quality = rng.normal(size=5_000)
energies = {
    "docking": -7.0 - 2.0 * active - quality - 0.8 * rng.normal(size=5_000),
    "rescored": -7.0 - 2.4 * active - quality - 0.8 * rng.normal(size=5_000),
}
scores = {name: -energy for name, energy in energies.items()}

found = measure(active, scores, fraction=0.01, random_state=0)
print(found)

# %%
# ``confidence_interval`` gives the interval of one measure, with your own parameters.
low, high, *_ = confidence_interval(active, scores["rescored"], "bedroc", alpha=80.5, random_state=0)
print(f"BEDROC, alpha = 80.5: {low:.2f} to {high:.2f}")

# %%
# A screening takes only the first compounds, which are at the left edge of the ROC curve.
ax = None
for name in scores:
    ax = RocLeftEdgeDisplay.from_predictions(active, scores[name], name=name, ax=ax).ax_
