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
  std::string source;    // the corresponding upstream configuration
  std::string pipeline;  // as text
};

// The configurations of torchtitan's compiler toolkit, in the order of its README, followed by
// configurations of torchtitan's graph_trainer. A preset may contain passes that this build lacks;
// PassRegistry::check lists them.
const std::vector<PipelinePreset>& pipeline_presets();

// Error (usage): there is no preset of that name; the message suggests a similar name, if there is
// one.
Result<Pipeline> preset_pipeline(std::string_view name);

}  // namespace jointer
