#include "passes/bucketing/module_plan.h"

#include <algorithm>

namespace jointer {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_list(const ModuleTree& modules, const Module& module) {
  return !module.children.empty() &&
         std::all_of(module.children.begin(), module.children.end(),
                     [&](ModuleId id) { return is_number(modules.module(id).segment); });
}

}  // namespace

ModulePlan derive_module_plan(const ModuleTree& modules) {
  const auto& top = modules.module(modules.root()).children;
  const auto list = [&](ModuleId id) { return is_list(modules, modules.module(id)); };
  // A backward begins with the last module: where the list stands says nothing there, names do.
  std::vector<ModuleId> blocks;
  ModulePlan plan;
  std::vector<std::string> behind;
  for (const ModuleId id : top) {
    const Module& module = modules.module(id);
    if (list(id))
      blocks.push_back(id);
    else if (module.segment.find("embed") != std::string::npos)
      plan.push_back({module.path});
    else
      behind.push_back(module.path);
  }
  std::sort(behind.begin(), behind.end());
  if (!behind.empty()) plan.push_back(std::move(behind));
  for (const ModuleId id : blocks) {
    std::vector<ModuleId> members = modules.module(id).children;
    std::sort(members.begin(), members.end(), [&](ModuleId a, ModuleId b) {
      const std::string &x = modules.module(a).segment, &y = modules.module(b).segment;
      return x.size() != y.size() ? x.size() < y.size() : x < y;
    });
    for (const ModuleId member : members) plan.push_back({modules.module(member).path});
  }
  return plan;
}

Result<ModulePlan> read_module_plan(const PassValue::List& list) {
  ModulePlan plan;
  const auto add = [&](const PassValue& value) {
    const auto* path = value.as<std::string>();
    if (path != nullptr) plan.back().push_back(*path);
    return path != nullptr;
  };
  for (const PassValue& entry : list) {
    plan.emplace_back();
    const auto* several = entry.as<PassValue::List>();
    const bool is_right =
        several == nullptr ? add(entry) : std::all_of(several->begin(), several->end(), add);
    if (!is_right || plan.back().empty())
      return fail(Error::Kind::usage, "{} is no module path and no list of them", to_text(entry));
  }
  return plan;
}

Result<std::vector<std::uint32_t>> entries_by_node(const Graph& graph, const ModuleTree& modules,
                                                   const ModulePlan& plan) {
  std::vector<std::uint32_t> of_module(modules.size(), kNoEntry);
  std::vector<bool> is_named(modules.size(), false);
  for (std::uint32_t entry = 0; entry < plan.size(); ++entry)
    for (const std::string& path : plan[entry]) {
      const ModuleId id = modules.find(path);
      if (!id) continue;  // it has no node in this graph
      if (is_named[id.index()]) return fail(Error::Kind::usage, "{} is twice in the plan", path);
      is_named[id.index()] = true;
      of_module[id.index()] = entry;
    }
  // Parents come before children.
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const ModuleId parent = modules.module(ModuleId(i)).parent;
    if (!parent || of_module[parent.index()] == kNoEntry) continue;
    if (is_named[i])
      return fail(Error::Kind::usage, "{} is in the plan and inside another module of it",
                  modules.module(ModuleId(i)).path);
    of_module[i] = of_module[parent.index()];
  }
  std::vector<std::uint32_t> entries(graph.node_count(), kNoEntry);
  for (const NodeId id : graph.order())
    if (const ModuleId module = modules.of(id)) entries[id.index()] = of_module[module.index()];
  return entries;
}

}  // namespace jointer
