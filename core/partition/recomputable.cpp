// Determines the calls that may be recomputed. A call may be recomputed unless
//  - it draws random numbers. A random operator does, unless its arguments say otherwise (attention
//    without dropout). Such a call may still be recomputed if a tag or a plan asks for it: the pair
//    then gives it the state that the forward had (random_states.cpp). A higher-order operator that
//    hides a random call would draw different numbers; run_with_rng_state already has its state;
//  - it writes to one of its inputs, or has to stay in its half (NodePlaces);
//  - it has an effect outside the graph, checks a value, or keeps calls from moving across it;
//  - it reads a storage that a later call writes to, and is not a view of it: the second run would
//    read the new values. A view refers to its storage's current values either way;
//  - it allocates a storage that a later call writes to: the second result would lack that write;
//  - it reads an element of the result of such a call;
//  - in a flat training step: it is read by a part of the backward in which nothing is recomputed
//    (flat_order.cpp). In such a step, no call gets the state of a generator, so a random call
//    never runs again.
//
// Cost: linear in nodes and edges.

#include "core/partition/recomputable.h"

#include <algorithm>

#include "core/graph/effects.h"
#include "core/partition/last_writes.h"
#include "core/partition/random_states.h"
#include "core/partition/recompute_tags.h"

namespace jointer {

Recomputable::Recomputable(const PairOrders& orders) : orders_(orders) {
  why_not_.assign(orders.size(), Why::none);
  find_overwritten();
  for (Place p = 0; p < orders.size(); ++p) {
    if (!orders.has(p, PairOrders::is_call)) continue;
    if (const Why why = find_why(p); why != Why::none) why_not_[p] = why;
  }
}

Recomputable::Why Recomputable::find_why(Place call) const {
  const Graph& graph = orders_.graph();
  const Node& n = graph.node(orders_.node(call));
  if (orders_.has(call, PairOrders::is_getitem)) {
    if (orders_.has(call, PairOrders::read_outside)) return Why::read_outside;
    const Why whole = why_not_[orders_.inputs(call).front()];
    return whole == Why::none || whole == Why::read_outside ? Why::none : Why::part;
  }
  if (graph.op(n).mutates) return Why::writes;
  if (orders_.has(call, PairOrders::only_forward) || orders_.has(call, PairOrders::only_backward))
    return Why::in_one_half;
  if (orders_.has(call, PairOrders::read_outside)) return Why::read_outside;
  const Effects effects = effects_of(graph, n);
  const std::string_view packet = graph.op(n).packet();
  if (effects.has(Effects::draws) && packet.find("run_with_rng_state") == std::string_view::npos &&
      !draws_nothing(graph, n)) {
    if (orders_.is_flat() || !can_keep_state(graph, n)) return Why::draws_unseen;
    if (!must_recompute(n)) return Why::draws;
  }
  if (effects.has(Effects::acts) || effects.has(Effects::checks) || effects.has(Effects::separates))
    return packet.find("run_with_rng_state") == std::string_view::npos ? Why::acts : Why::none;
  return Why::none;
}

void Recomputable::find_overwritten() {
  const Graph& graph = orders_.graph();
  const LastWrites writes(graph);
  if (!writes.any()) return;
  for (Place p = 0; p < orders_.size(); ++p) {
    if (!orders_.has(p, PairOrders::is_call)) continue;
    if (orders_.has(p, PairOrders::is_overtaken)) why_not_[p] = Why::overwritten;
    const NodeId id = orders_.node(p);
    const auto own = graph.tensors(id);
    const auto is_own = [&](StorageId storage) {
      return std::any_of(own.begin(), own.end(), [&](const Tensor& t) {
        return t.storage && graph.real_storage(t.storage) == storage;
      });
    };
    // An element is in its tuple's memory.
    bool is_view = orders_.has(p, PairOrders::is_getitem);
    for (const Place input : orders_.inputs(p))
      for (const Tensor& t : graph.tensors(orders_.node(input))) {
        if (!t.storage) continue;
        const StorageId storage = graph.real_storage(t.storage);
        if (is_own(storage))
          is_view = true;
        else if (writes.follow(id, storage))
          why_not_[p] = Why::overwritten;
      }
    if (!is_view && writes.follow(id, id)) why_not_[p] = Why::overwritten;
  }
}

Place Recomputable::source(Place call) const {
  while (orders_.has(call, PairOrders::is_getitem)) call = orders_.inputs(call).front();
  return call;
}

std::string Recomputable::why_not(Place call) const {
  const std::string_view name = orders_.graph().name(orders_.node(call));
  switch (why_not_[call]) {
    case Why::none:
      break;
    case Why::draws:
      return fmt::format(
          "{} draws random numbers: it is recomputed only if a tag or a decision asks for it",
          name);
    case Why::draws_unseen:
      return fmt::format("{} draws random numbers, which would differ the second time", name);
    case Why::in_one_half:
      return fmt::format("{} must run in the {} only", name,
                         orders_.has(call, PairOrders::only_forward) ? "forward" : "backward");
    case Why::writes:
      return fmt::format("{} writes to one of its inputs, so it must run once", name);
    case Why::acts:
      return fmt::format("{} has a side effect or checks a value, so it must run once", name);
    case Why::overwritten:
      return fmt::format(
          "{} uses memory that is written to later: its result would differ if recomputed", name);
    case Why::read_outside:
      return fmt::format(
          "{} is read by a part of the backward that recomputes nothing, so it stays in memory "
          "until then",
          name);
    case Why::part:
      return why_not(orders_.inputs(call).front());
  }
  return {};
}

}  // namespace jointer
