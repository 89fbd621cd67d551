"""Keras: order of calls, steps over epochs, what each backend gives, and the place of a NaN.

The torch backend in this process, the JAX backend in processes of their own.
"""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "torch"

import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import torch
from recorded import PACKAGES, first_cause, nothing_lost, record_calls, scalars  # noqa: F401

import trainscope
from trainscope import Run, TrainscopeWarning
from trainscope.keras import TrainscopeCallback

CALLS = {Run: ["_begin_step", "_is_stopped_at", "finish"]}


class Spoil(keras.layers.Layer):
    """Gives NaN at one of its calls in training."""

    def __init__(self, call: int, **options: Any) -> None:
        super().__init__(**options)
        self.call_of_nan, self.calls = call, 0

    def call(self, x: Any, training: bool = False) -> Any:
        self.calls += bool(training)
        return x * float("nan") if training and self.calls == self.call_of_nan + 1 else x


def make_model(spoil_at: int = -1, **options: Any) -> keras.Model:
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Dense(8, activation="relu", name="first"),
            Spoil(spoil_at, name="spoiled"),
            keras.layers.BatchNormalization(name="norm"),
            keras.layers.Dense(1, name="second"),
        ],
        name="model",
    )
    model.compile(keras.optimizers.SGD(0.05), "mse", **options)
    return model


def fit(model: keras.Model, batches: int, callbacks: Any, **options: Any) -> None:
    x = np.random.default_rng(0).standard_normal((4 * batches, 4)).astype("float32")
    y = x.sum(1, keepdims=True)
    if options.pop("validate", False):
        options["validation_data"] = (x, y)
    model.fit(x, y, batch_size=4, shuffle=False, verbose=0, callbacks=callbacks, **options)


def record_tensors(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str, str]]:
    """List that gets step, role and name of each recorded tensor."""
    seen: list[tuple[int, str, str]] = []
    original = Run._record_tensors

    def record(run: Run, items: Any, step: int, *scale: float) -> int:
        seen.extend((step, role, name) for name, role, _ in items)
        return original(run, items, step, *scale)

    monkeypatch.setattr(Run, "_record_tensors", record)
    return seen


def test_hooks_come_in_the_order_of_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = record_calls(monkeypatch, CALLS)
    fit(make_model(), 2, [TrainscopeCallback(tmp_path / "run")], epochs=2)
    expected = [call.format(step) for step in range(4) for call in ["begin_step {0}", "is_stopped_at after_step"]]
    assert calls == [*expected, "finish success"]


def test_steps_count_batches_over_epochs_and_metrics_have_their_own_names(tmp_path: Path) -> None:
    fit(make_model(), 3, [TrainscopeCallback(tmp_path / "run")], epochs=2, validate=True)
    recorded = scalars(tmp_path / "run")
    assert [step for step, _ in recorded["loss"]] == [0, 1, 2, 3, 4, 5]
    assert [step for step, _ in recorded["epoch_loss"]] == [2, 5]
    assert [step for step, _ in recorded["val_loss"]] == [2, 5]


