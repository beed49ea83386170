// Requests round-trip through the runner's command line, including through a real shell.

#include "core/bench/request.h"
#include "tests/support/must.h"
#include "tests/support/temporary_folder.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

namespace jointer::test {
namespace {

std::string any_word() {
  return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
}

std::string some_word() {
  return *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)));
}

template <class T>
T from(T min, T beyond) {
  return *rc::gen::inRange<T>(min, beyond);
}

BenchmarkRequest any_request() {
  BenchmarkRequest r;
  r.program = {some_word(), any_word()};
  r.baseline = {any_word(), any_word()};
  r.inputs = any_word();
  r.expected = any_word();
  if (from(0, 2) == 1) r.graph_index = from<std::size_t>(0, 1'000'000);
  r.assumptions = any_word();
  r.ranks = from(0, 1000);
  if (from(0, 2) == 1) r.solo = from(0, 512);
  r.backend = static_cast<Backend>(from(0, 5));
  r.on = static_cast<RunOn>(from(0, 3));
  r.attention = static_cast<AttentionKernel>(from(0, 5));
  r.tf32 = static_cast<Tf32>(from(0, 3));
  r.iterations = from(1, 1000);
  r.warmup = from(0, 1000);
  r.threads = from(0, 1000);
  r.seed = *rc::gen::arbitrary<std::uint64_t>();
  r.recorded = from(0, 2) == 1;
  r.profile = from(0, 2) == 1;
  r.nsys = any_word();
  r.pins = from(0, 2) == 1;
  r.memory_limit = from<std::int64_t>(0, std::int64_t{1} << 50);
  r.timeout_ms = from<std::int64_t>(1, 10'000'000);
  return r;
}

void expect_same(const BenchmarkRequest& a, const BenchmarkRequest& b) {
  RC_ASSERT(a.program.graph == b.program.graph);
  RC_ASSERT(a.program.backward == b.program.backward);
  RC_ASSERT(a.baseline.graph == b.baseline.graph);
  RC_ASSERT(a.baseline.backward == b.baseline.backward);
  RC_ASSERT(a.inputs == b.inputs);
  RC_ASSERT(a.expected == b.expected);
  RC_ASSERT(a.graph_index == b.graph_index);
  RC_ASSERT(a.assumptions == b.assumptions);
  RC_ASSERT(a.ranks == b.ranks);
  RC_ASSERT(a.solo == b.solo);
  RC_ASSERT(a.backend == b.backend);
  RC_ASSERT(a.on == b.on);
  RC_ASSERT(a.attention == b.attention);
  RC_ASSERT(a.iterations == b.iterations);
  RC_ASSERT(a.warmup == b.warmup);
  RC_ASSERT(a.threads == b.threads);
  RC_ASSERT(a.seed == b.seed);
  RC_ASSERT(a.recorded == b.recorded);
  RC_ASSERT(a.profile == b.profile);
  RC_ASSERT(a.nsys == b.nsys);
  RC_ASSERT(a.pins == b.pins);
  RC_ASSERT(a.memory_limit == b.memory_limit);
  RC_ASSERT(a.timeout_ms == b.timeout_ms);
}

// Returns what a shell command writes to standard output.
std::string output_of(const std::string& line) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(line.c_str(), "r"), &pclose);
  std::string out;
  std::array<char, 4096> buffer{};
  for (std::size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;)
    out.append(buffer.data(), n);
  return out;
}

// Returns the arguments that a real shell makes of `words`, each terminated by a zero byte.
std::string through_shell(const std::string& words) {
  return output_of("printf '%s\\0' " + words);
}

RC_GTEST_PROP(RequestProperty, WritingAndReadingReturnsTheSameRequest, ()) {
  const BenchmarkRequest request = any_request();
  const auto again = parse_runner_arguments(runner_arguments(request));
  if (!again) RC_FAIL(again.error().message);
  expect_same(request, *again);
}

