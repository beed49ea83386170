#pragma once

// Orders the nodes of one chunked module so that one chunk's token exchanges overlap with the other
// chunk's compute.

#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/users.h"
#include "passes/ep_overlap/chunk_regions.h"

namespace jointer {

struct RegionSchedule {
  // A node, and the reason for its position.
  struct Place {
    NodeId node;
    enum class Why : std::uint8_t {
      setup,     // an exchange depends on it
      sync,      // a copy of token counts to the host
      exchange,  // an exchange starts
      filler,    // overlaps with an exchange that it does not depend on
      tail,      // after the last exchange
    } why = Why::setup;
    std::size_t exchange = 0;  // the exchange that the node belongs to, overlaps with or follows
  };

  std::vector<Place> places;        // all nodes of both bodies; empty if there are no exchanges
  std::vector<NodeId> copies;       // of token counts to the host
  std::vector<bool> is_blocking;    // by copy: true for the last in a group
  std::vector<NodeId> waits;        // the waits for exchanges
  std::size_t exchanges = 0;        // number of exchanges per chunk
  std::vector<std::string> labels;  // by exchange: "dispatch" or "combine"
};

// With `pair_first`, both chunks are prepared before either starts its first exchange. Error
// (usage): a chunk has no nodes, the chunks differ, an exchange depends on a later exchange,
// dependencies form a cycle, or annotations are invalid.
Result<RegionSchedule> schedule_region(const Graph& graph, const Users& users, Annotations& marks,
                                       const ChunkedRegions& regions, std::size_t region,
                                       bool pair_first);

}  // namespace jointer
