// jointer info FILE: summarizes a graph.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/table.h"
#include "core/base/units.h"
#include "core/cost/collective_model.h"
#include "core/cost/fused_matmul.h"
#include "core/cost/node_flops.h"
#include "core/graph/canonical.h"
#include "core/graph/module_tree.h"
#include "core/graph/unused_entries.h"

namespace jointer::cli {
namespace {

struct Collectives {
  std::int64_t count = 0, input_bytes = 0, output_bytes = 0;
};

struct Summary {
  std::size_t placeholders = 0, outputs = 0, storages = 0;
  std::int64_t parameter_bytes = 0;
  std::map<std::string, std::int64_t> operators;
  std::map<std::string, Collectives> collectives;
};

Summary summarize(const Graph& graph) {
  Summary s;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind == NodeKind::placeholder) {
      ++s.placeholders;
      if (n.role == Role::parameter && !n.partner) s.parameter_bytes += graph.output_bytes(n);
    }
    if (n.kind != NodeKind::call) continue;
    ++s.operators[std::string(graph.target(n))];
    if (const auto fused = read_fused_matmul(graph, n)) {
      // moved_bytes is the size of the whole tensor: the output of an all-gather, or the input of a
      // reduce-scatter. The other side is one rank's part of it.
      const std::int64_t part = fused->moved_bytes / std::max<std::int64_t>(fused->ranks, 1);
      const bool gathers = fused->collective == CollectiveKind::all_gather;
      Collectives& c = s.collectives[std::string(graph.target(n))];
      ++c.count;
      c.input_bytes += gathers ? part : fused->moved_bytes;
      c.output_bytes += gathers ? fused->moved_bytes : part;
    }
    if (!graph.is_collective_start(n)) continue;
    Collectives& c = s.collectives[std::string(graph.target(n))];
    ++c.count;
    c.input_bytes += collective_input_bytes(graph, n);
    c.output_bytes += graph.output_bytes(n);
  }
  for (std::size_t part = 0; part < graph.part_count(); ++part)
    s.outputs += graph.part(PartId(part)).outputs.size();
  const std::vector<bool> is_unused = find_unused_entries(graph).storages;
  s.storages = static_cast<std::size_t>(std::count(is_unused.begin(), is_unused.end(), false));
  return s;
}

std::string kind_of(const Graph& graph) {
  return graph.is_pair() ? "pair" : std::string(to_string(graph.part(PartId(0)).kind));
}

std::string_view fact_prefix(Fact::Kind kind) {
  static constexpr std::array<std::string_view, 3> kPrefixes{"derived", "assumed", "warning"};
  return kPrefixes[static_cast<std::size_t>(kind)];
}

Json to_json(const Graph& graph) {
  const Summary s = summarize(graph);
  const GraphFlops flops = graph_flops(graph);
  Json json;
  json["name"] = graph.title();
  json["kind"] = kind_of(graph);
  json["torch"] = graph.part(PartId(0)).torch_version;
  json["nodes"] = graph.order().size();
  json["placeholders"] = s.placeholders;
  json["outputs"] = s.outputs;
  json["parameters_bytes"] = s.parameter_bytes;
  json["storages"] = s.storages;
  json["operators"] = s.operators;
  Json& groups = json["groups"] = Json::array();
  for (std::size_t i = 0; i < graph.group_count(); ++i) {
    const ProcessGroup& group = graph.group(GroupId(i));
    groups.push_back({{"name", graph.text(group.name)},
                      {"size", group.ranks.size()},
                      {"desc", graph.text(group.desc)}});
  }
  Json& collectives = json["collectives"] = Json::object();
  for (const auto& [target, c] : s.collectives)
    collectives[target] = {
        {"count", c.count}, {"input_bytes", c.input_bytes}, {"output_bytes", c.output_bytes}};
  json["flops"] = {{"forward", flops.forward},
                   {"backward", flops.backward},
                   {"total", flops.total},
                   {"torch_registry", flops.torch_registry}};
  json["modules"] = ModuleTree(graph).size() - 1;
  // Use emplace_back, because operator[] of an ordered object searches linearly.
  auto& symbols = (json["symbols"] = Json::object()).get_ref<Json::object_t&>();
  for (const SymbolValue& symbol : graph.symbols()) symbols.emplace_back(symbol.name, symbol.value);
  Json& derived = json["derived"] = Json::array();
  for (const Fact& fact : graph.facts())
    derived.push_back(fmt::format("{}: {}", fact_prefix(fact.kind), fact.text));
  json["hash"] = graph_hash(graph);
  return json;
}

