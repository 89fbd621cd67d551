"""Replacement of a run or writer in a process that received it by pickle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from trainscope._lost import warn
from trainscope._steps import Steps

T = TypeVar("T")


class Elsewhere:
    """Replacement that takes every call, records nothing, and warns once."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._do_nothing

    def _do_nothing(self, *_args: Any, **_options: Any) -> Elsewhere:
        if not self.__dict__.get("_has_warned"):
            self._has_warned = True
            warn(
                None,
                f"{self._what} is that of another process, and nothing is recorded here: begin a run in this process, "
                "or return the values to that one",
            )
        return self

    def __call__(self, function: Any) -> Any:
        """The function itself, for `span` as a decorator."""
        return function

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *_exception: object) -> None:
        pass

    def steps(self, batches: Iterable[T], *, start: int | None = None) -> Steps[T]:
        """The batches."""
        self._do_nothing()
        return Steps(batches, iter(batches))
