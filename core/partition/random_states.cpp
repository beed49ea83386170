// Gives random calls that run in both halves the same random state, as
// torch._functorch.partitioners.functionalize_rng_ops does for calls that are tagged for
// recomputation. A call that a plan asks to recompute counts as tagged. Since torch 2.14, attention
// without dropout is not a random call.
//
// On CUDA, both calls become graphsafe_run_with_rng_state with one generator each, fwd_rng_state_N
// and bwd_rng_state_N, which the caller advances in lockstep. Elsewhere, or if such calls are on
// several CUDA devices, the forward's call becomes run_and_save_rng_state, whose state the forward
// returns after the values that it saves; the backward's becomes run_with_rng_state, which receives
// that state as rng_state_output_N before the tangents.
//
// N counts these calls in the order of the joint graph; for rng_state_output_N, only those that
// save a state. New nodes are named as torch.fx names them.
//
// Deviation: torch drops the call's own description; here its value, module and tags stay, so that
// memory and time account for it. run_and_save_rng_state returns the state and the value; both
// occupy memory from that call on.

#include "core/partition/random_states.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/graph/torch_version.h"
#include "core/partition/fx_names.h"
#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

// Sizes in bytes of torch.get_rng_state() and torch.cuda.get_rng_state().
constexpr std::int64_t kCpuState = 5056, kCudaState = 16;

bool is_zero(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::real:
      return argument.real == 0;
    case Argument::Kind::integer:
      return argument.integer == 0;
    default:
      return false;
  }
}

bool is_on_cuda(const Graph& graph, NodeId id) {
  return std::ranges::any_of(graph.tensors(id), [&](const Tensor& tensor) {
    return graph.device_type(tensor) == DeviceType::cuda;
  });
}

// Registers names in the order in which torch.fx assigned them.
void use_names(const Graph& joint, std::span<const NodeId> inputs, const Half& half,
               FxNames& names) {
  for (const NodeId id : inputs) names.use(joint.name(id));
  for (const NodeId id : half.reached) names.use(joint.name(id));
  names.use("output");
}

StorageId new_storage(PartCopy& copy, const RandomCall& call) {
  return copy.target().add_storage(copy.part(), {.value = call.state_bytes, .expression = {}});
}

Node plain_call(Graph& graph, std::string_view name, std::string_view target) {
  Node node;
  node.name = graph.intern(name);
  node.target = graph.intern_operator(target);
  node.set(Node::has_args);
  return node;
}

}  // namespace

bool draws_nothing(const Graph& graph, const Node& call) {
  const OperatorInfo& op = graph.op(call);
  const int index = op.argument_index("dropout_p");
  if (index < 0) return false;
  if (const Argument* given = graph.argument(call, "dropout_p")) return is_zero(*given);
  const std::string_view by_default = op.arguments[static_cast<std::size_t>(index)].default_value;
  return by_default == "0." || by_default == "0.0" || by_default == "0";
}

bool is_random_call(const Graph& joint, const Node& call) {
  if (call.kind != NodeKind::call || !joint.op(call).has(OperatorTag::random)) return false;
  return torch_version_of(joint) < TorchVersion{2, 14} || !draws_nothing(joint, call);
}

bool can_keep_state(const Graph& joint, const Node& call) {
  return is_random_call(joint, call) && joint.op(call).has_schema;
}

std::vector<NodeId> tagged_to_redraw(const Graph& joint) {
  std::vector<NodeId> calls;
  for (const NodeId id : joint.order())
    if (must_recompute(joint.node(id)) && can_keep_state(joint, joint.node(id)))
      calls.push_back(id);
  std::sort(calls.begin(), calls.end());
  return calls;
}

std::vector<RandomCall> find_random_calls(const Graph& joint, const SavePlan& plan,
                                          const std::vector<bool>& in_forward,
                                          std::span<const NodeId> backward) {
  std::vector<RandomCall> calls;
  std::set<std::string_view> devices;
  for (const NodeId id : backward) {
    const Node& node = joint.node(id);
    const bool is_asked =
        must_recompute(node) || std::binary_search(plan.redrawn.begin(), plan.redrawn.end(), id);
    if (!in_forward[id.index()] || !is_asked || !can_keep_state(joint, node)) continue;
    const bool is_cuda = is_on_cuda(joint, id);
    calls.push_back(
        {.id = id, .by_generator = is_cuda, .state_bytes = is_cuda ? kCudaState : kCpuState});
    for (const Tensor& tensor : joint.tensors(node))
      if (joint.device_type(tensor) == DeviceType::cuda)
        devices.insert(joint.text(joint.device(tensor.device).name));
  }
  if (devices.size() > 1)
    for (RandomCall& call : calls) call.by_generator = false;
  return calls;
}

