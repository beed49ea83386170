"""Sums of more than two ranks, whose order of addition depends on the message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from processes import run_ranks
from support import call, document, output, placeholder, tensor

from jointer.program import Program, read_program
from jointer.sums_of_ranks import bound_of_roundings, sums_of_ranks

_WAIT = "_c10d_functional.wait_tensor.default"


def head(ranks: int) -> dict[str, Any]:
    groups = {"dp": {"ranks": list(range(ranks)), "desc": "dp", "backend": "gloo"}}
    return {"groups": groups, "world_size": ranks}


def all_reduce(name: str, of: str, size: int, storage: int, reduction: str = "sum") -> Any:
    value = tensor([size], storage=storage)
    return call(name, "_c10d_functional.all_reduce.default", {"n": of}, reduction, "dp", val=value)


def single(path: Path, ranks: int = 3, reduction: str = "sum") -> str:
    """Two sums, of 64 and of 32 elements."""
    nodes = [
        placeholder("x", tensor([64], storage=0)),
        placeholder("y", tensor([32], storage=1)),
        all_reduce("r", "x", 64, 2, reduction),
        all_reduce("s", "y", 32, 3, reduction),
        call("rw", _WAIT, {"n": "r"}, val=tensor([64], storage=2)),
        call("sw", _WAIT, {"n": "s"}, val=tensor([32], storage=3)),
        output({"n": "rw"}, {"n": "sw"}),
    ]
    path.write_text(json.dumps(document(*nodes, storages=[256, 128, 256, 128], **head(ranks))))
    return str(path)


def bucket(path: Path, members: str = "xy") -> str:
    """The same sums as one of 96 elements."""
    nodes = [
        placeholder("x", tensor([64], storage=0)),
        placeholder("y", tensor([32], storage=1)),
        call("c", "aten.cat.default", [{"n": m} for m in members], val=tensor([96], storage=2)),
        all_reduce("r", "c", 96, 3),
        call("w", _WAIT, {"n": "r"}, val=tensor([96], storage=3)),
        call("rw", "aten.slice.Tensor", {"n": "w"}, 0, 0, 64, val=tensor([64], storage=3)),
        call("sw", "aten.slice.Tensor", {"n": "w"}, 0, 64, 96,
             val=tensor([32], storage=3, offset=64)),
        output({"n": "rw"}, {"n": "sw"}),
    ]  # fmt: skip
    path.write_text(json.dumps(document(*nodes, storages=[256, 128, 384, 384], **head(3))))
    return str(path)


def read(path: str) -> Program:
    return read_program(path, None, rank=0, assume={})


def test_only_sums_of_more_than_two_ranks_count(tmp_path: Path) -> None:
    assert len(sums_of_ranks(read(single(tmp_path / "three.json")))) == 2
    assert not sums_of_ranks(read(single(tmp_path / "two.json", ranks=2)))
    assert not sums_of_ranks(read(single(tmp_path / "max.json", reduction="max")))
    assert bound_of_roundings(read(single(tmp_path / "three.json"))) == 1e-4


def test_a_bucket_differs_from_its_members_and_has_their_order(tmp_path: Path) -> None:
    apart = sums_of_ranks(read(single(tmp_path / "apart.json")))
    joined = sums_of_ranks(read(bucket(tmp_path / "joined.json")))
    turned = sums_of_ranks(read(bucket(tmp_path / "turned.json", "yx")))
    assert len(joined) == len(turned) == 1
    assert not joined & apart and joined != turned


def test_a_bucket_has_a_bound(tmp_path: Path) -> None:
    """Three ranks compare a bucket, and an unedited graph, with the unedited graph."""
    apart, joined = single(tmp_path / "apart.json"), bucket(tmp_path / "joined.json")
    for graph, bound in ((apart, 0), (joined, 1e-4)):
        command = ["-m", "jointer", "bench", graph, "--baseline", apart, "--on", "cpu"]
        for ended in run_ranks([*command, "--threads", "1", "--iterations", "1"], 3):
            assert ended.code == 0, (ended.lines[-1:], ended.errors)
            (verdict,) = ended.said("verified")
            assert verdict["equal"] and verdict["bound"] == bound
            notes = [note["text"] for note in ended.said("note")]
            assert any("Gloo adds the values" in note for note in notes) == (bound > 0)
