"""Steps of a training: a context manager for one, an iterator over many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")


class Steps(Iterator[T]):
    """Batches, each in its step; `Run.steps` creates them."""

    def __init__(self, batches: Iterable[T], in_steps: Iterator[T]) -> None:
        self._batches = batches
        self._in_steps = in_steps

    def __iter__(self) -> Iterator[T]:
        # The loop holds the generator, which ends its step when the loop is left.
        return self._in_steps

    def __next__(self) -> T:
        return next(self._in_steps)

    def __len__(self) -> int:
        """Number of batches. Raises TypeError if they do not know it."""
        return len(self._batches)  # type: ignore[arg-type]


class Step(AbstractContextManager["Step"]):
    """A step of a training; `Run.step` creates one."""

    def __init__(self, run: Any, number: int) -> None:
        self._run = run
        self.number = number

    def __enter__(self) -> Step:
        run = self._run
        run._begin_step(self.number)
        for watch in run._watches:
            watch.begin(self.number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        number = self._run._open_step()
        if number is not None:
            self._run._next_step = number + 1
        if kind is None and self._run._has_gate("after_step"):
            self._run.gate()
        else:
            self._run._end_step()
