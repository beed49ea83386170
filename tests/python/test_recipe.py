"""Replays recipes on live graphs: every kind of change, refusals with their reasons, skipped edits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from recipes import chain, find, names, recipe
from support import joint_of, trace
from torch import fx, nn
from torch._functorch.partitioners import default_partition
from torch.utils.checkpoint import CheckpointPolicy

import jointer
from jointer import RecipeError
from jointer.encode import encode_graph
from jointer.load import load_document

ORDER = ["x_1", "y_1", "relu", "sigmoid", "mm", "t", "add", "add_", "output"]


def state(gm: fx.GraphModule) -> Any:
    """Everything that an edit may change."""
    return [
        (n.name, n.op, str(n.target), str(n.args), str(n.kwargs), sorted(map(str, n.users)))
        + tuple(str(n.meta.get(key)) for key in ("recompute", "ac_graph_id", "val"))
        for n in gm.graph.nodes
    ]


def refusal(gm: fx.GraphModule, document: Any) -> str:
    """The reason why ``document`` is refused; checks that the graph is unchanged."""
    before = state(gm)
    with pytest.raises(RecipeError) as caught:
        jointer.apply_recipe(gm, document)
    assert state(gm) == before
    gm.graph.lint()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_example() -> None:
    assert names(chain()) == ORDER


# Every change.


def test_move() -> None:
    gm = chain()
    x = torch.randn(4, 4), torch.randn(4, 4)
    expected = chain()(*x)
    report = jointer.apply_recipe(gm, recipe([{"move": ["t", "add"], "before": "mm"}], of=gm))
    assert names(gm) == ["x_1", "y_1", "relu", "sigmoid", "t", "add", "mm", "add_", "output"]
    assert (report.applied, report.skipped, report.difference) == ([""], [], None)
    assert report.hash == jointer.graph_hash(gm)
    # The code follows the new order.
    assert gm.code.index("torch.ops.aten.add.Tensor") < gm.code.index("torch.ops.aten.mm")
    for here, then in zip(gm(*x), expected, strict=True):
        assert torch.equal(here, then)


def test_an_edit_without_changes() -> None:
    """Solving again changes no nodes, but is an edit in the recipe."""
    gm = chain()
    before = state(gm)
    solve = {"title": "Solve again", "by": "min_cut_partition{activation_budget=0.5}", "changes": []}
    report = jointer.apply_recipe(gm, recipe(solve, [{"move": ["t", "add"], "before": "mm"}], of=gm))
    assert (report.applied, report.skipped) == (["Solve again", ""], [])
    assert state(gm) != before


def test_a_recipe_without_edits_is_for_one_graph() -> None:
    gm = chain()
    report = jointer.apply_recipe(gm, recipe(of=gm))
    assert (report.graph, report.applied, report.difference) == ("graph", [], None)
    jointer.apply_recipe(gm, recipe([{"move": ["t", "add"], "before": "mm"}]))
    assert "node 4, t: the recorded graph" in refusal(gm, recipe(of=chain()))


def test_move_of_several_separate_nodes() -> None:
    gm = chain()
    jointer.apply_recipe(gm, recipe([{"move": ["sigmoid", "relu"], "before": "mm"}]))
    assert names(gm)[2:5] == ["sigmoid", "relu", "mm"]


def test_an_edit_is_judged_as_a_whole() -> None:
    gm = chain()
    changes = [{"move": ["sigmoid"], "before": "add_"}, {"move": ["sigmoid"], "before": "relu"}]
    jointer.apply_recipe(gm, recipe(changes))
    assert names(gm)[2:4] == ["sigmoid", "relu"]
    assert "edit 0 (), change 0: mm reads sigmoid and would come before it" in refusal(
        gm, recipe(changes[:1])
    )


def test_policy() -> None:
    gm = chain()
    jointer.apply_recipe(
        gm,
        recipe(
            [{"policy": "MUST_SAVE", "select": "mm"}],
            [{"policy": "PREFER_RECOMPUTE", "select": "aten.relu"}],
            [{"policy": "MUST_CPU_OFFLOAD", "select": "::aten.sig*"}],
        ),
    )
    assert find(gm, "mm").meta["recompute"] is CheckpointPolicy.MUST_SAVE
    assert find(gm, "relu").meta["recompute"] is CheckpointPolicy.PREFER_RECOMPUTE
    assert find(gm, "relu").meta["ac_graph_id"] == 0
    assert find(gm, "sigmoid").meta["should_offload"] is True
    jointer.apply_recipe(gm, recipe([{"policy": None, "select": "sigmoid"}]))
    assert not find(gm, "sigmoid").meta.keys() & {"recompute", "should_offload"}


def test_policy_of_a_list_and_its_region() -> None:
    gm = chain()
    tags = {"policy": "MUST_RECOMPUTE", "select": ["mm", "relu"], "ac_graph_id": 7}
    jointer.apply_recipe(gm, recipe([tags]))
    for name in ("mm", "relu"):
        assert find(gm, name).meta["recompute"] is CheckpointPolicy.MUST_RECOMPUTE
        assert find(gm, name).meta["ac_graph_id"] == 7
    assert "recompute" not in find(gm, "sigmoid").meta
    # If the region is omitted, it stays; null removes it.
    jointer.apply_recipe(gm, recipe([{"policy": "MUST_SAVE", "select": ["mm"]}]))
    assert find(gm, "mm").meta["ac_graph_id"] == 7
    jointer.apply_recipe(gm, recipe([{"policy": None, "select": ["mm"], "ac_graph_id": None}]))
    assert not find(gm, "mm").meta.keys() & {"recompute", "ac_graph_id"}


def test_lenient_applies_the_valid_part_of_a_list() -> None:
    gm = chain()
    changes = [{"policy": "MUST_SAVE", "select": ["mm", "gone", "relu", "x_1", "sigmoid"]}]
    document = recipe(changes, expects={"relu": "aten.tanh.default"})
    assert "relu calls aten.relu.default here" in refusal(gm, document)
    assert "recompute" not in find(gm, "mm").meta
    report = jointer.apply_recipe(gm, document, lenient=True)
    assert [str(each) for each in report.skipped] == [
        "edit 0, change 0 (): 3 of 5 nodes: there is no node gone"
    ]
    assert [each for each in names(gm) if "recompute" in find(gm, each).meta] == ["sigmoid", "mm"]


def test_policy_determines_the_partition() -> None:
    """The forward no longer saves values tagged as recomputed."""

    def saved(*changes: Any) -> set[str]:
        model = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 4))
        gm = joint_of(model, torch.ones(2, 4))
        jointer.apply_recipe(gm, recipe(list(changes)))
        forward, _ = default_partition(gm, [None], num_fwd_outputs=1)
        outputs = forward.graph.output_node().args[0]
        return {n.name for n in outputs[1:] if isinstance(n, fx.Node)}

    assert any(name.startswith(("sigmoid", "detach")) for name in saved())
    assert all(
        name.startswith("primals")
        for name in saved({"policy": "MUST_RECOMPUTE", "select": "::aten.*"})
    )


def test_policy_within_modules() -> None:
    def tagged(select: str) -> list[str]:
        gm = chain()
        for name, path in (("relu", "layers.0.act"), ("mm", "layers.1.wq"), ("add", "norm")):
            find(gm, name).meta["nn_module_stack"] = {path: (path, nn.Module)}
        jointer.apply_recipe(gm, recipe([{"policy": "MUST_SAVE", "select": select}]))
        return [n.name for n in gm.graph.nodes if "recompute" in n.meta]

    assert tagged("layers.*::*") == ["relu", "mm"]
    assert tagged("layers.1::aten.mm") == ["mm"]
    assert tagged("layers.[!1]::aten.*") == ["relu"]
    assert tagged("aten.m*") == ["mm"]
    for nothing in ("Layers.*::*", "layers::aten.add.*", "aten.n*"):
        assert f"`{nothing}` selects nothing" in refusal(
            chain(), recipe([{"policy": "MUST_SAVE", "select": nothing}])
        )


def insertion(**record: Any) -> dict[str, Any]:
    """The insertion of ``relu + 2`` before ``mm``."""
    value = {"t": {"shape": [4, 4], "dtype": "float32", "device": "cpu"}}
    node = {"name": "mul", "target": "aten.mul.Tensor", "args": [{"n": "relu"}, 2], "val": value}
    return {"insert": {**node, **record}, "before": "mm"}


def copy_of(name: Any, inputs: Any = None, **record: Any) -> dict[str, Any]:
    """The insertion of a copy of the node before ``mm``, with inputs replaced."""
    value = {"t": {"shape": [4, 4], "dtype": "float32", "device": "cpu"}}
    node = {"name": "copied", "copy": name, "inputs": inputs or {}, "val": value, **record}
    return {"insert": node, "before": "mm"}


def test_insert_replace_remove() -> None:
    gm = chain()
    find(gm, "relu").meta["nn_module_stack"] = {"act": ("act", nn.ReLU)}
    jointer.apply_recipe(
        gm,
        recipe(
            [
                insertion(like="relu", stack='  File "m.py", line 1, in f\n    x\n'),
                {"replace": "mm", "args": [{"n": "mul"}, {"n": "sigmoid"}]},
                {"replace": "add", "target": "aten.sub.Tensor"},
                {"replace": "output", "args": [{"tuple": [{"n": "mm"}, {"n": "add_"}]}]},
                {"remove": "add"},
                {"remove": "t"},
            ]
        ),
    )
    assert names(gm) == ["x_1", "y_1", "relu", "sigmoid", "mul", "mm", "add_", "output"]
    new = find(gm, "mul")
    assert new.meta["nn_module_stack"] == {"act": ("act", nn.ReLU)}
    assert new.meta["stack_trace"].startswith('  File "m.py"')
    assert new.meta["val"].shape == (4, 4)
    assert new.meta["val"].fake_mode is find(gm, "relu").meta["val"].fake_mode
    x, y = torch.randn(4, 4), torch.randn(4, 4)
    assert torch.equal(gm(x, y)[0], (x.relu() * 2) @ y.sigmoid())


def test_inputs_are_exchanged_simultaneously() -> None:
    gm = chain()
    swap = {"replace": "mm", "inputs": {"relu": "sigmoid", "sigmoid": "relu"}, "custom": {"a": 1}}
    output = {"replace": "output", "inputs": {"add": "t"}}
    jointer.apply_recipe(gm, recipe([swap, output, {"remove": "add"}]))
    x, y = torch.randn(4, 4), torch.randn(4, 4)
    product, transposed, _ = gm(x, y)
    assert torch.equal(product, y.sigmoid() @ x.relu())
    assert torch.equal(transposed, (y.sigmoid() + 1).t())
    assert find(gm, "mm").meta["custom"] == {"a": 1}


@pytest.mark.parametrize("start", [0, 128])
def test_other_arguments_stay_those_of_the_graph(start: int) -> None:
    """Constants differ from rank to rank: a vocab-parallel embedding subtracts its first index."""

    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.sub(x.relu() - start, y.sigmoid(), alpha=start + 1)

    gm = trace(function, torch.ones(3), torch.ones(3))
    value = {"t": {"shape": [3], "dtype": "float32", "device": "cpu"}}
    copy = {"name": "again", "copy": "sub", "inputs": {"relu": "sigmoid"}, "val": value}
    changes = [
        {"replace": "sub_1", "inputs": {"sigmoid": "again"}},
        {"replace": "sub", "inputs": {"relu": "x_1"}},
        {"insert": copy, "before": "sub_1"},
    ]
    jointer.apply_recipe(gm, recipe(changes[2:], changes[:2]))
    x, y = torch.randn(3), torch.randn(3)
    assert torch.equal(gm(x, y), torch.sub(x - start, y.sigmoid() - start, alpha=start + 1))


def test_annotations_are_replaced_and_restored() -> None:
    gm = chain()
    find(gm, "relu").meta["custom"] = {"module_fqn": "act"}
    mark = {"replace": "sigmoid", "custom": {"compile_with_inductor": {}}}
    jointer.apply_recipe(gm, recipe([mark, {"replace": "relu", "custom": None}]))
    assert find(gm, "sigmoid").meta["custom"] == {"compile_with_inductor": {}}
    assert "custom" not in find(gm, "relu").meta
    with pytest.raises(jointer.RecipeError, match="no annotations"):
        jointer.apply_recipe(
            gm, recipe([{"replace": "sigmoid", "custom": None}, {"replace": "output", "custom": {}}])
        )
    assert find(gm, "sigmoid").meta["custom"] == {"compile_with_inductor": {}}


def test_an_inserted_view_shares_its_storage() -> None:
    for gm in (chain(), load_document(encode_graph(chain()))):
        view = {"t": {"shape": [16], "dtype": "float32", "stride": [1], "storage": {"of": "relu"}}}
        change = insertion(target="aten.view.default", args=[{"n": "relu"}, [16]], val=view)
        jointer.apply_recipe(gm, recipe([change]))
        here, base = find(gm, "mul").meta["val"], find(gm, "relu").meta["val"]
        assert here.untyped_storage()._cdata == base.untyped_storage()._cdata
        records = {record["name"]: record for record in encode_graph(gm)["nodes"]}
        assert records["mul"]["val"]["t"]["storage"] == records["relu"]["val"]["t"]["storage"]


def test_storages_of_an_unknown_operator() -> None:
    """Properties that cannot be computed are taken from the record."""
    gm = load_document(encode_graph(chain()))
    tensor = {"shape": [2, 4], "dtype": "bfloat16", "device": "cpu"}
    value = {
        "list": [
            {"t": {**tensor, "storage": {"bytes": 64}}},
            {"t": {**tensor, "offset": 8, "storage": {"of": "mul"}}},
            {"t": {**tensor, "stride": [8, 1]}},
        ]
    }
    jointer.apply_recipe(gm, recipe([insertion(target="elsewhere.op.default", val=value)]))
    document = encode_graph(gm)
    record = next(r for r in document["nodes"] if r["name"] == "mul")
    storages = [each["t"]["storage"] for each in record["val"]["list"]]
    assert storages[0] == storages[1] != storages[2]
    assert [document["storages"][i] for i in storages] == [64, 64, 2 * (8 + 4)]


# Refusals.


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"move": ["mm"], "before": "relu"}, "mm reads relu and would come before it"),
        ({"move": ["relu"], "before": "output"}, "mm reads relu and would come before it"),
        ({"move": ["x_1"], "before": "mm"}, "x_1 is a placeholder: placeholders, constants and"),
        ({"move": ["output"], "before": "mm"}, "output is the output: placeholders, constants and"),
        ({"move": ["mm"], "before": "x_1"}, "x_1 is a placeholder: no node can be placed before it"),
        ({"move": ["mm"], "before": "mm"}, "mm cannot be moved before itself"),
        ({"move": ["mm", "mm"], "before": "add"}, "mm is listed twice among the nodes to move"),
        ({"move": ["gone"], "before": "add"}, "there is no node gone"),
        ({"move": ["mm"], "before": "gone"}, "there is no node gone"),
        (
            {"move": ["add_"], "before": "mm"},
            "add_ must stay after mm: one of them writes to memory that the other uses",
        ),
        ({"policy": "MUST_SAVE", "select": "gone"}, "`gone` selects nothing: no node has this name, and no call matches it"),
        ({"policy": "MUST_SAVE", "select": "x_1"}, "x_1 is a placeholder: only calls have a policy"),
        ({"policy": "MUST_FLY", "select": "mm"}, "has no memory policy 'MUST_FLY'"),
        (insertion(name="mm"), "mm cannot be inserted: a node with that name already exists"),
        (insertion(name="not a name"), "`not a name` is not a valid name for a node"),
        (insertion(name="while"), "`while` is not a valid name for a node"),
        (insertion(op="get_attr"), "no other node reads the constant aten.mul.Tensor"),
        (insertion(target="elsewhere.op"), "does not have; import the module that registers it"),
        (insertion(target=None), "mul has no target"),
        (insertion(args=[{"n": "gone"}]), "there is no node gone"),
        (insertion(args=[{"n": "add"}]), "mul reads add and would come before it"),
        (insertion(args=[{"what": 1}]), "argument of unknown kind 'what'"),
        (insertion(args=7), "the arguments of mul are not a list"),
        (insertion(kwargs={"a b": 1}), "the keyword arguments of mul are damaged"),
        (
            insertion(val={"t": {"shape": [4, 5], "dtype": "float32"}}),
            "mul would return float32[4,4], but the recipe records float32[4,5]",
        ),
        ({"remove": "relu"}, "relu cannot be removed: mm and 1 more read it"),
        ({"remove": "x_1"}, "x_1 is a placeholder: only calls and constants can be removed"),
        ({"replace": "x_1", "args": []}, "x_1 is a placeholder: it has no call to replace"),
        ({"replace": "output", "target": "aten.mm.default"}, "output is the output: only its arguments can be replaced"),
        ({"replace": "mm", "args": [{"n": "add"}, 1]}, "mm reads add and would come before it"),
        (
            {"replace": "mm", "inputs": {"relu": "sigmoid", "t": "relu"}},
            "mm does not read t, so relu cannot replace it",
        ),
        ({"replace": "mm", "inputs": {"gone": "t"}}, "mm does not read gone"),
        (
            {"replace": "mm", "inputs": {"relu": "gone"}},
            "there is no node gone to replace relu",
        ),
        ({"replace": "mm", "inputs": {"relu": "add"}}, "mm reads add and would come before it"),
        ({"replace": "x_1", "inputs": {"relu": "add"}}, "x_1 is a placeholder: it has no call to replace"),
        (insertion(copy="relu"), "`copy` cannot be used together with `op`, `target`, `args` or `kwargs`"),
        (copy_of("relu", op="call_function"), "`copy` cannot be used together with `op`, `target`, `args` or `kwargs`"),
        (insertion(inputs={"relu": "sigmoid"}), "`inputs` needs `copy`"),
        (insertion(inputs={}), "`inputs` needs `copy`"),
        (copy_of("gone"), "`copy` names gone, but there is no such node"),
        (copy_of(7), "`copy` names 7, but there is no such node"),
        (copy_of("output"), "copied is the output: only calls and constants can be inserted"),
        (copy_of("mm", {"t": "relu"}), "mm does not read t, so relu cannot replace it"),
        (copy_of("mm", {"relu": "gone"}), "there is no node gone to replace relu"),
    ],
)
def test_refuses(change: Any, why: str) -> None:
    assert why in refusal(chain(), recipe([change]))


def test_a_constant_does_not_move() -> None:
    table = torch.ones(4)
    gm = trace(lambda x: (x.relu() + table, x.sin()), torch.ones(4), mode="real")
    (constant,) = [node.name for node in gm.graph.find_nodes(op="get_attr")]
    message = refusal(gm, recipe([{"move": [constant], "before": "sin"}]))
    assert f"{constant} is a constant: placeholders, constants and outputs stay where they are" in message


@pytest.mark.parametrize("inputs", [{"relu": ["x_1"]}, {"relu": None}, {"relu": 7}, ["relu"], 7])
def test_damaged_inputs_of_a_copy_are_undone(inputs: Any) -> None:
    moved = [{"move": ["sigmoid"], "before": "relu"}]
    message = refusal(chain(), recipe(moved, [copy_of("mm", inputs)]))
    assert message.endswith("`inputs`: expected an object with a node name for each input")


@pytest.mark.parametrize("kind", [KeyError, KeyboardInterrupt])
def test_any_exception_undoes_all(kind: type[BaseException], monkeypatch: Any) -> None:
    def fail(editor: Any, change: Any) -> None:
        raise kind("broken")

    monkeypatch.setattr("jointer.graph_editor.GraphEditor._remove", fail)
    gm = chain()
    before = state(gm)
    moved = [{"move": ["sigmoid"], "before": "relu"}]
    with pytest.raises(kind, match="broken"):
        jointer.apply_recipe(gm, recipe(moved, [{"remove": "add"}]))
    assert state(gm) == before
    gm.graph.lint()


def test_random_operators_keep_their_order() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.rand_like(x) + torch.rand_like(x)

    gm = trace(function, torch.ones(3))
    assert "rand_like_1 must stay after rand_like: their effects must keep their order" in refusal(
        gm, recipe([{"move": ["rand_like_1"], "before": "rand_like"}])
    )
    # The order is not checked for a recipe that was made on exactly this graph.
    jointer.apply_recipe(gm, recipe([{"move": ["rand_like_1"], "before": "rand_like"}], of=gm))
    assert names(gm)[1] == "rand_like_1"


def test_everything_is_undone() -> None:
    """A refusal in the last edit undoes all earlier ones and restores the nodes that they replaced.
    """
    message = refusal(
        chain(),
        recipe(
            [{"move": ["sigmoid"], "before": "relu"}, {"policy": "MUST_SAVE", "select": "add"}],
            [{"replace": "output", "args": [{"tuple": [{"n": "mm"}]}]}, {"remove": "add"}],
            [{"move": ["mm"], "before": "t"}, {"remove": "t"}, insertion(name="t")],
            [{"replace": "mm", "args": [{"n": "t"}, {"n": "t"}]}],
            [{"replace": "mm", "inputs": {"t": "relu"}}],
            {"title": "The last", "changes": [{"remove": "add_"}, {"remove": "gone"}]},
        ),
    )
    assert "edit 5 (The last), change 1: there is no node gone" in message


def test_names_the_first_difference() -> None:
    gm = chain()
    document = recipe([{"move": ["t"], "before": "mm"}], of=gm)
    document["expects"] = {"mm": "aten.mm.default(%relu,%sigmoid) -> float32[4,4]"}
    find(gm, "mm").args = (find(gm, "relu"), find(gm, "relu"))
    message = refusal(gm, document)
    assert "the recipe was made for another graph: node 4, mm: the arguments differ" in message
    assert "; the recorded call is aten.mm.default(%relu,%sigmoid) -> float32[4,4]" in message
    assert "; capture the graph again and open the recipe on it, or replay with lenient" in message


# Skipped edits.


def test_lenient() -> None:
    gm = chain()
    document = recipe(
        {
            "title": "Some",
            "changes": [
                {"move": ["t"], "before": "mm"},
                {"move": ["gone"], "before": "mm"},
                {"policy": "MUST_SAVE", "select": "sigmoid"},
                {"policy": "MUST_SAVE", "select": "relu"},
            ],
        },
        {"title": "All", "changes": [insertion(), {"remove": "gone"}]},
        {"title": "None", "changes": [{"move": ["add"], "before": "relu"}]},
        of=gm,
        expects={"sigmoid": "aten.tanh.default(%y_1) -> float32[4,4]"},
    )
    find(gm, "mm").args = (find(gm, "relu"), find(gm, "relu"))
    report = jointer.apply_recipe(gm, document, lenient=True)
    assert names(gm)[4:6] == ["t", "mm"]
    assert "mul" not in names(gm)
    assert "recompute" in find(gm, "relu").meta
    assert "recompute" not in find(gm, "sigmoid").meta
    assert report.applied == ["Some"]
    assert [(each.edit, each.change) for each in report.skipped] == [
        (0, 1),
        (0, 2),
        (1, None),
        (2, 0),
    ]
    text = str(report)
    assert "differs from the recorded one: node 4, mm" in text
    assert (
        "edit 0, change 2 (Some): sigmoid calls aten.sigmoid.default here, but aten.tanh.default in "
        "the recorded graph"
    ) in text
    assert "edit 1 (All): there is no node gone" in text
    gm.graph.lint()


@pytest.mark.parametrize("half", ["", "forward:"])
def test_lenient_skips_a_copy_of_another_operator(half: str) -> None:
    gm = chain()
    expects = {f"{half}relu": "aten.tanh.default(%x_1) -> float32[4,4]"}
    copy = copy_of("relu")
    copy["before"] = f"{half}mm"
    other = {"graphs": {half[:-1]: {"hash": "0" * 64}}} if half else {}
    report = jointer.apply_recipe(gm, recipe([copy], expects=expects, **other), lenient=True)
    assert "copied" not in names(gm)
    assert [each.reason for each in report.skipped] == [
        f"{half}relu calls aten.relu.default here, but aten.tanh.default in the recorded graph"
    ]


def test_lenient_skips_places_at_another_operator() -> None:
    gm = chain()
    expects = {"mm": "aten.bmm.default(%relu,%sigmoid) -> float32[4,4]"}
    document = recipe([insertion()], [{"move": ["t"], "before": "mm"}], expects=expects)
    report = jointer.apply_recipe(gm, document, lenient=True)
    assert names(gm) == ORDER
    assert {each.reason for each in report.skipped} == {
        "mm calls aten.mm.default here, but aten.bmm.default in the recorded graph"
    }


def test_reports_a_different_final_graph() -> None:
    gm = chain()
    document = recipe([{"move": ["t"], "before": "mm"}], of=gm)
    document["graphs"]["graph"]["after"] = "0" * 64
    report = jointer.apply_recipe(gm, document)
    assert report.as_recorded is False
    assert "the resulting graph is not the recorded one" in str(report)
    document["graphs"]["graph"] |= {"hash": report.hash, "after": report.hash}
    assert jointer.apply_recipe(gm, {**document, "edits": []}).as_recorded is True


# Files.


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", 'not a recipe: expected `format` to be "jointer-recipe"'),
        ("{", "invalid JSON near byte 1; is the file truncated or damaged?"),
        ("\udcff", "byte 0 is not UTF-8 text"),
        ("[" * 100_000, "nested too deep"),
        ('{"format": "jointer-recipe", "version": 3}', "recipe version 3 is not supported: this program reads versions 1 to 2"),
        ('{"format": "jointer-recipe", "version": 0}', "recipe version 0 is not supported: this program reads versions 1 to 2"),
        ('{"format": "jointer-recipe", "version": true}', "`version` is missing or not an integer"),
        ('{"format": "jointer-recipe", "version": 1}', "`edits` is missing or not a list"),
    ],
)
def test_invalid_files(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(RecipeError) as caught:
        jointer.apply_recipe(chain(), path)
    assert str(caught.value).startswith(f"{path}: ")
    assert why in str(caught.value)
    with pytest.raises(RecipeError):
        jointer.recipe_pass(path)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ({"edits": [7]}, "edit 0: expected an object"),
        ({"edits": [{}]}, "edit 0: `changes`: expected a list"),
        ({"edits": [{"title": 7, "changes": []}]}, "edit 0: `title`: expected a string"),
        ({"graphs": 7}, "`graphs`: expected an object"),
        ({"graphs": {"graph": 7}}, "graphs, graph: expected an object"),
        ({"graphs": {"graph": {}}}, "graphs, graph: `hash` is missing"),
        ({"graphs": {"graph": {"hash": "", "groups": {"a": 7}}}}, "`groups`, a: expected the name"),
        (
            {"fingerprints": {"graph": 7}, "graphs": {"graph": {"hash": ""}}},
            "fingerprints, graph: expected a list of strings",
        ),
        ({"expects": {"mm": 7}}, "expects, mm: expected a string"),
    ],
)
def test_damaged(damage: Any, why: str) -> None:
    message = refusal(chain(), {**recipe([]), **damage})
    assert message.startswith("recipe: ") and why in message


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (7, "expected an object"),
        ({}, "not a known change (move, policy, insert, remove, replace); use a newer Jointer"),
        ({"teleport": "mm"}, "not a known change (move, policy, insert, remove, replace); use"),
        ({"move": "mm", "before": "t"}, "`move`: expected a list of strings"),
        ({"move": [7], "before": "t"}, "`move`: expected a list of strings"),
        ({"move": ["t"]}, "`before` is missing"),
        ({"move": ["t"], "before": 7}, "`before`: expected a string"),
        ({"insert": [], "before": "t"}, "`insert`: expected an object"),
        ({"remove": 7}, "`remove`: expected a string"),
        ({"policy": 7, "select": "t"}, "`policy`: expected a string or null"),
        ({"policy": "MUST_SAVE"}, "`select` is missing"),
        ({"policy": "MUST_SAVE", "select": []}, "`select`: expected at least one node"),
        ({"policy": "MUST_SAVE", "select": ["t", 1]}, "`select`: expected a list of strings"),
        (
            {"policy": None, "select": "t", "ac_graph_id": "0"},
            "`ac_graph_id`: expected an integer or null",
        ),
        (
            {"replace": "mm", "inputs": {}},
            "`inputs`: expected an object with a node name for each input",
        ),
        (
            {"replace": "mm", "inputs": ["relu"]},
            "`inputs`: expected an object with a node name for each input",
        ),
        ({"replace": "mm", "inputs": {"relu": 7}}, "`inputs`, relu: expected a string"),
        (
            {"replace": "mm", "inputs": {"relu": "t"}, "args": []},
            "`inputs` and `args` cannot be used together",
        ),
    ],
)
def test_damaged_changes(change: Any, why: str) -> None:
    """Errors have the same words as in the desktop and the command line, which read the same files."""
    message = refusal(chain(), {**recipe([]), "edits": [{"changes": [change]}]})
    assert message.startswith(f"recipe: edit 0, change 0: {why}")


def test_unknown_keys_are_ignored() -> None:
    gm = chain()
    document = recipe(
        {"changes": [{"move": ["t"], "before": "mm", "why": "faster"}], "color": "blue"}, of=gm
    )
    assert jointer.apply_recipe(gm, {**document, "of": "the future"}).skipped == []


# As a pass.


def pair() -> tuple[fx.GraphModule, fx.GraphModule]:
    """A forward and a backward graph."""
    gm = joint_of(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)), torch.ones(2, 4))
    return default_partition(gm, [None], num_fwd_outputs=1)


def pair_recipe(**more: Any) -> tuple[dict[str, Any], str, str]:
    """Moves the last call of each half as early as its inputs allow; also returns their names."""
    forward, backward = pair()
    last = {}
    for half, gm in (("forward", forward), ("backward", backward)):
        calls = [n for n in gm.graph.nodes if n.op == "call_function"]
        last[half] = next(
            n for n in calls[1:] if all(i.op == "placeholder" for i in n.all_input_nodes)
        )
        last[half + " first"] = calls[0]
    changes = [
        {
            "move": [f"{half}:{last[half].name}"],
            "before": f"{half}:{last[half + ' first'].name}",
        }
        for half in ("forward", "backward")
    ]
    document = recipe(changes, changes[1:], **more)
    document["graphs"] = {
        "forward": {"hash": jointer.graph_hash(forward)},
        "backward": {"hash": jointer.graph_hash(backward)},
    }
    return document, last["forward"].name, last["backward"].name


def test_pass_recognizes_the_halves(tmp_path: Path) -> None:
    document, first, second = pair_recipe()
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(document))
    graph_pass = jointer.recipe_pass(path)
    for gm, name, elsewhere in zip(pair(), (first, second), (1, 0), strict=True):
        assert graph_pass(gm, []) is gm
        calls = [n.name for n in gm.graph.nodes if n.op == "call_function"]
        assert calls[0] == name
        assert graph_pass.reports[-1].elsewhere == elsewhere
    assert [each.graph for each in graph_pass.reports] == ["forward", "backward"]
    with pytest.raises(RecipeError, match=r"the recipe was made for another graph \(backward\)"):
        graph_pass(gm, [])


def test_pass_skips_a_half_without_edits() -> None:
    document, _, _ = pair_recipe()
    del document["graphs"]["forward"], document["edits"][0]
    forward, _ = pair()
    before = names(forward)
    jointer.recipe_pass(document)(forward)
    assert names(forward) == before


def test_pass_of_halves_refuses_a_joint_graph() -> None:
    document, _, _ = pair_recipe()
    gm = joint_of(nn.Linear(4, 4), torch.ones(2, 4))
    assert "edits the forward and backward of a partitioned pair, but this graph is a joint" in (
        refusal(gm, document)
    )


# Random edits.


def random_moves(gm: fx.GraphModule, random: Random, count: int) -> list[dict[str, Any]]:
    """Moves of random nodes to random positions, legal or not."""
    calls = [n.name for n in gm.graph.nodes if n.op == "call_function"]
    return [
        {"move": random.sample(calls, random.randint(1, 3)), "before": random.choice(calls)}
        for _ in range(count)
    ]


@pytest.mark.parametrize("make", [chain, lambda: pair()[1]], ids=["chain", "backward"])
def test_random_moves(make: Callable[[], fx.GraphModule]) -> None:
    """Whatever is requested, the graph stays valid, and a refused edit leaves it unchanged."""
    random = Random(5)
    gm = make()
    done = 0
    for _ in range(300):
        before = state(gm)
        try:
            jointer.apply_recipe(gm, recipe(random_moves(gm, random, random.randint(1, 2))))
            done += 1
        except RecipeError:
            assert state(gm) == before
        gm.graph.lint()
    assert done > 20
