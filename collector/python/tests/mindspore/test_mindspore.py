"""MindSpore: order of calls, steps, what is recorded in both modes, failures, and the place of a NaN."""

from __future__ import annotations

import csv
import io
import subprocess
from pathlib import Path
from typing import Any

import mindspore
import numpy as np
import pytest
from mindspore import dataset, nn
from mindspore.train import Callback, Model
from recorded import PROGRAM, first_cause, nothing_lost, record_calls, scalars  # noqa: F401

import trainscope
from trainscope import Run, TrainscopeWarning
from trainscope.mindspore import TrainscopeCallback

MODES = {"graph": mindspore.GRAPH_MODE, "pynative": mindspore.PYNATIVE_MODE}


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(4, 8)
        self.relu = nn.ReLU()
        self.second = nn.Dense(8, 1)

    def construct(self, x: Any) -> Any:
        return self.second(self.relu(self.first(x)))


def make_data(batches: int) -> Any:
    x = np.random.default_rng(0).standard_normal((4 * batches, 4)).astype(np.float32)
    return dataset.NumpySlicesDataset({"x": x, "y": x.sum(1, keepdims=True)}, shuffle=False).batch(4)


def train(batches: int, callbacks: list[Any], mode: str = "pynative", epochs: int = 1, **options: Any) -> Net:
    mindspore.set_context(mode=MODES[mode])
    mindspore.set_seed(0)
    net = Net()
    if options.pop("frozen", False):
        net.first.weight.requires_grad = False
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    model = Model(net, nn.MSELoss(), optimizer, metrics={"mae"})
    data = make_data(batches)
    if options.pop("validate", False):
        model.fit(epochs, data, make_data(1), callbacks=callbacks, dataset_sink_mode=False)
    else:
        model.train(epochs, data, callbacks=callbacks, **({"dataset_sink_mode": False} | options))
    return net


def record_tensors(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str, str]]:
    """List that gets step, role and name of each recorded tensor."""
    seen: list[tuple[int, str, str]] = []
    original = Run._record_tensors

    def record(run: Run, items: Any, step: int) -> int:
        seen.extend((step, role, name) for name, role, _ in items)
        return original(run, items, step)

    monkeypatch.setattr(Run, "_record_tensors", record)
    return seen


