#pragma once

// Decides which values of a flat training step can be copied to the host and back, and where these
// copies run. The rules are the same for the pass that inserts the copies
// (core/policy/cpu_offload.h) and for plans that are only evaluated (flat_order.h). The top of
// core/policy/cpu_offload.cpp states them.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/users.h"
#include "core/partition/last_writes.h"

namespace jointer {

struct CpuOffloadOptions {
  // `defer_layers`: before the forward waits for the copy of a value to the host, it completes this
  // many layers, or runs of calls outside of layers, after the one that computes the value; it
  // always completes the one that last reads the value. 0: the wait follows the last reader.
  // `prefetch_layers`: number of layers that the backward visits between starting the copy back and
  // reaching the value's layer. 0: the copy back starts right before the first reader. Neither may
  // be negative.
  std::int64_t defer_layers = 1;
  std::int64_t prefetch_layers = 1;
};

// True if the node's operator is in upstream's list of views, whose results are in the memory of
// another node.
bool is_offload_view(const Graph& graph, NodeId node);

// True if the graph's `ao` operators have the arguments that torch added in 2.15.
bool has_long_copy_forms(const Graph& graph);

// Indexed by node id: the last node of the chain node -> ao.offload -> ao.wait_tensor -> ao.reload
// -> ao.wait_tensor, which returns the node's value copied back from the host; none for nodes
// without such a chain.
std::vector<NodeId> values_copied_back(const Graph& graph);

// A forward value, and the calls that read it or its views.
struct StepOffload {
  NodeId node;
  // The last reader in the forward, or `node` if there is none. If that call does not return a
  // single tensor: its first user that does, if there is one.
  NodeId last;
  NodeId first;                                     // first reader in the backward, or none
  std::vector<NodeId> direct;                       // readers of `node` in the backward
  std::vector<NodeId> views;                        // in the forward, in program order
  std::vector<std::pair<NodeId, NodeId>> of_views;  // a view, and its reader in the backward
  bool is_returned = false;
};

class StepOffloads {
 public:
  enum class StayReason : std::uint8_t { written, returned, read_late };
  static constexpr std::size_t kReasons = 3;

  // Both arguments must outlive this object, and the graph's order must not change.
  StepOffloads(const Graph& graph, const Users& users);

  [[nodiscard]] StepOffload readers_of(NodeId id) const;
  // The reason why a value that the backward reads stays on the device; nullopt if there is none.
  [[nodiscard]] std::optional<StayReason> stay_reason(const StepOffload& offload) const;
  [[nodiscard]] bool is_tensor(NodeId id) const;
  [[nodiscard]] bool shares_memory(NodeId a, NodeId b) const;

 private:
  [[nodiscard]] NodeId tensor_of(NodeId id) const;

  const Graph& graph_;
  const Users& users_;
  LastWrites writes_;
};

// The order of a flat training step with copies to the host and back. Items are numbers: the
// positions of the graph's nodes, then one number per inserted call, in order of insertion.
class OffloadOrder {
 public:
  using Item = std::uint32_t;
  struct Node {
    std::int32_t layer = -1;
    bool is_call = false, is_backward = false, is_transfer = false;
  };
  // A value, its last reader in the forward, its first reader in the backward, and the calls that
  // offload it.
  struct Copies {
    Item node = 0, last = 0, first = 0;
    Item to_host = 0, done = 0, to_device = 0, back = 0;
    std::vector<Item> views;  // repeated after `back`
  };

  explicit OffloadOrder(std::vector<Node> nodes);

  // Steps 1 to 3: inserts a value's copies and `views` repeated views.
  [[nodiscard]] Copies insert(Item node, Item last, Item first, std::size_t views);
  // Steps 4 and 5: move the waits for the copies to the host, and the copies back.
  void defer(const std::vector<Copies>& all, std::int64_t layers);
  void prefetch(const std::vector<Copies>& all, std::int64_t layers);
  [[nodiscard]] std::vector<Item> items() const;
  // The number of the first inserted call.
  [[nodiscard]] Item first_inserted() const { return end_ + 1; }

 private:
  static constexpr std::size_t kNoRun = SIZE_MAX;

  Item insert_before(Item next, Item like, bool is_backward, bool is_transfer);
  void unlink(Item item);
  void link_before(Item next, Item item);
  std::vector<Node> nodes_;
  std::vector<Item> next_, previous_;  // a circular list through end_
  Item end_ = 0;                       // the number after the last node
};

// The nodes of a graph for OffloadOrder, indexed by position.
std::vector<OffloadOrder::Node> offload_nodes(const Graph& graph);

}  // namespace jointer
