"""Compares our minimum cuts of GPT-2, in which head and embedding share a weight, with the installed torch's."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
import torch
import torch_partition
from conftest import output_of
from torch import nn
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors
from torch.nn import functional as F

import jointer
from jointer.document import read_document

ONLY_TORCH = ("2.11", "2.15")
WIDTH, HEADS, TOKENS, VOCABULARY = 64, 4, 32, 512


class Block(nn.Module):
    def __init__(self, *, fused: bool, dropout: float) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.fused, self.dropout = fused, dropout
        self.register_buffer("mask", torch.tril(torch.ones(TOKENS, TOKENS)).view(1, 1, TOKENS, TOKENS))

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        parts = self.attn(x).split(WIDTH, 2)
        q, k, v = (each.view(batch, length, HEADS, -1).transpose(1, 2) for each in parts)
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout)
        else:
            scores = (q @ k.transpose(-2, -1)) * (WIDTH // HEADS) ** -0.5
            scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
            y = F.dropout(F.softmax(scores, -1), self.dropout) @ v
        y = y.transpose(1, 2).contiguous().view(batch, length, WIDTH)
        return F.dropout(self.proj(y), self.dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.ln_1(x))
        hidden = F.gelu(self.up(self.ln_2(x)), approximate="tanh")
        return x + F.dropout(self.down(hidden), self.dropout)


class Gpt2(nn.Module):
    def __init__(self, *, fused: bool, dropout: float) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.h = nn.ModuleList(Block(fused=fused, dropout=dropout) for _ in range(2))
        self.ln_f, self.lm_head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return F.cross_entropy(self.lm_head(self.ln_f(x)).flatten(0, 1), targets.flatten())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("dropout", [0.0, 0.1])
@pytest.mark.parametrize("fused", [True, False], ids=["sdpa", "eager"])
def test_same_cut(fused: bool, dropout: float, dtype: torch.dtype, tmp_path: Path) -> None:
    tokens, targets = torch.randint(0, VOCABULARY, (2, 2, TOKENS))
    path, out = tmp_path / "gpt2.joint.json", tmp_path / "pair.json"
    with contextlib.ExitStack() as stack:
        model = Gpt2(fused=fused, dropout=dropout).to(dtype)
        jointer.capture(aot_export_joint_with_descriptors(stack, model, (tokens, targets)), path)
    output_of("partition_pair", path, "min_cut", out)
    pair, wanted = json.loads(out.read_text()), torch_partition.partition(read_document(path), path)
    saved = [value["n"] for value in pair["forward"]["nodes"][-1]["args"][0]["tuple"][wanted.results :]]
    assert saved == wanted.saved
    for half, theirs in (("forward", wanted.forward), ("backward", wanted.backward)):
        assert [record["name"] for record in pair[half]["nodes"]][:-1] == theirs[:-1], half
