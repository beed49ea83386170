"""If a rank fails, the result names the rank, the node and the reason, and no process is left."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import BIN, SAMPLES, bench, environment, run_ranks, run_runner
from jointer.document import read_document

SAMPLE = SAMPLES / "llama_debug_fsdp2.joint.json.zst"


def statuses(result: dict[str, Any]) -> list[str]:
    return [rank["status"] for rank in result["ranks"]]


_seeds = itertools.count(os.getpid() * 1000)


def new_seed() -> str:
    """An option that no other run has, which identifies its ranks."""
    return f"--seed={next(_seeds)}"


def runners(seed: str) -> set[int]:
    pattern = f"jointer-runner .*{seed}( |$)"
    found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True)
    return {int(pid) for pid in found.stdout.split()}


def with_changes(path: Path, change: Any) -> Path:
    document = read_document(SAMPLE)
    change(document)
    path.write_text(json.dumps(document))
    return path


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_the_cuda_runner_without_a_gpu() -> None:
    """The run fails with the driver's reason, or runs on the CPU and reports that reason."""
    runner = BIN / "jointer-runner-cuda"
    if not runner.exists():
        pytest.skip("jointer-runner-cuda was not built")
    quick = ["--solo=0", "--iterations=1", "--warmup=0", SAMPLE]
    (refused,) = run_ranks([runner, "--on=cuda", *quick], 1)
    assert refused.code == 4 and refused.failed["kind"] == "device"
    why = refused.failed["text"].partition("used: ")[2]
    assert why
    (ran,) = run_ranks([runner, *quick], 1)
    assert ran.code == 0 and ran.of("started")[0]["device_type"] == "cpu"
    assert ran.of("note")[0]["text"] == f"{why}: the CPU runs the graph"
    (cpu,) = run_ranks([runner, "--on=cpu", *quick], 1)
    assert cpu.code == 0 and not any(why in note["text"] for note in cpu.of("note"))


@pytest.mark.parametrize(
    ("program", "reason"),
    [(None, "the runner was built without CUDA"), (b"not a program", "Exec format error")],
)
def test_the_reason_why_the_cuda_runner_does_not_start(
    tmp_path: Path, program: bytes | None, reason: str
) -> None:
    runner = tmp_path / "jointer-runner"
    shutil.copy(BIN / "jointer-runner", runner)
    if program is not None:
        other = tmp_path / "jointer-runner-cuda"
        other.write_bytes(program)
        other.chmod(0o755)
    (refused,) = run_ranks([runner, "--on=cuda", "--solo=0", SAMPLE], 1)
    assert refused.code == 4 and refused.failed["kind"] == "device"
    assert reason in refused.failed["text"]
    assert refused.failed["text"].endswith("; --on cpu runs on the CPU")


def test_out_of_memory_names_the_node() -> None:
    seed = new_seed()
    code, result = bench(SAMPLE, seed, "--memory-limit=60000000", "--iterations=1")
    assert code == 4
    assert all(status in ("failed", "stopped") for status in statuses(result))
    assert "out of memory" in result["failure"]
    assert any(rank.get("node") for rank in result["ranks"])
    assert not runners(seed)


@pytest.mark.parametrize("options", [[], ["--verify"]])
def test_what_does_not_fit_is_refused_at_its_input(tmp_path: Path, options: list[str]) -> None:
    """With `--verify`, the unedited graph runs first; its inputs do not count."""
    def change(document: dict[str, Any]) -> None:
        parameter = next(n for n in document["nodes"] if n["op"] == "placeholder")
        document["storages"][parameter["val"]["t"]["storage"]] = 1 << 45
        change.name = parameter["name"]  # type: ignore[attr-defined]

    seed = new_seed()
    code, result = bench(with_changes(tmp_path / "large.json", change), seed, "--any-size", *options)
    assert code == 4
    assert all(status in ("failed", "stopped") for status in statuses(result))
    culprit = next(rank for rank in result["ranks"] if rank["status"] == "failed")
    assert (culprit["kind"], culprit["node"]) == ("memory", change.name)
    assert "cannot allocate 32.0 TiB" in culprit["reason"] and "this rank's share" in culprit["reason"]
    assert not runners(seed)


