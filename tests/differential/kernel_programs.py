"""Small programs whose kernels Inductor makes in unusual ways, and Inductor's answer for one of them.

    kernel_programs.py NAME FILE    writes what inductor_oracle.py finds for a program, in the form of the references

Needs torch 2.15 with triton, and the tools of the shared folder (JOINTER_SHARED); no GPU.
"""

from __future__ import annotations

import collections
import json
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernel_inputs import Inputs, bf16, f32, i64

SHARED = Path(os.environ.get("JOINTER_SHARED") or Path(__file__).resolve().parents[3] / "shared")


def programs() -> dict[str, tuple[Callable[..., Any], Inputs]]:
    """By name: the program, and shapes and types of its inputs."""
    import torch
    from torch.nn import functional

    def norm(x: Any, weight: Any) -> Any:
        return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * weight

    def reordered_loops(x: Any) -> Any:
        a = torch.relu(x)
        return a, a.t().contiguous() + 1, (a.t() * 2).contiguous()

    def permutations(x: Any, y: Any) -> Any:
        a = x.sin()
        return a.permute(0, 2, 1, 3).contiguous() * 2, a.sum(-1), a.permute(2, 0, 1, 3).contiguous() + y

    def changed_inputs(x: Any, y: Any, z: Any) -> Any:
        a = x + 1
        x.copy_(y * 2)
        b = a * z
        z.add_(x)
        y.mul_(2)
        return a, b, z.sum(0)

    def scattered_input(x: Any, index: Any, values: Any) -> Any:
        a = x * 2
        x.index_put_((index,), values, accumulate=True)
        b = x + a
        x.mul_(3)
        total = x.sum()
        x[2:5] = 1.0
        return a, b, total

    def rotation(q: Any, k: Any, cos: Any, sin: Any) -> Any:
        def rotated(x: Any) -> Any:
            a, b = x.chunk(2, -1)
            return torch.cat([-b, a], -1)

        q = norm(q, cos[0])
        turned = [x * cos[None, :, None] + rotated(x) * sin[None, :, None] for x in (q, k)]
        return tuple(x.transpose(1, 2).contiguous() for x in turned)

    def scans(x: Any) -> Any:
        values, indices = x.topk(4, -1)
        counts = functional.one_hot(indices, 64).sum(1).float().cumsum(0)
        return x.cumsum(0) * 2, x.sort(-1)[0] + 1, values, indices, x.argmax(-1), counts

    def norm_backward(x: Any, g: Any, weight: Any) -> Any:
        h = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)
        d = g * weight - (g * weight * h).mean(-1, keepdim=True) * h
        return (g * h).sum(0), d.to(x.dtype), d.abs().sum(0), (d * 2).amax(-1)

    def rows_and_columns(x: Any, y: Any) -> Any:
        return x.sum(0), x.sum(1), (x + y).sum(0), (x + y).sum(1), (x * y).amax(1), y.float().sum(0)

    def norms_in_turn(x: Any, weight: Any, g1: Any, g2: Any) -> Any:
        found = []
        for _ in range(4):
            h = norm(x, weight)
            found += [(h * g1).sum(0), (h * g2).sum(-1)]
            x = x + h * g2
        return (*found, x)

    def attention(x: Any, wq: Any, wk: Any, wv: Any, wo: Any) -> Any:
        q, k, v = [(x @ w).view(2, 512, 16, 64).transpose(1, 2) for w in (wq, wk, wv)]
        mask = torch.full((512, 512), float("-inf"), device="cuda").triu(1)
        shares = torch.softmax((q @ k.transpose(-1, -2)).float() / 8 + mask, -1).to(x.dtype)
        y = (shares @ v).transpose(1, 2).reshape(2, 512, 1024) @ wo + x
        return y, norm(y, wo[0])

    def losses(x: Any, target: Any) -> Any:
        p = torch.softmax(x.float(), -1)
        return functional.cross_entropy(x.float(), target), p.to(x.dtype), torch.log_softmax(x, 0), p.sum(0)

    def parts_of_matrices(x: Any) -> Any:
        a = x.cos()
        crossed = a.reshape(32, 32, 1024).transpose(0, 1).contiguous() + 1
        halves = a.view(1024, 2, 512).sum(1), a.view(-1, 128).amax(-1)
        return *halves, crossed, a[:, ::2] * 2, a[::3] + 1, a.flip(0) - 1, a.unfold(1, 4, 4).sum(-1)

    def concatenated(a: Any, b: Any, c: Any, d: Any) -> Any:
        joined = torch.cat([a * 2, b + 1, c.sin()], 1) + 1, torch.cat([a * 3, d + 1], 0).sum(0)
        return (*joined, torch.stack([a.cos(), b]).mean(0), *torch.split(torch.cat([a.exp(), b], 1) * 2, 100, 1))

    def gathered(x: Any, index: Any, scale: Any) -> Any:
        rows = torch.zeros(4096, 512, device="cuda").index_add(0, index, x.float() * scale)
        bins = torch.zeros(64, device="cuda").scatter_add(0, index % 64, scale[:, 0].float())
        chosen = torch.gather(x, 0, (index % 100)[:, None].expand(-1, 512))
        return rows.to(x.dtype) * 2, bins + 1, x[index % 100] + 1, chosen

    def gated(x: Any, weight: Any, g: Any) -> Any:
        a, b = (x @ weight).chunk(2, -1)
        y = functional.silu(a) * b
        ga, gb = g * b * torch.sigmoid(a), g * functional.silu(a)
        return y, torch.cat([ga, gb], -1).t().contiguous(), y.t().contiguous(), ga.sum(0)

    def transposed(x: Any, y: Any) -> Any:
        a, b = x.exp(), y.exp()
        columns = torch.einsum("ij->ji", a).contiguous().sum(1)
        return (a + b.t()).contiguous(), a.t() * b, a.sum(0) + b.sum(1), columns, (b * 2).t().contiguous().view(-1)

    big, square = bf16(8192, 4096), bf16(1024, 1024)
    return {
        "attention": (attention, [bf16(2, 512, 1024), *[square] * 4]),
        "changed_inputs": (changed_inputs, [square] * 3),
        "concatenated": (concatenated, [bf16(512, 256), bf16(512, 256), bf16(512, 512), bf16(300, 256)]),
        "gated": (gated, [bf16(2048, 512), bf16(512, 4096), bf16(2048, 2048)]),
        "gathered": (gathered, [bf16(8192, 512), i64(8192), bf16(8192, 1)]),
        "losses": (losses, [bf16(1024, 32000), i64(1024)]),
        "norm_backward": (norm_backward, [big, big, bf16(4096)]),
        "norms_in_turn": (norms_in_turn, [bf16(8192, 2048), bf16(2048), bf16(8192, 2048), bf16(8192, 2048)]),
        "parts_of_matrices": (parts_of_matrices, [square]),
        "permutations": (permutations, [bf16(4, 128, 16, 64), bf16(16, 4, 128, 64)]),
        "reordered_loops": (reordered_loops, [bf16(4096, 1024)]),
        "rotation": (rotation, [bf16(2, 512, 16, 128), bf16(2, 512, 4, 128), bf16(512, 128), bf16(512, 128)]),
        "rows_and_columns": (rows_and_columns, [bf16(16384, 1024)] * 2),
        "scans": (scans, [f32(2048, 64)]),
        "scattered_input": (scattered_input, [f32(1024, 256), i64(100), f32(100, 256)]),
        "transposed": (transposed, [f32(2048, 1024), f32(1024, 2048)]),
    }


