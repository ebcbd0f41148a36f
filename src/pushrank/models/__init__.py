"""Models: parameters to scores, and gradients in scores back to gradients in parameters."""

from pushrank.models.array_api import ArrayLinearModel, linear_model
from pushrank.models.kernel import Kernel, KernelModel
from pushrank.models.linear import LinearModel, Model

__all__ = ["ArrayLinearModel", "Kernel", "KernelModel", "LinearModel", "Model", "linear_model"]
