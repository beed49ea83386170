"""``jointer passes``, ``jointer apply --passes`` and ``jointer bench --passes``."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, JOINT, ROOT, answer, refused, run, sample
from documents import at, capture, half, n, node, tensor, write
from launching import BEGIN, END, Bench

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")
STEP = sample("llama_debug_fsdp2.train_step")
FIGURES = {"peak_bytes", "step_ms", "exposed_ms", "hidden_count"}
NUMBER = (int, float)
FAILS = "regional_inductor{mark=[no_such_node]}"


def with_dead_code() -> dict[str, Any]:
    document = capture()
    document["nodes"].insert(
        -1, node("dead", "call_function", "aten.relu.default", [n("wait")], tensor(3, {"sym": "s0", "hint": 8}, 8))
    )
    return document


# --- jointer passes ---


def test_passes_describe_themselves() -> None:
    value = answer("passes")
    names = [each["name"] for each in value["passes"]]
    assert names == sorted(names) and len(set(names)) == len(names)
    for name in ("apply_sac", "min_cut_partition", "eliminate_dead_code", "canonicalize_graph", "cudagraph"):
        assert name in names
    for each in value["passes"]:
        assert each["summary"].endswith(".") and each["source"]
        for parameter in each["parameters"]:
            assert {"name", "type", "default", "range", "doc"} <= parameter.keys()
            assert parameter["doc"].endswith(".")
            assert parameter["type"] in ("boolean", "integer", "number", "bytes", "text", "list")


def test_presets_are_listed_and_run_as_described() -> None:
    presets = {each["name"]: each["pipeline"] for each in answer("passes")["presets"]}
    assert "fsdp_tp" in presets
    by_name = run("apply", JOINT, "--preset", "fsdp_tp", "--json").json
    by_text = run("apply", JOINT, "--passes", presets["fsdp_tp"], "--json").json
    at_preset = run("apply", JOINT, "--passes", "@preset:fsdp_tp", "--json").json
    assert by_name["pipeline"] == presets["fsdp_tp"]
    assert by_name["after"] == by_text["after"] == at_preset["after"]


def test_a_pass_by_name() -> None:
    done = run("passes", "apply_sac", "fsdp_tp")
    assert done.code == 0
    for word in ("every_nth", "aten.mm.default/2", "fsdp_tp", "min_cut_partition"):
        assert word in done.out
    value = run("passes", "apply_sac", "--json").json
    assert [each["name"] for each in value["passes"]] == ["apply_sac"] and value["presets"] == []
    refused(run("passes", "apply_sack"), "apply_sac?")


def test_the_list_as_text() -> None:
    out = run("passes").out
    for word in ("partition", "clean-up", "eliminate_dead_code", "presets"):
        assert word in out


# --- jointer apply --passes ---


def test_apply_has_the_keys_of_the_contract() -> None:
    value = run("apply", JOINT, "--passes", "apply_sac,min_cut_partition", "--decisions", "--json").json
    assert [each["name"] for each in value["passes"]] == ["apply_sac", "min_cut_partition"]
    for each in value["passes"]:
        assert isinstance(each["ms"], NUMBER)
        for key in ("moved", "added", "removed", "merged", "decisions"):
            assert isinstance(each[key], int), key
        assert FIGURES <= each["before"].keys() and FIGURES <= each["after"].keys()
    assert FIGURES <= value["before"].keys() == value["after"].keys()
    assert len(value["decisions"]) == sum(each["decisions"] for each in value["passes"])
    for each in value["decisions"]:
        assert each.keys() == {"pass", "node", "action", "reason", "effect"} and each["reason"]
    assert any(each["effect"].startswith("policy ") for each in value["decisions"])
    assert "decisions" not in run("apply", JOINT, "--passes", "apply_sac", "--json").json


def test_apply_writes_the_result_of_the_passes(tmp_path: Path) -> None:
    graph = write(tmp_path / "a.json", with_dead_code())
    out = tmp_path / "b.json"
    value = run("apply", graph, "--passes", "eliminate_dead_code", "-o", out, "--json").json
    assert value["passes"][0]["removed"] == 1
    assert "dead" not in [each["name"] for each in json.loads(out.read_text())["nodes"]]
    people = run("apply", graph, "--passes", "eliminate_dead_code", "--decisions")
    for word in ("eliminate_dead_code", "peak memory", "dead", "nothing reads its result"):
        assert word in people.out
    header = ["decision", "why", "effect"]
    rows = [line.split() for line in people.out.splitlines()]
    assert ["node", *header] in rows  # the pass is the same in every row
    two = run("apply", graph, "--passes", "eliminate_dead_code,canonicalize_graph", "--decisions").out
    assert ["pass", "node", *header] in [line.split() for line in two.splitlines()]


def test_a_partitioner_writes_a_pair_as_sac_does(tmp_path: Path) -> None:
    out, other = tmp_path / "a.json", tmp_path / "b.json"
    assert run("apply", JOINT, "--passes", "min_cut_partition", "-o", out).code == 0
    assert run("sac", JOINT, "-o", other).code == 0
    assert out.read_bytes() == other.read_bytes()


def test_pairs(tmp_path: Path) -> None:
    forward = write(tmp_path / "fw.json", half("forward"))
    backward = write(tmp_path / "bw.json", half("backward"))
    out = tmp_path / "pair.json"
    done = run("apply", forward, "--backward", backward, "--passes", "canonicalize_graph", "-o", out)
    assert done.code == 0, done.err
    assert json.loads(out.read_text())["kind"] == "pair"


def test_standard_streams() -> None:
    document = json.dumps(with_dead_code()).encode()
    done = run("apply", "-", "--passes", "eliminate_dead_code", "-o", "-", stdin=document)
    assert done.code == 0 and "dead" not in [each["name"] for each in json.loads(done.out)["nodes"]]


def test_disabled_steps_are_skipped() -> None:
    value = run("apply", JOINT, "--passes", "~apply_sac,remove_tags", "--json").json
    assert [each["name"] for each in value["passes"]] == ["remove_tags"]


def test_runs_are_the_same_every_time(tmp_path: Path) -> None:
    written = set()
    for i in range(3):
        out = tmp_path / f"{i}.json"
        passes = "tag_with_memory_policy{policy=eager},canonicalize_graph,min_cut_partition"
        assert run("apply", JOINT, "--passes", passes, "-o", out).code == 0
        written.add(out.read_bytes())
    assert len(written) == 1


def test_snapshots_of_every_step(tmp_path: Path) -> None:
    folder = tmp_path / "steps"
    done = run("apply", JOINT, "--passes", "apply_sac,canonicalize_graph", "--snapshots", folder)
    assert done.code == 0, done.err
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["00-before.json.zst", "01-apply_sac.json.zst", "02-canonicalize_graph.json.zst"]
    assert run("diff", JOINT, folder / names[0]).code == 0
    assert run("diff", folder / names[0], folder / names[1], "--json").code == 1


@pytest.mark.parametrize(
    "passes, words",
    [
        ("eliminate_dead_cod", ["did you mean eliminate_dead_code"]),
        ("apply_sac{sav=[a]}", ["sav", "every_nth"]),
        ("knapsack_budget{budget=2}", ["knapsack_budget: budget: expected a number from 0 to 1, got 2"]),
        ("knapsack_budget{budget=much}", ["budget: expected a number from 0 to 1, got much"]),
        ("low_contention_collectives{groups=[dpp]}", ["groups: expected a process group in the graph, got `dpp`"]),
        ("async_tensor_parallel{groups=[pt]}", ["groups: expected a process group in the graph, got `pt`"]),
        ("transformer_block_bucketing{module_bucket_plans=[layer.0]}", ["got `layer.0`; the graph has layers.0, "]),
        ('ep_overlap_chunk{module_pattern="layers.9.moe"}', ["module_pattern: `layers.9.moe` matches no node"]),
        ("reassign_to_pg{group=dpp}", ["group: expected a process group in the graph, got `dpp`"]),
        ("regional_inductor{mark=[mmm]}", ["`mmm` selects nothing", "the graph has mm, "]),
        ("knapsack_budget{solver=ilp}", ["dp, greedy"]),
        ("apply_sac{", ["--passes", "character"]),
        ("@preset:fsdp_pt", ["did you mean fsdp_tp"]),
        ("apply_sac{save=[aten.no_such_thing]}", ["aten.no_such_thing"]),
    ],
)
def test_wrong_usage(passes: str, words: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    refused(run("apply", JOINT, "--passes", passes, "-o", out, cwd=tmp_path), *words)
    assert list(tmp_path.iterdir()) == [], "a usage error leaves no files"


def test_a_missing_file_of_a_pass_leaves_no_reproducer(tmp_path: Path) -> None:
    passes = 'spmd_check{captures=["missing.json"]}'
    refused(run("apply", JOINT, "--passes", passes, cwd=tmp_path), "missing.json: No such file", code=3)
    assert list(tmp_path.iterdir()) == []


def test_a_reproducer_has_absolute_paths(tmp_path: Path) -> None:
    passes = 'spmd_check{captures=["missing.json"]}'
    done = run("apply", JOINT, "--passes", passes, "--reproducer", "again.json.zst", cwd=tmp_path)
    refused(done, f"jointer apply '{tmp_path}/again.json.zst' --passes", f'["{tmp_path}/missing.json"]', code=3)
    reported = run("apply", tmp_path / "again.json.zst")
    refused(reported, f'["{tmp_path}/missing.json"]')


@pytest.mark.parametrize(
    "passes, sentence",
    [
        ("cudagraph,remove_tags", "cudagraph must be the last pass, because it captures the final graph"),
        (
            "autobucketing_reordering,remove_tags,transformer_block_bucketing",
            "autobucketing_reordering and transformer_block_bucketing are mutually exclusive: both bucket the same collectives",
        ),
        (
            "transformer_block_bucketing,autobucketing_reordering",
            "autobucketing_reordering and transformer_block_bucketing are mutually exclusive: both bucket the same collectives",
        ),
        ("full_inductor_compilation", "full_inductor_compilation needs inductor_decomposition before it"),
        (
            "full_inductor_compilation,inductor_decomposition",
            "full_inductor_compilation needs inductor_decomposition before it",
        ),
        (
            "~inductor_decomposition,full_inductor_compilation",
            "full_inductor_compilation needs inductor_decomposition before it",
        ),
    ],
)
def test_upstreams_rules(passes: str, sentence: str, tmp_path: Path) -> None:
    for command in ("apply", "bench"):
        done = run(command, JOINT, "--passes", passes, cwd=tmp_path)
        assert (done.code, done.out, done.err) == (2, "", f"jointer: {sentence}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "passes",
    ["canonicalize_graph,cudagraph", "cudagraph,~remove_tags", "transformer_block_bucketing,~autobucketing_reordering"],
)
def test_upstreams_rules_ignore_disabled_steps(passes: str) -> None:
    assert run("apply", JOINT, "--passes", passes, "--json").code == 0


PRESETS = [
    "deepseek_v3",
    "deepseek_v3_flex",
    "fsdp_tp",
    "fsdp_tp_auto_bucketing",
    "fsdp_tp_block_bucketing",
    "fsdp_tp_flex",
    "fsdp_tp_flex_auto_bucketing_regional",
    "fsdp_tp_flex_block_bucketing_regional",
    "fsdp_tp_flex_block_bucketing_regional_cudagraph",
    "fsdp_tp_full_inductor",
]


def test_there_are_ten_presets_and_those_of_graph_trainer() -> None:
    names = sorted(each["name"] for each in answer("passes")["presets"])
    assert [each for each in names if not each.startswith("graph_trainer")] == PRESETS
    assert len(names) > len(PRESETS)


def test_a_preset_of_graph_trainer_runs_or_names_what_is_missing(tmp_path: Path) -> None:
    value = answer("passes")
    known = {each["name"] for each in value["passes"]}
    for preset in value["presets"]:
        if not preset["name"].startswith("graph_trainer"):
            continue
        shown = run("passes", "--preset", preset["name"], "--json").json
        assert shown["pipeline"] == preset["pipeline"] and shown["graph_trainer_flags"] is not None
        steps = [step.partition("{")[0] for step in re.split(r",(?![^{]*})", preset["pipeline"])]
        missing = [step for step in steps if step not in known]
        if not missing:
            assert shown["problem"] is None
            continue
        assert missing[0] in shown["problem"]
        refused(run("apply", STEP, "--preset", preset["name"]), missing[0])


def test_a_pipeline_that_cannot_apply_is_refused_before_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No step runs: the first one of this preset would run in Python, which does not exist here."""
    monkeypatch.setenv("JOINTER_PYTHON", "/no/such/python")
    refused(run("apply", STEP, "--preset", "fsdp_tp_full_inductor", "-o", tmp_path / "out.json"),
            "min_cut_partition needs a joint graph, but the graph is a flat training step")
    refused(run("apply", JOINT, "--passes", "ep_overlap_chunk{require_all_to_all=true}", cwd=tmp_path),
            "no all_to_all_single")
    assert list(tmp_path.iterdir()) == []


