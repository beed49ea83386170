// Solves the search for a save plan with prices instead of limits, as a minimum cut.
//
// Terms
//   item    a storage that a call of the forward allocates. All values in it are available in the
//           backward if one is: a view costs nothing.
//   work    the time by which a call delays the step wherever it runs (PlanTime::serial_ns). If the
//           CPU takes longer to launch the whole step than the device takes to run it, the work is
//           the CPU's time.
//   prices  b per byte that is live between the halves; c per nanosecond of copies to the host. If
//           the work is the CPU's time, a copy costs the CPU's time for both directions instead.
//
// For given prices, the plan with the lowest cost
//     work of the recomputed calls + b * bytes of the saved items + c * copies of the offloaded
// is a minimum cut. Vertices on the sink's side: an item that the backward has, a call that it
// recomputes. Arcs, each cut if its start is on the source's side and its end on the sink's:
//     source -> call   work of the call; infinite if it must not be recomputed. A random call may
//                      be: the states of generators cost nothing here
//     call -> item     the cheaper of saving and offloading it; infinite if neither is allowed
//     item -> call     infinite, for each item that the call reads
//     item -> sink     infinite, if the backward returns it, or a call that only the backward can
//                      run reads it
//
// The bound. Terms: F, the time of the calls that every forward runs; B, the work of the backward's
// own calls; X, the cost of the cut; C, the copies to the host; Q, the bytes between the halves
// that the step holds anyway. A peak of at most P leaves P - Q bytes for saved items. The forward
// waits for all its copies, and the backward copies the same bytes in the other direction, so for
// every d in 0..1
//     forward >= (1-c) F + c C,    backward >= (1-d) (B + recomputed work) + d C
// Their sum, with X for the cheapest choice of saved items, is linear in d; at its ends,
//     step >= (1-c) F + B + X - b (P - Q)
//     step >= F + (B + X - b (P - Q)) / (1 + c)
// The step also takes at least F and the time of the backward's own calls, collectives included.
// A price for bytes that are live at another moment (plan_moment.cpp) enters the costs and the
// bound in the same way. The bound leaves out memory at all other points of the step, and waiting
// that is not certain.
//
// Source: Lagrangian relaxation of a knapsack with precedence constraints; the cut is torch's
// (min_cut.cpp) with two vertices for each tensor that can be recomputed.
//
// Cost: one minimum cut for each pair of prices.

#include "core/partition/plan_relaxation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/partition/plan_state.h"

