#pragma once

// Support for passes that report why they changed nothing.

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "core/pass/pass.h"

namespace jointer {

// Wraps the `run` function of a pass: if it adds no decision, adds one with the reason `why`. Notes
// do not count as decisions.
inline auto with_kept_decision(std::string why, decltype(Pass::run) run) {
  return [why = std::move(why), run = std::move(run)](Graph& graph, const Arguments& arguments,
                                                      PassContext& context) -> Result<void> {
    JOINTER_CHECK(run(graph, arguments, context));
    const auto decides = [](const Decision& each) { return each.action != "note"; };
    if (std::ranges::none_of(context.decisions(), decides)) context.decide("kept", why);
    return {};
  };
}

}  // namespace jointer
