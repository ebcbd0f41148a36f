"""How are times kept free of the cost of memory that a virtual machine has taken back?

A call takes up to twice the time of its arithmetic if the virtual machine has taken back the pages that the
call before it freed. Scripts import this to keep freed pages with the process.
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
