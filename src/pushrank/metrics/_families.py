"""The metrics of all families, in the order in which tables show them."""

from pushrank.metrics import discounted, early_recognition, net_benefit, pairwise, precision, roc
from pushrank.metrics._registry import METRICS, MetricSpec

FAMILIES = (precision, roc, early_recognition, discounted, pairwise, net_benefit)


def metrics_in_order() -> list[MetricSpec]:
    """Return the metrics family by family, each in the order of its file."""
    names = [family.__name__ for family in FAMILIES]
    return sorted(METRICS.values(), key=lambda spec: names.index(spec.family))
