#include "core/capture/open.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/capture/native_reader.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

Result<std::vector<GraphEntry>> list_native(const CaptureFile& file) {
  return std::vector<GraphEntry>{{.name = file.name, .file = file.name}};
}

Result<Graph> open_native(const CaptureFile& file, std::size_t /*index*/,
                          const Progress& progress) {
  return read_native(file.name, file.bytes, progress);
}

constexpr std::array kReaders{
    CaptureReader{.name = "native capture",
                  .pattern = "*.json *.json.zst",
                  .recognizes = is_native_capture,
                  .list = list_native,
                  .read = open_native},
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
  return input_error("{}: of no known format; known are: {}", file.name, known);
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

// A graph and where it is.
struct Located {
  GraphEntry entry;
  std::string path;
  std::size_t index;  // within its file
};

Result<std::vector<Located>> locate(const std::string& path) {
  JOINTER_TRY(const std::vector<std::string> files, files_of(path));
  std::vector<Located> located;
  for (const std::string& file_path : files) {
    // In a folder, files that are no captures are passed over; a named file must be one.
    auto file = load(file_path);
    auto reader = file ? reader_for(*file) : tl::unexpected(file.error());
    auto entries = reader ? (*reader)->list(*file) : tl::unexpected(reader.error());
    if (!entries) {
      if (files.size() == 1) return tl::unexpected(entries.error());
      continue;
    }
    for (std::size_t i = 0; i < entries->size(); ++i)
      located.push_back({.entry = std::move((*entries)[i]), .path = file_path, .index = i});
  }
  if (located.empty()) return input_error("{}: there is no graph in it", path);
  return located;
}

std::string choices(const std::vector<Located>& located) {
  std::string text;
  for (std::size_t i = 0; i < located.size(); ++i)
    text += fmt::format("\n  {:>3}  {}", i, located[i].entry.name);
  return text;
}

Result<Graph> open_one(const OpenRequest& request) {
  std::error_code status;
  if (!fs::is_directory(request.path, status)) {
    // The common case: read the file once.
    JOINTER_TRY(const CaptureFile file, load(request.path));
    JOINTER_TRY(const CaptureReader* reader, reader_for(file));
    JOINTER_TRY(const auto entries, reader->list(file));
    if (entries.size() == 1 && request.index.value_or(0) == 0)
      return reader->read(file, 0, request.progress);
    if (request.index && *request.index < entries.size())
      return reader->read(file, *request.index, request.progress);
  }
  JOINTER_TRY(const std::vector<Located> located, locate(request.path));
  if (!request.index && located.size() > 1)
    return fail(Error::Kind::usage, "{} holds {} graphs; choose one with --graph N:{}",
                request.path, located.size(), choices(located));
  const std::size_t index = request.index.value_or(0);
  if (index >= located.size())
    return fail(Error::Kind::usage, "{} holds {} graphs, there is no graph {}:{}", request.path,
                located.size(), index, choices(located));
  JOINTER_TRY(const CaptureFile file, load(located[index].path));
  JOINTER_TRY(const CaptureReader* reader, reader_for(file));
  return reader->read(file, located[index].index, request.progress);
}

Result<Graph> open_pair(const OpenRequest& request) {
  JOINTER_TRY(const CaptureFile forward, load(request.path));
  JOINTER_TRY(const CaptureFile backward, load(request.backward));
  for (const CaptureFile* file : {&forward, &backward})
    if (!is_native_capture(file->bytes.view()))
      return fail(Error::Kind::usage, "{}: halves of a pair must be native captures", file->name);
  return read_native_pair(forward.name, forward.bytes, backward.name, backward.bytes,
                          request.progress);
}

}  // namespace

std::span<const CaptureReader> capture_readers() {
  return kReaders;
}

Result<std::vector<GraphEntry>> list_graphs(const std::string& path) {
  JOINTER_TRY(std::vector<Located> located, locate(path));
  std::vector<GraphEntry> entries;
  for (Located& l : located) entries.push_back(std::move(l.entry));
  return entries;
}

Result<Graph> open_graph(const OpenRequest& request) {
  JOINTER_TRY(Graph graph, request.backward.empty() ? open_one(request) : open_pair(request));
  if (!request.assumptions.empty()) {
    if (auto assumed = graph.assume(request.assumptions); !assumed)
      return fail(assumed.error().kind, "{}: {}", display_name(request.path),
                  assumed.error().message);
  }
  return graph;
}

}  // namespace jointer
