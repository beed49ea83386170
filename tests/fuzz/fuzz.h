#pragma once

// Exercises a graph that a fuzz target has read: the rest of the program must handle it.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "core/report/export.h"
#include "core/schedule/analysis.h"

namespace jointer::fuzz {

// Reading must be fast for any input; the analysis of large graphs is not tested here.
constexpr std::size_t kMaxAnalyzed = 500;

inline void require(bool holds, const char* what, const std::string& detail = {}) {
  if (holds) return;
  std::fprintf(stderr, "%s\n%s\n", what, detail.c_str());
  std::abort();
}

inline void exercise(const Graph& graph) {
  const auto valid = validate(graph);
  require(valid.has_value(), "the reader returned an invalid graph",
          valid ? std::string() : valid.error().message);
  const std::string hash = graph_hash(graph);
  const std::string written = write_native(graph);
  const auto again = read_native("again", PaddedBytes(written));
  require(again.has_value(), "the written graph cannot be read",
          again ? std::string() : again.error().message + "\n" + written);
  require(graph_hash(*again) == hash, "the written graph reads as another graph", written);
  if (graph.node_count() > kMaxAnalyzed) return;
  if (const auto analysis = analyze(graph)) {
    export_csv(graph, *analysis);
    export_markdown(graph, *analysis);
    export_dot(graph, *analysis);
    export_perfetto(graph, *analysis);
  }
  export_fx_text(graph);
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace jointer::fuzz
