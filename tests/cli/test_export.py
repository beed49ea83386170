"""Exports for other tools: csv, Perfetto traces, Graphviz, Markdown."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import CATEGORIES, JOINT, answer, each_sample, run
from documents import capture, write

FORMATS = ["perfetto", "dot", "csv", "markdown"]


def exported(path: Path, form: str, *options: Any) -> str:
    done = run("export", path, "--format", form, "-o", "-", *options)
    assert (done.code, done.err) == (0, "")
    return done.out


@pytest.mark.parametrize("form", FORMATS)
def test_export_to_a_file_equals_standard_output(form: str, tmp_path: Path) -> None:
    target = tmp_path / f"out.{form}"
    done = run("export", JOINT, "--format", form, "-o", target)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert target.read_bytes().decode() == exported(JOINT, form)
    assert list(tmp_path.iterdir()) == [target]


def test_export_replaces_a_file_atomically(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    assert run("export", JOINT, "--format", "csv", "--output", link).code == 0
    assert link.is_symlink() and target.read_text().startswith("index,")
    assert sorted(tmp_path.iterdir()) == [link, target]


def test_export_compresses_files_named_zst(tmp_path: Path) -> None:
    target = tmp_path / "out.csv.zst"
    assert run("export", JOINT, "--format", "csv", "-o", target).code == 0
    assert target.read_bytes().startswith(b"\x28\xb5\x2f\xfd")


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    done = run("export", JOINT, "--format", "csv", "-o", tmp_path / "none" / "out.csv")
    assert (done.code, done.out) == (4, "")
    assert "No such file" in done.err and done.err.count("\n") == 1
    folder = tmp_path / "folder"
    folder.mkdir()
    done = run("export", JOINT, "--format", "csv", "-o", folder)
    assert (done.code, done.out) == (4, "")
    assert str(folder) in done.err and "directory" in done.err
    assert list(tmp_path.iterdir()) == [folder] and not list(folder.iterdir())
    # Bad input or a bad option is reported before anything is written.
    bad = write(tmp_path / "bad.json", b"{")
    assert run("export", bad, "--format", "csv", "-o", tmp_path / "out.csv").code == 3
    assert run("export", JOINT, "--format", "csv", "--device", "x", "-o", tmp_path / "out.csv").code == 2
    assert not (tmp_path / "out.csv").exists()


def test_a_device_file_is_written_to_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    assert run("export", JOINT, "--format", "markdown", "-o", pipe).code == 0
    out, _ = reader.communicate(timeout=600)
    assert out == exported(JOINT, "markdown")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


@each_sample
def test_csv(path: Path) -> None:
    text = exported(path, "csv")
    assert text.startswith("index,name,target,phase,module,output_bytes,live_bytes,flops,start_ms,ms\r\n")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    info = answer("info", path)
    memory = answer("memory", path)
    overlap = answer("overlap", path)
    assert len(rows) == info["nodes"]
    assert [int(row["index"]) for row in rows] == list(range(len(rows)))
    assert sum(int(row["flops"]) for row in rows) == info["flops"]["total"]
    assert max(int(row["live_bytes"]) for row in rows) == memory["peak_bytes"]
    assert {row["phase"] for row in rows} == {"forward", "backward"}
    targets = Counter(row["target"] for row in rows)
    for target, count in info["operators"].items():
        assert targets[target] == count
    by_name = {row["name"]: row for row in rows if row["target"] in info["collectives"]}
    for collective in overlap["collectives"]:
        if Counter(row["name"] for row in rows)[collective["node"]] == 1:  # not in both halves
            assert float(by_name[collective["node"]]["ms"]) == pytest.approx(collective["ms"], abs=1e-6)
            assert float(by_name[collective["node"]]["start_ms"]) == pytest.approx(collective["start_ms"], abs=1e-6)


@each_sample
def test_perfetto(path: Path) -> None:
    trace = json.loads(exported(path, "perfetto"))
    overlap = answer("overlap", path)
    memory = answer("memory", path)
    events = trace["traceEvents"]
    assert trace["displayTimeUnit"] == "ms"
    assert {event["ph"] for event in events} == {"M", "X", "s", "f", "C"}
    threads = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert list(threads.values()) == ["cpu", "compute", *overlap["by_group"]]
    spans: dict[int, list[Any]] = {}
    for event in events:
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] > 0
            assert event["tid"] in threads
            spans.setdefault(event["tid"], []).append(event)
    # Slices on one track do not overlap.
    for track in spans.values():
        assert all(a["ts"] + a["dur"] <= b["ts"] + 1e-3 for a, b in pairwise(track))
    step_us = max(e["ts"] + e["dur"] for track in spans.values() for e in track)
    assert step_us == pytest.approx(overlap["step_ms"] * 1e3)
    busy = sum(e["dur"] for e in spans[1] if e["cat"] == "compute")
    assert busy == pytest.approx(overlap["compute_ms"] * 1e3)
    communication = sum(e["dur"] for tid, track in spans.items() if tid > 1 for e in track)
    assert communication == pytest.approx(overlap["communication_ms"] * 1e3)
    # A flow starts on the group's track, and ends later, or at the same time, on the compute track.
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    waited = [c for c in overlap["collectives"] if c["wait"]]
    assert starts.keys() == ends.keys() and len(starts) == len(waited)
    assert len([e for e in events if e["ph"] in "sf"]) == 2 * len(waited)
    for number, start in starts.items():
        end = ends[number]
        assert (start["cat"], start["name"]) == (end["cat"], end["name"])
        assert start["tid"] > 1 and end["tid"] == 1 and end["bp"] == "e"
        assert start["ts"] <= end["ts"]
        inside = [e for e in spans[start["tid"]] if e["ts"] <= start["ts"] <= e["ts"] + e["dur"]]
        assert inside, "a flow begins within the collective's own span"
    counters = [e for e in events if e["ph"] == "C"]
    assert all(list(e["args"]) == CATEGORIES for e in counters)
    assert all(a["ts"] <= b["ts"] for a, b in pairwise(counters))
    assert max(sum(e["args"].values()) for e in counters) == memory["peak_bytes"]


def test_dot(tmp_path: Path) -> None:
    document = capture()
    document["name"] = 'a "quoted" \\ name'
    document["modules"] = [[["L['self']", "Model"], ["L['self'].wq", 'Li"near']]]
    path = write(tmp_path / "small.json", document)
    text = exported(path, "dot")
    assert text.startswith('digraph "a \\"quoted\\" \\\\ name" {\n') and text.endswith("}\n")
    assert text.count("{") == text.count("}")
    edges = [line for line in text.splitlines() if " -> " in line]
    assert len(edges) == 7  # mm has two inputs; primals have none
    assert any("wq: Li" in line for line in text.splitlines())
    try:
        plain = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("Graphviz is not installed")
    assert plain.returncode == 0, plain.stderr
    assert sum(line.startswith("node ") for line in plain.stdout.splitlines()) == 8
    assert sum(line.startswith("edge ") for line in plain.stdout.splitlines()) == 7


@each_sample
def test_dot_of_samples(path: Path) -> None:
    text = exported(path, "dot")
    info = answer("info", path)
    assert text.count('" fillcolor="') == info["nodes"]
    assert text.count("subgraph cluster_") == info["modules"]


@each_sample
def test_markdown(path: Path) -> None:
    text = exported(path, "markdown")
    info = answer("info", path)
    assert text.startswith(f"# {info['name']}\n")
    assert f"| nodes | {info['nodes']:,} |" in text
    columns = None
    for line in text.splitlines():
        count = line.count("|") if line.startswith("|") else None
        assert columns is None or count is None or count == columns, line
        columns = count
    assert "## Memory at the peak" in text


def test_export_takes_the_same_options_as_the_other_commands(tmp_path: Path) -> None:
    adamw = json.loads(exported(JOINT, "perfetto", "--optimizer", "adamw"))
    memory = run("memory", JOINT, "--optimizer", "adamw", "--json").json
    counters = [e for e in adamw["traceEvents"] if e["ph"] == "C"]
    assert max(sum(e["args"].values()) for e in counters) == memory["peak_bytes"]
    simple = json.loads(exported(JOINT, "perfetto", "--estimator", "simple", "--device", "a100"))
    assert simple["otherData"]["estimator"].startswith("simple")
    path = write(tmp_path / "symbols.json", capture())
    assert exported(path, "csv", "--assume", "s0=64") != exported(path, "csv")
