"""Partitions the example model with torch, and stores the partitioner's debug output.

``python partitioner_log.py FOLDER BUDGET``, with AOT_PARTITIONER_DEBUG=1 and TORCH_TRACE set, writes to
FOLDER the joint graph (``joint.json``), the printed log (``printed.log``), and the names of the values
saved for backward (``saved.json``). A third argument is a recipe that first tags the joint graph.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from pathlib import Path

import torch
from torch import fx, nn

PACKAGE = Path(__file__).resolve().parents[2] / "resources" / "python"
sys.path[:0] = [str(PACKAGE), str(PACKAGE / "examples")]

from llama_like import Config, Llama, export, partition  # noqa: E402  (found by the line above)
from parallel import SINGLE  # noqa: E402

import jointer  # noqa: E402

CONFIG = Config(layers=2, dim=32, heads=4, kv_heads=2, ffn=64, vocab=64, seq=16, batch=2)


def main(folder: str, budget: str, recipe: str = "") -> None:
    out = Path(folder)
    torch._functorch.config.activation_memory_budget = float(budget)
    handler = logging.FileHandler(out / "printed.log", mode="w")
    handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
    log = logging.getLogger("torch._functorch.partitioners")
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    torch.manual_seed(0)
    model: nn.Module = Llama(CONFIG, SINGLE)
    tokens = torch.zeros(CONFIG.batch, CONFIG.seq, dtype=torch.int64)
    with contextlib.ExitStack() as stack:
        joint = export(stack, model, tokens)
        jointer.capture(joint, out / "joint.json", name="joint")
        if recipe:
            jointer.apply_recipe(joint.graph_module, recipe)
        forward, _ = partition(joint)
    handed = forward.graph.output_node().args[0][1:]
    saved = [n.name for n in handed if n.op == "call_function" and not is_random_state(n)]
    (out / "saved.json").write_text(json.dumps(saved))


def is_random_state(node: fx.Node) -> bool:
    """True for the generator's state, which is saved together with a tagged operator that could be
    random.
    """
    parent = node.args[0] if node.args else None
    return isinstance(parent, fx.Node) and "rng_state" in str(parent.target)


if __name__ == "__main__":
    main(*sys.argv[1:])
