"""A hash of models that is another one where their code or the packages that they come from are others."""

import dis
import pickle
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, resolve_name
from itertools import chain, pairwise
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

    # The order of texts in a set is another one in each process.
    dispatch = NumpyHasher.dispatch | {frozenset: NumpyHasher.save_set}
    dispatch |= dict.fromkeys((type, FunctionType, BuiltinFunctionType), save_global)


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
    """Yield what functions and classes do that no installed package defines, with all that they name."""
    # Compiled code is read in place of its source, which may have been edited since it was loaded.
    left: list[Any] = list(named)
    seen: dict[int, tuple[int, Any]] = {}
    while left:
        part = left.pop()
        if id(part) in seen:
            # Which of the earlier parts a name stands for is part of the code.
            yield seen[id(part)][0]
            continue
        seen[id(part)] = len(seen), part
        if hasattr(part, "__wrapped__"):
            left.append(part.__wrapped__)
            # Caches and compiled functions of packages are what they wrap.
            if not isinstance(part, FunctionType | type) and _is_installed(type(part).__module__):
                continue
        if isinstance(part, CodeType):
            left += part.co_consts
            yield part.co_code, part.co_names
        elif isinstance(part, FunctionType) and not _is_installed(part.__module__):
            written = {*_written_by(part)}
            left += [part.__defaults__, part.__kwdefaults__]
            left += [value for name, value in vars(part).items() if name not in written]
            left += [cell.cell_contents for cell in part.__closure__ or ()]
            # A decorator of a package lends its function the module of the one that is decorated.
            if not _is_installed(part.__globals__.get("__name__")):
                left += [part.__code__, *_named_in(part)]
        elif isinstance(part, type) and not _is_installed(part.__module__):
            functions = [value for value in vars(part).values() if isinstance(value, FunctionType)]
            # A class that has moved in its file is the same, and what its code writes is its state.
            written = {"__firstlineno__", "__static_attributes__", *chain(*map(_written_by, functions))}
            kept = {name: value for name, value in vars(part).items() if name not in written}
            left += [type(part), *part.__bases__, *kept.values()]
            yield part.__qualname__, *kept
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
                # What cannot be pickled, such as a lock or a list of lambdas, is known by type and contents.
                yield type(part).__qualname__
                left += [type(part), *_contents(part)]


def _contents(part: Any) -> Iterator[Any]:
    """Yield what a container or another object holds."""
    if isinstance(part, Mapping):
        yield from chain(part, part.values())
    elif isinstance(part, list | tuple):
        yield from part
    else:
        with suppress(pickle.PicklingError, TypeError, AttributeError):
            yield from part.__reduce_ex__(2)[1:]


def _named_in(function: FunctionType) -> Iterator[Any]:
    """Yield the values of the global names in a function, and of names in modules of its users."""
    written = set(_written_by(function))
    names = dict.fromkeys(chain.from_iterable(code.co_names for code in _nested(function.__code__)))
    spaces, modules = [function.__globals__], [*_imported_by(function)]
    for space in spaces:
        named = [space[name] for name in names if name in space and name not in written]
        yield from named
        modules += [value for value in named if isinstance(value, ModuleType)]
        found = [vars(module) for module in modules if not _is_installed(module.__name__)]
        spaces += [inner for inner in found if not any(inner is space for space in spaces)]


def _imported_by(function: FunctionType) -> Iterator[ModuleType]:
    """Yield the modules of its users that a function imports when it is called."""
    for code in _nested(function.__code__):
        lines = list(dis.get_instructions(code))
        for level, parts, line in zip(lines, lines[1:], lines[2:], strict=False):
            if line.opname != "IMPORT_NAME":
                continue
            # Parts that are imported from a package may be its modules.
            for part in ("", *(parts.argval or ())):
                with suppress(ImportError):
                    name = "." * level.argval + line.argval + ("." if line.argval and part else "") + part
                    name = resolve_name(name, function.__globals__.get("__package__"))
                    if not _is_installed(name):
                        yield import_module(name)


def _written_by(function: FunctionType) -> Iterator[str]:
    """Yield the names of attributes and global variables to which a function assigns values."""
    # What it assigns to an attribute of `self` leaves that of the class as it is.
    for before, line in pairwise(chain.from_iterable(map(dis.get_instructions, _nested(function.__code__)))):
        of_self = line.opname == "STORE_ATTR" and before.argrepr.split(", ")[-1] == "self"
        if line.opname in ("STORE_ATTR", "STORE_GLOBAL") and not of_self:
            yield str(line.argval)


def _nested(code: CodeType) -> Iterator[CodeType]:
    """Yield the code and that of the functions in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _nested(inner)


def _is_installed(module: str | None) -> bool:
    """Return whether a module is part of Python or of an installed package."""
    if module == "__main__":
        return False
    package = str(module).partition(".")[0]
    loaded = sys.modules.get(str(module), sys.modules.get(package))
    found = find_spec(package) if loaded is None else loaded
    names = ("origin", "submodule_search_locations") if loaded is None else ("__file__", "__path__")
    file, folders = (getattr(found, name, None) for name in names)
    # A folder without __init__.py has no file.
    path = file or next(iter(folders or ()), None)
    return path is None or package == "pushrank" or path.startswith(INSTALLED)