def test_chunking_a_graph_without_experts_changes_nothing() -> None:
    value = answer("apply", STEP, "--passes", "ep_overlap_chunk", "--decisions")
    assert [each["action"] for each in value["decisions"]] == ["kept"]
    assert "exchanges tokens" in value["decisions"][0]["reason"]


def test_a_pipeline_becomes_settings_of_torch() -> None:
    pipeline = "knapsack_budget{budget=0.4},raise_comms,place_collectives"
    settings = run("passes", "--passes", pipeline, "--json").json["settings"].splitlines()
    assert "torch._functorch.config.activation_memory_budget = 0.4" in settings
    assert "torch._inductor.config.reorder_for_compute_comm_overlap = True" in settings
    assert "# place_collectives: this is a pass of Jointer" in settings


def test_a_pipeline_becomes_flags_of_graph_trainer() -> None:
    flags = "--compile.memory_policy eager --compile.enable_fsdp_ag_rs_overlap"
    shown = run("passes", "--graph-trainer-flags", flags, "--json").json
    assert "tag_with_memory_policy{policy=eager}" in shown["pipeline"]
    assert shown["graph_trainer_flags"] == flags and shown["why_no_flags"] is None
    other = run("passes", "--passes", "canonicalize_graph,sink_waits_iterative", "--json").json
    assert other["graph_trainer_flags"] is None and "sink_waits_iterative" in other["why_no_flags"]
    reported = run("passes", "--passes", "canonicalize_graph,sink_waits_iterative")
    assert "--save-graph-trainer" in reported.out
    refused(run("passes", "--graph-trainer-flags", "--compile.memory_polcy full"), "memory_policy?")
    refused(run("passes", "cudagraph", "--preset", "fsdp_tp"), "not both; leave out the names, or")


