"""The documentation's code snippets run unmodified."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT


def snippets(page: str) -> list[str]:
    """The Python snippets in a page of the documentation."""
    text = (ROOT / "docs" / page).read_text()
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_pages_have_snippets() -> None:
    assert len(snippets("capturing.md")) == 6
    assert len(snippets("recipes.md")) == 4


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


PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "resources" / "samples").glob("*.md"),
]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub generates them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_are_valid(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_readme_links_to_every_page() -> None:
    linked = re.findall(r"\]\((docs/[^)#]+)", (ROOT / "README.md").read_text())
    inner = {"docs/architecture.md"}  # which CONTRIBUTING.md links to
    assert {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")} - inner <= set(linked)


def test_the_example_of_the_hash_is_correct() -> None:
    page = (ROOT / "docs" / "hash.md").read_text()
    from test_hash import TEXT as CANONICAL

    shown = re.search(r"## An example\n\n(.*?)\n\n", page, re.DOTALL)[1]
    lines = [line.strip() for line in shown.splitlines()]
    assert lines == CANONICAL.replace(",pin_memory=False", "").splitlines()
