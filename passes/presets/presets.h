#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/pass/pipeline_text.h"

namespace jointer {

// A pipeline under a name.
struct PipelinePreset {
  std::string name;      // a word
  std::string summary;   // one sentence
  std::string source;    // whose configuration it is
  std::string pipeline;  // as text
};

// The configurations of torchtitan's compiler toolkit, as its README lists them, in its order; then
// those of its graph_trainer. A preset may name passes that this build lacks: PassRegistry::check
// says which.
const std::vector<PipelinePreset>& pipeline_presets();

// Error (usage): there is none of that name; the nearest is said.
Result<Pipeline> preset_pipeline(std::string_view name);

}  // namespace jointer
