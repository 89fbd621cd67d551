"""SQL over profiles."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
import trainscope
from recorded import PROGRAM

TRACE = Path(__file__).parents[4] / "tests/fixtures/profile/torch-cnn/tb.pt.trace.json.gz"


@pytest.fixture(autouse=True)
def _program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSCOPE_PROGRAM", PROGRAM)


def test_rows_are_the_slices_of_the_file() -> None:
    events = json.loads(gzip.decompress(TRACE.read_bytes()))["traceEvents"]
    calls = Counter(event["name"] for event in events if event.get("ph") == "X" and event["cat"] == "cpu_op")
    rows = trainscope.query(TRACE, "SELECT name, count(*) AS calls FROM slices WHERE category = 'cpu_op' GROUP BY name")
    assert rows.columns == ["name", "calls"]
    assert {row["name"]: row["calls"] for row in rows} == calls
    assert len(rows) == len(calls)
    assert trainscope.query(TRACE, "SELECT name FROM slices WHERE 0").rows == []


def test_ranks_and_sessions_are_chosen_and_infinity_is_a_number() -> None:
    rows = trainscope.query(TRACE, "SELECT DISTINCT rank, 1e999 AS most, -1e999 AS least FROM steps", rank=0)
    assert rows.rows == [[0, float("inf"), float("-inf")]]
    with pytest.raises(trainscope.QueryError, match="no profile of that rank"):
        trainscope.query(TRACE, "SELECT 1", rank=7)
    with pytest.raises(trainscope.QueryError, match="no profile `other`"):
        trainscope.query(TRACE, "SELECT 1", session="other")


def test_errors_are_those_of_the_statement() -> None:
    with pytest.raises(trainscope.QueryError, match="no such column: nme"):
        trainscope.query(TRACE, "SELECT nme FROM slices")
    with pytest.raises(trainscope.QueryError, match="only one statement that reads"):
        trainscope.query(TRACE, "DROP TABLE slices")
    with pytest.raises(trainscope.QueryError, match="longer than 1 s"):
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        trainscope.query(TRACE, endless, timeout_secs=1)


def test_a_missing_program_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainscope._program.find", lambda: None)
    with pytest.raises(trainscope.QueryError, match="not installed"):
        trainscope.query(TRACE, "SELECT 1")