def test_a_recipe_becomes_a_pipeline_of_graph_trainer(tmp_path: Path) -> None:
    recipe, file = tmp_path / "recipe.json", tmp_path / "pipeline.py"
    done = run(
        "apply", STEP, "--passes", "canonicalize_graph,eliminate_dead_code", "--save-recipe", recipe,
        "--save-graph-trainer", file,
    )  # fmt: skip
    assert done.code == 0, done.err
    text = file.read_text()
    compile(text, str(file), "exec")
    assert 'RECIPE = Path(__file__).parent / "recipe.json"' in text
    assert '@register_pass_pipeline("jointer")' in text
    assert "--compile.pass_pipeline jointer" in text
    (tmp_path / "deep").mkdir()
    elsewhere = tmp_path / "deep" / "pipeline.py"
    done = run("apply", STEP, "--passes", "canonicalize_graph", "--save-recipe", recipe, "--save-graph-trainer", elsewhere)
    assert done.code == 0 and f'RECIPE = "{recipe}"' in elsewhere.read_text()
    assert "--save-recipe" in run("apply", STEP, "--passes", "canonicalize_graph", "--save-graph-trainer", file).err


def graphs_of(preset: str) -> list[Path]:
    """The bundled sample; for a mixture of experts also a real graph, if available."""
    shared = Path(os.environ.get("JOINTER_SHARED") or ROOT.parent / "shared") / "captures"
    found = [JOINT, *shared.glob("deepseek_v3_debug*.joint.json.zst")]
    return found if preset.startswith("deepseek") else found[:1]


