#pragma once

// The parameters that the search varies, and the values that it tries for each of them.

#include <span>
#include <string_view>
#include <vector>

#include "core/pass/registry.h"

namespace jointer {

struct Knob {
  std::string_view pass, parameter;
  std::vector<PassValue> values;
};
// The knobs of a pass; empty if there are none.
std::span<const Knob> knobs_of(std::string_view pass);

// The pipeline step with this parameter set. Default values are left out and parameters are in
// declaration order, so equal pipeline steps have equal texts.
PipelineStep with_value(PipelineStep step, const Pass& pass, std::string_view parameter,
                        const PassValue& value);

// Parses a pipeline step, with or without parameters. The text must be valid.
PipelineStep step_of(std::string_view text);

}  // namespace jointer
