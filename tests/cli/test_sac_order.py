"""Plans of ``jointer sac`` in the order that it finds for them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from conftest import JOINT, ROOT, answer, run, sample
from test_sac import flat_step

STEP = sample("llama_debug_fsdp2.train_step")
# Costs under which collectives take as long as compute, so that their positions matter.
COSTS = ["--estimator", "simple{tflops=5,mem_gbs=40}"]
CAPTURES = Path(os.environ.get("JOINTER_SHARED") or ROOT.parent / "shared") / "captures" / "torchtitan_0.3"
HOST_BOUND = CAPTURES / "deepseek_v3_debug_flex.cuda.fsdp4_ep2.traced.train_step.json.zst"


def limit_of(graph: Path) -> int:
    return int(answer("sac", graph, *COSTS)["peak_bytes"] * 0.97)


@pytest.mark.parametrize("graph", [JOINT, STEP], ids=["joint", "step"])
def test_an_order_shortens_the_step(graph: Path, tmp_path: Path) -> None:
    out = tmp_path / "ordered.json"
    search = ["sac", graph, "--budget", f"{limit_of(graph)}B", *COSTS]
    ordered, kept = answer(*search, "-o", out), answer(*search, "--keep-order")
    assert "order" not in kept
    assert ordered["step_ms"] < kept["step_ms"]
    assert ordered["step_ms"] < ordered["order"]["step_ms_without"]
    assert ordered["exposed_ms"] < ordered["order"]["exposed_ms_without"]
    assert ordered["limit"]["met"] and ordered["peak_bytes"] <= ordered["limit"]["asked"]
    assert ordered["limit"]["bound_ms"] <= kept["limit"]["bound_ms"] + 1e-6
    assert ordered["limit"]["bound_ms"] <= ordered["step_ms"]
    # The graph that is written is in this order.
    assert answer("overlap", out, *COSTS)["step_ms"] == pytest.approx(ordered["step_ms"], abs=1e-6)
    assert answer("memory", out)["peak_bytes"] == ordered["peak_bytes"]
    assert answer("sac", out)["reserved_bytes"] == ordered["reserved_bytes"]


@pytest.mark.parametrize("graph", [JOINT, STEP], ids=["joint", "step"])
def test_a_list_of_changes_gets_an_order(graph: Path, tmp_path: Path) -> None:
    out = tmp_path / "listed.json"
    search = ["sac", graph, "--free", "1MiB", *COSTS]
    ordered, kept = answer(*search, "-o", out), answer(*search, "--keep-order")
    assert "order" not in kept
    # The list is the same; its plan is in a different order.
    assert ordered["target"]["list"] == kept["target"]["list"]
    assert ordered["order"]["peak_bytes_without"] == kept["peak_bytes"]
    assert ordered["order"]["step_ms_without"] == pytest.approx(kept["step_ms"], abs=1e-6)
    assert ordered["order"]["exposed_ms_without"] == pytest.approx(kept["exposed_ms"], abs=1e-6)
    assert ordered["step_ms"] < kept["step_ms"]
    assert ordered["peak_bytes"] <= ordered["target"]["limit_bytes"]
    assert ordered["limit"]["reached"] == ordered["peak_bytes"] and ordered["limit"]["met"]
    # So is the best plan that the list is compared with.
    best = ordered["target"]["best"]
    assert best["step_ms"] <= ordered["step_ms"] and "place_collectives" in best["order"]
    # The graph that is written is in this order.
    assert answer("overlap", out, *COSTS)["step_ms"] == pytest.approx(ordered["step_ms"], abs=1e-6)
    assert answer("memory", out)["peak_bytes"] == ordered["peak_bytes"]
    text = run(*search).out
    assert "In the order found for it, the plan has a peak of" in text


def test_twin_groups_are_used_only_if_allowed() -> None:
    search = ["sac", STEP, "--free", "1MiB", *COSTS]
    usual, allowed = answer(*search), answer(*search, "--twin-groups")
    assert "reassign_to_pg" not in usual["order"]["passes"]
    # The same list, in the best of more orders.
    assert allowed["target"]["list"] == usual["target"]["list"]
    assert allowed["step_ms"] <= usual["step_ms"]


def test_twin_groups_need_collectives(tmp_path: Path) -> None:
    step = flat_step(tmp_path)
    done = run("sac", step, "--budget", "1GiB", "--twin-groups")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"jointer: option --twin-groups: has no effect on {step}, which has no collectives to move\n"
    )
    assert answer("sac", step, "--budget", "1GiB", "--keep-order")["limit"]["met"]


def test_the_smallest_plan_profits_from_an_order() -> None:
    search = ["sac", JOINT, "--slower", "0", *COSTS]
    ordered, kept = answer(*search), answer(*search, "--keep-order")
    assert ordered["limit"]["met"] and ordered["step_ms"] <= ordered["limit"]["asked"] / 1e6
    assert ordered["peak_bytes"] <= kept["peak_bytes"]


def test_the_bound_counts_no_call_that_a_bucket_merges() -> None:
    """The CPU limits this step, and launches fewer calls if collectives are bucketed."""
    if not HOST_BOUND.exists():
        pytest.skip(f"there is no {HOST_BOUND}")
    peak = answer("sac", HOST_BOUND)["peak_bytes"]
    lower, higher = (answer("sac", HOST_BOUND, "--budget", f"{limit}B") for limit in (peak * 92 // 100, peak))
    assert "bucket" in lower["order"]["passes"]
    assert 0 < higher["limit"]["bound_ms"] <= lower["limit"]["bound_ms"] + 1e-6
    assert higher["limit"]["bound_ms"] <= lower["step_ms"]


@pytest.mark.slow
def test_the_curve_is_below_that_of_plans_alone() -> None:
    ordered = answer("sac", JOINT, "--pareto", *COSTS)["pareto"]
    kept = answer("sac", JOINT, "--pareto", "--keep-order", *COSTS)["pareto"]
    assert any("order" in point for point in ordered)
    assert not any("order" in point for point in kept)
    for point in kept:
        fits = [each["step_ms"] for each in ordered if each["peak_bytes"] <= point["peak_bytes"]]
        if fits:
            assert min(fits) <= point["step_ms"]
    for one, next_one in zip(ordered, ordered[1:]):
        assert one["peak_bytes"] < next_one["peak_bytes"] and one["step_ms"] > next_one["step_ms"]
        assert one["bound_ms"] <= one["step_ms"]


@pytest.mark.slow
def test_tables_name_the_order() -> None:
    text = run("sac", JOINT, "--budget", f"{limit_of(JOINT)}B", *COSTS).out
    assert re.search(r"^  order +\S*place_collectives; [\d.]+ m?s without$", text, re.MULTILINE)
    assert "its own" in run("sac", JOINT, "--pareto", "--keep-order", *COSTS).out
