"""The first batch of a preflight: its passes within a budget, which leave the state of the program as it was."""

from __future__ import annotations

import contextlib
import functools
import io
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules import module as global_hooks
from torch.optim import Optimizer

from trainscope._torch_graph import named_modules, named_parameters, tensors_in
from trainscope._torch_hooks import unwrapped
from trainscope._torch_preflight_state import Flags, RandomStates, State

MAX_PASSES = 20
"""Forward passes of all probes but those that are made on request."""

FILLING = 0.02
"""Standard deviation of the numbers in weights that begin with 0, while dependences are looked for: as GPT-2 begins."""

MAIN_OUTPUTS = ("logits", "last_hidden_state")
"""Names of the judged output in models of Hugging Face."""


class NotTried(Exception):
    """A probe has no meaning here, lacks something, or does not fit. The text says why."""


class Budget:
    """Passes and seconds of a preflight."""

    def __init__(self, seconds: float) -> None:
        self.passes = 0
        self._seconds, self._longest, self._begun = seconds, 0.0, time.perf_counter()

    def spend(self, *, is_extra: bool = False) -> None:
        """Takes a pass from the budget. Raises NotTried if it is used up; an extra pass takes time only."""
        if time.perf_counter() - self._begun + self._longest > self._seconds:
            raise NotTried(f"the {self._seconds:g} s of preflight were used up")
        if is_extra:
            return
        if self.passes >= MAX_PASSES:
            raise NotTried(f"the {MAX_PASSES} forward passes of preflight were used up")
        self.passes += 1

    def note(self, seconds: float) -> None:
        """Notes the time of a pass: there has to be time for one as long as the longest."""
        self._longest = max(self._longest, seconds)


