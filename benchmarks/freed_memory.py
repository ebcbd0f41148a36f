"""Memory that is freed stays with the process, so that what is timed is the work.

Otherwise the same call takes the time of its arithmetic, or twice that, as a virtual machine has taken the
pages of the call before back or not.
"""

from __future__ import annotations

import ctypes
import platform

TRIM_THRESHOLD, MOST_MAPPINGS = -1, -4


def keep_freed_memory() -> None:
    """Have the C library of Linux give no memory back: all of it from one heap, which is never trimmed."""
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        if not (libc.mallopt(MOST_MAPPINGS, 0) and libc.mallopt(TRIM_THRESHOLD, 2**31 - 1)):
            raise RuntimeError("mallopt refused to keep freed memory.")
