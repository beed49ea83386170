// Determines the calls of each half of a pair, and their order.
//
// Terms
//   given      the inputs of a half: the forward's placeholders; the backward's saved values and
//              its own placeholders (tangents).
//   available  a value that a half has: given, or a call on available values.
//   needed     the values that a half's outputs are computed from, and impure calls, as far as they
//              are available.
//
// Steps
//   1. Backward: find the available values in the joint graph's order, then the needed ones from
//      the end. A call that writes is never available in the half that it does not belong to.
//   2. Order the backward as the autograd engine does: from the first reader of a tangent on, each
//      call in the joint graph's order, preceded by the calls that it needs and that have not run
//      yet. Earlier calls that nothing after that reader needs do not run, except aten.copy_. The
//      default partitioner keeps the joint graph's order if nothing is tagged for recomputation,
//      and drops collectives that nothing reads.
//   3. Forward: as step 1, with the saved values among its outputs, in the joint graph's order.
//   4. In both halves, move each getitem to right after the call that it reads.
//   5. A random call on the CPU that runs in both halves saves the state of its generator
//      (random_states.cpp): add the two calls that read it.
//   6. If the graph writes in place, check that each call finds memory as in the joint graph
//      (write_order.cpp).
//
// This repeats half.cpp and backward_order.cpp on arrays that are built once per graph instead of
// once per plan. Cost: linear in nodes and edges, plus sorting the recomputed calls of step 2.

#include "core/partition/pair_order.h"

#include <algorithm>

#include "core/partition/dead_code.h"
#include "core/partition/half.h"
#include "core/partition/joint_parts.h"
#include "core/partition/random_states.h"
#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

std::uint16_t placeholder_flags(const NodePlaces& places, const Node& n) {
  std::uint16_t flags = PairOrders::is_placeholder;
  if (places.is_tangent(n)) flags |= PairOrders::is_tangent | PairOrders::of_backward;
  if (places.is_backward_seed(n)) flags |= PairOrders::of_backward;
  return flags;
}

std::uint16_t call_flags(const Graph& graph, const NodePlaces& places, const Node& n) {
  const OperatorInfo& op = graph.op(n);
  unsigned flags = PairOrders::is_call;
  if (op.is_getitem && n.input_count == 1) flags |= PairOrders::is_getitem;
  if (graph.is_asynchronous(n)) flags |= PairOrders::is_start;
  if (op.is_wait) flags |= PairOrders::is_wait;
  if (op.space() == "_c10d_functional") flags |= PairOrders::is_functional_collective;
  if (op.packet() == "aten.copy_") flags |= PairOrders::is_copy;
  if (is_impure(graph, n)) flags |= PairOrders::has_effect;
  if (places.must_be_forward(n)) flags |= PairOrders::only_forward;
  if (places.must_be_backward(n)) flags |= PairOrders::only_backward;
  return static_cast<std::uint16_t>(flags);
}

}  // namespace

