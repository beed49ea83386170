"""Symbolic sizes: expressions are parsed, never executed, and the sources of a symbol's number have a fixed
order.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import call, document, output, placeholder, tensor, through_json

import jointer
from jointer.encode import encode_graph
from jointer.load import load_document
from jointer.symbols import Assumptions, evaluate

NUMBERS = {"s0": 7, "s1": 3, "u0": 5, "z": 2.5}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("s0", 7),
        ("2*s0 + 1", 15),
        ("-s1**2", -9),
        ("((s0 + s1 + 39)//8)", 6),
        ("Mod(s0, s1)", 1),
        ("Max(1, s0, s1)", 7),
        ("ModularIndexing(s0, 2, 2)", 1),
        ("CeilDiv(s0, s1)", 3),
        ("TruncToInt(IntTrueDiv(s0, 2))", 3),
        ("u0 >= 0", True),
        ("Eq(s0 + s1, 10)", True),
        ("0 <= u0", True),
        ("(s0 > 1) & ~(Eq(s1, 3))", False),
        ("And(s0 > 1, Or(s1 > 5, u0 > 4))", True),
        ("Where(s0 > s1, 1, 2)", 1),
        ("int_oo", 2**63 - 1),
        ("ToFloat(s0)*z", 17.5),
    ],
)
def test_evaluate(text: str, value: Any) -> None:
    assert evaluate(text, NUMBERS.__getitem__) == value


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "s0.real",
        "(lambda: 1)()",
        "[1, 2]",
        "'a' * 1000",
        "2**(10**9)",
        "s0 //",
        "1 / 0",
        "exec(s0)",
        "(" * 500 + ")" * 500,
    ],
)
def test_invalid_sizes_are_refused(text: str) -> None:
    with pytest.raises(jointer.CaptureError, match="symbolic expression"):
        evaluate(text, NUMBERS.__getitem__)


TABLE = {
    "vars": {
        "s0": {"min": "2", "max": "int_oo", "hint": 9},
        "u0": {"min": "0", "max": "int_oo", "hint": None},
        "u1": {"min": "0", "max": "int_oo", "hint": None},
        "u2": {"min": "0", "max": "int_oo", "hint": None},
        "u3": {"min": "0", "max": "8", "hint": None},
        "u4": {"min": "0", "max": "int_oo", "hint": None},
        "u5": {"min": "0", "max": "int_oo", "hint": None},
    },
    "assumed": {"u5": 11},
    "replacements": {"u2": "u0 + 1", "u6": "u7", "u7": "u6"},
    "deferred_asserts": {"u1": ["0 <= u1", "Eq(u0 + u1, 3072)"], "u4": ["Eq(u4 + u8 + u9, 30)"]},
}


@pytest.mark.parametrize(
    ("symbol", "number"),
    [
        ("s0", 9),  # its hint
        ("u5", 11),  # assumed in the capture
        ("u0", 1536),  # its share of 3072
        ("u2", 1537),  # its replacement
        ("u4", 10),  # its share of 30
        ("u10", 1536),  # the share of the first assertion
        ("u3", 8),  # the same, within its range
        ("u6", 1536),  # replacements form a cycle
    ],
)
def test_order_of_sources(symbol: str, number: int) -> None:
    assert Assumptions(TABLE).symbol(symbol) == number
    assert Assumptions(TABLE, {symbol: 5}).symbol(symbol) == 5


def test_without_assertions_a_symbol_is_64() -> None:
    assert Assumptions({}).number("u0*2") == 128


def symbolic_document() -> dict[str, Any]:
    size = {"sym": "2*u0"}
    value = tensor([0, 4], stride=[4, 1])
    value["t"]["shape"] = [size, 4]
    sum_ = {"t": {**value["t"], "storage": 1}}
    return document(
        placeholder("x", value),
        call("n", "aten.sym_size.int", {"n": "x"}, 0, val={"symint": "2*u0", "hint": None}),
        call("b", "_operator.gt", {"n": "n"}, 3, val={"symint": "2*u0 > 3", "hint": None}),
        call("y", "aten.add.Tensor", {"n": "x"}, {"symint": "u0 + 1"}, val=sum_),
        output({"n": "y"}),
        storages=[{"sym": "32*u0"}, {"sym": "32*u0"}],
        symbols={"vars": {"u0": {"min": "0", "max": "100", "hint": None}}},
    )


def test_numbers_remember_their_expressions() -> None:
    original = symbolic_document()
    gm = load_document(original, {"u0": 10})
    x, n, b, y, _ = gm.graph.nodes
    assert x.meta["val"].shape == (20, 4) and x.meta["val"].untyped_storage().nbytes() == 320
    assert n.meta["val"] == 20 and b.meta["val"] == 1 and y.args[1] == 11
    again = through_json(encode_graph(gm))
    assert again["storages"] == original["storages"]
    assert [r["val"] for r in again["nodes"][:4]] == [r["val"] for r in original["nodes"][:4]]
    assert again["nodes"][3]["args"] == original["nodes"][3]["args"]
    assert jointer.graph_hash(gm) == jointer.document_hash(original)
    assert jointer.graph_hash(load_document(original, {"u0": 3})) == jointer.graph_hash(gm)


def test_unknown_function_names_the_node() -> None:
    broken = symbolic_document()
    broken["nodes"][1]["val"]["symint"] = "Frobnicate(u0)"
    with pytest.raises(jointer.CaptureError, match="node n: symbolic expression 'Frobnicate"):
        load_document(broken)
