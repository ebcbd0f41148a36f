"""Whether a model in use finds the hits that are expected, by tests that may be looked at every day."""

from pushrank.monitoring.reference import Profile, Reference
from pushrank.monitoring.watching import Watch, watch

__all__ = ["Profile", "Reference", "Watch", "watch"]
