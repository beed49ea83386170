#include "core/open/open.h"

#include <algorithm>
#include <filesystem>

#include "core/base/counted.h"
#include "core/base/file_start.h"
#include "core/capture/native_reader.h"
#include "core/capture/native_start.h"
#include "core/capture/no_such_graph.h"
#include "core/graph/complete.h"
#include "core/open/readers.h"
#include "core/workspace/workspace_capture.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

std::string display_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

Result<CaptureFile> load(const std::string& path) {
  JOINTER_TRY(PaddedBytes bytes, read_bytes(path));
  return CaptureFile{.name = display_name(path), .bytes = std::move(bytes)};
}

bool is_of(const GraphReader& reader, const CaptureFile& file) {
  return (!reader.suffix.empty() && file.name.ends_with(reader.suffix)) ||
         reader.recognizes(file.bytes.view());
}

Result<const GraphReader*> reader_for(const CaptureFile& file) {
  std::string known;
  for (const GraphReader* reader : graph_readers()) {
    if (is_of(*reader, file)) return reader;
    known += (known.empty() ? "" : ", ") + std::string(reader->name);
  }
  return input_error("{}: unknown format; known formats: {}", file.name, known);
}

// A file that refers to a capture, such as a workspace, counts as one graph.
Result<std::vector<GraphEntry>> list(const GraphReader& reader, const CaptureFile& file) {
  if (reader.open == nullptr) return reader.list(file);
  return std::vector<GraphEntry>{{.name = file.name, .file = file.name}};
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code status;
  if (!fs::is_directory(path, status)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::directory_iterator it(path, status), last; !status && it != last; it.increment(status)) {
    std::error_code unreadable;  // such a file is not listed
    if (it->is_regular_file(unreadable)) files.push_back(it->path().string());
  }
  if (status) return input_error("{}: {}", path, status.message());
  std::ranges::sort(files);
  if (files.empty()) return input_error("{}: the folder contains no files", path);
  return files;
}

// The graphs in a file or folder, and the location of each.
struct Listing {
  struct Place {
    std::string path;
    std::size_t index;  // within its file
  };
  std::vector<GraphEntry> entries;
  std::vector<Place> places;  // one per entry
  std::size_t ignored = 0;    // number of files in a folder that contain no graph
};

// Classifies a file in a folder by its suffix and first bytes.
NativeStart look_at_start(const std::string& path) {
  const auto start = read_start(path, kNativeStart);
  if (!start || start->empty()) return NativeStart::other;
  if (path.ends_with(kWorkspaceSuffix) || is_workspace(*start)) return NativeStart::other;
  return is_native_capture(*start) ? look_at_native_start(*start) : NativeStart::unknown;
}

// Empty, or " (3 files ignored)".
std::string ignored_text(std::size_t ignored) {
  return ignored == 0 ? std::string() : fmt::format(" ({} ignored)", counted(ignored, "file"));
}

Result<Listing> locate(const std::string& path) {
  JOINTER_TRY(const std::vector<std::string> files, files_of(path));
  Listing listing;
  for (const std::string& file_path : files) {
    // Ignores files in a folder that are not captures; a file that the user names must be a capture
    // or a workspace.
    if (file_path != path) {
      const NativeStart start = look_at_start(file_path);
      if (start == NativeStart::other) ++listing.ignored;
      if (start == NativeStart::one_graph) {
        listing.entries.push_back({.name = file_path, .file = file_path});
        listing.places.push_back({.path = file_path, .index = 0});
      }
      if (start != NativeStart::unknown) continue;
    }
    auto file = load(file_path);
    auto reader = file ? reader_for(*file) : tl::unexpected(file.error());
    auto entries = reader ? list(**reader, *file) : tl::unexpected(reader.error());
    if (!entries) {
      if (files.size() == 1) return tl::unexpected(entries.error());
      ++listing.ignored;
      continue;
    }
    const std::size_t first = listing.entries.size();
    for (std::size_t i = 0; i < entries->size(); ++i) {
      listing.entries.push_back(std::move((*entries)[i]));
      if (auto& before = listing.entries.back().before) *before += first;
      listing.places.push_back({.path = file_path, .index = i});
    }
  }
  if (listing.entries.empty())
    return input_error("{}: contains no graph{}", path, ignored_text(listing.ignored));
  return listing;
}

