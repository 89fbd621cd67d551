"""Preflight: each probe finds its faults in several families of models, and nothing in sound programs; nothing is changed."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import itertools
import os
import pickle
import random
import re
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
import trainscope
from preflight_programs import (
    FAULTS,
    SOUND,
    Function,
    Language,
    Program,
    Recurrent,
    adam,
    causal,
    classifier,
    cnn,
    labels,
    language,
    mlp,
    next_loss,
    pictures,
    rows,
    sgd,
    vectors,
)
from reading import statistics
from recorded import nothing_lost
from test_not_broken import DDP
from torch import nn
from torch.nn import functional
from trainscope.run import Run

__all__ = ["nothing_lost"]


@pytest.fixture(autouse=True)
def seeded() -> None:
    seed(7)


def seed(number: int) -> None:
    torch.manual_seed(number)
    numpy.random.seed(number)
    random.seed(number)


def preflight(program: Program, **options: Any) -> trainscope.Preflight:
    """The report of a program."""
    context: Any = contextlib.nullcontext()
    if program.autocast is not None:
        context = torch.autocast("cpu", dtype=program.autocast)
    with context:
        return trainscope.preflight(
            program.model, program.inputs, program.targets, loss=program.loss, optimizer=program.optimizer,
            **program.options | options,
        )  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), FAULTS)
def test_a_fault_is_found(name: str, kind: str) -> None:
    report = preflight(FAULTS[name, kind]())
    assert report[name].result == "failed", f"{report}"
    assert report.is_restored


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_program_fails_no_probe(name: str) -> None:
    report = preflight(SOUND[name]())
    assert [str(probe) for probe in report.failed] == []
    assert report.is_restored and len(report.passed) >= 3


def test_there_are_three_families_for_each_probe() -> None:
    families = {name: [kind for known, kind in FAULTS if known == name] for name, _ in FAULTS}
    assert {name for name, kinds in families.items() if len(kinds) < 3} == set()
    wanted = {probe.name for probe in preflight(SOUND["mlp"](), one_batch=True, rates=True).probes}
    assert wanted - families.keys() == {"memory"}


# The state afterwards.


def fingerprint(program: Program, *others: Any) -> str:
    """A hash of everything that a training goes on with."""
    digest = hashlib.sha256()

    def add(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            tensor = value.detach()
            digest.update(f"{tensor.dtype} {tuple(tensor.shape)} {value.requires_grad} {tensor.data_ptr()}".encode())
            tensor = tensor.to_dense() if tensor.is_sparse else tensor
            digest.update(tensor.reshape(-1).clone().view(torch.uint8).numpy().tobytes() if tensor.numel() else b"")
            if value.is_leaf and value.grad is not None:
                add(value.grad)
        elif isinstance(value, numpy.ndarray):
            digest.update(value.tobytes())
        elif isinstance(value, dict):
            for key, own in value.items():
                digest.update(f"{key if isinstance(key, (str, int)) else id(key)} {id(own)}".encode())
                add(own)
        elif isinstance(value, (list, tuple)):
            digest.update(str(len(value)).encode())
            for own in value:
                add(own)
        else:
            digest.update(repr(value).encode())

    for name, module in program.model.named_modules():
        plain = {key: own for key, own in vars(module).items() if not callable(own) and key != "_modules"}
        add([name, module.training, plain])
    for optimizer in [program.optimizer] if program.optimizer is not None else []:
        add([optimizer.param_groups, *optimizer.state.values()])
    add([program.inputs, program.targets, *others])
    digest.update(pickle.dumps([random.getstate(), numpy.random.get_state()]))
    add(torch.get_rng_state().numpy())
    flags = torch.backends.cudnn
    add([flags.benchmark, flags.deterministic, torch.is_grad_enabled(), torch.get_default_dtype()])
    return digest.hexdigest()


class Buffered(nn.Module):
    """Replaces buffers in its forward pass, and keeps what it has seen."""

    calls_of_class = 0

    def __init__(self) -> None:
        super().__init__()
        self.body = mlp()
        self.register_buffer("mean", torch.zeros(20))
        self.register_buffer("seen", torch.zeros(()))
        self.calls, self.history, self.counts, self.last = 0, [], {"calls": 0}, None
        self.table = numpy.zeros(3)
        self.generator = torch.Generator().manual_seed(3)
        self.dice = random.Random(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        Buffered.calls_of_class += 1
        self.counts["calls"] += 1
        self.counts[f"call {self.calls}"] = self.calls
        self.history.append(float(x.detach().mean()))
        self.table[0] += 1
        self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        self.seen.add_(1)
        self.last = x
        x.add_(0.1)
        noise = torch.rand(x.shape, generator=self.generator) + self.dice.random() + random.random() + numpy.random.rand()
        return self.body(x - self.mean) + 1e-3 * noise.mean()


class Careless(nn.Module):
    """Changes flags, modes and weights in its forward pass."""

    def __init__(self) -> None:
        super().__init__()
        self.body = cnn()
        self.extra = nn.Linear(10, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.backends.cudnn.benchmark = not torch.backends.cudnn.benchmark
        self.body[1].train(not self.body[1].training)
        self.extra.weight.requires_grad_(not self.extra.weight.requires_grad)
        with torch.no_grad():
            self.body[5].weight.clamp_(-0.01, 0.01)
            self.extra.bias.data = torch.ones(10)
        return self.extra(self.body(x))


class Kept(nn.Module):
    """An RNN whose state goes on, with norms that have a state."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(5, 16, batch_first=True)
        self.first = nn.utils.spectral_norm(nn.Linear(16, 16))
        self.second = nn.utils.parametrizations.spectral_norm(nn.Linear(16, 16))
        self.third = nn.utils.weight_norm(nn.Linear(16, 16))
        self.fourth = nn.utils.parametrizations.weight_norm(nn.Linear(16, 10))
        self.state = torch.zeros(1, 16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out, state = self.rnn(x, self.state)
        self.state = state.detach()
        return self.fourth(self.third(self.second(self.first(out[:, -1]))))


STATEFUL = {
    "cnn": lambda: classifier(nn.Sequential(*cnn()[:5], nn.Dropout(0.5), nn.Linear(128, 10)), pictures()),
    "tied": lambda: language(Language(tied=True)),
    "buffers": lambda: classifier(Buffered(), vectors()),
    "careless": lambda: classifier(own := Careless(), pictures(), adam(own)),
    "rnn and norms": lambda: classifier(Kept(), rows()),
    "rnn": lambda: classifier(Recurrent(), rows()),
    "half": lambda: classifier(own := mlp().bfloat16(), vectors().bfloat16(), adam(own, 1e-2)),
    "own loss": causal,
}


@pytest.mark.parametrize("has_begun", [False, True], ids=["new", "begun"])
@pytest.mark.parametrize("name", STATEFUL)
def test_nothing_is_changed(name: str, has_begun: bool) -> None:
    program = STATEFUL[name]()
    if has_begun:
        # Gradients, the state of the optimizer, and buffers of a step.
        update(program)
        update(program, is_last=True)
    before = fingerprint(program, Buffered.calls_of_class)
    report = preflight(program, one_batch=True, rates=True)
    assert fingerprint(program, Buffered.calls_of_class) == before
    assert report.is_restored and len(report.passed) > 5, f"{report}"


def update(program: Program, *, is_last: bool = False) -> float:
    """A step of the training; the last one ends with the gradients."""
    inputs = {name: own.clone() for name, own in program.inputs.items()} if isinstance(program.inputs, dict) else None
    output = program.model(**inputs) if inputs else program.model(program.inputs.clone())
    loss = program.loss(output, program.targets) if program.loss else output["loss"]
    program.optimizer.zero_grad()
    loss.backward()
    if not is_last:
        program.optimizer.step()
    return float(loss)


calls = 0
tally: dict[str, int] = {"calls": 0}


def count() -> None:
    global calls
    calls += 1
    tally["calls"] += 1


def test_programs_that_count_their_passes_count_those_of_the_training() -> None:
    body = mlp()
    in_closure, in_list, in_hook = 0, [], []

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        nonlocal in_closure
        in_closure += 1
        in_list.append(1)
        count()
        return self.body(x)

    program = classifier(Function(forward, body=body), vectors())
    body.register_forward_hook(lambda *_: in_hook.append(1))
    body.register_forward_pre_hook(lambda *_: in_hook.append(2))
    body[0].weight.register_hook(lambda gradient: in_hook.append(3))
    preflight(program, one_batch=True)
    assert (in_closure, in_list, in_hook, calls, tally) == (0, [], [], 0, {"calls": 0})
    assert len(body._forward_hooks) == len(body._forward_pre_hooks) == 1
    update(program)
    assert (in_closure, in_list, in_hook, calls, tally) == (1, [1], [2, 1, 3], 1, {"calls": 1})


def test_a_graph_that_waits_for_its_backward_pass_stays_valid() -> None:
    for name in ("rnn and norms", "cnn", "tied"):
        program = STATEFUL[name]()
        loss = program.loss(program.model(program.inputs), program.targets)
        expected = torch.autograd.grad(loss, [*program.model.parameters()], retain_graph=True)
        preflight(program, one_batch=True)
        found = torch.autograd.grad(loss, [*program.model.parameters()])
        assert all(torch.equal(a, b) for a, b in zip(expected, found, strict=True))


def test_hooks_of_gradients_that_update_are_not_called() -> None:
    program = classifier(mlp(), vectors())
    for parameter in program.model.parameters():
        parameter.register_post_accumulate_grad_hook(lambda own: own.data.zero_())
    before = fingerprint(program)
    assert preflight(program)["one_update"].result == "passed"
    assert fingerprint(program) == before


def test_the_model_is_freed_afterwards() -> None:
    for program in (classifier(mlp(), vectors()), FAULTS["batch_dependence", "lstm"](), FAULTS["finite", "mlp"]()):
        program.loss = lambda o, y: functional.nll_loss(o, y[:3])
        gc.collect()
        gc.disable()
        try:
            preflight(program, one_batch=True)
            model = weakref.ref(program.model)
            program.model = program.optimizer = None
            assert model() is None
        finally:
            gc.enable()


# Probes that cannot be tried.


def test_lazy_modules_are_left_alone() -> None:
    model = nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(10))
    report = trainscope.preflight(model, vectors(), labels(), loss=functional.cross_entropy)
    assert {probe.result for probe in report.probes} == {"not_tried"} and "not initialized" in report.probes[0].says
    assert nn.parameter.is_lazy(model[0].weight)


