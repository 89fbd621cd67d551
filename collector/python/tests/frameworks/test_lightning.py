"""Lightning: order of calls, steps, accumulation, metrics, failures, and the place of a NaN."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning
import torch
from pytorch_lightning.plugins.precision import MixedPrecision
from recorded import first_cause, nothing_lost, record_calls, scalars, steps  # noqa: F401
from torch.utils.data import DataLoader, TensorDataset

import trainscope
from trainscope import Run, TrainscopeWarning
from trainscope.lightning import TrainscopeCallback, TrainscopeLogger
from trainscope.torch import Watch

CALLS = {
    Run: ["_begin_step", "_is_stopped_at", "scalar", "finish"],
    Watch: ["begin", "before_update", "after_update", "close"],
}


class Spoil(torch.nn.Module):
    """Gives NaN at one of its calls."""

    def __init__(self, call: int) -> None:
        super().__init__()
        self.call, self.calls = call, 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * torch.nan if self.calls == self.call + 1 else x


class Module(pytorch_lightning.LightningModule):
    def __init__(self, width: int = 8, spoil_at: int = -1, fail_at: int = -1) -> None:
        super().__init__()
        self.save_hyperparameters("width")
        self.first = torch.nn.Linear(4, width)
        self.spoiled = Spoil(spoil_at)
        self.second = torch.nn.Linear(width, 1)
        self.fail_at = fail_at
        self.losses: list[float] = []

    def _loss(self, batch: Any) -> torch.Tensor:
        x, y = batch
        return torch.nn.functional.mse_loss(self.second(self.spoiled(torch.relu(self.first(x)))), y)

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        if batch_idx == self.fail_at:
            raise RuntimeError("no more data")
        loss = self._loss(batch)
        self.losses.append(loss.item())
        self.log("loss", loss)
        return loss

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.log("val_loss", self._loss(batch))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def data(batches: int) -> DataLoader[Any]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(4 * batches, 4, generator=generator)
    return DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4)


def fit(module: Module, batches: int, validate: bool = False, **trainer: Any) -> pytorch_lightning.Trainer:
    options = {
        "max_epochs": 1,
        "accelerator": "cpu",
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    made = pytorch_lightning.Trainer(**(options | trainer))
    made.fit(module, data(batches), data(1) if validate else None)
    return made


def test_hooks_come_in_the_order_of_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = record_calls(monkeypatch, CALLS)
    fit(Module(), 2, callbacks=[TrainscopeCallback(tmp_path / "run")])
    of_step = [
        "begin_step {0}",
        "begin {0}",
        "scalar learning_rate {0}",
        "scalar grad_norm {0}",
        "before_update {0}",
        "is_stopped_at before_update",
        "after_update {0}",
        "scalar train/step_loss {0}",
        "is_stopped_at after_step",
    ]
    expected = [call.format(step) for step in range(2) for call in of_step]
    assert calls == [*expected, "close", "finish success"]


def test_batches_of_one_update_share_a_step_and_a_loss(tmp_path: Path) -> None:
    module = Module()
    fit(module, 5, accumulate_grad_batches=2, max_epochs=2, callbacks=[TrainscopeCallback(tmp_path / "run")])
    points = scalars(tmp_path / "run")["train/step_loss"]
    # The last batch of an epoch is an update of its own.
    assert [step for step, _ in points] == [0, 1, 2, 3, 4, 5]
    losses = module.losses
    # Lightning divides by 2 there too.
    expected = [sum(losses[0:2]), sum(losses[2:4]), losses[4], sum(losses[5:7]), sum(losses[7:9]), losses[9]]
    assert [value for _, value in points] == pytest.approx([loss / 2 for loss in expected], rel=1e-6)


def test_a_nan_is_found_at_its_step_and_layer(tmp_path: Path) -> None:
    fit(Module(spoil_at=3), 6, callbacks=[TrainscopeCallback(tmp_path / "run", every=1)])
    cause = first_cause(tmp_path / "run")
    assert (cause["step"], cause["condition"], cause["tensor"]) == (3, "operation_not_finite", "mul")


def test_logged_metrics_are_recorded_each_step_and_those_of_validations_at_the_last(tmp_path: Path) -> None:
    fit(Module(), 3, validate=True, max_epochs=2, callbacks=[TrainscopeCallback(tmp_path / "run")])
    assert steps(tmp_path / "run", "loss") == [0, 1, 2, 3, 4, 5]
    assert steps(tmp_path / "run", "val_loss") == [2, 5]


def test_a_logger_and_a_callback_record_into_one_run_without_repeating(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    trainer = fit(
        Module(width=6),
        4,
        validate=True,
        logger=TrainscopeLogger(str(folder)),
        callbacks=[TrainscopeCallback()],
        log_every_n_steps=2,
        enable_checkpointing=True,
    )
    recorded = scalars(folder)
    assert [step for step, _ in recorded["loss"]] == [1, 3]
    assert [step for step, _ in recorded["val_loss"]] == [3]
    assert [step for step, _ in recorded["train/step_loss"]] == [0, 1, 2, 3]
    assert recorded["loss"][0][1] == pytest.approx(recorded["train/step_loss"][1][1])
    assert trainer.log_dir == str(folder)
    assert list((folder / "checkpoints").iterdir())


def test_the_logger_records_hyperparameters_and_how_the_training_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = record_calls(monkeypatch, {Run: ["hparams", "finish"]})
    seen: list[Any] = []
    original = Run.hparams
    monkeypatch.setattr(Run, "hparams", lambda run, values: (seen.append(dict(values)), original(run, values)))
    fit(Module(width=6), 1, logger=TrainscopeLogger(str(tmp_path / "good")))
    with pytest.raises(RuntimeError, match="no more data"):
        fit(Module(fail_at=0), 1, logger=TrainscopeLogger(str(tmp_path / "bad")))
    assert calls == ["hparams", "finish success", "hparams", "finish failure"]
    assert seen == [{"width": 6}, {"width": 8}]


def test_an_exception_ends_the_run_as_failed_and_removes_the_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = record_calls(monkeypatch, {Run: ["note", "finish"]})
    module = Module(fail_at=2)
    with pytest.raises(RuntimeError, match="no more data"):
        fit(module, 4, callbacks=[TrainscopeCallback(tmp_path / "run", every=1)])
    note, finish = calls
    assert note.startswith("note The training ended with RuntimeError: no more data")
    assert finish == "finish failure"
    assert steps(tmp_path / "run", "train/step_loss") == [0, 1]
    assert not any(child._forward_hooks for child in module.modules())


def test_without_a_folder_the_run_started_last_is_used_and_left_open(tmp_path: Path) -> None:
    with trainscope.start(tmp_path / "run") as run:
        fit(Module(), 2, callbacks=[TrainscopeCallback()])
        run.scalar("later", 1.0, 9)
    recorded = scalars(tmp_path / "run")
    assert [step for step, _ in recorded["train/step_loss"]] == [0, 1]
    assert recorded["later"] == [(9, 1.0)]


def test_without_any_run_the_training_goes_on_with_a_warning() -> None:
    module = Module()
    with pytest.warns(TrainscopeWarning, match="has no run"):
        fit(module, 2, callbacks=[TrainscopeCallback()])
    assert len(module.losses) == 2


def test_the_training_is_the_same_to_the_bit(tmp_path: Path) -> None:
    def train(callbacks: list[Any]) -> list[torch.Tensor]:
        torch.manual_seed(0)
        module = Module()
        fit(module, 8, callbacks=callbacks, gradient_clip_val=0.1)
        return [parameter.detach() for parameter in module.parameters()]

    plain = train([])
    watched = train([TrainscopeCallback(tmp_path / "run", every=1, activation_gradients=True)])
    assert all(torch.equal(a, b) for a, b in zip(plain, watched, strict=True))


def test_the_module_is_not_kept_alive(tmp_path: Path) -> None:
    module = Module()
    callback = TrainscopeCallback(tmp_path / "run")
    fit(module, 2, callbacks=[callback])
    gc.collect()
    holders = [holder for holder in gc.get_referrers(module) if holder is vars(callback) or isinstance(holder, Watch)]
    assert holders == []


class Adversarial(pytorch_lightning.LightningModule):
    """Two models, two optimizers, updated by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.generator = torch.nn.Linear(4, 4)
        self.critic = torch.nn.Linear(4, 1)

    def training_step(self, batch: Any, batch_idx: int) -> None:
        for optimizer in self.optimizers():
            optimizer.zero_grad()
            self.manual_backward(self.critic(self.generator(batch[0])).mean())
            optimizer.step()

    def configure_optimizers(self) -> list[torch.optim.Optimizer]:
        return [torch.optim.SGD(part.parameters(), lr=0.1) for part in (self.generator, self.critic)]


