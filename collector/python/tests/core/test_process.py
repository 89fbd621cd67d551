"""Processes: forks, children, signals, exits, exceptions, several runs, ranks, and disks that take nothing."""

from __future__ import annotations

import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trainscope
from reading import PROGRAM, export, notes, scalars, spans, statistics

PACKAGE = Path(trainscope.__file__).parent.parent
LAUNCHERS = ("RANK", "OMPI_COMM", "PMI_", "SLURM_", "WORLD_SIZE", "TRAINSCOPE_")
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
ENVIRONMENT |= {"TRAINSCOPE_QUIET": "1", "TRAINSCOPE_SYSTEM": "0"}


def begin(program: str, folder: Path, *options: str, **variables: str) -> subprocess.Popen[str]:
    """Starts a program of Python, in a file of its own; `folder` is its first argument."""
    folder.parent.mkdir(exist_ok=True)
    path = folder.parent / "program.py"
    path.write_text(textwrap.dedent(program))
    environment = ENVIRONMENT | {"PYTHONPATH": str(PACKAGE)} | variables
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, *options, path, folder], stdout=pipe, stderr=pipe, text=True, env=environment)


def execute(program: str, folder: Path, *options: str, status: int = 0, **variables: str) -> tuple[str, str]:
    """Output and errors of a program of Python that ends with this status."""
    process = begin(program, folder, *options, **variables)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == status, errors
    return output, errors


