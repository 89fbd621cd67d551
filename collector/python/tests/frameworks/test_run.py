"""`trainscope run`: ordinary programs, without a change of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from reading import PROGRAM, export, statistics
from recorded import PACKAGES, scalars, steps

# A training of the usual form; what it computes goes to standard output and into a file.
TRAINING = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 16)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        return self.out(self.drop(torch.relu(self.hidden(x))))

def main():
    torch.manual_seed(1)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss()
    data = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
    loader = DataLoader(data, 8, shuffle=True, num_workers=WORKERS)
    for epoch in range(2):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print(epoch, criterion(model(data.tensors[0]), data.tensors[1]).item())
    torch.save([[p for p in model.parameters()], torch.get_rng_state()], sys.argv[1])
    END

if __name__ == "__main__":
    main()
"""


def script(folder: Path, text: str, **parts: str) -> Path:
    """Writes a program; names in capitals in it are replaced by `parts`."""
    for name, part in parts.items():
        text = text.replace(name, part)
    path = folder / "train.py"
    path.write_text(textwrap.dedent(text))
    return path


def environment() -> dict[str, str]:
    """Environment in which the tested package can be imported, and nothing is recorded yet."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("TRAINSCOPE_")}
    return own | {"PYTHONPATH": str(PACKAGES), "OMP_NUM_THREADS": "1", "TRAINSCOPE_PROGRAM": PROGRAM, "LC_ALL": "C.UTF-8"}


def call(command: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder."""
    return subprocess.run(
        command, cwd=folder, env=environment() | more, capture_output=True, text=True, timeout=300, check=False
    )


