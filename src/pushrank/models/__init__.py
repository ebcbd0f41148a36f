"""Models: parameters to scores, and gradients in scores back to gradients in parameters."""

from pushrank.models.linear import LinearModel

__all__ = ["LinearModel"]
