"""Callback for `Model.train` and `Model.fit` of MindSpore, in the place of its `SummaryCollector`.
 Tried with MindSpore 2.10 on the CPU, in graph and PyNative mode; newer ones work as long as the callbacks keep their
names.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainscope import Run
from trainscope._adapter import Adapter, Folder
from trainscope._lost import guarded

_mindspore: Any = importlib.import_module("mindspore")
_Callback: Any = importlib.import_module("mindspore.train").Callback


class TrainscopeCallback(Adapter, _Callback):  # type: ignore[misc]
    """Records the loss, parameters, state of the optimizer, graph, data pipeline and lineage of a training.

    The step is `cur_step_num` − 1, so that the first is 0. `loss` is recorded at each step: the mean of the first
    output of the network. Parameters and the state of the optimizer are those before the update of the step, under
    their own names, as dumps have them. Results of validations in `Model.fit` are called `val_…`.

    With data sink mode MindSpore calls it once an epoch, so one step of it is recorded, with the parameters before
    the epoch.

    `model.train(…, callbacks=[TrainscopeCallback("runs/1")])`
    """

    def __init__(
        self,
        summary_dir: Folder = None,
        collect_freq: int = 10,
        collect_specified_data: Mapping[str, Any] | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: Mapping[str, Any] | None = None,
        **start: Any,
    ) -> None:
        """`summary_dir`: begins a run there, with further arguments of `trainscope.start`; it ends with the training,
        as failed if by an exception. Without it the run started last is used, and left open.

        The others are those of `SummaryCollector`. `collect_freq`: parameters are recorded at multiples of it (of a
        run of its own). `collect_specified_data`: `collect_metric`, `collect_graph`, `collect_train_lineage` and
        `collect_dataset_graph` can be False; `histogram_regular` selects parameters; those not given are
        `keep_default_action`. `custom_lineage_data`: recorded with the lineage.
        """
        super().__init__()
        self._folder = summary_dir
        self._options = {"every": collect_freq, **start}
        self._specified = dict(collect_specified_data or {})
        self._is_default = keep_default_action
        self._custom = dict(custom_lineage_data or {})
        self._depth = 0
        self._step = 0
        self._has_graph = False

    def __enter__(self) -> TrainscopeCallback:
        self._depth += 1
        return self

    @guarded
    def __exit__(self, *error: Any) -> None:
        """Ends a run of its own; a validation within a training ends nothing."""
        self._depth -= 1
        if self._depth == 0 and self._run is not None:
            if error[1] is not None and self._is_own:
                self._run._fail(error[1])
            self._close()

    @guarded
    def on_train_begin(self, run_context: Any) -> None:
        """Begins the run; records the data pipeline and settings, and says what MindSpore does not give."""
        run = self._open(**self._options)
        if run is None:
            return
        params = run_context.original_args()
        self._has_graph = False
        run.note(
            "Gradients and outputs of layers are not recorded: they do not leave the training step of MindSpore."
            + (" Data sink mode: one step of each epoch is recorded." if params.dataset_sink_mode else "")
        )
        settings = _settings(params)
        run.hparams({name: value for name, value in settings.items() if value is not None})
        if self._collects("collect_train_lineage"):
            fields = settings | {"parallel_mode": str(params.parallel_mode), "device_count": params.device_number}
            run.lineage(**{name: value for name, value in fields.items() if value is not None}, **self._custom)
        if self._collects("collect_dataset_graph"):
            run.dataset(_pipeline(params.train_dataset))

    @guarded
    def on_train_step_begin(self, run_context: Any) -> None:
        """Opens the step and reads parameters."""
        run = self._run
        if run is None:
            return
        params = run_context.original_args()
        self._step = params.cur_step_num - 1
        run._begin_step(self._step)
        if run._selects(self._step) or params.dataset_sink_mode:
            self._record_parameters(run, params)

    @guarded
    def on_train_step_end(self, run_context: Any) -> None:
        """Records the loss, and ends the step."""
        run = self._run
        if run is None:
            return
        params = run_context.original_args()
        if self._collects("collect_metric"):
            loss = _loss(params.net_outputs)
            if loss is not None:
                run.scalar("loss", loss, self._step)
        if not self._has_graph and self._collects("collect_graph"):
            self._has_graph = True
            graph = params.train_network.get_func_graph_proto()
            if graph is not None:
                Path(run.folder, "train_network.pb").write_bytes(graph)
        if run._is_stopped_at("after_step"):
            run_context.request_stop()

    @guarded
    def on_eval_end(self, run_context: Any) -> None:
        """Records the results of a validation at the last step of the training."""
        params = run_context.original_args()
        results = params.get("eval_results") or params.get("metrics") or {}
        if self._run is not None:
            named = {f"val_{name.removeprefix('eval_')}": value for name, value in results.items()}
            self._run.log(named, self._step)

    def _collects(self, name: str) -> bool:
        return bool(self._specified.get(name, self._is_default))

    def _record_parameters(self, run: Run, params: Any) -> None:
        pattern = self._specified.get("histogram_regular")
        optimizer = params.optimizer
        trained = set() if optimizer is None else {id(parameter) for parameter in optimizer.parameters}
        own = {id(parameter) for parameter in params.network.get_parameters()}
        tensors = []
        for parameter in params.train_network.get_parameters():
            name = parameter.name
            if (pattern and not re.match(pattern, name)) or not run._selects_name(name):
                continue
            if id(parameter) in trained:
                role = "weight"
            elif id(parameter) not in own:
                role = "optimizer_state"
            else:
                # Statistics of normalization are no frozen weights.
                role = "other" if ".moving_" in name else "frozen_weight"
            tensors.append((name, role, parameter))
        run._record_tensors(tensors, self._step)


def _loss(outputs: Any) -> Any:
    """Mean of the first output; None if it is no number."""
    first = outputs[0] if isinstance(outputs, (list, tuple)) and outputs else outputs
    if isinstance(first, _mindspore.Tensor):
        # NumPy has no bfloat16.
        return first.astype(_mindspore.float32).asnumpy().mean()
    return first if isinstance(first, (int, float)) else None


def _settings(params: Any) -> dict[str, Any]:
    """Settings of a training by the names of `Run.lineage`; None for those that are not known."""
    optimizer, dataset = params.optimizer, params.train_dataset
    rate = getattr(optimizer, "learning_rate", None)
    batch_size = dataset.get_batch_size()
    return {
        "network": type(params.network).__name__,
        "loss_function": None if params.loss_fn is None else type(params.loss_fn).__name__,
        "optimizer": None if optimizer is None else type(optimizer).__name__,
        # A schedule is a cell and has no single number.
        "learning_rate": float(rate.asnumpy()) if isinstance(rate, _mindspore.Parameter) and rate.size == 1 else None,
        "epochs": params.epoch_num,
        "batch_size": batch_size,
        "dataset_size": int(dataset.get_dataset_size() * batch_size),
    }


def _pipeline(dataset: Any) -> list[dict[str, Any]]:
    """Operations of a data pipeline from its source on, for `Run.dataset`; of several sources the first."""
    operations: list[dict[str, Any]] = []
    at: Any = importlib.import_module("mindspore.dataset").serialize(dataset)
    while at:
        children = at.get("children") or []
        given = {name: value for name, value in at.items() if value not in (None, [], "")}
        operation = {"op": given.pop("op_type", "unknown")}
        given.pop("children", None)
        others = {"other_inputs": len(children) - 1} if len(children) > 1 else {}
        operations.insert(0, operation | _plain(given) | others)
        at = children[0] if children else None
    return operations


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers and texts as they are, the rest as text."""
    return {name: value if isinstance(value, (bool, int, float, str)) else str(value) for name, value in values.items()}