def recorded(folder: Path, *program: str, flags: tuple[str, ...] = (), **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a Python program by `trainscope run`."""
    return call([PROGRAM, "run", "--out", "run", *flags, "--", sys.executable, *program], folder, **more)


def same(plain: subprocess.CompletedProcess[str], done: subprocess.CompletedProcess[str]) -> str:
    """Checks that a program did the same with and without us. Returns what was added to standard error."""
    assert done.returncode == plain.returncode, done.stderr
    assert done.stdout == plain.stdout
    assert done.stderr.startswith(plain.stderr), done.stderr
    return done.stderr[len(plain.stderr) :]


def event_files(folder: Path) -> list[Path]:
    """Event files of a run, also of its ranks."""
    return sorted(folder.rglob("*tfevents*"))


def facts(folder: Path) -> bytes:
    """Bytes of all event files, for texts that are in a record."""
    return b"".join(file.read_bytes() for file in event_files(folder))


def test_a_training_is_the_same_and_recorded(tmp_path: Path) -> None:
    path = script(tmp_path, TRAINING, WORKERS="2", END="")
    plain = call([sys.executable, path.name, "plain.pt"], tmp_path)
    done = call([PROGRAM, "run", "--", sys.executable, path.name, "run.pt"], tmp_path)
    screen = same(plain, done)
    assert (tmp_path / "plain.pt").read_bytes().count(b"\0") > 0
    assert_equal_files(tmp_path)
    (folder,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"train-\d{8}-\d{6}", folder.name)
    assert steps(folder, "loss") == list(range(16))
    found = statistics(folder)
    assert sorted(found["hidden.weight"]) == sorted(found["out"]) == [0, 1, 2, 10]
    assert sorted(found["out.bias.grad"]) == [0, 1, 2, 10]
    # Workers of the loader have recorded nothing.
    assert len(event_files(folder)) == 1
    name = f"runs/{folder.name}"
    assert screen.startswith(f"\n{name}  16 steps"), screen
    assert f"Run          {name}\n" in screen
    assert screen.endswith(f"Page         trainscope start --summary-base-dir {name}\n")


def assert_equal_files(folder: Path) -> None:
    """Checks that two saved trainings have the same bits."""
    import torch

    plain, run = (torch.load(folder / name) for name in ("plain.pt", "run.pt"))
    assert torch.equal(plain[1], run[1])
    assert all(torch.equal(one, other) for one, other in zip(plain[0], run[0], strict=True))


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        ("raise ValueError('odd' + 'ness')", 1, ""),
        ("sys.exit(7)", 7, ""),
        ("import os; sys.stdout.flush(); os._exit(3)", 3, ""),
        ("import os; sys.stdout.flush(); os.kill(os.getpid(), 9)", 137, "The command was ended by signal 9 (KILL)."),
    ],
)
def test_the_end_of_a_program_is_its_own(tmp_path: Path, end: str, status: int, said: str) -> None:
    # Half a second after the last update all is in the file, however the process ends.
    path = script(tmp_path, TRAINING, WORKERS="0", END=f"import time; time.sleep(1.2); {end}")
    done = recorded(tmp_path, path.name, "run.pt")
    assert done.returncode == status, done.stderr
    assert len(done.stdout.splitlines()) == 2
    assert steps(tmp_path / "run", "loss") == list(range(16))
    assert said in done.stderr
    content = facts(tmp_path / "run")
    assert (b"failure" in content and b"oddness" in content and b"train.py" in content) == ("ValueError" in end)
    if "ValueError" in end:
        assert done.stderr.startswith(call([sys.executable, path.name, "x.pt"], tmp_path).stderr)


def test_losses_of_several_models_have_names(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import torch
        from torch import nn
        torch.manual_seed(0)
        def net(inputs, outputs):
            return nn.Sequential(nn.Linear(inputs, 8), nn.ReLU(), nn.Linear(8, outputs))
        generator, critic = net(4, 2), net(2, 1)
        for_generator = torch.optim.Adam(generator.parameters(), lr=1e-3)
        for_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
        loss = nn.BCEWithLogitsLoss()
        for step in range(6):
            fake = generator(torch.randn(16, 4))
            for_critic.zero_grad()
            loss_real = loss(critic(torch.randn(16, 2)), torch.ones(16, 1))
            loss_real.backward()
            loss(critic(fake.detach()), torch.zeros(16, 1)).backward()
            for_critic.step()
            for_generator.zero_grad()
            loss_generator = loss(critic(fake), torch.ones(16, 1))
            loss_generator.backward()
            for_generator.step()
        hooks = nn.modules.module._global_forward_pre_hooks
        print(len(hooks), loss_real.item())
        """,
    )
    done = recorded(tmp_path, path.name)
    assert done.returncode == 0, done.stderr
    hooks, last = done.stdout.split()
    assert hooks == "0"
    found = scalars(tmp_path / "run")
    losses = sorted(name for name in found if name.startswith("loss"))
    assert losses == ["loss/loss_generator", "loss/loss_real", "loss/train.py:16"]
    assert [step for step, _ in found["loss/loss_real"]] == list(range(6))
    assert found["loss/loss_real"][-1][1] == float(last)
    assert {"0.weight", "2.bias.grad", "Sequential.0.weight", "Sequential.2.bias.grad"} <= statistics(tmp_path / "run").keys()


def test_a_scaled_loss_and_its_parts_are_the_loss(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import torch
        from torch import nn
        torch.manual_seed(0)
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler("cpu")
        for step in range(4):
            means = []
            for part in range(2):
                x = torch.randn(8, 4)
                loss = ((model(x) - (torch.inf if step == 1 else 1)) ** 2).mean()
                scaler.scale(loss).backward()
                means.append(loss.item())
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            print(sum(means) / 2)
        """,
    )
    plain = call([sys.executable, path.name], tmp_path)
    done = recorded(tmp_path, path.name)
    same(plain, done)
    found = scalars(tmp_path / "run")
    assert found["loss"] == [(step, pytest.approx(float(text))) for step, text in enumerate(done.stdout.split())]
    assert [value for _, value in found["amp/skipped"]] == [0, 1, 0, 0]


def test_models_of_later_trainings_go_on_with_the_steps(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import torch
        from torch import nn
        for fold in range(3):
            model = nn.Linear(4, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            model(torch.ones(1, 4)).sum()
            for step in range(5):
                loss = model(torch.randn(8, 4)).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            del model, optimizer, loss
        """,
    )
    done = recorded(tmp_path, path.name, flags=("--every", "1"))
    assert done.returncode == 0, done.stderr
    assert steps(tmp_path / "run", "loss") == list(range(15))
    assert sorted(statistics(tmp_path / "run")["weight"]) == list(range(15))


