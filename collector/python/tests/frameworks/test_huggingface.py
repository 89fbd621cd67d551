"""Hugging Face's Trainer: order of calls, steps, the loss that it hides, failures, and the place of a NaN."""

from __future__ import annotations

import copy
import gc
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from recorded import PACKAGES, first_cause, nothing_lost, record_calls, scalars  # noqa: F401
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

import trainscope
from trainscope import Run
from trainscope.huggingface import TrainscopeCallback
from trainscope.torch import Watch

CALLS = {
    Run: ["_begin_step", "_is_stopped_at", "scalar", "finish"],
    Watch: ["begin", "before_update", "after_update", "close"],
}


class Sentences(Dataset[dict[str, torch.Tensor]]):
    """Rows of random words."""

    def __init__(self, rows: int) -> None:
        generator = torch.Generator().manual_seed(0)
        self.words = torch.randint(0, 32, (rows, 6), generator=generator)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, row: int) -> dict[str, torch.Tensor]:
        return {"input_ids": self.words[row], "labels": self.words[row].sum() % 2}


def make_model() -> BertForSequenceClassification:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=32,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=8,
        initializer_range=0.3,
    )
    return BertForSequenceClassification(config)


def train(folder: Path, updates: int, callbacks: list[Any], model: Any = None, **options: Any) -> Trainer:
    batches = updates * options.get("gradient_accumulation_steps", 1)
    common: dict[str, Any] = {
        "output_dir": str(folder / "out"),
        "max_steps": updates,
        "per_device_train_batch_size": 2,
        "logging_steps": 1,
        "report_to": [],
        "save_strategy": "no",
        "use_cpu": True,
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
        "lr_scheduler_type": "constant",
    }
    arguments = TrainingArguments(**(common | options))
    rows = Sentences(2 * batches)
    trainer = Trainer(model or make_model(), arguments, train_dataset=rows, eval_dataset=rows, callbacks=callbacks)
    trainer.train()
    return trainer