// The index of the requested graph.
Result<std::size_t> chosen(const OpenRequest& request, std::span<const GraphEntry> entries,
                           std::size_t ignored = 0) {
  const std::string name = display_name(request.path);
  if (entries.empty()) return input_error("{}: contains no graph", name);
  std::optional<std::size_t> index = request.index;
  if (!index && entries.size() == 1) index = 0;
  if (!index && request.choose) index = request.choose(entries);
  if (!index)
    return fail(Error::Kind::usage, "{} contains {} graphs{}; choose one with --graph N (0 to {})",
                name, entries.size(), ignored_text(ignored), entries.size() - 1);
  if (*index >= entries.size()) return no_such_graph(name, *index, entries.size());
  return *index;
}

Result<Graph> open_in_folder(const OpenRequest& request) {
  JOINTER_TRY(const Listing listing, locate(request.path));
  JOINTER_TRY(const std::size_t index, chosen(request, listing.entries, listing.ignored));
  const Listing::Place& place = listing.places[index];
  JOINTER_TRY(const CaptureFile file, load(place.path));
  JOINTER_TRY(const GraphReader* reader, reader_for(file));
  return read_graph(*reader, file, place.index, request.progress);
}

// The common prefix of two names, without separators at its end; `a` if there is none.
std::string common_name(std::string_view a, std::string_view b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  std::string_view common = a.substr(0, static_cast<std::size_t>(end - a.begin()));
  while (!common.empty() && std::string_view("._-, ").find(common.back()) != std::string_view::npos)
    common.remove_suffix(1);
  return std::string(common.empty() ? a : common);
}

// The compilation that a log entry belongs to: the entry's name without the last part.
std::string_view compilation(const GraphEntry& entry) {
  const auto comma = entry.name.rfind(", ");
  return std::string_view(entry.name).substr(0, comma == std::string::npos ? 0 : comma);
}

// The index of the graph to open as a half: the only graph in the file, or the only graph of this
// kind. If there are several, those from the compilation of the other half are preferred, and then
// those that AOTAutograd logged (`aot_forward_graph`, `aot_backward_graph`). Error (usage): no
// graph is of this kind, or several remain.
Result<std::size_t> choose_half(const CaptureFile& file, const std::vector<GraphEntry>& entries,
                                CaptureKind kind, const GraphEntry* beside) {
  if (entries.size() == 1) return std::size_t{0};
  std::vector<std::size_t> fitting;
  const auto keep = [&](auto predicate) {
    const auto fits = [&](std::size_t i) { return predicate(entries[i]); };
    if (std::ranges::any_of(fitting, fits))
      std::erase_if(fitting, [&](std::size_t i) { return !fits(i); });
  };
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].kind == kind) fitting.push_back(i);
  if (beside != nullptr)
    keep([&](const GraphEntry& e) { return compilation(e) == compilation(*beside); });
  const std::string made = fmt::format("aot_{}_graph", to_string(kind));
  keep([&](const GraphEntry& e) { return e.name.ends_with(made); });
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty())
    return fail(Error::Kind::usage, "{} contains {}, but no {} graph; choose another file",
                file.name, counted(entries.size(), "graph"), to_string(kind));
  return fail(
      Error::Kind::usage,
      "{} contains {} graphs, {} of which could be the {} half; choose the forward half with "
      "--graph N (`jointer info` lists the graphs), or save the two halves as separate files",
      file.name, entries.size(), fitting.size(), to_string(kind));
}

