"""Facts of the program that a watch records: for each a training with the fault, and a sound one that comes close."""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import trainscope
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset
from trainscope import _torch_lines

Train = Callable[[trainscope.Run], Any]
STEPS = 8


@dataclasses.dataclass
class Fact:
    numbers: dict[str, float]
    texts: dict[str, str]
    source: Any


Facts = dict[tuple[str, str], Fact]


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Facts]:
    """Runs a training and returns the last fact of each kind and subject."""

    def run_it(train: Train, **options: Any) -> Facts:
        found: Facts = {}
        original = trainscope.Run._fact

        def note(self: Any, kind: str, subject: str = "", **values: Any) -> None:
            found[kind, subject] = Fact(values["numbers"], values["texts"], values["source"])
            original(self, kind, subject, **values)

        monkeypatch.setattr(trainscope.Run, "_fact", note)
        torch.manual_seed(0)
        with trainscope.start(tmp_path / f"run{len(list(tmp_path.iterdir()))}", **{"every": 1, "strict": True} | options) as run:
            train(run)
        monkeypatch.setattr(trainscope.Run, "_fact", original)
        return found

    return run_it


def fit(
    run: trainscope.Run, model: nn.Module, loss: Callable[[torch.Tensor], torch.Tensor] | None = None, *,
    optimizer: Any = None, inputs: Callable[[int], torch.Tensor] | None = None, steps: int = STEPS,
) -> None:  # fmt: skip
    """The loop of every tutorial."""
    optimizer = optimizer or torch.optim.SGD(model.parameters(), 0.01)
    run.watch(model, optimizer)
    for step in range(steps):
        outputs = model(torch.randn(16, 6) if inputs is None else inputs(step))
        value = outputs.square().mean() if loss is None else loss(outputs)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()


def classifier(*last: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 5), *last)


def labels() -> torch.Tensor:
    return torch.randint(0, 5, (16,))


def shares() -> torch.Tensor:
    return torch.randn(16, 5).softmax(1)


def by_hand(outputs: torch.Tensor) -> torch.Tensor:
    return -torch.log(torch.softmax(outputs, 1))[range(16), labels()].mean()


def focal(outputs: torch.Tensor) -> torch.Tensor:
    losses = functional.cross_entropy(outputs, labels(), reduction="none")
    return ((1 - torch.exp(-losses)) ** 2 * losses).mean()


def under_autocast(outputs: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return functional.cross_entropy(outputs.bfloat16().view(4, 4, 5).flatten(0, 1), labels())


def categorical(outputs: torch.Tensor) -> torch.Tensor:
    return -torch.distributions.Categorical(logits=outputs).log_prob(labels()).mean()


CLASS_LOSSES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "functional": lambda z: functional.cross_entropy(z, labels()),
    "module": lambda z: nn.CrossEntropyLoss(weight=torch.rand(5), ignore_index=3)(z, labels()),
    "smoothing": lambda z: functional.cross_entropy(z, labels(), label_smoothing=0.1, reduction="sum"),
    "shares": lambda z: functional.cross_entropy(z, shares()),
    "logarithms": lambda z: functional.nll_loss(functional.log_softmax(z, 1), labels()),
    "two": lambda z: 0.5 * functional.cross_entropy(z, labels()) + 1e-3 * z.square().sum(),
    "by_hand": by_hand,
    "one_hot": lambda z: -(functional.one_hot(labels(), 5) * z.log_softmax(1)).sum(1).mean(),
    "gather": lambda z: -z.log_softmax(-1).gather(1, labels()[:, None]).squeeze(1).mean(),
    "logsumexp": lambda z: (z.logsumexp(1, keepdim=True) - z).gather(1, labels()[:, None]).mean(),
    "categorical": categorical,
    "focal": focal,
    "autocast": under_autocast,
    "masked": lambda z: functional.cross_entropy(z[torch.arange(16) > 2], labels()[torch.arange(16) > 2]),
    "images": lambda z: functional.cross_entropy(z.T.reshape(1, 5, 4, 4), labels().view(1, 4, 4)),
}


@pytest.mark.parametrize("loss", CLASS_LOSSES)
@pytest.mark.parametrize("last", ["softmax", "sigmoid", ""])
def test_the_function_before_a_loss_of_classes_is_named_however_the_loss_is_written(
    record: Any, loss: str, last: str
) -> None:
    module = {"softmax": [nn.Softmax(dim=1)], "sigmoid": [nn.Sigmoid()], "": []}[last]
    facts = record(lambda run: fit(run, classifier(*module), CLASS_LOSSES[loss]))
    fact = facts["loss_function", "cross_entropy"]
    assert ("loss_function", "cross_entropy#2") not in facts
    assert fact.texts["before"] == (last or "linear") and fact.numbers["classes"] == 5
    assert fact.texts["module"] == ("3" if last else "2") and fact.numbers["has_gradient"] == 1
    if loss not in ("logsumexp", "images", "masked"):
        assert fact.texts["outputs_shape"] == "[16, 5]"


PAIRS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str, str]] = {
    "kl_div": (lambda z: functional.kl_div(z.softmax(1), shares(), reduction="batchmean"), "kl_div", "softmax"),
    "kl_div_scaled": (lambda z: nn.KLDivLoss(reduction="sum")(torch.softmax(z / 3, 1), shares()) * 9, "kl_div", "softmax"),
    "kl_div_log": (
        lambda z: functional.kl_div(z.softmax(1), shares().log(), log_target=True, reduction="batchmean"),
        "kl_div",
        "softmax",
    ),
    "kl_by_hand": (lambda z: (shares() * (shares().log() - z.softmax(1))).sum(), "kl_div", "softmax"),
    "nll": (lambda z: functional.nll_loss(z.softmax(1), labels()), "nll_loss", "softmax"),
    "nll_raw": (lambda z: functional.nll_loss(z, labels()), "nll_loss", "linear"),
    "bce_logits": (
        lambda z: functional.binary_cross_entropy_with_logits(z.sigmoid(), (z > 0).float()),
        "binary_cross_entropy_with_logits",
        "sigmoid",
    ),
    "bce_twice": (
        lambda z: functional.binary_cross_entropy(z.sigmoid().sigmoid(), (z > 0).float()),
        "binary_cross_entropy",
        "sigmoid",
    ),
    "mse_relu": (lambda z: functional.mse_loss(z.relu(), -shares()), "mse_loss", "relu"),
}


@pytest.mark.parametrize("name", PAIRS)
def test_losses_that_get_what_they_do_not_expect_name_it(record: Any, name: str) -> None:
    loss, function, before = PAIRS[name]
    fact = record(lambda run: fit(run, classifier(), loss))["loss_function", function]
    assert fact.texts["before"] == before
    if name == "bce_twice":
        assert fact.texts["before_that"] == "sigmoid"
    if name == "mse_relu":
        assert fact.numbers["negative_targets"] == 1


SOUND: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str, str]] = {
    "kl_div": (lambda z: functional.kl_div(z.log_softmax(1), shares(), reduction="batchmean"), "kl_div", "log_softmax"),
    "kl_by_hand": (
        lambda z: (shares() * (shares().log() - functional.log_softmax(z, 1))).sum(1).mean(), "kl_div", "log_softmax",
    ),
    "bce": (lambda z: functional.binary_cross_entropy(z.sigmoid(), (z > 0).float()), "binary_cross_entropy", "sigmoid"),
    "bce_logits": (
        lambda z: nn.BCEWithLogitsLoss(pos_weight=torch.rand(5))(z, (z > 0).float()),
        "binary_cross_entropy_with_logits",
        "linear",
    ),
    "ranking": (lambda z: -functional.logsigmoid(z[:, 0] - z[:, 1]).mean(), "logsigmoid", "sub"),
    "wasserstein": (lambda z: -z.mean(), "loss", "linear"),
    "scaled": (lambda z: functional.cross_entropy(functional.normalize(z) / 0.1, labels()), "cross_entropy", "div"),
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_losses_that_get_what_they_expect(record: Any, name: str) -> None:
    loss, function, before = SOUND[name]
    facts = record(lambda run: fit(run, classifier(), loss))
    assert facts["loss_function", function].texts["before"] == before
    assert [subject for kind, subject in facts if kind == "loss_function"] == [function]
    if name == "bce":
        assert facts["loss_function", function].texts["before_that"] == "linear"


def bce_by_hand(outputs: torch.Tensor) -> torch.Tensor:
    p, y = torch.sigmoid(outputs).clamp(1e-6, 1 - 1e-6), (outputs > 0).float()
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p + 1e-7)).mean()


