// Edit::by says who made an edit. It is empty if the user did; otherwise, it is a list of passes
// with their parameters, whose first entry may also be `search`, `user` or `import_policy`. The
// first pass sets the tags; later passes add FSDP's tags or solve the graph. One of upstream's
// policies counts as a preset if it is unmodified, and as a list if the user added operators or
// selectors. Passes after `search` or `user` reorder the graph; a search found them for the plan.

#include "core/policy/decider.h"

#include <algorithm>
#include <array>

namespace jointer {
namespace {

constexpr std::string_view kUser = "user";

std::string with_order(std::string_view by, std::string_view order) {
  std::string text(by);
  if (!order.empty()) text.append(",").append(order);
  return text;
}

std::string_view first_pass(std::string_view by) {
  return by.substr(0, std::min(by.find_first_of("{,"), by.size()));
}

}  // namespace

std::string_view to_string(Decider decider) {
  static constexpr std::array<std::string_view, kDeciders> kNames{
      "partitioner", "search", "preset", "list", "user", "tag", "untagged"};
  return kNames[static_cast<std::size_t>(decider)];
}

std::string_view decided_by(Decider decider) {
  static constexpr std::array<std::string_view, kDeciders> kNames{
      "solved", "searched", "preset", "list", "person", "tag", "nobody"};
  return kNames[static_cast<std::size_t>(decider)];
}

std::string searched_with(std::string_view order) {
  return with_order(kSearch, order);
}

std::string decided_with(std::string_view order) {
  return with_order(kUser, order);
}

bool sets_order(std::string_view by) {
  const std::string_view pass = first_pass(by);
  return pass == kSearch || pass == kUser;
}

std::string_view order_of(std::string_view by) {
  const std::string_view rest = by.substr(first_pass(by).size());
  return sets_order(by) && rest.starts_with(',') ? rest.substr(1) : std::string_view();
}

Decider decider_of(std::string_view by) {
  if (by.empty()) return Decider::user;
  const std::string_view pass = first_pass(by);
  if (pass == kUser) return Decider::user;
  if (pass == kSearch) return Decider::search;
  if (pass == "min_cut_partition" || pass == "default_partition") return Decider::partitioner;
  if (pass == "fsdp_reshard_after_fwd") return Decider::preset;
  const std::string_view rest = by.substr(pass.size());
  const std::string_view parameters =
      rest.starts_with('{') ? rest.substr(0, rest.find('}')) : std::string_view();
  const auto has = [&](std::string_view key) {
    return parameters.find(key) != std::string_view::npos;
  };
  if (pass == "apply_sac") return parameters.empty() ? Decider::preset : Decider::list;
  if (pass == "tag_with_memory_policy") return has("save_ops=") ? Decider::list : Decider::preset;
  return Decider::list;
}

}  // namespace jointer