def spoil(module: torch.nn.Module, call: int) -> None:
    """Makes one call of a module give NaN."""
    calls = 0

    def hook(_module: Any, _args: Any, output: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        return output * math.nan if calls == call + 1 else output

    module.register_forward_hook(hook)


def test_hooks_come_in_the_order_of_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = record_calls(monkeypatch, CALLS)
    train(tmp_path, 2, [TrainscopeCallback(tmp_path / "run")])
    of_step = [
        "begin_step {0}",
        "begin {0}",
        "scalar train/step_loss {0}",
        "before_update {0}",
        "is_stopped_at before_update",
        "after_update {0}",
        "is_stopped_at after_step",
    ]
    expected = [call.format(step) for step in range(2) for call in of_step]
    assert calls == [*expected, "close", "finish success"]


def test_the_loss_of_every_step_is_recorded_although_the_trainer_hides_nan(tmp_path: Path) -> None:
    model = make_model()
    spoil(model.bert.encoder.layer[1].output.dense, 3)
    trainer = train(tmp_path, 6, [TrainscopeCallback(tmp_path / "run", every=1)], model)
    logged = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert not any(math.isnan(loss) for loss in logged)
    recorded = scalars(tmp_path / "run")
    assert [step for step, loss in recorded["train/step_loss"] if math.isnan(loss)] == [3, 4, 5]
    assert [step for step, _ in recorded["train/loss"]] == [0, 1, 2, 3, 4, 5]
    assert [step for step, norm in recorded["train/grad_norm"] if math.isnan(norm)] == [3, 4, 5]


def test_a_nan_is_found_at_its_step_and_layer(tmp_path: Path) -> None:
    model = make_model()
    spoil(model.bert.encoder.layer[1].output.dense, 3)
    train(tmp_path, 6, [TrainscopeCallback(tmp_path / "run", every=1)], model)
    cause = first_cause(tmp_path / "run")
    assert (cause["step"], cause["condition"], cause["tensor"]) == (3, "operation_not_finite", "mul")


def test_a_loss_of_nan_alone_leads_to_its_operation(tmp_path: Path) -> None:
    model = make_model()
    spoil(model.bert.encoder.layer[1].output.dense, 3)
    callback = TrainscopeCallback(tmp_path / "run", weights=False, gradients=False, activations=False, graph=False)
    train(tmp_path, 6, [callback], model)
    cause = first_cause(tmp_path / "run")
    assert (cause["step"], cause["condition"], cause["tensor"]) == (3, "operation_not_finite", "mul")


def test_batches_of_one_update_share_a_step_and_a_loss(tmp_path: Path) -> None:
    train(tmp_path, 4, [TrainscopeCallback(tmp_path / "run")], gradient_accumulation_steps=3)
    recorded = scalars(tmp_path / "run")
    assert [step for step, _ in recorded["train/step_loss"]] == [0, 1, 2, 3]
    # With logging_steps=1 and nothing to hide, the Trainer logs the same.
    of_steps, logged = ([loss for _, loss in recorded[tag]] for tag in ("train/step_loss", "train/loss"))
    assert of_steps == pytest.approx(logged, rel=1e-4)


def test_evaluations_are_recorded_at_the_last_step_under_their_own_names(tmp_path: Path) -> None:
    train(tmp_path, 4, [TrainscopeCallback(tmp_path / "run")], eval_strategy="steps", eval_steps=2)
    recorded = scalars(tmp_path / "run")
    assert [step for step, _ in recorded["eval/loss"]] == [1, 3]
    assert [step for step, _ in recorded["train/step_loss"]] == [0, 1, 2, 3]


def test_a_training_resumed_from_a_checkpoint_goes_on_counting(tmp_path: Path) -> None:
    train(tmp_path, 3, [], save_strategy="steps", save_steps=2, save_total_limit=3)
    arguments = {"save_strategy": "no"}
    trainer = train(tmp_path, 2, [TrainscopeCallback(tmp_path / "run")], **arguments)
    trainer.args.max_steps = 5
    trainer.train(resume_from_checkpoint=str(tmp_path / "out" / "checkpoint-2"))
    assert [step for step, _ in scalars(tmp_path / "run")["train/step_loss"]][-3:] == [2, 3, 4]


def test_a_loss_that_is_not_the_models_own_is_noted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = record_calls(monkeypatch, {Run: ["note"]})
    train(tmp_path, 3, [TrainscopeCallback(tmp_path / "run")], label_smoothing_factor=0.1)
    assert len([call for call in calls if "train/step_loss is not recorded" in call]) == 1
    assert "train/step_loss" not in scalars(tmp_path / "run")


def test_arguments_are_hyperparameters_and_clipping_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    original = Run.hparams
    monkeypatch.setattr(Run, "hparams", lambda run, values: (seen.update(values), original(run, values)))
    calls = record_calls(monkeypatch, {Run: ["note"]})
    train(tmp_path, 1, [TrainscopeCallback(tmp_path / "run")])
    assert (seen["max_steps"], seen["lr_scheduler_type"]) == (1, "constant")
    assert "train/grad_norm" in calls[0]


def test_without_a_folder_the_run_started_last_is_used_and_left_open(tmp_path: Path) -> None:
    with trainscope.start(tmp_path / "run"):
        trainer = train(tmp_path, 2, [TrainscopeCallback()])
        trainer.evaluate()
    recorded = scalars(tmp_path / "run")
    assert [step for step, _ in recorded["train/step_loss"]] == [0, 1]
    assert [step for step, _ in recorded["eval/loss"]] == [1]


def test_the_callback_is_known_by_its_name_and_begins_a_run_beside_the_checkpoints(tmp_path: Path) -> None:
    trainer = train(tmp_path, 2, [], report_to="trainscope")
    trainer.evaluate()
    run = trainscope.current()
    assert run is not None and run.folder == tmp_path / "out" / "trainscope" and run.report().is_closed
    recorded = scalars(run.folder)
    assert [step for step, _ in recorded["train/step_loss"]] == [0, 1]
    # The Trainer logs both of these: there is one curve of each.
    assert {tag for tag in recorded if "learning_rate" in tag or "grad_norm" in tag} == {
        "train/learning_rate", "train/grad_norm",
    }


def test_the_callback_by_its_name_uses_a_run_that_is_open(tmp_path: Path) -> None:
    with trainscope.start(tmp_path / "run") as run:
        train(tmp_path, 2, [], report_to=["trainscope"])
        assert not run.report().is_closed
    assert [step for step, _ in scalars(tmp_path / "run")["train/step_loss"]] == [0, 1]
    assert not (tmp_path / "out" / "trainscope").exists()


class Failure(TrainerCallback):
    """Ends the training by an exception."""

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step == 2:
            raise RuntimeError("no more data")


def test_a_training_that_an_exception_ended_is_a_failed_run_when_the_next_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = record_calls(monkeypatch, {Run: ["finish"]})
    callback = TrainscopeCallback(tmp_path / "run")
    with pytest.raises(RuntimeError, match="no more data"):
        train(tmp_path, 4, [callback, Failure()])
    assert calls == []
    train(tmp_path, 1, [callback])
    assert calls == ["finish failure", "finish success"]


def test_a_training_that_an_exception_ended_is_a_failed_run_at_the_end_of_the_program(tmp_path: Path) -> None:
    program = f"""
from pathlib import Path
from test_huggingface import Failure, Run, TrainscopeCallback, train
finish = Run.finish
def report(run, status="success"):
    print("finish", status)
    return finish(run, status)
Run.finish = report
try:
    train(Path({str(tmp_path)!r}), 4, [TrainscopeCallback({str(tmp_path / "run")!r}), Failure()])
except RuntimeError as error:
    print(error)
"""
    paths = [PACKAGES, Path(__file__).parent, Path(__file__).parents[1]]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith(("finish", "no more"))]
    assert lines[:2] == ["no more data", "finish failure"]


