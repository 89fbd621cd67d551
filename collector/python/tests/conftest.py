"""A run in a folder of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trainscope

# Tests look at what programs print; the line of `start` has tests of its own.
os.environ["TRAINSCOPE_QUIET"] = "1"
# So has the load of the machine; a test that is slow would record some.
os.environ["TRAINSCOPE_SYSTEM"] = "0"

# Tests with frameworks share helpers with those of the core.
sys.path.insert(0, str(Path(__file__).parent / "core"))


@pytest.fixture
def run(tmp_path: Path) -> Iterator[trainscope.Run]:
    """A run that looks at the tensors of every step; it is finished after the test, if the test has not done so."""
    run = trainscope.start(tmp_path / "run", every=1)
    yield run
    run.finish()


@pytest.fixture(autouse=True)
def nothing_stays_compiled() -> Iterator[None]:
    """Lines are not noted in a program that has compiled a function: what one test compiles is forgotten by the next one."""
    yield
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None and getattr(sys.modules.get("torch._dynamo.eval_frame"), "cached_backends", None):
        dynamo.reset()
