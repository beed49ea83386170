#include "core/capture/measurement_file.h"

#include <filesystem>

#include "core/base/bytes.h"
#include "core/base/counted.h"
#include "core/base/file_start.h"
#include "core/capture/memory_snapshot.h"
#include "core/capture/profiler_trace.h"

namespace jointer {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{1} << 16;
constexpr char kPickle = '\x80';  // first opcode of every pickle since protocol 2

bool is_pickle(std::string_view bytes) {
  return !bytes.empty() && bytes.front() == kPickle;
}

// Looks for the events, or for members that Kineto writes before them.
bool is_trace(std::string_view bytes) {
  const auto has = [&](std::string_view member) {
    return bytes.find(member) != std::string_view::npos;
  };
  return has("\"traceEvents\"") || (has("\"schemaVersion\"") && has("\"deviceProperties\""));
}

}  // namespace

bool is_measurement_file(const std::string& path) {
  const Result<std::string> first = read_start(path, kFirstBytes);
  return first && (is_pickle(*first) || is_trace(*first));
}

Result<Measurement> read_measurement(const Graph& graph, const std::string& path) {
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
  const std::string name = std::filesystem::path(path).filename().string();
  Measurement measurement;
  if (is_pickle(bytes.view())) {
    JOINTER_TRY(MemorySnapshot snapshot, read_memory_snapshot(path, bytes));
    measurement = std::move(snapshot.measurement);
    measurement.peak_bytes = snapshot.peak_bytes;
  } else {
    JOINTER_TRY(TraceMatch match, match_profiler_trace(graph, path, bytes));
    measurement = std::move(match.measurement);
    measurement.notes.push_back(fmt::format("{} of {} matched", match.matched,
                                            counted(match.nodes, "node was", "nodes were")));
  }
  measurement.label = name;
  return measurement;
}

}  // namespace jointer
