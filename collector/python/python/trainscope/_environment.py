"""The environment of a training: its command, versions and commit."""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
import threading

from trainscope._facts import Facts

_SECRET = re.compile(r"(?i)(key|token|secret|password|passwd|credential)")

WAIT = 5.0
"""Seconds that git gets for its answer."""


class Environment:
    """The environment of one run. Its commit is asked for on a thread, as git may take seconds."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._commit: dict[str, str] = {}

    def begin(self) -> None:
        """Begins to ask for the commit, once."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._find_commit, daemon=True, name="trainscope-commit")
            self._thread.start()

    def put(self, facts: Facts, *, is_end: bool) -> None:
        """Puts the fact once the commit is known, at the end also without it."""
        if self._commit or is_end:
            facts.put("environment", "", {}, texts() | self._commit)

    def finish(self, facts: Facts) -> None:
        """Waits a second for the commit, and puts the fact."""
        if self._thread is not None:
            self._thread.join(1.0)
            self.put(facts, is_end=True)

    def _find_commit(self) -> None:
        self._commit = commit(os.getcwd())


def texts() -> dict[str, str]:
    """Command line, versions and host. Values of arguments whose names speak of secrets are left out."""
    known = {"command": command(list(sys.orig_argv)), "python": platform.python_version(), "host": platform.node()}
    torch = sys.modules.get("torch")
    if torch is not None:
        known["torch"] = str(getattr(torch, "__version__", ""))
    return known


def command(arguments: list[str]) -> str:
    """The command line as one writes it, with `…` in the place of secrets."""
    shown = []
    is_secret = False
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        if is_secret and not argument.startswith("-"):
            argument = "…"
        elif equals and _SECRET.search(name):
            argument = f"{name}=…"
        is_secret = argument.startswith("-") and not equals and bool(_SECRET.search(argument))
        shown.append(argument if "…" in argument else shlex.quote(argument))
    return " ".join(shown)


def commit(folder: str) -> dict[str, str]:
    """Commit of the repository around a folder, and if files differ from it. Empty without one, or without git."""
    head = _git(folder, "rev-parse", "HEAD")
    if not head:
        return {}
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    found = {"commit": head}
    if changes is not None:
        found["is_dirty"] = "true" if changes else "false"
    return found


def _git(folder: str, *arguments: str) -> str | None:
    # The index is not written again by being read.
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            ["git", "-C", folder, *arguments], capture_output=True, text=True, errors="replace", timeout=WAIT,
            env=environment, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