PairOrders::PairOrders(const Graph& joint, Partitioner partitioner)
    : graph_(&joint),
      partitioner_(partitioner),
      nodes_(joint.order().begin(), joint.order().end()),
      places_(joint),
      writes_(joint) {
  layers_ = layers_by_node(joint);
  for (const NodeId id : nodes_) {
    if (!must_recompute(joint.node(id))) continue;
    any_tags_ = true;
    any_random_again_ |= is_random_call(joint, joint.node(id));
  }
  flags_.assign(size(), 0);
  first_input_.reserve(size() + 1);
  first_input_.push_back(0);
  for (Place p = 0; p < size(); ++p) {
    const Node& n = joint.node(nodes_[p]);
    if (n.kind == NodeKind::placeholder) flags_[p] = placeholder_flags(places_, n);
    if (n.kind == NodeKind::call) flags_[p] = call_flags(joint, places_, n);
    if (places_.overtaken_by(nodes_[p])) flags_[p] |= is_overtaken;
    if (places_.is_late(nodes_[p])) flags_[p] |= only_backward;
    if (places_.is_backward_state(n) || has(p, of_backward)) backward_inputs_.push_back(p);
    if (n.kind == NodeKind::get_attr) flags_[p] = is_constant;
    if (is_symbol(joint, n)) flags_[p] |= is_symbolic;
    if (n.kind != NodeKind::output)
      for (const NodeId input : joint.inputs(n)) inputs_.push_back(place(input));
    first_input_.push_back(static_cast<std::uint32_t>(inputs_.size()));
    if (has(p, is_getitem)) getitems_.emplace_back(inputs(p).front(), p);
    const auto reads = inputs(p);
    const bool needs_no_tangent = !has(p, of_backward) && !has(p, only_backward) &&
                                  n.kind != NodeKind::output &&
                                  std::all_of(reads.begin(), reads.end(),
                                              [&](Place input) { return has(input, of_forward); });
    if (needs_no_tangent) flags_[p] |= of_forward;
  }
  std::sort(getitems_.begin(), getitems_.end());
  // In the order of the graph's outputs; nulls are skipped.
  const std::vector<OutputEntry>& outputs = joint.part(PartId(0)).outputs;
  const std::size_t forward_count = forward_output_count(joint);
  std::vector<bool> is_within;  // by node of the forward; built on first use
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    NodeId output = outputs[i].node;
    if (!output) continue;
    if (i < forward_count && !has(place(output), of_forward)) {
      if (is_within.empty()) {
        is_within.assign(joint.node_count(), false);
        for (Place p = 0; p < size(); ++p) is_within[node(p).index()] = has(p, of_forward);
      }
      if (const NodeId other = stand_in(joint, places_, output, is_within)) output = other;
    }
    (i < forward_count ? forward_outputs_ : backward_outputs_).push_back(place(output));
  }
}

std::vector<std::uint8_t> PairOrders::given_by(const SavePlan& plan) const {
  std::vector<std::uint8_t> given(size(), 0);
  for (const Place p : backward_inputs_) given[p] = 1;
  for (const NodeId id : plan.saved) given[place(id)] = 1;
  for (const NodeId id : plan.saved_symbols) given[place(id)] = 1;
  return given;
}

Error PairOrders::missing(Place output, std::span<const std::uint8_t> is_there) const {
  Place lacking = output;
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const Place input : inputs(lacking)) {
      if (is_there[input]) continue;
      lacking = input;
      deeper = true;
      break;
    }
  }
  if (const NodeId write = places_.overtaken_by(node(lacking)))
    return {.kind = Error::Kind::usage, .message = overtaken(*graph_, node(lacking), write)};
  return fail(Error::Kind::usage, "{} needs {}, which is neither saved nor recomputable",
              graph_->name(node(output)), graph_->name(node(lacking)))
      .value();
}

// Sets `calls` to the needed calls, in the joint graph's order.
Result<void> PairOrders::extract(std::span<const Place> outputs,
                                 std::span<const std::uint8_t> given, bool backward,
                                 std::vector<Place>& calls) const {
  const unsigned never = backward ? only_forward | is_overtaken : only_backward;
  std::vector<std::uint8_t> is_there(size(), 0);
  for (Place p = 0; p < size(); ++p) {
    if (given[p]) {
      is_there[p] = 1;
      continue;
    }
    if ((flags_[p] & (never | is_placeholder)) != 0) continue;
    const auto reads = inputs(p);
    is_there[p] =
        std::all_of(reads.begin(), reads.end(), [&](Place input) { return is_there[input] != 0; })
            ? 1
            : 0;
  }
  std::vector<std::uint8_t> is_read(size(), 0);
  for (const Place output : outputs) {
    if (!is_there[output]) return tl::unexpected(missing(output, is_there));
    is_read[output] = 1;
  }
  calls.clear();
  for (Place p = static_cast<Place>(size()); p-- > 0;) {
    if (!is_there[p] || given[p] || (!is_read[p] && !has(p, has_effect))) continue;
    if (graph_->node(node(p)).kind == NodeKind::output) continue;
    calls.push_back(p);
    for (const Place input : inputs(p)) is_read[input] = 1;
  }
  std::reverse(calls.begin(), calls.end());
  return {};
}

