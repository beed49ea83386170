#include "core/capture/torch_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>

#include "core/graph/canonical.h"
#include "core/open/open.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

std::string entry(std::string_view json) {
  return fmt::format("V1121 02:41:50.572000 17297 torch/_functorch/x.py:2126] {}\n", json);
}

std::string payload(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    result += "\t" + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

constexpr std::string_view kForward =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, primals_1: \"f32[4][1]cpu\", primals_2: \"f32[4][1]cpu\"):\n"
    "        mul: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(primals_1, primals_2)\n"
    "        sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(mul)\n"
    "        return (sin, primals_2, mul)\n";
constexpr std::string_view kBackward =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, primals_2: \"f32[4][1]cpu\", mul: \"f32[4][1]cpu\", "
    "tangents_1: \"f32[4][1]cpu\"):\n"
    "        cos: \"f32[4][1]cpu\" = torch.ops.aten.cos.default(mul);  mul = None\n"
    "        mul_1: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, cos)\n"
    "        mul_2: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(mul_1, primals_2)\n"
    "        return (mul_2, None)\n";

std::string log() {
  return entry(R"({"str": ["torch/_dynamo/convert_frame.py", 0]})") +
         entry(R"({"chromium_event": {}, "rank": 3, "has_payload": "c446"})") +
         payload("{\n\"name\": \"graph\"\n}") +
         entry(R"({"aot_forward_graph": {}, "rank": 3, "frame_id": 1, "frame_compile_id": 2, )"
               R"("attempt": 0, "has_payload": "00"})") +
         payload(kForward) +
         entry(R"({"aot_backward_graph": {}, "rank": 3, "frame_id": 1, "frame_compile_id": 2, )"
               R"("attempt": 0, "has_payload": "01"})") +
         payload(kBackward) +
         entry(R"({"artifact": {"name": "inductor_post_grad_graph", "encoding": "string"}, )"
               R"("rank": 3, "frame_id": 1, "frame_compile_id": 2, "attempt": 1})") +
         payload(kForward) +
         entry(R"({"artifact": {"name": "fx_graph_runnable", "encoding": "string"}, "rank": 3})") +
         payload(kForward);
}

TEST(TorchTrace, ListsGraphs) {
  EXPECT_TRUE(is_torch_trace(log()));
  const std::string text = log();
  const auto graphs = list_torch_trace("a.log", text);
  ASSERT_TRUE(graphs.has_value()) << graphs.error().message;
  ASSERT_EQ(graphs->size(), 3U);
  EXPECT_EQ((*graphs)[0].name, "rank 3, 1/2, aot_forward_graph");
  EXPECT_EQ((*graphs)[0].kind, CaptureKind::forward);
  EXPECT_EQ((*graphs)[0].rank, 3);
  EXPECT_EQ((*graphs)[0].nodes, 5U);
  EXPECT_EQ((*graphs)[1].name, "rank 3, 1/2, aot_backward_graph");
  EXPECT_EQ((*graphs)[1].kind, CaptureKind::backward);
  EXPECT_EQ((*graphs)[2].name, "rank 3, 1/2_1, inductor_post_grad_graph");
  for (std::size_t i = 0; i < graphs->size(); ++i) {
    Graph graph;
    const auto part = append_torch_trace(graph, "a.log", text, i, {});
    ASSERT_TRUE(part.has_value()) << part.error().message;
    EXPECT_EQ(graph.node_count(), (*graphs)[i].nodes);
  }
}

class TorchTraceFiles : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    EXPECT_TRUE(write_bytes(path(name), text).has_value());
    return path(name);
  }

 private:
  TemporaryFolder folder_;
};

// A trainer that logs the graph before and after every pass; one pass runs twice.
std::string log_of_passes() {
  const auto artifact = [](std::string_view name, std::string_view text) {
    return entry(fmt::format(R"({{"artifact": {{"name": "{}", "encoding": "string"}}, "rank": 0}})",
                             name)) +
           payload(text);
  };
  constexpr std::string_view kHead =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, arg0_1: \"f32[4][1]cpu\"):\n";
  constexpr std::string_view kBackwardNode =
      "        # autograd_backward: True, seq_nr: 3\n"
      "        cos: \"f32[4][1]cpu\" = torch.ops.aten.cos.default(arg0_1)\n";
  const std::string step = fmt::format(
      "{}        sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(arg0_1)\n{}"
      "        return (sin, cos)\n",
      kHead, kBackwardNode);
  const std::string shorter = fmt::format("{}{}        return (cos, cos)\n", kHead, kBackwardNode);
  return artifact("make_fx_graph_traced", step) + artifact("torch_version", "2.15.0") +
         artifact("before_drop_pass", step) + artifact("activation_memory_policy", "{}") +
         artifact("after_drop_pass", shorter) + artifact("before_drop_pass", shorter) +
         artifact("after_drop_pass", shorter);
}