BY_HAND = """
import copy
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(200, 6)
y = (x.sum(1, keepdim=True) > 0).float()
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
w, b = torch.zeros(6, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
PREPARE
for step in range(60):
    i = torch.randint(0, 200, (32,))
    loss = nn.functional.mse_loss(net(x[i]), y[i])
    UPDATE
print(float(loss))
"""

UPDATES = {
    "in place": ("", """net.zero_grad(); loss.backward()
    with torch.no_grad():
        for p in net.parameters(): p -= 0.1 * p.grad""", ""),
    "of the data": ("", """net.zero_grad(); loss.backward()
    for p in net.parameters(): p.data = p.data - 0.1 * p.grad""", ""),
    "tensors": ("", """loss = (x[i] @ w + b - y[i]).square().mean(); loss.backward()
    with torch.no_grad(): w -= 0.1 * w.grad; b -= 0.1 * b.grad; w.grad.zero_(); b.grad.zero_()""", ""),
    "kept gradients": ("", """loss.backward()
    with torch.no_grad():
        for p in net.parameters(): p -= 0.01 * p.grad""", "zero_grad() is missing"),
    "of copies": ("", """net.zero_grad(); loss.backward()
    with torch.no_grad():
        for p in net.parameters(): p = p - 0.1 * p.grad""", "no parameter has changed after any of"),
    "of an older model": ("o = torch.optim.SGD(net.parameters(), 0.1); net = copy.deepcopy(net)",
                          "o.zero_grad(); loss.backward(); o.step()", "it was made before the model was changed"),
}  # fmt: skip


@pytest.mark.parametrize("name", UPDATES)
def test_a_training_whose_parameters_no_optimizer_holds(tmp_path: Path, name: str) -> None:
    prepare, update, said = UPDATES[name]
    path = script(tmp_path, BY_HAND, PREPARE=prepare, UPDATE=update)
    plain = call([sys.executable, path.name], tmp_path)
    done = recorded(tmp_path, path.name)
    screen = " ".join(same(plain, done).split())
    # The first passes were made before it was known.
    assert len(steps(tmp_path / "run", "loss")) >= 38
    weight = "w" if name == "tensors" else "0.weight"
    assert {weight, f"{weight}.grad"} <= set(statistics(tmp_path / "run"))
    if said:
        assert said in screen
    else:
        assert "No problems found" in screen or "no problem" in screen.lower(), screen
        assert b"updates_by_hand" in facts(tmp_path / "run")


MEASURES = {
    "of inputs": "q = x[i].requires_grad_(); net(q).sum().backward()",
    "of a model that is evaluated": "net.eval(); net.zero_grad(); loss.backward()",
    "of time": "net.zero_grad(); net(x[i]).sum().backward()",
    "by an optimizer of the input": "loss.backward()",
}


@pytest.mark.parametrize("name", MEASURES)
def test_gradients_that_only_measure_are_no_training(tmp_path: Path, name: str) -> None:
    path = script(tmp_path, BY_HAND, PREPARE="", UPDATE=MEASURES[name])
    if name == "by an optimizer of the input":
        picture = "x = x.requires_grad_(); o = torch.optim.SGD([x], 0.1)"
        path = script(tmp_path, BY_HAND, PREPARE=picture, UPDATE="o.zero_grad(); loss.backward(); o.step()")
    done = recorded(tmp_path, path.name)
    assert done.returncode == 0 and "warning" not in done.stderr and "error" not in done.stderr, done.stderr