@pytest.mark.parametrize("last", ["sigmoid", ""])
def test_binary_cross_entropy_by_hand_is_one_loss_with_what_comes_before_its_sigmoid(record: Any, last: str) -> None:
    facts = record(lambda run: fit(run, classifier(*([nn.Sigmoid()] if last else [])), bce_by_hand))
    assert [subject for kind, subject in facts if kind == "loss_function"] == ["binary_cross_entropy"]
    fact = facts["loss_function", "binary_cross_entropy"]
    assert (fact.texts["before"], fact.texts["before_that"]) == ("sigmoid", last or "linear")
    assert fact.numbers["by_hand"] == 1 and "classes_seen" in facts["targets", "binary_cross_entropy"].numbers


def test_an_entropy_and_a_policy_are_no_losses_of_classes(record: Any) -> None:
    def policy(outputs: torch.Tensor) -> torch.Tensor:
        chosen = torch.distributions.Categorical(logits=outputs)
        return -(chosen.log_prob(labels()) * torch.randn(16)).mean() - 0.01 * chosen.entropy().mean()

    facts = record(lambda run: fit(run, classifier(), policy))
    assert [subject for kind, subject in facts if kind == "loss_function"] == ["policy_gradient"]
    assert not [subject for kind, subject in facts if kind == "targets"]


# Outputs and targets of different shapes.


def one_output() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))


BROADCAST: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "mse": lambda o: functional.mse_loss(o, torch.randn(16)),
    "l1": lambda o: nn.L1Loss()(o, torch.randn(16)),
    "huber": lambda o: functional.huber_loss(o, torch.randn(16)),
    "smooth": lambda o: functional.smooth_l1_loss(o.squeeze(1), torch.randn(16, 1)),
    "by_hand": lambda o: ((o - torch.randn(16)) ** 2).mean(),
    "by_hand_product": lambda o: (lambda d: (d * d).sum())(torch.randn(16) - o),
    "by_hand_flat": lambda o: (o.squeeze(-1) - torch.randn(16, 1)).pow(2).mean(),
    "double": lambda o: functional.mse_loss(o, torch.randn(16, dtype=torch.float64).float()),
}


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("name", BROADCAST)
def test_outputs_and_targets_that_were_broadcast_against_each_other(record: Any, name: str) -> None:
    facts = record(lambda run: fit(run, one_output(), BROADCAST[name]))
    (fact,) = [fact for (kind, _), fact in facts.items() if kind == "loss_function"]
    assert fact.numbers["broadcast"] == 1
    shapes = {fact.texts["outputs_shape"], fact.texts["targets_shape"]}
    assert shapes == {"[16, 1]", "[16]"} and fact.texts["before"] == "linear"


MEANT: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "same": lambda o: functional.mse_loss(o, torch.randn(16, 1)),
    "squeezed": lambda o: functional.mse_loss(o.squeeze(1), torch.randn(16)),
    "constant": lambda o: functional.mse_loss(o, torch.ones(1, 1).expand(16, 1)),
    "one_target": lambda o: ((o - 1.0) ** 2).mean(),
    "quantiles": lambda o: functional.smooth_l1_loss(o.squeeze(1)[:, None], torch.randn(1, 16), reduction="none").mean(),
    "pairs": lambda o: (o.squeeze(1)[:, None] - o.squeeze(1)[None]).square().mean(),
    "variance": lambda o: (o - o.mean()).square().mean(),
}


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("name", MEANT)
def test_a_broadcast_that_is_written_down_is_none(record: Any, name: str) -> None:
    facts = record(lambda run: fit(run, one_output(), MEANT[name]))
    assert all(fact.numbers["broadcast"] == 0 for (kind, _), fact in facts.items() if kind == "loss_function")


# Parameters that the loss reaches.


class Parts(nn.Module):
    """Two parts and a head, joined in several ways."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.a, self.b, self.head = nn.Linear(6, 8), nn.Linear(8, 8), nn.Linear(8, 5)
        self.hidden: Any = [nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 8))] if how == "list" else {}
        if how == "dictionary":
            self.hidden = {"x": {"y": nn.Linear(8, 8)}}
        if how == "tensor":
            self.scale = torch.ones(8, requires_grad=True)
        if how == "frozen":
            self.a.requires_grad_(False)
        if how == "tied":
            self.b.weight = nn.Parameter(torch.randn(8, 8))
            self.c = nn.Linear(8, 8)
            self.c.weight = self.b.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.how == "no_grad":
            with torch.no_grad():
                x = self.a(x)
        else:
            x = self.a(x).relu()
        if self.how == "detached":
            x = self.b(x).detach()
        elif self.how == "reentrant":
            x = checkpoint(self.b, x.detach(), use_reentrant=True)
        elif self.how in ("checkpointed", "reentrant_sound"):
            x = checkpoint(self.b, x, use_reentrant=self.how == "reentrant_sound")
        elif self.how != "unused":
            x = self.b(x)
        for layer in self.hidden if self.how == "list" else []:
            x = layer(x)
        if self.how == "dictionary":
            x = self.hidden["x"]["y"](x)
        if self.how == "tensor":
            x = x * self.scale
        if self.how == "tied":
            x = self.c(x)
        if self.how == "function":
            x = Double.apply(x)
        result: torch.Tensor = self.head(x)
        return result


class Double(torch.autograd.Function):
    """Saves nothing."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        return gradients[0] * 2


