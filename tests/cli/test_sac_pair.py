"""``jointer sac`` on pairs: a pair is joined if the plan changes, and changes start from its own plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, answer, run, sample

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")
FIGURES = ("peak_bytes", "step_ms", "exposed_ms", "recompute_ms", "saved_storage_bytes", "reserved_bytes")


def names(value: dict[str, Any]) -> list[str]:
    return [row["node"] for row in value["saved"]]


def figures(value: dict[str, Any]) -> list[float]:
    return [value[key] for key in FIGURES]


def test_without_options_it_is_shown_as_captured() -> None:
    value = answer("sac", PAIR)
    assert value["notes"] == []


def test_its_own_plan_has_its_figures(tmp_path: Path) -> None:
    out = tmp_path / "same.json"
    captured, own = answer("sac", PAIR), answer("sac", PAIR, "-o", out)
    assert figures(own) == figures(captured) and names(own) == names(captured)
    assert "is a pair: its halves were joined" in own["notes"][0]
    assert "`this plan` is the plan of the pair as captured" in own["notes"][0]
    assert figures(answer("sac", out)) == figures(captured)
    assert all(row["reason"].startswith("the pair saves it") for row in own["saved"])


@pytest.mark.parametrize(
    "options",
    [  # not the default partitioner: min_cut has merged equal calls, which that one saves twice
        ["--partitioner", "min_cut"],
        ["--ignore-tags"],
        ["--preset", "full"],
        ["--save", "aten.mm"],
        ["--budget", "0.5"],
    ],
    ids=" ".join,
)
def test_a_partitioner_decides_as_for_the_joint_graph(options: list[str]) -> None:
    pair, joint = answer("sac", PAIR, *options), answer("sac", JOINT, *options)
    assert sorted(names(pair)) == sorted(names(joint))
    assert pair["peak_bytes"] == joint["peak_bytes"]
    assert "which the options partition from scratch" in pair["notes"][0]


def test_a_peak_in_bytes_is_met_and_written(tmp_path: Path) -> None:
    captured = answer("sac", PAIR)
    limit = int(captured["peak_bytes"] * 0.9)
    out = tmp_path / "new.json"
    value = answer("sac", PAIR, "--budget", f"{limit}B", "-o", out)
    assert value["limit"]["met"] and value["peak_bytes"] <= limit
    written = answer("sac", out)
    assert written["peak_bytes"] == value["peak_bytes"] and written["step_ms"] == value["step_ms"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--keep-order"], ["--limit-of", "reserved"]], ids=str)
def test_the_answer_is_never_worse_than_the_pair(options: list[str]) -> None:
    captured = answer("sac", PAIR)
    memory = "reserved_bytes" if "reserved" in options else "peak_bytes"
    value = answer("sac", PAIR, "--slower", "0", *options)
    assert value["limit"]["asked"] == pytest.approx(captured["step_ms"] * 1e6, rel=1e-6)
    assert value["step_ms"] <= captured["step_ms"] and value[memory] <= captured[memory]
    value = answer("sac", PAIR, "--budget", f"{captured[memory]}B", *options)
    assert value["step_ms"] <= captured["step_ms"] and value[memory] <= captured[memory]


@pytest.mark.slow
def test_a_reordered_pair_keeps_its_figures(tmp_path: Path) -> None:
    moved = tmp_path / "moved.json"
    assert run("apply", PAIR, "--passes", "place_collectives", "-o", moved).code == 0
    captured, own = answer("sac", moved), answer("sac", moved, "-o", tmp_path / "same.json")
    assert captured["step_ms"] < answer("sac", PAIR)["step_ms"]
    assert figures(own)[:3] == figures(captured)[:3]
    assert any("not in the order in which a partitioner leaves it" in note for note in own["notes"])
    value = answer("sac", moved, "--slower", "0")
    assert value["step_ms"] <= captured["step_ms"] and value["peak_bytes"] <= captured["peak_bytes"]


@pytest.mark.slow
def test_the_curve_reaches_the_pair() -> None:
    captured, curve = answer("sac", PAIR), answer("sac", PAIR, "--pareto")["pareto"]
    assert any(
        point["peak_bytes"] <= captured["peak_bytes"] and point["step_ms"] <= captured["step_ms"] for point in curve
    )


def test_a_list_of_changes_starts_with_the_pair() -> None:
    captured = answer("sac", PAIR)
    target = answer("sac", PAIR, "--free", "1MiB")["target"]
    assert target["before"]["peak_bytes"] == captured["peak_bytes"]
    assert target["before"]["step_ms"] == captured["step_ms"]


def test_checkpointing_changes_the_pairs_plan() -> None:
    captured, value = answer("sac", PAIR), answer("sac", PAIR, "--checkpoint", "layers.0")
    assert value["saved_storage_bytes"] < captured["saved_storage_bytes"]


def test_why_says_what_the_pair_does() -> None:
    saved = names(answer("sac", PAIR))[0]
    (why,) = answer("sac", PAIR, "--why", saved)["why"]
    assert why["keep"] == "save" and why["reason"].startswith("the pair saves it")
    assert why["decided_by"] == "tag"


@pytest.mark.slow
def test_compared_with_its_own_plan() -> None:
    against = answer("sac", PAIR, "--slower", "0", "--against-tags")["against"]
    assert against["changed"] > 0


def test_the_pass_joins(tmp_path: Path) -> None:
    out = tmp_path / "pair.json"
    done = run("apply", PAIR, "--passes", "join,min_cut_partition,place_collectives", "-o", out, "--json")
    assert done.code == 0, done.err
    assert names(answer("sac", out)) == names(answer("sac", PAIR))
    refused = run("apply", JOINT, "--passes", "join", "-o", out)
    assert refused.code == 2 and "join needs a forward/backward pair" in refused.err
