"""scripts/check_words finds words in prose, and only there."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT

SCRIPT = ROOT / "scripts" / "check_words"


@pytest.fixture(scope="module")
def checker() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("check_words", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_words", loader))
    sys.modules["check_words"] = module  # its dataclass looks for its module there
    loader.exec_module(module)
    return module


def found(checker: ModuleType, folder: Path, name: str, text: str) -> list[str]:
    path = folder / name
    path.write_text(text)
    return [f"{each.line}: {each.words}" for each in checker.findings(path, name)]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        # Phrases, also across the lines of a comment or a string.
        ("a.h", "int a;\n// A value that is made\n// again in the backward.\n", ["2: made again"]),
        ("a.cpp", 'f("it is "\n  "no object");\n', ["1: is no"]),
        ("a.py", '"""It was\ncarried out."""\n', ["2: carried out"]),
        ("a.md", "A value is handed\nover.\n", ["1: handed over"]),
        ("a.sh", "#!/bin/sh\n# passed over\n", ["2: passed over"]),
        ("a.h", "// `graph` must outlive this.\n", ["1: must outlive this"]),
        ("a.h", "// Error (usage): as\n// for read.\n", ["1: Error (usage): as for"]),
        ("a.h", "// `entry`: of the files.\n", ["1: `entry`: of the"]),
        ("a.cpp", 'f("Move a 3 places later, to the best place");\n', ["1: places later", "1: best place"]),
        ("a.md", "All figures are estimates.\n", ["1: All figures"]),
        ("a.h", "// Nodes of another shape, that change\n// places.\n", ["1: change places", "1: of another shape"]),
        # A sentence's first word.
        ("a.h", "int a;  // Whether it moves.\n", ["1: Whether"]),
        ("a.cpp", '// What now? Nothing.\nf("What it does.");\n', ["2: What"]),
        ("a.md", "| Of the step | what it is |\n", ["1: Of"]),
        # Names.
        ("a.cpp", "constexpr int kMostRows = 3, kLeastRows = 1;\n", ["1: kMostRows", "1: kLeastRows"]),
        ("a.cpp", "std::int64_t most = 0;\nauto told = at();\n", ["1: int64_t most", "2: auto told"]),
        ("a.h", "double real(double otherwise = 0);\n", ["1: double otherwise"]),
        # Every finding has its own line.
        ("a.py", "a = 1\nb = 'nobody'\n# nobody\n", ["2: nobody", "3: nobody"]),
    ],
)
def test_finds(checker: ModuleType, tmp_path: Path, name: str, text: str, expected: list[str]) -> None:
    assert found(checker, tmp_path, name, text) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.cpp", "// A value that is made\nint again = nobody + 1'000;\n// again\n"),
        ("a.cpp", 'char quote = \'"\'; bool is, no; char other = \'"\';\n'),
        ("a.h", "// There is no such node, and it is no longer live.\n"),
        ("a.h", "// `graph` must outlive this object. It is changed in place, by figures().\n"),
        ("a.md", "Call `nobody`, or ask: What is it?\n"),
        ("a.md", "<!-- made by scripts/x -->\nIt is made again.\n<!-- end -->\n"),
        ("a.py", "nobody = What\n"),
    ],
)
def test_passes(checker: ModuleType, tmp_path: Path, name: str, text: str) -> None:
    assert found(checker, tmp_path, name, text) == []


def test_an_exception_covers_only_its_file_and_words(
    checker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "ROOT", tmp_path)
    monkeypatch.setattr(checker, "ALLOWED", (("a.md", "nobody is perfect"), ("b.md", "made again")))
    text = "Well, nobody\nis perfect. And nobody knows.\n"
    assert found(checker, tmp_path, "a.md", text) == ["2: nobody"]
    assert found(checker, tmp_path, "b.md", text) == ["1: nobody", "2: nobody"]
    assert checker.stale({"a.md"}) == []
    assert [each.partition(":")[0] for each in checker.stale({"a.md", "b.md"})] == ["b.md"]


@pytest.mark.slow
def test_the_clean_folders_are_clean() -> None:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_an_unknown_folder_is_an_error() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "no_such_folder"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