def status_of(folder: Path) -> str:
    """Status of the end of a run that has hyper-parameters: success, failure, or nothing if it has no end."""
    command = [PROGRAM, "export", str(folder), "--kind", "hparams", "--format", "json", "-o", "-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    ends = [row["session_end"]["status"] for row in json.loads(done.stdout) if "session_end" in row]
    assert len(ends) <= 1
    return ends[0] if ends else ""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


# The import.


def test_the_import_takes_no_framework_and_no_numpy(folder: Path) -> None:
    output, _ = execute("import sys, trainscope; print(*sys.modules)", folder)
    packages = {name.partition(".")[0] for name in output.split()}
    heavy = {"numpy", "torch", "jax", "keras", "tensorflow", "pytorch_lightning", "transformers", "tensorboard", "matplotlib",
             "PIL", "asyncio", "multiprocessing", "unittest", "email", "http"}
    assert "trainscope" in packages
    assert packages & heavy == set()


# Children.

EVERY_CALL = """
    def record_everything(run):
        with run.step(5), run.span("span"), run.phase("eval"):
            run.scalar("child", 1.0)
        for batch in run.steps([1, 2]):
            run.log({"child": 1.0, "other": 2.0}, 3)
        run.tensor("child", [1.0, 2.0], step=0)
        run.values("child", [1.0, 2.0], step=0)
        run.histogram("child", [1.0, 2.0], step=0)
        run.text("child", "text")
        run.note("child")
        run.audio("child", [0.0, 1.0], 8000)
        run.counter("child", 1)
        run.lane("child", "stream")
        run.end_flow(run.flow())
        run.trigger("child")
        run.hparams({"child": 1})
        run.lineage(optimizer="child")
        run.dataset(["child"])
        run.graph(b"graph")
        run.log_tree({"child": [1.0]})
        run.gate()
        run.scalar("child", "no number")
        assert run.flush() is False
        report = run.finish("failure")
        assert report.lost["forked"] > 10 and "after_finish" not in report.lost, report
"""
MAIN = EVERY_CALL + """
    import os, sys, trainscope
    run = trainscope.start(sys.argv[1], hparams={"a": 1}, every=1)
    run.scalar("parent", 1.0, 0)
    run.tensor("parent", [1.0], step=0)
    child = os.fork()
    if child == 0:
        record_everything(run)
        trainscope.scalar("child", 1.0)
        CHILD_END
    assert os.waitpid(child, 0)[1] == 0
    run.scalar("parent", 2.0, 1)
    report = run.finish()
    assert report.is_complete, report
"""


@pytest.mark.parametrize("end", ["sys.exit(0)", "os._exit(0)"])
def test_calls_in_a_fork_are_counted_and_touch_nothing_of_the_run(folder: Path, end: str) -> None:
    output, errors = execute(MAIN.replace("CHILD_END", end), folder)
    assert (output, errors) == ("", "")
    assert scalars(folder) == {"parent": [(0, 1.0), (1, 2.0)]}
    assert list(statistics(folder)) == ["parent"]
    assert (notes(folder), spans(folder), status_of(folder)) == ([], [], "success")


@pytest.mark.parametrize("how", ["fork", "forkserver", "spawn"])
def test_workers_of_every_kind_record_nothing_and_print_nothing(folder: Path, how: str) -> None:
    program = f"""
        import multiprocessing, sys, trainscope

        def work(index):
            trainscope.scalar("child", index, index)
            trainscope.log({{"child": index}})
            with trainscope.step(3), trainscope.span("child"):
                trainscope.note("child")
            return [batch for batch in trainscope.steps([index])]

        if __name__ == "__main__":
            run = trainscope.start(sys.argv[1])
            run.scalar("parent", 1.0, 0)
            with multiprocessing.get_context({how!r}).Pool(2) as pool:
                assert pool.map(work, range(4)) == [[0], [1], [2], [3]]
            run.scalar("parent", 2.0, 1)
            assert run.finish().is_complete
    """
    assert execute(program, folder) == ("", "")
    assert scalars(folder) == {"parent": [(0, 1.0), (1, 2.0)]}
    assert notes(folder) == []


@pytest.mark.parametrize("how", ["fork", "forkserver", "spawn"])
@pytest.mark.parametrize("end", ["return", "run.finish()", "raise ValueError('in the child')"])
def test_a_run_that_is_started_in_a_child_is_whole(folder: Path, how: str, end: str) -> None:
    program = f"""
        import multiprocessing, sys, trainscope

        def work(folder):
            run = trainscope.start(folder + "/child", hparams={{"a": 1}}, flush_every=30)
            assert trainscope.current() is run
            for step in range(100):
                trainscope.scalar("child", step, step)
            {end}

        if __name__ == "__main__":
            run = trainscope.start(sys.argv[1] + "/parent")
            run.scalar("parent", 1.0, 0)
            child = multiprocessing.get_context({how!r}).Process(target=work, args=(sys.argv[1],))
            child.start()
            child.join()
            run.scalar("parent", 2.0, 1)
            assert run.finish().is_complete
    """
    execute(program, folder)
    assert scalars(folder / "parent") == {"parent": [(0, 1.0), (1, 2.0)]}
    assert scalars(folder / "child") == {"child": [(step, step) for step in range(100)]}
    assert notes(folder / "parent") == []
    has_failed = end.startswith("raise")
    assert status_of(folder / "child") == ("failure" if has_failed else "success")
    assert [note.split(" (")[0] for note in notes(folder / "child")] == (
        ["The training ended with ValueError: in the child"] if has_failed else []
    )


# Ends.


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "del run", "threading.Thread(target=run.scalar, args=('x', 7, 7)).start()"])
def test_without_finish_all_is_written_when_the_program_ends(folder: Path, end: str) -> None:
    program = f"""
        import sys, threading, trainscope
        run = trainscope.start(sys.argv[1], hparams={{"a": 1}}, flush_every=30)
        run.tensor("t", [1.0], step=0)
        for step in range(1000):
            run.scalar("y", step, step)
        {end}
    """
    assert execute(program, folder) == ("", "")
    assert scalars(folder)["y"] == [(step, step) for step in range(1000)]
    assert list(statistics(folder)) == ["t"]
    assert status_of(folder) == "success"


def test_a_thread_may_record_until_the_interpreter_is_gone(folder: Path) -> None:
    program = """
        import sys, threading, time, trainscope
        run = trainscope.start(sys.argv[1], on_full="block")
        def record():
            while True:
                run.scalar("x", 1.0, 1)
                with run.span("s"):
                    run.tensor("t", [1.0], step=1)
        for _ in range(3):
            threading.Thread(target=record, daemon=True).start()
        time.sleep(0.2)
    """
    assert execute(program, folder) == ("", "")


