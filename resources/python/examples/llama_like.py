#!/usr/bin/env python3
"""A Llama-like transformer, sharded over a mesh, captured as a joint graph.

Grouped-query attention with rotary embedding, SwiGLU, RMS norm. Each of the ``--fsdp`` ranks holds
a part of every parameter, which layers gather before use. The ``--tp`` ranks split every layer and,
between layers, the sequence. The model returns this rank's part of the logits, split by vocabulary.

    python llama_like.py --out captures                       # traced on this machine's CPU
    python llama_like.py --out captures --device cuda --dtype bfloat16 --tp 2 --fsdp 2
    torchrun --nproc-per-node 2 llama_like.py --check --tp 2  # compares with a single process

Tracing needs neither a GPU nor other processes, as tensors and process groups are fake. ``--check``
runs the captured joint graph in real Gloo processes and compares its outputs and gradients with
those of the unsharded model.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch._functorch.aot_autograd import (
    aot_compile_joint_with_descriptors,
    aot_export_joint_with_descriptors,
)
from torch._functorch.partitioners import min_cut_rematerialization_partition

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

import jointer
from jointer.fake_device import without_gpu
from parallel import SINGLE, Group, Mesh, Unshard, gather_sequence, make_mesh, scatter_sequence
from policies import reshard_after_forward, selective_checkpoint


@dataclass(frozen=True)
class Config:
    """Sizes of the model and of one rank's batch."""

    layers: int = 2
    dim: int = 64
    heads: int = 4
    kv_heads: int = 2
    ffn: int = 192
    vocab: int = 256
    seq: int = 64
    batch: int = 2
    dtype: torch.dtype = torch.float32

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads


class Embedding(nn.Module):
    """An embedding whose rows are split over ``tp``; each rank contributes zeros for the rows of
    other ranks."""

    def __init__(self, config: Config, mesh: Mesh) -> None:
        super().__init__()
        self.mesh, self.dtype = mesh, config.dtype
        self.rows = config.vocab // mesh.tp.size
        self.weight = nn.Parameter(torch.empty(self.rows // mesh.fsdp.size, config.dim))
        self.register_buffer("first_row", torch.tensor(self.rows * mesh.tp.index))

    def forward(self, tokens: Tensor) -> Tensor:
        weight = Unshard.apply(self.weight, self.dtype, self.mesh, False)
        if self.mesh.tp.size == 1:
            return F.embedding(tokens, weight)
        local = tokens - self.first_row
        elsewhere = (local < 0) | (local >= self.rows)
        rows = F.embedding(local.masked_fill(elsewhere, 0), weight)
        return scatter_sequence(rows.masked_fill(elsewhere.unsqueeze(-1), 0), self.mesh)


class Linear(nn.Module):
    """A linear layer with this rank's sizes; the weight's rows are split over ``fsdp``."""

    def __init__(self, inputs: int, outputs: int, config: Config, mesh: Mesh) -> None:
        super().__init__()
        self.mesh, self.dtype = mesh, config.dtype
        self.weight = nn.Parameter(torch.empty(outputs // mesh.fsdp.size, inputs))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, Unshard.apply(self.weight, self.dtype, self.mesh, False))


class RMSNorm(nn.Module):
    """RMS norm, replicated on all ``tp`` ranks; each normalizes its part of the sequence."""

    def __init__(self, config: Config, mesh: Mesh) -> None:
        super().__init__()
        self.mesh, self.dtype = mesh, config.dtype
        self.weight = nn.Parameter(torch.empty(config.dim // mesh.fsdp.size))

    def forward(self, x: Tensor) -> Tensor:
        weight = Unshard.apply(self.weight, self.dtype, self.mesh, True)
        return F.rms_norm(x, weight.shape, weight, 1e-5)


class Attention(nn.Module):
    """Causal attention over this rank's heads; queries share keys and values in groups."""

    def __init__(self, config: Config, mesh: Mesh) -> None:
        super().__init__()
        self.head_dim = config.head_dim
        self.heads = config.heads // mesh.tp.size
        self.kv_heads = config.kv_heads // mesh.tp.size
        self.wq = Linear(config.dim, self.heads * self.head_dim, config, mesh)
        self.wk = Linear(config.dim, self.kv_heads * self.head_dim, config, mesh)
        self.wv = Linear(config.dim, self.kv_heads * self.head_dim, config, mesh)
        self.wo = Linear(self.heads * self.head_dim, config.dim, config, mesh)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, seq, _ = x.shape
        query = rotate(self.wq(x).view(batch, seq, self.heads, -1), cos, sin)
        key = rotate(self.wk(x).view(batch, seq, self.kv_heads, -1), cos, sin)
        value = self.wv(x).view(batch, seq, self.kv_heads, -1)
        out = attend(query, self._repeated(key), self._repeated(value))
        return self.wo(out.reshape(batch, seq, -1))

    def _repeated(self, x: Tensor) -> Tensor:
        """``[batch, seq, kv_heads, head_dim]`` to ``[batch, seq, heads, head_dim]``."""
        repeats = self.heads // self.kv_heads
        return x.unsqueeze(3).expand(-1, -1, -1, repeats, -1).flatten(2, 3)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of ``x`` (``[batch, seq, heads, head_dim]``), computed in float32."""
    first, second = x.float().chunk(2, dim=-1)
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    turned = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
    return turned.to(x.dtype)


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Causal attention of ``[batch, seq, heads, head_dim]`` tensors."""
    query, key, value = (each.transpose(1, 2) for each in (query, key, value))
    if query.is_cuda:
        # Call the kernel directly, since the general function would query the device, which may not
        # exist.
        flash = torch.ops.aten._scaled_dot_product_flash_attention
        out = flash(query, key, value, 0.0, True)[0]
    else:
        out = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    return out.transpose(1, 2)


class FeedForward(nn.Module):
    """SwiGLU: ``w2(silu(w1 x) * w3 x)``."""

    def __init__(self, config: Config, mesh: Mesh) -> None:
        super().__init__()
        width = config.ffn // mesh.tp.size
        self.w1 = Linear(config.dim, width, config, mesh)
        self.w2 = Linear(width, config.dim, config, mesh)
        self.w3 = Linear(config.dim, width, config, mesh)

    def forward(self, x: Tensor) -> Tensor:
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    """One layer: attention and feed-forward over the full sequence, each with a residual."""

    def __init__(self, config: Config, mesh: Mesh) -> None:
        super().__init__()
        self.mesh = mesh
        self.attention_norm = RMSNorm(config, mesh)
        self.attention = Attention(config, mesh)
        self.ffn_norm = RMSNorm(config, mesh)
        self.feed_forward = FeedForward(config, mesh)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        hidden = gather_sequence(self.attention_norm(x), self.mesh)
        x = x + scatter_sequence(self.attention(hidden, cos, sin), self.mesh)
        hidden = gather_sequence(self.ffn_norm(x), self.mesh)
        return x + scatter_sequence(self.feed_forward(hidden), self.mesh)


class Llama(nn.Module):
    """Tokens ``[batch, seq]`` to logits ``[batch, seq, vocab / tp]``."""

    def __init__(self, config: Config, mesh: Mesh) -> None:
        super().__init__()
        self.mesh = mesh
        self.tok_embeddings = Embedding(config, mesh)
        self.layers = nn.ModuleList(Block(config, mesh) for _ in range(config.layers))
        self.norm = RMSNorm(config, mesh)
        self.output = Linear(config.dim, config.vocab // mesh.tp.size, config, mesh)
        half = torch.arange(0, config.head_dim, 2) / config.head_dim
        angles = torch.outer(torch.arange(config.seq), 500000.0**-half)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tok_embeddings(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.output(gather_sequence(self.norm(x), self.mesh))


def shard(name: str, weight: Tensor, mesh: Mesh) -> Tensor:
    """This rank's part of a parameter of the unsharded model, by the parameter's name."""
    if name.endswith(("wo.weight", "w2.weight")):
        weight = part(weight, mesh.tp, dim=1)
    elif "norm" not in name:
        weight = part(weight, mesh.tp, dim=0)
    return part(weight, mesh.fsdp, dim=0)


def part(x: Tensor, group: Group, dim: int) -> Tensor:
    """A copy of this rank's equal part of ``x`` along ``dim``."""
    return x.chunk(group.size, dim)[group.index].clone(memory_format=torch.contiguous_format)


def facts(config: Config, mesh: Mesh, sac: bool) -> dict[str, Any]:
    """The ``info`` of a capture."""
    with torch.device("meta"):
        parameters = sum(p.numel() for p in Llama(config, SINGLE).parameters())
    return {
        "model": "llama-like",
        "parameters": parameters,
        "layers": config.layers,
        "dim": config.dim,
        "heads": config.heads,
        "kv_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "ffn_dim": config.ffn,
        "vocab_size": config.vocab,
        "seq_len": config.seq,
        "local_batch_size": config.batch,
        "tp": mesh.tp.size,
        "fsdp": mesh.fsdp.size,
        "parallel": f"TP={mesh.tp.size} x FSDP={mesh.fsdp.size}",
        "tags": "graph SAC, reshard after forward" if sac else "reshard after forward",
    }


def export(
    stack: contextlib.ExitStack, model: nn.Module, tokens: Tensor, *, sac: bool = False
) -> Any:
    """The tagged joint graph of ``model``; ``stack`` must stay open while it is compiled."""
    with jointer.annotate(model, root=Path(__file__).parents[3]):
        joint = aot_export_joint_with_descriptors(stack, model, (tokens,))
    if sac:
        selective_checkpoint(joint.graph_module.graph)
    reshard_after_forward(joint.graph_module.graph)
    return joint


def partition(joint: Any) -> tuple[torch.fx.GraphModule, torch.fx.GraphModule]:
    """The forward and backward graphs of torch's min-cut partitioner."""
    halves = []

    def min_cut(*args: Any, **kwargs: Any) -> Any:
        halves.extend(min_cut_rematerialization_partition(*args, **kwargs))
        return tuple(halves)

    aot_compile_joint_with_descriptors(joint, partition_fn=min_cut)
    forward, backward = halves
    return forward, backward


@contextlib.contextmanager
def fake_world(size: int) -> Iterator[None]:
    """Act as rank 0 of ``size`` fake ranks."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=size)
    try:
        yield
    finally:
        dist.destroy_process_group()


def write_captures(
    config: Config, tp: int, fsdp: int, device: str, out: Path, name: str, sac: bool = False
) -> list[Path]:
    """Trace rank 0 on fake tensors; write ``NAME.joint`` and its min-cut pair into ``out``."""
    with fake_world(tp * fsdp), without_gpu() as fake, contextlib.ExitStack() as stack:
        mesh = make_mesh(tp, fsdp)
        with fake, torch.device(device):
            model = Llama(config, mesh)
            tokens = torch.zeros(config.batch, config.seq, dtype=torch.int64)
        joint = export(stack, model, tokens, sac=sac)
        info = facts(config, mesh, sac)
        paths = [jointer.capture(joint, out / f"{name}.joint.json.zst", name=name, **info)]
        pair = out / f"{name}.min_cut.json.zst"
        paths.append(jointer.capture_pair(*partition(joint), pair, name=name, **info))
        return paths


def check(config: Config, tp: int, fsdp: int, out: Path) -> float:
    """Run the captured joint graph on real ranks; returns the largest error relative to one
    process.

    Every rank writes its capture into ``out``, loads it and runs the loaded graph, with its part of
    the parameters, of the batch and of the gradient of the logits.
    """
    dist.init_process_group("gloo")
    mesh = make_mesh(tp, fsdp)
    torch.manual_seed(0)
    whole = Llama(config, SINGLE)
    for parameter in whole.parameters():
        nn.init.normal_(parameter, std=0.2)
    tokens = torch.randint(config.vocab, (config.batch * fsdp, config.seq))
    logits = whole(tokens)
    tangent = torch.randn_like(logits)
    logits.backward(tangent)

    model = Llama(config, mesh)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(shard(name, whole.get_parameter(name), mesh))
    local = part(tokens, mesh.fsdp, dim=0)
    with contextlib.ExitStack() as stack:
        joint = export(stack, model, local)
        path = out / f"rank{dist.get_rank()}.joint.json"
        jointer.capture(joint, path, **facts(config, mesh, sac=False))
    graph = jointer.load(path)
    outputs = [part(part(logits, mesh.fsdp, 0), mesh.tp, 2)]
    outputs += [shard(name, p.grad, mesh) for name, p in whole.named_parameters()]
    tangents = part(part(tangent, mesh.fsdp, 0), mesh.tp, 2)
    with torch.no_grad():
        results = graph(*model.parameters(), *model.buffers(), local, tangents)
    pairs = zip(outputs, (each for each in results if each is not None), strict=True)
    error = max((a - b).abs().max() / a.abs().max() for a, b in pairs)
    dist.all_reduce(error, dist.ReduceOp.MAX)
    dist.destroy_process_group()
    return error.item()


def make_parser(description: str | None) -> argparse.ArgumentParser:
    """A command line with the model's sizes, its FSDP ranks, and the folder for captures."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for key, value in asdict(Config()).items():
        if key != "dtype":
            parser.add_argument(f"--{key.replace('_', '-')}", type=int, default=value)
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--fsdp", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--name", default="llama_like")
    parser.add_argument("--out", type=Path, default=Path())
    return parser


def take_config(options: dict[str, Any]) -> Config:
    """The sizes, from the remaining options of ``make_parser``."""
    return Config(**{**options, "dtype": getattr(torch, options["dtype"])})


def main() -> None:
    """The command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tp", type=int, default=1)
    parser.add_argument("--sac", action="store_true", help="selective checkpointing tags")
    parser.add_argument("--check", action="store_true", help="run under torchrun and compare")
    options = vars(parser.parse_args())
    tp, fsdp, out = (options.pop(key) for key in ("tp", "fsdp", "out"))
    device, sac, name = (options.pop(key) for key in ("device", "sac", "name"))
    checking = options.pop("check")
    config = take_config(options)
    if checking:
        error = check(config, tp, fsdp, out)
        print(f"largest relative error {error:.2e}")
        sys.exit(error > 1e-4)
    for path in write_captures(config, tp, fsdp, device, out, name, sac):
        print(path)


if __name__ == "__main__":
    main()
