"""Replays a recipe that was made on one rank of a program on another rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from recipes import find, names, pieces
from support import call, document, output, placeholder, tensor
from torch import fx

import jointer
from jointer import RecipeError
from jointer.arguments import encode_argument
from jointer.fingerprint import fingerprint
from jointer.hashing import graph_lines, graph_records, rank_lines
from jointer.load import load_document

REDUCE = "_c10d_functional.all_reduce.default"
WAIT = "_c10d_functional.wait_tensor.default"


def n(name: str) -> dict[str, str]:
    return {"n": name}


def program(rank: int, alter: Callable[[Any], None] = lambda nodes: None) -> fx.GraphModule:
    """A vocab-parallel embedding: the first index, the groups and the device differ between ranks."""

    def value(storage: int) -> Any:
        return tensor([4, 8], storage, device=f"cuda:{rank}")

    nodes = [
        placeholder("x", value(0)),
        call("a", "aten.relu.default", n("x"), val=value(1)),
        call("b", "aten.sub.Tensor", n("a"), 128 * rank, val=value(2)),
        call("c", "aten.mul.Tensor", n("b"), 0.5, val=value(3)),
        call("r", REDUCE, n("b"), "sum", f"tp{rank}", val=value(4)),
        call("w", WAIT, n("r"), val=value(4)),
        call("s", REDUCE, n("c"), "sum", f"dp{rank}", val=value(5)),
        call("v", WAIT, n("s"), val=value(5)),
        output(n("w"), n("v")),
    ]
    alter({node["name"]: node for node in nodes})
    return load_document(document(*nodes, storages=[128] * 6))


def recipe(*changes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A recipe made on rank 0, as C++ writes it."""
    gm = program(0)
    lines = graph_lines(gm)
    graph = {
        "nodes": len(lines),
        "hash": jointer.graph_hash(gm),
        "rank_hash": jointer.rank_hash(gm),
        "groups": {"dp0": "s", "tp0": "r"},
        "devices": {"cuda:0": "x"},
        **more,
    }
    expects = {}
    for change in changes:
        for key in ("replace", "remove"):
            if key in change and change[key] in names(gm):
                line = lines[names(gm).index(change[key])]
                expects[change[key]] = line.partition(" ")[2]
    return {
        "format": "jointer-recipe",
        "version": 2,
        "graphs": {"graph": graph},
        "edits": [{"title": "edit", "changes": list(changes)}],
        "expects": expects,
        "fingerprints": {"graph": pieces(fingerprint(lines))},
    }


def insert(name: str, before: str, **more: Any) -> dict[str, Any]:
    value = {"t": {"shape": [4, 8], "dtype": "float32", "device": "cuda:0"}}
    return {"insert": {"name": name, **more, "val": value}, "before": before}


def line_of(gm: fx.GraphModule, name: str) -> str:
    return graph_lines(gm)[names(gm).index(name)]


def on_rank_1(document: dict[str, Any]) -> fx.GraphModule:
    """Rank 1's graph after the recipe. Also checks the recipe on rank 0."""
    first = program(0)
    assert jointer.apply_recipe(first, document).other_rank is False
    document["graphs"]["graph"]["rank_after"] = jointer.rank_hash(first)
    gm = program(1)
    report = jointer.apply_recipe(gm, document)
    assert report.other_rank and report.as_recorded is True
    assert str(report) == (
        "1 edit applied, 0 skipped (graph)\n"
        "the graph differs from the recorded one only in rank-specific constants, first at node 2, b"
    )
    return gm


def refusal(document: dict[str, Any]) -> str:
    """The reason why rank 1 refuses the edit; in lenient mode, it skips the edit."""
    gm = program(1)
    before = jointer.graph_hash(gm)
    with pytest.raises(RecipeError) as caught:
        jointer.apply_recipe(gm, document)
    assert jointer.graph_hash(gm) == before
    report = jointer.apply_recipe(gm, document, lenient=True)
    assert [each.reason in str(caught.value) for each in report.skipped] == [True]
    assert jointer.graph_hash(gm) == before
    return str(caught.value)


