"""The interface that scripts rely on: commands, options, JSON keys and types, exit codes, streams.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, CATEGORIES, JOINT, SAMPLES, Done, answer, each_sample, run, sample
from documents import at, capture, half, n, node, tensor, write

NUMBER = (int, float)
SMALL = [path for path in sorted(SAMPLES.glob("*.json.zst")) if "8b" not in path.name]
LARGE = sample("llama_8b_tp2_fsdp2.joint")


def assert_has(value: dict[str, Any], keys: dict[str, Any]) -> None:
    for key, types in keys.items():
        assert key in value
        assert isinstance(value[key], types), (key, value[key])
        assert types is bool or not isinstance(value[key], bool), key


def assert_usage(done: Done, *words: str) -> None:
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.startswith("jointer: ") and done.err.count("\n") == 1, done.err
    for word in words:
        assert word in done.err


# --- The program ---


def test_help_and_version() -> None:
    for arguments in (["--help"], ["-h"], ["info", "--help"], ["overlap", "-h"]):
        done = run(*arguments)
        assert (done.code, done.err) == (0, "")
        assert "--help" in done.out
    help_text = run("--help").out
    for command in ("info", "memory", "overlap", "bench", "export", "capture"):
        assert f"\n  {command} " in help_text
    assert run("--version").out.startswith("jointer ")


@pytest.mark.parametrize(
    "arguments, word",
    [
        ([], "a command or a file"),
        (["frobnicate"], "`frobnicate` is neither a command nor a file"),
        (["info"], "FILE"),
        (["info", JOINT, "--frobnicate"], "--frobnicate"),
        (["info", JOINT, "another"], "another"),
        (["memory", JOINT, "--optimizer", "sgd"], "adamw"),
        (["memory", JOINT, "--top", "many"], "--top"),
        (["memory", JOINT, "--top", "-1"], "--top"),
        (["memory", JOINT, "--torch-compatible", "--optimizer", "adamw"], "optimizer state"),
        (["memory", sample("llama_debug_tp2.min_cut"), "--torch-compatible"], "pair"),
        (["memory", JOINT, "--assume", "u0"], "`u0`"),
        (["memory", JOINT, "--assume", "u0=x"], "`u0=x`"),
        (["memory", JOINT, "--assume", "u0=-1"], "`u0=-1`"),
        (["memory", JOINT, "--assume", "=1"], "`=1`"),
        (["memory", JOINT, "--assume", "u0=99999999999999999999"], "u0="),
        (["memory", JOINT, "--assume", "u77=1"], "cannot assume a value for u77"),
        (["memory", JOINT, "--assume", "ranks:zz=2"], "no process group zz with an unknown number of ranks"),
        (["overlap", JOINT, "--device", "gtx480"], "h100"),
        (["overlap", JOINT, "--estimator", "crystal-ball"], "torch-2.11"),
        (["overlap", JOINT, "--estimator", "simpleton"], "`simpleton`"),
        (["overlap", JOINT, "--estimator", "profile"], "profile{trace="),
        (["overlap", JOINT, "--estimator", "profile{file=x}"], "profile{trace="),
        (["overlap", JOINT, "--estimator", "simple{tflops=0}"], "`tflops=0`"),
        (["overlap", JOINT, "--estimator", "simple{tflops=nan}"], "`tflops=nan`"),
        (["overlap", JOINT, "--estimator", "simple{speed=3}"], "`speed=3`"),
        (["overlap", JOINT, "--estimator", "simple{tflops=3"], "simple{"),
        (["overlap", JOINT, "--gpus-per-node", "0"], "--gpus-per-node"),
        (["export", JOINT, "--format", "pdf", "-o", "-"], "perfetto"),
        (["export", JOINT, "-o", "-"], "--format"),
        (["export", JOINT, "--format", "csv"], "--output"),
        (["capture"], "COMMAND"),
    ],
    ids=lambda value: " ".join(map(str, value[1:2] + value[-1:])) if isinstance(value, list) and value else None,
)
def test_wrong_usage(arguments: list[Any], word: str) -> None:
    assert_usage(run(*arguments), word)


def test_a_file_alone_opens_the_desktop() -> None:
    """If the desktop is not installed, one line names the commands that work without it."""
    if (BIN / "jointer-desktop").exists():
        pytest.skip("the desktop is built here")
    environment_path = os.environ["PATH"]
    os.environ["PATH"] = "/nonexistent"
    try:
        done = run(JOINT)
    finally:
        os.environ["PATH"] = environment_path
    assert (done.code, done.out) == (4, "")
    assert "jointer-desktop" in done.err and "jointer info" in done.err


@pytest.mark.skipif(not (BIN / "jointer-desktop").exists(), reason="there is no desktop here")
def test_both_programs_list_the_same_devices() -> None:
    desktop = subprocess.run([BIN / "jointer-desktop", "--help"], capture_output=True, text=True, check=True,
                             env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})  # fmt: skip
    listed = [re.search(r"Device to estimate times for: (.*?), or a JSON file", " ".join(text.split()))
              for text in (desktop.stdout, run("overlap", "--help").out)]  # fmt: skip
    assert listed[0] and listed[1] and listed[0][1] == listed[1][1]


@pytest.mark.skipif(not (BIN / "jointer-desktop").exists(), reason="there is no desktop here")
@pytest.mark.parametrize("files", [[], [JOINT]], ids=["no file", "a file"])
def test_the_desktop_ends_after_its_first_frame(files: list[Any]) -> None:
    done = subprocess.run([BIN / "jointer-desktop", *files, "--exit-after-first-frame"], capture_output=True,
                          text=True, timeout=60, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"first frame after \d+ ms\n", done.stdout)


@pytest.mark.skipif(not (BIN / "jointer-desktop").exists(), reason="there is no desktop here")
@pytest.mark.parametrize("index, expected", [
    ("5000000000", "there is no graph 5000000000; the only one is 0"),
    ("99999999999999999999", "option --graph: there is no graph 99999999999999999999; graphs are numbered from 0"),
    ("-1", "option --graph: expected an integer of at least 0, got `-1`"),
])  # fmt: skip
def test_the_desktop_refuses_a_graph_that_does_not_exist(index: str, expected: str) -> None:
    done = subprocess.run([BIN / "jointer-desktop", JOINT, f"--graph={index}", "--exit-after-first-frame"],
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})  # fmt: skip
    assert done.returncode == 2 and expected in done.stderr


@pytest.mark.skipif(not (BIN / "jointer-desktop").exists(), reason="there is no desktop here")
@pytest.mark.parametrize("option, expected", [
    ("--nosuch", "jointer-desktop: unknown option 'nosuch'; --help lists the options\n"),
    ("--measured=3", "jointer-desktop: unexpected value after '--measured'; --help lists the options\n"),
])  # fmt: skip
def test_a_wrong_option_of_the_desktop_is_one_message(option: str, expected: str) -> None:
    done = subprocess.run([BIN / "jointer-desktop", option, "--exit-after-first-frame"],
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})  # fmt: skip
    assert (done.returncode, done.stderr) == (2, expected)


@pytest.mark.skipif(not (BIN / "jointer-desktop").exists(), reason="there is no desktop here")
def test_the_desktop_takes_no_picture_of_a_node_that_does_not_exist(tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    done = subprocess.run([BIN / "jointer-desktop", JOINT, "--select", "nosuch", "--picture", picture],
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "option --select: " in done.stderr and "no node named `nosuch`" in done.stderr
    assert not picture.exists()


def test_interrupt_of_a_search() -> None:
    """A search over budgets ends immediately."""
    command = [BIN / "jointer", "sac", LARGE, "--pareto", "--points", "1000", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_interrupt() -> None:
    """An interrupted command exits with 130 and leaves no partial output."""
    process = subprocess.Popen(
        [BIN / "jointer", "info", "-", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(0.3)  # now it waits for standard input
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    """It is an error even if the answer is "no"."""
    changed = capture()
    at(changed, "mm")["recompute"] = "PREFER_SAVE"
    one, other = write(tmp_path / "one.json", capture()), write(tmp_path / "other.json", changed)
    assert run("diff", one, other).code == 1
    for command in (
        ["info", JOINT, "--json"],
        ["info", JOINT],
        ["export", JOINT, "--format", "csv", "-o", "-"],
        ["diff", one, other],
    ):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [BIN / "jointer", *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 4
        assert done.stderr == "jointer: standard output: No space left on device\n"


def test_standard_input_is_a_file_like_any_other() -> None:
    for command in ("info", "memory", "overlap"):
        assert run(command, "-", "--json", stdin=JOINT.read_bytes()).json == run(command, JOINT, "--json").json


def test_the_same_input_gives_the_same_output() -> None:
    for command in (["info"], ["memory", "--profile"], ["overlap"]):
        first = run(command[0], LARGE, *command[1:], "--json")
        assert first.out == run(command[0], LARGE, *command[1:], "--json").out


@pytest.mark.parametrize("command", [["info"], ["info", "--brief"], ["memory"], ["memory", "--top", "3"],
                                     ["memory", "--profile"], ["overlap"], ["overlap", "--top", "2"]],
                         ids=" ".join)  # fmt: skip
@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.name.removesuffix(".json.zst"))
def test_tables(command: list[str], path: Path) -> None:
    done = run(command[0], path, *command[1:])
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == answer("info", path)["name"]
    assert all(line == line.rstrip() for line in lines)
    assert "inf" not in done.out.replace("info", "") and "nan" not in done.out.split()


# --- info ---


@each_sample
def test_info(path: Path) -> None:
    info = answer("info", path)
    assert_has(
        info,
        {"name": str, "kind": str, "nodes": int, "placeholders": int, "outputs": int,
         "parameters_bytes": int, "storages": int, "operators": dict, "groups": list,
         "collectives": dict, "flops": dict, "modules": int, "symbols": dict, "derived": list,
         "hash": str},
    )  # fmt: skip
    assert_has(info["flops"], dict.fromkeys(("forward", "backward", "total", "torch_registry"), int))
    for group in info["groups"]:
        assert_has(group, {"name": str, "size": int, "desc": str})
    for counts in info["collectives"].values():
        assert_has(counts, {"count": int, "input_bytes": int, "output_bytes": int})
    assert all(isinstance(text, str) for text in info["derived"])

    is_pair = "min_cut" in path.name
    assert info["kind"] == ("pair" if is_pair else path.name.split(".")[1])
    assert info["flops"]["forward"] + info["flops"]["backward"] == info["flops"]["total"] > 0
    assert 0 < info["flops"]["torch_registry"] <= info["flops"]["total"]
    # Every node except placeholders and outputs is a call here.
    assert sum(info["operators"].values()) == info["nodes"] - info["placeholders"] - 1 - is_pair
    for target, counts in info["collectives"].items():
        assert counts["count"] == info["operators"][target]
    hashes = info["hash"].split("+")
    assert len(hashes) == 1 + is_pair
    assert all(len(h) == 64 and set(h) <= set("0123456789abcdef") for h in hashes)


def test_the_figures_of_a_pair_and_its_joint_graph_agree() -> None:
    joint = run("info", JOINT, "--json").json
    pair = run("info", sample("llama_debug_tp2_fsdp2.min_cut"), "--json").json
    assert joint["parameters_bytes"] == pair["parameters_bytes"] > 0
    assert joint["groups"] == pair["groups"]
    # The backward recomputes some of the forward's collectives, and none is missing.
    for target, counts in joint["collectives"].items():
        assert pair["collectives"][target]["count"] >= counts["count"]


def test_a_pair_as_two_files(tmp_path: Path) -> None:
    forward = write(tmp_path / "fw.json", half("forward"))
    backward = write(tmp_path / "bw.json", half("backward"))
    whole = {"format": "jointer-capture", "version": 1, "kind": "pair", "name": "small",
             "forward": half("forward"), "backward": half("backward")}  # fmt: skip
    both = write(tmp_path / "pair.json", whole)
    for command in ("info", "memory", "overlap"):
        two = run(command, forward, "--backward", backward, "--json").json
        one = run(command, both, "--json").json
        assert two.pop("name") == one.pop("name") == "small"
        assert two == one
    hashes = [answer("info", path)["hash"] for path in (forward, backward)]
    assert run("info", both, "--json").json["hash"] == "+".join(hashes)


def test_symbols(tmp_path: Path) -> None:
    path = write(tmp_path / "symbols.json", capture())
    assert answer("info", path)["symbols"] == {"s0": 8}
    assumed = run("info", path, "--assume", "s0=16", "--json").json
    assert assumed["symbols"] == {"s0": 16}
    assert any("given" in text for text in assumed["derived"])
    # mm: [s0, 8] x [8, 8]
    assert answer("info", path)["flops"]["total"] == 2 * 8 * 8 * 8
    assert assumed["flops"]["total"] == 2 * 16 * 8 * 8
    # The hash is that of the computation, independent of the assumed sizes.
    assert assumed["hash"] == answer("info", path)["hash"]
    memory = [run("memory", path, "--assume", f"s0={size}", "--json").json for size in (8, 1024)]
    assert memory[0]["peak_bytes"] < memory[1]["peak_bytes"]


def test_absurd_assumptions_are_refused(tmp_path: Path) -> None:
    document = capture()
    at(document, "mm")["val"]["t"]["shape"][0] = {"sym": "s0 - 4", "hint": 4}
    path = write(tmp_path / "symbols.json", document)
    for size, word in ((2**57, "4 EiB"), (3, "negative"), (2**63 - 1, "overflow")):
        done = run("memory", path, "--assume", f"s0={size}", "--json")
        assert (done.code, done.out) == (3, "")
        assert str(path) in done.err and word in done.err and done.err.count("\n") == 1


# --- memory ---


@each_sample
@pytest.mark.parametrize("options", [[], ["--optimizer", "adamw"], ["--torch-compatible"]], ids=" ".join)
def test_memory(path: Path, options: list[str]) -> None:
    if "--torch-compatible" in options and "min_cut" in path.name:
        pytest.skip("torch has no profile of a pair")
    memory = run("memory", path, "--profile", *options, "--json").json
    assert_has(
        memory,
        {"peak_bytes": int, "peak_index": int, "peak_node": (str, type(None)), "at_peak": dict,
         "live_at_peak": list, "reserved_peak_bytes": int, "static_bytes": int, "profile": list},
    )  # fmt: skip
    info = answer("info", path)
    profile, peak = memory["profile"], memory["peak_bytes"]
    assert len(profile) == 1 + 2 * sum(info["operators"].values()) == 1 + 2 * memory["steps"]
    assert all(isinstance(point, int) and point >= 0 for point in profile)
    assert max(profile) == peak == profile[memory["peak_index"]]
    assert profile.index(peak) == memory["peak_index"]
    assert list(memory["at_peak"]) == CATEGORIES
    assert sum(memory["at_peak"].values()) == peak
    live = memory["live_at_peak"]
    for entry in live:
        assert_has(entry, {"node": str, "bytes": int, "category": str, "module": str})
    assert sum(entry["bytes"] for entry in live) == peak
    by_category: Counter[str] = Counter()
    for entry in live:
        by_category[entry["category"]] += entry["bytes"]
    assert by_category == {name: size for name, size in memory["at_peak"].items() if size}
    assert all(a["bytes"] >= b["bytes"] for a, b in pairwise(live))
    assert memory["reserved_peak_bytes"] >= peak
    assert min(profile) >= memory["static_bytes"]
    # Live bytes never fall on an allocation and never rise on a release.
    assert all(a <= b for a, b in zip(profile[0::2], profile[1::2]))
    assert all(a >= b for a, b in zip(profile[1::2], profile[2::2]))
    if "8b" in path.name and "--torch-compatible" not in options:
        assert all(point % 512 == 0 for point in profile), "the cuda allocator rounds to 512 bytes"


def test_profile_and_top_are_opt_in() -> None:
    assert "profile" not in run("memory", JOINT, "--json").json
    full = run("memory", JOINT, "--json").json
    top = run("memory", JOINT, "--json", "--top", "3").json
    assert top["live_at_peak"] == full["live_at_peak"][:3] and len(full["live_at_peak"]) > 3
    assert run("memory", JOINT, "--json", "--top", "0").json["live_at_peak"] == []
    assert top | {"live_at_peak": None} == full | {"live_at_peak": None}


def test_optimizer_state_is_added_to_every_point() -> None:
    without = run("memory", JOINT, "--profile", "--json").json
    adamw = run("memory", JOINT, "--profile", "--optimizer", "adamw", "--json").json
    # Two fp32 moments as large as the fp32 parameters on the CPU, and a step count of 4 bytes for
    # each.
    state = adamw["at_peak"]["optimizer_state"]
    assert 0 < state - 2 * without["at_peak"]["parameter"] <= 4 * 30
    assert [point - state for point in adamw["profile"]] == without["profile"]
    assert run("memory", JOINT, "--optimizer", "none", "--json").json["at_peak"] == without["at_peak"]


# --- overlap ---

ESTIMATORS = ["roofline", "simple", "torch-2.11", "torch-2.15", "simple{coll_us=1,coll_gbs=400,tflops=100,mem_gbs=1000}"]


@each_sample
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_overlap(path: Path, estimator: str) -> None:
    overlap = run("overlap", path, "--estimator", estimator, "--device", "h200", "--json").json
    assert_has(
        overlap,
        {"device": str, "step_ms": float, "compute_ms": float, "communication_ms": float,
         "exposed_ms": float, "hidden_count": int, "collective_count": int, "by_group": dict,
         "collectives": list, "flops": int, "tflops": (float, type(None)),
         "mfu": (float, type(None)), "tokens_per_second": (float, type(None)), "unknown": dict,
         "without_time": list},
    )  # fmt: skip
    assert "H200" in overlap["device"]
    info = answer("info", path)
    collectives = overlap["collectives"]
    assert overlap["flops"] == info["flops"]["total"]
    assert len(collectives) == overlap["collective_count"]
    assert len(collectives) == sum(counts["count"] for counts in info["collectives"].values())
    assert set(overlap["by_group"]) == {group["desc"] for group in info["groups"]}
    for collective in collectives:
        assert_has(
            collective,
            {"node": str, "wait": (str, type(None)), "group": str, "bytes": int, "ms": float,
             "start_ms": float, "end_ms": float, "exposed_ms": float, "reason": (str, type(None))},
        )  # fmt: skip
        assert collective["end_ms"] - collective["start_ms"] == pytest.approx(collective["ms"], abs=2e-6)
        assert (collective["reason"] is None) == (collective["exposed_ms"] == 0)
        assert 0 <= collective["end_ms"] <= overlap["step_ms"]
    hidden = sum(collective["exposed_ms"] <= 1e-6 for collective in collectives)
    assert overlap["hidden_count"] == hidden
    for key, total in (("ms", "communication_ms"), ("exposed_ms", "exposed_ms")):
        assert sum(c[key] for c in collectives) == pytest.approx(overlap[total], abs=1e-6 * len(collectives))
    for group, times in overlap["by_group"].items():
        assert_has(times, {"communication_ms": float, "exposed_ms": float})
        mine = [c for c in collectives if c["group"] == group]
        assert sum(c["ms"] for c in mine) == pytest.approx(times["communication_ms"])
        assert sum(c["exposed_ms"] for c in mine) == pytest.approx(times["exposed_ms"], abs=1e-4)
        # On one stream, calls run sequentially.
        assert all(a["end_ms"] <= b["start_ms"] + 1e-9 for a, b in pairwise(mine))
        assert times["communication_ms"] <= overlap["step_ms"] + 1e-9
    assert overlap["step_ms"] >= overlap["compute_ms"]
    assert overlap["step_ms"] >= overlap["exposed_ms"]
    parts = overlap["compute_ms"] + overlap["exposed_ms"] + overlap["host_bound_ms"]
    assert overlap["step_ms"] == pytest.approx(parts)


def test_throughput_follows_from_the_step() -> None:
    overlap = run("overlap", LARGE, "--device", "h100", "--json").json
    document_info = {"seq_len": 8192, "batch": 1, "tp": 2}
    tokens = document_info["seq_len"] * document_info["batch"]
    assert overlap["tokens_per_second"] == pytest.approx(tokens / (overlap["step_ms"] / 1e3) / document_info["tp"])
    assert overlap["mfu"] == pytest.approx(overlap["tflops"] / 989.4)
    assert overlap["hardware_tflops"] == pytest.approx(overlap["flops"] / overlap["step_ms"] / 1e9)


def test_overlap_says_what_it_cannot_estimate(tmp_path: Path) -> None:
    known = run("overlap", LARGE, "--json").json
    assert known["unknown"] == {} and known["without_time"] == []
    document = capture()
    at(document, "ar").update(target="_c10d_functional.broadcast.default", args=[n("mm"), 0, "0"])
    path = write(tmp_path / "small.json", document)
    for estimator, names in (("roofline", []), ("torch-2.15", ["ar"])):
        arguments = ["overlap", path, "--estimator", estimator]
        overlap = run(*arguments, "--json").json
        assert overlap["without_time"] == names
        assert set(overlap["unknown"]) == {"tokens_per_second", "mfu"}
        assert "seq_len" in overlap["unknown"]["tokens_per_second"]
        text = run(*arguments).out
        assert ("1 collective (the estimator has no formula" in text) == bool(names)
        assert "unknown: The capture's info lacks seq_len" in text


def test_devices() -> None:
    steps = {d: run("overlap", LARGE, "--device", d, "--json").json["step_ms"] for d in ("a100", "h100", "b200")}
    assert steps["a100"] > steps["h100"] > steps["b200"]
    assert run("overlap", LARGE, "--device", "H100", "--json").json["step_ms"] == steps["h100"]
    assert run("overlap", LARGE, "--json").json["step_ms"] == steps["h100"], "the default for a CUDA graph"
    assert "CPU" in run("overlap", JOINT, "--json").json["device"]


def test_a_custom_device(tmp_path: Path) -> None:
    root = Path(__file__).parents[2] / "resources" / "devices"
    description = json.loads((root / "h100.json").read_text()) | {"name": "Half an H100"}
    description["peak_tflops"] = {k: v / 2 for k, v in description["peak_tflops"].items()}
    path = tmp_path / "half.json"
    path.write_text(json.dumps(description))
    overlap = run("overlap", LARGE, "--device", path, "--json").json
    assert overlap["device"] == "Half an H100"
    assert overlap["compute_ms"] > run("overlap", LARGE, "--device", "h100", "--json").json["compute_ms"]


def test_more_nodes_make_communication_slower() -> None:
    """The group of four spans two nodes of two GPUs."""
    inside = run("overlap", LARGE, "--gpus-per-node", "8", "--json").json["by_group"]["fsdp"]
    between = run("overlap", LARGE, "--gpus-per-node", "2", "--json").json["by_group"]["fsdp"]
    assert between["communication_ms"] > inside["communication_ms"]


def test_one_stream() -> None:
    overlap = run("overlap", JOINT, "--one-stream", "--json").json
    assert list(overlap["by_group"]) == ["communication"]
    assert all(a["end_ms"] <= b["start_ms"] + 1e-9 for a, b in pairwise(overlap["collectives"]))


def test_simple_estimate_by_hand(tmp_path: Path) -> None:
    """One matrix product of 2 * 8 * 8 * 8 FLOPs, a cat and an all-reduce of 256 bytes."""
    path = write(tmp_path / "small.json", capture())
    overlap = run("overlap", path, "--estimator", "simple{coll_us=10,coll_gbs=1,tflops=0.001,mem_gbs=1}",
                  "--json").json  # fmt: skip
    mm_ms = 1024 / 1e9 * 1e3
    cat_ms = (128 + 256) / 1e9 * 1e3  # each distinct input once, and the output
    assert overlap["compute_ms"] == pytest.approx(mm_ms + cat_ms, abs=2e-6)
    assert overlap["communication_ms"] == pytest.approx(0.010 + 256 / 1e9 * 1e3, abs=2e-6)
    assert overlap["exposed_ms"] == overlap["communication_ms"]
    assert overlap["step_ms"] == pytest.approx(overlap["compute_ms"] + overlap["communication_ms"])


def test_groups_with_the_same_description_stay_separate(tmp_path: Path) -> None:
    document = capture()
    document["groups"]["1"] = {"ranks": [0, 1], "desc": "mesh_tp", "backend": "nccl"}
    document["nodes"].insert(
        -1,
        node("ar2", "call_function", "_c10d_functional.all_reduce.default", [n("mm"), "sum", "1"], tensor(3, 8, 8)),
    )
    overlap = run("overlap", write(tmp_path / "groups.json", document), "--json").json
    assert list(overlap["by_group"]) == ["mesh_tp", "mesh_tp (1)"]
    total = sum(times["communication_ms"] for times in overlap["by_group"].values())
    assert total == pytest.approx(overlap["communication_ms"])


# --- capture ---


def test_capture_runs_the_python_helper(tmp_path: Path) -> None:
    """Checks the resulting command with a fake Python that prints its arguments."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$PYTHONPATH"\nprintf "%s\\n" "$@"\nexit 7\n')
    python.chmod(0o755)
    done = run("capture", "--python", python, "--out", "there", "--pair", "--", "train.py", "--steps", "3")
    assert done.code == 7, "the script's own exit code"
    path, *words = done.out.splitlines()
    assert words == ["-m", "jointer", "run", "--out", "there", "--pair", "--", "train.py", "--steps", "3"]
    assert (Path(path.split(":")[0]) / "jointer" / "__init__.py").is_file()


