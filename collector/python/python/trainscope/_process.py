"""End of the process: runs are finished, and an exception that ends the program is recorded first."""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import weakref
from types import TracebackType
from typing import Any

from trainscope._lost import text_of

OPEN_RUNS: weakref.WeakSet[Any] = weakref.WeakSet()
"""Runs that may have to be ended with the process."""

_is_installed = False
_process = 0
"""Process in which multiprocessing ends the runs."""


def register(run: Any) -> None:
    """Finishes this run when the process ends, as failed after an uncaught exception."""
    global _is_installed, _process
    OPEN_RUNS.add(run)
    util = sys.modules.get("multiprocessing.util")
    if util is not None and _process != os.getpid():
        # Children of multiprocessing end without `atexit`, and show exceptions themselves.
        _process = os.getpid()
        util.Finalize(None, _finish_all, exitpriority=0)
    if _is_installed:
        return
    _is_installed = True
    atexit.register(_finish_all)
    before = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        _fail_all(error)
        before(kind, error, traceback)

    sys.excepthook = excepthook
    _register_in_notebook()


def _register_in_notebook() -> None:
    """IPython shows exceptions itself: `sys.excepthook` is not called for them."""
    if "IPython" not in sys.modules:
        return
    shell = importlib.import_module("IPython").get_ipython()
    if shell is not None:
        shell.events.register("post_run_cell", _after_cell)


def _after_cell(result: Any) -> None:
    error = getattr(result, "error_in_exec", None)
    if error is not None:
        for run in list(OPEN_RUNS):
            if not run._is_finished and not run._is_forked():
                run.note(f"A cell ended with {text_of(error)}")
                run.flush()


def _fail_all(error: BaseException) -> None:
    for run in list(OPEN_RUNS):
        if not run._is_finished:
            run._fail(error)


def _finish_all() -> None:
    error = sys.exc_info()[1]
    if error is not None:
        _fail_all(error)
    for run in list(OPEN_RUNS):
        if not run._is_finished and not run._is_forked():
            run.finish()
