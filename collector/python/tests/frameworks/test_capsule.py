"""A capsule of the step whose loss, gradient or hit is to be explained: what is in it, and that it repeats the step."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
import trainscope
from reading import notes
from safetensors import safe_open
from torch import nn
from torch.nn import functional
from trainscope import _torch_capsule

# A training whose fourth step has gradients that are not finite, under a finite loss. It is read by the test and by the
# processes that it starts.
PROGRAM = textwrap.dedent(
    '''
    import random, sys, numpy, torch, trainscope
    from torch import nn
    from torch.nn import functional


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 16)
            self.norm = nn.BatchNorm1d(16)
            self.noise = nn.Dropout(0.5)
            self.head = nn.utils.parametrizations.spectral_norm(nn.Linear(16, 3))
            self.register_buffer("count", torch.zeros(()), persistent=False)

        def forward(self, x, *, scale):
            self.count += 1
            x = self.noise(self.norm(self.fc(x["features"]))) * (1 + random.random() + numpy.random.rand())
            return self.head(x) * scale + self.count


    def loss_of(model, inputs, named, target):
        y = model(*inputs, **named)
        return functional.cross_entropy(y, target) + (y - y.detach()).square().sum(1).sqrt().mean() * named["scale"]


    def train(folder, **options):
        torch.manual_seed(0), random.seed(0), numpy.random.seed(0)
        model = Net()
        optimizer = torch.optim.AdamW(model.parameters(), 0.1)
        with trainscope.Run(folder, every=1, **options) as run:
            run.watch(model, optimizer)
            for step in range(5):
                optimizer.zero_grad()
                x, target = torch.randn(6, 4).t().contiguous().t(), torch.randint(0, 3, (6,))
                with torch.autocast("cpu", dtype=torch.bfloat16, enabled=step == 3):
                    loss = loss_of(model, ({"features": x},), {"scale": 1.0 if step == 3 else 0.0}, target)
                if step == 3:
                    loss.backward()
                    yield loss, {name: one.grad.clone() for name, one in model.named_parameters()}
                    optimizer.step()
                    return
                functional.cross_entropy(model({"features": x}, scale=1.0), target).backward()
                optimizer.step()


    def repeat(path):
        capsule = trainscope.capsule(path)
        model = capsule.load(Net())
        with capsule.random_state(), capsule.autocast():
            loss = loss_of(model, capsule.inputs, capsule.named_inputs, capsule.targets[0])
        loss.backward()
        return loss, {name: one.grad for name, one in model.named_parameters()}
    '''
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the program."""
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("program", None)
    import program  # type: ignore[import-not-found]

    return program


def test_a_new_process_repeats_loss_and_gradients_to_the_bit(tmp_path: Path, program: Any) -> None:
    folder = tmp_path / "run"
    training = program.train(folder, at_hit="capsule", strict=True)
    loss, gradients = next(training)
    assert next(training, None) is None
    assert torch.isfinite(loss) and not all(torch.isfinite(one).all() for one in gradients.values())
    code = """
        import program, sys, torch
        loss, gradients = program.repeat(sys.argv[1])
        torch.save((loss.detach(), gradients), sys.argv[2])
    """
    saved = tmp_path / "repeated.pt"
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(folder), str(saved)], cwd=tmp_path, check=True)
    again, repeated = torch.load(saved)
    assert again.item() == loss.item() and again.dtype == loss.dtype
    assert gradients.keys() == repeated.keys()
    for name, gradient in gradients.items():
        assert torch.equal(gradient.view(torch.int32), repeated[name].view(torch.int32)), name


