"""Recording of a program that does not say so itself, below `trainscope run` or after `%load_ext trainscope`.

Once a framework is imported, its public hooks are observed: PyTorch's global hooks, callbacks of the others. The run
begins with the first model that is trained. A program that begins a run itself is left alone.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from trainscope import _current, _launch, _options
from trainscope._lost import text_of, warn

if TYPE_CHECKING:
    from trainscope.run import Run


MAX_NOTES = 16
"""Most folders of event files that are noted."""


class Recording:
    """The run of this process, which begins when something is to be recorded."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._run: Run | None = None
        self.is_over = False
        """Nothing will be recorded any more."""
        self.has_callback = False
        """A framework trains, whose callback records the steps."""
        self._notes: list[str] = []

    def is_here(self) -> bool:
        """True in the process that was observed first; forks of it record nothing."""
        return self._process == os.getpid()

    def run(self) -> Run | None:
        """The run, begun now if it is not. `None` if this process records nothing, now or at all."""
        if self.is_over or not self.is_here():
            return None
        if self._run is not None and self._run._is_finished:
            # The program has finished it, or begun another one.
            self.is_over, self._run = True, None
        elif self._run is None:
            self._run = self._begin()
        return self._run

    def has_run(self) -> bool:
        """True if the run has begun, and goes on."""
        return self._run is not None and self.run() is not None

    def records_losses(self) -> bool:
        """False if an adapter of a framework records them."""
        return self._run is None or all(watch._has_hooks for watch in self._run._watches)

    def _begin(self) -> Run | None:
        if _is_recorded_otherwise():
            self.is_over = True
            return None
        ranks = _ranks()
        if ranks is None:
            return None
        is_rank = bool(ranks) or _options.ranks_from_environment() is not None
        folder = _launch.folder_of_run(is_rank=is_rank)
        try:
            run = _current.start(folder, quiet=True, **ranks)
        except (OSError, ValueError) as error:
            self.is_over = True
            warn(None, f"nothing is recorded: {text_of(error)}")
            return None
        for text in self._notes:
            run.note(text)
        return run

    def note_folder(self, folder: str) -> None:
        """Notes, in the run or once it begins, that the program writes event files into a folder."""
        text = f"The program itself writes event files into {os.path.abspath(folder)}"
        if not folder or text in self._notes or len(self._notes) >= MAX_NOTES:
            return
        self._notes.append(text)
        if self.has_run() and self._run is not None:
            self._run.note(text)


def _is_recorded_otherwise() -> bool:
    """True if the program records without this module."""
    run = _current.current()
    if run is not None and not run._is_forked():
        return True
    watches = sys.modules.get("trainscope._torch_watches")
    return watches is not None and any(not watch._run._is_finished for watch in list(watches.OPEN))


def _ranks() -> dict[str, Any] | None:
    """Rank and number of ranks, if they are not in the environment. `None` in a child of multiprocessing that is no rank."""
    from trainscope._adapter import _ranks as of_group

    ranks = of_group()
    process = sys.modules.get("multiprocessing.process")
    is_child = _launch.is_child() or (process is not None and process.parent_process() is not None)
    return None if is_child and not ranks else ranks


recording = Recording()


def imported(name: str, module: Any) -> None:
    """Begins to observe a framework that was imported."""
    if name == "torch":
        from trainscope import _auto_torch

        _auto_torch.observe(recording)
    elif name.endswith(".writer"):
        from trainscope import _auto_frameworks

        _auto_frameworks.note_writers(module, recording)
    elif name != "jax":
        from trainscope import _auto_frameworks

        _auto_frameworks.observe(name, module, recording)
    _launch.tell(f"imported-{name}")


_is_observing = False


def observe_all() -> None:
    """Begins to observe frameworks: those that are imported, and those that will be."""
    global _is_observing
    if _is_observing:
        return
    _is_observing = True
    site = _site()
    for name in site.FRAMEWORKS:
        if name in sys.modules:
            site.tell(name, sys.modules[name])
    site.wait()


def observe_notebook() -> None:
    """Begins to observe the trainings of a notebook, and says where they are recorded."""
    os.environ.setdefault("TRAINSCOPE_OUT", os.path.abspath(_launch.default_folder("notebook")))
    observe_all()
    folder = os.environ["TRAINSCOPE_OUT"]
    sys.stderr.write(f"trainscope: trainings are recorded into {folder}; `trainscope start --summary-base-dir` shows them\n")


def site_folder() -> str:
    """Folder with `sitecustomize.py`, for `PYTHONPATH` of children."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "_site")


def _site() -> Any:
    """`sitecustomize.py`, without its part that begins to wait."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("trainscope._site", os.path.join(site_folder(), "sitecustomize.py"))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
