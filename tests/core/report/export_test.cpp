#include "core/report/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

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

// A slice does not include its end.
TEST(Perfetto, FlowsEndWithinTheSliceOfTheWait) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[16777216] = input
    a: f32[16777216] = aten.relu(x)
    ar: f32[16777216] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    w: f32[16777216] = _c10d_functional.wait_tensor(ar)
    c: f32[16777216] = aten.relu(w)
    return [c]
  )");
  const Analysis analysis = *analyze(graph);
  const NodeTiming& timing = analysis.simulation.timing(graph.find("w"));
  ASSERT_GT(timing.end, timing.start) << "the wait must be exposed";
  const Json trace = Json::parse(export_perfetto(graph, analysis));
  Json slice, end;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["name"] == "w" && event["tid"] == 1) slice = event;
    if (event["ph"] == "f") end = event;
  }
  ASSERT_TRUE(slice.is_object() && end.is_object());
  EXPECT_EQ(end["bp"], "e") << "the enclosing slice";
  EXPECT_EQ(end["tid"], slice["tid"]);
  EXPECT_GE(end["ts"].get<double>(), slice["ts"].get<double>());
  EXPECT_LT(end["ts"].get<double>(), slice["ts"].get<double>() + slice["dur"].get<double>());
}

// A measurement of kGraph on a GPU: `a` and `b` launch kernels on stream 7, which overlap by
// 100 ns, and `ar` launches one on stream 21.
Measurement measured_on_gpu(const Graph& graph) {
  const NodeId a = graph.find("a"), b = graph.find("b"), ar = graph.find("ar");
  Measurement m{.label = "rank 0, interpret", .device = "NVIDIA H200", .device_type = "cuda"};
  m.nodes = {{a, 1000, 5000, 4000}, {b, 4900, 6000, 1100}, {ar, 5000, 9000, 4000}};
  m.kernels = {{a, "first", 7, 1000, 2000},
               {a, "second", 7, 2500, 5000},
               {b, "third", 7, 4900, 6000},
               {ar, "nccl", 21, 5000, 9000},
               {graph.find("c"), "untimed", 7, 9500, 9600}};
  m.step_ns = 10'000;
  return m;
}

struct MeasuredTrace {
  std::map<std::int64_t, std::string> tracks;  // of the measured process, by thread
  std::vector<Json> slices, launches;          // launches: "s" and "f" in pairs
  std::string process;
};

MeasuredTrace measured_part(const std::string& text, std::int64_t process) {
  MeasuredTrace trace;
  const Json whole = Json::parse(text);
  for (const Json& event : whole["traceEvents"]) {
    if (event["pid"] != process) continue;
    if (event["name"] == "process_name") trace.process = event["args"]["name"].get<std::string>();
    if (event["name"] == "thread_name")
      trace.tracks[event["tid"].get<std::int64_t>()] = event["args"]["name"].get<std::string>();
    if (event["ph"] == "X") trace.slices.push_back(event);
    if (event["name"] == "launch") trace.launches.push_back(event);
  }
  return trace;
}

TEST(PerfettoMeasured, HasTracksOfCallsAndOfKernels) {
  const Graph graph = parse(kGraph);
  const Analysis analysis = *analyze(graph);
  const std::vector<Measurement> measured{measured_on_gpu(graph)};
  const std::string text = export_perfetto(graph, analysis, measured);
  const MeasuredTrace trace = measured_part(text, 2);
  EXPECT_EQ(trace.process, "rank 0, interpret, measured on NVIDIA H200");
  std::vector<std::string> names;
  for (const auto& [thread, name] : trace.tracks) names.push_back(name);
  // Overlapping events are on further tracks.
  EXPECT_THAT(names, testing::ElementsAre("calls: compute", "calls: compute (2)", "calls: tp",
                                          "stream 7", "stream 7 (2)", "stream 21"));
  std::map<std::int64_t, double> ends;
  std::vector<std::string> kernels;
  for (const Json& slice : trace.slices) {
    const auto thread = slice["tid"].get<std::int64_t>();
    ASSERT_TRUE(trace.tracks.contains(thread));
    EXPECT_GE(slice["ts"].get<double>(), ends[thread]) << slice;
    ends[thread] = slice["ts"].get<double>() + slice["dur"].get<double>();
    if (slice["cat"] != "kernel") continue;
    kernels.push_back(slice["name"].get<std::string>() + " of " +
                      slice["args"]["node"].get<std::string>() + " on " +
                      std::to_string(slice["args"]["stream"].get<int>()));
  }
  EXPECT_THAT(kernels, testing::UnorderedElementsAre("first of a on 7", "second of a on 7",
                                                     "third of b on 7", "nccl of ar on 21",
                                                     "untimed of c on 7"));
  // The simulated part is unchanged.
  const Json plain = Json::parse(export_perfetto(graph, analysis));
  const Json both = Json::parse(text);
  for (std::size_t i = 0; i < plain["traceEvents"].size(); ++i)
    ASSERT_EQ(both["traceEvents"][i], plain["traceEvents"][i]);
}

