"""Your method against those of the papers: the same sets, splits and tuning, a table, and tests of it.

``PAPERS`` holds twelve sets of the papers and of related ones, ``SMALL`` three of them, for which results of
eight tuned methods come with the library. Both are a `Protocol`; `dataclasses.replace` makes others of them.
"""

from pushrank.benchmark.protocol import PAPERS as PAPERS
from pushrank.benchmark.protocol import SMALL as SMALL
from pushrank.benchmark.protocol import Protocol, run
from pushrank.benchmark.results import Results

__all__ = ["Protocol", "Results", "run"]
