"""Probes of updates: of copies of the parameters, by copies of the optimizers."""

from __future__ import annotations

import copy
import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.optim import Optimizer

from trainscope._preflight import Probe
from trainscope._torch_graph import dtype_name, named_parameters, tensors_in
from trainscope._torch_preflight_pass import Pass, gradients_of, rms_of, training_pass
from trainscope._torch_preflight_session import NotTried, Session
from trainscope._torch_preflight_state import check_memory
from trainscope._torch_probes_training import MAX_NAMES, named_few, sizes_of

NOISE = 1e-6
"""Size (RMS) of a gradient, in units of the largest one of a parameter, below which it is rounding: that of a bias before
BatchNorm is 0 but for it."""

ROUNDED_AWAY = 0.5
"""Share of elements with a gradient that one update in 16 bits does not change, above which the update is rounded away."""

LEARNED = 0.1
"""Share of the initial loss to which that of one batch has to fall."""

UPDATES = 50
"""Updates of one batch at each learning rate."""

RATES = (1.0, 10.0, 100.0)
"""Factors of the learning rate that are tried one after the other: where only a larger one learns, it is the rate."""

NUMBER_OF_RATES, LOWEST_RATE, HIGHEST_RATE = 40, 1e-7, 10.0
"""The learning rates of the range test, from the lowest to the highest in equal factors."""

DIVERGED = 4.0
"""Loss, in units of the lowest one so far, at which a range test has diverged: the threshold of fastai and Lightning."""


