#include "core/capture/torch_trace.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/counted.h"
#include "core/base/is_one_of.h"
#include "core/capture/fx_text.h"
#include "core/capture/no_such_graph.h"
#include "core/capture/torch_trace_entries.h"

namespace jointer {
namespace {

using TraceJson = nlohmann::json;

// Entries that contain a graph of a known kind. For other entries, the kind is guessed from the
// placeholders and comments.
struct Known {
  std::string_view entry;
  CaptureKind kind;
};
constexpr std::array<Known, 5> kKnownEvents{{
    {"aot_joint_graph", CaptureKind::joint},
    {"aot_forward_graph", CaptureKind::forward},
    {"aot_backward_graph", CaptureKind::backward},
    {"aot_inference_graph", CaptureKind::forward},
    {"dynamo_output_graph", CaptureKind::forward},
}};

// The names that a trainer gives to the graphs that it logs: prefixes for the graphs before and
// after each pass, and the name of the traced graph.
constexpr std::string_view kBefore = "before_", kAfter = "after_", kTraced = "make_fx_graph_traced";

bool is_around_pass(std::string_view name) {
  return name.starts_with(kBefore) || name.starts_with(kAfter);
}

// The stages of a compilation around which torch itself logs graphs, by the part of the names after
// `before_` and `after_`. Source: torch/_inductor/compile_fx.py, torch/_functorch/partitioners.py.
constexpr std::array<std::string_view, 5> kStagesOfCompiler{
    "pre_grad_graph", "joint_graph", "post_grad_graph", "activation_quantization_fwd_aten_pass",
    "activation_quantization_bwd_aten_pass"};

// The name that torch gives to the graph after the stage `post_grad_graph`.
constexpr std::string_view kAfterPostGrad = "inductor_post_grad_graph";

// The stage of a compilation before or after which the graph was logged; empty if it was logged
// around no stage.
std::string_view stage_of(std::string_view name) {
  if (name == kAfterPostGrad) return "post_grad_graph";
  if (!is_around_pass(name)) return {};
  const std::string_view stage = name.substr((name.starts_with(kBefore) ? kBefore : kAfter).size());
  return is_one_of(stage, kStagesOfCompiler) ? stage : std::string_view();
}

// True if the payload of an entry with this name may be a graph. Some payloads contain a module's
// source along with other code (fx_graph_runnable, inductor_output_code) and repeat a graph that is
// already listed.
bool may_be_graph(std::string_view name) {
  return is_around_pass(name) || (name.find("graph") != std::string_view::npos &&
                                  name.find("runnable") == std::string_view::npos &&
                                  name.find("metadata") == std::string_view::npos &&
                                  name.find("cache") == std::string_view::npos);
}

// Returns the kind of a graph logged around a pass: a flat training step if a graph that was
// guessed to be a forward contains backward nodes, otherwise `guessed`.
CaptureKind kind_around_pass(CaptureKind guessed, std::string_view text) {
  const bool has_backward = text.find("autograd_backward: True") != std::string_view::npos;
  return guessed == CaptureKind::forward && has_backward ? CaptureKind::train_step : guessed;
}

// Links each graph to the one it was made from, and numbers the graphs of passes that ran several
// times. A trainer's passes follow one another. The stages of a compiler do not: other graphs are
// made between them, so only the two graphs around one stage are linked.
void follow_passes(std::vector<TraceGraph>& graphs) {
  std::map<std::string, std::size_t, std::less<>> last, times;
  std::map<std::pair<std::string, std::string_view>, std::size_t> before_stage;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    TraceGraph& graph = graphs[i];
    const bool around = is_around_pass(graph.entry);
    const std::string_view of_compiler = stage_of(graph.entry);
    if (graph.index > 0 || (!around && of_compiler.empty() && graph.entry != kTraced)) continue;
    if (!of_compiler.empty()) {
      std::pair stage(graph.compile, of_compiler);
      if (graph.entry.starts_with(kBefore)) {
        before_stage[std::move(stage)] = i;
      } else if (const auto found = before_stage.find(stage); found != before_stage.end()) {
        graph.before = found->second;
        before_stage.erase(found);
      }
    } else {
      const auto [previous, is_first] = last.try_emplace(graph.compile, i);
      if (around && !is_first) graph.before = previous->second;
      previous->second = i;
    }
    if (const std::size_t time = ++times[graph.name]; time > 1)
      graph.name += fmt::format(" ({})", time);
  }
}

}  // namespace