def test_the_text_is_the_same_on_every_rank() -> None:
    assert rank_lines(graph_records(program(1))) == [
        "x x() -> float32[4,8]",
        "a aten.relu.default(%x) -> float32[4,8]",
        "b aten.sub.Tensor(%a,#) -> float32[4,8]",
        "c aten.mul.Tensor(%b,f3fe0000000000000) -> float32[4,8]",
        f'r {REDUCE}(%b,"sum",group:0) -> float32[4,8]',
        f"w {WAIT}(%r) -> float32[4,8]",
        f's {REDUCE}(%c,"sum",group:1) -> float32[4,8]',
        f"v {WAIT}(%s) -> float32[4,8]",
        "output output([%w,%v]) -> None",
    ]
    assert jointer.graph_hash(program(0)) != jointer.graph_hash(program(1))
    assert jointer.rank_hash(program(0)) == jointer.rank_hash(program(1))


OTHER_PROGRAMS = {
    "edge": lambda nodes: nodes["b"].update(args=[n("x"), 128]),
    "float": lambda nodes: nodes["c"].update(args=[n("b"), 0.25]),
    "kind": lambda nodes: nodes["b"].update(args=[n("a"), 128.0]),
    "boolean": lambda nodes: nodes["b"].update(args=[n("a"), True]),
    "dtype": lambda nodes: nodes["c"]["val"]["t"].update(dtype="bfloat16"),
    "string": lambda nodes: nodes["r"].update(args=[n("b"), "avg", "tp1"]),
    "shared group": lambda nodes: nodes["s"].update(args=[n("c"), "sum", "tp1"]),
}


@pytest.mark.parametrize("alter", OTHER_PROGRAMS.values(), ids=OTHER_PROGRAMS)
def test_another_program_is_refused(alter: Callable[[dict[str, Any]], None]) -> None:
    gm = program(1, alter)
    with pytest.raises(RecipeError, match="the recipe was made for another graph: node 2, b"):
        jointer.apply_recipe(gm, recipe({"move": ["s"], "before": "w"}))


def test_moves_and_policies() -> None:
    changes = {"move": ["s"], "before": "w"}, {"policy": "MUST_SAVE", "select": "b"}
    gm = on_rank_1(recipe(*changes))
    assert names(gm).index("s") < names(gm).index("w")
    assert find(gm, "b").meta["recompute"].name == "MUST_SAVE"


def test_inserted_calls_get_its_groups_devices_and_constants() -> None:
    device = {"device": {"device": "cuda:0"}}
    named = {"reduce_op": "tp0", "group_name": "dp0_extra_2"}
    gm = on_rank_1(
        recipe(
            insert("again", "r", copy="b", inputs={"a": "x"}, like="b"),
            {"replace": "r", "inputs": {"b": "again"}},
            insert("e", "w", target="aten.empty.memory_format", args=[[4, 8]], kwargs=device),
            insert("t", "w", target=REDUCE, args=[n("e"), "sum", "tp0"]),
            insert("d", "w", target=REDUCE, args=[n("t")], kwargs=named),
        )
    )
    assert line_of(gm, "again") == "again aten.sub.Tensor(%x,128) -> float32[4,8]"
    assert line_of(gm, "e") == (
        "e aten.empty.memory_format([4,8],device=device:cuda:1) -> float32[4,8]"
    )
    assert line_of(gm, "t") == f't {REDUCE}(%e,"sum","tp1") -> float32[4,8]'
    assert line_of(gm, "d") == (
        f'd {REDUCE}(%t,group_name="dp1_extra_2",reduce_op="tp0") -> float32[4,8]'
    )
    for name in ("again", "e", "t", "d"):
        assert str(find(gm, name).meta["val"].device) == "cuda:1"