def test_an_uncaught_exception_is_noted_and_the_hook_before_ours_is_called(folder: Path) -> None:
    program = """
        import sys, trainscope
        sys.excepthook = lambda kind, error, traceback: print("hook", kind.__name__, error, traceback is not None)
        run = trainscope.start(sys.argv[1], hparams={"a": 1})
        run.scalar("x", 1.0, 3)
        def fail():
            raise ValueError("boom")
        fail()
    """
    output, errors = execute(program, folder, status=1)
    assert (output, errors) == ("hook ValueError boom True\n", "")
    line = 2 + next(index for index, text in enumerate(program.split("\n")) if "def fail" in text)
    assert notes(folder) == [f"The training ended with ValueError: boom ({folder.parent}/program.py:{line})"]
    assert status_of(folder) == "failure"
    assert scalars(folder) == {"x": [(3, 1.0)]}


def test_an_exception_prints_what_it_prints_without_us(folder: Path) -> None:
    program = """
        import sys, trainscope
        if len(sys.argv) > 1 and START:
            trainscope.start(sys.argv[1])
        raise ValueError("boom")
    """
    with_run = execute(program.replace("START", "True "), folder, status=1)
    assert with_run == execute(program.replace("START", "False"), folder, status=1)


@pytest.mark.parametrize(("end", "expected"), [
    ("raise ValueError('x')", "failure"), ("raise KeyboardInterrupt", "failure"), ("raise SystemExit(3)", "failure"),
    ("raise SystemExit", "success"), ("raise GeneratorExit", "success"), ("run.finish('failure')", "failure"), ("pass", "success"),
])
def test_a_block_that_is_left_ends_the_run(tmp_path: Path, end: str, expected: str) -> None:
    run = trainscope.start(tmp_path, hparams={"a": 1})
    try:
        with run as entered:
            assert entered is run
            exec(end)
    except BaseException as error:  # noqa: BLE001
        assert end.startswith("raise") and type(error).__name__ in end
    assert run.report().is_closed
    assert status_of(tmp_path) == expected


# Signals.

LOOPS = {
    "scalars": "run.scalar('x', step, step)",
    "mappings": "run.log({'x': step, 'y': {'z': step}}, step)",
    "tensors": "run.tensor('x', numbers, step=step)",
    "histograms": "run.histogram('x', numbers, step=step)",
    "flushes": "run.scalar('x', step, step); run.flush()",
    "steps": "[None for _ in run.steps(range(100))]",
    "invalid": "run.scalar('x', 'no number')",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_an_interrupt_ends_a_loop_at_once(folder: Path, loop: str) -> None:
    process = begin(f"""
        import itertools, signal, sys, trainscope
        numbers = memoryview(bytes(8_000_000)).cast("d") if {loop!r} in ("tensors", "histograms") else None
        run = trainscope.start(sys.argv[1], hparams={{"a": 1}}, every=1)
        step = interrupted = 0
        def interrupt(signum, frame):
            global interrupted
            interrupted = step
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, interrupt)
        print("ready", flush=True)
        try:
            for step in itertools.count():
                {LOOPS[loop]}
        except KeyboardInterrupt:
            print(step - interrupted, flush=True)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            raise
    """, folder, "-W", "ignore")
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    try:
        # The records at hand are still written: on a busy disk this takes a while.
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert output == "0\n", "the loop went on after the interrupt"
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
    # Reading millions of points takes longer than recording them: the note is looked for in the bytes.
    assert any(b"The training ended with KeyboardInterrupt" in path.read_bytes() for path in folder.iterdir())


INTERRUPTED = {
    "scalar": "run.scalar('x', Interrupts())",
    "log": "run.log({'x': Interrupts()})",
    "step": "run.scalar('x', 1.0, Interrupts())",
    "text": "run.text('x', Interrupts())",
    "note": "run.note(Interrupts())",
    "tensor": "run.tensor('x', Interrupts(), step=0)",
    "values": "run.values('x', Interrupts(), step=0)",
    "counter": "run.counter('x', Interrupts())",
    "trigger": "run.trigger(Interrupts())",
    "wall_time": "run.scalar('x', 1.0, wall_time=Interrupts())",
    "hparams": "run.hparams({'x': Interrupts()})",
}


@pytest.mark.parametrize("call", INTERRUPTED)
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_inside_of_a_call_passes(run: trainscope.Run, call: str, error: type[BaseException]) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise error

    names = ["__float__", "__index__", "__str__", "__repr__", "__array__", "item"]
    interrupts = type("Interrupts", (), dict.fromkeys(names, interrupt))
    with pytest.raises(error):
        exec(INTERRUPTED[call], {"run": run, "Interrupts": interrupts})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["item", "numpy", "__array__", "__array_interface__", "is_cpu", "data_ptr", "__getattr__"])
