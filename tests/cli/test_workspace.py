"""Workspaces as the FILE of every command, and the messages if a workspace cannot be opened."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, run
from documents import capture, write

CAPTURE = "small.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a capture in it."""
    write(tmp_path / CAPTURE, capture())
    return tmp_path


def save(node: str, policy: str | None = "MUST_SAVE") -> dict[str, Any]:
    return {"title": f"Save {node}", "changes": [{"policy": policy, "select": node}]}


def move(node: str, before: str) -> dict[str, Any]:
    return {"title": f"Move {node}", "changes": [{"move": [node], "before": before}]}


def workspace(folder: Path, *edits: dict[str, Any], **more: Any) -> Path:
    """A workspace of the capture in ``folder``, with these edits applied."""
    info = run("info", folder / CAPTURE, "--json").json
    document = {
        "format": "jointer-workspace",
        "version": 1,
        "capture": {"path": CAPTURE, "hash": info["hash"]},
        "edits": list(edits),
        "place": len(edits),
        **more,
    }
    return write(folder / "work.jointer", document)


MOVED = [move("t", "cat"), move("cat", "t")]


def order(path: Path, *options: str) -> list[str]:
    """The nodes, in order."""
    out = path.parent / "out.json"
    done = run("export", path, "--format", "csv", "-o", out, *options)
    assert done.code == 0, done.err
    return [line.split(",")[1] for line in out.read_text().splitlines()[1:]]


def test_edits_are_applied(folder: Path) -> None:
    plain = order(folder / CAPTURE)
    assert plain.index("t") < plain.index("cat")
    path = workspace(folder, move("cat", "t"))
    edited = order(path)
    assert edited.index("cat") < edited.index("t")
    assert sorted(edited) == sorted(plain)


def test_undone_edits_are_not_applied(folder: Path) -> None:
    path = workspace(folder, move("cat", "t"), place=0)
    assert order(path) == order(folder / CAPTURE)


def test_an_edit_to_another_state(folder: Path) -> None:
    steps = [save("mm"), move("cat", "t"), {"title": "Go to x", "keep": 1, "edits": []}]
    assert order(workspace(folder, *steps)) == order(folder / CAPTURE)


@pytest.mark.parametrize("command", ["info", "memory", "overlap"])
def test_every_command_takes_one(folder: Path, command: str) -> None:
    path = workspace(folder, save("mm"))
    assert run(command, path, "--json").json
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    assert run(command, path, cwd=elsewhere).code == 0


def test_finds_the_capture_by_either_path(folder: Path) -> None:
    """A workspace that was moved without its capture finds the capture by the absolute path."""
    path = workspace(folder, save("mm"))
    document = json.loads(path.read_text())
    document["capture"]["absolute"] = str(folder / CAPTURE)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    moved = write(elsewhere / "w.jointer", document)
    assert run("info", moved).code == 0
    # If both were moved together, the relative path is used.
    shutil.copy(folder / CAPTURE, elsewhere)
    (folder / CAPTURE).unlink()
    assert run("info", moved).code == 0


def complaint(path: Path, *options: str) -> str:
    """The line that says why the workspace cannot be opened."""
    done = run("info", path, *options)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("jointer: ")
    assert done.err.count("\n") == 1
    return done.err


def test_reports_where_it_looked(folder: Path) -> None:
    path = workspace(folder, save("mm"), capture={"path": "no.json", "absolute": "/no.json", "hash": ""})
    said = complaint(path)
    assert f"(looked for {folder}/no.json and /no.json)" in said
    assert "save the workspace again" in said


def test_another_capture(folder: Path) -> None:
    path = workspace(folder, save("mm"))
    changed = capture()
    changed["nodes"][4]["name"] = "mm_1"
    changed["nodes"][5]["args"][0] = {"n": "mm_1"}
    write(folder / CAPTURE, changed)
    assert "the capture has changed since the workspace was saved" in complaint(path)


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (save("gone"), "the edit `Save gone`"),
        (move("mm", "t"), "the edit `Move mm`"),
        ({"title": "Odd", "changes": [{}]}, "edit 0"),
        ({"title": "Odd"}, "edit 0"),
        (7, "edit 0"),
    ],
)
def test_edits_that_do_not_fit(folder: Path, edit: Any, why: str) -> None:
    assert why in complaint(workspace(folder, edit))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "the file is empty"),
        (b"\0", "invalid JSON near byte 1"),
        (b"{}", "not a workspace"),
        (b'{"format": "jointer-workspace", "version": 2}', "version 2 of the workspace format"),
        (b"[" * 100_000, "nested more than 200 levels deep"),
    ],
)
def test_damage(tmp_path: Path, text: bytes, why: str) -> None:
    assert why in complaint(write(tmp_path / "bad.jointer", text))


def test_a_truncated_file_is_refused_in_one_line(folder: Path) -> None:
    whole = workspace(folder, save("mm"), move("cat", "t")).read_bytes()
    for size in range(1, len(whole), len(whole) // 12):
        complaint(write(folder / "cut.jointer", whole[:size]))


def test_backward_is_refused_with_a_workspace(folder: Path) -> None:
    path = workspace(folder, save("mm"))
    done = run("info", path, "--backward", folder / CAPTURE)
    assert done.code == 2
    assert "refers to a complete graph" in done.err


def test_assumptions_override_those_of_the_workspace(folder: Path) -> None:
    recorded = json.loads(workspace(folder).read_text())["capture"]
    path = workspace(folder, capture={**recorded, "assume": "s0=16"})
    assert run("info", path, "--json").json["symbols"] == {"s0": 16}
    assert run("info", path, "--assume", "s0=24", "--json").json["symbols"] == {"s0": 24}


def test_another_graph_than_the_workspaces_is_refused(folder: Path) -> None:
    path = workspace(folder, save("mm"))
    assert run("info", path, "--graph", "0").code == 0
    done = run("info", path, "--graph", "1")
    assert (done.code, done.out) == (2, "")
    assert "the workspace belongs to graph 0 of its capture, so --graph 1 cannot be used" in done.err


def test_a_workspace_cannot_be_its_own_capture(folder: Path) -> None:
    path = workspace(folder, capture={"path": "work.jointer", "hash": ""})
    assert "cannot be the capture of another" in complaint(path)


def test_a_large_workspace_opens_quickly(tmp_path: Path) -> None:
    """A thousand edits of a real graph."""
    names = [line.split(",")[1] for line in _csv(JOINT, tmp_path)]
    calls = [name for name in names if not name.startswith(("primals", "tangents", "output"))]
    document = {
        "format": "jointer-workspace",
        "version": 1,
        "capture": {"absolute": str(JOINT), "hash": ""},
        "edits": [save(calls[i % len(calls)]) for i in range(1000)],
        "place": 1000,
    }
    done = run("info", write(tmp_path / "w.jointer", document))
    assert done.code == 0
    assert done.cpu_seconds < 20


def _csv(path: Path, folder: Path) -> list[str]:
    run("export", path, "--format", "csv", "-o", folder / "a.csv")
    return (folder / "a.csv").read_text().splitlines()[1:]
