"""``jointer apply`` and ``jointer diff``: recipes are replayed, and graphs are compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, refused, run, sample
from documents import at, capture, half, n, node, tensor, write

FIGURES = {
    "nodes", "peak_bytes", "step_ms", "communication_ms", "exposed_ms", "hidden_count",
    "collective_count",
}  # fmt: skip


def recipe(*changes: dict[str, Any], title: str = "by hand") -> dict[str, Any]:
    return {
        "format": "jointer-recipe",
        "version": 1,
        "edits": [{"title": title, "changes": list(changes)}],
    }


def order(path: Path) -> list[str]:
    return [record["name"] for record in json.loads(path.read_text())["nodes"]]


def test_apply_replays_and_writes(tmp_path: Path) -> None:
    graph = write(tmp_path / "a.json", capture())
    edits = write(tmp_path / "r.json", recipe(
        {"move": ["t"], "before": "mm"},
        {"policy": "MUST_RECOMPUTE", "select": "aten.cat"},
    ))  # fmt: skip
    out = tmp_path / "b.json"
    answer = run("apply", graph, "--recipe", edits, "-o", out, "--json").json
    assert answer["before"].keys() == answer["after"].keys() == FIGURES
    assert [edit["title"] for edit in answer["edits"]] == ["by hand"]
    assert answer["skipped"] == [] and answer["ends_as_recorded"] is None
    written = json.loads(out.read_text())
    assert order(out) == ["primals_1", "primals_2", "cat", "t", "mm", "ar", "wait", "output"]
    assert at(written, "cat")["recompute"] == "MUST_RECOMPUTE"
    people = run("apply", graph, "--recipe", edits)
    assert people.code == 0 and "by hand" in people.out and "peak memory" in people.out


def test_apply_without_passes_and_a_recipe_converts(tmp_path: Path) -> None:
    text, out = tmp_path / "a.txt", tmp_path / "b.json"
    graph = write(tmp_path / "a.json", capture())
    assert run("export", graph, "--format", "fx-text", "-o", text).code == 0
    answer = run("apply", text, "-o", out, "--json").json
    assert answer["passes"] == [] and answer["before"] == answer["after"]
    assert order(out) == order(graph)
    assert run("diff", text, out).code == 0
    assert order(Path(graph)) == [each["name"] for each in json.loads(run("apply", text, "-o", "-").out)["nodes"]]


def test_apply_refuses_in_one_line_and_writes_nothing(tmp_path: Path) -> None:
    graph = write(tmp_path / "a.json", capture())
    out = tmp_path / "b.json"

    def recipe_refused(document: dict[str, Any], *words: str) -> None:
        edits = write(tmp_path / "r.json", document)
        refused(run("apply", graph, "--recipe", edits, "-o", out), "r.json", *words)
        assert not out.exists()

    recipe_refused(recipe({"move": ["mm"], "before": "cat"}), "mm reads", "would come before it")
    recipe_refused(recipe({"move": ["primals_1"], "before": "mm"}), "primals_1 is a placeholder")
    recipe_refused(recipe({"remove": "cat"}), "cat cannot be removed: mm reads it")
    other = recipe({"move": ["t"], "before": "mm"})
    other["graphs"] = {"graph": {"hash": "0" * 64}}
    recipe_refused(other, "made for another graph")


def test_apply_says_where_a_recipe_is_damaged(tmp_path: Path) -> None:
    graph = write(tmp_path / "a.json", capture())
    for text, words in (
        (b"{", ["byte"]),
        (b"[]", ["object"]),
        (json.dumps(recipe() | {"version": 3}).encode(), ["version 3", "newer"]),
        (json.dumps(recipe({"fuse": []})).encode(), ["edit 0, change 0"]),
    ):
        edits = write(tmp_path / "r.json", text)
        done = run("apply", graph, "--recipe", edits)
        assert (done.code, done.out) == (3, ""), done
        assert done.err.count("\n") == 1 and "r.json" in done.err
        for word in words:
            assert word in done.err, done.err


def test_a_recipe_that_does_not_fit_names_the_option_that_replays_it(tmp_path: Path) -> None:
    graph = write(tmp_path / "a.json", capture())
    edits = write(tmp_path / "r.json", recipe({"move": ["mm"], "before": "cat"}))
    done = run("apply", graph, "--recipe", edits)
    assert done.code == 2 and done.err.endswith("; --lenient skips changes that do not fit\n"), done.err


def test_lenient_skips_and_reports(tmp_path: Path) -> None:
    graph = write(tmp_path / "a.json", capture())
    edits = write(tmp_path / "r.json", recipe(
        {"move": ["mm"], "before": "cat"}, {"move": ["t"], "before": "mm"},
    ))  # fmt: skip
    out = tmp_path / "b.json"
    answer = run("apply", graph, "--recipe", edits, "-o", out, "--lenient", "--json").json
    (skipped,) = answer["skipped"]
    assert skipped["edit"] == 0 and "mm reads" in skipped["why"]
    assert order(out).index("t") == 3


def test_skipped_changes_may_have_a_limit(tmp_path: Path) -> None:
    graph = write(tmp_path / "a.json", capture())
    edits = write(tmp_path / "r.json", recipe(
        {"move": ["mm"], "before": "cat"}, {"move": ["t"], "before": "mm"},
    ))  # fmt: skip
    out = tmp_path / "b.json"
    arguments = ["apply", graph, "--recipe", edits, "-o", out, "--lenient", "--max-skipped"]
    assert run(*arguments, 1).code == 0
    done = run(*arguments, 0)
    assert done.code == 1 and out.exists() and "skipped in edit 0" in done.out
    assert done.err == "jointer: 1 change was skipped, but --max-skipped is 0\n"
    json.loads(run(*arguments, 0, "--json").out)
    refused(run("apply", graph, "--recipe", edits, "--max-skipped", "0"), "--lenient")


def test_diff_of_the_same_is_empty() -> None:
    answer = run("diff", JOINT, JOINT, "--json").json
    assert answer["equal"] is True
    assert answer["nodes"] == {key: [] for key in answer["nodes"]}
    assert all(a == b for a, b in answer["metrics"].values())
    assert "same" in run("diff", JOINT, JOINT).out
    for other in (JOINT, sample("llama_debug_tp2.joint")):
        assert "\n\n\n" not in run("diff", JOINT, other).out, "one blank line between sections"


def test_diff_names_what_differs(tmp_path: Path) -> None:
    a, b = capture(), capture()
    nodes = b["nodes"]
    nodes.insert(3, nodes.pop(2))  # t after cat
    at(b, "cat")["args"] = [[n("primals_2"), n("primals_2")], 0]
    at(b, "mm")["recompute"] = "PREFER_SAVE"
    value = tensor(3, {"sym": "s0", "hint": 8}, 8)
    nodes.insert(-1, node("relu", "call_function", "aten.relu.default", [n("wait")], value))
    first = write(tmp_path / "a.json", a)
    second = write(tmp_path / "b.json", b)
    done = run("diff", first, second, "--json")
    assert done.code == 1 and done.err == ""
    answer = json.loads(done.out)
    assert answer["equal"] is False and answer["hash"][0] != answer["hash"][1]
    assert answer["nodes"]["added"] == ["relu"]
    assert answer["nodes"]["removed"] == []
    assert answer["nodes"]["changed"] == ["cat"]
    assert answer["nodes"]["retagged"] == ["mm"]
    assert len(answer["nodes"]["moved"]) == 1
    assert answer["metrics"]["nodes"] == [8, 9]
    people = run("diff", first, second)
    assert people.code == 1
    for word in ("moved 1 of 8", "added 1", "changed 1", "different policy 1", "peak memory"):
        assert word in people.out


def test_diff_shows_regions_that_differ(tmp_path: Path) -> None:
    a, b = capture(), capture()
    at(a, "mm")["ac_graph_id"] = 0
    at(a, "cat")["recompute"] = "MUST_RECOMPUTE"
    first, second = write(tmp_path / "a.json", a), write(tmp_path / "b.json", b)
    found = json.loads(run("diff", first, second, "--json").out)
    assert found["nodes"]["retagged"] == ["cat", "mm"]
    assert found["retags"] == [
        {"node": "cat", "before": {"policy": "MUST_RECOMPUTE", "region": None},
         "after": {"policy": "none", "region": None}},
        {"node": "mm", "before": {"policy": "MUST_SAVE", "region": 0},
         "after": {"policy": "MUST_SAVE", "region": None}},
    ]  # fmt: skip
    lines = [line.split() for line in run("diff", first, second).out.splitlines()]
    assert ["mm", "MUST_SAVE,", "region", "0", "MUST_SAVE,", "no", "region"] in lines
    assert ["cat", "MUST_RECOMPUTE", "none"] in lines


def renumbered(document: dict[str, Any]) -> dict[str, Any]:
    """The same graph with other names, except for the output's."""
    names = {each["name"]: each["name"] + "_9" for each in document["nodes"] if each["op"] != "output"}

    def rename(value: Any) -> Any:
        if isinstance(value, list):
            return [rename(each) for each in value]
        if not isinstance(value, dict):
            return value
        if value.keys() == {"n"}:
            return n(names[value["n"]])
        return {
            key: names.get(each, each) if key in ("name", "origin") else rename(each)
            for key, each in value.items()
        }

    changed: dict[str, Any] = rename(document)
    for record in changed["nodes"]:
        if record["op"] == "placeholder":
            record["target"] = record["name"]
    return changed


