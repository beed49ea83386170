// Finds when each storage is allocated and freed.
//
// Terms
//   real storage  memory that is allocated once, even if a capture has several storages for it: a
//                 wait_tensor's output is its collective's buffer, and a saved tensor in the
//                 backward is the forward's tensor (Graph::real_storage).
//   use           a node uses all storages of each value that it reads; reading a tuple uses all of
//                 the tuple.
//
// Rules for running a graph
//   1. A storage is allocated by the first node that returns a tensor in it.
//   2. It is freed after its last use or, if it is unused, after the node that allocated it, as in
//      a reference-counted runtime.
//   3. Placeholders and constants are live throughout, except saved tensors and tangents of a
//      backward, which are freed after their last use. In a pair, tangents are allocated when the
//      backward starts. Outputs are live to the end, except, in a pair, values that the forward
//      returns only for the backward.
//   4. The inputs of a collective stay live until its wait or, if there is no wait, to the end,
//      because the communication stream may still read them. If the backward recomputes a wait for
//      a collective that the forward has already waited for, the collective is complete there
//      (memory_walk.h). The same holds for copies to and from the host.
//   5. On cuda, sizes are rounded up to a multiple of 512 bytes, as in the caching allocator. On
//      other devices, they are not rounded.
//   6. Storages on other devices, such as constants on the CPU in a cuda graph, do not count. If a
//      graph runs on a different type of device than it was captured on, the storages on its main
//      device count as moved to that device.
//
// The rules of torch 2.11 (torch/_inductor/fx_passes/memory_estimator.py) differ:
//  - storages are those in the capture, so a collective's buffer counts twice, for the start and
//    for the wait;
//  - an unused storage is never freed;
//  - nothing stays live until a wait;
//  - constants, and placeholders with names that do not start with `primals`, are freed after their
//    last use;
//  - sizes are not rounded;
//  - all devices except the CPU count.
// These rules apply to a single graph, since torch has no profile of a pair.
//
// Cost: linear in nodes, inputs and tensors.

#include "core/schedule/lifetimes.h"

#include <algorithm>
#include <array>

#include "core/graph/from_parameters.h"
#include "core/schedule/cuda_allocator.h"
#include "core/schedule/memory_walk.h"

namespace jointer {

StorageId counted_storage(const Graph& graph, const Tensor& tensor, bool is_torch) {
  return is_torch ? graph.captured_storage(tensor) : graph.real_storage(tensor.storage);
}

namespace {

// Uses that determine the category of a storage.
enum Use : std::uint8_t {
  used_in_backward = 1 << 0,
  is_result = 1 << 1,
  is_gradient = 1 << 2,
  is_saved_output = 1 << 3,
};

class LifetimeFinder : public GraphCalls {
 public:
  LifetimeFinder(const Graph& graph, MemoryRules rules, DeviceType runs_on, bool rounds_sizes)
      : GraphCalls(graph),
        is_torch_(rules == MemoryRules::torch),
        rounds_(rounds_sizes && !is_torch_),
        runs_on_(runs_on),
        by_storage_(graph.storage_count(), -1) {
    for (const NodeId id : graph.order())
      if (graph.node(id).kind == NodeKind::call) ++end_;
    lifetimes_.reserve(graph.storage_count());
    uses_.reserve(graph.storage_count());
  }

  std::vector<Lifetime> run() {
    MemoryWalk walk(*this, graph_.node_count());
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      switch (n.kind) {
        case NodeKind::placeholder:
          visit_placeholder(id, n, walk.step());
          break;
        case NodeKind::get_attr:
          allocate({id, &n}, kBeforeStart);
          if (!is_torch_) extend(n, end_, 0);
          break;
        case NodeKind::output:
          visit_output(n, walk.step());
          break;
        case NodeKind::call:
          walk.run({id, &n});
          break;
      }
    }
    if (is_torch_)
      keep_as_torch_does();
    else
      walk.end();
    categorize();
    return std::move(lifetimes_);
  }

  // The other functions that MemoryWalk needs. Under torch's rules, nothing stays live until a
  // wait.
  [[nodiscard]] bool is_start(Call call) const { return !is_torch_ && GraphCalls::is_start(call); }
  [[nodiscard]] std::optional<Call> awaited(Call call) const {
    return is_torch_ ? std::nullopt : GraphCalls::awaited(call);
  }
  void allocate(Call call, std::int32_t step) {
    for (const Tensor& t : graph_.tensors(*call.node)) {
      if (!counts(t)) continue;
      std::int32_t& index = slot(t);
      if (index >= 0) continue;
      const StorageId storage = storage_of(t);
      const std::int64_t requested = graph_.storage(storage).bytes.value;
      const std::int64_t bytes = rounds_ ? allocated_bytes(requested, runs_on_) : requested;
      if (bytes == 0) continue;
      index = static_cast<std::int32_t>(lifetimes_.size());
      lifetimes_.push_back(
          {.storage = storage, .producer = call.id, .bytes = bytes, .first = step, .last = step});
      uses_.push_back(0);
      used_.push_back(false);
    }
  }
  void use_inputs(Call call, std::int32_t step) {
    extend_inputs(call, step, call.node->phase == Phase::backward ? used_in_backward : 0);
  }
  void start(Call call, std::int32_t step) {
    if (graph_.is_transfer(*call.node)) extend_inputs(call, step, is_saved_output);
  }
  void keep_inputs(Call start, std::int32_t step) { extend_inputs(start, step, 0); }

