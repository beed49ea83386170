#include "core/graph/memory_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/capture/native_reader.h"
#include "core/edit/edit.h"
#include "core/graph/dependencies.h"
#include "tests/support/records.h"

namespace jointer::test {
namespace {

using testing::Contains;
using testing::UnorderedElementsAre;

// Builds a graph as a capture describes it, on one buffer of 64 floats.
class Program {
 public:
  Program() {
    placeholder("buffer", {.from = 0, .count = 64}, 0);
    placeholder("x", {.from = 0, .count = 64}, 1);
  }

  struct Floats {
    std::int64_t from = 0, count = 0, step = 1;
  };

  Program& view(const std::string& name, Floats of, const std::string& base = "buffer") {
    return call(name, "aten.slice.Tensor", fmt::format(R"({{"n":"{}"}})", base), tensor(of, 0));
  }
  Program& write(const std::string& name, const std::string& to) {
    return call(name, "aten.copy_.default", fmt::format(R"({{"n":"{}"}},{{"n":"x"}})", to),
                value_of(to));
  }
  Program& read(const std::string& name, const std::string& of) {
    results_.push_back(name);
    return call(name, "aten.relu.default", fmt::format(R"({{"n":"{}"}})", of),
                tensor({.from = 0, .count = 1}, storages_++));
  }
  Program& call(const std::string& name, std::string_view target, std::string_view args,
                const std::string& value) {
    values_[name] = value;
    nodes_ +=
        fmt::format(R"({{"name":"{}","op":"call_function","target":"{}","args":[{}],"val":{}}},)",
                    name, target, args, value);
    return *this;
  }

  [[nodiscard]] std::string value_of(const std::string& name) const { return values_.at(name); }
  static std::string tensor(Floats of, int storage) {
    return fmt::format(
        R"({{"t":{{"shape":[{}],"dtype":"float32","device":"cpu","stride":[{}],"offset":{},"storage":{}}}}})",
        of.count, of.step, of.from, storage);
  }

  [[nodiscard]] Graph graph() const {
    std::string storages, results;
    for (int i = 0; i < storages_; ++i) storages += i == 0 ? "256" : ",256";
    for (const std::string& name : results_)
      results += fmt::format(R"({}{{"n":"{}"}})", results.empty() ? "" : ",", name);
    const PaddedBytes bytes(fmt::format(
        R"({{"format":"jointer-capture","version":1,"kind":"joint","storages":[{}],"nodes":[{}
            {{"name":"output","op":"output","target":"output","args":[[{}]]}}]}})",
        storages, nodes_, results));
    auto graph = read_native("test.json", bytes);
    if (!graph) throw std::runtime_error(graph.error().message);
    return *std::move(graph);
  }

 private:
  void placeholder(const std::string& name, Floats of, int storage) {
    values_[name] = tensor(of, storage);
    nodes_ += fmt::format(R"({{"name":"{0}","op":"placeholder","target":"{0}","val":{1}}},)", name,
                          values_[name]);
  }

  std::string nodes_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> results_;
  int storages_ = 2;
};

// Names of the calls that must run before a node because of memory.
std::vector<std::string> writes_before(const Graph& graph, std::string_view name) {
  const Dependencies dependencies(graph);
  std::vector<std::string> found;
  for (const Dependency& d : dependencies.before(graph.find(name)))
    if (d.kind == DependencyKind::write && graph.node(d.node).kind == NodeKind::call)
      found.emplace_back(graph.name(d.node));
  return found;
}

TEST(MemoryOrder, WritesToDisjointPartsAreUnordered) {
  const Graph graph = Program()
                          .view("first", {.from = 0, .count = 32})
                          .write("write_first", "first")
                          .view("second", {.from = 32, .count = 32})
                          .write("write_second", "second")
                          .read("read_first", "first")
                          .read("read_all", "buffer")
                          .graph();
  EXPECT_THAT(writes_before(graph, "write_second"), UnorderedElementsAre());
  EXPECT_THAT(writes_before(graph, "read_first"), UnorderedElementsAre("write_first"));
  EXPECT_THAT(writes_before(graph, "read_all"),
              UnorderedElementsAre("write_first", "write_second"));
  EXPECT_FALSE(write_conflict(graph, graph.find("write_first"), graph.find("write_second")));
  EXPECT_TRUE(write_conflict(graph, graph.find("write_first"), graph.find("read_all")));
}

