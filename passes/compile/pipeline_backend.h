#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/bench/request.h"
#include "core/graph/graph.h"
#include "core/pass/pipeline_text.h"

namespace jointer {

// How the runner runs a graph after a pipeline.
struct PipelineBackend {
  Backend backend = Backend::interpret;
  std::string marked;        // of regional_inductor: as BenchmarkRequest::marked
  bool is_recorded = false;  // as a CUDA graph, over whatever the backend is
};

// Nothing if the pipeline asks for none. Error (usage): it compiles regions and the whole.
Result<std::optional<PipelineBackend>> backend_of(const Pipeline& pipeline);

// A call that carries custom["compile_with_inductor"], as upstream's annotation leaves it.
bool is_annotated_for_inductor(const Graph& graph, const Node& node);

}  // namespace jointer
