"""Attaches the callbacks of this package to the trainings of frameworks that have callbacks."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from trainscope._lost import text_of, warn

if TYPE_CHECKING:
    from trainscope._auto import Recording


class _Training(NamedTuple):
    """A method that trains."""

    owner: str
    method: str
    adapter: str
    """Module of this package with a `TrainscopeCallback`."""
    holder: str
    """Attribute of the object, through which its callbacks are found; "" if they are an argument."""


_TRAININGS = {
    "keras": _Training("Model", "fit", "keras", ""),
    "mindspore": _Training("Model", "train", "mindspore", ""),
    "transformers.trainer": _Training("Trainer", "train", "huggingface", "callback_handler.callbacks"),
    "lightning.pytorch": _Training("Trainer", "fit", "lightning", "callbacks"),
    "pytorch_lightning": _Training("Trainer", "fit", "lightning", "callbacks"),
}


def observe(name: str, module: Any, recording: Recording) -> None:
    """Begins to attach a callback to each training of a framework that was imported."""
    training = _TRAININGS[name]
    owner = getattr(module, training.owner)
    original = getattr(owner, training.method)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = None
        try:
            if not recording.is_over and recording.is_here():
                bound = inspect.signature(original).bind(*args, **kwargs)
                _add(training, args[0], bound.arguments, recording)
        except Exception as error:
            # Wrong arguments are those of the call, which says so.
            warn(None, f"{training.method} is not recorded: {text_of(error)}")
            bound = None
        return original(*args, **kwargs) if bound is None else original(*bound.args, **bound.kwargs)

    setattr(owner, training.method, call)


def _add(training: _Training, trainer: Any, arguments: dict[str, Any], recording: Recording) -> None:
    """Adds a callback to a training, unless the program has given one of this package itself."""
    recording.has_callback = True
    adapter = importlib.import_module(f"trainscope.{training.adapter}")
    kinds = (adapter.TrainscopeCallback, getattr(adapter, "TrainscopeLogger", adapter.TrainscopeCallback))
    if training.holder:
        given: Any = functools.reduce(getattr, training.holder.split("."), trainer)
        others = [*given, *getattr(trainer, "loggers", ())]
    else:
        given = arguments.get("callbacks")
        # `CallbackList` of Keras holds a list; a single callback may be given alone.
        others = getattr(given, "callbacks", given)
        others = list(others) if isinstance(others, list | tuple) else [] if others is None else [others]
    if any(isinstance(one, kinds) for one in others) or recording.run() is None:
        return
    callback = adapter.TrainscopeCallback()
    if training.holder or (hasattr(given, "append") and not isinstance(given, list)):
        given.append(callback)
    else:
        # The list of the program is as it was.
        arguments["callbacks"] = [*others, callback]


def note_writers(module: Any, recording: Recording) -> None:
    """Has the folder of each `SummaryWriter` of a program noted in the run."""
    owner = module.SummaryWriter
    original: Callable[..., None] = owner.__init__

    @functools.wraps(original)
    def call(writer: Any, *args: Any, **kwargs: Any) -> None:
        original(writer, *args, **kwargs)
        recording.note_folder(str(getattr(writer, "log_dir", None) or getattr(writer, "logdir", None) or ""))

    owner.__init__ = call
