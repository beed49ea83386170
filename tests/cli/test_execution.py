"""--execution: the step as torch's compiler runs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import JOINT, answer, each_sample, run, sample
from documents import at, capture, write

LARGE = sample("llama_8b_tp2_fsdp2.joint")
PAIR = sample("llama_8b_tp2_fsdp2.min_cut")
TRAIN_STEP = sample("llama_debug_fsdp2.train_step")  # on the CPU
MARK = {"compile_with_inductor": {}}


@each_sample
def test_parts_of_the_step_add_up(path: Path) -> None:
    eager = run("overlap", path, "--json").json
    compiled = run("overlap", path, "--execution", "inductor", "--json").json
    assert eager["execution"] == "eager" and compiled["execution"] == "inductor"
    for overlap in (eager, compiled):
        parts = overlap["compute_ms"] + overlap["exposed_ms"] + overlap["host_bound_ms"]
        assert overlap["step_ms"] == pytest.approx(parts)
    if "8b" in path.name:
        assert compiled["compute_ms"] < eager["compute_ms"]
    assert compiled["collective_count"] == eager["collective_count"]
    assert "kernels as predicted for Inductor in torch" in compiled["estimator"]


@each_sample
def test_commands_agree(path: Path) -> None:
    options = ("--execution", "inductor", "--json")
    memory, overlap = run("memory", path, *options).json, run("overlap", path, *options).json
    query = run("query", path, "SELECT step_ns, exposed_ns, peak_bytes FROM step", *options).json
    assert query["execution"] == memory["execution"] == "inductor"
    [[step, exposed, peak]] = query["rows"]
    assert step / 1e6 == pytest.approx(overlap["step_ms"])
    assert exposed / 1e6 == pytest.approx(overlap["exposed_ms"])
    assert peak == memory["peak_bytes"] == sum(memory["at_peak"].values())
    assert sum(entry["bytes"] for entry in memory["live_at_peak"]) == peak


def test_memory_is_that_of_the_kernels() -> None:
    """The kernels' own peak is lower: it leaves out memory that the program never frees."""
    kernels = run("kernels", JOINT, "--source", "predicted", "--json").json
    memory = run("memory", JOINT, "--execution", "inductor", "--json").json
    assert kernels["peak_bytes"] <= memory["peak_bytes"]
    assert memory["peak_bytes"] <= kernels["peak_bytes"] + answer("memory", JOINT)["static_bytes"]


def test_a_cuda_graph_is_launched_once() -> None:
    inductor, graph = (
        run("overlap", PAIR, "--execution", execution, "--json").json for execution in ("inductor", "cudagraph")
    )
    assert graph["compute_ms"] == inductor["compute_ms"]
    assert graph["host_bound_ms"] < inductor["host_bound_ms"] or inductor["host_bound_ms"] < 0.1
    assert graph["step_ms"] <= inductor["step_ms"]


@pytest.mark.parametrize("command", ["memory", "overlap"])
def test_text_names_the_execution(command: str) -> None:
    done = run(command, LARGE, "--execution", "inductor")
    assert done.code == 0 and "kernels as predicted for Inductor in torch" in done.out
    assert "predicted" not in run(command, LARGE).out


@pytest.mark.parametrize(
    ("path", "execution", "reason"),
    [
        (TRAIN_STEP, "cudagraph", "no CUDA graphs"),
        (JOINT, "regional", "no call of"),
    ],
)
@pytest.mark.parametrize("command", ["memory", "overlap"])
def test_an_execution_that_is_impossible_is_refused(path: Path, execution: str, reason: str, command: str) -> None:
    done = run(command, path, "--execution", execution, "--json")
    assert (done.code, done.out) == (2, "")
    assert "option --execution" in done.err and reason in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("memory", JOINT, "--torch-compatible", "--execution", "inductor"), "--torch-compatible"),
        (("memory", JOINT, "--loop", "2", "--execution", "inductor"), "--loop"),
        (("overlap", JOINT, "--text", "--execution", "inductor"), "--text"),
        (("export", JOINT, "--format", "dot", "-o", "-", "--execution", "inductor"), "--execution"),
        (("overlap", JOINT, "--execution", "fast"), "--execution"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: tuple[object, ...], reason: str) -> None:
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert reason in done.err


def test_marked_calls_are_compiled(tmp_path: Path) -> None:
    document = capture()
    at(document, "mm")["custom"] = MARK
    path = write(tmp_path / "marked.json", document)
    regional = run("overlap", path, "--execution", "regional", "--json").json
    eager = run("overlap", path, "--json").json
    assert regional["execution"] == "regional"
    # A region of one call of a library takes as long as the call.
    assert regional["compute_ms"] == pytest.approx(eager["compute_ms"])


def test_graphs_are_compared_as_they_run() -> None:
    eager = run("diff", JOINT, JOINT, "--json").json["metrics"]
    compiled = run("diff", JOINT, JOINT, "--execution", "inductor", "--json").json["metrics"]
    overlap = run("overlap", JOINT, "--execution", "inductor", "--json").json
    assert compiled["step_ms"] == [overlap["step_ms"]] * 2
    assert compiled["step_ms"][0] != eager["step_ms"][0]
