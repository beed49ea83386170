"""jointer spmd: compares the programs of several ranks; a benchmark stops if they do not match."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import run
from documents import capture, half, n, node, tensor, write

Document = dict[str, Any]
S0 = {"sym": "s0", "hint": 8}


def program(rank: int) -> Document:
    """A graph with two reductions of different sizes, one after the other."""
    document = capture()
    document["rank"] = rank
    document["storages"] += [512, 512]
    nodes = document["nodes"]
    more = [
        node("small", "call_function", "_c10d_functional.all_reduce.default",
             [n("primals_2"), "sum", "0"], tensor(4, S0, 4)),
        node("wait_small", "call_function", "_c10d_functional.wait_tensor.default", [n("small")],
             tensor(5, S0, 4)),
    ]  # fmt: skip
    nodes[-1:-1] = more
    nodes[-1]["args"] = [[n("wait"), n("wait_small")]]
    return document


def swapped(document: Document) -> Document:
    """The same graph with the second reduction first."""
    document = copy.deepcopy(document)
    nodes = document["nodes"]
    pair = [each for each in nodes if each["name"] in ("small", "wait_small")]
    rest = [each for each in nodes if each not in pair]
    document["nodes"] = rest[:3] + pair + rest[3:]
    return document


@pytest.fixture
def pattern(tmp_path: Path) -> str:
    """Files of two ranks whose collectives match."""
    for rank in (0, 1):
        write(tmp_path / f"rank{rank}.json", program(rank))
    return str(tmp_path / "rank{rank}.json")


def test_ranks_that_match(pattern: str, tmp_path: Path) -> None:
    found = run("spmd", pattern, "--json").json
    assert found["agrees"] is True
    assert found["mismatch"] is None
    assert [each["rank"] for each in found["ranks"]] == [0, 1]
    assert found["groups"] == [{"name": "mesh_tp", "ranks": [0, 1], "checked": [0, 1], "calls": 2}]
    done = run("spmd", tmp_path / "rank0.json", tmp_path / "rank1.json")
    assert (done.code, done.err) == (0, "")
    assert "All ranks make the same calls in the same order." in done.out


def test_ranks_without_a_common_group(pattern: str, tmp_path: Path) -> None:
    write(tmp_path / "rank5.json", program(5))
    done = run("spmd", tmp_path / "rank0.json", tmp_path / "rank5.json")
    assert done.code == 0
    assert "No process group contains two of these ranks, so no calls were compared." in done.out
    assert "All ranks make the same calls" not in done.out


def test_ranks_that_do_not_match(pattern: str, tmp_path: Path) -> None:
    write(tmp_path / "rank1.json", swapped(program(1)))
    done = run("spmd", pattern)
    assert done.code == 1
    assert (
        "in group mesh_tp (ranks 0, 1), as collective 0, rank 0 calls ar, but rank 1 calls small: "
        "the run would hang or compute wrong results\n" in done.out
    )
    assert done.out.count("all_reduce (sum) of float32[s0,4]") == 1  # in the table


def test_json_of_ranks_that_do_not_match(pattern: str, tmp_path: Path) -> None:
    write(tmp_path / "rank1.json", swapped(program(1)))
    done = run("spmd", pattern, "--json")
    assert (done.code, done.err) == (1, "")
    mismatch = json.loads(done.out)["mismatch"]
    assert [side["node"] for side in mismatch["sides"]] == ["ar", "small"]
    assert [side["rank"] for side in mismatch["sides"]] == [0, 1]
    assert mismatch["call"] == 0
    assert "calls small (all_reduce (sum) of float32[s0,4], position " in mismatch["sentence"]


def test_a_rank_that_stops_early(pattern: str, tmp_path: Path) -> None:
    document = program(1)
    document["nodes"] = [e for e in document["nodes"] if e["name"] not in ("small", "wait_small")]
    document["nodes"][-1]["args"] = [[n("wait")]]
    write(tmp_path / "rank1.json", document)
    done = run("spmd", pattern)
    assert done.code == 1
    assert "rank 1 calls no further collectives" in done.out


def test_pairs(tmp_path: Path) -> None:
    for rank in (0, 1):
        for kind in ("forward", "backward"):
            document = half(kind)
            document |= {"rank": rank, "world_size": 2}
            write(tmp_path / f"{kind}{rank}.json", document)
    done = run("spmd", tmp_path / "forward{rank}.json", "--backward", tmp_path / "backward{rank}.json")
    assert done.code == 0
    assert "2 programs" in done.out
    done = run("spmd", tmp_path / "forward0.json", tmp_path / "forward1.json", "--backward", "x")
    assert done.code == 2
    assert "option --backward: got 2 forward graphs and 1 backward graph;" in done.err


def test_refusals(pattern: str, tmp_path: Path) -> None:
    one = tmp_path / "rank0.json"
    assert "needs the programs of at least two ranks" in run("spmd", one).err
    assert "rank 0 is given twice" in run("spmd", one, one).err
    assert "no such file for any rank" in run("spmd", tmp_path / "no{rank}.json").err
    document = program(0)
    del document["rank"]
    nameless = write(tmp_path / "nameless.json", document)
    assert "does not record its rank; put the rank into the file names" in run("spmd", one, nameless).err
    write(tmp_path / "rank1.json", program(0))
    assert "the capture records rank 0, but its file name says rank 1; rename" in run("spmd", pattern).err


def test_a_benchmark_does_not_hang(pattern: str, tmp_path: Path) -> None:
    write(tmp_path / "rank1.json", swapped(program(1)))
    done = run("bench", pattern, "--ranks", 2, "--on", "cpu", "--iterations", 1)
    assert done.code == 3, done.err
    assert "the collectives of the ranks do not match: in group mesh_tp" in done.err
    assert done.cpu_seconds < 20


def test_a_benchmark_knows_the_ranks_of_its_files(tmp_path: Path) -> None:
    """Captures that do not record their ranks are compared like those that do."""
    for rank, document in enumerate([program(0), swapped(program(1))]):
        del document["rank"]
        write(tmp_path / f"rank{rank}.json", document)
    done = run("bench", tmp_path / "rank{rank}.json", "--ranks", 2, "--on", "cpu", "--iterations", 1)
    assert done.code == 3, done.err
    assert "the collectives of the ranks do not match: in group mesh_tp" in done.err


def backward(reductions: list[str]) -> Document:
    """A backward graph with these reductions of the gradient, in this order."""
    document = half("backward")
    document |= {"groups": capture()["groups"], "world_size": 2}
    document["storages"] += [512, 512, 512]
    calls = []
    for name in reductions:
        value = tensor(3 if name == "sum" else 4, 128)
        calls += [
            node(name, "call_function", "_c10d_functional.all_reduce.default", [n("grad"), name, "0"], value),
            node(f"wait_{name}", "call_function", "_c10d_functional.wait_tensor.default", [n(name)], value),
        ]  # fmt: skip
    calls.append(node("add", "call_function", "aten.add.Tensor", [n("wait_sum"), n("wait_max")], tensor(5, 128)))
    document["nodes"][-1:-1] = calls
    document["nodes"][-1]["args"] = [[n("add")]]
    return document


def test_a_benchmark_compares_backward_graphs_of_one_forward(tmp_path: Path) -> None:
    forward = write(tmp_path / "forward.json", half("forward") | {"world_size": 2})
    for rank, reductions in enumerate([["sum", "max"], ["max", "sum"]]):
        write(tmp_path / f"backward{rank}.json", backward(reductions))
    files = (forward, "--backward", tmp_path / "backward{rank}.json")
    done = run("bench", *files, "--ranks", 2, "--on", "cpu", "--iterations", 1)
    assert done.code == 3, done.err
    assert "the collectives of the ranks do not match: in group mesh_tp" in done.err