def test_the_rate_of_looks_and_of_each_epoch_is_one_curve_and_the_norm_that_of_all_gradients(tmp_path: Path) -> None:
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch, rate: 0.03125 * 0.5**epoch)
    callbacks = [schedule, TrainscopeCallback(tmp_path / "run", every=4, first=0, gradients=True, exclude=["*bias*"])]
    model = make_model()
    norms = []

    class Norms(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            gradients = [variable.value.grad for variable in model.trainable_variables]
            norms.append(sum(gradient.square().sum().item() for gradient in gradients) ** 0.5)

    fit(model, 3, [*callbacks, Norms()], epochs=3)
    recorded = scalars(tmp_path / "run")
    rates = {tag: points for tag, points in recorded.items() if "learning_rate" in tag}
    assert rates == {"learning_rate": [(step, 0.03125 * 0.5**epoch) for step, epoch in ((0, 0), (3, 1), (4, 1), (6, 2), (8, 2))]}
    assert recorded["grad_norm"] == [(step, pytest.approx(norms[step], rel=1e-5)) for step in (0, 4, 8)]


def test_a_second_fit_goes_on_counting(tmp_path: Path) -> None:
    model = make_model()
    with trainscope.start(tmp_path / "run"):
        for _ in range(2):
            fit(model, 3, [TrainscopeCallback()])
    assert [step for step, _ in scalars(tmp_path / "run")["loss"]] == [0, 1, 2, 3, 4, 5]


def test_weights_gradients_and_outputs_of_selected_steps_are_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = record_tensors(monkeypatch)
    fit(make_model(), 5, [TrainscopeCallback(tmp_path / "run", every=4, first=1, exclude=["*bias*"])])
    assert {step for step, _, _ in seen} == {0, 4}
    of_step = [(role, name) for step, role, name in seen if step == 4]
    assert of_step == [
        ("weight", "model/first/kernel"),
        ("weight", "model/norm/gamma"),
        ("weight", "model/norm/beta"),
        ("other", "model/norm/moving_mean"),
        ("other", "model/norm/moving_variance"),
        ("weight", "model/second/kernel"),
        ("activation", "model/first"),
        ("activation", "model/spoiled"),
        ("activation", "model/norm"),
        ("activation", "model/second"),
        ("gradient", "model/first/kernel.grad"),
        ("gradient", "model/norm/gamma.grad"),
        ("gradient", "model/norm/beta.grad"),
        ("gradient", "model/second/kernel.grad"),
    ]


def test_the_graph_has_the_layers_of_models_in_models_once_for_each_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    original = Run._graph
    monkeypatch.setattr(Run, "_graph", lambda run, tag, nodes: (seen.extend(nodes), original(run, tag, nodes))[1])
    keras.utils.set_random_seed(0)
    x = keras.Input((4,), name="x")
    inner = keras.Sequential([keras.layers.Dense(4, name="deep"), keras.layers.ReLU(name="act")], name="inner")
    shared = keras.layers.Dense(4, name="shared")
    y = keras.layers.Dense(1, name="head")(shared(shared(inner(x))) + x)
    model = keras.Model(x, y, name="outer")
    model.compile("sgd", "mse")
    tensors = record_tensors(monkeypatch)
    fit(model, 1, [TrainscopeCallback(tmp_path / "run")])
    operations = {node["name"]: node["inputs"] for node in seen if node["kind"] == "operation"}
    add = next(name for name in operations if name.startswith("add"))
    deep = next(name for name in operations if name.endswith("deep"))
    assert operations == {
        deep: ["x", f"{deep}/kernel", f"{deep}/bias"],
        "act": [deep],
        "shared": ["act", "shared/kernel", "shared/bias"],
        "shared#2": ["shared", "shared/kernel", "shared/bias"],
        add: ["shared#2", "x"],
        "head": [add, "head/kernel", "head/bias"],
    }
    # Outputs have the names of their nodes; the sum is no layer.
    activations = [name for _, role, name in tensors if role == "activation"]
    assert activations == [name for name in operations if name != add]


def test_an_activation_of_a_layer_is_a_node_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(Run, "_graph", lambda run, tag, nodes: seen.extend(nodes))
    fit(make_model(), 1, [TrainscopeCallback(tmp_path)])
    ops = {node["name"]: (node["op"], node["inputs"]) for node in seen}
    name = next(name for name in ops if name.endswith("first"))
    assert ops[f"{name}/relu"] == ("relu", [name])
    spoiled = next(name for name in ops if name.endswith("spoiled"))
    assert f"{name}/relu" in ops[spoiled][1] and not any(one.endswith("second/linear") for one in ops)


def test_frozen_layers_have_their_own_role_and_no_gradients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = record_tensors(monkeypatch)
    model = make_model()
    model.get_layer("first").trainable = False
    model.compile("sgd", "mse")
    fit(model, 1, [TrainscopeCallback(tmp_path / "run", names=["model/first/*"])])
    assert seen == [(0, "frozen_weight", "model/first/kernel"), (0, "frozen_weight", "model/first/bias")]


def test_gradients_are_recorded_without_the_scale_of_the_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scales: list[float] = []
    original = Run._record_tensors

    def record(run: Run, items: Any, step: int, scale: float = 1.0) -> int:
        scales.extend(scale for _, role, _ in items if role == "gradient")
        return original(run, items, step, scale)

    monkeypatch.setattr(Run, "_record_tensors", record)
    model = make_model()
    model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.01), initial_scale=256.0), "mse")
    fit(model, 1, [TrainscopeCallback(tmp_path / "run")])
    assert set(scales) == {1 / 256}


def test_a_nan_is_found_at_its_step_and_layer(tmp_path: Path) -> None:
    fit(make_model(spoil_at=3), 3, [TrainscopeCallback(tmp_path / "run", every=1)], epochs=2)
    cause = first_cause(tmp_path / "run")
    assert (cause["step"], cause["tensor"]) == (3, "model/spoiled")


def test_a_single_callback_on_another_thread_records_no_gradients_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = record_tensors(monkeypatch)
    with pytest.warns(TrainscopeWarning, match="give it a list"):
        fit(make_model(), 3, TrainscopeCallback(tmp_path / "run"))
    assert {role for _, role, _ in seen} == {"weight", "other", "activation"}
    assert [step for step, _ in scalars(tmp_path / "run")["loss"]] == [0, 1, 2]


