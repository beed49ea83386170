"""`jointer bench` with real processes: ranks receive their options, each kind of failure is reported, and no
process or file is left."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, ROOT, SAMPLES, answer, run, sample
from documents import capture, half, node, n, tensor, write
from launching import BEGIN, END, FAKE_RANK, Bench, collectives, compute_node, die_soon, positions

NUMBER = (int, float)
WORLD = 4  # ranks of JOINT
TIMEOUT = "3"  # seconds: more than a rank needs for a step on a busy machine
#: Less than the ranks here sleep, and more than a busy machine needs to stop them.
PROMPT_SECONDS = 30


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def everyone(*actions: Any) -> dict[str, Any]:
    return {"*": [*BEGIN, *actions]}


def one(rank: int, *actions: Any, others: list[Any] | None = None) -> dict[str, Any]:
    return {str(rank): [*BEGIN, *actions], "*": [*BEGIN, *(END if others is None else others)]}


# --- Successful runs ---


def test_result_has_the_keys_of_the_contract(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks=everyone(["verified"], *END))
    assert (ran.code, ran.err) == (0, "")
    result = ran.json
    assert result["backend"] == "interpret"
    assert result["device"] == "Test CPU, 1 thread"
    assert [rank["rank"] for rank in result["ranks"]] == [0, 1, 2, 3]
    for rank in result["ranks"]:
        assert rank["status"] == "done"
        assert rank["peak_bytes"] == 4096
        assert rank["step_ms"] == {"median": 2.0, "min": 1.0, "max": 3.0}
    assert isinstance(result["predicted"]["peak_bytes"], int)
    assert isinstance(result["predicted"]["step_ms"], float)
    measured = result["measured"]
    assert (measured["peak_bytes"], measured["requested_peak_bytes"], measured["reserved_peak_bytes"]) == (
        4096, 4000, 8192)
    assert measured["step_ms"] == 2.0
    for key in ("tokens_per_second", "tflops", "mfu"):
        assert isinstance(measured[key], NUMBER), key
    assert {"equal": True, "bitwise": True, "max_abs_diff": 0.0, "output": ""}.items() <= result["verify"].items()


def test_results_and_events_fit_the_schema(bench: Bench) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "resources" / "schema" / "runner.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator({**schema, "anyOf": [{"$ref": "#/$defs/result"}]})
    good = bench.run(JOINT, "--json", "--profile", ranks=everyone(["verified"], *END))
    bad = bench.run(JOINT, "--json", ranks=one(1, ["kill", 9]))
    for ran in (good, bad):
        validator.validate(ran.json)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**good.json, "version": 2})
    lines = subprocess.run([sys.executable, FAKE_RANK], capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        jsonschema.validate(json.loads(line), {**schema, "anyOf": [{"$ref": "#/$defs/event"}]})


def test_ranks_get_what_torchrun_would_set(bench: Bench) -> None:
    ran = bench.run(JOINT, "--iterations", "5", "--seed=7", "--on", "cpu", "--json")
    environments = [ran.ranks[rank]["environment"] for rank in range(WORLD)]
    for rank, environment in enumerate(environments):
        expected = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "4",
                    "LOCAL_WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1",
                    "OMP_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // 4))}
        assert expected.items() <= environment.items()
    assert len({environment["MASTER_PORT"] for environment in environments}) == 1
    assert 0 < int(environments[0]["MASTER_PORT"]) < 65536
    assert len({environment["JOINTER_STATUS_FILE"] for environment in environments}) == WORLD
    assert ran.ranks[2]["arguments"] == ["--ranks=4", "--on=cpu", "--iterations=5", "--seed=7", str(JOINT)]


def test_number_of_threads_can_be_given(bench: Bench) -> None:
    ran = bench.run(JOINT, "--threads", "3", "--json")
    assert ran.ranks[0]["environment"]["OMP_NUM_THREADS"] == "3"


def test_one_rank_alone(bench: Bench) -> None:
    ran = bench.run(JOINT, "--solo", "3", "--json")
    assert [rank["rank"] for rank in ran.json["ranks"]] == [3]
    assert ran.ranks.keys() == {0}
    assert ran.ranks[0]["environment"]["WORLD_SIZE"] == "1"
    assert "--solo=3" in ran.ranks[0]["arguments"]


def test_a_graph_without_collectives_is_one_rank(bench: Bench, tmp_path: Path) -> None:
    path = write(tmp_path / "one.json", small_graph())
    assert len(bench.run(path, "--json").json["ranks"]) == 1
    assert len(bench.run(path, "--ranks", "3", "--json").json["ranks"]) == 3


def test_figures_are_those_of_the_highest_and_the_slowest_rank(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks={
        "1": [*BEGIN, ["measured", {"peak_bytes": 9000, "reserved_peak_bytes": 1}], ["done"]],
        "2": [*BEGIN, ["measured", {"step_ns": [9_000_000]}], ["done"]]})
    assert ran.json["measured"]["peak_bytes"] == 9000
    assert ran.json["measured"]["reserved_peak_bytes"] == 1
    assert ran.json["measured"]["step_ms"] == 9.0


def test_the_estimate_is_for_the_device_of_the_run(bench: Bench) -> None:
    """The capture is for a CPU, where `memory` gives the same peak except for Gloo's copies; on a GPU sizes
    are rounded up.
    """
    on_cpu = bench.run(JOINT, "--solo", "0", "--json").json["predicted"]
    assert "CPU" in on_cpu["estimator"]
    for threads, cores in (("1", "1 core"), ("3", "3 cores")):  # its share of the machine's
        few = bench.run(JOINT, "--threads", threads, "--json").json["predicted"]
        assert few["estimator"] == f"roofline, Generic CPU, {cores}"
        device = f"cpu{{cores={threads}}}"
        assert few["step_ms"] == pytest.approx(answer("overlap", JOINT, "--device", device)["step_ms"])
    assert bench.run(JOINT, "--json").json["predicted"]["peak_bytes"] >= on_cpu["peak_bytes"]
    gpu = {"*": [["started", {"device": "NVIDIA H200", "device_type": "cuda"}], *END]}
    on_gpu = bench.run(JOINT, "--json", ranks=gpu).json["predicted"]
    assert "H200" in on_gpu["estimator"]
    assert on_cpu["peak_bytes"] == answer("memory", JOINT)["peak_bytes"]
    assert on_cpu["peak_bytes"] < on_gpu["peak_bytes"]
    assert on_gpu["step_ms"] == pytest.approx(answer("overlap", JOINT, "--device", "h200")["step_ms"])
    asked = bench.run(JOINT, "--json", "--device", "a100", "--estimator", "simple").json["predicted"]
    assert asked["step_ms"] == pytest.approx(
        answer("overlap", JOINT, "--device", "a100", "--estimator", "simple")["step_ms"])


def test_an_unknown_gpu_is_estimated_as_another_with_a_note(bench: Bench) -> None:
    gpu = {"*": [["started", {"device": "NVIDIA L40S", "device_type": "cuda"}], *END]}
    notes = bench.run(JOINT, "--json", ranks=gpu).json["notes"]
    assert any("NVIDIA L40S" in note and "H100" in note and "--device" in note for note in notes)
    asked = bench.run(JOINT, "--json", "--device", "a100", ranks=gpu).json["notes"]
    assert not any("L40S" in note for note in asked)


def test_a_gpu_without_a_description_is_estimated_from_its_properties(bench: Bench) -> None:
    l40s = {"name": "NVIDIA L40S", "major": 8, "minor": 9, "multiprocessors": 142, "sm_mhz": 2520,
            "memory_mhz": 9001, "memory_bus_bits": 384, "memory_bytes": 47_810_936_832}
    gpu = {"*": [["started", {"device": "NVIDIA L40S", "device_type": "cuda", "gpu": l40s}], *END]}
    result = bench.run(JOINT, "--json", ranks=gpu).json
    assert "NVIDIA L40S, by its properties" in result["predicted"]["estimator"]
    (note,) = (note for note in result["notes"] if "no built-in description" in note)
    assert "H100" not in note and "--device" in note
    hopper = bench.run(JOINT, "--json", "--device", "h100", ranks=gpu).json
    assert hopper["predicted"]["step_ms"] < result["predicted"]["step_ms"]


def test_slow_steps_at_the_end_are_reported(bench: Bench) -> None:
    slower = [1_000_000] * 4 + [1_200_000] * 4
    ran = bench.run(JOINT, ranks=everyone(["measured", {"step_ns": slower}], ["done"]))
    assert "the last quarter of steps was 20.0% slower than the first quarter" in ran.out
    assert "slower" not in bench.run(JOINT, ranks=everyone(*END)).out


def test_slowest_calls_have_rates(bench: Bench) -> None:
    at = positions()["mm_1"]
    nodes = {"position": [at], "start_ns": [0], "end_ns": [5_000_000], "own_ns": [4_000_000]}
    actions = [["measured", {"nodes": nodes}], ["done"]]
    cpu = bench.run(JOINT, "--profile", ranks=everyone(*actions)).out
    (line,) = (line for line in cpu.splitlines() if line.strip().startswith("mm_1 "))
    assert "4.00 ms" in line and "FLOP/s" in line and "GB/s" in line and "of peak" not in line
    gpu = {"*": [["started", {"device": "NVIDIA H200", "device_type": "cuda"}], *actions]}
    on_gpu = bench.run(JOINT, "--profile", ranks=gpu).out
    assert "of peak" in next(line for line in on_gpu.splitlines() if line.strip().startswith("mm_1 "))
    assert "slowest calls" not in bench.run(JOINT, ranks=everyone(*END)).out


def test_a_rank_alone_does_not_communicate(bench: Bench) -> None:
    """Local copies replace its collectives; a captured step does not wait for launches, either."""
    gpu = {"*": [["started", {"device": "NVIDIA H200", "device_type": "cuda"}], *END]}
    overlap = answer("overlap", JOINT, "--device", "h200")
    alone = bench.run(JOINT, "--solo", "0", "--json", ranks=gpu).json["predicted"]["step_ms"]
    without = overlap["step_ms"] - overlap["exposed_ms"]
    assert without < alone < overlap["step_ms"]
    recorded = bench.run(JOINT, "--solo", "0", "--backend", "cudagraph", "--json", ranks=gpu)
    assert recorded.json["predicted"]["step_ms"] < alone


def test_figures_of_a_gpu(bench: Bench) -> None:
    """Kernels that ran at the same time count once. The GPU's state and its libraries' memory are shown."""
    kernels = {"position": [20, 21, 22], "name": ["a", "b", "c"], "stream": [7, 7, 8],
               "start_ns": [0, 500_000, 600_000], "end_ns": [100_000, 900_000, 800_000]}
    state = {"sm_mhz": 1785, "max_sm_mhz": 1980, "memory_mhz": 2619, "milliwatts": 683_289,
             "celsius": 63, "used_bytes": 1 << 30, "slowdowns": ["power limit"]}
    measured = {"kernels": kernels, "gpu": state, "workspace_bytes": 32 << 20, "outside_bytes": 700 << 20}
    gpu = {"*": [["started", {"device": "NVIDIA H200", "device_type": "cuda"}],
                 ["measured", measured], ["done"]]}
    text = bench.run(JOINT, "--solo", "0", "--profile", ranks=gpu).out
    assert "busy for 500 us of 2.00 ms: launch-bound" in text
    assert "1785 of 1980 MHz, 683 W, 63" in text and "slowed down by: power limit" in text
    assert "32.0 MiB of workspaces" in text and "700 MiB on the GPU outside the allocator" in text
    (rank,) = bench.run(JOINT, "--solo", "0", "--profile", "--json", ranks=gpu).json["ranks"]
    assert rank["kernels"] == kernels and rank["gpu"] == state


def test_waiting_for_other_ranks(bench: Bench) -> None:
    """Clocks of ranks differ, but all ranks leave the collective together."""
    (collective, wait), late = collectives()[0], 500_000

    def at(clock: int, start: int) -> list[Any]:
        spans = [(start, 900_000), (600_000, 900_000)]
        nodes = {"position": [positions()[collective], positions()[wait]],
                 "start_ns": [clock + begin for begin, _ in spans],
                 "end_ns": [clock + end for _, end in spans], "own_ns": [1, 1]}
        return [["started"], ["measured", {"nodes": nodes}], ["done"]]

    ranks = {"3": at(77_000, 200_000 + late), "*": at(0, 200_000)}
    skew = bench.run(JOINT, "--profile", "--json", ranks=ranks).json["skew"]
    first = skew["collectives"][0]
    assert (first["node"], first["last_rank"], first["skew_ms"]) == (collective, 3, late / 1e6)
    assert first["transfer_ms"] == 0.2 and skew["clock_error_ms"] == 0
    assert [span["end_ms"] for span in first["spans"]] == [0.9] * len(first["spans"])
    text = bench.run(JOINT, "--profile", ranks=ranks).out
    assert "clocks aligned at the ends of collectives to within" in text
    (row,) = (line for line in text.splitlines() if "rank 3" in line and "500 us" in line)
    assert row.split()[0] == collective
    assert "skew" not in bench.run(JOINT, "--json").json
    assert bench.run(JOINT, "--profile", "--solo", "0", "--json").json["skew"] is None
def test_a_gpu_that_is_faulty_shared_or_divided(bench: Bench) -> None:
    state = {"sm_mhz": 1785, "max_sm_mhz": 1980, "memory_mhz": 2619, "milliwatts": 683_289, "celsius": 63,
             "used_bytes": 5 << 30, "other_processes": 1, "other_bytes": 2 << 30, "uncorrected_ecc_errors": 3,
             "mig": True}
    gpu = {"*": [["started", {"device": "NVIDIA H200", "device_type": "cuda"}],
                 ["measured", {"gpu": state}], ["done"]]}
    text = bench.run(JOINT, "--solo", "0", ranks=gpu).out
    assert ("5.00 GiB of memory used, 2.00 GiB of it by other processes; 1 other process is using the GPU; "
            "3 uncorrected ECC errors; divided into MIG instances") in text
    (rank,) = bench.run(JOINT, "--solo", "0", "--profile", "--json", ranks=gpu).json["ranks"]
    assert rank["gpu"] == state


def test_a_memory_snapshot_is_named(bench: Bench) -> None:
    path = "/data/jointer/benchmarks/snapshots/rank1.pickle"
    ranks = one(1, ["fail", "memory", "mm_3", "CUDA out of memory", {"memory_snapshot": path}], ["exit", 4],
                others=[["hang"]])
    ran = bench.run(JOINT, ranks=ranks)
    assert ran.code == 4
    assert f"rank 1 failed during measure at mm_3: CUDA out of memory\n  memory snapshot: {path}\n" in ran.out
    assert ran.out.count("memory snapshot") == 1
    result = bench.run(JOINT, "--json", ranks=ranks).json
    assert result["ranks"][1]["memory_snapshot"] == path
    assert "memory_snapshot" not in result["ranks"][0]


def test_an_option_turns_pinning_off(bench: Bench) -> None:
    assert "--no-pinning" not in bench.run(JOINT, "--json").ranks[0]["arguments"]
    assert "--no-pinning" in bench.run(JOINT, "--json", "--no-pinning").ranks[0]["arguments"]


def test_no_utilization_against_another_devices_peak(bench: Bench) -> None:
    measured = bench.run(JOINT, "--json", "--device", "h100").json["measured"]
    assert measured["mfu"] is None
    assert measured["tflops"] > 0


def test_tables_say_estimate_and_measurement(bench: Bench) -> None:
    at = positions()["mm_1"]
    ran = bench.run(JOINT, ranks=everyone(
        ["verified"], ["note", "flash attention: its CPU form"],
        ["measured", {"peak_bytes": 50_000_000, "requested_peak_bytes": 50_000_000,
                "resident_peak_bytes": 49_000_000,
                      "scratch": {"position": [at], "bytes": [1_000_000]}}], ["done"]))
    assert ran.code == 0 and ran.err == ""
    for text in ("estimate", "difference", "47.7 MiB", "%", "aten.mm", "mm_1", "3 outputs bitwise equal",
                 "note: flash attention: its CPU form", "tokens/s"):
        assert text in ran.out, text
    assert ran.out.count("note: ") == 1


def test_the_difference_in_peak_is_explained_by_name(bench: Bench) -> None:
    at = positions()["mm_1"]
    measure = {"peak_bytes": 50_000_000, "requested_peak_bytes": 50_000_000,
               "resident_peak_bytes": 49_000_000,
               "scratch": {"position": [at], "bytes": [1_000_000]}}
    result = bench.run(JOINT, "--json", "--profile", ranks=everyone(["measured", measure], ["done"])).json
    explained = result["explained"]
    assert explained["difference_bytes"] == 50_000_000 - result["predicted"]["peak_bytes"]
    assert explained["scratch_bytes"] == 1_000_000
    assert explained["held_bytes"] == 49_000_000 - result["predicted"]["peak_bytes"]
    assert explained["rounding_bytes"] == 0
    assert explained["operators"] == [
        {"target": "aten.mm.default", "calls": 1, "most_bytes": 1_000_000, "node": "mm_1"}]
    assert result["ranks"][0]["scratch"] == {"position": [at], "bytes": [1_000_000]}
    assert bench.run(JOINT, "--json", ranks={"*": [["exit", 1]]}).json["explained"] is None


def test_progress_is_for_terminals(bench: Bench) -> None:
    assert bench.run(JOINT, ranks=everyone(["sleep", 0.2], *END)).err == ""
    leader, follower = pty.openpty()
    process = bench.start(JOINT, "--json", ranks=everyone(["stage", "measure", 1, 3], ["sleep", 0.3], *END),
                          stderr=follower)
    os.close(follower)
    out = process.communicate(timeout=600)[0]
    shown = os.read(leader, 1 << 16).decode()
    os.close(leader)
    assert json.loads(out)["succeeded"]
    assert "4 ranks, measure 1 of 3" in shown
    assert shown.endswith("\r\x1b[K")


# --- Inputs ---


def small_graph() -> dict[str, Any]:
    document = capture()
    document["nodes"] = [each for each in document["nodes"] if each["name"] not in ("ar", "wait", "output")]
    document["nodes"].append(node("output", "output", "output", [[n("mm")]], None))
    return document


def paths_of(ran: Any, rank: int = 0) -> list[str]:
    return [word for word in ran.ranks[rank]["arguments"] if not word.startswith("-")]


def test_a_native_capture_is_passed_unchanged(bench: Bench) -> None:
    assert paths_of(bench.run(JOINT, "--json")) == [str(JOINT)]


@pytest.mark.parametrize("source", ["text", "stdin"])
def test_other_inputs_become_native_captures(bench: Bench, tmp_path: Path, source: str) -> None:
    keep = tmp_path / "kept.json"
    # A rank that keeps the file it received.
    runner = tmp_path / "keeper"
    runner.write_text(f'#!/bin/sh\nfor last; do :; done\ncp "$last" {keep}\nexec {FAKE_RANK} "$@"\n')
    runner.chmod(0o755)
    bench.environment["JOINTER_RUNNER"] = str(runner)
    if source == "text":
        text = tmp_path / "graph.txt"
        assert run("export", JOINT, "--format", "fx-text", "-o", text).code == 0
        ran = bench.run(text, "--ranks", "4", "--json")
    else:
        ran = bench.run("-", "--json", stdin=JOINT.read_bytes())
    assert ran.code == 0, ran.err
    assert paths_of(ran)[0] not in (str(JOINT), str(tmp_path / "graph.txt"))
    info = answer("info", keep)
    assert info["nodes"] == answer("info", JOINT)["nodes"]
    if source == "stdin":
        assert info["hash"] == answer("info", JOINT)["hash"]


def test_a_rank_may_have_its_own_file(bench: Bench, tmp_path: Path) -> None:
    for rank in range(2):
        write(tmp_path / f"g{rank}.json", capture())
        (tmp_path / f"in{rank}.safetensors").write_bytes(b"")
    pattern = str(tmp_path / "g{rank}.json")
    ran = bench.run(pattern, "--inputs", tmp_path / "in{rank}.safetensors", "--json")
    assert ran.code == 0, ran.err
    assert paths_of(ran, 1) == [pattern]
    (tmp_path / "in1.safetensors").unlink()
    missing = bench.run(pattern, "--inputs", tmp_path / "in{rank}.safetensors")
    assert missing.code == 3 and "in1.safetensors" in missing.err
    (tmp_path / "g1.json").unlink()
    missing = bench.run(pattern)
    assert missing.code == 3 and "g1.json" in missing.err


def test_verify_names_a_baseline(bench: Bench, tmp_path: Path) -> None:
    itself = bench.run(JOINT, "--verify", "--json")
    assert f"--baseline={JOINT}" in itself.ranks[0]["arguments"]
    other = sample("llama_debug_tp2_fsdp2.min_cut")
    edited = bench.run(JOINT, "--verify", "--baseline", other, "--json")
    assert f"--baseline={other}" in edited.ranks[0]["arguments"]
    # A baseline given as FX text becomes a capture too.
    text = tmp_path / "graph.txt"
    assert run("export", JOINT, "--format", "fx-text", "-o", text).code == 0
    converted = bench.run(JOINT, "--baseline", text, "--json")
    (baseline,) = [word for word in converted.ranks[0]["arguments"] if word.startswith("--baseline=")]
    assert baseline.endswith("baseline.json")
    # The result records the request as given.
    assert f"--baseline={text}" in converted.json["request"]


def test_an_unrelated_baseline_is_refused_before_ranks_start(bench: Bench, tmp_path: Path) -> None:
    """A different number of outputs, or outputs of different shapes."""
    other = sample("llama_debug_fsdp2.joint")
    ran = bench.run(JOINT, "--verify", "--baseline", other)
    assert ran.code == 2 and not ran.ranks
    assert ran.err.count("\n") == 1 and "cannot compare outputs: " in ran.err
    assert "float32[" in ran.err or " outputs, but " in ran.err


@pytest.mark.parametrize("equal, code", [(True, 0), (False, 1)])
def test_different_outputs_exit_with_1(bench: Bench, equal: bool, code: int) -> None:
    differs = {"bitwise": False, "equal": equal, "max_abs_diff": 0.5, "output": "loss", "element": 3, "bound": 0.1}
    ranks = one(2, ["verified", differs], *END, others=[["verified"], *END])
    ran = bench.run(JOINT, "--verify", "--json", ranks=ranks)
    assert ran.code == code
    verify = ran.json["verify"]
    assert (verify["equal"], verify["bitwise"], verify["max_abs_diff"], verify["output"]) == (
        equal, False, 0.5, "loss")
    table = bench.run(JOINT, "--verify", ranks=ranks)
    assert table.code == code
    assert ("DIFFERENT" in table.out) != equal and "loss at element 3" in table.out


# --- Wrong usage ---


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        ([JOINT, "--ranks", "2"], 2, ["4 ranks", "--solo"]),
        ([JOINT, "--ranks", "100"], 2, ["4 ranks", "--solo"]),
        ([sample("llama_debug_tp2.joint"), "--solo", "2"], 2, ["has 2 ranks, numbered 0 to 1"]),
        ([JOINT, "--solo", "0", "--ranks", "4"], 2, ["--solo"]),
        ([JOINT, "--backend", "jit"], 2, ["--backend", "interpret"]),
        ([JOINT, "--on", "tpu"], 2, ["--on", "cuda"]),
        ([JOINT, "--iterations", "0"], 2, ["--iterations"]),
        ([JOINT, "--timeout", "soon"], 2, ["--timeout"]),
        ([JOINT, "--device", "gtx480"], 2, ["h100"]),
        ([JOINT, "--estimator", "crystal-ball"], 2, ["roofline"]),
        ([JOINT, "--print-command", "mpirun"], 2, ["torchrun"]),
        ([JOINT, "--print-command", "torchrun", "--nodes", "3", "--ranks-per-node", "1"], 2, ["need 4"]),
        (["absent.json"], 3, ["absent.json"]),
        ([JOINT, "--expected", "absent.safetensors"], 3, ["absent.safetensors"]),
        ([JOINT, "--baseline", "absent.json"], 3, ["absent.json"]),
    ],
)
def test_errors_are_one_line(bench: Bench, arguments: list[Any], code: int, words: list[str]) -> None:
    ran = bench.run(*arguments)
    assert ran.code == code, ran
    assert ran.out == "" and ran.ranks == {}
    assert ran.err.startswith("jointer: ") and ran.err.count("\n") == 1
    for word in words:
        assert word in ran.err


def test_a_world_too_large_for_one_machine(bench: Bench, tmp_path: Path) -> None:
    document = capture()
    document["groups"]["0"]["ranks"] = list(range(128))
    document["world_size"] = 128
    path = write(tmp_path / "large.json", document)
    ran = bench.run(path)
    assert ran.code == 2 and "128 ranks are too many" in ran.err and "--solo" in ran.err
    assert bench.run(path, "--solo", "127", "--json").code == 0


def test_ranks_that_do_not_fit_are_not_started(bench: Bench, tmp_path: Path) -> None:
    document = capture()
    document["storages"][0] = 1 << 45
    path = write(tmp_path / "large.json", document)
    ran = bench.run(path)
    assert ran.code == 2 and ran.out == "" and ran.ranks == {}
    assert "each of the 2 ranks needs 32.0 TiB, but its share of the free memory is" in ran.err
    assert "--solo 0" in ran.err and "--any-size" in ran.err
    alone = bench.run(path, "--solo", "0")
    assert alone.code == 2 and "the rank needs 32.0 TiB" in alone.err and "--solo 0" not in alone.err
    assert bench.run(path, "--any-size", "--json").code == 0


def test_the_runner_must_exist(bench: Bench) -> None:
    bench.environment["JOINTER_RUNNER"] = "/no/such/runner"
    ran = bench.run(JOINT)
    assert ran.code == 4 and ran.out == "" and "/no/such/runner" in ran.err
    bench.environment["JOINTER_RUNNER"] = "/etc/passwd"
    assert bench.run(JOINT).code == 4


def test_the_python_backend_runs_the_module(bench: Bench) -> None:
    bench.environment["JOINTER_PYTHON"] = str(FAKE_RANK)
    bench.environment["JOINTER_RUNNER"] = "/no/such/runner"
    ran = bench.run(JOINT, "--backend", "python", "--json")
    assert ran.code == 0, ran.err
    assert ran.ranks[1]["arguments"] == ["-m", "jointer", "bench", "--ranks=4", "--backend=python", str(JOINT)]
    package = ran.ranks[1]["environment"]["PYTHONPATH"].split(":")[0]
    assert (Path(package) / "jointer").is_dir()
    bench.environment["JOINTER_PYTHON"] = "/no/such/python"
    ran = bench.run(JOINT, "--backend", "python")
    assert ran.code == 4 and "/no/such/python" in ran.err


# --- Failed ranks: which, where, why ---


def assert_failed(ran: Any, rank: int, status: str, *words: str, node_name: str = "") -> None:
    """The JSON object is printed, the line on standard error names the rank, and the other ranks are stopped."""
    assert ran.code == 4
    assert ran.json["succeeded"] is False
    row = ran.rank(rank)
    assert row["status"] == status, row
    assert row["node"] == node_name, row
    assert ran.err.startswith(f"jointer: rank {rank}: ") and ran.err.count("\n") == 1, ran.err
    assert ran.err == f"jointer: {ran.json['failure']}\n"
    for word in words:
        assert word in row["reason"], row["reason"]
        assert word in ran.err


OTHERS = [["sleep", 60]]


def test_an_exit_code(bench: Bench) -> None:
    where = compute_node()
    ran = bench.run(JOINT, "--json", ranks=one(
        1, ["at", positions()[where]], ["stderr", "first\nthe last word\n\n"], ["exit", 3], others=OTHERS))
    assert_failed(ran, 1, "died", "exit code 3", "the last word", node_name=where)
    assert ran.rank(1)["stage"] == "measure"
    assert [rank["status"] for rank in ran.json["ranks"]] == ["stopped", "died", "stopped", "stopped"]
    assert "rank 1 failed" in ran.rank(0)["reason"]
    assert ran.seconds < PROMPT_SECONDS


@pytest.mark.parametrize("number, name", [(9, "SIGKILL"), (11, "SIGSEGV"), (6, "SIGABRT")])
def test_a_signal(bench: Bench, number: int, name: str) -> None:
    where = compute_node()
    ran = bench.run(JOINT, "--json", ranks=one(2, ["at", positions()[where]], ["kill", number], others=OTHERS))
    assert_failed(ran, 2, "died", f"signal {number} ({name})", node_name=where)
    if number == 9:
        assert "out of memory" in ran.err


def test_an_uncaught_exception(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks=one(0, ["raise", "what went wrong"], others=OTHERS))
    assert_failed(ran, 0, "died", "exit code 1", "RuntimeError: what went wrong")


def test_memory_exhausted(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks=one(3, ["memory"], others=OTHERS))
    assert_failed(ran, 3, "died", "exit code 1", "MemoryError")


def test_a_failure_that_a_rank_reports(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks=one(
        1, ["fail", "memory", "mm_3", "out of memory: 12 bytes more than --memory-limit"], ["exit", 1], others=OTHERS))
    assert_failed(ran, 1, "failed", "12 bytes more than", node_name="mm_3")
    assert ran.rank(1)["kind"] == "memory"


def test_a_rank_that_reports_failure_and_stays_is_stopped(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks=one(
        1, ["stubborn"], ["fail", "device", "", "no CUDA device"], ["hang"], others=OTHERS))
    assert_failed(ran, 1, "failed", "no CUDA device")
    assert ran.seconds < PROMPT_SECONDS


def test_a_silent_exit(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks=one(0, ["exit", 0], others=OTHERS))
    assert_failed(ran, 0, "died", "without reporting that it was done")


def test_a_crash_after_done(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks=one(0, *END, ["kill", 11]))
    assert_failed(ran, 0, "died", "signal 11", "after it reported that it was done")
    # Its measurements are kept.
    assert ran.rank(0)["peak_bytes"] == 4096


def test_the_cause_is_named_and_not_its_consequence(bench: Bench) -> None:
    """Rank 0 loses the connection before the launcher notices that rank 1 was killed."""
    where, (collective, wait) = compute_node(), collectives()[0]
    lost = [["at", positions()[wait]], ["fail", "collective", collective, "connection closed by peer"], ["exit", 1]]
    ran = bench.run(JOINT, "--json", ranks={
        "0": [*BEGIN, *lost],
        "1": [*BEGIN, ["at", positions()[where]], ["sleep", 0.4], ["kill", 9]],
        "*": [*BEGIN, ["sleep", 0.5], *lost]})
    assert_failed(ran, 1, "died", "signal 9", node_name=where)
    assert ran.rank(0)["status"] == "failed"
    assert ran.rank(0)["node"] == collective


def test_a_failed_collective_says_where_the_others_are(bench: Bench) -> None:
    (first, first_wait), (second, second_wait) = collectives()[:2]
    ran = bench.run(JOINT, "--json", ranks={
        "0": [*BEGIN, ["at", positions()[first_wait]], ["sleep", 0.3],
              ["fail", "collective", first, "timed out"], ["exit", 1]],
        "*": [*BEGIN, ["at", positions()[second_wait]], ["sleep", 60]]})
    assert_failed(ran, 0, "failed", f"timed out, while rank 1 is at {second}", "do not match", node_name=first)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["collective", "hang"])
def test_a_collective_that_timed_out_because_another_rank_is_stuck(bench: Bench, kind: str) -> None:
    """The waiting ranks give up a little before the launcher's own deadline."""
    where, (collective, wait) = compute_node(), collectives()[0]
    ran = bench.run(JOINT, "--json", "--timeout", "8", ranks=one(
        2, ["at", positions()[where]], ["hang"],
        others=[["at", positions()[wait]], ["sleep", 4],
                ["fail", kind, collective, "timed out"], ["exit", 1]]))
    assert_failed(ran, 2, "hung", "no progress for", f"while rank 0 is at {collective}", node_name=where)
    assert f"timed out, while rank 2 is at {where}" in [rank["reason"] for rank in ran.json["ranks"]]


