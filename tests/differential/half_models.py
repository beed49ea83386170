"""Further models, which are captured only as Inductor's halves: language models with rotary positions, checkpointing,
autocast, losses in chunks, sharded parameters; a masked language model; convolutional networks on images and on sound;
graphs; and steps that no partitioner splits: of an optimizer, and of a whole training.

kernel_halves.py captures them, and those of kernel_models.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from kernel_inputs import Inputs, bf16, f32, i64
from kernel_models import Attention, Bert, RmsNorm
from torch import nn
from torch.nn import functional
from torch.optim.adam import adam
from torch.utils.checkpoint import checkpoint

#: Ranks of the group over which the parameters of `Sharded` are sharded.
RANKS = 8


def cross_entropy(logits: Any, target: Any, **options: Any) -> Any:
    return functional.cross_entropy(logits.view(-1, logits.shape[-1]).float(), target.reshape(-1), **options)


class LlamaBlock(nn.Module):
    """Grouped heads, rotary positions as complex numbers, gated activations, as in torchtitan."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.RMSNorm(512), nn.RMSNorm(512)])
        self.q, self.out = nn.Linear(512, 512, bias=False), nn.Linear(512, 512, bias=False)
        self.k, self.v = nn.Linear(512, 128, bias=False), nn.Linear(512, 128, bias=False)
        self.gate, self.up = nn.Linear(512, 1408, bias=False), nn.Linear(512, 1408, bias=False)
        self.down = nn.Linear(1408, 512, bias=False)

    def forward(self, x: Any, factors: Any) -> Any:
        def turned(y: Any) -> Any:
            pairs = torch.view_as_complex(y.float().reshape(*y.shape[:-1], -1, 2))
            return torch.view_as_real(pairs * factors[None, :, None]).flatten(3).type_as(y)

        batch, length, _ = x.shape
        y = self.norms[0](x)
        q, k = turned(self.q(y).view(batch, length, 8, 64)), turned(self.k(y).view(batch, length, 2, 64))
        v = self.v(y).view(batch, length, 2, 64)
        k, v = [each[:, :, :, None].expand(-1, -1, -1, 4, -1).reshape(batch, length, 8, 64) for each in (k, v)]
        y = functional.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2),
                                                    is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, 512))
        y = self.norms[1](x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, checkpointed: bool = False, chunks: int = 0) -> None:
        super().__init__()
        self.checkpointed, self.chunks = checkpointed, chunks
        self.words, self.norm = nn.Embedding(8192, 512), nn.RMSNorm(512)
        self.blocks = nn.ModuleList([LlamaBlock() for _ in range(2)])
        self.head = nn.Linear(512, 8192, bias=False)

    def forward(self, tokens: Any, factors: Any, target: Any) -> Any:
        x, factors = self.words(tokens), torch.view_as_complex(factors)
        for block in self.blocks:
            x = checkpoint(block, x, factors, use_reentrant=False) if self.checkpointed else block(x, factors)
        x = self.norm(x)
        if not self.chunks:
            return cross_entropy(self.head(x), target)
        parts = zip(x.chunk(self.chunks, 1), target.chunk(self.chunks, 1))
        losses = [cross_entropy(self.head(part), wanted, reduction="sum") for part, wanted in parts]
        return torch.stack(losses).sum() / target.numel()