def test_a_training_that_an_exception_ended_is_a_failed_run_when_the_next_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failure(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            if batch == 1:
                raise RuntimeError("no more data")

    calls = record_calls(monkeypatch, {Run: ["finish"]})
    callback = TrainscopeCallback(tmp_path / "run", every=1)
    model = make_model()
    with pytest.raises(RuntimeError, match="no more data"):
        fit(model, 2, [callback, Failure()])
    fit(model, 1, [callback])
    assert calls == ["finish failure", "finish success"]
    assert not any(layer._forward_hooks for layer in model.layers)


def test_without_any_run_the_training_goes_on_with_a_warning() -> None:
    with pytest.warns(TrainscopeWarning, match="has no run"):
        fit(make_model(), 1, [TrainscopeCallback()])


def test_the_training_is_the_same_to_the_bit(tmp_path: Path) -> None:
    def train(callbacks: list[Any]) -> list[torch.Tensor]:
        model = make_model()
        fit(model, 4, callbacks, epochs=2)
        return [variable.value.detach() for variable in model.variables]

    plain, watched = train([]), train([TrainscopeCallback(tmp_path / "run", every=1)])
    assert all(torch.equal(a, b) for a, b in zip(plain, watched, strict=True))


ON_JAX = """
import sys
from pathlib import Path
import keras, numpy as np
from trainscope import Run
from trainscope.keras import TrainscopeCallback

assert keras.backend.backend() == "jax"
folder = Path(sys.argv[1])
Run.note = lambda run, text: print("note", text)
record = Run._record_tensors
def show(run, items, step, *scale):
    print("tensors", step, *[name for name, role, tensor in items if role != "other"])
    return record(run, items, step, *scale)
Run._record_tensors = show

class Spoil(keras.callbacks.Callback):
    # Puts a NaN into one weight of the second layer.
    def __init__(self, at):
        super().__init__()
        self.at, self.calls = at, 0

    def on_train_batch_begin(self, batch, logs=None):
        if self.calls == self.at:
            kernel = np.array(self.model.get_layer("second").kernel)
            kernel[2, 0] = np.nan
            self.model.get_layer("second").kernel.assign(kernel)
        self.calls += 1

def train(callbacks, batches=3, **options):
    keras.utils.set_random_seed(0)
    first, second = keras.layers.Dense(8, name="first"), keras.layers.Dense(1, name="second")
    model = keras.Sequential([keras.layers.Input((4,)), first, second], name="model")
    model.compile(keras.optimizers.SGD(0.05), "mse", **options)
    x = np.random.default_rng(0).standard_normal((4 * batches, 4)).astype("float32")
    model.fit(x, x.sum(1, keepdims=True), batch_size=4, epochs=2, shuffle=False, verbose=0, callbacks=callbacks)
    return [np.array(variable) for variable in model.variables]
"""


def run_on_jax(folder: Path, lines: str) -> list[str]:
    """Output of a program with the JAX backend."""
    paths = {"PYTHONPATH": str(PACKAGES), "KERAS_BACKEND": "jax"}
    command = [sys.executable, "-c", ON_JAX + lines, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | paths)
    assert done.returncode == 0, done.stderr
    assert "TrainscopeWarning" not in done.stderr
    return done.stdout.splitlines()


def test_on_jax_weights_of_selected_steps_are_recorded_and_the_rest_is_named_as_missing(tmp_path: Path) -> None:
    lines = run_on_jax(tmp_path, 'train([TrainscopeCallback(folder / "run", every=3, first=1)])')
    weights = "model/first/kernel model/first/bias model/second/kernel model/second/bias"
    assert [line for line in lines if line.startswith("tensors")] == [f"tensors {step} {weights}" for step in (0, 3)]
    notes = [line for line in lines if line.startswith("note")]
    assert len(notes) == 1
    assert "never leave the compiled step" in notes[0]
    assert [step for step, _ in scalars(tmp_path / "run")["loss"]] == [0, 1, 2, 3, 4, 5]


def test_on_jax_a_nan_is_found_at_its_step_and_layer(tmp_path: Path) -> None:
    run_on_jax(tmp_path, 'train([Spoil(3), TrainscopeCallback(folder / "run", every=1)])')
    cause = first_cause(tmp_path / "run")
    assert (cause["step"], cause["tensor"]) == (3, "model/second/kernel")


def test_on_jax_an_execution_of_several_steps_is_looked_at_if_any_of_them_is_selected(tmp_path: Path) -> None:
    lines = run_on_jax(
        tmp_path, 'train([TrainscopeCallback(folder / "run", every=4, first=0)], batches=5, steps_per_execution=2)'
    )
    # Batches 0 to 4 of each epoch in executions of 2, 2 and 1. Steps 0, 4 and 8 are selected.
    assert [step for step, _ in scalars(tmp_path / "run")["loss"]] == [1, 3, 4, 6, 8, 9]
    assert [line.split()[1] for line in lines if line.startswith("tensors")] == ["0", "4", "7"]


def test_on_jax_the_training_is_the_same_to_the_bit(tmp_path: Path) -> None:
    lines = run_on_jax(
        tmp_path,
        'plain, watched = train([]), train([TrainscopeCallback(folder / "run", every=2)])\n'
        "print('same', all(np.array_equal(a, b) for a, b in zip(plain, watched)))",
    )
    assert lines[-1] == "same True"


def test_a_gate_ends_the_training_as_keras_ends_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "_gate", lambda _run, _place, step, *_functions: 2 if step == 1 else 0)
    fit(make_model(), 5, [TrainscopeCallback(tmp_path / "run")])
    assert [step for step, _ in scalars(tmp_path / "run")["loss"]] == [0, 1]
