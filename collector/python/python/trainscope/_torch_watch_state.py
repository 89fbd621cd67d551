"""State that the parts of one watch share."""

from __future__ import annotations

from typing import Any

from torch import nn

from trainscope._torch_graph import Selection
from trainscope._torch_looks import Looks
from trainscope._torch_passes import Passes
from trainscope._torch_spans import Spans
from trainscope._torch_updates import Updates
from trainscope._torch_watched import Kinds, WatchedModel


class WatchState:
    """The model of a watch, its steps, its forward passes, its updates and its spans."""

    def __init__(self, run: Any, model: nn.Module, kinds: Kinds, selection: Selection) -> None:
        self.watched = WatchedModel(run, model, kinds, selection)
        self.looks = Looks()
        self.passes = Passes(run, self.watched)
        self.updates = Updates(run, self.watched)
        self.spans = Spans(run)
