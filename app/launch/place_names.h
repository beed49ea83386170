#pragma once

// Names for the positions that ranks leave in their status files.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/bench/request.h"
#include "core/graph/graph.h"

namespace jointer {

struct NodePlace {
  std::string node;
  // The collective that is started or waited for there; empty at any other node.
  std::string collective;

  [[nodiscard]] const std::string& text() const { return collective.empty() ? node : collective; }
};

// Opens the captures that ranks run only when it is asked: after something went wrong.
class PlaceNames {
 public:
  explicit PlaceNames(BenchmarkRequest request) : request_(std::move(request)) {}

  // Nothing for a negative position. "node 17" where the capture cannot be read any more.
  NodePlace find(int rank, std::int64_t position);

 private:
  const Graph* graph_of(int rank);

  BenchmarkRequest request_;
  std::map<std::string, std::unique_ptr<Graph>> graphs_;  // by path; null: cannot be read
};

}  // namespace jointer
