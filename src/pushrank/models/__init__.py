"""Models: parameters to scores, and gradients in scores back to gradients in parameters."""

from pushrank.models.kernel import Kernel, KernelModel
from pushrank.models.linear import LinearModel, Model, linear_scores
from pushrank.models.row_space import RowSpace, in_row_space, linear_model

__all__ = ["Kernel", "KernelModel", "LinearModel", "Model", "RowSpace", "in_row_space",
           "linear_model", "linear_scores"]  # fmt: skip