@pytest.mark.parametrize("preset", [each for each in PRESETS if each != "fsdp_tp_full_inductor"])
def test_every_preset_runs_to_its_end(preset: str) -> None:
    steps = next(each["pipeline"] for each in answer("passes")["presets"] if each["name"] == preset).split(",")
    for graph in graphs_of(preset):
        value = run("apply", graph, "--preset", preset, "--json").json
        assert [each["name"] for each in value["passes"]] == steps
        assert value["after"]["peak_bytes"] > 0
        # Bucketing exists to hide collectives.
        if "bucketing" in preset:
            pair = next(each for each in value["passes"] if each["name"] == "min_cut_partition")
            assert value["passes"][-1]["after"]["collective_count"] < pair["after"]["collective_count"]
            assert value["after"]["exposed_ms"] <= pair["after"]["exposed_ms"]


def test_full_inductor_reports_that_it_needs_python(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(BIN / "jointer"), "apply", str(JOINT), "--preset", "fsdp_tp_full_inductor"],
        capture_output=True, text=True, cwd=tmp_path,
        env=os.environ | {"JOINTER_PYTHON": "/no/such/python", "PATH": "/nowhere"},
    )  # fmt: skip
    assert done.returncode == 4 and done.stdout == "" and done.stderr.count("\n") == 1, done
    assert done.stderr.startswith("jointer: inductor_decomposition: ") and "Python" in done.stderr


