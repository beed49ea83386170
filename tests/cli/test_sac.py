"""``jointer sac``: saved and recomputed values under policies, partitioners and budgets."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, answer, refused, run, sample
from documents import Document, n, node, tensor, write

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")
NUMBER = (int, float)
KEYS: dict[str, Any] = {
    "saved_count": int, "saved_bytes": int, "saved": list, "saved_inputs": list,
    "recomputed_count": int, "recompute_flops": int, "recompute_ms": NUMBER, "peak_bytes": int,
    "step_ms": NUMBER, "by_operator": list, "pareto": list,
}  # fmt: skip


def names(value: dict[str, Any]) -> list[str]:
    return [row["node"] for row in value["saved"]]


# --- The contract ---


@pytest.mark.parametrize(
    "arguments", [(), ("--partitioner", "default"), ("--ignore-tags",), ("--preset", "sac_and_offload")]
)
def test_keys_and_sums(arguments: tuple[str, ...]) -> None:
    value = answer("sac", JOINT, *arguments)
    for key, types in KEYS.items():
        assert isinstance(value[key], types), key
    assert value["saved_count"] == len(value["saved"]) > 0
    assert value["saved_bytes"] == sum(row["bytes"] for row in value["saved"])
    assert value["saved_storage_bytes"] > 0
    assert len(set(names(value))) == value["saved_count"]
    for row in value["by_operator"]:
        assert isinstance(row["count"], int) and row["count"] >= row["saved_count"]
        assert row["policy"] in ("save", "recompute", "offload", "mixed")
        assert isinstance(row["recompute_ms"], NUMBER) and isinstance(row["target"], str)
    assert sum(row["saved_count"] for row in value["by_operator"]) == value["saved_count"]
    assert sum(row["saved_bytes"] for row in value["by_operator"]) == value["saved_bytes"]
    assert value["pareto"] == []
    assert all(row["reason"] for row in value["saved"])


def test_tags_count_unless_they_are_ignored() -> None:
    tagged, untagged = answer("sac", JOINT), answer("sac", JOINT, "--ignore-tags")
    assert names(tagged) != names(untagged)
    assert untagged["recomputed_count"] < tagged["recomputed_count"]


def test_the_table() -> None:
    done = run("sac", JOINT, "--top", "3")
    assert done.code == 0 and done.err == ""
    for words in ("saved", "recomputed", "peak memory", "operator", "policy", "--top"):
        assert words in done.out


# --- Budgets ---


def test_activation_budgets_trade_memory_for_compute() -> None:
    values = [answer("sac", JOINT, "--budget", budget) for budget in ("0", "0.3", "1")]
    for less, more in pairwise(values):
        assert less["saved_bytes"] < more["saved_bytes"]
        assert less["recompute_flops"] >= more["recompute_flops"]
    assert values[0]["saved_count"] == 0
    assert values[2]["saved"] == answer("sac", JOINT)["saved"]


@pytest.mark.parametrize("solver", ["dp", "greedy", "sliding_hirschberg", "knee_point"])
def test_every_solver(solver: str) -> None:
    value = answer("sac", JOINT, "--budget", "0.5", "--solver", solver, "--strict-budget")
    assert 0 < value["saved_bytes"] < answer("sac", JOINT)["saved_bytes"]


def test_a_peak_in_bytes_is_met() -> None:
    whole = answer("sac", JOINT)
    least, *_, most = answer("sac", JOINT, "--pareto")["pareto"]
    limit = (least["peak_bytes"] + most["peak_bytes"]) // 2
    value = answer("sac", JOINT, "--budget", f"{limit}B")
    assert value["peak_bytes"] <= limit
    bound = value["limit"].pop("bound_ms")
    assert 0 < bound <= value["step_ms"]
    assert all(isinstance(value["limit"][each], int) for each in ("asked", "reached"))
    assert value["limit"] == {
        "kind": "peak",
        "memory": "allocated",
        "asked": limit,
        "reached": value["peak_bytes"],
        "met": True,
    }
    assert value["step_ms"] <= least["step_ms"]
    # Enough for everything, so nothing has to be given up.
    assert answer("sac", JOINT, "--budget", "100GiB")["step_ms"] <= whole["step_ms"]
    assert answer("sac", JOINT, "--budget", "0.1TiB")["step_ms"] <= whole["step_ms"]


def test_a_limit_of_reserved_memory() -> None:
    smallest = json.loads(run("sac", JOINT, "--budget", "4KiB", "--limit-of", "reserved", "--json").out)
    limit = smallest["reserved_bytes"] * 11 // 10
    value = answer("sac", JOINT, "--budget", f"{limit}B", "--limit-of", "reserved")
    assert value["limit"]["memory"] == "reserved"
    assert value["limit"]["reached"] == value["reserved_bytes"] <= limit
    assert value["peak_bytes"] <= value["reserved_bytes"]
    assert "reserved" in run("sac", JOINT, "--budget", f"{limit}B", "--limit-of", "reserved").out


@pytest.mark.slow
def test_reserved_memory_is_that_of_the_written_pair(tmp_path: Path) -> None:
    out = tmp_path / "pair.json"
    value = answer("sac", JOINT, "--budget", "0.3", "-o", out)
    assert value["reserved_bytes"] == answer("sac", out)["reserved_bytes"]
    for point in answer("sac", JOINT, "--pareto", "--points", "8")["pareto"]:
        assert point["reserved_bytes"] >= point["peak_bytes"]


def test_more_effort_is_accepted_where_there_is_a_search() -> None:
    limit = answer("sac", JOINT)["peak_bytes"] * 9 // 10
    assert answer("sac", JOINT, "--budget", f"{limit}B", "--effort", "1500")["limit"]["met"] is True
    done = run("sac", JOINT, "--budget", "0.5", "--effort", "10")
    assert done.code == 2 and "--effort" in done.err


def test_the_limited_memory_needs_a_limit() -> None:
    for options in ([], ["--budget", "0.5"], ["--pareto"]):
        done = run("sac", JOINT, *options, "--limit-of", "reserved")
        assert done.code == 2 and "--limit-of" in done.err


@pytest.mark.slow
def test_nothing_is_offloaded_if_that_is_excluded() -> None:
    points = answer("sac", JOINT, "--pareto", "--no-offload")["pareto"]
    assert all(point["offloaded_bytes"] == 0 for point in points)
    assert any(point["offloaded_bytes"] > 0 for point in answer("sac", JOINT, "--pareto")["pareto"])


def test_the_curve_is_monotone_and_above_its_bound() -> None:
    points = answer("sac", JOINT, "--pareto")["pareto"]
    for smaller, larger in pairwise(points):
        assert smaller["peak_bytes"] < larger["peak_bytes"] and smaller["step_ms"] > larger["step_ms"]
    assert all(0 < point["bound_ms"] <= point["step_ms"] for point in points)
    assert any(point["budget"] is None for point in points)


@pytest.mark.parametrize("options", [(), ("--budget", "0.3"), ("--preset", "full"), ("--budget", "0")])
def test_operators_add_up(options: tuple[str, ...]) -> None:
    value = answer("sac", JOINT, *options)
    rows = value["by_operator"]
    assert sum(row["recompute_ms"] for row in rows) == pytest.approx(value["recompute_ms"])
    assert sum(row["saved_bytes"] for row in rows) == value["saved_bytes"]
    assert sum(row["count"] - row["saved_count"] for row in rows) == value["recomputed_count"]
    assert sum(row["saved_count"] for row in rows) == value["saved_count"]


def test_a_peak_that_cannot_be_met_exits_with_1() -> None:
    done = run("sac", JOINT, "--budget", "4KiB", "--json")
    assert done.code == 1
    value = json.loads(done.out)
    assert value["limit"]["met"] is False and value["limit"]["reached"] == value["peak_bytes"] > 4096
    assert "closest" in done.err
    piped = run("sac", JOINT, "--budget", "4KiB", "--effort", "1", "-o", "-")
    assert piped.code == 1 and "closest" in piped.err


def test_a_step_that_may_be_slower() -> None:
    whole = answer("sac", JOINT)
    value = answer("sac", JOINT, "--slower", "50")
    assert value["peak_bytes"] <= whole["peak_bytes"]
    assert value["step_ms"] <= 1.5 * whole["step_ms"]
    assert value["limit"]["kind"] == "step" and value["limit"]["met"] is True


@pytest.mark.slow
def test_slower_is_relative_to_the_plan_without_it() -> None:
    for partitioner in ("min_cut", "default"):
        whole = answer("sac", JOINT, "--partitioner", partitioner)
        value = answer("sac", JOINT, "--partitioner", partitioner, "--slower", "10")
        assert value["limit"]["asked"] == pytest.approx(1.1e6 * whole["step_ms"], abs=1)
        assert value["step_ms"] <= 1.1 * whole["step_ms"]


def test_a_limited_plan_has_the_figures_of_its_written_pair(tmp_path: Path) -> None:
    out = tmp_path / "pair.json"
    value = answer("sac", JOINT, "--partitioner", "default", "--slower", "30", "-o", out)
    pair = answer("sac", out)
    assert (pair["peak_bytes"], pair["step_ms"]) == (value["peak_bytes"], value["step_ms"])


@pytest.mark.slow
def test_the_pareto_curve_is_monotone() -> None:
    points = answer("sac", JOINT, "--pareto")["pareto"]
    assert len(points) > 3
    for a, b in pairwise(points):
        assert a["peak_bytes"] < b["peak_bytes"] and a["step_ms"] > b["step_ms"]
    assert all(point["budget"] is None or 0 <= point["budget"] <= 1 for point in points)
    assert run("sac", JOINT, "--pareto", "--json").json["pareto"] == points


# --- Policies ---


@pytest.mark.slow
def test_the_curve_reaches_the_plan_and_all_budgets() -> None:
    value = answer("sac", JOINT, "--preset", "sac_and_offload", "--pareto", "--points", "8")
    here = (value["peak_bytes"], value["step_ms"])
    curve = [(point["peak_bytes"], point["step_ms"]) for point in value["pareto"]]
    budgets = [(point["peak_bytes"], point["step_ms"]) for point in value["budgets"]]
    assert budgets and all(point["budget"] is not None for point in value["budgets"])
    for known in [here, *budgets]:
        assert any(peak <= known[0] and step <= known[1] for peak, step in curve)
    assert all(a[0] < b[0] and a[1] > b[1] for a, b in pairwise(curve))


def test_a_list_of_operators(tmp_path: Path) -> None:
    everything = answer("sac", JOINT, "--save", "aten.mm", "--every-nth", "none")
    halved = answer("sac", JOINT, "--save", "aten.mm")
    count = {
        kind: next(row for row in value["by_operator"] if row["target"] == "aten.mm.default")["saved_count"]
        for kind, value in (("all", everything), ("half", halved))
    }
    assert count["half"] < count["all"]
    assert halved["saved_bytes"] < everything["saved_bytes"]


def test_operators_may_be_written_as_in_python() -> None:
    plain = ["--save", "aten.mm.default,layers.0::aten.add", "--every-nth", "aten.mm.default/2"]
    python = [
        "--save",
        "torch.ops.aten.mm.default,layers.0::torch.ops.aten.add",
        "--every-nth",
        "torch.ops.aten.mm.default/2",
    ]
    assert answer("sac", JOINT, *python)["saved"] == answer("sac", JOINT, *plain)["saved"]


def test_presets_are_different_policies() -> None:
    saved = {
        preset: answer("sac", JOINT, "--preset", preset)["saved_bytes"]
        for preset in ("apply_sac", "default", "full", "eager")
    }
    assert saved["full"] == min(saved.values()) < saved["default"]
    assert saved["eager"] < saved["default"]


def test_a_search_respects_the_policies_of_a_preset() -> None:
    # Views that must be saved and what they view, which must be recomputed, have one storage.
    large = sample("llama_8b_tp2_fsdp2.joint")
    value = answer("sac", large, "--preset", "full")
    found = answer("sac", large, "--preset", "full", "--budget", "100GiB", "--keep-order")
    assert found["limit"]["met"]
    assert found["step_ms"] <= value["step_ms"]


@pytest.mark.parametrize("form", ["torchtitan", "selectors", "recipe"])
def test_an_export_can_be_used_as_a_policy(tmp_path: Path, form: str) -> None:
    exported = run("sac", JOINT, "--preset", "default", "--export", form)
    assert exported.code == 0, exported.err
    path = tmp_path / "policy.txt"
    path.write_text(exported.out)
    with_json = run("sac", JOINT, "--preset", "default", "--export", form, "--json").json
    assert with_json["export"]["text"] == exported.out
    again = run("sac", JOINT, "--policy", path, "--json")
    assert again.code == 0, again.err
    if form == "recipe" and not with_json["export"]["misfits"]:
        assert names(again.json) == names(with_json)


# --- The pair ---


def test_the_written_pair_has_the_same_figures(tmp_path: Path) -> None:
    out = tmp_path / "pair.json.zst"
    value = run("sac", JOINT, "-o", out, "--json").json
    pair = run("sac", out, "--json").json
    assert names(pair) == names(value)
    for key in ("saved_bytes", "peak_bytes", "step_ms", "recomputed_count"):
        assert pair[key] == value[key], key
    assert run("memory", out, "--json").json["peak_bytes"] == value["peak_bytes"]
    assert run("overlap", out, "--json").json["step_ms"] == value["step_ms"]


def test_a_captured_pair_reports_what_it_saves() -> None:
    value = answer("sac", PAIR)
    assert value["saved_count"] > 0
    assert [row["node"] for row in value["saved"]] == names(answer("sac", JOINT))


def test_why() -> None:
    saved = answer("sac", JOINT)["saved"][0]
    (why,) = run("sac", JOINT, "--why", saved["node"], "--json").json["why"]
    assert (why["node"], why["keep"], why["reason"]) == (saved["node"], "save", saved["reason"])


def why_of(*arguments: Any) -> dict[str, Any]:
    """The answer of `--why` for the last argument."""
    (why,) = run("sac", JOINT, *arguments[:-1], "--why", arguments[-1], "--json").json["why"]
    return why


def largest(value: dict[str, Any], keep: str) -> str:
    rows = [row for row in value["saved"] if row["keep"] == keep]
    return max(rows, key=lambda row: row["bytes"])["node"]


def test_why_gives_the_margin_of_a_decision() -> None:
    value = answer("sac", JOINT, "--budget", "0.5")
    why = why_of("--budget", "0.5", largest(value, "save"))
    assert why["decided_by"] == "solved"
    assert why["value_bytes_per_us"] == pytest.approx(why["bytes"] / (why["recompute_ms"] * 1e3))
    assert why["cutoff_bytes_per_us"] > 0
    equal = why["equal"]
    assert equal["count"] == equal["saved"] + equal["recomputed"] + equal["offloaded"] >= 1
    assert why["if_saved"] == {"peak_bytes": value["peak_bytes"], "step_ms": value["step_ms"]}
    assert why["if_recomputed"]["step_ms"] >= value["step_ms"]
    assert why["if_offloaded"]["peak_bytes"] <= value["peak_bytes"]
    assert why["solvers"]["dp"] == "save"
    assert {"dp", "greedy", "relaxation"} == set(why["solvers"])
    text = run("sac", JOINT, "--budget", "0.5", "--why", why["node"]).out
    for sentence in [*why["sentences"], "Decided by the partitioner."]:
        assert sentence in text


def test_why_names_who_decided(tmp_path: Path) -> None:
    node = answer("sac", JOINT, "--save", "aten.mm")["saved"][-1]["node"]
    assert why_of("--save", "aten.mm", node)["decided_by"] == "list"
    preset = answer("sac", JOINT, "--preset", "full")["saved"]
    tagged = next(row["node"] for row in preset if "tagged MUST_SAVE" in row["reason"])
    assert why_of("--preset", "full", tagged)["decided_by"] == "preset"
    assert why_of("--ignore-tags", answer("sac", JOINT, "--ignore-tags")["saved"][0]["node"])[
        "decided_by"
    ] == "solved"
    recipe, tagged_graph = tmp_path / "recipe.json", tmp_path / "tagged.json.zst"
    recipe.write_text(run("sac", JOINT, "--save", "aten.mm", "--export", "recipe").out)
    assert run("apply", JOINT, "--recipe", recipe, "-o", tagged_graph).code == 0
    (why,) = answer("sac", tagged_graph, "--why", node)["why"]
    assert why["decided_by"] == "tag"
    assert "  Decided by the capture.\n" in run("sac", tagged_graph, "--why", node).out


def test_a_search_says_that_it_decided_and_what_it_weighed() -> None:
    # A peak for which a value is offloaded.
    nearest = run("sac", JOINT, "--ignore-tags", "--budget", str(1 << 21), "--json")
    limit = str(json.loads(nearest.out)["peak_bytes"] * 21 // 20)
    value = answer("sac", JOINT, "--ignore-tags", "--budget", limit)
    assert value["offloaded_count"] > 0
    for row in value["saved"]:
        assert row["reason"].startswith(f"the search for a peak of at most {limit}")
        assert "torch's list" not in row["reason"]
    node = largest(value, "offload")
    why = why_of("--ignore-tags", "--budget", limit, node)
    assert why["decided_by"] == "searched"
    assert "offloads it: copying" in why["reason"]
    assert why["copy_ms"] > 0
    copies = why["sentences"][0]
    exposed = why["if_offloaded"]["step_ms"] - why["if_saved"]["step_ms"]
    assert ("is exposed" in copies) == (exposed > 0)
    assert ("are hidden" in copies) == (exposed <= 0)


def test_why_names_the_peak_and_the_budget_that_flip_a_decision() -> None:
    value = answer("sac", JOINT, "--ignore-tags", "--budget", "0.5")
    node = largest(value, "save")
    flips = why_of("--ignore-tags", "--budget", "0.5", node)["flips_at"]
    assert flips["budget"] < 0.5
    assert node not in names(answer("sac", JOINT, "--ignore-tags", "--budget", str(flips["budget"])))


@pytest.mark.parametrize("arguments", [(), ("--budget", "0.5")])
def test_why_gives_the_margin_in_a_flat_step(arguments: tuple[str, ...]) -> None:
    step = sample("llama_debug_fsdp2.train_step")
    value = answer("sac", step, *arguments)
    node = largest(value, "save")
    (why,) = answer("sac", step, *arguments, "--why", node)["why"]
    assert why["if_saved"] == {"peak_bytes": value["peak_bytes"], "step_ms": value["step_ms"]}
    assert why["value_bytes_per_us"] > 0
    assert why["equal"]["count"] >= 1
    assert why["solvers"]["dp"] in ("save", "recompute")
    assert why["decided_by"] == ("solved" if arguments else "nobody")
    text = run("sac", step, *arguments, "--why", node).out
    assert ("  Decided by the partitioner.\n" in text) == ("Decided by" in text) == bool(arguments)


def test_ties_have_one_reason() -> None:
    """If only some of several equal values are saved, all have the same reason, which says so."""
    for budget in ("0.3", "0.5", "0.7", "0.9"):
        value = answer("sac", JOINT, "--ignore-tags", "--budget", budget)
        texts = [row["reason"] for row in value["saved"]]
        for reason in {text for text in texts if "equal values" in text}:
            fits = int(reason.split("of which ")[1].split()[0])
            assert 0 < texts.count(reason) <= fits
            assert int(reason.split()[2]) > fits
            assert reason.endswith("the choice among them is arbitrary")


# --- Refusals ---


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["--budget", "-1"], "--budget"),
        (["--budget", "nan"], "--budget"),
        (["--budget", "12 parsecs"], "parsecs"),
        (["--budget", "40"], "40GiB"),
        (["--budget", "1.5"], "1.5GiB"),
        (["--budget", "2000000.5"], "no unit"),
        (["--budget", "0GiB"], "0GiB"),
        (["--budget", "0.5", "--slower", "3"], "--slower"),
        (["--budget", "0.5", "--partitioner", "default"], "min_cut"),
        (["--partitioner", "max_cut"], "--partitioner"),
        (["--solver", "ilp"], "--solver"),
        (["--export", "toml"], "--export"),
        (["--preset", "none"], "none"),
        (["--save", "aten.mm", "--preset", "full"], "--preset"),
        (["--save", "aten.nothing_of_the_kind"], "aten.nothing_of_the_kind"),
        (["--every-nth", "aten.mm/2"], "--save"),
        (["--save", "aten.mm", "--every-nth", "aten.mm/0"], "aten.mm/0"),
        (["--why", "no_such_node"], "no_such_node"),
        (["--device", "gtx480"], "h100"),
    ],
)
def test_wrong_usage(arguments: list[str], word: str) -> None:
    refused(run("sac", JOINT, *arguments), word)


# --- Comparison with another plan ---

AMOUNTS = (("saved_bytes", "saved_storage_bytes"), ("offloaded_bytes", "offloaded_bytes"),
           ("recompute_ms", "recompute_ms"))  # fmt: skip


def check_sums(against: dict[str, Any]) -> None:
    """Every list adds up to the differences of the estimates."""
    for key, figure in AMOUNTS:
        before, after = against["figures"][figure]
        for rows in ("values", "transitions", "by_layer", "by_operator"):
            total = sum(row[key] for row in against[rows])
            assert total == pytest.approx(after - before, abs=1e-6), (rows, key)
        for rows in ("by_layer", "by_operator"):
            for row in against[rows]:
                parts = sum(part[key] for part in row["transitions"])
                assert parts == pytest.approx(row[key], abs=1e-6)
    moved = sum(row["from"] != row["to"] for row in against["values"])
    assert against["changed"] == moved
    assert sum(row["count"] for row in against["by_layer"]) == moved


def test_a_plan_against_the_captures_own_tags() -> None:
    own, value = answer("sac", JOINT), answer("sac", JOINT, "--budget", "0", "--against-tags")
    against = value["against"]
    check_sums(against)
    for key in ("peak_bytes", "step_ms", "saved_storage_bytes", "recompute_ms"):
        assert against["figures"][key] == [own[key], value[key]]
    assert against["changed"] > 0 and against["summary"].startswith(f"{against['changed']} values changed: ")
    kept = {row["node"] for row in against["values"] if row["from"] == "save"}
    # Each storage is one value: an alias of a saved tensor is not listed.
    aliases = set(names(own)) - kept
    assert kept <= set(names(own))
    assert {row["target"] for row in own["saved"] if row["node"] in aliases} <= {"aten.detach.default"}
    assert all(row["to"] == "recompute" or row["to"] is None for row in against["values"] if row["from"] == "save")
    done = run("sac", JOINT, "--budget", "0", "--against-tags", "--top", "3")
    for words in ("values changed: ", "saved -> recomputed", "layer 0", "difference", "--top"):
        assert words in done.out, done.out


def test_a_plan_against_itself_changes_nothing() -> None:
    against = answer("sac", JOINT, "--against-tags")["against"]
    assert against["changed"] == 0 and against["values"] == []
    assert against["summary"] == "No values changed"


def test_a_plan_against_that_of_a_policy(tmp_path: Path) -> None:
    policy = tmp_path / "policy.json"
    policy.write_text(run("sac", JOINT, "--preset", "full", "--export", "recipe").out)
    full = answer("sac", JOINT, "--preset", "full")
    against = answer("sac", JOINT, "--preset", "sac_and_offload", "--against", policy)["against"]
    check_sums(against)
    assert against["figures"]["peak_bytes"][0] == full["peak_bytes"]
    assert any(row["to"] == "offload" for row in against["transitions"])


def test_a_pair_against_its_joint_graph(tmp_path: Path) -> None:
    pair = tmp_path / "pair.json"
    assert run("sac", JOINT, "--budget", "0.3", "-o", pair).code == 0
    against = answer("sac", JOINT, "--budget", "0.3", "--against", pair)["against"]
    assert against["changed"] == 0, against["summary"]
    against = answer("sac", pair, "--against", JOINT)["against"]
    check_sums(against)
    assert against["changed"] > 0


def test_plans_without_common_names_are_refused(tmp_path: Path) -> None:
    refused(run("sac", JOINT, "--against", flat_step(tmp_path)), "step.json", "no value has the same name")


def test_comparisons_are_refused_where_they_are_not_printed() -> None:
    refused(run("sac", JOINT, "--against-tags", "--export", "recipe"), "--against-tags")
    refused(run("sac", JOINT, "--against", PAIR, "-o", "-"), "--against")
    refused(run("sac", JOINT, "--against", PAIR, "--against-tags"), "--against")
    refused(run("sac", JOINT, "--against", "/nowhere/file.json"), "/nowhere/file.json", code=3)


def test_a_flat_step_against_its_own_tags(tmp_path: Path) -> None:
    step = flat_step(tmp_path, b="MUST_RECOMPUTE")
    against = answer("sac", step, "--preset", "full", "--against-tags")["against"]
    check_sums(against)
    assert {(row["node"], row["from"], row["to"]) for row in against["values"]} == {
        ("a", "save", "recompute"), ("c", "save", "recompute")}  # fmt: skip
    written = tmp_path / "out.json"
    assert run("sac", step, "--preset", "full", "-o", written).code == 0
    assert answer("sac", step, "--preset", "full", "--against", written)["against"]["changed"] == 0


def test_diff_of_tags_shows_the_plans(tmp_path: Path) -> None:
    tagged = tmp_path / "tagged.json"
    write(tagged, json.loads(flat_step(tmp_path, b="MUST_RECOMPUTE", c="MUST_CPU_OFFLOAD").read_text()))
    plain = flat_step(tmp_path)
    done = run("diff", plain, tagged, "--json")
    assert done.code == 1
    plan = json.loads(done.out)["plan"]
    check_sums(plan)
    assert [(row["node"], row["to"]) for row in plan["values"]] == [("b", "recompute"), ("c", "offload")]
    assert "2 values changed" in run("diff", plain, tagged).out
    assert "plan" not in json.loads(run("diff", plain, plain, "--json").out)


def test_a_recipe_with_a_plan_gives_the_figures_of_the_plans(tmp_path: Path) -> None:
    """The estimates of the graph itself ignore its tags."""
    recipe = tmp_path / "recipe.json"
    recipe.write_text(run("sac", JOINT, "--preset", "full", "--export", "recipe").out)
    applied = run("apply", JOINT, "--recipe", recipe, "--json").json
    assert applied["before"] == applied["after"]
    check_sums(applied["plan"])
    assert applied["plan"]["changed"] > 0
    figures, full = applied["plan"]["figures"], answer("sac", JOINT, "--preset", "full")
    for figure in ("peak_bytes", "step_ms"):
        assert figures[figure] == [answer("sac", JOINT)[figure], full[figure]], figure
    text = run("apply", JOINT, "--recipe", recipe).out
    assert "values changed" in text and text.count("peak memory") == 2, text

    def edits(change: dict[str, Any]) -> Path:
        return write(recipe, {"format": "jointer-recipe", "version": 1,
                              "edits": [{"title": "by hand", "changes": [change]}]})  # fmt: skip

    plain, tagged = flat_step(tmp_path), tmp_path / "tagged.json"
    tags = edits({"policy": "MUST_RECOMPUTE", "select": ["a", "b"]})
    figures = run("apply", plain, "--recipe", tags, "-o", tagged, "--json").json["plan"]["figures"]
    assert figures == json.loads(run("diff", plain, tagged, "--json").out)["plan"]["figures"]
    assert figures["recompute_ms"][0] == 0 < figures["recompute_ms"][1]
    moved = edits({"move": ["l"], "before": "h"})
    assert "plan" not in run("apply", plain, "--recipe", moved, "--json").json


# --- Flat training steps ---


def flat_step(tmp_path: Path, **tags: str) -> Path:
    """sin, cos, exp and a sum; the backward reads the first three."""
    size = 64 << 10
    def call(name: str, op: str, *args: str, like: int, **members: Any) -> Document:
        value = tensor(like, size // 4) if name != "l" else tensor(like)
        more = {"recompute": tags[name]} if name in tags else {}
        return node(name, "call_function", f"aten.{op}", [n(a) for a in args], value, **more, **members)

    return write(tmp_path / "step.json", {
        "format": "jointer-capture", "version": 1, "kind": "train_step", "name": "step", "groups": {},
        "storages": [size, size, size, size, 4, size, size], "modules": [], "stacks": [],
        "nodes": [
            node("x", "placeholder", "x", [], tensor(0, size // 4)),
            call("a", "sin.default", "x", like=1),
            call("b", "cos.default", "a", like=2),
            call("c", "exp.default", "b", like=3),
            call("l", "sum.default", "c", like=4),
            call("g", "mul.Tensor", "c", "b", like=5, autograd_backward=True),
            call("h", "mul.Tensor", "g", "a", like=6, autograd_backward=True),
            node("output", "output", "output", [[n("l"), n("h")]], None),
        ],
    })  # fmt: skip


def test_saved_storages_of_a_chunked_loss_may_exceed_the_peak(tmp_path: Path) -> None:
    """Each chunk runs forward and backward before the next one."""
    size, chunks = 64 << 10, range(6)
    def call(name: str, op: str, source: str, value: Document, **members: Any) -> Document:
        return node(name, "call_function", f"aten.{op}.default", [n(source)], value, **members)

    nodes = [node("x", "placeholder", "x", [], tensor(0, size // 4)), call("l", "sum", "x", tensor(1))]
    for i in chunks:
        nodes.append(call(f"a{i}", "sin", "x", tensor(2 + 2 * i, size // 4)))
        nodes.append(call(f"g{i}", "sum", f"a{i}", tensor(3 + 2 * i), autograd_backward=True))
    results = [n("l"), *(n(f"g{i}") for i in chunks)]
    step = write(tmp_path / "chunks.json", {
        "format": "jointer-capture", "version": 1, "kind": "train_step", "name": "chunks", "groups": {},
        "storages": [size, 4, *([size, 4] * len(chunks))], "modules": [], "stacks": [],
        "nodes": [*nodes, node("output", "output", "output", [results], None)],
    })  # fmt: skip
    value = answer("sac", step)
    assert value["saved_storage_bytes"] == len(chunks) * size > value["peak_bytes"]
    assert any("as with a chunked loss, so not all of them are live" in note for note in value["notes"])
    usual = answer("sac", flat_step(tmp_path))
    assert usual["saved_storage_bytes"] <= usual["peak_bytes"] and usual["notes"] == []


def test_a_flat_step_is_shown_unchanged(tmp_path: Path) -> None:
    value = answer("sac", flat_step(tmp_path))
    assert names(value) == ["a", "b", "c"] and value["recomputed_count"] == 0


def test_policies_are_applied_to_a_flat_step(tmp_path: Path) -> None:
    step = flat_step(tmp_path)
    whole = answer("sac", step)
    value = answer("sac", step, "--save", "aten.sin", "--every-nth", "none", "--why", "a,b")
    assert names(value) == ["a"]
    assert value["recomputed_count"] == 2
    assert value["saved_bytes"] == whole["saved_bytes"] // 3
    assert value["peak_bytes"] <= whole["peak_bytes"]
    assert value["step_ms"] >= whole["step_ms"]
    assert value["saved"][0]["reason"] == "tagged MUST_SAVE"
    assert [why["keep"] for why in value["why"]] == ["save", "recompute"]
    assert [why["decided_by"] for why in value["why"]] == ["list", "list"]
    full = answer("sac", step, "--preset", "full")
    assert names(full) == [] and full["recomputed_count"] == 3


def test_tags_of_a_flat_step_are_applied_and_written(tmp_path: Path) -> None:
    step, out = flat_step(tmp_path, b="MUST_RECOMPUTE"), tmp_path / "out.json"
    value = answer("sac", step, "-o", out)
    assert names(value) == ["a", "c"] and value["recomputed_count"] == 1
    written = answer("sac", out)
    assert (written["peak_bytes"], names(written)) == (value["peak_bytes"], ["a", "c"])
    assert names(answer("sac", step, "--ignore-tags")) == ["a", "b", "c"]


def test_offload_tags_of_a_flat_step_go_to_the_host(tmp_path: Path) -> None:
    value = answer("sac", flat_step(tmp_path, a="MUST_CPU_OFFLOAD", b="MUST_RECOMPUTE"), "--why", "a")
    assert value["offloaded_bytes"] == 64 << 10
    assert value["why"][0]["keep"] == "offload"
    assert value["why"][0]["decided_by"] == "tag"


@pytest.mark.parametrize("form", ["torchtitan", "selectors", "recipe"])
def test_an_export_of_a_flat_step_can_be_used_as_a_policy(tmp_path: Path, form: str) -> None:
    step = flat_step(tmp_path)
    by_list = ["--save", "aten.sin", "--every-nth", "none"]
    exported = run("sac", step, *by_list, "--export", form)
    assert exported.code == 0, exported
    policy = tmp_path / "policy.txt"
    policy.write_text(exported.out)
    assert names(answer("sac", step, "--policy", policy)) == names(answer("sac", step, *by_list))


def test_an_export_that_a_list_cannot_express_gives_the_peak_of_the_step(tmp_path: Path) -> None:
    tags = {"a": "MUST_RECOMPUTE", "b": "MUST_SAVE", "c": "MUST_RECOMPUTE"}
    step = flat_step(tmp_path, **tags)
    document = json.loads(step.read_text())
    for record in document["nodes"]:
        if record["name"] in tags:
            record["target"] = "aten.sin.default"  # the second of three cannot be chosen
    write(step, document)
    done = run("sac", step, "--export", "torchtitan")
    assert done.code == 0, done.err
    policy = tmp_path / "policy.py"
    policy.write_text(done.out)
    found, wanted = answer("sac", step, "--policy", policy), answer("sac", step, "-o", tmp_path / "out.json")
    assert names(found) != names(wanted)
    first = done.err.splitlines()[0]
    assert first.startswith("jointer: With this text, the step has "), done.err
    saved = len(found["saved"])
    assert f"saves {saved} activation" in first, first


def test_an_activation_budget_of_a_flat_step_saves_that_part(tmp_path: Path) -> None:
    step = flat_step(tmp_path)
    whole = answer("sac", step)
    assert names(answer("sac", step, "--budget", "1")) == names(whole)
    assert names(answer("sac", step, "--budget", "0")) == []
    for solver in ("dp", "greedy", "sliding_hirschberg"):
        half = answer("sac", step, "--budget", "0.5", "--solver", solver, "--why", "a,b,c")
        assert half["saved_storage_bytes"] == 64 << 10, "two of the three would be 0.67"
        assert half["recomputed_count"] > 0
        assert "chosen for an activation budget of 0.5" in [why["reason"] for why in half["why"]]


def test_orders_are_mentioned_only_if_there_is_communication(tmp_path: Path) -> None:
    search = ("--slower", "50", "--no-offload", "--keep-order")
    assert "\n  not searched  orders and buckets" in run("sac", STEP, *search, "--effort", "1").out
    done = run("sac", flat_step(tmp_path), *search)
    assert "\n  limit " in done.out and "not searched" not in done.out


STEP = sample("llama_debug_fsdp2.train_step")


def test_a_flat_step_within_a_peak(tmp_path: Path) -> None:
    whole, out, recipe = answer("sac", STEP), tmp_path / "out.json", tmp_path / "recipe.json"
    nearest = run("sac", STEP, "--budget", "1MiB", "--json")
    assert nearest.code == 1, nearest
    smallest = json.loads(nearest.out)
    assert not smallest["limit"]["met"] and smallest["peak_bytes"] < whole["peak_bytes"]
    limit = (whole["peak_bytes"] + smallest["peak_bytes"]) // 2
    value = answer("sac", STEP, "--budget", f"{limit}B", "-o", out)
    assert value["limit"]["met"] and value["peak_bytes"] == value["limit"]["reached"] <= limit
    assert value["step_ms"] >= value["limit"]["bound_ms"] > 0
    assert value["step_ms"] <= smallest["step_ms"]
    # The step that is written has these estimates.
    assert answer("memory", out)["peak_bytes"] == value["peak_bytes"]
    assert answer("overlap", out)["step_ms"] == pytest.approx(value["step_ms"], abs=1e-6)
    # Policies have no order of collectives, so the plan that keeps its own order is exported.
    kept = answer("sac", STEP, "--budget", f"{limit}B", "--keep-order")
    exported = run("sac", STEP, "--budget", f"{limit}B", "--export", "recipe")
    assert exported.code == 0 and exported.err == ""
    recipe.write_text(exported.out)
    again = answer("sac", STEP, "--policy", recipe)
    assert (again["peak_bytes"], names(again)) == (kept["peak_bytes"], names(kept))


def test_a_plan_that_recomputes_nothing_needs_no_tags() -> None:
    value = answer("sac", STEP, "--ignore-tags")
    assert value["recomputed_count"] == 0 and value["notes"] == []


@pytest.mark.slow
def test_a_flat_step_that_may_be_slower(tmp_path: Path) -> None:
    whole, value = answer("sac", STEP), answer("sac", STEP, "--slower", "10", "--no-offload")
    assert value["limit"]["met"] and value["peak_bytes"] <= whole["peak_bytes"]
    assert value["step_ms"] <= 1.1 * whole["step_ms"] + 1e-6
    assert value["offloaded_count"] == 0


@pytest.mark.slow
def test_the_trade_off_of_a_flat_step() -> None:
    value = answer("sac", STEP, "--pareto", "--points", "5")
    for low, high in pairwise(value["pareto"]):
        assert low["peak_bytes"] < high["peak_bytes"] and low["step_ms"] > high["step_ms"]
    assert all(point["bound_ms"] <= point["step_ms"] for point in value["pareto"])
    assert 1 in [point["budget"] for point in value["budgets"]]
    plain = answer("sac", STEP)
    best = [point for point in value["pareto"] if point["peak_bytes"] <= plain["peak_bytes"]]
    assert best[-1]["step_ms"] <= plain["step_ms"] + 1e-6


@pytest.mark.parametrize("graph", [STEP, JOINT])
def test_a_checkpointed_layer_keeps_its_input(graph: Path) -> None:
    plain = answer("sac", graph, "--ignore-tags")
    value = answer("sac", graph, "--ignore-tags", "--checkpoint", "layers.1")
    assert value["saved_storage_bytes"] < plain["saved_storage_bytes"]
    assert value["recomputed_count"] > plain["recomputed_count"]
    both = answer("sac", graph, "--ignore-tags", "--checkpoint", "layers.0,layers.1")
    assert both["saved_storage_bytes"] < value["saved_storage_bytes"]
    refused(run("sac", graph, "--checkpoint", "layers.99"), "layers.99")
    refused(run("sac", graph, "--checkpoint", "layers.0", "--budget", "1GiB"), "--checkpoint")


@pytest.mark.parametrize(
    "arguments",
    [["--partitioner", "default"], ["--solver", "greedy"], ["--strict-budget"], ["--points", "3"], ["--no-offload"],
     ["--budget", "0.5", "--slower", "3"]],
)  # fmt: skip
def test_options_that_do_not_apply_are_refused_on_a_flat_step(tmp_path: Path, arguments: list[str]) -> None:
    refused(run("sac", flat_step(tmp_path), *arguments), arguments[0])


def test_an_invalid_policy_file(tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    refused(run("sac", JOINT, "--policy", empty), "empty.txt", code=3)
    refused(run("sac", JOINT, "--policy", tmp_path / "missing.txt"), "missing.txt", code=3)
    refused(run("sac", JOINT, "--policy", JOINT), "a capture of a graph", code=3)
    report = tmp_path / "report.json"
    report.write_text(run("sac", JOINT, "--json").out)
    refused(run("sac", JOINT, "--policy", report), "jointer sac --json", code=3)


def test_a_list_is_explained_in_the_notes() -> None:
    notes = answer("sac", JOINT, "--preset", "apply_sac")["notes"]
    assert any(note.startswith("Counted") for note in notes)


def test_the_notes_describe_the_policy_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("ops = torch.ops\nsave = {ops.aten.mm.default, ops.aten.add.Tensor}\n")
    assert "operator set, 2 operators" in answer("sac", JOINT, "--policy", mine)["notes"][0]


def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "pair.json"
    graph = write(tmp_path / "joint.json", {"format": "jointer-capture", "version": 1})
    assert run("sac", graph, "-o", out).code == 3
    assert not out.exists()
