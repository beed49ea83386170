#include "core/edit/rank_names.h"

#include <fmt/core.h>

#include "core/graph/group_argument.h"

namespace jointer {
namespace {

constexpr std::string_view kGroupType = "ProcessGroup";

std::string_view group_of(const Graph& graph, NodeId id) {
  const GroupId group = graph.node(id).group;
  return group ? graph.text(graph.group(group).name) : std::string_view();
}

// The device of the node's first tensor; empty if the device has no index, like `cpu`, which has
// the same name on every rank.
std::string_view device_of(const Graph& graph, NodeId id) {
  const auto tensors = graph.tensors(id);
  if (tensors.empty() || !tensors.front().device) return {};
  const std::string_view name = graph.text(graph.device(tensors.front().device).name);
  return name.find(':') == std::string_view::npos ? std::string_view() : name;
}

}  // namespace

void record_names(const Graph& graph, PartId part, RecipeGraph& recorded) {
  for (const NodeId id : graph.order()) {
    if (graph.node(id).part != part) continue;
    if (const auto group = group_of(graph, id); !group.empty())
      recorded.groups.try_emplace(std::string(group), graph.name(id));
    if (const auto device = device_of(graph, id); !device.empty())
      recorded.devices.try_emplace(std::string(device), graph.name(id));
  }
}

RankNames::RankNames(const Graph& graph, PartId part, const RecipeGraph& recorded) {
  const auto look_up = [&](const std::map<std::string, std::string>& nodes, auto name_of,
                           std::map<std::string, std::string, std::less<>>& names) {
    for (const auto& [name, node] : nodes) {
      const NodeId id = graph.find(part, node);
      const std::string_view here = id ? name_of(graph, id) : std::string_view();
      if (!here.empty()) names.emplace(name, here);
      are_equal_ = are_equal_ && here == name;
    }
  };
  look_up(recorded.groups, group_of, groups_);
  look_up(recorded.devices, device_of, devices_);
}

NamesElsewhere RankNames::recorded() const {
  NamesElsewhere names;
  for (const auto& [recorded, here] : groups_) names.groups.emplace(here, recorded);
  for (const auto& [recorded, here] : devices_) names.devices.emplace(here, recorded);
  return names;
}

std::optional<std::string> RankNames::group(std::string_view recorded) const {
  for (std::size_t end = recorded.size(); end != std::string_view::npos && end > 0;
       end = recorded.rfind('_', end - 1))
    if (const auto it = groups_.find(recorded.substr(0, end)); it != groups_.end())
      return it->second + std::string(recorded.substr(end));
  return std::nullopt;
}

void RankNames::rename_group(std::string& name, std::string& unknown) const {
  if (auto here = group(name))
    name = *std::move(here);
  else if (unknown.empty())
    unknown = fmt::format(
        "no recorded node communicates in the process group {}, so its name on this rank is "
        "unknown",
        name);
}

void RankNames::rename_device(std::string& name, std::string& unknown) const {
  if (name.find(':') == std::string::npos) return;
  if (const auto it = devices_.find(name); it != devices_.end())
    name = it->second;
  else if (unknown.empty())
    unknown = fmt::format(
        "no recorded node is on the device {}, so the device of this rank is unknown", name);
}

void RankNames::rename(ArgumentRecord& argument, std::string_view parameter,
                       std::string& unknown) const {
  using Kind = ArgumentRecord::Kind;
  if (argument.kind == Kind::string && names_group(parameter)) rename_group(argument.text, unknown);
  if (argument.kind == Kind::opaque && argument.text == kGroupType)
    rename_group(argument.detail, unknown);
  if (argument.kind == Kind::device) rename_device(argument.text, unknown);
  for (ArgumentRecord& child : argument.children) rename(child, {}, unknown);
}

void RankNames::rename(ValueRecord& value, std::string& unknown) const {
  if (value.tensor) rename_device(value.tensor->device, unknown);
  if (value.kind == ValueRecord::Kind::opaque && value.text == kGroupType)
    rename_group(value.detail, unknown);
  for (ValueRecord& child : value.children) rename(child, unknown);
}

std::string RankNames::rename_args(const OperatorInfo& op, ArgumentRecords& args) const {
  std::string unknown;
  for (std::size_t i = 0; i < args.size(); ++i)
    rename(args[i], i < op.arguments.size() ? op.arguments[i].name : std::string_view(), unknown);
  return unknown;
}

std::string RankNames::rename_kwargs(ArgumentRecords& kwargs) const {
  std::string unknown;
  for (std::size_t i = 0; i + 1 < kwargs.size(); i += 2)
    rename(kwargs[i + 1], kwargs[i].text, unknown);
  return unknown;
}

std::string RankNames::rename_value(ValueRecord& value) const {
  std::string unknown;
  rename(value, unknown);
  return unknown;
}

}  // namespace jointer