def test_ranks_that_report_a_hang(bench: Bench) -> None:
    (first, first_wait), (second, second_wait) = collectives()[:2]
    give_up = lambda name, at: [*BEGIN, ["at", positions()[at]], ["sleep", 0.3],  # noqa: E731
                                ["fail", "hang", name, "no progress for 0.3 s"], ["exit", 1]]
    ran = bench.run(JOINT, "--json", ranks={"0": give_up(first, first_wait), "*": give_up(second, second_wait)})
    assert {rank["status"] for rank in ran.json["ranks"]} == {"hung"}
    assert f"no progress for 0.3 s, while rank 1 is at {second}: the ranks' collectives do not match" in (
        ran.rank(0)["reason"])
    assert ran.code == 4 and "do not match" in ran.err


@pytest.mark.slow
def test_collectives_that_do_not_match(bench: Bench) -> None:
    (first, first_wait), (second, second_wait) = collectives()[:2]
    ran = bench.run(JOINT, "--json", "--timeout", TIMEOUT, ranks={
        "0": [*BEGIN, ["at", positions()[first_wait]], ["hang"]],
        "1": [*BEGIN, ["at", positions()[second_wait]], ["hang"]],
        "*": [*BEGIN, ["at", positions()[first]], ["hang"]]})
    assert_failed(ran, 0, "hung", f"no progress for {TIMEOUT} s", f"rank 1 is at {second}", "do not match", node_name=first)
    assert ran.rank(1)["status"] == "hung" and f"rank 0 is at {first}" in ran.rank(1)["reason"]
    assert float(TIMEOUT) < ran.seconds < PROMPT_SECONDS


