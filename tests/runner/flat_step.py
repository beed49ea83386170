"""Makes a flat training step of the example model: forward, loss and backward in one graph.

The graph is like those that torchtitan's graph_trainer traces: every call has its module in
``custom["module_fqn"]``, and the calls of the backward are marked ``autograd_backward``.

``python flat_step.py FOLDER`` runs as a rank with torchrun's variables. It shards the model over the
ranks by FSDP and writes the graph to ``step.RANK.json``, its inputs to ``inputs.RANK.safetensors``
and its outputs to ``expected.RANK.safetensors``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import annotate, preserve_node_meta

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "resources" / "python"
sys.path[:0] = [str(PACKAGE), str(PACKAGE / "examples"), str(HERE)]

import jointer  # noqa: E402  (found by the line above)
from llama_like import Config, Llama  # noqa: E402
from files import write_safetensors  # noqa: E402
from parallel import SINGLE, Mesh, make_mesh  # noqa: E402

CONFIG = Config(layers=3, dim=32, heads=4, kv_heads=2, ffn=64, vocab=64, seq=16, batch=2)


def flat_step(mesh: Mesh = SINGLE, seed: int = 0) -> tuple[fx.GraphModule, dict[str, Tensor]]:
    """The graph, and the values of its placeholders: this rank's shards of the model."""
    torch.manual_seed(seed)
    model = Llama(CONFIG, mesh)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.2)
    for name, module in model.named_modules():
        if name:
            module.forward = partial(_named, name, module.forward)
    weights, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    tokens = torch.randint(CONFIG.vocab, (CONFIG.batch, CONFIG.seq))
    targets = torch.randint(CONFIG.vocab, (CONFIG.batch, CONFIG.seq))

    def step(tokens: Tensor, targets: Tensor, *values: Tensor) -> list[Tensor]:
        given = dict(zip([*weights, *buffers], values, strict=True))
        logits = torch.func.functional_call(model, given, (tokens,))
        with annotate({"module_fqn": "loss"}):
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        with annotate({"half": "backward"}):
            return [loss, *torch.autograd.grad(loss, values[: len(weights)])]

    values = [tokens, targets, *weights.values(), *buffers.values()]
    with preserve_node_meta():
        gm = make_fx(step, tracing_mode="fake")(*values)
    for node in gm.graph.nodes:
        if node.meta.get("custom", {}).pop("half", None):
            node.meta["autograd_backward"] = True
    placeholders = [node.name for node in gm.graph.nodes if node.op == "placeholder"]
    inputs = [each.detach() for each in values]
    return gm, dict(zip(placeholders, inputs, strict=True))


def _named(name: str, forward: Callable[..., Any], *args: Any) -> Any:
    with annotate({"module_fqn": name}):
        return forward(*args)


def main(folder: str) -> None:
    """Runs as one rank."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    gm, inputs = flat_step(make_mesh(1, dist.get_world_size()), seed=rank)
    outputs = gm(*inputs.values())
    write_safetensors(f"{folder}/inputs.{rank}.safetensors", inputs)
    write_safetensors(
        f"{folder}/expected.{rank}.safetensors", {str(i): each for i, each in enumerate(outputs)}
    )
    jointer.capture(gm, f"{folder}/step.{rank}.json", name="step")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
