#pragma once

// A graph's calls, prepared for reordering passes: numbered consecutively, with dependencies and
// times, and with communication identified.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/lists.h"
#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/pass/pass.h"
#include "core/schedule/movable_order.h"

namespace jointer {

// A call's number: its index among the calls in the graph's current order.
using Call = std::uint32_t;
inline constexpr Call kNoCall = ~Call{0};

class Calls {
 public:
  // Errors are those of make_estimator.
  static Result<Calls> of(const Graph& graph, const AnalysisOptions& options);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] NodeId node(Call call) const { return nodes_[call]; }
  [[nodiscard]] std::span<const NodeId> nodes() const { return nodes_; }
  // Returns kNoCall if the node is not a call.
  [[nodiscard]] Call of_node(NodeId id) const { return call_of_[id.index()]; }
  // Ranges of calls that no call can leave, because nothing moves across a placeholder or an
  // output. Each half of a pair has its own stretches.
  [[nodiscard]] std::span<const Stretch> stretches() const { return stretches_; }

  // The calls in the same stretch that must run before or after this call because of data, writes
  // or effects.
  [[nodiscard]] std::span<const Call> before(Call call) const { return before_.of(call); }
  [[nodiscard]] std::span<const Call> after(Call call) const { return after_.of(call); }

  // True for a collective or a copy to or from the host. Asynchronous starts overlap with compute.
  [[nodiscard]] bool is_start(Call call) const { return (flags_[call] & kStart) != 0; }
  [[nodiscard]] bool is_asynchronous(Call call) const { return is_start(call) && !is_sync(call); }
  // True for a synchronous collective: its call returns only when the collective has finished
  // (_dtensor.shard_dim_alltoall).
  [[nodiscard]] bool is_sync(Call call) const { return (flags_[call] & kSync) != 0; }
  [[nodiscard]] bool is_transfer(Call call) const { return (flags_[call] & kTransfer) != 0; }
  [[nodiscard]] bool is_wait(Call call) const { return (flags_[call] & kWait) != 0; }
  // True for a matrix product, attention or convolution, that is, an operator in torch's FLOP
  // registry. Such calls are assumed to run long.
  [[nodiscard]] bool is_gemm_like(Call call) const { return (flags_[call] & kGemm) != 0; }
  // The start that a wait waits for, or the first wait of a start; kNoCall if it is not in this
  // graph, and for other calls.
  [[nodiscard]] Call partner(Call call) const { return partners_[call]; }
  // The number of a start's stream. Starts on the same stream run one after another. Each process
  // group has its own stream, unless the simulation is configured to share one stream among all
  // groups. Copies to and from the host have streams, too.
  [[nodiscard]] std::uint32_t stream(Call call) const { return streams_[call]; }
  [[nodiscard]] std::string_view stream_name(const Graph& graph, Call call) const;
  // Estimated time on the device, in nanoseconds.
  [[nodiscard]] std::int64_t ns(Call call) const { return ns_[call]; }

 private:
  enum Flag : std::uint8_t { kStart = 1, kSync = 2, kWait = 4, kGemm = 8, kTransfer = 16 };
  void find_stretches(const Graph& graph);
  void find_dependencies(const Graph& graph);
  void describe(const Graph& graph, const SimulationOptions& options);

  std::vector<NodeId> nodes_;
  std::vector<Call> call_of_;  // by node
  std::vector<Stretch> stretches_;
  Lists<Call> before_, after_;
  std::vector<std::uint8_t> flags_;
  std::vector<Call> partners_;
  std::vector<std::uint32_t> streams_;
  std::vector<std::int64_t> ns_;
};

// Text such as "1 call" or "1,200 calls".
std::string calls_text(std::int64_t count);

// Adds a decision for every collective that another collective in the same process group overtakes
// in this order, because ranks can then hang or compute wrong results.
void flag_overtaken(const Graph& graph, const Calls& calls, std::span<const Call> order,
                    PassContext& context);

// Puts the graph's calls into this order. Placeholders and outputs stay where they are. Constants
// keep their relative order, and move only if a reader of one would otherwise precede it. `order`
// must contain each call once, within its stretch, and respect all dependencies.
void set_call_order(Graph& graph, const Calls& calls, std::span<const Call> order);

}  // namespace jointer
