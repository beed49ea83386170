// TORCH_TRACE logs.

#include "core/capture/torch_trace.h"

#include "core/graph/complete.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jointer;
  const std::string_view text = fuzz::as_text(data, size);
  is_torch_trace(text);
  const auto graphs = list_torch_trace("input", text);
  if (!graphs) return 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(graphs->size(), 3); ++i) {
    Graph graph;
    if (!append_torch_trace(graph, "input", text, i, {})) continue;
    if (complete(graph)) fuzz::exercise(graph);
  }
  return 0;
}
