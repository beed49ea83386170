// Determines the calls of each half of a pair, and their order.
//
// Terms
//   given      the inputs of a half: the forward's placeholders; the backward's saved values and
//              its own placeholders, such as tangents.
//   available  a value that a half has: given, or computed by a call from available values.
//   needed     impure calls, and everything that these calls and a half's outputs are computed
//              from, as far as it is available.
//
// Steps
//   1. Backward: find the available values in the joint graph's order, then the needed ones from
//      the end. A call that writes is never available in the half that it does not belong to.
//   2. Order the backward as the autograd engine does (half_order.h); for default_partition, only
//      if a node is tagged for recomputation.
//   3. Forward: as in step 1, with the saved values among its outputs, in the joint graph's order,
//      except that each getitem follows its call. For default_partition, both halves drop
//      collectives that nothing reads.
//   4. If the graph writes in place, check that each call sees the same memory contents as in the
//      joint graph (write_order.cpp).
//   5. A random call that runs in both halves because a tag or the plan asks for it saves the state
//      of its generator, unless the caller holds a generator for it (random_states.cpp): add the
//      two calls that read its result.
//   6. Add the copies of offloaded values (offload_transfers.cpp).
//
// half.cpp and backward_order.cpp do the same on the graph itself; here, nodes are reached through
// arrays that are built once per graph. Cost: linear in nodes and edges, plus sorting the
// recomputed calls of step 2.

#include "core/partition/pair_order.h"

#include <algorithm>
#include <boost/range/irange.hpp>

#include "core/partition/dead_code.h"
#include "core/partition/flat_order.h"
#include "core/partition/half.h"
#include "core/partition/half_order.h"
#include "core/partition/joint_parts.h"
#include "core/partition/offload_uses.h"
#include "core/partition/random_states.h"
#include "core/partition/recompute_tags.h"
#include "core/partition/remat_order.h"

namespace jointer {
namespace {

std::uint32_t placeholder_flags(const NodePlaces& places, const Node& n) {
  std::uint32_t flags = PairOrders::is_placeholder;
  if (places.is_tangent(n)) flags |= PairOrders::is_tangent | PairOrders::of_backward;
  if (places.is_backward_seed(n)) flags |= PairOrders::of_backward;
  return flags;
}

std::uint32_t call_flags(const Graph& graph, const NodePlaces& places, const Node& n) {
  const OperatorInfo& op = graph.op(n);
  unsigned flags = PairOrders::is_call;
  if (op.is_getitem && n.input_count == 1) flags |= PairOrders::is_getitem;
  if (graph.is_asynchronous(n)) flags |= PairOrders::is_start;
  if (op.is_wait) flags |= PairOrders::is_wait;
  if (op.space() == "_c10d_functional") flags |= PairOrders::is_functional_collective;
  if (op.packet() == "aten.copy_") flags |= PairOrders::is_copy;
  if (is_impure(graph, n)) flags |= PairOrders::has_effect;
  if (can_keep_state(graph, n)) flags |= PairOrders::keeps_state;
  if (places.must_be_forward(n)) flags |= PairOrders::only_forward;
  if (places.must_be_backward(n)) flags |= PairOrders::only_backward;
  return flags;
}

// Nodes reached through the arrays.
class PlaceNodes {
 public:
  using Node = Place;

  explicit PlaceNodes(const PairOrders& orders) : orders_(orders) {}

  [[nodiscard]] auto order() const {
    return boost::irange(Place{0}, static_cast<Place>(orders_.size()));
  }
  [[nodiscard]] static Place position(Place p) { return p; }
  [[nodiscard]] static Place index(Place p) { return p; }
  [[nodiscard]] std::size_t count() const { return orders_.size(); }
  [[nodiscard]] std::span<const Place> inputs(Place p) const { return orders_.inputs(p); }
  [[nodiscard]] bool has_effect(Place p) const { return orders_.has(p, PairOrders::has_effect); }
  [[nodiscard]] bool is_getitem(Place p) const { return orders_.has(p, PairOrders::is_getitem); }
  [[nodiscard]] bool is_copy(Place p) const { return orders_.has(p, PairOrders::is_copy); }
  [[nodiscard]] bool is_functional_collective(Place p) const {
    return orders_.has(p, PairOrders::is_functional_collective);
  }

