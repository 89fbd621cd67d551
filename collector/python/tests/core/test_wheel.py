"""The wheel in an empty environment: extension, program and both ways to start it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).resolve().parents[4] / "sample-runs"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an environment in which nothing but the wheel is installed."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    wheel = os.environ["TRAINSCOPE_WHEEL"]
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet", "--no-index", wheel]
    subprocess.run(pip, check=True)
    return folder


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # No compiler and no other trainscope is on the search path.
    return subprocess.run(
        [program, *arguments], env={"PATH": "", "HOME": "/nonexistent"}, capture_output=True, text=True, timeout=60
    )


def test_the_program_is_beside_python(environment: Path) -> None:
    assert not (environment / "bin/.gitignore").exists()
    answer = run(environment / "bin/trainscope", "--version")
    assert answer.returncode == 0 and answer.stdout.startswith("trainscope "), answer


def test_the_module_runs_the_program_and_passes_on_its_status(environment: Path) -> None:
    answer = run(environment / "bin/python", "-m", "trainscope", "check", str(SAMPLES / "mlp/overflow"))
    assert answer.returncode == 1 and "First cause" in answer.stdout, answer
    answer = run(environment / "bin/python", "-m", "trainscope", "check", "/nonexistent")
    assert answer.returncode == 2, answer


def test_the_package_records_without_any_other(environment: Path, tmp_path: Path) -> None:
    script = f"""
import sys, trainscope
with trainscope.start({str(tmp_path)!r}) as run:
    for step in range(20):
        run.scalar("loss", 1 / (step + 1), step)
        run.tensor("weight", [1.0, float(step)], role="weight", step=step)
assert run.report().is_complete, run.report()
assert not {{"numpy", "torch", "tensorboard"}} & sys.modules.keys()
"""
    answer = run(environment / "bin/python", "-W", "error", "-c", script)
    assert answer.returncode == 0, answer
    answer = run(environment / "bin/trainscope", "check", str(tmp_path))
    assert answer.returncode in (0, 1) and "loss" in answer.stdout + answer.stderr, answer


def test_the_extension_is_small(environment: Path) -> None:
    extension = next((environment / "lib").glob("python3*/site-packages/trainscope/_native*.so"))
    # Without link-time optimization; more than 1 MB of it is TLS.
    assert extension.stat().st_size < 7e6
