"""Early stopping of rounds and of passes: the scores of a validation part, and the best of them."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class EarlyStopping:
    """The scores of a validation part so far, the higher the better, and the index of the best."""

    validation: list[float] = field(default_factory=list)
    best_index: int = 0
    best_score: float = -np.inf

    @property
    def n_since_best(self) -> int:
        """How many scores have come since the best."""
        return len(self.validation) - 1 - self.best_index

    def add_validation(self, score: float) -> bool:
        """Add a score, and return whether it is the best so far, so that its model should be kept."""
        self.validation.append(score)
        # The first of equal scores is the best: it belongs to the simpler model.
        if score > self.best_score:
            self.best_index, self.best_score = len(self.validation) - 1, score
        return self.n_since_best == 0