namespace jointer {
namespace {

constexpr std::array kSeriesCopies{1.0, 0.7, 0.5, 0.35, 0.2, 0.1};
constexpr int kFirstExponent = -7, kLastExponent = 6;  // of byte prices, relative to the mean
static_assert(kLastExponent - kFirstExponent + 1 == PlanRelaxation::kSeries);

// Capacities are whole numbers: this many per nanosecond, rounded down to keep the bound valid.
constexpr double kPerNs = 1024;

std::int64_t capacity(double ns) {
  constexpr double kMax = 1e15;
  return static_cast<std::int64_t>(std::min(ns * kPerNs, kMax));
}

}  // namespace

double PlanPrices::of_value(std::size_t value, std::int64_t bytes) const {
  const double at_moment = moment ? moment_ns * static_cast<double>(moment->if_saved[value]) : 0;
  return byte_ns * static_cast<double>(bytes) + at_moment;
}

double PlanPrices::of_call(std::size_t call) const {
  return moment ? moment_ns * static_cast<double>(moment->if_recomputed[call]) : 0;
}

PlanRelaxation::PlanRelaxation(const PlanWhatIf& what_if, std::span<const MemoryPolicy> policies)
    : what_if_(&what_if),
      state_(&what_if.state()),
      rules_(what_if, {policies.begin(), policies.end()}, /*offload=*/true) {}

Result<PlanRelaxation> PlanRelaxation::make(const PlanWhatIf& what_if,
                                            std::span<const MemoryPolicy> policies) {
  PlanRelaxation made(what_if, policies);
  made.find_items();
  made.find_reads();
  JOINTER_CHECK(made.find_fixed());
  return made;
}

std::int64_t PlanRelaxation::work_ns(Place place) const {
  return by_host_ ? state_->time.host_ns(place) : state_->time.serial_ns(place);
}

void PlanRelaxation::find_items() {
  const PairOrders& orders = state_->orders;
  const PlanMemory& memory = state_->memory;
  std::int64_t host = 0, device = 0;
  for (Place p = 0; p < orders.size(); ++p) {
    host += state_->time.host_ns(p);
    device += state_->time.serial_ns(p);
  }
  by_host_ = host > device;

  item_of_storage_.assign(memory.storage_count(), -1);
  enum class Saved : std::uint8_t { never, maybe, always };
  std::vector<Saved> as_saved;  // by item
  std::vector<std::uint8_t> is_input(memory.storage_count(), 0), must_recompute;
  for (Place p = 0; p < orders.size(); ++p) {
    if (!orders.has(p, PairOrders::is_call))
      for (const std::uint32_t storage : memory.storages(p)) is_input[storage] = 1;
    if (!orders.has(p, PairOrders::is_call) || !orders.has(p, PairOrders::of_forward)) continue;
    for (const std::uint32_t storage : memory.storages(p)) {
      if (is_input[storage]) continue;
      std::int32_t& index = item_of_storage_[storage];
      if (index < 0) {
        index = static_cast<std::int32_t>(items_.size());
        if (calls_.empty() || calls_.back().place != p)
          calls_.push_back({.place = p,
                            .ns = work_ns(p),
                            .may_repeat = state_->recomputable.if_asked(p),
                            .reads = {}});
        items_.push_back({.place = p,
                          .call = static_cast<std::uint32_t>(calls_.size() - 1),
                          .bytes = memory.is_held(storage) ? 0 : memory.bytes(storage),
                          .may_save = false});
        as_saved.push_back(Saved::never);
        must_recompute.push_back(0);
      }
      const auto at = static_cast<std::size_t>(index);
      Item& item = items_[at];
      Call& call = calls_[item.call];
      const NodeId node = orders.node(p);
      if (!rules_.may(node, PlanAction::recompute)) call.may_repeat = false;
      // The value that is saved: the first one or, if one must be saved, the first of those.
      const Saved saved = orders.has(p, PairOrders::is_start) || !state_->why_not_saved(p).empty()
                              ? Saved::never
                          : rules_.may(node, PlanAction::recompute) ? Saved::maybe
                                                                    : Saved::always;
      if (saved > std::exchange(as_saved[at], std::max(as_saved[at], saved))) {
        item.place = p;
        item.may_save = true;
        item.can_offload = state_->why_not_offloaded(p).empty();
        item.value_bytes = state_->graph.output_bytes(state_->graph.node(orders.node(p)));
        const NodeCost copy = state_->time.copy_cost(p);
        item.copy_ns = by_host_ ? 2 * (copy.host_ns + state_->time.copy_wait_host_ns()) : copy.ns;
      }
      const MemoryPolicy tag = rules_.policy(node);
      if (tag == MemoryPolicy::must_cpu_offload) item.must_offload = item.can_offload;
      item.must_stay = item.must_stay || !allows(tag, PlanAction::offload);
      if (tag == MemoryPolicy::must_recompute) must_recompute[at] = 1;
    }
  }
  // Values in one storage may have different tags. If one of them must be saved, so is the storage.
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (must_recompute[i] != 0 && calls_[items_[i].call].may_repeat) items_[i].may_save = false;
  for (Item& item : items_) {
    if (!item.may_save || item.must_stay) item.can_offload = item.must_offload = false;
    values_.push_back(orders.node(item.place));
  }
}

void PlanRelaxation::mark_needed(Place place) {
  for (const std::uint32_t storage : state_->memory.storages(place))
    if (const std::int32_t item = item_of_storage_[storage]; item >= 0)
      items_[static_cast<std::size_t>(item)].is_needed = true;
}

void PlanRelaxation::find_reads() {
  for (Call& call : calls_) {
    for (const Place input : state_->orders.inputs(call.place))
      for (const std::uint32_t storage : state_->memory.storages(input))
        if (const std::int32_t item = item_of_storage_[storage]; item >= 0)
          call.reads.push_back(static_cast<std::uint32_t>(item));
    std::sort(call.reads.begin(), call.reads.end());
    call.reads.erase(std::unique(call.reads.begin(), call.reads.end()), call.reads.end());
  }
}

std::vector<Place> PlanRelaxation::backward_calls() const {
  const PairOrders& orders = state_->orders;
  std::vector<std::uint8_t> is_read(orders.size(), 0);
  for (const Place p : orders.backward_outputs()) is_read[p] = 1;
  std::vector<Place> calls;
  for (Place p = static_cast<Place>(orders.size()); p-- > 0;) {
    if (!is_read[p] || !orders.has(p, PairOrders::is_call) || orders.has(p, PairOrders::of_forward))
      continue;
    calls.push_back(p);
    for (const Place input : orders.inputs(p)) is_read[input] = 1;
  }
  std::reverse(calls.begin(), calls.end());
  return calls;
}

Result<void> PlanRelaxation::find_fixed() {
  const PairOrders& orders = state_->orders;
  backward_ = backward_calls();
  for (const Place p : orders.backward_outputs()) mark_needed(p);
  for (const Place p : backward_) {
    backward_ns_ += work_ns(p);
    for (const Place input : orders.inputs(p)) mark_needed(input);
  }
  whole_backward_ns_ = backward_ns_;
  if (!by_host_) whole_backward_ns_ = std::max(backward_ns_, state_->time.device_ns(backward_));

  // The plan that recomputes as much as possible, and the one that saves as much as possible. The
  // former has the shorter forward.
  const auto min_saved = plan(std::vector<PlanAction>(items_.size(), PlanAction::recompute));
  const auto max_saved = what_if_->plan_of(values_, {});
  held_bytes_ = std::numeric_limits<std::int64_t>::max();
  bool has_forward = false;
  for (const auto* plan : {&min_saved, &max_saved}) {
    if (!*plan) continue;
    const auto outcome = what_if_->evaluate(**plan);
    const auto order = orders.order(**plan);
    if (!outcome || !order) continue;
    const std::int64_t between = outcome->profile[2 * outcome->forward_steps];
    held_bytes_ = std::min(held_bytes_, between - outcome->figures.saved_bytes);
    if (std::exchange(has_forward, true)) continue;
    forward_ = order->forward;
    // A call that saves the state of its generator occurs three times, but runs once.
    forward_.erase(std::unique(forward_.begin(), forward_.end()), forward_.end());
    for (const Place p : forward_) forward_ns_ += work_ns(p);
    if (!by_host_) forward_ns_ = std::max(forward_ns_, state_->time.device_ns(forward_));
  }
  if (!has_forward)
    return min_saved ? fail(Error::Kind::usage, "no plan for this graph is legal")
                     : fail(Error::Kind::usage, "no plan for this graph is legal: {}",
                            min_saved.error().message);
  return {};
}

FlowNetwork PlanRelaxation::network(const PlanPrices& prices) const {
  const auto item_vertex = [](std::size_t i) { return static_cast<FlowNetwork::Vertex>(2 + i); };
  const auto call_vertex = [&](std::size_t i) { return item_vertex(items_.size() + i); };
  FlowNetwork network(2 + items_.size() + calls_.size());
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    const double repeated = static_cast<double>(call.ns) + prices.of_call(i);
    network.add(FlowNetwork::kSource, call_vertex(i),
                call.may_repeat ? capacity(repeated) : FlowNetwork::kInfinite);
    for (const std::uint32_t item : call.reads)
      network.add(item_vertex(item), call_vertex(i), FlowNetwork::kInfinite);
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const double saved = prices.of_value(i, item.bytes);
    const double copied =
        static_cast<double>(item.copy_ns) * (by_host_ ? 1 : prices.copy.value_or(0));
    const bool may_offload = item.must_offload || (item.can_offload && prices.copy.has_value());
    const double cheapest = item.must_offload ? copied
                            : may_offload     ? std::min(saved, copied)
                                              : saved;
    network.add(call_vertex(item.call), item_vertex(i),
                item.may_save ? capacity(cheapest) : FlowNetwork::kInfinite);
    if (item.is_needed) network.add(item_vertex(i), FlowNetwork::kSink, FlowNetwork::kInfinite);
  }
  return network;
}