RandomStates::RandomStates(const Graph& joint, const SavePlan& plan, const Half& forward,
                           const Half& backward, std::span<const NodeId> forward_inputs,
                           std::span<const NodeId> backward_inputs)
    : joint_(joint) {
  std::vector<bool> in_forward(joint.node_count(), false);
  for (const NodeId id : forward.calls) in_forward[id.index()] = true;
  for (const RandomCall& call : find_random_calls(joint, plan, in_forward, backward.calls)) {
    index_.emplace(call.id, calls_.size());
    calls_.push_back({.call = call});
  }
  if (!calls_.empty()) name_calls(forward, backward, forward_inputs, backward_inputs);
}

void RandomStates::name_calls(const Half& forward, const Half& backward,
                              std::span<const NodeId> forward_inputs,
                              std::span<const NodeId> backward_inputs) {
  FxNames in_forward, in_backward;
  use_names(joint_, forward_inputs, forward, in_forward);
  use_names(joint_, backward_inputs, backward, in_backward);
  for (Call& call : calls_) {
    if (call.call.by_generator) {
      call.forward_name = in_forward.create("graphsafe_run_with_rng_state");
      call.backward_name = in_backward.create("graphsafe_run_with_rng_state");
    } else {
      call.forward_name = in_forward.create("run_and_save_rng_state");
      call.state_name = in_forward.create("getitem");
      call.result_name = in_forward.create("getitem");
      call.backward_name = in_backward.create("run_with_rng_state");
    }
  }
}

void RandomStates::add_generators(PartCopy& copy, HalfKind kind) {
  Graph& graph = copy.target();
  const bool is_forward = kind == HalfKind::forward;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (!calls_[i].call.by_generator) continue;
    const std::string name = fmt::format("{}_rng_state_{}", is_forward ? "fwd" : "bwd", i);
    Node node = plain_call(graph, name, name);
    node.kind = NodeKind::placeholder;
    node.flags = 0;
    node.set(Node::has_value);
    node.value = Value::of_opaque(graph.intern("Generator"), graph.intern("<torch._C.Generator>"));
    node.phase = is_forward ? Phase::forward : Phase::backward;
    (is_forward ? calls_[i].forward_state : calls_[i].backward_state) = copy.add(node);
  }
}

Value RandomStates::state_value(PartCopy& copy, const Call& call, StorageId storage) {
  Graph& graph = copy.target();
  const Dim bytes{.value = call.call.state_bytes, .expression = {}};
  const Dim step{.value = 1, .expression = {}};
  Tensor tensor{.dtype = DType::uint8, .device = graph.intern_device("cpu")};
  tensor.set(Tensor::has_stride);
  tensor.set(Tensor::has_offset);
  tensor.set(Tensor::has_storage);
  tensor.storage = storage;
  return Value::of_tensor(
      graph.add_tensor(tensor, std::span(&bytes, 1), std::span(&step, 1), Dim{}));
}

void RandomStates::add_states(PartCopy& copy) {
  Graph& graph = copy.target();
  std::size_t number = 0;
  for (Call& call : calls_) {
    if (call.call.by_generator) continue;
    const std::string name = fmt::format("rng_state_output_{}", number++);
    Node node = plain_call(graph, name, name);
    node.kind = NodeKind::placeholder;
    node.flags = 0;
    node.set(Node::has_value);
    node.value = state_value(copy, call, new_storage(copy, call.call));
    node.phase = Phase::backward;
    call.backward_state = copy.add(node);
  }
}

void RandomStates::copy_forward(PartCopy& copy, NodeId id) {
  const Call& call = calls_[index_.at(id)];
  if (call.call.by_generator) {
    copy.copy_wrapped(id, {.name = call.forward_name,
                           .target = "graphsafe_run_with_rng_state",
                           .keyword = "rng_state",
                           .keyword_value = call.forward_state});
    return;
  }
  Graph& graph = copy.target();
  const StorageId storage = new_storage(copy, call.call);
  const NodeId both = copy.copy_wrapped(id, {.name = call.forward_name,
                                             .target = "run_and_save_rng_state",
                                             .also_returns = state_value(copy, call, storage)});
  const auto take = [&](std::int64_t index) {
    const std::array args{Argument::of_node(both), Argument::of_int(index)};
    return graph.make_children(Argument::Kind::list, args);
  };
  Node state = plain_call(graph, call.state_name, "_operator.getitem");
  state.args = take(0);
  state.value = state_value(copy, call, storage);
  state.set(Node::has_value);
  state.partitioner_tag = graph.intern("is_forward");
  returned_.push_back(copy.add(state));
  copy.copy_as_getitem(id, call.result_name, take(1));
}

void RandomStates::copy_backward(PartCopy& copy, NodeId id) {
  const Call& call = calls_[index_.at(id)];
  if (call.call.by_generator)
    copy.copy_wrapped(id, {.name = call.backward_name,
                           .target = "graphsafe_run_with_rng_state",
                           .keyword = "rng_state",
                           .keyword_value = call.backward_state});
  else
    copy.copy_wrapped(id, {.name = call.backward_name,
                           .target = "run_with_rng_state",
                           .before = call.backward_state});
}

}  // namespace jointer