@pytest.mark.parametrize(
    ("how", "lost"),
    [("no_grad", ["a.weight", "a.bias"]), ("unused", ["b.weight", "b.bias"]),
     ("detached", ["a.weight", "a.bias", "b.weight", "b.bias"]),
     ("reentrant", ["a.weight", "a.bias", "b.weight", "b.bias"])],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
def test_parameters_that_the_loss_does_not_reach(record: Any, how: str, lost: list[str]) -> None:
    fact = record(lambda run: fit(run, Parts(how)))["reached", ""]
    assert fact.texts["not_reached"].split(", ") == lost
    assert fact.numbers["without_gradient"] == len(lost) and fact.numbers["trainable"] == 6
    assert fact.numbers["foreign"] == fact.numbers["unregistered"] == 0


@pytest.mark.parametrize("how", ["", "frozen", "tied", "checkpointed", "reentrant_sound", "function"])
def test_parameters_that_are_reached_on_other_ways(record: Any, how: str) -> None:
    fact = record(lambda run: fit(run, Parts(how)))["reached", ""]
    assert fact.numbers["without_gradient"] == 0 and fact.texts["not_reached"] == ""
    assert fact.numbers["foreign"] == fact.numbers["unregistered"] == 0


@pytest.mark.parametrize(
    ("how", "names"), [("list", "hidden.0.weight, hidden.0.bias, hidden.1.0.weight, hidden.1.0.bias"),
                       ("dictionary", "hidden.x.y.weight, hidden.x.y.bias"), ("tensor", "scale")],
)  # fmt: skip
def test_layers_that_are_not_registered_are_named(record: Any, how: str, names: str) -> None:
    fact = record(lambda run: fit(run, Parts(how)))["reached", ""]
    assert fact.texts["unregistered"] == names and fact.numbers["unregistered"] == len(names.split(", "))
    assert fact.numbers["foreign"] == (0 if how == "tensor" else fact.numbers["unregistered"])


def test_a_network_that_only_measures_is_foreign_and_not_unregistered(record: Any) -> None:
    judge = nn.Linear(5, 3)
    fact = record(lambda run: fit(run, classifier(), lambda z: judge(z).square().mean()))["reached", ""]
    assert fact.numbers["foreign"] == 2 and fact.numbers["unregistered"] == 0 and fact.texts["foreign_shape"] in ("[3, 5]", "[3]")


def test_a_loss_that_is_a_leaf_has_no_gradient(record: Any) -> None:
    def loss(outputs: torch.Tensor) -> torch.Tensor:
        value = functional.l1_loss(outputs.argmax(1).float(), labels().float()).requires_grad_(True)
        return value

    facts = record(lambda run: fit(run, classifier(), loss))
    assert facts["loss_function", "loss"].numbers["has_gradient"] == 0
    assert facts["reached", ""].numbers["reached"] == 0 and facts["reached", ""].numbers["without_gradient"] == 4


def adversarial(run: trainscope.Run, *, detach: bool = False, is_mixed: bool = False, only: str = "") -> None:
    one, two = nn.Linear(4, 3), nn.Linear(3, 1)
    first = torch.optim.Adam((two if is_mixed else one).parameters(), 1e-3)
    second = torch.optim.Adam(two.parameters(), 1e-3)
    if only != "two":
        run.watch(one, first)
    if only != "one":
        run.watch(two, second)
    criterion = nn.BCEWithLogitsLoss()
    for _ in range(STEPS):
        fake = one(torch.randn(16, 4))
        loss = criterion(two(torch.randn(16, 3)), torch.ones(16, 1)) + criterion(two(fake.detach()), torch.zeros(16, 1))
        second.zero_grad()
        loss.backward()
        second.step()
        other = criterion(two(fake.detach() if detach else fake), torch.ones(16, 1))
        first.zero_grad()
        other.backward()
        first.step()


def test_a_generator_that_is_detached_is_not_reached(record: Any) -> None:
    facts = record(lambda run: adversarial(run, detach=True))
    assert facts["reached", ""].texts["not_reached"] == "weight, bias"
    assert facts["reached", "Linear"].numbers["without_gradient"] == 0
    sound = record(adversarial)
    assert sound["reached", ""].numbers["without_gradient"] == sound["reached", "Linear"].numbers["without_gradient"] == 0


@pytest.mark.parametrize("only", ["one", "two"])
def test_one_part_of_adversarial_networks_tells_of_the_others_optimizer(record: Any, only: str) -> None:
    facts = record(lambda run: adversarial(run, only=only))
    kept = facts["gradients_kept", ""].numbers
    # Of the discriminator, the pass of the generator comes first, whose gradients are cleared before they count.
    assert (kept["optimizers"], kept["kept"], kept["cleared_between"]) == (2, 0, 0)
    assert facts["reached", ""].numbers["foreign"] == 0
    # The side that a sample comes from is no label to learn.
    assert all("classes_seen" not in fact.numbers for (kind, _), fact in facts.items() if kind == "targets")


def test_zeros_beside_smoothed_ones_are_no_labels(record: Any) -> None:
    def train(run: trainscope.Run, real: float) -> None:
        model = nn.Linear(3, 1)
        optimizer = torch.optim.Adam(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            optimizer.zero_grad()
            for side in (real, 0.0):
                functional.binary_cross_entropy_with_logits(model(torch.randn(16, 3)), torch.full((16, 1), side)).backward()
            optimizer.step()

    smoothed, whole = (
        record(lambda run, real=real: train(run, real))["targets", "binary_cross_entropy_with_logits"].numbers
        for real in (0.9, 1.0)
    )
    assert smoothed["batches"] == whole["batches"] and "labels" not in smoothed
    assert whole["classes_seen"] == 2


# Parameters in optimizers.


def test_an_optimizer_that_is_older_than_the_head_of_its_model(record: Any) -> None:
    def train(run: trainscope.Run) -> None:
        model = classifier()
        optimizer = torch.optim.Adam(model.parameters(), 1e-3)
        model[2] = nn.Linear(8, 5)
        fit(run, model, optimizer=optimizer)

    fact = record(train)["optimizer_parameters", "Adam"]
    expected = {"held": 4, "of_model": 2, "others": 2, "missing": 2, "missing_changed": 0, "other_types": 0}
    assert expected.items() <= fact.numbers.items()
    assert fact.texts["missing"] == "2.weight, 2.bias"


def test_an_optimizer_of_a_copy_holds_nothing_of_the_model(record: Any) -> None:
    def train(run: trainscope.Run) -> None:
        model = classifier()
        fit(run, copy.deepcopy(model), optimizer=torch.optim.SGD(model.parameters(), 0.1))

    fact = record(train)["optimizer_parameters", "SGD"]
    assert {"of_model": 0, "others": 4, "missing": 4, "missing_changed": 0}.items() <= fact.numbers.items()


def test_an_optimizer_of_the_other_network_misses_its_own(record: Any) -> None:
    facts = record(lambda run: adversarial(run, is_mixed=True))
    assert facts["optimizer_parameters", "Adam"].texts["missing"] == "weight, bias"
    assert facts["optimizer_parameters", "Adam"].numbers["twice"] == 2
    sound = record(adversarial)
    assert all(sound["optimizer_parameters", name].numbers["missing"] == 0 for name in ("Adam", "Adam#2"))
    assert all(sound["optimizer_parameters", name].numbers["others"] == 0 for name in ("Adam", "Adam#2"))


def test_copies_in_another_type_are_no_older_model(record: Any) -> None:
    def train(run: trainscope.Run) -> None:
        model = classifier().bfloat16()
        masters = [one.detach().float().requires_grad_() for one in model.parameters()]
        optimizer = torch.optim.SGD(masters, 0.1)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            model.zero_grad()
            model(torch.randn(16, 6).bfloat16()).float().square().mean().backward()
            for master, one in zip(masters, model.parameters(), strict=True):
                master.grad = one.grad.float() if one.grad is not None else None
            optimizer.step()
            with torch.no_grad():
                for master, one in zip(masters, model.parameters(), strict=True):
                    one.copy_(master)

    fact = record(train)["optimizer_parameters", "SGD"]
    assert fact.numbers["missing"] == fact.numbers["other_types"] == fact.numbers["missing_changed"] == 4


def test_parts_that_are_frozen_or_have_optimizers_of_their_own_are_not_missing(record: Any) -> None:
    def train(run: trainscope.Run) -> None:
        model = Parts("frozen")
        first = torch.optim.Adam(model.b.parameters(), 1e-3)
        second = torch.optim.SGD([{"params": [model.head.weight]}, {"params": [model.head.bias]}], 1e-3)
        run.watch(model, first)
        for _ in range(STEPS):
            first.zero_grad()
            second.zero_grad()
            model(torch.randn(4, 6)).square().mean().backward()
            first.step()
            second.step()

    facts = record(train)
    for name in ("Adam", "SGD"):
        numbers = facts["optimizer_parameters", name].numbers
        assert numbers["missing"] == numbers["others"] == numbers["twice"] == 0
    assert ("optimizer_settings", "SGD 1") in facts


# Gradients between passes.


def passes(
    run: trainscope.Run, *, clear: str = "before", micro: int = 1, set_to_none: bool = True, model: nn.Module | None = None,
    optimizer: Any = None,
) -> None:  # fmt: skip
    model = model or one_output()
    optimizer = optimizer or torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
    run.watch(model, optimizer)
    for _ in range(STEPS):
        if clear == "before":
            optimizer.zero_grad(set_to_none=set_to_none)
        for _ in range(micro):
            if clear == "between":
                optimizer.zero_grad(set_to_none=set_to_none)
            (model(torch.randn(8, 6)).square().mean() / micro).backward()
        optimizer.step()
        if clear == "after":
            model.zero_grad(set_to_none=set_to_none)
        if clear == "data":
            for parameter in model.parameters():
                assert parameter.grad is not None
                parameter.grad.data.zero_()


@pytest.mark.parametrize("set_to_none", [True, False])
@pytest.mark.parametrize(("clear", "micro"), [("before", 1), ("after", 1), ("before", 3), ("data", 1), ("after", 2)])
def test_gradients_that_are_cleared_at_the_right_time(record: Any, clear: str, micro: int, set_to_none: bool) -> None:
    numbers = record(lambda run: passes(run, clear=clear, micro=micro, set_to_none=set_to_none))["gradients_kept", ""].numbers
    assert (numbers["kept"], numbers["cleared_between"]) == (0, 0)
    assert (numbers["updates"], numbers["passes"], numbers["closure"]) == (STEPS - 1, STEPS * micro, 0)


@pytest.mark.parametrize("micro", [1, 3])
def test_gradients_that_are_never_cleared(record: Any, micro: int) -> None:
    fact = record(lambda run: passes(run, clear="never", micro=micro))["gradients_kept", ""]
    assert fact.numbers["kept"] == fact.numbers["updates"] == STEPS - 1 and fact.numbers["cleared_between"] == 0
    assert "backward" in fact.source.excerpt.splitlines()[fact.source.line - fact.source.first_line]


@pytest.mark.parametrize("set_to_none", [True, False])
def test_gradients_that_are_cleared_between_the_parts_of_a_batch(record: Any, set_to_none: bool) -> None:
    numbers = record(lambda run: passes(run, clear="between", micro=4, set_to_none=set_to_none))["gradients_kept", ""].numbers
    assert numbers["cleared_between"] == STEPS * 3 and numbers["kept"] == 0


def test_passes_of_a_closure_and_of_two_steps_on_one_batch_are_not_judged(record: Any) -> None:
    def closure(run: trainscope.Run) -> None:
        model = one_output()
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
        run.watch(model, optimizer)
        x, y = torch.randn(8, 6), torch.randn(8, 1)

        def evaluate() -> torch.Tensor:
            optimizer.zero_grad()
            loss = functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        for _ in range(STEPS):
            optimizer.step(evaluate)

    numbers = record(closure)["gradients_kept", ""].numbers if ("gradients_kept", "") in record(closure) else {"kept": 0, "cleared_between": 0}
    assert (numbers["kept"], numbers["cleared_between"]) == (0, 0)

    def sharpness(run: trainscope.Run) -> None:
        model = one_output()
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            x = torch.randn(8, 6)
            for is_second in (False, True):
                model(x).square().mean().backward()
                if not is_second:
                    with torch.no_grad():
                        moves = [0.01 * one.grad.sign() for one in model.parameters() if one.grad is not None]
                        for one, move in zip(model.parameters(), moves, strict=True):
                            one.add_(move)
                    optimizer.zero_grad()
            with torch.no_grad():
                for one, move in zip(model.parameters(), moves, strict=True):
                    one.sub_(move)
            optimizer.step()
            optimizer.zero_grad()

    numbers = record(sharpness)["gradients_kept", ""].numbers
    assert (numbers["kept"], numbers["cleared_between"]) == (0, 0)


# Settings of optimizers, modes and modules.


def test_rates_over_the_training(record: Any) -> None:
    def train(run: trainscope.Run, gamma: float, steps: int) -> None:
        model = one_output()
        optimizer = torch.optim.AdamW(model.parameters(), 0.01, weight_decay=0.1)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma)
        run.watch(model, optimizer)
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.randn(8, 6)).square().mean().backward()
            optimizer.step()
            schedule.step()

    numbers = record(lambda run: train(run, 0.5, 30))["optimizer_settings", "AdamW 0"].numbers
    assert numbers["highest_lr"] == numbers["first_lr"] == 0.01 and numbers["decoupled"] == 1
    # Not every step is read.
    assert 0.01 * 0.5**15 <= numbers["highest_late_lr"] <= 0.01 * 0.5**14 and numbers["jump"] == 1
    numbers = record(lambda run: train(run, 20.0, 9))["optimizer_settings", "AdamW 0"].numbers
    assert numbers["jump"] == pytest.approx(20) and numbers["jump_at"] == 5 and numbers["weight_decay"] == 0.1