def test_what_a_capsule_says(tmp_path: Path, program: Any) -> None:
    folder = tmp_path / "run"
    list(program.train(folder, at_hit="capsule", strict=True))
    capsule = trainscope.capsule(folder / "step_3.capsule")
    assert (capsule.step, capsule.model, capsule.reason) == (3, "Net", "a gradient is not finite")
    assert capsule.loss is not None and capsule.loss > 0 and not capsule.are_inputs_changed
    ((features,),) = (tuple(one.values()) for one in capsule.inputs)
    assert features.shape == (6, 4) and features.stride() == (1, 6) and capsule.named_inputs == {"scale": 1.0}
    assert capsule.targets[0].shape == (6,) and capsule.settings["autocast"] and capsule.settings["torch"] == torch.__version__
    # Buffers are those before the forward pass, which changes them.
    assert program.Net().count == 0 and capsule.load(program.Net()).count == 6
    assert any("step_3.capsule" in note and "not finite" in note for note in notes(folder))
    # The format is that of safetensors.
    with safe_open(folder / "step_3.capsule", framework="pt") as file:
        assert torch.equal(file.get_tensor("input/0/features"), features)
        assert json.loads(file.metadata()["trainscope"])["step"] == 3


def test_random_states_are_set_and_put_back(tmp_path: Path, program: Any) -> None:
    list(program.train(tmp_path / "run", at_hit="capsule", strict=True))
    capsule = trainscope.capsule(tmp_path / "run")

    def draw() -> list[float]:
        return [torch.rand(()).item(), random.random(), float(numpy.random.rand())]

    before = draw()
    states = torch.get_rng_state(), random.getstate(), numpy.random.get_state()[1].tolist()
    with capsule.random_state():
        inside = draw()
    assert (torch.get_rng_state().tolist(), random.getstate()) == (states[0].tolist(), states[1])
    assert numpy.random.get_state()[1].tolist() == states[2]
    capsule.random_state()
    assert draw() == inside != before


def bad_loss(folder: Path, model: nn.Module | None = None, steps: int = 3, **options: Any) -> None:
    """A training whose losses are not finite from its second step on."""
    model = nn.Linear(4, 3) if model is None else model
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with trainscope.Run(folder, every=1000, first=0, **options) as run:
        run.watch(model, optimizer)
        for step in range(steps):
            optimizer.zero_grad()
            loss = model(torch.ones(2, 4)).square().mean()
            (loss if step == 0 else (loss * 0).log()).backward()
            optimizer.step()


def test_the_first_loss_that_is_not_finite_writes_one_capsule_before_the_update(tmp_path: Path) -> None:
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with trainscope.Run(tmp_path, at_hit="capsule", every=1000, first=0, strict=True) as run:
        run.watch(model, optimizer)
        for step in range(4):
            before = {name: one.detach().clone() for name, one in model.named_parameters()} if step < 2 else before
            optimizer.zero_grad()
            loss = model(torch.ones(2, 4)).square().mean()
            (loss if step == 0 else (loss * 0).log()).backward()
            optimizer.step()
    assert [one.name for one in tmp_path.glob("*.capsule")] == ["step_1.capsule"]
    loaded = trainscope.capsule(tmp_path).load(nn.Linear(4, 3))
    assert all(torch.equal(one, before[name]) for name, one in loaded.named_parameters())
    assert trainscope.capsule(tmp_path).loss == -float("inf")
    assert not list(tmp_path.glob(".*"))


def test_the_variable_asks_for_a_capsule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad_loss(tmp_path / "without")
    monkeypatch.setenv("TRAINSCOPE_CAPSULE", "1")
    bad_loss(tmp_path / "with")
    monkeypatch.setenv("TRAINSCOPE_CAPSULE", "0")
    bad_loss(tmp_path / "zero")
    assert [path.parent.name for path in tmp_path.glob("*/*.capsule")] == ["with"]


def test_a_hit_of_a_watchpoint_writes_a_capsule(tmp_path: Path) -> None:
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    with trainscope.Run(tmp_path, at_hit="capsule", every=1000, first=0, strict=True) as run:
        run.watch(model, optimizer)
        for step in range(4):
            optimizer.zero_grad()
            loss = model(torch.ones(2, 4)).square().mean()
            loss.backward()
            if step == 2:
                assert model.weight.grad is not None
                model.weight.grad[0, 0] = torch.inf
            optimizer.step()
    assert [one.name for one in tmp_path.glob("*.capsule")] == ["step_2.capsule"]
    assert trainscope.capsule(tmp_path).reason == "a watchpoint has a hit"


