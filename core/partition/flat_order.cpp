// Determines the order of a flat training step under a save plan.
//
// Terms
//   item    a node of the step, by its position, or a call inserted for an offloaded value
//           (step_offload.h).
//   region  the part of the backward that recomputes (remat_order.h): the run of calls that reads
//           the most values of the forward. Values that the rest of the backward reads stay saved,
//           since upstream's pass recomputes in one region only.
//
// Steps
//   1. Insert the copies of offloaded values and move them, as apply_cpu_offload does.
//   2. Recompute what the region needs and the plan does not save, as selective_activation_remat
//      does. Values that cannot be recomputed (recomputable.h) and sizes are read from the forward.
//   3. List the calls, and the values of the forward that the backward still reads or that are
//      offloaded.
//
// The passes share the code of steps 1 and 2 (step_offload.h, remat_order.h), which here reaches
// nodes through arrays that are built once per graph. The passes refuse some tags; a plan never has
// such tags, because it recomputes only what Recomputable allows.
//
// Cost: linear in nodes and edges, plus sorting the recomputed calls and the offloaded values.

#include "core/partition/flat_order.h"

#include <algorithm>

#include "core/partition/remat_order.h"

namespace jointer {

// The step with the copies of offloaded values, for RematOrder.
class FlatOrders::Nodes {
 public:
  using Node = OffloadOrder::Item;

  // A call inserted for an offloaded value.
  struct Inserted {
    StepCall::Kind kind;
    Place place;
    std::vector<Node> inputs;
  };

  Nodes(const FlatOrders& flat, std::span<const std::uint8_t> may_recompute)
      : flat_(flat), orders_(flat.orders_), may_recompute_(may_recompute) {}

  [[nodiscard]] std::span<const Node> order() const {
    return order_.empty() ? std::span<const Node>(flat_.all_) : order_;
  }
  [[nodiscard]] std::size_t position(Node item) const {
    return position_.empty() ? item : position_[item];
  }
  [[nodiscard]] static std::size_t index(Node item) { return item; }
  [[nodiscard]] std::size_t count() const { return orders_.size() + 1 + inserted_.size(); }
  [[nodiscard]] std::span<const Node> inputs(Node item) const {
    if (is_inserted(item)) return inserted(item).inputs;
    if (!override_of_.empty() && override_of_[item] != PairOrder::kNever)
      return overrides_[override_of_[item]];
    return item + 1 == orders_.size() ? std::span<const Node>(flat_.outputs_)
                                      : orders_.inputs(item);
  }
  [[nodiscard]] bool is_call(Node item) const {
    return is_inserted(item) || orders_.has(item, PairOrders::is_call);
  }
  [[nodiscard]] bool is_backward_call(Node item) const {
    if (!is_inserted(item)) return is_call(item) && !orders_.has(item, PairOrders::of_forward);
    const StepCall::Kind kind = inserted(item).kind;
    return kind != StepCall::Kind::offload && kind != StepCall::Kind::offload_wait;
  }
  [[nodiscard]] bool is_recomputable(Node item) const {
    return !is_inserted(item) && may_recompute_[item] != 0;
  }
  [[nodiscard]] bool is_getitem(Node item) const {
    return orders_.has(is_inserted(item) ? inserted(item).place : item, PairOrders::is_getitem) &&
           !(is_inserted(item) && inserted(item).kind != StepCall::Kind::repeat);
  }
  [[nodiscard]] bool is_wall(Node item) const {
    return !is_call(item) && !orders_.has(item, PairOrders::is_constant);
  }