def test_each_of_two_optimizers_has_its_tensors_read_at_its_own_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = record_calls(monkeypatch, CALLS)
    read: list[list[str]] = []
    original = Run._record_tensors

    def record(run: Run, items: Any, *rest: Any) -> int:
        read.append([name for name, role, _ in items if role == "gradient"])
        return original(run, items, *rest)

    monkeypatch.setattr(Run, "_record_tensors", record)
    fit(Adversarial(), 2, callbacks=[TrainscopeCallback(tmp_path / "run", every=1, activations=False)])
    # The number of updates, so it goes up by 2 for each batch.
    of_step = ["begin_step {0}", "begin {0}"]
    for prefix in ("", "SGD/"):
        of_step += [f"scalar {prefix}learning_rate {{0}}", f"scalar {prefix}grad_norm {{0}}"]
        of_step += ["before_update {0}", "is_stopped_at before_update"]
    expected = [call.format(step) for step in (0, 2) for call in [*of_step, "after_update {0}", "is_stopped_at after_step"]]
    assert calls == [*expected, "close", "finish success"]
    generator, critic = ["generator.weight.grad", "generator.bias.grad"], ["critic.weight.grad", "critic.bias.grad"]
    assert [names for names in read if names] == [generator, critic] * 2


def test_gradients_that_a_fused_optimizer_unscales_are_recorded_without_the_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scales: list[float] = []
    original = Watch.before_update

    def record(watch: Watch, step: int, scale: float = 1.0, optimizer: Any = None) -> None:
        scales.append(scale)
        original(watch, step, scale=scale, optimizer=optimizer)

    monkeypatch.setattr(Watch, "before_update", record)

    class Fused(Module):
        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=0.1, fused=True)

    for module in (Fused(), Module()):
        plugin = MixedPrecision("16-mixed", "cpu", scaler=torch.amp.GradScaler("cpu", init_scale=256.0))
        fit(module, 1, plugins=[plugin], callbacks=[TrainscopeCallback(tmp_path / type(module).__name__)])
    assert scales == [1 / 256, 1.0]


