#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/bench/request.h"
#include "core/graph/graph.h"
#include "core/pass/pipeline_text.h"

namespace jointer {

// The runner's backend for the graph of a pipeline.
struct PipelineBackend {
  Backend backend = Backend::interpret;
  std::string marked;        // for regional_inductor: as BenchmarkRequest::marked
  bool is_recorded = false;  // as a CUDA graph, on top of any backend
};

// None if the pipeline names no backend. Error (usage): it compiles both regions and the whole
// graph.
Result<std::optional<PipelineBackend>> backend_of(const Pipeline& pipeline);

// True if `custom` of the call has compile_with_inductor, where upstream's annotation puts it.
bool is_annotated_for_inductor(const Graph& graph, const Node& node);

}  // namespace jointer
