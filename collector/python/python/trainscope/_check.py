"""Judgement of recorded trainings, in parts on any engine that applies a function to a list."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from trainscope import _program, _shard
from trainscope._shard import CheckError

SUMMARIES = os.path.join(".trainscope", "summaries")
"""Folder of summaries below the first run, unless another one is given."""


@dataclass(frozen=True)
class CheckResult:
    """The answer of a check."""

    ok: bool
    """`True` if nothing was found that makes `trainscope check` fail."""
    hits: list[dict[str, Any]]
    """All hits."""
    first_cause: dict[str, Any] | None
    """The first hit in the flow of data."""
    raw: bytes
    """The JSON of the program, byte by byte."""


def check(
    runs: os.PathLike[str] | str | Sequence[os.PathLike[str] | str],
    *,
    shards: int | None = None,
    summaries: os.PathLike[str] | str | None = None,
    plan: os.PathLike[str] | str | None = None,
    watchpoints: os.PathLike[str] | str | None = None,
    map: Callable[[Callable[[dict[str, Any]], dict[str, Any]], list[dict[str, Any]]], Iterable[Any]] = builtins.map,
) -> CheckResult:
    """Judges runs, by `trainscope check`. The answer does not depend on the number of parts, nor on the engine.

    Args:
        runs: Folder with runs, or several of them.
        shards: Number of parts whose tensors are read by `map`. Without it, this machine reads all of them.
        summaries: Folder that all workers reach, for the summaries of the parts.
        plan: File with the list of files, which is made if it does not exist.
        watchpoints: File of watchpoints; the recommended ones if left out.
        map: Applies a function to a list: `map`, `ThreadPoolExecutor().map`, or that of an engine.

    Raises:
        CheckError: Nothing was judged, or a part failed.
    """
    # Modules that a training does not need.
    import json
    import subprocess

    program = _program.find()
    if program is None:
        raise CheckError("the program `trainscope` is not installed")
    paths = [runs] if isinstance(runs, (str, os.PathLike)) else runs
    folders = [os.path.abspath(path) for path in paths]
    flags: list[str] = []
    if watchpoints is not None:
        flags += ["--watchpoints", os.path.abspath(watchpoints)]
    if plan is not None:
        flags += ["--plan", os.path.abspath(plan)]
    if summaries is not None or shards is not None:
        folder = summaries if summaries is not None else os.path.join(folders[0], SUMMARIES)
        flags += ["--summaries", os.path.abspath(folder)]
    if shards is not None:
        parts = [{"shard": at, "shards": shards, "flags": flags, "runs": folders} for at in range(shards)]
        # Lazy engines work only while their results are taken.
        for _ in map(_shard.run, parts):
            pass
    command = [program, "check", *flags, "--quiet", "--format", "json", *folders]
    done = subprocess.run(command, capture_output=True, check=False)
    if not done.stdout:
        raise CheckError(done.stderr.decode(errors="replace").strip())
    answer = json.loads(done.stdout)
    return CheckResult(done.returncode == 0, answer["hits"], answer["first_cause"], done.stdout)
