"""`python -m trainscope …`: the program trainscope, in the place of this process; `run train.py` within it."""

from __future__ import annotations

import os
import subprocess
import sys

from trainscope import _program


def main() -> int:
    """Runs the program with the arguments of this process. Returns its exit status, on systems that cannot replace a process."""
    if sys.argv[1:2] == ["run"] and "--" not in sys.argv:
        from trainscope import _run

        _run.main(sys.argv[2:])
        return 0
    program = _program.find()
    if program is None:
        print("trainscope: the program is not in this installation: install the wheel again", file=sys.stderr)
        return 2
    arguments = [program, *sys.argv[1:]]
    if os.name == "nt":
        return subprocess.run(arguments, check=False).returncode
    os.execv(program, arguments)


if __name__ == "__main__":
    sys.exit(main())
