#include "core/graph/group_argument.h"

#include <algorithm>
#include <array>

namespace jointer {
namespace {

constexpr std::array<std::string_view, 2> kGroupArguments{"group_name", "group"};
constexpr std::string_view kStride = "stride:", kRanks = "ranks:";
// Ranks that are farther apart than this would run on different machines anyway.
constexpr std::int64_t kMaxStride = 1 << 20;
constexpr std::int64_t kMaxAssumedRanks = 1 << 20;

bool is_about_group(std::string_view assumption) {
  return assumption.starts_with(kStride) || assumption.starts_with(kRanks);
}

// True if `name` is that of an unsized group or of a group of which it is a twin; empty for
// collectives without a group.
bool has_name(const Graph& graph, const UnsizedGroup& unsized, std::string_view name) {
  if (!unsized.group || name.empty()) return unsized.name == name;
  for (const ProcessGroup* each = &graph.group(unsized.group); each != nullptr;
       each = original_of(graph, *each))
    if (graph.text(each->name) == name) return true;
  return false;
}

Result<void> check_stride(const Graph& graph, const std::string& name, std::int64_t stride) {
  const std::string_view wanted = std::string_view(name).substr(kStride.size());
  bool is_guessed = false;
  for (std::size_t i = 0; i < graph.group_count() && !is_guessed; ++i) {
    const ProcessGroup& group = graph.group(GroupId(i));
    is_guessed = graph.text(group.name) == wanted && has_guessed_ranks(graph, group);
  }
  if (!is_guessed)
    return fail(Error::Kind::usage,
                "cannot assume {}: the graph has no process group {} with unknown ranks", name,
                wanted);
  if (stride < 1 || stride > kMaxStride)
    return fail(Error::Kind::usage, "{}: the ranks of a group must be 1 to {} apart, not {}", name,
                kMaxStride, stride);
  return {};
}

Result<void> check_ranks(const std::vector<UnsizedGroup>& unsized, const Graph& graph,
                         const std::string& name, std::int64_t ranks) {
  const std::string_view wanted = std::string_view(name).substr(kRanks.size());
  const auto is_wanted = [&](const UnsizedGroup& each) { return has_name(graph, each, wanted); };
  if (std::ranges::none_of(unsized, is_wanted))
    return fail(Error::Kind::usage,
                "cannot assume {}: the graph has no {} with an unknown number of ranks", name,
                wanted.empty() ? std::string("collective without a process group")
                               : "process group " + std::string(wanted));
  if (ranks < 1 || ranks > kMaxAssumedRanks)
    return fail(Error::Kind::usage, "{}: a group must have 1 to {} ranks, not {}", name,
                kMaxAssumedRanks, ranks);
  return {};
}

}  // namespace

bool names_group(std::string_view argument) {
  return argument == kGroupArguments[0] || argument == kGroupArguments[1];
}

std::string_view text_argument(const Graph& graph, const Node& call, std::string_view name) {
  const Argument* given = graph.argument(call, name);
  return given != nullptr && given->kind == Argument::Kind::string ? graph.text(given->text())
                                                                   : std::string_view();
}

const Argument* group_argument(const Graph& graph, const Node& call) {
  for (const std::string_view name : kGroupArguments)
    if (const Argument* given = graph.argument(call, name);
        given != nullptr && given->kind == Argument::Kind::string)
      return given;
  return nullptr;
}

std::optional<std::int64_t> known_group_size(const Graph& graph, const Node& collective) {
  const std::int64_t size = graph.group_size(collective);
  if (size != 1) return size;
  // group_size also returns 1 if it finds no size.
  if (collective.group && !graph.group(collective.group).ranks.empty()) return size;
  const Argument* given = graph.argument(collective, "group_size");
  if (given != nullptr && given->kind == Argument::Kind::integer) return size;
  return std::nullopt;
}

std::int64_t estimated_group_size(const Graph& graph, const Node& collective) {
  if (const auto known = known_group_size(graph, collective)) return *known;
  if (const auto assumed = assumed_ranks(graph, collective.group)) return *assumed;
  return default_group_size(graph, collective);
}

std::int64_t default_group_size(const Graph& graph, const Node& collective) {
  return std::max<std::int64_t>(graph.part(collective.part).world_size.value_or(2), 1);
}

const ProcessGroup* twin_of(const Graph& graph, const Part& part, std::string_view name,
                            std::int64_t size) {
  const ProcessGroup* longest = nullptr;
  for (const GroupId id : part.groups) {
    const ProcessGroup& group = graph.group(id);
    const std::string_view first = graph.text(group.name);
    if (std::ssize(group.ranks) == size && name.size() > first.size() && name.starts_with(first) &&
        name[first.size()] == '_' &&
        (longest == nullptr || first.size() > graph.text(longest->name).size()))
      longest = &group;
  }
  return longest;
}

const ProcessGroup* original_of(const Graph& graph, const ProcessGroup& group) {
  if (!group.derived) return nullptr;
  const ProcessGroup* original = nullptr;
  for (std::size_t p = 0; p < graph.part_count(); ++p) {
    const ProcessGroup* twin =
        twin_of(graph, graph.part(PartId(p)), graph.text(group.name), std::ssize(group.ranks));
    if (twin != nullptr && (original == nullptr || !twin->derived)) original = twin;
  }
  return original;
}

bool has_guessed_ranks(const Graph& graph, const ProcessGroup& group) {
  if (!group.derived) return false;
  const ProcessGroup* original = original_of(graph, group);
  return original == nullptr || original->derived;
}

std::string stride_name(std::string_view group) {
  return std::string(kStride) + std::string(group);
}

std::optional<std::int64_t> assumed_stride(const Graph& graph, const ProcessGroup& group) {
  const auto& named = graph.assumptions().named;
  if (named.empty() || !has_guessed_ranks(graph, group)) return std::nullopt;
  for (const ProcessGroup* each = &group; each != nullptr; each = original_of(graph, *each))
    if (const auto found = named.find(stride_name(graph.text(each->name))); found != named.end())
      return found->second;
  return std::nullopt;
}

std::int64_t rank_stride(const Graph& graph, const ProcessGroup& group) {
  return assumed_stride(graph, group).value_or(1);
}

std::string ranks_name(std::string_view group) {
  return std::string(kRanks) + std::string(group);
}

std::optional<std::int64_t> assumed_ranks(const Graph& graph, GroupId group) {
  const auto& named = graph.assumptions().named;
  if (named.empty()) return std::nullopt;
  const auto find = [&](std::string_view name) -> std::optional<std::int64_t> {
    const auto found = named.find(ranks_name(name));
    return found == named.end() ? std::nullopt : std::optional(found->second);
  };
  if (!group) return find({});
  for (const ProcessGroup* each = &graph.group(group); each != nullptr;
       each = original_of(graph, *each))
    if (const auto found = find(graph.text(each->name))) return found;
  return std::nullopt;
}

std::vector<UnsizedGroup> unsized_groups(const Graph& graph) {
  std::vector<UnsizedGroup> found;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!graph.is_collective_start(node) || known_group_size(graph, node) ||
        std::ranges::find(found, node.group, &UnsizedGroup::group) != found.end())
      continue;
    found.push_back({.group = node.group,
                     .name = node.group ? graph.text(graph.group(node.group).name) : "",
                     .collective = id});
  }
  return found;
}

Assumptions without_group_assumptions(Assumptions assumptions) {
  std::erase_if(assumptions.named, [](const auto& each) { return is_about_group(each.first); });
  return assumptions;
}

Assumptions only_group_assumptions(const Assumptions& assumptions) {
  Assumptions groups;
  for (const auto& [name, number] : assumptions.named)
    if (is_about_group(name)) groups.named.emplace(name, number);
  return groups;
}

Result<void> check_group_assumptions(const Graph& graph, const Assumptions& assumptions) {
  std::optional<std::vector<UnsizedGroup>> unsized;
  for (const auto& [name, number] : assumptions.named) {
    if (name.starts_with(kStride)) JOINTER_CHECK(check_stride(graph, name, number));
    if (!name.starts_with(kRanks)) continue;
    if (!unsized) unsized = unsized_groups(graph);
    JOINTER_CHECK(check_ranks(*unsized, graph, name, number));
  }
  return {};
}

}  // namespace jointer
