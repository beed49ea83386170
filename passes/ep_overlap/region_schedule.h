#pragma once

// The order of one chunked module's nodes in which the exchanges of tokens of one chunk run beside
// the compute of the other.

#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/users.h"
#include "passes/ep_overlap/chunk_regions.h"

namespace jointer {

struct RegionSchedule {
  // Why a node stands where it does.
  struct Place {
    NodeId node;
    enum class Why : std::uint8_t {
      setup,     // an exchange needs it
      sync,      // a copy to the host of how many tokens each rank sends
      exchange,  // an exchange starts
      filler,    // runs beside an exchange that it does not need
      tail,      // after the last exchange
    } why = Why::setup;
    std::size_t exchange = 0;  // which one it belongs to, or is beside
  };

  std::vector<Place> places;        // all nodes of both bodies; empty: no exchange in it
  std::vector<NodeId> copies;       // of sync: the last one blocks, the others do not
  std::vector<bool> is_blocking;    // by copy
  std::vector<NodeId> waits;        // for exchanges
  std::size_t exchanges = 0;        // of each chunk
  std::vector<std::string> labels;  // by exchange: dispatch, combine
};

// `pair_first`: both chunks are prepared before the first exchange of either starts. Error (usage):
// the chunks are not alike, or an exchange needs a later one; the text names the module.
Result<RegionSchedule> schedule_region(const Graph& graph, const Users& users, NodeMarks& marks,
                                       const ChunkedRegions& regions, std::size_t region,
                                       bool pair_first);

}  // namespace jointer
