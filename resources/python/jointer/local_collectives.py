"""Local replacements of collectives, for a rank that runs alone.

So that one rank can be measured without the others, each result has the real size and contains
copies of this rank's data, followed by zeros if an all-to-all returns more than it was given. The
values are not those of a real run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, fx


def local_form(node: fx.Node) -> Callable[..., Any] | None:
    """The replacement of a collective; ``None`` if ``node`` is not a collective, or also works with
    one rank."""
    name = getattr(getattr(node.target, "_schema", None), "name", "")
    space, _, operator = name.partition("::")
    if space not in ("_c10d_functional", "_c10d_functional_autograd"):
        return None
    return _FORMS.get(operator)


def _copy(value: Tensor, *rest: Any) -> Tensor:
    return value.clone(memory_format=torch.contiguous_format)


def _copies(values: list[Tensor], *rest: Any) -> list[Tensor]:
    return [_copy(each) for each in values]


def _same(value: Any, *rest: Any) -> Any:
    return value


def _gather(value: Tensor, size: int, group: Any) -> Tensor:
    return torch.cat([value] * size) if value.dim() else value.repeat(size)


def _gather_out(value: Tensor, size: int, group: Any, *, out: Tensor) -> Tensor:
    return out.copy_(_gather(value, size, group))


def _gathers(values: list[Tensor], size: int, group: Any) -> list[Tensor]:
    return [_gather(each, size, group) for each in values]


def _scatter(value: Tensor, reduce: str, size: int, group: Any) -> Tensor:
    return value[: value.shape[0] // size].clone(memory_format=torch.contiguous_format)


def _scatter_out(value: Tensor, reduce: str, size: int, group: Any, *, out: Tensor) -> Tensor:
    return out.copy_(_scatter(value, reduce, size, group))


def _scatters(values: list[Tensor], reduce: str, size: int, group: Any) -> list[Tensor]:
    return [_scatter(each, reduce, size, group) for each in values]


def _exchange(value: Tensor, received: list[int], sent: list[int], group: Any) -> Tensor:
    rows = sum(int(each) for each in received) if received else value.shape[0]
    result = value.new_zeros((rows, *value.shape[1:]))
    known = min(rows, value.shape[0])
    result[:known] = value[:known]
    return result


_FORMS: dict[str, Callable[..., Any]] = {
    "all_reduce": _copy,
    "all_reduce_": _same,
    "all_reduce_coalesced": _copies,
    "all_reduce_coalesced_": _same,
    "all_gather_into_tensor": _gather,
    "all_gather_into_tensor_out": _gather_out,
    "all_gather_into_tensor_coalesced": _gathers,
    "reduce_scatter_tensor": _scatter,
    "reduce_scatter_tensor_out": _scatter_out,
    "reduce_scatter_tensor_coalesced": _scatters,
    "all_to_all_single": _exchange,
    "broadcast": _copy,
    "broadcast_": _same,
    "wait_tensor": _same,
}


def barrier(group: Any = None) -> None:
    """Wait for the other ranks, if there are any."""
    if dist.is_initialized() and dist.get_backend() != "fake":
        (group or dist.group.WORLD).barrier().wait()