TEST(MemoryOrder, AViewMovesOverAWriteToItsMemory) {
  const Graph graph = Program()
                          .write("write", "buffer")
                          .view("view", {.from = 0, .count = 8})
                          .write("again", "buffer")
                          .read("read", "view")
                          .graph();
  EXPECT_THAT(writes_before(graph, "view"), UnorderedElementsAre());
  EXPECT_THAT(writes_before(graph, "again"), UnorderedElementsAre("write"));
  EXPECT_THAT(writes_before(graph, "read"), UnorderedElementsAre("again"));
  EXPECT_FALSE(write_conflict(graph, graph.find("write"), graph.find("view")));
}

TEST(MemoryOrder, ResizingKeepsItsOrderWithViews) {
  Program program;
  program.view("early", {.from = 0, .count = 8})
      .call("resize", "inductor.resize_storage_bytes_.default", R"({"n":"buffer"},256)", "null")
      .view("late", {.from = 8, .count = 8})
      .call("resize_again", "inductor.resize_storage_bytes_.default", R"({"n":"buffer"},0)",
            "null");
  const Graph graph = program.graph();
  EXPECT_THAT(writes_before(graph, "resize"), Contains("early"));
  EXPECT_THAT(writes_before(graph, "late"), UnorderedElementsAre("resize"));
  EXPECT_THAT(writes_before(graph, "resize_again"), UnorderedElementsAre("resize", "late"));
  EXPECT_TRUE(write_conflict(graph, graph.find("resize"), graph.find("late")));
}

// It may access memory outside the view that it receives.
TEST(MemoryOrder, ACallWithoutASchemaUsesAllOfTheStorage) {
  Program program;
  program.view("first", {.from = 0, .count = 32})
      .view("second", {.from = 32, .count = 32})
      .write("write", "first")
      .call("custom", "mine.look.default", R"({"n":"second"})", "null")
      .call("known", "aten.relu.default", R"({"n":"second"})",
            Program::tensor({.from = 0, .count = 32}, 1));
  const Graph graph = program.graph();
  EXPECT_THAT(writes_before(graph, "custom"), UnorderedElementsAre("write"));
  EXPECT_THAT(writes_before(graph, "known"), UnorderedElementsAre());
}

TEST(MemoryOrder, ACallThatChoosesItsPartUsesAllOfTheStorage) {
  Program program;
  program.view("first", {.from = 0, .count = 32})
      .view("second", {.from = 32, .count = 32})
      .write("write", "first")
      .call("copy", "aten.as_strided_copy.default", R"({"n":"second"},[32],[1],0)",
            Program::tensor({.from = 0, .count = 32}, 1));
  EXPECT_THAT(writes_before(program.graph(), "copy"), UnorderedElementsAre("write"));
}

TEST(MemoryOrder, BeyondSixtyFourPartsTheWholeStorageCounts) {
  Program program;
  for (int i = 0; i < 64; ++i) {
    const std::string at = std::to_string(i);
    program.view("v" + at, {.from = i, .count = 1}).write("w" + at, "v" + at);
  }
  const Graph graph = program.read("read", "v3").graph();
  EXPECT_THAT(writes_before(graph, "w40"), UnorderedElementsAre());
  // The buffer is a part, too: no number is left for the last slice.
  EXPECT_THAT(writes_before(graph, "w63"), Contains("w0"));
  EXPECT_THAT(writes_before(graph, "read"), UnorderedElementsAre("w63"));
}

