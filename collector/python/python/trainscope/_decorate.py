"""Spans around functions, generator functions and coroutine functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainscope._native import Recorder


def decorate(
    recorder: Recorder, name: str, kind: str | None, lane: str | None, function: Callable[..., Any]
) -> Callable[..., Any]:
    """Returns a function that records a span from each call to its end; of generators, to the last item."""
    span = functools.partial(recorder.span, name, kind=kind, lane=lane)
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            with span():
                return await function(*args, **kwargs)

        return coroutine
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def generator(*args: Any, **kwargs: Any) -> Any:
            with span():
                return (yield from function(*args, **kwargs))

        return generator

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with span():
            return function(*args, **kwargs)

    return call
