"""Compares operators that torch registers from Python, or only for CUDA, with torch's own results.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jointer
import pytest
import torch
import torch.distributed as dist
from conftest import run_runner, verified
from files import write_safetensors
from torch import Tensor, fx
from torch._inductor import inductor_prims  # noqa: F401  (registers its operators)
from torch._inductor.fx_passes import bucketing  # noqa: F401  (registers its operators)
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.distributed.fake_pg import FakeStore

prims, aten = torch.ops.prims, torch.ops.aten


def compare_with_torch(
    program: Callable[..., Any], inputs: list[Tensor], folder: Path, *, to_cuda: bool = False
) -> dict[str, Any]:
    """The comparison of the runner's outputs with the program's own."""
    gm = make_fx(program, tracing_mode="fake")(*inputs)
    outputs = program(*inputs)
    return compare(gm, inputs, outputs, folder, to_cuda=to_cuda)


def compare(
    gm: fx.GraphModule, inputs: list[Tensor], outputs: Any, folder: Path, *, to_cuda: bool = False
) -> dict[str, Any]:
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    capture = folder / "graph.json"
    jointer.capture(gm, capture, name="kernels")
    if to_cuda:
        capture.write_text(capture.read_text().replace('"cpu"', '"cuda:0"'))
    names = [node.name for node in gm.graph.find_nodes(op="placeholder")]
    write_safetensors(folder / "in.safetensors", dict(zip(names, inputs, strict=True)))
    expected = {str(i): out for i, out in enumerate(outputs) if out is not None}
    write_safetensors(folder / "out.safetensors", expected)
    files = [f"--inputs={folder}/in.safetensors", f"--expected={folder}/out.safetensors"]
    ran = run_runner(capture, "--solo=0", *files)
    (answer,) = verified(ran)
    assert answer["compared"] == len(expected)
    return answer


PRIMS: dict[str, Callable[[Tensor], Any]] = {
    "convert_element_type": lambda x: prims.convert_element_type(x, torch.bfloat16),
    "convert_transposed": lambda x: prims.convert_element_type(x.t(), torch.float64),
    "iota": lambda x: (
        prims.iota(5, start=2, step=3, dtype=torch.int64, device="cpu", requires_grad=False) + x[0, 0]
    ),
    "broadcast_in_dim": lambda x: prims.broadcast_in_dim(x, [2, 4, 6], [1, 2]) * 2,
    "view_of": lambda x: prims.view_of(x) + 1,
    "squeeze": lambda x: prims.squeeze(x.unsqueeze(1), [1]) + 1,
    "transpose": lambda x: prims.transpose(x, [1, 0]) + 1,
    "split_dim": lambda x: prims.split_dim(x, 1, 2) + 1,
    "collapse_view": lambda x: prims.collapse_view(x, 0, 1) + 1,
    "sum": lambda x: prims.sum(x, [1]),
    "amax": lambda x: prims.amax(x, [0]),
    "where": lambda x: prims.where(x > 0, x, -x),
    "elementwise": lambda x: prims.mul(prims.add(prims.exp(x), x), prims.neg(prims.rsqrt(x.abs()))),
    "force_stride_order": lambda x: prims.inductor_force_stride_order(x.t(), [4, 1]) + 1,
}


@pytest.mark.parametrize("name", PRIMS)
def test_prims(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    answer = compare_with_torch(PRIMS[name], [torch.randn(4, 6)], tmp_path)
    assert answer["bitwise"], answer


def test_buckets(tmp_path: Path) -> None:
    """Several tensors into one, with the dtypes that the bucket was created for."""
    types = [bucketing._ALL_DTYPES.index(d) for d in (torch.bfloat16, torch.float32)]

    gather = torch.ops.bucketing._pre_bucket_all_gather.default
    group = ["0"] if "group_name" in {each.name for each in gather._schema.arguments} else []

    def program(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        gathered = torch.ops.bucketing._pre_bucket_all_gather(
            [a, b], 2, *group, torch.bfloat16, types, 1
        )
        # The other rank's part is not written yet.
        own = gathered.narrow(0, gathered.numel() // 2, gathered.numel() // 2).clone()
        return own, torch.ops.bucketing._pre_bucket_reduce_scatter([a, b], 2)

    torch.manual_seed(1)
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    try:
        answer = compare_with_torch(program, [torch.randn(4, 6), torch.randn(8)], tmp_path)
    finally:
        dist.destroy_process_group()
    assert answer["bitwise"], answer


def test_numbers_in_place_of_tensors(tmp_path: Path) -> None:
    """A Python number takes part in type promotion as a number, not as a tensor."""

    def program(x: Tensor, n: Tensor) -> tuple[Tensor, ...]:
        return aten.div.Tensor(x, 2.828), aten.mul.Tensor(n, 3), aten.add.Tensor(n, 0.5)

    answer = compare_with_torch(program, [torch.randn(3).bfloat16(), torch.arange(4)], tmp_path)
    assert answer["bitwise"], answer


def attention(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
    scores = (q.double() @ k.double().transpose(-1, -2)) * scale
    if causal:
        above = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(above, float("-inf"))
    return scores.softmax(-1) @ v.double()


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "full"])
@pytest.mark.parametrize("sizes", [(16, 16), (24, 16)], ids=["equal heads", "other values"])
def test_cudnn_attention_on_the_cpu(sizes: tuple[int, int], causal: bool, tmp_path: Path) -> None:
    """Compares forward and backward with the definition in float64, for equal and different head
    sizes.
    """
    torch.manual_seed(2)
    q, k = (torch.randn(1, 2, 10, sizes[0]) for _ in range(2))
    v, grad = (torch.randn(1, 2, 10, sizes[1]) for _ in range(2))
    scale = sizes[0] ** -0.5
    leaves = [t.double().requires_grad_() for t in (q, k, v)]
    out = attention(*leaves, scale, causal)
    expected = [out.detach(), *torch.autograd.grad(out, leaves, grad.double())]
    graph = fx.Graph()
    nodes = [graph.placeholder(name) for name in ("q", "k", "v", "grad")]
    forward = graph.call_function(
        aten._scaled_dot_product_cudnn_attention.default,
        (*nodes[:3], None, True, 0.0, causal),
        {"scale": scale},
    )
    item = [graph.call_function(_getitem, (forward, i)) for i in (0, 1, 6, 7)]
    backward = graph.call_function(
        aten._scaled_dot_product_cudnn_attention_backward.default,
        (nodes[3], *nodes[:3], *item, None, None, None, 10, 10, 0.0, causal),
        {"scale": scale},
    )
    grads = [graph.call_function(_getitem, (backward, i)) for i in range(3)]
    graph.output((item[0], *grads))
    gm = fx.GraphModule(torch.nn.Module(), graph)
    put_values(gm, [q, k, v, grad])
    answer = compare(gm, [q, k, v, grad], [e.float() for e in expected], tmp_path, to_cuda=True)
    assert answer["max_abs_diff"] < 1e-5, answer


def _getitem(value: Any, index: int) -> Any:
    return value[index]


def put_values(gm: fx.GraphModule, inputs: list[Tensor]) -> None:
    """Sets the shapes in a graph of operators that this machine cannot run, using their meta
    functions.
    """
    import operator

    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    for node in gm.graph.nodes:
        if node.target is _getitem:
            node.target = operator.getitem
    gm.recompile()
    values: dict[fx.Node, Any] = {}
    feed = iter(inputs)
    with mode:
        for node in gm.graph.nodes:
            if node.op == "placeholder":
                values[node] = mode.from_tensor(next(feed))
            elif node.op == "call_function":
                args = fx.map_arg(node.args, values.__getitem__)
                values[node] = node.target(*_on(args, "meta"), **node.kwargs)
                values[node] = _on(values[node], "cpu")
            if node in values:
                node.meta["val"] = values[node]


def _on(value: Any, device: str) -> Any:
    return torch.utils._pytree.tree_map_only(
        Tensor, lambda t: torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device=device), value
    )


def test_rms_norm_of_cuda_on_the_cpu(tmp_path: Path) -> None:
    torch.manual_seed(3)
    x, w, g = torch.randn(3, 5, 8), torch.randn(8), torch.randn(3, 5, 8)
    leaves = [x.double().requires_grad_(), w.double().requires_grad_()]
    out = torch.nn.functional.rms_norm(leaves[0], (8,), leaves[1], 1e-6)
    expected = [out.detach(), *torch.autograd.grad(out, leaves, g.double())]
    graph = fx.Graph()
    nodes = [graph.placeholder(name) for name in ("x", "w", "g")]
    forward = graph.call_function(aten._fused_rms_norm.default, (nodes[0], [8], nodes[1], 1e-6))
    item = [graph.call_function(_getitem, (forward, i)) for i in range(2)]
    backward = graph.call_function(
        aten._fused_rms_norm_backward.default,
        (nodes[2], nodes[0], [8], item[1], nodes[1], [True, True]),
    )
    grads = [graph.call_function(_getitem, (backward, i)) for i in range(2)]
    graph.output((item[0], *grads))
    gm = fx.GraphModule(torch.nn.Module(), graph)
    put_values(gm, [x, w, g])
    answer = compare(gm, [x, w, g], [e.float() for e in expected], tmp_path, to_cuda=True)
    assert answer["max_abs_diff"] < 1e-5, answer


def test_random_numbers_from_a_state(tmp_path: Path) -> None:
    """An operator under graphsafe_run_with_rng_state draws from the given generator."""
    run = torch._prims.rng_prims.graphsafe_run_with_rng_state
    graph = fx.Graph()
    x, state = graph.placeholder("x"), graph.placeholder("fwd_rng_state_0")
    once, twice = (
        graph.call_function(run, (aten.rand_like.default, x), {"rng_state": state}) for _ in range(2)
    )
    graph.output((once, twice, graph.call_function(aten.rand_like.default, (x,))))
    gm = fx.GraphModule(torch.nn.Module(), graph)
    value = torch.randn(64)
    for node in gm.graph.nodes:
        if node.op != "output":
            node.meta["val"] = torch.Generator() if node is state else value
    capture = tmp_path / "graph.json"
    jointer.capture(gm, capture, name="random")
    name_hash = 2166136261
    for byte in b"fwd_rng_state_0":
        name_hash = (name_hash ^ byte) * 16777619 % (1 << 32)
    own = torch.Generator().manual_seed(name_hash)
    torch.manual_seed(0)
    expected = [
        torch.rand(64, generator=own),
        torch.rand(64, generator=own),
        torch.rand(64),
    ]
    write_safetensors(tmp_path / "out.safetensors", {str(i): e for i, e in enumerate(expected)})
    (answer,) = verified(run_runner(capture, f"--expected={tmp_path}/out.safetensors"))
    assert answer["bitwise"], answer
