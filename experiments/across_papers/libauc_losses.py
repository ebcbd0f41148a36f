"""Losses of LibAUC for a linear score, where LibAUC is installed (its ``losses`` and ``optimizers``)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

INSTALLED = find_spec("libauc") is not None
N_STEPS, N_OF_EACH_CLASS = 300, 32


class LibAUCLinear(BaseEstimator):
    """A linear score under a loss of LibAUC and its optimiser, on batches of as many rows of each class.

    Parameters
    ----------
    loss, optimizer : str
        ``"APLoss"`` with ``"SOAP"``, ``"pAUC_DRO_Loss"`` with ``"SOPAs"``, at their defaults.
    lr : float
        The step size.
    """

    def __init__(self, loss: str, optimizer: str, lr: float = 0.03) -> None:
        self.loss, self.optimizer, self.lr = loss, optimizer, lr

    def fit(self, X: Any, y: Any) -> LibAUCLinear:
        """Take 300 steps from zero; the scores go through a sigmoid, as LibAUC's tutorials have it."""
        import libauc.losses
        import libauc.optimizers
        import torch

        rows = torch.as_tensor(np.asarray(X), dtype=torch.float32)
        score = torch.nn.Linear(rows.shape[1], 1)
        torch.nn.init.zeros_(score.weight)
        torch.nn.init.zeros_(score.bias)
        loss = getattr(libauc.losses, self.loss)(data_len=len(rows))
        step = getattr(libauc.optimizers, self.optimizer)(score.parameters(), lr=self.lr, verbose=False)
        rng = np.random.default_rng(0)
        classes = [np.flatnonzero(y == 1), np.flatnonzero(y != 1)]
        labels = torch.repeat_interleave(torch.tensor([1.0, 0.0]), N_OF_EACH_CLASS)
        for _ in range(N_STEPS):
            drawn = np.concatenate([rng.choice(of_class, N_OF_EACH_CLASS) for of_class in classes])
            step.zero_grad()
            loss(torch.sigmoid(score(rows[drawn])), labels, torch.as_tensor(drawn)).backward()
            step.step()
        self.coef_ = score.weight.detach().numpy().ravel().astype(float)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows, without the sigmoid."""
        return np.asarray(X) @ self.coef_