def test_a_recipe_and_passes_are_mutually_exclusive(tmp_path: Path) -> None:
    refused(run("apply", JOINT), "--recipe", "--passes")
    recipe = write(tmp_path / "r.json", {"format": "jointer-recipe", "version": 1, "edits": []})
    refused(run("apply", JOINT, "--recipe", recipe, "--passes", "remove_tags"), "both")
    refused(run("apply", PAIR, "--passes", "apply_sac"), "this graph is already a pair")


# --- Budgets ---


def test_a_budget_that_is_met_and_one_that_is_not() -> None:
    peak = run("apply", JOINT, "--passes", "remove_tags", "--json").json["after"]["peak_bytes"]
    met = run("apply", JOINT, "--passes", "remove_tags", "--budget", f"{peak}B", "--json").json
    assert met["limit"] == {"kind": "peak", "asked": peak, "reached": peak, "met": True}
    done = run("apply", JOINT, "--passes", "remove_tags", "--budget", f"{peak - 1}B", "--json")
    assert done.code == 1 and done.err.startswith("jointer: ") and done.err.count("\n") == 1
    assert json.loads(done.out)["limit"]["met"] is False
    shown, _, asked = done.err.removeprefix("jointer: the peak, ").rstrip().partition(", exceeds the budget of ")
    assert shown and asked and shown != asked, "one byte of difference is visible"
    refused(run("apply", JOINT, "--passes", "remove_tags", "--budget", "plenty"), "--budget", "plenty")


# --- Recipes ---


def test_a_recipe_of_passes_replays(tmp_path: Path) -> None:
    out, recipe, again = (tmp_path / name for name in ("out.json", "r.json", "again.json"))
    passes = "apply_sac,fsdp_reshard_after_fwd,canonicalize_graph,eliminate_dead_code"
    done = run("apply", JOINT, "--passes", passes, "-o", out, "--save-recipe", recipe)
    assert done.code == 0, done.err
    assert [edit["by"] for edit in json.loads(recipe.read_text())["edits"]] == [
        step for step in passes.split(",") if step != "eliminate_dead_code"
    ] + (["eliminate_dead_code"] if "eliminate_dead_code" in recipe.read_text() else [])
    replayed = run("apply", JOINT, "--recipe", recipe, "-o", again, "--json").json
    assert replayed["ends_as_recorded"] is True
    assert run("diff", out, again).code == 0


def test_no_recipe_for_a_new_graph(tmp_path: Path) -> None:
    recipe, out = tmp_path / "r.json", tmp_path / "o.json"
    done = run("apply", JOINT, "--passes", "min_cut_partition", "--save-recipe", recipe, "-o", out)
    refused(done, "min_cut_partition creates a new graph", "jointer sac --export recipe")
    assert not recipe.exists() and not out.exists()


# --- Pipeline files ---


def test_pipeline_files(tmp_path: Path) -> None:
    passes = "apply_sac{save=[aten.mm]},~canonicalize_graph,min_cut_partition"
    for name in ("p.jointer-passes", "p.json"):
        path = tmp_path / name
        assert run("apply", JOINT, "--passes", passes, "--save-pipeline", path).code == 0
        assert run("apply", JOINT, "--passes", f"@{path}", "--json").json["pipeline"] == passes
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "resources" / "schema" / "pipeline.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads((tmp_path / "p.json").read_text()), schema)


