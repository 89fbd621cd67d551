"""Run of a framework's callback: a new one if it was given a folder, else the one started last."""

from __future__ import annotations

import atexit
import sys
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

from trainscope import _current
from trainscope._lost import warn
from trainscope.run import Run

if TYPE_CHECKING:
    import torch

    from trainscope.torch import Watch

Folder = str | PathLike[str] | None


def open_run() -> Run | None:
    """The run started last, if it is open in this process."""
    run = _current.current()
    return None if run is None or run._is_finished or run._is_forked() else run


class Adapter:
    """Part of a callback that holds the run it records into, from the beginning of a training to its end."""

    _folder: Folder = None
    _run: Run | None = None
    _is_own = False
    _watch: Watch | None = None

    def _open(self, **options: Any) -> Run | None:
        """Begins a run in the folder with `options` of `trainscope.start`, or takes the run started last.

        None, with a warning, if there is no run, or if the folder cannot be made: the training goes on without one. A
        run that this callback has begun and that is still open belongs to a training that was left by an exception; it
        ends as failed, as it does when the program ends before `_close`.
        """
        self._close("failure")
        if self._folder is None:
            run = _current.current()
            self._run = None if run is None or run._is_finished else run
            if self._run is None:
                warn(None, f"{type(self).__name__} has no run: give it a folder, or call trainscope.start before")
            return self._run
        try:
            self._run = _current.start(fspath(self._folder), **_ranks(), **options)
        except OSError as error:
            warn(None, f"{type(self).__name__} records nothing: {error}")
            return None
        self._is_own = True
        atexit.register(self._run.finish, "failure")
        return self._run

    def _close(self, status: Literal["success", "failure"] = "success") -> None:
        """Removes hooks, and ends a run that this callback has begun. One that was started elsewhere goes on, and stays
        known."""
        if self._run is not None and self._watch is not None:
            self._run.unwatch(self._watch.model)
            self._watch = None
        if self._run is not None and self._is_own:
            atexit.unregister(self._run.finish)
            self._run.finish(status)
            self._run, self._is_own = None, False

    def _begin_watch(self, run: Run, model: torch.nn.Module, options: dict[str, Any]) -> Watch:
        """Watches a model of torch by calls of the callback. The run closes it too, if it is finished before the
        training."""
        from trainscope.torch import Watch

        self._watch = Watch(run, model, hooks=False, **options)
        run._watches.append(self._watch)
        return self._watch

    def _count_invalid(self, message: str) -> None:
        """Error of `guarded` where there is no run to count it."""
        warn(None, message)


def _ranks() -> dict[str, Any]:
    """Rank and number of ranks of torch's process group; nothing without one: `start` then looks at the environment."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return {}
    return {"rank": distributed.get_rank(), "world_size": distributed.get_world_size()}