class Gemma(nn.Module):
    """Sliding windows, capped scores and logits, norms before and after, and weights that are added to one."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(8192, 512)
        self.scales = nn.ParameterList([torch.empty(512) for _ in range(5)])
        self.q, self.out = nn.Linear(512, 1024, bias=False), nn.Linear(1024, 512, bias=False)
        self.k, self.v = nn.Linear(512, 256, bias=False), nn.Linear(512, 256, bias=False)
        self.gate, self.up = nn.Linear(512, 2048, bias=False), nn.Linear(512, 2048, bias=False)
        self.down = nn.Linear(2048, 512, bias=False)

    def norm(self, x: Any, index: int) -> Any:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (wide * (1.0 + self.scales[index].float())).to(x.dtype)

    def forward(self, tokens: Any, target: Any) -> Any:
        batch, length = tokens.shape
        x = self.words(tokens) * 512**0.5
        place = torch.arange(length, device=x.device)
        angles = place[:, None].float() * 1e4 ** (-torch.arange(0, 128, 2, device=x.device).float() / 128)
        angles = torch.cat([angles, angles], -1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)

        def turned(y: Any) -> Any:
            return y * cos + torch.cat([-y[..., 64:], y[..., :64]], -1) * sin

        y = self.norm(x, 0)
        q = turned(self.q(y).view(batch, length, 8, 128).transpose(1, 2))
        k = turned(self.k(y).view(batch, length, 2, 128).transpose(1, 2))
        v = self.v(y).view(batch, length, 2, 128).transpose(1, 2)
        k, v = [each[:, :, None].expand(-1, -1, 4, -1, -1).reshape(batch, 8, length, 128) for each in (k, v)]
        scores = torch.tanh(q @ k.transpose(-1, -2) * 128**-0.5 / 50.0) * 50.0
        gaps = place[:, None] - place[None, :]
        scores = scores + torch.where((gaps >= 0) & (gaps < 64), 0.0, torch.finfo(x.dtype).min).to(x.dtype)
        y = torch.softmax(scores, -1, dtype=torch.float32).to(x.dtype) @ v
        x = x + self.norm(self.out(y.transpose(1, 2).reshape(batch, length, 1024)), 1)
        y = self.norm(x, 2)
        y = self.down(functional.gelu(self.gate(y), approximate="tanh") * self.up(y))
        x = self.norm(x + self.norm(y, 3), 4)
        return cross_entropy(torch.tanh(x @ self.words.weight.t() / 30.0) * 30.0, target)


class Mixtral(nn.Module):
    """A router, and a loop over experts, each with its own matrices and the rows that chose it, padded."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.router = RmsNorm(256), nn.Linear(256, 4, bias=False)
        self.gates = nn.ModuleList([nn.Linear(256, 512, bias=False) for _ in range(4)])
        self.ups = nn.ModuleList([nn.Linear(256, 512, bias=False) for _ in range(4)])
        self.downs = nn.ModuleList([nn.Linear(512, 256, bias=False) for _ in range(4)])

    def forward(self, x: Any, target: Any) -> Any:
        y = self.norm(x)
        shares = torch.softmax(self.router(y).float(), -1)
        values, chosen = torch.topk(shares, 2, -1)
        values = (values / values.sum(-1, keepdim=True)).to(x.dtype)
        out = torch.zeros_like(x)
        for i, (gate, up, down) in enumerate(zip(self.gates, self.ups, self.downs)):
            weight = torch.where(chosen == i, values, 0).sum(-1)
            rows = torch.topk(weight, 640, sorted=False)[1]
            part = y[rows]
            part = down(functional.silu(gate(part)) * up(part)) * weight[rows][:, None]
            out = out.index_add(0, rows, part)
        balance = 4 * (functional.one_hot(chosen, 4).sum(1).float().mean(0) * shares.mean(0)).sum()
        return functional.mse_loss((x + out).float(), target) + 0.01 * balance


