"""Loaded by each Python below `trainscope run`: waits until the program imports a framework, and does nothing else.

The program `trainscope run` holds this file, and puts it in front of `PYTHONPATH`. It imports nothing that Python has not
imported by then, and the `sitecustomize` of the environment is loaded as if this one were not there.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

FRAMEWORKS = (
    "torch",
    "keras",
    "transformers.trainer",
    "lightning.pytorch",
    "pytorch_lightning",
    "jax",
    "mindspore",
    "torch.utils.tensorboard.writer",
    "tensorboardX.writer",
)
"""Modules whose imports the package `trainscope` learns of."""


class Waiting:
    """Finder of modules that finds none itself: it calls a function after the import of each of some modules."""

    def __init__(self, names: "Iterable[str]", tell: "Callable[[str, Any], None]") -> None:
        self._names = set(names)
        self._tell = tell

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        """The module as the other finders find it, with a loader that tells of it."""
        if name not in self._names:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                self._follow(name, spec.loader)
                return spec
        return None

    def _follow(self, name: str, loader: "Any") -> None:
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return

        def exec_module(module: "Any") -> None:
            # `__loader__` of the module is as it was.
            del loader.exec_module
            execute(module)
            self._names.discard(name)
            if not self._names and self in sys.meta_path:
                sys.meta_path.remove(self)
            self._tell(name, module)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            # A loader that takes no attribute: the module is not told of.
            return


def tell(name: str, module: "Any") -> None:
    """Tells the package of an imported framework. Nothing that goes wrong in it reaches the program."""
    try:
        from trainscope import _auto

        _auto.imported(name, module)
    except Exception as error:
        _say_once(error)


def wait() -> None:
    """Begins to wait."""
    frameworks = [name for name in FRAMEWORKS if name not in sys.modules]
    sys.meta_path.insert(0, Waiting(frameworks, tell))


def _say_once(error: Exception) -> None:
    """Says why nothing is recorded, once in all processes of a `trainscope run`."""
    if not _leave("missing", os.O_EXCL):
        return
    if isinstance(error, ImportError):
        why = "has no package `trainscope` that records, so nothing is recorded: install it there"
    else:
        why = "records nothing"
    try:
        sys.stderr.write(f"trainscope: {sys.executable} {why} ({type(error).__name__}: {error})\n")
    except (OSError, ValueError, AttributeError):
        # Standard error is closed.
        return


def _leave(name: str, flags: int = 0) -> bool:
    """Leaves an empty file for `trainscope run`. False if it cannot, or with `os.O_EXCL` if there is one."""
    try:
        os.close(os.open(os.path.join(os.environ["TRAINSCOPE_LAUNCHER"], name), os.O_CREAT | os.O_WRONLY | flags))
    except (OSError, KeyError):
        return False
    return True


def _load_next() -> None:
    """Loads the `sitecustomize` that Python would have found, in the place of this one."""
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != own]
    this = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = this


if __name__ == "sitecustomize":
    try:
        _load_next()
    finally:
        if _leave("python"):
            wait()
