"""Probes in evaluation mode: the samples and positions that each output depends on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from trainscope._lost import text_of
from trainscope._preflight import Probe
from trainscope._torch_graph import tensors_in
from trainscope._torch_locate import Kept, Parting, Place, Randomness
from trainscope._torch_preflight_session import NotTried, Session, mapped, signed_sum

SMALLEST_SHARE = 1e-3
"""Smallest dependence that counts, as a share of the change of permitted outputs. Sums in another order, as of experts
that get other samples, stay below 1e-5 in float32; a mask of -10 in a softmax leaves 5e-5."""

ROUNDINGS = 8
"""Smallest change that counts, in units of the last place of the largest output: the sum of eight roundings."""

LARGEST_MAP = 16
"""Samples in the map of dependences."""

MAX_LATER = 0.99
"""Minimum share of targets equal to inputs at other positions that is no chance: as in the rule about labels that are shifted.
The rest is padding."""

SAME_LOSS = 0.01
"""Relative difference of a loss and one that was computed here for it to be the same: rounding of 16-bit types."""

Arguments = tuple[Any, Any]


def two_evaluations(session: Session) -> Probe:
    """Two passes in evaluation mode, with other random numbers."""
    first = session.judged
    found = Randomness()
    with session.filled():
        second = session.selected(session.run(seed=1, within=found))
    if second.shape != first.shape:
        raise NotTried("two evaluations have outputs of other sizes")
    difference = _largest(first, second)
    scale = _size(first)
    numbers = {"difference": difference, "output": scale}
    if difference <= _rounding(first) * scale:
        return Probe("two_evaluations", "passed", "Two evaluations of the batch are equal.", numbers)
    share = f"{difference / scale:.2g} of the largest output" if scale else f"{difference:.2g}"
    if found.dropping is not None:
        says = (
            f"Two evaluations of the batch differ by {share}: {found.dropping.function} is active in evaluation mode. Pass "
            "`training=self.training`."
        )
        return Probe("two_evaluations", "failed", says, numbers, source=found.dropping.source)
    if found.drawing is not None:
        # Generative models are meant to.
        says = f"Not judged: the model samples in evaluation mode ({found.drawing.function}), and differs by {share}."
        return Probe("two_evaluations", "not_tried", says, numbers, source=found.drawing.source)
    says = f"Two evaluations of the batch differ by {share}: something in the model is random in evaluation mode."
    return Probe("two_evaluations", "failed", says, numbers)


# Samples of a batch.


def batch_dependence(session: Session) -> Probe:
    """Changes some samples: do outputs of the others change?"""
    output = session.judged
    batch = _Batch(session, output)
    halves = torch.arange(batch.size) < batch.size // 2
    unchanged, changed = 0.0, 0.0
    worst: torch.Tensor | None = None
    for rows in (torch.arange(batch.size) % 2 == 0, halves):
        after = _evaluated(session, batch.with_changed(rows))
        each = _by_row(batch.rows(output), batch.rows(after))
        changed = max(changed, float(each[rows].max()))
        if float(each[~rows].max()) > unchanged or worst is None:
            unchanged, worst = float(each[~rows].max()), rows
    assert worst is not None
    if changed <= _rounding(output) * _size(output):
        raise NotTried("other samples change the outputs by no more than rounding")
    share = unchanged / changed
    numbers = {"samples": batch.size, "share": share, "unchanged": unchanged, "changed": changed}
    if share <= SMALLEST_SHARE or unchanged <= _rounding(output) * _size(output):
        return Probe("batch_dependence", "passed", "The output of a sample depends on no other sample.", numbers)
    _refuse_meant(session, batch, output)
    table = _map_of(session, batch)
    place = _parting(session, batch.with_changed(worst), lambda a, b: _rows_differ(a, b, ~worst, batch.size))
    at = f", first seen in {place.function}" if place is not None else ""
    says = (
        f"The output of a sample depends on other samples of the batch, in evaluation mode too{at}: a dimension is taken for "
        f"another. The change is {share:.2g} of that by the sample itself."
    )
    if table is not None:
        pairs = [value for i, row in enumerate(table) for j, value in enumerate(row) if i != j]
        numbers |= {"pairs": sum(value > SMALLEST_SHARE for value in pairs), "of_pairs": len(pairs)}
    data = None if table is None else {"outputs_by_inputs": table}
    return Probe("batch_dependence", "failed", says, numbers, data, place.source if place is not None else None)


class _Batch:
    """The inputs as samples: along which dimension, and how many."""

    def __init__(self, session: Session, output: torch.Tensor) -> None:
        self._session = session
        self.size = output.shape[0]
        axes = (session.batch_dim,) if session.batch_dim is not None else (0, 1)
        if session.batch_dim == 1:
            self.size = output.shape[1] if output.ndim > 1 else 0
        self.output_axis = session.batch_dim or 0
        given = tensors_in((session.args, session.kwargs))
        inputs = [own for own in given if own.ndim and own.layout == torch.strided and not own.is_nested]
        if not inputs:
            raise NotTried("no input is a tensor")
        sizes = {axis: [own for own in inputs if own.ndim > axis and own.shape[axis] == self.size] for axis in axes}
        axis = next((axis for axis in axes if sizes[axis]), None)
        if axis is None:
            raise NotTried(f"the output has {self.size} rows, and no input has as many samples")
        if self.size < 2:
            raise NotTried("the batch has fewer than two samples")
        self.axis = axis
        self.tensors = sizes[axis]

    def rows(self, output: torch.Tensor) -> torch.Tensor:
        """The output with the samples along dimension 0."""
        return output.movedim(self.output_axis, 0)

    def with_changed(self, rows: torch.Tensor) -> Arguments:
        """Arguments in which these samples are others of the batch."""
        chosen = {id(own) for own in self.tensors}

        def change(tensor: torch.Tensor) -> torch.Tensor:
            if id(tensor) not in chosen:
                return tensor
            return exchanged(tensor.detach(), rows.to(tensor.device), self.axis)

        args, kwargs = mapped((self._session.args, self._session.kwargs), change)
        return args, kwargs


def exchanged(tensor: torch.Tensor, rows: torch.Tensor, axis: int) -> torch.Tensor:
    """A copy in which these rows of a dimension are the ones before them, or else other numbers of the tensor."""
    new = tensor.clone().movedim(axis, 0)
    old = tensor.movedim(axis, 0)
    new[rows] = old.roll(1, 0)[rows]
    same = rows & (new == old).flatten(1).all(1) if old.ndim > 1 else rows & (new == old)
    if bool(same.any()):
        new[same] = other_values(tensor, old[same])
    return new.movedim(0, axis)


def other_values(tensor: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Other values for some of a tensor; of whole numbers such as occur in it, so that they mean something."""
    if tensor.is_floating_point() or tensor.is_complex():
        spread = tensor.float().std() if tensor.numel() > 1 and not tensor.is_complex() else torch.tensor(1.0)
        return values + (spread if float(spread) > 0 else 1.0)
    if tensor.dtype == torch.bool:
        return ~values
    known = unique(tensor)
    return known[(torch.searchsorted(known, values.contiguous()) + 1) % len(known)]


