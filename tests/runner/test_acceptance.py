"""Runs the checks of scripts/gpu_acceptance on the CPU and on the simulated device (fake_device/)."""

from __future__ import annotations

import importlib.metadata
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest
import zstandard
from conftest import BIN, ROOT


# Checks that pass on a device, and some of their rows. Times of kernels are those of a GPU.
_ROWS = {
    "samples,ranks": [
        "{sample}, all ranks, interpret",
        "{sample}, interpret",
        "{sample}, peak",
    ],
    "timing": ["{sample}, times of nodes", "{sample}, estimate after calibration"],
    "faults": [
        "token ids out of range",
        "a run after that",
        "the rank is killed",
        "the rank stops",
        "the user stops the run",
    ],
}


def _check(on: str, samples: Path, sample: str, checks: str, out: Path) -> list[str]:
    """Runs checks on the CPU, or on the simulated device in place of a GPU. Returns the names of the
    rows that passed; none may fail."""
    paths = [ROOT / "tests", ROOT / "tests/runner", ROOT / "resources/python"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    backends = "interpret"
    if on == "cuda":
        environment["JOINTER_RUNNER"] = str(BIN / "fake_device_runner")
        backends += ",cudagraph"
    command = [sys.executable, "-m", "acceptance", "--on", on, "--out", out, "--bin", BIN]
    command += ["--samples", samples, "--only", sample, "--backends", backends, "--checks", checks]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=600, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((out / "report.json").read_text())["rows"]
    assert not [row for row in rows if row["status"] == "FAILED"], done.stdout
    return [row["check"] for row in rows if row["status"] == "passed"]


def _rows(checks: str, sample: str) -> set[str]:
    return {row.format(sample=sample) for row in _ROWS[checks]}


@pytest.mark.slow
@pytest.mark.parametrize("on", ["cpu", "cuda"])
@pytest.mark.parametrize("checks", _ROWS)
def test_checks_pass_on_a_sample(on: str, checks: str, tmp_path: Path) -> None:
    sample = "llama_debug_fsdp2.joint"
    passed = _check(on, ROOT / "resources/samples", sample, checks, tmp_path)
    expected = set() if (on, checks) == ("cpu", "timing") else _rows(checks, sample)
    assert expected <= set(passed)


def _tensor(shape: list[int], storage: int, dtype: str = "float32") -> dict[str, Any]:
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    return {"t": {"shape": shape, "dtype": dtype, "device": "cpu", "stride": strides, "offset": 0,
                  "storage": storage}}  # fmt: skip


def _write_small_sample(path: Path) -> None:
    """An embedding, a product and a ReLU."""

    def node(op: str, name: str, target: str, value: dict[str, Any], *args: str) -> dict[str, Any]:
        return {"name": name, "op": op, "target": target, "val": value,
                "args": [{"n": arg} for arg in args]}  # fmt: skip

    nodes = [
        node("placeholder", "tokens", "tokens", _tensor([256], 0, "int64")),
        node("placeholder", "table", "table", _tensor([64, 128], 1)),
        node("placeholder", "w", "w", _tensor([128, 128], 2)),
        node("call_function", "e", "aten.embedding.default", _tensor([256, 128], 3), "table", "tokens"),
        node("call_function", "m", "aten.mm.default", _tensor([256, 128], 4), "e", "w"),
        node("call_function", "r", "aten.relu.default", _tensor([256, 128], 5), "m"),
        {"name": "output", "op": "output", "target": "output", "args": [[{"n": "r"}]]},
    ]
    storages = [256 * 8, 64 * 128 * 4, 128 * 128 * 4, *[256 * 128 * 4] * 3]
    capture = {"format": "jointer-capture", "version": 1, "kind": "forward", "name": "small",
               "storages": storages, "nodes": nodes}  # fmt: skip
    path.write_bytes(zstandard.compress(json.dumps(capture).encode()))


def test_checks_pass_on_the_simulated_device(tmp_path: Path) -> None:
    _write_small_sample(tmp_path / "small.joint.json.zst")
    kinds = ["samples,ranks", "timing"]
    passed = _check("cuda", tmp_path, "small.joint", ",".join(kinds), tmp_path / "report")
    assert _rows(kinds[0], "small.joint") | _rows(kinds[1], "small.joint") <= set(passed)


def _program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_run_that_does_not_end_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests")
    from acceptance.bench import Bench
    from acceptance.checks import ranks_run
    from acceptance.report import Report

    _program(tmp_path / "jointer", "exec sleep 60")
    bench = Bench(tmp_path, "cpu", tmp_path)
    outcome = bench.run(tmp_path / "graph.json", timeout=1)
    assert outcome.is_impossible
    assert outcome.failure == "not done after 1 s"

    _program(tmp_path / "jointer", "echo error: 2 ranks need 2 GPUs, but this machine has 1 >&2; exit 2")
    report = Report(tmp_path)
    ranks_run(bench, report, tmp_path / "graph.json", ["interpret"])
    ranks_run(Bench(tmp_path, "cpu", tmp_path, end=0), report, tmp_path / "graph.json", ["interpret"])
    assert [row.status for row in report.rows] == ["skipped", "skipped"]
    assert report.rows[0].figure == "error: 2 ranks need 2 GPUs, but this machine has 1"
    assert report.rows[1].figure == "not run: time"


_KINDS = ["samples", "ranks", "timing", "faults", "sanitizer"]


def _limited(folder: Path, checks: list[str], minutes: float) -> list[dict[str, Any]]:
    """The rows of checks with a time limit, of programs that do not end."""
    _write_small_sample(folder / "small.joint.json.zst")
    _program(folder / "jointer", "exec sleep 60")
    paths = [ROOT / "tests", ROOT / "tests/runner", ROOT / "resources/python"]
    command = [sys.executable, "-m", "acceptance", "--on", "cuda", "--out", folder, "--bin", folder]
    command += ["--samples", folder, "--minutes", minutes, "--checks", ",".join(checks)]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=50,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "report.json").read_text())["rows"]