@pytest.mark.slow
def test_a_collective_where_every_rank_hangs(bench: Bench) -> None:
    first, wait = collectives()[0]
    ran = bench.run(JOINT, "--json", "--timeout", TIMEOUT, ranks=everyone(["at", positions()[wait]], ["hang"]))
    assert_failed(ran, 0, "hung", "where every rank is", node_name=first)


def test_the_stuck_rank_is_named_and_not_the_waiting_ones(bench: Bench) -> None:
    where, (collective, wait) = compute_node(), collectives()[0]
    ran = bench.run(JOINT, "--json", "--timeout", TIMEOUT, ranks=one(
        3, ["stubborn"], ["at", positions()[where]], ["hang"],
        others=[["stubborn"], ["at", positions()[wait]], ["hang"]]))
    assert_failed(ran, 3, "hung", f"while rank 0 is at {collective}", node_name=where)
    assert "do not match" not in ran.err
    assert [rank["status"] for rank in ran.json["ranks"]] == ["stopped"] * 3 + ["hung"]


def test_a_hang_before_any_node(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", "--timeout", TIMEOUT, ranks={"*": [["started"], ["stage", "groups"], ["hang"]]})
    assert_failed(ran, 0, "hung", f"no progress for {TIMEOUT} s")
    assert ran.rank(0)["stage"] == "groups"
    assert "during groups" in ran.err


@pytest.mark.slow
def test_the_timeout_starts_after_a_rank_has_started(bench: Bench) -> None:
    """A busy machine may take longer than the timeout to start a rank."""
    ran = bench.run(JOINT, "--json", "--timeout", TIMEOUT, ranks={"0": [["sleep", 6], *BEGIN, *END], "*": [*BEGIN, *END]})
    assert ran.code == 0, ran.err


@pytest.mark.slow
def test_waiting_for_a_rank_that_makes_progress_is_not_a_hang(bench: Bench) -> None:
    """Three ranks wait at a collective for longer than the timeout while the fourth makes progress."""
    waiting = [["at", positions()[collectives()[0][1]]], ["sleep", 8], *END]
    ran = bench.run(JOINT, "--json", "--timeout", TIMEOUT, ranks=one(2, ["live", 8], *END, others=waiting))
    assert ran.code == 0, ran.err


def test_a_rank_that_stays_after_done_does_not_delay_the_others(bench: Bench) -> None:
    """The rank is killed at the end of the run, and its measurements count."""
    ran = bench.interrupt(JOINT, "--json", count=WORLD, ranks=one(0, *END, ["stubborn"], ["hang"], others=OTHERS))
    assert ran.code == 130 and ran.rank(0)["peak_bytes"] == 4096


def test_children_of_ranks_are_stopped_too(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks=one(
        1, ["grandchild"], ["grandchild", True], ["exit", 5], others=[["grandchild"], *OTHERS]))
    assert_failed(ran, 1, "died", "exit code 5")
    assert len(ran.pids) == WORLD * 2 + 1


def test_ranks_that_ignore_a_request_to_stop_are_killed(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks=one(1, ["exit", 5], others=[["stubborn"], *OTHERS]))
    assert_failed(ran, 1, "died", "exit code 5")
    assert ran.seconds < PROMPT_SECONDS


# --- Invalid output of ranks ---


def test_lines_that_are_not_events_are_skipped(bench: Bench) -> None:
    noise = [["print", "loading...\n{}\n{\"event\": 5}\n[1, 2\n\n"], ["bytes", "fffe00410a"], ["flood", 2000],
             ["print", "{\"event\":\"later\",\"x\":1}\n"], ["print", "no end of line"]]
    ran = bench.run(JOINT, "--json", ranks=everyone(*noise, ["print", "\n"], *END, ["print", "bye"]))
    assert ran.code == 0, ran.err
    assert ran.json["measured"]["peak_bytes"] == 4096


def test_nothing_but_garbage(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks={"*": [["bytes", "00ff" * 100], ["flood", 100]]})
    assert ran.code == 4
    assert "without reporting that it was done" in ran.err


def test_a_newer_protocol_is_refused(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks={
        "2": [["print", "{\"event\":\"started\",\"protocol\":2}\n"], *END], "*": [*BEGIN, *OTHERS]})
    assert_failed(ran, 2, "failed", "protocol 2", "same version of Jointer")


def test_events_may_have_more_members(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks=everyone(["measured", {"later": {"a": [1]}}], ["done"]))
    assert ran.code == 0


def test_terminal_escapes_of_a_rank_are_removed(bench: Bench) -> None:
    ran = bench.run(JOINT, "--json", ranks=one(0, ["fail", "load", "", "bad\x1b[2J\nname"], others=OTHERS))
    assert "\x1b" not in ran.err and ran.err.count("\n") == 1


# --- Interruption ---


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_stops_all_ranks_first(bench: Bench, number: int) -> None:
    stubborn = [["stubborn"], ["grandchild"], ["sleep", 60]]
    ran = bench.interrupt(JOINT, "--json", count=WORLD, ranks=everyone(*stubborn), signal_number=number)
    assert ran.code == 130
    assert ran.seconds < PROMPT_SECONDS
    assert {rank["status"] for rank in ran.json["ranks"]} == {"stopped"}
    assert {rank["reason"] for rank in ran.json["ranks"]} == {"cancelled"}
    assert ran.left_over == []


def test_ranks_stop_if_the_program_is_killed(bench: Bench) -> None:
    process = bench.start(JOINT, ranks=everyone(["stubborn"], ["sleep", 60]))
    pids = bench.wait_for_ranks(WORLD)
    process.kill()
    process.communicate(timeout=600)
    assert die_soon(pids)


# --- Other launchers ---


def test_command_lines_for_other_launchers(bench: Bench) -> None:
    line = bench.run(JOINT, "--print-command", "torchrun", "--nodes", "2", "--ranks-per-node", "2",
                     "--iterations", "3").out
    assert line.startswith("torchrun --nnodes=2 --nproc-per-node=2 ")
    assert line.endswith(f" --no-python jointer-runner --iterations=3 {JOINT}\n")
    slurm = bench.run(JOINT, "--print-command", "slurm", "--nodes", "2", "--json").json["command"]
    assert slurm.startswith("srun --nodes=2 --ntasks-per-node=2 ")
    alone = bench.run(JOINT, "--print-command", "torchrun", "--solo", "1").out
    assert "--solo=1" in alone


def test_printed_commands_need_native_captures(bench: Bench, tmp_path: Path) -> None:
    texts = []
    for kind in ("forward", "backward"):
        graph = write(tmp_path / f"{kind}.json", half(kind))
        texts.append(tmp_path / f"{kind}.txt")
        assert run("export", graph, "--format", "fx-text", "-o", texts[-1]).code == 0
    forward, backward = texts
    for given, remedy in (
        ([forward], f"`jointer apply {forward} -o OUT.json`"),
        ([forward, "--backward", backward], f"`jointer apply {forward} --backward {backward} -o OUT.json`"),
    ):
        ran = bench.run(*given, "--print-command", "torchrun")
        assert ran.code == 2 and remedy in ran.err, ran
        native = tmp_path / "native.json"
        assert run("apply", *given, "-o", native).code == 0
        assert bench.run(native, "--print-command", "torchrun").code == 0


def test_torchrun_starts_the_ranks(bench: Bench, tmp_path: Path) -> None:
    torchrun = Path(sys.executable).parent / "torchrun"
    if not torchrun.exists():
        torchrun = Path(shutil.which("torchrun") or "")
    if not torchrun.is_file():
        pytest.skip("torchrun is not installed")
    line = bench.run(JOINT, "--print-command", "torchrun", "--iterations", "3").out
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "jointer-runner").symlink_to(FAKE_RANK)
    log = tmp_path / "torchrun"
    log.mkdir()
    environment = {**os.environ, "PATH": f"{programs}:{torchrun.parent}:{os.environ['PATH']}",
                   "FAKE_LOG": str(log), "HOME": str(tmp_path)}
    done = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"event": "done"') == WORLD
    for rank in range(WORLD):
        noted = json.loads((log / f"{rank}.json").read_text())
        assert noted["environment"]["WORLD_SIZE"] == str(WORLD)
        assert noted["arguments"] == ["--iterations=3", str(JOINT)]