def test_groups_that_are_objects_get_its_names() -> None:
    """The hash does not cover their names, so both ranks may have the same."""

    def group(name: str) -> dict[str, str]:
        return {"opaque": "ProcessGroup", "repr": name}

    def on(rank: int) -> fx.GraphModule:
        def alter(nodes: Any) -> None:
            nodes["b"]["args"][1] = 7
            nodes["r"]["args"][2] = group(f"tp{rank}")
            nodes["s"]["args"][2] = group(f"dp{rank}")

        return program(rank, alter)

    made = recipe(insert("t", "w", target=REDUCE, args=[n("a"), "sum", group("tp0")]))
    made["graphs"]["graph"]["hash"] = jointer.graph_hash(on(0))
    for rank in (0, 1):
        gm = on(rank)
        assert jointer.apply_recipe(gm, made).other_rank is False
        assert encode_argument(find(gm, "t").args[2]) == group(f"tp{rank}")
        assert str(find(gm, "t").meta["val"].device) == f"cuda:{rank}"


def test_replaced_calls_get_its_groups() -> None:
    gm = on_rank_1(recipe({"replace": "s", "args": [n("c"), "sum", "dp0_extra"]}))
    assert line_of(gm, "s") == f's {REDUCE}(%c,"sum","dp1_extra") -> float32[4,8]'


def test_its_constants_are_not_overwritten() -> None:
    said = "has rank-specific constants, (%a,128): the recipe would overwrite them with those of"
    overwrite = {"replace": "b", "args": [n("x"), 0]}
    assert f"edit 0 (edit), change 0: b {said}" in refusal(recipe(overwrite))
    copy = insert("again", "r", copy="b", like="b")
    assert f"again {said}" in refusal(recipe(copy, {**overwrite, "replace": "again"}))
    # Its inputs or its operator may change.
    inputs = {"replace": "b", "inputs": {"a": "x"}}
    gm = on_rank_1(recipe(inputs, {"replace": "b", "target": "aten.add.Tensor"}))
    assert line_of(gm, "b") == "b aten.add.Tensor(%x,128) -> float32[4,8]"


def test_constants_of_another_rank_are_not_inserted() -> None:
    call_of = {"target": "aten.add.Tensor", "args": [n("a"), 0]}
    assert (
        "again would get the constants of another rank: b, its origin, has (%a,128) on this rank"
    ) in refusal(recipe(insert("again", "r", **call_of, like="b")))
    assert "again may get the constants of another rank: the edit removes a node" in refusal(
        recipe(
            insert("again", "c", **call_of),
            {"replace": "r", "inputs": {"b": "again"}},
            {"replace": "c", "inputs": {"b": "again"}},
            {"remove": "b"},
        )
    )
    # Without integers, or made from another node.
    on_rank_1(
        recipe(
            insert("f", "r", target="aten.neg.default", args=[n("b")], like="b"),
            insert("g", "r", target="aten.add.Tensor", args=[n("a"), 7], like="a"),
        )
    )


def shard(rank: int) -> fx.GraphModule:
    """A constant that could be folded into the next call, twice, and a view of a rank's part."""
    value = [tensor([4, 8], each) for each in range(6)]
    view = tensor([2, 8], 0, offset=16 * rank)
    nodes = [
        placeholder("x", value[0]),
        call("a", "aten.relu.default", n("x"), val=value[1]),
        call("b", "aten.sub.Tensor", n("a"), 128 * rank, val=value[2]),
        call("d", "aten.add.Tensor", n("b"), 7, val=value[3]),
        call("b_1", "aten.sub.Tensor", n("a"), 128 * rank, val=value[2]),
        call("d_1", "aten.add.Tensor", n("b_1"), 7, val=value[4]),
        call("e", "aten.mul.Tensor", n("d"), n("d_1"), val=value[5]),
        call("v", "aten.slice.Tensor", n("x"), 0, 2 * rank, 2 * rank + 2, val=view),
        output(n("e"), n("v")),
    ]
    return load_document(document(*nodes, storages=[128] * 6))


def shard_recipe(*changes: dict[str, Any]) -> dict[str, Any]:
    gm = shard(0)
    lines = graph_lines(gm)
    made = recipe(*changes, hash=jointer.graph_hash(gm), rank_hash=jointer.rank_hash(gm))
    made["graphs"]["graph"].update(groups={}, devices={}, nodes=len(lines))
    made["fingerprints"] = {"graph": pieces(fingerprint(lines))}
    made["expects"] = {}
    return made