  [[nodiscard]] bool is_inserted(Node item) const { return item > orders_.size(); }
  [[nodiscard]] const Inserted& inserted(Node item) const {
    return inserted_[item - orders_.size() - 1];
  }
  // The reloaded value that replaces `item`; kNever if there is none.
  [[nodiscard]] Node back(const PairOrder& order, Node item) const {
    if (is_inserted(item)) return PairOrder::kNever;
    const std::uint32_t value = order.value_of[item];
    return value == PairOrder::kNever ? flat_.back_[item] : reloaded_[value];
  }
  // The items of the region, with the calls inserted there.
  [[nodiscard]] std::vector<Node> region() const {
    if (order_.empty() || flat_.region_.empty()) return flat_.region_;
    const std::size_t first = position(flat_.region_.front());
    const std::size_t last = position(flat_.region_.back());
    std::vector<Node> region;
    for (std::size_t i = first; i <= last; ++i)
      if (is_backward_call(order_[i])) region.push_back(order_[i]);
    return region;
  }
  void add(StepCall::Kind kind, Place place, std::vector<Node> inputs) {
    inserted_.push_back({.kind = kind, .place = place, .inputs = std::move(inputs)});
  }
  // Adds an input to the last inserted call.
  void add_input(Node input) { inserted_.back().inputs.push_back(input); }
  // Makes `reader` read `now` instead of `was`.
  void redirect(Place reader, Place was, Node now) {
    if (override_of_.empty()) override_of_.assign(orders_.size(), PairOrder::kNever);
    std::uint32_t& at = override_of_[reader];
    if (at == PairOrder::kNever) {
      at = static_cast<std::uint32_t>(overrides_.size());
      const auto inputs = orders_.inputs(reader);
      overrides_.emplace_back(inputs.begin(), inputs.end());
    }
    std::ranges::replace(overrides_[at], was, now);
  }
  void add_reloaded(Node back) { reloaded_.push_back(back); }
  void set_order(std::vector<Node> order) {
    order_ = std::move(order);
    position_.assign(count(), 0);
    for (std::uint32_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
  }

 private:
  const FlatOrders& flat_;
  const PairOrders& orders_;
  std::span<const std::uint8_t> may_recompute_;  // by position
  std::vector<Inserted> inserted_;
  std::vector<Node> order_;  // empty if nothing is inserted
  std::vector<std::uint32_t> position_;
  std::vector<std::uint32_t> override_of_;  // by position: index in overrides_
  std::vector<std::vector<Node>> overrides_;
  std::vector<Node> reloaded_;  // by value
};

FlatOrders::FlatOrders(const PairOrders& orders)
    : orders_(orders),
      users_(orders.graph()),
      offloads_(orders.graph(), users_),
      recomputable_(orders),
      offload_nodes_(offload_nodes(orders.graph())),
      back_(orders.size(), PairOrder::kNever),
      long_forms_(has_long_copy_forms(orders.graph())) {
  const Graph& graph = orders.graph();
  const std::vector<NodeId> back = values_copied_back(graph);
  std::vector<NodeId> owners(graph.storage_count());
  owns_storage_.assign(orders.size(), false);
  for (Place p = 0; p < orders.size(); ++p) {
    for (const Tensor& t : graph.tensors(orders.node(p)))
      if (t.storage && !owners[t.storage.index()]) owners[t.storage.index()] = orders.node(p);
    const NodeId whole = orders.node(recomputable_.source(p));
    for (const Tensor& t : graph.tensors(orders.node(p)))
      if (t.storage && owners[t.storage.index()] == whole) owns_storage_[p] = true;
  }
  for (Place p = 0; p < orders.size(); ++p) {
    all_.push_back(p);
    readers_.emplace_back();
    if (orders.has(p, PairOrders::of_forward) && offloads_.is_tensor(orders.node(p)))
      readers_.back() = offloads_.readers_of(orders.node(p));
    if (orders.has(p, PairOrders::in_region)) region_.push_back(p);
    if (const NodeId value = back[orders.node(p).index()]) back_[p] = orders.place(value);
  }
  for (const auto& outputs : {orders.forward_outputs(), orders.backward_outputs()})
    outputs_.insert(outputs_.end(), outputs.begin(), outputs.end());
}

std::string FlatOrders::why_not_offloaded(Place value) const {
  const Graph& graph = orders_.graph();
  const NodeId id = orders_.node(value);
  // Copying parts of a storage separately would not free the storage earlier.
  if (!owns_storage_[value])
    return fmt::format("{} is a view; offload the tensor it is a view of", graph.name(id));
  const StepOffload& offload = readers_[value];
  if (!offload.first)
    return fmt::format("in the backward, {} is read only by recomputed calls or not at all",
                       graph.name(id));
  const auto stays = offloads_.stay_reason(offload);
  if (!stays) return {};
  switch (*stays) {
    case StepOffloads::StayReason::written:
      return fmt::format("{} is written to later", graph.name(id));
    case StepOffloads::StayReason::returned:
      return fmt::format("{} is returned by the step", graph.name(id));
    case StepOffloads::StayReason::read_late:
      return fmt::format("the forward still reads {} after the backward starts reading it",
                         graph.name(id));
  }
  return {};
}

Result<void> FlatOrders::add_offloads(std::span<const NodeId> offloaded, PairOrder& order,
                                      Nodes& nodes) const {
  using Kind = StepCall::Kind;
  std::vector<NodeId> in_order(offloaded.begin(), offloaded.end());
  std::ranges::sort(in_order, {}, [&](NodeId id) { return orders_.place(id); });
  OffloadOrder arranged(offload_nodes_);
  std::vector<OffloadOrder::Copies> copies;
  for (const NodeId id : in_order) {
    const Place place = orders_.place(id);
    if (const std::string why = orders_.why_not_offloaded(place); !why.empty())
      return fail(Error::Kind::usage, "{}", why);
    if (order.given[place] == 0)
      return fail(Error::Kind::usage, "{} cannot be offloaded: it is not saved for backward",
                  orders_.graph().name(id));
    const StepOffload& offload = readers_[place];
    const Place last = orders_.place(offload.last);
    const std::size_t views = offload.of_views.empty() ? 0 : offload.views.size();
    copies.push_back(arranged.insert(place, last, orders_.place(offload.first), views));
    const OffloadOrder::Copies& made = copies.back();
    order.value_of[place] = static_cast<std::uint32_t>(order.offloaded.size());
    order.offloaded.push_back(place);
    const bool keeps_last = long_forms_ && offloads_.is_tensor(offload.last);
    order.read_last.push_back(keeps_last ? last : PairOrder::kNever);
    nodes.add(Kind::offload, place, {place});
    nodes.add(Kind::offload_wait, place, {made.to_host, place});
    if (keeps_last) nodes.add_input(last);
    nodes.add(Kind::reload, place, {made.done});
    nodes.add(Kind::reload_wait, place, {made.to_device});
    if (long_forms_) nodes.add_input(made.done);
    nodes.add_reloaded(made.back);
    for (const NodeId reader : offload.direct)
      nodes.redirect(orders_.place(reader), place, made.back);
    for (std::size_t i = 0; i < views; ++i) {
      const Place view = orders_.place(offload.views[i]);
      std::vector<Nodes::Node> inputs;
      for (const Place input : orders_.inputs(view)) {
        const auto known = std::ranges::find(offload.views, orders_.node(input));
        const auto at = static_cast<std::size_t>(known - offload.views.begin());
        inputs.push_back(input == place ? made.back : at < i ? made.views[at] : input);
      }
      nodes.add(Kind::repeat, view, std::move(inputs));
      order.is_repeated[view] = 1;
    }
    for (const auto& [view, reader] : offload.of_views) {
      const auto at = std::ranges::find(offload.views, view) - offload.views.begin();
      nodes.redirect(orders_.place(reader), orders_.place(view),
                     made.views[static_cast<std::size_t>(at)]);
    }
  }
  const CpuOffloadOptions options;
  arranged.defer(copies, options.defer_layers);
  arranged.prefetch(copies, options.prefetch_layers);
  nodes.set_order(arranged.items());
  return {};
}

void FlatOrders::add_calls(PairOrder& order, const Nodes& nodes) const {
  RematOrder<Nodes> remat(nodes);
  remat.gather(nodes.region());
  for (const Nodes::Node item : remat.gathered()) {
    for (const Nodes::Node input : nodes.inputs(item))
      if (const Nodes::Node back = nodes.back(order, input); back != PairOrder::kNever)
        (void)remat.bring_back_before(back, remat.before(item));
    remat.insert_before(remat.before(item), {item, true});
    order.copied_before[item] = static_cast<std::uint32_t>(remat.before(item));
  }
  remat.find_unread({});
  const auto standing = remat.order();
  std::vector<std::uint8_t> is_moved(standing.size() + 1, 0);
  std::vector<std::vector<std::size_t>> raised;
  std::vector<std::uint32_t> raised_at(standing.size() + 1, 0);  // index in `raised` + 1, or 0
  if (!remat.gathered().empty())
    for (auto& raise : remat.raises(standing)) {
      for (const std::size_t part : raise.parts) is_moved[part] = 1;
      if (raised_at[raise.next] == 0) {
        raised.emplace_back();
        raised_at[raise.next] = static_cast<std::uint32_t>(raised.size());
      }
      auto& there = raised[raised_at[raise.next] - 1];
      there.insert(there.end(), raise.parts.begin(), raise.parts.end());
    }
  order.step.reserve(standing.size());
  const auto add = [&](const RematOrder<Nodes>::OrderedNode& at) {
    using Kind = StepCall::Kind;
    if (!nodes.is_call(at.node)) return;
    const auto position = static_cast<std::uint32_t>(nodes.position(at.node));
    if (nodes.is_inserted(at.node)) {
      const Nodes::Inserted& call = nodes.inserted(at.node);
      order.step.push_back({call.place, call.kind, position});
      return;
    }
    order.step.push_back({at.node, at.is_copy ? Kind::copy : Kind::original, position});
    (is_backward(order.step.back()) ? order.backward : order.forward).push_back(at.node);
  };
  for (std::size_t i = 0; i < standing.size(); ++i) {
    if (raised_at[i] != 0)
      for (const std::size_t part : raised[raised_at[i] - 1]) add(standing[part]);
    if (is_moved[i] == 0) add(standing[i]);
  }
}

void FlatOrders::find_saved(PairOrder& order) const {
  std::vector<std::uint8_t> is_saved(orders_.size(), 0);
  for (const Place p : order.offloaded) is_saved[p] = 1;
  for (const StepCall& call : order.step) {
    if (call.is_transfer() || !is_backward(call)) continue;
    for (const Place input : orders_.inputs(call.place)) {
      const StepInput read = input_of(order, call, input);
      if (read.kind == StepInput::Kind::original && orders_.has(read.place, PairOrders::is_call) &&
          orders_.has(read.place, PairOrders::of_forward))
        is_saved[read.place] = 1;
    }
  }
  const Graph& graph = orders_.graph();
  for (Place p = 0; p < orders_.size(); ++p) {
    if (is_saved[p] == 0) continue;
    if (orders_.has(p, PairOrders::is_symbolic))
      order.symbols.push_back(p);
    else if (graph.node(orders_.node(p)).value.kind == Value::Kind::tensor)
      order.saved.push_back(p);
  }
}

StepInput FlatOrders::input_of(const PairOrder& order, const StepCall& reader, Place input) const {
  using Kind = StepInput::Kind;
  if (reader.kind == StepCall::Kind::original && orders_.has(reader.place, PairOrders::of_forward))
    return {input, Kind::original};
  if (order.value_of[input] != PairOrder::kNever) return {input, Kind::reloaded};
  if (reader.kind == StepCall::Kind::copy) {
    if (back_[input] != PairOrder::kNever) return {back_[input], Kind::original};
    return {input, order.copied_before[input] == PairOrder::kNever ? Kind::original : Kind::copy};
  }
  if (order.is_repeated[input] != 0) return {input, Kind::repeat};
  const bool reads_copy = order.copied_before[input] <= reader.position;
  return {input, reads_copy ? Kind::copy : Kind::original};
}

FlatOrders::Started FlatOrders::collective_of_wait(const PairOrder& order,
                                                   const StepCall& wait) const {
  if (orders_.inputs(wait.place).empty()) return {};
  StepCall at = wait;
  constexpr int kSteps = 8;  // same limit as in Graph::collective_of_wait
  for (int step = 0; step < kSteps && !orders_.inputs(at.place).empty(); ++step) {
    const StepInput read = input_of(order, at, orders_.inputs(at.place).front());
    if (read.kind == StepInput::Kind::reloaded) return {};
    at.place = read.place;
    at.kind = read.kind == StepInput::Kind::copy     ? StepCall::Kind::copy
              : read.kind == StepInput::Kind::repeat ? StepCall::Kind::repeat
                                                     : StepCall::Kind::original;
    if (orders_.has(at.place, PairOrders::is_start)) return {.call = at, .found = true};
    if (!orders_.has(at.place, PairOrders::is_getitem) &&
        !orders_.has(at.place, PairOrders::is_wait))
      return {};
  }
  return {};
}

Result<PairOrder> FlatOrders::order(std::vector<std::uint8_t> given,
                                    std::span<const NodeId> offloaded) const {
  PairOrder order;
  order.given = std::move(given);
  order.copied_before.assign(orders_.size(), PairOrder::kNever);
  order.value_of.assign(orders_.size(), PairOrder::kNever);
  order.is_repeated.assign(orders_.size(), 0);
  std::vector<std::uint8_t> may_recompute(orders_.size(), 0);
  for (Place p = 0; p < orders_.size(); ++p)
    may_recompute[p] = order.given[p] == 0 && orders_.has(p, PairOrders::is_call) &&
                       orders_.has(p, PairOrders::of_forward) &&
                       !orders_.has(p, PairOrders::is_symbolic) && recomputable_(p);
  Nodes nodes(*this, may_recompute);
  if (!offloaded.empty()) JOINTER_CHECK(add_offloads(offloaded, order, nodes));
  add_calls(order, nodes);
  find_saved(order);
  return order;
}

}  // namespace jointer
