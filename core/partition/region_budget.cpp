// Reads the activation budgets of regions as min_cut_rematerialization_partition does in torch
// 2.15.
//
// A call in such a region has the budget among its annotations (`custom`). A partitioner uses one
// budget per graph, so all calls must have the same budget, including those in the subgraphs of
// higher-order operators. By default, the regions must cover every call of the forward and every
// call in a subgraph.
//
// As in torch, calls that the partitioner removes first do not count: dead code, and all but the
// first of equal calls.
//
// Cost: linear in the nodes; each annotation is parsed once. If there are annotations, the graph is
// copied.
// Source: torch/_functorch/partitioners.py and torch/fx/traceback.py of 2.15; torch 2.11 has no
// such regions.

#include "core/partition/region_budget.h"

#include <set>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/partition/common_subexpressions.h"
#include "core/partition/dead_code.h"
#include "core/partition/joint_parts.h"

namespace jointer {
namespace {

using nlohmann::json;

constexpr const char* kKey = "_region_activation_memory_budget";

std::optional<double> budget_of(const json& custom) {
  if (!custom.is_object()) return {};
  const auto it = custom.find(kKey);
  if (it == custom.end() || !it->is_number()) return {};
  return it->get<double>();
}

bool is_annotated(const Graph& graph) {
  for (const NodeId id : graph.order())
    if (graph.text(graph.node(id).custom).find(kKey) != std::string_view::npos) return true;
  return graph.part(PartId(0)).constants.find(kKey) != std::string::npos;
}

class Reader {
 public:
  explicit Reader(const Graph& graph) : graph_(graph) {}

  Result<std::optional<double>> read(BudgetCoverage coverage) {
    JOINTER_TRY(const JointParts parts, find_joint_parts(graph_));
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      const std::optional<double> budget = budget_of(n.custom);
      if (budget)
        budgets_.insert(*budget);
      else if (n.kind == NodeKind::call && parts.is_forward(id))
        meet_uncovered(std::string(graph_.name(id)));
    }
    read_subgraphs(json::parse(graph_.part(PartId(0)).constants, nullptr, false));
    if (budgets_.empty()) return std::optional<double>();
    if (budgets_.size() > 1)
      return fail(
          Error::Kind::usage,
          "regions of the model have different activation budgets ({}), but a graph "
          "can have only one; separate them with a graph break, or set region_budget=ignore",
          budgets_.size() == 2 ? fmt::format("{} and {}", *budgets_.begin(), *budgets_.rbegin())
                               : fmt::format("{} between {} and {}", budgets_.size(),
                                             *budgets_.begin(), *budgets_.rbegin()));
    if (coverage == BudgetCoverage::whole && uncovered_ > 0)
      return fail(Error::Kind::usage,
                  "the regions with an activation budget of {} do not cover {} of the forward "
                  "(first: {}); wrap the whole forward, or set region_budget=part",
                  *budgets_.begin(), counted(static_cast<std::size_t>(uncovered_), "call"),
                  first_uncovered_);
    return std::optional(*budgets_.begin());
  }

 private:
  std::optional<double> budget_of(StringId custom) {
    if (!custom) return {};
    const auto [it, is_new] = by_text_.try_emplace(custom);
    if (is_new) it->second = jointer::budget_of(json::parse(graph_.text(custom), nullptr, false));
    return it->second;
  }

  void meet_uncovered(std::string name) {
    if (uncovered_++ == 0) first_uncovered_ = std::move(name);
  }

  void read_subgraphs(const json& constants) {
    if (!constants.is_object()) return;
    for (const json& constant : constants) {
      if (!constant.is_object() || !constant.contains("subgraph")) continue;
      const json& subgraph = constant["subgraph"];
      if (!subgraph.is_object()) continue;
      for (const json& node : subgraph.value("nodes", json::array())) {
        if (!node.is_object()) continue;
        const auto budget = jointer::budget_of(node.value("custom", json()));
        if (budget)
          budgets_.insert(*budget);
        else if (node.value("op", "") == "call_function")
          meet_uncovered(node.value("name", "?"));
      }
      read_subgraphs(subgraph.value("constants", json::object()));
    }
  }

  const Graph& graph_;
  std::unordered_map<StringId, std::optional<double>> by_text_;
  std::set<double> budgets_;
  std::int64_t uncovered_ = 0;
  std::string first_uncovered_;
};

}  // namespace

Result<std::optional<double>> region_budget(const Graph& joint, BudgetCoverage coverage) {
  if (!is_annotated(joint)) return std::optional<double>();
  JOINTER_CHECK(check_joint(joint));
  Graph graph = joint;
  eliminate_dead_code(graph);
  merge_common_subexpressions(graph);
  return Reader(graph).read(coverage);
}

}  // namespace jointer
