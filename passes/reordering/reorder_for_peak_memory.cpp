// reorder_for_peak_memory: computes several orders that use little memory and applies the one with
// the lowest peak.
//
// Steps. In each stretch between placeholders and outputs (so in each half of a pair separately),
// compute an order with every method (memory_orders.cpp) and the peak of each order. The order with
// the lowest peak wins; in a tie, the current order, then the method listed first.
//
// Collectives keep their relative order, as in torch 2.11, whose scheduler fixes it beforehand.
//
// Cost: n log n per method and stretch, for n calls.
//
// Source: torch 2.11, torch/_inductor/memory.py. Deviations:
//   - A peak is the maximum of live bytes after a call has allocated its results; upstream measures
//     after the call has also freed memory, which gives less than the peak of a run.
//   - Memory is counted as everywhere in Jointer: by real storages, with a collective's inputs live
//     until its wait.
//   - The choice is made separately for each half of a pair. The peak never grows, so the run's
//     limit needs no check.

#include <fmt/core.h>

#include "core/base/units.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/memory_walk.h"
#include "passes/reordering/memory_orders.h"
#include "passes/reordering/reordering.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

class Chooser {
 public:
  Chooser(Graph& graph, const Calls& calls, std::vector<std::string> methods,
          std::int64_t size_threshold, PassContext& context)
      : graph_(graph),
        calls_(calls),
        methods_(std::move(methods)),
        size_threshold_(size_threshold),
        context_(context),
        rows_(calls),
        use_(graph, context.analysis().memory, calls),
        original_(graph.order().begin(), graph.order().end()),
        order_(calls.size()) {
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<Call>(i);
    table_ = {.title = "Peaks by method",
              .columns = {{"calls from", PassTable::Unit::text},
                          {"method", PassTable::Unit::text},
                          {"peak", PassTable::Unit::bytes},
                          {"chosen", PassTable::Unit::text}}};
  }

  Result<void> run() {
    for (const Stretch stretch : calls_.stretches()) JOINTER_CHECK(choose(stretch));
    set_order(order_);
    context_.add_table(std::move(table_));
    return {};
  }

 private:
  struct Candidate {
    std::string method;
    std::vector<Call> order;  // the order of the whole graph
    std::int64_t peak = 0;
  };

  Result<void> choose(Stretch stretch) {
    std::vector<Candidate> candidates;
    candidates.push_back({"baseline", order_, peak_of(order_, stretch)});
    for (const std::string& method : methods_) {
      JOINTER_CHECK(
          context_.report(static_cast<double>(stretch.first) / static_cast<double>(calls_.size())));
      if (method == "baseline") continue;
      std::vector<Call> order = order_of(method, stretch);
      const std::int64_t peak = peak_of(order, stretch);
      candidates.push_back({method, std::move(order), peak});
    }
    const auto best = std::ranges::min_element(candidates, {}, &Candidate::peak);
    explain(stretch, candidates, *best);
    order_ = std::move(best->order);
    return {};
  }

  std::vector<Call> order_of(const std::string& method, Stretch stretch) const {
    std::vector<Call> order(order_.begin(),
                            order_.begin() + static_cast<std::ptrdiff_t>(stretch.first));
    order.reserve(order_.size());
    if (method == "lpmf")
      order_lpmf(calls_, rows_, use_, size_threshold_, stretch, order);
    else if (method == "bfs")
      order_bfs(rows_, stretch, order);
    else
      order_dfs(rows_, use_, stretch, order);
    order.insert(order.end(), order_.begin() + static_cast<std::ptrdiff_t>(stretch.last),
                 order_.end());
    return order;
  }

  // Starts from the original order, so that constants move only if the new order requires it.
  void set_order(std::span<const Call> order) {
    graph_.set_order(original_);
    set_call_order(graph_, calls_, order);
  }

  // The peak within the stretch. Leaves the graph in the given order; run() sets the final order.
  std::int64_t peak_of(std::span<const Call> order, Stretch stretch) {
    set_order(order);
    const MemoryTimeline timeline(graph_, context_.analysis().memory);
    std::int64_t max_bytes = 0;
    for (std::size_t i = stretch.first; i < stretch.last; ++i)
      max_bytes = std::max(max_bytes, timeline.profile()[point_of_step(i)]);
    return max_bytes;
  }

  void explain(Stretch stretch, std::span<const Candidate> candidates, const Candidate& best) {
    const std::string first(graph_.name(calls_.node(static_cast<Call>(stretch.first))));
    std::string peaks;
    for (const Candidate& candidate : candidates) {
      peaks += fmt::format("{}{} {}", peaks.empty() ? "" : ", ", candidate.method,
                           format_bytes(candidate.peak));
      table_.rows.push_back({"",
                             {first, candidate.method, candidate.peak,
                              std::string(&candidate == &best ? "yes" : "no")}});
    }
    const bool is_kept = best.method == "baseline";
    context_.decide(
        is_kept ? "kept" : "moved",
        fmt::format("From {} on, the calls {}. Peaks: {}.", first,
                    is_kept ? "keep their order"
                            : fmt::format("are in the order computed by {}", best.method),
                    peaks));
  }

  Graph& graph_;
  const Calls& calls_;
  std::vector<std::string> methods_;
  std::int64_t size_threshold_;
  PassContext& context_;
  OrderedCalls rows_;
  ItemUse use_;
  std::vector<NodeId> original_;
  std::vector<Call> order_;
  PassTable table_;
};

Result<void> run_reorder_for_peak_memory(Graph& graph, const Arguments& arguments,
                                         PassContext& context) {
  JOINTER_TRY(const Calls calls, Calls::of(graph, context.analysis()));
  return Chooser(graph, calls, arguments.texts("methods"),
                 arguments.integer("size_threshold_for_succ_based_strategy"), context)
      .run();
}

}  // namespace

Pass reorder_for_peak_memory_pass() {
  using Type = Parameter::Type;
  return {
      .info = {.name = "reorder_for_peak_memory",
               .summary =
                   "Tries orders that use little memory and applies the one with the lowest peak.",
               .source = "torch/_inductor/memory.py",
               .stage = PassStage::reordering,
               .parameters = {{.name = "methods",
                               .type = Type::list,
                               .default_value = PassValue::List{"lpmf", "bfs", "dfs"},
                               .choices = {"baseline", "lpmf", "bfs", "dfs"},
                               .doc = "Methods to try, in addition to the current order."},
                              {.name = "size_threshold_for_succ_based_strategy",
                               .type = Type::bytes,
                               .default_value = 0,
                               .min = 0,
                               .doc =
                                   "lpmf: if every ready call allocates more than this, the call "
                                   "with the earliest dependent call runs next; 0: never."}}},
      .run = with_kept_decision("The graph has no calls.", run_reorder_for_peak_memory)};
}

}  // namespace jointer