def test_a_step_that_is_too_large_is_not_written_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_torch_capsule, "MAX_BYTES", 100)
    bad_loss(tmp_path, nn.Linear(4, 30), at_hit="capsule", strict=True)
    assert not list(tmp_path.glob("*.capsule"))
    assert any(note.startswith("No capsule of step 1:") for note in notes(tmp_path))


def test_a_folder_that_cannot_be_written_does_not_hurt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(_torch_capsule, "save", fail)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bad_loss(tmp_path, at_hit="capsule")
    assert not list(tmp_path.glob("*.capsule"))


def test_another_model_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    bad_loss(tmp_path, at_hit="capsule")
    capsule = trainscope.capsule(tmp_path)
    for other in (nn.Linear(5, 3), nn.Sequential(nn.Linear(4, 3)), nn.Linear(4, 3, bias=False)):
        before = [one.detach().clone() for one in other.parameters()]
        with pytest.raises(ValueError, match="this is another model"):
            capsule.load(other)
        assert all(torch.equal(a, b) for a, b in zip(before, other.parameters(), strict=True))


def test_inputs_of_all_kinds(tmp_path: Path) -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 3)

        def forward(self, x: Any, *rest: Any, **named: Any) -> Any:
            return self.fc(x[0].float())

    model = Odd()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    wide = torch.ones(2, 1).expand(2, 4)
    given = ([wide.half(), (torch.tensor(3), None, True)], 7, float("inf"), "text", 1 << 70, {"a": torch.ones(2, 2) > 0}, object())
    with trainscope.Run(tmp_path, at_hit="capsule", strict=True) as run:
        run.watch(model, optimizer)
        (model(*given, empty=torch.zeros(0, 3), numbers=[1.5, torch.ones(1, dtype=torch.bfloat16)]) * 0).log().sum().backward()
    capsule = trainscope.capsule(tmp_path)
    first, *rest, last = capsule.inputs
    assert torch.equal(first[0], wide.half()) and first[1] == (torch.tensor(3), None, True)
    assert rest[:4] == [7, float("inf"), "text", 1 << 70] and rest[4]["a"].dtype == torch.bool
    assert repr(last) == "<an object of builtins.object, which is not in the capsule>"
    assert capsule.named_inputs["empty"].shape == (0, 3) and capsule.named_inputs["numbers"][1].dtype == torch.bfloat16


def header(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


ENTRY = b'"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 8,
        b"\xff" * 64,
        header(b"{}"),
        header(b"[]"),
        header(b"{not json}"),
        header(b'{"__metadata__":{"trainscope":"{}"}}'),
        header(b"{" + ENTRY + b"}"),
        header(b'{"a":{"dtype":"X","shape":[2],"data_offsets":[0,0]}}'),
        header(b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}}'),
        header(b'{"a":{"dtype":"F32"}}'),
        header(b'{"a":{"dtype":"F32","shape":[2],"data_offsets":["0",8]}}'),
        header(b"[" * 100_000),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "step_1.capsule"
    path.write_bytes(content)
    with pytest.raises(ValueError):
        trainscope.capsule(path)


def test_none_or_several_in_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no capsule"):
        trainscope.capsule(tmp_path)
    for name in ("step_1.capsule", "step_2.capsule"):
        (tmp_path / name).touch()
    with pytest.raises(FileNotFoundError, match="several"):
        trainscope.capsule(tmp_path)


def test_nothing_is_kept_between_steps(tmp_path: Path) -> None:
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with trainscope.Run(tmp_path, at_hit="capsule", strict=True) as run:
        run.watch(model, optimizer)
        capsules = run._capsules
        assert capsules is not None
        for _ in range(3):
            functional.cross_entropy(model(torch.ones(2, 4)), torch.tensor([0, 1])).backward()
            assert capsules._moment is not None
            optimizer.step()
            assert capsules._moment is None and not capsules._targets
    assert not model._forward_pre_hooks
