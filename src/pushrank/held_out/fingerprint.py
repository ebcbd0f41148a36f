"""A hash of models that is another one where their code or the packages that they come from are others."""

from __future__ import annotations

import dis
import inspect
import pickle
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import joblib
from joblib.hashing import NumpyHasher

INSTALLED = tuple(sysconfig.get_paths()[place] for place in ("stdlib", "platstdlib", "purelib", "platlib"))
# Rankers import some of these where they are fitted.
PACKAGES = ("pushrank", "scikit-learn", "numpy", "scipy", "pandas", "numba", "lightgbm", "xgboost")


class _Reader(NumpyHasher):  # type: ignore[misc]
    """joblib's hash, which notes the classes and functions that it names, but does not read."""

    def __init__(self) -> None:
        super().__init__()
        self.named: list[Any] = []

    def save_global(self, obj: Any, name: str | None = None) -> None:
        self.named.append(obj)
        super().save_global(obj, name)

    dispatch = NumpyHasher.dispatch | dict.fromkeys((type, FunctionType, BuiltinFunctionType), save_global)


def fingerprint(model: Any) -> str:
    """Return a hash of a model, of its users' code and what this code names, and of versions of packages."""
    reader = _Reader()
    key = reader.hash(model)
    code = list(_code_of(reader.named))
    loaded = {str(member.__module__).partition(".")[0] for member in reader.named}
    versions = {name: str(getattr(sys.modules.get(name), "__version__", "")) for name in sorted(loaded)}
    return str(joblib.hash((key, code, versions, [_version(name) for name in PACKAGES], sys.version)))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _code_of(named: Iterable[Any]) -> Iterator[Any]:
    """Yield what functions and classes do that no installed package defines, with all that they name.

    Compiled code is read in place of its source, which may have been edited since it was loaded.
    """
    left: list[Any] = list(named)
    seen: dict[int, Any] = {}
    while left:
        part = inspect.unwrap(left.pop())
        if id(part) in seen:
            continue
        seen[id(part)] = part
        if isinstance(part, CodeType):
            left += part.co_consts
            yield part.co_code, part.co_names
        elif isinstance(part, FunctionType) and not _is_installed(part.__module__):
            of_closure = [cell.cell_contents for cell in part.__closure__ or ()]
            left += [part.__code__, part.__defaults__, part.__kwdefaults__, *of_closure, *_named_in(part)]
        elif isinstance(part, type) and not _is_installed(part.__module__):
            functions = [value for value in vars(part).values() if isinstance(value, FunctionType)]
            # A class that has moved in its file is the same, and what its code writes is its state.
            passed_over = {"__firstlineno__", *chain.from_iterable(map(_written_by, functions))}
            left += part.__bases__
            left += [value for name, value in vars(part).items() if name not in passed_over]
            yield part.__qualname__
        elif isinstance(part, property):
            left += [part.fget, part.fset]
        elif isinstance(part, ModuleType | FunctionType | type):
            yield part.__name__
        else:
            try:
                reader = _Reader()
                yield reader.hash(part)
                left += reader.named
            except (pickle.PicklingError, TypeError, AttributeError):
                # What cannot be pickled, such as a lock or a descriptor, is known by its type.
                yield type(part).__qualname__


def _named_in(function: FunctionType) -> Iterator[Any]:
    """Yield the values of the global names in a function, and of names in modules of its users."""
    written = set(_written_by(function))
    names = [name for code in _nested(function.__code__) for name in code.co_names if name not in written]
    named = [function.__globals__[name] for name in names if name in function.__globals__]
    yield from named
    for module in named:
        if isinstance(module, ModuleType) and not _is_installed(module.__name__):
            yield from (vars(module)[name] for name in names if name in vars(module))


def _written_by(function: FunctionType) -> Iterator[str]:
    """Yield the names of attributes and global variables to which a function assigns values."""
    for line in chain.from_iterable(map(dis.get_instructions, _nested(function.__code__))):
        if line.opname in ("STORE_ATTR", "STORE_GLOBAL"):
            yield str(line.argval)


def _nested(code: CodeType) -> Iterator[CodeType]:
    """Yield the code and that of the functions in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _nested(inner)


def _is_installed(module: str) -> bool:
    """Return whether a module is part of Python or of an installed package."""
    if module == "__main__":
        return False
    path = getattr(sys.modules.get(module), "__file__", None)
    return path is None or module.partition(".")[0] == "pushrank" or path.startswith(INSTALLED)