 private:
  const PairOrders& orders_;
};

}  // namespace

PairOrders::PairOrders(const Graph& joint, Partitioner partitioner)
    : graph_(&joint),
      partitioner_(partitioner),
      is_flat_(joint.part(PartId(0)).kind == CaptureKind::train_step),
      nodes_(joint.order().begin(), joint.order().end()),
      places_(joint),
      writes_(joint),
      offloadable_(joint) {
  const std::vector<std::int32_t> layers = layers_by_node(joint);
  for (const NodeId id : nodes_) {
    layers_.push_back(layers[id.index()]);
    if (!must_recompute(joint.node(id))) continue;
    any_tags_ = true;
    any_random_again_ |= is_random_call(joint, joint.node(id));
  }
  flags_.assign(size(), 0);
  first_input_.reserve(size() + 1);
  first_input_.push_back(0);
  for (Place p = 0; p < size(); ++p) add_node(p);
  std::sort(getitems_.begin(), getitems_.end());
  if (is_flat_) {
    find_step_outputs();
    find_region();
    flat_ = std::make_unique<FlatOrders>(*this);
  } else {
    find_outputs();
  }
}

PairOrders::~PairOrders() = default;

// Adds the node's inputs and flags. The nodes before it must have been added.
void PairOrders::add_node(Place p) {
  const Node& n = graph_->node(node(p));
  if (n.kind == NodeKind::placeholder)
    flags_[p] =
        is_flat_ ? static_cast<std::uint32_t>(is_placeholder) : placeholder_flags(places_, n);
  if (n.kind == NodeKind::call) flags_[p] = call_flags(*graph_, places_, n);
  if (places_.overtaken_by(node(p))) flags_[p] |= is_overtaken;
  if (places_.is_late(node(p))) flags_[p] |= only_backward;
  if (places_.is_backward_state(n) || has(p, of_backward)) backward_inputs_.push_back(p);
  if (n.kind == NodeKind::get_attr) flags_[p] = is_constant;
  if (is_symbol(*graph_, n)) flags_[p] |= is_symbolic;
  if (n.kind != NodeKind::output)
    for (const NodeId input : graph_->inputs(n)) inputs_.push_back(place(input));
  first_input_.push_back(static_cast<std::uint32_t>(inputs_.size()));
  if (has(p, is_getitem)) getitems_.emplace_back(inputs(p).front(), p);
  if (is_forward(p)) flags_[p] |= of_forward;
  is_in_forward_.push_back(has(p, of_forward) ? 1 : 0);
  if (has(p, of_forward) && !has(p, is_placeholder)) forward_available_.push_back(p);
}

// True for a node of the forward phase of a flat training step, and for a node of a joint graph
// that needs no tangent.
bool PairOrders::is_forward(Place p) const {
  const Node& n = graph_->node(node(p));
  if (n.kind == NodeKind::output) return false;
  if (is_flat_) return n.phase == Phase::forward;
  return !has(p, of_backward) && !has(p, only_backward) &&
         std::ranges::all_of(inputs(p), [&](Place input) { return has(input, of_forward); });
}

// The outputs, in the graph's order, without nulls.
void PairOrders::find_step_outputs() {
  for (const OutputEntry& output : graph_->part(PartId(0)).outputs) {
    if (!output.node) continue;
    const Place p = place(output.node);
    (has(p, of_forward) ? forward_outputs_ : backward_outputs_).push_back(p);
  }
}

// The same for a joint graph. An output of the forward that needs a tangent is replaced by its
// stand-in, if there is one.
void PairOrders::find_outputs() {
  const std::vector<OutputEntry>& outputs = graph_->part(PartId(0)).outputs;
  const std::size_t forward_count = forward_output_count(*graph_);
  std::vector<bool> is_within;  // by node: true if of_forward; filled on first use
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    NodeId output = outputs[i].node;
    if (!output) continue;
    if (i < forward_count && !has(place(output), of_forward)) {
      if (is_within.empty()) {
        is_within.assign(graph_->node_count(), false);
        for (Place p = 0; p < size(); ++p) is_within[node(p).index()] = has(p, of_forward);
      }
      if (const NodeId other = find_substitute(*graph_, places_, output, is_within)) output = other;
    }
    (i < forward_count ? forward_outputs_ : backward_outputs_).push_back(place(output));
  }
}