Result<PlanRelaxation::Solution> PlanRelaxation::solve(const PlanPrices& prices) const {
  JOINTER_TRY(const FlowNetwork::Cut cut, network(prices).minimum_cut());
  if (cut.capacity == FlowNetwork::kInfinite)
    return fail(Error::Kind::usage,
                "the tags of the graph leave no legal plan; change or remove some of them");
  Solution solution{.actions = std::vector<PlanAction>(items_.size(), PlanAction::recompute),
                    .cost_ns = static_cast<double>(cut.capacity) / kPerNs};
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    if (!cut.sink_side[2 + i] || cut.sink_side[2 + items_.size() + item.call]) continue;
    const double saved = prices.of_value(i, item.bytes);
    const bool is_cheaper =
        prices.copy && item.can_offload && item.bytes > 0 &&
        static_cast<double>(item.copy_ns) * (by_host_ ? 1 : *prices.copy) < saved;
    solution.actions[i] = item.must_offload || is_cheaper ? PlanAction::offload : PlanAction::save;
  }
  return solution;
}

Result<SavePlan> PlanRelaxation::plan(std::span<const PlanAction> actions) const {
  PlanWhatIf::State::Decisions decisions;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Call& call = calls_[items_[i].call];
    // A random call is saved unless a decision asks for its recomputation.
    const bool is_asked = call.may_repeat && !state_->recomputable(call.place) &&
                          state_->why_not_saved(items_[i].place).empty();
    if (actions[i] != PlanAction::recompute || is_asked)
      decisions.emplace_back(values_[i], actions[i]);
  }
  JOINTER_TRY(PlanChange change, state_->decide({}, decisions));
  return std::move(change.plan);
}

