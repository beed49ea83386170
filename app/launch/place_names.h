#pragma once

// Names of the positions that ranks write to their status files.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/bench/request.h"
#include "core/graph/graph.h"

namespace jointer {

struct NodePlace {
  std::string node;
  // The collective that the node starts or waits for; empty for other nodes.
  std::string collective;

  [[nodiscard]] const std::string& text() const { return collective.empty() ? node : collective; }
};

// Finds the names of positions. Opens the ranks' captures only if names are requested, that is,
// after a failure.
class PlaceNames {
 public:
  explicit PlaceNames(BenchmarkRequest request) : request_(std::move(request)) {}

  // Returns an empty name for a negative position, and "node 17" if the capture cannot be read any
  // more or has no such position.
  NodePlace find(int rank, std::int64_t position);

 private:
  const Graph* graph_of(int rank);

  BenchmarkRequest request_;
  // Opened captures by the paths of graph and backward; null if a file cannot be read.
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Graph>> graphs_;
};

}  // namespace jointer
