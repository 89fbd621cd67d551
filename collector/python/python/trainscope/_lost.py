"""Errors of recording: counted and warned of once for each place of the program, never raised."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from trainscope._native import Recorder

P = ParamSpec("P")
T = TypeVar("T")

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

MAX_PLACES = 256
"""Most places of a program that are remembered and warned of."""


class TrainscopeWarning(UserWarning):
    """Something could not be recorded. The training is not affected."""


def caller() -> tuple[str, int]:
    """File and line of the innermost frame outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


_places: dict[tuple[str, int], str] = {}
"""Places that were warned of where no run could remember them."""


def warn(recorder: Recorder | None, reason: str) -> None:
    """Warns with file and line of the caller, once for each place of the program."""
    file, line = caller()
    places: dict[tuple[str, int], str] = getattr(recorder, "_lost_places", _places)
    if (file, line) in places or len(places) >= MAX_PLACES:
        return
    places[file, line] = reason
    try:
        warnings.warn_explicit(f"trainscope: {reason}", TrainscopeWarning, file, line, registry={})
    except TrainscopeWarning:
        # `python -W error`: recording raises nothing into a training.
        pass


def text_of(error: BaseException) -> str:
    """Type and text of an exception, whose own `__str__` may fail."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return f"{type(error).__name__}, whose text cannot be read"


def guarded(method: Callable[P, T]) -> Callable[P, T]:
    """Counts an `Exception` of a method as a lost record instead of raising it; the result is then `None`.

    The method belongs to a recorder, or to an object whose `_run` is one. With `strict` the exception is raised.
    """

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except Exception as error:
            owner: Any = args[0]
            recorder = getattr(owner, "_run", None) or owner
            if getattr(recorder, "_is_strict", False):
                raise
            recorder._count_invalid(f"{method.__name__}: {text_of(error)}")
            return None  # type: ignore[return-value]

    return call