def test_invalid_pipeline_files(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jointer-passes"
    bad.write_text("remove_tags\napply_sac{save=[\n")
    refused(run("apply", JOINT, "--passes", f"@{bad}"), "bad.jointer-passes", "line 2", code=3)
    refused(run("apply", JOINT, "--passes", f"@{tmp_path}/none"), "none", code=3)


# --- Failures ---


def test_a_failed_pass_writes_a_reproducer_to_the_given_folder(tmp_path: Path) -> None:
    path, out = tmp_path / "again.json.zst", tmp_path / "out.json"
    done = run("apply", JOINT, "--passes", f"remove_tags,{FAILS}", "--reproducer", path, "-o", out)
    refused(done, "no_such_node", str(path), f"--passes '{FAILS}'")
    assert not out.exists()
    first = done.err.split(";")[0]
    again = run("apply", path, "--passes", FAILS)
    refused(again, first.removeprefix("jointer: "))
    assert run("diff", JOINT, path, "--json").code == 1, "the earlier steps were applied"


def test_without_python_a_reproducer_is_written_to_the_working_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(BIN / "jointer"), "apply", str(JOINT), "--passes", "inductor_decomposition"],
        capture_output=True, text=True, cwd=tmp_path,
        env=os.environ | {"JOINTER_PYTHON": "/no/such/python", "PATH": "/nowhere"},
    )  # fmt: skip
    assert done.returncode == 4 and done.stdout == "" and done.stderr.count("\n") == 1, done
    (left,) = tmp_path.iterdir()
    assert left.name == "jointer-reproducer.inductor_decomposition.json.zst"
    assert left.name in done.stderr
    assert run("info", left).code == 0


