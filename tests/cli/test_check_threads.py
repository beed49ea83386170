"""scripts/check_threads finds uses of threads that bypass views/session/work, and only those."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

SCRIPT = ROOT / "scripts" / "check_threads"
# A tree that obeys the rule.
FILES = {
    "views/session/work/task.h": "#include <QThread>\nvoid wait() { pool.waitForDone(); }\n",
    "views/graph/graph_view.h": "#include <QThreadPool>\nQThreadPool pool_;\n",
    "views/graph/graph_view.cpp": '// QtConcurrent::run\nconst char* text = "std::thread";\n',
    "views/tune/tune.cpp": "auto n = std::thread::hardware_concurrency();\n",
    "app/desktop/main.cpp": "#include <QApplication>\n",
    "core/workspace/journal.h": "std::jthread thread_;\n",
    "app/launch/launch.cpp": "std::thread thread;\n",
}


def check(root: Path, files: dict[str, str]) -> tuple[int, list[str]]:
    for name, text in (FILES | files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_a_tree_that_obeys_passes(tmp_path: Path) -> None:
    assert check(tmp_path, {}) == (0, [])


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("QtConcurrent::run(work);", "QtConcurrent"),
        ("#include <QtConcurrentRun>", "QtConcurrentRun"),
        ("QFutureWatcher<int> watcher;", "QFutureWatcher"),
        ("pool.waitForDone();", "waitForDone"),
        ("auto done = std::async(work);", "std::async"),
        ("std::jthread thread(work);", "std::jthread"),
        ("auto* t = QThread::create(work);", "QThread"),
    ],
)
def test_each_way_around_is_found(tmp_path: Path, code: str, name: str) -> None:
    for file in ("views/session/edit/editing.cpp", "app/desktop/window.h"):
        found = check(tmp_path, {file: f"/* two\nlines */\n{code}\n"})
        assert found == (1, [f"{file}:3: uses {name}; use views/session/work/task.h"])
        (tmp_path / file).write_text("")


def test_this_repository_passes() -> None:
    assert subprocess.run([SCRIPT], capture_output=True, text=True, check=False).stdout == ""
