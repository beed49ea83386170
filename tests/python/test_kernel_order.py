"""Recipes of compiled order: their format, and two ranks that train with them under torch.compile."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from processes import run_ranks

from jointer.compiled_order import read_compiled_order
from jointer.errors import RecipeError
from jointer.kernel_order import _first_difference, order_pass

GATHER = "_c10d_functional.all_gather_into_tensor.default"
SCATTER = "_c10d_functional.reduce_scatter_tensor.default"
WAIT = "_c10d_functional.wait_tensor.default"
#: Elements of a shard, and of a whole weight, in trainer_in_order.py.
SHARD, WHOLE = 512, 1024


def collective(target: str, numel: int) -> dict[str, Any]:
    return {"target": target, "group": 0, "ranks": 2, "dtype": "float32", "numel": numel}


def kernel(kind: str, name: str, target: str, number: int = 0, **more: int) -> dict[str, Any]:
    return {"kind": kind, **more, "nodes": [{"name": name, "target": target, "number": number}]}


def start(number: int, target: str = GATHER) -> dict[str, Any]:
    return kernel("collective", "start", target, collective=number)


def wait(number: int) -> dict[str, Any]:
    return kernel("wait", "wait_tensor", WAIT, collective=number)


def product(number: int) -> dict[str, Any]:
    return kernel("extern", "mm" if number == 0 else f"mm_{number}", "aten.mm.default", number)


#: Starts to gather the second weight before it waits for the first one, and waits for the first gradient
#: only after the second one is on its way. Inductor does neither.
RECIPE: dict[str, Any] = {
    "format": "jointer-compiled-order",
    "version": 1,
    "graphs": {
        "forward": {
            "collectives": [collective(GATHER, SHARD)] * 2,
            "moves": [
                {"move": wait(1), "before": product(1)},
                {"move": start(1), "before": wait(0)},
            ],
        },
        "backward": {
            "collectives": [collective(SCATTER, WHOLE)] * 2,
            "moves": [{"move": wait(0), "after": start(1, SCATTER)}],
        },
    },
}


def changed(**members: Any) -> dict[str, Any]:
    return {**copy.deepcopy(RECIPE), **members}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"format": "jointer-recipe"}, "not a recipe of compiled order"),
        (changed(version=2), "version 2 is not supported.*use a newer Jointer"),
        (changed(version=0), "version 0 is not supported: this program reads version 1$"),
        (changed(version=True), "`version` is missing or not an integer"),
        (changed(graphs={"forward": {"moves": []}}), "forward: `collectives` is missing"),
        (
            changed(graphs={"graph": {"collectives": [], "moves": [{"move": wait(0)}]}}),
            "graph, move 0: expected either `before` or `after`",
        ),
        (
            changed(graphs={"graph": {"collectives": [{"ranks": "two"}], "moves": []}}),
            "graph, collective 0: `ranks`: expected an integer",
        ),
    ],
)
def test_damaged_recipes_are_refused(document: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        read_compiled_order(document)


def test_a_file_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "order.json"
    path.write_text(json.dumps(RECIPE))
    assert read_compiled_order(path).digest == read_compiled_order(RECIPE).digest
    path.write_text(json.dumps(RECIPE)[:-20])
    with pytest.raises(RecipeError, match="truncated or damaged"):
        order_pass(path)
    path.write_bytes(b"\xff")
    with pytest.raises(RecipeError, match="byte 0 is not UTF-8 text"):
        order_pass(path)


def test_the_schema_accepts_recipes() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "resources" / "schema" / "compiled_order.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    assert check.is_valid(RECIPE)
    foreach = copy.deepcopy(RECIPE)
    foreach["graphs"]["forward"]["moves"][0]["move"]["kind"] = "foreach"
    assert check.is_valid(foreach)
    both = copy.deepcopy(RECIPE)
    both["graphs"]["backward"]["moves"][0]["before"] = start(0)
    assert not check.is_valid(both)
    assert not check.is_valid(changed(version=2))


def test_ranks_of_a_group_are_named_by_their_global_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    dist = pytest.importorskip("torch.distributed")
    monkeypatch.setattr(dist, "get_global_rank", lambda group, rank: group[rank])
    difference = _first_difference([["a"], ["b"]], 1, [4, 6])
    assert difference.endswith("kernel 0 is `b` on rank 6, `a` on rank 4")
    assert _first_difference([["a"], ["b"]], 1, None).endswith("`b` on rank 1, `a` on rank 0")


def broken() -> dict[str, Any]:
    """Moves that cannot be applied: one names a kernel that does not exist, and two violate a dependency."""
    document = copy.deepcopy(RECIPE)
    document["graphs"]["forward"]["moves"] = [
        {"move": wait(1), "after": kernel("extern", "bmm_7", "aten.bmm.default", 7)},
        {"move": product(1), "before": product(0)},
        {"move": start(1), "before": start(0)},
    ]
    return document


def other_program() -> dict[str, Any]:
    document = copy.deepcopy(RECIPE)
    document["graphs"]["forward"]["collectives"].append(collective(GATHER, SHARD))
    return document


SCENARIOS: dict[str, dict[str, Any]] = {
    "plain": {},
    "drawn": {"recipe": RECIPE},
    "only_pass": {"recipe": RECIPE, "only_pass": True},
    "broken": {"recipe": broken()},
    "other_recipe": {"recipe": [RECIPE, changed(name="another")]},
    "other_program": {"recipe": other_program()},
    "ranks_differ": {"recipe": RECIPE, "differs": True},
}


@pytest.fixture(scope="module")
def trained() -> list[dict[str, dict[str, Any]]]:
    """The results of every scenario, by rank."""
    script = Path(__file__).with_name("trainer_in_order.py")
    ended = run_ranks([str(script), json.dumps(list(SCENARIOS.values()))], 2, timeout=900)
    for each in ended:
        assert each.code == 0, each.errors
    return [dict(zip(SCENARIOS, each.lines, strict=True)) for each in ended]


RANKS = pytest.mark.parametrize("rank", [0, 1])
Trained = list[dict[str, dict[str, Any]]]


@RANKS
@pytest.mark.parametrize("scenario", ["drawn", "only_pass", "broken", "other_recipe", "other_program"])
def test_losses_are_bitwise_equal(trained: Trained, rank: int, scenario: str) -> None:
    losses = trained[rank]["plain"]["losses"]
    assert len(set(losses)) == len(losses)
    assert trained[rank][scenario]["losses"] == losses


@RANKS
@pytest.mark.parametrize("scenario", ["drawn", "only_pass"])
def test_collectives_run_in_the_order_of_the_recipe(trained: Trained, rank: int, scenario: str) -> None:
    forward, backward = trained[rank][scenario]["calls"]
    gather, scatter, waiting = "all_gather_into_tensor", "reduce_scatter_tensor", "wait_tensor"
    assert forward == [gather, gather, waiting, "mm", waiting, "mm"]
    only_communication = [call for call in backward if call != "mm"]
    assert only_communication == [scatter, scatter, waiting, waiting]
    reports = trained[rank][scenario]["reports"]
    assert [report["graph"] for report in reports] == ["forward", "backward"]
    assert all(not report["skipped"] and not report["difference"] for report in reports)
    assert [len(report["applied"]) for report in reports] == [2, 1]


@RANKS
def test_without_the_recipe_the_order_is_different(trained: Trained, rank: int) -> None:
    drawn, plain = (trained[rank][each]["calls"] for each in ("drawn", "plain"))
    assert plain[0] != drawn[0]
    assert trained[rank]["other_program"]["calls"][0] == plain[0]


@RANKS
def test_moves_that_do_not_fit_are_reported(trained: Trained, rank: int) -> None:
    report = trained[rank]["broken"]["reports"][0]
    assert report["applied"] == []
    assert report["not_found"] == ["bmm_7"]
    missing, needed, swapped = report["skipped"]
    assert "not found: bmm_7" in missing
    assert "needs" in needed and "which would run later" in needed
    assert "which would run later" in swapped
    # The backward's moves do fit.
    assert len(trained[rank]["broken"]["reports"][1]["applied"]) == 1


@RANKS
def test_another_program_is_left_as_it_is(trained: Trained, rank: int) -> None:
    report = trained[rank]["other_program"]["reports"][0]
    assert report["applied"] == []
    assert "it has 2 collectives, the recorded one 3" in report["difference"]


@RANKS
def test_ranks_with_different_recipes_keep_the_order(trained: Trained, rank: int) -> None:
    for report in trained[rank]["other_recipe"]["reports"]:
        assert report["difference"] == "the recipe of rank 1 is not that of rank 0"
        assert report["applied"] == []
    assert trained[rank]["other_recipe"]["calls"] == trained[rank]["plain"]["calls"]


def test_ranks_with_different_programs_keep_the_order(trained: Trained) -> None:
    for each in trained:
        report = each["ranks_differ"]["reports"][0]
        assert "ranks schedule different programs" in report["difference"]
        assert report["applied"] == []
    first, second = ([r["difference"] for r in each["ranks_differ"]["reports"]] for each in trained)
    assert first == second
    starts = [
        [call for call in each["ranks_differ"]["calls"][0] if call != "mm"] for each in trained
    ]
    assert starts[0] == starts[1] == [c for c in trained[0]["plain"]["calls"][0] if c != "mm"]
