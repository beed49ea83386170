#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/pass/pipeline_text.h"

namespace jointer {

// A named pipeline.
struct PipelinePreset {
  std::string name;      // without spaces
  std::string summary;   // one sentence
  std::string source;    // the upstream configuration
  std::string pipeline;  // as text
};

// The configurations of torchtitan's compiler toolkit, in the order of its README, followed by
// those of its graph_trainer. A preset may name passes that this build lacks; PassRegistry::check
// lists them.
const std::vector<PipelinePreset>& pipeline_presets();

// Error (usage): no preset has that name; the message suggests the nearest name.
Result<Pipeline> preset_pipeline(std::string_view name);

}  // namespace jointer
