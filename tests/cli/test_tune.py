"""``jointer apply --passes auto_tune``: its result as estimates, edits and a pipeline."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import JOINT, run, sample

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")
TUNE = "auto_tune{evaluations=40}"


@pytest.mark.parametrize("graph", [JOINT, PAIR], ids=["joint", "pair"])
def test_is_faster_within_the_unedited_peak(graph: Path) -> None:
    value = run("apply", graph, "--passes", TUNE, "--decisions", "--json").json
    assert value["after"]["step_ms"] < value["before"]["step_ms"]
    assert value["after"]["peak_bytes"] <= value["before"]["peak_bytes"]
    (step,) = value["passes"]
    assert step["ran"] and step["ran_limit"] == value["before"]["peak_bytes"]
    actions = {each["action"] for each in value["decisions"] if each["pass"] == "auto_tune"}
    assert {"chosen", "step", "searched", "tried", "note"} <= actions
    tables = {table["title"]: table for table in value["tables"] if table["pass"] == "auto_tune"}
    rows = [row["cells"] for row in tables["step time against peak memory"]["rows"]]
    frontier = [row for row in rows if row[-1] in ("frontier", "winner")]
    assert [row[-1] for row in rows].count("winner") == 1
    for a, b in zip(frontier, frontier[1:], strict=False):
        assert a[2] < b[2] and a[3] > b[3], "more memory, less time"


def test_is_deterministic_for_any_number_of_threads(tmp_path: Path) -> None:
    written = set()
    for threads in (1, 2, 4):
        out = tmp_path / f"{threads}.json"
        passes = f"auto_tune{{evaluations=30,seed=7,threads={threads}}}"
        assert run("apply", PAIR, "--passes", passes, "-o", out).code == 0
        written.add(out.read_bytes())
    assert len(written) == 1


def test_the_recipe_has_readable_steps_and_replays(tmp_path: Path) -> None:
    out, recipe, again = (tmp_path / name for name in ("out.json", "r.json", "again.json"))
    done = run("apply", PAIR, "--passes", TUNE, "-o", out, "--save-recipe", recipe)
    assert done.code == 0, done.err
    edits = json.loads(recipe.read_text())["edits"]
    assert edits and all("auto_tune" not in edit["by"] for edit in edits)
    assert run("apply", PAIR, "--recipe", recipe, "-o", again, "--json").json["ends_as_recorded"] is True
    assert run("diff", out, again).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("graph", [JOINT, PAIR], ids=["joint", "pair"])
@pytest.mark.parametrize("name", ["found.jointer-passes", "found.json"])
def test_the_pipeline_does_the_same_without_a_search(graph: Path, name: str, tmp_path: Path) -> None:
    out, found, again = (tmp_path / each for each in ("out.json", name, "again.json"))
    assert run("apply", graph, "--passes", TUNE, "-o", out, "--save-pipeline", found).code == 0
    (limit,) = re.findall(r"--budget (\d+B)", found.read_text())
    value = run("apply", graph, "--passes", f"@{found}", "--budget", limit, "-o", again, "--json").json
    assert "auto_tune" not in [each["name"] for each in value["passes"]]
    assert out.read_bytes() == again.read_bytes()


def test_a_budget_that_nothing_meets() -> None:
    done = run("apply", PAIR, "--passes", TUNE, "--budget", "1KiB", "--decisions", "--json")
    assert done.code == 1
    value = json.loads(done.out)
    assert value["before"] == value["after"], "the graph is unchanged"
    assert any(each["action"] == "kept" and "lowest peak" in each["reason"] for each in value["decisions"])


def test_its_own_budget_that_nothing_meets(tmp_path: Path) -> None:
    out = tmp_path / "out.jointer-passes"
    done = run("apply", PAIR, "--passes", "auto_tune{evaluations=8,memory_budget=1KiB}", "--save-pipeline", out)
    assert done.code == 1
    assert "auto_tune" in done.err and "its budget of 1.00 KiB" in done.err and done.err.count("\n") == 1
    assert "Found for" not in out.read_text()
    assert run("apply", PAIR, "--passes", "auto_tune{seconds=0}").code == 0, "the graph is within its own peak"


def test_invalid_arguments_are_refused() -> None:
    for given, word in (("evaluations=0", "evaluations"), ("seconds=-1", "seconds"), ("budget=3", "budget")):
        done = run("apply", PAIR, "--passes", f"auto_tune{{{given}}}")
        assert done.code == 2 and word in done.err and done.err.count("\n") == 1


def test_a_time_limit_ends_the_search() -> None:
    done = run("apply", PAIR, "--passes", "auto_tune{evaluations=1000000,seconds=1}", "--decisions", "--json")
    (said,) = [each["reason"] for each in done.json["decisions"] if each["action"] == "searched"]
    assert "the time limit was reached" in said
    assert done.cpu_seconds < 30