def unique(tensor: torch.Tensor) -> torch.Tensor:
    """Values that occur, in their order."""
    # `Tensor.unique` has no types.
    found: torch.Tensor = torch.unique(tensor)
    return found


def _refuse_meant(session: Session, batch: _Batch, output: torch.Tensor) -> None:
    """Raises NotTried where samples are meant to see each other, or another dimension may be the batch."""
    if output.shape == (batch.size, batch.size):
        raise NotTried("the outputs compare the samples with each other")
    for module in session.model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.running_mean is None:
            raise NotTried("BatchNorm without running statistics takes those of the batch")
        if ".quantized" in type(module).__module__:
            raise NotTried("a quantized layer takes the range of the batch")
    if any(_is_graph(own, batch.size) for own in (*tensors_in((session.args, session.kwargs)), *session.reachable())):
        raise NotTried("the samples are joined by a graph")
    if all(device.type == "cpu" for device in session.devices):
        # On other devices an index that is too large ends the process.
        smaller = mapped(
            (session.args, session.kwargs),
            lambda own: own.narrow(batch.axis, 0, batch.size - 1) if any(own is one for one in batch.tensors) else own,
        )
        try:
            session.run(smaller)
        except NotTried:
            raise
        except Exception as error:
            # A size that the program has written into a `view` is not one of a graph.
            if "invalid for input of size" not in str(error):
                why = text_of(error)[:200]
                raise NotTried(f"the model takes {batch.size} samples only, they may be one graph: {why}") from None
    if session.batch_dim is not None or batch.axis or output.ndim < 2:
        return
    # (time, batch) and (batch, time) look alike where both go through the model.
    length = output.shape[1]
    both = [own for own in batch.tensors if own.ndim > 1 and own.shape[1] == length]
    if length < 2 or not both:
        return
    rows = torch.arange(length) < length // 2

    def change(tensor: torch.Tensor) -> torch.Tensor:
        return exchanged(tensor.detach(), rows.to(tensor.device), 1) if any(tensor is own for own in both) else tensor

    each = _by_row(output.movedim(1, 0), _evaluated(session, mapped((session.args, session.kwargs), change)).movedim(1, 0))
    if float(each[~rows].max()) <= SMALLEST_SHARE * float(each[rows].max()):
        raise NotTried(
            "outputs depend on other rows of dimension 0 and on none of dimension 1: either samples are along dimension 1, or "
            "the model takes the batch for the time. `batch_dim=` says which"
        )