def test_a_compiled_model_has_no_more_graphs(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import torch
        from torch import nn
        torch.manual_seed(0)
        model = torch.compile(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)), backend="eager")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(14):
            loss = model(torch.randn(8, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        from torch._dynamo.utils import counters
        print(loss.item(), dict(counters["graph_break"]), counters["stats"]["unique_graphs"])
        """,
    )
    same(call([sys.executable, path.name], tmp_path), recorded(tmp_path, path.name))
    assert steps(tmp_path / "run", "loss") == list(range(14))
    assert "0.weight.grad" in statistics(tmp_path / "run")


def test_a_program_that_records_itself_is_left_alone(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import torch, trainscope
        from torch import nn
        run = trainscope.start("own", quiet=True)
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(3):
            model(torch.randn(8, 4)).pow(2).mean().backward()
            optimizer.step()
            run.scalar("mine", step, step)
        """,
    )
    done = recorded(tmp_path, path.name)
    assert done.returncode == 0, done.stderr
    assert sorted(scalars(tmp_path / "own")) == ["mine"]
    assert statistics(tmp_path / "own") == {}
    assert not (tmp_path / "run").exists()
    assert "Run          own\n" in done.stderr


def test_the_folder_of_a_writer_is_noted(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import torch
        from torch import nn
        from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter("board")
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(3):
            loss = model(torch.randn(8, 4)).pow(2).mean()
            loss.backward()
            optimizer.step()
            writer.add_scalar("mine", loss, step)
        writer.close()
        """,
    )
    done = recorded(tmp_path, path.name)
    assert done.returncode == 0, done.stderr
    assert sorted(scalars(tmp_path / "board")) == ["mine"]
    assert f"writes event files into {tmp_path / 'board'}".encode() in facts(tmp_path / "run")


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("import torch", [], "no training was seen: no optimizer has made an update."),
        ("print(1)", [], "the program imported no framework that is known"),
        ("import torch", ["-I"], "-I makes Python ignore what would record it"),
        ("import torch", ["-S"], "-S makes Python ignore what would record it"),
    ],
)
def test_the_screen_says_why_nothing_was_recorded(tmp_path: Path, text: str, arguments: list[str], said: str) -> None:
    path = script(tmp_path, text)
    done = recorded(tmp_path, *arguments, path.name)
    assert said in " ".join(done.stderr.split()), done.stderr
    assert "Nothing was recorded" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_python_without_the_package_says_so_once(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("import subprocess, sys\nif 'again' not in sys.argv:\n"
                                       "    subprocess.run([sys.executable, 'train.py', 'again'])\n")
    path = script(tmp_path, "import torch\nprint('done')")
    done = recorded(tmp_path, path.name, PYTHONPATH="")
    assert done.stdout == "done\ndone\n"
    assert done.stderr.count("has no package `trainscope` that records") == 1
    assert "Nothing was recorded: the Python of the command has no package" in done.stderr


def test_the_customization_of_the_environment_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import builtins; builtins.customized = 'yes'")
    path = script(tmp_path, "import sys, sitecustomize\nprint(customized, sys.path, sitecustomize.__file__, sys.flags)")
    paths = os.pathsep.join([str(tmp_path / "site"), str(PACKAGES)])
    plain = call([sys.executable, path.name], tmp_path, PYTHONPATH=paths)
    assert plain.returncode == 0, plain.stderr
    same(plain, recorded(tmp_path, path.name, PYTHONPATH=paths))
    # An error in it is Python's to show, and the program runs.
    (tmp_path / "site" / "sitecustomize.py").write_text("import nowhere")
    path.write_text("print(1)")
    assert "nowhere" in same(
        subprocess.CompletedProcess([], 0, "1\n", ""), recorded(tmp_path, path.name, PYTHONPATH=paths)
    )


def test_children_record_nothing_or_a_run_of_their_own(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import multiprocessing, os, subprocess, sys
        import torch
        from torch import nn

        def train(steps=3):
            model = nn.Linear(4, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            for step in range(steps):
                model(torch.randn(8, 4)).pow(2).mean().backward()
                optimizer.step()

        if __name__ == "__main__":
            train(2)
            if "child" in sys.argv:
                sys.exit()
            for method in ("spawn", "fork", "forkserver"):
                process = multiprocessing.get_context(method).Process(target=train)
                process.start()
                process.join()
                print(process.exitcode)
            if os.fork() == 0:
                train()
                os._exit(0)
            os.wait()
            subprocess.run([sys.executable, __file__, "child"], check=True)
        """,
    )
    done = recorded(tmp_path, path.name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "0", "0"]
    assert [file.parent.name for file in event_files(tmp_path)] == ["run", "run-2"]
    assert steps(tmp_path / "run", "loss") == steps(tmp_path / "run-2", "loss") == [0, 1]
    assert "2 runs" in done.stderr


RANKS = """
import os, torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

def main(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(3):
        loss = model(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()

if __name__ == "__main__":
    START
"""


@pytest.mark.parametrize("is_launched", [True, False])
def test_ranks_are_one_run(tmp_path: Path, is_launched: bool) -> None:
    spawn = "import torch.multiprocessing as mp; os.environ.update(MASTER_ADDR='localhost', MASTER_PORT='29637'); mp.spawn(main, (2,), 2)"
    start = "main(int(os.environ['RANK']), int(os.environ['WORLD_SIZE']))" if is_launched else spawn
    path = script(tmp_path, RANKS, START=start)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"] if is_launched else []
    done = recorded(tmp_path, *launcher, path.name)
    assert done.returncode == 0, done.stderr
    assert [file.parent.name for file in event_files(tmp_path)] == ["rank_0", "rank_1"]
    for rank in ("rank_0", "rank_1"):
        assert steps(tmp_path / "run" / rank, "loss") == [0, 1, 2]
    assert "2 ranks" in done.stderr
    assert sorted({row["tag"] for row in export(tmp_path / "run", "statistics")}) == [
        "Linear", "bias", "bias.grad", "weight", "weight.grad",
    ] or "weight.grad" in statistics(tmp_path / "run")  # fmt: skip


LIGHTNING = """
import logging, warnings
warnings.simplefilter("ignore")
import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 3)
    def training_step(self, batch, index):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("seen", loss)
        return loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
pl.seed_everything(1, verbose=False)
model, data = Net(), TensorDataset(torch.randn(32, 8), torch.randint(0, 3, (32,)))
trainer = pl.Trainer(max_epochs=1, enable_progress_bar=False, enable_model_summary=False, logger=False,
                     enable_checkpointing=False, accelerator="cpu")
trainer.fit(model, DataLoader(data, 8, shuffle=True))
print([p.tolist() for p in model.parameters()], torch.rand(1).item())
"""

TRAINER = """
import logging, tempfile
import torch
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments
class Net(PreTrainedModel):
    config_class = PretrainedConfig
    def __init__(self, config):
        super().__init__(config)
        self.net = nn.Linear(8, 3)
        self.post_init()
    def forward(self, x, labels=None):
        out = self.net(x)
        return {"loss": nn.functional.cross_entropy(out, labels), "logits": out}
torch.manual_seed(0)
model = Net(PretrainedConfig())
data = [{"x": torch.randn(8), "labels": torch.tensor(i % 3)} for i in range(32)]
arguments = TrainingArguments(tempfile.mkdtemp(), num_train_epochs=1, per_device_train_batch_size=8, report_to="none",
                              disable_tqdm=True, save_strategy="no", logging_strategy="no", use_cpu=True)
trainer = Trainer(model, arguments, train_dataset=data)
trainer.log = lambda *args, **kwargs: None
trainer.train()
print([p.tolist() for p in model.parameters()], torch.rand(1).item())
"""

KERAS = """
import keras
import numpy as np
keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Dense(3, name="net")])
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x, y = np.random.randn(32, 8).astype("float32"), np.random.randint(0, 3, 32)
history = model.fit(x, y, epochs=1, batch_size=8, verbose=0)
print(history.history, [w.tolist() for w in model.get_weights()])
"""

ACCELERATE = """
import torch
from accelerate import Accelerator
from torch import nn
torch.manual_seed(0)
accelerator = Accelerator(cpu=True)
model = nn.Sequential()
model.net = nn.Linear(8, 3)
optimizer = torch.optim.AdamW(model.parameters())
model, optimizer = accelerator.prepare(model, optimizer)
for step in range(4):
    train_loss = nn.functional.cross_entropy(model(torch.randn(8, 8)), torch.randint(0, 3, (8,)))
    accelerator.backward(train_loss)
    optimizer.step()
    optimizer.zero_grad()
print([p.tolist() for p in model.parameters()], torch.rand(1).item())
"""


@pytest.mark.parametrize(
    ("text", "backend", "loss", "tensor"),
    [
        (LIGHTNING, "", "train/step_loss", "net.weight.grad"),
        (TRAINER, "", "train/step_loss", "net.weight.grad"),
        (ACCELERATE, "", "loss", "net.weight.grad"),
        (KERAS, "torch", "loss", "net/kernel.grad"),
        (KERAS, "jax", "loss", "net/kernel"),
    ],
    ids=["lightning", "trainer", "accelerate", "keras-torch", "keras-jax"],
)
def test_frameworks_are_the_same_and_recorded(tmp_path: Path, text: str, backend: str, loss: str, tensor: str) -> None:
    path = script(tmp_path, text)
    more = {"KERAS_BACKEND": backend} if backend else {}
    plain, done = call([sys.executable, path.name], tmp_path, **more), recorded(tmp_path, path.name, **more)
    assert plain.returncode == 0, plain.stderr
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    found = scalars(tmp_path / "run")
    assert [step for step, _ in found[loss]] == [0, 1, 2, 3]
    # An adapter records the loss: ours is not beside it.
    assert ("loss" in found) == (loss == "loss")
    assert any(name.endswith(tensor) for name in statistics(tmp_path / "run"))


def test_jax_says_that_it_shows_nothing(tmp_path: Path) -> None:
    path = script(tmp_path, "import jax\nprint(float(jax.grad(lambda x: x * x)(3.0)))")
    done = recorded(tmp_path, path.name)
    assert done.stdout == "6.0\n"
    assert "JAX does not show its trainings" in done.stderr


def test_a_script_within_one_process(tmp_path: Path) -> None:
    path = script(tmp_path, TRAINING, WORKERS="0", END="print(sys.argv, __file__, sys.path[0]); raise KeyError('gone')")
    plain = call([sys.executable, path.name, "plain.pt", "--out", "x"], tmp_path)
    inner = [sys.executable, "-m", "trainscope", "run", "--out", "run", path.name]
    done = call([*inner, "plain.pt", "--out", "x"], tmp_path)
    assert plain.returncode == 1
    screen = same(plain, done)
    assert steps(tmp_path / "run", "loss") == list(range(16))
    assert "Run          run\n" in screen
    assert b"KeyError" in facts(tmp_path / "run")
    lost = call([sys.executable, "-m", "trainscope", "run", "nowhere.py"], tmp_path)
    assert (lost.returncode, lost.stderr.splitlines()[0]) == (2, call([sys.executable, "nowhere.py"], tmp_path).stderr.strip())


def test_a_module_within_one_process(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").touch()
    (tmp_path / "pack" / "train.py").write_text("import sys\nprint(__name__, sys.argv, sys.path[0], __spec__.name)\nsys.exit(4)")
    plain = call([sys.executable, "-m", "pack.train", "-m", "a"], tmp_path)
    done = call([sys.executable, "-m", "trainscope", "run", "--out", "run", "-m", "pack.train", "-m", "a"], tmp_path)
    same(plain, done)
    assert plain.returncode == 4


def test_a_notebook(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import torch, trainscope
        from torch import nn
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        trainscope.load_ipython_extension(None)
        trainscope.load_ipython_extension(None)
        for step in range(5):
            loss = model(torch.randn(8, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    )
    done = call([sys.executable, path.name], tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("notebook-")
    assert str(folder) in done.stderr
    # The model is there before it is observed: the first update shows its optimizer, the next pass the model.
    assert steps(folder, "loss") == [0, 1, 2, 3, 4]
    assert "weight.grad" in statistics(folder)


def test_before_a_framework_is_imported_nothing_is(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import json, sys, time
        print(json.dumps([name for name in sys.modules]))
        """,
    )
    plain, done = call([sys.executable, path.name], tmp_path), recorded(tmp_path, path.name)
    assert set(json.loads(done.stdout)) - set(json.loads(plain.stdout)) <= {"sitecustomize"}