TEST(TorchTrace, ListsTheGraphsAroundEveryPass) {
  const std::string text = log_of_passes();
  const auto graphs = list_torch_trace("a.log", text);
  ASSERT_TRUE(graphs.has_value()) << graphs.error().message;
  std::vector<std::string> names;
  std::vector<std::optional<std::size_t>> before;
  for (const TraceGraph& graph : *graphs) {
    names.push_back(graph.name);
    before.push_back(graph.before);
    EXPECT_EQ(graph.kind, CaptureKind::train_step) << graph.name;
  }
  EXPECT_THAT(names,
              testing::ElementsAre("rank 0, make_fx_graph_traced", "rank 0, before_drop_pass",
                                   "rank 0, after_drop_pass", "rank 0, before_drop_pass (2)",
                                   "rank 0, after_drop_pass (2)"));
  EXPECT_THAT(before, testing::ElementsAre(std::nullopt, 0U, 1U, 2U, 3U));
}

// The compiler's stages do not follow one another like a trainer's passes, and other compilations
// may run in between.
TEST(TorchTrace, GraphsAroundTheStagesOfACompilerAreLinkedByStage) {
  const auto artifact = [](std::string_view name, int frame) {
    return entry(fmt::format(R"({{"artifact": {{"name": "{}", "encoding": "string"}}, "rank": 0, )"
                             R"("frame_id": {}, "frame_compile_id": 0}})",
                             name, frame)) +
           payload(
               "class GraphModule(torch.nn.Module):\n"
               "    def forward(self, arg0_1: \"f32[4][1]cpu\"):\n"
               "        sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(arg0_1)\n"
               "        return (sin,)\n");
  };
  const std::string text =
      artifact("before_pre_grad_graph", 0) + artifact("after_pre_grad_graph", 0) +
      artifact("before_joint_graph", 0) + artifact("before_pre_grad_graph", 1) +
      artifact("after_joint_graph", 0) + artifact("before_post_grad_graph", 0) +
      artifact("after_joint_graph", 1) + artifact("inductor_post_grad_graph", 1) +
      artifact("inductor_post_grad_graph", 0) + artifact("inductor_post_grad_graph", 0);
  const auto graphs = list_torch_trace("a.log", text);
  ASSERT_TRUE(graphs.has_value()) << graphs.error().message;
  std::vector<std::optional<std::size_t>> before;
  for (const TraceGraph& graph : *graphs) before.push_back(graph.before);
  EXPECT_THAT(before,
              testing::ElementsAre(std::nullopt, 0U, std::nullopt, std::nullopt, 2U, std::nullopt,
                                   std::nullopt, std::nullopt, 5U, std::nullopt));
  EXPECT_EQ(graphs->back().name, "rank 0, 0/0, inductor_post_grad_graph (2)");
}

// A pass of a trainer may compile: the graphs of that compilation are not between its passes.
TEST(TorchTrace, TheStagesOfACompilerAreNotBetweenPasses) {
  const std::string passes = log_of_passes();
  const std::size_t second = passes.rfind("before_drop_pass");
  const std::size_t line = passes.rfind('\n', second) + 1;
  const std::string compiled =
      entry(R"({"artifact": {"name": "before_joint_graph", "encoding": "string"}, "rank": 0})") +
      payload(
          "class GraphModule(torch.nn.Module):\n"
          "    def forward(self, arg0_1: \"f32[4][1]cpu\"):\n"
          "        sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(arg0_1)\n"
          "        return (sin,)\n");
  const std::string text = passes.substr(0, line) + compiled + passes.substr(line);
  const auto graphs = list_torch_trace("a.log", text);
  ASSERT_TRUE(graphs.has_value()) << graphs.error().message;
  ASSERT_EQ(graphs->size(), 6U);
  EXPECT_EQ((*graphs)[3].entry, "before_joint_graph");
  EXPECT_EQ((*graphs)[3].before, std::nullopt);
  EXPECT_EQ((*graphs)[4].before, 2U) << "the graph after the previous pass";
}

