"""Tensors of a watched model that are not seen, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from trainscope._torch_graph import is_compiled, is_freed, named_modules, named_parameters
from trainscope._torch_hooks import compilations

if TYPE_CHECKING:
    from trainscope.torch import Watch


def has_activation(watch: Watch, name: str, module: nn.Module) -> bool:
    """True if a module is expected to return an activation; after the first sampled step, if it was called."""
    # Containers have no forward pass.
    if isinstance(module, torch.jit.ScriptModule) or not watch._is_leaf(module):
        return False
    if type(module).forward is nn.Module.forward:
        return False
    return name in watch._called if watch._update_step >= 0 else True


def sentences_of(watch: Watch) -> list[str]:
    """Sentences that say which tensors of a watch are not seen, and why."""
    model = watch.model
    if model is None:
        return ["The model is gone."]
    sentences = []
    if watch._foreign and not watch._has_updated:
        sentences.append(f"{watch._foreign} has no hooks: weights and gradients are not read.")
    prefix = watch._prefix
    for name, parameter in named_parameters(model)[0]:
        if nn.parameter.is_lazy(parameter):
            sentences.append(f"{prefix}{name} is not initialized yet.")
        elif parameter.device.type == "xla":
            sentences.append(f"{prefix}{name} is computed lazily on {parameter.device}: not read.")
        elif is_freed(parameter):
            sentences.append(f"{prefix}{name} has no memory at the moment.")
    sentences += [f"{name} had no gradient at the last sampled update." for name in watch._without_gradient]
    sentences += [f'No tensor is called "{text}".' for text in watch._selection.unmatched(watch.names())]
    if watch._activations and watch._update_step >= 0:
        sentences += _without_activation(watch, model)
    return sentences


def _without_activation(watch: Watch, model: nn.Module) -> list[str]:
    """Sentences about modules with parameters that are apparently called without their hooks."""
    if not watch._called and compilations() > watch._compilations:
        return [
            f"No activation of {type(model).__name__} was seen. Hooks do not fire inside of torch.compile: to see "
            "activations, run some steps without it."
        ]
    compiled = [module for _, module in named_modules(model) if is_compiled(module)]
    within = {id(inner) for module in compiled for inner in module.modules()}
    sentences = []
    for name, module in watch._modules(model):
        if not watch._is_leaf(module) or name in watch._called or not watch._selection.has_name(name):
            continue
        if isinstance(module, torch.jit.ScriptModule):
            sentences.append(f"{name} has no activation: it is a ScriptModule, which has no hooks.")
        elif name in watch._called_without:
            sentences.append(f"{name} has no activation: it was called without gradients only.")
        elif id(module) in within and module._parameters:
            sentences.append(f"{name} has no activation: it is inside of torch.compile.")
    return sentences
