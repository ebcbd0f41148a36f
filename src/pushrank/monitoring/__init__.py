"""Models in use: alerts as rows come, audits, duels of models, and whether hits are as expected."""

from pushrank.monitoring.alerts import AlertThreshold
from pushrank.monitoring.audits import draw_audit
from pushrank.monitoring.duel import Duel, ListDifference, Verdict, compare_lists
from pushrank.monitoring.reference import Profile, Reference
from pushrank.monitoring.spending import MovingList
from pushrank.monitoring.state import State
from pushrank.monitoring.watching import Watch, watch

__all__ = [
    "AlertThreshold", "Duel", "ListDifference", "MovingList", "Profile", "Reference", "State", "Verdict",
    "Watch", "compare_lists", "draw_audit", "watch",
]  # fmt: skip
