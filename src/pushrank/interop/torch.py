"""Losses for networks of torch that look at the top of the list, each the objective of a batch's scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrank._base.docstrings import shared_docs_from
from pushrank._base.numeric import Floats
from pushrank._base.optional import import_optional
from pushrank._base.validation import check_number, checked_weights
from pushrank.objectives import PartialAUC, PrecisionAtK, PushObjective
from pushrank.objectives.evaluation import ObjectiveEvaluation
from pushrank.objectives.precision_at_k import Surrogate
from pushrank.objectives.push import Side
from pushrank.pairs import BipartiteSample, Sample
from pushrank.prices import LogOnePlus, Power
from pushrank.solvers.smoothing import SmoothedObjective

if TYPE_CHECKING:
    from torch import Tensor
    from torch.autograd.function import FunctionCtx

torch = import_optional("torch", "torch")
OneClass = Literal["zero", "raise"]
Objective = PushObjective | PartialAUC | PrecisionAtK
Function: Any = torch.autograd.Function
Module: Any = torch.nn.Module

__all__ = ["IRPushLoss", "InfinitePushLoss", "PNormPushLoss", "PrecisionAtKLoss", "RankingLoss"]

PARAGRAPHS = {
    "memory_and_one_class": """memory : int, default=0
    How many rows of past batches to keep, scores and labels, so that small batches are compared with enough
    rows of both classes. In training the objective is that of the batch and the remembered rows, as if the
    network had not changed since it scored them. The gradient of the batch's rows is scaled by the weight of
    all these rows over that of the batch: it estimates the gradient over as many rows. In ``eval`` mode the
    memory is neither used nor filled; it is no part of ``state_dict``.
one_class : {"zero", "raise"}, default="zero"
    What to do with a batch that, memory included, has no positive or no negative: return a loss and gradients
    of zero, or raise a ValueError.""",
    "raises": """Raises
------
TypeError
    When a parameter is no number.
ValueError
    When a parameter is out of range.""",
    "forward": """Where a class is missing, the loss and its gradients are zero, or it is an error, by
``one_class``.

Parameters
----------
scores : Tensor of shape (n,) or (n, 1)
    The network's scores before any link, of any floating type, on any device.
labels : Tensor of shape (n,) or (n, 1)
    1 for a positive; 0 or -1 for a negative. Booleans will do.
weight : Tensor of shape (n,) or (n, 1), optional
    Finite, non-negative sample weights; an integer weight equals that many copies. They are constants.

Returns
-------
Tensor
    The loss, a scalar of the scores' type, of at least float32.

Raises
------
TypeError
    When an argument is no dense tensor of real numbers.