def test_rates_and_norms_before_clipping_are_recorded_once(tmp_path: Path) -> None:
    norms: list[float] = []

    class Clipped(Module):
        def on_before_optimizer_step(self, optimizer: Any) -> None:
            norms.append(sum(each.grad.square().sum().item() for each in self.parameters() if each.grad is not None) ** 0.5)

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.SGD(self.parameters(), lr=0.5)
            schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    fit(Clipped(), 4, gradient_clip_val=1e-3, callbacks=[TrainscopeCallback(tmp_path / "run", every=1)])
    found = scalars(tmp_path / "run")
    assert found["learning_rate"] == [(0, 0.5), (1, 0.5), (2, 0.25), (3, 0.25)]
    assert [value for _, value in found["grad_norm"]] == pytest.approx(norms, rel=1e-5)
    # With a monitor and a logger there is one curve of the rate.
    callbacks = [TrainscopeCallback(every=1), pytorch_lightning.callbacks.LearningRateMonitor()]
    fit(Clipped(), 4, logger=TrainscopeLogger(str(tmp_path / "logged")), callbacks=callbacks, log_every_n_steps=1)
    found = scalars(tmp_path / "logged")
    assert [value for _, value in found["lr-SGD"]] == [0.5, 0.5, 0.25, 0.25]
    assert "learning_rate" not in found and "grad_norm" in found


def test_each_rank_records_into_a_folder_of_its_own(tmp_path: Path) -> None:
    callback = TrainscopeCallback(tmp_path / "run", every=1)
    fit(Module(), 4, strategy="ddp_fork", devices=2, callbacks=[callback])
    for rank in range(2):
        assert steps(tmp_path / "run" / f"rank_{rank}", "train/step_loss") == [0, 1]


def test_a_hit_ends_the_training_before_the_update_as_lightning_ends_one(tmp_path: Path) -> None:
    module = Module(spoil_at=2)
    with trainscope.start(tmp_path / "run", every=1, at_hit="stop"):
        fit(module, 6, callbacks=[TrainscopeCallback()])
    assert len(module.losses) == 3
    assert all(torch.isfinite(parameter).all() for parameter in module.parameters())
