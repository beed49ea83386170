#include "core/pass/pass.h"

#include <algorithm>
#include <array>

namespace jointer {

std::string_view to_string(PassStage stage) {
  static constexpr std::array<std::string_view, 9> kNames{"joint", "partition", "clean-up",
                                                          "FSDP",  "bucketing", "reordering",
                                                          "check", "compile",   "search"};
  return kNames[static_cast<std::size_t>(stage)];
}

Result<void> PassContext::report(double done) const {
  if (options_.is_cancelled && options_.is_cancelled())
    return fail(Error::Kind::cancelled, "cancelled");
  if (options_.report) options_.report(std::clamp(done, 0.0, 1.0));
  return {};
}

Result<Graph> PassContext::run_python(
    const Graph& graph, std::string function,
    std::vector<std::pair<std::string, PassValue>> arguments) const {
  if (!options_.python)
    return fail(Error::Kind::run,
                "the pass calls {} in Python, but no Python with torch is available; set "
                "JOINTER_PYTHON to one",
                function);
  return options_.python(graph, {.function = std::move(function),
                                 .arguments = std::move(arguments),
                                 .is_cancelled = options_.is_cancelled});
}

void PassContext::decide(const Graph& graph, NodeId node, std::string action, std::string reason) {
  decisions_.push_back(
      {.node = edit_name(graph, node), .action = std::move(action), .reason = std::move(reason)});
}

void PassContext::add(const PassContext& part) {
  decisions_.insert(decisions_.end(), part.decisions_.begin(), part.decisions_.end());
  tables_.insert(tables_.end(), part.tables_.begin(), part.tables_.end());
}

void PassContext::decide(std::string action, std::string reason) {
  decisions_.push_back({.action = std::move(action), .reason = std::move(reason)});
}

void PassContext::drop_changes(std::size_t count) {
  const auto is_change = [](const Decision& each) {
    return each.action != "kept" && each.action != "note";
  };
  const auto first = decisions_.begin() + static_cast<std::ptrdiff_t>(count);
  decisions_.erase(std::remove_if(first, decisions_.end(), is_change), decisions_.end());
}

}  // namespace jointer
