#include "core/graph/constant_tables.h"

#include <nlohmann/json.hpp>

namespace jointer {
namespace {

using Visit = std::function<void(ConstantTable, OrderedJson&)>;

void visit_member(OrderedJson& object, const char* key, ConstantTable table, const Visit& visit) {
  const auto it = object.find(key);
  if (it != object.end() && it->is_number_unsigned()) visit(table, *it);
}

// Visits the storages of the tensors in a call's value, at any depth.
void visit_value(OrderedJson& value, const Visit& visit) {
  if (value.is_object()) visit_member(value, "storage", ConstantTable::storages, visit);
  if (value.is_structured())
    for (OrderedJson& child : value) visit_value(child, visit);
}

}  // namespace

PerTable<std::size_t> first_entries(const Graph& graph, PartId part) {
  const auto first = [part](std::size_t count, auto part_of) {
    std::size_t id = 0;
    while (id < count && part_of(id) != part) ++id;
    return id;
  };
  return {
      first(graph.storage_count(), [&](std::size_t i) { return graph.storage(StorageId(i)).part; }),
      first(graph.module_stack_count(),
            [&](std::size_t i) { return graph.module_stack(ModuleStackId(i)).part; }),
      first(graph.stack_count(), [&](std::size_t i) { return graph.stack(StackId(i)).part; })};
}

void visit_table_numbers(OrderedJson& constants, const Visit& visit) {
  if (!constants.is_object()) return;
  for (OrderedJson& constant : constants) {
    if (!constant.is_object()) continue;
    visit_member(constant, "storage", ConstantTable::storages, visit);
    const auto subgraph = constant.find("subgraph");
    if (subgraph == constant.end() || !subgraph->is_object()) continue;
    if (const auto inner = subgraph->find("constants"); inner != subgraph->end())
      visit_table_numbers(*inner, visit);
    const auto nodes = subgraph->find("nodes");
    if (nodes == subgraph->end() || !nodes->is_array()) continue;
    for (OrderedJson& node : *nodes) {
      if (!node.is_object()) continue;
      visit_member(node, "module", ConstantTable::modules, visit);
      visit_member(node, "stack", ConstantTable::stacks, visit);
      if (const auto value = node.find("val"); value != node.end()) visit_value(*value, visit);
    }
  }
}

}  // namespace jointer
