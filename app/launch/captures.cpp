#include "app/launch/captures.h"

#include <filesystem>

#include "core/base/bytes.h"
#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/open/open.h"

namespace jointer {
namespace {

// The ranks for which files are read, one per distinct file.
std::vector<int> distinct_ranks(const ConvertRequest& request) {
  if (has_file_per_rank(request.files)) return request.ranks;
  return {request.ranks.empty() ? 0 : request.ranks.front()};
}

Result<bool> all_are_native(const ConvertRequest& request) {
  for (const int rank : distinct_ranks(request))
    for (const std::string& file : {request.files.graph, request.files.backward}) {
      if (file.empty()) continue;
      JOINTER_TRY(const bool is_native, is_native_file(path_of_rank(file, rank)));
      if (!is_native) return false;
    }
  return true;
}

Result<void> convert(const ConvertRequest& request, int rank, const std::string& path) {
  if (request.opened != nullptr && !has_file_per_rank(request.files))
    return write_bytes(path, write_native(*request.opened));
  JOINTER_TRY(const Graph graph, open_graph({.path = path_of_rank(request.files.graph, rank),
                                             .backward = path_of_rank(request.files.backward, rank),
                                             .index = request.graph_index,
                                             .assumptions = request.assumptions}));
  return write_bytes(path, write_native(graph));
}

}  // namespace

bool has_file_per_rank(const ProgramFiles& files) {
  return path_of_rank(files.graph, 0) != files.graph ||
         path_of_rank(files.backward, 0) != files.backward;
}

Result<bool> is_native_file(const std::string& path) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status)) {
    if (std::filesystem::exists(path, status) || path == "-") return false;
    return input_error("{}: no such file", path);
  }
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
  return is_native_capture(bytes.view());
}

Result<ProgramFiles> native_files(const ConvertRequest& request, const TemporaryFolder& folder) {
  JOINTER_TRY(const bool all_native, all_are_native(request));
  if (all_native) return request.files;
  const std::string pattern =
      folder.path(request.name + (has_file_per_rank(request.files) ? "{rank}.json" : ".json"));
  for (const int rank : distinct_ranks(request))
    JOINTER_CHECK(convert(request, rank, path_of_rank(pattern, rank)));
  return ProgramFiles{pattern, ""};
}

}  // namespace jointer
