"""Loss landscapes from lists and arrays: what is in the file, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import reading
import trainscope

# A bowl around (1, 2), whose path comes from the left.
PATH = {0: [-3.0, 1.0], 10: [-1.0, 3.0], 20: [0.5, 2.25], 30: [1.0, 2.0]}


def bowl(weights: dict[str, Any]) -> float:
    x, y = weights["fc.weight"][0]
    return float((x - 1.0) ** 2 + (y - 2.0) ** 2)


def snapshots() -> dict[int, dict[str, Any]]:
    return {step: {"fc.weight": [own]} for step, own in PATH.items()}


def points(folder: Path) -> list[dict[str, str]]:
    return reading.export(folder, "landscape")


def test_a_landscape_has_surface_path_and_end(tmp_path: Path) -> None:
    with trainscope.Run(tmp_path, strict=True) as run:
        run.landscape(snapshots(), bowl, size=5, samples=8)
    rows = points(tmp_path)
    assert [row["part"] for row in rows].count("surface") == 25
    path = [row for row in rows if row["part"] == "path"]
    assert [int(row["interval"]) for row in path] == list(PATH)
    for row, (x, y) in zip(path, PATH.values(), strict=True):
        distance = math.hypot(x - 1.0, y - 2.0)
        assert math.hypot(float(row["x"]), float(row["y"])) == pytest.approx(distance, rel=1e-4)
        assert float(row["z"]) == pytest.approx(distance**2, rel=1e-4, abs=1e-9)
    # Both directions are orthonormal: the loss is the squared distance from the end.
    for row in rows:
        assert float(row["z"]) == pytest.approx(float(row["x"]) ** 2 + float(row["y"]) ** 2, rel=1e-3, abs=1e-6)


def test_random_directions_need_one_snapshot(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    weights = {"fc.weight": np.array([[3.0, 4.0]]), "fc.bias": np.array([7.0])}

    def loss(at: dict[str, Any]) -> float:
        assert at["fc.weight"].dtype == np.float32
        assert at["fc.bias"][0] == 7.0, "parameters of one axis are not varied"
        return float(np.square(at["fc.weight"]).sum())

    with trainscope.Run(tmp_path, strict=True) as run:
        run.landscape([(5, weights)], loss, size=3, seed=1)
    rows = points(tmp_path)
    assert {row["part"] for row in rows} == {"surface", "end"}
    assert {float(row["x"]) for row in rows} == {-1.0, 0.0, 1.0}


def test_losses_that_are_not_finite_are_recorded(tmp_path: Path) -> None:
    with trainscope.Run(tmp_path, strict=True) as run:
        run.landscape(snapshots(), lambda at: math.nan if bowl(at) > 4 else bowl(at), size=5)
    assert any(row["z"] == "NaN" for row in points(tmp_path))


@pytest.mark.parametrize(
    ("saved", "options", "reason"),
    [
        ({}, {}, "no snapshots"),
        ({0: {"w": [[1.0, 2.0]]}, 1: {"w": [[2.0, 3.0]]}}, {}, "at least 3 snapshots"),
        ({step: {"w": [[float(step), 0.0]]} for step in range(4)}, {}, "span no plane"),
        (snapshots(), {"size": 1}, "2 to 1,024 points"),
        (snapshots(), {"normalisation": "none"}, "no normalisation"),
    ],
)
def test_what_is_no_plane_is_refused(
    tmp_path: Path, saved: dict[int, dict[str, Any]], options: dict[str, Any], reason: str
) -> None:
    run = trainscope.Run(tmp_path)
    with pytest.warns(trainscope.TrainscopeWarning, match=reason):
        run.landscape(saved, lambda _at: 0.0, **options)
    assert run.finish().lost["invalid"] == 1


def test_a_loss_that_raises_records_nothing(tmp_path: Path) -> None:
    run = trainscope.Run(tmp_path)
    with pytest.warns(trainscope.TrainscopeWarning, match="out of memory"):
        run.landscape(snapshots(), lambda _at: _raise(), size=3)
    run.finish()
    assert points(tmp_path) == []


def _raise() -> float:
    raise RuntimeError("out of memory")
