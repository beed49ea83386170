"""Runs the real jointer-runner: alone, under `jointer bench`, under torchrun.

``JOINTER_BIN`` names the folder of the built programs, and ``JOINTER_SHARED`` the folder of the shared captures; if
it is missing, tests that need it are skipped.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BIN = Path(os.environ.get("JOINTER_BIN") or ROOT / "build" / "release" / "bin")
SHARED = Path(os.environ.get("JOINTER_SHARED") or ROOT.parent / "shared")
SAMPLES = ROOT / "resources" / "samples"
EXECUTABLE = SHARED / "captures" / "executable"

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(ROOT / "resources" / "python"))
sys.path.insert(0, str(HERE))

# Name -> number of ranks.
CAPTURES = {
    "attention_mlp_single": 1,
    "llama_tiny_fsdp2_f32": 2,
    "llama_tiny_fsdp2_bf16": 2,
    "llama_tiny_tp2_f32": 2,
}


def pytest_report_header() -> list[str]:
    shared = SHARED if EXECUTABLE.is_dir() else "missing, so tests that need them are skipped"
    return [f"torch {torch.__version__}, {BIN}", f"shared captures: {shared}"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Ran:
    """Output of one rank."""

    code: int
    events: list[dict[str, Any]]
    err: str

    def of(self, event: str) -> list[dict[str, Any]]:
        return [each for each in self.events if each["event"] == event]

    @property
    def failed(self) -> dict[str, Any]:
        (event,) = self.of("failed")
        return event


def environment(rank: int, size: int, port: int) -> dict[str, str]:
    return {
        **os.environ,
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_RANK": str(rank),
        "LOCAL_WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }


def run_ranks(command: Sequence[object], size: int, timeout: float = 600) -> list[Ran]:
    """Runs the same command on every rank of a world; returns each rank's output."""
    port = free_port()
    ranks = [
        subprocess.Popen(
            [str(word) for word in command],
            env=environment(rank, size, port),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    try:
        done = [rank.communicate(timeout=timeout) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    events = [
        [json.loads(line) for line in out.splitlines() if line.startswith("{")] for out, _ in done
    ]
    return [
        Ran(rank.returncode, said, err)
        for rank, said, (_, err) in zip(ranks, events, done, strict=True)
    ]


def output_of(program: str, *arguments: object) -> str:
    """The output of a built program, which must succeed."""
    command = [str(BIN / program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_runner(*arguments: object, size: int = 1, timeout: float = 600) -> list[Ran]:
    quick = ["--threads=1", "--iterations=2", "--warmup=0", "--on=cpu"]
    return run_ranks([BIN / "jointer-runner", *quick, *arguments], size, timeout)


def bench(*arguments: object, timeout: float = 900) -> tuple[int, dict[str, Any]]:
    """The exit code of `jointer bench --json` and its JSON object."""
    command = [BIN / "jointer", "bench", "--json", "--on=cpu", *arguments]
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=timeout
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def capture_of(name: str) -> str:
    """The path of an executable capture's joint graph; skips the test if it is missing."""
    if not EXECUTABLE.is_dir():
        pytest.skip("no shared captures (JOINTER_SHARED)")
    return str(EXECUTABLE / (name + (".rank{rank}" if CAPTURES[name] > 1 else "")))


def files_of(base: str, rank: int, is_pair: bool) -> tuple[str, str]:
    """The files of one rank's capture, given ``capture_of``: the halves of its pair, or its joint graph and ``-``."""
    path = base.replace("{rank}", str(rank))
    if is_pair:
        return path + ".min_cut.fw.json.zst", path + ".min_cut.bw.json.zst"
    return path + ".joint.json.zst", "-"


def path_of_ranks(folder: Path, name: str, size: int) -> str:
    """The common path of the graphs of all ranks, of which rank 0 has ``name.0.json``: with ``{rank}`` if there are
    several.
    """
    rank = "{rank}" if size > 1 else "0"
    return str(folder / f"{name}.{rank}.json")


@pytest.fixture(scope="session")
def eager(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """torch's own outputs on this machine for an executable capture: a path with ``{rank}``."""
    folder = tmp_path_factory.mktemp("eager")
    made: dict[str, str] = {}

    def outputs(name: str) -> str:
        if name not in made:
            base, out = capture_of(name), f"{folder}/{name}.{{rank}}.safetensors"
            command = [sys.executable, HERE / "eager.py", base + ".joint.json.zst"]
            for ran in run_ranks([*command, base + ".inputs.safetensors", out], CAPTURES[name]):
                assert ran.code == 0, ran.err
            made[name] = out
        return made[name]

    return outputs


def verified(ran: Sequence[Ran]) -> list[Mapping[str, Any]]:
    for rank in ran:
        assert rank.code == 0, rank.err
    return [rank.of("verified")[0] for rank in ran]


def expect_eager_outputs(graph: str, name: str, eager: Callable[[str], str]) -> None:
    """Runs an edited graph of the capture on every rank; its outputs are bitwise equal to torch's."""
    inputs = f"--inputs={capture_of(name)}.inputs.safetensors"
    ran = run_runner(graph, inputs, f"--expected={eager(name)}", size=CAPTURES[name])
    for answer in verified(ran):
        assert answer["bitwise"], answer
        assert answer["compared"] >= 15
