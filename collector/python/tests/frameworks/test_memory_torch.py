"""Memory of tensors of PyTorch and JAX: each layout is read as the framework has it, and what has no memory is refused."""

from __future__ import annotations

import gc
import math
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import torch
import torch.distributed as dist
import trainscope
from reading import statistics
from test_memory import TYPES, Array, check, compare, expect
from test_scalars import points
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from trainscope import Run

TORCH_TYPES = {name: getattr(torch, name) for name in TYPES}
SMALL_TYPES = {
    "bfloat16": ("bf16", torch.bfloat16, ml_dtypes.bfloat16),
    "float8_e4m3fn": ("f8_e4m3", torch.float8_e4m3fn, ml_dtypes.float8_e4m3fn),
    "float8_e5m2": ("f8_e5m2", torch.float8_e5m2, ml_dtypes.float8_e5m2),
}


def arrange(seed: int, dtype: torch.dtype) -> Iterator[torch.Tensor]:
    """Tensors of random shape, strides and offset: parts, steps, any order of axes, repeated axes."""
    generator = np.random.default_rng(seed)
    for _ in range(40):
        axes = int(generator.integers(0, 6))
        shape = [int(size) for size in generator.integers(0 if generator.random() < 0.1 else 1, 6, axes)]
        offset = int(generator.integers(0, 5))
        values = torch.from_numpy(generator.standard_normal(offset + math.prod(shape)) * 50)
        if dtype.is_floating_point:
            values[::7] = math.nan
            values[3::11] = 0.0
        elif not dtype.is_signed:
            values = values.abs()
        values = values.to(dtype)[offset:].reshape(shape)
        values = values.permute(tuple(generator.permutation(axes).tolist()))
        for axis in range(axes):
            if generator.random() < 0.4:
                values = values.narrow(axis, values.shape[axis] // 2, values.shape[axis] - values.shape[axis] // 2)
        if axes and generator.random() < 0.3:
            values = values[..., ::2]
        if generator.random() < 0.3:
            values = values.expand(int(generator.integers(1, 4)), *values.shape)
        yield values


@pytest.mark.parametrize("dtype", TYPES)
def test_tensors_of_any_layout_are_read_as_numpy_reads_them(run: Run, dtype: str) -> None:
    tensors = list(arrange(1, TORCH_TYPES[dtype]))
    assert any(not tensor.is_contiguous() for tensor in tensors)
    assert any(tensor.storage_offset() for tensor in tensors)
    check(run, {str(index): (tensor, tensor.numpy(), TYPES[dtype]) for index, tensor in enumerate(tensors)})


def every_bit_pattern(dtype: Any, other: Any) -> tuple[torch.Tensor, Array]:
    """All elements that a small type has, in torch and in NumPy."""
    bits = np.arange(2 ** (8 * np.dtype(dtype).itemsize)).astype(f"u{np.dtype(dtype).itemsize}")
    signed = torch.from_numpy(bits.view(bits.dtype.str.replace("u", "i")))
    return signed.view(other), bits.view(dtype)


@pytest.mark.parametrize("name", SMALL_TYPES)
def test_small_floats_are_read_with_each_of_their_values(run: Run, name: str) -> None:
    label, torch_type, numpy_type = SMALL_TYPES[name]
    tensor, values = every_bit_pattern(numpy_type, torch_type)
    sources: dict[str, Any] = {"torch": tensor, "numpy": values, "jax": jnp.asarray(values), "transposed": tensor.view(16, -1).T}
    for source, elements in sources.items():
        run.tensor(source, elements, step=0)
    assert run.finish().lost == {}
    expected = expect(values, float(ml_dtypes.finfo(numpy_type).tiny))
    for source, row in statistics(run.folder).items():
        assert row[0]["dtype"] == label, source
        compare(row[0], expected)


@pytest.mark.parametrize("name", SMALL_TYPES)
def test_small_floats_of_any_layout_are_read(run: Run, name: str) -> None:
    label, torch_type, numpy_type = SMALL_TYPES[name]
    tensors = list(arrange(2, torch_type))
    tiny = float(ml_dtypes.finfo(numpy_type).tiny)
    expected = [tensor.to(torch.float32).numpy() for tensor in tensors]
    check(run, {str(i): (tensor, expected[i], label) for i, tensor in enumerate(tensors)}, tiny)


def test_arrays_of_jax_are_read_in_their_own_type(run: Run) -> None:
    arrays: dict[str, tuple[Any, Array, str]] = {}
    for dtype in ("float32", "float16", "bfloat16", "int8", "uint32", "bool"):
        for shape in ((), (1,), (5,), (2, 3), (0, 3)):
            values = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
            label, expected = ("bf16", values.astype(np.float32)) if dtype == "bfloat16" else (TYPES[dtype], values)
            arrays[f"{dtype} {shape}"] = (jnp.asarray(values), expected, label)
    check(run, arrays)


LAYOUTS: dict[str, Callable[[], torch.Tensor]] = {
    "parameter": lambda: torch.nn.Parameter(torch.randn(3, 4)),
    "with a history": lambda: torch.randn(3, 4, requires_grad=True) * 2,
    "transposed": lambda: torch.randn(3, 4).T,
    "channels last": lambda: torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "expanded": lambda: torch.randn(1, 4).expand(3, 4),
    "diagonal": lambda: torch.randn(4, 4).diagonal(),
    "overlapping": lambda: torch.randn(10).unfold(0, 3, 1),
    "viewed as another type": lambda: torch.randn(5).view(torch.int32)[1:],
    "without axes": lambda: torch.tensor(2.5),
    "without elements": lambda: torch.zeros(0, 3),
    "shared memory": lambda: torch.randn(4).share_memory_(),
    "in inference mode": lambda: torch.inference_mode()(lambda: torch.randn(4))(),
    "imaginary part": lambda: torch.randn(4, dtype=torch.complex64).imag,
    "imaginary part of the conjugate": lambda: torch.randn(4, dtype=torch.complex64).conj().imag,
    "with a negated view and a history": lambda: torch.randn(4, dtype=torch.complex64, requires_grad=True).conj().imag,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_tensor_of_this_layout_is_read_as_numpy_reads_it(run: Run, layout: str) -> None:
    tensor = LAYOUTS[layout]()
    expected = tensor.detach().resolve_neg().numpy()
    check(run, {layout: (tensor, expected, TYPES[str(expected.dtype)])})


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_complex_tensors_are_read_as_their_parts(run: Run, dtype: torch.dtype) -> None:
    tensor = torch.randn(3, 4, dtype=dtype)
    tensors = {"plain": tensor, "transposed": tensor.T, "conjugate": tensor.conj(), "adjoint": tensor.mH, "part": tensor[1:, ::2]}
    parts = {name: torch.view_as_real(each.resolve_conj()).numpy() for name, each in tensors.items()}
    check(run, {name: (tensors[name], parts[name], TYPES[str(parts[name].dtype)]) for name in tensors})


def test_of_sparse_tensors_the_elements_are_read(run: Run) -> None:
    dense = torch.tensor([[0.0, 1.5], [2.5, 0.0], [0.0, -3.5]])
    elements = np.array([1.5, 2.5, -3.5], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        compressed = dense.to_sparse_csr()
    check(run, {
        "coordinates": (dense.to_sparse(), elements, "f32"),
        "with a history": (dense.to_sparse().requires_grad_(), elements, "f32"),
        "rows": (compressed, elements, "f32"),
        "blocks": (dense.to_sparse_bsr((1, 1)), elements.reshape(3, 1, 1), "f32"),
    })


class Tagged(torch.Tensor):
    """A class of tensors of the program's own."""


class Refusing(torch.Tensor):
    """A class of tensors that no function may be called on."""

    @classmethod
    def __torch_function__(cls, *_args: Any, **_kwargs: Any) -> Any:
        raise RuntimeError("not this one")


def test_classes_of_tensors_are_read_or_refused_and_raise_nothing(run: Run) -> None:
    tagged, refusing = torch.randn(3).as_subclass(Tagged), torch.randn(3).as_subclass(Refusing)  # type: ignore[no-untyped-call]
    run.tensor("tagged", tagged, step=0)
    with pytest.warns(trainscope.TrainscopeWarning, match="refusing: not this one"):
        run.tensor("refusing", refusing, step=0)
    assert run.finish().lost == {"invalid": 1}
    assert list(statistics(run.folder)) == ["tagged"]


def freed() -> torch.Tensor:
    tensor = torch.ones(5)
    tensor.untyped_storage().resize_(0)
    return tensor


def part_of_freed() -> torch.Tensor:
    tensor = torch.ones(2, 500)
    part = tensor[1]
    tensor.untyped_storage().resize_(2_000)
    return part


def fake() -> torch.Tensor:
    with FakeTensorMode():
        return torch.ones(5)


def fake_on_device() -> torch.Tensor:
    with FakeTensorMode():
        return torch.empty(5, device="cuda")


def quantised() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return torch.quantize_per_tensor(torch.ones(5), 0.1, 0, torch.quint8)


def nested() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.strided)


def half_complex() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return torch.ones(5, dtype=torch.complex32)


UNREADABLE: dict[str, Callable[[], Any]] = {
    "freed storage": freed,
    "part of freed storage": part_of_freed,
    "fake": fake,
    "fake on a device": fake_on_device,
    "meta": lambda: torch.ones(5, device="meta"),
    "meta parameter": lambda: torch.nn.Parameter(torch.ones(5, device="meta")),
    "uninitialised parameter": torch.nn.UninitializedParameter,
    "uninitialised buffer": torch.nn.UninitializedBuffer,
    "quantised": quantised,
    "nested": nested,
    "zeros without memory": lambda: torch._efficientzerotensor((5,)),
    "blocks of MKL-DNN": lambda: torch.ones(5, 5).to_mkldnn(),
    "complex of halves": half_complex,
    "floats of other 8 bits": lambda: torch.ones(5).to(torch.float8_e4m3fnuz),
    "1 TB by strides": lambda: torch.ones(1).expand(10**6, 10**6),
    "module": lambda: torch.nn.Linear(2, 2),
    "device": lambda: torch.device("cpu"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("method", ["tensor", "values", "histogram", "_record_tensors"])
def test_what_has_no_memory_is_counted_and_named_once(run: Run, method: str, kind: str) -> None:
    tensor = UNREADABLE[kind]()
    with pytest.warns(trainscope.TrainscopeWarning) as caught:
        for step in range(2):
            if method == "_record_tensors":
                assert run._record_tensors([(f"the {kind}", "other", tensor)], step) == 0
            else:
                getattr(run, method)(f"the {kind}", tensor, step=step)
    messages = [str(warning.message) for warning in caught if warning.category is trainscope.TrainscopeWarning]
    assert len(messages) == 1
    assert f"the {kind}: " in messages[0]
    assert run.finish().lost == {"invalid": 2}


def transform(how: str, look: Callable[[torch.Tensor], torch.Tensor]) -> None:
    values = torch.randn(3, 4)
    if how == "vmap":
        torch.func.vmap(look)(values)
    elif how == "grad":
        torch.func.grad(look)(values)
    elif how == "jvp":
        torch.func.jvp(look, (values,), (values,))
    else:
        torch.func.functionalize(look)(values)


@pytest.mark.parametrize("how", ["vmap", "grad", "jvp", "functionalize"])
def test_tensors_inside_of_transforms_are_refused(run: Run, how: str) -> None:
    def look(x: torch.Tensor) -> torch.Tensor:
        run.tensor("inside", x * 2, step=0)
        run.values("inside", x * 2, step=0)
        return x.sum()

    with pytest.warns(trainscope.TrainscopeWarning, match="inside"):
        transform(how, look)
    assert run.finish().lost == {"invalid": 2}


def test_ones_that_are_traced_by_jit_change_no_trace(run: Run) -> None:
    def look(x: torch.Tensor) -> torch.Tensor:
        run.tensor("traced", x, step=0)
        return x * 2

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(look, torch.ones(3), check_trace=False)  # type: ignore[no-untyped-call]
    assert [node.kind() for node in traced.graph.nodes()] == ["prim::Constant", "aten::mul"]


@pytest.fixture
def one_rank(tmp_path: Path) -> Iterator[Any]:
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/ranks", rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


def test_of_distributed_tensors_the_local_part_is_read(run: Run, one_rank: Any) -> None:
    tensor = torch.randn(4, 3)
    tensors = {
        "sharded": distribute_tensor(tensor, one_rank, [Shard(0)]),
        "replicated": distribute_tensor(tensor, one_rank, [Replicate()]),
        "parameter": torch.nn.Parameter(distribute_tensor(tensor, one_rank, [Shard(1)])),
    }
    assert all(isinstance(each, DTensor) for each in tensors.values())
    check(run, {name: (each, tensor.numpy(), "f32") for name, each in tensors.items()})


def test_a_tensor_is_not_kept_alive_and_not_changed(run: Run) -> None:
    tensor = torch.randn(300, 500)
    before, version = tensor.clone(), tensor._version
    for elements in (tensor, tensor.T, tensor[:, ::2]):
        run.tensor("x", elements, step=0)
        run.values("x", elements, step=0)
        run.histogram("x", elements, step=0)
    assert torch.equal(tensor, before)
    assert tensor._version == version
    reference = weakref.ref(tensor)
    del tensor, elements
    gc.collect()
    assert reference() is None


def test_numbers_of_tensors_are_scalars(run: Run) -> None:
    values: dict[str, Any] = {
        "0-d": torch.tensor(0.5), "one element": torch.tensor([[0.5]]), "parameter": torch.nn.Parameter(torch.tensor(0.5)),
        "bfloat16": torch.tensor(0.5, dtype=torch.bfloat16), "int": torch.tensor(3), "bool": torch.tensor(True),
        "loss": torch.tensor([0.25, 0.75], requires_grad=True).mean(), "jax": jnp.float32(0.5), "jax of one": jnp.ones((1, 1)),
    }
    for name, value in values.items():
        run.scalar(name, value, torch.tensor(3))
    run.log(values, 4)
    assert run.finish().lost == {}
    assert points(run.folder) == {name: [(3, value.item()), (4, value.item())] for name, value in values.items()}


@pytest.mark.parametrize("make", [fake, lambda: torch.tensor(1.0, device="meta"), lambda: torch.ones(2)],
                         ids=["fake", "meta", "two elements"])
def test_a_scalar_without_a_value_is_counted_as_invalid(run: Run, make: Callable[[], torch.Tensor]) -> None:
    run.scalar("x", make(), 0)
    assert run.finish().lost == {"invalid": 1}
