"""CUDA forms of operators that exist only for the CPU: flash attention and its backward.

Each form accepts the arguments of the CPU operator and returns the same items. As in the runner
(app/runner/kernels/attention.cpp), attention becomes CUDA's flash or memory-efficient attention or,
for tensors that neither supports, is computed in parts:

    forward   P = softmax(S), O = P V, L = logsumexp(S), with S = scale Q K^T + mask
    backward  P = exp(S - L), dV = P^T dO, dS = P * (dO V^T - rowsum(dO * O)),
              dQ = scale * dS K, dK = scale * dS^T Q

Differences: there is no dropout; heads that share keys and values are expanded before the kernel,
and their gradients are summed after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, fx

from .cpu_forms import expand_heads, laid_out, no_dropout, scale_of, sum_heads

_ATEN = torch.ops.aten

#: CUDA's fused kernels require heads of a multiple of this many bytes; flash limits the head size.
_ALIGNMENT, _MAX_FLASH_SIZE = 16, 256
#: The memory-efficient kernel pads the rows of its logsumexp to a multiple of this.
_EFFICIENT_ROWS = 32


def cuda_form(node: fx.Node) -> Callable[..., Any] | None:
    """The CUDA form of the target of ``node``, or ``None`` if the target runs on CUDA."""
    if (compute := _FORMS.get(node.target)) is None:
        return None
    described = list(node.meta.get("val") or [])

    def form(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        return tuple(map(laid_out, compute(*args, **kwargs), described))

    form.__name__ = "cuda_form"
    return form


def _kernel(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> str:
    """The fastest kernel that supports the tensors, the same for a forward and its backward."""
    is_aligned = all(
        each.shape[-1] * each.element_size() % _ALIGNMENT == 0 for each in (query, value)
    )
    if mask is not None or not is_aligned:
        return "parts"
    is_half = query.dtype in (torch.float16, torch.bfloat16)
    if is_half and query.shape[-1] == value.shape[-1] <= _MAX_FLASH_SIZE:
        return "flash"
    return "efficient" if is_half or query.dtype is torch.float32 else "parts"


def _attend(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    no_dropout(dropout_p, "CUDA", "the CPU")
    key, value = expand_heads(key, query), expand_heads(value, query)
    kernel = _kernel(query, key, value, attn_mask)
    if kernel == "flash":
        return _ATEN._scaled_dot_product_flash_attention(
            query, key, value, 0.0, is_causal, False, scale=scale
        )[:2]
    if kernel == "efficient":
        out, logsumexp, *_ = _ATEN._scaled_dot_product_efficient_attention(
            query, key, value, None, True, 0.0, is_causal, scale=scale
        )
        return out, logsumexp[:, :, : query.shape[2]]
    scores = _scores(query, key, attn_mask, is_causal, scale)
    out = torch.softmax(scores, -1) @ value.to(scores.dtype)
    return out.to(query.dtype), scores.logsumexp(-1)


def _attend_backward(
    grad, query, key, value, out, logsumexp, dropout_p, is_causal, *, attn_mask=None, scale=None
):
    no_dropout(dropout_p, "CUDA", "the CPU")
    shared = key, value
    key, value = expand_heads(key, query), expand_heads(value, query)
    kernel = _kernel(query, key, value, attn_mask)
    logsumexp = logsumexp.contiguous()  # the CPU's has the heads within the sequence
    # Without dropout, the random state is unused, but it must be passed.
    none = query.new_zeros((), dtype=torch.int64)
    if kernel == "flash":
        sizes = query.shape[2], key.shape[2]
        gradients = _ATEN._scaled_dot_product_flash_attention_backward(
            grad, query, key, value, out, logsumexp, None, None, *sizes, 0.0, is_causal, none, none,
            scale=scale,
        )  # fmt: skip
    elif kernel == "efficient":
        padded = F.pad(logsumexp, (0, -query.shape[2] % _EFFICIENT_ROWS))
        wanted = [True, True, True, False]
        gradients = _ATEN._scaled_dot_product_efficient_attention_backward(
            grad, query, key, value, None, out, padded, none, none, 0.0, wanted, is_causal,
            scale=scale,
        )[:3]  # fmt: skip
    else:
        gradients = _gradients(
            grad, query, key, value, out, logsumexp, attn_mask, is_causal, scale
        )
    of_query, *of_shared = gradients
    return of_query, *map(sum_heads, of_shared, shared)


def _scores(
    query: Tensor, key: Tensor, mask: Tensor | None, causal: bool, scale: float | None
) -> Tensor:
    dtype = torch.float64 if query.dtype is torch.float64 else torch.float32
    scores = query.to(dtype) @ key.to(dtype).transpose(-2, -1) * scale_of(query, scale)
    if mask is not None:
        scores = scores + mask
    if causal:
        above = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(above, -math.inf)
    return scores


def _gradients(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    mask: Tensor | None,
    causal: bool,
    scale: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    scores = _scores(query, key, mask, causal, scale)
    grad, out, value = (each.to(scores.dtype) for each in (grad, out, value))
    weights = (scores - logsumexp.unsqueeze(-1)).exp()
    of_value = weights.transpose(-2, -1) @ grad
    of_scores = grad @ value.transpose(-2, -1) - (grad * out).sum(-1, keepdim=True)
    of_scores = of_scores * weights * scale_of(query, scale)
    of_query = of_scores @ key.to(scores.dtype)
    of_key = of_scores.transpose(-2, -1) @ query.to(scores.dtype)
    return of_query.to(query.dtype), of_key.to(query.dtype), of_value.to(query.dtype)


_FORMS: dict[Any, Callable[..., tuple[Any, ...]]] = {
    _ATEN._scaled_dot_product_flash_attention_for_cpu.default: _attend,
    _ATEN._scaled_dot_product_flash_attention_for_cpu_backward.default: _attend_backward,
}
