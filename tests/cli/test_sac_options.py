"""Options of ``jointer sac`` that cannot apply are refused for every kind of graph, and never ignored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import JOINT, answer, run, sample

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")
STEP = sample("llama_debug_fsdp2.train_step")
OF_PARTITIONERS = [["--partitioner", "min_cut"], ["--solver", "greedy"], ["--points", "8"]]


def refused(arguments: list[str], path: str | Path = JOINT) -> str:
    done = run("sac", path, *arguments)
    assert done.code == 2 and done.out == "", done
    assert done.err.count("\n") == 1, done.err
    return done.err.removeprefix("jointer: ")


# --- Joint graphs ---


@pytest.mark.parametrize("option", [["--solver", "greedy"], ["--strict-budget"]], ids=" ".join)
@pytest.mark.parametrize("budget", ["0", "1", "1.0"])
def test_budgets_without_a_choice_need_no_solver(option: list[str], budget: str) -> None:
    assert refused(["--budget", budget, *option]).startswith(
        f"option {option[0]}: has no effect with the budgets 0 and 1"
    )


@pytest.mark.parametrize("budget", ["0", "0.5", "1"])
def test_the_default_partitioner_has_no_budget(budget: str) -> None:
    assert refused(["--partitioner", "default", "--budget", budget]).startswith(
        "option --budget: the partitioner `default` has no activation budget; use --partitioner min_cut"
    )


@pytest.mark.parametrize(
    "arguments, option",
    [
        (["--points", "8"], "--points"),
        (["--points", "8", "--budget", "0.5"], "--points"),
        (["--points", "8", "--partitioner", "default"], "--points"),
        (["--no-offload", "--budget", "0.5"], "--no-offload"),
        (["--keep-order"], "--keep-order"),
        (["--keep-order", "--budget", "0.5"], "--keep-order"),
        (["--twin-groups"], "--twin-groups"),
        (["--twin-groups", "--budget", "0.5"], "--twin-groups"),
        (["--solver", "greedy"], "--solver"),
        (["--solver", "greedy", "--partitioner", "default"], "--solver"),
        (["--strict-budget", "--partitioner", "default"], "--strict-budget"),
    ],
    ids=str,
)
def test_options_of_a_search_need_one(arguments: list[str], option: str) -> None:
    assert refused(arguments).startswith(f"option {option}: needs ")


@pytest.mark.parametrize("target", [["--free", "1MiB"], ["--budget", "100GiB", "--by", "operator"]], ids=" ".join)
def test_a_list_of_changes_may_keep_the_order(target: list[str]) -> None:
    value = answer("sac", JOINT, *target, "--keep-order")
    assert "order" not in value and "order" not in value["target"]["best"]


@pytest.mark.parametrize("search", [["--budget", "100GiB"], ["--free", "1MiB"]], ids=" ".join)
@pytest.mark.parametrize("option", ["--keep-order", "--twin-groups"])
def test_an_exported_policy_has_no_order(option: str, search: list[str]) -> None:
    assert refused([*search, "--export", "recipe", option]).startswith(f"option {option}: has no effect with --export")


def test_only_orders_use_twin_groups() -> None:
    assert "--keep-order and --twin-groups cannot be used together" in refused(
        ["--free", "1MiB", "--keep-order", "--twin-groups"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("search", [["--budget", "100GiB"], ["--slower", "5"], ["--pareto"]], ids=" ".join)
def test_options_of_a_search_are_used_by_one(search: list[str]) -> None:
    for option in (
        ["--points", "2"],
        ["--solver", "greedy"],
        ["--no-offload"],
        ["--strict-budget"],
        ["--keep-order"],
        ["--twin-groups"],
    ):
        assert answer("sac", JOINT, *search, *option)["peak_bytes"] > 0


@pytest.mark.parametrize("budget", ["40", "1.5", "2", "1048575", "1048576.5"])
def test_a_budget_needs_a_unit(budget: str) -> None:
    assert f"as in {budget}GiB" in refused(["--budget", budget])


def test_bytes_without_a_unit_are_those_of_a_peak() -> None:
    value = answer("sac", JOINT, "--budget", "1073741824")
    assert value["limit"]["kind"] == "peak" and value["limit"]["asked"] == 1 << 30


@pytest.mark.parametrize("budget", ["1B", "0.5 KiB"])
def test_a_number_with_a_unit_is_a_peak(budget: str) -> None:
    done = run("sac", JOINT, "--budget", budget, "--json")
    assert done.code == 1, done.err  # no plan is that small
    limit = json.loads(done.out)["limit"]
    assert limit["kind"] == "peak" and limit["asked"] == {"1B": 1, "0.5 KiB": 512}[budget]
    assert not limit["met"]


def test_points_of_no_budget_have_none() -> None:
    value = answer("sac", JOINT, "--pareto")
    budgets = {(point["peak_bytes"], point["step_ms"]) for point in value["budgets"]}
    for point in value["pareto"]:
        figures = (point["peak_bytes"], point["step_ms"])
        assert point["budget"] is None or figures in budgets or "name" in point


def test_a_plan_is_compared_with_a_file_only() -> None:
    assert refused(["--against", "-"]) == (
        "option --against: cannot read standard input (`-`); give a file\n"
    )


# --- Other graphs ---


@pytest.mark.parametrize("option", OF_PARTITIONERS, ids=" ".join)
@pytest.mark.parametrize("more", [[], ["--preset", "full"], ["--ignore-tags"]], ids=str)
def test_a_flat_step_has_no_partitioner(option: list[str], more: list[str]) -> None:
    assert refused([*option, *more], STEP).startswith(f"option {option[0]}: ")


@pytest.mark.parametrize(
    "option",
    [
        [],
        *OF_PARTITIONERS,
        ["--budget", "0.5"],
        ["--budget", "40GiB"],
        ["--slower", "5"],
        ["--pareto"],
        ["--strict-budget"],
        ["--no-offload"],
        ["--preset", "full"],
        ["--save", "aten.mm"],
        ["--ignore-tags"],
        ["--export", "recipe"],
        ["--why", "mm"],
    ],
    ids=" ".join,
)
def test_a_half_has_no_plan(option: list[str], tmp_path: Path) -> None:
    pair, half = tmp_path / "pair.json", tmp_path / "fw.json"
    assert run("sac", JOINT, "-o", pair).code == 0
    half.write_text(json.dumps(json.loads(pair.read_text())["forward"]))
    assert refused(option, half).startswith(
        f"{half} is a forward graph, which has no plan without its other half; open the pair with `jointer sac FORWARD"
    )


@pytest.mark.parametrize(
    "arguments, option",
    [(["--points", "8"], "--points"), (["--solver", "greedy"], "--solver"), (["--keep-order"], "--keep-order")],
    ids=str,
)
def test_options_of_a_search_need_one_on_a_pair_too(arguments: list[str], option: str) -> None:
    assert refused(arguments, PAIR).startswith(f"option {option}: needs ")