void print_tables(const Graph& graph, bool brief) {
  using enum Table::Align;
  const Summary s = summarize(graph);
  const GraphFlops flops = graph_flops(graph);

  Table facts({{"", left}, {"", left}});
  facts.add({"kind", kind_of(graph)});
  facts.add({"nodes", format_count(graph.order().size())});
  facts.add({"placeholders", format_count(s.placeholders)});
  facts.add({"outputs", format_count(s.outputs)});
  facts.add({"parameters", format_bytes(s.parameter_bytes)});
  facts.add({"storages", format_count(s.storages)});
  facts.add({"modules", format_count(ModuleTree(graph).size() - 1)});
  facts.add({"FLOPs", fmt::format("{} (forward {}, backward {})",
                                  format_flops(static_cast<double>(flops.total)),
                                  format_flops(static_cast<double>(flops.forward)),
                                  format_flops(static_cast<double>(flops.backward)))});
  if (!graph.symbols().empty()) facts.add({"size symbols", format_count(graph.symbols().size())});
  facts.add({"hash", graph_hash(graph)});
  fmt::print("{}\n{}", graph.title(), facts.text());

  if (graph.group_count() > 0) {
    Table groups({{"process group", left}, {"ranks", right}, {"description", left}});
    for (std::size_t i = 0; i < graph.group_count(); ++i) {
      const ProcessGroup& group = graph.group(GroupId(i));
      groups.add({std::string(graph.text(group.name)), format_count(group.ranks.size()),
                  std::string(graph.text(group.desc))});
    }
    fmt::print("\n{}", groups.text());
  }
  if (brief) return;
  if (!s.collectives.empty()) {
    Table collectives({{"collective", left}, {"count", right}, {"in", right}, {"out", right}});
    for (const auto& [target, c] : s.collectives)
      collectives.add({target, format_count(c.count), format_bytes(c.input_bytes),
                       format_bytes(c.output_bytes)});
    fmt::print("\n{}", collectives.text());
  }
  std::vector<std::pair<std::string, std::int64_t>> by_count(s.operators.begin(),
                                                             s.operators.end());
  std::ranges::stable_sort(by_count,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  Table operators({{"operator", left}, {"count", right}});
  for (const auto& [target, n] : by_count) operators.add({target, format_count(n)});
  fmt::print("\n{}", operators.text());
  if (!graph.facts().empty()) fmt::print("\n");
  for (const Fact& fact : graph.facts()) fmt::print("{}: {}\n", fact_prefix(fact.kind), fact.text);
}

}  // namespace

void add_info_command(CLI::App& program, int& exit_code) {
  struct Options {
    GraphOptions graph;
    bool json = false, brief = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "info", "Summarizes a graph: nodes, operators, collectives, process groups, FLOPs, symbols");
  options->graph.add_to(*command);
  CLI::Option* brief = command->add_flag("--brief", options->brief,
                                         "Print only the summary, without a line per operator");
  command->add_flag("--json", options->json, "Print the result as JSON")->excludes(brief);
  command->callback([options, &exit_code] {
    const auto run = [&]() -> Result<int> {
      JOINTER_TRY(const Graph graph, options->graph.open(options->json));
      if (options->json)
        print_json(to_json(graph));
      else
        print_tables(graph, options->brief);
      return ExitCode::done;
    };
    exit_code = finish(run());
  });
}

}  // namespace jointer::cli