def test_an_interrupt_of_a_method_that_is_tried_first_passes(run: trainscope.Run, method: str) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    attribute = interrupt if method in ("item", "numpy", "__array__", "__getattr__") else property(interrupt)
    value = type("Interrupts", (), {method: attribute})()
    with pytest.raises(KeyboardInterrupt):
        run.scalar("x", value)
        run.tensor("x", value, step=0)


def test_a_killed_process_loses_what_is_younger_than_flush_every(folder: Path) -> None:
    process = begin("""
        import sys, time, trainscope
        run = trainscope.start(sys.argv[1], flush_every=0.2)
        for step in range(10_000):
            run.scalar("x", step, step)
            print(step, flush=True)
            time.sleep(0.01)
    """, folder)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) == 400:
            break
    process.kill()
    process.communicate()
    steps = [step for step, _ in scalars(folder)["x"]]
    assert steps == list(range(len(steps)))
    # 0.2 s are 20 steps; many more are allowed to a machine that is busy.
    assert steps[-1] >= 200


def test_a_terminated_process_loses_no_more_than_a_killed_one(folder: Path) -> None:
    process = begin("""
        import sys, time, trainscope
        run = trainscope.start(sys.argv[1], flush_every=0.2)
        run.scalar("x", 1.0, 0)
        print("ready", flush=True)
        time.sleep(120)
    """, folder)
    assert process.stdout is not None
    process.stdout.readline()
    until = time.monotonic() + 60
    while "x" not in scalars(folder) and time.monotonic() < until:
        time.sleep(0.1)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert scalars(folder) == {"x": [(0, 1.0)]}


# Several runs.


def test_the_run_before_is_finished_when_another_is_started(tmp_path: Path) -> None:
    first = trainscope.start(tmp_path / "first", hparams={"a": 1})
    first.scalar("x", 1.0, 0)
    second = trainscope.start(tmp_path / "second")
    assert first.report().is_closed
    with pytest.warns(trainscope.TrainscopeWarning, match=r"ended when `start` began another one.*trainscope.Run\(folder\)"):
        first.scalar("x", 2.0, 1)
    trainscope.scalar("y", 3.0, 1)
    assert first.finish().lost == {"after_finish": 1}
    assert second.finish().lost == {}
    assert (scalars(tmp_path / "first"), scalars(tmp_path / "second")) == ({"x": [(0, 1.0)]}, {"y": [(1, 3.0)]})
    assert notes(tmp_path / "second") == [
        f"The run in {tmp_path / 'first'} was still open: this one was started after it in the same process."
    ]
    third = trainscope.start(tmp_path / "third")
    third.finish()
    assert notes(tmp_path / "third") == []


@pytest.mark.parametrize(("end", "expected"), [("", "success"), ("raise ValueError('boom')", "failure")])
def test_all_runs_that_are_open_at_once_end_with_the_process(folder: Path, end: str, expected: str) -> None:
    program = f"""
        import sys, trainscope
        runs = [trainscope.Run(sys.argv[1] + name, flush_every=30) for name in ("a", "b")]
        for number, run in enumerate(runs):
            run.hparams({{"a": number}})
            run.scalar("x", number, number)
        assert trainscope.current() is None
        {end}
    """
    execute(program, folder, status=1 if end else 0)
    for number, name in enumerate("ab"):
        path = Path(f"{folder}{name}")
        assert scalars(path) == {"x": [(number, float(number))]}
        assert status_of(path) == expected
        assert len(notes(path)) == (1 if end else 0)