def test_the_training_is_the_same_to_the_bit(tmp_path: Path) -> None:
    plain = train(tmp_path, 6, []).model
    watched = train(tmp_path, 6, [TrainscopeCallback(tmp_path / "run", every=1, activation_gradients=True)]).model
    assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), watched.parameters(), strict=True))


def test_hooks_are_gone_after_the_training_and_copies_of_the_model_have_none(tmp_path: Path) -> None:
    copies: list[Any] = []

    class Copy(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, *, model: Any, **kwargs: Any) -> None:
            copies.append((copy.deepcopy(model), pickle.loads(pickle.dumps(model))))

    model = make_model()
    train(tmp_path, 2, [TrainscopeCallback(tmp_path / "run", every=1), Copy()], model)
    assert not any(module._forward_hooks for module in model.modules())
    points = scalars(tmp_path / "run")["train/step_loss"]
    for duplicate in copies[0]:
        duplicate.train()(input_ids=torch.zeros(1, 6, dtype=torch.long), labels=torch.zeros(1, dtype=torch.long))
    assert scalars(tmp_path / "run")["train/step_loss"] == points
    gc.collect()


@pytest.mark.parametrize("place", ["before_update", "after_step"])
def test_a_gate_ends_the_training_as_the_trainer_ends_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(Run, "_gate", lambda _run, at, step, *_functions: 2 if (at, step) == (place, 1) else 0)
    trainer = train(tmp_path, 5, [TrainscopeCallback(tmp_path / "run")])
    assert trainer.state.global_step == 2


def test_a_stop_before_the_update_changes_no_weight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "_gate", lambda _run, at, step, *_functions: 2 if at == "before_update" else 0)
    model = make_model()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    train(tmp_path, 5, [TrainscopeCallback(tmp_path / "run")], model=model)
    assert all(torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))
