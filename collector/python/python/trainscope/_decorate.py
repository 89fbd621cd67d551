"""Spans around functions, generator functions and coroutine functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainscope._native import Recorder


def decorate(recorder: Recorder, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that records a span from each call to its end; of generators, to the last item."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            with recorder.span(name):
                return await function(*args, **kwargs)

        return coroutine
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def generator(*args: Any, **kwargs: Any) -> Any:
            with recorder.span(name):
                return (yield from function(*args, **kwargs))

        return generator

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with recorder.span(name):
            return function(*args, **kwargs)

    return call
