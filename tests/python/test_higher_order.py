"""Higher-order operators: subgraphs, policy tags, Triton tables."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support import assert_round_trip, joint_of, through_json, trace
from torch import fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import CheckpointPolicy, checkpoint

import jointer
from jointer.document import read_document
from jointer.encode import encode_graph
from jointer.load import load_document


def branching(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda a: a.sin() @ a, lambda a: a.cos(), (x,))


def test_subgraphs_of_cond() -> None:
    gm = trace(branching, torch.randn(3, 3), mode="real")
    document = through_json(encode_graph(gm))
    call = next(r for r in document["nodes"] if r["target"] == "cond")
    assert [list(each) for each in call["args"]] == [["n"], ["n"], ["n"], ["tuple"]]
    subgraph = document["constants"]["true_graph_0"]["subgraph"]
    assert subgraph["kind"] == "subgraph"
    assert [r["target"] for r in subgraph["nodes"]][1:-1] == ["aten.sin.default", "aten.mm.default"]
    for r in subgraph["nodes"][:-1]:
        assert r["val"]["t"]["storage"] < len(document["storages"])
    loaded = assert_round_trip(gm)
    for sign in (1.0, -1.0):
        x = torch.eye(3) * sign
        torch.testing.assert_close(loaded(x), branching(x))


class Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.eye(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return branching(x @ self.weight)


def test_joint_graph_of_cond(tmp_path: Path) -> None:
    path = tmp_path / "cond.json"
    model = Branching()
    x = torch.randn(3, 3)
    model(x).sum().backward()
    expected, model.weight.grad = model.weight.grad, None
    torch.compile(model, backend=jointer.backend(path))(x).sum().backward()
    torch.testing.assert_close(model.weight.grad, expected)
    document = read_document(path)
    subgraphs = [c for c in document["constants"].values() if "subgraph" in c]
    assert len(subgraphs) == 4  # both branches, forward and backward
    gm = jointer.load(path)
    assert through_json(encode_graph(gm)) == document
    _, gradient, *_ = [each for each in gm(model.weight, x, torch.ones(3, 3)) if each is not None]
    torch.testing.assert_close(gradient, expected)


class Checkpointed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint(self.inner, x, use_reentrant=False).sin()


def test_checkpointing_leaves_recompute_tags(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.json"
    compiled = torch.compile(Checkpointed(), backend=jointer.backend(path))
    compiled(torch.randn(4, 8)).sum().backward()
    gelu = next(r for r in read_document(path)["nodes"] if r["target"] == "aten.gelu.default")
    assert gelu["recompute"] == "PREFER_RECOMPUTE" and "ac_graph_id" in gelu
    (node,) = jointer.load(path).graph.find_nodes(
        op="call_function", target=torch.ops.aten.gelu.default
    )
    assert node.meta["recompute"] is CheckpointPolicy.PREFER_RECOMPUTE


def test_flex_attention() -> None:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 128, 128, device="cpu")

    def attend(query: torch.Tensor) -> torch.Tensor:
        return flex_attention(query, query, query, block_mask=mask)

    captured: list[fx.GraphModule] = []

    def keep(gm: fx.GraphModule, inputs: object) -> object:
        captured.append(gm)
        return gm.forward

    from torch._dynamo.backends.common import aot_autograd

    compiled = torch.compile(attend, backend=aot_autograd(fw_compiler=keep), fullgraph=True)
    compiled(torch.randn(1, 2, 128, 16))
    document = encode_graph(captured[0])
    assert any(r["target"] == "flex_attention" for r in document["nodes"])
    subgraphs = [c["subgraph"] for c in document["constants"].values() if "subgraph" in c]
    assert len(subgraphs) == 2  # score and mask
    loaded = assert_round_trip(captured[0])
    assert jointer.graph_hash(loaded) == jointer.graph_hash(captured[0])


def test_triton_tables() -> None:
    triton = pytest.importorskip("triton")
    from torch._higher_order_ops import triton_kernel_wrap as wrap

    @triton.autotune(configs=[triton.Config({})], key=[])
    @triton.jit
    def double(source, target, SIZE: triton.language.constexpr):
        where = triton.language.arange(0, SIZE)
        triton.language.store(target + where, 2 * triton.language.load(source + where))

    table = wrap.kernel_side_table
    kernel, constants = table.add_kernel(double), table.add_constant_args({"SIZE": 8})
    graph = fx.Graph()
    x = graph.placeholder("x")
    with FakeTensorMode():
        x.meta["val"] = torch.empty(8)
    node = graph.call_function(
        wrap.triton_kernel_wrapper_functional,
        (),
        {
            "kernel_idx": kernel,
            "constant_args_idx": constants,
            "grid": [(1, 1, 1)],
            "tma_descriptor_metadata": {},
            "kwargs": {"source": x, "target": x},
            "tensors_to_clone": ["target"],
        },
    )
    node.meta["val"] = {"target": x.meta["val"]}
    graph.output((node,))
    gm = fx.GraphModule(nn.Module(), graph)
    tables = encode_graph(gm)["triton_kernels"]
    assert tables[str(kernel)]["name"] == "double"
    assert "triton.language.store" in tables[str(kernel)]["src"]
    assert tables[f"const{constants}"] == "{'SIZE': 8}"
    assert assert_round_trip(gm).graph.find_nodes(op="placeholder")[0].name == "x"


def test_unknown_operators_load_and_raise_only_when_run() -> None:
    gm = joint_of(nn.Linear(2, 2), torch.ones(1, 2))
    document = through_json(encode_graph(gm))
    for r in document["nodes"]:
        r["target"] = {"aten.addmm.default": "my_library.addmm.default"}.get(
            r["target"], r["target"]
        )
    loaded = load_document(document)
    assert through_json(encode_graph(loaded)) == document
    assert jointer.graph_hash(loaded) == jointer.document_hash(document)
    with pytest.raises(jointer.CaptureError, match="my_library.addmm.default is not known"):
        loaded(torch.ones(2, 2), torch.ones(2), torch.ones(1, 2), torch.ones(1, 2))
