"""Arguments and values: everything that a node can contain survives a capture."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from support import assert_round_trip, call, document, graph_of, output, placeholder, record_of
from torch import fx
from torch._subclasses.fake_tensor import FakeTensorMode

import jointer
from jointer.arguments import Opaque, encode_opaque
from jointer.encode import encode_graph
from jointer.hashing import canonical_lines
from jointer.load import load_document
from jointer.targets import UnknownOperator

NODE = fx.Graph().placeholder("x")  # replaced by the graph's own

ARGUMENTS = [
    (None, None, "None"),
    (True, True, "True"),
    (-3, -3, "-3"),
    (2**70, 2**70, str(2**70)),
    (1.5, 1.5, "f3ff8000000000000"),
    (-0.0, -0.0, "f8000000000000000"),
    (math.inf, {"f": "inf"}, "f7ff0000000000000"),
    (-math.inf, {"f": "-inf"}, "ffff0000000000000"),
    (math.nan, {"f": "nan"}, "f7ff8000000000000"),
    ('a"\\\n\u00e9', 'a"\\\n\u00e9', '"a\\"\\\\\\u000a\u00e9"'),
    (NODE, {"n": "x"}, "%x"),
    ([NODE, 1, [2]], [{"n": "x"}, 1, [2]], "[%x,1,[2]]"),
    ((1, (2,)), {"tuple": [1, {"tuple": [2]}]}, "(1,(2))"),
    ({"b": 1, "a": NODE}, {"dict": {"b": 1, "a": {"n": "x"}}}, '{"b":1,"a":%x}'),
    (slice(1, None, 2), {"slice": [1, None, 2]}, "slice(1,None,2)"),
    (torch.bfloat16, {"dtype": "bfloat16"}, "dtype:bfloat16"),
    (torch.device("cuda:1"), {"device": "cuda:1"}, "device:cuda:1"),
    (torch.strided, {"layout": "strided"}, "layout:strided"),
    (
        torch.channels_last,
        {"memory_format": "channels_last"},
        "memory_format:channels_last",
    ),
    (1.5 - 1j, {"complex": [1.5, -1.0]}, "complex(f3ff8000000000000,fbff0000000000000)"),
    (torch.ops.aten.mm.default, {"op": "aten.mm.default"}, "op:aten.mm.default"),
    (torch.ops.higher_order.cond, {"op": "cond"}, "op:cond"),
    (UnknownOperator("my.own.op"), {"op": "my.own.op"}, "op:my.own.op"),
    (Opaque("Thing", "<a thing>"), {"opaque": "Thing", "repr": "<a thing>"}, "opaque:Thing"),
]


@pytest.mark.parametrize(("value", "json", "text"), ARGUMENTS)
def test_argument(value: Any, json: Any, text: str) -> None:
    gm = graph_of(value, key=value)
    record = record_of(gm, "relu")
    assert record["args"][1:] == [json] and record["kwargs"] == {"key": json}
    (_, line, _) = canonical_lines(encode_graph(gm)["nodes"])
    assert line == f"relu aten.relu.default(%x,{text},key={text}) -> float32[4,3]"
    loaded = assert_round_trip(gm)
    assert jointer.graph_hash(loaded) == jointer.graph_hash(gm)


def test_unknown_object_is_described_equally_in_every_run() -> None:
    class Thing:
        pass

    record = encode_opaque(Thing())
    assert record["opaque"] == "Thing" and record["repr"].endswith("Thing object>")


def test_keys_of_a_dict_become_strings() -> None:
    assert encode_graph(graph_of({1: 2}))["nodes"][1]["args"][1] == {"dict": {"1": 2}}


def fake(*shape: int, **options: Any) -> torch.Tensor:
    with FakeTensorMode():
        return torch.empty(*shape, **options)


VALUES = [
    (lambda: [fake(2), None, 3, 1.5], '[float32[2],const,const,const]'),
    (lambda: (fake(2), (fake(3),)), "[float32[2],[float32[3]]]"),
    (lambda: {"a": fake(2), "b": None}, '{"a":float32[2],"b":const}'),
    (lambda: 7, "const"),
    (lambda: math.inf, "const"),
    (lambda: torch.float32, "const"),
    (torch.Generator, "opaque:Generator"),
    (lambda: fake(2, dtype=torch.complex64).conj(), "complex64[2]"),
    (lambda: fake(2, requires_grad=True), "float32[2]"),
    (lambda: fake(3, 4, dtype=torch.float8_e4m3fn).t(), "float8_e4m3fn[4,3]"),
    (lambda: fake(0, 4), "float32[0,4]"),
    (lambda: fake(3).expand(2, 3), "float32[2,3]"),
]


@pytest.mark.parametrize(("make", "text"), VALUES)
def test_value(make: Any, text: str) -> None:
    gm = graph_of(value=make())
    (_, line, _) = canonical_lines(encode_graph(gm)["nodes"])
    assert line.endswith(f" -> {text}")
    loaded = assert_round_trip(gm)
    assert jointer.graph_hash(loaded) == jointer.graph_hash(gm)


def test_views_share_a_storage_and_bits_are_kept() -> None:
    base = fake(2, 3, dtype=torch.complex64)
    gm = graph_of(value=[base, base[1], base.conj(), base.conj().imag, fake(6)])
    loaded = assert_round_trip(gm)
    first, row, conjugate, imaginary, other = loaded.graph.find_nodes(
        op="call_function", target=torch.ops.aten.relu.default
    )[0].meta["val"]
    storage = first.untyped_storage()._cdata
    assert {t.untyped_storage()._cdata for t in (row, conjugate, imaginary)} == {storage}
    assert other.untyped_storage()._cdata != storage
    assert first.untyped_storage().nbytes() == 48
    assert row.storage_offset() == 3 and row.stride() == (1,)
    assert conjugate.is_conj() and imaginary.is_neg() and not first.is_conj()


def test_sparse_tensor_has_a_layout_and_no_bytes() -> None:
    with FakeTensorMode():
        sparse = torch.empty(3, 4, layout=torch.sparse_coo)
    gm = graph_of(value=sparse)
    assert record_of(gm, "relu")["val"]["t"]["layout"] == "sparse_coo"
    assert_round_trip(gm)


CONSTANTS = [
    torch.tensor(3),
    torch.tensor([[1.5, -math.inf], [math.nan, 0.1]]),
    torch.tensor(0.1, dtype=torch.float64),
    torch.tensor([0.1, 2.0], dtype=torch.bfloat16),
    torch.tensor([1, 0], dtype=torch.float16).to(torch.float8_e5m2),
    torch.tensor([1 + 2j, 3.25 - 1j], dtype=torch.complex128),
    torch.tensor([True, False]),
    torch.empty(0, 3),
    torch.arange(6).reshape(2, 3).t(),
]


@pytest.mark.parametrize("constant", CONSTANTS, ids=str)
def test_constant_keeps_its_data(constant: torch.Tensor) -> None:
    graph = fx.Graph()
    node = graph.get_attr("inner.table")
    node.meta["val"] = fake(2)
    graph.output((node,))
    root = torch.nn.Module()
    root.inner = torch.nn.Module()
    root.inner.register_buffer("table", constant)
    gm = fx.GraphModule(root, graph)
    loaded = load_document(encode_graph(gm))
    (restored,) = loaded()
    assert restored.dtype == constant.dtype and restored.shape == constant.shape
    assert str(restored.tolist()) == str(constant.tolist())
    assert encode_graph(gm)["constants"]["inner.table"]["storage"] == 0


def test_large_constant_is_described_only() -> None:
    graph = fx.Graph()
    graph.output((graph.get_attr("table"),))
    root = torch.nn.Module()
    root.register_buffer("table", torch.zeros(5000))
    document_ = encode_graph(fx.GraphModule(root, graph))
    assert "data" not in document_["constants"]["table"]
    assert document_["storages"] == [20000]


def test_constant_of_another_device_keeps_it() -> None:
    record = {
        "shape": [2],
        "stride": [1],
        "offset": 0,
        "dtype": "float32",
        "device": "cuda:0",
        "storage": 0,
        "data": [1.0, 2.0],
    }
    get = {"name": "c", "op": "get_attr", "target": "c", "val": {"t": dict(record)}}
    del get["val"]["t"]["data"]
    gm = load_document(
        document(get, output({"n": "c"}), constants={"c": record}, storages=[8])
    )
    assert encode_graph(gm)["constants"]["c"] == record


def test_unknown_argument_kind_is_refused() -> None:
    nodes = placeholder("x"), call("y", "aten.relu.default", {"quaternion": [0]}), output()
    with pytest.raises(jointer.CaptureError, match="node y: argument of unknown kind"):
        load_document(document(*nodes))
