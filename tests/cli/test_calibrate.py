"""`jointer calibrate`: traces in the cost database, its contents, and `--estimator measured`."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT as SMALL
from conftest import answer, run, sample
from launching import BEGIN, Bench, compute_node, positions

# A graph captured for a GPU.
JOINT = sample("llama_8b_tp2_fsdp2.joint")


@pytest.fixture(autouse=True)
def costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "data" / "costs.sqlite"
    monkeypatch.setenv("JOINTER_COSTS", str(path))
    return path


Event = dict[str, Any]


def event(category: str, name: str, start: float, length: float, thread: int = 1, **arguments: Any) -> Event:
    named = {"ph": "X", "cat": category, "name": name, "pid": 7, "tid": thread, "ts": start, "dur": length}
    return {**named, "args": {key.replace("_", " "): value for key, value in arguments.items()}}


def write_trace(path: Path, gpu: str | None = "NVIDIA H200") -> Path:
    """A run of the sample in which every all-gather takes 40 us, every mm 25 us, and no other call ran."""
    events: list[Event] = []
    rows = run("export", JOINT, "--format", "csv", "-o", "-").out.splitlines()
    columns = rows[0].split(",")
    for number, row in enumerate(rows[1:], 1):
        target = dict(zip(columns, row.split(","), strict=False))["target"]
        if target == "aten.mm.default":
            call, kernel, length = "aten::mm", "sm90_xmma_gemm_bf16", 25.0
        elif target == "_c10d_functional.all_gather_into_tensor.default":
            call, kernel, length = "_c10d_functional::all_gather_into_tensor", "ncclDevKernel_AllGather_RING_LL", 40.0
        else:
            continue
        start = 100.0 * number
        events.append(event("cpu_op", call, start, 10, External_id=number))
        if gpu:
            events.append(event("kernel", kernel, start + 20, length, 20, External_id=number, correlation=number))
    document = {"deviceProperties": [{"id": 0, "name": gpu}] if gpu else [], "traceEvents": events}
    path.write_text(json.dumps(document))
    return path


def test_a_trace_is_kept_and_used(tmp_path: Path, costs: Path) -> None:
    operators = answer("info", JOINT)["operators"]
    trace = write_trace(tmp_path / "trace.json")
    said = run("calibrate", JOINT, "--trace", trace, "--json").json
    mms, gathers = operators["aten.mm.default"], operators["_c10d_functional.all_gather_into_tensor.default"]
    assert (said["device"], said["device_type"]) == ("NVIDIA H200", "cuda")
    assert said["matched"] == said["timed"] == mms + gathers
    assert said["passes"] == 1
    assert {o["target"]: (o["nodes"], o["ms"]) for o in said["operators"]} == {
        "aten.mm.default": (mms, pytest.approx(0.025 * mms)),
        "_c10d_functional.all_gather_into_tensor.default": (gathers, pytest.approx(0.04 * gathers)),
    }
    assert said["foreign_device_ms"] == 0
    assert any("nodes match no call" in note for note in said["notes"])
    assert any("record_shapes" in note for note in said["notes"])
    assert said["database"] == str(costs) and costs.is_file()

    overlap = run("overlap", JOINT, "--estimator", "measured", "--json").json
    assert overlap["estimator"].startswith("measured on NVIDIA H200, ")
    assert f" {mms + gathers:,} of " in overlap["estimator"]
    assert overlap["device"] == "NVIDIA H200 SXM 141 GB"
    times = {c["ms"] for c in overlap["collectives"] if c["node"].startswith("all_gather_into_tensor")}
    assert times == {0.04}
    named = run("overlap", JOINT, "--estimator", 'measured{device="NVIDIA H200"}', "--json").json
    assert named["step_ms"] == overlap["step_ms"]

    text = run("calibrate", JOINT, "--trace", trace)
    assert text.code == 0 and text.err == ""
    for part in ("NVIDIA H200", "aten.mm.default", "nodes in 1 run", "note: "):
        assert part in text.out


def test_devices_are_listed_and_forgotten(tmp_path: Path) -> None:
    assert run("calibrate", "--list", "--json").json["devices"] == []
    assert "no measured times yet" in run("calibrate", "--list").out
    trace = write_trace(tmp_path / "trace.json")
    for name in ("one", "two", "one"):
        assert run("calibrate", JOINT, "--trace", trace, "--gpu", name).code == 0
    devices = {d["name"]: d for d in run("calibrate", "--list", "--json").json["devices"]}
    assert set(devices) == {"one", "two"}
    assert devices["one"]["samples"] == 2 * devices["two"]["samples"] > 0
    assert devices["one"]["nodes"] == devices["two"]["nodes"] > 0
    assert devices["one"]["collectives"] > 0
    assert devices["one"]["type"] == "cuda"
    assert devices["one"]["last_measured"].endswith("Z")
    assert "one" in run("calibrate", "--list").out

    assert run("calibrate", "--forget", "one", "--json").json["forgotten"] == "one"
    assert [d["name"] for d in run("calibrate", "--list", "--json").json["devices"]] == ["two"]
    again = run("calibrate", "--forget", "one")
    assert again.code == 2 and "measured devices: two" in again.err and again.err.count("\n") == 1


def test_nothing_measured_is_one_line(costs: Path) -> None:
    done = run("overlap", JOINT, "--estimator", "measured", "--json")
    assert done.code == 2 and done.out == ""
    assert "jointer calibrate" in done.err and done.err.count("\n") == 1
    assert run("calibrate", "--forget", "x").code == 2
    assert not costs.exists(), "reading must not create the file"


@pytest.mark.parametrize(
    "arguments",
    [(), ("--json",), (JOINT,), ("--trace", "x"), ("--list", "--forget", "x"), (JOINT, "--list"), ("--trace", "x", "--list")],
    ids=str,
)
def test_wrong_usage(arguments: tuple[Any, ...]) -> None:
    done = run("calibrate", *arguments)
    assert done.code == 2 and done.out == ""
    assert done.err.count("\n") == 1


def test_bad_traces_are_refused_in_one_line(tmp_path: Path, costs: Path) -> None:
    good = write_trace(tmp_path / "good.json").read_bytes()
    bad = tmp_path / "bad.json"
    for data in (b"", b"{", b"[]", b'{"traceEvents": []}', good[: len(good) // 2], good + b"}" * 3 + b"\x00", b"\x1f\x8b"):
        bad.write_bytes(data)
        done = run("calibrate", JOINT, "--trace", bad, "--json")
        if data.startswith(good):
            continue  # anything after a complete document is ignored
        assert done.code == 3 and done.out == "", data[:20]
        assert done.err.startswith(f"jointer: {bad}: ") and done.err.count("\n") == 1
    missing = run("calibrate", JOINT, "--trace", tmp_path / "nothing.json")
    assert missing.code == 3 and "No such file" in missing.err


def test_a_damaged_database_is_one_line(tmp_path: Path, costs: Path) -> None:
    trace = write_trace(tmp_path / "trace.json")
    costs.parent.mkdir()
    costs.write_bytes(b"x" * 4096)
    commands = (
        ("calibrate", JOINT, "--trace", trace),
        ("calibrate", "--list"),
        ("calibrate", "--forget", "x"),
        ("overlap", JOINT, "--estimator", "measured"),
    )
    for command in commands:
        done = run(*command)
        assert done.code == 3 and done.out == ""
        assert done.err.startswith(f"jointer: {costs}: ") and done.err.count("\n") == 1
    costs.unlink()
    assert run("calibrate", JOINT, "--trace", trace).code == 0
    with sqlite3.connect(costs) as database:
        database.execute("PRAGMA user_version = 900")
    for command in commands:
        done = run(*command)
        assert done.code == 3
        assert "has version 9.0, but this program reads 1.x" in done.err


L40S = {"name": "NVIDIA L40S", "major": 8, "minor": 9, "multiprocessors": 142, "sm_mhz": 2520, "memory_mhz": 9001,
        "memory_bus_bits": 384, "memory_bytes": 47_810_936_832}


def test_a_run_on_a_gpu_without_a_description_keeps_its_properties(tmp_path: Path) -> None:
    started = ["started", {"device": "NVIDIA L40S", "device_type": "cuda", "gpu": L40S}]
    times = {"position": [positions()[compute_node()]], "start_ns": [0], "end_ns": [1000], "own_ns": [1000]}
    kernels = {"position": times["position"], "name": ["gemm"], "stream": [7], "start_ns": [0], "end_ns": [1000]}
    bench = Bench(tmp_path, {"CUDA_VISIBLE_DEVICES": ""})
    measured = ["measured", {"nodes": times, "kernels": kernels}]
    ran = bench.run(SMALL, "--on", "cuda", "--calibrate", ranks={"*": [started, *BEGIN[1:], measured, ["done"]]})
    assert ran.code == 0, ran.err
    overlap = run("overlap", JOINT, "--estimator", "measured", "--json").json
    assert overlap["device"] == "NVIDIA L40S, by its properties"
    assert overlap["estimator"].startswith("measured on NVIDIA L40S, ")


def test_times_of_launches_are_not_stored(tmp_path: Path, costs: Path) -> None:
    started = ["started", {"device": "NVIDIA H200", "device_type": "cuda"}]
    times = {"position": [positions()[compute_node()]], "start_ns": [0], "end_ns": [9000], "own_ns": [9000]}
    bench = Bench(tmp_path, {"CUDA_VISIBLE_DEVICES": ""})
    ran = bench.run(SMALL, "--on", "cuda", "--calibrate",
                    ranks={"*": [started, *BEGIN[1:], ["measured", {"nodes": times}], ["done"]]})
    assert ran.code == 4 and "peak" in ran.out
    assert "rank 0, interpret: cannot store the times, because the kernels of NVIDIA H200 were not traced" in ran.err
    assert "jointer calibrate FILE --trace TRACE" in ran.err and not costs.exists()


@pytest.mark.parametrize(
    "backend, why",
    [
        (["python", "--on", "cuda"], "the Python backend does not trace the kernels of a GPU"),
        (["inductor"], "compiled code has no times of nodes"),
    ],
)
def test_backends_without_times_of_nodes_do_not_calibrate(tmp_path: Path, backend: list[str], why: str) -> None:
    bench = Bench(tmp_path, {"CUDA_VISIBLE_DEVICES": ""})
    ran = bench.run(SMALL, "--calibrate", "--backend", *backend)
    assert ran.code == 2 and ran.out == "" and ran.ranks == {}
    assert ran.err.startswith(f"jointer: option --calibrate: {why}; ") and ran.err.count("\n") == 1


def test_a_database_of_version_1_0_is_read_and_extended(tmp_path: Path, costs: Path) -> None:
    trace = write_trace(tmp_path / "trace.json")
    run("calibrate", JOINT, "--trace", trace)
    with sqlite3.connect(costs) as database:
        database.execute("ALTER TABLE device DROP COLUMN gpu")
        database.execute("PRAGMA user_version = 100")
    assert "NVIDIA H200" in run("calibrate", "--list").out
    run("calibrate", JOINT, "--trace", trace)
    with sqlite3.connect(costs) as database:
        assert database.execute("SELECT gpu FROM device").fetchall() == [(None,)]
        assert database.execute("PRAGMA user_version").fetchone() == (101,)


def test_without_a_name_a_cpu_is_the_cpu(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace.json", gpu=None)
    said = run("calibrate", JOINT, "--trace", trace, "--json").json
    assert (said["device"], said["device_type"]) == ("CPU", "cpu")
    assert any("does not name its device" in note for note in said["notes"])


def test_the_default_location_is_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JOINTER_COSTS")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    said = run("calibrate", JOINT, "--trace", write_trace(tmp_path / "trace.json"), "--json").json
    assert said["database"] == str(tmp_path / "share" / "jointer" / "costs.sqlite")
    assert os.path.isfile(said["database"])


def test_a_probe_needs_the_program_of_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOINTER_CPU", str(tmp_path / "cpu.json"))
    monkeypatch.setenv("JOINTER_RUNNER", str(tmp_path / "none"))
    done = run("calibrate", "--probe")
    assert done.code == 4
    assert "jointer-runner" in done.err and done.err.count("\n") == 1
    assert not (tmp_path / "cpu.json").exists()


def test_a_probe_is_not_combined_with_other_work() -> None:
    for arguments in (["--probe", "--list"], [str(JOINT), "--probe"], ["--probe", "--forget", "x"]):
        done = run("calibrate", *arguments)
        assert done.code == 2
        assert "exactly one of" in done.err


def test_a_damaged_probe_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cpu.json"
    path.write_text("{}")
    monkeypatch.setenv("JOINTER_CPU", str(path))
    done = run("overlap", SMALL, "--device", "cpu")
    assert done.code == 3
    assert str(path) in done.err and "calibrate --probe" in done.err
