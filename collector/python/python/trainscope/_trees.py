"""Nested mappings and sequences as values with joined names."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

MAX_DEPTH = 16
"""Deepest nesting of mappings; one that holds itself would not end."""


def mapping_of(values: Any) -> Mapping[str, Any]:
    """Hyper-parameters as a mapping. Raises TypeError if they are neither mapping, dataclass nor Namespace."""
    if dataclasses.is_dataclass(values) and not isinstance(values, type):
        return {field.name: getattr(values, field.name) for field in dataclasses.fields(values)}
    if isinstance(values, argparse.Namespace):
        return vars(values)
    if isinstance(values, Mapping):
        return values
    raise TypeError(f"hyper-parameters are a mapping, dataclass or Namespace, not {type(values).__name__}")


def flatten(values: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, float | str | bool]]:
    """Hyper-parameters with their joined names; a value that is neither number, text nor bool is its `repr`."""
    for name, value in values.items():
        path = f"{prefix}{name}"
        is_nested = isinstance(value, (Mapping, argparse.Namespace)) or (
            dataclasses.is_dataclass(value) and not isinstance(value, type)
        )
        if is_nested and depth < MAX_DEPTH:
            yield from flatten(mapping_of(value), f"{path}/", depth + 1)
        elif isinstance(value, (bool, int, float, str)):
            yield path, value
        else:
            yield path, repr(value)


def leaves(tree: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves of nested mappings and sequences with their joined names."""
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            yield from leaves(value, f"{prefix}/{name}" if prefix else str(name))
    elif isinstance(tree, (list, tuple)):
        for index, value in enumerate(tree):
            yield from leaves(value, f"{prefix}/{index}" if prefix else str(index))
    elif tree is not None:
        yield prefix or "value", tree
