"""Losses of torch are the objectives, their gradients and Hessians, on batches as they come."""

import copy
import doctest
import importlib
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from pushrank import PNormPush
from pushrank.objectives import PartialAUC, PrecisionAtK, PushObjective
from pushrank.prices import LogOnePlus, Maximum, Power

pytestmark = pytest.mark.fast

OBJECTIVES = {
    "PNormPushLoss()": PushObjective(price=Power(4), scale="log"),
    "PNormPushLoss(64, 'both', 0.5)": PushObjective("exponential", Power(64), "both", "log", 0.5),
    "PNormPushLoss(1.5, side='pull')": PushObjective("exponential", Power(1.5), "pull", "log"),
    "IRPushLoss()": PushObjective(price=LogOnePlus(), side="pull", scale="mean"),
    "RankingLoss(PushObjective('logistic', Power(2)))": PushObjective("logistic", Power(2)),
    "RankingLoss(PushObjective('hinge'))": PushObjective("hinge"),
    "RankingLoss(PushObjective('squared_hinge', 'maximum', scale='mean'))": PushObjective(
        "squared_hinge", Maximum(), scale="mean"
    ),
    "RankingLoss(PrecisionAtK(2, 'avg'))": PrecisionAtK(2, "avg"),
    "RankingLoss(PartialAUC(min_fpr=0.1, max_fpr=0.4, min_tpr=0.5))": PartialAUC("hinge", 0.1, 0.4, 0.5),
}
NO_OBJECTIVE = ["InfinitePushLoss()", "PrecisionAtKLoss()"]


# Torch takes seconds to import, so whoever only collects these tests looks for it and does not import it.
if find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def torch():
    return importlib.import_module("torch")


@pytest.fixture(scope="module")
def losses(torch):  # noqa: ARG001
    return importlib.import_module("pushrank.interop.torch")


@pytest.fixture
def made(losses):
    """The loss that a text stands for."""
    return lambda text: eval(text, {**vars(losses), "Power": Power})  # noqa: S307


def batch(torch, n=14, dtype=None):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3 == 0
    scores = torch.tensor(rng.normal(size=n), dtype=dtype or torch.float64, requires_grad=True)
    return scores, torch.tensor(y), torch.tensor(rng.integers(0, 4, size=n))


@pytest.mark.parametrize("text", OBJECTIVES)
def test_value_and_gradient_are_the_objectives(text, torch, made):
    scores, labels, weight = batch(torch, 40)
    value = made(text)(scores[:, None], labels.float(), weight)
    value.backward()
    expected, slopes = OBJECTIVES[text].evaluate(labels.numpy(), scores.detach().numpy(), weight.numpy())
    assert value.item() == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(scores.grad, slopes, rtol=1e-12, atol=1e-14)
    assert made(text)(scores, 2 * labels - 1, weight).item() == value.item()


