"""Loss landscapes: weights as the training has them, and back from the plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, SupportsFloat

if TYPE_CHECKING:
    from trainscope.run import Run

Weights = Mapping[str, Any]


def record(
    run: Run,
    snapshots: Mapping[int, Weights] | Sequence[tuple[int, Weights]],
    loss: Callable[..., SupportsFloat],
    model: Any,
    **options: Any,
) -> None:
    """Records a landscape of `run`; `Run.landscape` says more."""
    saved = sorted(snapshots.items() if isinstance(snapshots, Mapping) else snapshots, key=lambda own: own[0])
    if not saved:
        raise ValueError("there are no snapshots")
    last = saved[-1][1]
    names = list(last) if model is None else [name for name, _ in model.named_parameters() if name in last]
    makers = [_maker(last[name]) for name in names]

    def of_weights(buffers: list[bytes]) -> float:
        weights = {name: make(buffer) for name, make, buffer in zip(names, makers, buffers, strict=True)}
        return float(loss(weights))

    def of_model(buffers: list[bytes]) -> float:
        parameters = dict(model.named_parameters())
        for name, make, buffer in zip(names, makers, buffers, strict=True):
            parameters[name].copy_(make(buffer))
        return float(loss())

    with nullcontext() if model is None else _kept(model):
        run._landscape(
            snapshots=[(step, [_plain(weights[name]) for name in names]) for step, weights in saved],
            loss=of_weights if model is None else of_model,
            **options,
        )


def _is_torch(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch"


def _plain(value: Any) -> Any:
    return value.detach().float().cpu() if _is_torch(value) else value


def _maker(value: Any) -> Callable[[bytes], Any]:
    """Makes values of the kind of `value` from the bytes of single precision."""
    if _is_torch(value):
        import torch

        return lambda buffer: torch.frombuffer(bytearray(buffer), dtype=torch.float32).reshape(value.shape).to(value)
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        import numpy as np

        return lambda buffer: np.frombuffer(buffer, dtype=np.float32).reshape(value.shape)
    shape = _shape(value)
    return lambda buffer: memoryview(buffer).cast("f", shape).tolist() if shape else memoryview(buffer).cast("f")[0]


def _shape(value: Any) -> list[int]:
    shape = []
    while isinstance(value, Sequence) and not isinstance(value, str):
        shape.append(len(value))
        value = value[0] if value else None
    return shape


class _kept(AbstractContextManager[None]):
    """Puts the parameters of a module of PyTorch back at the end; no gradients are computed until then."""

    def __init__(self, model: Any) -> None:
        import torch

        self._no_grad = torch.no_grad()
        self._parameters = [(own, own.detach().clone()) for own in model.parameters()]

    def __enter__(self) -> None:
        self._no_grad.__enter__()

    def __exit__(self, *error: Any) -> None:
        for own, before in self._parameters:
            own.copy_(before)
        self._no_grad.__exit__(*error)
