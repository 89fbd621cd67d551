"""Forward passes of a watched model: the calls of modules that belong to the training."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from trainscope._torch_device import is_capturing
from trainscope._torch_watched import WatchedModel
from trainscope._torch_watches import of_other_runs

# Looked up once: they are asked for each module.
_graph_task = torch._C._current_graph_task_id
_transform = torch._C._functorch.peek_interpreter_stack


class Passes:
    """Forward passes of one watched model."""

    def __init__(self, run: Any, watched: WatchedModel) -> None:
        self._run = run
        self._watched = watched
        # A forward pass for the training is under way.
        self.is_open = False
        # Forward passes for the training that were seen.
        self.count = 0

    def sees(self, module: nn.Module) -> bool:
        """True if a call of the module belongs to the training or to a phase.

        Calls in a backward pass repeat others, those of replicas and function transforms have other tensors, and in a
        CUDA graph that is being captured nothing is recorded.
        """
        if _graph_task() != -1 or _transform() is not None:
            return False
        if module.__dict__.get("_is_replica", False) or is_capturing():
            return False
        if self.is_open or self._run._phase:
            return True
        if not (module.training and torch.is_grad_enabled()):
            return False
        # A part that models of two runs share may be called by the model of the other run.
        return module is self._watched.model or not any(other.is_in_forward for other in of_other_runs(self._run))

    def begin(self, module: nn.Module) -> bool:
        """Begins a pass of the model, and returns if it belongs to the training or to a phase."""
        self.is_open = False
        if not self.sees(module):
            return False
        # Parts of the model that run without gradients (frozen, or to be computed again) belong to the pass.
        self.is_open = module.training and torch.is_grad_enabled()
        self.count += self.is_open
        return True

    def end(self) -> None:
        """Ends the pass."""
        self.is_open = False

    def named(self, name: str) -> str:
        """The name of a record, with that of the phase in front."""
        phase = self._run._phase
        return f"{phase}/{name}" if phase else name
