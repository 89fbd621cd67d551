"""Answers of SQL as tables of pandas and Arrow."""

from pathlib import Path

import pyarrow
import pytest
import trainscope
from recorded import PROGRAM

TRACE = Path(__file__).parents[4] / "tests/fixtures/profile/torch-cnn/tb.pt.trace.json.gz"
STATEMENT = "SELECT id, name, duration_ns, parent, 0.5 AS half, 1e999 AS largest FROM slices ORDER BY id LIMIT 40"


@pytest.fixture(autouse=True)
def _program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSCOPE_PROGRAM", PROGRAM)


def test_an_arrow_table_has_the_rows_and_types_of_the_answer() -> None:
    rows = trainscope.query(TRACE, STATEMENT)
    table = rows.to_arrow()
    assert table.column_names == rows.columns
    assert [list(row.values()) for row in table.to_pylist()] == rows.rows
    types = [field.type for field in table.schema]
    assert types == [pyarrow.int64(), pyarrow.string(), pyarrow.int64(), pyarrow.int64(), pyarrow.float64(), pyarrow.float64()]
    assert table["parent"].null_count > 0


def test_a_data_frame_has_the_rows_of_the_answer() -> None:
    rows = trainscope.query(TRACE, STATEMENT)
    frame = rows.to_pandas()
    assert list(frame.columns) == rows.columns
    assert frame["name"].tolist() == [row["name"] for row in rows]
    assert frame["duration_ns"].sum() == sum(row["duration_ns"] for row in rows)
    assert (frame["largest"] == float("inf")).all()


def test_an_answer_without_rows_is_an_empty_table() -> None:
    rows = trainscope.query(TRACE, "SELECT name, begin_ns FROM slices WHERE 0")
    assert rows.to_arrow().num_rows == 0
    assert rows.to_arrow().column_names == ["name", "begin_ns"]
    assert rows.to_pandas().empty
