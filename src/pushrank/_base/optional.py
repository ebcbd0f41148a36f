"""Packages that only parts of pushrank need."""

from importlib import import_module
from typing import Any


def import_optional(module: str, extra: str) -> Any:
    """Return a module that comes with an extra of pushrank."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except OSError as error:
        # A compiled package needs libraries of the system, such as libgomp, which slim images leave out.
        raise ImportError(f"{package} is installed, and cannot be loaded: {error}.", name=package) from error
    except ModuleNotFoundError as error:
        # The user can install a missing package. A module that an installed package lacks is another fault,
        # whose message must not be replaced.
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ImportError(
            f'{package} is not installed; get it with: pip install "pushrank[{extra}]".', name=package
        ) from error
