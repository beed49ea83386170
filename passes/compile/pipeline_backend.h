#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/bench/request.h"
#include "core/pass/pipeline_text.h"

namespace jointer {

// The backend that a pipeline selects for the runner.
struct PipelineBackend {
  Backend backend = Backend::interpret;
  // The `mark` parameters of all steps of regional_inductor, as in BenchmarkRequest::marked.
  std::string marked;
  bool is_recorded = false;  // captured as a CUDA graph, in addition to any backend
};

// std::nullopt if the pipeline selects neither a backend nor a CUDA graph. Error (usage): the
// pipeline compiles both regions and the whole graph.
Result<std::optional<PipelineBackend>> backend_of(const Pipeline& pipeline);

}  // namespace jointer
