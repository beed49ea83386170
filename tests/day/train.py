"""The training script of the main journey: trains the example model with ``torch.compile``.

    torchrun --nproc-per-node 2 train.py --out RESULTS [--recipe RECIPE ...]

The script does not know about captures. With a recipe, it edits the joint graph that torch has traced
before torch's partitioner runs; with several recipes, each one trains a separate model. Every rank
writes its exact results: ``RESULTS/rank{rank}.{n}.pt`` contains the losses, the parameters after each
step, and the replay reports.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition

PACKAGE = Path(__file__).resolve().parents[2] / "resources" / "python"
sys.path[:0] = [str(PACKAGE), str(PACKAGE / "examples")]

import jointer  # noqa: E402  (found by the line above)
from jointer.amx import avoid_broken_amx  # noqa: E402
from llama_like import Config, Llama  # noqa: E402
from parallel import Mesh, make_mesh  # noqa: E402

CONFIG = Config(layers=2, dim=64, heads=4, kv_heads=2, ffn=192, vocab=256, seq=64, batch=2)
STEPS = 2


def replaying(recipe: str | None, reports: list[Any]) -> Callable[..., Any]:
    """A backend like ``aot_eager`` that also applies the recipe."""

    def partition(joint: torch.fx.GraphModule, *args: Any, **options: Any) -> Any:
        if recipe is not None:
            reports.append(jointer.apply_recipe(joint, recipe))
            joint.graph.lint()
        return min_cut_rematerialization_partition(joint, *args, **options)

    return aot_autograd(fw_compiler=lambda gm, _: make_boxed_func(gm), partition_fn=partition)


def train(mesh: Mesh, recipe: str | None) -> dict[str, Any]:
    """Runs a few steps of stochastic gradient descent."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = Llama(CONFIG, mesh)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.2)
    reports: list[Any] = []
    compiled = torch.compile(model, backend=replaying(recipe, reports), fullgraph=True)
    torch.manual_seed(dist.get_rank() + 1)
    losses: list[Tensor] = []
    weights: list[dict[str, Tensor]] = []
    for _ in range(STEPS):
        tokens = torch.randint(CONFIG.vocab, (CONFIG.batch, CONFIG.seq))
        logits = compiled(tokens)
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.1 * parameter.grad
                parameter.grad = None
        losses.append(loss.detach())
        weights.append({name: p.detach().clone() for name, p in model.named_parameters()})
    return {
        "losses": losses,
        "weights": weights,
        "replayed": [
            {
                "applied": len(each.applied),
                "skipped": len(each.skipped),
                "as_recorded": each.as_recorded,
                "hash": each.hash,
            }
            for each in reports
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--recipe", action="append")
    options = parser.parse_args()
    avoid_broken_amx()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    dist.init_process_group("gloo")
    mesh = make_mesh(1, dist.get_world_size())
    options.out.mkdir(parents=True, exist_ok=True)
    for n, recipe in enumerate(options.recipe or [None]):
        torch.save(train(mesh, recipe), options.out / f"rank{dist.get_rank()}.{n}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