def one_update(session: Session) -> Probe:
    """One update of copies of the parameters by a copy of the optimizer."""
    found = training_pass(session)
    if not session.optimizers:
        raise NotTried("no optimizer of PyTorch was given")
    # Without a loss, the gradients are those of the outputs: an update leaves the same elements unchanged.
    gradients = found.gradients
    if not gradients:
        raise NotTried("there is no gradient: see reach")
    copies = _Copies(session)
    begins_later = copies.begin_schedules()
    names = copies.names
    held = [name for name in names if name in gradients]
    if not held:
        raise NotTried("no optimizer holds a parameter with a gradient")
    sizes = {name: rms_of(_values(gradients[name])) for name in held}
    if not all(math.isfinite(own) for own in sizes.values()):
        raise NotTried("gradients are not finite")
    noise = NOISE * max(sizes.values())
    before = {name: copies.parameters[name].detach().clone() for name in held}
    copies.step(gradients)
    ratios: dict[str, float] = {}
    unchanged: list[str] = []
    without: list[str] = []
    bad: list[str] = []
    rounded, elements = 0, 0
    for name in held:
        old, new = before[name].float(), copies.parameters[name].detach().float()
        if not bool(torch.isfinite(new).all()):
            bad.append(name)
        elif sizes[name] <= noise:
            # As behind a layer that begins with 0.
            without.append(name)
        elif torch.equal(old, new):
            unchanged.append(name)
        elif old.ndim > 1 and float(old.norm()) > 0:
            ratios[name] = float((new - old).norm() / old.norm())
        if before[name].dtype in (torch.bfloat16, torch.float16) and not gradients[name].is_sparse:
            counted = gradients[name] != 0
            elements += int(counted.sum())
            rounded += int((counted & (old == new)).sum())
    rates = [float(group["lr"]) for own in session.optimizers for group in own.param_groups if "lr" in group]
    ordered = sorted(ratios.values())
    numbers: dict[str, float] = {"parameters": len(held), "unchanged": len(unchanged), "zero_gradient": len(without)}
    numbers |= {"lr": max(rates, default=math.nan), "not_finite": len(bad)}
    if ordered:
        numbers |= {"ratio": ordered[len(ordered) // 2], "smallest_ratio": ordered[0], "largest_ratio": ordered[-1]}
    data = {"ratios": {name: float(f"{own:.2g}") for name, own in list(ratios.items())[:MAX_NAMES]}}
    if bad:
        says = f"One update makes {named_few(bad)} NaN or infinite, although gradients are finite."
        return Probe("one_update", "failed", says, numbers, data)
    if unchanged and len(unchanged) == len(held) - len(without):
        why = "the learning rate is 0" if max(rates, default=1.0) == 0 else _why_unchanged(copies, unchanged)
        return Probe("one_update", "failed", f"One update changes no parameter: {why}.", numbers, data)
    frozen = copies.with_rate_zero()
    unchanged = [name for name in unchanged if name not in frozen]
    if unchanged:
        says = f"One update does not change {named_few(unchanged)}, which have gradients: {_why_unchanged(copies, unchanged)}."
        return Probe("one_update", "failed", says, numbers, data)
    numbers["rounded_away"] = rounded / elements if elements else 0.0
    if numbers["rounded_away"] > ROUNDED_AWAY:
        says = f"One update does not change {100 * rounded / elements:.0f} % of the 16-bit elements: it is rounded away."
        return Probe("one_update", "failed", says, numbers, data)
    says = f"One update changes all {len(held)} parameters"
    if without or frozen:
        says = f"One update changes {len(held) - len(without) - len(frozen)} of {len(held)} parameters"
    if ordered:
        says += f", by {numbers['ratio']:.1g} of the weights in the median matrix"
    later = " The schedule begins with a rate of 0: the rate behind it was taken." if begins_later else ""
    return Probe("one_update", "passed", f"{says}.{later}", numbers, data)


def _values(gradient: torch.Tensor) -> torch.Tensor:
    return gradient.coalesce().values() if gradient.is_sparse else gradient


def _why_unchanged(copies: _Copies, names: list[str]) -> str:
    dtype = copies.parameters[names[0]].dtype
    is_short = dtype in (torch.bfloat16, torch.float16)
    return f"the update is rounded away in {dtype_name(dtype)}" if is_short else "the update is too small for the weights"


class _Copies:
    """Copies of the parameters that optimizers hold, and of the optimizers."""

    def __init__(self, session: Session) -> None:
        named = dict(named_parameters(session.model)[0])
        ours = {id(own): name for name, own in named.items()}
        for own in session.optimizers:
            closure = inspect.signature(type(own).step).parameters.get("closure")
            if closure is not None and closure.default is inspect.Parameter.empty:
                raise NotTried(f"{type(own).__name__} computes gradients itself")
        held = [own for one in session.optimizers for group in one.param_groups for own in group["params"]]
        states = [own for one in session.optimizers for own in tensors_in(list(one.state.values()))]
        # Copies of parameters and states, and the states of an optimizer that has none yet, Adam for example.
        check_memory(sizes_of([*held, *states, *([] if states else [*held, *held])]))
        self.optimizers: list[Optimizer] = copy.deepcopy(session.optimizers)
        new = [own for one in self.optimizers for group in one.param_groups for own in group["params"]]
        pairs = [(ours[id(old)], own) for old, own in zip(held, new, strict=True) if id(old) in ours]
        self.parameters = dict(pairs)
        self.names = list(self.parameters)

    def begin_schedules(self) -> bool:
        """Replaces rates of 0 with those that a schedule begins to rise to; True if there was one."""
        groups = [group for own in self.optimizers for group in own.param_groups]
        waiting = [group for group in groups if group.get("lr") == 0 and group.get("initial_lr")]
        for group in waiting:
            group["lr"] = group["initial_lr"]
        return bool(waiting)

    def with_rate_zero(self) -> set[str]:
        """Names of parameters in groups whose rate is 0."""
        groups = [group for own in self.optimizers for group in own.param_groups if group.get("lr") == 0]
        still = {id(own) for group in groups for own in group["params"]}
        return {name for name, own in self.parameters.items() if id(own) in still}

    def step(self, gradients: dict[str, torch.Tensor]) -> None:
        """One update with these gradients. Hooks of optimizers are not called."""
        for name, own in self.parameters.items():
            gradient = gradients.get(name)
            own.grad = None if gradient is None else gradient.detach().clone()
        for optimizer in self.optimizers:
            step: Callable[..., Any] = type(optimizer).step
            if getattr(step, "hooked", False):
                step = step.__wrapped__  # type: ignore[attr-defined]
            step(optimizer)


class _Trial:
    """Updates of the model on one batch, with copies of the optimizers. The parameters are put back at its end."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._copies = _Copies(session)
        self._copies.begin_schedules()
        named = dict(named_parameters(session.model)[0])
        self._pairs = [(named[name], own) for name, own in self._copies.parameters.items()]
        self._before = [own.detach().clone() for own, _ in self._pairs]
        groups = [group for own in self._copies.optimizers for group in own.param_groups]
        self._groups = [(group, group["lr"]) for group in groups if "lr" in group]
        self.rate = max((float(rate) for _, rate in self._groups), default=math.nan)

    def set_rate(self, rate: float) -> None:
        """Sets the largest rate; the others keep their ratio to it."""
        for group, own in self._groups:
            new = float(own) * rate / self.rate if self.rate > 0 else rate
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(new)
            else:
                group["lr"] = new

    def losses(self, number: int) -> Iterator[float]:
        """Losses before each of `number` updates, and after the last one."""
        session = self._session
        for _ in range(number):
            output = session.run(evaluates=False, gradients=True, is_extra=True)
            with session.context(gradients=True):
                loss = session.loss_of(output)
            yield float(loss.detach())
            self._copies.step(gradients_of(session, loss))
            for own, new in self._pairs:
                own.data.copy_(new.detach())
        output = session.run(evaluates=False, gradients=False, is_extra=True)
        with session.context(gradients=False):
            yield float(session.loss_of(output))

    def end(self) -> None:
        for (own, _), before in zip(self._pairs, self._before, strict=True):
            own.data.copy_(before)


def _pass_with_loss(session: Session) -> tuple[Pass, float]:
    """The pass of the training with its loss; it has gradients and an optimizer that can be tried."""
    found = training_pass(session)
    if found.loss is None:
        raise NotTried(found.reason)
    if not session.optimizers or not found.gradients:
        raise NotTried("no optimizer of PyTorch was given" if not session.optimizers else "there is no gradient: see reach")
    return found, found.loss


def one_batch(session: Session) -> Probe:
    """On request: can one batch be learned?"""
    found, loss = _pass_with_loss(session)
    if not loss > 0:
        raise NotTried(f"the loss is {loss:.3g}: it has no tenth to fall to")
    best: tuple[float, float, list[float]] = (math.inf, 0.0, [])
    floor = _floor(session, found)
    for factor in RATES:
        trial = _Trial(session)
        rate = trial.rate * factor if trial.rate > 0 else 1e-3 * factor
        if factor != 1.0 or trial.rate == 0:
            trial.set_rate(rate)
        curve: list[float] = []
        try:
            for new in trial.losses(UPDATES):
                curve.append(new)
                if not math.isfinite(new) or new - floor <= LEARNED * (curve[0] - floor):
                    break
        except NotTried:
            if not best[2] and not curve:
                raise
        finally:
            trial.end()
        lowest = min((own for own in curve if math.isfinite(own)), default=math.inf)
        if lowest < best[0]:
            best = (lowest, rate, curve)
        if lowest - floor <= LEARNED * (curve[0] - floor) or trial.rate == 0:
            break
    lowest, rate, curve = best
    share = (lowest - floor) / (loss - floor)
    numbers = {"loss": loss, "lowest": lowest, "share": share, "updates": len(curve) - 1, "lr": rate}
    data = {"losses": [float(f"{own:.4g}") for own in curve if math.isfinite(own)]}
    if share <= LEARNED:
        says = f"One batch can be learned: its loss falls from {loss:.3g} to {lowest:.2g} in {len(curve) - 1} updates"
        return Probe("one_batch", "passed", f"{says} at a learning rate of {rate:.2g}.", numbers, data)
    says = (
        f"One batch cannot be learned in {UPDATES} updates: its loss falls from {loss:.3g} to {lowest:.3g} at most, also "
        "at 10 and 100 times the learning rate. Look at the loss, the targets and what the inputs say about them."
    )
    return Probe("one_batch", "failed", says, numbers, data)


def _floor(session: Session, found: Pass) -> float:
    """Lowest loss that can be reached with label smoothing."""
    smoothing = float(getattr(session.loss, "label_smoothing", 0.0) or 0.0)
    classes = found.guess.classes if found.guess is not None else 0
    if smoothing <= 0 or classes < 2:
        return 0.0
    rest = smoothing / classes
    right = 1 - smoothing + rest
    return -(right * math.log(right) + (classes - 1) * rest * math.log(rest))


def rates(session: Session) -> Probe:
    """On request: the loss while the learning rate rises from update to update."""
    _pass_with_loss(session)
    trial = _Trial(session)
    in_use = trial.rate
    factor = (HIGHEST_RATE / LOWEST_RATE) ** (1 / (NUMBER_OF_RATES - 1))
    curve: list[tuple[float, float]] = []
    lowest, diverges = math.inf, math.nan
    try:
        losses = iter(trial.losses(NUMBER_OF_RATES))
        first = next(losses)
        for number in range(NUMBER_OF_RATES):
            rate = LOWEST_RATE * factor**number
            trial.set_rate(rate)
            loss = next(losses)
            curve.append((float(f"{rate:.3g}"), float(f"{loss:.4g}") if math.isfinite(loss) else math.inf))
            lowest = min(lowest, loss) if math.isfinite(loss) else lowest
            if not math.isfinite(loss) or (loss > DIVERGED * lowest and loss > first):
                diverges = rate
                break
    finally:
        trial.end()
    falls = [(b[1] - a[1], b[0]) for a, b in itertools.pairwise(curve) if math.isfinite(a[1]) and math.isfinite(b[1])]
    steepest = min(falls, default=(0.0, math.nan))
    numbers = {"lr": in_use, "steepest": steepest[1] if steepest[0] < 0 else math.nan, "diverges": diverges, "lowest": lowest}
    data = {"losses_by_rate": [pair for pair in curve if math.isfinite(pair[1])]}
    found_text = f"the loss falls most at {steepest[1]:.2g}" if steepest[0] < 0 else "the loss falls at no rate"
    end_text = f" and diverges at {diverges:.2g}" if math.isfinite(diverges) else f" and diverges at none up to {HIGHEST_RATE:g}"
    if in_use == 0:
        return Probe("rates", "failed", f"The learning rate is 0; {found_text}{end_text}.", numbers, data)
    if math.isfinite(diverges) and in_use >= diverges:
        says = f"The learning rate is {in_use:.2g}, but {found_text}{end_text}."
        return Probe("rates", "failed", says, numbers, data)
    return Probe("rates", "passed", f"The learning rate is {in_use:.2g}; {found_text}{end_text}.", numbers, data)