def test_no_part_runs_after_the_time_limit(tmp_path: Path) -> None:
    rows = _limited(tmp_path, _KINDS, 0)
    assert {(row["figure"], row["status"]) for row in rows} == {("not run: time", "skipped")}
    backends = ["interpret", "cudagraph", "inductor"]
    assert [row["check"] for row in rows] == [
        "small.joint, timing",
        "memory limit",
        "token ids out of range",
        "the rank is killed",
        "the rank stops",
        "the user stops the run",
        "no visible GPU",
        "after all faults",
        *[f"small.joint, all ranks, {backend}" for backend in backends],
        "sanitizer",
        *[f"small.joint, {backend}" for backend in backends],
    ]


@pytest.mark.parametrize("kind", ["samples", "ranks", "timing", "faults"])
def test_a_part_is_stopped_at_the_time_limit(kind: str, tmp_path: Path) -> None:
    started = time.monotonic()
    rows = _limited(tmp_path, [kind], 0.05)
    assert time.monotonic() - started < 40
    figures = [row["figure"] for row in rows if row["check"] != "after all faults"]
    assert re.fullmatch(r"stopped after \d s: time", figures[0])
    assert set(figures[1:]) <= {"not run: time"}


def test_a_fault_is_stopped_at_the_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests")
    from acceptance import faults
    from acceptance.bench import Bench
    from acceptance.report import Report

    _program(tmp_path / "jointer", "exec sleep 60")
    monkeypatch.setattr(faults, "_TO_FIRST_STEP", 0)
    for part in ("_out_of_memory", "_device_assert"):
        monkeypatch.setattr(faults, part, lambda *_: None)
    report = Report(tmp_path)
    faults.faults(Bench(tmp_path, "cpu", tmp_path, end=time.monotonic() + 2), report, tmp_path / "g")
    first, *others = report.rows[:3]
    assert first.check == "the rank is killed"
    assert re.fullmatch(r"stopped after \d s: time", first.figure)
    assert [(row.check, row.figure) for row in others] == [
        ("the rank stops", "not run: time"),
        ("the user stops the run", "not run: time"),
    ]


def test_costs_of_the_user_are_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests")
    from acceptance.bench import Bench
    from acceptance.report import Report
    from acceptance.timing import timing

    monkeypatch.setenv("JOINTER_COSTS", str(tmp_path / "mine.sqlite"))
    _program(tmp_path / "jointer", f'echo "$JOINTER_COSTS, $XDG_DATA_HOME" > {tmp_path}/seen; exit 2')
    timing(Bench(tmp_path, "cpu", tmp_path), Report(tmp_path), tmp_path / "graph.json")
    assert (tmp_path / "seen").read_text() == f", {tmp_path}\n"


