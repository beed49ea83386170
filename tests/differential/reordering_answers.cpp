// Helper of test_reordering.py:
//
//   reordering_answers calls CAPTURE [BACKWARD]           the calls as reordering passes see them
//   reordering_answers run PIPELINE CAPTURE [BACKWARD]    the result of a pipeline
//   reordering_answers order METHOD CAPTURE               an order optimized for low memory
//   reordering_answers judge CAPTURE < ORDER              the cost of an order of all calls
//
// with the estimator `simple` on one communication stream. Prints one JSON object each.

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/open/open.h"
#include "core/pass/pipeline_run.h"
#include "core/schedule/memory_items.h"
#include "passes/built_in.h"
#include "passes/reordering/calls.h"
#include "passes/reordering/memory_orders.h"

using namespace jointer;
using nlohmann::json;

namespace {

AnalysisOptions simple() {
  AnalysisOptions options;
  options.estimator.name = "simple";
  options.simulation.one_communication_stream = true;
  return options;
}

// Calls by number; buffers with the numbers of the calls that make and use them.
Result<json> describe(const Graph& graph) {
  JOINTER_TRY(const Calls calls, Calls::of(graph, simple()));
  json answer{{"calls", json::array()}, {"items", json::array()}, {"stretches", json::array()}};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call call = static_cast<Call>(i);
    const Call partner = calls.partner(call);
    answer["calls"].push_back({{"name", graph.name(calls.node(call))},
                               {"before", calls.before(call)},
                               {"is_start", calls.is_start(call)},
                               {"is_sync", calls.is_sync(call)},
                               {"is_wait", calls.is_wait(call)},
                               {"is_gemm", calls.is_gemm_like(call)},
                               {"stream", calls.stream(call)},
                               {"partner", partner == kNoCall ? json() : json(partner)},
                               {"ns", calls.ns(call)}});
  }
  for (const Stretch stretch : calls.stretches())
    answer["stretches"].push_back({stretch.first, stretch.last});
  const MemoryItems found(
      graph, {}, MovableOrder({calls.nodes().begin(), calls.nodes().end()}, graph.node_count()));
  for (std::size_t i = 0; i < found.items.size(); ++i) {
    const MemoryItems::Item& item = found.items[i];
    json users = json::array();
    for (const NodeId user : found.users.of(i)) users.push_back(calls.of_node(user));
    answer["items"].push_back(
        {{"bytes", item.bytes},
         {"maker", item.begins_fixed ? json() : json(calls.of_node(item.begins))},
         {"is_kept", item.ends_fixed},
         {"users", users}});
  }
  return answer;
}

json figures(const StepFigures& f) {
  return {{"peak_bytes", f.figures.peak_bytes},
          {"step_ns", f.figures.step_ns},
          {"exposed_ns", f.figures.exposed_ns},
          {"hidden", f.hidden}};
}

json names(const Graph& graph) {
  json found = json::array();
  for (const NodeId id : graph.order())
    if (graph.node(id).kind == NodeKind::call) found.push_back(graph.name(id));
  return found;
}

Result<json> run(const Graph& graph, std::string_view text) {
  JOINTER_TRY(const Pipeline pipeline, parse_pipeline(text));
  PassContext::Options options;
  options.analysis = simple();
  JOINTER_TRY(const PipelineRun done, run_pipeline(graph, pipeline, built_in_passes(), options));
  if (done.error) return tl::unexpected(*done.error);
  json answer{{"steps", json::array()}};
  for (const StepResult& step : done.steps) {
    json limits = json::object();
    for (const PassTable& table : step.tables)
      for (std::size_t column = 0; column < table.columns.size(); ++column)
        for (const PassTable::Row& row : table.rows)
          if (table.columns[column].name == "limiting factor" && !row.node.empty())
            limits[row.node] = std::get<std::string>(row.cells[column]);
    answer["steps"].push_back({{"step", step.step},
                               {"ns", step.ns},
                               {"moved", step.moved},
                               {"decisions", step.decisions.size()},
                               {"limits", limits},
                               {"before", figures(step.before)},
                               {"after", figures(step.after)},
                               {"edit_refusal", step.edit_refusal}});
  }
  const Graph& last = done.steps.empty() ? graph : *done.steps.back().graph;
  answer["order"] = names(last);
  return answer;
}

Result<json> order(Graph graph, std::string_view method) {
  JOINTER_TRY(const Calls calls, Calls::of(graph, simple()));
  const OrderedCalls rows(calls);
  const ItemUse use(graph, {}, calls);
  std::vector<Call> found;
  for (const Stretch stretch : calls.stretches()) {
    if (method == "lpmf") order_lpmf(calls, rows, use, 0, stretch, found);
    if (method == "bfs") order_bfs(rows, stretch, found);
    if (method == "dfs") order_dfs(rows, use, stretch, found);
  }
  set_call_order(graph, calls, found);
  return json{{"order", names(graph)}};
}

Result<json> judge(Graph graph) {
  JOINTER_TRY(const Calls calls, Calls::of(graph, simple()));
  std::vector<Call> found;
  for (std::string line; std::getline(std::cin, line);)
    found.push_back(calls.of_node(graph.find(line)));
  if (found.size() != calls.size()) return fail(Error::Kind::usage, "not every call is named");
  set_call_order(graph, calls, found);
  JOINTER_TRY(const StepFigures judged, step_figures(graph, simple()));
  return figures(judged);
}

Result<json> answer(const std::vector<std::string>& arguments) {
  const std::size_t file = arguments[0] == "run" || arguments[0] == "order" ? 2 : 1;
  OpenRequest request{.path = arguments.at(file)};
  if (arguments.size() > file + 1) request.backward = arguments[file + 1];
  JOINTER_TRY(const Graph graph, open_graph(request));
  if (arguments[0] == "run") return run(graph, arguments[1]);
  if (arguments[0] == "order") return order(graph, arguments[1]);
  return arguments[0] == "judge" ? judge(graph) : describe(graph);
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  if (arguments.size() < 2) return 2;
  const auto found = answer(arguments);
  if (!found) std::fprintf(stderr, "reordering_answers: %s\n", found.error().message.c_str());
  if (found) std::puts(found->dump().c_str());
  return found ? 0 : 1;
}
