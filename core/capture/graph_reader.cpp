#include "core/capture/graph_reader.h"

#include "core/graph/complete.h"

namespace jointer {

Result<Graph> read_graph(const GraphReader& reader, const CaptureFile& file, std::size_t index,
                         const Progress& progress) {
  if (reader.read != nullptr) return reader.read(file, index, progress);
  Graph graph;
  JOINTER_TRY(const PartId part, reader.append(graph, file, index, std::nullopt, progress));
  graph.set_title(graph.part(part).name);
  if (auto done = complete(graph); !done)
    return input_error("{}: {}", file.name, done.error().message);
  return graph;
}

}  // namespace jointer
