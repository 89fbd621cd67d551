"""Small programs for the tests of preflight: with one fault each, and sound ones that come close to one."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

VOCABULARY = 20


@dataclasses.dataclass
class Program:
    """A model with its first batch, as `preflight` takes them."""

    model: nn.Module
    inputs: Any
    targets: Any = None
    loss: Any = None
    optimizer: Any = None
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    autocast: torch.dtype | None = None


Make = Callable[[], Program]


class Function(nn.Module):
    """Parts, and the function that is computed with them."""

    def __init__(self, function: Callable[..., Any], **parts: Any) -> None:
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self, *args, **kwargs)


def vectors(number: int = 16, size: int = 20) -> torch.Tensor:
    return torch.randn(number, size)


def pictures(number: int = 16, channels: int = 2) -> torch.Tensor:
    return torch.randn(number, channels, 8, 8)


def rows(number: int = 16, length: int = 12, size: int = 5) -> torch.Tensor:
    return torch.randn(number, length, size)


def labels(number: int = 16, classes: int = 10) -> torch.Tensor:
    return torch.randint(0, classes, (number,))


def adam(model: nn.Module, rate: float = 1e-3) -> torch.optim.Optimizer:
    return torch.optim.Adam([own for own in model.parameters() if own.requires_grad], rate)


def sgd(model: nn.Module, rate: float = 0.1) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), rate)


def classifier(model: nn.Module, inputs: Any, optimizer: Any = None, **options: Any) -> Program:
    """A program that is trained to tell ten classes."""
    given = inputs[0] if isinstance(inputs, tuple) else inputs
    return Program(model, inputs, labels(len(given)), F.cross_entropy, optimizer or adam(model), options)


def regression(model: nn.Module, inputs: Any, targets: torch.Tensor, optimizer: Any = None, **options: Any) -> Program:
    return Program(model, inputs, targets, F.mse_loss, optimizer or adam(model), options)


# Families of models.


def mlp(size: int = 20, out: int = 10) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, out))


def cnn(channels: int = 2, out: int = 10) -> nn.Sequential:
    body = [nn.Conv2d(channels, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*body, nn.Flatten(), nn.Linear(128, out))


class Recurrent(nn.Module):
    """A classifier of sequences."""

    def __init__(self, kind: type[nn.RNNBase] = nn.LSTM, *, batch_first: bool = True, out: int = 10) -> None:
        super().__init__()
        self.rnn = kind(5, 16, batch_first=batch_first)
        self.head = nn.Linear(16, out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.rnn(x)[0][:, -1])


class Attention(nn.Module):
    def __init__(self, size: int, heads: int, *, mask: str = "causal", view: bool = False, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads, self.mask, self.view, self.dropout = heads, mask, view, dropout
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        samples, length, size = x.shape
        parts = self.qkv(x).chunk(3, dim=-1)
        if self.view:
            q, k, v = (own.reshape(samples, self.heads, length, size // self.heads) for own in parts)
        else:
            q, k, v = (own.view(samples, length, self.heads, -1).transpose(1, 2) for own in parts)
        if self.mask == "fused":
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout)
        else:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
            if self.mask != "none":
                scores = scores.masked_fill(later.T if self.mask == "transposed" else later, float("-inf"))
            mixed = scores.softmax(-1) @ v
        mixed = mixed.reshape(samples, length, size) if self.view else mixed.transpose(1, 2).reshape(samples, length, size)
        return self.out(mixed)


class Language(nn.Module):
    """A small transformer that predicts the next token."""

    def __init__(self, *, size: int = 24, heads: int = 4, layers: int = 2, tied: bool = False, **options: Any) -> None:
        super().__init__()
        self.token, self.position = nn.Embedding(VOCABULARY, size), nn.Embedding(64, size)
        self.blocks = nn.ModuleList(Attention(size, heads, **options) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, VOCABULARY, bias=False)
        nn.init.normal_(self.token.weight, std=0.02)
        nn.init.normal_(self.position.weight, std=0.02)
        if tied:
            self.head.weight = self.token.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.token(ids) + self.position(torch.arange(ids.shape[1], device=ids.device))
        for norm, block in zip(self.norms, self.blocks, strict=True):
            x = x + block(norm(x))
        return self.head(self.norm(x))


def next_loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


def language(model: nn.Module, optimizer: Any = None, *, number: int = 8, length: int = 16, **options: Any) -> Program:
    """A program whose targets are the next tokens."""
    ids = torch.randint(0, VOCABULARY, (number, length + 1))
    return Program(model, ids[:, :-1], ids[:, 1:], next_loss, optimizer or adam(model), options)


def forecast(model: nn.Module, **options: Any) -> Program:
    """A program whose targets are the next values of three series."""
    series = torch.randn(8, 17, 3).cumsum(1)
    return Program(model, series[:, :-1], series[:, 1:], F.mse_loss, adam(model), options)


def recurrent_language(*, both: bool = False) -> nn.Module:
    size = 32 if both else 16
    parts = {"token": nn.Embedding(VOCABULARY, 16), "head": nn.Linear(size, VOCABULARY)}
    rnn = nn.GRU(16, 16, batch_first=True, bidirectional=both)
    return Function(lambda self, ids: self.head(self.rnn(self.token(ids))[0]), rnn=rnn, **parts)


def convolutional_language(*, is_causal: bool, kernel: int = 5) -> nn.Module:
    pad = (kernel - 1, 0) if is_causal else ((kernel - 1) // 2, (kernel - 1) // 2)

    def forward(self: Any, ids: torch.Tensor) -> torch.Tensor:
        return self.head(F.relu(self.conv(F.pad(self.token(ids).transpose(1, 2), pad))).transpose(1, 2))

    head = nn.Linear(16, VOCABULARY)
    return Function(forward, token=nn.Embedding(VOCABULARY, 16), conv=nn.Conv1d(16, 16, kernel), head=head)


def scaled(model: nn.Module, factor: float) -> nn.Module:
    """The model with larger weights in its last layer."""
    layers = [own for own in model.modules() if isinstance(own, nn.Linear)]
    with torch.no_grad():
        layers[-1].weight.mul_(factor)
    return model


def two_inputs(*, ignores: bool) -> nn.Module:
    def forward(self: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.a(x) if ignores else self.a(x) + self.b(y)

    return Function(forward, a=mlp(), b=mlp(5))


def leaking(make: Callable[[], tuple[nn.Module, torch.Tensor]], leak: float) -> Program:
    model, x = make()
    y = labels(len(x))
    whole = Function(lambda self, x, y: self.body(x) + leak * F.one_hot(y, 10), body=model)
    return Program(whole, (x, y), y, F.cross_entropy, adam(whole))


class Masked(nn.Module):
    """A classifier of tokens with a mask of padding."""

    def __init__(self, *, ignores: bool) -> None:
        super().__init__()
        self.token, self.attention, self.head = nn.Embedding(VOCABULARY, 16), nn.Linear(16, 1), nn.Linear(16, 10)
        self.ignores = ignores

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        x = self.token(input_ids)
        scores = self.attention(x).squeeze(-1)
        if not self.ignores:
            scores = scores.masked_fill(attention_mask == 0, float("-inf"))
        return self.head((scores.softmax(-1)[..., None] * x).sum(1))


def masked(*, ignores: bool) -> Program:
    inputs = {"input_ids": torch.randint(0, VOCABULARY, (16, 12)), "attention_mask": torch.ones(16, 12, dtype=torch.long)}
    model = Masked(ignores=ignores)
    return Program(model, inputs, labels(), F.cross_entropy, adam(model))


def cut(model: nn.Sequential, at: int, how: str) -> nn.Module:
    """The model with no gradient before one of its layers."""

    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        if how == "detach":
            return self.body[at:](self.body[:at](x).detach())
        with torch.no_grad():
            x = self.body[:at](x)
        return self.body[at:](x)

    return Function(forward, body=model)


def listed(layers: list[nn.Module], head: nn.Module) -> nn.Module:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        for layer in self.hidden:
            x = layer(x)
            x = x[0] if isinstance(x, tuple) else x
        return self.head(x)

    return Function(forward, hidden=layers, head=head)


def stale(make: Callable[[], nn.Module], change: Callable[[nn.Module], None], run: Callable[..., Program]) -> Program:
    """A program whose optimizer was made before a layer was replaced."""
    model = make()
    optimizer = adam(model)
    change(model)
    return run(model, optimizer)


def replace_last(model: Any) -> None:
    if isinstance(model, nn.Sequential):
        model[-1] = nn.Linear(model[-1].in_features, 10)
    else:
        model.head = nn.Linear(model.head.in_features, model.head.out_features)


def unscaled_norm(model: nn.Module) -> nn.Module:
    """A layer with a large offset that the next one takes off again: its 16 bits hold the offset alone."""
    first = next(own for own in model.modules() if isinstance(own, (nn.Linear, nn.Conv2d)))
    nn.init.constant_(first.bias, 5000.0)
    return model


def dead(model: nn.Module) -> nn.Module:
    """Outputs that are all cut off at 0."""
    return Function(lambda self, x: F.relu(self.body(x) - 100), body=model)


FAULTS: dict[tuple[str, str], Make] = {
    # Outputs or loss are no numbers.
    ("finite", "mlp"): lambda: classifier(Function(lambda self, x: self.body(x).sub(5).sqrt(), body=mlp()), vectors()),
    ("finite", "cnn"): lambda: classifier(
        Function(lambda self, x: self.body((x - x.mean()) / x.std()), body=cnn()), torch.ones(16, 2, 8, 8)
    ),
    ("finite", "transformer"): lambda: language(
        Function(lambda self, ids: self.body(ids) + torch.full((16, 16), -torch.inf).softmax(-1).sum(), body=Language())
    ),
    ("finite", "rnn"): lambda: classifier(Recurrent(), rows() / 0.0),
    ("finite", "loss"): lambda: dataclasses.replace(
        classifier(scaled(mlp(), 1e4), vectors()), loss=lambda o, y: F.nll_loss(o.softmax(1).log(), y)
    ),
    # The first loss is far from that of a guess.
    ("initial_loss", "mlp"): lambda: classifier(scaled(mlp(), 60), vectors()),
    ("initial_loss", "cnn"): lambda: classifier(scaled(cnn(), 60), pictures()),
    ("initial_loss", "transformer"): lambda: language(scaled(Language(), 60)),
    ("initial_loss", "rnn"): lambda: classifier(scaled(Recurrent(), 200), rows()),
    ("initial_loss", "regression"): lambda: regression(mlp(out=1), vectors(), torch.randn(16, 1) * 1000 + 5000),
    ("initial_loss", "leak mlp"): lambda: leaking(lambda: (mlp(), vectors()), 5.0),
    ("initial_loss", "leak cnn"): lambda: leaking(lambda: (cnn(), pictures()), 5.0),
    ("initial_loss", "leak rnn"): lambda: leaking(lambda: (Recurrent(), rows()), 5.0),
    # Samples see each other.
    ("batch_dependence", "mlp softmax"): lambda: classifier(
        Function(lambda self, x: self.body(x).softmax(0), body=mlp()), vectors()
    ),
    ("batch_dependence", "mlp view"): lambda: classifier(
        Function(lambda self, x: self.body(x.T.reshape(16, 20)), body=mlp()), vectors()
    ),
    ("batch_dependence", "cnn view"): lambda: classifier(
        Function(lambda self, x: self.body(x.transpose(0, 1).reshape(16, 2, 8, 8)), body=cnn()), pictures()
    ),
    ("batch_dependence", "cnn normalized"): lambda: classifier(
        Function(lambda self, x: self.body((x - x.mean(0)) / x.std(0)), body=cnn()), pictures()
    ),
    ("batch_dependence", "lstm"): lambda: classifier(Recurrent(batch_first=False), rows()),
    ("batch_dependence", "gru"): lambda: classifier(Recurrent(nn.GRU, batch_first=False), rows()),
    ("batch_dependence", "rnn view"): lambda: classifier(
        Function(lambda self, x: self.body(x.view(12, 16, 5).transpose(0, 1)), body=Recurrent()), rows()
    ),
    ("batch_dependence", "transformer"): lambda: classifier(
        Function(
            lambda self, x: self.head(self.layer(self.embed(x)).mean(1)),
            embed=nn.Linear(5, 16), layer=nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0), head=nn.Linear(16, 10),
        ),
        rows(),
    ),
    ("batch_dependence", "transformer tokens"): lambda: classifier(
        Function(
            lambda self, ids: self.head(self.layer(self.embed(ids)).mean(1)),
            embed=nn.Embedding(VOCABULARY, 16), layer=nn.TransformerEncoderLayer(16, 2, 32), head=nn.Linear(16, 10),
        ),
        torch.randint(0, VOCABULARY, (16, 12)),
    ),
    ("batch_dependence", "language view"): lambda: language(
        Function(lambda self, ids: self.body(ids.T.reshape(8, 16)), body=Language())
    ),
    # Outputs see their targets.
    ("future", "no mask"): lambda: language(Language(mask="none")),
    ("future", "transposed mask"): lambda: language(Language(mask="transposed")),
    ("future", "encoder"): lambda: language(
        Function(
            lambda self, ids: self.head(self.layer(self.embed(ids))),
            embed=nn.Embedding(VOCABULARY, 16), head=nn.Linear(16, VOCABULARY),
            layer=nn.TransformerEncoderLayer(16, 2, 32, batch_first=True),
        )
    ),
    ("future", "softmax"): lambda: language(
        Function(lambda self, ids: self.body(ids).softmax(1), body=Language())
    ),
    ("future", "rnn"): lambda: language(recurrent_language(both=True)),
    ("future", "cnn"): lambda: language(convolutional_language(is_causal=False)),
    ("future", "forecast"): lambda: forecast(
        Function(lambda self, x: self.head(self.rnn(x)[0]),
            rnn=nn.GRU(3, 8, batch_first=True, bidirectional=True), head=nn.Linear(16, 3))
    ),
    ("future", "forecast mean"): lambda: forecast(
        Function(lambda self, x: self.head(x - x.mean(1, keepdim=True)), head=nn.Linear(3, 3))
    ),
    ("future", "shift in loss"): lambda: shifted_in_loss(Language(mask="none")),
    # Outputs do not see what was before.
    ("context", "view"): lambda: language(Language(view=True)),
    ("context", "view three heads"): lambda: language(Language(view=True, heads=3)),
    ("context", "view fused"): lambda: language(Language(view=True, heads=2, mask="fused")),
    ("context", "rnn"): lambda: language(
        Function(
            lambda self, ids: self.body(ids.reshape(-1, 4)).reshape(len(ids), ids.shape[1], -1), body=recurrent_language()
        )
    ),
    ("context", "cnn"): lambda: language(
        Function(
            lambda self, ids: self.body(ids.reshape(-1, 8)).reshape(len(ids), ids.shape[1], -1),
            body=convolutional_language(is_causal=True, kernel=9),
        )
    ),
    # Inputs without effect, and those that give the answer away.
    ("input_dependence", "mlp"): lambda: classifier(two_inputs(ignores=True), (vectors(), vectors(size=5))),
    ("input_dependence", "mlp feature"): lambda: classifier(
        Function(lambda self, x: self.body(x[:, :15]), body=mlp(15)), vectors()
    ),
    ("input_dependence", "cnn channel"): lambda: classifier(
        Function(lambda self, x: self.body(x[:, :1]), body=cnn(1)), pictures()
    ),
    ("input_dependence", "rnn"): lambda: classifier(
        Function(lambda self, x: self.body(torch.cat([x[..., :3], x[..., :2]], -1)), body=Recurrent()), rows()
    ),
    ("input_dependence", "transformer mask"): lambda: masked(ignores=True),
    ("input_dependence", "leak"): lambda: leaking(lambda: (mlp(), vectors()), 0.01),
    ("input_dependence", "leak cnn"): lambda: leaking(lambda: (cnn(), pictures()), 0.01),
    ("input_dependence", "leak feature"): lambda: leaking_feature(),
    # Random in evaluation mode.
    ("two_evaluations", "mlp"): lambda: classifier(
        Function(lambda self, x: F.dropout(self.body(x), 0.3), body=mlp()), vectors()
    ),
    ("two_evaluations", "cnn"): lambda: classifier(
        Function(lambda self, x: self.body(F.dropout2d(x, 0.5)), body=cnn()), pictures()
    ),
    ("two_evaluations", "rnn"): lambda: classifier(
        Function(lambda self, x: self.body(nn.Dropout(0.2)(x)), body=Recurrent()), rows()
    ),
    ("two_evaluations", "transformer"): lambda: language(Language(mask="fused", dropout=0.2)),
    ("two_evaluations", "path"): lambda: classifier(
        Function(lambda self, x: self.body(x) * torch.bernoulli(torch.full((len(x), 1), 0.8)), body=mlp()), vectors()
    ),
    # Parameters that are not trained.
    ("reach", "mlp detached"): lambda: classifier(cut(mlp(), 2, "detach"), vectors()),
    ("reach", "cnn no_grad"): lambda: classifier(cut(cnn(), 5, "no_grad"), pictures()),
    ("reach", "rnn detached"): lambda: classifier(
        Function(lambda self, x: self.head(self.rnn(x)[0][:, -1].data),
            rnn=nn.LSTM(5, 16, batch_first=True), head=nn.Linear(16, 10)),
        rows(),
    ),
    ("reach", "transformer numpy"): lambda: language(
        Function(lambda self, ids: self.head(torch.from_numpy(self.body(ids).detach().numpy())),
            body=Language(), head=nn.Linear(20, 20))
    ),
    ("reach", "mlp list"): lambda: classifier(listed([nn.Linear(20, 20), nn.Linear(20, 20)], nn.Linear(20, 10)), vectors()),
    ("reach", "cnn list"): lambda: classifier(
        listed([nn.Conv2d(2, 4, 3), nn.Flatten()], nn.Linear(144, 10)), pictures()
    ),
    ("reach", "transformer list"): lambda: language(
        listed([nn.Embedding(VOCABULARY, 24), Attention(24, 4)], nn.Linear(24, VOCABULARY))
    ),
    ("reach", "mlp stale"): lambda: stale(mlp, replace_last, lambda own, o: classifier(own, vectors(), o)),
    ("reach", "rnn stale"): lambda: stale(Recurrent, replace_last, lambda own, o: classifier(own, rows(), o)),
    ("reach", "transformer stale"): lambda: stale(Language, replace_last, language),
    ("reach", "argmax"): lambda: regression(
        Function(lambda self, x: self.body(x).argmax(1).float(), body=mlp()), vectors(), labels().float()
    ),
    # Updates without effect.
    ("one_update", "mlp"): lambda: classifier(own := mlp(), vectors(), adam(own, 0.0)),
    ("one_update", "cnn"): lambda: classifier(own := cnn(), pictures(), sgd(own, 1e-14)),
    ("one_update", "rnn"): lambda: classifier(own := Recurrent(), rows(), sgd(own, 0.0)),
    ("one_update", "transformer"): lambda: language(own := Language().bfloat16(), adam(own, 1e-5)),
    ("one_update", "float16"): lambda: classifier(
        own := mlp().half(), vectors().half(), torch.optim.Adam(own.parameters(), 1e-3, eps=1e-10)
    ),
    # One batch that cannot be learned.
    ("one_batch", "mlp"): lambda: classifier(dead(mlp()), vectors(), one_batch=True),
    ("one_batch", "cnn"): lambda: classifier(cnn(), torch.ones(16, 2, 8, 8), one_batch=True),
    ("one_batch", "rnn"): lambda: classifier(
        Function(lambda self, x: self.body(x).softmax(1), body=Recurrent()), rows(), one_batch=True
    ),
    ("one_batch", "transformer"): lambda: language(
        Function(lambda self, ids: self.body(torch.zeros_like(ids)), body=Language()), one_batch=True
    ),
    # Rates at which the loss diverges.
    ("rates", "mlp"): lambda: regression(own := mlp(out=1), vectors(), torch.randn(16, 1), sgd(own, 10.0), rates=True),
    ("rates", "cnn"): lambda: regression(own := cnn(out=1), pictures(), torch.randn(16, 1), sgd(own, 10.0), rates=True),
    ("rates", "rnn"): lambda: regression(
        own := Recurrent(out=1), rows(), torch.randn(16, 1), sgd(own, 10.0), rates=True
    ),
    # 16 bits that are too few.
    ("precision", "mlp float16"): lambda: dataclasses.replace(
        classifier(mlp(), vectors() * 1e5), autocast=torch.float16
    ),
    ("precision", "cnn float16"): lambda: dataclasses.replace(
        classifier(cnn(), pictures() * 2e5), autocast=torch.float16
    ),
    ("precision", "rnn float16"): lambda: dataclasses.replace(
        classifier(Function(lambda self, x: self.head(self.rnn(x)[0][:, -1] * 1e7),
            rnn=nn.GRU(5, 16, batch_first=True), head=nn.Linear(16, 10)), rows()),
        autocast=torch.float16,
    ),
    ("precision", "mlp bfloat16"): lambda: dataclasses.replace(
        classifier(unscaled_norm(nn.Sequential(nn.Linear(20, 32), nn.LayerNorm(32), nn.Linear(32, 10))), vectors()),
        autocast=torch.bfloat16,
    ),
    ("precision", "cnn bfloat16"): lambda: dataclasses.replace(
        classifier(unscaled_norm(nn.Sequential(nn.Conv2d(2, 8, 3), nn.GroupNorm(8, 8),
            nn.Flatten(), nn.Linear(288, 10))), pictures()),
        autocast=torch.bfloat16,
    ),
    ("precision", "weights"): lambda: classifier(
        unscaled_norm(nn.Sequential(nn.Linear(20, 32), nn.LayerNorm(32), nn.Linear(32, 10))).bfloat16(), vectors().bfloat16()
    ),
}  # fmt: skip


def shifted_in_loss(model: nn.Module) -> Program:
    """Targets are the inputs; the loss shifts them."""
    ids = torch.randint(0, VOCABULARY, (8, 16))
    return Program(model, ids, ids, lambda o, y: next_loss(o[:, :-1], y[:, 1:]), adam(model))


def leaking_feature() -> Program:
    y = labels(32, 2)
    x = vectors(32)
    x[:, 7] = y.float()
    model = mlp(out=2)
    return Program(model, x, y, F.cross_entropy, adam(model))


# Sound programs.


class Residual(nn.Module):
    """Blocks that begin as the identity: scales, gates and last layers of 0."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.norm = nn.Conv2d(2, 2, 3, padding=1), nn.BatchNorm2d(2)
        self.gate = nn.Parameter(torch.zeros(1))
        self.head = nn.Linear(128, 10)
        nn.init.zeros_(self.norm.weight)
        nn.init.zeros_(self.head.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head((x + self.gate * self.norm(self.inner(x))).flatten(1))


class Experts(nn.Module):
    """Each sample goes to one of eight experts; some get none."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(20, 8)
        self.experts = nn.ModuleList(mlp() for _ in range(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        share, chosen = self.router(x).softmax(1).max(1)
        out = x.new_zeros(len(x), 10)
        for number, expert in enumerate(self.experts):
            mine = chosen == number
            if mine.any():
                out[mine] = share[mine, None] * expert(x[mine])
        return out


class Adapter(nn.Module):
    """A frozen layer with a low-rank one that begins as 0."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down, self.up = nn.Linear(base.in_features, 4, bias=False), nn.Linear(4, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.up(self.down(x))


def adapted() -> nn.Module:
    model = Language().requires_grad_(False)
    for block in model.blocks:
        block.qkv = Adapter(block.qkv)
    return model


class Variational(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.mean, self.spread, self.back = nn.Linear(20, 16), nn.Linear(16, 4), nn.Linear(16, 4), nn.Linear(4, 20)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        hidden = F.relu(self.body(x))
        mean, spread = self.mean(hidden), self.spread(hidden)
        return self.back(mean + torch.randn_like(mean) * (spread / 2).exp()), mean, spread


def variational() -> Program:
    x = vectors()
    model = Variational()
    return Program(model, x, x, F.mse_loss, adam(model), {"output": 0})


def graph_network() -> Program:
    nodes = torch.randn(40, 6)
    joined = (torch.rand(40, 40) < 0.1).float() + torch.eye(40)
    joined = joined / joined.sum(1, keepdim=True)
    model = Function(lambda self, x: self.second(joined @ F.relu(self.first(joined @ x))),
        first=nn.Linear(6, 16), second=nn.Linear(16, 3))
    return Program(model, nodes, labels(40, 3), F.cross_entropy, adam(model))


def edges_network() -> Program:
    nodes, edges = torch.randn(40, 6), torch.randint(0, 40, (2, 120))

    def forward(self: Any, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        return self.second(F.relu(self.first(x)).new_zeros(40, 16).index_add(0, edges[1], self.first(x)[edges[0]]))

    model = Function(forward, first=nn.Linear(6, 16), second=nn.Linear(16, 3))
    return Program(model, (nodes, edges), labels(40, 3), F.cross_entropy, adam(model))


def time_major(*, pooled: bool) -> Program:
    model = Function(
        lambda self, x: self.head(self.rnn(x)[0][-1] if pooled else self.rnn(x)[0]), rnn=nn.LSTM(5, 16), head=nn.Linear(16, 10)
    )
    y = torch.randint(0, 10, (16,) if pooled else (12, 16))
    return Program(model, rows().transpose(0, 1).contiguous(), y,
        lambda o, y: F.cross_entropy(o.reshape(-1, 10), y.reshape(-1)), adam(model))


def tagger() -> Program:
    model = Function(lambda self, x: self.head(self.rnn(x)[0]),
        rnn=nn.LSTM(5, 16, batch_first=True, bidirectional=True), head=nn.Linear(32, 10))
    loss = lambda o, y: F.cross_entropy(o.transpose(1, 2), y)  # noqa: E731
    return Program(model, rows(), torch.randint(0, 10, (16, 12)), loss, adam(model))


def masked_language() -> Program:
    """Predicts hidden tokens from both sides."""
    ids = torch.randint(1, VOCABULARY, (8, 16))
    hidden = torch.rand(8, 16) < 0.2
    model = Language(mask="none")
    targets = ids.masked_fill(~hidden, -100)
    return Program(model, ids.masked_fill(hidden, 0), targets, next_loss, adam(model))


class Causal(nn.Module):
    """As the models of transformers: returns its loss, shifts labels itself, and has an optional mask."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.body = Language(**options)

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor | None = None) -> dict[str, torch.Tensor]:
        logits = self.body(input_ids)
        if labels is None:
            return {"logits": logits}
        return {"loss": next_loss(logits[:, :-1], labels[:, 1:]), "logits": logits}


def causal(**options: Any) -> Program:
    ids = torch.randint(0, VOCABULARY, (8, 16))
    model = Causal(**options)
    return Program(model, {"input_ids": ids, "labels": ids}, optimizer=adam(model))


FAULTS["future", "returns its loss"] = lambda: causal(mask="none")


def trained() -> Program:
    """Goes on with weights that know the batch."""
    model, x, y = mlp(), vectors(), labels()
    optimizer = adam(model, 1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return Program(model, x, y, F.cross_entropy, optimizer)


def warming_up() -> Program:
    program = classifier(mlp(), vectors())
    torch.optim.lr_scheduler.LambdaLR(program.optimizer, lambda step: step / 10)
    assert program.optimizer.param_groups[0]["lr"] == 0
    return program


class Stateful(Recurrent):
    """Goes on with the state of the batch before."""

    state: Any = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out, (hidden, cell) = self.rnn(x, self.state)
        self.state = (hidden.detach(), cell.detach())
        return self.head(out[:, -1])


def frozen_backbone() -> Program:
    model = cut(cnn(), 5, "no_grad")
    return classifier(model, pictures(), torch.optim.Adam(model.body[5].parameters(), 1e-3))


def sequence_to_sequence() -> Program:
    """A decoder that gets its targets one position later."""
    source, target = torch.randint(0, VOCABULARY, (8, 10)), torch.randint(0, VOCABULARY, (8, 13))
    transformer = nn.Transformer(16, 2, 1, 1, 32, dropout=0.1, batch_first=True)

    def forward(self: Any, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        return self.head(self.transformer(self.token(source), self.token(target), tgt_mask=mask))

    model = Function(forward, token=nn.Embedding(VOCABULARY, 16), transformer=transformer, head=nn.Linear(16, VOCABULARY))
    return Program(model, (source, target[:, :-1]), target[:, 1:], next_loss, adam(model))


def contrastive() -> Program:
    model = Function(lambda self, a, b: F.normalize(self.a(a)) @ F.normalize(self.b(b)).T * 10, a=mlp(), b=mlp(5))
    return Program(model, (vectors(), vectors(size=5)), torch.arange(16), F.cross_entropy, adam(model))


def checkpointed() -> Program:
    model = Function(lambda self, x: self.last(checkpoint(self.body, self.first(x), use_reentrant=True)),
        first=nn.Linear(20, 20), body=mlp(), last=nn.Linear(10, 10))
    return classifier(model, vectors())


def skipgram() -> Program:
    tables = {"a": nn.Embedding(VOCABULARY, 8, sparse=True), "b": nn.Embedding(VOCABULARY, 8, sparse=True)}
    model = Function(lambda self, x, y: -F.logsigmoid((self.a(x) * self.b(y)).sum(-1)).mean(), **tables)
    pairs = (torch.randint(0, VOCABULARY, (16,)), torch.randint(0, VOCABULARY, (16,)))
    return Program(model, pairs, optimizer=torch.optim.SparseAdam(list(model.parameters()), 1e-2))


def normed_weights() -> Program:
    old = nn.utils.weight_norm(nn.Linear(20, 16))
    new = nn.utils.parametrizations.spectral_norm(nn.Linear(16, 16))
    return classifier(nn.Sequential(old, nn.ReLU(), new, nn.Linear(16, 10)), vectors())


def dropped_path() -> Program:
    def forward(self: Any, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return self.body(x)
        return self.body(x) * torch.bernoulli(torch.full((len(x), 1), 0.8))

    return classifier(Function(forward, body=mlp()), vectors())


def binary() -> Program:
    model = Function(lambda self, x: self.body(x).squeeze(1), body=mlp(out=1))
    targets = (torch.rand(16) < 0.3).float()
    return Program(model, vectors(), targets, nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0)), adam(model))


def weighted(**options: Any) -> Program:
    program = classifier(cnn(), pictures())
    return dataclasses.replace(program, loss=nn.CrossEntropyLoss(**options))


def many_outputs() -> Program:
    model = Function(lambda self, x: {"a": self.a(x), "b": self.b(x), "size": x.norm()}, a=mlp(), b=mlp(out=1))
    loss = lambda out, y: F.cross_entropy(out["a"], y) + out["b"].square().mean()  # noqa: E731
    return Program(model, vectors(), labels(), loss, adam(model))


def masked_actions() -> Program:
    """Logits of actions that are not allowed are -inf."""
    allowed = torch.rand(16, 10) < 0.7
    y = labels()
    allowed[torch.arange(16), y] = True
    model = Function(lambda self, x, allowed: self.body(x).masked_fill(~allowed, -torch.inf), body=mlp())
    return Program(model, (vectors(), allowed), y, F.cross_entropy, adam(model))


SOUND: dict[str, Make] = {
    "mlp": lambda: classifier(mlp(), vectors()),
    "cnn": lambda: classifier(own := cnn(), pictures(), sgd(own)),
    "rnn": lambda: classifier(Recurrent(), rows()),
    "transformer": lambda: language(Language()),
    "fused transformer": lambda: language(Language(mask="fused")),
    "tied transformer": lambda: language(Language(tied=True)),
    "transformer in bfloat16": lambda: dataclasses.replace(language(Language(layers=6)), autocast=torch.bfloat16),
    "cnn in bfloat16": lambda: dataclasses.replace(classifier(cnn(), pictures()), autocast=torch.bfloat16),
    "mlp in float16": lambda: dataclasses.replace(classifier(mlp(), vectors()), autocast=torch.float16),
    "weights in bfloat16": lambda: classifier(own := mlp().bfloat16(), vectors().bfloat16(), adam(own, 1e-2)),
    "recurrent language": lambda: language(recurrent_language()),
    "causal convolution with a window": lambda: language(convolutional_language(is_causal=True)),
    "pairs of tokens": lambda: language(nn.Embedding(VOCABULARY, VOCABULARY)),
    "shift in the loss": lambda: shifted_in_loss(Language()),
    "returns its loss": causal,
    "masked language": masked_language,
    "tagger": tagger,
    "forecast": lambda: forecast(
        Function(lambda self, x: self.head(self.rnn(x)[0]), rnn=nn.GRU(3, 8, batch_first=True), head=nn.Linear(8, 3))
    ),
    "time-major classifier": lambda: time_major(pooled=True),
    "time-major tagger": lambda: time_major(pooled=False),
    "sequence to sequence": sequence_to_sequence,
    "residual with zeros": lambda: classifier(Residual(), pictures()),
    "experts": lambda: classifier(Experts(), vectors()),
    "adapters": lambda: language(adapted()),
    "frozen backbone": frozen_backbone,
    "variational": variational,
    "autoencoder": lambda: regression(mlp(out=20), x := vectors(), x),
    "graph network": graph_network,
    "graph network of edges": edges_network,
    "contrastive": contrastive,
    "trained weights": trained,
    "warm-up": warming_up,
    "stateful": lambda: classifier(Stateful(), rows()),
    "mask of padding": lambda: masked(ignores=False),
    "two inputs": lambda: classifier(two_inputs(ignores=False), (vectors(), vectors(size=5))),
    "labels as an input that is not used": lambda: causal(tied=True),
    "checkpointed": checkpointed,
    "sparse": skipgram,
    "normed weights": normed_weights,
    "dropped path": dropped_path,
    "binary": binary,
    "weights of classes": lambda: weighted(weight=torch.rand(10) + 0.5),
    "label smoothing": lambda: weighted(label_smoothing=0.1),
    "many outputs": many_outputs,
    "masked actions": masked_actions,
    "regression": lambda: regression(mlp(out=1), vectors(), torch.randn(16, 1) * 20 + 50),
    "identity": lambda: regression(mlp(size=1, out=1), x := vectors(size=1), 2 * x + 1),
    "instance norm": lambda: classifier(nn.Sequential(nn.InstanceNorm2d(2), *cnn()), pictures()),
    "batch statistics": lambda: classifier(
        nn.Sequential(nn.Linear(20, 32), nn.BatchNorm1d(32, track_running_stats=False), nn.Linear(32, 10)), vectors()
    ),
    "pictures of one colour": lambda: classifier(cnn(), pictures().clamp(0, 1).round()),
    "one sample": lambda: classifier(mlp(), vectors(1)),
    "clipped embeddings": lambda: classifier(
        Function(lambda self, ids: self.head(self.token(ids).mean(1)),
            token=nn.Embedding(VOCABULARY, 16, max_norm=1.0), head=nn.Linear(16, 10)),
        torch.randint(0, VOCABULARY, (16, 6)),
    ),
    "momentum and decay": lambda: classifier(
        own := cnn(), pictures(), torch.optim.SGD(own.parameters(), 0.01, momentum=0.9, weight_decay=5e-4)
    ),
    "one batch and rates": lambda: classifier(own := mlp(), vectors(), adam(own, 3e-3), one_batch=True, rates=True),
    "one batch and rates of a cnn": lambda: classifier(own := cnn(), pictures(), sgd(own, 0.01), one_batch=True, rates=True),
    "one batch and rates of a transformer": lambda: language(Language(), one_batch=True, rates=True),
    "one batch and rates of an rnn": lambda: classifier(own := Recurrent(), rows(), adam(own, 1e-2), one_batch=True, rates=True),
}  # fmt: skip
