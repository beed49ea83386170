#include "core/open/open.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/capture/fx_text.h"
#include "core/capture/native_reader.h"
#include "core/capture/native_stages.h"
#include "core/capture/torch_trace.h"
#include "core/graph/complete.h"
#include "core/open/open_workspace.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

// The kind of a stage's graph, by its role.
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

// Calls `read` with the name and the bytes of the document that holds graph `index`: the whole
// file, or one of its stages.
template <class Read>
auto read_document(const CaptureFile& file, std::size_t index, Read read)
    -> decltype(read(file.name, file.bytes)) {
  JOINTER_TRY(const auto stages, find_stages(file.name, file.bytes.view()));
  if (!stages) return read(file.name, file.bytes);
  if (index >= stages->size())
    return fail(Error::Kind::usage, "{}: there is no stage {}; the last one is {}", file.name,
                index, stages->size() - 1);
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
    return input_error("{}: it is a capture of kind {}, but is given as the {} half", file.name,
                       to_string(kind), to_string(*as));
  return part;
}

// A file's name without folder, format and compression endings: a name for the graph in it.
std::string stem(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  for (const std::string_view end : {".zst", ".txt", ".py", ".log"})
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  return name;
}

// The name of a graph; with its own name if the file holds several.
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
    return fail(Error::Kind::usage, "{}: {} is of kind {}, but is given as the {} half", file.name,
                graph.part(part).name, to_string(graph.part(part).kind), to_string(*as));
  return part;
}

// Reads a graph of one part with a reader's `append`.
template <auto append>
Result<Graph> read_one(const CaptureFile& file, std::size_t index, const Progress& progress) {
  Graph graph;
  JOINTER_TRY(const PartId part, append(graph, file, index, std::nullopt, progress));
  graph.set_title(graph.part(part).name);
  if (auto done = complete(graph); !done)
    return input_error("{}: {}", file.name, done.error().message);
  return graph;
}

// Logs contain FX text, so their reader is tried before that of FX text.
constexpr std::array kReaders{
    CaptureReader{.name = "native capture",
                  .pattern = "*.json *.json.zst",
                  .recognizes = is_native_capture,
                  .list = list_native,
                  .read = open_native,
                  .append = append_native_half},
    CaptureReader{.name = "TORCH_TRACE log",
                  .pattern = "*.log *.log.zst",
                  .recognizes = is_torch_trace,
                  .list = list_trace,
                  .read = read_one<append_trace>,
                  .append = append_trace},
    CaptureReader{.name = "FX text",
                  .pattern = "*.txt *.txt.zst *.py",
                  .recognizes = is_fx_text,
                  .list = list_text,
                  .read = read_one<append_text>,
                  .append = append_text},
};

std::string display_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

Result<CaptureFile> load(const std::string& path) {
  JOINTER_TRY(PaddedBytes bytes, read_bytes(path));
  return CaptureFile{.name = display_name(path), .bytes = std::move(bytes)};
}

Result<const CaptureReader*> reader_for(const CaptureFile& file) {
  for (const CaptureReader& reader : kReaders)
    if (reader.recognizes(file.bytes.view())) return &reader;
  std::string known;
  for (const CaptureReader& reader : kReaders)
    known += (known.empty() ? "" : ", ") + std::string(reader.name);
  return input_error("{}: unknown format; known formats: {}", file.name, known);
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code status;
  if (!fs::is_directory(path, status)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path, status))
    if (entry.is_regular_file(status)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  if (files.empty()) return input_error("{}: there are no files in this folder", path);
  return files;
}

// The graphs of a file or folder, and where each is.
struct Listing {
  struct Place {
    std::string path;
    std::size_t index;  // within its file
  };
  std::vector<GraphEntry> entries;
  std::vector<Place> places;  // one per entry
};

