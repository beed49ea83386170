"""The main journey with the real programs: from a training script to the same script with a recipe.

Two ranks train the example model (``train.py``), and ``jointer capture`` writes their joint graphs. One
graph is opened, a preset is applied, two rows of the save plan are ticked and a collective is moved, both
in the window (``tests/gui/day_test.cpp``) and on the command line. Each way produces a recipe. The edited
graph runs on two Gloo ranks and is compared with the captured one. The recipes are replayed in a
new run of ``train.py``: training gives bitwise equal results, and torch saves the planned values.

Needs torch 2.11 and zstandard. ``JOINTER_BIN`` names the folder of the built programs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("JOINTER_BIN") or ROOT / "build" / "release" / "bin")
TRAIN = Path(__file__).with_name("train.py")
RANKS = 2

sys.path.insert(0, str(ROOT / "resources" / "python"))

from jointer.document import read_document  # noqa: E402  (found by the line above)

HAS_WINDOW = (BIN / "gui_tests").exists()
WINDOW = pytest.param("window", marks=[] if HAS_WINDOW else [pytest.mark.skip(reason="the window's test is not built")])
each_hand = pytest.mark.parametrize("hand", [WINDOW, pytest.param("command line", id="command_line")])
# Tracing and training on two ranks is slow, so both recipes are tested only with --run-slow.
each_trained_hand = pytest.mark.parametrize(
    "hand", [WINDOW, pytest.param("command line", marks=[pytest.mark.slow] if HAS_WINDOW else [], id="command_line")]
)


def run(*command: object, **environment: str) -> str:
    """Runs a program that must succeed and returns its output."""
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def jointer(*arguments: object) -> Any:
    """The JSON object printed by a command."""
    return json.loads(run(BIN / "jointer", *arguments, "--json"))


def capture_training(folder: Path, *arguments: object) -> Path:
    """Trains under ``jointer capture``; returns the folder with captures and results."""
    torchrun = ("torchrun", "--standalone", "--nproc-per-node", RANKS)
    run(
        *(BIN / "jointer", "capture", "--pair", "--python", sys.executable, "--out", folder, "--"),
        *(*torchrun, TRAIN, "--out", folder, *arguments),
    )
    return folder


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of training without edits: ``rank{rank}.0.joint.json.zst``, ``rank{rank}.0.pt``."""
    return capture_training(tmp_path_factory.mktemp("captured"))


