"""docs/passes.md says what the passes say of themselves."""

from __future__ import annotations

import subprocess
import sys

from conftest import ROOT, answer


def test_it_is_what_the_script_writes() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "passes_doc", "--check"], check=False)
    assert done.returncode == 0, "run scripts/passes_doc and look at what it changed"


def test_every_pass_has_its_section() -> None:
    text = (ROOT / "docs" / "passes.md").read_text()
    for each in answer("passes")["passes"]:
        assert text.count(f"\n### {each['name']}\n") == 1, each["name"]
    assert text.count("\nDeviations: ") == len(answer("passes")["passes"])