TEST_F(TorchTraceFiles, FindsTheGraphBeforeAPass) {
  const std::string log_file = write("passes.log", log_of_passes());
  const auto before = request_before({.path = log_file, .index = 2});
  ASSERT_TRUE(before.has_value()) << before.error().message;
  const auto a = open_graph(*before), b = open_graph({.path = log_file, .index = 2});
  ASSERT_TRUE(a.has_value()) << a.error().message;
  ASSERT_TRUE(b.has_value()) << b.error().message;
  EXPECT_TRUE(a->find("sin"));
  EXPECT_FALSE(b->find("sin"));
  const auto first = request_before({.path = log_file, .index = 0});
  ASSERT_FALSE(first.has_value());
  EXPECT_EQ(first.error().kind, Error::Kind::usage);
  EXPECT_THAT(first.error().message, HasSubstr("make_fx_graph_traced"));
  // Places in a folder count through all logs: the first log has three graphs.
  write("trace_of_passes/0.log", log());
  write("trace_of_passes/1.log", log_of_passes());
  const auto later = request_before({.path = path("trace_of_passes"), .index = 5});
  ASSERT_TRUE(later.has_value()) << later.error().message;
  EXPECT_EQ(later->index, 4U);
}

TEST_F(TorchTraceFiles, TwoHalvesInALogAreAPair) {
  const std::string log_file = write("trace.log.zst", log());
  const auto pair = open_graph({.path = log_file, .backward = log_file});
  ASSERT_TRUE(pair.has_value()) << pair.error().message;
  EXPECT_TRUE(pair->is_pair());
  EXPECT_EQ(pair->node_count(), 12U);
  const Node& mul = pair->node(pair->find(PartId(1), "mul"));
  EXPECT_EQ(mul.partner, pair->find(PartId(0), "mul"));
  EXPECT_EQ(mul.role, Role::saved);
}

TEST_F(TorchTraceFiles, HalvesMayHaveDifferentFormats) {
  const std::string log_path = write("mixed.log", log());
  const std::string text_path = write("mixed.backward.txt", kBackward);
  const auto pair = open_graph({.path = log_path, .backward = text_path});
  ASSERT_TRUE(pair.has_value()) << pair.error().message;
  EXPECT_EQ(pair->node_count(), 12U);
  const auto wrong = open_graph({.path = text_path, .backward = log_path});
  EXPECT_FALSE(wrong.has_value());
}

TEST_F(TorchTraceFiles, SeveralGraphsRequireAChoice) {
  const std::string log_file = write("choose.log", log());
  const auto graph = open_graph({.path = log_file});
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().kind, Error::Kind::usage);
  EXPECT_THAT(graph.error().message, HasSubstr("contains 3 graphs; choose one with --graph N"));
  const auto listed = list_graphs(log_file);
  ASSERT_TRUE(listed.has_value());
  ASSERT_EQ(listed->size(), 3U);
  EXPECT_THAT(describe((*listed)[1]), HasSubstr("rank 3, 1/2, aot_backward_graph (backward, 7"));
  EXPECT_TRUE(open_graph({.path = log_file, .index = 1}).has_value());
  EXPECT_FALSE(open_graph({.path = log_file, .index = 7}).has_value());
  Graph none;
  const auto missing = append_torch_trace(none, "choose.log", log(), 7, {});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message, "choose.log: there is no graph 7; the last one is 2");
}

TEST_F(TorchTraceFiles, AFolderHasTheGraphsOfAllRanks) {
  write("ranks/rank_0.log", log());
  write("ranks/rank_1.log", log());
  write("ranks/notes.txt", "nothing here");
  const auto entries = list_graphs(path("ranks"));
  ASSERT_TRUE(entries.has_value()) << entries.error().message;
  EXPECT_EQ(entries->size(), 6U);
  EXPECT_TRUE(open_graph({.path = path("ranks"), .index = 4}).has_value());
}