def test_an_error_of_a_check_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests")
    from acceptance.__main__ import attempt
    from acceptance.report import Report

    report = Report(tmp_path)
    attempt(report, "timing", lambda: {}["kernels"])
    assert report.failed == 1
    assert report.rows[0].figure == "KeyError: 'kernels'"


def test_kernels_and_steps_are_compared_with_those_of_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests")
    from acceptance.report import Report
    from acceptance.timing import by_name, compare_kernels, compare_steps

    ours = by_name({"name": ["gemm", "add", "gemm"], "start_ns": [0, 9, 20], "end_ns": [8000, 19, 12020]})
    assert ours == {"gemm": [2, 20_000], "add": [1, 10]}
    report = Report(tmp_path)
    compare_kernels(report, "s", ours, {"gemm": [4, 44_000], "add": [1, 1000]})
    compare_kernels(report, "s", ours, {"gemm": [1, 20_000]})
    compare_kernels(report, "s", ours, {}, "no GPU")
    compare_steps(report, "s", {"cudagraph": 2.0, "inductor": 1.0}, 0.97)
    compare_steps(report, "s", {"cudagraph": 2.0, "inductor": 0.0}, 1.8)
    compare_steps(report, "s", {"cudagraph": 2.0}, 0.0, "no GPU")
    assert [row.status for row in report.rows] == ["passed", "FAILED", "skipped"] * 2
    assert report.rows[0].figure == "1 of them, at most -9.1% (gemm)"
    assert report.rows[2].figure == report.rows[5].figure == "no GPU"


