// The reader of TORCH_TRACE logs.

#include "core/capture/graph_reader.h"
#include "core/capture/torch_trace.h"

namespace jointer {
namespace {

Result<std::vector<GraphEntry>> list_trace(const CaptureFile& file) {
  JOINTER_TRY(const auto found, list_torch_trace(file.name, file.bytes.view()));
  std::vector<GraphEntry> entries;
  entries.reserve(found.size());
  for (const TraceGraph& graph : found)
    entries.push_back({.name = graph.name,
                       .kind = graph.kind,
                       .rank = graph.rank,
                       .nodes = graph.nodes,
                       .file = file.name,
                       .before = graph.before});
  return entries;
}

Result<PartId> append_trace(Graph& graph, const CaptureFile& file, std::size_t index,
                            std::optional<CaptureKind> as, const Progress& progress) {
  JOINTER_TRY(const PartId part,
              append_torch_trace(graph, file.name, file.bytes.view(), index, progress));
  if (as && graph.part(part).kind != *as)
    return fail(Error::Kind::usage,
                "{}: expected a {} graph, but {} is of kind {}; choose another graph with --graph "
                "N (`jointer info` lists them)",
                file.name, to_string(*as), graph.part(part).name, to_string(graph.part(part).kind));
  return part;
}

}  // namespace

extern const GraphReader kTorchTraceReader{.name = "TORCH_TRACE log",
                                           .title = "TORCH_TRACE log or folder",
                                           .pattern = "*.log *.log.zst",
                                           .recognizes = is_torch_trace,
                                           .list = list_trace,
                                           .append = append_trace};

}  // namespace jointer
