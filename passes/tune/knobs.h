#pragma once

// Which parameters the search turns, and the values that it tries.

#include <span>
#include <string_view>
#include <vector>

#include "core/pass/registry.h"

namespace jointer {

struct Knob {
  std::string_view pass, parameter;
  std::vector<PassValue> values;
};
// Of one pass; empty where there is nothing to turn.
std::span<const Knob> knobs_of(std::string_view pass);

// The step with this parameter; a value that the pass has by itself is not written. Parameters
// stand in the order in which they are declared, so that equal steps have equal texts.
PipelineStep with_value(PipelineStep step, const Pass& pass, std::string_view parameter,
                        const PassValue& value);

// A step without parameters, or with those of the text; the text must be right.
PipelineStep step_of(std::string_view text);

}  // namespace jointer