def test_a_cell_that_is_run_again_is_a_restart(tmp_path: Path) -> None:
    for attempt in range(3):
        run = trainscope.start(tmp_path)
        for step in range(4 - attempt):
            run.scalar("x", attempt, step)
    report = run.finish()
    assert (report.lost, len(list(tmp_path.iterdir()))) == ({}, 3)
    got = [(int(row["step"]), float(row["value"])) for row in export(tmp_path, "scalars")]
    assert got[:2] == [(0, 2.0), (1, 2.0)]


def test_a_start_that_fails_leaves_the_run_before_as_it_is(tmp_path: Path) -> None:
    run = trainscope.start(tmp_path / "run")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        trainscope.start(tmp_path / "file")
    for wrong in ({"every": "often"}, {"patience": -1}, {"on_full": "wait"}, {"channels": {"wight": 1}}, {"names": 5}):
        with pytest.raises((TypeError, ValueError)):
            trainscope.start(tmp_path / "other", **wrong)  # type: ignore[arg-type]
    assert trainscope.current() is run
    run.scalar("x", 1.0, 0)
    assert run.finish().is_complete


def test_a_copy_of_an_object_that_holds_a_run_holds_the_same_run(run: trainscope.Run) -> None:
    assert copy.deepcopy({"run": run})["run"] is run


def test_runs_beside_each_other_do_not_mix(tmp_path: Path) -> None:
    runs = [trainscope.Run(tmp_path / str(index)) for index in range(5)]
    for step in range(10):
        for index, run in enumerate(runs):
            run.scalar(f"x{index}", step, step)
    for index, run in enumerate(runs):
        assert run.finish().is_complete
        assert scalars(tmp_path / str(index)) == {f"x{index}": [(step, step) for step in range(10)]}


