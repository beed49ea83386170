"""Groups that communicate, of ranks on GPUs. Gloo stands in for NCCL."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
import torch
import torch.distributed as dist
from processes import free_port

from jointer.real_groups import join_groups

GPU = torch.device("cuda", 1)


def test_groups_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    real_start = dist.init_process_group

    def start(backend: str, *, device_id: Any = None, **rest: Any) -> None:
        made.append(("world", backend, device_id, rest["timeout"]))
        real_start("gloo", **rest)

    class FakeNccl:
        """Makes Gloo's groups."""

        class Options:
            _timeout = datetime.timedelta()

        def __new__(cls, store: Any, rank: int, size: int, options: Any) -> Any:
            made.append(("group", options._timeout))
            return dist.ProcessGroupGloo(store, rank, size, options._timeout)

    monkeypatch.setattr(dist, "init_process_group", start)
    monkeypatch.setattr(dist, "ProcessGroupNCCL", FakeNccl, raising=False)
    for name, value in {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}.items():
        monkeypatch.setenv(name, value)
    try:
        groups = join_groups({"tp": {"ranks": [0]}}, 0, 1, GPU, 20)
        # Longer than the launcher's timeout, which then names the rank and its node.
        twice = datetime.timedelta(seconds=40)
        assert made == [("world", "nccl", GPU, twice), ("group", twice)]
        assert groups["tp"].bound_device_id == GPU
        summed = torch.ops._c10d_functional.all_reduce(torch.ones(3), "sum", "tp")
        assert torch.ops._c10d_functional.wait_tensor(summed).tolist() == [1, 1, 1]
    finally:
        dist.destroy_process_group()
