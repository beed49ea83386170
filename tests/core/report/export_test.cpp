#include "core/report/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/graphs.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// Splits a table as RFC 4180 defines it: quoted cells may contain commas, line breaks and doubled
// quotes.
std::vector<std::vector<std::string>> read_csv(std::string_view text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& cell = rows.back().back();
    if (text[i] == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"')
        cell += text[i++];
      else
        quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      rows.back().emplace_back();
    } else if (!quoted && text.substr(i, 2) == "\r\n") {
      rows.push_back({""});
      ++i;
    } else {
      cell += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

constexpr const char* kGraph = R"(
  group tp: 0 1
  x: f32[1024] = input
  a: f32[1024] = aten.relu(x)   {layers.0}
  ar: f32[1024] = _c10d_functional.all_reduce(a, 'sum', 'tp')
  b: f32[1024] = aten.relu(x)   {layers.1}
  w: f32[1024] = _c10d_functional.wait_tensor(ar)
  c: f32[1024] = aten.add.Tensor(w, b)   {backward}
  return [c]
)";

TEST(Csv, QuotesIfNeeded) {
  Graph graph = parse(kGraph);
  const std::string odd = "a \"b\", c\nd";
  graph.node(graph.find("a")).name = graph.intern(odd);
  const auto rows = read_csv(export_csv(graph, *analyze(graph)));
  ASSERT_EQ(rows.size(), 1 + graph.node_count());
  for (const auto& row : rows) EXPECT_EQ(row.size(), 10U);
  EXPECT_EQ(rows[0][1], "name");
  EXPECT_EQ(rows[2][1], odd);
  EXPECT_EQ(rows[2][4], "layers.0");
  EXPECT_EQ(rows[6][3], "backward");
}

TEST(Perfetto, FlowsRunFromEachCollectiveToItsWait) {
  const Graph graph = parse(kGraph);
  const Analysis analysis = *analyze(graph);
  const Json trace = Json::parse(export_perfetto(graph, analysis));
  std::vector<Json> starts, ends;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "s") starts.push_back(event);
    if (event["ph"] == "f") ends.push_back(event);
  }
  ASSERT_EQ(starts.size(), 1U);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(starts[0]["id"], ends[0]["id"]);
  EXPECT_EQ(starts[0]["tid"], 2) << "the group's track";
  EXPECT_EQ(ends[0]["tid"], 1) << "the compute track";
  const CollectiveTiming& c = analysis.simulation.collectives().front();
  EXPECT_DOUBLE_EQ(starts[0]["ts"].get<double>(), static_cast<double>(c.start_ns) / 1e3);
}

TEST(Markdown, ContainsTheFigures) {
  const Graph graph = parse(kGraph);
  const std::string text = export_markdown(graph, *analyze(graph));
  EXPECT_THAT(text, HasSubstr("# literal\n"));
  EXPECT_THAT(text, HasSubstr("| nodes | 7 |"));
  EXPECT_THAT(text, HasSubstr("| peak memory | "));
  EXPECT_THAT(text, HasSubstr("## Memory at the peak"));
  EXPECT_THAT(text, HasSubstr("| `ar` | "));
}

TEST(Dot, EscapesLabels) {
  Graph graph = parse(kGraph);
  graph.set_title("a \"b\" \\");
  const std::string text = export_dot(graph, *analyze(graph));
  EXPECT_TRUE(text.starts_with("digraph \"a \\\"b\\\" \\\\\" {"));
  EXPECT_THAT(text, HasSubstr("style=bold")) << "an edge from the forward to the backward";
}

RC_GTEST_PROP(ExportProperty, EveryGraphHasEveryExport, (std::uint64_t seed, bool pair)) {
  const Graph graph = random_graph(seed, {.pair = pair});
  const Analysis analysis = *analyze(graph);
  const auto rows = read_csv(export_csv(graph, analysis));
  RC_ASSERT(rows.size() == 1 + graph.node_count());
  for (const auto& row : rows) RC_ASSERT(row.size() == 10U);

  const Json trace = Json::parse(export_perfetto(graph, analysis));
  double last = 0;
  std::int64_t most = 0;
  std::size_t flows = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "s") ++flows;
    if (event["ph"] != "C") continue;
    RC_ASSERT(event["ts"].get<double>() >= last);
    last = event["ts"].get<double>();
    std::int64_t sum = 0;
    for (const auto& [category, bytes] : event["args"].items()) sum += bytes.get<std::int64_t>();
    most = std::max(most, sum);
  }
  RC_ASSERT(most == analysis.memory.peak_bytes());
  std::size_t waited = 0;
  for (const CollectiveTiming& c : analysis.simulation.collectives()) waited += c.wait ? 1U : 0U;
  RC_ASSERT(flows == waited);

  const std::string dot = export_dot(graph, analysis);
  std::size_t edges = 0, arrows = 0;
  for (const NodeId id : graph.order()) edges += graph.inputs(id).size();
  for (auto at = dot.find(" -> "); at != std::string::npos; at = dot.find(" -> ", at + 1)) ++arrows;
  RC_ASSERT(arrows == edges);
}

}  // namespace
}  // namespace jointer::test