ValueError
    When a score or weight is not finite, labels have other values, shapes differ, or the loss or its
    gradient overflows the type of the scores.""",
}
shared_docs = shared_docs_from(PARAGRAPHS)


class Batch(NamedTuple):
    """Scores, classes and weights of rows, on the host."""

    scores: NDArray[Any]
    is_positive: NDArray[Any]
    weights: NDArray[Any]


NO_ROWS = Batch(np.empty(0), np.empty(0, dtype=bool), np.empty(0))


def to_host(values: Tensor, name: str) -> Floats:
    """Return a tensor as a vector in double precision."""
    if not isinstance(values, torch.Tensor) or values.is_complex():
        raise TypeError(f"{name} must be a tensor of real numbers, got {values!r}.")
    if values.ndim not in (1, 2) or values.shape[1:] not in ((), (1,)):
        raise ValueError(f"{name} must have the shape (n,) or (n, 1), got {tuple(values.shape)}.")
    try:
        # Values go to the processor before they become float64, which not every device has.
        floats: Floats = values.detach().cpu().double().reshape(-1).numpy()
    except RuntimeError as error:
        raise TypeError(
            f"{name} must be a dense tensor whose values can be read, not one that is sparse, meta or traced "
            f"by torch.func or vectorize=True ({error}). Take derivatives by torch.autograd."
        ) from error
    return floats


def checked_batch(scores: Tensor, labels: Tensor, weight: Tensor | None) -> Batch:
    """Return the arguments of :meth:`RankingLoss.forward`, checked."""
    values, classes = to_host(scores, "scores"), to_host(labels, "labels")
    if len(classes) != len(values):
        raise ValueError(f"labels has {len(classes)} rows but scores has {len(values)}; they must agree.")
    if not np.isfinite(values).all():
        raise ValueError("scores contain NaN or infinity.")
    is_positive = classes == 1.0
    if not (is_positive | (classes == 0.0)).all() and not (is_positive | (classes == -1.0)).all():
        raise ValueError(f"labels must be 0 and 1, or -1 and 1, found {np.unique(classes)[:5].tolist()}.")
    if weight is None:
        return Batch(values, is_positive, np.ones(len(values)))
    return Batch(values, is_positive, checked_weights(to_host(weight, "weight"), len(values), "weight"))


class BatchEvaluation:
    """An objective at the scores of a batch, the first ``n_batch`` of ``rows``; others are constants."""

    # All derivatives are multiplied by `factor`; a value or gradient above `largest` is an overflow.

    def __init__(self, objective: Any, rows: Batch, n_batch: int, factor: float, largest: float) -> None:
        self._objective, self._n_batch, self._factor = objective, n_batch, factor
        self._sample = BipartiteSample.from_mask(rows.is_positive, rows.weights)
        # An overflow is an error below, whose message says what to do.
        with np.errstate(over="ignore", invalid="ignore"):
            at_point = objective.evaluation(self._sample, rows.scores)
            if isinstance(objective, PushObjective):
                self._at_point = at_point
                self.value, gradient = at_point.value, self._sample.scatter(*at_point.gradient())
            else:
                self.value, gradient = at_point
            self.gradient: Floats = factor * gradient[:n_batch]
        if not max(abs(self.value), np.abs(self.gradient).max()) <= largest:
            raise ValueError(f"{objective} overflows; use scale='log' or 'mean', or smaller scores.")

    def hessian_product(self, direction: Floats) -> Floats:
        """Return the Hessian times a direction of the batch's scores."""
        if not getattr(self._objective, "twice_differentiable", False):
            raise RuntimeError(f"{self._objective} has kinks, and with them no second derivative.")
        whole = np.zeros(self._sample.n_rows)
        whole[: self._n_batch] = direction
        product = self._sample.scatter(*self._at_point.hessian_product(self._sample.gather(whole)))
        return np.asarray(self._factor * product[: self._n_batch])


class _Value(Function):
    """The value, whose gradient was computed together with it."""

    @staticmethod
    def forward(ctx: FunctionCtx, scores: Tensor, at_batch: BatchEvaluation) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.at_batch = at_batch
        return scores.new_tensor(at_batch.value)

    @staticmethod
    def backward(ctx: FunctionCtx, value_gradient: Tensor) -> Tensor:
        return value_gradient * _Gradient.apply(*ctx.saved_tensors, ctx.at_batch), None


class _Gradient(Function):
    """The gradient, whose derivative is the Hessian."""

    @staticmethod
    def forward(ctx: FunctionCtx, scores: Tensor, at_batch: BatchEvaluation) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.at_batch = at_batch
        return torch.from_numpy(at_batch.gradient).to(scores)

    @staticmethod
    def backward(ctx: FunctionCtx, direction: Tensor) -> Tensor:
        scores = _NoThirdDerivative.apply(*ctx.saved_tensors)
        return _HessianProduct.apply(scores, direction, ctx.at_batch), None