def on_shard_1(*changes: dict[str, Any]) -> fx.GraphModule:
    made, gm = shard_recipe(*changes), shard(1)
    jointer.apply_recipe(shard(0), made)
    assert jointer.apply_recipe(gm, made).other_rank
    return gm


def refused_by_shard(*changes: dict[str, Any]) -> str:
    made = shard_recipe(*changes)
    jointer.apply_recipe(shard(0), made)
    with pytest.raises(RecipeError) as caught:
        jointer.apply_recipe(shard(1), made)
    return str(caught.value)


def insert_here(name: str, before: str, **more: Any) -> dict[str, Any]:
    return {"insert": {"name": name, **more}, "before": before}


FOLDS = {
    "folded": [{"replace": "d", "args": [n("a"), 7]}],
    "left out": [{"replace": "d", "inputs": {"b": "a"}}],
    "with its reader": [
        insert_here("f", "e", target="aten.add.Tensor", args=[n("a"), 7], like="d"),
        {"replace": "e", "inputs": {"d": "f"}},
        {"remove": "d"},
    ],
    "the copy too": [
        insert_here("c", "d", copy="b"),
        {"replace": "d", "inputs": {"b": "a"}},
        {"remove": "c"},
    ],
}


@pytest.mark.parametrize("changes", FOLDS.values(), ids=FOLDS)
def test_its_constants_are_not_lost(changes: list[dict[str, Any]]) -> None:
    said = refused_by_shard(*changes, {"remove": "b"})
    assert f"change {len(changes)}: b has rank-specific constants, (%a,128): the edit rem" in said


def test_removed_nodes_may_have_a_copy_or_an_equal_node() -> None:
    gm = on_shard_1(
        insert_here("c", "d", copy="b", inputs={"a": "x"}),
        {"replace": "d", "inputs": {"b": "c"}},
        {"remove": "b"},
    )
    assert find(gm, "c").args[1] == 128
    equal = {"replace": "e", "inputs": {"d_1": "d"}}
    on_shard_1(equal, {"remove": "d_1"}, {"remove": "b_1"})
    on_shard_1({"replace": "d_1", "inputs": {"b_1": "b"}}, {"remove": "b_1"})


def test_long_equal_chains_may_be_merged() -> None:
    length = 2000

    def chains(rank: int) -> fx.GraphModule:
        value = tensor([4], 0)
        nodes = [placeholder("x", value)]
        for chain in "mn":
            nodes.append(call(f"{chain}0", "aten.sub.Tensor", n("x"), rank, val=value))
            for i in range(1, length):
                nodes.append(call(f"{chain}{i}", "aten.neg.default", n(f"{chain}{i - 1}"), val=value))
        last = n(f"m{length - 1}"), n(f"n{length - 1}")
        nodes += [call("e", "aten.mul.Tensor", *last, val=value), output(n("e"))]
        return load_document(document(*nodes, storages=[16]))

    first = chains(0)
    lines = graph_lines(first)
    merge = {"replace": "e", "inputs": {f"n{length - 1}": f"m{length - 1}"}}
    made = recipe(
        merge,
        *({"remove": f"n{i}"} for i in reversed(range(length))),
        hash=jointer.graph_hash(first),
        rank_hash=jointer.rank_hash(first),
    )
    made["graphs"]["graph"].update(groups={}, devices={}, nodes=len(lines))
    made["fingerprints"], made["expects"] = {"graph": pieces(fingerprint(lines))}, {}
    gm = chains(1)
    assert jointer.apply_recipe(gm, made).other_rank
    assert "n0" not in names(gm) and "m0" in names(gm)


def test_copied_views_have_their_offset() -> None:
    value = tensor([2, 8], 0, offset=0)
    value["t"]["storage"] = {"of": "x"}
    gm = on_shard_1(insert_here("u", "e", copy="v", val=value))
    assert find(gm, "u").meta["val"].storage_offset() == 16