// Marks the run of the backward that reads the most values of the forward, and the values that the
// rest of the backward reads.
void PairOrders::find_region() {
  std::vector<NodeId> region;
  std::size_t max_reads = 0;
  for (std::vector<NodeId>& run : backward_runs(*graph_)) {
    std::vector<Place> read;
    for (const NodeId call : run)
      for (const Place input : inputs(place(call)))
        if (has(input, is_call) && has(input, of_forward)) read.push_back(input);
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    if (read.size() <= max_reads) continue;
    max_reads = read.size();
    region = std::move(run);
  }
  for (const NodeId call : region) flags_[place(call)] |= in_region;
  for (Place p = 0; p < size(); ++p) {
    if (!has(p, is_call) || has(p, of_forward) || has(p, in_region)) continue;
    for (const Place input : inputs(p)) flags_[input] |= read_outside;
  }
}

std::string PairOrders::why_not_offloaded(Place value) const {
  std::string why = offloadable_.why_not(node(value));
  return why.empty() && flat_ ? flat_->why_not_offloaded(value) : why;
}

std::vector<std::uint8_t> PairOrders::given_by(const SavePlan& plan) const {
  std::vector<std::uint8_t> given(size(), 0);
  for (const Place p : backward_inputs_) given[p] = 1;
  for (const NodeId id : plan.saved) given[place(id)] = 1;
  for (const NodeId id : plan.saved_symbols) given[place(id)] = 1;
  return given;
}

Error PairOrders::missing(Place output, std::span<const std::uint8_t> is_there) const {
  const Place lacking = find_missing(PlaceNodes(*this), output, is_there);
  if (const NodeId write = places_.overtaken_by(node(lacking)))
    return {.kind = Error::Kind::usage, .message = overtaken(*graph_, node(lacking), write)};
  if (lacking == output)
    return fail(Error::Kind::usage, "{} is neither saved nor recomputable",
                graph_->name(node(output)))
        .value();
  return fail(Error::Kind::usage, "{} depends on {}, which is neither saved nor recomputable",
              graph_->name(node(output)), graph_->name(node(lacking)))
      .value();
}

Result<std::vector<Place>> PairOrders::needed_calls(std::span<const Place> outputs,
                                                    std::span<const Place> available,
                                                    std::span<const std::uint8_t> is_there) const {
  std::vector<std::uint8_t> is_read(size(), 0);
  for (const Place output : outputs) {
    if (!is_there[output]) return tl::unexpected(missing(output, is_there));
    is_read[output] = 1;
  }
  return find_needed(PlaceNodes(*this), available, is_read);
}

Result<std::vector<Place>> PairOrders::forward_calls(std::span<const Place> outputs) const {
  return needed_calls(outputs, forward_available_, is_in_forward_);
}

