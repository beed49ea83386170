"""Pairs of the partitioners: ours and those of the installed torch, on the same joint graphs.

Compared are the names of what is handed over, in order, and the names of all nodes of both halves, in
order, under the tags that the capture has, without tags, and under graph SAC with FSDP's tags and
without.

Where two minimum cuts have the same capacity, both take the one nearest to the backward, so there
is nothing to tolerate: the sets are equal in every case here.
"""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_partition
from conftest import BIN, LARGE, ROOT, SHARED
from jointer.document import read_document, write_document


#: Of large captures these are compared in every run, with --run-slow all.
QUICK = {("llama3_8b_tp2_fsdp2.joint", "min_cut", "captured"), ("llama_8b_tp2_fsdp2.joint", "default", "graph_sac_without_fsdp")}


def cases() -> list[Any]:
    folders = (ROOT / "resources" / "samples", SHARED / "captures", SHARED / "captures" / "executable")
    found = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.joint.json.zst"))]
    found = [path for path in found if ".rank1." not in path.name]  # as rank 0's
    every = itertools.product(found, torch_partition.PARTITIONERS, torch_partition.TAGGINGS)
    names = ((path, path.name.removesuffix(".json.zst"), partitioner, tagging) for path, partitioner, tagging in every)
    return [
        pytest.param(
            path,
            partitioner,
            tagging,
            id=f"{path.parent.name}-{name}-{partitioner}-{tagging}",
            marks=[] if not name.startswith(LARGE) or (name, partitioner, tagging) in QUICK else [pytest.mark.slow],
        )
        for path, name, partitioner, tagging in names
    ]


@pytest.mark.parametrize(("path", "partitioner", "tagging"), cases())
def test_same_pair(path: Path, partitioner: str, tagging: str, tmp_path: Path) -> None:
    document = read_document(path) | {"torch": torch.__version__}
    torch_partition.tag(document, tagging)
    tagged, out = tmp_path / "tagged.json", tmp_path / "pair.json"
    write_document(document, tagged)
    done = subprocess.run(
        [str(BIN / "partition_pair"), str(tagged), partitioner, str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pair = json.loads(out.read_text())
    wanted = torch_partition.partition(document, path, partitioner)
    symbols = [name for name in wanted.saved if name in wanted.symbols]
    # States of random numbers are among what is handed over, and in no plan.
    handed = [value["n"] for value in pair["forward"]["nodes"][-1]["args"][0]["tuple"][wanted.results :]]
    assert [name for name in handed if name not in symbols] == [name for name in wanted.saved if name not in symbols]
    assert sorted(handed) == sorted(wanted.saved)
    for half, theirs in (("forward", wanted.forward), ("backward", wanted.backward)):
        # Last is the output, which torch makes anew where it hands states over.
        ours, theirs = [record["name"] for record in pair[half]["nodes"]][:-1], theirs[:-1]
        if half == "backward":  # symbols come first
            assert sorted(ours[: len(symbols)]) == sorted(theirs[: len(symbols)])
            ours, theirs = ours[len(symbols) :], theirs[len(symbols) :]
        assert ours == theirs, half
