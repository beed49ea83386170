// FX graphs as text. A written text must read back as a graph with the same number of nodes.

#include "core/capture/fx_text.h"

#include "core/graph/complete.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace jointer;

Result<Graph> read(std::string_view text, std::size_t index) {
  Graph graph;
  JOINTER_TRY(const PartId part,
              append_fx_text(graph, {.file = "input", .text = text}, {.index = index}));
  graph.set_title(graph.part(part).name);
  JOINTER_CHECK(complete(graph));
  return graph;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  is_fx_text(text);
  const auto entries = list_fx_text({.file = "input", .text = text});
  if (!entries) return 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(entries->size(), 4); ++i) {
    const auto graph = read(text, i);
    if (!graph) continue;
    fuzz::exercise(*graph);
    const std::string written = export_fx_text(*graph);
    const auto again = read(written, 0);
    fuzz::require(again.has_value(), "the text that was written cannot be read",
                  again ? std::string() : again.error().message + "\n" + written);
    fuzz::require(again->node_count() == graph->node_count(),
                  "the text that was written has other nodes", written);
  }
  return 0;
}