Result<Listing> locate(const std::string& path) {
  JOINTER_TRY(const std::vector<std::string> files, files_of(path));
  Listing listing;
  for (const std::string& file_path : files) {
    // Files in a folder that are not captures are skipped; a named file must be one.
    auto file = load(file_path);
    auto reader = file ? reader_for(*file) : tl::unexpected(file.error());
    auto entries = reader ? (*reader)->list(*file) : tl::unexpected(reader.error());
    if (!entries) {
      if (files.size() == 1) return tl::unexpected(entries.error());
      continue;
    }
    const std::size_t first = listing.entries.size();
    for (std::size_t i = 0; i < entries->size(); ++i) {
      listing.entries.push_back(std::move((*entries)[i]));
      if (auto& before = listing.entries.back().before) *before += first;
      listing.places.push_back({.path = file_path, .index = i});
    }
  }
  if (listing.entries.empty()) return input_error("{}: there is no graph in it", path);
  return listing;
}

// The index of the requested graph.
Result<std::size_t> chosen(const OpenRequest& request, std::span<const GraphEntry> entries) {
  const std::string name = display_name(request.path);
  if (entries.empty()) return input_error("{}: there is no graph in it", name);
  std::optional<std::size_t> index = request.index;
  if (!index && entries.size() == 1) index = 0;
  if (!index && request.choose) index = request.choose(entries);
  if (!index)
    return fail(Error::Kind::usage, "{} holds {} graphs; choose one with --graph N, 0 to {}", name,
                entries.size(), entries.size() - 1);
  if (*index >= entries.size())
    return fail(Error::Kind::usage, "{}: there is no graph {}; the last one is {}", name, *index,
                entries.size() - 1);
  return *index;
}

Result<Graph> open_one(const OpenRequest& request) {
  std::error_code status;
  if (!fs::is_directory(request.path, status)) {
    JOINTER_TRY(const CaptureFile file, load(request.path));
    JOINTER_TRY(const CaptureReader* reader, reader_for(file));
    JOINTER_TRY(const auto entries, reader->list(file));
    JOINTER_TRY(const std::size_t index, chosen(request, entries));
    return reader->read(file, index, request.progress);
  }
  JOINTER_TRY(const Listing listing, locate(request.path));
  JOINTER_TRY(const std::size_t index, chosen(request, listing.entries));
  const Listing::Place& place = listing.places[index];
  JOINTER_TRY(const CaptureFile file, load(place.path));
  JOINTER_TRY(const CaptureReader* reader, reader_for(file));
  return reader->read(file, place.index, request.progress);
}

// The common prefix of two names, or `a` if they have none.
std::string common_name(std::string_view a, std::string_view b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  std::string_view common = a.substr(0, static_cast<std::size_t>(end - a.begin()));
  while (!common.empty() && std::string_view("._-, ").find(common.back()) != std::string_view::npos)
    common.remove_suffix(1);
  return std::string(common.empty() ? a : common);
}

// The compilation that an entry of a log belongs to: its name without the last part.
std::string_view compilation(const GraphEntry& entry) {
  const auto comma = entry.name.rfind(", ");
  return std::string_view(entry.name).substr(0, comma == std::string::npos ? 0 : comma);
}

// The index of the graph to open as a half: the only graph of the file, or the only one of that
// kind. Among several, the one that AOTAutograd made in the compilation of the other half.
Result<std::size_t> choose_half(const CaptureFile& file, const std::vector<GraphEntry>& entries,
                                CaptureKind kind, const GraphEntry* beside) {
  if (entries.size() == 1) return std::size_t{0};
  std::vector<std::size_t> fitting;
  const auto keep = [&](auto predicate) {
    const auto fits = [&](std::size_t i) { return predicate(entries[i]); };
    if (std::any_of(fitting.begin(), fitting.end(), fits))
      std::erase_if(fitting, [&](std::size_t i) { return !fits(i); });
  };
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].kind == kind) fitting.push_back(i);
  if (beside != nullptr)
    keep([&](const GraphEntry& e) { return compilation(e) == compilation(*beside); });
  const std::string made = fmt::format("aot_{}_graph", to_string(kind));
  keep([&](const GraphEntry& e) { return e.name.ends_with(made); });
  if (fitting.size() == 1) return fitting.front();
  return fail(
      Error::Kind::usage,
      "{} holds {} graphs, and {} of them could be the {} half; choose the forward with --graph N "
      "(`jointer info` lists them), or put each graph into its own file",
      file.name, entries.size(), fitting.size(), to_string(kind));
}

