"""What can be proved about a ranking: margins and their bounds."""

from pushrank.theory.max_margin import MaxMargin, max_margin, weak_ranker_matrix

__all__ = ["MaxMargin", "max_margin", "weak_ranker_matrix"]
