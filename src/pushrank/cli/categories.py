"""Text columns as codes: one for each of the most frequent values, and one for all the others."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

MOST_CATEGORIES = 100
"""The most one-hot columns of a text column: its rarest values share the last of them."""
MISSING = "(missing)"
UNKNOWN = -1


class Categories(TransformerMixin, BaseEstimator):
    """Turn the texts of every column into codes, the rarest into one where there are more than 100.

    Values that were not fitted are -1, or as the rarest where these have a code. A missing value counts as a
    text of its own. Of equally frequent texts those later in the alphabet are kept. All that is kept of the
    texts that share a code is a hash each, by which they are known again.

    Attributes
    ----------
    kept_ : list of list of str
        The texts of every column that have a code of their own, in the order of the codes.
    known_ : list of ndarray of uint64
        The hashes of all its texts, sorted.
    """

    kept_: list[list[str]]
    known_: list[NDArray[np.uint64]]

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:  # noqa: ARG002
        """Count the texts."""
        self.kept_, self.known_ = [], []
        for name in X:
            counts = X[name].fillna(MISSING).value_counts().sort_index().sort_values(kind="stable")
            n_pooled = len(counts) - MOST_CATEGORIES + 1 if len(counts) > MOST_CATEGORIES else 0
            self.kept_.append(sorted(counts.index[n_pooled:]))
            self.known_.append(np.sort(_hashes(counts.index)))
        return self

    def transform(self, X: pd.DataFrame) -> NDArray[np.int64]:
        """Return the codes."""
        codes = np.empty(X.shape, dtype=np.int64)
        for place, name in enumerate(X):
            kept = self.kept_[place]
            code = pd.Index(kept, dtype=object).get_indexer(X[name].fillna(MISSING))
            if len(self.known_[place]) > len(kept):
                code[code == UNKNOWN] = len(kept)
            codes[:, place] = code
        return codes

    def is_known(self, place: int, texts: pd.Series) -> NDArray[np.bool_]:
        """Return which texts of a column were fitted."""
        codes, values = pd.factorize(texts)
        is_known: NDArray[np.bool_] = np.isin(_hashes(values), self.known_[place])[codes]
        return is_known


def _hashes(texts: Any) -> NDArray[np.uint64]:
    digests = (blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest() for text in texts)
    return np.fromiter((int.from_bytes(digest) for digest in digests), dtype=np.uint64, count=len(texts))
