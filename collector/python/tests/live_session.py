"""A server, and trainings that are connected to it, for tests of live sessions."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recorded import PROGRAM


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server on an empty folder, with a pause that ends a second after its connection."""
    environment = os.environ | {"TRAINSCOPE_SESSION_LIMITS": "5,1800,1"}
    arguments = [PROGRAM, "start", "--summary-base-dir", str(tmp_path), "--port", "0", "--cache-dir", str(tmp_path / "cache")]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            yield found[0], process
            break
    process.kill()
    process.wait()


class Training:
    """A training in a process of its own, that prints the number of each step."""

    def __init__(self, program: str, folder: Path, server: str, **environment: str) -> None:
        environment = os.environ | {"TRAINSCOPE_SERVER": server} | environment
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, str(folder)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )

    def step(self) -> int:
        """Waits for the next step."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read() if self.process.stderr else ""
        return int(line)

    def end(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.communicate()


def control(folder: Path, server: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs `trainscope control`."""
    arguments = [PROGRAM, "control", folder.name, *command, "--server", server]
    return subprocess.run(arguments, capture_output=True, text=True)


def status(folder: Path, server: str) -> dict[str, Any]:
    """The session of a run; without a state before there is one."""
    answer = control(folder, server, "status", "--json")
    return json.loads(answer.stdout) if answer.returncode == 0 else {"state": None}


def wait_for(condition: Callable[[], bool]) -> None:
    """Looks until the condition holds, at most a minute."""
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)
