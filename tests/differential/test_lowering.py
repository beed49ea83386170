"""Compares the operations that Jointer lowers a graph to with those of Inductor, before fusion: the references of
``shared/reference/kernels``.

An operation agrees if its class, its loops, its nodes, its buffers, and what it reads and writes are the same: buffer,
bytes, and position, which is evaluated at random points of the loops. Operations that Inductor removes, because nothing
reads their results, are not in the references.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import zstandard
from conftest import SHARED, output_of

REFERENCES = SHARED / "reference" / "kernels"
#: Reference, version of torch.
CASES = [(path, "2.11" if path.parent == REFERENCES else "2.15") for path in sorted(REFERENCES.rglob("*.json.zst"))]

Row = dict[str, Any]


def read(path: Path) -> Any:
    return json.loads(zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()))


def lowered(capture: Path, version: str) -> tuple[dict[str, Row], Row]:
    """The operations by name, and the helper's last line."""
    *rows, last = map(json.loads, output_of("lowered_operations", capture, version).splitlines())
    return {row["name"]: row for row in rows}, last


def python_position(text: str) -> str:
    """Inductor's text of a position, as a Python expression. Values loaded at run time are all ``tmp``."""
    text = re.sub(r"\b(?:tmp|indirect)\d+\b", "tmp", text)
    text = re.sub(r"\bc(\d+)\b", r"d\1", text)  # merged loops have other names
    while "ModularIndexing(" in text:
        start = text.index("ModularIndexing(")
        depth, parts, last = 0, [], start + len("ModularIndexing(")
        for i in range(last, len(text)):
            if text[i] == "," and depth == 0:
                parts.append(text[last:i])
                last = i + 1
            depth += (text[i] == "(") - (text[i] == ")")
            if depth < 0:
                parts.append(text[last:i])
                text = f"{text[:start]}((({parts[0]})//({parts[1]}))%({parts[2]})){text[i + 1:]}"
                break
    return text


def values(text: str, sizes: list[int]) -> list[int]:
    """The position at random points; the same for every text with these sizes."""
    rng = random.Random(len(sizes))
    found = []
    for _ in range(5):
        at = {f"d{i}": rng.randrange(max(size, 1)) for i, size in enumerate(sizes)} | {"tmp": 7}
        found.append(eval(text, {"__builtins__": {"Max": max, "Min": min}}, at))
    return found


def accesses(rows: list[list[Any]]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for buffer, size, kind, *rest in rows:
        place: tuple[Any, ...] = ()
        if rest:
            place = (tuple(rest[1]), tuple(values(python_position(rest[0]), rest[1])))
        found[buffer, size, kind, place] += 1
    return found


def differences(expected: Row, found: Row | None) -> list[str]:
    """Names of the fields that differ."""
    if found is None:
        return ["missing"]
    differs = []
    for name in ("kind", "ir"):
        if expected[name] != found[name]:
            differs.append(name)
    if expected["buffers"] != [each["name"] for each in found["buffers"]]:
        differs.append("buffers")
    if "ranges" in expected and expected["ranges"] != [found["loops"], found["reduced"]]:
        differs.append("loops")
    # Inductor does not know the nodes behind what a pattern made.
    if set(expected["computes"]) - set(found["nodes"]) or (
        expected["computes"] and set(found["nodes"]) - set(expected["computes"])
    ):
        differs.append("nodes")
    for name in ("reads", "writes"):
        mine = accesses([row for row in found[name] if row[2] != "weak"])
        if accesses([row for row in expected[name] if row[2] != "weak"]) != mine:
            differs.append(name)
    weak = [{row[0] for row in rows if row[2] == "weak"} for rows in (expected["reads"], found["reads"])]
    if weak[0] - weak[1]:
        differs.append("weak reads")
    return differs


def used(operations: dict[str, Row]) -> set[str]:
    """The operations that are not removed: `Scheduler.dead_node_elimination`."""
    kept = {"op-1"}  # the output
    for name, row in reversed(operations.items()):
        users = {f"op{user}" for buffer in row["buffers"] for user in buffer["users"]}
        if row["side_effects"] or kept & users:
            kept.add(name)
    return kept - {"op-1"}


def buffer_differences(expected: Row, found: Row) -> list[str]:
    """Names of the properties of the results that differ."""
    differs = []
    for buffer in found["buffers"]:
        other = expected.get(buffer["name"], {})
        differs += [name for name in ("dtype", "shape") if name in other and other[name] != buffer[name]]
        # The stride of a dimension of size 1 means nothing.
        steps = [
            [step for step, size in zip(each.get("stride", []), each.get("shape", [])) if size != 1]
            for each in (other, buffer)
        ]
        if "stride" in other and steps[0] != steps[1]:
            differs.append("stride")
    return differs


def compare(
    reference: Path, version: str, capture: Path | None = None
) -> tuple[int, list[tuple[Row, Row | None, list[str]]], float]:
    """Number of operations, those that differ, and milliseconds. ``capture``: the shared one of the same name."""
    answer = read(reference)
    expected = answer["pre_fusion"]
    capture = capture or SHARED / "captures" / reference.name.replace(".kernels", "")
    found, rest = lowered(capture, version)
    differing = []
    for row in expected:
        mine = found.get(row["name"])
        differs = differences(row, mine)
        if mine:
            differs += buffer_differences(answer["buffers"], mine)
            outputs = {each["name"] for each in mine["buffers"] if each["output"]}
            if outputs != set(row["buffers"]) & set(answer["outputs"]):
                differs.append("output")
        if differs:
            differing.append((row, mine, differs))
    kept = used(found)
    differing += [(row, found.get(row["name"]), ["removed"]) for row in expected if row["name"] not in kept]
    for name in kept - {row["name"] for row in expected}:
        differing.append((found[name], found[name], ["not removed"]))
    assert {each["name"]: each["freeable"] for each in answer["inputs"]} == rest["may_be_freed"]
    return len(expected), differing, rest["milliseconds"]


@pytest.mark.parametrize("reference, version", CASES, ids=[f"{path.name[:-17]}-{v}" for path, v in CASES])
def test_same_operations_as_inductor(reference: Path, version: str) -> None:
    count, differing, _ = compare(reference, version)
    reasons = Counter(", ".join(differs) for _, _, differs in differing)
    assert not differing, f"{len(differing)} of {count} differ: {reasons.most_common()}"
