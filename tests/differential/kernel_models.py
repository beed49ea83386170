"""Small models whose joint graphs have the operators of common architectures: convolutional networks, vision
transformers, language models with learned, relative and rotary positions, experts, state spaces, recommenders.

kernel_families.py captures them. Each entry is a module that returns its loss, and the shapes and types of its inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from kernel_inputs import Inputs, bf16, f32, i64
from torch import nn
from torch.nn import functional


class Bottleneck(nn.Module):
    def __init__(self, channels: int, inner: int, out: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, inner, 1, bias=False)
        self.second = nn.Conv2d(inner, inner, 3, stride=stride, padding=1, bias=False)
        self.third = nn.Conv2d(inner, out, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(size) for size in (inner, inner, out, out)])
        self.short = nn.Conv2d(channels, out, 1, stride=stride, bias=False)

    def forward(self, x: Any) -> Any:
        y = functional.relu(self.norms[0](self.first(x)))
        y = functional.relu(self.norms[1](self.second(y)))
        return functional.relu(self.norms[2](self.third(y)) + self.norms[3](self.short(x)))


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(64)
        self.blocks = nn.Sequential(Bottleneck(64, 64, 256, 1), Bottleneck(256, 128, 512, 2))
        self.head = nn.Linear(512, 1000)

    def forward(self, x: Any, target: Any) -> Any:
        y = functional.max_pool2d(functional.relu(self.norm(self.stem(x))), 3, stride=2, padding=1)
        y = functional.adaptive_avg_pool2d(self.blocks(y), 1).flatten(1)
        return functional.cross_entropy(self.head(y), target)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, causal: bool, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads, self.causal, self.dropout = heads, causal, dropout
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Any, bias: Any = None, fused: bool = True) -> Any:
        b, t, c = x.shape
        q, k, v = [each.view(b, t, self.heads, -1).transpose(1, 2) for each in self.qkv(x).chunk(3, -1)]
        if fused:
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
            if bias is not None:
                scores = scores + bias
            if self.causal:
                mask = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
                scores = scores.masked_fill(~mask, float("-inf"))
            y = functional.dropout(torch.softmax(scores, -1), self.dropout, self.training) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, causal: bool, dropout: float = 0.0, approximate: str = "none") -> None:
        super().__init__()
        self.attention = Attention(width, heads, causal, dropout)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout, self.approximate = nn.Dropout(dropout), approximate

    def forward(self, x: Any, fused: bool = True) -> Any:
        x = x + self.dropout(self.attention(self.norms[0](x), fused=fused))
        hidden = functional.gelu(self.up(self.norms[1](x)), approximate=self.approximate)
        return x + self.dropout(self.down(hidden))


class VisionTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 384, 16, stride=16)
        self.token, self.places = nn.Parameter(torch.empty(1, 1, 384)), nn.Parameter(torch.empty(1, 197, 384))
        self.blocks, self.norm = nn.Sequential(*[Block(384, 6, False) for _ in range(2)]), nn.LayerNorm(384)
        self.head = nn.Linear(384, 1000)

    def forward(self, x: Any, target: Any) -> Any:
        y = self.patches(x).flatten(2).transpose(1, 2)
        y = torch.cat([self.token.expand(y.shape[0], -1, -1), y], 1) + self.places
        return functional.cross_entropy(self.head(self.norm(self.blocks(y))[:, 0]).float(), target)


class Gpt2(nn.Module):
    def __init__(self, fused: bool) -> None:
        super().__init__()
        self.fused = fused
        self.words, self.places = nn.Embedding(8192, 512), nn.Embedding(256, 512)
        self.blocks = nn.ModuleList([Block(512, 8, True, 0.1, "tanh") for _ in range(2)])
        self.norm = nn.LayerNorm(512)

    def forward(self, tokens: Any, target: Any) -> Any:
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        x = functional.dropout(x, 0.1, self.training)
        for block in self.blocks:
            x = block(x, self.fused)
        logits = self.norm(x) @ self.words.weight.t()
        return functional.cross_entropy(logits.view(-1, 8192).float(), target.view(-1))


class Bert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.kinds = nn.Embedding(8192, 512, padding_idx=0), nn.Embedding(2, 512)
        self.places, self.norm = nn.Embedding(256, 512), nn.LayerNorm(512, eps=1e-12)
        self.attention, self.after = Attention(512, 8, False, 0.1), nn.LayerNorm(512, eps=1e-12)
        self.up, self.down, self.last = nn.Linear(512, 2048), nn.Linear(2048, 512), nn.LayerNorm(512, eps=1e-12)
        self.pool, self.head = nn.Linear(512, 512), nn.Linear(512, 2)

    def encoded(self, tokens: Any, kinds: Any, mask: Any) -> Any:
        x = self.words(tokens) + self.kinds(kinds) + self.places.weight[None, :tokens.shape[1]]
        x = functional.dropout(self.norm(x), 0.1, self.training)
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        x = self.after(x + functional.dropout(self.attention(x, bias, False), 0.1, self.training))
        return self.last(x + functional.dropout(self.down(functional.gelu(self.up(x))), 0.1, self.training))

    def forward(self, tokens: Any, kinds: Any, mask: Any, target: Any) -> Any:
        x = self.encoded(tokens, kinds, mask)
        return functional.cross_entropy(self.head(torch.tanh(self.pool(x[:, 0]))).float(), target)


class RmsNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x: Any) -> Any:
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


class T5(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.bias = nn.Embedding(8192, 512), nn.Embedding(32, 8)
        self.norms = nn.ModuleList([RmsNorm(512) for _ in range(3)])
        self.attention = Attention(512, 8, False, 0.1)
        self.gate, self.up = nn.Linear(512, 1024, bias=False), nn.Linear(512, 1024, bias=False)
        self.down = nn.Linear(1024, 512, bias=False)

    def buckets(self, length: int, device: Any) -> Any:
        place = torch.arange(length, device=device)
        relative = place[None, :] - place[:, None]
        bucket = (relative > 0).to(torch.long) * 16
        relative = relative.abs()
        large = 8 + (torch.log(relative.float() / 8) / math.log(128 / 8) * 8).to(torch.long)
        return bucket + torch.where(relative < 8, relative, torch.min(large, torch.full_like(large, 15)))

    def forward(self, tokens: Any, target: Any) -> Any:
        x = functional.dropout(self.words(tokens), 0.1, self.training)
        bias = self.bias(self.buckets(tokens.shape[1], tokens.device)).permute(2, 0, 1)[None]
        x = x + functional.dropout(self.attention(self.norms[0](x), bias, False), 0.1, self.training)
        y = self.norms[1](x)
        x = x + self.down(functional.dropout(functional.gelu(self.gate(y), approximate="tanh") * self.up(y), 0.1,
                                             self.training))
        logits = (self.norms[2](x) * 512**-0.5) @ self.words.weight.t()
        return functional.cross_entropy(logits.view(-1, 8192).float(), target.view(-1), ignore_index=-100)


class Experts(nn.Module):
    """A layer of experts as in Mixtral and torchtitan: the rows are sorted by expert."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.router = RmsNorm(512), nn.Linear(512, 8, bias=False)
        self.gate, self.up = nn.Parameter(torch.empty(8, 512, 1024)), nn.Parameter(torch.empty(8, 512, 1024))
        self.down = nn.Parameter(torch.empty(8, 1024, 512))

    def forward(self, x: Any, target: Any) -> Any:
        y = self.norm(x)
        shares = torch.softmax(self.router(y).float(), -1)
        values, chosen = torch.topk(shares, 2, -1)
        values = values / values.sum(-1, keepdim=True)
        counts = torch.histc(chosen.float(), bins=8, min=0, max=8)
        order = torch.argsort(chosen.view(-1), stable=True)
        rows = torch.gather(y, 0, (order // 2)[:, None].expand(-1, 512))
        ends = torch.cumsum(counts, 0, dtype=torch.int32)
        hidden = functional.silu(torch._grouped_mm(rows, self.gate, offs=ends))
        hidden = hidden * torch._grouped_mm(rows, self.up, offs=ends)
        out = torch._grouped_mm(hidden, self.down, offs=ends).float() * values.view(-1)[order][:, None]
        y = x + torch.zeros_like(x).scatter_add(0, (order // 2)[:, None].expand(-1, 512), out.to(x.dtype))
        balance = (functional.one_hot(chosen, 8).sum(1).float().mean(0) * shares.mean(0)).sum()
        return functional.mse_loss(y.float(), target) + 0.01 * balance


class DenseExperts(nn.Module):
    """Experts as in GShard and Switch: tokens are dispatched by products with one-hot matrices."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(256, 8, bias=False)
        self.up, self.down = nn.Parameter(torch.empty(8, 256, 512)), nn.Parameter(torch.empty(8, 512, 256))

    def forward(self, x: Any, target: Any) -> Any:
        shares = torch.softmax(self.router(x), -1)
        value, chosen = shares.max(-1)
        picked = functional.one_hot(chosen, 8)
        place = (picked.cumsum(0) - 1) * picked
        kept = (place < 160) & (picked > 0)
        slots = functional.one_hot(place.clamp(0, 159), 160).to(x.dtype) * kept[..., None]
        rows = torch.einsum("tec,td->ecd", slots, x)
        out = torch.bmm(functional.relu(torch.bmm(rows, self.up)), self.down)
        y = torch.einsum("tec,ecd->td", slots * value[:, None, None], out)
        balance = (picked.float().mean(0) * shares.mean(0)).sum() * 8
        size = torch.logsumexp(self.router(x), -1).pow(2).mean()
        return functional.mse_loss(y, target) + 0.01 * balance + 1e-3 * size


class UNet(nn.Module):
    def __init__(self, learned: bool) -> None:
        super().__init__()
        self.learned = learned
        self.first, self.down = nn.Conv2d(4, 96, 3, padding=1), nn.Conv2d(96, 192, 3, stride=2, padding=1)
        self.middle, self.last = nn.Conv2d(192, 192, 3, padding=1), nn.Conv2d(192, 4, 3, padding=1)
        self.up = nn.ConvTranspose2d(192, 96, 2, stride=2) if learned else nn.Conv2d(192, 96, 3, padding=1)
        self.norms = nn.ModuleList([nn.GroupNorm(32, size) for size in (96, 192, 192)])
        self.time = nn.Linear(320, 192)

    def forward(self, x: Any, steps: Any, target: Any) -> Any:
        angles = steps.float()[:, None] * torch.exp(-math.log(10000) * torch.arange(160, device=x.device) / 160)
        time = self.time(torch.cat([angles.cos(), angles.sin()], -1).to(x.dtype))
        a = self.first(x)
        b = self.down(functional.silu(self.norms[0](a)))
        b = b + self.middle(functional.silu(self.norms[1](b) + functional.silu(time)[:, :, None, None]))
        b = self.up(b if self.learned else functional.interpolate(b, scale_factor=2.0, mode="nearest"))
        y = self.last(functional.silu(self.norms[2](torch.cat([a, b], 1))))
        return functional.mse_loss(y.float(), target)


class Segmentation(nn.Module):
    """Bilinear upsampling, average pooling, dice loss."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 96, 3, padding=1, bias=False), nn.Conv2d(96, 96, 3, padding=1)
        self.norm, self.last = nn.BatchNorm2d(96), nn.Conv2d(96, 21, 1)

    def forward(self, x: Any, target: Any) -> Any:
        y = functional.relu(self.norm(self.first(x)))
        small = functional.relu(self.second(functional.avg_pool2d(y, 2)))
        y = y + functional.interpolate(small, scale_factor=2, mode="bilinear", align_corners=False)
        return functional.cross_entropy(self.last(y), target, ignore_index=255)


class Mamba(nn.Module):
    """A selective state space in chunks: a causal depthwise convolution, sums along the sequence, products by chunk."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.inner = RmsNorm(256), nn.Linear(256, 1096, bias=False)
        self.out = nn.Linear(512, 256, bias=False)
        self.mix, self.rate = nn.Conv1d(576, 576, 4, groups=576, padding=3), nn.Parameter(torch.empty(8))
        self.shift, self.skip = nn.Parameter(torch.empty(8)), nn.Parameter(torch.empty(8))
        self.last = RmsNorm(512)

    def forward(self, x: Any, target: Any) -> Any:
        batch, length, _ = x.shape
        z, inner, step = torch.split(self.inner(self.norm(x)), [512, 576, 8], -1)
        inner = functional.silu(self.mix(inner.transpose(1, 2))[..., :length].transpose(1, 2))
        u, b, c = torch.split(inner, [512, 32, 32], -1)
        step = functional.softplus(step.float() + self.shift)
        decay = (-torch.exp(self.rate.float()) * step).view(batch, length // 64, 64, 8).permute(0, 3, 1, 2)
        u = (u.view(batch, length, 8, 64).float() * step[..., None]).view(batch, length // 64, 64, 8, 64)
        b, c = [each.float().view(batch, length // 64, 64, 32) for each in (b, c)]
        total = decay.cumsum(-1)
        gaps = total[..., :, None] - total[..., None, :]
        mask = torch.ones(64, 64, dtype=torch.bool, device=x.device).tril()
        weights = torch.exp(gaps.masked_fill(~mask, float("-inf")))
        y = torch.einsum("bcln,bcsn,bhcls,bcshp->bclhp", c, b, weights, u)
        ends = torch.exp(total[..., -1:] - total)
        states = torch.einsum("bcln,bhcl,bclhp->bchpn", b, ends, u)
        states = torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], 1).cumsum(1)
        y = y + torch.einsum("bcln,bchpn,bhcl->bclhp", c, states, torch.exp(total))
        y = y + u * self.skip[:, None]
        y = self.last(y.reshape(batch, length, 512).to(x.dtype) * functional.silu(z))
        return functional.mse_loss((x + self.out(y)).float(), target)


class ConvNext(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 96, 4, stride=4)
        self.deep, self.norm = nn.Conv2d(96, 96, 7, padding=3, groups=96), nn.LayerNorm(96, eps=1e-6)
        self.up, self.down, self.scale = nn.Linear(96, 384), nn.Linear(384, 96), nn.Parameter(torch.empty(96))
        self.head = nn.Linear(96, 100)

    def forward(self, x: Any, target: Any) -> Any:
        x = self.stem(x)
        y = self.norm(self.deep(x).permute(0, 2, 3, 1))
        y = self.down(functional.gelu(self.up(y))) * self.scale
        kept = torch.empty(x.shape[0], 1, 1, 1, device=x.device, dtype=x.dtype).bernoulli_(0.9)
        x = x + y.permute(0, 3, 1, 2) * kept / 0.9
        return functional.cross_entropy(self.head(x.mean([-2, -1])), target, label_smoothing=0.1)


class Recommender(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList([nn.EmbeddingBag(1000, 64, mode="sum") for _ in range(3)])
        self.low = nn.Sequential(nn.Linear(13, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        self.high = nn.Sequential(nn.Linear(70, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, x: Any, rows: Any, starts: Any, target: Any) -> Any:
        y = self.low(x)
        parts = torch.stack([y, *[table(rows, starts) for table in self.tables]], 1)
        products = torch.bmm(parts, parts.transpose(1, 2))
        i, j = torch.tril_indices(4, 4, -1, device=x.device)
        y = self.high(torch.cat([y, products[:, i, j]], 1)).view(-1)
        return functional.binary_cross_entropy_with_logits(y, target)


class Clip(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.image, self.text = nn.Linear(768, 512, bias=False), nn.Linear(512, 512, bias=False)
        self.scale = nn.Parameter(torch.empty(()))

    def forward(self, image: Any, text: Any, lengths: Any) -> Any:
        text = text[torch.arange(text.shape[0], device=text.device), lengths.argmax(-1)]
        a, b = functional.normalize(self.image(image), dim=-1), functional.normalize(self.text(text), dim=-1)
        logits = self.scale.exp() * a @ b.t()
        target = torch.arange(logits.shape[0], device=logits.device)
        return (functional.cross_entropy(logits, target) + functional.cross_entropy(logits.t(), target)) / 2


class DiffusionTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(384, elementwise_affine=False, eps=1e-6) for _ in range(2)])
        self.attention, self.modulation = Attention(384, 6, False), nn.Linear(384, 6 * 384)
        self.up, self.down = nn.Linear(384, 1536), nn.Linear(1536, 384)

    def forward(self, x: Any, condition: Any, target: Any) -> Any:
        parts = self.modulation(functional.silu(condition)).unsqueeze(1).chunk(6, -1)
        y = self.norms[0](x) * (1 + parts[1]) + parts[0]
        x = x + parts[2] * self.attention(y)
        y = self.norms[1](x) * (1 + parts[4]) + parts[3]
        x = x + parts[5] * self.down(functional.gelu(self.up(y), approximate="tanh"))
        return functional.mse_loss(x.float(), target)


class Swin(nn.Module):
    """Shifted windows: a cyclic shift, windows, a bias that is looked up, patch merging."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(96), Attention(96, 3, False)
        self.bias = nn.Parameter(torch.empty(169, 3))
        self.merge_norm, self.merge = nn.LayerNorm(384), nn.Linear(384, 192, bias=False)

    def forward(self, x: Any, places: Any, target: Any) -> Any:
        batch, height, width, channels = x.shape
        y = torch.roll(self.norm(x), (-3, -3), (1, 2))
        y = y.view(batch, height // 7, 7, width // 7, 7, channels).permute(0, 1, 3, 2, 4, 5).reshape(-1, 49, channels)
        bias = self.bias[places.view(-1)].view(49, 49, 3).permute(2, 0, 1).unsqueeze(0)
        y = self.attention(y, bias, False)
        y = y.view(batch, height // 7, width // 7, 7, 7, channels).permute(0, 1, 3, 2, 4, 5)
        x = x + torch.roll(y.reshape(batch, height, width, channels), (3, 3), (1, 2))
        parts = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
        return functional.mse_loss(self.merge(self.merge_norm(torch.cat(parts, -1))), target)


class Qwen(nn.Module):
    """Norms of queries and keys, rotary positions, grouped heads, gated activations."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(8192, 512)
        self.norms = nn.ModuleList([RmsNorm(size) for size in (512, 64, 64, 512, 512)])
        self.q, self.out = nn.Linear(512, 512, bias=False), nn.Linear(512, 512, bias=False)
        self.k, self.v = nn.Linear(512, 128, bias=False), nn.Linear(512, 128, bias=False)
        self.gate, self.up = nn.Linear(512, 1024, bias=False), nn.Linear(512, 1024, bias=False)
        self.down = nn.Linear(1024, 512, bias=False)

    def forward(self, tokens: Any, target: Any) -> Any:
        x = self.words(tokens)
        batch, length, _ = x.shape
        rates = 1.0 / 1e6 ** (torch.arange(0, 64, 2, device=x.device).float() / 64)
        angles = torch.arange(length, device=x.device).float()[:, None] * rates
        angles = torch.cat([angles, angles], -1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)

        def turned(y: Any) -> Any:
            return y * cos + torch.cat([-y[..., 32:], y[..., :32]], -1) * sin

        y = self.norms[0](x)
        q = turned(self.norms[1](self.q(y).view(batch, length, 8, 64)).transpose(1, 2))
        k = turned(self.norms[2](self.k(y).view(batch, length, 2, 64)).transpose(1, 2))
        v = self.v(y).view(batch, length, 2, 64).transpose(1, 2)
        k, v = [each[:, :, None].expand(-1, -1, 4, -1, -1).reshape(batch, 8, length, 64) for each in (k, v)]
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, 512))
        y = self.norms[3](x)
        x = x + self.down(functional.silu(self.gate(y)) * self.up(y))
        logits = self.norms[4](x) @ self.words.weight.t()
        return functional.cross_entropy(logits.view(-1, 8192).float(), target.view(-1))


def models() -> dict[str, tuple[Callable[[], nn.Module], Inputs, str]]:
    """By name: what makes the model, its inputs, and the type of its parameters."""

    tokens = [i64(4, 256), i64(4, 256)]
    return {
        "bert": (Bert, [i64(8, 128), i64(8, 128), i64(8, 128), i64(8)], "bfloat16"),
        "clip": (Clip, [f32(256, 768), f32(256, 77, 512), i64(256, 77)], "float32"),
        "convnext": (ConvNext, [f32(16, 3, 64, 64), i64(16)], "float32"),
        "dense_experts": (DenseExperts, [f32(1024, 256), f32(1024, 256)], "float32"),
        "diffusion_transformer": (DiffusionTransformer, [bf16(8, 256, 384), bf16(8, 384), f32(8, 256, 384)],
                                  "bfloat16"),
        "experts_model": (Experts, [bf16(2048, 512), f32(2048, 512)], "bfloat16"),
        "gpt2": (lambda: Gpt2(False), tokens, "float32"),
        "gpt2_fused": (lambda: Gpt2(True), tokens, "bfloat16"),
        "mamba": (Mamba, [bf16(2, 256, 256), f32(2, 256, 256)], "bfloat16"),
        "qwen": (Qwen, tokens, "bfloat16"),
        "recommender": (Recommender, [f32(512, 13), i64(2048), i64(512), f32(512)], "float32"),
        # Not in bfloat16: without a GPU, torch believes that cuDNN has no such convolutions.
        "resnet": (ResNet, [f32(8, 3, 64, 64), i64(8)], "float32"),
        "segmentation": (Segmentation, [f32(4, 3, 64, 64), i64(4, 64, 64)], "float32"),
        "swin": (Swin, [f32(4, 56, 56, 96), i64(49, 49), f32(4, 28, 28, 192)], "float32"),
        "t5": (T5, tokens, "bfloat16"),
        "unet": (lambda: UNet(False), [bf16(2, 4, 32, 32), i64(2), f32(2, 4, 32, 32)], "bfloat16"),
        "unet_learned": (lambda: UNet(True), [f32(2, 4, 32, 32), i64(2), f32(2, 4, 32, 32)], "float32"),
        "vision_transformer": (VisionTransformer, [bf16(4, 3, 224, 224), i64(4)], "bfloat16"),
    }