class Session:
    """The first batch and the passes that are made with it.

    Before each pass, all but the weights is as it was at the beginning, random numbers included: passes with the same
    inputs are equal.
    """

    def __init__(
        self,
        model: Any,
        inputs: Any,
        targets: Any,
        loss: Any,
        optimizer: Any,
        output: Any,
        batch_dim: int | None,
        seconds: float,
        autocast: Sequence[tuple[str, bool, torch.dtype]] | None,
        reason: str,
    ) -> None:
        if not isinstance(model, nn.Module):
            raise TypeError(f"preflight needs a torch.nn.Module, not {type(model).__name__}")
        self.model = _inner(model)
        lazy = [name for name, own in named_parameters(self.model)[0] if nn.parameter.is_lazy(own)]
        if lazy:
            raise NotTried(f"{lazy[0]} is not initialized yet: a forward pass would do it")
        meta = [name for name, own in named_parameters(self.model)[0] if own.is_meta]
        if meta:
            raise NotTried(f"{meta[0]} has no elements: it is on the device `meta`")
        self.args, self.kwargs = _arguments(inputs)
        self._reason = reason or "no loss was given"
        self.targets, self.loss, self.output, self.batch_dim = targets, loss, output, batch_dim
        self.optimizers = _optimizers(optimizer)
        parameters = [own for _, own in named_parameters(self.model)[0]]
        given = list(tensors_in((self.args, self.kwargs, self.targets)))
        self.devices = list(dict.fromkeys(own.device for own in [*parameters, *self.model.buffers(), *given]))
        types = dict.fromkeys(device.type for device in self.devices)
        self.autocast = autocast if autocast is not None else autocast_now(types)
        self._budget = Budget(seconds)
        self._needs_gradients = False
        self._modes = [(own, own.training) for own in self.model.modules()]
        tables = [value for name, value in vars(global_hooks).items() if name.startswith("_global_")]
        hooks = [hook for table in tables if isinstance(table, dict) for hook in table.values()]
        roots = [self.model, self.args, self.kwargs, targets, loss, output, *self.optimizers, *hooks]
        self._flags = Flags()
        self._random = RandomStates(self.devices)
        self._state = State(roots)
        states = (value for own in self.optimizers for value in tensors_in(list(own.state.values())))
        gradients = (own.grad for own in parameters if own.is_leaf and own.grad is not None)
        self._weights = frozenset(id(own) for own in (*parameters, *states, *gradients))

    @property
    def passes(self) -> int:
        """Forward passes that were made."""
        return self._budget.passes

    def spend(self) -> None:
        """Takes a pass from the budget, for one that is not made by `run`."""
        self._budget.spend()

    def end(self) -> bool:
        """Puts everything back; True if it is as it was."""
        # An exception that is kept holds the frames that hold this session.
        for name in ("_training_pass", "_sequence"):
            self.__dict__.pop(name, None)
        is_whole = True
        parts = self._state.parts()
        parts += [functools.partial(self._set_modes, evaluates=False), self._flags.put_back, self._random.put_back]
        for put_back in parts:
            # One that fails keeps no other from being put back.
            try:
                put_back()
            except Exception:
                is_whole = False
        try:
            return is_whole and self._state.is_as_it_was() and self._random.is_same() and self._flags.is_same()
        except Exception:
            return False

    # Passes.

    def run(
        self,
        arguments: tuple[Any, Any] | None = None,
        *,
        evaluates: bool = True,
        gradients: bool = False,
        seed: int | None = None,
        is_extra: bool = False,
        uses_autocast: bool = True,
        within: contextlib.AbstractContextManager[Any] | None = None,
    ) -> Any:
        """The output of a forward pass. `is_extra`: it does not count. Raises NotTried if the budget is used up."""
        self._budget.spend(is_extra=is_extra)
        args, kwargs = _copied(arguments or (self.args, self.kwargs))
        self.settle()
        if seed is not None:
            self._random.reseed(seed)
        self._set_modes(evaluates=evaluates)
        begun = time.perf_counter()
        try:
            needs = gradients or self._needs_gradients
            with self.context(gradients=needs, uses_autocast=uses_autocast), within or contextlib.nullcontext():
                return self.model(*args, **kwargs)
        except RuntimeError as error:
            if self._needs_gradients or gradients or "does not require grad" not in str(error):
                raise
        finally:
            self._budget.note(time.perf_counter() - begun)
        # The model takes gradients itself, as of an energy by positions.
        self._needs_gradients = True
        return self.run(
            arguments, evaluates=evaluates, seed=seed, is_extra=is_extra, uses_autocast=uses_autocast, within=within
        )

    def settle(self) -> None:
        """Puts back all but the weights."""
        self._state.put_back(but=self._weights)
        self._random.put_back()

    @contextlib.contextmanager
    def leaving(self, tensors: Iterable[torch.Tensor]) -> Iterator[None]:
        """Leaves these as they are between passes, too."""
        before = self._weights
        self._weights = before | {id(own) for own in tensors}
        try:
            yield
        finally:
            self._weights = before

    @contextlib.contextmanager
    def context(self, *, gradients: bool, uses_autocast: bool = True) -> Iterator[None]:
        """Settings of a pass: gradients, autocast as in the training, nothing compiled, nothing printed."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(torch.set_grad_enabled(gradients))
            for kind, is_enabled, dtype in self.autocast:
                is_on = is_enabled and uses_autocast
                stack.enter_context(torch.autocast(kind, dtype=dtype, enabled=is_on, cache_enabled=False))
            if "torch._dynamo" in sys.modules:
                stack.enter_context(torch.compiler.set_stance("force_eager"))
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            yield

    def _set_modes(self, *, evaluates: bool) -> None:
        # Not by `eval()`: a module may do more in it, merge weights for example.
        for module, mode in self._modes:
            is_training = mode and not evaluates
            if module.training != is_training:
                module.training = is_training

    # Outputs and loss.

    def selected(self, output: Any) -> torch.Tensor:
        """The tensor of an output that is judged."""
        value = output
        if callable(self.output):
            value = self.output(output)
        elif self.output is not None:
            is_attribute = isinstance(self.output, str) and not isinstance(output, Mapping)
            value = getattr(output, self.output) if is_attribute else output[self.output]
        elif isinstance(output, Mapping) and any(isinstance(output.get(name), torch.Tensor) for name in MAIN_OUTPUTS):
            value = next(output[name] for name in MAIN_OUTPUTS if isinstance(output.get(name), torch.Tensor))
        elif not isinstance(output, torch.Tensor):
            found = [own for own in tensors_in(output) if own.is_floating_point() and own.ndim]
            if len(found) != 1:
                raise NotTried(f"the model returns {len(found)} tensors of numbers: `output=` says which one is judged")
            value = found[0]
        if not isinstance(value, torch.Tensor):
            raise NotTried(f"`output` selects a {type(value).__name__}, no tensor")
        if value.is_complex():
            value = _real(value)
        if not value.is_floating_point():
            raise NotTried(f"the output is of {value.dtype}")
        if not value.ndim:
            raise NotTried("the output is one number")
        return value

    def loss_of(self, output: Any) -> torch.Tensor:
        """The loss of an output, one number. Raises NotTried if it is not known."""
        if self.loss is not None:
            value = self.loss(output if self.output is None else self.selected(output), self.targets)
        elif isinstance(output, torch.Tensor) and output.ndim == 0:
            value = output
        else:
            value = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
        if isinstance(value, (tuple, list)) and value:
            value = value[0]
        if not isinstance(value, torch.Tensor):
            raise NotTried(self._reason)
        return value if value.ndim == 0 else value.mean()

    # Values that several probes use.

    @functools.cached_property
    def parameters(self) -> list[tuple[str, torch.Tensor]]:
        """Trainable parameters with their names."""
        return [(name, own) for name, own in named_parameters(self.model)[0] if own.requires_grad]

    @functools.cached_property
    def base(self) -> Any:
        """Output in evaluation mode, of the batch as it is."""
        with self.filled():
            return self.run()

    @functools.cached_property
    def judged(self) -> torch.Tensor:
        """The judged part of `base`, of finite numbers."""
        output = self.selected(self.base).detach().clone()
        if not bool(torch.isfinite(output).all()):
            raise NotTried("not all outputs in evaluation mode are finite")
        return output

    @contextlib.contextmanager
    def filled(self) -> Iterator[None]:
        """Weights and scales that begin with 0 are small numbers meanwhile: with 0 nothing depends on anything."""
        random = torch.Generator().manual_seed(0)
        try:
            for own in self._zero:
                own.data.copy_(torch.randn(own.shape, generator=random) * FILLING)
            yield
        finally:
            for own in self._zero:
                own.data.zero_()

    @functools.cached_property
    def _zero(self) -> list[torch.Tensor]:
        return [own for name, own in named_parameters(self.model)[0] if _begins_with_zero(name, own)]

    def reachable(self) -> list[torch.Tensor]:
        """Tensors that the model or the loss may use beside its weights and its inputs."""
        return [own for own in self._state.tensors() if id(own) not in self._weights]

    def names(self) -> dict[int, str]:
        """Names of modules by identity."""
        own = type(self.model).__name__
        return {id(module): name or own for name, module in named_modules(self.model)}


def numbers_in(output: Any) -> list[torch.Tensor]:
    """Tensors of numbers in an output; complex ones as pairs."""
    found = [own for own in tensors_in(output) if own.is_floating_point() or own.is_complex()]
    return [_real(own) if own.is_complex() else own for own in found]


def _real(values: torch.Tensor) -> torch.Tensor:
    with torch.enable_grad():
        return torch.view_as_real(values.resolve_conj())


def signed_sum(values: torch.Tensor) -> torch.Tensor:
    """A sum with random signs: that of a softmax, without them, would be constant."""
    random = torch.Generator().manual_seed(0)
    signs = torch.randint(0, 2, values.shape, generator=random) * 2 - 1
    with torch.enable_grad():
        return (values.float() * signs.to(values.device)).sum()


def autocast_now(types: Mapping[str, None]) -> list[tuple[str, bool, torch.dtype]]:
    """Types of devices with the autocast that is in use."""
    found = []
    for kind in types:
        with contextlib.suppress(RuntimeError):
            found.append((kind, torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)))
    return found


def _begins_with_zero(name: str, parameter: torch.Tensor) -> bool:
    is_bias = "bias" in name.rpartition(".")[2]
    if is_bias or parameter.is_meta or parameter.layout != torch.strided or not parameter.is_floating_point():
        return False
    return parameter.numel() > 0 and not bool(parameter.detach().any())


def _inner(model: nn.Module) -> nn.Module:
    """The module in wrappers of `torch.compile` and DDP. Raises NotTried where a pass needs other processes."""
    while "_orig_mod" in model._modules:
        wrapped: Any = model._modules["_orig_mod"]
        model = wrapped
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return model
    if torch.distributed.get_world_size() == 1:
        return model
    if not isinstance(model, nn.parallel.DistributedDataParallel):
        raise NotTried("a forward pass of one rank alone would wait for the others")
    model = model.module
    if any(isinstance(own, nn.SyncBatchNorm) for own in model.modules()):
        raise NotTried("SyncBatchNorm waits for the other ranks")
    return model


def _optimizers(optimizer: Any) -> list[Optimizer]:
    if optimizer is None:
        return []
    given = optimizer if isinstance(optimizer, (list, tuple)) else [optimizer]
    return [inner for own in given if (inner := unwrapped(own)) is not None]


class Given(NamedTuple):
    """Arguments and keyword arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _arguments(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(inputs, Given):
        return inputs
    if isinstance(inputs, tuple) and not hasattr(inputs, "_fields"):
        return inputs, {}
    if isinstance(inputs, Mapping):
        return (), {str(name): value for name, value in inputs.items()}
    return (inputs,), {}


def _copied(arguments: tuple[Any, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments that a model may write to. Two that are one tensor stay one."""
    copies: dict[int, torch.Tensor] = {}

    def copied(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in copies:
            copies[id(tensor)] = tensor.detach().clone().requires_grad_(tensor.requires_grad)
        return copies[id(tensor)]

    args, kwargs = mapped(arguments, copied)
    return args, kwargs


def mapped(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """A tree with other tensors; objects of other kinds are the same."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (tuple, list):
        return type(value)(mapped(own, change) for own in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(own, change) for own in value))
    if type(value) is dict:
        return {key: mapped(own, change) for key, own in value.items()}
    if isinstance(value, Mapping) and any(isinstance(own, torch.Tensor) for own in value.values()):
        return {key: mapped(own, change) for key, own in value.items()}
    return value