std::vector<Place> PairOrders::getitems(Place of) const {
  std::vector<Place> found;
  for (auto it = std::lower_bound(getitems_.begin(), getitems_.end(), std::pair(of, Place{0}));
       it != getitems_.end() && it->first == of; ++it)
    found.push_back(it->second);
  return found;
}

PairOrders::StartedIn PairOrders::collective_of_wait(Place wait, bool backward,
                                                     std::span<const std::uint8_t> given) const {
  if (inputs(wait).empty()) return {};
  Place producer = inputs(wait).front();
  constexpr int kSteps = 8;  // as Graph::collective_of_wait
  for (int step = 0; step < kSteps; ++step) {
    if (backward && given[producer])
      backward = false;
    else if (has(producer, is_start))
      return {producer, backward, true};
    else if ((flags_[producer] & (is_getitem | PairOrders::is_wait)) != 0 &&
             !inputs(producer).empty())
      producer = inputs(producer).front();
    else
      return {};
  }
  return {};
}

void PairOrders::mimic_autograd(std::span<const std::uint8_t> given,
                                std::vector<Place>& calls) const {
  const auto reads_tangent = [&](Place p) {
    const auto reads = inputs(p);
    return std::any_of(reads.begin(), reads.end(),
                       [&](Place input) { return has(input, is_tangent); });
  };
  const auto first = std::find_if(calls.begin(), calls.end(), reads_tangent);
  if (first == calls.end() && std::none_of(backward_outputs_.begin(), backward_outputs_.end(),
                                           [&](Place output) { return has(output, is_tangent); }))
    return;
  std::vector<std::uint8_t> is_done(given.begin(), given.end());
  std::vector<Place> emitted, brought, stack;
  emitted.reserve(calls.size());
  const auto emit = [&](std::span<const Place> wanted) {
    brought.clear();
    stack.assign(wanted.begin(), wanted.end());
    while (!stack.empty()) {
      const Place p = stack.back();
      stack.pop_back();
      if (is_done[p]) continue;
      is_done[p] = 1;
      brought.push_back(p);
      for (const Place input : inputs(p))
        if (!is_done[input]) stack.push_back(input);
    }
    if (brought.size() > 1) std::sort(brought.begin(), brought.end());
    emitted.insert(emitted.end(), brought.begin(), brought.end());
  };
  for (auto it = calls.begin(); it != first; ++it)
    if (has(*it, is_copy)) emit({&*it, 1});
  for (auto it = first; it != calls.end(); ++it) emit({&*it, 1});
  emit(backward_outputs_);
  calls = std::move(emitted);
}

void PairOrders::drop_unread_collectives(std::span<const Place> outputs,
                                         std::vector<Place>& calls) const {
  std::vector<std::uint8_t> is_read(size(), 0);
  for (const Place output : outputs) is_read[output] = 1;
  std::vector<Place> kept;
  for (auto it = calls.rbegin(); it != calls.rend(); ++it) {
    if (!is_read[*it] && has(*it, is_functional_collective)) continue;
    for (const Place input : inputs(*it)) is_read[input] = 1;
    kept.push_back(*it);
  }
  std::reverse(kept.begin(), kept.end());
  calls = std::move(kept);
}