// The error for a file that should hold half of a pair but only refers to a capture.
Result<void> not_a_half(const CaptureFile& file, const GraphReader& reader, CaptureKind kind) {
  if (kind == CaptureKind::forward)
    return fail(Error::Kind::usage,
                "{} is a {}, which refers to a complete graph; open it without a second file",
                file.name, reader.name);
  return input_error("{}: a {} cannot be the {} half; give a capture", file.name, reader.name,
                     to_string(kind));
}

Result<Graph> open_pair(const OpenRequest& request) {
  Graph graph;
  std::optional<GraphEntry> forward;
  const auto add = [&](const std::string& path, CaptureKind kind, double from) -> Result<void> {
    const Progress scaled = [&](double fraction, std::string_view what) {
      return request.progress(from + fraction / 2, what);
    };
    JOINTER_TRY(const CaptureFile file, load(path));
    JOINTER_TRY(const GraphReader* reader, reader_for(file));
    if (reader->open != nullptr) return not_a_half(file, *reader, kind);
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
  graph.set_title(common_name(graph.part(kForwardPart).name, graph.part(kBackwardPart).name));
  if (auto done = complete(graph); !done)
    return input_error("{} with {}: {}", display_name(request.path), display_name(request.backward),
                       done.error().message);
  return graph;
}

Result<Graph> assume(Result<Graph> graph, const OpenRequest& request) {
  if (!graph || request.assumptions.empty()) return graph;
  if (auto assumed = graph->assume(request.assumptions); !assumed)
    return fail(assumed.error().kind, "{}: {}", display_name(request.path),
                assumed.error().message);
  return graph;
}

}  // namespace

std::string describe(const GraphEntry& entry) {
  std::string facts(entry.kind ? to_string(*entry.kind) : std::string_view{});
  if (entry.nodes > 0)
    facts += fmt::format("{}{}", facts.empty() ? "" : ", ", counted(entry.nodes, "node"));
  return facts.empty() ? entry.name : fmt::format("{} ({})", entry.name, facts);
}

Result<std::vector<GraphEntry>> list_graphs(const std::string& path) {
  JOINTER_TRY(Listing listing, locate(path));
  return std::move(listing.entries);
}

Result<OpenRequest> request_before(const OpenRequest& request) {
  const std::string name = display_name(request.path);
  const auto no_log = [&] {
    return fail(Error::Kind::usage,
                "{}: only a log of passes contains the graph before a pass; give a second graph, B",
                name);
  };
  if (!request.backward.empty() || is_workspace_file(request.path)) return no_log();
  JOINTER_TRY(const Listing listing, locate(request.path));
  JOINTER_TRY(const std::size_t index, chosen(request, listing.entries));
  const GraphEntry& entry = listing.entries[index];
  if (std::ranges::none_of(listing.entries,
                           [](const GraphEntry& each) { return each.before.has_value(); }))
    return no_log();
  if (!entry.before)
    return fail(Error::Kind::usage,
                "{}: the log does not contain the graph that a pass turned into {}; choose another "
                "graph with --graph N (`jointer info` lists them)",
                name, entry.name);
  OpenRequest before = request;
  before.index = entry.before;
  return before;
}

std::string formats_text() {
  const auto readers = graph_readers();
  std::string text;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    if (i > 0) text += i + 1 < readers.size() ? ", " : ", or ";
    text += readers[i]->title;
  }
  return text;
}

Result<Graph> open_graph(const OpenRequest& request) {
  std::error_code status;
  if (!request.backward.empty()) return assume(open_pair(request), request);
  if (fs::is_directory(request.path, status)) return assume(open_in_folder(request), request);
  JOINTER_TRY(const CaptureFile file, load(request.path));
  JOINTER_TRY(const GraphReader* reader, reader_for(file));
  if (reader->open != nullptr) return reader->open(file, request);
  JOINTER_TRY(const auto entries, reader->list(file));
  JOINTER_TRY(const std::size_t index, chosen(request, entries));
  return assume(read_graph(*reader, file, index, request.progress), request);
}

}  // namespace jointer
