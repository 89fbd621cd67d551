"""Report of a preflight: the probes of the first batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from trainscope._source import Source
    from trainscope.run import Run

Result = Literal["passed", "failed", "not_tried"]

MAX_TEXT = 4 << 10
"""Longest text of a fact, in bytes."""


@dataclasses.dataclass(frozen=True)
class Probe:
    """Result of one probe.

    `says`: one sentence. `numbers`: the measurements. `data`: a small map or curve, or None. `source`: the line of the
    program, if it was found.
    """

    name: str
    result: Result
    says: str
    numbers: Mapping[str, float] = dataclasses.field(default_factory=dict)
    data: Any = None
    source: Source | None = None

    def __str__(self) -> str:
        place = f" ({self.source.file}:{self.source.line})" if self.source is not None else ""
        return f"{self.result.replace('_', ' '):<10} {self.name:<17} {self.says}{place}"


@dataclasses.dataclass(frozen=True)
class Preflight:
    """The probes of the first batch, in their order; `print` shows one line for each.

    `passes`: forward passes that were made. `is_restored`: True if everything is as it was before, to the last bit.
    """

    probes: tuple[Probe, ...]
    seconds: float = 0.0
    passes: int = 0
    is_restored: bool = True

    @property
    def passed(self) -> list[Probe]:
        """Probes that found nothing."""
        return [probe for probe in self.probes if probe.result == "passed"]

    @property
    def failed(self) -> list[Probe]:
        """Probes that found a fault."""
        return [probe for probe in self.probes if probe.result == "failed"]

    @property
    def not_tried(self) -> list[Probe]:
        """Probes that have no meaning for this model, lack something, or did not fit; they say why."""
        return [probe for probe in self.probes if probe.result == "not_tried"]

    def __getitem__(self, name: str) -> Probe:
        for probe in self.probes:
            if probe.name == name:
                return probe
        raise KeyError(name)

    def __str__(self) -> str:
        counts = f"{len(self.failed)} failed, {len(self.passed)} passed, {len(self.not_tried)} not tried"
        head = f"preflight: {counts}; {self.passes} forward passes in {self.seconds:.1f} s"
        lost = [] if self.is_restored else ["not all of the state could be put back"]
        return "\n".join([head, *lost, *(f"  {probe}" for probe in self.failed + self.passed + self.not_tried)])

    def record(self, run: Run) -> None:
        """Writes one fact for each probe."""
        import json

        for probe in self.probes:
            texts = {"result": probe.result, "says": probe.says}
            try:
                data = json.dumps(probe.data, separators=(",", ":"), allow_nan=False)
            except ValueError:
                data = ""
            if probe.data is not None and 0 < len(data.encode()) <= MAX_TEXT:
                texts["data"] = data
            run._fact("probe", probe.name, numbers=probe.numbers, texts=texts, source=probe.source)


NAMES = (
    "finite",
    "initial_loss",
    "reach",
    "memory",
    "one_update",
    "two_evaluations",
    "batch_dependence",
    "future",
    "context",
    "input_dependence",
    "precision",
    "one_batch",
    "rates",
)
"""Probes in the order in which they are tried: those that need few passes first."""


def not_tried(reason: str, *, one_batch: bool = False, rates: bool = False) -> Preflight:
    """A report of probes that were all not tried."""
    return Preflight(tuple(Probe(name, "not_tried", reason) for name in chosen(one_batch=one_batch, rates=rates)))


def chosen(*, one_batch: bool, rates: bool) -> Sequence[str]:
    """Names of the probes that are wanted."""
    left_out = {name for name, is_wanted in (("one_batch", one_batch), ("rates", rates)) if not is_wanted}
    return [name for name in NAMES if name not in left_out]