std::int64_t PlanRelaxation::bound_ns(const PlanPrices& prices, double cost_ns,
                                      std::int64_t peak_bytes) const {
  const auto forward = static_cast<double>(forward_ns_);
  const auto room = static_cast<double>(std::max<std::int64_t>(peak_bytes - held_bytes_, 0));
  double backward = static_cast<double>(backward_ns_) + cost_ns - prices.byte_ns * room;
  if (prices.moment)
    backward -= prices.moment_ns * static_cast<double>(peak_bytes - prices.moment->fixed_bytes);
  const double copy = by_host_ ? 0 : prices.copy.value_or(0);
  const double bound = std::max({(1 - copy) * forward + backward, forward + backward / (1 + copy),
                                 forward + static_cast<double>(whole_backward_ns_)});
  return static_cast<std::int64_t>(std::floor(bound));
}

std::int64_t PlanRelaxation::bound_ns(std::span<const Solved> solved,
                                      std::int64_t peak_bytes) const {
  std::int64_t bound = 0;
  for (const Solved& each : solved)
    bound = std::max(bound, bound_ns(each.prices, each.cost_ns, peak_bytes));
  return bound;
}

std::vector<PlanPrices> PlanRelaxation::series(bool offload) const {
  std::vector<std::optional<double>> copies{std::nullopt};
  if (offload) copies.insert(copies.end(), kSeriesCopies.begin(), kSeriesCopies.end());
  const double mean = std::max(mean_byte_ns(), 1e-9);
  std::vector<PlanPrices> prices;
  for (const std::optional<double>& copy : copies)
    for (int exponent = kFirstExponent; exponent <= kLastExponent; ++exponent)
      prices.push_back({.byte_ns = std::ldexp(mean, exponent), .copy = copy});
  return prices;
}

double PlanRelaxation::mean_byte_ns() const {
  double ns = 0, bytes = 0;
  for (const Call& call : calls_) ns += call.may_repeat ? static_cast<double>(call.ns) : 0;
  for (const Item& item : items_) bytes += static_cast<double>(item.bytes);
  return bytes == 0 ? 0 : ns / bytes;
}

}  // namespace jointer