@pytest.mark.slow
def test_torch_runs_a_sample_for_comparison(tmp_path: Path) -> None:
    _write_small_sample(tmp_path / "small.json.zst")
    paths = [ROOT / "tests", ROOT / "tests/runner", ROOT / "resources/python"]
    done = subprocess.run(
        [sys.executable, "-m", "acceptance.in_torch", tmp_path / "small.json.zst", "cpu"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["kernels"] == {} and answer["compile_ms"] > 0, answer


def test_memory_that_the_driver_does_not_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests")
    from acceptance.faults import _used_bytes

    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    _program(tmp_path / "nvidia-smi", "echo 3; echo 5")
    assert _used_bytes("cuda") == 8 << 20
    _program(tmp_path / "nvidia-smi", "echo 3; echo [N/A]")
    assert _used_bytes("cuda") is None


# --- The folder that scripts/gpu_acceptance --pack makes ---


def _archive(path: Path, **files: str) -> None:
    """A .tar.gz with these programs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, script in files.items():
            data = f"#!/bin/sh\n{script}\n".encode()
            info = tarfile.TarInfo(name.replace("_", "-"))
            info.size, info.mode = len(data), 0o755
            archive.addfile(info, io.BytesIO(data))


def _torch_minor() -> str:
    return ".".join(importlib.metadata.version("torch").split(".")[:2])


def _packed(folder: Path, version: str) -> Path:
    """A packed folder whose checks only print the programs that they would use."""
    shutil.copy(ROOT / "scripts/carried_acceptance", folder / "check")
    shutil.copytree(ROOT / "tests/acceptance", folder / "acceptance")
    (folder / "acceptance/__main__.py").write_text(
        "import os, sys\nprint('uses', sys.argv[2], os.environ['JOINTER_RUNNER'])\n"
    )
    _archive(folder / "programs.tar.gz", jointer="exit 0")
    _archive(folder / f"runners/{version}.tar.gz", jointer_runner="exit 0")
    _archive(folder / "source.tar.gz")
    (folder / "stubs").mkdir()
    return folder


def _run_packed(folder: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder / "stubs"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "JOINTER_PYTHON": sys.executable}
    return subprocess.run([folder / "check"], capture_output=True, text=True, env=environment)


def test_packed_programs_run_as_they_are(tmp_path: Path) -> None:
    version = _torch_minor()
    done = _run_packed(_packed(tmp_path, version))
    assert done.returncode == 0, done.stderr
    unpacked = tmp_path / "unpacked" / version
    assert done.stdout == f"uses {unpacked} {unpacked}/jointer-runner\n"


_TOO_NEW = """echo "$1: /lib/libc.so.6: version \\`GLIBC_2.32' not found (required by $1)"
echo "$1: /lib/libc.so.6: version \\`GLIBC_2.134' not found (required by $1)"
echo "$1: /lib/libstdc++.so.6: version \\`GLIBCXX_3.4.130' not found (required by $1)" >&2"""


def test_programs_that_need_a_newer_glibc_are_built_here(tmp_path: Path) -> None:
    version = _torch_minor()
    _packed(tmp_path, version)
    _program(tmp_path / "stubs/ldd", _TOO_NEW)
    _program(tmp_path / "stubs/g++", "echo 10")
    done = _run_packed(tmp_path)
    assert done.returncode == 2
    needs = "the packed programs need GLIBCXX_3.4.130 GLIBC_2.134, but this machine has glibc "
    assert needs in done.stderr and "; building them here" in done.stderr
    assert "error: g++ 10 is too old to build them here: 11 or newer is needed" in done.stderr
    built = tmp_path / "built" / version / "bin"
    built.mkdir(parents=True)
    _program(built / "jointer-runner", "exit 0")
    done = _run_packed(tmp_path)
    assert (done.returncode, done.stdout) == (0, f"uses {built} {built}/jointer-runner\n")


def test_a_runner_for_another_torch_is_built_here(tmp_path: Path) -> None:
    _packed(tmp_path, "2.9")
    _program(tmp_path / "stubs/g++", "echo 10")
    done = _run_packed(tmp_path)
    assert done.returncode == 2
    assert f"there is no runner for torch {_torch_minor()} in " in done.stderr
    assert "only for: 2.9; building them here" in done.stderr


def test_sources_are_those_of_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests")
    from acceptance.sources import read_units

    start = "env X=1 ccache /usr/bin/c++ -DNDEBUG -DFMT_SHARED -I/p"
    compiled = f"{start} -include /p/build/pch.hxx -o a.o -c /p/build/core/batches/core_0.cpp"
    commands = {
        "jointer": [
            f"{start} -x c++-header -o pch.gch -c /p/build/pch.hxx.cxx",
            compiled,
            f"{start} -DJOINTER_VERSION='\"1\"' -o b.o -c /p/app/cli/main.cpp",
            ": && /usr/bin/c++ a.o b.o -o bin/jointer",
        ],
        "jointer-runner-cuda": [
            compiled,
            f"{start} -DUSE_CUDA -isystem /t/torch/include -o c.o -c /p/app/runner/cuda/main.cpp",
        ],
    }
    core, main, cuda = read_units(commands, Path("/p"), Path("/p/build"))
    assert core.source == "generated/core/batches/core_0.cpp"
    assert core.programs == ["jointer", "jointer-runner-cuda"] and not core.uses_torch
    assert 'JOINTER_VERSION="1"' in main.defines and "FMT_SHARED" not in main.defines
    assert cuda.uses_torch and cuda.uses_cuda and cuda.programs == ["jointer-runner-cuda"]


@pytest.mark.slow
def test_sources_are_compiled_and_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tests")
    from acceptance import sources

    monkeypatch.setattr(sources, "_ARCHIVES", ())
    folder = tmp_path / "source"
    (folder / "core").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "core/seven.h").write_text("int seven();\n")
    (folder / "main.cpp").write_text('#include "core/seven.h"\nint main() { return seven(); }\n')
    (folder / "seven.cpp").write_text('#include "core/seven.h"\nint seven() { return SEVEN; }\n')
    (folder / "empty.cpp").write_text("")
    library = folder / "lib" / sources._SHARED
    subprocess.run(["g++", "-shared", "-o", library, folder / "empty.cpp"], check=True)
    units = [
        sources.Unit("main.cpp", [], programs=["jointer"]),
        sources.Unit("seven.cpp", ["SEVEN=7"], programs=["jointer"]),
    ]
    (folder / "build.json").write_text(json.dumps([vars(unit) for unit in units]))
    assert sources.build(folder, tmp_path / "out") == ["jointer"]
    ran = subprocess.run([tmp_path / "out/bin/jointer"], env={"LD_LIBRARY_PATH": str(tmp_path / "out/lib")})
    assert ran.returncode == 7
    (folder / "seven.cpp").write_text("int seven() { return eight; }\n")
    with pytest.raises(sources.BuildError, match="g\\+\\+ failed: seven.cpp:1.*eight"):
        sources.build(folder, tmp_path / "out")