// Reads of the buffer that came before the last write to a slice are not listed again for the next.
TEST(MemoryOrder, AlternatingWritesOfSlicesAndReadsOfAllTakeLinearWork) {
  constexpr std::size_t kSlices = 4, kRounds = 500;
  Program program;
  for (std::size_t i = 0; i < kSlices; ++i)
    program.view(fmt::format("v{}", i), {.from = static_cast<std::int64_t>(16 * i), .count = 16});
  for (std::size_t i = 0; i < kRounds; ++i)
    program.write(fmt::format("w{}", i), fmt::format("v{}", i % kSlices))
        .read(fmt::format("r{}", i), "buffer");
  const Graph graph = program.graph();
  MemoryOrder order(graph);
  std::size_t listed = 0;
  for (const NodeId id : graph.order()) order.visit(id, [&](NodeId) { ++listed; });
  // Each write: what has read the buffer and written to the slice since, and itself a few times;
  // each read: the last writes.
  EXPECT_LE(listed, kRounds * 4 * kSlices);
  EXPECT_THAT(writes_before(graph, "w9"), UnorderedElementsAre("w5", "r5", "r6", "r7", "r8"));
  EXPECT_THAT(writes_before(graph, "r9"), UnorderedElementsAre("w6", "w7", "w8", "w9"));
}

// Passes may insert calls without meta["val"].
TEST(MemoryOrder, AViewWithoutAValueCountsAsAllOfItsArgumentsMemory) {
  const auto none = [](Program& program, const char* name, const char* target, const char* of) {
    program.call(name, target, fmt::format(R"({{"n":"{}"}})", of), "null");
  };
  Program program;
  none(program, "part", "aten.slice.Tensor", "buffer");
  none(program, "row", "aten.select.int", "part");
  program.read("before", "row").write("write", "buffer").read("after", "row");
  program.call("fill", "aten.fill_.Scalar", R"({"n":"row"},0)", "null").read("last", "buffer");
  const Graph graph = program.graph();
  EXPECT_THAT(writes_before(graph, "write"), Contains("before"));
  EXPECT_THAT(writes_before(graph, "after"), Contains("write"));
  EXPECT_THAT(writes_before(graph, "fill"), Contains("after"));
  EXPECT_THAT(writes_before(graph, "last"), Contains("fill"));
}

TEST(MemoryOrder, NothingMovesOverAWriteToMemoryThatNoValueDescribes) {
  Program program;
  program.read("before", "x");
  program.call("own", "aten.relu.default", R"({"n":"x"})", "null");
  program.call("fill", "aten.fill_.Scalar", R"({"n":"own"},0)", "null");
  program.call("sum", "aten.neg.default", R"({"n":"own"})", "null").read("after", "x");
  const Graph graph = program.graph();
  const Dependencies dependencies(graph);
  const auto orders = [&](const char* first, const char* second) {
    return std::ranges::any_of(dependencies.before(graph.find(second)), [&](const Dependency& d) {
      return d.node == graph.find(first) && d.kind == DependencyKind::control;
    });
  };
  EXPECT_TRUE(orders("before", "fill"));
  EXPECT_TRUE(orders("fill", "after"));
}

TEST(MemoryOrder, ASliceOfOtherElementsMayBeAnywhere) {
  Graph graph = Program()
                    .view("first", {.from = 0, .count = 32})
                    .view("second", {.from = 32, .count = 32})
                    .view("part", {.from = 40, .count = 8}, "second")
                    .write("write", "first")
                    .read("read", "part")
                    .graph();
  EXPECT_THAT(writes_before(graph, "read"), UnorderedElementsAre());
  // Its own result is unchanged, and no longer shows where the memory is.
  const Edit edit{.title = "Another slice",
                  .changes = {ReplaceCall{.node = "second",
                                          .args = test::args_of(R"([{"n":"buffer"},0,0,32])")}}};
  const auto inverse = apply(graph, edit);
  ASSERT_TRUE(inverse) << inverse.error().message;
  EXPECT_THAT(writes_before(graph, "read"), UnorderedElementsAre("write"));
  ASSERT_TRUE(apply(graph, *inverse));
  EXPECT_THAT(writes_before(graph, "read"), UnorderedElementsAre());
}

