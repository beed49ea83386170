"""Adapts a graph to the device on which it runs, which may differ from that of the capture.

Devices in arguments and constants are replaced. Operators that do not exist for the device are
replaced by an equivalent (``cpu_forms``), or by torch's decomposition. Notes list the replacements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import torch
from torch import fx
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_leaves

from .cpu_forms import cpu_form
from .errors import CaptureError
from .targets import target_name
from .values import captured_device

#: An operator with a kernel for any of these keys can run on the CPU.
_CPU_KERNELS = (
    "CPU",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
    "BackendSelect",
)

#: Key of ``Node.meta``.
_CAPTURED = "captured_target"

#: Argument of factory functions that requires CUDA.
_PIN = "pin_memory"


def retarget(gm: fx.GraphModule, device: torch.device) -> list[str]:
    """Make ``gm`` and the graphs inside it run on ``device``.

    The device of values in ``meta["val"]`` stays that of the capture. Constants without data in the
    capture become zeros.

    Returns:
        notes on the replacements, without repetitions.

    Raises:
        CaptureError: the graph was captured on the CPU, but ``device`` is another device.
    """
    if device.type != "cpu" and _is_on_cpu(gm):
        raise CaptureError(
            "captured on the CPU: only the backends interpret and cudagraph move such a graph to "
            f"{device.type.upper()}; use one of them, or --on cpu"
        )
    replaced: Counter[str] = Counter()
    missing: list[str] = []
    for module in gm.modules():
        if isinstance(module, fx.GraphModule):
            for node in module.graph.nodes:
                _move_arguments(node, device)
                if node.op == "call_function" and device.type == "cpu":
                    _give_cpu_form(node, replaced)
                if node.op == "get_attr":
                    missing += _move_constant(module, node, device)
            module.recompile()
    notes = [f"{count} x {text}" for text, count in replaced.items()]
    if missing:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        names = ", ".join(missing[:5])
        notes.append(f"constants without data in the capture are zeros: {names}{more}")
    return notes


def substitute(node: fx.Node, function: Callable[..., Any]) -> None:
    """Make ``node`` call ``function``, and record its original target (``captured_target``)."""
    node.meta[_CAPTURED] = captured_target(node)
    node.target = function


def captured_target(node: fx.Node) -> str:
    """The name of the target of ``node`` in the capture."""
    known = node.meta.get(_CAPTURED) or target_name(node.target)
    return known or getattr(node.target, "__name__", str(node.target))


def moved(device: torch.device, target: torch.device) -> torch.device:
    """The device that replaces ``device`` in a graph that runs on ``target``."""
    return device if device.type in ("cpu", "meta") else target


def _is_on_cpu(gm: fx.GraphModule) -> bool:
    """True if ``gm`` has tensors, all of them on the host."""
    devices = {
        value.device.type
        for node in gm.graph.nodes
        for value in tree_leaves(node.meta.get("val"))
        if isinstance(value, torch.Tensor)
    }
    return bool(devices) and devices <= {"cpu", "meta"}


def _move_arguments(node: fx.Node, target: torch.device) -> None:
    def move(value: Any) -> Any:
        return moved(value, target) if isinstance(value, torch.device) else value

    node.args = fx.node.map_aggregate(node.args, move)
    node.kwargs = fx.node.map_aggregate(node.kwargs, move)
    if target.type == "cpu" and node.kwargs.get(_PIN) and not torch.cuda.is_available():
        node.kwargs = {**node.kwargs, _PIN: False}


def _give_cpu_form(node: fx.Node, replaced: Counter[str]) -> None:
    target = node.target
    if form := cpu_form(node):
        substitute(node, form)
        replaced[f"{target_name(target)} replaced by its CPU form"] += 1
    elif isinstance(target, OpOverload) and not _runs_on_cpu(target):
        if decomposition := decomposition_table.get(target):
            substitute(node, decomposition)
            replaced[f"{target_name(target)} replaced by its decomposition"] += 1


def _runs_on_cpu(operator: OpOverload) -> bool:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return any(has_kernel(operator.name(), key) for key in _CPU_KERNELS)


def _move_constant(gm: fx.GraphModule, node: fx.Node, target: torch.device) -> list[str]:
    value = attrgetter(node.target)(gm)
    if not isinstance(value, torch.Tensor):
        return []
    *path, name = node.target.split(".")
    owner = gm.get_submodule(".".join(path))
    device = moved(captured_device(value), target)
    if isinstance(value, FakeTensor):
        real = torch.zeros(tuple(value.shape), dtype=value.dtype, device=device)
    else:
        real = value.to(device)
    owner.register_buffer(name, real)
    return [node.name] if isinstance(value, FakeTensor) else []
