"""
A portion of the ROC curve
==========================

You can raise one portion of the ROC curve at the cost of the rest, by a price of your own (Rudin 2009,
section 9.3). The price is highest for negatives that stand above a given share of the positives, here 70 or
30 %, and lower for those that stand higher or lower. ``monotonic = False`` declares that the price does not
only rise.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pushrank import PushRanker
from pushrank.datasets import load_dataset
from pushrank.losses import Sigmoid
from pushrank.prices import Price


@dataclass(frozen=True)
class Portion(Price):
    """The price (h / top)^2 e^(1 - (h / top)^2) of a negative's height h: one at ``top``, less on both sides.

    Under a sigmoid loss h is about the number of positives below the negative. The price is highest where
    this number is ``top``. A negative above nearly all positives may cost no more than one below nearly all.
    """

    top: float
    convex = False
    monotonic = False

    def value(self, inner_sum):
        """Return the price."""
        square = (inner_sum / self.top) ** 2
        return square * np.exp(1.0 - square)

    def derivative(self, inner_sum):
        """Return its derivative, negative above the top."""
        square = (inner_sum / self.top) ** 2
        return 2.0 * inner_sum / self.top**2 * (1.0 - square) * np.exp(1.0 - square)

    def second_derivative(self, inner_sum):
        """Return its second derivative."""
        square = (inner_sum / self.top) ** 2
        return (2.0 - 10.0 * square + 4.0 * square**2) / self.top**2 * np.exp(1.0 - square)


X, y = load_dataset("magic", return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=3000, stratify=y, random_state=0)
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

ax = plt.figure(figsize=(6.4, 6.0)).subplots()
ranker = PushRanker("logistic", alpha=1e-4).fit(X_train, y_train)
RocCurveDisplay.from_predictions(y_test, ranker.decision_function(X_test), name="all pairs", ax=ax)
coef = 2.0 * ranker.coef_  # an objective with local minima is best descended from a good ranking
ranker.set_params(loss=Sigmoid(), alpha=1e-5, warm_start=True)
for share in (0.7, 0.3):
    ranker.coef_ = coef
    ranker.set_params(price=Portion(share * y_train.sum())).fit(X_train, y_train)
    name = f"Portion: {share:.0%} of the positives below"
    RocCurveDisplay.from_predictions(y_test, ranker.decision_function(X_test), name=name, ax=ax)
ax.legend(loc="lower right", fontsize="small")
_ = ax.set_title("MAGIC: 16,020 unseen showers")
