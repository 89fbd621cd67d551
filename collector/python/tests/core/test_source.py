"""Lines of the program: the frame that is meant, the name of its file, and what is read of it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainscope import _source


def inner() -> _source.Source | None:
    return _source.here()


class Model:
    @contextlib.contextmanager
    def place(self):
        yield _source.here()


def test_the_innermost_line_of_the_program_is_found_below_frames_of_the_standard_library():
    found = inner()
    assert found is not None and found.function == "inner"
    assert Path(found.file).name == "test_source.py"
    assert found.excerpt.splitlines()[found.line - found.first_line].strip() == "return _source.here()"
    with Model().place() as found:
        assert found.function == "Model.place"
    assert _source.place_of(sys._getframe(), 1) != _source.place_of(sys._getframe())


def test_files_are_named_relative_to_the_repository_else_to_the_working_directory(tmp_path: Path):
    code = "from trainscope import _source\ndef f():\n    return _source.here()\n"
    (tmp_path / "repo" / "package").mkdir(parents=True)
    (tmp_path / "repo" / "package" / "losses.py").write_text(code)
    script = tmp_path / "repo" / "package" / "train.py"
    script.write_text("import losses\nprint(losses.f().file)\nprint(losses.f().excerpt.count(chr(10)))\n")

    def printed(folder: Path) -> list[str]:
        path = os.pathsep.join([str(Path(_source.__file__).parents[1]), *sys.path])
        result = subprocess.run(
            [sys.executable, str(script)], cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True,
            text=True, check=True,
        )
        return result.stdout.split()

    assert printed(tmp_path) == ["repo/package/losses.py", "2"]
    assert printed(tmp_path / "repo" / "package") == ["losses.py", "2"]
    (tmp_path / "repo" / ".git").mkdir()
    assert printed(tmp_path) == printed(tmp_path / "repo" / "package") == ["package/losses.py", "2"]


def test_code_of_an_installed_package_is_named_where_there_is_no_other(tmp_path: Path):
    installed = tmp_path / "site-packages" / "tool.py"
    space: dict = {}
    exec(compile("def call(f):\n    return f()\ndef find(place_of, frame):\n    return place_of(frame())", str(installed), "exec"), space)
    assert space["call"](inner) == inner()
    library = f"{os.path.dirname(os.__file__)}/x.py"
    frames: list = []
    exec(compile("f(g)", library, "exec"), {"f": lambda g: frames.append(g()), "g": lambda: sys._getframe(0)})
    assert _source.place_of(frames[0]) is not None
    assert _source._judge(str(installed)) == "installed"
    assert _source._judge(library) == _source._judge("<frozen runpy>") == _source._judge(_source.__file__) == "hidden"


@pytest.mark.parametrize("kind", ["gone", "pipe", "folder", "binary", "long", "string", "cell"])
def test_a_file_that_cannot_be_read_gives_no_excerpt_and_one_that_is_large_a_short_one(tmp_path: Path, kind: str):
    import linecache

    file = tmp_path / f"{kind}\n.py"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "binary":
        file.write_bytes(bytes(range(256)))
    elif kind == "long":
        file.write_text("x" * 10_000 + "\n" * 10)
    name = {"string": "<string>", "cell": "<ipython-input-1>"}.get(kind, str(file))
    if kind == "cell":
        linecache.cache[name] = (3, None, ["a\n", "b\n"], name)
    found = _source.of(name, 1, "<module>")
    assert found.line == 1 and found.first_line == (kind in ("long", "cell"))
    assert found.excerpt == {"long": "x" * 400 + "\n\n", "cell": "a\nb"}.get(kind, "")