def test_a_rate_below_the_precision_of_the_weights(record: Any) -> None:
    def train(run: trainscope.Run) -> None:
        model = classifier().bfloat16()
        fit(run, model, optimizer=torch.optim.Adam(model.parameters(), 1e-5), inputs=lambda _: torch.randn(16, 6).bfloat16())

    fact = record(train)["optimizer_settings", "Adam 0"]
    assert fact.texts["type"] == "bfloat16" and fact.numbers["lr_to_weight"] < 2**-9 and fact.numbers["eps"] == 1e-8


@pytest.mark.parametrize(
    ("when", "expected"), [("always", (STEPS, 0)), ("never", (0, 0)), ("frozen", (0, STEPS)), ("attack", (0, 0))]
)
def test_modes_at_the_last_pass_before_an_update(record: Any, when: str, expected: tuple[int, int]) -> None:
    def train(run: trainscope.Run) -> None:
        model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8, momentum=0.9), nn.Dropout(0.1), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            x = torch.randn(8, 6)
            if when == "attack":
                model.eval()
                x.requires_grad_()
                model(x).square().mean().backward()
            model.train(when != "always")
            if when == "frozen":
                model[1].eval()
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            model.eval()
            with torch.no_grad():
                model(x)

    facts = record(train)
    numbers = facts["module_modes", ""].numbers
    assert (numbers["evaluation"], numbers["partly"]) == expected and numbers["passes"] == STEPS
    assert facts["module_setting", "1"].numbers["momentum"] == 0.9
    if when in ("always", "frozen"):
        assert facts["module_modes", ""].texts == {"module": "1", "class": "BatchNorm1d"}


# Clipping and the scale of the loss.


def scaled(run: trainscope.Run, *, unscale: bool, max_norm: float = 1e-3, with_scaler: bool = True) -> None:
    from torch.nn.utils import clip_grad_norm_

    model = one_output()
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    scaler = torch.amp.GradScaler("cpu", enabled=with_scaler)
    run.watch(model, optimizer, scaler=scaler if with_scaler else None)
    for _ in range(12):
        optimizer.zero_grad()
        scaler.scale(model(torch.randn(8, 6)).square().mean()).backward()
        if unscale:
            scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()


def test_clipping_before_the_scale_is_taken_off(record: Any) -> None:
    fact = record(lambda run: scaled(run, unscale=False))["clipping", "clip_grad_norm_"]
    assert fact.numbers["calls"] == fact.numbers["scaled"] == fact.numbers["clipped"] == 12
    assert fact.numbers["norm_times_scale_near"] == 1 and fact.numbers["parameters"] == 4
    assert fact.numbers["scale"] == 65536 and "clip_grad_norm_(" in fact.source.excerpt


@pytest.mark.parametrize(("with_scaler", "max_norm"), [(True, 1.0), (False, 1e-3), (False, 1e6)])
def test_clipping_of_gradients_that_are_not_scaled(record: Any, with_scaler: bool, max_norm: float) -> None:
    numbers = record(lambda run: scaled(run, unscale=True, with_scaler=with_scaler, max_norm=max_norm))["clipping", "clip_grad_norm_"].numbers
    assert numbers["scaled"] == 0 and numbers.get("norm_times_scale_near", 0) < 0.5
    assert numbers["clipped"] == (12 if max_norm < 1e-2 else numbers["clipped"])
    assert numbers["clipped"] == 0 or max_norm < 1e6


def test_clipping_of_nothing(record: Any) -> None:
    def train(run: trainscope.Run) -> None:
        model = one_output()
        others = [nn.Parameter(torch.ones(2))]
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            optimizer.zero_grad()
            model(torch.randn(8, 6)).square().mean().backward()
            torch.nn.utils.clip_grad_norm_(others, 1.0)
            optimizer.step()

    assert record(train)["clipping", "clip_grad_norm_"].numbers["parameters"] == 0



# The direction in which updates move a loss.


