"""Path of the program `trainscope`, which the wheel installs beside `python`."""

from __future__ import annotations

import os
import shutil
import sysconfig


def find() -> str | None:
    """The program of this installation, else the one on the search path, else `None`. `TRAINSCOPE_PROGRAM` has precedence."""
    given = os.environ.get("TRAINSCOPE_PROGRAM")
    if given:
        return given
    name = "trainscope" + (sysconfig.get_config_var("EXE") or "")
    schemes = [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]
    for scheme in schemes:
        path = os.path.join(sysconfig.get_path("scripts", scheme), name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    return shutil.which(name)
