"""``python -m jointer``: scripts run as they do without it, and captures are written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jointer.__main__ import main
from jointer.document import read_document
from jointer.run import UsageError, run

SCRIPT = """
import sys
import torch
import helper  # next to the script

torch.manual_seed(0)
model = torch.compile(torch.nn.Linear(4, 4), backend=sys.argv[1])
for _ in range(2):
    loss = model(helper.batch()).square().sum()
    loss.backward()
    print(f"{loss.item():.6f}", __name__, len(sys.argv))
sys.exit(3)
"""
WORKER = """
import sys
import torch
import torch.distributed as dist
from torch.distributed import _functional_collectives as collectives

dist.init_process_group("gloo")
weight = torch.ones(4, 4, requires_grad=True)

@torch.compile(backend="aot_eager")
def step(x):
    return collectives.all_reduce(x @ weight, "sum", dist.group.WORLD).sum()

step(torch.ones(2, 4)).backward()
assert sys.argv[1:] == ["--steps", "2"]
dist.destroy_process_group()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    folder = tmp_path / "training"
    folder.mkdir()
    (folder / "helper.py").write_text("import torch\ndef batch(): return torch.ones(2, 4)\n")
    (folder / "train.py").write_text(SCRIPT)
    (folder / "workers.py").write_text(WORKER)
    return folder / "train.py"


@pytest.mark.parametrize("backend", ["eager", pytest.param("aot_eager", marks=pytest.mark.slow)])
def test_script(
    backend: str, script: Path, tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    def ended(*command: str) -> tuple[int, str]:
        environment, folder = subprocess_environment, script.parent
        done = subprocess.run(
            [sys.executable, *command], env=environment, cwd=folder, capture_output=True, text=True
        )
        return done.returncode, done.stdout

    alone = ended("train.py", backend)
    assert alone[0] == 3 and "__main__ 2" in alone[1]
    out = tmp_path / "captures"
    captured = ended("-m", "jointer", "run", "--out", str(out), "--", "train.py", backend)
    assert captured == alone
    document = read_document(out / "rank0.0.joint.json.zst")
    assert document["kind"] == "joint" and document["info"]["command"] == f"train.py {backend}"


@pytest.mark.slow
def test_workers_of_torchrun(
    script: Path, tmp_path: Path, subprocess_environment: dict[str, str]
) -> None:
    out = tmp_path / "captures"
    workers = str(script.with_name("workers.py"))
    torchrun = ["torchrun", "--nproc-per-node", "2", workers, "--steps", "2"]
    command = [sys.executable, "-m", "jointer", "run", "--out", str(out), "--pair", "--", *torchrun]
    subprocess.run(command, env=subprocess_environment, check=True)
    names = [f"rank{rank}.0.{kind}.json.zst" for rank in (0, 1) for kind in ("joint", "pair")]
    assert sorted(p.name for p in out.iterdir()) == names
    document = read_document(out / "rank1.0.joint.json.zst")
    assert document["rank"] == 1 and document["world_size"] == 2
    (group,) = document["groups"].values()
    assert group == {"ranks": [0, 1], "desc": "default_pg", "backend": "gloo"}


def test_here(script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.argv, list(sys.path)
    assert run(["python", str(script), "aot_eager"], tmp_path / "out") == 3
    assert (sys.argv, sys.path) == before
    assert (tmp_path / "out" / "rank0.0.joint.json.zst").exists()
    assert "__main__ 2" in capsys.readouterr().out


@pytest.mark.parametrize("command", [[], ["python"], ["ls"], ["bash", "train.sh"], ["-m"]])
def test_other_commands_are_refused(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="give script.py"):
        run(command, tmp_path)
    assert main(["run", "--out", str(tmp_path), "--", *command]) == 2
    error = capsys.readouterr().err
    assert error.startswith("jointer: cannot capture ") and error.count("\n") == 1
    if command in ([], ["python"]):
        assert error.startswith("jointer: cannot capture an empty command; give ")


@pytest.mark.parametrize("launcher", [[], ["python"], ["torchrun", "--nproc-per-node=2"]])
def test_a_missing_script_is_refused(launcher: list[str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="gone.py: no such file"):
        run([*launcher, str(tmp_path / "gone.py"), "--steps", "2"], tmp_path)


def test_info(samples: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    for path in samples:
        assert main(["info", str(path)]) == 0
    text = capsys.readouterr().out
    assert "llama_8b_tp2_fsdp2: joint, rank 0 of 4" in text
    assert "group     fsdp: fsdp, ranks [0, 2]" in text
    assert "info      parameters = 8030261248" in text


def test_info_of_bad_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.json").write_text("{}")
    for path in (tmp_path / "missing.json", tmp_path / "text.json"):
        assert main(["info", str(path)]) == 3
        error = capsys.readouterr().err
        assert error.startswith("jointer: ") and error.count("\n") == 1 and path.name in error
