"""Wrong arguments to every public function: never an error in the training, always counted, warned of once, with the place."""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trainscope
from reading import scalars
from trainscope import Run, TrainscopeWarning

Call = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where PyTorch is not installed: `watch` and `graph` must say so."""
    monkeypatch.setitem(sys.modules, "trainscope.torch", None)


class Broken:
    """An object whose every method raises."""

    def fail(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("broken")

    __str__ = __repr__ = __float__ = __int__ = __index__ = __len__ = __iter__ = __getitem__ = __bool__ = fail
    __eq__ = __hash__ = __getattr__ = __array__ = __fspath__ = keys = items = fail


def circle(kind: type) -> Any:
    made = kind()
    made.update({"a": made}) if kind is dict else made.append(made)
    return made


BAD: dict[str, Any] = {
    "None": None, "0": 0, "-1": -1, "NaN": math.nan, "infinity": math.inf, "huge int": 10**400, "True": True, "complex": 1j,
    "empty": "", "text": "text", "huge text": "x" * 70_000, "broken text": "\ud800", "bytes": b"bytes", "object": object(),
    "type": Run, "function": len, "list": [], "list of text": ["a"], "dict": {}, "dict of objects": {"a": object()},
    "dict with other names": {5: 1.0, None: 2.0, "": 3.0}, "circle of dicts": circle(dict), "circle of lists": circle(list),
    "array": np.ones((2, 3)), "empty array": np.ones((0, 3)), "array of objects": np.array([None]),
    "strided array": np.broadcast_to(np.float32(1), (10**6, 10**6)), "broken": Broken(),
}

with tempfile.TemporaryDirectory() as folder, Run(folder) as begun:
    FLOW = begun.flow()

SNAPSHOTS = {0: {"x": [0.0, 0.0]}, 1: {"x": [1.0, 0.0]}, 2: {"x": [0.0, 1.0]}}

VALID: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "scalar": (["x", 1.0, 3], {"wall_time": 1.5}),
    "log": ([{"x": 1.0}, 3], {"wall_time": 1.5}),
    "tensor": (["x", [1.0]], {"role": "weight", "step": 3}),
    "values": (["x", [1.0], 3], {"wall_time": 1.5}),
    "histogram": (["x", [1.0], 3], {"wall_time": 1.5}),
    "image": (["x", np.ones((2, 2)), 3], {"layout": "HW", "wall_time": 1.5}),
    "audio": (["x", [1.0], 8000, 3], {"wall_time": 1.5}),
    "text": (["x", "text", 3], {"wall_time": 1.5}),
    "note": (["text"], {}),
    "hparams": ([{"x": 1.0}, ["y"]], {}),
    "graph": ([b"graph"], {"name": "model"}),
    "landscape": ([SNAPSHOTS, lambda _: 1.0], {"name": "plane", "size": 3, "samples": 1}),
    "lineage": ([], {"optimizer": "SGD", "learning_rate": 0.1, "other": 1}),
    "dataset": ([[{"op": "Mnist"}, "Shuffle"]], {}),
    "span": (["x"], {"kind": "compute", "lane": "stream 7"}),
    "lane": (["stream 7", "stream"], {}),
    "flow": ([], {"lane": "stream 7"}),
    "end_flow": ([FLOW], {"lane": "stream 7"}),
    "counter": (["x", 1.0], {}),
    "step": ([3], {}),
    "watch": ([None, None], {"names": (), "gradients": "raw", "every": 3}),
    "unwatch": ([None], {}),
    "phase": (["x"], {}),
    "log_tree": ([{"x": [1.0]}], {"role": "weight", "step": 3}),
    "trigger": (["text"], {}),
    "gate": (["after_step"], {}),
    "total_steps": ([100], {}),
    "flush": ([], {}),
    "report": ([], {}),
}
"""Calls with arguments that are right, of each function but `finish` and `steps`."""


def execute(owner: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> None:
    result = getattr(owner, name)(*args, **kwargs)
    if name in ("span", "step", "phase"):
        with result:
            pass


def substitute(args: list[Any], kwargs: dict[str, Any], bad: Any) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """The arguments with each of them replaced by `bad`, and with all of them."""
    for index in range(len(args)):
        yield args[:index] + [bad] + args[index + 1 :], kwargs
    for key in kwargs:
        yield args, kwargs | {key: bad}
    yield [bad] * len(args), dict.fromkeys(kwargs, bad)


def test_every_public_function_is_among_the_tested() -> None:
    public = {name for name in dir(Run) if not name.startswith("_")} - {"folder", "rank", "finish", "steps", "url"}
    assert public == VALID.keys()
    functions = {name for name in trainscope.__all__ if name[0].islower()} - {"start", "current", "finish", "steps", "capsule", "preflight", "query", "read", "check"}
    assert functions == VALID.keys()


@pytest.mark.parametrize("name", VALID)
@pytest.mark.filterwarnings("ignore")
def test_no_argument_of_the_wrong_kind_raises(run: Run, name: str) -> None:
    args, kwargs = VALID[name]
    longest = 0.0
    for bad in BAD.values():
        for wrong_args, wrong_kwargs in substitute(args, kwargs, bad):
            start = time.monotonic()
            execute(run, name, wrong_args, wrong_kwargs)
            longest = max(longest, time.monotonic() - start)
            wrong_kwargs = {key: value for key, value in wrong_kwargs.items() if key != "wall_time"}
            execute(trainscope, name, wrong_args, wrong_kwargs)
    assert longest < 30
    # The run goes on as if nothing had been.
    run.scalar("after", 1.0, 2**40)
    report = run.finish()
    assert set(report.lost) <= {"invalid"}
    assert scalars(run.folder)["after"] == [(2**40, 1.0)]


INVALID: dict[str, Call] = {
    "None as a name": lambda run: run.scalar(None, 1.0),
    "name that is a number": lambda run: run.scalar(5, 1.0),
    "name that is empty": lambda run: run.scalar("", 1.0),
    "name that is huge": lambda run: run.scalar("x" * 70_000, 1.0),
    "name that is no Unicode": lambda run: run.scalar("\ud800", 1.0),
    "None as a value": lambda run: run.scalar("x", None),
    "value that is text": lambda run: run.scalar("x", "1"),
    "value that breaks": lambda run: run.scalar("x", Broken()),
    "step that is text": lambda run: run.scalar("x", 1.0, "3"),
    "time that is text": lambda run: run.scalar("x", 1.0, wall_time="now"),
    "time that is NaN": lambda run: run.scalar("x", 1.0, wall_time=math.nan),
    "None as a mapping": lambda run: run.log(None),
    "mapping that is a list": lambda run: run.log([("x", 1.0)]),
    "mapping with another name": lambda run: run.log({5: 1.0}),
    "mapping in itself": lambda run: run.log(circle(dict)),
    "mapping with text": lambda run: run.log({"x": "1"}),
    "None as a tensor": lambda run: run.tensor("x", None, step=0),
    "tensor with another role": lambda run: run.tensor("x", [1.0], role="wight", step=0),
    "tensor with a role of another kind": lambda run: run.tensor("x", [1.0], role=5, step=0),
    "values of text": lambda run: run.values("x", "text"),
    "histogram of objects": lambda run: run.histogram("x", [object()]),
    "image with five axes": lambda run: run.image("x", np.ones((1, 1, 1, 2, 2))),
    "image of text": lambda run: run.image("x", "cat.png"),
    "image with a layout of another kind": lambda run: run.image("x", np.ones((2, 2)), layout=5),
    "image with another layout": lambda run: run.image("x", np.ones((2, 2)), layout="HWX"),
    "audio with three axes": lambda run: run.audio("x", np.ones((2, 2, 2)), 8000),
    "audio without a rate": lambda run: run.audio("x", [1.0], None),
    "audio with the rate 0": lambda run: run.audio("x", [1.0], 0),
    "audio with a rate below 0": lambda run: run.audio("x", [1.0], -8000),
    "text with another name": lambda run: run.text(None, "text"),
    "text that breaks": lambda run: run.text("x", Broken()),
    "note that breaks": lambda run: run.note(Broken()),
    "reason that breaks": lambda run: run.trigger(Broken()),
    "hyper-parameters that are a number": lambda run: run.hparams(5),
    "hyper-parameters that break": lambda run: run.hparams({"x": Broken()}),
    "graph of a number": lambda run: run.graph(5),
    "lineage with a number as name": lambda run: run.lineage(optimizer=5),
    "dataset that is a number": lambda run: run.dataset(5),
    "dataset without an operation": lambda run: run.dataset([{"path": "data"}]),
    "span with another name": lambda run: run.span(5),
    "span of an unknown kind": lambda run: run.span("x", kind="gpu"),
    "span of a kind that is a number": lambda run: run.span("x", kind=1),
    "span in a lane that is a number": lambda run: run.span("x", lane=7),
    "span of which all is wrong": lambda run: run.span(5, kind="", lane=b"x"),
    "lane of an unknown kind": lambda run: run.lane("x", "gpu"),
    "lane without a kind": lambda run: run.lane("x", None),
    "lane that is a number": lambda run: run.lane(7, "stream"),
    "flow in a lane that is a number": lambda run: run.flow(lane=7),
    "None as a flow": lambda run: run.end_flow(None),
    "flow that is a number": lambda run: run.end_flow(5),
    "flow to a lane that is a number": lambda run: run.end_flow(FLOW, lane=7),
    "counter that is text": lambda run: run.counter("x", "1"),
    "step that is no number": lambda run: run.step("x").__enter__(),
    "phase that is a number": lambda run: run.phase(5).__enter__(),
    "tree in itself": lambda run: run.log_tree(circle(list)),
    "None as a model": lambda run: run.watch(None),
}


@pytest.mark.parametrize("kind", INVALID)
def test_what_is_invalid_is_counted_and_warned_of_once_with_its_place(run: Run, kind: str) -> None:
    call = INVALID[kind]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            call(run)
    report = run.finish()
    assert report.lost == {"invalid": 3}
    assert not report.is_complete
    place = (__file__, call.__code__.co_firstlineno)
    assert [(warning.filename, warning.lineno) for warning in caught] == [place]
    (said,) = report.lost_at.items()
    assert said[0] == f"{place[0]}:{place[1]}"
    assert str(caught[0].message) == f"trainscope: {said[1]}"


@pytest.mark.parametrize("kind", INVALID)
def test_a_strict_run_raises_what_is_invalid(tmp_path: Path, kind: str) -> None:
    run = trainscope.start(tmp_path, every=1, strict=True)
    with pytest.raises(Exception, match="."):
        INVALID[kind](run)
    assert run.finish().lost.get("invalid", 1) == 1


def test_a_strict_run_raises_nothing_else(tmp_path: Path) -> None:
    run = trainscope.start(tmp_path, every=1, strict=True)
    for name, (args, kwargs) in VALID.items():
        if name != "watch":
            execute(run, name, args, kwargs)
    report = run.finish()
    assert (report.lost, report.is_complete) == ({}, True)


def test_each_place_is_warned_of_and_only_once(run: Run) -> None:
    with pytest.warns(TrainscopeWarning) as caught:
        for _ in range(3):
            run.scalar("x", None)
            run.scalar("x", None)
    assert len({warning.lineno for warning in caught}) == len(caught) == 2
    assert run.finish().lost == {"invalid": 6}


def test_a_status_that_is_not_ours_is_counted_and_the_run_is_finished(tmp_path: Path) -> None:
    for index, status in enumerate(("failed", 5, None, Broken(), np.ones(2))):
        run = trainscope.start(tmp_path / str(index))
        run.scalar("x", 1.0, 0)
        with pytest.warns(TrainscopeWarning, match="status"):
            report = run.finish(status)  # type: ignore[arg-type]
        assert (report.lost, report.is_closed) == ({"invalid": 1}, True)
        assert scalars(run.folder) == {"x": [(0, 1.0)]}


@pytest.mark.parametrize("batches", [None, 5, Broken()], ids=["None", "5", "broken"])
def test_steps_over_what_is_no_loader_raise_as_the_loop_itself_does(run: Run, batches: Any) -> None:
    with pytest.raises((TypeError, RuntimeError)) as without:
        list(batches)
    with pytest.raises(without.type):
        list(run.steps(batches))
    assert run._open_step() is None


def test_a_start_that_is_no_number_is_counted_and_the_loop_goes_on(run: Run) -> None:
    with pytest.warns(TrainscopeWarning, match="start") as caught:
        assert list(run.steps("ab", start="first")) == ["a", "b"]  # type: ignore[arg-type]
    assert caught[0].filename == __file__
    assert run.finish().lost == {"invalid": 1}


def test_an_error_of_the_loader_passes_and_closes_the_step(run: Run) -> None:
    def batches() -> Iterator[int]:
        yield 1
        raise OSError("the loader's own")

    with pytest.raises(OSError, match="the loader's own"):
        list(run.steps(batches()))
    assert run._open_step() is None
    assert run.finish().lost == {}


@pytest.mark.filterwarnings("ignore")
def test_after_finish_every_call_is_counted_and_changes_nothing(run: Run) -> None:
    run.scalar("x", 1.0, 0)
    report = run.finish()
    contents = {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()}
    for name, (args, kwargs) in VALID.items():
        execute(run, name, args, kwargs)
        execute(trainscope, name, args, {key: value for key, value in kwargs.items() if key != "wall_time"})
    for _ in run.steps(range(2)):
        pass
    for call in INVALID.values():
        call(run)
    assert run.flush() in (True, False)
    after = run.finish("failure")
    assert after.files == report.files
    assert after.lost["after_finish"] > 20
    assert {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()} == contents


def test_the_functions_of_the_module_do_nothing_before_start_and_say_so_once(tmp_path: Path) -> None:
    program = """
        import contextlib, warnings, sys
        import trainscope
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                trainscope.scalar("x", 1.0)
                trainscope.log({"x": 1.0})
                trainscope.hparams(None)
                with trainscope.step(3), trainscope.span("x", kind="copy"), trainscope.phase("eval"):
                    assert list(trainscope.steps([1, 2], start=5)) == [1, 2]
                trainscope.lane("x", "stream")
                trainscope.end_flow(trainscope.flow())
                assert trainscope.watch(None) is None
                assert trainscope.flush() is False
                assert trainscope.report() is trainscope.finish() is trainscope.current() is None
        lines = [warning.lineno for warning in caught]
        assert len(lines) == len(set(lines)) == 10, lines
        assert all(warning.filename == __file__ for warning in caught)
        assert str(caught[0].message) == "trainscope: scalar does nothing before trainscope.start(folder)"
    """
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program))
    environment = os.environ | {"PYTHONPATH": str(Path(trainscope.__file__).parent.parent)}
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.filterwarnings("ignore")
def test_eight_threads_may_call_everything_at_once(tmp_path: Path) -> None:
    run = trainscope.start(tmp_path, every=1, hash=False)
    errors: list[BaseException] = []
    barrier = threading.Barrier(8)
    invalid = {kind: call for kind, call in INVALID.items() if "in itself" not in kind}

    def record(thread: int) -> None:
        barrier.wait()
        try:
            for index in range(20):
                run.scalar(f"thread {thread}", index, index)
                for name, (args, kwargs) in VALID.items():
                    if name not in ("watch", "trigger"):
                        execute(run, name, args, kwargs)
                for call in invalid.values():
                    call(run)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=record, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert run.finish().lost == {"invalid": 8 * 20 * len(invalid)}
    got = scalars(tmp_path)
    assert [got[f"thread {thread}"] for thread in range(8)] == [[(index, index) for index in range(20)]] * 8


@pytest.mark.parametrize("on_full", ["drop", "block"])
def test_a_queue_that_is_too_small_blocks_no_longer_than_patience(tmp_path: Path, on_full: str) -> None:
    run = trainscope.start(tmp_path, queue_bytes=1_000, on_full=on_full, patience=0.3)
    start = time.monotonic()
    run.values("x", np.ones(10_000), 0)
    # Patience is 0.3 s, and machines may be busy.
    assert time.monotonic() - start < 30
    run.scalar("y", 1.0, 0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = run.finish()
    assert report.lost == {"queue_full": 1}
    assert [warning.filename for warning in caught] == [__file__]
    assert scalars(tmp_path) == {"y": [(0, 1.0)]}


def test_a_warning_that_fails_does_not_reach_the_training(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no warnings here")

    monkeypatch.setattr(warnings, "warn_explicit", fail)
    run.scalar("x", None)
    run.image("x", None)
    run.hparams(5)  # type: ignore[arg-type]
    with contextlib.suppress(AttributeError):
        run.watch(None)
    assert run.finish().lost["invalid"] >= 3