Result<std::vector<Place>> PairOrders::backward_calls_of(
    std::span<const std::uint8_t> given) const {
  constexpr unsigned kNeverRun = is_placeholder | only_forward | is_overtaken;
  std::vector<std::uint8_t> is_there(given.begin(), given.end());
  const std::vector<Place> available = find_available(
      PlaceNodes(*this), is_there, [&](Place p) { return (flags_[p] & kNeverRun) == 0; });
  return needed_calls(backward_outputs_, available, is_there);
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
  constexpr int kSteps = 8;  // same limit as in Graph::collective_of_wait
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

void PairOrders::arrange_backward(PairOrder& order) const {
  order_backward(
      PlaceNodes(*this), partitioner_, any_tags_, std::span<const Place>(backward_outputs_),
      [&](Place p) { return has(p, is_tangent); }, order.given, order.backward);
}

const OffloadUses& PairOrders::offload_uses() const {
  std::call_once(offload_uses_made_,
                 [&] { offload_uses_ = std::make_unique<const OffloadUses>(*this, offloadable_); });
  return *offload_uses_;
}

Result<void> PairOrders::add_transfers(const SavePlan& plan, PairOrder& order) const {
  const OffloadUses& uses = offload_uses();
  for (const NodeId id : plan.offloaded) {
    if (!uses.can_offload(place(id)))
      return fail(Error::Kind::usage, "{}", why_not_offloaded(place(id)));
    if (!order.given[place(id)])
      return fail(Error::Kind::usage, "{} cannot be offloaded: it is not saved for backward",
                  graph_->name(id));
    order.offloaded.push_back(place(id));
  }
  // The calls of a half: their layers, and by position the indices of the first and the last
  // occurrence, kAbsent if the half does not run the call.
  constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
  struct Calls {
    std::vector<std::int32_t> layers;
    std::vector<std::uint32_t> first, last;
  };
  const auto calls_of = [&](std::span<const Place> half) {
    Calls calls;
    calls.layers.reserve(half.size());
    calls.first.assign(size(), kAbsent);
    calls.last.assign(size(), kAbsent);
    for (const Place p : half) {
      if (!has(p, is_call)) continue;
      calls.last[p] = static_cast<std::uint32_t>(calls.layers.size());
      calls.first[p] = std::min(calls.first[p], calls.last[p]);
      calls.layers.push_back(layers_[p]);
    }
    return calls;
  };
  const Calls forward = calls_of(order.forward), backward = calls_of(order.backward);

  std::vector<std::size_t> last_uses, first_reads;
  for (const Place p : order.offloaded) {
    // Only the first occurrence of a call reads its inputs.
    std::size_t last = 0;
    for (const OffloadUses::Use& use : uses.of_storage(p))
      if (const std::uint32_t at = (use.is_result ? forward.last : forward.first)[use.call];
          at != kAbsent)
        last = std::max<std::size_t>(last, at);
    last_uses.push_back(last);
    std::size_t first = backward.layers.size();
    for (const Place reader : uses.readers(p))
      first = std::min<std::size_t>(first, backward.first[reader]);
    first_reads.push_back(first);
  }
  order.forward_transfers = offload_calls(TransferPlanner(forward.layers), last_uses);
  order.backward_transfers = reload_calls(TransferPlanner(backward.layers), first_reads);
  return {};
}

std::optional<std::size_t> PairOrder::state_of(Place call) const {
  const auto found = std::ranges::lower_bound(states, call, {}, &State::call);
  if (found == states.end() || found->call != call) return std::nullopt;
  return static_cast<std::size_t>(found - states.begin());
}

void PairOrders::find_states(const SavePlan& plan, PairOrder& order,
                             std::span<const Place> backward) const {
  std::vector<NodeId> calls;
  for (const Place p : backward)
    if (has(p, keeps_state)) calls.push_back(node(p));
  if (calls.empty()) return;
  std::vector<bool> in_forward(graph_->node_count(), false);
  for (const Place p : order.forward) in_forward[node(p).index()] = true;
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
  if (flat_) return flat_->order(given_by(plan), plan.offloaded);
  PairOrder order;
  order.given = given_by(plan);
  for (const NodeId id : plan.saved) order.saved.push_back(place(id));
  for (const NodeId id : plan.saved_symbols) order.symbols.push_back(place(id));
  JOINTER_TRY(order.backward, backward_calls_of(order.given));
  const bool any_redrawn = any_random_again_ || !plan.redrawn.empty();
  const std::vector<Place> extracted = any_redrawn ? order.backward : std::vector<Place>();
  arrange_backward(order);

  std::vector<Place> outputs = forward_outputs_;
  outputs.insert(outputs.end(), order.saved.begin(), order.saved.end());
  outputs.insert(outputs.end(), order.symbols.begin(), order.symbols.end());
  JOINTER_TRY(order.forward, forward_calls(outputs));
  order_forward(PlaceNodes(*this), partitioner_, outputs, order.forward);
  if (writes_.any()) JOINTER_CHECK(check_writes(order));
  if (any_redrawn) find_states(plan, order, extracted);
  if (!order.states.empty()) add_state_calls(order);
  if (!plan.offloaded.empty()) JOINTER_CHECK(add_transfers(plan, order));
  return order;
}

Result<PairOrder> PairOrders::backward_calls(std::span<const std::uint8_t> given) const {
  if (flat_) return flat_->order({given.begin(), given.end()}, {});
  PairOrder order;
  order.given.assign(given.begin(), given.end());
  for (const Place p : backward_inputs_) order.given[p] = 1;
  JOINTER_TRY(order.backward, backward_calls_of(order.given));
  // default_partition also drops collectives that nothing reads.
  if (partitioner_ == Partitioner::default_partition) arrange_backward(order);
  // A wait that is kept only because it is impure does not need its input.
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
