"""Preflight of a PyTorch model: the probes one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from trainscope import _torch_probes_dependence as dependence
from trainscope import _torch_probes_inputs as of_inputs
from trainscope import _torch_probes_training as training
from trainscope import _torch_probes_updates as updates
from trainscope._lost import text_of
from trainscope._preflight import Preflight, Probe, chosen, not_tried
from trainscope._torch_hooks import paused
from trainscope._torch_preflight_session import NotTried, Session
from trainscope._torch_preflight_state import TooLarge

_PROBES: dict[str, Callable[[Session], Probe]] = {
    "finite": training.finite,
    "initial_loss": training.initial_loss,
    "reach": training.reach,
    "memory": training.memory,
    "one_update": updates.one_update,
    "two_evaluations": dependence.two_evaluations,
    "batch_dependence": dependence.batch_dependence,
    "future": dependence.future,
    "context": dependence.context,
    "input_dependence": of_inputs.input_dependence,
    "precision": training.precision,
    "one_batch": updates.one_batch,
    "rates": updates.rates,
}


def examine_torch(
    model: Any,
    inputs: Any,
    targets: Any,
    *,
    loss: Any = None,
    optimizer: Any = None,
    output: Any = None,
    one_batch: bool = False,
    rates: bool = False,
    batch_dim: int | None = None,
    seconds: float = 30.0,
    autocast: Sequence[tuple[str, bool, torch.dtype]] | None = None,
    reason: str = "",
) -> Preflight:
    """Runs the probes, puts everything back and compares it. Raises an error that keeps all probes from being tried.

    `inputs` may also be a pair of arguments and keyword arguments, as `Given`. `reason`: why no loss is given.
    """
    begun = time.perf_counter()
    with paused(), torch.inference_mode(False), torch.no_grad():
        try:
            session = Session(model, inputs, targets, loss, optimizer, output, batch_dim, seconds, autocast, reason)
        except (NotTried, TooLarge) as reason:
            return not_tried(str(reason), one_batch=one_batch, rates=rates)
        found: list[Probe] = []
        try:
            for name in chosen(one_batch=one_batch, rates=rates):
                found.append(_try(session, name, _PROBES[name]))
        finally:
            is_restored = session.end()
    return Preflight(tuple(found), time.perf_counter() - begun, session.passes, is_restored)


def _try(session: Session, name: str, probe: Callable[[Session], Probe]) -> Probe:
    try:
        return probe(session)
    except (NotTried, TooLarge) as reason:
        return Probe(name, "not_tried", str(reason))
    except Exception as error:
        return Probe(name, "not_tried", text_of(error)[:500])
