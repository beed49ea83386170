#include "core/edit/rank_names.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/graph/group_argument.h"

namespace jointer {
namespace {

std::string_view group_of(const Graph& graph, NodeId id) {
  const GroupId group = graph.node(id).group;
  return group ? graph.text(graph.group(group).name) : std::string_view();
}

// The device of the node's first tensor if it has an index: there is only one `cpu`.
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

void RankNames::rename_group(OrderedJson& name, std::string& unknown) const {
  const auto& recorded = name.get_ref<const std::string&>();
  if (auto here = group(recorded))
    name = *std::move(here);
  else if (unknown.empty())
    unknown = fmt::format(
        "no recorded node communicates in the process group {}, so its name on this rank is "
        "unknown",
        recorded);
}

void RankNames::rename_device(OrderedJson& name, std::string& unknown) const {
  const auto& recorded = name.get_ref<const std::string&>();
  if (recorded.find(':') == std::string::npos) return;
  if (const auto it = devices_.find(recorded); it != devices_.end())
    name = it->second;
  else if (unknown.empty())
    unknown = fmt::format(
        "no recorded node is on the device {}, so the device of this rank is unknown", recorded);
}

// Renames what is marked as a group or a device, at any depth.
void RankNames::rename(OrderedJson& json, std::string& unknown) const {
  if (json.is_array()) {
    for (OrderedJson& each : json) rename(each, unknown);
    return;
  }
  if (!json.is_object()) return;
  const auto is = [&](const char* key, std::string_view text) {
    const auto it = json.find(key);
    return it != json.end() && it->is_string() && it->get_ref<const std::string&>() == text;
  };
  if (const auto it = json.find("device"); it != json.end() && it->is_string())
    rename_device(*it, unknown);
  if (const auto it = json.find("repr");
      it != json.end() && it->is_string() && is("opaque", "ProcessGroup"))
    rename_group(*it, unknown);
  for (const auto& [key, value] : json.items()) {
    if (key == "dict" && value.is_object())  // its keys are data
      for (const auto& [name, each] : value.items()) rename(each, unknown);
    else if (key != "c")  // a constant is data
      rename(value, unknown);
  }
}

std::string RankNames::rename_args(const OperatorInfo& op, OrderedJson& args) const {
  std::string unknown;
  if (!args.is_array()) return unknown;  // the editor reports it
  for (std::size_t i = 0; i < args.size(); ++i)
    if (args[i].is_string() && i < op.arguments.size() && names_group(op.arguments[i].name))
      rename_group(args[i], unknown);
    else
      rename(args[i], unknown);
  return unknown;
}

std::string RankNames::rename_kwargs(OrderedJson& kwargs) const {
  std::string unknown;
  if (!kwargs.is_object()) return unknown;
  for (const auto& [name, value] : kwargs.items())
    if (value.is_string() && names_group(name))
      rename_group(value, unknown);
    else
      rename(value, unknown);
  return unknown;
}

std::string RankNames::rename_value(OrderedJson& value) const {
  std::string unknown;
  rename(value, unknown);
  return unknown;
}

}  // namespace jointer