@pytest.fixture(scope="module")
def recipes(captured: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The recipes of the journey in the window and on the command line."""
    folder = tmp_path_factory.mktemp("recipes")
    made = {"command line": by_command_line(captured / "rank0.0.joint.json.zst", folder)}
    if HAS_WINDOW:
        made["window"] = folder / "window.recipe.json"
        run(
            *(BIN / "gui_tests", "day"),
            QT_QPA_PLATFORM="offscreen",
            JOINTER_DAY_CAPTURE=str(captured / "rank0.0.joint.json.zst"),
            JOINTER_DAY_RECIPE=str(made["window"]),
        )
    return made


def by_command_line(graph: Path, folder: Path) -> Path:
    """Applies a preset, ticks one tensor each way, and moves a wait to its first reader."""
    path = folder / "command_line.recipe.json"
    run(BIN / "jointer", "apply", graph, "--passes", "apply_sac,fsdp_reshard_after_fwd", "--save-recipe", path)
    recipe = json.loads(path.read_text())
    plan = jointer("sac", graph)
    nodes = read_document(graph)["nodes"]
    names = [node["name"] for node in nodes]
    saved = {each["node"]: each["bytes"] for each in plan["saved"]}
    forward = [node for node in nodes if node["op"] == "call_function" and node.get("partitioner_tag") == "is_forward"]
    largest = max((node["name"] for node in forward if node["name"] in saved), key=saved.__getitem__)
    product = next(
        node["name"] for node in forward if node["target"] == "aten.mul.Tensor" and node["name"] not in saved
    )
    for policy, node in (("MUST_RECOMPUTE", largest), ("MUST_SAVE", product)):
        change = {"policy": policy, "select": node}
        recipe["edits"].append({"title": f"{policy} {node}", "changes": [change]})
    collectives = jointer("overlap", graph)["collectives"]
    for each in sorted(collectives, key=lambda each: -each["exposed_ms"]):
        at = names.index(each["wait"])
        reader = next(i for i in range(at + 1, len(nodes)) if reads(nodes[i], each["wait"]))
        if reader > at + 1:
            change = {"move": [each["wait"]], "before": names[reader]}
            recipe["edits"].append({"title": f"Move {each['wait']} to its reader", "changes": [change]})
            break
    # The recipe was changed by hand, so its recorded final graph is no longer valid.
    for binding in recipe["graphs"].values():
        del binding["after"]
    path.write_text(json.dumps(recipe, indent=2))
    return path


def reads(node: dict[str, Any], name: str) -> bool:
    return json.dumps({"n": name}) in json.dumps([node.get("args"), node.get("kwargs")])


def edited(captured: Path, recipe: Path, folder: Path) -> str:
    """Replays the recipe on every rank's capture; returns a path with ``{rank}``."""
    for rank in range(RANKS):
        graph = captured / f"rank{rank}.0.joint.json.zst"
        answer = jointer("apply", graph, "--recipe", recipe, "-o", folder / f"edited.{rank}.json")
        assert len(answer["edits"]) == len(json.loads(recipe.read_text())["edits"]) >= 4
        assert answer["skipped"] == []
        assert answer["ends_as_recorded"] is not False
    return str(folder / "edited.{rank}.json")


@dataclass(frozen=True)
class Trained:
    """The results of training with recipes."""

    folder: Path
    hands: list[str]  # in the order of the recipes

    def result(self, rank: int, hand: str) -> dict[str, Any]:
        return result(self.folder, rank, self.hands.index(hand))

    def pair(self, hand: str) -> Path:
        """The pair made by torch's partitioner on rank 0."""
        return self.folder / f"rank0.{self.hands.index(hand)}.pair.json.zst"


@pytest.fixture(scope="module")
def trained(
    recipes: dict[str, Path], request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Trained:
    """Trains with each recipe, or only with the window's."""
    hands = sorted(recipes)
    if HAS_WINDOW and not request.config.getoption("--run-slow"):
        hands = ["window"]
    options = [word for hand in hands for word in ("--recipe", recipes[hand])]
    return Trained(capture_training(tmp_path_factory.mktemp("trained"), *options), hands)


# --- The day ---


def test_the_capture_opens(captured: Path) -> None:
    reported = jointer("info", captured / "rank0.0.joint.json.zst")
    assert reported["kind"] == "joint"
    assert [group["size"] for group in reported["groups"]] == [RANKS]
    assert reported["parameters_bytes"] > 0
    assert jointer("spmd", captured / "rank{rank}.0.joint.json.zst")["agrees"] is True


def test_a_preset_runs(captured: Path) -> None:
    """It also partitions the graph as torch did in the training script."""
    graph = captured / "rank0.0.joint.json.zst"
    out = captured / "ours.json"
    answer = jointer("apply", graph, "--passes", "min_cut_partition", "-o", out)
    assert answer["after"]["peak_bytes"] > 0
    run(BIN / "jointer", "diff", out, captured / "rank0.0.pair.json.zst")
    preset = jointer("apply", graph, "--preset", "fsdp_tp_auto_bucketing")
    assert preset["after"]["exposed_ms"] <= preset["before"]["exposed_ms"]


@each_hand
@pytest.mark.parametrize("is_cut", [False, True], ids=["joint", "cut"])
def test_two_ranks_compute_the_same(
    is_cut: bool, hand: str, captured: Path, recipes: dict[str, Path], tmp_path: Path
) -> None:
    """In the partitioned graph, values are saved and recomputed as ticked."""
    graph = edited(captured, recipes[hand], tmp_path)
    result = jointer(
        *("bench", graph, "--baseline", captured / "rank{rank}.0.joint.json.zst", "--verify"),
        *("--on=cpu", "--threads=1", "--iterations=1", "--warmup=0"),
        *(["--passes", "min_cut_partition"] if is_cut else []),
    )
    assert [rank["status"] for rank in result["ranks"]] == ["done"] * RANKS
    assert result["verify"]["bitwise"] and result["verify"]["compared"] >= 20


@pytest.mark.slow
@each_trained_hand
def test_the_recipe_is_replayed_in_training(hand: str, recipes: dict[str, Path], trained: Trained) -> None:
    recipe = recipes[hand]
    made = json.loads(recipe.read_text())
    for rank in range(RANKS):
        (report,) = trained.result(rank, hand)["replayed"]
        assert report["applied"] == len(made["edits"])
        assert report["skipped"] == 0
        if "after" in made["graphs"]["graph"]:
            assert report["as_recorded"] is True
            assert report["hash"] == made["graphs"]["graph"]["after"]


@each_trained_hand
def test_what_is_trained_is_the_same(
    hand: str, captured: Path, trained: Trained
) -> None:
    for rank in range(RANKS):
        before, after = result(captured, rank, 0), trained.result(rank, hand)
        for a, b in zip(before["losses"], after["losses"], strict=True):
            assert torch.equal(a, b)
        for old, new in zip(before["weights"], after["weights"], strict=True):
            assert old.keys() == new.keys()
            assert all(torch.equal(old[name], new[name]) for name in old)
        assert not torch.equal(before["losses"][0], before["losses"][1])


@each_trained_hand
def test_torch_saves_what_was_planned(
    hand: str, captured: Path, recipes: dict[str, Path], trained: Trained, tmp_path: Path
) -> None:
    graph = edited(captured, recipes[hand], tmp_path).format(rank=0)
    ours = tmp_path / "ours.json"
    run(BIN / "jointer", "apply", graph, "--passes", "min_cut_partition", "-o", ours)
    assert halves(ours) == halves(trained.pair(hand))
    assert halves(trained.pair(hand)) != halves(captured / "rank0.0.pair.json.zst")


def halves(path: Path) -> list[Any]:
    """The calls of each half of a pair in order, and its outputs. The metadata is not compared: torch keeps
    fewer values of recomputed attention than our partitioner, and names its output differently.
    """
    document = read_document(path)
    return [
        ([(node["name"], node["target"]) for node in half["nodes"][:-1]], half["nodes"][-1]["args"])
        for half in (document["forward"], document["backward"])
    ]


@pytest.mark.parametrize("form", ["perfetto", "fx-text", "dot", "csv", "markdown"])
def test_the_edited_graph_is_exported(
    form: str, captured: Path, recipes: dict[str, Path], tmp_path: Path
) -> None:
    graph = edited(captured, recipes["command line"], tmp_path).format(rank=0)
    out = tmp_path / "exported"
    run(BIN / "jointer", "export", graph, "--format", form, "-o", out)
    assert out.stat().st_size > 1000


def result(folder: Path, rank: int, number: int) -> dict[str, Any]:
    return torch.load(folder / f"rank{rank}.{number}.pt")
