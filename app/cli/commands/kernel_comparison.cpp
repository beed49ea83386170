#include "app/cli/commands/kernel_comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "app/cli/commands/predicted_kernels.h"
#include "app/cli/commands/table.h"
#include "core/base/index.h"
#include "core/base/torch_version.h"
#include "core/base/units.h"
#include "core/inductor/inductor_answer.h"
#include "core/kernels/kernel_differences.h"
#include "core/kernels/lowering.h"

namespace jointer::cli {
namespace {

using kernels::KernelComparison;

constexpr const char *kPredicted = "predicted", *kInductor = "inductor";

Json sides(std::int64_t predicted, std::int64_t inductor) {
  return {{kInductor, inductor}, {kPredicted, predicted}};
}

Json rule_json(const kernels::DifferenceRule& rule) {
  Json refused_by, reason;  // null
  if (rule.refused_by != kernels::ListSide::neither) {
    refused_by = rule.refused_by == kernels::ListSide::first ? kPredicted : kInductor;
    reason = rule.reason;
  }
  return {{"kind", name_of(rule.kind, kPredicted, kInductor)},
          {"refused_by", std::move(refused_by)},
          {"reason", std::move(reason)},
          {"text", to_text(rule, "the prediction", "Inductor")},
          {"count", rule.count},
          {"bytes", sides(rule.first_bytes, rule.second_bytes)}};
}

std::string side_bytes(const Json& given, const char* side) {
  return format_bytes(given[side].get<std::int64_t>());
}

}  // namespace

Result<Json> compare_with_prediction(const Graph& graph, const Json& answer) {
  JOINTER_TRY(const InductorAnswer asked, read_inductor_answer(answer, graph, PartId(0)));
  const TorchVersion version = parse_torch_version(asked.torch).value_or(kNewestTorch);
  const kernels::Kernels predicted = kernels::schedule(kernels::lower(graph, version), version);
  const KernelComparison made =
      kernels::compare_kernels(list_of(graph, predicted), list_of(graph, asked));
  Json rules = Json::array(), differences = Json::array();
  for (const kernels::DifferenceRule& rule : made.rules) rules.push_back(rule_json(rule));
  for (const kernels::KernelDifference& each : made.differences) {
    Json first = Json::array(), second = Json::array(), nodes = Json::array();
    for (const std::int32_t index : each.first)
      first.push_back(predicted_kernel_name(predicted.kernels[as_index(index)]));
    for (const std::int32_t index : each.second) second.push_back(asked.names[as_index(index)]);
    for (const NodeId node : each.nodes) nodes.push_back(std::string(graph.name(node)));
    differences.push_back({{"kind", name_of(each.kind, kPredicted, kInductor)},
                           {"rule", each.rule},
                           {kInductor, std::move(second)},
                           {kPredicted, std::move(first)},
                           {"nodes", std::move(nodes)},
                           {"bytes", sides(each.first_bytes, each.second_bytes)}});
  }
  return Json{{"source", kPredicted},
              {"torch", fmt::format("{}.{}", version.major, version.minor)},
              {"kernels", sides(made.first.kernels, made.second.kernels)},
              {"bytes", sides(made.first.bytes, made.second.bytes)},
              {"peak_bytes", sides(made.first.peak, made.second.peak)},
              {"equal_kernels", made.equal_kernels},
              {"nodes", made.nodes},
              {"nodes_elsewhere", made.nodes_elsewhere},
              {"rules", std::move(rules)},
              {"differences", std::move(differences)}};
}

void print_comparison(const Json& against) {
  const auto nodes = against["nodes"].get<std::int64_t>();
  const auto elsewhere = against["nodes_elsewhere"].get<std::int64_t>();
  const double same =
      nodes == 0 ? 1.0 : static_cast<double>(nodes - elsewhere) / static_cast<double>(nodes);
  fmt::print("\nAgainst the prediction for torch {}: {} of {} nodes run in the same kernel\n\n",
             against["torch"].get<std::string>(), format_percent(same), format_count(nodes));
  using enum Table::Align;
  Table figures({{"", left}, {"Inductor", right}, {"predicted", right}});
  const Json& number = against["kernels"];
  figures.add({"kernels, with collectives", format_count(number[kInductor].get<std::int64_t>()),
               format_count(number[kPredicted].get<std::int64_t>())});
  figures.add({"bytes read and written", side_bytes(against["bytes"], kInductor),
               side_bytes(against["bytes"], kPredicted)});
  figures.add({"peak of allocated memory", side_bytes(against["peak_bytes"], kInductor),
               side_bytes(against["peak_bytes"], kPredicted)});
  fmt::print("{}", figures.text());
  if (against["rules"].empty()) {
    fmt::print("\nNo kernel differs.\n");
    return;
  }
  Table rules({{"number", right}, {"Inductor", right}, {"predicted", right}, {"difference", left}});
  for (const Json& rule : against["rules"])
    rules.add({format_count(rule["count"].get<std::int64_t>()),
               side_bytes(rule["bytes"], kInductor), side_bytes(rule["bytes"], kPredicted),
               rule["text"].get<std::string>()});
  fmt::print("\n{}", rules.text());
}

}  // namespace jointer::cli
