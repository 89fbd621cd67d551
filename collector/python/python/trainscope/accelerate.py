"""Tracker for Hugging Face's Accelerate: `Accelerator(log_with="trainscope")`, once this module is imported.

Tried with accelerate 1.15; one without `register_tracker_class` takes an object, `log_with=TrainscopeTracker("name")`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from trainscope import Run
from trainscope._adapter import Adapter, Folder, open_run

_tracking: Any = importlib.import_module("accelerate.tracking")


class TrainscopeTracker(_tracking.GeneralTracker):  # type: ignore[misc]
    """Records what `accelerator.log` gets, and the configuration as hyper-parameters.

    It records into the run that is open, and else begins one, which `accelerator.end_training()` ends. `tracker` is
    the run: `accelerator.get_tracker("trainscope", unwrap=True).watch(model, optimizer)`.

    `accelerator.init_trackers("mnist", config, init_kwargs={"trainscope": {"folder": "runs/1"}})`
    """

    name = "trainscope"
    requires_logging_directory = False

    def __init__(self, project_name: str = "accelerate", folder: Folder = None, **start: Any) -> None:
        """`folder`: the run, `runs/<project_name>` by default. `start`: further arguments of `trainscope.start`."""
        super().__init__()
        self._owner = Adapter()
        self._folder = folder
        self._project = project_name
        self._options = start

    @property
    def tracker(self) -> Run | None:
        """The run, begun now if it is not open; None if the folder cannot be made."""
        run = self._owner._run
        if run is not None and not run._is_finished:
            return run
        is_given = self._folder is not None
        self._owner._folder = None if not is_given and open_run() else self._folder or os.path.join("runs", self._project)
        return self._owner._open(**self._options)

    def start(self) -> None:
        """Begins the run."""
        self.tracker  # noqa: B018

    def store_init_configuration(self, values: Mapping[str, Any]) -> None:
        """Records hyper-parameters."""
        if run := self.tracker:
            run.hparams(values)

    def log(self, values: Mapping[str, Any], step: int | None = None, **kwargs: Any) -> None:
        """Records numbers of one moment as one event, and texts."""
        if run := self.tracker:
            texts = {name: value for name, value in values.items() if isinstance(value, str)}
            run.log({name: value for name, value in values.items() if name not in texts}, step)
            for name, text in texts.items():
                run.text(name, text, step)

    def log_images(self, values: Mapping[str, Any], step: int | None = None, **kwargs: Any) -> None:
        """Records images: each value is one, or several of one size."""
        if run := self.tracker:
            for name, images in values.items():
                run.image(name, images, step)

    def finish(self) -> None:
        """Ends a run of its own."""
        self._owner._close()


def _register() -> None:
    register = getattr(_tracking, "register_tracker_class", None)
    known = getattr(_tracking, "LOGGER_TYPE_TO_CLASS", {})
    if register is not None and known.get(TrainscopeTracker.name) is not TrainscopeTracker:
        register(TrainscopeTracker)


_register()
