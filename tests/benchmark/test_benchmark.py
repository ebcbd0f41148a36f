"""Methods beside those of the papers: what is run again, what is recorded, and what tests say."""

import os
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.stats import chi2, norm, t
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from pushrank import RankSVM, TrimmedPush, metrics
from pushrank.benchmark import PAPERS, SMALL, Protocol, Results, protocol, run
from pushrank.benchmark.protocol import BASELINES, MEASURES, cut_rows, features_and_labels, paper_methods
from pushrank.benchmark.results import critical_difference

TINY = Protocol({}, n_splits=2, max_rows=None)


class Mine(LogisticRegression):
    """A method whose code is not that of an installed package."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight)


class Failing(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        raise RuntimeError(f"no luck with {np.shape(X)[1]} columns, {len(y)} and {sample_weight}")


class WithoutNumbers(LogisticRegression):
    def decision_function(self, X):
        return np.full(len(X), np.nan)


@pytest.fixture
def fits(monkeypatch):
    """The methods that are fitted in this process."""
    fitted, fit = [], protocol._Trial.fit

    def noted(trial, X, y):
        fitted.append(trial.method)
        return fit(trial, X, y)

    monkeypatch.setattr(protocol._Trial, "fit", noted)
    return fitted


def rows(seed=0, n_rows=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0.3).astype(int)


def run_alone(methods, sets=None, by=TINY, **keywords):
    return run(methods, sets or {"a": rows()}, by, peers=(), **keywords)


def test_the_parameter_is_chosen_inside_the_training_part_as_written_out():
    X, y = rows()
    grid = (0.001, 1.0, 100.0)
    found = run_alone({"mine": (LogisticRegression(), "C", grid)}).frame
    for split in range(2):
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=split)
        scores = {C: [] for C in grid}
        for inner, left in StratifiedKFold(3, shuffle=True, random_state=split).split(X[train], y[train]):
            scaler = StandardScaler().fit(X[train[inner]])
            for C in grid:
                model = LogisticRegression(C=C).fit(scaler.transform(X[train[inner]]), y[train[inner]])
                inner_scores = model.decision_function(scaler.transform(X[train[left]]))
                scores[C].append(metrics.average_precision(y[train[left]], inner_scores))
        best = max(grid, key=lambda C: np.mean(scores[C]))
        scaler = StandardScaler().fit(X[train])
        model = LogisticRegression(C=best).fit(scaler.transform(X[train]), y[train])
        expected = metrics.auc(y[test], model.decision_function(scaler.transform(X[test])))
        assert found.loc[split, "chosen"] == str(best)
        assert found.loc[split, "AUC"] == expected


def test_a_run_goes_on_where_it_was_stopped(tmp_path, fits):
    whole = run_alone({"mine": Mine()}).frame
    fits.clear()
    run_alone({"mine": Mine()}, by=replace(TINY, n_splits=1), cache_dir=tmp_path)
    resumed = run_alone({"mine": Mine()}, cache_dir=tmp_path)
    assert len(fits) == 2
    again = run_alone({"another name": Mine()}, {"another set": rows()}, cache_dir=tmp_path)
    assert len(fits) == 2
    assert resumed.frame[list(MEASURES)].equals(whole[list(MEASURES)])
    assert again.frame[list(MEASURES)].equals(whole[list(MEASURES)])


def test_no_stale_result_is_taken(tmp_path, fits):
    one = replace(TINY, n_splits=1)

    def is_fitted(method=None, sets=None, by=one):
        fits.clear()
        run_alone({"mine": method or Mine()}, sets, by, cache_dir=tmp_path)
        return len(fits) == 1

    assert is_fitted()
    assert not is_fitted()
    assert is_fitted(Mine(C=2.0))
    assert is_fitted(sets={"a": rows(seed=1)})
    assert is_fitted(by=replace(one, test_share=0.4))
    assert is_fitted(by=replace(one, seed=5))
    assert is_fitted((Mine(), "C", (0.1, 1.0)))
    assert is_fitted((Mine(), "C", (0.1, 1.0)), by=replace(one, criterion="AUC"))
    # Measures are taken from the scores that are kept.
    assert not is_fitted(by=replace(one, measures=MEASURES | {"DCG": metrics.auc}))


def test_a_failure_is_recorded_and_tried_again(tmp_path, fits):
    methods = {"mine": Mine(), "failing": Failing(), "NaN": WithoutNumbers()}
    with pytest.warns(UserWarning, match="4 of 6 results failed, of failing, NaN"):
        results = run_alone(methods, cache_dir=tmp_path)
    assert set(results.failures["error"]) == {
        "RuntimeError: no luck with 3 columns, 84 and None",
        "ValueError: some scores are NaN or infinite",
    }
    assert results.table("AP").loc[["failing", "NaN"], "a"].tolist() == ["failed", "failed"]
    assert results.mean_ranks("AP").to_dict() == {"mine": 1.0, "failing": 2.5, "NaN": 2.5}
    assert results.tests("AP", "mine")["p_holm"].isna().all()
    assert "4 failures" in repr(results)
    assert len(list(tmp_path.iterdir())) == 2
    fits.clear()
    with pytest.warns(UserWarning, match="4 of 6"):
        run_alone(methods, cache_dir=tmp_path)
    assert len(fits) == 4


def test_jobs_change_nothing():
    methods = {"one": (LogisticRegression(), "C", (0.01, 1.0)), "two": LogisticRegression()}
    with parallel_config("threading"):
        alone, together = (run_alone(methods, n_jobs=n_jobs).frame for n_jobs in (1, 2))
    assert alone[list(MEASURES)].equals(together[list(MEASURES)])


def test_parameters_are_chosen_by_average_precision_whatever_is_measured():
    method = (LogisticRegression(), "C", (0.001, 1.0))
    hits = partial(metrics.precision_at_k, k=10)
    of_all, of_hits = (
        run_alone({"a": method}, by=replace(TINY, measures=by)).frame for by in (MEASURES, {"hits": hits})
    )
    assert of_hits["chosen"].tolist() == of_all["chosen"].tolist()
    assert "AP" not in of_hits
    assert of_hits["hits"].between(0.0, 1.0).all()


def test_one_split_has_means_and_no_errors():
    results = run_alone({"a": Mine(), "b": Mine(C=0.01)}, by=replace(TINY, n_splits=1))
    assert results.standard_errors("AUC").isna().all(axis=None)
    assert "±" not in results.table("AUC").to_string()
    assert results.tests("AUC")["p"].isna().all() or (results.tests("AUC")["difference"] == 0.0).all()


def test_equal_methods_share_ranks_and_differ_by_chance():
    results = run_alone({"a": Mine(), "b": Mine()})
    assert results.mean_ranks("AP").tolist() == [1.5, 1.5]
    assert results.tests("AP")[["effect", "p_holm"]].to_numpy().tolist() == [[0.0, 1.0]]
    # Their sums differ in the last digit.
    lines = [("a", split, "one", value) for split, value in enumerate((0.1, 0.2, 0.3))]
    lines += [("a", split, "two", value) for split, value in enumerate((0.3, 0.2, 0.1))]
    frame = pd.DataFrame(lines, columns=["set", "split", "method", "AP"])
    assert Results(frame, ["AP"]).mean_ranks("AP").tolist() == [1.5, 1.5]


def test_kept_results_are_those_of_the_default_methods():
    """Their keys are those of today's grids, so that a run of these methods alone fits nothing."""
    kept = protocol._kept(SMALL)
    listed = pd.read_csv(protocol.KEPT)
    assert listed.groupby("method").size().to_dict() == dict.fromkeys(BASELINES, 15)
    assert len(kept) == len(listed) == 120
    assert protocol._kept(replace(SMALL, measures={"AP": partial(metrics.average_precision)})) == {}
    # MAGIC comes with the library.
    results = run({}, ["magic"], replace(SMALL, n_splits=1))
    assert set(results.frame["run"]) == {"kept"}
    assert results.frame["made"].str.startswith("pushrank").all()
    assert not results.frame["set"].isin(["a"]).any()
    other = run({"SGDAtK": Mine(max_iter=300)}, ["magic"], replace(SMALL, n_splits=1), peers=["SGDAtK"])
    assert set(other.frame["run"]) == {"here"}
    again = run({}, ["magic"], replace(SMALL, n_splits=1), peers=["logistic regression"], rerun=True)
    assert set(again.frame["run"]) == {"here"}
    expected = results.frame.set_index("method").loc["logistic regression", list(MEASURES)].astype(float)
    np.testing.assert_allclose(again.frame.loc[0, list(MEASURES)].astype(float), expected, rtol=1e-5)