def _is_graph(tensor: torch.Tensor, nodes: int) -> bool:
    """True for a list of edges, and a matrix of nodes by nodes."""
    if tensor.layout != torch.strided:
        return True
    if tensor.ndim != 2:
        return False
    if nodes == len(tensor) and torch.equal(tensor, tensor.tril()):
        # A causal mask.
        return False
    is_list = not tensor.is_floating_point() and tensor.shape[0] == 2 and tensor.dtype != torch.bool and nodes > 2
    return is_list or tensor.shape == (nodes, nodes)


def _map_of(session: Session, batch: _Batch) -> list[list[float]] | None:
    """Gradients of outputs by inputs, as their norms by sample, with the largest as 1; `None` if there are none."""
    number = min(batch.size, LARGEST_MAP)
    embedded: list[torch.Tensor] = []

    def keep(module: nn.Module, _args: Any, result: Any) -> None:
        if isinstance(module, nn.Embedding) and result.requires_grad:
            embedded.append(result)

    inputs = [own for own in batch.tensors if own.is_floating_point()]
    arguments = mapped(
        (session.args, session.kwargs),
        lambda own: own.detach().clone().requires_grad_() if any(own is one for one in inputs) else own,
    )
    handle = nn.modules.module.register_module_forward_hook(keep)
    try:
        session.spend()
        session.settle()
        session._set_modes(evaluates=True)
        with session.filled(), session.context(gradients=True):
            output = session.selected(session.model(*arguments[0], **arguments[1]))
    except Exception:
        return None
    finally:
        handle.remove()
    roots = [own for own in tensors_in(arguments) if own.requires_grad]
    roots += [own for own in embedded if own.ndim > batch.axis and own.shape[batch.axis] == batch.size]
    if not roots or not output.requires_grad:
        return None
    with torch.enable_grad():
        rows = list(batch.rows(output)[:number])
    table = []
    for i in range(number):
        try:
            found = torch.autograd.grad(signed_sum(rows[i]), roots, retain_graph=True, allow_unused=True)
        except (RuntimeError, ValueError):
            return None
        norms = torch.zeros(number)
        for gradient in found:
            if gradient is not None:
                by_sample = gradient.movedim(batch.axis, 0)[:number].float().flatten(1) if gradient.ndim > 1 else None
                norms += gradient.float().abs()[:number].cpu() if by_sample is None else by_sample.norm(dim=1).cpu()
        table.append(norms)
    whole = torch.stack(table)
    largest = float(whole.max())
    return None if not 0 < largest < math.inf else [[round(float(own) / largest, 3) for own in row] for row in whole]


# Positions of a sequence.