def test_a_node_that_fails_is_named(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        node = next(n for n in document["nodes"] if n["target"] == "aten.view.default")
        node["args"][1] = [7, 7, 7]
        change.name = node["name"]  # type: ignore[attr-defined]

    broken = with_changes(tmp_path / "broken.json", change)
    (ran,) = run_runner(broken, "--solo=0")
    assert ran.code == 4
    assert ran.failed["node"] == change.name  # type: ignore[attr-defined]
    assert "7" in ran.failed["text"]


def test_a_call_that_does_not_fit_its_operator_is_named(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        node = next(n for n in document["nodes"] if n["target"] == "aten.mm.default")
        node["args"] = node["args"][:1]

    (ran,) = run_runner(with_changes(tmp_path / "broken.json", change), "--solo=0")
    assert ran.code == 3
    assert "mat2" in ran.failed["text"]


@pytest.mark.slow
def test_collectives_that_do_not_match_end_in_time(tmp_path: Path) -> None:
    """Rank 1 never starts the last collective, so rank 0 would wait for it forever."""
    seed = new_seed()

    def change(document: dict[str, Any]) -> None:
        last = [n for n in document["nodes"] if n["target"].startswith("_c10d_functional.reduce")]
        start = last[-1]
        # Replaces the sum of all ranks' shares by this rank's own first part.
        rows = start["val"]["t"]["shape"][0]
        start["target"] = "aten.slice.Tensor"
        start["args"] = [start["args"][0], 0, 0, rows]

    (tmp_path / "rank0.json").write_text(json.dumps(read_document(SAMPLE)))
    with_changes(tmp_path / "rank1.json", change)
    started = time.monotonic()
    ranks = tmp_path / "rank{rank}.json"
    code, result = bench(ranks, seed, "--timeout=5", "--iterations=2", "--any-ranks")
    assert time.monotonic() - started < 60
    assert code == 4
    assert "rank" in result["failure"]
    assert "reduce_scatter" in result["failure"] or "collective" in result["failure"]
    assert not runners(seed)


def test_a_rank_that_is_killed_is_named() -> None:
    seed = new_seed()
    command = [BIN / "jointer", "bench", "--json", "--on=cpu", SAMPLE, seed, "--iterations=100000"]
    running = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 60
        while len(runners(seed)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(3)  # until the steps run
        os.kill(max(runners(seed)), signal.SIGKILL)
        out, _ = running.communicate(timeout=600)
    finally:
        running.kill()
    assert running.returncode == 4
    result = json.loads(out)
    assert "killed by signal 9" in result["failure"]
    assert any(rank["status"] == "died" for rank in result["ranks"])
    assert not runners(seed)


def test_a_rank_continues_if_nothing_reads_its_events() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [BIN / "jointer-runner", "--on=cpu", "--threads=1", "--iterations=1", "--warmup=0"]
    done = subprocess.run(
        [str(word) for word in [*command, "--solo=0", SAMPLE]],
        env=environment(0, 1, 1),
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=600,
    )
    os.close(writer)
    assert done.returncode == 0, done.stderr


def test_a_missing_device() -> None:
    if Path("/dev/nvidiactl").exists():
        return  # it exists here
    command = [BIN / "jointer", "bench", "--json", "--on=cuda", "--solo=0", SAMPLE]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 4
    assert "CUDA" in json.loads(done.stdout)["failure"]


def test_a_world_that_does_not_fit(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["groups"]["fsdp"]["ranks"] = [0, 3]

    (ran, *_) = run_runner(with_changes(tmp_path / "odd.json", change), "--timeout=10", size=2)
    assert ran.code != 0
    assert ran.failed["kind"] in ("collective", "load")