def test_grids_of_a_protocol_take_the_place_of_the_papers():
    methods = paper_methods(replace(PAPERS, grids={"C": (0.1, 10.0)}, n_folds=5))
    assert methods["RankSVM"][2] == methods["logistic regression"][2] == (0.1, 10.0)
    assert methods["SGDAtK"][2] == (0.25, 0.5, 1.0)
    assert methods["PNormPushCV"][0].cv == 5
    with pytest.raises(ValueError, match="criterion must be"):
        run_alone({}, by=replace(TINY, criterion="average"))
    with pytest.raises(ValueError, match="peers must name some of"):
        run({}, {"a": rows()}, peers=["RankSVN"])


def test_sets_are_made_numbers_and_cut():
    X, y = rows(n_rows=6000)
    rare = np.arange(6000) < 90
    assert cut_rows(X, rare, 4000)[1].sum() == 90
    assert cut_rows(X, y, 4000)[1].mean() == pytest.approx(y.mean(), abs=1e-3)
    frame = pd.DataFrame({"number": [1.0, 2.0, 3.0], "text": ["x", "y", "x"]})
    X, y = features_and_labels(lambda: (frame, np.array([0, 1, 1])), None)
    assert X.tolist() == [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0], [3.0, 1.0, 0.0]]
    with pytest.raises(ValueError, match="pass features"):
        features_and_labels((np.array(["C", "CC"]), np.array([0, 1])), None)


