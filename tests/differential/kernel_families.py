"""Small programs, one for each family of operators, their captures, and the kernels that Inductor makes of them.

    kernel_families.py NAME CAPTURE FILE    writes the capture of a program, and what inductor_oracle.py finds for it

NAME is a program of this file, or a model of kernel_models.py, of which the joint graph is captured.

Needs torch 2.15 with triton, and the tools of the shared folder (JOINTER_SHARED); no GPU.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asked_kernels import loaded_oracle, write_answer
from kernel_inputs import Inputs, bf16, f32, flag, i64

PYTHON = Path(__file__).resolve().parents[2] / "resources" / "python"


def families() -> dict[str, tuple[Callable[..., Any], Inputs, str]]:
    """By name: the program, shapes and types of its inputs, and the device."""
    import torch
    from torch.nn import functional

    aten = torch.ops.aten

    def activations(x: Any, g: Any) -> Any:
        values = [functional.leaky_relu(x), functional.elu(x), functional.softplus(x), functional.hardswish(x),
                  functional.mish(x), functional.hardtanh(x), functional.logsigmoid(x), functional.glu(x)]
        back = [aten.threshold_backward(g, x, 0), aten.hardtanh_backward(g, x, -1, 1),
                aten.softplus_backward(g, x, 1, 20), aten.leaky_relu_backward(g, x, 0.1, False)]
        return *values, *back, torch.lerp(x, g, 0.3), torch.addcmul(x, g, g, value=0.5), torch.addcdiv(x, g, g)

    def losses(x: Any, y: Any) -> Any:
        return (functional.mse_loss(x, y), functional.l1_loss(x, y), functional.huber_loss(x, y),
                functional.smooth_l1_loss(x, y, reduction="none"), functional.binary_cross_entropy_with_logits(x, y),
                aten.mse_loss_backward(x.sum(), x, y, 1))

    def statistics(x: Any, y: Any) -> Any:
        variance, mean = torch.var_mean(x, -1)
        return (variance, mean, y.var(0), y.std(), torch.linalg.vector_norm(x, dtype=torch.float32), x.norm(dim=-1),
                torch.logsumexp(y, -1), (x > 0).all(), (y > 0).all(-1), torch.count_nonzero(x), y.amin(0), y.prod(-1))

    def extremes(x: Any, y: Any) -> Any:
        value, place = x.max(-1)
        least, _ = y.min(0)
        return value, place, least, y.argmin(-1), x.argmax(), torch.aminmax(y, dim=-1)[0], x.max()

    def triangles(x: Any, mask: Any) -> Any:
        return (x.tril(), x.triu(1) + 1, torch.eye(512, device=x.device) + x, x.masked_fill(mask, -1e4).softmax(-1),
                torch.where(mask, x, 0).sum(-1))

    def shifted(x: Any) -> Any:
        padded = functional.pad(x, (0, 16)), functional.pad(x, (1, 1, 2, 2)) * 2
        return (*padded, x.flip(0) + 1, x.roll(3, 1), x.repeat(2, 3), x.repeat(1, 1).sum(0),
                torch.linspace(0, 1, 100, device=x.device))

    def scattered(x: Any, values: Any, index: Any) -> Any:
        rows = torch.zeros(100, 512, device=x.device).index_add(0, index % 100, values)
        picked = aten.select_scatter(x, values[0, :256], 0, 3)
        return (rows + 1, picked, aten.select_backward(values[0], [8, 512], 0, 2) * 2,
                x.index_copy(0, index[:16], x[:16] * 2), x.index_fill(1, index[:4] % 256, 0.5),
                aten.slice_scatter(x, x[:8] * 3, 0, 8, 16))

    def many_inputs(*tensors: Any) -> Any:
        joined = torch.cat([t * 2 for t in tensors], 1)
        return joined + 1, torch.stack([t.sin() for t in tensors]).sum(0), torch.cat(tensors, 0)

    def bias(x: Any, w: Any, b: Any, w2: Any) -> Any:
        hidden = functional.gelu(functional.linear(x, w, b), approximate="tanh")
        return functional.linear(hidden, w2), torch.addmm(b, x, w.t()).relu()

    def layer_norms(x: Any, w: Any, b: Any, g: Any) -> Any:
        y = functional.layer_norm(x, (1024,), w, b)
        return y, y * g + 1, functional.layer_norm(x.float(), (1024,)).to(x.dtype) * (1 + g)

    def group_norms(x: Any, w: Any, b: Any) -> Any:
        return functional.silu(functional.group_norm(x, 32, w, b)) + x

    def complex_rotation(x: Any, angles: Any) -> Any:
        turned = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        factors = torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(turned * factors[None, :, None]).flatten(3).to(x.dtype)

    def float8(x: Any, w: Any) -> Any:
        def scaled(t: Any) -> tuple[Any, Any]:
            scale = 448.0 / t.abs().amax().float().clamp(min=1e-12)
            return (t.float() * scale).clamp(-448, 448).to(torch.float8_e4m3fn), scale.reciprocal()

        a, scale_a = scaled(x)
        b, scale_b = scaled(w)
        product = torch._scaled_mm(a, b.t(), scale_a, scale_b, out_dtype=torch.bfloat16)
        return functional.silu(product) * 2

    def rowwise_float8(x: Any, w: Any) -> Any:
        def scaled(t: Any) -> tuple[Any, Any]:
            scale = t.abs().amax(-1, keepdim=True).float().clamp(min=1e-12) / 448.0
            return (t.float() / scale).clamp(-448, 448).to(torch.float8_e4m3fn), scale

        a, scale_a = scaled(x)
        b, scale_b = scaled(w)
        return torch._scaled_mm(a, b.t(), scale_a, scale_b.t(), out_dtype=torch.bfloat16, use_fast_accum=True)

    def experts(x: Any, w1: Any, w2: Any, logits: Any) -> Any:
        scores = torch.softmax(logits.float(), -1)
        values, chosen = torch.topk(scores, 2, -1)
        order = torch.argsort(chosen.view(-1), stable=True)
        rows = x[order // 2]
        ends = functional.one_hot(chosen.view(-1), 8).sum(0).cumsum(0).to(torch.int32)
        hidden = functional.silu(torch._grouped_mm(rows, w1, offs=ends))
        out = torch._grouped_mm(hidden, w2, offs=ends) * values.view(-1)[order][:, None].to(x.dtype)
        return torch.zeros_like(x).index_add(0, order // 2, out)

    def sorted_rows(x: Any, y: Any) -> Any:
        values, places = x.sort(-1)
        return values * 2, places + 1, y.sort(-1)[0], y.cumsum(-1) + 1

    def optimizer(*tensors: Any) -> Any:
        count = len(tensors) // 4
        params, grads, means, squares = (list(tensors[i * count:(i + 1) * count]) for i in range(4))
        means = torch._foreach_add(torch._foreach_mul(means, 0.9), torch._foreach_mul(grads, 0.1))
        squares = torch._foreach_mul(squares, 0.95)
        squares = torch._foreach_addcmul(squares, grads, grads, 0.05)
        roots = torch._foreach_add(torch._foreach_div(torch._foreach_sqrt(squares), 0.3), 1e-8)
        params = torch._foreach_addcdiv(torch._foreach_mul(params, 0.999), means, roots, -1e-3)
        return *params, *means, *squares

    def optimizer_input(*tensors: Any) -> Any:
        count = len(tensors) // 2
        params, grads = list(tensors[:count]), list(tensors[count:])
        torch._foreach_mul_(params, 0.999)
        torch._foreach_add_(params, grads, alpha=-0.01)
        return params[0].sum()

    def pictures(x: Any, w: Any, b: Any) -> Any:
        y = functional.silu(functional.conv2d(x, w, b, padding=1))
        return functional.interpolate(y, scale_factor=2.0) + 1, functional.pixel_shuffle(y, 2)

    def pools(x: Any, g: Any, wide: Any) -> Any:
        values, places = aten.max_pool2d_with_indices(x, [3, 3], [2, 2], [1, 1])
        back = aten.max_pool2d_with_indices_backward(g, x, [3, 3], [2, 2], [1, 1], [1, 1], False, places)
        averages = functional.avg_pool2d(x, 2), functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
        backs = (aten.avg_pool2d_backward(g, x, [2, 2], [2, 2], [0, 0], False, True, None),
                 aten.avg_pool2d_backward(g, x, [3, 3], [2, 2], [1, 1], False, False, None))
        return (values * 2, back + 1, *[each + 1 for each in averages], *backs, functional.max_pool2d(x, 6),
                functional.adaptive_avg_pool2d(x, 8), aten.upsample_nearest2d_backward(wide, [64, 64], [4, 32, 32, 32]))

    def adaptive_pools(x: Any) -> Any:
        return (functional.adaptive_avg_pool2d(x, 8), functional.adaptive_avg_pool2d(x, (8, 15)) * 2,
                *aten.adaptive_max_pool2d(x, [8, 8]), *aten.adaptive_max_pool2d(x, [15, 10]),
                *aten.adaptive_max_pool2d(x, [1, 1]), functional.adaptive_avg_pool2d(x, 40))

    def large_adaptive_pools(x: Any) -> Any:
        return functional.adaptive_avg_pool2d(x, 4) + 1, aten.adaptive_max_pool2d(x, [4, 4])[0] * 2

    def triangle_indices(x: Any) -> Any:
        i, j = torch.tril_indices(64, 64, -1, device=x.device)
        rows, columns = torch.triu_indices(64, 48, -3, device=x.device)
        low = torch.tril_indices(64, 32, 2, device=x.device)
        return x[i, j], rows * 2, columns, low + 1, torch.triu_indices(32, 64, 5, device=x.device)

    def batch_norms(x: Any, w: Any, b: Any, mean: Any, variance: Any, g: Any) -> Any:
        y = torch.batch_norm(x, w, b, mean, variance, False, 0.1, 1e-5, False)
        z = aten._native_batch_norm_legit_functional(x, w, b, mean, variance, True, 0.1, 1e-5)
        back = aten.native_batch_norm_backward(g, x, w, None, None, z[1], z[2], True, 1e-5, [True, True, True])
        fixed = aten.native_batch_norm_backward(g, x, w, mean, variance, None, None, False, 1e-5, [True, False, True])
        return functional.relu(y), functional.relu(z[0]), *z[1:], *back, fixed[0], fixed[2]

    def searches(x: Any, sorted_values: Any, repeats: Any) -> Any:
        places = torch.searchsorted(sorted_values, x)
        rows = torch.repeat_interleave(repeats, output_size=4096)
        return places + 1, torch.bucketize(x * 2, sorted_values, right=True), x[rows % 256] * 2

    def long_scans(x: Any, y: Any) -> Any:
        return x.cumsum(0) + 1, y.cumsum(-1), y.cumprod(-1) * 2, torch.logcumsumexp(y, -1)

    def blocks(x: Any, w: Any) -> Any:
        y = functional.rms_norm(x, (2048,), w)
        largest = y.view(-1, 16, 128).float().abs().amax(-1, keepdim=True).clamp(min=1e-12)
        return (y.view(-1, 16, 128) * (448.0 / largest)).to(torch.float8_e4m3fn).view(-1, 2048), largest / 448.0

    def converted(x: Any, n: Any, mask: Any) -> Any:
        return ((x > 0) & mask, n // 3 + n % 5, (n.float() * x).to(torch.bfloat16), mask.sum(-1), (n & 7) << 2,
                torch.bucketize(x, x[0].sort()[0]) if False else x.isnan().any(), x.sign() * n)

    def windows(x: Any) -> Any:
        return x.unfold(1, 8, 4).sum(-1), x.as_strided((32, 64), (1, 16)) * 2, x.diagonal() + 1

    def attention_on_cpu(x: Any, wq: Any, wk: Any, wv: Any, wo: Any, w: Any) -> Any:
        q, k, v = [(x @ each).view(2, 128, 8, 32).transpose(1, 2) for each in (wq, wk, wv)]
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = x + y.transpose(1, 2).reshape(2, 128, 256) @ wo
        norm = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5) * w
        return y + functional.silu(norm @ wq) * (norm @ wk)

    def softmax_on_cpu(x: Any, target: Any) -> Any:
        return torch.softmax(x, -1), functional.cross_entropy(x, target), torch.log_softmax(x, 0), x.sum(0), x.sum(1)

    def rows_on_cpu(x: Any, b: Any, y: Any) -> Any:
        a = torch.relu(x + b)
        return a, a * 2, a.t().contiguous() + y, a.sum(), a.view(-1, 4).sum(-1), a[:, ::2] + 1

    def norms_on_cpu(x: Any, w: Any, g: Any) -> Any:
        h = functional.rms_norm(x, (256,), w)
        m = functional.layer_norm(x, (256,), w)
        d = g * w - (g * w * h).mean(-1, keepdim=True) * h
        return h, m, d, (g * h).sum(0), d.abs().sum(0)

    def joined_on_cpu(a: Any, b: Any, index: Any) -> Any:
        cos, sin = a[:, :64].cos(), a[:, :64].sin()
        half = torch.cat([-b[:, 64:], b[:, :64]], -1)
        rows = torch.zeros(32, 128).index_add(0, index, b)
        return torch.cat([cos, sin], -1) * b + half, rows + 1, b[index] * 2, torch.stack([a, b]).mean(0)

    m, s = bf16(1024, 1024), f32(256, 256)
    cuda: dict[str, tuple[Callable[..., Any], Inputs]] = {
        "activations": (activations, [bf16(512, 1024)] * 2),
        "adaptive_pools": (adaptive_pools, [f32(4, 32, 30, 30)]),
        "batch_norms": (batch_norms, [f32(8, 96, 28, 28), f32(96), f32(96), f32(96), f32(96), f32(8, 96, 28, 28)]),
        "bias": (bias, [bf16(2048, 1024), bf16(4096, 1024), bf16(4096), bf16(1024, 4096)]),
        "blocks": (blocks, [bf16(4096, 2048), bf16(2048)]),
        "complex_rotation": (complex_rotation, [bf16(2, 512, 8, 64), f32(512, 32)]),
        "converted": (converted, [f32(256, 128), i64(256, 128), flag(256, 128)]),
        "experts": (experts, [bf16(1024, 512), bf16(8, 512, 256), bf16(8, 256, 512), bf16(1024, 8)]),
        "extremes": (extremes, [f32(512, 1024), f32(2048, 64)]),
        "float8": (float8, [m, m]),
        "group_norms": (group_norms, [bf16(4, 64, 32, 32), bf16(64), bf16(64)]),
        "large_adaptive_pools": (large_adaptive_pools, [f32(4, 32, 30, 30)]),
        "layer_norms": (layer_norms, [bf16(4096, 1024), bf16(1024), bf16(1024), bf16(4096, 1024)]),
        "long_scans": (long_scans, [f32(65536, 8), f32(512, 256)]),
        "losses": (losses, [f32(512, 512)] * 2),
        "many_inputs": (many_inputs, [bf16(256, 64)] * 10),
        "optimizer": (optimizer, [f32(256, 128), f32(128), f32(64, 64)] * 4),
        "optimizer_input": (optimizer_input, [f32(256, 128), f32(128), f32(64, 64)] * 2),
        "pictures": (pictures, [bf16(2, 16, 32, 32), bf16(32, 16, 3, 3), bf16(32)]),
        "pools": (pools, [f32(4, 32, 32, 32), f32(4, 32, 16, 16), f32(4, 32, 64, 64)]),
        "rowwise_float8": (rowwise_float8, [m, m]),
        "scattered": (scattered, [f32(128, 256), f32(64, 512), i64(64)]),
        "searches": (searches, [f32(256, 64), f32(1000), i64(128)]),
        "shifted": (shifted, [f32(128, 256)]),
        "sorted_rows": (sorted_rows, [f32(512, 128), f32(256, 300)]),
        "statistics": (statistics, [bf16(1024, 2048), f32(2048, 512)]),
        "triangle_indices": (triangle_indices, [f32(64, 64)]),
        "triangles": (triangles, [f32(512, 512), flag(512, 512)]),
        "windows": (windows, [f32(64, 64)]),
    }
    cpu: dict[str, tuple[Callable[..., Any], Inputs]] = {
        "attention_on_cpu": (attention_on_cpu, [f32(2, 128, 256), *[s] * 4, f32(256)]),
        "joined_on_cpu": (joined_on_cpu, [f32(64, 128), f32(64, 128), i64(64)]),
        "norms_on_cpu": (norms_on_cpu, [f32(128, 256), f32(256), f32(128, 256)]),
        "rows_on_cpu": (rows_on_cpu, [f32(64, 128), f32(128), f32(128, 64)]),
        "softmax_on_cpu": (softmax_on_cpu, [f32(64, 1000), i64(64)]),
    }
    return {**{name: (*each, "cuda") for name, each in cuda.items()},
            **{name: (*each, "cpu") for name, each in cpu.items()}}


def traced_program(name: str) -> Any:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    program, inputs, device = families()[name]
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        values = [torch.empty(shape, dtype=getattr(torch, dtype), device=device) for shape, dtype in inputs]
        traced = make_fx(program if "input" in name else torch.func.functionalize(program))(*values)
    for node, value in zip(traced.graph.find_nodes(op="placeholder"), values):
        node.meta["val"] = value
    return traced


def capture_model(name: str, path: str) -> None:
    """Captures the joint graph of a model, before decomposition."""
    sys.path.insert(0, str(PYTHON))
    import jointer
    import torch
    from jointer.fake_device import without_gpu
    from kernel_models import models
    from torch._functorch.aot_autograd import aot_export_module

    make, inputs, dtype = models()[name]
    torch.set_default_dtype(getattr(torch, dtype))
    torch.cuda.get_rng_state = lambda *_: torch.zeros(16, dtype=torch.uint8)  # there is no GPU
    torch.cuda.set_rng_state = lambda *_: None
    with without_gpu() as mode, mode:
        with torch.device("cuda"):
            model = make()
            values = [torch.empty(shape, dtype=getattr(torch, each)) for shape, each in inputs]
        model.register_forward_hook(lambda _, __, loss: (loss,))
        traced, _ = aot_export_module(model, values, trace_joint=True, output_loss_index=0)
    jointer.capture(traced, path, kind="joint", name=name)


def main(name: str, capture_path: str, path: str) -> None:
    sys.path.insert(0, str(PYTHON))
    import jointer

    if name not in families():
        # In a separate process: while autograd runs, the GPU is faked in a different way.
        subprocess.run([sys.executable, __file__, name, capture_path], check=True)
    oracle, facts = loaded_oracle()
    if name in families():
        jointer.capture(traced_program(name), capture_path, kind="joint", name=name)
    write_answer(oracle, facts, name, capture_path, path)
    sys.stdout.flush()
    os._exit(0)  # triton's modules complain about an orderly end


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 3 else capture_model(*sys.argv[1:])