def test_diff_ignores_names_on_request(tmp_path: Path) -> None:
    first = write(tmp_path / "a.json", capture())
    second = write(tmp_path / "b.json", renumbered(capture()))
    assert run("diff", first, second).code == 1
    done = run("diff", first, second, "--ignore-names")
    assert done.code == 0, done.out
    assert "The same 8 nodes in the same order; 7 have different names." in done.out
    found = run("diff", first, second, "--ignore-names", "--json").json
    assert found["equal"] is True
    assert {"before": "mm", "after": "mm_9"} in found["renamed"]
    refused = run("diff", first, second, "--ignore-names", "--save-recipe", tmp_path / "r.json")
    assert refused.code == 2


def test_diff_without_names_says_what_else_differs(tmp_path: Path) -> None:
    b = renumbered(capture())
    nodes = b["nodes"]
    nodes.insert(3, nodes.pop(2))  # t after cat
    at(b, "mm_9")["val"]["t"]["stride"] = [16, 1]
    value = tensor(3, {"sym": "s0", "hint": 8}, 8)
    nodes.insert(-1, node("relu", "call_function", "aten.relu.default", [n("wait_9")], value))
    first, second = write(tmp_path / "a.json", capture()), write(tmp_path / "b.json", b)
    found = json.loads(run("diff", first, second, "--ignore-names", "--json").out)
    assert found["nodes"]["added"] == ["relu"] and found["nodes"]["removed"] == []
    assert len(found["nodes"]["moved"]) == 1 and found["nodes"]["changed"] == ["mm_9"]
    people = run("diff", first, second, "--ignore-names")
    assert people.code == 1 and "mm_9 (A: mm)  stride [8,1]" in people.out, people.out


