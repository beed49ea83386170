"""The schemas of recipes and workspaces accept valid documents and refuse others."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from conftest import ROOT
from recipes import chain, recipe
from test_recipe import insertion

jsonschema = pytest.importorskip("jsonschema")


def validator(name: str) -> Any:
    """Checks documents against a schema, after checking the schema itself."""
    schema = json.loads((ROOT / "resources" / "schema" / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


CHANGES = [
    {"move": ["t", "add"], "before": "mm", "why": "faster"},
    {"policy": "MUST_SAVE", "select": "layers.*::aten.mm"},
    {"policy": None, "select": "relu"},
    insertion(like="relu", stack="a", module=[["layers.0", "m.Block"]]),
    {"replace": "mm", "target": "aten.mm.default", "args": [{"n": "relu"}, {"n": "mul"}]},
    {"replace": "mm", "inputs": {"mul": "relu"}},
    {"insert": {"name": "again", "copy": "mm", "inputs": {"mul": "relu"}}, "before": "add"},
    {"remove": "t"},
]

DECISIONS = [
    {"node": "mm", "action": "moved", "reason": "t does not read it.", "effect": "1 position later"},
    {"action": "kept", "score": 0.5},
]

WORKSPACE = {
    "format": "jointer-workspace",
    "version": 1,
    "title": "small",
    "capture": {"path": "../small.json", "absolute": "/a/small.json", "hash": ""},
    "edits": [
        {
            "title": "All",
            "by": "sink_waits",
            "notes": ["so"],
            "changes": CHANGES,
            "decisions": DECISIONS,
        },
        {"title": "Go to best", "keep": 0, "edits": [{"changes": []}]},
    ],
    "place": 1,
    "states": [{"name": "best", "edits": []}],
    "options": {"device": "b200", "optimizer": "adamw"},
    "kernel_moves": {
        "moves": [
            {"kernel": {"nodes": ["mm"]}, "anchor": {"nodes": ["add", "relu"], "number": 1}},
            {"kernel": {"nodes": ["t"]}, "anchor": {"nodes": []}, "after": True, "part": 1},
        ],
        "place": 1,
    },
    "of": "the future",
}


def test_a_recipe() -> None:
    check = validator("recipe")
    edit = {"title": "All", "changes": CHANGES, "decisions": DECISIONS, "color": "blue"}
    document = recipe(edit, of=chain())
    check.validate({**document, "expects": {"mm": "aten.mm.default() -> None"}, "of": "the future"})


def test_the_recipe_of_the_page() -> None:
    """The example in docs/recipe.md, with its abbreviations written out."""
    page = (ROOT / "docs" / "recipe.md").read_text()
    (text,) = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    document = json.loads(text.replace("5e0c…", "0" * 64).replace("91b2…", "0" * 64).replace("…", ""))
    validator("recipe").validate(document)


@pytest.mark.parametrize(("version", "is_valid"), [(0, False), (1, True), (2, True), (3, False)])
def test_versions_of_a_recipe(version: int, is_valid: bool) -> None:
    assert validator("recipe").is_valid(recipe(CHANGES, version=version)) == is_valid


@pytest.mark.parametrize("key", ["format", "version", "edits"])
def test_required_keys_of_a_recipe(key: str) -> None:
    document = recipe(CHANGES)
    del document[key]
    assert not validator("recipe").is_valid(document)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"fly": "mm"},
        {"move": "mm", "before": "t"},
        {"move": ["mm"]},
        {"policy": "MUST_FLY", "select": "mm"},
        {"insert": {"name": "a"}, "before": "mm"},
        {"remove": 7},
        {"replace": "mm", "args": {}},
        {"replace": "mm", "inputs": {}},
        {"replace": "mm", "inputs": {"relu": 7}},
        {"insert": {"name": "a", "copy": "mm", "target": "aten.mm.default"}, "before": "mm"},
        {"insert": {"name": "a", "copy": "mm", "op": "call_function"}, "before": "mm"},
        {"insert": {"name": "a", "target": "aten.mm.default", "inputs": {}}, "before": "mm"},
    ],
)
def test_invalid_changes(change: Any) -> None:
    assert not validator("recipe").is_valid(recipe([change]))


def test_a_workspace() -> None:
    validator("workspace").validate(WORKSPACE)


@pytest.mark.parametrize(
    "damage",
    [
        {"version": 2},
        {"capture": {"hash": ""}},
        {"place": -1},
        {"edits": [{"title": "neither"}]},
        {"edits": [{"changes": [], "decisions": [{"node": "mm"}]}]},
        {"states": [{"edits": []}]},
        {"benchmarks": [7]},
        {"kernel_moves": []},
        {"kernel_moves": {"moves": []}},
        {"kernel_moves": {"moves": [{"kernel": {"nodes": ["mm"]}}], "place": 0}},
        {"kernel_moves": {"moves": [{"kernel": {}, "anchor": {"nodes": []}}], "place": 0}},
    ],
)
def test_invalid_workspaces(damage: Any) -> None:
    assert not validator("workspace").is_valid({**copy.deepcopy(WORKSPACE), **damage})
