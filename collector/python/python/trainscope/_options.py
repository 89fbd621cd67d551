"""Options of a recording: defaults, environment variables, and the rank of this process."""

from __future__ import annotations

import os
from typing import Any

DEFAULTS: dict[str, Any] = {
    "rank": None,
    "world_size": None,
    "every": 10,
    "first": 3,
    "names": (),
    "exclude": (),
    "exponents": True,
    "hash": True,
    "change": False,
    "histograms": False,
    "channels": (),
    "dump_every": 0,
    "dump_first": 0,
    "dump_at_not_finite": 0,
    "dump_names": (),
    "queue_bytes": 64 << 20,
    "snapshot_bytes": 1 << 30,
    "on_full": "drop",
    "flush_every": 0.5,
    "patience": 10.0,
    "strict": False,
    "file_suffix": None,
    "live": None,
    "at_hit": None,
    "at_hit_severity": None,
    "wait": None,
    "system": False,
}

RANK_VARIABLES = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("RANK_ID", "RANK_SIZE"),
)
"""Variables for rank and number of ranks: of torchrun, Open MPI, MPICH and MindSpore."""


def complete(given: dict[str, Any]) -> dict[str, Any]:
    """Options with defaults for those that are not given or `None`. Raises `TypeError` for an unknown name."""
    unknown = given.keys() - DEFAULTS.keys()
    if unknown:
        raise TypeError(f"there is no option {sorted(unknown)[0]!r}")
    options = DEFAULTS | {name: value for name, value in given.items() if value is not None}
    for name in ("names", "exclude", "dump_names"):
        patterns = options[name]
        options[name] = [patterns] if isinstance(patterns, str) else list(patterns)
    if options["at_hit"] is None and not os.environ.get("TRAINSCOPE_AT_HIT") and wants_capsule(None):
        options["at_hit"] = "capsule"
    options["channels"] = list(options["channels"].items() if isinstance(options["channels"], dict) else options["channels"])
    return options


def every_from_environment() -> int | None:
    """Number of `TRAINSCOPE_EVERY`, if it is one."""
    return _number("TRAINSCOPE_EVERY")


def is_system_wanted() -> bool:
    """`False` if `TRAINSCOPE_SYSTEM` is `0`."""
    return os.environ.get("TRAINSCOPE_SYSTEM", "") != "0"


def wants_capsule(at_hit: str | None) -> bool:
    """`True` if the step of a hit is to be written: by an option, or `TRAINSCOPE_CAPSULE`, which may come beside another."""
    return is_set("TRAINSCOPE_CAPSULE") or (at_hit or os.environ.get("TRAINSCOPE_AT_HIT")) == "capsule"


def is_quiet() -> bool:
    """`True` if `TRAINSCOPE_QUIET` is set, and not to `0`."""
    return is_set("TRAINSCOPE_QUIET")


def is_set(variable: str) -> bool:
    """`True` if a variable is set, and not to `0`."""
    return os.environ.get(variable, "0") not in ("", "0")


def wants_preflight() -> bool:
    """`True` if `TRAINSCOPE_PREFLIGHT` is set, and not to `0`."""
    return is_set("TRAINSCOPE_PREFLIGHT")


def ranks_from_environment() -> tuple[int, int] | None:
    """Rank of this process and number of ranks, as its launcher has set them."""
    pairs = list(RANK_VARIABLES)
    if "SLURM_STEP_ID" in os.environ and "SLURM_PROCID" in os.environ:
        # Only inside of srun: in a batch script SLURM_PROCID is 0, however many processes it starts.
        pairs.append(("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))
    for rank_name, size_name in pairs:
        rank, size = _number(rank_name), _number(size_name)
        if rank is not None and size is not None and 0 <= rank < size:
            return rank, size
    return None


def _number(variable: str) -> int | None:
    text = os.environ.get(variable, "")
    return int(text) if text.isascii() and text.isdigit() else None