TEST(Request, AMemoryLimitMayHaveAUnit) {
  const auto limit = [](const std::string& text) {
    return must(parse_runner_arguments({"--memory-limit=" + text, "--", "graph.json"}))
        .memory_limit;
  };
  EXPECT_EQ(limit("0"), 0);
  EXPECT_EQ(limit("60000000"), 60'000'000);
  EXPECT_EQ(limit("9007199254740993"), 9'007'199'254'740'993);
  EXPECT_EQ(limit("20GiB"), std::int64_t{20} << 30);
  EXPECT_EQ(limit("1.5KB"), 1500);
  for (const char* text :
       {"", "-1", "-2GiB", "20 GiB", "GiB", "20GiBs", "much", "0.2", "1e30GiB"}) {
    const auto refused =
        parse_runner_arguments({fmt::format("--memory-limit={}", text), "--", "graph.json"});
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(
        refused.error().message,
        fmt::format("option --memory-limit: expected a number of bytes such as 20GiB, got `{}`",
                    text));
  }
}

TEST(ShellWord, RoundTripsThroughARealShell) {
  const std::vector<std::string> words{
      "plain",      "",           " ",          "a b",      "it's",       "\"double\"",
      "$HOME",      "$(echo no)", "`echo no`",  "a\nb",     "\t",         "*",
      "~",          "~root",      "!!",         "a;b",      "a&b",        "a|b",
      ">x",         "#c",         "{a,b}",      "{rank}",   "\\",         "\\n",
      "'",          "''",         "a=b",        "-n",       "--x=y z",    "caf\xc3\xa9",
      "[a-z]",      "(sub)",      "\x01\x7f",   "%s",       "=ls",        "a\r\nb",
      "c.json.zst", "/a b/c'd",   "--seed=1 2", "\xff\xfe", "x'\"$`\\y\n"};
  std::string expected;
  for (const std::string& word : words) expected += word + '\0';
  EXPECT_EQ(through_shell(shell_words(words)), expected);
}

RC_GTEST_PROP(ShellWordProperty, AnyWordsRoundTripThroughARealShell, ()) {
  std::vector<std::string> words;
  std::string expected;
  for (int i = 0; i < 40; ++i) {
    words.push_back(any_word());
    expected += words.back() + '\0';
  }
  RC_ASSERT(through_shell(shell_words(words)) == expected);
}

TEST(Request, DefaultsAreOmitted) {
  BenchmarkRequest request;
  request.program.graph = "a.json";
  EXPECT_EQ(runner_arguments(request), (std::vector<std::string>{"a.json"}));
}

TEST(Request, ValuesMayBeSeparateArguments) {
  const auto r = must(parse_runner_arguments({"--ranks", "2", "a{rank}.json", "--inputs", "--x",
                                              "--timeout", "0.25", "--profile", "--on=cuda"}));
  EXPECT_EQ(r.ranks, 2);
  EXPECT_EQ(r.inputs, "--x");
  EXPECT_EQ(r.timeout_ms, 250);
  EXPECT_TRUE(r.profile);
  EXPECT_EQ(r.on, RunOn::cuda);
  EXPECT_EQ(path_of_rank(r.program.graph, 7), "a7.json");
}

TEST(Request, ErrorsAreOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{}, "expected a graph"},
      {{"a", "b"}, "expected one graph"},
      {{"a", "--later=1"}, "no option --later"},
      {{"a", "-v"}, "no option -v"},
      {{"a", "--bogus"}, "no option --bogus"},
      {{"a", "--profile=yes"}, "option --profile: expected no value, got `yes`"},
      {{"a", "--ranks"}, "option --ranks: the value is missing; expected an integer of at least 1"},
      {{"a", "--ranks=two"}, "option --ranks: expected an integer of at least 1, got `two`"},
      {{"a", "--ranks=0"}, "option --ranks: expected an integer of at least 1, got `0`"},
      {{"a", "--threads=0"}, "option --threads: expected an integer of at least 1, got `0`"},
      {{"a", "--ranks=-1"}, "--ranks: expected"},
      {{"a", "--ranks=99999999999"}, "--ranks: expected"},
      {{"a", "--iterations=0"}, "--iterations: expected"},
      {{"a", "--solo="}, "--solo: expected a rank of at least 0"},
      {{"a", "--seed=-1"}, "--seed: expected"},
      {{"a", "--backend=jit"}, "--backend: expected one of interpret"},
      {{"a", "--on=tpu"}, "--on: expected"},
      {{"a", "--attention=slow"}, "--attention: expected"},
      {{"a", "--timeout=0"}, "--timeout: expected"},
      {{"a", "--timeout=nan"}, "--timeout: expected"},
      {{"a", "--timeout=inf"}, "--timeout: expected"},
      {{"a", "--inputs="}, "--inputs: expected a file"}};
  for (const auto& [arguments, said] : cases) {
    const auto r = parse_runner_arguments(arguments);
    ASSERT_FALSE(r) << said;
    EXPECT_EQ(r.error().kind, Error::Kind::usage);
    EXPECT_NE(r.error().message.find(said), std::string::npos) << r.error().message;
    EXPECT_EQ(r.error().message.find('\n'), std::string::npos);
  }
}