def main(name: str, path: str) -> None:
    sys.path.insert(0, str(SHARED / "tools"))
    import inductor_oracle as oracle
    import torch
    import zstandard
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    device = oracle.pretend("h100")
    program, inputs = programs()[name]
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode, torch.no_grad():
        values = [torch.empty(shape, dtype=getattr(torch, dtype), device="cuda") for shape, dtype in inputs]
        changes_inputs = "input" in name
        traced = make_fx(program if changes_inputs else torch.func.functionalize(program))(*values)
    for node, value in zip(traced.graph.find_nodes(op="placeholder"), values):
        node.meta["val"] = value
    nodes = list(traced.graph.nodes)
    records = {node.name: {"target": str(node.target)} for node in nodes}
    capture = types.SimpleNamespace(gm=traced, nodes=nodes, d={"kind": "joint", "name": name}, records=records,
                                    replaced=collections.Counter())
    options = types.SimpleNamespace(no_post_grad=False, no_codegen=True, keep_output_strides=False, config=[],
                                    raise_errors=True, code_out=None, device_facts=device)
    answer = {"torch": torch.__version__, "name": name, **oracle.do_kernels(capture, options)}
    Path(path).write_bytes(zstandard.ZstdCompressor().compress(json.dumps(answer, default=str).encode()))
    sys.stdout.flush()
    os._exit(0)  # triton's modules complain about an orderly end


if __name__ == "__main__":
    main(*sys.argv[1:])