bool is_torch_trace(std::string_view bytes) {
  for (int lines = 0; lines < 20 && !bytes.empty(); ++lines) {
    const auto end = bytes.find('\n');
    if (starts_trace_entry(bytes.substr(0, end))) return true;
    if (end == std::string_view::npos) return false;
    bytes.remove_prefix(end + 1);
  }
  return false;
}

Result<std::vector<TraceGraph>> list_torch_trace(std::string_view file, std::string_view bytes) {
  std::vector<TraceGraph> graphs;
  std::size_t entries = 0, cut_off = 0;
  for_each_trace_entry(bytes, [&](const TraceEntry& entry) {
    ++entries;
    // Most entries are not graphs; a text search avoids parsing them.
    const bool may_be = entry.json.find("graph") != std::string_view::npos ||
                        entry.json.find("\"artifact\"") != std::string_view::npos;
    if (!may_be || !is_fx_text(entry.payload)) return;
    const TraceJson json = TraceJson::parse(entry.json, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return;
    const std::string name = trace_entry_name(json);
    if (!may_be_graph(name)) return;
    const auto inner =
        list_fx_text({.file = file, .text = entry.payload, .first_number = entry.payload_number});
    if (!inner) {
      ++cut_off;
      return;
    }
    const auto known =
        std::ranges::find_if(kKnownEvents, [&](const Known& k) { return k.entry == name; });
    const std::string compile = trace_entry_compile(json);
    for (std::size_t i = 0; i < inner->size(); ++i) {
      const FxTextEntry& graph = (*inner)[i];
      std::string title = compile.empty() ? name : fmt::format("{}, {}", compile, name);
      if (inner->size() > 1) title = fmt::format("{}, {}", title, graph.name);
      CaptureKind kind = known == kKnownEvents.end() ? graph.kind : known->kind;
      if (name == kTraced || (is_around_pass(name) && stage_of(name).empty()))
        kind = kind_around_pass(kind, entry.payload);
      graphs.push_back({.name = std::move(title),
                        .entry = name,
                        .compile = compile,
                        .kind = kind,
                        .rank = trace_entry_number(json, "rank"),
                        .nodes = graph.nodes,
                        .text = entry.payload,
                        .first_number = entry.payload_number,
                        .index = i});
    }
  });
  follow_passes(graphs);
  if (graphs.empty() && cut_off > 0)
    return input_error("{}: {} of {} {}; is the file truncated?", file, cut_off,
                       counted(entries, "entry", "entries"),
                       cut_off == 1 ? "contains a graph, but it is incomplete"
                                    : "contain a graph, but none is complete");
  if (graphs.empty())
    return input_error(
        "{}: {} a graph; was the log written under TORCH_TRACE while torch.compile ran?", file,
        entries == 1 ? "the only entry does not contain"
                     : fmt::format("none of the {} entries contains", entries));
  return graphs;
}

Result<PartId> append_torch_trace(Graph& graph, std::string_view file, std::string_view bytes,
                                  std::size_t index, const Progress& progress) {
  JOINTER_TRY(const std::vector<TraceGraph> graphs, list_torch_trace(file, bytes));
  if (index >= graphs.size()) return no_such_graph(file, index, graphs.size());
  const TraceGraph& chosen = graphs[index];
  JOINTER_TRY(
      const PartId part,
      append_fx_text(
          graph, {.file = file, .text = chosen.text, .first_number = chosen.first_number},
          {.index = chosen.index, .kind = chosen.kind, .name = chosen.name, .progress = progress}));
  graph.part(part).rank = chosen.rank;
  return part;
}

}  // namespace jointer
