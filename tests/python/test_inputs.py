"""Inputs: how they are generated, safetensors files, comparison of outputs."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from support import call, document, output, placeholder, tensor

from jointer.errors import CaptureError
from jointer.inputs import make_inputs
from jointer.load import load_document
from jointer.safetensors import read_safetensors
from jointer.verify import compare

CPU = torch.device("cpu")


def described(name: str, kind: str, value: Any) -> dict[str, Any]:
    return {**placeholder(name, value), "desc": {"type": kind, "target": name}}


def placeholders() -> list[Any]:
    """Placeholders of a graph that looks up tokens in a table of seven rows."""
    nodes = [
        described("table", "ParamAOTInput", tensor([7, 2])),
        {**described("x", "PlainAOTInput", tensor([3], storage=1)), "desc": {"type": "?"}},
        placeholder("tokens", tensor([5], storage=2, dtype="int64")),
        placeholder("mask", tensor([64], storage=3, dtype="bool")),
        placeholder("count", tensor([4], storage=4, dtype="int32")),
        placeholder("turns", tensor([6], storage=5, dtype="complex64")),
        placeholder("half", tensor([2, 3], storage=6, dtype="bfloat16", stride=[1, 2])),
        placeholder("number", {"symint": "s0", "hint": 12}),
        call("view", "aten.view.default", {"n": "tokens"}, [5, 1],
             val=tensor([5, 1], storage=2, dtype="int64")),
        call("found", "aten.embedding.default", {"n": "table"}, {"n": "view"},
             val=tensor([5, 1, 2], storage=7)),
        output({"n": "found"}),
    ]  # fmt: skip
    symbols = {"vars": {"s0": {"hint": 12}}}
    gm = load_document(document(*nodes, storages=[64] * 8, symbols=symbols))
    return gm.graph.find_nodes(op="placeholder")


def seeded(seed: int, name: str, rank: int) -> torch.Generator:
    digest = 2166136261
    for byte in name.encode():
        digest = (digest ^ byte) * 16777619 % 2**32
    return torch.Generator().manual_seed(seed * 1000003 + digest + rank * 7919)


def test_inputs_follow_the_rule() -> None:
    made = make_inputs(placeholders(), CPU, seed=5, rank=2)
    generators = [seeded(5, node.name, 2) for node in placeholders()]
    assert torch.equal(made["table"], torch.randn(7, 2, generator=generators[0]) * 0.02)
    assert torch.equal(made["x"], torch.randn(3, generator=generators[1]))
    assert torch.equal(made["tokens"], torch.randint(0, 7, (5,), generator=generators[2]))
    assert torch.equal(made["mask"], torch.randint(0, 2, (64,), generator=generators[3]).bool())
    assert not made["count"].any() and made["count"].dtype is torch.int32
    angles = torch.rand(6, generator=generators[5]) * (2 * math.pi)
    assert torch.equal(made["turns"], torch.polar(torch.ones(6), angles))
    assert torch.equal(made["half"], torch.randn(2, 3, generator=generators[6]).bfloat16())
    assert made["half"].stride() == (1, 2)
    assert made["number"] == 12
    other = make_inputs(placeholders(), CPU, seed=5, rank=3)
    assert not torch.equal(made["x"], other["x"])


def test_indices_are_found_through_split_and_cat() -> None:
    """The runner finds the table through the same calls (app/runner/program/tensors.cpp)."""
    tokens = {"n": "tokens"}
    half = tensor([3], storage=1, dtype="int64")
    nodes = [
        described("table", "ParamAOTInput", tensor([7, 2])),
        placeholder("tokens", tensor([6], storage=1, dtype="int64")),
        call("halves", "aten.split.Tensor", tokens, 3, val={"list": [half, half]}),
        call("second", "_operator.getitem", {"n": "halves"}, 1, val=half),
        call("joined", "aten.cat.default", [{"n": "second"}, tokens],
             val=tensor([9], storage=2, dtype="int64")),
        call("found", "aten.embedding.default", {"n": "table"}, {"n": "joined"},
             val=tensor([9, 2], storage=3)),
        output({"n": "found"}),
    ]  # fmt: skip
    gm = load_document(document(*nodes, storages=[128] * 4))
    made = make_inputs(gm.graph.find_nodes(op="placeholder"), CPU, seed=5, rank=2)
    expected = torch.randint(0, 7, (6,), generator=seeded(5, "tokens", 2))
    assert torch.equal(made["tokens"], expected)
    # Through the halves alone.
    alone = [*nodes[:4], {**nodes[5], "args": [{"n": "table"}, {"n": "second"}]}, nodes[6]]
    gm = load_document(document(*alone, storages=[128] * 4))
    made = make_inputs(gm.graph.find_nodes(op="placeholder"), CPU, seed=5, rank=2)
    assert torch.equal(made["tokens"], expected)


def test_given_inputs_take_precedence_and_must_fit() -> None:
    x = torch.arange(3.0)
    nodes = [node for node in placeholders() if node.name == "x"]
    made = make_inputs(nodes, CPU, seed=0, rank=0, given={"x": x, "unknown": x})
    assert torch.equal(made["x"], x) and "unknown" not in made
    for wrong in (x.double(), torch.arange(4.0)):
        with pytest.raises(CaptureError, match="input x: torch.float.* in the file"):
            make_inputs(nodes, CPU, seed=0, rank=0, given={"x": wrong})
    with pytest.raises(CaptureError, match=r"the given inputs \(--inputs\) contain no tensor x"):
        make_inputs(nodes, CPU, seed=0, rank=0, given={"unknown": x})


def safetensors(header: Any, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    header = {
        "__metadata__": {"a": "b"},
        "one": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "two": {"dtype": "I64", "shape": [], "data_offsets": [8, 16]},
        "none": {"dtype": "BF16", "shape": [0, 3], "data_offsets": [16, 16]},
    }
    path.write_bytes(safetensors(header, struct.pack("<ffq", 1.5, -2, 7)))
    found = read_safetensors(str(path))
    assert found["one"].tolist() == [1.5, -2] and found["two"].item() == 7
    assert found["none"].shape == (0, 3) and found["none"].dtype is torch.bfloat16
    good = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    for broken in (
        b"",
        b"\xff" * 20,
        safetensors([], b""),
        safetensors({"a": {**good, "data_offsets": [0, 9]}}, b"\0" * 8),
        safetensors({"a": {**good, "shape": [3]}}, b"\0" * 8),
        safetensors({"a": {**good, "dtype": "F3"}}, b"\0" * 8),
        safetensors({"a": good}, b"\0" * 4),
    ):
        path.write_bytes(broken)
        with pytest.raises(CaptureError, match="not a complete safetensors file"):
            read_safetensors(str(path))


def test_comparisons_say_where() -> None:
    a, b = torch.zeros(2, 3), torch.zeros(2, 3)
    b[1, 1] = 0.5
    b[0, 0] = 10
    a[0, 0] = 10
    names = ["p", "q", "r"]
    same = compare("expected", names, [a, None, b], {0: a, 1: None, 2: b.clone()})
    assert same.bitwise and same.equal and same.compared == 2 and same.output == ""
    differs = compare("expected", names, [a, None, a], {0: a, 2: b})
    assert not differs.bitwise and not differs.equal
    assert (differs.output, differs.element, differs.max_abs_diff) == ("r", 4, 0.5)
    assert differs.max_rel_diff == 0.05
    assert compare("expected", names, [a], {0: b}, bound=0.05).equal
    assert not compare("expected", names, [a], {0: b}, bound=0.04).equal
    nan = torch.full((2,), float("nan"))
    assert compare("expected", names, [nan], {0: nan.clone()}).bitwise
    assert compare("expected", names, [nan], {0: torch.zeros(2)}).max_abs_diff == math.inf
    # A gradient that is all wrong matters more than the rounding of a large sum.
    outputs, wanted = [torch.tensor([1001.0]), torch.tensor([0.5])], [[1000.0], [1.0]]
    both = compare("expected", names, outputs, dict(enumerate(map(torch.tensor, wanted))))
    assert (both.output, both.max_abs_diff, both.max_rel_diff) == ("q", 0.5, 0.5)
    # Zeros of both signs are equal, but not bitwise.
    signs = compare("expected", names, [torch.tensor([0.0])], {0: torch.tensor([-0.0])})
    assert not signs.bitwise and signs.equal and signs.max_abs_diff == 0
    for wrong in (a.double(), a[:1], None):
        assert not compare("expected", names, [wrong], {0: a}).equal
