"""`jointer export --format perfetto --measured`: a trace with the calls and kernels of a run."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, answer, run, sample
from documents import write
from launching import BEGIN, Bench, collectives, compute_node, positions

RANKS = 4  # of JOINT
KERNELS = ["void gemm<float>(int)", "reduce", "ncclDevKernel_AllGather(ncclArgs)"]


def result_of(folder: Path, *options: Any, **profile: Any) -> Path:
    """The file of a run whose ranks report this profile."""
    device = {"device": "NVIDIA H200", "device_type": "cuda"}
    actions = [["started", device], *BEGIN[1:], ["measured", profile], ["done"]]
    ran = Bench(folder).run(JOINT, "--json", *options, ranks={"*": actions})
    assert ran.code == 0, ran.err
    return write(folder / "result.json", ran.out.encode())


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    call, collective = positions()[compute_node()], positions()[collectives()[0][0]]
    return result_of(
        tmp_path_factory.mktemp("bench"),
        "--profile",
        nodes={"position": [call, collective], "start_ns": [0, 5000], "end_ns": [4000, 9000],
               "own_ns": [3500, 4000]},
        kernels={"position": [call, call, collective], "name": KERNELS, "stream": [7, 7, 21],
                 "start_ns": [0, 2000, 5000], "end_ns": [1500, 4000, 9000]},
    )  # fmt: skip


def exported(*options: Any, stdin: bytes | None = None) -> list[Any]:
    done = run("export", JOINT, "--format", "perfetto", "-o", "-", *options, stdin=stdin)
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)["traceEvents"]


def test_a_trace_has_the_calls_and_kernels_of_every_rank(result: Path) -> None:
    events = exported("--measured", result)
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert list(processes.values())[1:] == [
        f"rank {rank}, interpret, measured on NVIDIA H200" for rank in range(RANKS)]
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    group = next(c["group"] for c in answer("overlap", JOINT)["collectives"] if c["node"] == collectives()[0][0])
    for pid in list(processes)[1:]:
        names = [name for (process, _), name in tracks.items() if process == pid]
        assert names == ["calls: compute", f"calls: {group}", "stream 7", "stream 21"]
        mine = [e for e in events if e["pid"] == pid and e["ph"] == "X"]
        kernels = [e for e in mine if e["cat"] == "kernel"]
        assert [e["name"] for e in kernels] == KERNELS
        assert [e["args"]["stream"] for e in kernels] == [7, 7, 21]
        assert [e["args"]["node"] for e in kernels] == [compute_node(), compute_node(), collectives()[0][0]]
        assert [(e["ts"], e["dur"]) for e in kernels] == [(0, 1.5), (2, 2), (5, 4)]
        calls = {e["name"]: e for e in mine if e["cat"] != "kernel"}
        assert set(calls) == {compute_node(), collectives()[0][0]}
        assert calls[compute_node()]["args"]["measured_alone_us"] == 3.5
        assert "FLOP/s" in calls[compute_node()]["args"]["reached"]


def test_a_measured_trace_is_valid(result: Path) -> None:
    events = exported("--measured", result)
    tracks = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    slices: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            assert (event["pid"], event["tid"]) in tracks
            slices[event["pid"], event["tid"]].append(event)
    for track in slices.values():
        assert all(a["ts"] + a["dur"] <= b["ts"] + 1e-3 for a, b in pairwise(track))
    starts = {e["id"]: e for e in events if e["ph"] == "s" and e["cat"] == "launch"}
    ends = {e["id"]: e for e in events if e["ph"] == "f" and e["cat"] == "launch"}
    assert starts.keys() == ends.keys() and len(starts) == RANKS * len(KERNELS)
    assert len([e for e in events if e.get("cat") == "launch"]) == 2 * len(starts)
    for number, start in starts.items():
        end = ends[number]
        assert start["ts"] <= end["ts"] and start["pid"] == end["pid"] and end["bp"] == "e"
        for each in (start, end):
            around = [s for s in slices[each["pid"], each["tid"]] if s["ts"] <= each["ts"] < s["ts"] + s["dur"]]
            assert len(around) == 1
            assert (around[0]["cat"] == "kernel") == (each is end)


def test_the_simulated_tracks_are_unchanged(result: Path) -> None:
    plain = exported()
    assert exported("--measured", result)[: len(plain)] == plain


def test_a_result_is_read_from_standard_input(result: Path) -> None:
    assert exported("--measured", "-", stdin=result.read_bytes()) == exported("--measured", result)


def refused(code: int, *arguments: Any) -> str:
    done = run("export", *arguments)
    assert (done.code, done.out) == (code, "")
    assert done.err.count("\n") == 1
    return done.err


def test_a_run_of_another_graph_is_refused(result: Path, tmp_path: Path) -> None:
    other = sample("llama_debug_tp2.joint")
    error = refused(3, other, "--format", "perfetto", "-o", tmp_path / "out.json", "--measured", result)
    assert "result.json: this is a run of another graph" in error
    assert answer("info", JOINT)["hash"][:8] in error and answer("info", other)["hash"][:8] in error
    assert list(tmp_path.iterdir()) == []


def test_a_result_without_a_profile_is_refused(tmp_path: Path) -> None:
    result = result_of(tmp_path)
    error = refused(3, JOINT, "--format", "perfetto", "-o", tmp_path / "out.json", "--measured", result)
    assert "result.json: no rank was profiled" in error and "--profile" in error
    assert not (tmp_path / "out.json").exists()


def test_other_files_and_formats_are_refused(result: Path, tmp_path: Path) -> None:
    out = ("-o", tmp_path / "out.json")
    for text in (b"[]", b"{}", b"no", b'{"version": 1}'):
        bad = write(tmp_path / "bad.json", text)
        error = refused(3, JOINT, "--format", "perfetto", *out, "--measured", bad)
        assert "bad.json: not a benchmark result" in error
    assert "none.json" in refused(3, JOINT, "--format", "perfetto", *out, "--measured", tmp_path / "none.json")
    for form in ("csv", "dot", "markdown", "fx-text"):
        assert "option --measured: needs --format perfetto" in refused(
            2, JOINT, "--format", form, *out, "--measured", result)
    same = refused(2, JOINT, "--format", "perfetto", "-o", result, "--measured", result)
    assert "result.json" in same
    assert not (tmp_path / "out.json").exists()