TEST(Request, EveryPlaceholderInAPathIsTheRank) {
  EXPECT_EQ(path_of_rank("a", 3), "a");
  EXPECT_EQ(path_of_rank("{rank}/{rank}.{ran}{rank", 12), "12/12.{ran}{rank");
}

// The arguments that a launcher gets, each terminated by a bar.
std::string as_launched(const std::string& line, const std::string& launcher) {
  return output_of(launcher + "() { printf '%s|' \"$@\"; }; HEAD_NODE='node 1'; " + line);
}

TEST(LaunchCommands, TorchrunGetsTheRanksArguments) {
  BenchmarkRequest request;
  request.program.graph = "my graph's {rank}.json";
  request.ranks = 16;
  request.iterations = 3;
  EXPECT_EQ(as_launched(torchrun_command(request, 2, 8), "torchrun"),
            "--nnodes=2|--nproc-per-node=8|--rdzv-backend=c10d|--rdzv-endpoint=node 1:29500|"
            "--no-python|jointer-runner|--iterations=3|my graph's {rank}.json|");
  request.backend = Backend::python;
  EXPECT_EQ(as_launched(torchrun_command(request, 1, 4), "torchrun"),
            "--standalone|--nproc-per-node=4|-m|jointer|bench|--backend=python|--iterations=3|"
            "my graph's {rank}.json|");
}

TEST(LaunchCommands, EveryRankRunsUnderNsysIfReportsAreWanted) {
  const TemporaryFolder folder;
  const std::string reports = folder / "my reports";
  BenchmarkRequest request;
  request.program.graph = "graph.json";
  request.nsys = reports;
  const std::string command = torchrun_command(request, 1, 4);
  EXPECT_TRUE(as_launched(command, "torchrun")
                  .ends_with("--output=" + reports +
                             "/rank%q{RANK}|jointer-runner|--nsys=" + reports + "|graph.json|"))
      << command;
  EXPECT_TRUE(as_launched(command, "torchrun")
                  .starts_with("--standalone|--nproc-per-node=4|--no-python|nsys|profile|"));
  EXPECT_TRUE(std::filesystem::is_directory(reports));
  const std::string step = as_launched(slurm_command(request, 2, 4), "srun");
  EXPECT_NE(step.find("mkdir -p '" + reports + "'; export RANK="), std::string::npos) << step;
  EXPECT_NE(step.find("; exec nsys profile "), std::string::npos) << step;

  request.backend = Backend::python;
  const std::string python = as_launched(torchrun_command(request, 1, 4), "torchrun");
  EXPECT_TRUE(python.starts_with("--standalone|--nproc-per-node=4|--no-python|nsys|profile|"))
      << python;
  EXPECT_TRUE(python.ends_with(
      "/rank%q{RANK}|python3|-m|jointer|bench|--backend=python|--nsys=" + reports + "|graph.json|"))
      << python;
  const std::string task = as_launched(slurm_command(request, 2, 4), "srun");
  EXPECT_NE(task.find("/rank%q{RANK}' python3 -m jointer bench "), std::string::npos) << task;
}

TEST(LaunchCommands, SlurmSetsWhatTorchrunWould) {
  BenchmarkRequest request;
  request.program.graph = "it's.json";
  request.on = RunOn::cpu;
  const std::string words = as_launched(slurm_command(request, 2, 4), "srun");
  EXPECT_TRUE(words.starts_with("--nodes=2|--ntasks-per-node=4|sh|-c|")) << words;
  request.on = RunOn::automatic;
  EXPECT_NE(slurm_command(request, 2, 4).find(" --gpus-per-node=4 "), std::string::npos);

  // The script itself, with the variables that Slurm sets, and stand-ins for its programs and ours.
  const TemporaryFolder folder;
  const auto stand_in = [&](const std::string& name, std::string_view script) {
    const std::string path = folder / name;
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  };
  stand_in("srun", "shift 2; exec \"$@\"");
  stand_in("scontrol", "echo node3; echo node4");
  stand_in("jointer-runner",
           "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR $MASTER_PORT \"$@\"");
  request.on = RunOn::cpu;
  EXPECT_EQ(output_of("export PATH='" + folder.path().string() +
                      "':$PATH SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_LOCALID=1 "
                      "SLURM_JOB_NODELIST='node[3-4]'; " +
                      slurm_command(request, 2, 4)),
            "5 8 1 4 node3 29500 --on=cpu it's.json\n");
}

}  // namespace
}  // namespace jointer::test
