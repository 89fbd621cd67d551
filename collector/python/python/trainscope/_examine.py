"""Preflight of a model by the module of its framework, which is imported then. An error becomes a report."""

from __future__ import annotations

from typing import Any

from trainscope import _lost
from trainscope._preflight import Preflight, not_tried


def examine(model: Any, inputs: Any, targets: Any = None, **options: Any) -> Preflight:
    """Examines a model, as `trainscope.preflight` does, without a run. Raises nothing."""
    try:
        from trainscope._torch_preflight import examine_torch

        return examine_torch(model, inputs, targets, **options)
    except Exception as error:
        reason = _lost.text_of(error)
        _lost.warn(None, f"preflight: {reason}")
        return not_tried(reason, one_batch=options.get("one_batch", False), rates=options.get("rates", False))
