#!/usr/bin/env python3
"""Checks the required speed relative to torch, measured in one run on one machine.

    ratios.py --bin BUILD/bin [--shared DIR] [--rounds N]

Most measurements are repeated, and the minimum counts, since other work on the machine only adds time. Prints a
table. Exits with 1 if a requirement is not met, with 3 if the captures are missing.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "resources" / "python"))

SMALL = "llama3_8b_tp2_fsdp2.joint"
LARGE = "deepseek_v3_671b_tp8_fsdp32_ep32.joint"
MIB = 1 << 20


@dataclass
class Row:
    what: str
    measured: str
    promised: str
    kept: bool


def seconds(action: Callable[[], object]) -> float:
    gc.collect()
    gc.freeze()
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def answer_of(*command: str | Path) -> Any:
    """The JSON that a program prints."""
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def benchmark_ms(bin_dir: Path, pattern: str) -> dict[str, float]:
    """Google Benchmark's times of the matching functions, in milliseconds."""
    command = [
        bin_dir / "core_benchmark",
        f"--benchmark_filter={pattern}",
        "--benchmark_format=json",
        "--benchmark_min_time=0.3",
    ]
    return {row["name"]: row["real_time"] for row in answer_of(*command)["benchmarks"]}


def benchmark_cpu_ms(bin_dir: Path, pattern: str) -> dict[str, float]:
    """The same in CPU time, for comparisons of CPU time."""
    command = [bin_dir / "core_benchmark", f"--benchmark_filter={pattern}", "--benchmark_format=json"]
    return {row["name"]: row["cpu_time"] for row in answer_of(*command)["benchmarks"]}


