"""jointer query: SELECT over the graph's tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, answer, each_sample, run


def rows(path: Path, sql: str, *options: Any) -> list[list[Any]]:
    return run("query", path, sql, "--json", *options).json["rows"]


@each_sample
def test_sums_are_the_figures_of_other_commands(path: Path) -> None:
    memory, overlap = answer("memory", path), answer("overlap", path)
    [[step, exposed, peak]] = rows(path, "SELECT step_ns, exposed_ns, peak_bytes FROM step")
    assert step / 1e6 == pytest.approx(overlap["step_ms"])
    assert exposed / 1e6 == pytest.approx(overlap["exposed_ms"])
    assert peak == memory["peak_bytes"]
    assert rows(path, "SELECT sum(bytes) FROM storages WHERE is_live_at_peak") == [[peak]]
    at_peak = dict(rows(path, "SELECT category, sum(bytes) FROM storages WHERE is_live_at_peak GROUP BY 1"))
    assert at_peak == {name: size for name, size in memory["at_peak"].items() if size > 0}
    by_group = rows(path, "SELECT sum(exposed_ns) FROM collectives GROUP BY group_name")
    assert sum(row[0] for row in by_group) == exposed


def test_a_device_changes_times_but_not_memory() -> None:
    sql = "SELECT step_ns, peak_bytes FROM step"
    [[h100, peak]], [[b200, other]] = rows(JOINT, sql), rows(JOINT, sql, "--device", "b200")
    assert b200 != h100
    assert other == peak


def test_the_table_has_a_line_per_row() -> None:
    done = run("query", JOINT, "SELECT kind, count(*) AS n FROM nodes GROUP BY kind ORDER BY kind")
    assert (done.code, done.err) == (0, "")
    lines = [line.split() for line in done.out.splitlines()]
    assert lines[0] == ["kind", "n"]
    assert [line[0] for line in lines[1:]] == ["call", "output", "placeholder"]


def test_a_limit_is_reported() -> None:
    done = run("query", JOINT, "SELECT node FROM nodes", "--json", "--limit", 3)
    assert done.code == 0
    result = json.loads(done.out)
    assert len(result["rows"]) == 3 and result["is_cut"]
    assert done.err == "jointer: only the first 3 rows are shown; --limit 0 shows all\n"
    one = run("query", JOINT, "SELECT node FROM nodes", "--limit", 1)
    assert one.err == "jointer: only the first row is shown; --limit 0 shows all\n"
    whole = run("query", JOINT, "SELECT node FROM nodes", "--json", "--limit", 0).json
    assert len(whole["rows"]) == answer("info", JOINT)["nodes"] and not whole["is_cut"]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT nod FROM nodes", "no such column: nod (line 1, column 8); did you mean node?"),
        ("SELEC 1", 'near "SELEC": syntax error (line 1, column 1)'),
        ("DROP TABLE nodes", "a query can only read"),
        ("ATTACH 'other.sqlite' AS o", "a query can only read"),
        ("", "the query is empty"),
    ],
)
def test_a_wrong_query_is_wrong_usage(sql: str, message: str, tmp_path: Path) -> None:
    done = run("query", JOINT, sql, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"jointer: {message}")
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_schema_lists_every_table() -> None:
    done = run("query", "--schema")
    assert (done.code, done.err) == (0, "")
    tables = [row[0] for row in rows(JOINT, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    starts = [line.split()[0] for line in done.out.splitlines() if line and not line.startswith(" ")]
    assert starts == tables
