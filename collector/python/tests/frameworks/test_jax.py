"""JAX: statistics inside `jit` against NumPy, names, steps, and the place of a NaN."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from recorded import first_cause, nothing_lost  # noqa: F401

import trainscope
from trainscope import Run
from trainscope.jax import observe, summarize

TYPES = ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "uint8", "int32", "bool"]


def numbers(dtype: Any) -> np.ndarray[Any, Any]:
    """Elements of all kinds that the type has, about 7 of each."""
    generator = np.random.default_rng(0)
    values = generator.standard_normal((13, 7)) * 3
    if dtype.kind in "iub":
        return np.abs(values * 9).astype(dtype) if dtype.kind != "b" else values > 0
    values = values.astype(dtype)
    tiny = jnp.finfo(dtype).smallest_subnormal
    special = [np.nan, 0.0, -0.0, tiny, -tiny]
    if dtype != jnp.float8_e4m3fn:
        special += [np.inf, -np.inf]
    for index, value in enumerate(special):
        values.reshape(-1)[index :: 12 + index] = value
    return values


def expected_row(values: np.ndarray[Any, Any]) -> tuple[float, ...]:
    wide = values.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    tiny = float(jnp.finfo(values.dtype).tiny) if values.dtype.kind not in "iub" else 0.0
    counts = [
        wide.size,
        np.isnan(wide).sum(),
        (wide == np.inf).sum(),
        (wide == -np.inf).sum(),
        (finite == 0).sum(),
        (finite < 0).sum(),
        (finite > 0).sum(),
        ((np.abs(finite) < tiny) & (finite != 0)).sum(),
    ]
    sums = [finite.min(), finite.max(), finite.sum(), (finite * finite).sum(), np.abs(finite).sum()]
    return (*map(float, counts), *map(float, sums))


@pytest.mark.parametrize("name", TYPES)
def test_statistics_of_each_type_are_those_of_numpy(name: str) -> None:
    values = numbers(jnp.dtype(name))
    dtype, shape, row = jax.jit(summarize)({"x": jnp.asarray(values)})["x"].trainscope_row()
    expected = expected_row(values)
    assert (dtype, shape, row[13]) == (name, (13, 7), 0)
    assert row[:8] == expected[:8]
    assert row[8:13] == pytest.approx(expected[8:], rel=1e-5)


def test_sums_of_huge_numbers_do_not_overflow() -> None:
    _, _, row = summarize(jnp.full(9, 3e38, jnp.float32))["value"].trainscope_row()
    assert row[10:13] == pytest.approx([2.7e39, 8.1e77, 2.7e39], rel=1e-5)


def test_arrays_without_elements_or_without_finite_ones_have_counts_alone() -> None:
    _, shape, row = summarize(jnp.zeros((0, 3)))["value"].trainscope_row()
    assert shape == (0, 3)
    assert row[:8] == (0,) * 8
    _, _, row = summarize(jnp.full(3, jnp.nan))["value"].trainscope_row()
    assert row[:8] == (3, 3, 0, 0, 0, 0, 0, 0)


def test_names_are_key_paths_and_what_is_no_number_is_left_out() -> None:
    kernel = jnp.ones((2, 3), jnp.complex64)
    tree = {"layer": {"kernel": kernel}, "blocks": [jnp.ones(2), 3.0], "key": jax.random.key(0)}
    summaries = jax.jit(summarize)(tree)
    assert sorted(summaries) == ["blocks/0", "blocks/1", "layer/kernel"]
    dtype, shape, row = summaries["layer/kernel"].trainscope_row()
    assert (dtype, shape, row[0], row[4], row[6]) == ("float32", (2, 3, 2), 12, 6, 6)


def loss(parameters: Any, x: Any, y: Any) -> Any:
    hidden = jnp.tanh(x @ parameters["first"]["kernel"] + parameters["first"]["bias"])
    return jnp.mean((hidden @ parameters["second"]["kernel"] - y) ** 2)


def start() -> tuple[Any, Any, Any]:
    keys = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(keys[0], (8, 4))
    first = {"kernel": jax.random.normal(keys[1], (4, 6)), "bias": jnp.zeros(6)}
    return {"first": first, "second": {"kernel": jax.random.normal(keys[2], (6, 1))}}, x, x.sum(1, keepdims=True)


def spoil(gradients: Any, step: Any, at: int) -> Any:
    """Puts a NaN into the gradient of the second layer at one step."""
    kernel = gradients["second"]["kernel"]
    return gradients | {"second": {"kernel": kernel.at[2, 0].set(jnp.where(step == at, jnp.nan, kernel[2, 0]))}}


def update(parameters: Any, gradients: Any) -> Any:
    return jax.tree.map(lambda parameter, gradient: parameter - 0.05 * gradient, parameters, gradients)


def test_a_nan_in_summaries_is_found_at_its_step_and_layer(tmp_path: Path) -> None:
    parameters, x, y = start()

    @jax.jit
    def train_step(parameters: Any, step: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(parameters, x, y)
        gradients = spoil(gradients, step, 3)
        return update(parameters, gradients), value, summarize(gradients), summarize(parameters)

    with trainscope.start(tmp_path / "run", every=1) as run:
        for step in range(6):
            parameters, value, gradients, weights = train_step(parameters, step)
            run.scalar("loss", value, step)
            run.log_tree({"weights": weights}, role="weight", step=step)
            run.log_tree({"grads": gradients}, role="gradient", step=step)
    cause = first_cause(tmp_path / "run")
    assert (cause["step"], cause["tensor"]) == (3, "grads/second/kernel")


@pytest.mark.parametrize("on_cpu", [True, False])
def test_a_nan_in_what_is_observed_is_found_at_its_step_and_layer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_cpu: bool
) -> None:
    # Elsewhere than on a CPU the arrays are reduced on their device.
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu" if on_cpu else "gpu")
    parameters, x, y = start()

    @jax.jit
    def train_step(parameters: Any, step: Any) -> Any:
        gradients = spoil(jax.grad(loss)(parameters, x, y), step, 3)
        observe("grads", gradients, step, role="gradient")
        return update(parameters, gradients)

    with trainscope.start(tmp_path / "run", every=1):
        for step in range(6):
            parameters = train_step(parameters, step)
        jax.effects_barrier()
    cause = first_cause(tmp_path / "run")
    assert (cause["step"], cause["tensor"]) == (3, "grads/second/kernel")


def test_only_selected_steps_are_observed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    original = Run.log_tree

    def record(run: Run, stats: Any, *, role: str, step: int) -> None:
        seen.append(step)
        original(run, stats, role=role, step=step)

    monkeypatch.setattr(Run, "log_tree", record)
    observed = jax.jit(lambda values, step: observe("x", values, step))
    with trainscope.start(tmp_path / "run", every=4, first=2):
        for step in range(9):
            observed(jnp.ones(3), step)
        jax.effects_barrier()
    assert sorted(seen) == [0, 1, 4, 8]


def test_a_fault_of_the_recording_does_not_end_the_computation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise ValueError("no")

    monkeypatch.setattr(Run, "log_tree", fail)
    counted: list[str] = []
    monkeypatch.setattr(Run, "_count_invalid", lambda run, message: counted.append(message))

    @jax.jit
    def double(x: Any) -> Any:
        observe("x", x, 0)
        return 2 * x

    with trainscope.start(tmp_path / "run"):
        assert float(double(jnp.float32(3))) == 6
        jax.effects_barrier()
    assert counted == ["observe of x: no"]


def test_without_a_run_nothing_is_observed_and_the_result_is_the_same() -> None:
    doubled = jax.jit(lambda x: (observe("x", x, 0), 2 * x)[1])(jnp.float32(3))
    jax.effects_barrier()
    assert float(doubled) == 6


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Variable:
    """As `Param` of Flax NNX."""

    value: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Pair:
    value: Any
    other: Any


def test_the_value_of_a_variable_has_the_name_of_the_variable() -> None:
    one = jnp.ones(1)
    tree = {"a": {"bias": Variable(one), "pair": Pair(one, one), "value": one}}
    assert list(summarize(tree)) == ["a/bias", "a/pair/value", "a/pair/other", "a/value"]
    assert list(summarize(Variable(one))) == ["value"]
