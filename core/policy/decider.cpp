// Edit::by says who made an edit: it is empty if the user did, and otherwise names passes with
// their parameters. The first pass sets the tags; later passes add FSDP's tags or solve the graph.
// One of upstream's policies counts as a preset if it is unmodified, and as a list if the user
// added operators or selectors. Passes after `search` reorder the graph, as was found best for the
// plan.

#include "core/policy/decider.h"

#include <algorithm>

namespace jointer {

std::string_view to_string(Decider decider) {
  switch (decider) {
    case Decider::partitioner:
      return "partitioner";
    case Decider::search:
      return "search";
    case Decider::preset:
      return "preset";
    case Decider::list:
      return "list";
    case Decider::user:
      return "user";
    case Decider::untagged:
      return "untagged";
    case Decider::capture:
      break;
  }
  return "tag";
}

std::string_view decided_by(Decider decider) {
  switch (decider) {
    case Decider::partitioner:
      return "solved";
    case Decider::search:
      return "searched";
    case Decider::user:
      return "person";
    case Decider::untagged:
      return "nobody";
    default:
      return to_string(decider);
  }
}

std::string searched_with(std::string_view order) {
  std::string by(kSearch);
  if (!order.empty()) by.append(",").append(order);
  return by;
}

std::string_view order_of(std::string_view by) {
  if (!by.starts_with(kSearch) || !by.substr(kSearch.size()).starts_with(',')) return {};
  return by.substr(kSearch.size() + 1);
}

Decider decider_of(std::string_view by) {
  if (by.empty()) return Decider::user;
  const std::string_view pass = by.substr(0, std::min(by.find_first_of("{,"), by.size()));
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
