"""Statistics of trees of JAX arrays, computed inside `jit`, and recorded outside of it.

Tried with JAX 0.10.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import trainscope

# Without type hints in JAX.
_finfo: Any = jnp.finfo
_BITS = {8: jnp.uint8, 16: jnp.uint16, 32: jnp.uint32, 64: jnp.uint64}


@jax.tree_util.register_pytree_node_class
class Summary:
    """Statistics of one array, as arrays of one element, so that it may leave `jit`, `grad` and `scan`."""

    def __init__(
        self, dtype: str, shape: tuple[int, ...], counts: Any, extremes: Any, sums: Any, exponent: Any
    ) -> None:
        """`dtype`, `shape`: of the array. `counts`: NaN, +∞, −∞, zero, negative, positive and subnormal elements,
        u32. `extremes`: smallest and largest finite element. `sums`: of finite elements, their squares and
        magnitudes, each element divided by 2 to the power of `exponent`, so that no sum overflows."""
        self.dtype, self.shape = dtype, shape
        self._parts = counts, extremes, sums, exponent

    def trainscope_row(self) -> tuple[str, tuple[int, ...], tuple[float, ...]]:
        """Type, shape and the 14 numbers of a row of statistics. Waits for the arrays. The hash is 0: none."""
        counts, extremes, sums, exponent = (np.asarray(part) for part in self._parts)
        with np.errstate(over="ignore"):
            total, squares, magnitudes = np.ldexp(sums.astype(np.float64), exponent * np.array([1, 2, 1]))
        size = int(np.prod(self.shape, dtype=np.int64))
        row = (size, *map(int, counts), *map(float, extremes), float(total), float(squares), float(magnitudes), 0)
        return self.dtype, self.shape, row

    def tree_flatten(self) -> tuple[Any, Any]:
        return self._parts, (self.dtype, self.shape)

    @classmethod
    def tree_unflatten(cls, static: Any, parts: Any) -> Summary:
        return cls(*static, *parts)


def summarize(tree: Any) -> dict[str, Summary]:
    """Statistics of each array of a tree, by its key path (`layer1/kernel`). A pure function, for use inside `jit`.

    Give the result to `Run.log_tree` outside. Counts are exact below 2³² of a kind; NaN and infinities are counted
    and are in no sum; sums are of f32 (f64 for arrays of 64 bits). Complex arrays are read as twice as many real
    numbers. Leaves that are no numbers (keys of random numbers) are left out. Costs one pass over the arrays, more
    where XLA does not fuse it.
    """
    return {name: _summarize_array(array) for name, array in _arrays(tree).items()}


def observe(name: str, tree: Any, step: Any, *, role: str = "other") -> None:
    """Records the arrays of a tree from inside `jit`, as `name/key/path`, into the run started last, if it selects
    the step.

    A `jax.debug.callback` that JAX may call later and in another order: `jax.effects_barrier()` waits for all of
    them, which must be done before the run is finished. `step` may be traced. On the CPU the arrays themselves are
    handed over, with no cost that could be measured; elsewhere they are reduced on their device at every step. Never
    raises into the computation.
    """
    values = _arrays(tree) if jax.default_backend() == "cpu" else summarize(tree)
    jax.debug.callback(partial(_record, name, role), values, step)


def _record(name: str, role: str, values: Mapping[str, Any], step: Any) -> None:
    run = trainscope.current()
    if run is None or run._is_finished:
        return
    try:
        if run._selects(int(step)):
            run.log_tree({name: values}, role=role, step=int(step))
    except Exception as error:  # an exception here would end the user's computation
        run._count_invalid(f"observe of {name}: {error}")


def _arrays(tree: Any) -> dict[str, Any]:
    """Arrays of numbers of a tree by their key paths, `value` for a tree that is an array itself."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    # The only leaf of a variable of Flax NNX is called `value`: its name is that of the variable.
    siblings = Counter(path[:-1] for path, _ in leaves)
    named = {}
    for path, leaf in leaves:
        if len(path) > 1 and path[-1] == jax.tree_util.GetAttrKey("value") and siblings[path[:-1]] == 1:
            path = path[:-1]
        named[jax.tree_util.keystr(path, simple=True, separator="/") or "value"] = leaf
    return {name: jnp.asarray(leaf) for name, leaf in named.items() if _is_numeric(leaf)}


def _is_numeric(leaf: Any) -> bool:
    dtype = jax.dtypes.result_type(leaf)
    kinds = jnp.floating, jnp.integer, jnp.complexfloating, jnp.bool_
    return any(jnp.issubdtype(dtype, kind) for kind in kinds) and dtype.itemsize * 8 in (*_BITS, 128)


def _summarize_array(array: Any) -> Summary:
    shape = tuple(array.shape)
    if jnp.iscomplexobj(array):
        array = jnp.stack([array.real, array.imag], axis=-1)
        shape = tuple(array.shape)
    dtype = array.dtype
    wide = jnp.float64 if dtype.itemsize == 8 else jnp.float32
    numbers = array.astype(wide)
    if jnp.issubdtype(dtype, jnp.floating):
        counts, finite = _count_floats(array, numbers)
    else:
        none = jnp.zeros(array.shape, bool)
        counts, finite = [none, none, none, numbers == 0, numbers < 0, numbers > 0, none], ~none
    low = jnp.min(numbers, where=finite, initial=jnp.inf)
    high = jnp.max(numbers, where=finite, initial=-jnp.inf)
    magnitudes = jnp.where(finite, jnp.abs(numbers), 0)
    # A power of two divides exactly. The limits keep it and its reciprocal normal.
    exponent = jnp.clip(jnp.frexp(jnp.max(magnitudes, initial=0))[1], -100, 126)
    reciprocal = _power_of_two(-exponent, wide)
    small = jnp.where(finite, numbers, 0) * reciprocal
    sums = jnp.stack([jnp.sum(small), jnp.sum(small * small), jnp.sum(jnp.abs(small))])
    counted = jnp.stack([jnp.sum(each, dtype=jnp.uint32) for each in counts])
    return Summary(dtype.name, shape, counted, jnp.stack([low, high]), sums, exponent)


def _count_floats(array: Any, numbers: Any) -> tuple[list[Any], Any]:
    """Masks of NaN, +∞, −∞, zero, negative, positive and subnormal elements, and of the finite ones.

    `numbers` are the elements as f32 or f64. By their bits: on some devices a subnormal compares as zero.
    """
    info = _finfo(array.dtype)
    unsigned = _BITS[info.bits]
    bits = lax.bitcast_convert_type(array, unsigned)
    is_negative = bits >> (info.bits - 1) == 1
    magnitude = bits & unsigned((1 << (info.bits - 1)) - 1)
    finite = jnp.isfinite(numbers)
    zero = finite & (magnitude == 0)
    subnormal = finite & ~zero & (magnitude >> info.nmant == 0)
    infinite = jnp.isinf(numbers)
    counts = [
        jnp.isnan(numbers),
        infinite & ~is_negative,
        infinite & is_negative,
        zero,
        finite & ~zero & is_negative,
        finite & ~zero & ~is_negative,
        subnormal,
    ]
    return counts, finite


def _power_of_two(exponent: Any, dtype: Any) -> Any:
    """2 to the power of an integer from −126 to 127, exactly."""
    if dtype == jnp.float64:
        return lax.bitcast_convert_type((exponent.astype(jnp.int64) + 1023) << 52, jnp.float64)
    return lax.bitcast_convert_type((exponent.astype(jnp.int32) + 127) << 23, jnp.float32)
