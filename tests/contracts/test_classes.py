"""How the classes of estimators are written."""

import inspect

import pytest

from pushrank import estimators

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("name", estimators.__all__)
def test_every_paragraph_is_filled_in(name):
    ranker = getattr(estimators, name)
    for member in (ranker, *dict(inspect.getmembers(ranker, inspect.isfunction)).values()):
        assert "%(" not in (member.__doc__ or ""), member


@pytest.mark.parametrize("name", estimators.__all__)
def test_at_most_two_classes_of_ours_stand_above_an_estimator(name):
    above = [c for c in getattr(estimators, name).__mro__[1:] if c.__module__.startswith("pushrank")]
    assert len(above) <= 2, above


@pytest.mark.parametrize("name", estimators.__all__)
def test_every_method_is_written_in_the_class_that_has_it(name):
    """An editor finds it there: no function of elsewhere, or of another class, is assigned as a method."""
    for cls in getattr(estimators, name).__mro__:
        if cls.__module__.startswith("pushrank"):
            # From Python 3.13 on the standard library gives every dataclass a method of its own.
            methods = {
                key: value
                for key, value in vars(cls).items()
                if inspect.isfunction(value) and value.__module__ != "dataclasses"
            }
            names = {f"{cls.__name__}.{key}" for key in methods}
            assert {value.__qualname__ for value in methods.values()} == names
