"""docs/passes.md agrees with the passes' own descriptions."""

from __future__ import annotations

import subprocess
import sys

from conftest import ROOT, answer


def test_it_is_the_output_of_the_script() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "passes_doc", "--check"], check=False)
    assert done.returncode == 0, "run scripts/passes_doc and review its changes"


def test_every_pass_has_its_section() -> None:
    text = (ROOT / "docs" / "passes.md").read_text()
    for each in answer("passes")["passes"]:
        assert text.count(f"\n### {each['name']}\n") == 1, each["name"]


def section(name: str) -> str:
    text = (ROOT / "docs" / "passes.md").read_text()
    return text.partition(f"\n### {name}\n")[2].partition("\n#")[0]


def test_every_section_lists_deviations_from_upstream() -> None:
    for each in answer("passes")["passes"]:
        assert "\nDeviations" in section(each["name"]), each["name"]


def test_deviations_are_those_of_the_pass() -> None:
    """Lists are shown as lists, conditions are stated, and deviations of one pass in a file are not
    attributed to another.
    """
    buckets = section("autobucketing_reordering")
    assert "\nDeviations, all off with `torch_compatible`:\n\n- " in buckets and "\nDeviations in any case: " in buckets
    assert "\nDeviations:\n\n- " in section("raise_comms")
    assert "A copy stays if the view would have different strides" in section("replace_view_copy_with_view")
    assert "ZeroDivisionError" in section("knapsack_budget")
    assert "\nDeviations: none." in section("regional_inductor")
    assert "\nDeviations: It is ignored on the CPU" in section("cudagraph")
