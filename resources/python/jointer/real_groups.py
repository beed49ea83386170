"""Process groups that communicate, under the names that a capture uses.

If one capture is used for all ranks, its table contains the groups of the rank that was captured,
and ``group_of`` computes the ranks of the same group for another rank.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch
import torch.distributed as dist

from .counted import counted
from .errors import CaptureError


def group_of(ranks: list[int], rank: int) -> list[int]:
    """The counterpart of the group ``ranks`` that contains ``rank``.

    A group is a line or plane in a mesh of ranks: it has a stride and a size along each of its
    dimensions, and its counterparts are parallel to it. ``[0, 2]`` is ``[1, 3]`` for rank 1;
    ``[0, 1, 4, 5]`` is ``[2, 3, 6, 7]`` for rank 2.
    """
    if rank in ranks:
        return list(ranks)
    offsets = [each - min(ranks) for each in sorted(ranks)]
    directions = _directions(offsets)
    if directions is None:
        raise CaptureError(
            f"the group of ranks {ranks} has no counterpart for rank {rank}; give each rank a "
            "separate capture ({rank} in its path)"
        )
    base = rank - sum(rank // stride % size * stride for stride, size in directions)
    return [base + each for each in offsets]


def _directions(offsets: list[int]) -> list[tuple[int, int]] | None:
    """(stride, size) of each dimension, smallest stride first; ``None`` if the ranks do not form a
    mesh."""
    if len(offsets) == 1:
        return []
    stride, size = offsets[1], 1
    while size < len(offsets) and offsets[size] == size * stride:
        size += 1
    if len(offsets) % size:
        return None
    blocks = [offsets[i : i + size] for i in range(0, len(offsets), size)]
    starts = [block[0] for block in blocks]
    if any([each - block[0] for each in block] != offsets[:size] for block in blocks):
        return None
    outer = _directions(starts)
    return None if outer is None else [(stride, size), *outer]


def join_groups(
    groups: Mapping[str, Mapping[str, Any]],
    rank: int,
    world_size: int,
    device: torch.device,
    timeout_s: float,
) -> dict[str, dist.ProcessGroup]:
    """Start communication with the other ranks and register ``groups`` under their names.

    The address is in torchrun's environment variables. Every rank creates its groups, in an order
    that cannot deadlock.

    Returns:
        the groups, to which the caller must hold references, since torch's registry does not.

    Raises:
        CaptureError: a group has ranks outside the world.
        torch.distributed.DistError, RuntimeError: the ranks cannot connect.
    """
    from torch._C._distributed_c10d import _register_process_group, _unregister_process_group

    made = {name: group_of(list(group["ranks"]), rank) for name, group in groups.items()}
    for name, ranks in made.items():
        if max(ranks) >= world_size:
            raise CaptureError(
                f"group {name!r} has ranks {ranks}, but this run has "
                f"{counted(world_size, 'rank')}; start as many ranks as the capture has, or run "
                "one with --solo"
            )
    timeout = datetime.timedelta(seconds=max(timeout_s, 1))
    if device.type == "cuda":
        # When NCCL's timeout expires, the process ends. The launcher's timeout, whose message names
        # the node, must expire first. A barrier uses `device_id`; without it, NCCL would guess the
        # device.
        dist.init_process_group(
            "nccl", rank=rank, world_size=world_size, timeout=2 * timeout, device_id=device
        )
    else:
        dist.init_process_group("gloo", rank=rank, world_size=world_size, timeout=timeout)
    world = dist.group.WORLD
    _unregister_process_group(world.group_name)  # a recorded name may be one that torch chose
    handles: dict[str, dist.ProcessGroup] = {}
    met: Counter[tuple[int, ...]] = Counter()
    for name in sorted(made, key=lambda name: (made[name], name)):
        ranks = tuple(made[name])
        key = f"jointer/{'_'.join(map(str, ranks))}/{met[ranks]}"
        met[ranks] += 1
        handles[name] = _connect(key, name, ranks.index(rank), len(ranks), device, timeout)
        _register_process_group(name, handles[name])
    if world.group_name not in made:
        _register_process_group(world.group_name, world)
    return handles


def _connect(
    key: str, name: str, rank: int, size: int, device: torch.device, timeout: datetime.timedelta
) -> dist.ProcessGroup:
    """A group of ``size`` processes that connect through ``key`` in the world's store.

    ``new_group`` is not used, as it requires all ranks to create their groups in the same order and
    numbering, which captures of different ranks do not guarantee.
    """
    from torch.distributed.distributed_c10d import _get_default_store

    store = dist.PrefixStore(key, _get_default_store())
    group = dist.ProcessGroup(store, rank, size)
    kinds = dist.ProcessGroup.BackendType
    if device.type == "cuda":
        group.bound_device_id = device  # for barriers
        options = dist.ProcessGroupNCCL.Options()
        options._timeout = 2 * timeout
        group._set_default_backend(kinds.NCCL)
        _register(group, "cuda", kinds.NCCL, dist.ProcessGroupNCCL(store, rank, size, options))
        # Graphs for a GPU also contain collectives of host tensors, such as sizes.
        store = dist.PrefixStore("host", store)
    else:
        group._set_default_backend(kinds.GLOO)
    _register(group, "cpu", kinds.GLOO, dist.ProcessGroupGloo(store, rank, size, timeout))
    group._set_group_name(name)
    return group


def _register(group: dist.ProcessGroup, device: str, kind: Any, backend: Any) -> None:
    backend._set_sequence_number_for_group()
    group._register_backend(torch.device(device), kind, backend)
