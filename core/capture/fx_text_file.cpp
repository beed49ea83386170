// The reader of FX text files, which may contain several graphs.

#include <filesystem>

#include "core/capture/fx_text.h"
#include "core/capture/graph_reader.h"

namespace jointer {
namespace {

// The file name without its folder and extensions; used as the name of the graph.
std::string stem(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (const std::string_view end : {".zst", ".txt", ".py", ".log"})
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  return name;
}

// The displayed name of a graph. Includes the graph's own name if the file contains several.
std::string text_name(const CaptureFile& file, const FxTextEntry& entry, std::size_t count) {
  return count > 1 && !entry.name.empty() ? fmt::format("{}, {}", stem(file.name), entry.name)
                                          : stem(file.name);
}

Result<std::vector<GraphEntry>> list_text(const CaptureFile& file) {
  JOINTER_TRY(const auto found, list_fx_text({.file = file.name, .text = file.bytes.view()}));
  std::vector<GraphEntry> entries;
  entries.reserve(found.size());
  for (const FxTextEntry& entry : found)
    entries.push_back({.name = text_name(file, entry, found.size()),
                       .kind = entry.kind,
                       .nodes = entry.nodes,
                       .file = file.name});
  return entries;
}

Result<PartId> append_text(Graph& graph, const CaptureFile& file, std::size_t index,
                           std::optional<CaptureKind> as, const Progress& progress) {
  JOINTER_TRY(const auto found, list_fx_text({.file = file.name, .text = file.bytes.view()}));
  const std::string name =
      index < found.size() ? text_name(file, found[index], found.size()) : std::string();
  return append_fx_text(graph, {.file = file.name, .text = file.bytes.view()},
                        {.index = index, .kind = as, .name = name, .progress = progress});
}

}  // namespace

extern const GraphReader kFxTextReader{.name = "FX text",
                                       .title = "FX text",
                                       .pattern = "*.txt *.txt.zst *.py",
                                       .recognizes = is_fx_text,
                                       .list = list_text,
                                       .append = append_text};

}  // namespace jointer