SIGNED: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], int]] = {
    "usual": (lambda out: functional.cross_entropy(out, labels()), 1),
    "part of a batch": (lambda out: functional.cross_entropy(out, labels()) / 4, 1),
    "negated": (lambda out: -functional.cross_entropy(out, labels()), -1),
    "factor": (lambda out: -1 * functional.mse_loss(out, shares()), -1),
    "subtracted": (lambda out: 1 - functional.mse_loss(out, shares()), -1),
    "log-likelihood": (lambda out: out.log_softmax(1).gather(1, labels()[:, None]).mean(), -1),
    "negative log-likelihood": (lambda out: -out.log_softmax(1).gather(1, labels()[:, None]).mean(), 1),
    "weights": (lambda out: (functional.cross_entropy(out, labels(), reduction="none") * torch.rand(16)).mean(), 1),
    "preference": (lambda out: -functional.logsigmoid(out[:, 0] - out[:, 1]).mean(), 1),
    # Not known: rewards or costs, other terms, both signs.
    "costs": (lambda out: (out.log_softmax(1).gather(1, labels()[:, None]) * torch.rand(16, 1)).mean(), 0),
    "adversary": (lambda out: functional.mse_loss(out, shares()) - functional.cross_entropy(out, labels()), 0),
    "divergence": (lambda out: functional.kl_div(out.log_softmax(1), shares(), reduction="batchmean"), 0),
    "apart": (lambda out: functional.mse_loss(out, shares()) - functional.mse_loss(out, shares()), 0),
    "advantages": (lambda out: (functional.cross_entropy(out, labels(), reduction="none") * torch.randn(16)).mean(), 0),
}


@pytest.mark.parametrize("name", SIGNED)
def test_the_sign_of_a_loss_in_what_is_minimized(record: Any, name: str) -> None:
    loss, sign = SIGNED[name]
    facts = record(lambda run: fit(run, classifier(), loss))
    found = [fact.numbers for (kind, _), fact in facts.items() if kind == "loss_function"]
    assert sum(numbers["signed_passes"] for numbers in found) == (STEPS if sign else 0)
    assert sum(numbers["negative_passes"] for numbers in found) == (STEPS if sign < 0 else 0)
    maximize = torch.optim.SGD(one_output().parameters(), 0.1, maximize=True)
    assert record(lambda run: passes(run, optimizer=maximize))["optimizer_settings", "SGD 0"].numbers["maximize"] == 1


@pytest.mark.parametrize(("axis", "is_wrong"), [(0, 1), (1, 0)])
def test_probabilities_along_the_samples(record: Any, axis: int, is_wrong: int) -> None:
    facts = record(lambda run: fit(run, classifier(), lambda out: functional.nll_loss(out.log_softmax(axis), labels())))
    assert facts["loss_function", "cross_entropy"].numbers["wrong_axis"] == is_wrong


def test_probabilities_of_positions_are_along_the_right_axis(record: Any) -> None:
    def loss(outputs: torch.Tensor) -> torch.Tensor:
        pictures = outputs.reshape(2, 8, 5).log_softmax(2).transpose(1, 2)
        return functional.nll_loss(pictures, torch.randint(0, 5, (2, 8)))

    assert record(lambda run: fit(run, classifier(), loss))["loss_function", "cross_entropy"].numbers["wrong_axis"] == 0


CHOSEN: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], bool]] = {
    "gather": (lambda out: functional.smooth_l1_loss(out.gather(1, labels()[:, None]), torch.randn(16, 1)), True),
    "index": (lambda out: (out[torch.arange(16), labels()] - torch.randn(16)).square().mean(), True),
    "all": (lambda out: functional.mse_loss(out, shares()), False),
    "some samples": (lambda out: functional.mse_loss(out[labels()], shares()), False),
    "classes": (lambda out: -out.log_softmax(1).gather(1, labels()[:, None]).mean(), False),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_values_of_chosen_actions(record: Any, name: str) -> None:
    loss, is_chosen = CHOSEN[name]
    facts = record(lambda run: fit(run, classifier(), loss))
    found = [fact.numbers.get("chosen", 0) for (kind, _), fact in facts.items() if kind == "loss_function"]
    assert found == [float(is_chosen)]


def test_sides_of_samples_are_no_labels_in_any_form_of_the_loss(record: Any) -> None:
    sides = torch.zeros(16, dtype=torch.long)

    def adapt(outputs: torch.Tensor) -> torch.Tensor:
        losses = [functional.cross_entropy(outputs * (1 + k), of) for k, of in enumerate((labels(), sides, sides + 1))]
        return torch.stack(losses).sum()

    def play(run: trainscope.Run) -> None:
        generator, discriminator = nn.Linear(3, 6), classifier()
        first, second = (torch.optim.SGD(model.parameters(), 1e-3) for model in (generator, discriminator))
        run.watch(generator, first)
        run.watch(discriminator, second)
        for _ in range(STEPS):
            made = generator(torch.randn(16, 3))
            second.zero_grad()
            functional.cross_entropy(discriminator(made.detach()), sides).backward()
            functional.cross_entropy(discriminator(torch.randn(16, 6)), sides + 1).backward()
            second.step()
            first.zero_grad()
            functional.cross_entropy(discriminator(made), sides + 1).backward()
            first.step()

    for train in (lambda run: fit(run, classifier(), adapt), play):
        found = [fact.numbers for (kind, _), fact in record(train).items() if kind == "targets"]
        assert found and all(numbers.get("batches_of_one_label", 0) == 0 for numbers in found)


@pytest.mark.parametrize("is_cleared", [True, False])
def test_gradients_of_a_discriminator_that_are_never_cleared(record: Any, is_cleared: bool) -> None:
    def train(run: trainscope.Run) -> None:
        generator, discriminator = nn.Linear(3, 6), one_output()
        first, second = (torch.optim.SGD(model.parameters(), 1e-3) for model in (generator, discriminator))
        run.watch(generator, first)
        run.watch(discriminator, second)
        for _ in range(STEPS):
            made = generator(torch.randn(8, 3))
            if is_cleared:
                second.zero_grad()
            (discriminator(made.detach()).mean() - discriminator(torch.randn(8, 6)).mean()).backward()
            second.step()
            first.zero_grad()
            (-discriminator(made).mean()).backward()
            first.step()

    facts = record(train)
    found = {subject: fact.numbers for (kind, subject), fact in facts.items() if kind == "gradients_kept"}
    assert len(found) == 2 and all(numbers["models"] == 2 for numbers in found.values())
    never = sorted(numbers["never_cleared"] / numbers["followed_updates"] for numbers in found.values())
    assert never == ([0, 0] if is_cleared else [0, (STEPS - 1) / STEPS])


def test_a_constant_that_derivatives_leave_out_is_beside_what_is_reached(record: Any) -> None:
    def train(run: trainscope.Run) -> None:
        model = one_output()
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            x = torch.randn(8, 6, requires_grad=True)
            (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
            optimizer.zero_grad()
            slope.square().sum().backward()
            optimizer.step()

    numbers = record(train)["reached", ""].numbers
    assert numbers["without_gradient"] == numbers["beside_reached"] >= 1
    assert record(lambda run: fit(run, Parts("no_grad")))["reached", ""].numbers["beside_reached"] == 0


def test_the_weights_before_the_first_update_are_compared_with_the_rate(record: Any) -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64))
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0)
    facts = record(lambda run: fit(run, model, optimizer=optimizer, inputs=lambda _: torch.randn(16, 64)))
    # They are uniform in ±1 / 8.
    assert facts["optimizer_settings", "Adam 0"].numbers["lr_to_weight"] == pytest.approx(16, rel=0.05)