void PairOrders::raise_getitems(std::vector<Place>& calls) const {
  if (getitems_.empty()) return;
  // A list linked by position, so that moving an entry takes constant time.
  constexpr Place kNone = ~Place{0};
  std::vector<Place> next(size() + 1, kNone), previous(size() + 1, kNone);
  const auto head = static_cast<Place>(size());
  std::vector<Place> getitems;
  std::vector<std::uint8_t> is_in(size() + 1, 0);
  Place last = head;
  for (const Place p : calls) {
    is_in[p] = 1;
    next[last] = p;
    previous[p] = last;
    last = p;
    if (has(p, is_getitem)) getitems.push_back(p);
  }
  for (auto it = getitems.rbegin(); it != getitems.rend(); ++it) {
    const Place p = *it, parent = inputs(p).front();
    const Place before = is_in[parent] ? parent : head;
    if (next[before] == p) continue;
    next[previous[p]] = next[p];
    if (next[p] != kNone) previous[next[p]] = previous[p];
    next[p] = next[before];
    previous[p] = before;
    if (next[p] != kNone) previous[next[p]] = p;
    next[before] = p;
  }
  calls.clear();
  for (Place p = next[head]; p != kNone; p = next[p]) calls.push_back(p);
}

void PairOrders::arrange(std::span<const std::uint8_t> given, std::span<const Place> outputs,
                         bool backward, std::vector<Place>& calls) const {
  if (partitioner_ == Partitioner::default_partition) drop_unread_collectives(outputs, calls);
  if (backward && (partitioner_ == Partitioner::min_cut || any_tags_)) mimic_autograd(given, calls);
  raise_getitems(calls);
}

Result<void> PairOrders::add_transfers(const SavePlan& plan, PairOrder& order) const {
  for (const NodeId id : plan.offloaded) {
    if (const std::string why = why_not_offloaded(*graph_, id); !why.empty())
      return fail(Error::Kind::usage, "{}", why);
    if (!order.given[place(id)])
      return fail(Error::Kind::usage, "{} is not saved for backward", graph_->name(id));
    order.offloaded.push_back(place(id));
  }
  // The calls of each half, and their layers.
  const auto calls_of = [&](std::span<const Place> half) {
    std::vector<Place> calls;
    std::copy_if(half.begin(), half.end(), std::back_inserter(calls),
                 [&](Place p) { return has(p, is_call); });
    return calls;
  };
  const auto layers_of = [&](std::span<const Place> calls) {
    std::vector<std::int32_t> layers;
    for (const Place p : calls) layers.push_back(layers_[node(p).index()]);
    return layers;
  };
  const std::vector<Place> forward = calls_of(order.forward), backward = calls_of(order.backward);

  std::vector<std::size_t> last_of_storage(graph_->storage_count(), 0), last, first;
  std::vector<std::size_t> index(size(), 0);
  for (std::size_t i = 0; i < forward.size(); ++i) {
    const auto use = [&](Place p) {
      for (const Tensor& t : graph_->tensors(node(p)))
        if (t.storage) last_of_storage[graph_->real_storage(t.storage).index()] = i;
    };
    use(forward[i]);
    if (i > 0 && forward[i - 1] == forward[i]) continue;  // it reads a part of the same call
    index[forward[i]] = i;
    for (const Place input : inputs(forward[i])) use(input);
  }
  for (const Place p : order.offloaded) {
    const auto tensors = graph_->tensors(node(p));
    last.push_back(!tensors.empty() && tensors.front().storage
                       ? last_of_storage[graph_->real_storage(tensors.front().storage).index()]
                       : index[p]);
  }
  std::vector<std::size_t> first_read(size(), backward.size());
  for (std::size_t i = backward.size(); i-- > 0;)
    for (const Place input : inputs(backward[i])) first_read[input] = i;
  for (const Place p : order.offloaded) first.push_back(first_read[p]);
  order.forward_transfers = offload_calls(TransferPlanner(layers_of(forward)), last);
  order.backward_transfers = reload_calls(TransferPlanner(layers_of(backward)), first);
  return {};
}