class _HessianProduct(Function):
    """The Hessian times a direction, linear in it."""

    @staticmethod
    def forward(ctx: FunctionCtx, scores: Tensor, direction: Tensor, at_batch: BatchEvaluation) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.at_batch = at_batch
        product = at_batch.hessian_product(to_host(direction, "direction"))
        return torch.from_numpy(product).to(direction)

    @staticmethod
    def backward(ctx: FunctionCtx, product_gradient: Tensor) -> Tensor:
        return None, _HessianProduct.apply(*ctx.saved_tensors, product_gradient, ctx.at_batch), None


class _NoThirdDerivative(Function):
    """The scores, with an error in place of a derivative, which torch would otherwise take for zero."""

    @staticmethod
    def forward(_ctx: FunctionCtx, scores: Tensor) -> Tensor:
        return scores.view_as(scores)

    @staticmethod
    def backward(_ctx: FunctionCtx, _scores_gradient: Tensor) -> Tensor:
        raise RuntimeError("losses for the top of the list have no third derivative.")


@shared_docs
class RankingLoss(Module):
    r"""Any objective of the scores as a loss of torch: any pair loss under any price, or a surrogate at k.

    With a pair loss :math:`\ell` and a price g, on a batch's scores s of positives and t of negatives, it is

    .. math:: \sum_k g\Bigl(\sum_i \ell(s_i - t_k)\Bigr) ,

    on the scale and the side of the objective.

    Value and gradient are those of the objective's ``evaluate``, exact on the batch, in time linear in its
    rows or that of sorting them, never pair by pair. They are computed on the processor in double precision,
    whatever the device and type of the scores, also under ``autocast``; each way one number a row is moved.
    Gradients of gradients exist where the objective is twice differentiable, and the Hessian is then exact;
    third derivatives, forward mode and the transforms of ``torch.func`` are refused. ``torch.compile``
    compiles the network and not the loss, so that ``fullgraph=True`` is an error. In data-parallel training
    each process ranks its own batch. Rudin, JMLR 10 (2009), sections 2 and 7.

    Parameters
    ----------
    objective : PushObjective, PartialAUC or PrecisionAtK
        What to minimise. With the scale ``"log"`` a ``PushObjective`` stays finite for every p; with
        ``"mean"`` it depends little on the size of a batch.
    %(memory_and_one_class)s

    Raises
    ------
    TypeError
        When the objective is no objective, or the memory is no whole number.
    ValueError
        When the memory is negative, or ``one_class`` has another value.

    Examples
    --------
    >>> scores = torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
    >>> loss = RankingLoss(PushObjective("logistic", scale="mean"))
    >>> value = loss(scores, torch.tensor([0, 1, 1]))
    >>> value.backward()
    >>> scores.grad
    tensor([ 0.2800, -0.1888, -0.0912])
    """

    def __init__(self, objective: Objective, *, memory: int = 0, one_class: OneClass = "zero") -> None:
        super().__init__()
        if not isinstance(objective, Objective):
            raise TypeError(
                f"objective must be a PushObjective, PartialAUC or PrecisionAtK, got {objective!r}."
            )
        check_number("memory", memory, 0, integer=True)
        if one_class not in ("zero", "raise"):
            raise ValueError(f"one_class must be 'zero' or 'raise', got {one_class!r}.")
        self.objective, self.memory, self.one_class = objective, memory, one_class
        self._past = NO_ROWS

    @torch.compiler.disable
    def forward(self, scores: Tensor, labels: Tensor, weight: Tensor | None = None) -> Tensor:
        """Return the loss of a batch.

        %(forward)s
        """
        batch = checked_batch(scores, labels, weight)
        rows = batch
        if self.training:
            rows = Batch(*map(np.concatenate, zip(batch, self._past, strict=True)))
        scores = scores.reshape(-1)
        # Half precision has too few digits for a loss, and sums over pairs overflow in it.
        scores = scores if scores.dtype == torch.float64 else scores.float()
        batch_weight = float(batch.weights.sum())
        counted = rows.is_positive[rows.weights > 0.0]
        if batch_weight == 0.0 or counted.all() or not counted.any():
            if self.one_class == "raise":
                raise ValueError(
                    f"a batch of {len(batch.scores)} rows lacks positives or negatives: draw batches by "
                    "class, make them larger, give the loss a memory, or pass one_class='zero'."
                )
            # This zero is a function of the scores, so that ``backward`` works as after any other batch.
            value = (0.0 * scores).sum()
        else:
            # The gradient of the batch's rows stands for that of the remembered rows, which are constants.
            factor = float(rows.weights.sum()) / batch_weight
            largest = torch.finfo(scores.dtype).max
            at_batch = BatchEvaluation(self.objective, rows, len(batch.scores), factor, largest)
            value = _Value.apply(scores, at_batch)
        # The memory is filled last, so that a batch that raised is not in it; its newest rows come first.
        if self.training:
            self._past = Batch(*(values[: self.memory] for values in rows))
        return value

    def extra_repr(self) -> str:
        """Return the parameters, for ``print``."""
        return f"{self.objective}, memory={self.memory}, one_class={self.one_class!r}"


