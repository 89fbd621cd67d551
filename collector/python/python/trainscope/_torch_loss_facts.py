"""Facts of the losses of a training: their functions, lines, shapes and targets, over the backward passes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch

from trainscope import _source
from trainscope._facts import Facts
from trainscope._loss_line import line_of_loss
from trainscope._source import Place
from trainscope._torch_autograd import behind, main_parent, name_of, saved_all, sequence_of
from trainscope._torch_batches import Targets, range_of_rows, rms_of, share_of_negative
from trainscope._torch_later import Later
from trainscope._torch_losses import Loss, losses_of

MAX_LOSSES = 8
"""Loss functions of one training that are kept apart."""

MAX_MODULES = 100_000
"""Outputs of modules whose functions are remembered."""

# Functions that a program combines losses with.
_COMBINING = ("mean", "sum", "neg", "mul", "div", "add", "sub")

# Losses that compare numbers.
_OF_NUMBERS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


@dataclasses.dataclass
class _LossFact:
    """State of one loss function over the passes."""

    name: str
    numbers: dict[str, float]
    texts: dict[str, str]
    place: Place | None
    function: str = ""
    targets: Targets = dataclasses.field(default_factory=Targets)
    # The last pass that has it; one pass has several.
    last_pass: int = 0
    is_repeated: bool = False


class LossFacts:
    """Loss functions of one run, each with its numbers and its targets."""

    def __init__(self, later: Later) -> None:
        # Calls of the program by the functions of the graph that they made.
        self.lines: Any = None
        self._later = later
        self._facts: dict[tuple[Any, ...], _LossFact] = {}
        # Modules by the number of the function that gave their output.
        self._made_by: dict[int, str] = {}
        # The backward pass that is read: its number and its line.
        self._pass = 0
        self._place: Place | None = None

    def __len__(self) -> int:
        return len(self._facts)

    def note_module(self, name: str, outputs: list[torch.Tensor]) -> None:
        """Notes which functions of the graph are the outputs of a module."""
        for tensor in outputs:
            function = tensor.grad_fn
            if function is not None:
                self._made_by.setdefault(sequence_of(function), name)

    def trim_modules(self) -> None:
        """Forgets the outputs of modules once they are too many."""
        if len(self._made_by) > MAX_MODULES:
            self._made_by.clear()

    def forget_modules(self) -> None:
        """Forgets the outputs of modules."""
        self._made_by.clear()

    def read(
        self,
        roots: list[torch.Tensor],
        number: int,
        place: Place | None,
        batch: torch.Tensor | None,
        tokens: tuple[torch.Tensor, ...] = (),
    ) -> None:
        """Reads the losses in the graph of a backward pass with this number, and their targets beside the inputs: the main
        one, and others that may be tokens."""
        self._pass, self._place = number, place
        for root in roots:
            if root.grad_fn is None:
                self._put_leaf()
                continue
            losses = losses_of(root.grad_fn)
            for loss in losses:
                self._put_loss(loss, batch, tokens)
            if not losses:
                self._put_unknown(root)

    def _put_leaf(self) -> None:
        """A loss that was not computed from anything with a gradient."""
        numbers = {"has_gradient": 0.0, "broadcast": 0.0}
        self._fact_of(("loss", self._place), "loss", numbers, {"before": "", "before_that": "", "module": ""}, None)

    def _put_unknown(self, root: torch.Tensor) -> None:
        edge = behind((root.grad_fn, root.output_nr))[0]
        for _ in range(64):
            if name_of(edge[0]) not in _COMBINING:
                break
            parent = main_parent(edge[0])
            if parent is None:
                break
            edge = behind(parent)[0]
        before, texts = self._before(edge)
        key = ("loss", before, self._place)
        self._fact_of(key, "loss", {"has_gradient": 1.0, "broadcast": 0.0}, texts, edge[0])

    def _put_loss(self, loss: Loss, batch: torch.Tensor | None, tokens: tuple[torch.Tensor, ...]) -> None:
        before, texts = self._before(loss.operand)
        texts["outputs_shape"] = _shown(loss.outputs_shape)
        texts["targets_shape"] = _shown(loss.targets_shape)
        numbers = {
            "has_gradient": 1.0,
            "broadcast": float(loss.are_outputs_expanded and loss.are_targets_expanded),
            "outputs_expanded": float(loss.are_outputs_expanded),
            "by_hand": float(loss.is_by_hand),
        }
        if loss.classes:
            dimensions = len(loss.outputs_shape or ())
            numbers |= {"classes": loss.classes, "dimension": loss.dimension, "dimensions": dimensions}
            numbers["wrong_axis"] = float(loss.has_wrong_axis)
        if loss.function in _OF_NUMBERS and any(_chooses(one) for one in behind(loss.operand)[1]):
            numbers["chosen"] = 1.0
        key = (loss.function, before, self._place)
        fact = self._fact_of(key, loss.function, numbers, texts, loss.node)
        if fact is None:
            return
        for name, is_one in (("signed_passes", loss.sign != 0), ("negative_passes", loss.sign < 0)):
            fact.numbers[name] = fact.numbers.get(name, 0.0) + is_one
        ignored, dimension = loss.ignored, loss.dimension

        def read(outputs: Any, target: Any, logarithms: Any, batch: Any, *tokens: Any) -> None:
            if outputs is not None and target is not None and target.is_floating_point():
                fact.numbers |= {"outputs_rms": rms_of(outputs), "targets_rms": rms_of(target)}
            if target is not None and target.is_floating_point():
                fact.numbers["negative_targets"] = share_of_negative(target)
            if logarithms is not None:
                size = range_of_rows(logarithms, dimension)
                if size is not None:
                    fact.numbers["range"] = max(size, fact.numbers.get("range", 0.0))
            fact.targets.add(target, batch, ignored, tokens)

        self._later.read([loss.outputs, loss.target, loss.logarithms, batch, *tokens], read)

    def _before(self, edge: tuple[Any, int]) -> tuple[str, dict[str, str]]:
        """Names of the two functions before a loss, and the module that made the last one."""
        (node, _), passed = behind(edge)
        before = name_of(node)
        module = self._made_by.get(sequence_of(node), "")
        for one in reversed(passed):
            module = module or self._made_by.get(sequence_of(one), "")
        parent = main_parent(node)
        before_that = "" if parent is None else name_of(behind(parent)[0][0])
        return before, {"before": before, "before_that": before_that, "module": module}

    def _fact_of(
        self, key: tuple[Any, ...], function: str, numbers: dict[str, float], texts: dict[str, str], node: Any
    ) -> _LossFact | None:
        fact = self._facts.get(key)
        if fact is None:
            if len(self._facts) >= MAX_LOSSES:
                return None
            count = 1 + sum(known[0] == function for known in self._facts)
            place = self._place and (self._place[0], line_of_loss(*self._place[:2]), self._place[2])
            name = function if count == 1 else f"{function}#{count}"
            fact = self._facts[key] = _LossFact(name, {"passes": 0}, {}, place, function)
        fact.is_repeated |= fact.last_pass == self._pass
        fact.last_pass = self._pass
        numbers["passes"] = fact.numbers["passes"] + 1
        for name in ("broadcast", "outputs_expanded"):
            numbers[name] = max(numbers.get(name, 0.0), fact.numbers.get(name, 0.0))
        fact.numbers |= numbers
        # Shapes and modules that were known once stay.
        fact.texts |= {name: text or fact.texts.get(name, "") for name, text in texts.items()}
        note = None if self.lines is None or node is None else self.lines.of_sequence(sequence_of(node))
        if note is not None:
            fact.place = note.place
        return fact

    def collect(self, facts: Facts, *, has_several_optimizers: bool) -> None:
        """Puts the facts of the losses and of their targets."""
        for fact in self._facts.values():
            source = _source.of_place(fact.place)
            facts.put("loss_function", fact.name, fact.numbers, fact.texts, source)
            numbers = fact.targets.numbers()
            if _are_sides(fact, numbers, has_several_optimizers=has_several_optimizers):
                numbers = {"batches": numbers["batches"]}
            if numbers["batches"]:
                facts.put("targets", fact.name, numbers, {}, source)


def _are_sides(fact: _LossFact, numbers: Mapping[str, float], *, has_several_optimizers: bool) -> bool:
    """True if targets say which side samples come from, as in adversarial training: each loss has one of them.

    Of several losses in one pass, those of classes may stand beside those of sides.
    """
    of_one = numbers.get("batches_of_one_label", 0.0)
    is_of_sides = fact.function.startswith(("binary_cross_entropy", "cross_entropy")) and has_several_optimizers
    return (fact.is_repeated and of_one > 0) or (is_of_sides and of_one == numbers["batches"])


def _chooses(node: Any) -> bool:
    """True for a function that takes one output of each sample, as that of an action."""
    name = name_of(node)
    return name == "gather" or (name == "index" and sum(one is not None for one in saved_all(node, "indices")) > 1)


def _shown(shape: tuple[int, ...] | None) -> str:
    return "" if shape is None else str(list(shape))
