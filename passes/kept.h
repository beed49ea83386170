#pragma once

// Passes that report why they changed nothing.

#include <functional>
#include <string>
#include <utility>

#include "core/pass/pass.h"

namespace jointer {

// Runs `run`. If it decides nothing, adds a decision that says why.
inline auto or_kept(std::string why, decltype(Pass::run) run) {
  return [why = std::move(why), run = std::move(run)](Graph& graph, const Arguments& arguments,
                                                      PassContext& context) -> Result<void> {
    JOINTER_CHECK(run(graph, arguments, context));
    if (context.decisions().empty()) context.decide("kept", why);
    return {};
  };
}

}  // namespace jointer
