#!/usr/bin/env python3
"""Traces a flat training step, with forward, loss and backward in one graph, like graph_trainer.

Calls of the backward are marked ``autograd_backward``. Placeholders and outputs have AOTAutograd's
descriptors, so that a capture has the names of parameters, buffers and gradients.

    python whole_step.py --out captures --fsdp 2     # the model of llama_like.py, with its options
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn
from torch._functorch._aot_autograd.descriptors import (
    BufferAOTInput,
    GradAOTOutput,
    ParamAOTInput,
    PlainAOTInput,
    PlainAOTOutput,
)
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import annotate

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

import jointer
from jointer.fake_device import without_gpu
from llama_like import Config, Llama, facts, fake_world, make_parser, take_config
from parallel import make_mesh


def trace_step(
    model: nn.Module,
    tokens: Tensor,
    targets: Tensor,
    loss_of: Callable[[Tensor, Tensor], Tensor],
    root: str | os.PathLike[str] | None = None,
) -> fx.GraphModule:
    """The flat training step of ``model``: from tokens, targets, parameters and buffers to loss and
    gradients.

    Args:
        model: called with the tokens.
        tokens: real or fake.
        targets: passed to ``loss_of`` after the model's result.
        loss_of: computes the loss, a zero-dimensional tensor.
        root: source files are named relative to this folder.
    """
    weights, buffers = dict(model.named_parameters()), dict(model.named_buffers())

    def step(tokens: Tensor, targets: Tensor, *values: Tensor) -> list[Tensor]:
        given = dict(zip([*weights, *buffers], values, strict=True))
        result = torch.func.functional_call(model, given, (tokens,))
        with annotate({"module_fqn": "loss"}):
            loss = loss_of(result, targets)
        with annotate({"half": "backward"}):
            return [loss, *torch.autograd.grad(loss, values[: len(weights)])]

    with jointer.annotate(model, root=root):
        values = (*weights.values(), *buffers.values())
        gm = make_fx(step, tracing_mode="fake")(tokens, targets, *values)
    for node in gm.graph.nodes:
        if node.meta.get("custom", {}).pop("half", None):
            node.meta["autograd_backward"] = True
    parameters = [ParamAOTInput(name) for name in weights]
    inputs = [PlainAOTInput(0), PlainAOTInput(1), *parameters, *map(BufferAOTInput, buffers)]
    placeholders = (node for node in gm.graph.nodes if node.op == "placeholder")
    for node, descriptor in zip(placeholders, inputs, strict=True):
        node.meta["desc"] = descriptor
    gm.graph.output_node().meta["desc"] = [PlainAOTOutput(0), *map(GradAOTOutput, parameters)]
    return gm


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """The loss for logits ``[batch, seq, vocab]``."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def write_step(config: Config, fsdp: int, device: str, out: Path, name: str) -> Path:
    """Trace rank 0 on fake tensors; write ``NAME.train_step`` into ``out``."""
    with fake_world(fsdp), without_gpu() as fake:
        mesh = make_mesh(1, fsdp)
        with fake, torch.device(device):
            model = Llama(config, mesh)
            tokens = torch.zeros(config.batch, config.seq, dtype=torch.int64)
            targets = torch.zeros_like(tokens)
        step = trace_step(model, tokens, targets, cross_entropy, root=Path(__file__).parents[3])
        info = {**facts(config, mesh, sac=False), "tags": "none"}
        return jointer.capture(step, out / f"{name}.train_step.json.zst", name=name, **info)


def main() -> None:
    """The command line."""
    options = vars(make_parser(__doc__).parse_args())
    fsdp, device, out, name = (options.pop(key) for key in ("fsdp", "device", "out", "name"))
    print(write_step(take_config(options), fsdp, device, out, name))


if __name__ == "__main__":
    main()
