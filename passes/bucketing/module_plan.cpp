#include "passes/bucketing/module_plan.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/base/characters.h"
#include "passes/bucketing/fsdp_collectives.h"
#include "passes/support/unknown_name.h"

namespace jointer {
namespace {

bool is_list(const ModuleTree& modules, const Module& module) {
  return !module.children.empty() && std::ranges::all_of(module.children, [&](ModuleId id) {
    return is_digits(modules.module(id).segment);
  });
}

// The members of a numbered list of modules, sorted by number.
std::vector<ModuleId> by_number(const ModuleTree& modules, ModuleId list) {
  std::vector<ModuleId> members = modules.module(list).children;
  std::ranges::sort(members, [&](ModuleId a, ModuleId b) {
    const std::string &x = modules.module(a).segment, &y = modules.module(b).segment;
    return x.size() != y.size() ? x.size() < y.size() : x < y;
  });
  return members;
}

// Modules that gather parameters from more than one rank, and the modules that contain them.
std::set<ModuleId> gathering_modules(const Graph& graph, const ModuleTree& modules) {
  std::set<ModuleId> found;
  for (const NodeId id : graph.order()) {
    if (!is_fsdp_all_gather(graph, id) || graph.group_size(graph.node(id)) < 2) continue;
    for (ModuleId at = modules.of(id); at; at = modules.module(at).parent) found.insert(at);
  }
  return found;
}

// True if the loss is computed in chunks, that is, if a forward call of the model follows a call of
// the loss.
bool is_loss_in_chunks(const Graph& graph, const ModuleTree& modules, ModuleId loss) {
  bool is_behind = false;
  for (const NodeId id : graph.order()) {
    const ModuleId module = modules.of(id);
    if (!module || module == modules.root() || graph.node(id).phase == Phase::backward) continue;
    ModuleId top = module;
    while (modules.module(top).parent != modules.root()) top = modules.module(top).parent;
    if (top == loss)
      is_behind = true;
    else if (is_behind)
      return true;
  }
  return false;
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
    const bool is_right = several == nullptr ? add(entry) : std::ranges::all_of(*several, add);
    if (!is_right || plan.back().empty())
      return fail(Error::Kind::usage,
                  "module_bucket_plans: each entry must be a module path or a non-empty list of "
                  "module paths, got {}",
                  to_text(entry));
  }
  return plan;
}

}  // namespace

ModulePlan derive_joint_module_plan(const Graph& graph, const ModuleTree& modules) {
  const std::set<ModuleId> gathering = gathering_modules(graph, modules);
  const auto gathers = [&](std::string_view path) {
    const ModuleId id = modules.find(path);
    return id && gathering.contains(id);
  };
  ModulePlan plan, blocks;
  std::vector<std::string> behind;
  for (const ModuleId id : modules.module(modules.root()).children) {
    const Module& module = modules.module(id);
    if (is_list(modules, module)) {
      for (const ModuleId member : by_number(modules, id)) {
        const std::string& path = modules.module(member).path;
        const std::string experts = path + ".moe.routed_experts.inner_experts";
        if (!gathers(experts)) {
          blocks.push_back({path});
          continue;
        }
        blocks.emplace_back();
        for (const std::string_view part :
             {"attention_norm", "attention", "ffn_norm", "moe.router", "moe.shared_experts"})
          blocks.back().push_back(fmt::format("{}.{}", path, part));
        blocks.push_back({experts});
      }
    } else if (module.segment.find("embed") != std::string::npos) {
      plan.push_back({module.path});
    } else if (module.segment != "loss" || gathers(module.path) ||
               is_loss_in_chunks(graph, modules, id)) {
      behind.push_back(module.path);
    }
  }
  plan.insert(plan.end(), blocks.begin(), blocks.end());
  const auto rank = [](const std::string& path) {
    static constexpr std::array<std::string_view, 3> kFirst{"norm", "lm_head", "loss"};
    return std::ranges::find(kFirst, path) - kFirst.begin();
  };
  std::ranges::sort(behind, [&](const std::string& a, const std::string& b) {
    return std::pair(rank(a), std::string_view(a)) < std::pair(rank(b), std::string_view(b));
  });
  if (!behind.empty()) plan.push_back(std::move(behind));
  return plan;
}

ModulePlan derive_module_plan(const ModuleTree& modules) {
  const auto& top = modules.module(modules.root()).children;
  const auto list = [&](ModuleId id) { return is_list(modules, modules.module(id)); };
  // Modules are classified by name, not by their position relative to the list, because a backward
  // begins with the last module.
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
  std::ranges::sort(behind);
  if (!behind.empty()) plan.push_back(std::move(behind));
  for (const ModuleId id : blocks)
    for (const ModuleId member : by_number(modules, id))
      plan.push_back({modules.module(member).path});
  return plan;
}

std::vector<std::string_view> module_paths(const ModuleTree& modules) {
  std::vector<std::string_view> paths;
  for (std::size_t i = 0; i < modules.size(); ++i)
    if (ModuleId(i) != modules.root()) paths.emplace_back(modules.module(ModuleId(i)).path);
  return paths;
}

Result<std::optional<ModulePlan>> given_module_plan(const Graph& graph,
                                                    const Arguments& arguments) {
  if (!arguments.has_value("module_bucket_plans")) return std::nullopt;
  JOINTER_TRY(ModulePlan plan, read_module_plan(arguments.list("module_bucket_plans")));
  const ModuleTree modules(graph);
  for (const std::vector<std::string>& entry : plan)
    for (const std::string& path : entry)
      if (!modules.find(path))
        return unknown_name("module_bucket_plans", "module", path, module_paths(modules));
  return plan;
}

Result<std::vector<std::uint32_t>> entries_by_node(const Graph& graph, const ModuleTree& modules,
                                                   const ModulePlan& plan) {
  std::vector<std::uint32_t> of_module(modules.size(), kNoEntry);
  std::vector<bool> is_named(modules.size(), false);
  for (std::uint32_t entry = 0; entry < plan.size(); ++entry)
    for (const std::string& path : plan[entry]) {
      const ModuleId id = modules.find(path);
      if (!id) continue;  // the module has no nodes in this graph
      if (is_named[id.index()])
        return fail(Error::Kind::usage, "module_bucket_plans: {} is given twice; leave out one",
                    path);
      is_named[id.index()] = true;
      of_module[id.index()] = entry;
    }
  // Parents precede children.
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const ModuleId parent = modules.module(ModuleId(i)).parent;
    if (!parent || of_module[parent.index()] == kNoEntry) continue;
    if (is_named[i]) {
      ModuleId outer = parent;
      while (!is_named[outer.index()]) outer = modules.module(outer).parent;
      return fail(
          Error::Kind::usage,
          "module_bucket_plans: {} is inside {}, which is also in the plan; leave out one of "
          "them",
          modules.module(ModuleId(i)).path, modules.module(outer).path);
    }
    of_module[i] = of_module[parent.index()];
  }
  std::vector<std::uint32_t> entries(graph.node_count(), kNoEntry);
  for (const NodeId id : graph.order())
    if (const ModuleId module = modules.of(id)) entries[id.index()] = of_module[module.index()];
  return entries;
}

}  // namespace jointer
