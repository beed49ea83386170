"""Chooses the tests to run, for every folder of tests.

A run skips tests marked ``slow``. If a test has many cases, an evenly spread sample of them runs, and the other
cases count as slow. ``--run-slow`` also runs everything slow; ``--all-cases`` runs all cases of tests that are
not marked ``slow``.
"""

from __future__ import annotations

import os

import pytest

# A probe of this machine's CPU is not used: estimates would depend on the machine.
os.environ["JOINTER_CPU"] = "/none"

#: Cases of one test that are in every run, by folder.
CASES = {"cli": 2, "differential": 1, "plugins": 1, "python": 1, "runner": 1, "workspace": 2}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="also run tests marked slow")
    parser.addoption("--all-cases", action="store_true", help="run every case of tests that otherwise run a sample")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--all-cases"):
        leave_out_cases(items)
    if not config.getoption("--run-slow"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow: give --run-slow"))


def leave_out_cases(items: list[pytest.Item]) -> None:
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not item.get_closest_marker("slow"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for of_test in cases.values():
        wanted = CASES.get(of_test[0].path.parent.name)
        if wanted is None or len(of_test) <= wanted:
            continue
        sample = {index * len(of_test) // wanted for index in range(wanted)}
        for index, item in enumerate(of_test):
            if index not in sample:
                item.add_marker(pytest.mark.slow)
