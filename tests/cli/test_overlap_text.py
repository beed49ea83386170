"""``jointer overlap --text``: the calls in order, next to the communication that is in flight."""

from __future__ import annotations

import re

from conftest import JOINT, run, sample

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")


def test_every_collective_has_its_lane() -> None:
    reported = run("overlap", PAIR, "--json").json
    text = run("overlap", PAIR, "--text").out
    lanes = re.findall(r"^lane (\d+): (.*)$", text, re.MULTILINE)
    assert [name for _, name in lanes] == list(reported["by_group"])
    lines = [re.split(r" {2,}", line.strip()) for line in text.splitlines() if re.match(r" +\d+:", line)]
    rows = {line[-1].split()[0]: raw for line, raw in zip(lines, [r for r in text.splitlines() if re.match(r" +\d+:", r)])}
    begin = max(len(re.match(r" *\d+:  .{10}  .{10}  ", raw)[0]) for raw in rows.values())
    order = list(rows)
    for each in reported["collectives"]:
        lane = begin + list(reported["by_group"]).index(each["group"])
        assert rows[each["node"]][lane] == "o"
        if each["wait"] is None:
            continue
        assert rows[each["wait"]][lane] == "x"
        between = order[order.index(each["node"]) + 1 : order.index(each["wait"])]
        assert all(rows[name][lane] in "ox|23456789+" for name in between)
    assert re.search(r"^step: \d", text, re.MULTILINE)


def test_a_graph_without_communication(tmp_path) -> None:
    text = tmp_path / "one.txt"
    text.write_text(
        "class GraphModule(torch.nn.Module):\n"
        '    def forward(self, x: "f32[64, 64]"):\n'
        '        mm: "f32[64, 64]" = torch.ops.aten.mm.default(x, x);  x = None\n'
        "        return (mm,)\n"
    )
    done = run("overlap", text, "--text")
    assert done.code == 0 and "lane" not in done.out and " mm aten.mm.default\n" in done.out


def test_it_is_text_or_json() -> None:
    done = run("overlap", JOINT, "--text", "--json")
    assert done.code == 2 and "--text" in done.err
