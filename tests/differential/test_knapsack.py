"""Compares the knapsack solvers with torch's, on random problems of every kind: the same sets in the same
order.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from conftest import output_of
from torch._functorch._activation_checkpointing import knapsack
from torch._functorch._activation_checkpointing.graph_info_provider import GraphInfoProvider
from torch._functorch._activation_checkpointing.knapsack_evaluator import KnapsackEvaluator

Problem = tuple[list[float], list[float], float]


def problems(seed: int, count: int) -> list[Problem]:
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        n = rng.randint(1, 40)
        weight, value = rng.choice(
            [
                (lambda: rng.random() * 0.2, lambda: rng.random() * 10),
                (lambda: rng.randint(0, 20) / 100, lambda: float(rng.randint(1, 4))),
                (lambda: rng.choice((0.0, rng.random() * 0.1)), lambda: rng.random()),
                (lambda: rng.random() * 5e-4, lambda: rng.random()),
                (lambda: 2.0 ** -rng.randint(3, 12), lambda: 2.0 ** rng.randint(0, 30)),
                (lambda: rng.random() * 0.2, lambda: float(rng.choice((0, 1, 10**12)))),
            ]
        )
        budget = rng.choice((0.0, 1.0, rng.random(), rng.random() * 0.01))
        found.append(([weight() for _ in range(n)], [value() for _ in range(n)], budget))
    return found


def ask(solver: str, rows: list[Problem]) -> list[Any]:
    lines = [json.dumps({"weights": w, "values": v, "budget": b, "solver": solver}) for w, v, b in rows]
    answers = [json.loads(line) for line in output_of("knapsack_answers", stdin="\n".join(lines)).splitlines()]
    assert len(answers) == len(rows)
    return answers


@pytest.mark.parametrize(
    "solver, solve",
    [
        ("dp", knapsack.dp_knapsack),
        ("sliding_hirschberg", knapsack.dp_knapsack_sliding_hirschberg),
        ("greedy", knapsack.greedy_knapsack),
    ],
)
def test_same_sets(solver: str, solve: Any) -> None:
    rows = problems(seed=1, count=300)
    compared = 0
    for row, answer in zip(rows, ask(solver, rows)):
        try:
            runtime, saved, recomputed = solve(*row)
        except ZeroDivisionError:
            assert solver == "greedy" and 0.0 in row[0]
            assert all(row[0][i] > 0 for i in answer["recomputed"])
            continue
        assert (answer["saved"], answer["recomputed"]) == (saved, recomputed), row
        assert answer["value"] == pytest.approx(runtime, rel=1e-5)
        compared += 1
    assert compared >= 200


def test_same_knee() -> None:
    """torch's dynamic_memory_budget_dp: the budget of the knee, then dp with that budget."""
    rows = [row for row in problems(seed=2, count=30) if sum(row[0]) > 0 and sum(row[1]) > 0 and row[2] > 0]
    for (weights, values, budget), answer in zip(rows, ask("knee_point", rows)):
        names = [f"n{i}" for i in range(len(weights))]
        provider = GraphInfoProvider(
            graph_nodes_in_order=names,
            graph_edges=[],
            all_recomputable_banned_nodes=names,
            recorded_knapsack_input_memories=weights,
            recorded_knapsack_input_runtimes=values,
        )
        knee = KnapsackEvaluator(provider).get_knee_point_memory_budget(knapsack.dp_knapsack, budget)
        _, saved, recomputed = knapsack.dp_knapsack(weights, values, knee)
        assert answer["budget"] == knee
        assert (answer["saved"], answer["recomputed"]) == (saved, recomputed)
