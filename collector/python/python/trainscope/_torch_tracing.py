"""Graph of the first forward pass of a watched model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from trainscope._torch_graph import Trace
from trainscope._torch_watched import WatchedModel


class Tracing:
    """Traces one pass, and records its graph. The modules that call no other are known after it.

    writes: False if the graph is not recorded.
    """

    def __init__(self, run: Any, watched: WatchedModel, *, writes: bool) -> None:
        self._run = run
        self._watched = watched
        self._writes = writes
        self._trace: Trace | None = None
        # A pass was traced, or a sampled step has ended without one.
        self.is_done = False

    @property
    def is_open(self) -> bool:
        """True while a pass is traced."""
        return self._trace is not None

    def begin(self, model: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Begins to trace a pass, if none was traced before."""
        if not self.is_done:
            self._trace = Trace(model, self._watched.prefix)
            self._trace.begin(args, kwargs)

    def enter(self, module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Notes that a module is called."""
        if self._trace is not None:
            self._trace.enter(module, args, kwargs)

    def leave(self, name: str, module: nn.Module, output: Any) -> None:
        """Notes that a call has ended."""
        if self._trace is not None and self._trace.leave(name, module, output) and module._modules:
            self._watched.note_inner_leaf(module)

    def finish(self, output: Any) -> None:
        """Ends the trace of a pass that returned this, and records its graph."""
        if self._trace is None:
            return
        nodes, outputs = self._trace.finish(output)
        self._trace, self.is_done = None, True
        if self._writes and nodes:
            self._run._graph(self._watched.prefix.rstrip(".") or "model", nodes, outputs)

    def drop(self) -> None:
        """Ends a trace whose pass has not ended."""
        self._trace = None
