"""CPU forms of operators that exist only for CUDA: attention kernels, histograms of integers.

Each form accepts the arguments of the CUDA operator and returns the same items, so that the
``getitem`` nodes of a graph work unchanged. Traced by ``make_fx`` or called with real tensors,
attention becomes ``aten._scaled_dot_product_flash_attention_for_cpu`` or its backward.

Differences: the CPU kernel has no dropout; heads that share keys and values (grouped queries) are
expanded before the kernel, and their gradients are summed after it; different head sizes are padded
with zeros; random states are zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, fx

from .errors import CaptureError

_ATEN = torch.ops.aten


def cpu_form(node: fx.Node) -> Callable[..., Any] | None:
    """The CPU form of the target of ``node``, or ``None`` if the target runs on the CPU."""
    if make := _FORWARDS.get(node.target):
        return make(node)
    if backward := _BACKWARDS.get(node.target):
        return _backward(node, backward)
    return _OTHERS.get(node.target)


def _forward(node: fx.Node, attend: Callable[..., tuple[Tensor, Tensor]]) -> Callable[..., Any]:
    """A form of the attention of ``node``: ``attend`` computes the first two results; the others
    are zeros, with the shapes in the capture."""
    described = list(node.meta.get("val") or [])

    def form(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        out, logsumexp = attend(*args, **kwargs)
        rest = [_zeros(each) for each in described[2:]]
        return laid_out(out, described[0]), _shaped(logsumexp, described[1]), *rest

    form.__name__ = "cpu_form"
    return form


def _backward(node: fx.Node, gradients: Callable[..., tuple[Any, ...]]) -> Callable[..., Any]:
    """A form of the backward of attention: ``gradients`` computes all results."""
    described = list(node.meta.get("val") or [])

    def form(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        return tuple(map(laid_out, gradients(*args, **kwargs), described))

    form.__name__ = "cpu_form_of_backward"
    return form


def _zeros(described: Any) -> Any:
    if isinstance(described, Tensor):
        return torch.zeros(described.shape, dtype=described.dtype, device="cpu")
    return described


def laid_out(tensor: Any, described: Any) -> Any:
    """``tensor`` with its dimensions in the memory order of ``described``, on which later views
    rely."""
    if not isinstance(tensor, Tensor) or not isinstance(described, Tensor):
        return tensor
    strides = described.stride()
    order = sorted(range(tensor.dim()), key=lambda d: (-strides[d], d))
    back = [order.index(dimension) for dimension in range(tensor.dim())]
    return tensor.permute(order).contiguous().permute(back)


def _shaped(logsumexp: Tensor, described: Tensor) -> Tensor:
    """``logsumexp``, which is [batch, heads, queries], with the padding or the last dimension of
    size 1 that ``described`` has."""
    if described.dim() == logsumexp.dim() + 1:
        logsumexp = logsumexp.unsqueeze(-1)
    else:
        missing = described.shape[-1] - logsumexp.shape[-1]
        if missing > 0:
            logsumexp = F.pad(logsumexp, (0, missing), value=float("inf"))
    return logsumexp.contiguous() if described.is_contiguous() else logsumexp


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    dropout: float,
    causal: bool,
    scale: float | None,
) -> tuple[Tensor, Tensor]:
    no_dropout(dropout, "CPU", "cuda")
    size = max(query.shape[-1], value.shape[-1])
    out, logsumexp = _ATEN._scaled_dot_product_flash_attention_for_cpu(
        _pad(query, size),
        _pad(expand_heads(key, query), size),
        _pad(expand_heads(value, query), size),
        0.0,
        causal,
        attn_mask=bias,
        scale=scale_of(query, scale),
    )
    return out[..., : value.shape[-1]], logsumexp


def _attend_backward(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    out: Tensor,
    logsumexp: Tensor,
    dropout: float,
    causal: bool,
    scale: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    no_dropout(dropout, "CPU", "cuda")
    if logsumexp.dim() == 4:
        logsumexp = logsumexp.squeeze(-1)
    logsumexp = logsumexp[:, :, : query.shape[2]]
    size = max(query.shape[-1], value.shape[-1])
    of_query, of_key, of_value = _ATEN._scaled_dot_product_flash_attention_for_cpu_backward(
        _pad(grad, size),
        _pad(query, size),
        _pad(expand_heads(key, query), size),
        _pad(expand_heads(value, query), size),
        _pad(out, size),
        # The kernel expects [batch, queries, heads] in memory.
        logsumexp.transpose(1, 2).contiguous().transpose(1, 2),
        0.0,
        causal,
        attn_mask=bias,
        scale=scale_of(query, scale),
    )
    return (
        of_query[..., : query.shape[-1]],
        sum_heads(of_key[..., : key.shape[-1]], key),
        sum_heads(of_value[..., : value.shape[-1]], value),
    )


def scale_of(query: Tensor, scale: float | None) -> float:
    """``scale``, or the default, which depends on the head size before padding."""
    return 1 / math.sqrt(query.shape[-1]) if scale is None else scale


def _pad(tensor: Tensor, size: int) -> Tensor:
    """Pad with zeros to a head size common to queries and values."""
    missing = size - tensor.shape[-1]
    return F.pad(tensor, (0, missing)) if missing else tensor


def no_dropout(dropout: float, device: str, other: str) -> None:
    """Refuses dropout on ``device``, and names another device that supports it."""
    if dropout:
        raise CaptureError(f"attention with dropout has no {device} form; run it on {other}")


def expand_heads(shared: Tensor, query: Tensor) -> Tensor:
    """Keys or values with one head per head of ``query``."""
    times = query.shape[1] // shared.shape[1]
    return shared if times == 1 else shared.repeat_interleave(times, dim=1)


def sum_heads(gradient: Tensor, shared: Tensor) -> Tensor:
    """The gradient of ``shared`` from that of ``expand_heads(shared, ...)``."""
    if gradient.shape[1] == shared.shape[1]:
        return gradient
    return gradient.unflatten(1, (shared.shape[1], -1)).sum(2)


def _flash(node: fx.Node) -> Callable[..., Any]:
    def attend(q, k, v, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
        return _attend(q, k, v, None, dropout_p, is_causal, scale)

    return _forward(node, attend)


def _efficient(node: fx.Node) -> Callable[..., Any]:
    def attend(q, k, v, bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, *, scale=None):
        return _attend(q, k, v, bias, dropout_p, is_causal, scale)

    return _forward(node, attend)


def _cudnn(node: fx.Node) -> Callable[..., Any]:
    def attend(
        q,
        k,
        v,
        bias,
        compute_log_sumexp,
        dropout_p=0.0,
        is_causal=False,
        return_debug_mask=False,
        *,
        scale=None,
    ):
        return _attend(q, k, v, bias, dropout_p, is_causal, scale)

    return _forward(node, attend)


def _flash_backward(grad, q, k, v, out, lse, cum_q, cum_k, max_q, max_k, dropout, causal, seed,
                    offset, *, scale=None):  # fmt: skip
    return _attend_backward(grad, q, k, v, None, out, lse, dropout, causal, scale)


def _cudnn_backward(grad, q, k, v, out, lse, seed, offset, bias, cum_q, cum_k, max_q, max_k,
                    dropout, causal, *, scale=None):  # fmt: skip
    return _attend_backward(grad, q, k, v, bias, out, lse, dropout, causal, scale)


def _efficient_backward(grad, q, k, v, bias, out, lse, seed, offset, dropout, mask, causal=False, *,
                        scale=None):  # fmt: skip
    if mask[3]:
        raise CaptureError("the gradient of an attention bias has no CPU form; run it on cuda")
    return *_attend_backward(grad, q, k, v, bias, out, lse, dropout, causal, scale), None


def _histogram(values: Tensor, bins: int = 100, low: float = 0, high: float = 0) -> Tensor:
    """A histogram of integers, as in the routing to experts. torch supports it only on CUDA."""
    if values.dtype.is_floating_point:
        return _ATEN.histc(values, bins, low, high)
    return _ATEN.histc(values.double(), bins, low, high).to(values.dtype)


_FORWARDS: dict[Any, Callable[[fx.Node], Callable[..., Any]]] = {
    _ATEN._scaled_dot_product_flash_attention.default: _flash,
    _ATEN._scaled_dot_product_efficient_attention.default: _efficient,
    _ATEN._scaled_dot_product_cudnn_attention.default: _cudnn,
}
_BACKWARDS: dict[Any, Callable[..., tuple[Any, ...]]] = {
    _ATEN._scaled_dot_product_flash_attention_backward.default: _flash_backward,
    _ATEN._scaled_dot_product_efficient_attention_backward.default: _efficient_backward,
    _ATEN._scaled_dot_product_cudnn_attention_backward.default: _cudnn_backward,
}
_OTHERS: dict[Any, Callable[..., Any]] = {_ATEN.histc.default: _histogram}