@shared_docs
class PNormPushLoss(RankingLoss):
    r"""The P-Norm Push as a loss: the worst-placed negatives of a batch are pushed down.

    On the scores s of the positives and t of the negatives

    .. math:: \frac{1}{p} \ln \sum_k \Bigl(\sum_i e^{-(s_i - t_k)}\Bigr)^p
        = \ln \sum_i e^{-s_i} + \frac{1}{p} \ln \sum_k e^{p t_k} .

    Linear in the rows, finite for any p and scores. Rudin, JMLR 10 (2009). See :class:`RankingLoss`.

    Parameters
    ----------
    p : float, default=4.0
        The power, at least 1, which is RankBoost's; the larger, the more the highest negatives count.
    side : {"push", "pull", "both"}, default="push"
        Push negatives down, pull the worst-placed positives up, or both.
    bottom_weight : float, default=1.0
        The weight of the pull when ``side="both"``.
    %(memory_and_one_class raises)s

    Examples
    --------
    >>> loss = PNormPushLoss(p=64)
    >>> round(loss(torch.tensor([0.0, 900.0, 1.0]), torch.tensor([0, 0, 1])).item(), 3)
    899.0
    """

    def __init__(
        self,
        p: float = 4.0,
        side: Side = "push",
        bottom_weight: float = 1.0,
        *,
        memory: int = 0,
        one_class: OneClass = "zero",
    ) -> None:
        objective = PushObjective("exponential", Power(p), side, "log", bottom_weight)
        super().__init__(objective, memory=memory, one_class=one_class)


@shared_docs
class IRPushLoss(RankingLoss):
    r"""The IR Push as a loss: a positive counts the more, the nearer it is to the top.

    On the scores s of the m positives of a batch and t of the negatives

    .. math:: \frac{1}{m} \sum_i \ln\Bigl(1 + \sum_k e^{t_k - s_i}\Bigr) .

    Linear in the rows, finite for any scores. It gives up on hopeless positives, such as outliers and wrong
    labels. Rudin, JMLR 10 (2009), section 7. See :class:`RankingLoss`.

    Parameters
    ----------
    %(memory_and_one_class)s

    Examples
    --------
    >>> round(IRPushLoss()(torch.tensor([0.0, 0.0, 0.0]), torch.tensor([0, 0, 1])).item(), 4)
    1.0986
    """

    def __init__(self, *, memory: int = 0, one_class: OneClass = "zero") -> None:
        objective = PushObjective("exponential", LogOnePlus(), "pull", "mean")
        super().__init__(objective, memory=memory, one_class=one_class)