def test_a_model_whose_nodes_are_numbered_differently_is_the_same(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    assert run("apply", JOINT, "--passes", "apply_sac", "-o", first).code == 0
    document = json.loads(first.read_text())
    write(second, renumbered(document))
    assert run("diff", first, second).code == 1
    found = run("diff", first, second, "--ignore-names", "--json").json
    assert found["equal"] is True and found["common"] == len(document["nodes"])


def test_diff_shows_how_calls_with_the_same_text_differ(tmp_path: Path) -> None:
    a, b = capture(), capture()
    at(b, "primals_1")["val"]["t"]["offset"] = 16
    at(b, "wait")["val"]["t"]["stride"] = [1, 8]
    first = write(tmp_path / "a.json", a)
    second = write(tmp_path / "b.json", b)
    done = run("diff", first, second, "--json")
    assert done.code == 1, done
    changes = {change["node"]: change for change in json.loads(done.out)["changes"]}
    assert all(change["before"] == change["after"] for change in changes.values())
    assert changes["primals_1"]["details"] == [{"part": "offset", "before": "0", "after": "16"}]
    assert changes["wait"]["details"] == [
        {"part": "stride", "before": "[8,1]", "after": "[1,8]"}
    ]
    rows = [" ".join(line.split()) for line in run("diff", first, second).out.splitlines()]
    assert "primals_1 offset 0 offset 16" in rows
    assert "wait stride [8,1] stride [1,8]" in rows


def test_the_difference_as_a_recipe_replays(tmp_path: Path) -> None:
    a, b = capture(), capture()
    b["nodes"].insert(3, b["nodes"].pop(2))
    first = write(tmp_path / "a.json", a)
    second = write(tmp_path / "b.json", b)
    edits = tmp_path / "r.json"
    assert run("diff", first, second, "--save-recipe", edits).code == 1
    out = tmp_path / "c.json"
    answer = run("apply", first, "--recipe", edits, "-o", out, "--json").json
    assert answer["ends_as_recorded"] is True
    assert run("diff", second, out).code == 0


def test_a_recipe_applies_on_another_rank(tmp_path: Path) -> None:
    """The other rank's collectives are in a group with a different name, and its constants differ."""
    first, other = capture(), capture()
    other["groups"] = {"7": other["groups"]["0"]}
    at(other, "ar")["args"][2] = "7"
    twin = {"replace": "ar", "args": [n("mm"), "sum", "0_extra"]}
    made, wanted = write(tmp_path / "a.json", first), tmp_path / "b.json"
    assert run("apply", made, "--recipe", write(tmp_path / "h.json", recipe(twin)), "-o", wanted).code == 0
    edits, out = tmp_path / "r.json", tmp_path / "c.json"
    assert run("diff", made, wanted, "--save-recipe", edits).code == 1
    assert json.loads(edits.read_text())["graphs"]["graph"]["groups"] == {"0": "ar"}
    here = write(tmp_path / "o.json", other)
    answer = run("apply", here, "--recipe", edits, "-o", out, "--json").json
    said = "the graph differs from the recorded one only in rank-specific constants, first at node 5, ar"
    assert answer["other_rank"] == said and answer["ends_as_recorded"] is True
    assert at(json.loads(out.read_text()), "ar")["args"][2] == "7_extra"
    assert f"\n{said}\n" in run("apply", here, "--recipe", edits).out
    assert run("apply", made, "--recipe", edits, "--json").json["other_rank"] is None

    at(other, "cat")["args"][1] = 0  # of all that the edit replaces, nothing is lost
    assert run("apply", write(here, other), "--recipe", edits).code == 0
    compared = run("diff", made, here, "--json")
    assert compared.code == 1 and json.loads(compared.out)["other_rank"] is True
    assert "differs only in rank-specific constants" in run("diff", made, here).out
    at(other, "cat")["val"]["t"]["dtype"] = "float16"
    refused(run("apply", write(here, other), "--recipe", edits), "made for another graph")
    assert json.loads(run("diff", made, here, "--json").out)["other_rank"] is False


def test_groups_that_are_objects_get_the_names_of_the_rank(tmp_path: Path) -> None:
    """The hash does not cover their names, so both ranks have the same."""

    def rank(group: str) -> dict[str, Any]:
        graph = capture()
        graph["groups"] = {group: graph["groups"]["0"]}
        at(graph, "ar")["args"][2] = {"opaque": "ProcessGroup", "repr": group}
        return graph

    record = {"name": "more", "target": "_c10d_functional.all_reduce.default",
              "args": [n("mm"), "sum", {"opaque": "ProcessGroup", "repr": "0"}], "like": "ar",
              "val": {"t": {"shape": [{"sym": "s0", "hint": 8}, 8], "dtype": "float32", "device": "cuda:0"}}}
    by_hand = write(tmp_path / "h.json", recipe({"insert": record, "before": "output"}))
    first, other = (write(tmp_path / f"{group}.json", rank(group)) for group in ("0", "7"))
    made, edits, out = (tmp_path / each for each in ("b.json", "r.json", "c.json"))
    assert run("apply", first, "--recipe", by_hand, "-o", made).code == 0
    assert run("diff", first, made, "--save-recipe", edits).code == 1
    answer = run("apply", other, "--recipe", edits, "-o", out, "--json").json
    assert answer["other_rank"] is None and answer["ends_as_recorded"] is True
    assert at(json.loads(out.read_text()), "more")["args"][2]["repr"] == "7"


def test_a_recipe_without_edits_is_for_one_graph(tmp_path: Path) -> None:
    first = write(tmp_path / "a.json", capture())
    forward = write(tmp_path / "fw.json", half("forward"))
    backward = write(tmp_path / "bw.json", half("backward"))
    edits = tmp_path / "r.json"
    assert run("diff", first, first, "--save-recipe", edits).code == 0
    assert run("apply", first, "--recipe", edits).code == 0
    refused(run("apply", forward, "--recipe", edits), "made for another graph: node")

    pair = ("diff", forward, forward, "--backward", backward, "--b-backward", backward)
    assert run(*pair, "--save-recipe", edits).code == 0
    assert list(json.loads(edits.read_text())["graphs"]) == ["forward", "backward"]
    assert run("apply", forward, "--backward", backward, "--recipe", edits).code == 0
    assert run("apply", backward, "--recipe", edits).code == 0
    for lenient in ([], ["--lenient"]):
        done = run("apply", first, "--recipe", edits, *lenient)
        assert done.code == 2 and done.err.endswith("; open the pair or one of its halves\n"), done.err

    passes = ("apply", first, "--passes", "eliminate_dead_code", "--save-recipe", edits)
    assert run(*passes).code == 0
    saved = json.loads(edits.read_text())
    assert list(saved["graphs"]) == ["graph"] and saved["fingerprints"]["graph"]


def test_pairs(tmp_path: Path) -> None:
    forward = write(tmp_path / "fw.json", half("forward"))
    backward = write(tmp_path / "bw.json", half("backward"))
    edits = write(tmp_path / "r.json", recipe(
        {"policy": "MUST_SAVE", "select": "backward:grad"}))  # fmt: skip
    out = tmp_path / "pair.json"
    pair = ("apply", forward, "--backward", backward, "--recipe", edits, "-o", out)
    assert run(*pair).code == 0
    assert at(json.loads(out.read_text())["backward"], "grad")["recompute"] == "MUST_SAVE"
    done = run("diff", forward, "--backward", backward, out, "--json")
    assert done.code == 1
    assert json.loads(done.out)["nodes"]["retagged"] == ["backward:grad"]
    both = run("diff", forward, forward, "--backward", backward, "--b-backward", backward)
    assert both.code == 0
    refused(run("diff", forward, forward, "--backward", backward), "a single graph")


def test_a_real_pair_is_unchanged_by_an_empty_recipe(tmp_path: Path) -> None:
    edits = write(tmp_path / "r.json", recipe())
    path = sample("llama_debug_fsdp2.min_cut")
    out = tmp_path / "b.json.zst"
    assert run("apply", path, "--recipe", edits, "-o", out).code == 0
    assert run("diff", path, out).code == 0


@pytest.mark.parametrize("arguments", [["apply", JOINT], ["diff", JOINT]])
def test_usage(arguments: list[object]) -> None:
    refused(run(*arguments))


# --- A log of passes ---


def log_of_passes(tmp_path: Path) -> Path:
    """A TORCH_TRACE log of a trainer that logs the graph before and after its pass, as torch writes
    it.
    """
    head = "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4][1]cpu\"):\n"
    sin = '        sin: "f32[4][1]cpu" = torch.ops.aten.sin.default(x)\n'
    cos = '        cos: "f32[4][1]cpu" = torch.ops.aten.cos.default(x)\n'
    before, after = f"{head}{sin}{cos}        return (cos,)", f"{head}{cos}        return (cos,)"
    lines = []
    for name, graph in (
        ("make_fx_graph_traced", before),
        ("before_eliminate_dead_code_pass", before),
        ("after_eliminate_dead_code_pass", after),
    ):
        entry = json.dumps({"artifact": {"name": name, "encoding": "string"}, "rank": 0})
        lines.append(f"V1121 02:41:50.572000 17297 graph_trainer/debug_utils.py:121] {entry}")
        lines += [f"\t{line}" for line in graph.splitlines()]
    path = tmp_path / "trace.log"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_graph_of_a_log_compared_with_the_one_before(tmp_path: Path) -> None:
    log = log_of_passes(tmp_path)
    listed = json.loads(run("info", log, "--json").out)["graphs"]
    assert [each["name"] for each in listed] == [
        "rank 0, make_fx_graph_traced",
        "rank 0, before_eliminate_dead_code_pass",
        "rank 0, after_eliminate_dead_code_pass",
    ]
    assert [each.get("before") for each in listed] == [None, 0, 1]
    done = run("diff", log, "--graph", "2", "--json")
    assert done.code == 1, done.err
    assert json.loads(done.out)["nodes"]["removed"] == ["sin"]
    assert run("diff", log, "--graph", "1").code == 0
    for arguments, word in (
        (["diff", log], "--graph N"),
        (["diff", log, "--graph", "0"], "make_fx_graph_traced"),
        (["diff", log, "--graph", "9"], "the last one is 2"),
        (["diff", log, "--graph", "1", "--b-graph", "0"], "--b-graph"),
        (["diff", JOINT, "--graph", "0"], "the graph before a pass; give a second graph, B"),
    ):
        done = run(*arguments)
        assert (done.code, done.out) == (2, "") and word in done.err, done


def test_a_symbolic_offset_is_dropped_if_its_view_moves(tmp_path: Path) -> None:
    """`b` has the layout of `a`, 128 elements later, so the offset s0 of `v` is no longer right."""

    def view(of: str, first: object, offset: object, shape: list[int], target: str, *rest: object) -> dict:
        value = {"shape": shape, "dtype": "float32", "device": "cpu", "stride": [1] * len(shape), "offset": offset}
        return {"op": "call_function", "target": target, "args": [{"n": of}, 0, first, *rest],
                "val": {"t": {**value, "storage": 0}}}

    nodes = [
        {"name": "buf", "op": "placeholder", "target": "buf", "val": {
            "t": {"shape": [256], "dtype": "float32", "device": "cpu", "stride": [1], "offset": 0, "storage": 0}}},
        {"name": "n", "op": "placeholder", "target": "n", "val": {"symint": "s0", "hint": 8}},
        {"name": "a", **view("buf", 0, 0, [64], "aten.slice.Tensor", 64)},
        {"name": "b", **view("buf", 128, 128, [64], "aten.slice.Tensor", 192)},
        {"name": "v", **view("a", {"n": "n"}, {"sym": "s0", "hint": 8}, [], "aten.select.int")},
        {"name": "output", "op": "output", "target": "output", "args": [[{"n": "v"}]]},
    ]
    document = {**capture(), "kind": "forward", "storages": [1024], "nodes": nodes,
                "symbols": {"vars": {"s0": {"hint": 8, "range": [0, 63]}}, "replacements": {}, "deferred_asserts": {}}}
    graph, out = write(tmp_path / "a.json", document), tmp_path / "b.json"
    edits = write(tmp_path / "r.json", recipe({"replace": "v", "args": [{"n": "b"}, 0, {"n": "n"}]}))
    assert run("apply", graph, "--recipe", edits, "-o", out).code == 0
    moved = next(node for node in json.loads(out.read_text())["nodes"] if node["name"] == "v")
    assert "offset" not in moved["val"]["t"]
