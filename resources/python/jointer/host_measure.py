"""What a pass hears that asks the device, or the other ranks, how long something takes.

A host has neither: it runs beside a person's window, on any machine. torch's overlap scheduler
measures compute nodes on the GPU, asks it for its bandwidth, and agrees on the times with all
ranks; while a pass runs here, it gets the estimates that came with the request, which are the same
on every rank, and there is nothing to agree on. What a fusion takes is its tensors over that
bandwidth. Nothing else of torch is changed, and its source is not touched.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

import torch
from torch import fx
from torch.utils._pytree import tree_leaves

_MODULE = "torch._inductor.fx_passes.overlap_scheduling"
#: Of a node that the pass itself added, which no request has a cost of: about 2.5 TB/s.
_BYTES_PER_MS = 2.5e9
_AGREE = "_align_compute_nodes_runtime_estimations_across_all_distributed_ranks"
_AGREE_ON_ALL = "align_estimations_across_ranks"
#: What the scheduler calls its own estimate of a node: to torch 2.14, and from 2.15.
_ESTIMATES = ("estimate_mem_bound_runtime_ms", "estimate_roofline_runtime_ms")


@contextlib.contextmanager
def nothing_measured(milliseconds: Mapping[str, float]) -> Iterator[None]:
    """While active, torch's overlap scheduler takes compute nodes for what ``milliseconds`` says
    of them by name, and nodes that are not there for what moving their tensors takes."""
    undo: list[Callable[[], None]] = []

    def replace(module: ModuleType) -> None:
        undo.append(_replace(module, milliseconds))

    if _MODULE in sys.modules:
        replace(sys.modules[_MODULE])
        finder = None
    else:
        finder = _WhenImported(replace)
        sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        if finder is not None:
            sys.meta_path.remove(finder)
        for each in undo:
            each()


def _replace(module: Any, milliseconds: Mapping[str, float]) -> Callable[[], None]:
    """Put estimates in place of measurements; gives what undoes that."""

    def estimate(node: fx.Node, custom: Any = None) -> float:
        asked = module.get_custom_estimation(node, custom, None)
        if asked is not None:
            return float(asked)
        known = milliseconds.get(node.name)
        return _moving(node) if known is None else known

    def transfer_ns(
        given: Iterable[Any], returned: Iterable[Any], *_device: Any, **_of_device: Any
    ) -> float:
        return _milliseconds_to_move([*given, *returned]) * 1e6

    import torch.utils._runtime_estimation as runtime_estimation

    scheduler = module.OverlapScheduler
    replaced = [
        (module, "benchmark_node", estimate),
        (
            module,
            "benchmark_node_with_cache_key",
            lambda node, custom=None: (estimate(node, custom), None),
        ),
        (runtime_estimation, "get_transfer_time", transfer_ns),
        (scheduler, _AGREE, lambda self: None),
    ]
    replaced += [(module, name, estimate) for name in _ESTIMATES if hasattr(module, name)]
    if hasattr(module, _AGREE_ON_ALL):
        replaced.append((module, _AGREE_ON_ALL, dict))
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in replaced]
    for owner, name, value in replaced:
        setattr(owner, name, value)

    def undo() -> None:
        for owner, name, value in before:
            setattr(owner, name, value)

    return undo


def _moving(node: fx.Node) -> float:
    """Milliseconds for reading what ``node`` reads and writing what it returns; none for a view."""
    from torch._inductor.fx_passes.fusion_regions import is_view_node

    if is_view_node(node):
        return 0.0
    values = [node.meta.get("val"), *(each.meta.get("val") for each in node.all_input_nodes)]
    return _milliseconds_to_move(values)


def _milliseconds_to_move(values: Any) -> float:
    tensors = [t for t in tree_leaves(values) if isinstance(t, torch.Tensor)]
    return sum(t.numel() * t.element_size() for t in tensors) / _BYTES_PER_MS


class _WhenImported(importlib.abc.MetaPathFinder):
    """Tells of the scheduler's module once it is imported, which the pass may do itself."""

    def __init__(self, tell: Callable[[ModuleType], None]) -> None:
        self._tell = tell
        self._is_asking = False

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _MODULE or self._is_asking:
            return None
        self._is_asking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._is_asking = False
        if spec is None or spec.loader is None:
            return spec
        execute, tell = spec.loader.exec_module, self._tell

        def execute_and_tell(module: ModuleType) -> None:
            execute(module)
            tell(module)

        spec.loader.exec_module = execute_and_tell  # type: ignore[method-assign]
        return spec