def test_capture_without_python() -> None:
    done = run("capture", "--python", "/nonexistent", "--", "train.py")
    assert (done.code, done.out) == (4, "")
    assert done.err == (
        "jointer: cannot run Python `/nonexistent`: No such file or directory; specify an interpreter with --python\n"
    )


def test_capture_without_torch(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')  # no installed packages
    python.chmod(0o755)
    done = run("capture", "--python", python, "--out", tmp_path / "there", "--", "train.py")
    assert (done.code, done.out) == (4, "")
    assert done.err == (
        f"jointer: torch is not installed for Python `{python}`; specify an interpreter that has torch with --python\n"
    )


# --- Several graphs in one input ---


def test_several_graphs_are_listed_if_none_is_chosen(tmp_path: Path) -> None:
    """A folder of captures is read like a log of several ranks."""
    for path in SMALL[:2]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    done = run("info", tmp_path)
    assert done.code == 2
    assert done.err.count("\n") == 1 and "choose one with --graph N (0 to 1)" in done.err
    assert done.out.count("\n") == 2
    listed = run("memory", tmp_path, "--json")
    assert listed.code == 2
    graphs = json.loads(listed.out)["graphs"]
    assert [graph["index"] for graph in graphs] == [0, 1]
    names = {answer("info", tmp_path, "--graph", str(i), "--json")["hash"] for i in range(2)}
    assert names == {answer("info", path, "--json")["hash"] for path in SMALL[:2]}
    assert_usage(run("info", tmp_path, "--graph", "2"), "there is no graph 2", "the last one is 1")
    exported = run("export", tmp_path, "--format", "csv", "-o", "-")
    assert (exported.code, exported.out) == (2, "")