def test_interrupted(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    # The same step many times, so that there is time to interrupt it.
    passes = ",".join(["canonicalize_graph", "tag_with_memory_policy", "remove_tags"] * 400)
    process = subprocess.Popen(
        [str(BIN / "jointer"), "apply", str(sample("llama_8b_tp2_fsdp2.joint")), "--passes", passes, "-o", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    )  # fmt: skip
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=600)
    assert process.returncode == 130, said
    assert printed == b"" and list(tmp_path.iterdir()) == []


def test_progress_on_a_terminal() -> None:
    leader, follower = pty.openpty()
    done = subprocess.run(
        [str(BIN / "jointer"), "apply", str(JOINT), "--passes", "remove_tags,min_cut_partition", "--json"],
        stdout=subprocess.PIPE, stderr=follower,
    )  # fmt: skip
    os.close(follower)
    said = os.read(leader, 1 << 16).decode()
    os.close(leader)
    assert done.returncode == 0 and json.loads(done.stdout)["passes"]
    assert "1 of 2  remove_tags" in said and "2 of 2  min_cut_partition" in said
    assert said.endswith("\r\x1b[K"), "the line is erased at the end"


def test_changes_of_numerics_are_noted_only_if_applied() -> None:
    note = "{} may change numerics: outputs need not be bitwise equal"
    value = run("apply", JOINT, "--passes", "regional_inductor{mark=[mm]}", "--json").json
    assert value["notes"] == [note.format("regional_inductor")]
    value = run("apply", STEP, "--passes", "low_contention_collectives{min_bytes=0,skip_overlap_check=true}", "--json")
    assert value.json["notes"] == [note.format("low_contention_collectives")]
    for passes in ("regional_inductor", "low_contention_collectives{min_bytes=1TiB}", "canonicalize_graph,cudagraph"):
        assert run("apply", JOINT, "--passes", passes, "--json").json["notes"] == [], passes


def test_a_pass_that_changes_nothing_says_why() -> None:
    out = run("apply", JOINT, "--passes", "regional_inductor,low_contention_collectives{min_bytes=1TiB}").out
    assert "regional_inductor changed nothing: There is nothing to compile: no call is annotated" in out
    assert "low_contention_collectives changed nothing: a rank sends " in out
    out = run("apply", JOINT, "--passes", "apply_sac,min_cut_partition").out
    assert "changed nothing" not in out


def test_cudagraph_is_skipped_on_the_cpu(tmp_path: Path) -> None:
    text = json.dumps(with_dead_code())
    cuda = run("apply", write(tmp_path / "b.json", text.encode()), "--passes", "cudagraph").out
    assert "`jointer bench --passes` captures a step" in cuda
    text = text.replace("cuda:0", "cpu")
    out = run("apply", write(tmp_path / "a.json", text.encode()), "--passes", "cudagraph").out
    assert "cudagraph changed nothing: The graph is on the CPU, which has no CUDA graphs" in out
    assert "captures a step" not in out


def test_bytes_are_shown_in_units() -> None:
    assert "16 MiB" in run("passes", "low_contention_collectives").out
    (reported,) = run("passes", "low_contention_collectives", "--json").json["passes"]
    assert reported["parameters"][0] | {"default": 16 << 20} == reported["parameters"][0]


def test_the_output_contains_the_recompute_tags(tmp_path: Path) -> None:
    graph = write(tmp_path / "a.json", capture())
    out = tmp_path / "b.json"
    assert run("apply", graph, "--passes", "remove_tags", "-o", out).code == 0
    assert "recompute" not in at(json.loads(out.read_text()), "mm")


# --- jointer bench --passes ---


def everyone() -> dict[str, Any]:
    return {"*": [*BEGIN, *END]}


def test_bench_runs_the_result_of_the_passes(tmp_path: Path) -> None:
    edited = tmp_path / "edited.json"
    assert run("apply", JOINT, "--passes", "canonicalize_graph", "-o", edited).code == 0
    ran = Bench(tmp_path).run(JOINT, "--passes", "canonicalize_graph", "--json", ranks=everyone())
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["pipeline"] == "canonicalize_graph"
    assert ran.json["hash"] == run("info", edited, "--json").json["hash"]
    assert ran.json["predicted"]["peak_bytes"] > 0


def test_bench_uses_the_backend_of_the_pipeline(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    both = "regional_inductor{mark=[mm]},cudagraph"
    gpu = Bench(tmp_path / "gpu")
    gpu.folder.mkdir()
    on_gpu = gpu.run(JOINT, "--passes", both, "--on", "cuda", "--json", ranks=everyone())
    assert (on_gpu.code, on_gpu.json["backend"]) == (0, "regional"), on_gpu.err
    assert all("--recorded" in rank["arguments"] for rank in on_gpu.ranks.values())
    assert any("including what regional_inductor compiled" in note for note in on_gpu.rank(0)["notes"])
    for name, passes, backend in (("both", both, "regional"), ("alone", "cudagraph", "interpret")):
        (tmp_path / name).mkdir()
        ran = Bench(tmp_path / name).run(JOINT, "--passes", passes, "--on", "cpu", "--json", ranks=everyone())
        assert (ran.code, ran.json["backend"]) == (0, backend), ran.err
        notes = [note for rank in ran.json["ranks"] for note in rank["notes"]]
        assert any("cudagraph: skipped" in note for note in notes)
    chosen = bench.run(JOINT, "--passes", both, "--backend", "interpret", "--json", ranks=everyone())
    assert chosen.code == 0 and chosen.json["backend"] == "interpret"
    notes = [note for rank in chosen.json["ranks"] for note in rank["notes"]]
    assert any("regional_inductor may change numerics" in note for note in notes)


def test_bench_interprets_if_nothing_is_annotated(tmp_path: Path) -> None:
    """Like upstream's regional_inductor, which leaves a graph without annotations unchanged."""
    for name, passes, backend in (
        ("without", "regional_inductor", "interpret"),
        ("with", "regional_inductor{mark=[mm]}", "regional"),
    ):
        (tmp_path / name).mkdir()
        ran = Bench(tmp_path / name).run(JOINT, "--passes", passes, "--json", ranks=everyone())
        assert (ran.code, ran.json["backend"]) == (0, backend), ran.err
        notes = [note for rank in ran.json["ranks"] for note in rank["notes"]]
        assert any("so the graph is interpreted" in note for note in notes) == (backend == "interpret")


def test_bench_runs_passes_for_each_ranks_file(tmp_path: Path) -> None:
    for rank in range(4):
        (tmp_path / f"r{rank}.json.zst").write_bytes(JOINT.read_bytes())
    bench = Bench(tmp_path)
    ran = bench.run(
        tmp_path / "r{rank}.json.zst", "--passes", "eliminate_dead_code,min_cut_partition", "--json", ranks=everyone()
    )
    assert (ran.code, ran.err) == (0, "")
    programs = {rank: note["arguments"][-1] for rank, note in ran.ranks.items()}
    assert len(programs) == 4 and len(set(programs.values())) == 1, programs


def test_bench_refuses_passes_that_do_not_fit(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for arguments, word in (
        (["--passes", "no_such_pass"], "no_such_pass"),
        (["--passes", "remove_tags", "--print-command", "torchrun"], "jointer apply FILE --passes"),
        (["--passes", FAILS, "--backend", "interpret"], "no_such_node"),
    ):
        ran = bench.run(JOINT, *arguments)
        assert (ran.code, ran.out) == (2, "") and word in ran.err and ran.err.count("\n") == 1
