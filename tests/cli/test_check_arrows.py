"""scripts/check_arrows finds includes that contradict the architecture, and only those."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT

SCRIPT = ROOT / "scripts" / "check_arrows"
BLOCK = """\
core <- passes <- views, app/cli
core <- app/runner

core: base <- graph, ops
      <- cost
passes: support <- fsdp, sac <- .
views: not checked
"""
# A tree that obeys the block.
FILES = {
    "core/base/id.h": "#include <vector>\n#include <c10/core/Device.h>\n",
    "core/graph/graph.h": '#include "core/base/id.h"\n#include "embedded/table.h"\n',
    "core/graph/deep/node.h": "",
    "core/ops/flops.h": '#include "core/base/id.h"\n',
    "core/cost/cost.cpp": '#include "core/cost/cost.h"\n#include "core/graph/graph.h"\n#include "core/base/id.h"\n',
    "core/cost/cost.h": '// #include "passes/sac/sac.h"\n',
    "passes/built_in.cpp": '#include "passes/sac/sac.h"\n',
    "passes/support/kept.h": '#include "core/cost/cost.h"\n',
    "passes/sac/sac.h": '#include "passes/support/kept.h"\n#include "core/base/id.h"\n',
    "passes/fsdp/fsdp.h": "",
    "views/a/a.h": '#include "views/b/b.h"\n#include "passes/sac/sac.h"\n',
    "views/b/b.h": '#include "views/a/a.h"\n',
    "app/cli/main.cpp": '#include "passes/built_in.h"\n',
    "app/runner/main.cpp": '#include "core/graph/graph.h"\n',
}


@dataclass
class Checked:
    code: int
    lines: list[str]
    err: str


def check(root: Path, files: dict[str, str] | None = None, block: str = BLOCK) -> Checked:
    """Checks the tree of `FILES`, with `files` added or replaced."""
    for name, text in (FILES | (files or {})).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "CONTRIBUTING.md").write_text(f"# Contributing\n\n```arrows\n{block}```\n\nMore text: a <- b.\n")
    done = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True, check=False)
    return Checked(done.returncode, done.stdout.splitlines(), done.stderr)


def test_a_tree_that_obeys_passes(tmp_path: Path) -> None:
    assert check(tmp_path) == Checked(0, [], "")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        # Between the folders of core, at the right line.
        (
            "core/base/id.cpp",
            '#include "core/base/id.h"\n\n#include "core/graph/graph.h"\n',
            ["core/base/id.cpp:3: includes core/graph/graph.h, but core/graph (layer 2) is above core/base (layer 1)"],
        ),
        (
            "core/ops/flops.cpp",
            '#include "core/graph/graph.h"\n',
            ["core/ops/flops.cpp:1: includes core/graph/graph.h, but core/graph is in the same layer (2) as core/ops"],
        ),
        # Between folders at the top, also with another spelling.
        (
            "core/cost/high.cpp",
            '  #  include <passes/sac/sac.h>\n',
            ["core/cost/high.cpp:1: includes passes/sac/sac.h, but passes (layer 2) is above core (layer 1)"],
        ),
        (
            "app/runner/pass.cpp",
            '#include "passes/sac/sac.h"\n',
            [
                "app/runner/pass.cpp:1: includes passes/sac/sac.h, but CONTRIBUTING.md lists no arrow from passes/sac "
                "to app/runner"
            ],
        ),
        (
            "passes/sac/view.cpp",
            '#include "views/a/a.h"\n',
            ["passes/sac/view.cpp:1: includes views/a/a.h, but views (layer 3) is above passes (layer 2)"],
        ),
        # A folder's own files, and a path relative to the including file.
        (
            "passes/fsdp/all.cpp",
            '#include "../built_in.cpp"\n',
            [
                "passes/fsdp/all.cpp:1: includes passes/built_in.cpp, but passes itself (layer 3) is above passes/fsdp "
                "(layer 2)"
            ],
        ),
        # Folders within a listed one have no order until they are listed.
        (
            "core/graph/deep/node.cpp",
            '#include "core/graph/graph.h"\n',
            [
                "core/graph/deep/node.cpp:1: includes core/graph/graph.h, but CONTRIBUTING.md lists no arrow from "
                "core/graph to core/graph/deep"
            ],
        ),
        # Folders that are not listed.
        ("core/new/a.h", "", ["core/new: is not listed in CONTRIBUTING.md"]),
        ("core/a.h", "", ["core: is not listed in CONTRIBUTING.md"]),
        ("app/desktop/main.cpp", "", ["app/desktop: is not listed in CONTRIBUTING.md"]),
    ],
)
def test_finds(tmp_path: Path, name: str, text: str, expected: list[str]) -> None:
    checked = check(tmp_path, {name: text})
    assert (checked.code, checked.lines) == (1, expected)


def test_finds_every_violation(tmp_path: Path) -> None:
    upward = '#include "core/cost/cost.h"\n'
    checked = check(tmp_path, {"core/graph/b.h": upward, "core/base/a.h": upward * 2})
    assert [line.partition(" ")[0] for line in checked.lines] == [
        "core/base/a.h:1:",
        "core/base/a.h:2:",
        "core/graph/b.h:1:",
    ]


def test_folders_that_do_not_exist_are_found(tmp_path: Path) -> None:
    checked = check(tmp_path, block=BLOCK + "passes: sac <- gone\nplugins: not checked\n")
    assert checked.lines == [
        "CONTRIBUTING.md: lists passes/gone, which has no sources",
        "CONTRIBUTING.md: lists plugins, which has no sources",
    ]


def test_lines_that_contradict_each_other_are_found(tmp_path: Path) -> None:
    checked = check(tmp_path, block=BLOCK + "core: cost <- base\n")
    assert checked.code == 1
    assert len(checked.lines) == 1
    assert checked.lines[0].startswith("CONTRIBUTING.md: the arrows form a cycle: core/")


@pytest.mark.parametrize("line", ["core: base <- <- cost\n", "core <- a-b\n", ". <- core\n", "core: base -> cost\n"])
def test_a_line_that_cannot_be_read_is_an_error(tmp_path: Path, line: str) -> None:
    checked = check(tmp_path, block=BLOCK + line)
    assert (checked.code, checked.lines) == (2, [])
    assert "is not a folder in the line" in checked.err


def test_a_text_without_a_block_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "CONTRIBUTING.md").write_text("core <- passes\n")
    done = subprocess.run([sys.executable, SCRIPT, "--root", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no block" in done.stderr


def test_this_repository_obeys() -> None:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