def test_models_may_have_the_half() -> None:
    """In a half of a pair, the names of nodes may have the half's prefix."""
    halves = [program(0), program(1)]
    add = {"target": "aten.add.Tensor", "args": [n("a"), 0]}
    made = recipe(insert("again", "forward:r", **add, like="forward:b"))
    made["graphs"] = {"forward": made["graphs"]["graph"]}
    made["fingerprints"] = {"forward": made["fingerprints"]["graph"]}
    jointer.apply_recipe(halves[0], made)
    with pytest.raises(RecipeError, match="again would get the constants of another rank"):
        jointer.apply_recipe(halves[1], made)


def test_a_damaged_name() -> None:
    change = insert_here("c", "r", copy="b")
    change["insert"]["name"] = ["q"]
    with pytest.raises(RecipeError, match="not a valid name"):
        jointer.apply_recipe(program(1), recipe(change))


def test_ranks_with_equal_graphs_have_their_names() -> None:
    """The hash does not cover the devices of values."""

    def on(rank: int) -> fx.GraphModule:
        value = tensor([4, 8], 0, device=f"cuda:{rank}")
        a = call("a", "aten.relu.default", n("x"), val={"t": {**value["t"], "storage": 1}})
        return load_document(
            document(placeholder("x", value), a, output(n("a")), storages=[128] * 2)
        )

    device = {"device": {"device": "cuda:0"}}
    made = recipe(
        insert("e", "a", target="aten.empty.memory_format", args=[[4, 8]], kwargs=device)
    )
    graph = made["graphs"]["graph"]
    graph.update(hash=jointer.graph_hash(on(0)), rank_hash=jointer.rank_hash(on(0)), groups={})
    first = on(0)
    graph["after"] = jointer.apply_recipe(first, made).hash
    graph["rank_after"] = jointer.rank_hash(first)
    gm = on(3)
    report = jointer.apply_recipe(gm, made)
    assert not report.other_rank and report.as_recorded is True
    assert "device:cuda:3" in line_of(gm, "e")


def test_without_the_end_of_the_fingerprint_nothing_is_overwritten() -> None:
    document = {**recipe({"replace": "s", "args": [n("c"), "sum", "dp0_extra"]}), "expects": {}}
    short = [each[:16] for each in document["fingerprints"]["graph"]][:1]
    assert "s has rank-specific constants" in refusal({**document, "fingerprints": {"graph": short}})


def test_unknown_groups_and_devices_are_refused() -> None:
    assert (
        "s: no recorded node communicates in the process group world, so its name on this rank is "
        "unknown"
    ) in refusal(recipe({"replace": "s", "args": [n("c"), "sum", "world"]}))
    device = {"device": {"device": "cuda:5"}}
    assert "e: no recorded node is on the device cuda:5" in refusal(
        recipe(insert("e", "w", target="aten.empty.memory_format", args=[[4, 8]], kwargs=device))
    )


def test_older_recipes_are_for_one_rank() -> None:
    document = recipe({"replace": "s", "args": [n("c"), "sum", "dp0_extra"]})
    del document["graphs"]["graph"]["rank_hash"]
    gm = program(1)
    with pytest.raises(RecipeError, match="the recipe was made for another graph"):
        jointer.apply_recipe(gm, document)
    report = jointer.apply_recipe(gm, document, lenient=True)
    assert report.other_rank is False
    assert '"dp0_extra"' in line_of(gm, "s")


def test_without_expectations_or_fingerprint_nothing_is_overwritten() -> None:
    document = {**recipe({"replace": "s", "args": [n("c"), "sum", "dp0_extra"]}), "expects": {}}
    on_rank_1(document)  # the fingerprint shows that the constants of `s` are the same
    assert "s has rank-specific constants" in refusal({**document, "fingerprints": {}})


@pytest.mark.parametrize("damage", [{"rank_hash": 7}, {"groups": []}, {"devices": {"cuda:0": 7}}])
def test_damaged(damage: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match="expected"):
        jointer.apply_recipe(program(1), recipe({"move": ["s"], "before": "w"}, **damage))
