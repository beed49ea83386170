"""Replaces measurements on the device, and agreement with other ranks, with estimates.

A host has neither a device nor other ranks: it runs on the user's machine. torch's overlap
scheduler measures compute nodes on the GPU, queries the GPU's bandwidth, and agrees on the times
with all ranks. While a pass runs in a host, the scheduler uses the estimates in the request
instead, which are the same on every rank. The time of a fusion is the time to move its tensors at a
fixed bandwidth. Nothing else in torch is changed.
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
#: The assumed bandwidth, about 2.5 TB/s, for fusions, and for nodes that the pass added, for which
#: the request contains no estimate.
_BYTES_PER_MS = 2.5e9
_AGREE = "_align_compute_nodes_runtime_estimations_across_all_distributed_ranks"
_AGREE_ON_ALL = "align_estimations_across_ranks"
#: The names of the scheduler's function that estimates a node: up to torch 2.14, and from 2.15 on.
_ESTIMATES = ("estimate_mem_bound_runtime_ms", "estimate_roofline_runtime_ms")


@contextlib.contextmanager
def nothing_measured(milliseconds: Mapping[str, float]) -> Iterator[None]:
    """While active, torch's overlap scheduler uses the times in ``milliseconds``, by name, for
    compute nodes. For nodes that are not in it, the time is that of moving their tensors."""
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
    """Replace measurements with estimates, and return a function that restores them."""

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
    """Milliseconds to read the inputs of ``node`` and write its results; 0 for a view."""
    from torch._inductor.fx_passes.fusion_regions import is_view_node

    if is_view_node(node):
        return 0.0
    values = [node.meta.get("val"), *(each.meta.get("val") for each in node.all_input_nodes)]
    return _milliseconds_to_move(values)


def _milliseconds_to_move(values: Any) -> float:
    tensors = [t for t in tree_leaves(values) if isinstance(t, torch.Tensor)]
    return sum(t.numel() * t.element_size() for t in tensors) / _BYTES_PER_MS


class _WhenImported(importlib.abc.MetaPathFinder):
    """Detects the import of the scheduler's module, which may happen within the pass."""

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
