"""Messages of the processes below `trainscope run` to it, and to each other: files in the folder `TRAINSCOPE_LAUNCHER`."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time

FOLDER = "TRAINSCOPE_LAUNCHER"
"""Variable with the folder; without it the process was started by itself."""

# Processes that `multiprocessing` starts: workers of data loaders and pools, and servers that fork them.
_OF_MULTIPROCESSING = ("--multiprocessing-fork", "from multiprocessing.")


def is_child() -> bool:
    """True in a process of `multiprocessing`, from its beginning."""
    return any(word.startswith(_OF_MULTIPROCESSING) for word in sys.orig_argv[1:])


def tell(name: str, text: str = "") -> None:
    """Leaves a text for `trainscope run`; nothing without one."""
    folder = os.environ.get(FOLDER)
    if folder:
        # `trainscope run` may have ended.
        with contextlib.suppress(OSError), open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def tell_of_run(folder: os.PathLike[str] | str) -> None:
    """Tells of a run that this process records."""
    tell(f"run-{os.getpid()}", os.fspath(folder))


def folder_of_run(*, is_rank: bool) -> str:
    """Folder for the run of this process: `TRAINSCOPE_OUT`, or one beside it if that is the run of another training.

    Ranks share it: one process has started those of a training on this machine.
    """
    given = os.path.abspath(os.environ.get("TRAINSCOPE_OUT") or default_folder(sys.argv[0]))
    shared = os.environ.get(FOLDER)
    if not shared:
        return given
    key = f"ranks of {os.getppid()}" if is_rank else f"process {os.getpid()}"
    own = os.path.join(shared, f"key-{os.getpid()}")
    try:
        with open(own, "w", encoding="utf-8") as file:
            file.write(key)
        for number in itertools.count(1):
            claim = os.path.join(shared, f"claim-{number}")
            # A link appears with its content.
            with contextlib.suppress(FileExistsError):
                os.link(own, claim)
            with open(claim, encoding="utf-8") as file:
                if file.read() == key:
                    return given if number == 1 else f"{given}-{number}"
    except OSError:
        # A file system without links, or a folder that is gone.
        return given
    raise AssertionError("numbers do not end")


def default_folder(script: str) -> str:
    """`runs/<name>-<date>-<time>` for a script, a free one."""
    name = os.path.splitext(os.path.basename(script))[0] or "python"
    base = os.path.join("runs", f"{name}-{time.strftime('%Y%m%d-%H%M%S')}")
    numbered = itertools.chain([base], (f"{base}-{number}" for number in itertools.count(2)))
    return next(folder for folder in numbered if not os.path.exists(folder))
