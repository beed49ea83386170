#pragma once

// The two chunks into which eager chunking or ep_overlap_chunk has split each module, along the
// batch or the sequence. The marks on nodes define, for each module and direction, one body for
// chunk 0 and one for chunk 1.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "passes/support/annotations.h"

namespace jointer {

// The default pattern, which matches mixture-of-experts blocks. Unlike other patterns, it is not
// refused if no module matches it.
inline constexpr std::string_view kMoeModules = "layers.*.moe";

struct ChunkedRegion {
  std::string root;  // the module's name
  bool is_backward = false;
  std::array<std::vector<NodeId>, 2> bodies;  // in program order; empty if the chunk does not exist

  [[nodiscard]] std::string_view direction() const { return is_backward ? "backward" : "forward"; }
};

struct ChunkedRegions {
  static constexpr std::int32_t kNone = -1;
  // The region and the chunk to which a node belongs.
  struct Owner {
    std::int32_t region = kNone;
    std::int32_t chunk = 0;
  };

  std::vector<ChunkedRegion> regions;  // in the order of their first nodes
  std::vector<Owner> owners;           // by node

  [[nodiscard]] const Owner& owner(NodeId node) const { return owners[node.index()]; }
};

// The regions with a module name that matches the pattern (fnmatch). Error (usage): a node is
// marked as part of a body, but the mark does not identify the body.
Result<ChunkedRegions> find_chunked_regions(const Graph& graph, Annotations& marks,
                                            std::string_view module_pattern);

}  // namespace jointer
