"""Describes the process groups that collectives name, and recreates them.

Collectives refer to their group by a name that is only valid in the registry of this process.
Captures therefore contain a table: name -> ranks, description, backend.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import torch.distributed as dist
from torch import fx
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx.node import map_aggregate

#: Names of the arguments that name a process group, in operator schemas. C++ follows the same rule
#: (core/graph/group_argument.h).
_GROUP_ARGUMENTS = frozenset({"group_name", "group"})


def group_names(node: fx.Node) -> Iterator[str]:
    """The process groups that the arguments of ``node`` name."""
    if node.op != "call_function":
        return
    positional = (node.args[i] for i in group_positions(node.target) if i < len(node.args))
    by_keyword = (value for name, value in node.kwargs.items() if names_group(name))
    yield from (value for value in (*positional, *by_keyword) if isinstance(value, str))


def names_group(argument: str) -> bool:
    """True if a string that an operator's schema calls ``argument`` is the name of a group."""
    return argument in _GROUP_ARGUMENTS


def group_objects(node: fx.Node) -> Iterator[Any]:
    """The process groups among the value and the arguments of ``node``.

    If one rank compiles for all, a collective's group is the result of another node.
    """
    found: list[Any] = []
    map_aggregate((node.args, node.kwargs, node.meta.get("val")), found.append)
    yield from (group for each in found if (group := as_group(each)) is not None)


def as_group(value: Any) -> Any:
    """``value`` as a process group, unwrapped if torch wrapped it for tracing; ``None`` if it is
    something else."""
    if not dist.is_available():
        return None
    if type(value).__name__ == "FakeScriptObject":
        value = getattr(value, "real_obj", None)
    return value if isinstance(value, dist.ProcessGroup) else None


@functools.cache
def group_positions(target: Any) -> tuple[int, ...]:
    """The positional arguments of ``target`` that name a process group if they are strings."""
    if isinstance(target, OpOverloadPacket) and len(target.overloads()) == 1:
        target = getattr(target, target.overloads()[0])
    if not isinstance(target, OpOverload):
        return ()
    return tuple(i for i, a in enumerate(target._schema.arguments) if names_group(a.name))


def describe_group(name: str) -> dict[str, Any] | None:
    """``{ranks, desc, backend}`` of the group ``name``, ``None`` if this process has no such
    group."""
    group = resolve_group(name)
    if group is None:
        return None
    return {
        "ranks": dist.get_process_group_ranks(group),
        "desc": group.group_desc,
        "backend": dist.get_backend(group),
    }


def restore_groups(groups: Mapping[str, Mapping[str, Any]], rank: int, world_size: int) -> None:
    """Recreate ``groups`` under their names, with the ``fake`` backend.

    Does nothing if a process group is already initialized, or if no group contains ``rank``. If
    names cannot be resolved, the graph can be inspected but not run. The groups live until
    ``torch.distributed.destroy_process_group()``.
    """
    if not groups or not dist.is_available() or dist.is_initialized():
        return
    from torch._C._distributed_c10d import _register_process_group, _unregister_process_group
    from torch.testing._internal.distributed.fake_pg import FakeStore  # registers the backend

    groups = {name: group for name, group in groups.items() if rank in group["ranks"]}
    if not groups:
        return
    size = max(world_size, 1 + max(max(group["ranks"], default=0) for group in groups.values()))
    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=size)
    made = {
        name: dist.new_group(list(group["ranks"]), group_desc=group.get("desc"))
        for name, group in groups.items()
    }
    # Unregister the names that torch chose, since a recorded name may be one of them.
    for automatic in {dist.group.WORLD.group_name, *(group.group_name for group in made.values())}:
        _unregister_process_group(automatic)
    for name, group in made.items():
        _register_process_group(name, group)
    if dist.group.WORLD.group_name not in made:
        _register_process_group(dist.group.WORLD.group_name, dist.group.WORLD)


def resolve_group(name: str) -> Any:
    """The process group registered as ``name``, or ``None``."""
    if not dist.is_available() or not dist.is_initialized():
        return None
    from torch._C._distributed_c10d import _resolve_process_group

    try:
        return _resolve_process_group(name)
    except (RuntimeError, ValueError):
        return None


def make_twins(gm: fx.GraphModule) -> list[str]:
    """Create the twin groups that ``gm`` names and that do not exist in this process.

    To give collectives a separate stream, passes move them to a twin group with the same ranks,
    whose name is that of the original with a suffix: ``0_fsdp_extra`` is a twin of ``0``. All ranks
    must call this with the same graph. Does nothing if there are no process groups.

    Returns:
        the names of the groups that were created.
    """
    if not dist.is_available() or not dist.is_initialized():
        return []
    from torch._C._distributed_c10d import _register_process_group

    named = dict.fromkeys(name for node in gm.graph.nodes for name in group_names(node))
    made = []
    for name in named:
        if resolve_group(name) is None and (first := _twin_of(name)) is not None:
            twin = dist.new_group(
                dist.get_process_group_ranks(first),
                backend=dist.get_backend(first),
                use_local_synchronization=True,
                group_desc=name,
            )
            _register_process_group(name, twin)
            made.append(name)
    return made


def _twin_of(name: str) -> Any:
    """The group whose name, followed by a suffix ``_...``, is ``name``; the longest such name
    counts."""
    end = name.rfind("_")
    while end > 0:
        if (group := resolve_group(name[:end])) is not None:
            return group
        end = name.rfind("_", 0, end)
    return None
