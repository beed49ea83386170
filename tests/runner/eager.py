"""Computes eager torch's outputs for an executable capture: one thread, deterministic kernels.

``python eager.py GRAPH INPUTS OUT`` with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set as by
torchrun; ``{rank}`` in the paths stands for the rank. OUT contains the outputs by index.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "resources" / "python"))

import jointer  # noqa: E402  (found by the line above)
from jointer.amx import avoid_broken_amx  # noqa: E402
from jointer.document import read_document  # noqa: E402
from jointer.real_groups import join_groups  # noqa: E402
from jointer.safetensors import read_safetensors  # noqa: E402
from jointer.versions import fit_calls  # noqa: E402

from files import write_safetensors  # noqa: E402  (next to this file)


def main(graph: str, inputs: str, out: str) -> None:
    rank, size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    avoid_broken_amx()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    graph = graph.replace("{rank}", str(rank))
    if size > 1:
        groups = read_document(graph)["groups"]
        held = join_groups(groups, rank, size, torch.device("cpu"), 120)  # noqa: F841  (keeps them)
    gm = jointer.load(graph)
    fit_calls(gm, read_document(graph))
    given = read_safetensors(inputs.replace("{rank}", str(rank)))
    # Meshes and similar inputs have no value, and nothing reads one.
    arguments = [given.get(node.name) for node in gm.graph.nodes if node.op == "placeholder"]
    with torch.no_grad():
        outputs = torch.fx.Interpreter(gm).run(*arguments)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    kept = {str(i): value for i, value in enumerate(outputs) if value is not None}
    write_safetensors(out.replace("{rank}", str(rank)), kept)
    if size > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
