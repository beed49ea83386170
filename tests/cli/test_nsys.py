"""`jointer bench --nsys` with a stand-in for Nsight Systems: every rank runs under it and is watched as usual."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, JOINT
from documents import capture, n, node, tensor, write
from launching import BEGIN, END, FAKE_RANK, Bench, die_soon

WORLD = 4  # ranks of JOINT
#: Less than the ranks here sleep, and more than a busy machine needs to stop them.
PROMPT_SECONDS = 30

#: Notes its arguments and the rank's process, runs the rank, and writes a report, as nsys does: the rank is not in
#: the process group of nsys, and a signal that kills it becomes an exit code.
NSYS = """#!/bin/sh
here=$(dirname "$0")
echo "$@" >"$here/nsys.$RANK.log"
for word; do
  shift
  case $word in
    profile | --trace=* | --sample=* | --cpuctxsw=* | --capture-range* | --wait=* | --force-* | --cuda-graph-*) ;;
    --output=*) report=${word#--output=} ;;
    *) set -- "$word" "$@"; break ;;
  esac
done
setsid "$@" &
echo $! >"$here/rank.$RANK.pid"
wait $!
code=$?
if [ -z "$NSYS_WRITES_NOTHING" ]; then echo report >"$report.nsys-rep"; fi
exit $code
"""

ON_GPU = ["started", {"device": "NVIDIA H200", "device_type": "cuda"}]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "nsys").write_text(NSYS)
    (programs / "nsys").chmod(0o755)
    # Without GPUs, `--on cuda` leaves it to the ranks to find one.
    return Bench(tmp_path, {"PATH": f"{programs}:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": ""})


def gpu_ranks(*actions: Any) -> dict[str, Any]:
    return {"*": [ON_GPU, *BEGIN[1:], *actions]}


def arguments_of_nsys(bench: Bench, rank: int) -> list[str]:
    return (bench.folder / "bin" / f"nsys.{rank}.log").read_text().split()


def one_call() -> dict[str, Any]:
    nodes = [
        node("x", "placeholder", "x", [], tensor(0, 8, 8), desc={"type": "PlainAOTInput"}),
        node("y", "call_function", "aten.relu.default", [n("x")], tensor(1, 8, 8)),
        node("output", "output", "output", [[n("y")]], None),
    ]
    no_symbols = {"vars": {}, "replacements": {}, "deferred_asserts": {}}
    return {**capture(), "world_size": 1, "groups": {}, "symbols": no_symbols, "storages": [256, 256], "nodes": nodes,
            "modules": [], "stacks": []}


def test_every_rank_runs_under_nsys(bench: Bench) -> None:
    reports = bench.folder / "new" / "reports"
    ran = bench.run(JOINT, "--nsys", reports, "--on", "cuda", "--json", ranks=gpu_ranks(*END))
    assert ran.code == 0, ran.err
    assert sorted(path.name for path in reports.iterdir()) == [f"rank{rank}.nsys-rep" for rank in range(WORLD)]
    for rank in range(WORLD):
        words = arguments_of_nsys(bench, rank)
        assert words[0] == "profile"
        assert f"--output={reports}/rank{rank}" in words
        # Only the measured steps, after which the rank continues.
        assert {"--capture-range=cudaProfilerApi", "--capture-range-end=stop", "--trace=cuda,nvtx"} <= set(words)
        assert ran.ranks[rank]["arguments"] == ["--ranks=4", "--on=cuda", f"--nsys={reports}", str(JOINT)]
    assert any(f"{reports}/rankN.nsys-rep" in note for note in ran.json["notes"])


@pytest.mark.parametrize("backend", ["python", "inductor", "regional"])
def test_ranks_of_every_backend_run_under_nsys(bench: Bench, backend: str) -> None:
    reports = bench.folder / "reports"
    bench.environment["JOINTER_PYTHON"] = str(FAKE_RANK)
    ran = bench.run(JOINT, "--nsys", reports, "--on", "cuda", "--backend", backend, ranks=gpu_ranks(*END))
    assert ran.code == 0, ran.err
    assert sorted(path.name for path in reports.iterdir()) == [f"rank{rank}.nsys-rep" for rank in range(WORLD)]
    program = ["-m", "jointer", "bench"] if backend == "python" else []
    for rank in range(WORLD):
        words = ran.ranks[rank]["arguments"]
        assert words[: len(program)] == program and f"--nsys={reports}" in words
        # A profiler is between the launcher and the rank.
        assert ran.ranks[rank]["environment"]["JOINTER_LAUNCHER"].isdecimal()


def test_one_rank_alone_has_its_number(bench: Bench) -> None:
    ran = bench.run(JOINT, "--nsys", bench.folder / "reports", "--on", "cuda", "--solo", "3", ranks=gpu_ranks(*END))
    assert ran.code == 0, ran.err
    assert [path.name for path in (bench.folder / "reports").iterdir()] == ["rank3.nsys-rep"]


def test_reports_are_of_this_run(bench: Bench) -> None:
    """An earlier report does not count as that of a rank for which nsys wrote none."""
    reports = bench.folder / "reports"
    reports.mkdir()
    (reports / "rank1.nsys-rep").write_text("old")
    bench.environment["NSYS_WRITES_NOTHING"] = "1"
    ran = bench.run(JOINT, "--nsys", reports, "--on", "cuda", "--json", ranks=gpu_ranks(*END))
    assert ran.code == 0, ran.err
    assert list(reports.iterdir()) == []
    assert "Nsight Systems wrote no report for rank 1" in ran.json["notes"]


def test_a_missing_nsys_is_refused(bench: Bench) -> None:
    bench.environment["PATH"] = str(bench.folder)
    ran = bench.run(JOINT, "--nsys", bench.folder / "reports", "--on", "cuda")
    assert ran.code == 4 and ran.out == "" and ran.ranks == {}
    assert "nsys is not on PATH; install Nsight Systems" in ran.err and ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "options, words",
    [
        (["--on", "cpu"], ["run on the CPU", "--on cuda", "--profile"]),
        (["--on", "cuda", "--profile"], ["--profile: kernels cannot be traced", "once without"]),
        (["--on", "cuda", "--calibrate"], ["--calibrate: kernels cannot be traced"]),
        (["--on", "cpu", "--print-command", "slurm"], ["run on the CPU"]),
    ],
)
def test_runs_that_cannot_be_recorded_are_refused(bench: Bench, options: list[str], words: list[str]) -> None:
    ran = bench.run(JOINT, "--nsys", bench.folder / "reports", *options)
    assert ran.code == 2 and ran.out == "" and ran.ranks == {}
    assert ran.err.startswith("jointer: option --") and ran.err.count("\n") == 1
    for word in words:
        assert word in ran.err
    assert not (bench.folder / "reports").exists()


def test_the_cpu_that_was_not_asked_for_is_refused(bench: Bench) -> None:
    ran = bench.run(JOINT, "--nsys", bench.folder / "reports")
    assert ran.code == 2 and "run on the CPU" in ran.err and ran.ranks == {}


@pytest.mark.parametrize("number, name", [(9, "SIGKILL"), (11, "SIGSEGV")])
def test_the_fate_of_a_rank_is_that_of_the_program(bench: Bench, number: int, name: str) -> None:
    script = {"2": [ON_GPU, *BEGIN[1:], ["kill", number]], **gpu_ranks(["sleep", 60])}
    ran = bench.run(JOINT, "--nsys", bench.folder / "reports", "--on", "cuda", "--json", ranks=script)
    assert ran.code == 4
    assert [rank["status"] for rank in ran.json["ranks"]] == ["stopped", "stopped", "died", "stopped"]
    assert f"signal {number} ({name})" in ran.rank(2)["reason"]
    assert ran.seconds < PROMPT_SECONDS


def test_an_exit_code_under_nsys(bench: Bench) -> None:
    script = {"1": [ON_GPU, *BEGIN[1:], ["stderr", "the last word"], ["exit", 3]], **gpu_ranks(["sleep", 60])}
    ran = bench.run(JOINT, "--nsys", bench.folder / "reports", "--on", "cuda", "--json", ranks=script)
    assert ran.code == 4
    assert "exit code 3" in ran.rank(1)["reason"] and "the last word" in ran.rank(1)["reason"]


def test_a_rank_that_hangs_under_nsys_is_killed(bench: Bench) -> None:
    ran = bench.run(JOINT, "--nsys", bench.folder / "reports", "--on", "cuda", "--json", "--timeout", "3",
                    ranks=gpu_ranks(["stubborn"], ["grandchild"], ["hang"]))
    assert ran.code == 4 and "no progress for 3 s" in ran.err


def test_an_interruption_leaves_nothing(bench: Bench) -> None:
    ran = bench.interrupt(JOINT, "--nsys", bench.folder / "reports", "--on", "cuda", "--json", count=WORLD,
                          ranks=gpu_ranks(["stubborn"], ["sleep", 60]))
    assert ran.code == 130
    assert {rank["status"] for rank in ran.json["ranks"]} == {"stopped"}
    assert ran.left_over == []


def test_a_rank_ends_with_a_launcher_that_is_killed(bench: Bench) -> None:
    """The kernel ends nsys together with the launcher, and the rank notices by itself. The device of this runner is
    simulated."""
    runner = BIN / "fake_device_runner"
    if not runner.exists():
        pytest.skip("the runner is not built")
    bench.environment["JOINTER_RUNNER"] = str(runner)
    bench.environment["CUDA_VISIBLE_DEVICES"] = "0"
    path = write(bench.folder / "one.json", one_call())
    process = bench.start(path, "--nsys", bench.folder / "reports", "--on", "cuda", "--warmup", "1000000000")
    noted = bench.folder / "bin" / "rank.0.pid"
    end = time.monotonic() + 60
    while not (noted.exists() and noted.read_text().strip()) and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(1)
    rank = int(noted.read_text())
    assert process.poll() is None, process.communicate()
    assert not die_soon([rank], seconds=0)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=600)
    assert die_soon([rank])


def test_commands_for_other_launchers_run_ranks_under_nsys(bench: Bench) -> None:
    reports = bench.folder / "reports"
    line = bench.run(JOINT, "--print-command", "torchrun", "--nsys", reports).out
    assert line.startswith(f"mkdir -p {reports} && torchrun --standalone --nproc-per-node=4 --no-python nsys profile ")
    assert line.endswith(f" '--output={reports}/rank%q{{RANK}}' jointer-runner --nsys={reports} {JOINT}\n")
    slurm = bench.run(JOINT, "--print-command", "slurm", "--nsys", reports, "--json").json["command"]
    assert f"mkdir -p {reports}; export RANK=" in slurm and "; exec nsys profile " in slurm
    assert not reports.exists()
