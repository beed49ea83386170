"""A whole training step of the example model as one flat graph: forward, loss and backward.

As torchtitan's graph trainer traces it: every call knows its module by ``custom["module_fqn"]``, and
the calls of the backward are marked ``autograd_backward``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import annotate, preserve_node_meta

PACKAGE = Path(__file__).resolve().parents[2] / "resources" / "python"
sys.path[:0] = [str(PACKAGE), str(PACKAGE / "examples")]

from llama_like import Config, Llama  # noqa: E402  (found by the line above)
from parallel import SINGLE  # noqa: E402

CONFIG = Config(layers=3, dim=32, heads=4, kv_heads=2, ffn=64, vocab=64, seq=16, batch=2)


def flat_step() -> tuple[fx.GraphModule, dict[str, Tensor]]:
    """The graph, and what its placeholders are given."""
    torch.manual_seed(0)
    model = Llama(CONFIG, SINGLE)
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
