"""One rank of a training run that torch.compile compiles, once for each scenario.

Run with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set, and one argument, a JSON list of
scenarios. The keys of a scenario are ``recipe`` (the content of a recipe of compiled order, or a
list with one for each rank), ``recipes`` (paths of recipes), ``differs`` (true if rank 1 runs
another program), ``only_pass`` (true to set only the pass) and ``capture`` (the path to which the
pair is captured). The weights are sharded, as with FSDP: the forward gathers them, and the backward
reduces and scatters their gradients. Prints one JSON object for each scenario.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch._inductor.utils import run_and_get_code
from torch.distributed import _functional_collectives as funcol

from jointer.amx import avoid_broken_amx
from jointer.backend import backend
from jointer.kernel_order import compile_options, order_pass

SIZE, STEPS = 32, 3

#: Calls in the code that Inductor writes.
_CALL = re.compile(
    r"(?:_c10d_functional\.(all_gather_into_tensor|reduce_scatter_tensor|wait_tensor)\.default|"
    r"extern_kernels\.(mm))\("
)


def train(rank: int, how: dict[str, Any], differs: bool) -> dict[str, Any]:
    torch._dynamo.reset()
    group = dist.group.WORLD
    assert group is not None
    generator = torch.Generator().manual_seed(7)
    shards = []
    for _ in range(2):
        whole = torch.randn(SIZE, SIZE, generator=generator) / SIZE**0.5
        shards.append(whole.chunk(dist.get_world_size())[rank].clone().requires_grad_())
    batch = torch.randn(SIZE, SIZE, generator=generator)

    def loss_of(first: Tensor, second: Tensor, x: Tensor) -> Tensor:
        hidden = torch.relu(x @ funcol.all_gather_tensor_autograd(first, 0, group))
        if differs:
            hidden = hidden + 1
        y = hidden @ funcol.all_gather_tensor_autograd(second, 0, group)
        return (y * y).mean()

    compiled = torch.compile(loss_of, fullgraph=True, **how)

    def run() -> list[str]:
        losses = []
        for _ in range(STEPS):
            loss = compiled(*shards, batch)
            loss.backward()
            losses.append(loss.detach().numpy().tobytes().hex())
            with torch.no_grad():
                for shard in shards:
                    assert shard.grad is not None
                    shard -= 0.1 * shard.grad
                    shard.grad = None
        return losses

    losses, codes = run_and_get_code(run)
    calls = [[next(filter(None, found)) for found in _CALL.findall(code)] for code in codes]
    return {"losses": losses, "calls": calls}


def settings(scenario: dict[str, Any], rank: int) -> tuple[dict[str, Any], Any]:
    """The arguments of torch.compile, and the pass among them."""
    recipe = scenario.get("recipe")
    if "capture" in scenario:
        return {"backend": backend(scenario["capture"], inner="inductor", pair=True)}, None
    if "recipes" in scenario:
        options = compile_options(*scenario["recipes"])
        return {"options": options}, options["reorder_for_compute_comm_overlap_passes"][-1]
    if recipe is None:
        return {"options": {"force_disable_caches": True}}, None
    own = recipe[rank] if isinstance(recipe, list) else recipe
    if scenario.get("only_pass"):
        replay = order_pass(own)
        options = {
            "reorder_for_compute_comm_overlap": True,
            "reorder_for_compute_comm_overlap_passes": [replay],
            "aten_distributed_optimizations.enable_simple_overlap": False,
        }
        return {"options": options}, replay
    options = compile_options(own)
    return {"options": options}, options["reorder_for_compute_comm_overlap_passes"][-1]


def main() -> None:
    rank = int(os.environ["RANK"])
    avoid_broken_amx()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    for scenario in json.loads(sys.argv[1]):
        how, replay = settings(scenario, rank)
        done = train(rank, how, bool(scenario.get("differs")) and rank == 1)
        reports = replay.reports if replay else []
        done["reports"] = [
            {
                "graph": report.graph,
                "difference": report.difference,
                "applied": report.applied,
                "skipped": [str(each) for each in report.skipped],
                "not_found": report.not_found,
                "communication": report.communication,
            }
            for report in reports
        ]
        print(json.dumps({**done, "rank": rank}) + "\n", end="", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
