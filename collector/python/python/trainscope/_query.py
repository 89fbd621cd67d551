"""SQL over the profiles of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainscope import _program


INFINITE = {"Infinity": float("inf"), "-Infinity": float("-inf")}
"""Numbers that JSON has as texts."""


class QueryError(RuntimeError):
    """A statement that is wrong, a run without a profile, or a program that is missing."""


@dataclass(frozen=True)
class Rows:
    """Rows of a statement."""

    columns: list[str]
    """Names of the columns."""
    rows: list[list[Any]]
    """`int`, `float`, `str` or `None` for each column."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`, of which `polars.from_arrow` and DuckDB take columns without a copy.

        Raises:
            ImportError: `pyarrow` is not installed.
        """
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

        arrays = [pyarrow.array([row[at] for row in self.rows]) for at in range(len(self.columns))]
        return pyarrow.Table.from_arrays(arrays, names=self.columns)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`.

        Raises:
            ImportError: `pandas` is not installed.
        """
        import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return pandas.DataFrame(self.rows, columns=self.columns)


def query(
    run: os.PathLike[str] | str,
    sql: str,
    *,
    session: str = "newest",
    rank: int | None = None,
    timeout_secs: int = 300,
) -> Rows:
    """Runs one SELECT over the profiles of a session, by `trainscope query`.

    Tables are `slices`, `steps`, `lanes`, `flows`, `counters` and `memory`; `trainscope query --tables` lists their columns.

    Args:
        run: Folder of the run, or the file of a trace.
        sql: The statement, in the dialect of SQLite.
        session: Id of the session, `newest`, or `all`.
        rank: Rank; all of them if left out, told apart by the column `rank`.
        timeout_secs: Seconds after which the statement is ended.

    Raises:
        QueryError: The statement is wrong, took too long or needs too much memory, or the run has no profile.
    """
    # Modules that a training does not need.
    import json
    import subprocess

    program = _program.find()
    if program is None:
        raise QueryError("the program `trainscope` is not installed")
    command = [program, "query", "--format", "json", "--session", session, "--timeout", str(timeout_secs)]
    if rank is not None:
        command += ["--rank", str(rank)]
    done = subprocess.run(
        [*command, "--", os.fspath(run), "-"], input=sql, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        raise QueryError(done.stderr.strip())
    answer = json.loads(done.stdout)
    return Rows(answer["columns"], [[INFINITE.get(value, value) for value in row] for row in answer["rows"]])
