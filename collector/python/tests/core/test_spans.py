"""Spans with kinds and lanes, and flows between them, as the program reads them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trainscope
from reading import profile, spans
from trainscope import Run, TrainscopeWarning

KINDS = ["compute", "communication", "copy", "data", "host", "idle"]


def counts(folder: Path) -> dict[str, int]:
    """Number of spans by kind; those without one have the kind ""."""
    return {name: category["count"] for name, category in profile(folder)["categories"].items()}


def lanes(folder: Path) -> dict[tuple[str, str], int]:
    """Number of spans by lane: process and thread."""
    return {(lane["process"], lane["thread"]): lane["slices"] for lane in profile(folder)["lanes"]}


def test_spans_have_the_kinds_that_are_given(run: Run) -> None:
    for times, kind in enumerate(KINDS, 1):
        for _ in range(times):
            with run.span("one name", kind=kind):
                pass
    with run.span("one name"), run.span("one name", kind="other"), run.span("one name", kind=None):
        pass
    assert run.finish().lost == {}
    assert counts(run.folder) == {kind: times for times, kind in enumerate(KINDS, 1)} | {"": 3}


def test_every_call_of_a_decorated_function_has_the_kind_and_the_lane(run: Run) -> None:
    @run.span("call", kind="compute", lane="stream 7")
    def call() -> int:
        return 1

    @run.span("generator", kind="data", lane="stream 7")
    def generator() -> Iterator[int]:
        yield call()

    @run.span("coroutine", kind="communication", lane="stream 7")
    async def coroutine() -> int:
        return call()

    run.lane("stream 7", "stream")
    assert (call(), list(generator()), asyncio.run(coroutine())) == (1, [1], 1)
    assert run.finish().lost == {}
    assert counts(run.folder) == {"compute": 3, "data": 1, "communication": 1}
    assert lanes(run.folder) == {("device", "stream 7"): 5}


def test_lanes_are_what_they_were_declared_and_threads_otherwise(run: Run) -> None:
    for kind in ("thread", "device", "stream", "process"):
        run.lane(f"a {kind}", kind)
        with run.span("x", lane=f"a {kind}"):
            pass
    worker = threading.Thread(target=run.span("x")(lambda: None), name="worker")
    worker.start()
    worker.join()
    with run.span("x", lane="none of these"):
        pass
    assert run.finish().lost == {}
    assert lanes(run.folder) == dict.fromkeys(
        [("", "a thread"), ("device", "a device"), ("device", "a stream"), ("a process", ""), ("", "worker"),
         ("", "none of these")], 1)


def test_flows_lead_from_span_to_span_across_threads_and_lanes(run: Run) -> None:
    handed: list[Any] = []

    def put() -> None:
        with run.span("put"):
            handed.append(run.flow())

    producer = threading.Thread(target=put, name="producer")
    producer.start()
    producer.join()
    with run.span("get"):
        run.end_flow(handed[0])
    with run.span("kernel", lane="stream 7"):
        launch = run.flow()
        copy = run.flow(lane="stream 7")
        with run.span("result"):
            # The first begins outside of every span of this thread.
            run.end_flow(launch)
            run.end_flow(copy)
            run.end_flow(copy, lane="stream 7")
    assert run.finish().lost == {}
    session = profile(run.folder)
    assert (session["flows"], session["flows_without_end"]) == ({"flow": 3}, 1)


def test_a_flow_that_never_ends_is_not_recorded(run: Run) -> None:
    with run.span("put"):
        run.flow()
    assert run.finish().records_written == 1
    session = profile(run.folder)
    assert (session["flows"], session["flows_without_end"]) == ({}, 0)


def test_what_is_wrong_about_a_span_is_left_out_and_the_span_recorded(run: Run) -> None:
    with pytest.warns(TrainscopeWarning) as caught:
        with run.span("x", kind="gpu", lane="stream 7"):
            pass
        with run.span("y", kind="copy", lane=7):  # type: ignore[arg-type]
            pass
        run.lane("stream 7", "gpu")
    assert [str(warning.message) for warning in caught] == [
        'trainscope: there is no kind "gpu": compute, communication, copy, data, host, idle, other',
        "trainscope: a name must be text, not int",
        'trainscope: there is no kind "gpu": thread, device, stream, process',
    ]
    assert run.finish().lost == {"invalid": 3}
    assert [name for name, _, _ in spans(run.folder)] == ["x", "y"]
    assert counts(run.folder) == {"": 1, "copy": 1}
    assert lanes(run.folder) == {("", "stream 7"): 1, ("", "MainThread"): 1}


def test_the_wait_for_a_batch_is_data_and_its_body_is_not(run: Run) -> None:
    assert list(run.steps("ab")) == ["a", "b"]
    run.finish()
    assert counts(run.folder) == {"data": 2, "": 2}


def test_the_functions_of_the_module_are_those_of_the_run(tmp_path: Path) -> None:
    run = trainscope.start(tmp_path / "run")
    trainscope.lane("stream 7", "stream")
    with trainscope.span("put"):
        flow = trainscope.flow()
    with trainscope.span("get", kind="copy", lane="stream 7"):
        trainscope.end_flow(flow, lane="stream 7")
    # One that was begun before there was a run.
    trainscope.end_flow(None)
    assert run.finish().lost == {}
    assert (counts(run.folder), lanes(run.folder)) == (
        {"": 1, "copy": 1}, {("", "MainThread"): 1, ("device", "stream 7"): 1})
    assert profile(run.folder)["flows"] == {"flow": 1}
