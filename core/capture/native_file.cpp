// The reader of native captures: files with one capture, a pair, or the graphs of a pipeline stage.

#include "core/capture/graph_reader.h"
#include "core/capture/native_reader.h"
#include "core/capture/native_stages.h"
#include "core/capture/no_such_graph.h"

namespace jointer {
namespace {

// The kind of a stage's graph, according to its role.
CaptureKind stage_kind(const StageText& stage) {
  return stage.role.starts_with("backward") || stage.role == "reduce_grad" ? CaptureKind::backward
                                                                           : CaptureKind::forward;
}

Result<std::vector<GraphEntry>> list_native(const CaptureFile& file) {
  JOINTER_TRY(const auto stages, find_stages(file.name, file.bytes.view()));
  if (!stages) return std::vector<GraphEntry>{{.name = file.name, .file = file.name}};
  std::vector<GraphEntry> entries;
  for (const StageText& stage : *stages)
    entries.push_back({.name = stage.name, .kind = stage_kind(stage), .file = file.name});
  return entries;
}

// Calls `read` with the name and bytes of the document that contains graph `index`: the whole file,
// or one of its stages.
template <class Read>
auto read_document(const CaptureFile& file, std::size_t index, Read read)
    -> decltype(read(file.name, file.bytes)) {
  JOINTER_TRY(const auto stages, find_stages(file.name, file.bytes.view()));
  if (!stages) return read(file.name, file.bytes);
  if (index >= stages->size()) return no_such_graph(file.name, index, stages->size());
  const StageText& stage = (*stages)[index];
  return read(fmt::format("{}, {}", file.name, stage.name), PaddedBytes(stage.capture));
}

Result<Graph> open_native(const CaptureFile& file, std::size_t index, const Progress& progress) {
  return read_document(file, index, [&](const std::string& name, const PaddedBytes& bytes) {
    return read_native(name, bytes, progress);
  });
}

Result<PartId> append_native_half(Graph& graph, const CaptureFile& file, std::size_t index,
                                  std::optional<CaptureKind> as, const Progress& progress) {
  JOINTER_TRY(const PartId part,
              read_document(file, index, [&](const std::string& name, const PaddedBytes& bytes) {
                return append_native(graph, name, bytes, progress);
              }));
  const CaptureKind kind = graph.part(part).kind;
  if (as && kind != *as)
    return input_error(
        "{0}: expected a {1} graph, but the capture is of kind {2}; give the {1} half of a pair",
        file.name, to_string(*as), to_string(kind));
  return part;
}

}  // namespace

extern const GraphReader kNativeReader{.name = "native capture",
                                       .title = "native capture",
                                       .pattern = "*.json *.json.zst",
                                       .recognizes = is_native_capture,
                                       .list = list_native,
                                       .append = append_native_half,
                                       .read = open_native};

}  // namespace jointer
