"""Stores the tables of Triton kernels that a graph calls.

``triton_kernel_wrapper_*`` nodes have two indices into tables of the process that traced them: that
of the kernel, and that of its constant arguments. A capture stores both table entries as text.
"""

from __future__ import annotations

from typing import Any

from torch import fx

from .targets import target_name

_PREFIX = "triton_kernel_wrapper_"


def describe_kernels(node: fx.Node) -> dict[str, Any]:
    """Table entries for the kernel that ``node`` calls: ``{index: {name, src}, constN: text}``.

    Empty for other nodes, and for indices that are unknown in this process, as in a graph that was
    loaded from a capture.
    """
    if node.op != "call_function" or not (target_name(node.target) or "").startswith(_PREFIX):
        return {}
    from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table

    table: dict[str, Any] = {}
    kernel = kernel_side_table.id_to_kernel.get(node.kwargs.get("kernel_idx"))
    if kernel is not None:
        function = _jit_function(kernel)
        table[str(node.kwargs["kernel_idx"])] = {
            "name": getattr(function, "__name__", type(function).__name__),
            "src": getattr(function, "src", ""),
        }
    constants = kernel_side_table.constant_args.get(node.kwargs.get("constant_args_idx"))
    if constants is not None:
        table[f"const{node.kwargs['constant_args_idx']}"] = str(constants)
    return table


def missing_kernel(node: fx.Node, tables: dict[str, Any]) -> str | None:
    """The name of the kernel that ``node`` calls if it does not exist in this process.

    A capture stores the kernel's source, but text from a file is never executed: a kernel runs only
    if the program that defines it has added it to torch's tables.

    Args:
        node: the node.
        tables: ``triton_kernels`` of the capture.
    """
    if node.op != "call_function" or not (target_name(node.target) or "").startswith(_PREFIX):
        return None
    from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table

    index = node.kwargs.get("kernel_idx")
    if index in kernel_side_table.id_to_kernel:
        return None
    return (tables.get(str(index)) or {}).get("name") or f"number {index}"


def _jit_function(kernel: Any) -> Any:
    """The function inside a chain of autotuners and heuristics."""
    while not hasattr(kernel, "src") and hasattr(kernel, "fn"):
        kernel = kernel.fn
    return kernel