TEST(TorchTraceErrors, ReportALogWithoutGraphs) {
  const auto message = [](std::string_view text) {
    const auto graphs = list_torch_trace("a.log", text);
    return graphs ? std::string("no error") : graphs.error().message;
  };
  EXPECT_THAT(message(entry(R"({"str": ["a", 0]})")),
              HasSubstr("a.log: the only entry does not contain a graph"));
  // A missing payload, or an entry that is not JSON.
  EXPECT_THAT(message(entry(R"({"aot_joint_graph": {}, "has_payload": "00"})")),
              HasSubstr("the only entry does not contain"));
  const std::string no_json = entry(R"({"aot_joint_graph": {}, )") + payload(kForward);
  EXPECT_THAT(message(no_json), HasSubstr("the only entry does not contain"));
  EXPECT_THAT(message(no_json + no_json), HasSubstr("none of the 2 entries contains a graph"));
}

TEST(TorchTraceErrors, ATruncatedLogKeepsEarlierGraphs) {
  const std::string whole = log();
  const std::string text = whole.substr(0, whole.find("mul_2"));
  const auto graphs = list_torch_trace("a.log", text);
  ASSERT_TRUE(graphs.has_value()) << graphs.error().message;
  Graph first;
  EXPECT_TRUE(append_torch_trace(first, "a.log", text, 0, {}).has_value());
  Graph second;
  const auto cut = append_torch_trace(second, "a.log", text, 1, {});
  ASSERT_FALSE(cut.has_value());
  EXPECT_THAT(cut.error().message, HasSubstr("truncated?"));
  EXPECT_THAT(cut.error().message, HasSubstr("a.log: line "));
}

// The operator and result of each call, by node name.
std::map<std::string, std::string> calls_of(const Graph& graph) {
  std::map<std::string, std::string> lines;
  std::istringstream text(canonical_text(graph, PartId(0)));
  std::size_t at = 0;
  for (std::string line; std::getline(text, line); ++at) {
    const NodeId id = graph.order()[at];
    if (graph.node(id).kind == NodeKind::call)
      lines[std::string(graph.name(id))] =
          fmt::format("{}{}", graph.target(graph.node(id)), line.substr(line.rfind(" -> ")));
  }
  return lines;
}

// A partitioner moves nodes without changing their operators and results. Arguments do change:
// between the two entries, Inductor's joint passes remove views that do nothing. The test prints
// what they add.
TEST(TorchTrace, SharedHalvesComeFromTheJointGraph) {
  JOINTER_NEEDS_SHARED();
  const std::string folder = shared_directory() + "/captures/torch_trace";
  const auto entries = list_graphs(folder);
  ASSERT_TRUE(entries.has_value());
  std::map<std::string, std::string> joint;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const std::string& name = (*entries)[i].name;
    const auto ends_with = [&](std::string_view end) { return name.ends_with(end); };
    if (!ends_with("aot_joint_graph") && !ends_with("aot_forward_graph") &&
        !ends_with("aot_backward_graph"))
      continue;
    const auto graph = open_graph({.path = folder, .index = i});
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    const auto lines = calls_of(*graph);
    if (ends_with("aot_joint_graph")) {
      joint = lines;
      continue;
    }
    std::size_t same = 0, added = 0;
    for (const auto& [node, line] : lines) {
      const auto found = joint.find(node);
      if (found == joint.end()) {
        ++added;
        continue;
      }
      EXPECT_EQ(line, found->second) << name;
      ++same;
    }
    std::cout << name << ": " << same << " calls as in the joint graph, " << added << " added\n";
    EXPECT_GT(same, added);
  }
}

// The shared logs: every graph reads, and halves from AOTAutograd read as a pair.
TEST(TorchTrace, SharedLogs) {
  JOINTER_NEEDS_SHARED();
  const std::string folder = shared_directory() + "/captures/torch_trace";
  const auto entries = list_graphs(folder);
  ASSERT_TRUE(entries.has_value()) << entries.error().message;
  std::size_t joint = 0, read = 0;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const auto graph = open_graph({.path = folder, .index = i});
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    EXPECT_EQ(graph->node_count(), (*entries)[i].nodes);
    joint += (*entries)[i].kind == CaptureKind::joint ? 1 : 0;
    ++read;
  }
  EXPECT_EQ(joint, 2U);
  std::cout << read << " graphs read\n";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().string().find(".log") == std::string::npos) continue;
    const auto pair = open_graph({.path = file.path(), .backward = file.path()});
    ASSERT_TRUE(pair.has_value()) << pair.error().message;
    EXPECT_TRUE(pair->is_pair());
  }
}

}  // namespace
}  // namespace jointer::test