TEST(PerfettoMeasured, FlowsRunFromACallToEachOfItsKernels) {
  const Graph graph = parse(kGraph);
  const Measurement one = measured_on_gpu(graph);
  const std::vector<Measurement> two{one, one};
  const std::string text = export_perfetto(graph, *analyze(graph), two);
  std::set<std::int64_t> numbers;
  for (const std::int64_t process : {2, 3}) {
    const MeasuredTrace trace = measured_part(text, process);
    ASSERT_EQ(trace.launches.size(), 8U) << "two for each kernel of a call that was timed";
    std::vector<std::string> flows;
    for (std::size_t i = 0; i < trace.launches.size(); i += 2) {
      const Json &from = trace.launches[i], &to = trace.launches[i + 1];
      EXPECT_EQ(from["ph"], "s");
      EXPECT_EQ(to["ph"], "f");
      EXPECT_EQ(to["bp"], "e");
      EXPECT_EQ(from["id"], to["id"]);
      EXPECT_TRUE(numbers.insert(from["id"].get<std::int64_t>()).second) << "used twice";
      EXPECT_LE(from["ts"].get<double>(), to["ts"].get<double>());
      // Each end lies in the slice that it belongs to.
      const auto slice_at = [&](const Json& end) {
        for (const Json& slice : trace.slices)
          if (slice["tid"] == end["tid"] && slice["ts"] <= end["ts"] &&
              end["ts"].get<double>() < slice["ts"].get<double>() + slice["dur"].get<double>())
            return slice["name"].get<std::string>();
        return std::string("nothing");
      };
      flows.push_back(slice_at(from) + " to " + slice_at(to));
    }
    EXPECT_THAT(flows, testing::UnorderedElementsAre("a to first", "a to second", "b to third",
                                                     "ar to nccl"));
  }
}

TEST(PerfettoMeasured, ABlockLaunchesItsKernels) {
  const Graph graph = parse(kGraph);
  Measurement m{.label = "rank 0, regional"};
  m.blocks = {{.name = "region 1",
               .nodes = {graph.find("a"), graph.find("b")},
               .start_ns = 100,
               .end_ns = 900,
               .own_ns = 800}};
  m.kernels = {{graph.find("a"), "triton", 7, 200, 300}, {graph.find("b"), "odd", 7, 950, 960}};
  const std::vector<Measurement> measured{m};
  const MeasuredTrace trace = measured_part(export_perfetto(graph, *analyze(graph), measured), 2);
  EXPECT_EQ(trace.process, "rank 0, regional, measured");
  ASSERT_EQ(trace.slices.size(), 3U);
  EXPECT_EQ(trace.slices[0]["name"], "compiled region 1");
  EXPECT_EQ(trace.slices[0]["args"]["nodes"], 2);
  ASSERT_EQ(trace.launches.size(), 2U) << "a kernel outside of its call has no flow";
  EXPECT_EQ(trace.launches[0]["tid"], trace.slices[0]["tid"]);
}

TEST(PerfettoMeasured, LocalCopiesAreNotCommunication) {
  const Graph graph = parse(kGraph);
  Measurement m = measured_on_gpu(graph);
  m.alone = true;
  const std::vector<Measurement> measured{m};
  const MeasuredTrace trace = measured_part(export_perfetto(graph, *analyze(graph), measured), 2);
  ASSERT_EQ(trace.slices.size(), 8U);
  for (const Json& slice : trace.slices) EXPECT_NE(slice["cat"], "communication") << slice;
  // A measurement without calls and kernels, such as a memory snapshot, has no process.
  const std::vector<Measurement> empty(1);
  EXPECT_EQ(export_perfetto(graph, *analyze(graph), empty),
            export_perfetto(graph, *analyze(graph)));
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
  std::int64_t max = 0;
  std::size_t flows = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "s") ++flows;
    if (event["ph"] != "C") continue;
    RC_ASSERT(event["ts"].get<double>() >= last);
    last = event["ts"].get<double>();
    std::int64_t sum = 0;
    for (const auto& [category, bytes] : event["args"].items()) sum += bytes.get<std::int64_t>();
    max = std::max(max, sum);
  }
  RC_ASSERT(max == analysis.memory.peak_bytes());
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
