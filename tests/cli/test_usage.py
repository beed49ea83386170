"""Invalid command lines give a message, and nothing is done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import JOINT, Done, run, sample
from documents import capture, write

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")
STEP = sample("llama_debug_fsdp2.train_step")
HUGE = "99999999999999999999"
COUNT = "expected an integer of at least 0"


def said(done: Done, code: int = 2) -> str:
    assert (done.code, done.out) == (code, ""), done
    assert done.err.startswith("jointer: ") and done.err.count("\n") == 1, done.err
    return done.err.removeprefix("jointer: ").removesuffix("\n")


# --- Commands ---


def test_a_misspelled_command() -> None:
    text = said(run("overlp", JOINT))
    assert text.startswith("`overlp` is neither a command nor a file; did you mean overlap? the commands are info, ")
    text = said(run("simulate"))
    assert text.startswith("`simulate` is neither a command nor a file; the commands are info, memory, ")


def test_help_is_a_command() -> None:
    for arguments, option in (((), ("--help",)), (("sac",), ("sac", "--help")), (("--help",), ("--help",))):
        done = run("help", *arguments)
        assert (done.code, done.err) == (0, "")
        assert done.out == run(*option).out != ""
    assert "`jointer help COMMAND`" in run("help").out
    assert said(run("help", "overlp")).startswith(
        "help: there is no command `overlp`; did you mean overlap? the commands are info, ")
    assert said(run("help", "sac", JOINT)).startswith("help: unexpected argument `")


def test_no_command() -> None:
    assert said(run()) == "expected a command or a file; `jointer --help` lists the commands"


def test_a_misspelled_option() -> None:
    assert said(run("memory", JOINT, "--tpo", "3")) == (
        "memory: there is no option --tpo; did you mean --top? `jointer memory --help` lists its options"
    )
    assert said(run("info", JOINT, "another")).startswith("info: unexpected argument `another`; ")


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["--versio"], "there is no option --versio; did you mean --version? `jointer --help` lists the commands"),
        (["-x"], "there is no option -x; `jointer --help` lists the commands"),
        (["--json"], "there is no option --json; `jointer --help` lists the commands"),
        (["--json", "info", JOINT], "option --json: goes after the command, as in `jointer info ... --json`"),
        (["-x", "info", JOINT], "there is no option -x; `jointer --help` lists the commands"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_an_option_before_a_command(arguments: list[Any], expected: str) -> None:
    assert said(run(*arguments)) == expected


# --- Values of options ---


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["memory", JOINT, "--top", "x"], f"option --top: {COUNT}, got `x`"),
        (["overlap", JOINT, "--top", "1.5"], f"option --top: {COUNT}, got `1.5`"),
        (["sac", JOINT, "--top", HUGE], f"option --top: {COUNT}, got `{HUGE}`"),
        (["diff", JOINT, JOINT, "--top", "-1"], f"option --top: {COUNT}, got `-1`"),
        (["info", JOINT, "--graph", "first"], f"option --graph: {COUNT}, got `first`"),
        (["spmd", JOINT, "--graph", "x"], f"option --graph: {COUNT}, got `x`"),
        (["sac", JOINT, "--points", "1"], "option --points: expected an integer from 2 to 1000, got `1`"),
        (["sac", JOINT, "--slower", "much"], "option --slower: expected a number of at least 0, got `much`"),
        (["memory", JOINT, "--loop", "x"], "option --loop: expected an integer from 1 to 100, got `x`"),
        (
            ["overlap", JOINT, "--gpus-per-node", "0"],
            "option --gpus-per-node: expected an integer from 1 to 65536, got `0`",
        ),
        (["passes", "--pass-deadline", "0"], "option --pass-deadline: expected a number above 0, got `0`"),
        (["kernels", JOINT, "--against", "measured"], "option --against: expected predicted, got `measured`"),
        (["memory", JOINT, "--optimizer", "sgd"], "option --optimizer: expected one of none, adamw, got `sgd`"),
        (["memory", JOINT, "--top"], "option --top: expected a value; `jointer memory --help` lists its options"),
        (["memory", JOINT, "--top", "3", "--top", "4"], "option --top: given 2 times; give it once"),
        *(
            ([*command, option, ""], f"option {option}: expected a value, got none")
            for command, options in (
                (["sac", JOINT], ["--budget", "--free", "--against", "--output", "--policy", "--preset", "--checkpoint"]),
                (["sac", STEP], ["--budget", "--free", "--save", "--why", "--device"]),
                (["memory", JOINT], ["--device"]),
                (["apply", JOINT, "--passes", "remove_tags"], ["--budget", "--output"]),
            )
            for option in options
        ),
        (["sac", JOINT, "--solver", ""], "option --solver: expected one of dp, greedy, sliding_hirschberg, knee_point, got ``"),
        (["memory", JOINT, "--json=foo"], "option --json: expected no value, got `foo`"),
        *(
            (
                [*command, "--assume", text],
                "option --assume: expected NAME=VALUE with a value of at least 0, such as u0=64, or one value for all unbacked symbols, "
                f"got `{text}`",
            )
            for command in (["info", JOINT], ["diff", JOINT, JOINT], ["spmd", JOINT], ["bench", JOINT])
            for text in ("foo", "u0=x")
        ),
        (["bench", JOINT, "--ranks", "two"], "option --ranks: expected an integer of at least 1, got `two`"),
        (
            ["sac", JOINT, "--save", "aten.mm", "--every-nth", "aten.mm"],
            "option --every-nth: expected OPERATOR/N or OPERATOR/N/layer, such as aten.mm/2/layer, got `aten.mm`",
        ),
        (
            ["apply", JOINT, "--passes", "remove_tags", "--budget", "x"],
            "option --budget: expected a peak memory size such as 40GiB, got `x`",
        ),
        *(
            ([*command, option, number], f"option {option}: `{number}` has no unit; add one, as in {number}{unit}")
            for command, option in (
                (["apply", JOINT, "--passes", "remove_tags"], "--budget"),
                (["apply", JOINT, "--passes", "remove_tags"], "--pass-memory"),
                (["sac", JOINT], "--free"),
                (["bench", JOINT], "--memory-limit"),
            )
            for number, unit in (("40", "GiB"), ("1.5", "GiB"), ("40000", "MiB"), ("1048575", "KiB"), ("2000000.5", "KiB"))
        ),
        *(
            (
                ["sac", JOINT, "--budget", number],
                f"option --budget: `{number}` has no unit; for peak memory, add one, as in {number}{unit}; "
                "torch's activation budget is a number from 0 to 1",
            )
            for number, unit in (("40", "GiB"), ("1048575", "KiB"))
        ),
        *(
            (
                ["sac", JOINT, "--budget", text],
                "option --budget: expected a number from 0 to 1 (torch's activation budget) or a "
                f"peak memory size such as 40GiB, got `{text}`",
            )
            for text in ("x", "-1", "nan", "1e30", "0GiB", "5 gallons")
        ),
        (["bench", JOINT, "--memory-limit", "0.4B"], "option --memory-limit: expected a number of bytes such as 20GiB, got `0.4B`"),
        (["bench", JOINT, "--memory-limit", "x"], "option --memory-limit: expected a size such as 60GiB, got `x`"),
    ],
    ids=lambda value: " ".join(map(str, value[:1] + value[2:])) if isinstance(value, list) else "",
)
def test_a_value_that_does_not_fit(arguments: list[Any], expected: str) -> None:
    assert said(run(*arguments)) == expected


# --- Options that have no effect ---


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["info", "--brief", "--json"], "options --brief and --json"),
        (["memory", "--unboxed"], "option --unboxed: needs --loop"),
        (["memory", "--loss", "cross_entropy"], "option --loss: needs --loop"),
        (["memory", "--expandable-segments"], "option --expandable-segments: needs --loop"),
        (["memory", "--workspace-of", "h100"], "option --workspace-of: needs --loop"),
        (["overlap", "--top", "3", "--json"], "options --top and --json"),
        (["overlap", "--top", "3", "--text"], "options --top and --text"),
        (["diff", JOINT, "--top", "3", "--json"], "options --top and --json"),
        (["export", "--format", "dot", "-o", "-", "--device", "h100"], "option --device: has no effect with --format dot"),
        (["export", "--format", "fx-text", "-o", "-", "--optimizer", "adamw"], "option --optimizer: has no effect with"),
        (["sac", "--top", "3", "--json"], "option --top: has no effect with --json"),
        (["sac", "--points", "8"], "option --points: needs --pareto, --slower, --free, or a --budget in bytes"),
        (["sac", "--points", "8", "--budget", "0.5"], "option --points: needs --pareto, --slower, --free, or a --budget"),
        (["sac", "--solver", "dp"], "option --solver: needs --budget, --slower, --free or --pareto"),
        (["sac", "--strict-budget"], "option --strict-budget: needs --budget, --slower, --free or --pareto"),
        (["sac", "--export", "recipe", "--pareto"], "option --pareto: has no effect with --export"),
        (["sac", "--export", "recipe", "--why", "mm"], "option --why: has no effect with --export"),
        (["sac", "-o", "-", "--export", "recipe"], "option --export: `-` writes the file to standard output"),
        (["sac", "-o", "-", "--json"], "option --json: `-` writes the file to standard output"),
        (["apply", "--recipe", "r.json", "--decisions"], "options --recipe and --decisions"),
        (["apply", "--recipe", "r.json", "--plugin", "p"], "option --plugin: has no effect with --recipe"),
        (["apply", "--recipe", "r.json", "-o", "-", "--json"], "option --json: `-` writes the file"),
        (["apply", "--passes", "remove_tags", "--lenient"], "option --lenient: needs --recipe"),
        (["apply", "--passes", "remove_tags", "-o", "-", "--json"], "option --json: `-` writes the file"),
        (["apply", "--passes", "remove_tags", "--save-recipe", "-", "--decisions"], "option --decisions: `-` writes"),
        (["apply", "--passes", "remove_tags", "--preset", "x"], "options --passes and --preset cannot be used"),
        (["apply", "-o", "b.json", "--decisions"], "option --decisions: needs passes; add --passes"),
        (["apply", "-o", "b.json", "--python-pass", "p.py"], "option --python-pass: needs passes; add --passes"),
        (["apply"], "apply needs passes (--passes, --preset or --graph-trainer-flags), a recipe (--recipe) or a file"),
        (["bench", "--nodes", "2"], "option --nodes: needs --print-command"),
        (["bench", "--ranks-per-node", "2"], "option --ranks-per-node: needs --print-command"),
        (["bench", "--baseline-backward", "b.json"], "option --baseline-backward: needs --baseline"),
        (["bench", "--python-pass", "p.py"], "option --python-pass: needs --passes"),
        (["bench", "--mark", "mm"], "option --mark: needs --backend regional"),
        (["bench", "--artifacts", "a"], "option --artifacts: needs --backend inductor or regional"),
        (["bench", "--print-command", "torchrun", "--calibrate"], "option --calibrate: has no effect with --print"),
        (["bench", "--print-command", "torchrun", "--device", "h100"], "option --device: has no effect with --print"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_an_option_without_effect_is_refused(arguments: list[Any], expected: str, tmp_path: Path) -> None:
    """The option is never ignored, even if it has its default value."""
    assert said(run(arguments[0], JOINT, *arguments[1:], cwd=tmp_path)).startswith(expected)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "option",
    [
        ["--partitioner", "min_cut"],
    ],
    ids=" ".join,
)
def test_options_for_joint_graphs_are_refused_on_a_flat_step(option: list[str]) -> None:
    text = said(run("sac", STEP, *option))
    start = f"option {option[0]}: applies only to joint graphs and pairs; {STEP} is a flat training step"
    assert text.startswith(start)


def test_the_help_of_sac_lists_the_options_for_each_kind_of_graph() -> None:
    text = run("sac", "--help").out
    assert "\nPlan (a pair is joined first):\n" in text and "Up to 1 without a unit: torch's" in text
    assert "\nShortest list of changes:\n" in text
    assert "all but --partitioner to a flat training step" in text


@pytest.mark.parametrize("option", [["--gpu", "x"], ["--assume", "64"], ["--graph", "0"]], ids=" ".join)
def test_options_of_a_trace_are_refused_without_one(option: list[str]) -> None:
    assert said(run("calibrate", "--list", *option)).startswith(f"option {option[0]}: needs FILE --trace TRACE")
    assert said(run("calibrate", "--forget", "x", *option)).startswith(f"option {option[0]}: needs FILE")
    assert said(run("calibrate", "--probe", *option)).startswith(f"option {option[0]}: needs FILE")


# --- Outputs ---

PASSES = ["--passes", "remove_tags"]


@pytest.mark.parametrize(
    "arguments, option",
    [
        (["apply", *PASSES], "-o"),
        (["apply", *PASSES], "--save-recipe"),
        (["apply", *PASSES, "--save-recipe", "recipe.json"], "--save-graph-trainer"),
        (["apply", *PASSES], "--save-pipeline"),
        (["apply", *PASSES], "--reproducer"),
        (["apply", "--recipe", "recipe.json"], "-o"),
        (["sac"], "-o"),
        (["export", "--format", "csv"], "-o"),
        (["diff", JOINT], "--save-recipe"),
    ],
    ids=lambda value: " ".join(map(str, value[::2])) if isinstance(value, list) else value,
)
def test_an_output_in_a_missing_folder_is_refused_immediately(arguments: list[str], option: str, tmp_path: Path) -> None:
    """The output is refused before the input, which is damaged here, is read."""
    damaged = tmp_path / "damaged.json"
    damaged.write_text("{")
    out = tmp_path / "none" / "out.json"
    done = run(arguments[0], damaged, *arguments[1:], option, out, cwd=tmp_path)
    assert said(done, code=4) == f"{out}: No such file or directory"
    done = run(arguments[0], damaged, *arguments[1:], option, tmp_path, cwd=tmp_path)
    assert said(done, code=4) == f"{tmp_path}: Is a directory"
    assert list(tmp_path.iterdir()) == [damaged]


def test_snapshots_need_a_folder_that_can_be_created(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = run("apply", JOINT, *PASSES, "--snapshots", file / "steps", cwd=tmp_path)
    assert said(done, code=4) == f"{file / 'steps'}: Not a directory"


@pytest.mark.parametrize(
    "arguments",
    [["diff", "-", "-"], ["sac", "-", "--policy", "-"], ["calibrate", "-", "--trace", "-"]],
)
def test_standard_input_is_read_only_once(arguments: list[str]) -> None:
    done = run(*arguments, stdin=JOINT.read_bytes())
    assert said(done, code=3) == "standard input was already read; give the other input as a file"


def test_a_recipe_for_graph_trainer_is_a_file() -> None:
    done = run("apply", JOINT, *PASSES, "--save-recipe", "-", "--save-graph-trainer", "x.py")
    assert said(done) == "option --save-graph-trainer: needs --save-recipe with a file name"


@pytest.mark.parametrize(
    "one, other",
    [("-o", "--save-recipe"), ("-o", "--reproducer"), ("--save-recipe", "--save-pipeline")],
)
def test_two_outputs_are_two_files(one: str, other: str, tmp_path: Path) -> None:
    names = {"-o": "--output"}
    pair = f"options {names.get(one, one)} and {names.get(other, other)} both write to "
    (tmp_path / "link").symlink_to(tmp_path)
    done = run("apply", JOINT, *PASSES, one, "x.json", other, "link/x.json", cwd=tmp_path)
    assert said(done) == pair + "x.json; give each its own file"
    done = run("apply", JOINT, *PASSES, one, "-", other, "-", cwd=tmp_path)
    assert said(done) == pair + "standard output; give each its own file"
    assert [each.name for each in tmp_path.iterdir()] == ["link"]
    done = run("apply", JOINT, *PASSES, one, "/dev/null", other, "/dev/null", cwd=tmp_path)
    assert done.code == 0, done


@pytest.mark.parametrize(
    "arguments, option",
    [
        (["apply", "F", *PASSES, "-o", "F"], "--output"),
        (["apply", "F", *PASSES, "--reproducer", "F"], "--reproducer"),
        (["apply", "F", "--passes", "@P", "--save-pipeline", "P"], "--save-pipeline"),
        (["apply", "F", "--recipe", "P", "-o", "P"], "--output"),
        (["apply", "F", "--recipe", "P", "-o", "F"], "--output"),
        (["sac", "F", "-o", "F"], "--output"),
        (["sac", "F", "--policy", "P", "-o", "P"], "--output"),
        (["export", "F", "--format", "csv", "-o", "F"], "--output"),
        (["diff", "F", "P", "--save-recipe", "F"], "--save-recipe"),
        (["diff", "F", "P", "--save-recipe", "P"], "--save-recipe"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_output_is_not_an_input(arguments: list[str], option: str, tmp_path: Path) -> None:
    files = {"F": write(tmp_path / "graph.json", capture()), "P": tmp_path / "other.json"}
    files["P"].write_text("remove_tags")
    files["@P"] = f"@{files['P']}"
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = run(*(files.get(each, each) for each in arguments), cwd=tmp_path)
    assert said(done) == f"option {option}: {files[arguments[-1]]} is an input; choose another file"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("option", ["--save-recipe", "--save-pipeline"])
def test_standard_output_holds_one_file_and_nothing_else(option: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert run("apply", JOINT, *PASSES, option, file).code == 0
    assert run("apply", JOINT, *PASSES, option, "-").out == file.read_text()


def test_a_difference_as_a_recipe_on_standard_output(tmp_path: Path) -> None:
    file = tmp_path / "recipe.json"
    assert run("diff", JOINT, JOINT, "--save-recipe", file).code == 0
    assert run("diff", JOINT, JOINT, "--save-recipe", "-").out == file.read_text()
    assert said(run("diff", JOINT, JOINT, "--save-recipe", "-", "--json")).startswith("option --json: `-` writes")