@pytest.mark.parametrize("text", [*OBJECTIVES, *NO_OBJECTIVE])
def test_gradients_are_those_of_finite_differences(text, torch, made):
    scores, labels, weight = batch(torch)
    loss = made(text)
    of_scores = lambda s: 3.0 * loss(s, labels, weight)  # noqa: E731
    assert torch.autograd.gradcheck(of_scores, scores)
    if getattr(loss.objective, "twice_differentiable", False):
        assert torch.autograd.gradgradcheck(of_scores, scores)
        return
    (slopes,) = torch.autograd.grad(of_scores(scores), scores, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative"):
        slopes.sum().backward()


def test_third_derivatives_are_refused_and_not_left_out(torch, losses):
    """Beside another term a missing derivative would go unnoticed."""
    scores, labels, _ = batch(torch)
    (slopes,) = torch.autograd.grad(losses.IRPushLoss()(scores, labels), scores, create_graph=True)
    for asked in (slopes[0], slopes.square().sum()):
        (second,) = torch.autograd.grad(asked, scores, create_graph=True)
        with pytest.raises(RuntimeError, match="third derivative"):
            torch.autograd.grad(second.sum() + scores.square().sum(), scores)
    loss, functional = losses.IRPushLoss(), torch.autograd.functional
    along = (lambda s: loss(s, labels), scores, slopes.detach())
    products = [product(*along)[1] for product in (functional.vhp, functional.hvp)]
    torch.testing.assert_close(*products)


def test_soft_losses_go_to_what_they_stand_for(torch, losses):
    scores, labels, _ = batch(torch)
    y, s = labels.numpy(), scores.detach().numpy()
    worst = PushObjective("hinge", "maximum", scale="mean").value(y, s)
    assert losses.InfinitePushLoss(1e-6)(scores, labels).item() == pytest.approx(worst, rel=1e-5)
    ramp = PrecisionAtK(0.6, "ramp").value(y, s) / 3  # of five positives
    assert losses.PrecisionAtKLoss(0.6, "ramp")(scores, labels).item() == pytest.approx(ramp, rel=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("text", ["PNormPushLoss(64)", "IRPushLoss()", *NO_OBJECTIVE])
def test_short_floats_do_not_overflow(text, dtype, torch, made):
    scores, labels, _ = batch(torch, dtype=getattr(torch, dtype))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = made(text)(2e4 * scores, labels)
    value.backward()
    assert value.dtype == torch.float32
    assert scores.grad.dtype == scores.dtype
    assert bool(torch.isfinite(value))
    assert bool(torch.isfinite(scores.grad).all())
    assert scores.grad.abs().sum() > 0.0


def test_a_batch_of_one_class_costs_nothing_or_is_an_error(torch, losses):
    scores, labels, weight = batch(torch)
    for chosen in (slice(0, 1), slice(1, 3), slice(0, 0)):
        value = losses.PNormPushLoss()(0.0 * scores[chosen] + 1e308, labels[chosen])  # whose sum overflows
        value.backward()
        assert value.item() == 0.0
    assert not scores.grad.any()
    unweighted = losses.IRPushLoss(one_class="raise")
    with pytest.raises(ValueError, match="a batch of 14 rows lacks"):
        unweighted(scores, labels, weight * labels)


def test_remembered_rows_stand_in_for_those_that_a_batch_lacks(torch, losses):
    """Of scores that have not moved the value is that of all rows, the gradient a batch's part of theirs."""
    scores, labels, weight = batch(torch, 15)
    loss, whole = losses.PNormPushLoss(memory=10), losses.PNormPushLoss()
    parts = list(zip(*(values.split(5) for values in (scores, labels, weight)), strict=True))
    for part in parts:
        value = loss(*part)
    assert value.item() == pytest.approx(whole(scores, labels, weight).item(), rel=1e-12)
    (slopes,) = torch.autograd.grad(value, scores)
    (expected,) = torch.autograd.grad(whole(scores, labels, weight), scores)
    assert not slopes[:10].any()
    factor = weight.sum() / weight[10:].sum()
    torch.testing.assert_close(slopes[10:], factor * expected[10:])
    kept = copy.deepcopy(loss)
    assert loss.eval()(*parts[0]).item() == pytest.approx(whole(*parts[0]).item())  # neither used nor filled
    for of_loss in (loss.train(), kept):  # the last ten rows are those of the last two batches
        assert of_loss(*parts[0]).item() == pytest.approx(value.item(), rel=1e-12)
    assert not loss.state_dict()


def test_a_network_of_one_layer_is_the_linear_ranker(torch, losses):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X[:100, :3]), y[:100]
    ranker = PNormPush(alpha=0.1, tol=1e-8).fit(X, y)
    rows, labels = torch.tensor(X), torch.tensor(y)
    net, loss = torch.nn.Linear(3, 1, bias=False, dtype=torch.float64), losses.PNormPushLoss()
    torch.nn.init.zeros_(net.weight)
    step = torch.optim.LBFGS(
        net.parameters(), max_iter=500, tolerance_grad=1e-9, tolerance_change=0, line_search_fn="strong_wolfe"
    )

    def closure():
        step.zero_grad()
        value = loss(net(rows), labels) + 0.05 * net.weight.square().sum()
        value.backward()
        return value

    step.step(closure)
    np.testing.assert_allclose(net.weight.detach().numpy()[0], ranker.coef_, atol=1e-5)


def test_a_batch_that_is_an_error_is_not_remembered(torch, losses):
    loss = losses.RankingLoss(PushObjective(), memory=9)
    with pytest.raises(ValueError, match="overflows"):
        loss(torch.tensor([0.0, 1e4]), torch.tensor([1, 0]))
    assert loss(torch.zeros(2), torch.tensor([1, 0])).item() == 1.0


@pytest.mark.nightly
def test_a_compiled_network_learns_the_same(torch, losses):
    scores, labels, _ = batch(torch, dtype=torch.float32)
    loss = losses.IRPushLoss()
    step = torch.compile(lambda s: loss(torch.tanh(s), labels), backend="eager")
    found = torch.autograd.grad(step(scores), scores)
    assert found[0].equal(torch.autograd.grad(loss(torch.tanh(scores), labels), scores)[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": [0.0, float("nan")]}, "NaN or infinity"),
        ({"scores": [[0.0, 1.0]]}, r"scores must have the shape \(n,\) or \(n, 1\), got \(1, 2\)"),
        ({"labels": [0.0, 0.3]}, r"labels must be 0 and 1, or -1 and 1, found \[0.0, 0.3"),
        ({"labels": [-1, 0]}, "labels must be 0 and 1"),
        ({"labels": [1]}, "labels has 1 rows but scores has 2"),
        ({"weight": [1.0]}, "^weight has 1 entries for 2 rows"),
        ({"weight": [1.0, -1.0]}, "^weight must not be negative"),
    ],
)
def test_bad_batches(change, message, torch, losses):
    arguments = {"scores": [0.0, 1.0], "labels": [0, 1], **change}
    with pytest.raises(ValueError, match=message):
        losses.PNormPushLoss()(**{name: torch.tensor(values) for name, values in arguments.items()})


def test_the_guides_loop_runs(torch):
    guide = Path(__file__).parents[2] / "docs" / "torch.md"
    code = re.search(r"^```python\n(.*?)^```", guide.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
    network, batches = torch.nn.Linear(2, 1), [(torch.randn(6, 2), torch.arange(6) % 2)] * 2
    optimiser = torch.optim.SGD(network.parameters(), 0.1)
    exec(code, names := {"network": network, "loader": batches, "optimiser": optimiser})  # noqa: S102
    assert len(names["loss"]._past.scores) == 12


def test_bad_parameters(torch, losses, made):
    for text, message in {
        "PNormPushLoss(0.5)": "p must be",
        "IRPushLoss(memory=-1)": "memory",
        "IRPushLoss(one_class='skip')": "one_class must be 'zero' or 'raise', got 'skip'",
        "InfinitePushLoss(0)": "temperature",
        "PrecisionAtKLoss(0)": "k",
    }.items():
        with pytest.raises(ValueError, match=message):
            made(text)
    scores, labels = torch.zeros(2), torch.tensor([0, 1])
    for wrong in ((scores, labels.numpy()), (scores, [0, 1]), (scores * 1j, labels), (scores, labels, 1.0)):
        with pytest.raises(TypeError, match=r"(labels|scores|weight) must be a tensor of real numbers, got"):
            losses.IRPushLoss()(*wrong)
    with pytest.raises(TypeError, match=r"must be a PushObjective, PartialAUC or PrecisionAtK"):
        losses.RankingLoss("hinge")
    for highest in (1e4, 100.0):  # too much for float64, and for the scores' own float32
        with pytest.raises(ValueError, match="overflows; use scale='log'"):
            losses.RankingLoss(PushObjective())(torch.tensor([0.0, highest]), torch.tensor([1, 0]))
    for without in (scores.to_sparse(), scores.to("meta")):
        with pytest.raises(TypeError, match="scores must be a dense tensor whose values can be read"):
            losses.IRPushLoss()(without, labels)
    with pytest.raises(TypeError, match=r"torch\.func"):
        torch.func.grad(lambda s: losses.IRPushLoss()(s, labels))(scores)


def test_the_docstrings_examples_run(losses):
    found = doctest.testmod(losses, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 8
    assert found.failed == 0


def test_all_rows_at_once_give_the_coefficients_of_the_library(capsys):
    """The code of the page on torch, as it stands there."""
    page = Path(__file__).parents[2].joinpath("docs", "torch.md").read_text(encoding="utf-8")
    code = page.partition("## All rows at once")[2].partition("```python\n")[2].partition("```")[0]
    exec(code, {})  # noqa: S102
    assert capsys.readouterr().out == "True\n"