class _Sequence:
    """A batch whose outputs have the positions of the inputs: (samples, positions, …) both."""

    def __init__(self, session: Session) -> None:
        self._session = session
        output = session.judged
        found = None
        for own in tensors_in((session.args, session.kwargs)):
            is_plain = own.layout == torch.strided and own.dtype != torch.bool and not own.is_nested
            if is_plain and own.ndim >= 2 and own.shape[1] >= 4 and (own.ndim == 2 or own.is_floating_point()):
                found = _with_positions(output, own)
                if found is not None:
                    self.inputs = own
                    break
        if found is None or output.ndim < 2:
            raise NotTried("the outputs have no positions of a sequence of inputs")
        self._arrange = found
        self.output = found(output)
        self.length = self.inputs.shape[1]
        self._refuse_unless_later()

    def changed(self, positions: torch.Tensor) -> torch.Tensor:
        """Largest change of the output at each position, after the inputs at some were exchanged."""
        arguments = self.with_changed(positions)
        after = self._arrange(_evaluated(self._session, arguments))
        return _by_row(self.output.movedim(1, 0), after.movedim(1, 0))

    def with_changed(self, positions: torch.Tensor) -> Arguments:
        """Arguments with other inputs at some positions."""
        new = self.inputs.detach().clone()
        at = positions.to(new.device)
        new[:, at] = other_values(new, new[:, at])
        args, kwargs = mapped(
            (self._session.args, self._session.kwargs), lambda own: new if own is self.inputs else own
        )
        return args, kwargs

    def _refuse_unless_later(self) -> None:
        """Raises NotTried unless the targets are the next inputs: then the future is to be learned."""
        targets = self._session.targets
        if not isinstance(targets, torch.Tensor):
            labels = [own for name, own in self._session.kwargs.items() if name == "labels"]
            targets = labels[0] if labels else None
        if not isinstance(targets, torch.Tensor):
            raise NotTried("without targets it is not known if later inputs may be seen")
        inputs = self.inputs
        samples, length = inputs.shape[:2]
        if inputs.ndim == 2 and targets.numel() == samples * (length - 1):
            # Without the first ones, which nothing is before.
            if _equal(targets.reshape(samples, -1), inputs[:, 1:]) > MAX_LATER:
                return
        if targets.shape[:2] != inputs.shape[:2] and targets.numel() == inputs.numel():
            targets = targets.reshape(inputs.shape)
        if targets.shape[:2] != inputs.shape[:2] or targets.shape[2:] != inputs.shape[2:]:
            raise NotTried("the targets are no later positions of the inputs")
        same, later = _equal(targets, inputs), _equal(targets[:, :-1], inputs[:, 1:])
        if later > MAX_LATER >= same:
            return
        if same > MAX_LATER and self._shifts_in_loss(targets):
            return
        raise NotTried("the targets are no later positions of the inputs")

    def _shifts_in_loss(self, targets: torch.Tensor) -> bool:
        """True if the loss is that of outputs with the targets one position later."""
        if targets.is_floating_point() or self.output.ndim != 3:
            return False
        try:
            loss = float(self._session.loss_of(self._session.base))
        except Exception:
            return False
        logits = self._arrange(self._session.selected(self._session.base))[:, :-1].float()
        later = targets[:, 1:]
        if int(later.max()) >= logits.shape[2]:
            return False
        own = float(nn.functional.cross_entropy(logits.flatten(0, 1), later.flatten().long()))
        return abs(own - loss) <= SAME_LOSS * abs(own)