@dataclass(frozen=True)
class SoftInfinitePush(PushObjective):
    """The mean hinge of the worst negative, its kinks rounded off and its maximum softened."""

    loss: str = "hinge"
    price: str = "maximum"
    scale: Literal["raw", "log", "mean"] = "mean"
    temperature: float = 0.1

    def evaluation(self, sample: Sample, scores: Floats) -> ObjectiveEvaluation:
        """Return the objective at these scores."""
        kinked, width = PushObjective(self.loss, self.price, scale="mean"), self.temperature
        return SmoothedObjective(kinked, sample, width, width).evaluation(sample, scores)


@shared_docs
class InfinitePushLoss(RankingLoss):
    r"""The Infinite Push as a smooth loss: only the highest negative of a batch counts.

    On the scores s of the m positives and t of the n negatives

    .. math:: \tau \ln \frac{1}{n} \sum_k e^{h_k / \tau}, \qquad
        h_k = \frac{1}{m} \sum_i [1 - (s_i - t_k)]_+ ,

    with the kink of the hinge replaced by a parabola of the width :math:`\tau`. As :math:`\tau` falls to zero
    this becomes the Infinite Push, :math:`\max_k h_k`. O(n log n). See :class:`RankingLoss`. Agarwal, SDM
    2011; Nesterov, *Smooth minimization of non-smooth functions*, Math. Programming 103 (2005).

    Parameters
    ----------
    temperature : float, default=0.1
        The positive :math:`\tau`, in units of the scores. At a low one few negatives have a gradient.
    %(memory_and_one_class raises)s

    Examples
    --------
    >>> round(InfinitePushLoss(1e-4)(torch.tensor([0.0, 2.0, 0.5]), torch.tensor([0, 0, 1])).item(), 3)
    2.5
    """

    def __init__(self, temperature: float = 0.1, *, memory: int = 0, one_class: OneClass = "zero") -> None:
        check_number("temperature", temperature, above=0.0)
        super().__init__(SoftInfinitePush(temperature=temperature), memory=memory, one_class=one_class)


@dataclass(frozen=True)
class MeanPrecisionAtK(PrecisionAtK):
    """A surrogate of precision at k for each of the k rows."""

    def evaluation(self, sample: Sample, scores: Floats) -> tuple[float, Floats]:
        """Return value and subgradient."""
        value, slope = super().evaluation(sample, scores)
        k = self.count(sample.class_weights[0])
        return value / k, slope / k


@shared_docs
class PrecisionAtKLoss(RankingLoss):
    r"""A surrogate of one minus the precision at k as a loss: a surrogate of ``PrecisionAtK`` over k.

    O(n + k log k). The gradient is a subgradient where the surrogate has kinks, and there are no second
    derivatives. Kar, Narasimhan and Jain, ICML 2015, equations (3) to (7). See :class:`RankingLoss`.

    Parameters
    ----------
    k : int or float, default=0.25
        A float in (0, 1] is a fraction of the positives of each batch with its memory, halves rounded to
        even; an int is a number of rows, and a batch with fewer positives is an error.
    surrogate : {"avg", "max", "ramp", "struct"}, default="avg"
        The surrogate. ``"avg"`` and ``"max"`` are convex in the scores and bound the share of negatives among
        the first k from above; ``"ramp"`` is the tightest bound, and gives up on hopeless positives;
        ``"struct"`` is no bound, and is unbounded below.
    %(memory_and_one_class raises)s

    Examples
    --------
    >>> scores = torch.tensor([3.0, 2.5, 1.0, 0.0], requires_grad=True)
    >>> PrecisionAtKLoss(2, "max")(scores, torch.tensor([1, 0, 1, 0])).backward()
    >>> scores.grad
    tensor([ 0.0000,  0.5000, -0.5000,  0.0000])
    """

    def __init__(
        self, k: float = 0.25, surrogate: Surrogate = "avg", *, memory: int = 0, one_class: OneClass = "zero"
    ) -> None:
        super().__init__(MeanPrecisionAtK(k, surrogate), memory=memory, one_class=one_class)