def export(folder: Path, kind: str) -> list[dict[str, str]]:
    """Rows that `trainscope export` writes."""
    command = [PROGRAM, "export", "--kind", kind, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.mark.parametrize("mode", MODES)
def test_hooks_come_in_the_order_of_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    calls = record_calls(monkeypatch, {Run: ["_begin_step", "scalar", "_end_step", "finish"]})
    train(2, [TrainscopeCallback(tmp_path / "run")], mode, epochs=2)
    expected = [call.format(step) for step in range(4) for call in ["begin_step {0}", "scalar loss {0}", "end_step"]]
    assert calls == [*expected, "finish success"]


def test_parameters_of_selected_steps_are_recorded_by_their_own_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = record_tensors(monkeypatch)
    train(5, [TrainscopeCallback(tmp_path / "run", collect_freq=4, first=1)], frozen=True)
    assert {step for step, _, _ in seen} == {0, 4}
    of_step = {name: role for step, role, name in seen if step == 4}
    assert of_step == {
        "first.weight": "frozen_weight",
        "first.bias": "weight",
        "second.weight": "weight",
        "second.bias": "weight",
        "global_step": "optimizer_state",
        "learning_rate": "optimizer_state",
        "momentum": "optimizer_state",
        "moments.first.bias": "optimizer_state",
        "moments.second.weight": "optimizer_state",
        "moments.second.bias": "optimizer_state",
    }


def test_statistics_of_parameters_are_those_before_the_update(tmp_path: Path) -> None:
    mindspore.set_seed(0)
    expected = Net().first.weight.asnumpy()
    train(1, [TrainscopeCallback(tmp_path / "run")])
    rows = [row for row in export(tmp_path / "run", "statistics") if row["tag"] == "first.weight"]
    assert [float(row["max"]) for row in rows] == [pytest.approx(float(expected.max()))]


@pytest.mark.parametrize("mode", MODES)
def test_a_nan_is_found_at_its_step_and_layer(tmp_path: Path, mode: str) -> None:
    class Spoil(Callback):
        def on_train_step_begin(self, run_context: Any) -> None:
            params = run_context.original_args()
            if params.cur_step_num == 4:
                weight = params.network.second.weight
                values = weight.asnumpy().copy()
                values[0, 2] = np.nan
                weight.set_data(mindspore.Tensor(values))

    train(6, [Spoil(), TrainscopeCallback(tmp_path / "run", collect_freq=1)], mode)
    cause = first_cause(tmp_path / "run")
    assert (cause["step"], cause["tensor"]) == (3, "second.weight")


def test_the_graph_of_graph_mode_is_kept_beside_the_records(tmp_path: Path) -> None:
    train(1, [TrainscopeCallback(tmp_path / "run")], "graph")
    assert {"MatMul", "ReLU", "Square"} <= {row["op_type"] for row in export(tmp_path / "run", "graph")}


def test_settings_and_the_data_pipeline_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    original = Run.dataset
    monkeypatch.setattr(Run, "dataset", lambda run, pipeline: (seen.extend(pipeline), original(run, pipeline)))
    train(2, [TrainscopeCallback(tmp_path / "run", custom_lineage_data={"author": "me"})], epochs=3)
    assert [operation["op"] for operation in seen] == ["GeneratorDataset", "Batch"]
    assert seen[1]["batch_size"] == 4
    hparams = {row["name"]: row["value"] for row in export(tmp_path / "run", "hparams")}
    assert (hparams["optimizer"], hparams["loss_function"]) == ("Momentum", "MSELoss")
    numbers = [float(hparams[name]) for name in ("epochs", "batch_size", "dataset_size", "learning_rate")]
    assert numbers == pytest.approx([3, 4, 8, 0.01])
    lineage = " ".join(" ".join(row.values()) for row in export(tmp_path / "run", "lineage"))
    assert "MSELoss" in lineage
    assert "author" in lineage


def test_a_validation_within_a_training_is_recorded_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = record_calls(monkeypatch, {Run: ["finish"]})
    train(2, [TrainscopeCallback(tmp_path / "run")], epochs=2, validate=True)
    recorded = scalars(tmp_path / "run")
    assert [step for step, _ in recorded["loss"]] == [0, 1, 2, 3]
    assert [step for step, _ in recorded["val_mae"]] == [1, 3]
    assert [step for step, _ in recorded["val_loss"]] == [1, 3]
    assert calls == ["finish success"]


def test_only_specified_data_is_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = record_tensors(monkeypatch)
    calls = record_calls(monkeypatch, {Run: ["lineage", "dataset"]})
    specified = {"collect_metric": False, "histogram_regular": "^second"}
    train(1, [TrainscopeCallback(tmp_path / "run", 10, specified, keep_default_action=False)], "graph")
    assert {name for _, _, name in seen} == {"second.weight", "second.bias"}
    assert calls == []
    assert scalars(tmp_path / "run") == {}
    assert not (tmp_path / "run" / "train_network.pb").exists()


def test_data_sink_mode_records_one_step_of_each_epoch_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Sink(Callback):
        """Shows the others data sink mode, which MindSpore has on devices only: an epoch of 5 steps in one call."""

        def on_train_begin(self, run_context: Any) -> None:
            run_context.original_args().dataset_sink_mode = True

        def on_train_step_begin(self, run_context: Any) -> None:
            run_context.original_args().cur_step_num += 4

    calls = record_calls(monkeypatch, {Run: ["note"]})
    seen = record_tensors(monkeypatch)
    train(1, [Sink(), TrainscopeCallback(tmp_path / "run")], epochs=3)
    assert "Data sink mode" in calls[0]
    assert [step for step, _ in scalars(tmp_path / "run")["loss"]] == [4, 9, 14]
    assert sorted({step for step, _, _ in seen}) == [4, 9, 14]


def test_an_exception_ends_the_run_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failure(Callback):
        def on_train_step_end(self, run_context: Any) -> None:
            raise RuntimeError("no more data")

    calls = record_calls(monkeypatch, {Run: ["note", "finish"]})
    with pytest.raises(RuntimeError, match="no more data"):
        train(2, [TrainscopeCallback(tmp_path / "run"), Failure()])
    assert any("ended with RuntimeError: no more data" in call for call in calls)
    assert calls[-1].startswith("finish")
    assert scalars(tmp_path / "run")["loss"][0][0] == 0


def test_without_a_folder_the_run_started_last_is_used_and_left_open(tmp_path: Path) -> None:
    with trainscope.start(tmp_path / "run") as run:
        train(2, [TrainscopeCallback()])
        run.scalar("later", 1.0, 9)
    recorded = scalars(tmp_path / "run")
    assert [step for step, _ in recorded["loss"]] == [0, 1]
    assert recorded["later"] == [(9, 1.0)]


def test_without_any_run_the_training_goes_on_with_a_warning() -> None:
    with pytest.warns(TrainscopeWarning, match="has no run"):
        train(1, [TrainscopeCallback()])


def test_the_training_is_the_same_to_the_bit(tmp_path: Path) -> None:
    plain, watched = train(4, []), train(4, [TrainscopeCallback(tmp_path / "run", collect_freq=1)])
    pairs = zip(plain.get_parameters(), watched.get_parameters(), strict=True)
    assert all(np.array_equal(a.asnumpy(), b.asnumpy()) for a, b in pairs)
