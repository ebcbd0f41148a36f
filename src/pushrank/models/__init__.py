"""Models: parameters to scores, and gradients in scores back to gradients in parameters."""

from pushrank.models.array_api import ArrayLinearModel, linear_scores
from pushrank.models.kernel import Kernel, KernelModel
from pushrank.models.linear import LinearModel, Model
from pushrank.models.row_space import RowSpace, in_row_space, linear_model

__all__ = ["ArrayLinearModel", "Kernel", "KernelModel", "LinearModel", "Model", "RowSpace", "in_row_space",
           "linear_model", "linear_scores"]  # fmt: skip
