"""
Find nine of ten positives with few false alarms
================================================

Users have `asked scikit-learn <https://github.com/scikit-learn/scikit-learn/issues/20266>`__ since 2021 for a
scorer of the precision at a fixed recall, instead of "picking an enforcement threshold under a fixed recall
floor, repeatedly, by hand". This example chooses a model and then a threshold for a recall of 90 %.
"""

from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import PrecisionRecallDisplay
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from pushrank.datasets import load_dataset
from pushrank.metrics import AtRecall, make_top_scorer, precision_at_recall, threshold_for

X, y = load_dataset("magic", return_X_y=True)
X, y = X[::4], y[::4]
X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
X_choose, X_test, y_choose, y_test = train_test_split(
    X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=0
)

# %%
# Choose the model. ``make_top_scorer`` makes a scorer for any search.
search = GridSearchCV(
    make_pipeline(StandardScaler(), SplineTransformer(degree=1), LogisticRegression(max_iter=2000)),
    {"splinetransformer__n_knots": [2, 5], "logisticregression__C": [0.01, 1.0]},
    scoring=make_top_scorer("precision_at_recall", recall=0.9),
).fit(X_train, y_train)
print(f"precision at recall .9: {search.best_score_:.3f}, with {search.best_params_}")

# %%
# Choose the threshold on rows that the model has not seen; the interval says how sure it is.
at_choice = search.decision_function(X_choose)
found = threshold_for(y_choose, at_choice, AtRecall(0.9), random_state=0)
print(f"threshold {found.threshold:.2f} ({found.low:.2f} to {found.high:.2f})")
classifier = FixedThresholdClassifier(
    FrozenEstimator(search), threshold=found.threshold, response_method="decision_function"
).fit(X_choose, y_choose)

# %%
# Measure on other rows. The recall of these 1,189 rows is near .9, but nothing promises that it is above.
predicted = classifier.predict(X_test) == 1
recall, precision = predicted[y_test == 1].mean(), y_test[predicted].mean()
print(f"at the threshold: recall {recall:.3f}, precision {precision:.3f}")
at_recall = precision_at_recall(y_test, search.decision_function(X_test), 0.9)
print(f"at a recall of exactly .9: precision {at_recall:.3f}")
ax = PrecisionRecallDisplay.from_estimator(search, X_test, y_test, name="chosen").ax_
_ = ax.plot(recall, precision, "o", color="black")