def best_of(rounds: int, measure: Callable[[], dict[str, float]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, value in measure().items():
            best[name] = min(best.get(name, value), value)
    return best


# Runs in its own small process, so that the measured process is not forked from this large one: a child's
# maximum resident set includes the memory that it shared with its parent before exec.
LAUNCHER = """
import json, os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(json.dumps([time.perf_counter() - start, usage.ru_maxrss * 1024, status]))
"""


def run_process(command: list[str], environment: dict[str, str] | None = None) -> tuple[float, int]:
    """Wall time of a process in seconds, and its maximum resident set in bytes."""
    launcher = [sys.executable, "-S", "-c", LAUNCHER, *command]
    done = subprocess.run(launcher, capture_output=True, text=True, check=True, env=environment)
    wall, resident, status = json.loads(done.stdout)
    if status != 0:
        raise SystemExit(f"{command[0]} failed: {done.stderr.strip()}")
    return wall, resident


def measure(bin_dir: Path, captures: Path, rounds: int) -> list[Row]:
    import zstandard
    from torch._inductor.fx_passes import memory_estimator

    import jointer

    def profile(graph: object) -> list[int]:
        return memory_estimator.build_memory_profile(graph, memory_estimator._is_releasable)

    def unpacked(name: str) -> bytes:
        packed = (captures / f"{name}.json.zst").read_bytes()
        return zstandard.ZstdDecompressor().decompressobj().decompress(packed)

    rows = []
    small = jointer.load(captures / f"{SMALL}.json.zst").graph
    torch_small = min(seconds(lambda: profile(small)) for _ in range(rounds))
    ours = best_of(rounds, lambda: benchmark_ms(bin_dir, "torch_memory_profile/8b|simulate/(8b|671b)"))
    ratio = torch_small * 1e3 / ours["torch_memory_profile/8b"]
    rows.append(
        Row(
            "memory profile of 8B: ours, torch's build_memory_profile",
            f"{ours['torch_memory_profile/8b']:.3f} ms, {torch_small * 1e3:.0f} ms: {ratio:.0f} times",
            "at least 200 times",
            ratio >= 200,
        )
    )
    growth = ours["simulate/671b"] / ours["simulate/8b"]
    rows.append(
        Row(
            "simulation: 671B compared with 8B",
            f"{ours['simulate/671b']:.2f} ms, {ours['simulate/8b']:.3f} ms: {growth:.1f} times",
            "at most 7 times",
            growth <= 7,
        )
    )

    import torch.distributed

    torch.distributed.destroy_process_group()
    large = jointer.load(captures / f"{LARGE}.json.zst").graph
    text = unpacked(LARGE)
    python = min(
        seconds(lambda: json.loads(text)) + seconds(lambda: profile(large)) for _ in range(rounds)
    )
    command = [str(bin_dir / "jointer"), "memory", str(captures / f"{LARGE}.json.zst")]
    runs = [run_process(command) for _ in range(3 * rounds)]
    process, resident = min(run[0] for run in runs), max(run[1] for run in runs)
    rows.append(
        Row(
            "671B: `jointer memory`, json.loads + build_memory_profile",
            f"{process * 1e3:.0f} ms, {python * 1e3:.0f} ms: {python / process:.1f} times",
            "at least 10 times",
            python / process >= 10,
        )
    )
    rows.append(
        Row("671B: memory of that process", f"{resident / MIB:.0f} MiB", "under 300 MB", resident < 300e6)
    )
    rows += partition_rows(bin_dir, captures, rounds)
    rows += what_if_rows(bin_dir, captures, rounds)
    rows += plan_rows(bin_dir, captures, rounds)
    rows += reordering_rows(bin_dir, captures, rounds)
    rows += bucketing_rows(bin_dir, captures, rounds)
    rows += window_rows(bin_dir, captures, rounds)
    rows += ladder_rows(bin_dir, captures, rounds)
    rows += sac_rows(bin_dir, captures, rounds)
    return rows


def what_if_rows(bin_dir: Path, captures: Path, rounds: int) -> list[Row]:
    paths = [str(captures / f"{name}.json.zst") for name in (SMALL, LARGE)]

    def figures() -> dict[str, float]:
        found = answer_of(bin_dir / "what_if_benchmark", *paths)
        return {
            f"{size} {name} {figure}": value
            for size, path in zip(("small", "large"), paths)
            for name, row in found[path].items()
            for figure, value in row.items()
        }

    best = best_of(rounds, figures)
    median, high = best["large preview median_ms"], best["large preview p99_ms"]
    rows = [
        Row("671B: what-if of a collective's whole legal range, median", f"{median:.2f} ms", "within 16 ms", median <= 16),
        Row("671B: the same, 99th percentile", f"{high:.1f} ms", "within 50 ms", high <= 50),
    ]
    for distance in (10, 100, 1000):
        small, large = (best[f"{size} move_{distance} memory_us"] for size in ("small", "large"))
        rows.append(
            Row(
                f"a move by {distance} positions: memory of 671B compared with 8B",
                f"{large:.2f} us, {large / small:.2f} times, its time {best[f'large move_{distance} time_us']:.2f} us",
                "under 1.5 times",
                large / small < 1.5,
            )
        )
    return rows


FORWARD_OUTPUTS = {"PlainAOTOutput", "InputMutationAOTOutput", "IntermediateBaseAOTOutput"}


def base_type(desc: object) -> str | None:
    while isinstance(desc, dict) and desc["type"].startswith("Subclass"):
        desc = desc.get("base")
    return desc["type"] if isinstance(desc, dict) else None


def torch_partition_ms(path: Path) -> float:
    """CPU time of torch's minimum cut on a capture, measured once because it changes the graph."""
    import torch
    from jointer.document import read_document
    from jointer.load import load_document
    from torch._functorch import partitioners

    document = read_document(path)
    module = load_document(document, None, path)
    records = {record["name"]: record for record in document["nodes"]}
    outputs = document["nodes"][-1]["desc"]
    count = max(i + 1 for i, desc in enumerate(outputs) if base_type(desc) in FORWARD_OUTPUTS)
    static = [
        i
        for i, node in enumerate(filter(partitioners._is_primal, module.graph.nodes))
        if base_type(records[node.name].get("desc")) in ("ParamAOTInput", "BufferAOTInput")
    ]
    gc.collect()
    gc.freeze()
    start = time.process_time()
    partitioners.min_cut_rematerialization_partition(
        module, None, num_fwd_outputs=count, static_lifetime_input_indices=static
    )
    spent = time.process_time() - start
    torch.distributed.destroy_process_group()
    return spent * 1e3


def partition_rows(bin_dir: Path, captures: Path, rounds: int) -> list[Row]:
    """Uses CPU times, so that other work on the machine does not count."""
    best = best_of(rounds, lambda: benchmark_cpu_ms(bin_dir, "partition(_and_emit)?/(8b|671b)"))
    theirs = torch_partition_ms(captures / f"{SMALL}.json.zst")
    ratio = theirs / best["partition_and_emit/8b"]
    growth = best["partition/671b"] / best["partition/8b"]
    again = best["partition/8b"]
    return [
        Row("minimum cut of 8B and its halves: ours, torch's", f"{best['partition_and_emit/8b']:.1f} ms, {theirs:.0f} ms: {ratio:.0f} times", "at least 50 times", ratio >= 50),
        Row("minimum cut: 671B compared with 8B", f"{best['partition/671b']:.0f} ms, {best['partition/8b']:.1f} ms: {growth:.1f} times", "within 10 times", growth <= 10),
        Row("8B solved again after a tag was changed", f"{again:.1f} ms", "within 100 ms", again <= 100),
    ]


def plan_rows(bin_dir: Path, captures: Path, rounds: int) -> list[Row]:
    paths = [str(captures / f"{name}.json.zst") for name in (SMALL, LARGE)]

    def figures() -> dict[str, float]:
        found = answer_of(bin_dir / "plan_benchmark", *paths)
        return {
            f"{size} {key}": value
            for size, path in zip(("small", "large"), paths)
            for key, value in found[path].items()
        }

    best = best_of(rounds, figures)
    rows = []
    for size, label, most in (("small", "8B", 16), ("large", "671B", 100)):
        longest = best[f"{size} tick_longest_ms"]
        rows.append(
            Row(
                f"{label}: a tick changes the plan: its numbers and curve, longest",
                f"{longest:.1f} ms, median {best[f'{size} tick_median_ms']:.1f} ms",
                f"within {most} ms",
                longest <= most,
            )
        )
    small, large = best["small evaluate_cut_ms"], best["large evaluate_cut_ms"]
    rows.append(
        Row(
            "numbers and curve of a plan: 671B compared with 8B",
            f"{large:.2f} ms, {small:.2f} ms: {large / small:.1f} times",
            "at most 10 times",
            large <= 10 * small,
        )
    )
    return rows


MOVES = {
    "reorder_communication_preserving_peak_memory": (
        "_reorder_communication_preserving_peak_memory_internal",
        "reorder_iterative_unsafe_collectives_reorder",
    ),
    "sink_waits_iterative": (
        "_sink_waits_iterative_internal",
        "sink_waits_iterative_unsafe_collectives_reorder",
    ),
}
LIST_SCHEDULES = ("raise_comms", "sink_waits", "reorder_compute_for_overlap")


def use_differential_tests() -> None:
    """Makes tests/differential importable, for its stand-ins for what torch's passes need."""
    folder = str(ROOT / "tests" / "differential")
    if folder not in sys.path:
        sys.path.insert(0, folder)


def torch_reordering_ms(bin_dir: Path, path: Path) -> dict[str, float]:
    """CPU time of torch's own reordering functions on the same calls, once each."""
    use_differential_tests()
    from torch_reordering import moved, scheduled_for_comm

    calls = answer_of(bin_dir / "reordering_answers", "calls", str(path))

    def spent(action: Callable[[], object]) -> float:
        start = time.process_time()
        action()
        return (time.process_time() - start) * 1e3

    times = {name: spent(lambda: moved(calls, function, **{safe: False})) for name, (function, safe) in MOVES.items()}
    return times | {name: spent(lambda: scheduled_for_comm(calls, name)) for name in LIST_SCHEDULES}


def reordering_rows(bin_dir: Path, captures: Path, rounds: int) -> list[Row]:
    backward = captures / "llama3_8b_tp2_fsdp2.min_cut.bw.json.zst"
    paths = [str(backward), str(captures / f"{LARGE}.json.zst")]

    def figures() -> dict[str, float]:
        found = answer_of(bin_dir / "reordering_benchmark", *paths)
        return {
            f"{size} {name}": row["ms"]
            for size, path in zip(("small", "large"), paths)
            for name, row in found[path].items()
            if name != "before"
        }

    best = best_of(rounds, figures)
    slowest = max((name for name in best if name.startswith("large")), key=lambda name: best[name])
    rows = []
    for name, theirs in torch_reordering_ms(bin_dir, backward).items():
        ours = best[f"small {name}"]
        rows.append(
            Row(
                f"8B's backward, {name}: ours, torch's",
                f"{ours:.1f} ms, {theirs:.0f} ms: {theirs / ours:.0f} times",
                "at least 100 times",
                theirs >= 100 * ours,
            )
        )
    return [
        *rows,
        Row(
            "671B: the slowest of the reordering passes",
            f"{best[slowest]:.0f} ms, {slowest.removeprefix('large ')[:60]}",
            "within 3 s",
            best[slowest] <= 3000,
        ),
    ]


def torch_overlap_ms(path: Path) -> float:
    """CPU time of torch's schedule_overlap_bucketing with our costs, measured once: it takes a minute."""
    use_differential_tests()
    import pytest
    import torch.distributed
    from torch_overlap import TorchOverlap

    with pytest.MonkeyPatch.context() as patch:
        theirs = TorchOverlap(path, patch)
        gc.collect()
        gc.freeze()
        start = time.process_time()
        theirs.schedule(patch, collective_bucketing=True)
        spent = (time.process_time() - start) * 1e3
    torch.distributed.destroy_process_group()
    return spent


def bucketing_rows(bin_dir: Path, captures: Path, rounds: int) -> list[Row]:
    """autobucketing_reordering; for 671B on the backward half of our minimum cut."""
    backward = captures / "llama3_8b_tp2_fsdp2.min_cut.bw.json.zst"

    def figures(*arguments: str) -> dict[str, float]:
        return answer_of(bin_dir / "bucketing_benchmark", *arguments)[arguments[-1]]["1"]

    ours = best_of(rounds, lambda: figures(str(backward)))
    of_large = ("--backward", str(captures / f"{LARGE}.json.zst"))
    large = best_of(rounds, lambda: figures(*of_large))
    _, resident = run_process([str(bin_dir / "bucketing_benchmark"), *of_large])
    theirs = torch_overlap_ms(backward)
    return [
        Row(
            "8B's backward, autobucketing_reordering: ours, torch's schedule_overlap_bucketing",
            f"{ours['ms']:.0f} ms, {theirs:.0f} ms: {theirs / ours['ms']:.0f} times",
            "at least 100 times",
            theirs >= 100 * ours["ms"],
        ),
        Row(
            f"671B's backward of {large['nodes']:,} nodes, autobucketing_reordering",
            f"{large['ms']:.0f} ms",
            "within 2 s",
            large["ms"] <= 2000,
        ),
        Row(
            "the same: memory of the process, which reads the joint graph and cuts it",
            f"{resident / MIB:.0f} MiB",
            "within 1 GB",
            resident <= 1e9,
        ),
    ]


def window_rows(bin_dir: Path, captures: Path, rounds: int) -> list[Row]:
    if not (bin_dir / "frame_benchmark").exists():
        return []
    paths = [str(captures / f"{name}.json.zst") for name in (SMALL, LARGE)]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}

    def frames() -> dict[str, float]:
        return {path: row["median_ms"] for path, row in answer_of(bin_dir / "frame_benchmark", *paths).items()}

    medians = best_of(rounds, frames)
    small, large = medians[paths[0]], medians[paths[1]]
    first, _ = min(
        run_process([str(bin_dir / "jointer-desktop"), paths[1], "--exit-after-first-frame"], environment)
        for _ in range(rounds)
    )

    def freezes() -> dict[str, float]:
        return answer_of(bin_dir / "window_benchmark", paths[1])[paths[1]]

    frozen = best_of(rounds, freezes)

    # One round drags forty collectives. Only the CPU time of the window's thread counts.
    held = answer_of(bin_dir / "hold_benchmark", *paths)
    frame = max(held[path]["frame_cpu_p95_ms"] for path in paths)
    return [
        Row("frame while a collective is dragged, 8B and 671B, 95th percentile", f"{frame:.1f} ms", "within 16 ms", frame <= 16),
        Row("671B: from letting go of a collective until panes show the edit", f"{held[paths[1]]['drop_median_ms']:.0f} ms", "within 100 ms", held[paths[1]]["drop_median_ms"] <= 100),
        Row("longest freeze of the window while 671B opens", f"{frozen['opening_ms']:.0f} ms", "within 100 ms", frozen["opening_ms"] <= 100),
        Row("all panes follow a click in 671B, median", f"{frozen['selecting_median_ms']:.0f} ms", "within 100 ms", frozen["selecting_median_ms"] <= 100),
        Row("frame of the timeline at 1600 x 1000, 671B, median", f"{large:.1f} ms", "within 16 ms", large <= 16),
        Row("the same compared with 8B", f"{small:.1f} ms: {large / small:.2f} times", "at most 1.5 times", large / small <= 1.5),
        Row("first painted frame of 671B, from the start of the process", f"{first * 1e3:.0f} ms", "within 1 s", first <= 1),
    ]


def ladder_rows(bin_dir: Path, captures: Path, rounds: int) -> list[Row]:
    if not (bin_dir / "ladder_benchmark").exists():
        return []
    rows = []
    for name, label in ((SMALL, "8B"), (LARGE, "671B")):
        path = str(captures / f"{name}.json.zst")

        def ladder() -> dict[str, float]:
            return answer_of(bin_dir / "ladder_benchmark", path)[path]

        best = best_of(rounds, ladder)
        promises = [
            ("first layout", "first_layout_ms", "within 1 s", 1000),
            ("a layer opens", "open_layer_ms", "within 150 ms", 150),
            ("a layer opens down to its nodes", "open_nodes_ms", "within 150 ms", 150),
            ("the layer after it", "open_identical_ms", "within 150 ms", 150),
            ("after an edit", "new_snapshot_ms", "within 100 ms", 100),
            ("frame, 99th percentile", "frame_p99_ms", "within 16 ms", 16),
            ("frame, all rows open, 99th percentile", "all_open_frame_p99_ms", "within 16 ms", 16),
        ]
        rows += [
            Row(f"ladder of {label}: {what}", f"{best[key]:.1f} ms", promised, best[key] <= most)
            for what, key, promised, most in promises
        ]
    return rows


def sac_rows(bin_dir: Path, captures: Path, rounds: int) -> list[Row]:
    if not (bin_dir / "sac_benchmark").exists():
        return []
    rows = []
    for name, label, most in ((SMALL, "8B", 16), (LARGE, "671B", 100)):
        path = str(captures / f"{name}.json.zst")

        def pane() -> dict[str, float]:
            return answer_of(bin_dir / "sac_benchmark", path)[path]

        best = best_of(rounds, pane)
        for what, key in (
            ("from a tick until its numbers are on screen", "tick_median_ms"),
            ("preview before the tick", "preview_median_ms"),
            ("undo", "undo_median_ms"),
            ("redo", "redo_median_ms"),
            ("preview of another budget while the slider is dragged", "budget_median_ms"),
        ):
            rows.append(Row(f"SAC pane, {label}: {what}, median", f"{best[key]:.1f} ms", f"within {most} ms", best[key] <= most))
        if label == "8B":
            rows.append(
                Row(f"SAC pane, {label}: solve again, median", f"{best['solve_median_ms']:.0f} ms", "within 100 ms", best["solve_median_ms"] <= 100)
            )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument(
        "--shared", type=Path, default=Path(os.environ.get("JOINTER_SHARED") or ROOT.parent / "shared")
    )
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    captures = arguments.shared / "captures"
    if not (captures / f"{LARGE}.json.zst").exists():
        print(f"no capture to measure: {captures} has no {LARGE}", file=sys.stderr)
        return 3
    rows = measure(arguments.bin, captures, arguments.rounds)
    width = max(len(row.what) for row in rows)
    for row in rows:
        print(f"{row.what:<{width}}  {row.measured}  ({row.promised}: {'kept' if row.kept else 'NOT KEPT'})")
    return 0 if all(row.kept for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
