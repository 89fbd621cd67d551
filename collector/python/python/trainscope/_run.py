"""`python -m trainscope run train.py …`: a program within this process, recorded without a change of it."""

from __future__ import annotations

import argparse
import atexit
import builtins
import errno
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.machinery import SourceFileLoader
from io import open_code
from types import ModuleType, TracebackType

from trainscope import _auto, _launch, _program

_OURS = (os.path.dirname(os.path.abspath(__file__)), "<frozen runpy>")


def main(arguments: list[str]) -> None:
    """Runs the script, or the module after `-m`, as Python would have run it. Does not return before its end."""
    options, program = _parse(arguments)
    is_module = program[0] == "-m"
    name, *rest = program[1:] if is_module else program
    folder = options.out or _launch.default_folder(name)
    _set_environment(options, folder)
    _hide_own_frames()
    _auto.observe_all()
    sys.argv[:] = [name, *rest]
    if is_module:
        # The first folder is the working one already, as `python -m` has it.
        runpy.run_module(name, run_name="__main__", alter_sys=True)
        return
    if not os.path.exists(name):
        sys.exit(_missing(name))
    if not os.path.isfile(name) or zipfile.is_zipfile(name):
        # It has a `__main__.py`.
        runpy.run_path(name, run_name="__main__")
        return
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(name))
    _run_file(os.path.abspath(name))


def _run_file(file: str) -> None:
    """Runs a script. `runpy` would change `sys.argv`, and take `__main__` away before the functions of `atexit` run."""
    module = ModuleType("__main__")
    module.__file__ = file
    module.__loader__ = SourceFileLoader("__main__", file)
    module.__dict__["__builtins__"] = builtins
    with open_code(file) as opened:
        code = compile(opened.read(), file, "exec")
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


def _missing(name: str) -> int:
    """Says what Python says of a script that is not there. Returns its exit status."""
    error = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    print(f"{sys.executable}: can't open file {os.path.abspath(name)!r}: {error}", file=sys.stderr)
    return 2


def _parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        prog="python -m trainscope run",
        description="Runs a script, or a module, in this process; records its training, and says what was found.",
        epilog="`trainscope run -- COMMAND` runs any command.",
        allow_abbrev=False,
    )
    parser.add_argument("--out", metavar="DIR", help="folder to record into (runs/NAME-DATE-TIME)")
    parser.add_argument("--every", type=int, metavar="N", help="look at the tensors of every N-th step (10)")
    parser.add_argument("--preflight", action="store_true", help="probe the model with its first batch")
    parser.add_argument("--capsule", action="store_true", help="keep what is needed to repeat the step of the first hit")
    parser.add_argument("--at-hit", choices=("record", "pause", "stop"), help="what the training does at an error")
    parser.add_argument("--live", metavar="URL", help="server that may pause the training")
    parser.add_argument("-m", dest="module", metavar="MODULE", nargs=argparse.REMAINDER, help="a module in place of a script")
    parser.add_argument("script", nargs="?", help="the script, and its arguments")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.module:
        return options, ["-m", *options.module]
    if options.script is None:
        parser.error("there is no script: python -m trainscope run train.py")
    return options, [options.script, *options.rest]


def _set_environment(options: argparse.Namespace, folder: str) -> None:
    """Sets the variables that `trainscope run` sets, for this process and its children."""
    launcher = tempfile.mkdtemp(prefix="trainscope-run-")
    given = {
        "TRAINSCOPE_OUT": os.path.abspath(folder),
        _launch.FOLDER: launcher,
        "TRAINSCOPE_EVERY": options.every,
        "TRAINSCOPE_PREFLIGHT": 1 if options.preflight else None,
        "TRAINSCOPE_AT_HIT": options.at_hit,
        "TRAINSCOPE_CAPSULE": 1 if options.capsule else None,
        "TRAINSCOPE_SERVER": options.live,
        "PYTHONPATH": os.pathsep.join(filter(None, [_auto.site_folder(), os.environ.get("PYTHONPATH")])),
    }
    os.environ.update({name: str(value) for name, value in given.items() if value is not None})
    _launch.tell("python")
    # Registered first, it is called last: the run is finished by then.
    atexit.register(_say, launcher, folder, os.getpid())


def _say(launcher: str, folder: str, process: int) -> None:
    """Says what was recorded, by the program `trainscope`."""
    if os.getpid() != process:
        return
    program = _program.find()
    if program is not None:
        command = [program, "run", "--ended", launcher, "--out", folder]
        try:
            sys.stdout.flush()
            subprocess.run(command, check=False, stdin=subprocess.DEVNULL)
        except (OSError, ValueError, AttributeError):
            program = None
    if program is None and sys.stderr is not None:
        print(f"trainscope: the run is in {folder}", file=sys.stderr)
    shutil.rmtree(launcher, ignore_errors=True)


def _hide_own_frames() -> None:
    """Leaves out of the traceback of an exception what Python itself would not have had in it."""
    before = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        inner = traceback
        while inner is not None and inner.tb_frame.f_code.co_filename.startswith(_OURS):
            inner = inner.tb_next
        if inner is None:
            inner = traceback
        before(kind, error.with_traceback(inner), inner)

    sys.excepthook = excepthook