@pytest.mark.parametrize("when", ["always", "evaluation", "second", "loss"])
def test_no_exception_leaves_it(when: str) -> None:
    class Broken(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.calls = mlp(), 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if when == "always" or (when == "evaluation" and not self.training):
                raise ValueError("no such thing")
            return self.body(x)

    def loss(output: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        if when == "loss":
            raise KeyError("targets")
        return functional.cross_entropy(output, targets)

    calls = itertools.count()
    model = Broken()
    if when == "second":
        model.body.register_forward_hook(lambda *_: 1 / (next(calls) == 0))
    program = Program(model, vectors(), labels(), loss, adam(model))
    before = fingerprint(program)
    report = preflight(program, one_batch=True, rates=True)
    assert fingerprint(program) == before and report.is_restored
    texts = {probe.name: probe.says for probe in report.not_tried}
    reason = {"always": "ValueError: no such thing", "loss": "KeyError", "second": "ZeroDivisionError"}.get(when, "ValueError")
    expected = {"loss": "initial_loss", "always": "finite"}.get(when, "two_evaluations")
    assert reason in texts[expected], f"{report}"


def test_what_is_no_module_is_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    report = trainscope.preflight(lambda x: x, vectors())
    assert len(report.not_tried) == len(report.probes) and "torch.nn.Module" in report.probes[0].says
    assert "torch.nn.Module" in str(recwarn.pop(trainscope.TrainscopeWarning).message)


def test_the_budget_of_time_and_passes_holds() -> None:
    program = classifier(mlp(), vectors())
    report = preflight(program, seconds=0.0)
    assert report.passes <= 1 and "0 s" in report["two_evaluations"].says
    # Many inputs would need many passes.
    model = Function(lambda self, **inputs: self.body(sum(inputs.values())), body=mlp())
    inputs = {f"x{number}": vectors() for number in range(40)}
    report = trainscope.preflight(model, inputs, labels(), loss=functional.cross_entropy)
    assert report.passes <= 20 and report["input_dependence"].result == "passed"
    assert report["input_dependence"].numbers["skipped"] == 34


def test_copies_that_do_not_fit_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from trainscope import _torch_preflight_state, _torch_probes_training

    monkeypatch.setattr(_torch_preflight_state, "free_memory", lambda device: 10_000)
    program = classifier(mlp(), vectors())
    assert "above a quarter" in preflight(program)["finite"].says
    monkeypatch.undo()
    monkeypatch.setattr(_torch_probes_training, "free_memory", lambda device: 4_000)
    memory = preflight(program)["memory"]
    assert memory.result == "failed" and memory.numbers["samples_that_fit"] < 16


def test_outputs_of_many_kinds_are_judged_when_they_are_chosen() -> None:
    program = SOUND["many outputs"]()
    assert "output=" in preflight(program)["batch_dependence"].says
    program.loss = functional.cross_entropy
    for output in ("a", lambda out: out["a"]):
        assert preflight(program, output=output)["batch_dependence"].result == "passed"


def test_the_dimension_of_the_samples_can_be_given() -> None:
    program = SOUND["time-major tagger"]()
    assert "batch_dim" in preflight(program)["batch_dependence"].says
    assert preflight(program, batch_dim=1)["batch_dependence"].result == "passed"
    assert preflight(program, batch_dim=0)["batch_dependence"].result == "failed"


def test_wrappers_are_looked_through() -> None:
    model = torch.compile(mlp(), backend="eager")
    count = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    report = trainscope.preflight(model, vectors(), labels(), loss=functional.cross_entropy)
    assert not report.failed and report["batch_dependence"].result == "passed"
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == count


class Doubled(torch.autograd.Function):
    """A function of the program."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return 2 * x

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return 2 * gradient


class Lying(nn.Linear):
    """Pretends to be of another class."""

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return dict


class Subclass(torch.Tensor):
    """A tensor of the program."""


def remade(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.head = nn.Linear(20, 10)
    return self.head(x)


def forces(self: Any, x: torch.Tensor) -> torch.Tensor:
    x = x.detach().requires_grad_()
    return torch.autograd.grad(self.body(x).sum(), x, create_graph=True)[0][:, :10] + self.body(x)


def packed(self: Any, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    sequences = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    return self.head(self.rnn(sequences)[1][0])


def unusual(model: nn.Module, inputs: Any = None, optimizer: Any = None) -> Program:
    return Program(model, vectors() if inputs is None else inputs, labels(), functional.cross_entropy, optimizer)


UNUSUAL: dict[str, tuple[Any, set[str]]] = {
    "lbfgs": (lambda: unusual(own := mlp(), optimizer=torch.optim.LBFGS(own.parameters())), set()),
    "complex": (lambda: Program(nn.Linear(20, 10, dtype=torch.cfloat), vectors().cfloat()), set()),
    "meta": (lambda: unusual(nn.Linear(20, 10, device="meta")), set()),
    "own function": (lambda: unusual(Function(lambda self, x: Doubled.apply(self.body(x)), body=mlp())), set()),
    "vmap": (lambda: unusual(Function(lambda self, x: torch.vmap(self.body)(x), body=mlp().eval())), set()),
    "forces": (lambda: unusual(Function(forces, body=mlp())), set()),
    "scripted": (lambda: unusual(torch.jit.script(mlp())), set()),
    "several optimizers": (
        lambda: unusual(own := mlp(), optimizer=[sgd(own[0]), adam(own[3])]), set()
    ),
    "a list with a tensor twice": (
        lambda: unusual(Function(lambda self, x: self.body(x[0] + x[1]), body=mlp()), [own := vectors(), own]), set()
    ),
    "a mapping as one argument": (
        lambda: unusual(Function(lambda self, x: self.body(x["a"]), body=mlp()), ({"a": vectors()},)), set()
    ),
    "packed": (
        lambda: unusual(
            Function(packed, rnn=nn.GRU(5, 8, batch_first=True), head=nn.Linear(8, 10)),
            (rows(), torch.randint(3, 12, (16,))),
        ),
        set(),
    ),
    "nested": (
        lambda: Program(
            Function(lambda self, x: torch.stack([self.body(own).mean(0) for own in x.unbind()]), body=mlp()),
            torch.nested.nested_tensor([vectors(3), vectors(5)], layout=torch.jagged),
        ),
        set(),
    ),
    "sparse": (
        lambda: unusual(
            Function(lambda self, a, x: self.body(torch.sparse.mm(a, x)), body=mlp()), (torch.eye(16).to_sparse(), vectors())
        ),
        set(),
    ),
    "lying class": (lambda: unusual(nn.Sequential(Lying(20, 10))), set()),
    "tensor of the program": (lambda: unusual(mlp(), vectors().as_subclass(Subclass)), set()),
    "parameters made at each call": (lambda: unusual(Function(remade, head=nn.Linear(20, 10))), {"reach"}),
    "no parameters": (lambda: unusual(nn.Softmax(1)), set()),
    "no samples": (lambda: Program(mlp(), vectors(0), labels(0), functional.cross_entropy), {"finite"}),
    "labels beyond the classes": (lambda: unusual(nn.Linear(20, 2)), set()),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("has_gradients", [True, False], ids=["", "no_grad"])
@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_unusual_is_no_trouble(name: str, has_gradients: bool) -> None:
    make, failed = UNUSUAL[name]
    program = make()
    with torch.set_grad_enabled(has_gradients):
        report = preflight(program, one_batch=True)
    assert {probe.name for probe in report.failed} == failed, f"{report}"
    assert report.is_restored and (report.passes > 1 or name == "meta")


# Sentences.


def source_of(probe: trainscope.Probe) -> str:
    assert probe.source is not None, f"{probe}"
    return probe.source.excerpt.splitlines()[probe.source.line - probe.source.first_line]


@pytest.mark.parametrize(
    ("name", "kind", "says", "line"),
    [
        ("batch_dependence", "lstm", "first seen in lstm: a dimension is taken for another", "self.rnn(x)"),
        ("batch_dependence", "mlp softmax", "first seen in softmax", ".softmax(0)"),
        ("future", "no mask", "first seen in matmul", "softmax(-1) @ v"),
        ("two_evaluations", "mlp", "dropout is active in evaluation mode", "F.dropout(self.body(x), 0.3)"),
        ("two_evaluations", "transformer", "scaled_dot_product_attention", "dropout_p=self.dropout"),
        ("reach", "mlp list", "layers in a Python list", None),
        ("reach", "mlp stale", "made before the model was changed", None),
        ("reach", "cnn no_grad", "0.weight, 0.bias, 1.weight and 1 others, but no gradient reaches them", None),
        ("one_update", "mlp", "the learning rate is 0", None),
        ("one_update", "transformer", "rounded away", None),
        ("initial_loss", "leak mlp", "labels leak", None),
        ("initial_loss", "mlp", "confidently wrong", None),
        ("input_dependence", "leak", "Labels leak: input 2", None),
        ("input_dependence", "leak feature", "feature 7 of input 1", None),
        ("input_dependence", "mlp feature", "feature 15 of input 1", None),
        ("input_dependence", "transformer mask", "`attention_mask`: an input is ignored, or a mask does nothing", None),
        ("precision", "mlp float16", "finite in float32 and not in float16", None),
        ("precision", "mlp bfloat16", "differs from float32 by", None),
        ("context", "view", "blocks", None),
        ("rates", "mlp", "diverges at", None),
    ],
)
def test_the_sentence_says_what_and_where(name: str, kind: str, says: str, line: str | None) -> None:
    probe = preflight(FAULTS[name, kind]())[name]
    assert says in re.sub(r"body\.", "", probe.says), f"{probe}"
    if line is not None:
        assert line in source_of(probe)


def test_a_map_shows_which_sample_moves_which_output() -> None:
    probe = preflight(FAULTS["batch_dependence", "lstm"]())["batch_dependence"]
    table = torch.tensor(probe.data["outputs_by_inputs"])
    # An LSTM along the batch: outputs depend on the samples before them alone.
    assert table.shape == (16, 16) and float(table.max()) == 1
    assert not table.triu(1).any() and (table.diagonal() > 0.1).all() and (table.diagonal(-1) > 0.001).all()
    assert probe.numbers["of_pairs"] == 240 and 15 <= probe.numbers["pairs"] <= 120
    tokens = preflight(FAULTS["batch_dependence", "transformer tokens"]())["batch_dependence"]
    assert (torch.tensor(tokens.data["outputs_by_inputs"]) > 0).all()


def test_curves_are_those_of_a_training() -> None:
    program = classifier(model := mlp(), vectors(), adam(model, 1e-2))
    model[2].p = 0.0
    report = preflight(program, one_batch=True, rates=True)
    losses = report["one_batch"].data["losses"]
    expected = [update(program) for _ in range(5)]
    assert losses[:5] == pytest.approx(expected, rel=1e-3)
    curve = report["rates"].data["losses_by_rate"]
    assert len(curve) >= 30 and curve[0][0] == 1e-7 and report["rates"].numbers["lr"] == 1e-2


def test_the_report_is_printed_with_one_line_for_each_probe() -> None:
    report = preflight(FAULTS["one_update", "mlp"]())
    lines = str(report).splitlines()
    assert lines[0].startswith("preflight: 1 failed, ") and len(lines) == 1 + len(report.probes)
    assert lines[1].startswith("  failed     one_update        One update changes no parameter")
    assert [probe.name for probe in report.failed] == ["one_update"]


# In a run.


@pytest.fixture
def facts(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, dict[str, Any]]]:
    """Facts of probes by their name."""
    found: dict[str, dict[str, Any]] = {}

    def keep(self: Run, kind: str, subject: str = "", **what: Any) -> None:
        if kind == "probe":
            assert subject not in found
            found[subject] = what

    monkeypatch.setattr(Run, "_fact", keep)
    yield found


def test_probes_are_facts_of_an_open_run(tmp_path: Path, facts: dict[str, dict[str, Any]]) -> None:
    program = FAULTS["batch_dependence", "lstm"]()
    preflight(program)
    assert facts == {}
    with trainscope.start(tmp_path, strict=True, quiet=True):
        report = preflight(program)
    assert list(facts) == [probe.name for probe in report.probes]
    fact = facts["batch_dependence"]
    assert fact["texts"]["result"] == "failed" and fact["texts"]["data"].startswith('{"outputs_by_inputs":[[')
    assert fact["source"].line and fact["numbers"]["samples"] == 16
    preflight(program)


def train(tmp_path: Path, program: Program, steps: int = 4, **options: Any) -> list[float]:
    """Losses of a watched training."""
    with trainscope.start(tmp_path, strict=True, quiet=True) as run:
        run.watch(program.model, program.optimizer, **options)
        return [update(program) for _ in range(steps)]


WATCHED = {
    "cnn": lambda: classifier(cnn(), pictures()),
    "rnn": lambda: classifier(Recurrent(batch_first=False), rows()),
    "norms": lambda: classifier(Kept(), rows()),
    "language": lambda: language(Language(mask="none")),
    "own loss": causal,
    "buffers": lambda: classifier(Buffered(), vectors()),
}


@pytest.mark.parametrize("name", WATCHED)
def test_a_watched_training_is_the_same_to_the_bit(tmp_path: Path, name: str, facts: dict[str, dict[str, Any]]) -> None:
    seed(1)
    plain = WATCHED[name]()
    expected = train(tmp_path / "plain", plain)
    assert not facts
    seed(1)
    program = WATCHED[name]()
    assert train(tmp_path / "probed", program, preflight=True) == expected
    for a, b in zip(plain.model.state_dict().values(), program.model.state_dict().values(), strict=True):
        assert torch.equal(a, b)
    results = {probe: fact["texts"]["result"] for probe, fact in facts.items()}
    assert results["initial_loss"] == results["one_update"] == "passed", facts
    assert not any(own._forward_hooks or own._forward_pre_hooks for own in [program.model])
    # The buffers are means of the batch, in evaluation mode too.
    failed = {"rnn": ["batch_dependence"], "buffers": ["batch_dependence"], "language": ["future"]}.get(name, [])
    assert [probe for probe, result in results.items() if result == "failed"] == failed


def test_a_variable_asks_for_it(tmp_path: Path, facts: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINSCOPE_PREFLIGHT", "1")
    train(tmp_path, classifier(mlp(), vectors()))
    assert facts["finite"]["texts"]["result"] == "passed"


LOSSES: dict[str, Any] = {
    "scaled": lambda o, y: functional.cross_entropy(o, y) * 65536,
    "a part": lambda o, y: functional.cross_entropy(o, y) / 4,
    "weighted": nn.CrossEntropyLoss(weight=torch.arange(1.0, 11), reduction="sum"),
    "log softmax": lambda o, y: functional.nll_loss(o.log_softmax(1), y),
    "binary": lambda o, y: functional.binary_cross_entropy_with_logits(o[:, 0], (y > 4).float()),
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_loss_is_found_in_the_graph(tmp_path: Path, name: str, facts: dict[str, dict[str, Any]]) -> None:
    program = classifier(mlp(out=1 if name == "binary" else 10), vectors())
    program.loss = LOSSES[name] if name != "binary" else (lambda o, y: LOSSES["binary"](o, y))
    train(tmp_path, program, preflight=True)
    assert facts["initial_loss"]["texts"]["result"] == "passed"
    assert facts["one_update"]["texts"]["result"] == "passed"


def test_an_unknown_loss_is_a_reason(tmp_path: Path, facts: dict[str, dict[str, Any]]) -> None:
    program = classifier(mlp(), vectors())
    program.loss = lambda o, y: functional.cross_entropy(o, y) + o.square().mean()
    train(tmp_path, program, preflight=True)
    assert "other terms" in facts["initial_loss"]["texts"]["says"]
    assert facts["batch_dependence"]["texts"]["result"] == "passed"


def test_options_may_be_given(tmp_path: Path, facts: dict[str, dict[str, Any]]) -> None:
    program = SOUND["many outputs"]()
    train(tmp_path, program, preflight={"output": "a", "rates": True})
    assert facts["batch_dependence"]["texts"]["result"] == "passed" and "rates" in facts


def test_a_model_that_is_never_called_is_a_reason(tmp_path: Path, facts: dict[str, dict[str, Any]]) -> None:
    train(tmp_path, classifier(mlp(), vectors()), steps=0, preflight=True)
    assert "no forward pass" in facts["finite"]["texts"]["says"]


def test_the_first_batch_may_have_several_parts(tmp_path: Path, facts: dict[str, dict[str, Any]]) -> None:
    model, x, y = mlp(), vectors(), labels()
    optimizer = sgd(model)
    with trainscope.start(tmp_path, strict=True, quiet=True) as run:
        run.watch(model, optimizer, preflight=True)
        for _ in range(2):
            for part in range(4):
                (functional.cross_entropy(model(x[part::4]), y[part::4]) / 4).backward()
            optimizer.step()
            optimizer.zero_grad()
    assert facts["batch_dependence"]["numbers"]["samples"] == 4
    assert facts["initial_loss"]["texts"]["result"] == "passed"


def test_a_pass_without_a_backward_pass_is_examined_without_a_loss(tmp_path: Path, facts: dict[str, dict[str, Any]]) -> None:
    model, x = mlp(), vectors()
    with trainscope.start(tmp_path, strict=True, quiet=True) as run:
        run.watch(model, preflight=True)
        for _ in range(5):
            next_loss(model(x), labels())
    assert facts["initial_loss"]["texts"]["result"] == "not_tried"
    assert facts["batch_dependence"]["texts"]["result"] == "passed"


def test_a_transformer_is_examined_in_the_time_that_is_given() -> None:
    layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
    body = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    parts = {"token": nn.Embedding(512, 128), "body": body, "head": nn.Linear(128, 512)}
    model = Function(lambda self, ids: self.head(self.body(self.token(ids))), **parts)
    ids = torch.randint(0, 512, (8, 65))
    report = trainscope.preflight(model, ids[:, :-1], ids[:, 1:], loss=next_loss, optimizer=adam(model))
    assert report["future"].result == "failed" and report.seconds < 30


def test_facts_are_in_the_file(tmp_path: Path) -> None:
    with trainscope.start(tmp_path, strict=True, quiet=True):
        preflight(FAULTS["batch_dependence", "lstm"]())
    content = b"".join(file.read_bytes() for file in tmp_path.glob("events*"))
    assert all(word in content for word in (b"batch_dependence", b"outputs_by_inputs", b"self.rnn(x)", b"first seen in lstm"))


def test_of_two_ranks_one_may_probe(tmp_path: Path) -> None:
    show = """
    import trainscope.run
    def show(self, kind, subject="", **what):
        if kind == "probe":
            print(subject, what["texts"]["result"], what["texts"]["says"])
    trainscope.run.Run._fact = show
    """
    paths = [str(tmp_path / name) for name in ("run", "meeting", "results")]
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(show) + textwrap.dedent(DDP), str(rank), *paths],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"GLOO_SOCKET_IFNAME": "lo", "TRAINSCOPE_PREFLIGHT": "1"},
        )
        for rank in (0, 1)
    ]
    try:
        output, other = (process.communicate(timeout=120)[0] for process in ranks)
    finally:
        for process in ranks:
            process.kill()
    assert [process.returncode for process in ranks] == [0, 0], output + other
    assert "batch_dependence passed" in output and "It does not use unused.weight, unused.bias" in output
    for rank in (0, 1):
        alone, watched = (torch.load(tmp_path / f"results-{kind}-{rank}") for kind in ("alone", "watched"))
        assert all(torch.equal(a, b) for a, b in zip(alone, watched, strict=True))


def test_the_type_of_autocast_is_that_of_the_forward_pass(tmp_path: Path, facts: dict[str, dict[str, Any]]) -> None:
    model, x, y = mlp(), vectors() * 1e5, labels()
    optimizer = sgd(model, 0.0)
    with trainscope.start(tmp_path, strict=True, quiet=True) as run:
        run.watch(model, optimizer, preflight=True)
        with torch.autocast("cpu", dtype=torch.float16):
            loss = functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    assert facts["precision"]["texts"]["result"] == "failed" and "float16" in facts["precision"]["texts"]["says"]


def test_watches_see_nothing_of_the_passes(tmp_path: Path) -> None:
    def count(folder: Path, **options: Any) -> tuple[int, int]:
        seed(3)
        program = classifier(cnn(), pictures())
        train(folder, program, steps=3, **options)
        rows_of = statistics(folder)
        return len(rows_of), sum(len(own) for own in rows_of.values())

    assert count(tmp_path / "probed", preflight=True) == count(tmp_path / "plain")
