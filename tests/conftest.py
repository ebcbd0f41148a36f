"""Tests import the brute-force oracle as a module; property tests take few examples, and many at night."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("default", max_examples=40, deadline=None)
settings.register_profile("nightly", max_examples=500, deadline=None)
settings.load_profile("default")