@pytest.mark.parametrize(("variables", "expected"), [
    ({"RANK": "2", "WORLD_SIZE": "4"}, 2),
    ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"}, 2),
    ({"PMI_RANK": "2", "PMI_SIZE": "4"}, 2),
    ({"RANK_ID": "2", "RANK_SIZE": "4"}, 2),
    ({"SLURM_STEP_ID": "0", "SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "4"}, 2),
    ({"RANK": "1", "WORLD_SIZE": "4", "PMI_RANK": "2", "PMI_SIZE": "4"}, 1),
    ({"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "4"}, None),
    ({"RANK": "0", "WORLD_SIZE": "1"}, None),
    ({"RANK": "2"}, None),
    ({"RANK": "5", "WORLD_SIZE": "4"}, None),
    ({"RANK": "two", "WORLD_SIZE": "4"}, None),
    ({"RANK": "-1", "WORLD_SIZE": "4"}, None),
    ({}, None),
])
def test_the_rank_is_that_of_the_launcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: int | None
) -> None:
    for name in os.environ:
        if name.startswith(LAUNCHERS):
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    run = trainscope.start(tmp_path)
    run.scalar("x", 1.0, 0)
    (path,) = run.finish().files
    assert run.rank == (expected or 0)
    assert path.parent == (tmp_path if expected is None else tmp_path / f"rank_{expected}")
    assert [row["rank"] for row in export(tmp_path, "scalars")] == [str(expected or 0)]


def test_a_rank_that_is_given_is_not_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("WORLD_SIZE", "4")
    run = trainscope.start(tmp_path, rank=1, world_size=2)
    run.scalar("x", 1.0, 0)
    assert (run.rank, run.finish().files[0].parent) == (1, tmp_path / "rank_1")
    direct = trainscope.Run(tmp_path / "direct")
    direct.scalar("x", 1.0, 0)
    assert (direct.rank, direct.finish().files[0].parent) == (0, tmp_path / "direct")


@pytest.mark.parametrize(("value", "expected"), [("3", [0, 3, 6]), ("", [0]), ("often", [0]), ("-3", [0])])
def test_the_steps_that_are_selected_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, expected: list[int]
) -> None:
    monkeypatch.setenv("TRAINSCOPE_EVERY", value)
    run = trainscope.start(tmp_path, first=1)
    for step in range(8):
        run.tensor("x", [1.0], step=step)
    run.finish()
    assert list(statistics(tmp_path)["x"]) == expected


# Disks.


def test_a_folder_that_is_removed_is_in_the_report_and_in_one_warning(tmp_path: Path) -> None:
    run = trainscope.start(tmp_path / "run")
    run.scalar("x", 1.0, 0)
    assert run.flush()
    shutil.rmtree(tmp_path / "run")
    for step in range(1, 5):
        run.scalar("x", 1.0, step)
        run.flush()
    with pytest.warns(trainscope.TrainscopeWarning, match="records are not in") as caught:
        report = run.finish()
        run.finish()
    assert (len(caught), caught[0].filename) == (1, __file__)
    assert sum(report.lost.values()) >= 1
    assert not report.is_complete


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o777)
    yield path
    path.chmod(0o777)
    shutil.rmtree(path)


READ_ONLY = """
    import os, sys, trainscope
    if os.getuid() == 0:
        os.setuid(65534)  # Everything is writable for root.
"""


def test_a_folder_that_cannot_be_made_is_an_error_of_start(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    program = READ_ONLY + """
    try:
        trainscope.start(sys.argv[1])
    except OSError as error:
        print(error)
    """
    path = Path(tempfile.mkdtemp()) / "program.py"
    path.parent.chmod(0o755)
    path.write_text(textwrap.dedent(program))
    environment = ENVIRONMENT | {"PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, path, open_folder / "run"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    shutil.rmtree(path.parent)
    assert "the folder of the run cannot be made: Permission denied" in done.stdout


FULL = {
    "at once": "limit(0)",
    "after a while": "run.scalar('before', 1.0, 0); run.flush(); limit(1_000)",
}


@pytest.mark.parametrize("when", FULL)
def test_a_full_disk_changes_nothing_but_the_report_and_one_warning(folder: Path, when: str) -> None:
    # A limit on the size of files has the effect of a full disk: the system refuses a write in the same way.
    output, errors = execute(f"""
        import resource, sys, trainscope
        def limit(size):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        run = trainscope.start(sys.argv[1], patience=2)
        {FULL[when]}
        for step in range(2_000):
            run.scalar("x", step, step)
            run.tensor("t", [1.0], step=step)
        run.flush()
        report = run.finish()
        print(report.lost["disk"] > 0, report.is_complete, report.first_error)
    """, folder)
    assert output.startswith("True False the event file: File too large"), output
    assert errors.count("TrainscopeWarning") == 1
    assert "File too large" in errors
    if when == "after a while":
        assert scalars(folder)["before"] == [(0, 1.0)]


# Warnings and notebooks.


def test_warnings_that_are_errors_do_not_reach_the_training(folder: Path) -> None:
    output, errors = execute("""
        import sys, trainscope
        trainscope.scalar("before", 1.0)
        with trainscope.start(sys.argv[1]) as run:
            run.scalar("x", "no number")
            run.tensor("x", object(), step=0)
            run.hparams(5)
            run.image("x", None)
            run.finish("failed")
            print(run.report().lost)
    """, folder, "-W", "error")
    assert (output, errors) == ("{'invalid': 5}\n", "")


def test_an_error_in_a_cell_of_a_notebook_is_noted_and_the_run_goes_on(folder: Path) -> None:
    execute("""
        import sys, types
        class Events:
            def register(self, name, function):
                assert name == "post_run_cell"
                Events.function = function
        shell = types.SimpleNamespace(events=Events())
        sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
        import trainscope
        run = trainscope.start(sys.argv[1], hparams={"a": 1})
        Events.function(types.SimpleNamespace(error_in_exec=None))
        Events.function(types.SimpleNamespace(error_in_exec=ValueError("in a cell")))
        run.scalar("x", 1.0, 0)
    """, folder)
    assert notes(folder) == ["A cell ended with ValueError: in a cell"]
    assert (status_of(folder), scalars(folder)) == ("success", {"x": [(0, 1.0)]})


def test_an_exception_whose_text_cannot_be_read_is_the_one_that_the_user_gets(tmp_path: Path) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    with pytest.raises(Mute), trainscope.start(tmp_path) as run:
        raise Mute
    assert run.report().is_closed


# The place of the run.


def test_a_relative_folder_is_that_of_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with trainscope.start("runs/x") as run, trainscope.Run("runs/y") as other:
        os.chdir("elsewhere")
        assert (run.folder, other.folder) == (tmp_path / "runs" / "x", tmp_path / "runs" / "y")
        run.scalar("loss", 1.0, 0)
        assert run.flush()
        run.graph(b"\x08\x08", name="small")
        other.scalar("loss", 1.0, 0)
    assert not run.report().lost and not list((tmp_path / "elsewhere").iterdir())
    assert scalars(tmp_path / "runs" / "x") == scalars(tmp_path / "runs" / "y") == {"loss": [(0, 1.0)]}
    assert (tmp_path / "runs" / "x" / "small.onnx").exists()


@pytest.mark.parametrize("address", ["s3://bucket/x", "gs://bucket", Path("s3://bucket/x"), "file:///tmp/x"])
def test_an_address_of_a_store_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str | Path) -> None:
    monkeypatch.chdir(tmp_path)
    for begin in (trainscope.start, trainscope.Run, trainscope.SummaryWriter, trainscope.tensorboard.FileWriter):
        with pytest.raises(ValueError, match="records go into a folder of a file system"):
            begin(address)
    assert not list(tmp_path.iterdir())


START = """
import sys, trainscope
trainscope.start(sys.argv[1]).finish()
trainscope.start(sys.argv[1], quiet=True).finish()
trainscope.start(sys.argv[1], rank=1, world_size=2).finish()
trainscope.Run(sys.argv[1]).finish()
trainscope.SummaryWriter(sys.argv[1]).close()
"""


def test_start_says_in_one_line_how_to_see_the_run(folder: Path) -> None:
    folder = folder.with_name("my run")
    line = f"trainscope: recording; to see the run: trainscope start --summary-base-dir '{folder}'\n"
    assert execute(START, folder, TRAINSCOPE_QUIET="0") == ("", line)
    assert execute(START, folder, TRAINSCOPE_QUIET="1") == ("", "")
    assert execute("import sys\nsys.stderr.close()" + START, folder, TRAINSCOPE_QUIET="") == ("", "")
    assert execute("import sys\nsys.stderr = None" + START, folder, TRAINSCOPE_QUIET="") == ("", "")


SPAWN = """
import multiprocessing, pickle, sys
import trainscope

def work(run, writer):
    for number in run.steps([5]):
        run.scalar("x", number)
        writer.add_scalar("x", number, 1)
    with run.step(), run.span("work"):
        pass
    run.span("work")(print)("worked")
    pickle.dumps(run)
    print(run.finish() is run)

if __name__ == "__main__":
    with trainscope.start(sys.argv[1]) as run, trainscope.SummaryWriter(sys.argv[1]) as writer:
        run.scalar("loss", 1.0, 0)
        child = multiprocessing.get_context("spawn").Process(target=work, args=(run, writer))
        child.start()
        child.join()
        sys.exit(child.exitcode)
"""


def test_a_run_that_is_sent_to_another_process_records_nothing_there_and_says_so_once(folder: Path) -> None:
    output, errors = execute(SPAWN, folder)
    assert output == "worked\nTrue\n"
    for what in (f"the run in {folder}", f"the writer in {folder}"):
        assert errors.count(f"{what} is that of another process, and nothing is recorded here") == 1, errors
    assert scalars(folder) == {"loss": [(0, 1.0)]}


def test_copies_of_a_run_and_a_writer_are_themselves(tmp_path: Path) -> None:
    with trainscope.start(tmp_path) as run, trainscope.SummaryWriter(tmp_path) as writer:
        for own in (run, writer):
            assert copy.deepcopy({"a": own})["a"] is own and copy.copy(own) is own
