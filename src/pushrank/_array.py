"""Arrays of other libraries, on their device: the array API standard.

Code for both kinds of arrays takes its functions from here; compiled code is for NumPy's alone.
"""

from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np

from pushrank.user_types import Floats as Floats


def is_numpy(array: object) -> bool:
    """Return whether a value is a NumPy array, or no array at all."""
    return isinstance(array, np.ndarray) or not array_api_compat.is_array_api_obj(array)


def namespace(array: object) -> ModuleType:
    """Return the module with the functions for an array."""
    return np if is_numpy(array) else array_api_compat.array_namespace(array)


def to_host(array: Any) -> Floats:
    """Return a small array as a NumPy array."""
    # Only torch needs a copy on the host before the exchange by DLPack.
    if is_numpy(array):
        return np.asarray(array)
    on_cpu = array_api_compat.to_device(array, "cpu") if array_api_compat.is_torch_array(array) else array
    return np.asarray(np.from_dlpack(on_cpu))


def detached(array: Any) -> Any:
    """Return a tensor without automatic differentiation; other arrays are returned unchanged."""
    return array.detach() if array_api_compat.is_torch_array(array) else array


def like(values: Any, array: object, dtype: Any = None) -> Any:
    """Return values as an array of the library and on the device of another, float64 by default."""
    xp = namespace(array)
    dtype = xp.float64 if dtype is None else dtype
    if xp is np:
        return np.asarray(values, dtype=dtype)
    return xp.asarray(values, dtype=dtype, device=array_api_compat.device(array))


def positive_part(values: Any) -> Any:
    """Return ``max(values, 0)``."""
    if is_numpy(values):
        return np.maximum(values, 0.0)
    xp = namespace(values)
    return xp.where(values > 0.0, values, xp.zeros_like(values))
