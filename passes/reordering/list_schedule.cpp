#include "passes/reordering/list_schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/schedule/memory_timeline.h"
#include "passes/support/peak_limit.h"

namespace jointer {

OrderedCalls::OrderedCalls(const Calls& calls)
    : calls_(calls), previous_(calls.size(), kNoCall), next_(calls.size(), kNoCall) {
  for (const Stretch stretch : calls.stretches()) {
    std::array<Call, 2> last{kNoCall, kNoCall};  // collective, copy
    for (std::size_t i = stretch.first; i < stretch.last; ++i) {
      const Call call = static_cast<Call>(i);
      if (!calls.is_start(call)) continue;
      Call& previous = last[calls.is_transfer(call) ? 1 : 0];
      const auto before = calls.before(call);
      if (previous != kNoCall && std::ranges::find(before, previous) == before.end()) {
        previous_[call] = previous;
        next_[previous] = call;
      }
      previous = call;
    }
  }
}

namespace {

class PlaceExplainer {
 public:
  PlaceExplainer(const Graph& graph, const Calls& calls, std::span<const Call> order)
      : graph_(graph), calls_(calls), rows_(calls), places_(calls.size()) {
    for (std::size_t i = 0; i < order.size(); ++i) places_[order[i]] = i;
  }

  void explain(Call call, PassContext& context) const {
    const auto was = static_cast<std::int64_t>(call);
    const auto is = static_cast<std::int64_t>(places_[call]);
    const std::string where = is == was
                                  ? "In its original position"
                                  : fmt::format("{} {}", calls_text(is > was ? is - was : was - is),
                                                is > was ? "later" : "earlier");
    context.decide(graph_, calls_.node(call), is == was ? "kept" : "moved",
                   fmt::format("{}{}.", where, calls_.is_wait(call) ? later(call) : earlier(call)));
  }

 private:
  [[nodiscard]] std::string_view name(Call call) const { return graph_.name(calls_.node(call)); }

  // Text that names the call that keeps a start from moving further up.
  [[nodiscard]] std::string earlier(Call call) const {
    Call last = kNoCall;
    rows_.for_each_before(call, [&](Call before) {
      if (last == kNoCall || places_[before] > places_[last]) last = before;
    });
    if (last == kNoCall) return ": it depends on no other call";
    if (last == rows_.previous(call))
      return fmt::format(": it follows {}, because {} keep their order", name(last),
                         calls_.is_transfer(call) ? "copies to and from the host" : "collectives");
    return fmt::format(": it depends on {}", name(last));
  }

  // Text that names the call that keeps a wait from moving further down.
  [[nodiscard]] std::string later(Call call) const {
    Call first = kNoCall;
    for (const Call after : calls_.after(call))
      if (first == kNoCall || places_[after] < places_[first]) first = after;
    if (first == kNoCall) return ": no call depends on it";
    return fmt::format(": {} depends on it", name(first));
  }

  const Graph& graph_;
  const Calls& calls_;
  OrderedCalls rows_;
  std::vector<std::size_t> places_;
};

}  // namespace

void explain_places(const Graph& graph, const Calls& calls, std::span<const Call> order,
                    Explained explained, PassContext& context) {
  const PlaceExplainer explainer(graph, calls, order);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call call = static_cast<Call>(i);
    if ((explained.starts && calls.is_start(call)) || (explained.waits && calls.is_wait(call)))
      explainer.explain(call, context);
  }
}

bool keep_within_limit(Graph& graph, const Calls& calls, std::span<const Call> order,
                       PassContext& context) {
  if (!context.peak_limit()) {
    set_call_order(graph, calls, order);
    return true;
  }
  const MemoryOptions& options = context.analysis().memory;
  const std::int64_t before = MemoryTimeline(graph, options).peak_bytes();
  const std::vector<NodeId> old(graph.order().begin(), graph.order().end());
  set_call_order(graph, calls, order);
  if (is_within_peak_limit(before, MemoryTimeline(graph, options).peak_bytes(), context))
    return true;
  graph.set_order(old);
  return false;
}

}  // namespace jointer
