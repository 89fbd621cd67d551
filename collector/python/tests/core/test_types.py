"""Types and docstrings: the package passes mypy, stubs say what the native module has, and examples run."""

from __future__ import annotations

import ast
import doctest
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
import trainscope
from trainscope import _native

PACKAGE = Path(trainscope.__file__).parent
USES = Path(__file__).with_name("typing_uses.py")

# The result must not depend on the frameworks that are installed beside the package.
CONFIG = """
[mypy]
strict = true
[mypy-accelerate.*,torch.*,jax.*,keras.*,lightning.*,pytorch_lightning.*,transformers.*,tensorflow.*,mindspore.*]
follow_imports = skip
ignore_missing_imports = true
[mypy-IPython.*,matplotlib.*,PIL.*,tensorboard.*,tensorboardX.*,google.*]
follow_imports = skip
ignore_missing_imports = true
[mypy-trainscope.*]
disallow_subclassing_any = false
[mypy-trainscope.torch,trainscope._torch_curves,trainscope._torch_device,trainscope._torch_graph,trainscope._torch_hooks]
warn_unused_ignores = false
warn_return_any = false
[mypy-trainscope.accelerate,trainscope.keras,trainscope.lightning,trainscope.huggingface,trainscope.mindspore]
warn_unused_ignores = false
"""


def run_module(*arguments: str) -> None:
    environment = dict(os.environ)
    # mypy finds an installed package by itself, and refuses its folder as a path.
    if PACKAGE.parent.name != "site-packages":
        environment |= {"MYPYPATH": str(PACKAGE.parent), "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "mypy.ini"
    path.write_text(CONFIG.replace("strict = true", f"strict = true\ncache_dir = {tmp_path}"))
    return str(path)


def test_the_package_and_its_uses_pass_mypy_strict_and_wrong_uses_do_not(config: str) -> None:
    run_module("mypy", "--config-file", config, "-p", "trainscope")
    run_module("mypy", "--config-file", config, str(USES))


def test_the_stubs_say_what_the_native_module_has(config: str) -> None:
    # The only module that has a stub, and the one whose class inherits from it.
    run_module("mypy.stubtest", "trainscope._native", "trainscope.run", "--mypy-config-file", config)


def docstrings() -> dict[str, str]:
    """Docstrings of the stub of `Recorder` by the name of the method."""
    tree = ast.parse((PACKAGE / "_native.pyi").read_text())
    recorder = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Recorder")
    functions = [node for node in recorder.body if isinstance(node, ast.FunctionDef)]
    return {node.name: ast.get_docstring(node) or "" for node in functions if node.name != "__new__"}


@pytest.mark.parametrize("name", docstrings())
def test_a_native_method_has_the_docstring_of_its_stub(name: str) -> None:
    assert inspect.getdoc(getattr(_native.Recorder, name)) == docstrings()[name]


@pytest.mark.parametrize("name", [name for name in trainscope.__all__ if name[0].islower()])
def test_a_function_of_the_module_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(trainscope, name))


def test_public_methods_have_docstrings_and_the_examples_in_them_run(tmp_path: Path) -> None:
    run = trainscope.start(tmp_path, every=1)
    runner = doctest.DocTestRunner(verbose=False)
    names = [name for name in dir(trainscope.Run) if not name.startswith("_")]
    for name in names:
        text = inspect.getdoc(getattr(trainscope.Run, name))
        assert text, f"{name} has no docstring"
        runner.run(doctest.DocTestParser().get_doctest(text, {"run": run}, name, None, None))
    report = run.finish()
    result = runner.summarize(verbose=False)
    assert (result.failed, report.lost) == (0, {})
    assert result.attempted >= 12


USER = """
import trainscope

run = trainscope.start("run", at_hit="pause")
watch = trainscope.watch(run)
if watch is not None:
    print(watch.missing(), run.url)
"""


def test_a_program_of_a_user_passes_mypy_strict_without_settings_for_this_package(tmp_path: Path) -> None:
    program = tmp_path / "user.py"
    program.write_text(USER)
    run_module("mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "--config-file", os.devnull, str(program))
