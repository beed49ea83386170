"""The fingerprint of a graph: the same as in C++, and messages about differences."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT
from test_hash import TEXT

from jointer.fingerprint import fingerprint, first_difference

LINES = TEXT.splitlines()


def test_the_documentation_is_correct() -> None:
    page = (ROOT / "docs" / "hash.md").read_text()
    example = re.search(r"## An example\n\n((?:    .*\n)+)", page)[1]
    shown = re.search(r"fingerprint of the example above is `([^`]*)`", page)[1]
    assert fingerprint(line.strip() for line in example.splitlines()) == shown


@pytest.mark.parametrize(
    ("index", "line", "said"),
    [
        (0, "v x() -> bfloat16[2,3]", "node 0, v: the recorded graph has a different node here"),
        (0, "x y() -> bfloat16[2,3]", "node 0, x: the target differs; here it is y"),
        (
            2,
            "z aten.split.Tensor(%x,2) -> [float32[1,3],const]",
            "node 2, z: the arguments differ; here they are (%x,2)",
        ),
        (0, "x x() -> bfloat16[2,4]", "node 0, x: the value differs; here it is bfloat16[2,4]"),
    ],
)
def test_names_the_difference(index: int, line: str, said: str) -> None:
    lines = [*LINES[:index], line, *LINES[index + 1 :]]
    assert first_difference(lines, fingerprint(LINES)) == said


def test_names_new_and_missing_nodes() -> None:
    shorter = [*LINES[:2], *LINES[3:]]
    assert first_difference(LINES, fingerprint(shorter)) == (
        "node 2, z: the recorded graph does not contain this node"
    )
    assert first_difference(shorter, fingerprint(LINES)) == (
        "node 2, w: a node before this one is missing"
    )
    assert first_difference(LINES[:-1], fingerprint(LINES)) == (
        "this graph ends after 4 nodes; the recorded graph has 5"
    )
    assert first_difference(LINES, fingerprint(LINES[:-1])) == (
        "node 4, output: the recorded graph ends before this node"
    )


def test_equal_and_damaged() -> None:
    assert first_difference(LINES, fingerprint(LINES)) is None
    assert first_difference(LINES, fingerprint(LINES) + "?") is not None
    assert first_difference(LINES, "") == "node 0, x: the recorded graph ends before this node"