def _with_positions(output: torch.Tensor, inputs: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """Function by which an output becomes (samples, positions, …); `None` if it has no positions of these inputs."""
    samples, length = inputs.shape[:2]
    if output.shape[:2] == (samples, length) and (output.ndim > 2 or inputs.is_floating_point()):
        return lambda own: own
    if output.ndim == 3 and output.shape[0] == samples and output.shape[2] == length:
        return lambda own: own.transpose(1, 2)
    if output.ndim == 2 and output.shape[0] == samples * length:
        return lambda own: own.reshape(samples, length, own.shape[1])
    return None


def _equal(a: torch.Tensor, b: torch.Tensor) -> float:
    """Share of equal elements, without negative labels, which are padding."""
    if a.is_floating_point() or b.is_floating_point():
        return float(torch.isclose(a.float(), b.float()).float().mean())
    counted = a >= 0
    return float((a == b)[counted].float().mean()) if bool(counted.any()) else 0.0


def _sequence(session: Session) -> _Sequence:
    known = session.__dict__.get("_sequence")
    if known is None:
        known = session.__dict__["_sequence"] = _Sequence(session)
    return known


def future(session: Session) -> Probe:
    """Changes the later half of a sequence: do outputs of the earlier half change, whose targets are later inputs?"""
    sequence = _sequence(session)
    half = sequence.length // 2
    later = torch.arange(sequence.length) >= half
    each = sequence.changed(later)
    earlier, own = float(each[:half].max()), float(each[half:].max())
    numbers = {"positions": sequence.length, "share": earlier / own if own else 0.0, "earlier": earlier, "later": own}
    if own <= 0 and earlier <= 0:
        raise NotTried("other inputs do not change the outputs")
    is_noise = earlier <= _rounding(sequence.output) * _size(sequence.output)
    if is_noise or earlier <= SMALLEST_SHARE * own:
        return Probe("future", "passed", "No output depends on inputs at later positions, which are the targets.", numbers)

    def differ(a: torch.Tensor, b: torch.Tensor) -> bool:
        axis = 1 if a.shape[:2] == sequence.inputs.shape[:2] else a.ndim - 2
        # Products of queries and keys have positions along both of the last dimensions.
        if a.ndim < 3 or a.shape[axis] != sequence.length or a.shape[-1] == sequence.length:
            return False
        return _rows_differ(a.movedim(axis, 0), b.movedim(axis, 0), ~later, sequence.length)

    place = _parting(session, sequence.with_changed(later), differ)
    at = f", first seen in {place.function}" if place is not None else ""
    says = (
        f"Outputs depend on inputs at later positions{at}, and these are the targets: the causal mask is missing or is along "
        "the wrong dimension."
    )
    return Probe("future", "failed", says, numbers, source=place.source if place is not None else None)


def context(session: Session) -> Probe:
    """Changes the first input: does the last output change?"""
    sequence = _sequence(session)
    positions = torch.arange(sequence.length)
    last = _last(sequence.changed(positions == 0))
    numbers: dict[str, float] = {"positions": sequence.length, "last_of_first": last}
    if last == sequence.length - 1:
        return Probe("context", "passed", "The last output depends on the first input.", numbers)
    if last < 1:
        raise NotTried("each output depends on the input of its position alone")
    # In a window, the second input reaches one position further; in another block, equally far.
    numbers["last_of_second"] = _last(sequence.changed(positions == 1))
    if numbers["last_of_second"] > last:
        says = f"Outputs depend on inputs up to {last} positions before them: a window, not the whole sequence."
        return Probe("context", "passed", says, numbers)
    says = (
        f"The first inputs reach the output at position {last} and none of the {sequence.length - 1 - last} behind it: the "
        "sequence falls into blocks, by heads that are split by `view` without `transpose` for example."
    )
    return Probe("context", "failed", says, numbers)


def _last(changes: torch.Tensor) -> int:
    """The last position that changed; -1 without one."""
    found = (changes > 0).nonzero().flatten()
    return int(found[-1]) if len(found) else -1


# Comparisons.


def _evaluated(session: Session, arguments: Arguments) -> torch.Tensor:
    with session.filled():
        output = session.selected(session.run(arguments))
    if output.shape != session.judged.shape:
        raise NotTried("the outputs of a changed batch have other sizes")
    return output


def _parting(
    session: Session, arguments: Arguments, differ: Callable[[torch.Tensor, torch.Tensor], bool]
) -> Place | None:
    """Place at which the pass of other arguments parts from that of the batch. Costs two passes; `None` if they do not fit."""
    try:
        with session.filled():
            kept = Kept()
            session.run(within=kept)
            parting = Parting(kept, differ)
            session.run(arguments, within=parting)
    except Exception:
        return None
    return parting.place


def _rows_differ(a: torch.Tensor, b: torch.Tensor, rows: torch.Tensor, number: int) -> bool:
    """True if some of these rows changed by more than rounding."""
    if a.shape[0] != number:
        return False
    at = rows.to(a.device)
    return _largest(a[at], b[at]) > _rounding(a) * _size(a)


def _by_row(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Largest change of each row."""
    return torch.stack([(x.float() - y.float()).abs().amax() for x, y in zip(a, b, strict=True)]).nan_to_num(0.0).cpu()


def _largest(a: torch.Tensor, b: torch.Tensor) -> float:
    return float(_by_row(a, b).max()) if a.numel() else 0.0


def _size(values: torch.Tensor) -> float:
    return float(values.abs().max()) if values.numel() else 0.0


def _rounding(values: torch.Tensor) -> float:
    return float(ROUNDINGS * torch.finfo(values.dtype).eps)
