#pragma once

// The rules by which values of a flat training step are copied to the host and back: which values
// can be copied, and where the copies run. They are the same for the pass that inserts the copies
// (core/policy/cpu_offload.h) and for plans that are only evaluated (flat_order.h). The rules are
// at the top of core/policy/cpu_offload.cpp.

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/users.h"

namespace jointer {

struct CpuOffloadOptions {
  // `defer_layers`: number of forward layers between a value's last use and the end of its copy to
  // the host. `prefetch_layers`: number of backward layers between the start of the copy back and
  // the first use there. Neither may be negative.
  std::int64_t defer_layers = 1;
  std::int64_t prefetch_layers = 1;
};

// True for a view according to upstream's list of operators: a node whose memory belongs to another
// node.
bool is_offload_view(const Graph& graph, NodeId node);

// True if the copying operators have the arguments that torch added in 2.15.
bool has_long_copy_forms(const Graph& graph);

// Indexed by node id: the value copied back from the host that replaces the node's value, by F ->
// ao.offload -> ao.wait_tensor -> ao.reload -> ao.wait_tensor; none for other nodes.
std::vector<NodeId> values_copied_back(const Graph& graph);

// A forward value, and the calls that read it or views of it.
struct StepOffload {
  NodeId node;
  NodeId last;   // last reader in the forward, or a call that reads one of its tensors
  NodeId first;  // first reader in the backward, or none
  std::vector<NodeId> direct;                       // readers in the backward
  std::vector<NodeId> views;                        // in program order
  std::vector<std::pair<NodeId, NodeId>> of_views;  // a view, and its reader in the backward
  bool is_returned = false;
};

class StepOffloads {
 public:
  enum class Stays : std::uint8_t { written, returned, read_late };
  static constexpr std::size_t kReasons = 3;

  // Both must outlive this object, and the graph's order must not change.
  StepOffloads(const Graph& graph, const Users& users);

  [[nodiscard]] StepOffload readers_of(NodeId id) const;
  // Why a value with a reader in the backward stays on the device; nullopt if it can be offloaded.
  [[nodiscard]] std::optional<Stays> why_it_stays(const StepOffload& offload) const;
  [[nodiscard]] bool is_tensor(NodeId id) const;
  [[nodiscard]] bool shares_memory(NodeId a, NodeId b) const;

 private:
  [[nodiscard]] NodeId tensor_of(NodeId id) const;

  const Graph& graph_;
  const Users& users_;
  std::vector<std::size_t> last_write_;  // indexed by storage: position of its last writer
};

// The order of a step with copies to the host and back. Items are numbers: first the nodes of the
// graph by position, then the inserted calls in the order in which they are inserted.
class OffloadOrder {
 public:
  using Item = std::uint32_t;
  struct Node {
    std::int32_t layer = -1;
    bool is_call = false, is_backward = false, is_transfer = false;
  };
  // The nodes of a value, and the calls that offload it.
  struct Copies {
    Item node = 0, last = 0, first = 0;
    Item to_host = 0, done = 0, to_device = 0, back = 0;
    std::vector<Item> views;  // repeated after `back`
  };

  explicit OffloadOrder(std::vector<Node> nodes);

  // Inserts the copies of a value and `views` repeated views: steps 1 to 3.
  [[nodiscard]] Copies insert(Item node, Item last, Item first, std::size_t views);
  // Moves the waits and the copies back: steps 4 and 5.
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
  std::vector<Item> next_, previous_;  // a circle through end_
  Item end_ = 0;                       // the number between the nodes and the inserted calls
};

// Indexed by position: the nodes of a graph, for OffloadOrder.
std::vector<OffloadOrder::Node> offload_nodes(const Graph& graph);

}  // namespace jointer
