"""Recorded data of runs as tables of Arrow, polars and pandas."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trainscope import _program

Kind = Literal["scalars", "statistics", "histograms", "hits", "text", "steps", "profile", "operators", "memory", "ranks"]


class ReadError(RuntimeError):
    """A run that cannot be read or has no such records, or a program that is missing."""


@dataclass(frozen=True)
class Table:
    """Rows of a kind of record.

    `pyarrow.table(table)`, `polars.DataFrame(table)` and DuckDB's `SELECT … FROM rows` take it as it is; all of them need
    `pyarrow`, but for `to_polars`.
    """

    parquet: bytes
    """The rows as a Parquet file."""

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`.

        Raises:
            ImportError: `pyarrow` is not installed.
        """
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
        import pyarrow.parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return pyarrow.parquet.read_table(pyarrow.BufferReader(self.parquet))

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`.

        Raises:
            ImportError: `pandas` or `pyarrow` is not installed.
        """
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A `polars.DataFrame`.

        Raises:
            ImportError: `polars` is not installed.
        """
        import polars  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return polars.read_parquet(self.parquet)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow stream of the rows, by the PyCapsule interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def read(
    runs: os.PathLike[str] | str | Sequence[os.PathLike[str] | str],
    kind: Kind = "scalars",
    *,
    tags: str | None = None,
    rank: int | None = None,
    all_runs: bool = False,
) -> Table:
    """Reads the records of runs, by `trainscope export --format parquet`.

    Args:
        runs: Folder of a run, or several of them. Of several runs, the table has a column `run`.
        kind: Kind of record.
        tags: Regular expression for tags, tensors or conditions; all of them if left out.
        rank: Rank; all of them if left out.
        all_runs: Reads all runs below the folders.

    Raises:
        ReadError: A folder holds no run, no run has such records, or a record cannot be read.
    """
    # Modules that a training does not need.
    import subprocess

    program = _program.find()
    if program is None:
        raise ReadError("the program `trainscope` is not installed")
    command = [program, "export", "--kind", kind, "--format", "parquet"]
    if tags is not None:
        command += ["--tags", tags]
    if rank is not None:
        command += ["--rank", str(rank)]
    if all_runs:
        command += ["--all-runs"]
    paths = [runs] if isinstance(runs, (str, os.PathLike)) else runs
    done = subprocess.run([*command, "--", *(os.fspath(path) for path in paths)], capture_output=True, check=False)
    if done.returncode != 0:
        raise ReadError(done.stderr.decode(errors="replace").strip())
    return Table(done.stdout)