std::optional<std::size_t> PairOrder::state_of(Place call) const {
  const auto found = std::ranges::find(states, call, &State::call);
  if (found == states.end()) return std::nullopt;
  return static_cast<std::size_t>(found - states.begin());
}

void PairOrders::find_states(const SavePlan& plan, PairOrder& order,
                             std::span<const Place> backward) const {
  std::vector<bool> in_forward(graph_->node_count(), false);
  for (const Place p : order.forward) in_forward[node(p).index()] = true;
  std::vector<NodeId> calls;
  for (const Place p : backward) calls.push_back(node(p));
  for (const RandomCall& call : find_random_calls(*graph_, plan, in_forward, calls))
    if (!call.by_generator)
      order.states.push_back({.call = place(call.id), .bytes = call.state_bytes});
}

void PairOrders::add_state_calls(PairOrder& order) {
  std::vector<Place> calls;
  calls.reserve(order.forward.size() + 2 * order.states.size());
  for (const Place p : order.forward) calls.insert(calls.end(), order.state_of(p) ? 3 : 1, p);
  order.forward = std::move(calls);
}

Result<void> PairOrders::check_writes(const PairOrder& order) const {
  const auto nodes_of = [&](std::span<const Place> places) {
    std::vector<NodeId> nodes;
    for (const Place p : places) nodes.push_back(node(p));
    return nodes;
  };
  return writes_.check(nodes_of(order.forward), nodes_of(order.backward));
}

Result<PairOrder> PairOrders::order(const SavePlan& plan) const {
  PairOrder order;
  order.given = given_by(plan);
  for (const NodeId id : plan.saved) order.saved.push_back(place(id));
  for (const NodeId id : plan.saved_symbols) order.symbols.push_back(place(id));
  JOINTER_CHECK(extract(backward_outputs_, order.given, true, order.backward));
  const bool any_redrawn = any_random_again_ || !plan.redrawn.empty();
  const std::vector<Place> extracted = any_redrawn ? order.backward : std::vector<Place>();
  arrange(order.given, backward_outputs_, true, order.backward);

  std::vector<std::uint8_t> given(size(), 0);
  for (Place p = 0; p < size(); ++p)
    if (has(p, is_placeholder) && !has(p, of_backward)) given[p] = 1;
  std::vector<Place> outputs = forward_outputs_;
  outputs.insert(outputs.end(), order.saved.begin(), order.saved.end());
  outputs.insert(outputs.end(), order.symbols.begin(), order.symbols.end());
  JOINTER_CHECK(extract(outputs, given, false, order.forward));
  arrange(given, outputs, false, order.forward);
  if (writes_.any()) JOINTER_CHECK(check_writes(order));
  if (any_redrawn) find_states(plan, order, extracted);
  if (!order.states.empty()) add_state_calls(order);
  if (!plan.offloaded.empty()) JOINTER_CHECK(add_transfers(plan, order));
  return order;
}

Result<PairOrder> PairOrders::backward_order(std::span<const std::uint8_t> given) const {
  PairOrder order;
  order.given.assign(given.begin(), given.end());
  for (const Place p : backward_inputs_) order.given[p] = 1;
  JOINTER_CHECK(extract(backward_outputs_, order.given, true, order.backward));
  arrange(order.given, backward_outputs_, true, order.backward);
  // A wait that is only kept because it is impure does not need its input.
  std::vector<std::uint8_t> is_read(size(), 0);
  for (const Place p : backward_outputs_) is_read[p] = 1;
  for (auto it = order.backward.rbegin(); it != order.backward.rend(); ++it)
    if (is_read[*it] || (has(*it, has_effect) && !has(*it, is_wait)))
      for (const Place input : inputs(*it)) is_read[input] = 1;
  for (Place p = 0; p < size(); ++p)
    if (is_read[p] && order.given[p] && !has(p, of_backward))
      (has(p, is_symbolic) ? order.symbols : order.saved).push_back(p);
  return order;
}

}  // namespace jointer
