"""Models: parameters to scores, and gradients in scores back to gradients in parameters."""

from pushrank.models.array_linear import ArrayLinearModel
from pushrank.models.base import Model
from pushrank.models.kernel import KernelModel
from pushrank.models.kernels import Kernel
from pushrank.models.linear import LinearModel

__all__ = ["ArrayLinearModel", "Kernel", "KernelModel", "LinearModel", "Model"]
