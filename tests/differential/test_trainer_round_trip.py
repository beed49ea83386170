"""torchtitan's real trainer on the CPU, from capture to training: `jointer capture` captures it unmodified,
passes produce a recipe, one flag applies the recipe in the trainer, and the losses do not change.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, ROOT

from jointer.counted import counted
from jointer.document import read_document

ONLY_TORCH = ("2.15",)
SCRIPT = ROOT / "tests" / "python" / "trainer_on_cpu.py"
STEP = (
    "--module graph_trainer.llama3 --config graph_trainer_llama3_debugmodel_sdpa --comm.mode fake_backend "
    "--debug.seed 0 --training.steps 2 --training.seq_len 128 --training.local_batch_size 2 "
    "--parallelism.data_parallel_shard_degree 4"
).split()
PASSES = {
    "auto_tune": ["--passes", "auto_tune"],
    **{
        name: ["--preset", name]
        for name in (
            "graph_trainer",
            "graph_trainer_full",
            "graph_trainer_eager",
            "graph_trainer_sac_and_offload",  # the trainer's own copies to the host and back
            "graph_trainer_ag_rs_overlap",  # moves collectives to a process group that the trainer lacks
            "graph_trainer_dense_regions",
        )
    },
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("torchtitan") is None, reason="torchtitan is not installed"),
]


def run(*command: Any, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {**os.environ, "NGPU": "4", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    known["PYTHONPATH"] = str(ROOT / "resources" / "python")
    return subprocess.run(
        list(map(str, command)), env=known | environment, capture_output=True, text=True, check=False, timeout=900
    )


def losses(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The loss of each step, bit for bit."""
    return re.findall(r"^loss (\S+)$", done.stdout, re.MULTILINE)


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tokenizer and the data set; the first run writes them."""
    return tmp_path_factory.mktemp("titan")


@pytest.fixture(scope="module")
def training(assets: Path) -> tuple[Path, list[str]]:
    """The traced step of a run, and the run's losses."""
    out = assets / "captures"
    done = run(BIN / "jointer", "capture", "--python", sys.executable, "--out", out, "--", SCRIPT, assets, *STEP)
    assert done.returncode == 0, done.stderr[-4000:]
    (path,) = out.iterdir()
    return path, losses(done)


def test_capture_alone(training: tuple[Path, list[str]]) -> None:
    path, found = training
    assert path.name == "rank0.0.train_step.json.zst" and len(found) == 2
    inputs = [record for record in read_document(path)["nodes"] if record["op"] == "placeholder"]
    kinds = [record.get("desc", {}).get("type") for record in inputs]
    assert kinds.count("ParamAOTInput") > 40


def torchrun(out: Path, assets: Path, step: list[str] = STEP) -> subprocess.CompletedProcess[str]:
    """`jointer capture` of a worker that torchrun starts by module name."""
    paths = [SCRIPT.parent, ROOT / "resources" / "python"]
    command = ["torchrun", "--nproc-per-node", 1, "--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    return run(
        BIN / "jointer", "capture", "--python", sys.executable, "--each-pass", "--out", out, "--",
        *command, "-m", SCRIPT.stem, assets, *step, PYTHONPATH=os.pathsep.join(map(str, paths)),
    )  # fmt: skip


def test_torchrun_with_each_pass(training: tuple[Path, list[str]], assets: Path, tmp_path: Path) -> None:
    path, expected = training
    done = torchrun(tmp_path, assets)
    assert done.returncode == 0, done.stderr[-4000:]
    assert losses(done) == expected
    names = sorted(each.name for each in tmp_path.iterdir())
    assert len(names) > 8 and path.name in names
    assert all(name == path.name or "train_step.after_" in name for name in names)
    figures = [json.loads(run(BIN / "jointer", "info", each, "--json").stdout) for each in (path, tmp_path / path.name)]
    assert figures[0]["hash"] == figures[1]["hash"]


def test_a_run_without_a_graph_says_why(assets: Path, tmp_path: Path) -> None:
    eager = [f"{word}_eager" if word.endswith("_sdpa") else word for word in STEP]
    done = torchrun(tmp_path, assets, eager)
    assert done.returncode == 1, done.stderr[-4000:]
    assert "no graph was captured: torchtitan's graph_trainer ended before it traced a step" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("passes", PASSES)
def test_the_losses_are_unchanged(
    passes: str, training: tuple[Path, list[str]], assets: Path, tmp_path: Path
) -> None:
    path, expected = training
    recipe, pipeline = tmp_path / "recipe.json", tmp_path / "pipeline.py"
    saved = ["--save-recipe", recipe, "--save-graph-trainer", pipeline]
    done = run(BIN / "jointer", "apply", path, *PASSES[passes], *saved)
    assert done.returncode == 0, done.stderr
    edits = len(json.loads(recipe.read_text())["edits"])
    assert ("ao.reload.default" in recipe.read_text()) == ("offload" in passes)
    flag = ["--compile.pass_pipeline", "jointer"]
    again = run(sys.executable, SCRIPT, assets, *STEP, *flag, JOINTER_TEST_PIPELINE=str(pipeline))
    assert again.returncode == 0, again.stderr[-4000:]
    log = again.stdout + again.stderr
    assert f"{counted(edits, 'edit')} applied, 0 skipped" in log and edits > 0
    assert "not the recorded one" not in log
    assert losses(again) == expected