Result<Graph> open_pair(const OpenRequest& request) {
  Graph graph;
  std::optional<GraphEntry> forward;
  const auto add = [&](const std::string& path, CaptureKind kind, double from) -> Result<void> {
    const Progress scaled = [&](double fraction, std::string_view what) {
      return request.progress(from + fraction / 2, what);
    };
    JOINTER_TRY(const CaptureFile file, load(path));
    JOINTER_TRY(const CaptureReader* reader, reader_for(file));
    JOINTER_TRY(const auto entries, reader->list(file));
    std::size_t index = 0;
    if (!forward && request.index) {
      JOINTER_TRY(index, chosen(request, entries));
    } else {
      JOINTER_TRY(index, choose_half(file, entries, kind, forward ? &*forward : nullptr));
    }
    JOINTER_CHECK(reader->append(graph, file, index, kind, request.progress ? scaled : Progress()));
    if (!forward) forward = entries[index];
    return {};
  };
  JOINTER_CHECK(add(request.path, CaptureKind::forward, 0));
  JOINTER_CHECK(add(request.backward, CaptureKind::backward, 0.5));
  graph.set_title(common_name(graph.part(PartId(0)).name, graph.part(PartId(1)).name));
  if (auto done = complete(graph); !done)
    return input_error("{} with {}: {}", display_name(request.path), display_name(request.backward),
                       done.error().message);
  return graph;
}

}  // namespace

std::span<const CaptureReader> capture_readers() {
  return kReaders;
}

std::string describe(const GraphEntry& entry) {
  std::string facts(entry.kind ? to_string(*entry.kind) : std::string_view{});
  if (entry.nodes > 0) facts += fmt::format("{}{} nodes", facts.empty() ? "" : ", ", entry.nodes);
  return facts.empty() ? entry.name : fmt::format("{} ({})", entry.name, facts);
}

Result<std::vector<GraphEntry>> list_graphs(const std::string& path) {
  JOINTER_TRY(Listing listing, locate(path));
  return std::move(listing.entries);
}

Result<OpenRequest> request_before(const OpenRequest& request) {
  const std::string name = display_name(request.path);
  if (!request.backward.empty() || is_workspace_file(request.path))
    return fail(Error::Kind::usage, "{}: only a log of passes has the graph before a pass", name);
  JOINTER_TRY(const Listing listing, locate(request.path));
  JOINTER_TRY(const std::size_t index, chosen(request, listing.entries));
  const GraphEntry& entry = listing.entries[index];
  if (!entry.before)
    return fail(
        Error::Kind::usage,
        "{}: it does not record the graph from which a pass made {}; choose one with --graph N "
        "(`jointer info` lists them)",
        name, entry.name);
  OpenRequest before = request;
  before.index = entry.before;
  return before;
}

Result<Graph> open_graph(const OpenRequest& request) {
  if (is_workspace_file(request.path)) return open_workspace_graph(request);
  JOINTER_TRY(Graph graph, request.backward.empty() ? open_one(request) : open_pair(request));
  if (!request.assumptions.empty()) {
    if (auto assumed = graph.assume(request.assumptions); !assumed)
      return fail(assumed.error().kind, "{}: {}", display_name(request.path),
                  assumed.error().message);
  }
  return graph;
}

}  // namespace jointer