// --- Random programs on one buffer ---

// Reads and writes of random slices, with the floats that each call uses.
struct RandomProgram {
  Graph graph;
  std::vector<NodeId> calls;             // those that read or write, in order
  std::vector<std::vector<int>> floats;  // by call
  std::vector<bool> writes;              // by call
};

RandomProgram random_program(std::uint64_t seed, int count) {
  std::mt19937_64 chance(seed);
  const auto pick = [&](std::int64_t min, std::int64_t max) {
    return std::uniform_int_distribution<std::int64_t>(min, max)(chance);
  };
  Program program;
  RandomProgram random;
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    const std::string at = std::to_string(i);
    Program::Floats of{.from = pick(0, 63), .count = 0, .step = pick(1, 4)};
    of.count = pick(1, std::min<std::int64_t>((63 - of.from) / of.step + 1, 20));
    if (pick(0, 9) == 0) of = {.from = 0, .count = 64};
    program.view("v" + at, of);
    const bool writes = pick(0, 1) == 0;
    if (writes)
      program.write("c" + at, "v" + at);
    else
      program.read("c" + at, "v" + at);
    names.push_back("c" + at);
    random.writes.push_back(writes);
    auto& floats = random.floats.emplace_back();
    for (std::int64_t k = 0; k < of.count; ++k)
      floats.push_back(static_cast<int>(of.from + k * of.step));
  }
  random.graph = program.graph();
  for (const std::string& name : names) random.calls.push_back(random.graph.find(name));
  return random;
}

bool conflict(const RandomProgram& program, std::size_t a, std::size_t b) {
  if (!program.writes[a] && !program.writes[b]) return false;
  return std::ranges::any_of(program.floats[a], [&](int each) {
    return std::ranges::find(program.floats[b], each) != program.floats[b].end();
  });
}

// The predecessors of each call, direct and indirect.
std::vector<std::vector<bool>> closure(const RandomProgram& program) {
  const Dependencies dependencies(program.graph);
  std::map<NodeId, std::size_t> numbers;
  for (std::size_t i = 0; i < program.calls.size(); ++i) numbers[program.calls[i]] = i;
  std::vector<std::vector<bool>> before(program.calls.size(),
                                        std::vector<bool>(program.calls.size(), false));
  for (std::size_t i = 0; i < program.calls.size(); ++i)
    for (const Dependency& d : dependencies.before(program.calls[i])) {
      const auto at = numbers.find(d.node);
      if (at == numbers.end()) continue;
      before[i][at->second] = true;
      for (std::size_t k = 0; k < i; ++k)
        if (before[at->second][k]) before[i][k] = true;
    }
  return before;
}

RC_GTEST_PROP(MemoryOrderProperty, OnlyConflictsAreOrderedDirectly, (std::uint64_t seed)) {
  const RandomProgram program = random_program(seed, *rc::gen::inRange(1, 25));
  const auto before = closure(program);
  for (std::size_t i = 0; i < program.calls.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      if (conflict(program, k, i)) RC_ASSERT(before[i][k]);
      if (conflict(program, k, i))
        RC_ASSERT(write_conflict(program.graph, program.calls[k], program.calls[i]));
    }
  const Dependencies dependencies(program.graph);
  for (std::size_t i = 0; i < program.calls.size(); ++i)
    for (const Dependency& d : dependencies.before(program.calls[i]))
      if (d.kind == DependencyKind::write && program.graph.node(d.node).kind == NodeKind::call)
        RC_ASSERT(write_conflict(program.graph, d.node, program.calls[i]));
}

// Also beyond the number of parts that are distinguished.
RC_GTEST_PROP(MemoryOrderProperty, ManyPartsAreOrderedAsWell, (std::uint64_t seed)) {
  const RandomProgram program = random_program(seed, 120);
  const auto before = closure(program);
  for (std::size_t i = 0; i < program.calls.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (conflict(program, k, i)) RC_ASSERT(before[i][k]);
}

}  // namespace
}  // namespace jointer::test