@pytest.mark.parametrize("is_divided", [True, False])
def test_what_the_first_layer_gets_of_pictures(record: Any, is_divided: bool) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = nn.Conv2d(1, 2, 3), nn.Linear(72, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.head(self.conv(x / 255 if is_divided else x).flatten(1))
            return result

    facts = record(lambda run: fit(run, Net(), inputs=lambda _: torch.randint(0, 256, (16, 1, 8, 8)).float()))
    assert [subject for kind, subject in facts if kind == "layer_input"] == ["conv"]
    numbers = facts["layer_input", "conv"].numbers
    assert (numbers["whole"], numbers["features"]) == (not is_divided, 64)
    assert numbers["highest"] == pytest.approx(1 if is_divided else 255, rel=0.05)


# Inputs and targets.


class Language(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.position, self.head = nn.Embedding(20, 8), nn.Embedding(12, 8), nn.Linear(8, 20, bias=False)

    def forward(self, ids: torch.Tensor, positions: torch.Tensor | None = None) -> torch.Tensor:
        at = torch.arange(ids.shape[1]) if positions is None else positions
        result: torch.Tensor = self.head(self.embed(ids) + self.position(at))
        return result


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_targets_that_are_the_inputs_some_positions_later(record: Any, shift: int) -> None:
    def train(run: trainscope.Run) -> None:
        model = Language()
        optimizer = torch.optim.Adam(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            ids = torch.randint(0, 20, (4, 14))
            outputs = model(ids[:, :12])
            optimizer.zero_grad()
            functional.cross_entropy(outputs.flatten(0, 1), ids[:, shift : 12 + shift].flatten()).backward()
            optimizer.step()

    numbers = record(train)["targets", "cross_entropy"].numbers
    assert [numbers[f"equal_{k}"] > 0.99 for k in range(3)] == [k == shift for k in range(3)]
    assert numbers["classes_seen"] == 20 and numbers["trailing"] < 0.3


def test_targets_that_copy_a_source_follow_from_the_tokens_before_them(record: Any) -> None:
    class Copying(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.read = nn.Embedding(20, 8), nn.GRU(8, 16, batch_first=True)
            self.write, self.head = nn.GRU(8, 16, batch_first=True), nn.Linear(16, 20)

        def forward(self, source: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
            state = self.read(self.embed(source))[1]
            result: torch.Tensor = self.head(self.write(self.embed(tokens), state)[0])
            return result

    def train(run: trainscope.Run) -> None:
        model = Copying()
        optimizer = torch.optim.Adam(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            source = torch.randint(2, 20, (4, 12))
            tokens = torch.cat([torch.ones(4, 1, dtype=torch.long), source[:, :-1]], 1)
            optimizer.zero_grad()
            functional.cross_entropy(model(source, tokens).flatten(0, 1), source.flatten()).backward()
            optimizer.step()

    numbers = record(train)["targets", "cross_entropy"].numbers
    assert numbers["equal_1"] > 0.99 and numbers["equal_0"] < 0.2


def test_padding_that_counts_and_padding_that_does_not(record: Any) -> None:
    def train(run: trainscope.Run, is_ignored: bool) -> None:
        model = Language()
        optimizer = torch.optim.Adam(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            ids = torch.randint(1, 20, (4, 13))
            ids[:, 5:] = 0
            optimizer.zero_grad()
            targets = ids[:, 1:].flatten()
            functional.cross_entropy(model(ids[:, :12]).flatten(0, 1), targets, ignore_index=0 if is_ignored else -100).backward()
            optimizer.step()

    numbers = record(lambda run: train(run, False))["targets", "cross_entropy"].numbers
    assert numbers["padding"] == 0 and numbers["trailing"] == pytest.approx(8 / 12) and numbers["most_common"] == 0
    numbers = record(lambda run: train(run, True))["targets", "cross_entropy"].numbers
    assert numbers["padding"] == pytest.approx(8 / 12) and numbers["trailing"] == 0


def test_labels_of_one_class_in_all_batches_and_in_each(record: Any) -> None:
    def batches(kind: str) -> Callable[[torch.Tensor], torch.Tensor]:
        step = iter(range(100))

        def loss(outputs: torch.Tensor) -> torch.Tensor:
            number = next(step)
            targets = labels()
            if kind == "one":
                targets[:] = 0
            if kind == "sorted":
                targets[:] = number % 5
            if kind == "rare":
                targets[2:] = 0
            return functional.cross_entropy(outputs, targets, weight=torch.rand(5))

        return loss

    one, ordered, rare, sound = (
        record(lambda run, kind=kind: fit(run, classifier(), batches(kind)))["targets", "cross_entropy"].numbers
        for kind in ("one", "sorted", "rare", "sound")
    )
    assert one["classes_seen"] == 1 and one["most_common_share"] == 1 and one["batches_of_one_label"] == STEPS
    assert ordered["classes_seen"] == 5 and ordered["batches_of_one_label"] == STEPS
    assert rare["most_common_share"] > 0.85 and rare["batches_of_one_label"] == 0 and rare["most_common"] == 0
    assert sound["most_common_share"] < 0.5 and sound["batches_of_one_label"] == 0


@pytest.mark.parametrize("leak", [True, False])
def test_a_feature_that_is_the_label(record: Any, leak: bool) -> None:
    def train(run: trainscope.Run) -> None:
        model = classifier()
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            x, y = torch.randn(16, 6), labels()
            if leak:
                x[:, 4] = y * 2.0 - 3
            optimizer.zero_grad()
            functional.cross_entropy(model(x), y).backward()
            optimizer.step()

    numbers = record(train)["targets", "cross_entropy"].numbers
    assert (numbers["correlation"] > 0.99) == leak and numbers["samples"] == STEPS * 16
    assert not leak or numbers["feature"] == 4


def test_sizes_of_features_and_of_targets_and_the_same_batch_again(record: Any) -> None:
    scale = torch.tensor([1.0, 1.0, 4000.0, 1.0, 1.0, 0.01])
    batch = torch.randn(16, 6)
    facts = record(
        lambda run: fit(run, one_output(), lambda o: functional.mse_loss(o, 500 + torch.randn(16, 1)), inputs=lambda _: batch * scale)
    )
    numbers = facts["inputs", "input"].numbers
    assert numbers["largest_rms"] > 1000 and numbers["smallest_rms"] < 0.1 and (numbers["batches"], numbers["different"]) == (STEPS, 1)
    loss = facts["loss_function", "mse_loss"].numbers
    assert loss["targets_rms"] == pytest.approx(500, rel=0.01)
    numbers = record(lambda run: fit(run, one_output()))["inputs", "input"].numbers
    assert numbers["different"] == STEPS and numbers["largest_rms"] < 5


# Embeddings, ties, states, seeds, loaders.


@pytest.mark.parametrize("are_zero", [True, False])
def test_rows_of_an_embedding_that_are_used(record: Any, are_zero: bool) -> None:
    def train(run: trainscope.Run) -> None:
        model = Language()
        optimizer = torch.optim.Adam(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            ids = torch.randint(0, 20, (4, 12))
            outputs = model(ids, torch.zeros(12, dtype=torch.long) if are_zero else None)
            optimizer.zero_grad()
            functional.cross_entropy(outputs.flatten(0, 1), ids.flatten()).backward()
            optimizer.step()

    facts = record(train)
    numbers = facts["embedding", "position"].numbers
    assert (numbers["rows"], numbers["rows_with_gradient"], numbers["looks"]) == (12, 1 if are_zero else 12, STEPS)
    assert facts["embedding", "embed"].numbers["rows_with_gradient"] == 20


@pytest.mark.parametrize("how", ["copied", "tied", "apart"])
def test_weights_that_were_equal_and_no_longer_are(record: Any, how: str) -> None:
    def train(run: trainscope.Run) -> None:
        model = Language()
        if how == "tied":
            model.head.weight = model.embed.weight
        if how == "copied":
            model.head.weight.data.copy_(model.embed.weight.data)
        fit(run, model, lambda o: functional.cross_entropy(o.flatten(0, 1), torch.randint(0, 20, (48,))),
            inputs=lambda _: torch.randint(0, 20, (4, 12)))  # fmt: skip

    facts = record(train)
    tied = {subject: fact.numbers for (kind, subject), fact in facts.items() if kind == "tied"}
    assert tied == {
        "copied": {"embed.weight = head.weight": {"equal_first": 1, "equal": 0}},
        "apart": {},
        "tied": {},
    }[how]


def test_states_that_match_nothing(record: Any) -> None:
    def train(run: trainscope.Run) -> None:
        model = classifier()
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        model.load_state_dict({f"module.{name}": one for name, one in model.state_dict().items()}, strict=False)
        fit(run, model, optimizer=optimizer)

    fact = record(train)["loaded", "Sequential"]
    assert fact.numbers == {"keys": 4, "matched": 0, "missing": 4, "unexpected": 4}
    assert "load_state_dict" in fact.source.excerpt


@pytest.mark.parametrize("in_loop", [True, False])
def test_seeds_that_are_set_in_the_loop(record: Any, in_loop: bool) -> None:
    def inputs(step: int) -> torch.Tensor:
        if in_loop:
            torch.manual_seed(7)
        return torch.randn(16, 6)

    def train(run: trainscope.Run) -> None:
        model = classifier()
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        torch.manual_seed(1)
        for step in range(STEPS):
            optimizer.zero_grad()
            model(inputs(step)).square().mean().backward()
            optimizer.step()

    numbers = record(train)["seeds", "manual_seed"].numbers
    assert numbers["calls_in_loop"] == numbers["same_in_loop"] == (STEPS - 1 if in_loop else 0)
    assert numbers["calls"] == (STEPS + 1 if in_loop else 1)


def test_loaders_and_the_passes_that_are_made_with_their_batches(record: Any) -> None:
    data = TensorDataset(torch.randn(40, 6), torch.randint(0, 5, (40,)))

    def train(run: trainscope.Run) -> None:
        model = classifier()
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(2):
            for x, y in DataLoader(data, 10, shuffle=True, drop_last=True):
                optimizer.zero_grad()
                functional.cross_entropy(model(x), y).backward()
                optimizer.step()
            for x, _ in DataLoader(data, 20):
                model(x)

    facts = record(train)
    first, second = facts["data_loader", "TensorDataset"], facts["data_loader", "TensorDataset#2"]
    expected = {"batch_size": 10, "shuffle": 1, "drop_last": 1, "workers": 0, "batches": 4, "passes": 8, "iterations": 2}
    assert first.numbers == {**expected, "training": 1} and first.texts["sampler"] == "RandomSampler"
    assert {"passes": 0, "shuffle": 0, "batches": 2, "training": 0}.items() <= second.numbers.items()


def test_the_environment_is_recorded_without_secrets(record: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python", "train.py", "--api-key", "abc", "--hf_token=def", "--lr", "1"])
    texts = record(lambda run: fit(run, classifier()))["environment", ""].texts
    assert texts["command"] == "python train.py --api-key … --hf_token=… --lr 1"
    assert texts["torch"] == torch.__version__ and texts["python"].startswith("3.")


# Lines.


def test_the_line_of_a_loss_is_that_of_its_assignment(record: Any) -> None:
    def train(run: trainscope.Run) -> None:
        model = classifier()
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        run.watch(model, optimizer)
        for _ in range(STEPS):
            outputs = model(torch.randn(16, 6))
            loss = functional.cross_entropy(outputs, labels())
            loss = loss / 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    fact = record(train)["loss_function", "cross_entropy"]
    line = fact.source.excerpt.splitlines()[fact.source.line - fact.source.first_line]
    assert line.strip() == "loss = functional.cross_entropy(outputs, labels())"
    assert fact.source.function.endswith("train")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("loss = f(x)\nother = 1\nscaler.scale(loss).backward()", 1),
        ("total = f(x)\naccelerator.backward(total)", 1),
        ("loss = f(x)\ndef g():\n    loss = 1\nloss.backward()", 1),
        ("def g(loss):\n    loss.backward()", 2),
        ("f(x).mean().backward()", 1),
        ("a, loss = f(x)\nloss += a\nloss.backward()", 1),
        ("out = f(x)\nout.loss.backward()", 1),
        ("x = (", 1),
    ],
)
def test_lines_of_losses_in_other_programs(tmp_path: Path, code: str, expected: int) -> None:
    from trainscope._loss_line import line_of_loss

    file = tmp_path / "program.py"
    file.write_text(code)
    at = next((number for number, line in enumerate(code.splitlines(), 1) if "backward" in line), 1)
    assert line_of_loss(str(file), at) == expected


# Other libraries call `backward` in their own ways.


def test_lightning_shows_its_loss_and_its_loader(record: Any, tmp_path: Path) -> None:
    pytorch_lightning = pytest.importorskip("pytorch_lightning")
    from trainscope.lightning import TrainscopeCallback

    class Module(pytorch_lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = classifier(nn.Softmax(dim=1))
            self.unused = nn.Linear(2, 2)

        def training_step(self, batch: Any, _number: int) -> torch.Tensor:
            return functional.cross_entropy(self.net(batch[0]), batch[1])

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.Adam(self.parameters(), 1e-3)

    def train(_run: trainscope.Run) -> None:
        options = {name: False for name in ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")}
        trainer = pytorch_lightning.Trainer(
            max_epochs=2, accelerator="cpu", callbacks=[TrainscopeCallback(tmp_path / "lightning")], **options
        )
        trainer.fit(Module(), DataLoader(TensorDataset(torch.randn(32, 6), torch.randint(0, 5, (32,))), 8))

    facts = record(train)
    assert facts["loss_function", "cross_entropy"].texts["before"] == "softmax"
    assert facts["reached", ""].texts["not_reached"] == "unused.weight, unused.bias"
    assert facts["optimizer_parameters", "Adam"].numbers["missing"] == 0
    assert facts["optimizer_settings", "Adam 0"].numbers["lr"] == 1e-3
    assert facts["data_loader", "TensorDataset"].numbers["passes"] == 8
    assert ("gradients_kept", "") not in facts or facts["gradients_kept", ""].numbers["kept"] == 0


def test_the_trainer_shows_labels_that_are_shifted_by_the_model(record: Any, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    from trainscope.huggingface import TrainscopeCallback

    class Rows(torch.utils.data.Dataset):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 32

        def __getitem__(self, row: int) -> dict[str, torch.Tensor]:
            words = torch.randint(0, 32, (8,), generator=torch.Generator().manual_seed(row))
            return {"input_ids": words, "labels": words}

    def train(_run: trainscope.Run) -> None:
        config = transformers.GPT2Config(vocab_size=32, n_positions=8, n_embd=16, n_layer=1, n_head=2)
        arguments = transformers.TrainingArguments(
            str(tmp_path / "out"), max_steps=6, per_device_train_batch_size=4, gradient_accumulation_steps=2, use_cpu=True,
            report_to=[], save_strategy="no", disable_tqdm=True,
        )
        transformers.Trainer(
            transformers.GPT2LMHeadModel(config), arguments, train_dataset=Rows(),
            callbacks=[TrainscopeCallback(tmp_path / "trainer", every=1)],
        ).train()

    facts = record(train)
    assert facts["loss_function", "cross_entropy"].texts["before"] == "linear"
    targets = facts["targets", "cross_entropy"].numbers
    assert targets["equal_1"] > 0.99 and targets["equal_0"] < 0.5
    kept = facts["gradients_kept", ""].numbers
    assert kept["passes"] == 12 and kept["kept"] == kept["cleared_between"] == 0
    assert facts["clipping", "clip_grad_norm_"].numbers["calls"] == 6
    assert all(fact.numbers["without_gradient"] == 0 for (kind, _), fact in facts.items() if kind == "reached")


def test_accelerate_shows_its_loss(record: Any) -> None:
    accelerate = pytest.importorskip("accelerate")

    def train(run: trainscope.Run) -> None:
        accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
        model = classifier(nn.Sigmoid())
        loader = DataLoader(TensorDataset(torch.randn(64, 6), torch.rand(64, 5).round()), 4, shuffle=True)
        model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), 1e-3), loader)
        run.watch(model, optimizer)
        for x, y in loader:
            with accelerator.accumulate(model):
                loss = nn.BCEWithLogitsLoss()(model(x), y)
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()

    facts = record(train)
    fact = facts["loss_function", "binary_cross_entropy_with_logits"]
    assert fact.texts["before"] == "sigmoid"
    assert "loss = nn.BCEWithLogitsLoss()" in fact.source.excerpt.splitlines()[fact.source.line - fact.source.first_line]
    kept = facts["gradients_kept", ""].numbers
    assert (kept["passes"], kept["kept"], kept["cleared_between"]) == (16, 0, 0)
    assert facts["clipping", "clip_grad_norm_"].numbers["clipped"] <= facts["clipping", "clip_grad_norm_"].numbers["calls"]


def test_unusual_models_and_optimizers_are_read(record: Any) -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lazy = nn.LazyLinear(4)
            self.sparse = nn.Embedding(10, 4, sparse=True)
            self.complex = nn.Parameter(torch.randn(4, dtype=torch.complex64))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            hidden = self.lazy(x) + self.sparse(torch.randint(0, 10, (16,)))
            result: torch.Tensor = (hidden * self.complex).abs()
            return result

    def train(run: trainscope.Run) -> None:
        model = Odd()
        dense = None
        run.watch(model)
        for _ in range(STEPS):
            outputs = model(torch.randn(16, 6))
            if dense is None:
                sparse = torch.optim.SparseAdam([model.sparse.weight], 1e-2)
                dense = torch.optim.Adam([model.lazy.weight, model.lazy.bias, model.complex], 1e-2)
            dense.zero_grad()
            sparse.zero_grad()
            torch.autograd.backward([outputs.mean(), outputs.square().mean()])
            dense.step()
            sparse.step()
        torch.func.grad(lambda w: torch.func.functional_call(model, {"complex": w}, torch.randn(16, 6)).sum())(model.complex.detach())

    facts = record(train)
    assert facts["reached", ""].numbers["trainable"] == facts["reached", ""].numbers["reached"] == 4
    assert facts["optimizer_parameters", "Adam"].numbers["missing"] == 0
    assert facts["embedding", "sparse"].numbers["rows_with_gradient"] == 10


def test_a_compiled_model_has_no_graph_break_that_was_not_there(record: Any) -> None:
    import torch._dynamo

    def breaks(run: trainscope.Run | None) -> int:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        model = classifier(nn.Softmax(dim=1))
        compiled = torch.compile(model, backend="eager")
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        if run is not None:
            run.watch(model, optimizer)
        for _ in range(4):
            optimizer.zero_grad()
            functional.cross_entropy(compiled(torch.randn(16, 6)), labels()).backward()
            optimizer.step()
        return sum(torch._dynamo.utils.counters["graph_break"].values())

    seen: list[int] = []
    facts = record(lambda run: seen.append(breaks(run)))
    assert seen == [breaks(None)]
    assert facts["reached", ""].numbers["without_gradient"] == 0


# Nothing is changed, kept or left behind.


def test_functions_of_pytorch_are_as_before_after_the_last_watch(tmp_path: Path) -> None:
    def functions() -> list[Any]:
        return [
            torch.autograd.backward, torch.Tensor.backward, torch.manual_seed, torch.random.manual_seed, DataLoader.__iter__,
            nn.Module.load_state_dict, torch.amp.GradScaler.scale, torch.amp.GradScaler.step,
            torch.nn.utils.clip_grad._clip_grads_with_norm_,
        ]  # fmt: skip

    before = functions()
    signature = inspect.signature(torch.autograd.backward)
    with trainscope.Run(tmp_path / "a") as one, trainscope.Run(tmp_path / "b") as two:
        first, second = one.watch(classifier()), two.watch(classifier())
        models = [classifier(), classifier()]
        first, second = one.watch(models[0]), two.watch(models[1])
        assert first is not None and second is not None
        assert torch.autograd.backward is not before[0] and inspect.signature(torch.autograd.backward) == signature
        first.close()
        assert torch.autograd.backward is not before[0]
        second.close()
        assert functions() == before


def test_others_may_replace_the_same_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = torch.autograd.backward
    calls = []
    with trainscope.Run(tmp_path / "run") as run:
        model = one_output()
        watch = run.watch(model)
        assert watch is not None
        ours = torch.autograd.backward

        def theirs(*args: Any, **kwargs: Any) -> None:
            calls.append(1)
            ours(*args, **kwargs)

        monkeypatch.setattr(torch.autograd, "backward", theirs)
        watch.close()
        assert torch.autograd.backward is theirs
        model(torch.randn(2, 6)).sum().backward()
        again = run.watch(model)
        assert again is not None
        model(torch.randn(2, 6)).sum().backward()
        assert again._program._passes == 1 and len(calls) == 2
        again.close()
        assert torch.autograd.backward is theirs
    torch.autograd.backward = original


def test_a_graph_is_not_kept(tmp_path: Path) -> None:
    import weakref

    with trainscope.start(tmp_path / "run", every=1) as run:
        model = one_output()
        run.watch(model, torch.optim.SGD(model.parameters(), 0.1))
        x = torch.randn(4, 6)
        hidden = model(x)
        loss = functional.mse_loss(hidden, torch.randn(4, 1))
        loss.backward()
        kept = [weakref.ref(x), weakref.ref(hidden), weakref.ref(loss)]
        del x, hidden, loss
        gc.collect()
        assert [one() for one in kept] == [None] * 3


PROGRAM = """
import sys, torch, trainscope
from torch import nn
from torch.nn import functional as F
torch.set_num_threads(1)
torch.manual_seed(3)
model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 5), nn.Softmax(1))
optimizer = torch.optim.AdamW(model.parameters(), 0.01)
if sys.argv[1] != "without":
    run = trainscope.start(sys.argv[2], every=2)
    run.watch(model, optimizer)
losses = []
for step in range(20):
    x, y = torch.randn(16, 6), torch.randint(0, 5, (16,))
    loss = F.cross_entropy(model(x), y) + F.mse_loss(model(x)[:, :1], y.float())
    (gradient,) = torch.autograd.grad(loss, model[0].weight, create_graph=True)
    loss = loss + gradient.square().sum()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())
parts = [one.detach().double().sum().item() for one in [*model.parameters(), *model.buffers()]]
print([value.hex() for value in losses + parts], torch.get_rng_state().sum().item())
"""


def test_results_are_the_same_to_the_bit(tmp_path: Path) -> None:
    def output(*arguments: str) -> str:
        command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(PROGRAM), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]

    assert output("without") == output("with", str(tmp_path / "run"))


def test_the_time_of_lines_is_recorded_for_the_slowest_ones(record: Any) -> None:
    def slow(outputs: torch.Tensor) -> torch.Tensor:
        return (outputs @ outputs.new_ones(1, 250_000)).square().mean()

    facts = record(lambda run: fit(run, one_output(), slow))
    lines = [fact for (kind, _), fact in facts.items() if kind == "time_by_line"]
    slowest = max(lines, key=lambda fact: fact.numbers["seconds"])
    assert slowest.source.line == slow.__code__.co_firstlineno + 1
    numbers = slowest.numbers
    assert numbers["calls"] == 4 * numbers["steps"] and numbers["waits"] == 0 and numbers["seconds"] > 0


def test_functions_that_wait_for_a_device_are_known() -> None:
    class OnDevice:
        is_cpu = is_meta = False

    waits = _torch_lines.waits
    assert waits(torch.Tensor.item, OnDevice()) and waits(torch.Tensor.__bool__, OnDevice())
    assert not waits(torch.Tensor.relu, OnDevice()) and not waits(torch.Tensor.item, torch.ones(()))


def test_a_million_passes_would_keep_no_more_than_ten(tmp_path: Path) -> None:
    with trainscope.start(tmp_path / "run", every=1) as run:
        watch = run.watch(model := one_output(), optimizer := torch.optim.SGD(model.parameters(), 0.1))
        assert watch is not None

        def steps(count: int) -> int:
            for _ in range(count):
                optimizer.zero_grad()
                functional.mse_loss(model(torch.randn(4, 6)), torch.randn(4, 1)).backward()
                optimizer.step()
            gc.collect()
            program = watch._program
            # The environment is there once git has answered.
            facts = [key for key in program._facts._facts if key[0] != "environment"]
            kept = [program._losses, program._inputs, program._loaders, facts, program._optimizers._marks]
            return sum(len(one) for one in kept)

        assert steps(10) == steps(300)
