"""Writers of TensorBoard's event files, and their installation in the place of those of torch and tensorboardX."""

from __future__ import annotations

import importlib
from types import ModuleType

from trainscope._event_file import FileWriter
from trainscope._summary_writer import SummaryWriter

__all__ = ["FileWriter", "SummaryWriter", "install", "uninstall"]


def install() -> None:
    """Puts `SummaryWriter` in the place of torch's and tensorboardX's, where they are installed, and imports them.

    Call it before the code that says `from torch.utils.tensorboard import SummaryWriter`. Twice is fine.
    """
    from trainscope._tensorboardx import TensorboardXWriter

    if _replaced:
        return
    for package, writer in (("torch.utils.tensorboard", SummaryWriter), ("tensorboardX", TensorboardXWriter)):
        for name in (package, f"{package}.writer"):
            try:
                module = importlib.import_module(name)
            except ImportError:
                break
            _replaced.append((module, module.SummaryWriter))
            setattr(module, "SummaryWriter", writer)


def uninstall() -> None:
    """Undoes `install`; writers that were made in between go on."""
    while _replaced:
        module, writer = _replaced.pop()
        setattr(module, "SummaryWriter", writer)


_replaced: list[tuple[ModuleType, type]] = []