# Table 6 of Demsar (2006): areas under the curve of C4.5 with and without two parameters chosen.
# The ranks that it prints tell two areas of .975 apart.
DEMSAR = """
.763 .768 .771 .798  .599 .591 .590 .569  .954 .971 .968 .967  .628 .661 .654 .657
.882 .888 .886 .898  .936 .931 .916 .931  .661 .668 .609 .685  .583 .583 .563 .625
.775 .838 .866 .875  1. 1. 1. 1.  .940 .962 .965 .962  .619 .666 .614 .669
.972 .981 .97501 .975  .957 .978 .946 .970
"""


def demsar():
    methods = ("C4.5", "+m", "+cf", "+m+cf")
    values = np.array(DEMSAR.split(), dtype=float).reshape(-1, 4)
    lines = [
        {"set": f"set {n}", "split": 0, "method": method, "AUC": value}
        for n, line in enumerate(values)
        for method, value in zip(methods, line, strict=True)
    ]
    return Results(pd.DataFrame(lines), ["AUC"])


def test_ranks_and_tests_are_those_that_demsar_prints():
    results = demsar()
    ranks = results.ranks("AUC").mean(axis="columns")
    np.testing.assert_allclose(ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    # The printed 9.28 is without the correction for ties, whose sum of t^3 - t is 78 of 14 (4^3 - 4).
    assert results.friedman("AUC") == pytest.approx(chi2.sf(9.28 / (1.0 - 78.0 / 840.0), 3), rel=2e-3)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=5e-3)
    tests = results.tests("AUC", "C4.5").set_index("method")
    # Table 2 prints R+ = 93 and R- = 12, of which the two zeros have 1.5 each, and z = (12 - 52.5) / 15.93.
    assert tests.loc["+m", "p"] == pytest.approx(2.0 * norm.sf(40.5 / 15.93), rel=0.02)
    # Without the zeros ten ranks and two are less by 2.
    assert tests.loc["+m", "effect"] == pytest.approx((93.0 - 1.5 - 20.0 - (12.0 - 1.5 - 4.0)) / 78.0)
    p = tests["p"].sort_values().to_numpy()
    assert sorted(tests["p_holm"]) == pytest.approx(np.maximum.accumulate(p * [3.0, 2.0, 1.0]))


