"""Lines of the program that is recorded: where a function was called, with the lines around it."""

from __future__ import annotations

import functools
import importlib.util
import linecache
import os
import stat
import sys
import sysconfig
from types import FrameType, TracebackType
from typing import NamedTuple

from trainscope._lost import PACKAGE

LINES_AROUND = 2
"""Lines of an excerpt on each side of its line."""

MAX_LINE = 400
"""Characters of a line in an excerpt; the rest of it is left out."""

MAX_BYTES = 4 << 20
"""Size of the largest file that excerpts are read from."""

MAX_FILES = 4096
"""File names whose judgement is remembered."""

# Working directory at the start: names of files in frames may be relative to it.
try:
    _START = os.getcwd()
except OSError:
    # It was removed.
    _START = os.sep


Place = tuple[str, int, str]
"""File, line and function of the program."""


class Source(NamedTuple):
    """A line of the program.

    `file`: relative to the repository or the working directory if it is inside of it. `line`, `first_line`: from 1.
    `excerpt`: the lines around it, joined; "" if they cannot be read.
    """

    file: str
    line: int
    function: str
    first_line: int
    excerpt: str


def here(skip: int = 0) -> Source | None:
    """The innermost line of the program that is being executed: outside of libraries and of this package.

    `skip`: frames of the program to leave out. Where all frames are of libraries, as in a program that was installed,
    the innermost one outside of PyTorch; `None` without any.
    """
    place = place_of(sys._getframe(1), skip)
    return of_place(place)


def place_of(frame: FrameType | None, skip: int = 0) -> Place | None:
    """File, line and function of `here`, from a frame on, as `of` takes them. Costs a microsecond; nothing is read."""
    installed: FrameType | None = None
    while frame is not None:
        kind = _kinds.get(frame.f_code.co_filename)
        if kind is None:
            kind = _kind_of(frame.f_code.co_filename)
        if kind == _PROGRAM:
            if skip == 0:
                break
            skip -= 1
        elif kind == _INSTALLED and installed is None:
            installed = frame
        frame = frame.f_back
    frame = frame or installed
    if frame is None:
        return None
    return frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_qualname


def of_traceback(traceback: TracebackType | None) -> Place | None:
    """File, line and function of the program that an exception went through last, as `of` takes them."""
    places: dict[str, Place] = {}
    while traceback is not None:
        code = traceback.tb_frame.f_code
        places[_kind_of(code.co_filename)] = code.co_filename, traceback.tb_lineno, code.co_qualname
        traceback = traceback.tb_next
    return places.get(_PROGRAM) or places.get(_INSTALLED)


@functools.lru_cache(maxsize=1024)
def of(file: str, line: int, function: str) -> Source:
    """A line with those around it, as they are read now, or were read by the debugger or the notebook before."""
    first = max(1, line - LINES_AROUND)
    lines = [text.rstrip("\r\n")[:MAX_LINE] for text in lines_of(file)[first - 1 : line + LINES_AROUND]]
    return Source(_shown(file), line, function, first if lines else 0, "\n".join(lines))


def of_place(place: Place | None) -> Source | None:
    """A line with those around it; `None` of a line that is not known."""
    return None if place is None else of(*place)


# Kinds of files, by the meaning of their frames.
_PROGRAM, _INSTALLED, _HIDDEN = "program", "installed", "hidden"

_kinds: dict[str, str] = {}


def _kind_of(file: str) -> str:
    if len(_kinds) >= MAX_FILES:
        _kinds.clear()
    kind = _kinds[file] = _judge(file)
    return kind


def _judge(file: str) -> str:
    if file.startswith(("<frozen", "<eval_with_key>", "<__array_function__")):
        return _HIDDEN
    path = os.path.join(_START, file)
    if any(path.startswith(folder) for folder in _hidden_folders()) or "torchinductor_" in path:
        return _HIDDEN
    if f"{os.sep}site-packages{os.sep}" in path or f"{os.sep}dist-packages{os.sep}" in path:
        return _INSTALLED
    return _HIDDEN if path.startswith(_standard_library()) else _PROGRAM


@functools.cache
def _hidden_folders() -> tuple[str, ...]:
    """Folders of this package and of PyTorch, wherever they are installed."""
    specification = importlib.util.find_spec("torch")
    folders = [] if specification is None else list(specification.submodule_search_locations or ())
    return (PACKAGE, *(os.path.join(folder, "") for folder in folders))


@functools.cache
def _standard_library() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({os.path.join(paths[name], "") for name in ("stdlib", "platstdlib")})


@functools.cache
def _roots() -> tuple[str, ...]:
    """Folders that files are named relative to: repositories of the working directory and of the script, else the former."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    folders = [_START]
    if isinstance(script, str):
        folders.append(os.path.dirname(os.path.join(_START, script)))
    repositories = [root for folder in folders if (root := _repository_of(folder)) is not None]
    return tuple(os.path.join(root, "") for root in (*repositories, _START))


def _repository_of(folder: str) -> str | None:
    """The folder with `.git` that is around a folder or is it."""
    folder = os.path.realpath(folder)
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _shown(file: str) -> str:
    if file.startswith("<"):
        return file
    path = os.path.join(_START, file)
    for root in _roots():
        for name in (path, os.path.realpath(path)):
            if name.startswith(root):
                return os.path.relpath(name, root)
    return os.path.normpath(path)


def lines_of(file: str) -> list[str]:
    """Lines of a file; none if it is no regular file of a usual size. Cells of a notebook are known by their names."""
    try:
        if file in linecache.cache:
            return linecache.getlines(file)
        path = os.path.join(_START, file)
        state = os.stat(path)
        if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_BYTES:
            return []
        return linecache.getlines(path)
    except (OSError, ValueError, SyntaxError, MemoryError):
        return []
