"""Build backend of the wheel: maturin's, after the program `trainscope` was put where maturin installs it from.

maturin builds an extension module or programs, not both. The program comes from `TRAINSCOPE_PROGRAM` if that names one, else it is
built, with the page inside.
"""

import os
import shutil
import subprocess
from pathlib import Path

import maturin
from maturin import (
    get_requires_for_build_editable,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent.parent
SUFFIX = ".exe" if os.name == "nt" else ""
SCRIPTS = PACKAGE / "wheel.data/scripts"

# maturin stops without it, also where it is only asked for metadata.
SCRIPTS.mkdir(parents=True, exist_ok=True)


def _put_program() -> None:
    program = os.environ.get("TRAINSCOPE_PROGRAM")
    if not program:
        if not (ROOT / "web/dist/index.html").exists():
            subprocess.run(["cargo", "xtask", "web"], cwd=ROOT, check=True)
        subprocess.run(["cargo", "build", "--release", "--locked", "--package", "trainscope"], cwd=ROOT, check=True)
        folder = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
        program = ROOT / folder / "release" / f"trainscope{SUFFIX}"
    target = SCRIPTS / f"trainscope{SUFFIX}"
    shutil.copyfile(program, target)
    target.chmod(0o755)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _put_program()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _put_program()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)