def test_critical_values_are_those_of_nemenyis_table():
    """Table 5 (a) of Demsar (2006), for two to ten methods."""
    printed = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    found = [critical_difference(k, 1) / np.sqrt(k * (k + 1) / 6.0) for k in range(2, 11)]
    np.testing.assert_allclose(found, printed, atol=1.1e-3)


def test_few_sets_are_tested_by_corrected_variances():
    gaps = {"a": np.array([0.1, 0.3, 0.2]), "b": np.array([0.0, 0.1, 0.2])}
    lines = [
        {"set": name, "split": n, "method": method, "AP": 0.5 + gap * (method == "one")}
        for name, of in gaps.items()
        for n, gap in enumerate(of)
        for method in ("one", "two")
    ]
    [found] = Results(pd.DataFrame(lines), ["AP"], 0.25).tests("AP", "two").to_dict("records")
    assert found["difference"] == pytest.approx(0.15)
    assert found["effect"] == pytest.approx(0.15 / 0.1)
    # Both sets have the variance (1/3 + 1/3) .01, so that Welch has four degrees of freedom.
    expected = 2.0 * t.sf(0.15 / np.sqrt((2.0 / 3.0) * 0.01 / 2.0), 4)
    assert found["p"] == found["p_holm"] == pytest.approx(expected)


def test_the_picture_joins_what_is_not_told_apart():
    ax = demsar().plot_critical_difference("AUC")
    thick = [line.get_xdata() for line in ax.get_lines() if line.get_linewidth() == 4.0]
    # C4.5 alone is apart from the best two: 3.143 is no more than 1.25 behind 1.964.
    np.testing.assert_allclose(thick, [[1.964 - 0.05, 3.143 + 0.05]], atol=1e-3)
    assert {text.get_text().strip() for text in ax.texts} == {"C4.5", "+m", "+cf", "+m+cf"}
    ax.figure.clf()


def test_the_table_in_latex_marks_the_best_and_escapes():
    pytest.importorskip("jinja2")
    results = run_alone({"a_b": Mine(), "c": Mine(C=1e-6)}, {"50 %": rows()})
    text = results.to_latex("AP")
    assert r"50 \%" in text
    assert r"a\_b & " in text
    assert text.count(r"\textbf{") == 1
    assert r"$\pm$" in text


@pytest.mark.docs
@pytest.mark.skipif("PUSHRANK_DATA" not in os.environ, reason="PUSHRANK_DATA is not set")
def test_the_page_prints_what_it_shows(capsys):
    page = (Path(__file__).parents[2] / "docs" / "benchmark.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", page, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    for code, shown in blocks:
        exec(code, names)  # noqa: S102
        assert capsys.readouterr().out == shown
    assert sum(bool(shown) for _, shown in blocks) == 2
    assert max(len(line) for code, shown in blocks for line in (code + shown).splitlines()) <= 88


def test_a_ranker_with_a_path_is_tuned_in_any_parameter_and_taken_as_it_is():
    """Paths over C, or k, have no other parameter's values."""
    X, y = rows()
    grids = {
        "plain": RankSVM(),
        "loss": (RankSVM(), "loss", ["hinge"]),
        "alpha": (TrimmedPush(), "alpha", [0.3]),
    }
    found = run_alone(grids).frame.set_index(["method", "split"])
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X[train])
    alone = {"plain": RankSVM(), "loss": RankSVM(loss="hinge"), "alpha": TrimmedPush(alpha=0.3)}
    for name, ranker in alone.items():
        scores = ranker.fit(scaler.transform(X[train]), y[train]).decision_function(scaler.transform(X[test]))
        assert found.loc[(name, 0), "AP"] == metrics.average_precision(y[test], scores)