class DeepSeekExperts(nn.Module):
    """Scores by sigmoid with a bias that chooses, groups of experts, a shared expert, and rows sorted by expert."""

    def __init__(self) -> None:
        super().__init__()
        self.router, self.scale = nn.Linear(256, 16, bias=False), 2.5
        self.register_buffer("bias", torch.empty(16, dtype=torch.float32))
        self.gate, self.up = nn.Parameter(torch.empty(16, 256, 128)), nn.Parameter(torch.empty(16, 256, 128))
        self.down = nn.Parameter(torch.empty(16, 128, 256))
        self.shared = nn.ModuleList([nn.Linear(256, 256, bias=False) for _ in range(3)])

    def forward(self, x: Any, target: Any) -> Any:
        scores = torch.sigmoid(self.router(x).float())
        biased = scores + self.bias
        best = biased.view(-1, 4, 4).topk(2, -1)[0].sum(-1)
        groups = best.topk(2, -1, sorted=False)[1]
        mask = torch.ones_like(best, dtype=torch.bool).scatter(1, groups, False)
        chosen = biased.view(-1, 4, 4).masked_fill(mask[..., None], float("-inf")).flatten(1).topk(4, -1)[1]
        weights = scores.gather(1, chosen)
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20) * self.scale
        counts = torch.histc(chosen.float(), bins=16, min=0, max=16)
        order = torch.argsort(chosen.view(-1), stable=True)
        rows = x[order // 4] * weights.view(-1)[order][:, None].to(x.dtype)
        ends = torch.cumsum(counts, 0, dtype=torch.int32)
        hidden = functional.silu(torch._grouped_mm(rows, self.gate, offs=ends))
        out = torch._grouped_mm(hidden * torch._grouped_mm(rows, self.up, offs=ends), self.down, offs=ends)
        y = self.shared[2](functional.silu(self.shared[0](x)) * self.shared[1](x))
        y = y.scatter_add(0, (order // 4)[:, None].expand(-1, 256), out)
        return functional.mse_loss((x + y).float(), target)


class Autocast(nn.Module):
    """A language model in float32 under autocast, without biases, as in nanoGPT."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(8192, 384), nn.Embedding(256, 384)
        self.norms = nn.ModuleList([nn.LayerNorm(384, bias=False) for _ in range(3)])
        self.attention = Attention(384, 6, True)
        self.up, self.down = nn.Linear(384, 1536, bias=False), nn.Linear(1536, 384, bias=False)

    def forward(self, tokens: Any, target: Any) -> Any:
        with torch.autocast("cuda", torch.bfloat16):
            x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
            x = functional.dropout(x, 0.1, self.training)
            x = x + self.attention(self.norms[0](x))
            x = x + functional.dropout(self.down(functional.gelu(self.up(self.norms[1](x)))), 0.1, self.training)
            logits = functional.linear(self.norms[2](x), self.words.weight)
            return cross_entropy(logits, target, ignore_index=-1)


class MaskedBert(Bert):
    """The loss of masked tokens: a transform, and a head that shares the matrix of the words."""

    def __init__(self) -> None:
        super().__init__()
        self.transform, self.transformed = nn.Linear(512, 512), nn.LayerNorm(512, eps=1e-12)
        self.offset = nn.Parameter(torch.empty(8192))

    def forward(self, tokens: Any, kinds: Any, mask: Any, target: Any) -> Any:
        x = self.transformed(functional.gelu(self.transform(self.encoded(tokens, kinds, mask))))
        return cross_entropy(functional.linear(x, self.words.weight, self.offset), target, ignore_index=-100)


class InvertedResidual(nn.Module):
    def __init__(self, channels: int, inner: int, out: int, stride: int) -> None:
        super().__init__()
        self.expand, self.narrow = nn.Conv2d(channels, inner, 1, bias=False), nn.Conv2d(inner, out, 1, bias=False)
        self.deep = nn.Conv2d(inner, inner, 3, stride=stride, padding=1, groups=inner, bias=False)
        self.squeeze, self.excite = nn.Conv2d(inner, inner // 4, 1), nn.Conv2d(inner // 4, inner, 1)
        self.norms = nn.ModuleList([nn.BatchNorm2d(size) for size in (inner, inner, out)])
        self.is_residual = stride == 1 and channels == out

    def forward(self, x: Any) -> Any:
        y = functional.hardswish(self.norms[0](self.expand(x)))
        y = functional.hardswish(self.norms[1](self.deep(y)))
        scale = functional.relu(self.squeeze(functional.adaptive_avg_pool2d(y, 1)))
        y = self.norms[2](self.narrow(y * functional.hardsigmoid(self.excite(scale))))
        return x + y if self.is_residual else y


class MobileNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(16)
        self.blocks = nn.Sequential(InvertedResidual(16, 64, 24, 2), InvertedResidual(24, 96, 24, 1))
        self.head = nn.Linear(24, 100)

    def forward(self, x: Any, target: Any) -> Any:
        y = self.blocks(functional.hardswish(self.norm(self.stem(x))))
        y = functional.dropout(y.mean([-2, -1]), 0.2, self.training)
        return functional.cross_entropy(self.head(y), target)


class Conformer(nn.Module):
    """Half steps, attention with relative positions that are shifted, and a convolution along time."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(256) for _ in range(5)])
        self.ups = nn.ModuleList([nn.Linear(256, 1024) for _ in range(2)])
        self.downs = nn.ModuleList([nn.Linear(1024, 256) for _ in range(2)])
        self.qkv, self.out = nn.Linear(256, 768), nn.Linear(256, 256)
        self.places = nn.Linear(256, 256, bias=False)
        self.u, self.v = nn.Parameter(torch.empty(4, 64)), nn.Parameter(torch.empty(4, 64))
        self.wide, self.narrow = nn.Conv1d(256, 512, 1), nn.Conv1d(256, 256, 1)
        self.deep, self.norm = nn.Conv1d(256, 256, 15, padding=7, groups=256), nn.BatchNorm1d(256)
        self.head = nn.Linear(256, 512)

    def fed(self, x: Any, index: int) -> Any:
        y = functional.dropout(functional.silu(self.ups[index](self.norms[index](x))), 0.1, self.training)
        return x + 0.5 * functional.dropout(self.downs[index](y), 0.1, self.training)

    def attended(self, x: Any, places: Any) -> Any:
        batch, length, _ = x.shape
        q, k, v = [each.view(batch, length, 4, 64) for each in self.qkv(self.norms[2](x)).chunk(3, -1)]
        p = self.places(places).view(-1, 4, 64)
        content = torch.einsum("bqhd,bkhd->bhqk", q + self.u, k)
        moved = torch.einsum("bqhd,phd->bhqp", q + self.v, p)
        moved = functional.pad(moved, (1, 0)).view(batch, 4, -1, length)[:, :, 1:].reshape(batch, 4, length, -1)
        shares = torch.softmax((content + moved[..., :length]) / 8, -1)
        y = torch.einsum("bhqk,bkhd->bqhd", functional.dropout(shares, 0.1, self.training), v)
        return x + self.out(y.reshape(batch, length, 256))

    def forward(self, x: Any, places: Any, target: Any) -> Any:
        x = self.attended(self.fed(x, 0), places)
        y = functional.glu(self.wide(self.norms[3](x).transpose(1, 2)), 1)
        y = self.narrow(functional.silu(self.norm(self.deep(y))))
        x = self.norms[4](self.fed(x + y.transpose(1, 2), 1))
        return cross_entropy(self.head(x), target)


class GraphNetwork(nn.Module):
    """Messages along edges, their sums and maxima by node, and attention over the edges of a node."""

    def __init__(self) -> None:
        super().__init__()
        self.message = nn.Sequential(nn.Linear(288, 256), nn.ReLU(), nn.Linear(256, 128))
        self.score, self.update = nn.Linear(128, 4, bias=False), nn.Linear(256, 128)
        self.norm, self.head = nn.LayerNorm(128), nn.Linear(128, 16)

    def forward(self, x: Any, edges: Any, starts: Any, ends: Any, target: Any) -> Any:
        count = x.shape[0]
        message = self.message(torch.cat([x[starts], x[ends], edges], -1))
        scores = functional.leaky_relu(self.score(message), 0.2)
        places = ends[:, None].expand(-1, 4)
        largest = torch.full((count, 4), float("-inf"), device=x.device).scatter_reduce(0, places, scores.detach(),
                                                                                        "amax")
        shares = torch.exp(scores - largest[ends])
        shares = shares / torch.zeros(count, 4, device=x.device).scatter_add(0, places, shares)[ends]
        message = (message.view(-1, 4, 32) * shares[..., None]).flatten(1)
        total = torch.zeros(count, 128, device=x.device).index_add(0, ends, message)
        degree = torch.zeros(count, device=x.device).index_add(0, ends, torch.ones_like(edges[:, 0])).clamp(min=1)
        x = self.norm(x + functional.relu(self.update(torch.cat([x, total / degree[:, None]], -1))))
        return functional.cross_entropy(self.head(x), target)


class AutoEncoder(nn.Module):
    """A variational autoencoder of images."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 32, 4, stride=2, padding=1), nn.Conv2d(32, 64, 4, stride=2, padding=1)
        self.mean, self.spread, self.wide = nn.Linear(4096, 64), nn.Linear(4096, 64), nn.Linear(64, 4096)
        self.third = nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1)
        self.last = nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1)

    def forward(self, x: Any) -> Any:
        y = functional.relu(self.second(functional.relu(self.first(x)))).flatten(1)
        mean, spread = self.mean(y), self.spread(y)
        hidden = mean + torch.randn_like(mean) * torch.exp(0.5 * spread)
        y = functional.relu(self.third(functional.relu(self.wide(hidden)).view(-1, 64, 8, 8)))
        missed = functional.binary_cross_entropy_with_logits(self.last(y), x, reduction="sum")
        return (missed - 0.5 * torch.sum(1 + spread - mean.pow(2) - spread.exp())) / x.shape[0]


class Sharded(nn.Module):
    """A block whose parameters are gathered, and whose gradients are reduced, as by FSDP in the graph."""

    def __init__(self, group: str) -> None:
        super().__init__()
        self.group, rows = group, 512 // RANKS
        self.norms = nn.ParameterList([torch.empty(rows), torch.empty(rows)])
        self.parts = nn.ParameterList([torch.empty(rows * size, 512) for size in (3, 1, 2, 2)])
        self.down = nn.Parameter(torch.empty(rows, 1024))

    def gathered(self, shard: Any) -> Any:
        whole = torch.ops._c10d_functional_autograd.all_gather_into_tensor(shard.to(torch.bfloat16), RANKS, self.group)
        return torch.ops._c10d_functional.wait_tensor(whole)

    def forward(self, x: Any, target: Any) -> Any:
        batch, length, _ = x.shape
        y = functional.rms_norm(x, (512,), self.gathered(self.norms[0]))
        q, k, v = [each.view(batch, length, 8, 64).transpose(1, 2)
                   for each in functional.linear(y, self.gathered(self.parts[0])).chunk(3, -1)]
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        x = x + functional.linear(y.reshape(batch, length, 512), self.gathered(self.parts[1]))
        y = functional.rms_norm(x, (512,), self.gathered(self.norms[1]))
        y = functional.silu(functional.linear(y, self.gathered(self.parts[2])))
        y = y * functional.linear(functional.rms_norm(x, (512,)), self.gathered(self.parts[3]))
        return functional.mse_loss((x + functional.linear(y, self.gathered(self.down))).float(), target)


def update(params: list[Any], grads: list[Any], means: list[Any], squares: list[Any], steps: list[Any]) -> None:
    """A step of AdamW."""
    adam(params, grads, means, squares, [], steps, foreach=True, capturable=True, amsgrad=False, beta1=0.9,
         beta2=0.95, lr=3e-4, weight_decay=0.1, eps=1e-8, maximize=False, decoupled_weight_decay=True)


class Optimizer(nn.Module):
    """A step of AdamW, after the norm of the gradients is clipped."""

    def __init__(self) -> None:
        super().__init__()
        shapes = [(512, 512), (512,), (1024, 512), (1024,), (512, 1024), (512,)]
        for name in ("params", "means", "squares"):
            setattr(self, name, nn.ParameterList([nn.Parameter(torch.empty(*each), False) for each in shapes]))
        self.steps = nn.ParameterList([nn.Parameter(torch.empty(()), False) for _ in shapes])

    def forward(self, *grads: Any) -> Any:
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(list(grads))))
        scale = torch.clamp(1.0 / (norm + 1e-6), max=1.0)
        grads = torch._foreach_mul(list(grads), scale)
        update(list(self.params), grads, list(self.means), list(self.squares), list(self.steps))
        return norm


class TrainingStep(nn.Module):
    """Forward, backward and optimizer in one graph."""

    def __init__(self) -> None:
        super().__init__()
        shapes = [(1024, 256), (1024,), (256, 1024), (256,), (256,)]
        for name in ("params", "means", "squares"):
            setattr(self, name, nn.ParameterList([nn.Parameter(torch.empty(*each), False) for each in shapes]))
        self.steps = nn.ParameterList([nn.Parameter(torch.empty(()), False) for _ in shapes])

    def forward(self, x: Any, target: Any) -> Any:
        def loss(up: Any, up_bias: Any, down: Any, down_bias: Any, norm: Any) -> Any:
            y = functional.layer_norm(x, (256,), norm)
            y = functional.linear(functional.gelu(functional.linear(y, up, up_bias)), down, down_bias)
            return functional.mse_loss(x + y, target)

        grads, value = torch.func.grad_and_value(loss, argnums=tuple(range(5)))(*self.params)
        update(list(self.params), list(grads), list(self.means), list(self.squares), list(self.steps))
        return value


def half_models(group: str) -> dict[str, tuple[Callable[[], nn.Module], Inputs, str]]:
    """As `models` of kernel_models.py. ``group``: the name of a process group of `RANKS` ranks."""
    words, turns, rows = i64(4, 256), f32(256, 32, 2), [bf16(2048, 256), f32(2048, 256)]
    grads = [f32(512, 512), f32(512), f32(1024, 512), f32(1024), f32(512, 1024), f32(512)]
    return {
        "autocast": (Autocast, [words, words], "float32"),
        "auto_encoder": (AutoEncoder, [f32(32, 1, 32, 32)], "float32"),
        "bert_masked": (MaskedBert, [i64(8, 128)] * 4, "bfloat16"),
        "conformer": (Conformer, [f32(4, 128, 256), f32(255, 256), i64(4, 128)], "float32"),
        "deepseek_experts": (DeepSeekExperts, rows, "bfloat16"),
        "gemma": (Gemma, [words, words], "bfloat16"),
        "graph_network": (GraphNetwork, [f32(1024, 128), f32(8192, 32), i64(8192), i64(8192), i64(1024)], "float32"),
        "llama": (Llama, [words, turns, words], "bfloat16"),
        "llama_checkpointed": (lambda: Llama(checkpointed=True), [words, turns, words], "bfloat16"),
        "llama_chunked": (lambda: Llama(chunks=4), [words, turns, words], "bfloat16"),
        "mixtral": (Mixtral, rows, "bfloat16"),
        "mobile_net": (MobileNet, [f32(8, 3, 64, 64), i64(8)], "float32"),
        "optimizer_step": (Optimizer, grads, "float32"),
        "sharded": (lambda: Sharded(group), [bf16(2, 256, 512), f32(2, 256, 512)], "float32"),
        "training_step": (TrainingStep, [f32(512, 256), f32(512, 256)], "float32"),
    }