 private:
  void visit_placeholder(NodeId id, const Node& n, std::int32_t step) {
    const bool in_backward = graph_.part(n.part).kind == CaptureKind::backward;
    allocate({id, &n}, is_torch_ ? kBeforeStart : step_of_placeholder(step, end_));
    if (is_torch_) return;
    const bool released = in_backward && (n.role == Role::saved || n.role == Role::tangent);
    extend(n, released ? step : end_, in_backward && n.partner ? used_in_backward : 0);
  }

  void visit_output(const Node& n, std::int32_t step) {
    for (const OutputEntry& entry : graph_.part(n.part).outputs) {
      if (!entry.node) continue;
      const bool for_backward_alone = entry.role == Role::saved && graph_.is_pair();
      const std::uint8_t use = entry.role == Role::gradient ? is_gradient
                               : entry.role == Role::saved  ? is_saved_output
                                                            : is_result;
      extend(graph_.node(entry.node), for_backward_alone ? step : end_, use);
    }
  }

  void keep_as_torch_does() {
    for (std::size_t i = 0; i < lifetimes_.size(); ++i)
      if (!used_[i] || graph_.name(lifetimes_[i].producer).starts_with("primals"))
        lifetimes_[i].last = end_;
  }

  [[nodiscard]] std::int32_t& slot(const Tensor& t) { return by_storage_[storage_of(t).index()]; }
  [[nodiscard]] StorageId storage_of(const Tensor& t) const {
    return counted_storage(graph_, t, is_torch_);
  }
  [[nodiscard]] bool counts(const Tensor& t) const {
    if (!t.storage) return false;
    const DeviceType device = graph_.device_type(t);
    return is_torch_ ? device != DeviceType::cpu : counts_on(graph_, device, runs_on_);
  }

  void extend(const Node& n, std::int32_t step, std::uint8_t use) {
    for (const Tensor& t : graph_.tensors(n)) {
      const std::int32_t i = t.storage ? slot(t) : -1;
      if (i < 0) continue;
      const auto index = static_cast<std::size_t>(i);
      lifetimes_[index].last = std::max(lifetimes_[index].last, step);
      uses_[index] |= use;
      used_[index] = true;
    }
  }

  void extend_inputs(Call call, std::int32_t step, std::uint8_t use) {
    for (const NodeId input : graph_.inputs(*call.node)) extend(graph_.node(input), step, use);
  }

  void categorize();

  bool is_torch_;
  bool rounds_;
  DeviceType runs_on_;
  std::int32_t end_ = 0;
  std::vector<Lifetime> lifetimes_;
  std::vector<std::uint8_t> uses_;
  std::vector<bool> used_;
  std::vector<std::int32_t> by_storage_;
};

MemoryCategory placeholder_category(Role role) {
  switch (role) {
    case Role::parameter:
      return MemoryCategory::parameter;
    case Role::buffer:
      return MemoryCategory::buffer;
    case Role::tangent:
      return MemoryCategory::tangent;
    case Role::saved:
      return MemoryCategory::saved_activation;
    default:
      return MemoryCategory::input;
  }
}

void LifetimeFinder::categorize() {
  const std::vector<bool> from_parameter = derived_from_parameters(graph_);
  for (std::size_t i = 0; i < lifetimes_.size(); ++i) {
    Lifetime& lifetime = lifetimes_[i];
    const Node& n = graph_.node(lifetime.producer);
    const auto used = [&](Use use) { return (uses_[i] & use) != 0; };
    // A copy from a bucket to one of its members counts like the member's collective.
    const bool is_communication = graph_.is_collective_start(n) ||
                                  (is_torch_ && graph_.is_wait(n)) ||
                                  (n.origin && graph_.is_collective_start(graph_.node(n.origin)) &&
                                   graph_.op(n).packet() == "aten.clone");
    const bool is_saved = used(is_saved_output) ||
                          (used(used_in_backward) && n.phase == Phase::forward) ||
                          graph_.is_transfer(n);
    if (n.kind == NodeKind::placeholder)
      lifetime.category = placeholder_category(n.role);
    else if (n.kind == NodeKind::get_attr)
      lifetime.category = MemoryCategory::constant;
    else if (used(is_gradient))
      lifetime.category = MemoryCategory::gradient;
    else if (used(is_result))
      lifetime.category = MemoryCategory::output;
    // A gathered parameter counts as communication even if the backward reads it, because
    // resharding can free it, but activation recomputation cannot.
    else if (is_communication && (!is_saved || from_parameter[lifetime.producer.index()]))
      lifetime.category = MemoryCategory::communication;
    else if (is_saved)
      lifetime.category = MemoryCategory::saved_activation;
    else if (n.has(Node::recomputed))
      lifetime.category = MemoryCategory::recomputed;
  }
}

}  // namespace

std::string_view to_string(MemoryCategory category) {
  static constexpr std::array<std::string_view, kMemoryCategories> kNames{
      "parameter",       "buffer",           "input",      "tangent",   "constant",      "gradient",
      "optimizer_state", "saved_activation", "recomputed", "temporary", "communication", "output"};
  return kNames[static_cast<std::size_t>(category)];
}

std::int64_t allocated_bytes(std::int64_t requested, DeviceType device) {
  return device == DeviceType::cuda ? CudaAllocator::rounded(requested) : requested;
}

std::vector<Lifetime> find_lifetimes(const Graph& graph, MemoryRules rules, DeviceType runs_on,
                                     bool rounds_sizes) {
  return LifetimeFinder(graph, rules, runs_on, rounds_sizes).run();
}

}  // namespace jointer
