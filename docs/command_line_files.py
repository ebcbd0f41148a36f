"""Write the files of the examples of command_line.md to the current folder.

They are data bundled with scikit-learn and simulated rows. Some of the 1,797 handwritten digits are eights,
which are to be found. LightGBM is needed, which ``pip install "pushrank[all]"`` brings.
"""

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from pushrank.datasets import make_stream

digits = load_digits(as_frame=True).frame.rename(columns={"target": "digit"}).sample(frac=1, random_state=0)
digits[:1200].to_csv("digits.csv", index=False)
digits[1200:].to_csv("new.csv", index=False)
digits[1200:1500].to_csv("checked.csv", index=False)
digits[1500:].assign(sheet=np.arange(297) // 12).to_csv("today.csv", index=False)
rows = digits[1200:].assign(id=np.arange(597), came=pd.date_range("2026-02-24", periods=597, freq="15min"))
rows[:480].to_csv("february.csv", index=False)
rows[480:576].to_csv("one_day.csv", index=False)

# who takes up a bank's offer: the scores of models from elsewhere, for pushrank measure
rng = np.random.default_rng(0)
age, month = rng.integers(18, 90, 6000), rng.integers(1, 13, 6000)
bank = pd.DataFrame({"age": age, "month": month, "seconds": rng.gamma(1.5, 170.0, 6000).round()})
odds = 0.006 * bank["seconds"] + 1.5 * ((age < 25) | (age > 62)) + 1.2 * np.isin(month, [3, 9, 10, 12]) - 6.0
bank["taken"] = np.where(rng.logistic(size=6000) < odds, "yes", "no")
bank["deposit"] = rng.gamma(2.0, 4000.0, 6000).round(2)
X = bank[["age", "month", "seconds"]]
for name, model in {"logistic": LogisticRegression(), "lightgbm": LGBMClassifier(verbose=-1)}.items():
    bank[name] = model.fit(X[:4000], bank["taken"][:4000]).predict_proba(X)[:, 1].round(4)
bank[4000:].to_csv("scores.csv", index=False)

# the same requests as another office writes them: semicolons, decimal commas, the day first, a dash for a gap
came = pd.Series(pd.date_range("2025-01-01", periods=2000, freq="4h")).dt.strftime("%d.%m.%Y %H:%M")
ages = bank["age"][4000:].astype(str).where(np.random.default_rng(1).random(2000) > 0.03, "-").to_numpy()
asked = pd.DataFrame({"number": np.arange(10_001, 12_001), "came": came, "age": ages})
for name in ("month", "seconds", "deposit", "taken"):
    asked[name] = bank[name][4000:].to_numpy()
asked.to_csv("requests.csv", index=False, sep=";", decimal=",")

# payments of sixty days, with scores of a rule and of a model, for a budget a day
stream = make_stream(60, random_state=0)
days = pd.DataFrame({"booked_at": stream.time, "fraud": stream.target, "rule": stream.data[:, 0]})
shops = np.random.default_rng(0).integers(12, size=len(days))
days.assign(model=stream.data[:, :3].sum(axis=1), shop=shops).to_csv("days.csv", index=False)
payments = pd.DataFrame(stream.data, columns=stream.feature_names).assign(
    booked_at=stream.time, fraud=stream.target
)
payments[stream.day < 42].to_csv("payments.csv", index=False)
payments[stream.day >= 42].to_csv("since.csv", index=False)

# the same payments, of which ten a day were looked at, by the scores of the model: most of these have a label
looked_at = pd.read_csv("days.csv")
is_listed = looked_at.groupby(stream.day)["model"].rank(ascending=False) <= 10
looked_at["acted"] = np.where(is_listed, "list", "")
looked_at["fraud"] = looked_at["fraud"].where(is_listed & (stream.day < 54)).astype("Int64")
looked_at.to_csv("looked_at.csv", index=False)
