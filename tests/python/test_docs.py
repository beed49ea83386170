"""The snippets of the documentation run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

TEXT = (ROOT / "docs" / "capturing.md").read_text()


def snippets(page: str) -> list[str]:
    """The Python in a page of the documentation."""
    text = (ROOT / "docs" / page).read_text()
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_there_are_snippets() -> None:
    assert len(snippets("capturing.md")) == 6
    assert len(snippets("recipes.md")) == 3


@pytest.mark.parametrize("snippet", snippets("capturing.md"))
def test_snippet(snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, "docs/capturing.md", "exec"), {"__name__": "snippet"})
    assert list(tmp_path.glob("*.json"))


@pytest.mark.parametrize("snippet", snippets("recipes.md"))
def test_snippet_of_recipes(
    snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, "docs/recipes.md", "exec"), {"__name__": "snippet"})
    if said := re.search(r"print\(report\)  # (.*)", snippet):
        assert capsys.readouterr().out == f"{said[1]}\n"


def test_links_within_the_page_lead_somewhere() -> None:
    anchors = {
        re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-")
        for title in re.findall(r"^## (.*)$", TEXT, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= anchors


def test_the_example_of_the_hash_is_true() -> None:
    page = (ROOT / "docs" / "hash.md").read_text()
    from test_hash import TEXT as CANONICAL

    shown = re.search(r"## An example\n\n(.*?)\n\n", page, re.DOTALL)[1]
    lines = [line.strip() for line in shown.splitlines()]
    assert lines == CANONICAL.replace(",pin_memory=False", "").splitlines()
