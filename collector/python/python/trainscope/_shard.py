"""One part of a check, as a function that every engine can send to a worker."""

from __future__ import annotations

from typing import Any

from trainscope import _program

LAST_LINES = 20
"""Lines of standard error in the message about a part that failed."""


class CheckError(RuntimeError):
    """A check that could not be made: a folder without runs, a part that failed, or a program that is missing."""


def run(part: dict[str, Any]) -> dict[str, Any]:
    """Computes the summaries of one part, by `trainscope check --shard`. Takes and returns plain values only.

    Raises:
        CheckError: The program failed; the message has its last lines.
    """
    # Modules that a training does not need.
    import subprocess
    import time

    program = _program.find()
    if program is None:
        raise CheckError("the program `trainscope` is not installed")
    began = time.monotonic()
    shard = f"{part['shard']}/{part['shards']}"
    command = [program, "check", *part["flags"], "--quiet", "--shard", shard, *part["runs"]]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode != 0:
        last = "\n".join(done.stderr.splitlines()[-LAST_LINES:])
        raise CheckError(f"shard {shard} ended with status {done.returncode}: {last}")
    seconds = time.monotonic() - began
    return {"shard": part["shard"], "status": done.returncode, "seconds": seconds, "stderr": done.stderr}
