"""Adapts a graph to the device on which it runs, which may differ from that of the capture.

Devices in arguments and constants are replaced. Operators that do not exist for the device are
replaced by an equivalent (``cpu_forms``, ``cuda_forms``), or by torch's decomposition. Notes list
the replacements.
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
from .cuda_forms import cuda_form
from .targets import target_name
from .values import captured_device, set_device

#: An operator with a kernel for any of these keys can run on the CPU.
_CPU_KERNELS = (
    "CPU",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
    "BackendSelect",
)

#: By the type of a device: its name in notes, and the forms of operators that it lacks.
_FORMS = {"cpu": ("CPU", cpu_form), "cuda": ("CUDA", cuda_form)}

#: Maps a device in a graph to that on which the graph runs.
Move = Callable[[torch.device], torch.device]

#: Key of ``Node.meta``.
_CAPTURED = "captured_target"

#: Argument of factory functions that requires CUDA.
_PIN = "pin_memory"


def retarget(gm: fx.GraphModule, device: torch.device) -> list[str]:
    """Make ``gm`` and the graphs inside it run on ``device``.

    If the graph was captured on the CPU and ``device`` is another one, everything moves to
    ``device``, the device of values in ``meta["val"]`` included. In other graphs, tensors on the
    CPU stay there, and the device of values stays that of the capture.
    Constants without data in the capture become zeros.

    Returns:
        notes on the replacements, without repetitions.
    """
    leaves_cpu = device.type != "cpu" and _is_on_cpu(gm)

    def move(each: torch.device) -> torch.device:
        return device if leaves_cpu and each.type == "cpu" else moved(each, device)

    # Only memory of the host can be pinned, and only if there is a GPU.
    unpin = leaves_cpu or (device.type == "cpu" and not torch.cuda.is_available())
    replaced: Counter[str] = Counter()
    missing: list[str] = []
    for module in gm.modules():
        if isinstance(module, fx.GraphModule):
            for node in module.graph.nodes:
                _move_arguments(node, move, unpin)
                if node.op == "call_function" and (leaves_cpu or device.type == "cpu"):
                    _give_form(node, device.type, replaced)
                if node.op == "get_attr":
                    missing += _move_constant(module, node, move)
                if leaves_cpu:
                    _move_values(node, move)
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


def _move_arguments(node: fx.Node, move: Move, unpin: bool) -> None:
    def move_device(value: Any) -> Any:
        return move(value) if isinstance(value, torch.device) else value

    node.args = fx.node.map_aggregate(node.args, move_device)
    node.kwargs = fx.node.map_aggregate(node.kwargs, move_device)
    if unpin and node.kwargs.get(_PIN):
        node.kwargs = {**node.kwargs, _PIN: False}


def _move_values(node: fx.Node, move: Move) -> None:
    for value in tree_leaves(node.meta.get("val")):
        if isinstance(value, FakeTensor) and (device := move(value.device)) != value.device:
            set_device(value, device)


def _give_form(node: fx.Node, on: str, replaced: Counter[str]) -> None:
    target = node.target
    name, form_of = _FORMS[on]
    if form := form_of(node):
        substitute(node, form)
        replaced[f"{target_name(target)} replaced by its {name} form"] += 1
    elif on == "cpu" and isinstance(target, OpOverload) and not _runs_on_cpu(target):
        if decomposition := decomposition_table.get(target):
            substitute(node, decomposition)
            replaced[f"{target_name(target)} replaced by its decomposition"] += 1


def _runs_on_cpu(operator: OpOverload) -> bool:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return any(has_kernel(operator.name(), key) for key in _CPU_KERNELS)


def _move_constant(gm: fx.GraphModule, node: fx.Node, move: Move) -> list[str]:
    value = attrgetter(node.target)(gm)
    if not isinstance(value, torch.Tensor):
        return []
    *path, name = node.target.split(".")
    owner = gm.get_submodule(".".join(path))
    device = move(captured_device(value))
    if isinstance(value, FakeTensor):
        real = torch.zeros(tuple(value.shape), dtype=value.dtype, device=device)
    else:
        real = value.to(device)
    owner.register_buffer(name, real)
    return [node.name] if isinstance(value, FakeTensor) else []
