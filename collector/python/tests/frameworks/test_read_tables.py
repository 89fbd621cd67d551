"""Recorded data as tables of Arrow, polars, pandas and DuckDB: NaN and infinities are found by each of them."""

import math
from pathlib import Path

import duckdb
import polars
import pyarrow
import pytest
import trainscope
from recorded import PROGRAM

VALUES = [1.5, math.nan, math.inf, -math.inf, 0.1, math.nan]


@pytest.fixture(autouse=True)
def _program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSCOPE_PROGRAM", PROGRAM)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with trainscope.start(tmp_path / "run") as run:
        for step, value in enumerate(VALUES):
            run.scalar("loss", value, step=step)
    return tmp_path / "run"


def test_each_engine_counts_values_that_are_not_finite(run: Path, tmp_path: Path) -> None:
    table = trainscope.read(run)
    arrow = table.to_arrow()
    assert [repr(value) for value in arrow["value"].to_pylist()] == [repr(value) for value in VALUES]
    assert arrow.schema.field("wall_time").type == pyarrow.timestamp("us", "UTC")
    values = table.to_polars()["value"]
    counts = (values.is_nan().sum(), (values == math.inf).sum(), (values == -math.inf).sum())
    assert counts == (2, 1, 1)
    assert table.to_pandas()["value"].isna().sum() == 2
    file = tmp_path / "scalars.parquet"
    file.write_bytes(table.parquet)
    found = duckdb.sql(
        f"SELECT count(*) FILTER (isnan(value)), count(*) FILTER (value = 'inf'), "
        f"count(*) FILTER (value = '-inf') FROM '{file}'"
    ).fetchall()
    assert found == [(2, 1, 1)]
    # NaN is the largest number there: pruning by a maximum would lose it.
    assert duckdb.sql(f"SELECT count(*) FROM '{file}' WHERE isnan(value)").fetchall() == [(2,)]
    assert duckdb.sql(f"SELECT count(*) FROM '{file}' WHERE value > 1").fetchall() == [(4,)]


def test_other_libraries_take_the_table_as_it_is(run: Path) -> None:
    losses = trainscope.read(run, tags="^loss$", rank=0)
    assert pyarrow.table(losses).num_rows == len(VALUES)
    assert polars.DataFrame(losses).height == len(VALUES)
    assert duckdb.sql("SELECT max(step) FROM losses").fetchall() == [(len(VALUES) - 1,)]


def test_several_runs_have_a_column_with_their_names(run: Path) -> None:
    with trainscope.start(run.parent / "other") as other:
        other.scalar("loss", 2.0, step=0)
    both = trainscope.read([run, run.parent / "other"]).to_arrow()
    assert set(both["run"].to_pylist()) == {str(run), str(run.parent / "other")}
    every = trainscope.read(run.parent, all_runs=True).to_arrow()
    assert every.num_rows == both.num_rows == len(VALUES) + 1


def test_a_run_without_such_records_says_so(run: Path) -> None:
    with pytest.raises(trainscope.ReadError, match="has recorded no histograms"):
        trainscope.read(run, "histograms")
