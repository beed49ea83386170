"""Runs CUDA captures on the CPU, and CPU captures on CUDA as far as this is possible without a GPU: operators,
devices, memory, groups of other ranks.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from support import call, document, output, placeholder, tensor, trace
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from jointer.cpu_forms import cpu_form
from jointer.cuda_forms import cuda_form
from jointer.errors import CaptureError
from jointer.execute import Ledger
from jointer.load import load_document
from jointer.real_groups import group_of
from jointer.retarget import retarget
from jointer.values import captured_device

ATEN = torch.ops.aten
CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)
OF_CPU = ATEN._scaled_dot_product_flash_attention_for_cpu.default
OF_CPU_BACKWARD = ATEN._scaled_dot_product_flash_attention_for_cpu_backward.default
B, H, S = 2, 4, 33


def node(target: Any, *values: Any) -> fx.Node:
    """A call of ``target`` that returns tensors like ``values``."""
    made = fx.Graph().call_function(target, ())
    made.meta["val"] = list(values)
    return made


def transposed(*sizes: int) -> torch.Tensor:
    """The layout that CUDA's kernels return: heads within the sequence."""
    return torch.empty(sizes[0], sizes[2], sizes[1], sizes[3]).transpose(1, 2)


@pytest.mark.parametrize(("heads", "value_size"), [(H, 16), (2, 16), (2, 8)])
@pytest.mark.parametrize("kind", ["flash", "efficient", "cudnn"])
def test_attention(kind: str, heads: int, value_size: int) -> None:
    """Values and gradients equal the attention's definition, in the layout of the capture."""
    torch.manual_seed(0)
    q, k = torch.randn(B, H, S, 16), torch.randn(B, heads, S, 16)
    v = torch.randn(B, heads, S, value_size)
    logsumexp = {"flash": (B, H, S), "efficient": (B, H, 64), "cudnn": (B, H, S, 1)}[kind]
    forward = getattr(ATEN, f"_scaled_dot_product_{kind}_attention").default
    backward = getattr(ATEN, f"_scaled_dot_product_{kind}_attention_backward").default
    seed = torch.empty(2, dtype=torch.int64)
    described = (transposed(B, H, S, value_size), torch.empty(logsumexp), seed, 3)
    middle = () if kind == "flash" else (None, True)
    out, lse, zeros, number = cpu_form(node(forward, *described))(q, k, v, *middle, 0.0, True)
    assert out.stride() == described[0].stride() and lse.shape == logsumexp
    assert not zeros.any() and zeros.shape == (2,) and number == 3

    wanted = [each.clone().requires_grad_() for each in (q, k, v)]
    shared = [each.repeat_interleave(H // heads, 1) for each in wanted[1:]]
    reference = F.scaled_dot_product_attention(wanted[0], *shared, is_causal=True)
    grad = torch.randn_like(reference)
    reference.backward(grad)
    torch.testing.assert_close(out, reference, rtol=1e-5, atol=1e-5)
    likes = [transposed(*each.shape) for each in (q, k, v)]
    form = cpu_form(node(backward, *likes, None))
    rest = {
        "flash": (q, k, v, out, lse, None, None, S, S, 0.0, True, None, None),
        "efficient": (q, k, v, None, out, lse, None, None, 0.0, [True, True, True, False], True),
        "cudnn": (q, k, v, out, lse, None, None, None, None, None, S, S, 0.0, True),
    }[kind]
    gradients = form(grad, *rest)
    for gradient, each, like in zip(gradients, wanted, likes, strict=False):
        torch.testing.assert_close(gradient, each.grad, rtol=1e-5, atol=1e-5)
        assert gradient.stride() == like.stride()


def test_attention_with_dropout_has_no_cpu_form() -> None:
    form = cpu_form(node(ATEN._scaled_dot_product_flash_attention.default, *[torch.empty(1)] * 2))
    with pytest.raises(CaptureError, match="dropout has no CPU form"):
        form(*[torch.randn(1, 1, 2, 4)] * 3, 0.1)


def test_integers_are_counted() -> None:
    form = cpu_form(node(ATEN.histc.default))
    counts = form(torch.tensor([0, 2, 2, 3]), bins=4, low=0, high=4)
    assert counts.tolist() == [1, 0, 2, 1] and counts.dtype is torch.int64


def test_devices_and_constants_are_moved() -> None:
    full = call("f", "aten.full.default", [2], 1.0, val=tensor([2], device="cuda:0"))
    full["kwargs"] = {"device": {"device": "cuda:0"}, "pin_memory": True}
    constant = {"name": "c", "op": "get_attr", "target": "c", "val": tensor([2], device="cuda:0")}
    record = {**tensor([2], device="cuda:0")["t"]}
    total = call("s", "aten.add.Tensor", {"n": "f"}, {"n": "c"}, val=tensor([2], device="cuda:0"))
    head = {"storages": [8], "constants": {"c": {**record, "data": [1.0, 2.0]}}}
    gm = load_document(document(full, constant, total, output({"n": "s"}), **head))
    assert retarget(gm, CPU) == []
    assert gm()[0].tolist() == [2.0, 3.0]
    head["constants"] = {"c": record}
    gm = load_document(document(full, constant, total, output({"n": "s"}), **head))
    assert retarget(gm, CPU) == ["constants without data in the capture are zeros: c"]
    assert gm()[0].tolist() == [1.0, 1.0]


def test_a_cuda_only_operator_is_decomposed() -> None:
    target = ATEN._fused_rms_norm_backward.default
    graph = fx.Graph()
    inputs = [graph.placeholder(name) for name in ("grad", "x", "rstd", "weight")]
    made = graph.call_function(target, (inputs[0], inputs[1], [4], *inputs[2:], [True, True]))
    graph.output((made,))
    gm = fx.GraphModule(torch.nn.Module(), graph)
    (note,) = retarget(gm, CPU)
    assert note == "1 x aten._fused_rms_norm_backward.default replaced by its decomposition"
    x, weight = torch.randn(3, 4, requires_grad=True), torch.randn(4, requires_grad=True)
    F.rms_norm(x, [4], weight, 1e-6).backward(grad := torch.randn(3, 4))
    rstd = (x.detach().pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt()
    ((of_x, of_weight),) = gm(grad, x.detach(), rstd, weight.detach())
    torch.testing.assert_close((of_x, of_weight), (x.grad, weight.grad))


@pytest.mark.parametrize(
    ("ranks", "rank", "expected"),
    [
        ([0, 1], 0, [0, 1]),
        ([0, 1], 3, [2, 3]),
        ([0, 2], 3, [1, 3]),
        ([1, 3], 0, [0, 2]),
        ([0, 2, 4, 6], 5, [1, 3, 5, 7]),
        ([0, 1, 4, 5], 2, [2, 3, 6, 7]),
        ([0, 1, 2, 3], 9, [8, 9, 10, 11]),
        ([0], 7, [7]),
    ],
)
def test_groups_of_other_ranks(ranks: list[int], rank: int, expected: list[int]) -> None:
    assert group_of(ranks, rank) == expected


def test_a_group_without_counterparts() -> None:
    with pytest.raises(CaptureError, match="no counterpart for rank 7"):
        group_of([0, 1, 3], 7)


def test_the_ledger_counts_storages_once() -> None:
    ledger = Ledger(CPU, limit=2000)
    a = torch.empty(100)
    ledger.add([a, a[10:], {"b": a.view(10, 10)}])
    assert ledger.bytes == ledger.peak == 400
    ledger.remove(a)
    assert ledger.bytes == 400
    ledger.remove([a[10:], a])
    assert ledger.bytes == 0 and ledger.peak == 400
    with pytest.raises(Exception, match="4000 bytes allocated, over the limit of 2000"):
        ledger.add(torch.empty(1000))


def test_inputs_of_a_collective_live_until_its_wait() -> None:
    """The rule of core/schedule/lifetimes.cpp."""
    from jointer.execute import plan

    reduce, wait = ("_c10d_functional.all_reduce.default", "_c10d_functional.wait_tensor.default")
    nodes = [
        placeholder("x", tensor([4])),
        call("a", "aten.sin.default", {"n": "x"}, val=tensor([4], storage=1)),
        call("r", reduce, {"n": "a"}, "sum", "0", val=tensor([4], storage=2)),
        call("b", "aten.cos.default", {"n": "x"}, val=tensor([4], storage=3)),
        call("w", wait, {"n": "r"}, val=tensor([4], storage=2)),
        call("c", "aten.add.Tensor", {"n": "w"}, {"n": "b"}, val=tensor([4], storage=4)),
        output({"n": "c"}),
    ]
    gm = load_document(document(*nodes, storages=[16] * 5))
    freed = {s.node.name: [n.name for n in s.frees] for s in plan(gm, 0, set())}
    assert freed["r"] == [] and sorted(freed["w"]) == ["a", "r"]


def test_traced_forms_are_operators() -> None:
    """Inductor sees the CPU's native attention."""
    like = [torch.empty(1, 2, 8, 4), torch.empty(1, 2, 8)]
    form = cpu_form(node(ATEN._scaled_dot_product_flash_attention.default, *like))
    gm = trace(lambda q: form(q, q, q, 0.0, True)[0], torch.randn(1, 2, 8, 4))
    targets = {n.target for n in gm.graph.nodes if n.op == "call_function"}
    assert ATEN._scaled_dot_product_flash_attention_for_cpu.default in targets


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("heads", [H, 2])
def test_attention_of_the_cpu_in_parts(heads: int, masked: bool) -> None:
    """CUDA's kernels do not support float64 or a mask. The same parts run on the CPU."""
    torch.manual_seed(0)
    q = torch.randn(B, H, S, 16, dtype=torch.float64)
    k, v = torch.randn(2, B, heads, S, 16, dtype=torch.float64)
    mask = torch.randn(B, 1, S, S, dtype=torch.float64) if masked else None
    given = {"attn_mask": mask, "scale": 0.3}
    described = (transposed(B, H, S, 16), torch.empty(B, S, H).transpose(1, 2))
    out, lse = cuda_form(node(OF_CPU, *described))(q, k, v, 0.0, not masked, **given)
    wanted = [each.clone().requires_grad_() for each in (q, k, v)]
    shared = [each.repeat_interleave(H // heads, 1) for each in wanted[1:]]
    options = {"is_causal": not masked, "attn_mask": mask, "scale": 0.3}
    reference = F.scaled_dot_product_attention(wanted[0], *shared, **options)
    torch.testing.assert_close(out, reference)
    assert [each.stride() for each in (out, lse)] == [each.stride() for each in described]
    grad = torch.randn_like(reference)
    reference.backward(grad)
    likes = [transposed(*each.shape) for each in (q, k, v)]
    form = cuda_form(node(OF_CPU_BACKWARD, *likes))
    for gradient, each, like in zip(
        form(grad, q, k, v, out, lse, 0.0, not masked, **given), wanted, likes, strict=True
    ):
        torch.testing.assert_close(gradient, each.grad)
        assert gradient.stride() == like.stride()


@pytest.mark.parametrize(
    ("dtype", "kernel"), [(torch.bfloat16, "flash"), (torch.float32, "efficient")]
)
def test_attention_of_the_cpu_becomes_a_kernel_of_cuda(dtype: torch.dtype, kernel: str) -> None:
    """With fake tensors, which need no GPU."""
    with FakeTensorMode():
        q, k, v, grad = (torch.empty(B, H, S, 16, dtype=dtype, device=CUDA) for _ in range(4))
    like = [torch.empty(B, S, H, 16).transpose(1, 2), torch.empty(B, S, H).transpose(1, 2)]
    forward, backward = cuda_form(node(OF_CPU, *like)), cuda_form(node(OF_CPU_BACKWARD, *like[:1] * 3))

    def step(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, grad: torch.Tensor) -> Any:
        out, lse = forward(q, k, v, 0.0, True)
        return backward(grad, q, k, v, out, lse, 0.0, True), lse

    gm = make_fx(step)(q, k, v, grad)
    targets = {n.target for n in gm.graph.nodes if n.op == "call_function"}
    name = f"_scaled_dot_product_{kernel}_attention"
    assert {getattr(ATEN, name).default, getattr(ATEN, name + "_backward").default} <= targets
    gradients, lse = step(q, k, v, grad)
    assert {(each.shape, each.device) for each in gradients} == {(q.shape, CUDA)}
    assert (lse.shape, lse.stride()) == (like[1].shape, like[1].stride())


def test_a_graph_of_the_cpu_moves_to_cuda() -> None:
    sizes = [1, 2, 4, 8]
    x = placeholder("x", tensor(sizes))
    full = call("f", "aten.full.default", sizes, 1.0, val=tensor(sizes, storage=1))
    full["kwargs"] = {"device": {"device": "cpu"}, "pin_memory": True}
    results = {"list": [tensor(sizes, storage=2), tensor([1, 2, 4], storage=3)]}
    name = "aten._scaled_dot_product_flash_attention_for_cpu.default"
    attention = call("a", name, *[{"n": "x"}, {"n": "f"}, {"n": "x"}], val=results)
    made = document(x, full, attention, output({"n": "f"}), storages=[256, 256, 256, 32])
    gm = load_document(made)
    assert retarget(gm, CUDA) == [f"1 x {name} replaced by its CUDA form"]
    of_x, of_f, of_a, _ = gm.graph.nodes
    assert dict(of_f.kwargs) == {"device": CUDA, "pin_memory": False}
    assert of_a.target.__name__ == "cuda_form"
    values = [of_x.meta["val"], of_f.meta["val"], *of_a.meta["val"]]
    assert {each.device for each in values} == {CUDA}
    assert {captured_device(each) for each in values} == {CPU}
    # Tensors of a graph for CUDA that are on the host stay there, and it has no other forms.
    full["val"] = tensor(sizes, storage=1, device="cuda:0")
    gm = load_document(made)
    assert retarget(gm, CUDA) == []
    of_x, of_f, of_a, _ = gm.graph.nodes
    assert of_f.kwargs["device"] == CPU and of_x.meta["val"].device == CPU and of_a.target is OF_CPU
    assert retarget(load_document(document(x, output({"n": "x"}), storages=[256])), CPU) == []
