"""The hash of a graph: its text, equal for a document and a live graph."""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch
from support import call, document, joint_of, output, placeholder, tensor
from torch import nn

import jointer
from jointer.document import read_document
from jointer.hashing import canonical_lines

EXAMPLE = document(
    placeholder("x", tensor([2, 3], dtype="bfloat16")),
    call(
        "y",
        "aten.full.default",
        [2, 3.5],
        val=tensor([2]),
        kwargs={"pin_memory": False, "device": {"device": "cpu"}, "dtype": {"dtype": "float32"}},
    ),
    call("z", "aten.split.Tensor", {"n": "x"}, 1, val={"list": [tensor([1, 3]), {"c": None}]}),
    call("w", "aten._assert_scalar.default", {"n": "z"}, 'say "no"\t'),
    output({"n": "y"}, None),
    storages=[12],
)
TEXT = """\
x x() -> bfloat16[2,3]
y aten.full.default([2,f400c000000000000],device=device:cpu,dtype=dtype:float32,pin_memory=False) \
-> float32[2]
z aten.split.Tensor(%x,1) -> [float32[1,3],const]
w aten._assert_scalar.default(%z,"say \\"no\\"\\u0009") -> None
output output([%y,None]) -> None
"""


def test_text() -> None:
    assert "".join(f"{line}\n" for line in canonical_lines(EXAMPLE["nodes"])) == TEXT
    assert jointer.document_hash(EXAMPLE) == hashlib.sha256(TEXT.encode()).hexdigest()


def test_pair_has_two_hashes() -> None:
    pair = {"kind": "pair", "forward": EXAMPLE, "backward": document(output())}
    assert jointer.document_hash(pair) == [
        jointer.document_hash(EXAMPLE),
        hashlib.sha256(b"output output([]) -> None\n").hexdigest(),
    ]


def test_only_the_computation_counts() -> None:
    model, x = nn.Linear(3, 2), torch.ones(4, 3)
    gm = joint_of(model, x)
    before = jointer.graph_hash(gm)
    assert jointer.graph_hash(gm.graph) == before == jointer.graph_hash(joint_of(model, x))
    for node in gm.graph.nodes:
        node.meta["seq_nr"] = 7
        node.meta["custom"] = {"note": node.name}
    assert jointer.graph_hash(gm) == before
    first = next(n for n in gm.graph.nodes if n.op == "call_function")
    first.name = "renamed"
    assert jointer.graph_hash(gm) != before


def test_samples(samples: list[Path]) -> None:
    assert len(samples) == 9
    for path in samples:
        loaded, expected = jointer.load(path), jointer.document_hash(read_document(path))
        if isinstance(loaded, tuple):
            assert [jointer.graph_hash(half) for half in loaded] == expected, path.name
        else:
            assert jointer.graph_hash(loaded) == expected, path.name
        torch.distributed.destroy_process_group()
