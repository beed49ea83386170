// Overlaps collectives with compute, and merges them into buckets.
//
// Terms
//   half   a graph, or the forward or the backward of a pair. Each half is ordered separately.
//   base   a graph to schedule. The first is the half with FSDP's collectives already in buckets
//          (pre_bucketing.h), if requested and possible; the other is the half itself.
//   plan   torch's schedule of the base (overlap_scheduler.h) with torch's buckets
//          (overlap_bucketer.h).
//   limit  the peak of the original order, plus the allowed growth. There are two limits, each from
//          a different memory model: the caller's (PassContext::analysis), and torch's
//          build_memory_profile. The context's peak limit applies to the first.
//
// Steps, for each half
//   1. Make the bases and their plans.
//   2. Make candidates: the original order, the plans, and the plans without the buckets and
//      members that cost more time than they save; and each of these, as well as FSDP's buckets
//      alone, with every collective retimed (collective_timing.h). Retimed all-gathers run as late
//      as possible, unless their windows are short, so that they do not hold memory needlessly.
//   3. Measure each candidate: simulate it and compute both peaks. If a retimed candidate exceeds a
//      limit, move collectives away from its peak, the largest first, until the candidate fits, no
//      collective can move, or 60 rounds have passed: an all-gather starts after the peak; any
//      other collective is waited for before the peak.
//   4. Among the original order and the candidates within the limits, choose the one with the
//      shortest step time among those that expose no more time than the plan of the first base
//      (which may exceed the limits). If there is none, choose the one that exposes the least time.
// With `torch_compatible`, the plan of the first base is the result.
//
// Source: torch/_inductor/fx_passes/overlap_scheduling.py, schedule_overlap_bucketing (2.15), with
// its options and defaults. `rules` selects the rules of 2.15 or 2.11 (overlap_scheduler.cpp and
// overlap_bucketer.cpp describe the differences). By default, the version of torch that captured
// the graph decides: from 2.13 on, 2.15's rules apply. With 2.15's rules and `torch_compatible`, or
// in the bucket mode `coalesced`, buckets are torch's own calls (bucket_calls.h); otherwise
// core/edit/merge.h makes them. Deviations, all off with `torch_compatible`:
//   - memory stays within the limits; torch only estimates memory, so it may exceed them (by 0.6 GB
//     for a forward of Llama3-8B) and then expose less time;
//   - collectives are retimed, and the best of several orders is chosen;
//   - buckets that save less time than their copies take are not merged, or are reduced to the
//     members that pay off;
//   - a collective is not tried while something that it depends on cannot be started (torch forces
//     other waits first).
//
// Deviations in any case: a reduce-scatter and an all-reduce never share a bucket. No value is read
// before it is written; torch allows that (torch_buckets.cpp). Copies between devices stay
// asynchronous; the order of writes is preserved instead. Costs are those of the run's estimator;
// parameters that choose another source of costs are refused, and so are those that serve only
// later stages of Inductor. If the dependencies that keep collectives hidden form a cycle, torch
// fails, whereas here these dependencies are dropped.
//
// Cost: the files of the individual steps describe it. docs/performance.md has measurements
// (tests/benchmarks/bucketing_benchmark.cpp).

#include <algorithm>
#include <cctype>
#include <limits>
#include <memory>

#include "core/base/byte_units.h"
#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/graph/torch_version.h"
#include "passes/bucketing/bucketing.h"
#include "passes/bucketing/collective_timing.h"
#include "passes/bucketing/overlap_judge.h"
#include "passes/bucketing/overlap_plan.h"
#include "passes/bucketing/overlap_reasons.h"
#include "passes/bucketing/paying_members.h"
#include "passes/bucketing/pre_bucketing.h"
#include "passes/support/kept.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

struct Settings {
  OverlapOptions schedule;
  BucketerOptions buckets;
  MemoryIncrease increase;
  BucketRules rules = BucketDtypes::one;
  bool merges = true, is_torch = false;
  std::optional<BucketForm> form;  // set if buckets are torch's own calls
  bool pre_buckets = false;
  std::optional<double> pre_bucket_mib;
};

std::int64_t gib(double number) {
  return saturating_whole(number * kGiB);
}

// torch's parameters that cannot be set here, with their defaults and the reason or the
// alternative.
struct Foreign {
  const char* name;
  PassValue default_value;
  std::vector<std::string> choices;
  const char* meaning;
  const char* instead;
};
std::vector<Foreign> foreign_parameters() {
  constexpr const char* kCosts =
      "costs are those of the run's estimator; choose that instead (--estimator on the command "
      "line)";
  constexpr const char* kInductor = "it is for later stages of Inductor, which do not run here";
  return {
      {"insert_overlap_deps", false, {}, "Adds control_deps nodes.", kInductor},
      {"enable_fusion_regions", false, {}, "Treats calls that Inductor fuses as one.", kInductor},
      {"log_final_collectives_estimations",
       false,
       {},
       "Logs estimates for the final graph.",
       "the estimates of each pipeline step already include its collectives"},
      {"collective_estimator",
       std::string("analytical"),
       {"analytical", "benchmark"},
       "Source of torch's estimates for collectives.",
       kCosts},
      {"compute_estimator",
       std::string("benchmark"),
       {"benchmark", "analytical"},
       "Source of torch's estimates for compute.",
       kCosts},
      {"custom_runtime_estimation",
       {},
       {},
       "Python function that estimates a node's time.",
       kCosts},
      {"pge_profile_path",
       {},
       {},
       "Profile to read costs from.",
       "give the profile to the estimator: profile{trace=\"...\"}"}};
}

Result<void> refuse_foreign(const Arguments& arguments) {
  for (const Foreign& foreign : foreign_parameters())
    if (arguments.has_value(foreign.name) && arguments.value(foreign.name) != foreign.default_value)
      return fail(Error::Kind::usage, "{} cannot be set here; {}", foreign.name, foreign.instead);
  return {};
}

// Refuses parameters that require torch 2.15's rules.
Result<void> refuse_new(const Arguments& arguments) {
  for (const auto& [name, is_given] :
       {std::pair("bucket_only_internode_comms", arguments.boolean("bucket_only_internode_comms")),
        std::pair("pre_bucketing_fsdp_collectives_bucket_cap_mb",
                  arguments.has_value("pre_bucketing_fsdp_collectives_bucket_cap_mb")),
        std::pair("bucket_mode=coalesced", arguments.text("bucket_mode") == "coalesced")})
    if (is_given)
      return fail(Error::Kind::usage, "{} requires torch 2.15's rules; set rules=torch-2.15", name);
  return {};
}

Result<Settings> read_settings(const Graph& graph, const Arguments& arguments) {
  JOINTER_CHECK(refuse_foreign(arguments));
  Settings s;
  const std::string& rules = arguments.text("rules");
  const bool is_old = rules == "auto"
                          ? torch_version_of(graph) < TorchVersion{.major = 2, .minor = 13}
                          : rules == "torch-2.11";
  if (is_old) JOINTER_CHECK(refuse_new(arguments));
  s.is_torch = arguments.boolean("torch_compatible");
  s.merges = arguments.boolean("collective_bucketing");
  s.schedule.max_in_flight = gib(arguments.number("max_in_flight_gb"));
  s.schedule.compute_pre_fetch = arguments.integer("max_compute_pre_fetch");
  s.schedule.distance = arguments.integer("max_coll_distance");
  s.schedule.compute_multiplier = arguments.number("compute_overlap_multipler");
  s.schedule.groups_buckets = arguments.boolean("prioritize_bucketing_during_scheduling");
  s.schedule.is_torch = s.is_torch;
  s.schedule.rules = is_old ? OverlapRules::torch_2_11 : OverlapRules::torch_2_15;
  if (!is_old && arguments.has_value("max_off_bucket_gb"))
    s.schedule.off_bucket_bytes = gib(arguments.number("max_off_bucket_gb"));
  s.buckets.max_bytes = gib(arguments.number("max_bucket_memory_gb"));
  s.buckets.distance = arguments.integer("max_coll_distance");
  if (arguments.has_value("bucket_exposed_first"))
    s.buckets.exposed_first = arguments.boolean("bucket_exposed_first");
  else if (is_old)
    s.buckets.exposed_first = true;
  s.buckets.only_parameter_groups = arguments.boolean("bucket_only_internode_comms");
  s.buckets.mixes_reductions = s.is_torch && is_old;
  const std::string& mode = arguments.text("bucket_mode");
  if (mode == "custom_ops_multidtype" || (mode == "auto" && is_old))
    s.rules.dtypes = BucketDtypes::several;
  if (!is_old && (s.is_torch || mode == "coalesced"))
    s.form = mode == "coalesced"              ? BucketForm::coalesced
             : mode.starts_with("custom_ops") ? BucketForm::custom_ops
                                              : BucketForm::standard;
  s.rules.takes_buckets = s.form.has_value();
  s.pre_buckets = !is_old && arguments.boolean("pre_bucketing_fsdp_collectives");
  if (arguments.has_value("pre_bucketing_fsdp_collectives_bucket_cap_mb"))
    s.pre_bucket_mib = arguments.number("pre_bucketing_fsdp_collectives_bucket_cap_mb");
  // As in torch, if one of these two parameters is none or 0, the other decides.
  s.increase.bytes = gib(arguments.number("max_memory_increase_gb"));
  s.increase.ratio = arguments.number("max_memory_increase_ratio");
  if (!is_old && !arguments.has_value("max_memory_increase_gb") &&
      !arguments.has_value("max_memory_increase_ratio"))
    s.increase.bytes = std::numeric_limits<std::int64_t>::max();
  return s;
}

// One half of a graph, and data derived from it.
struct Half {
  Half(std::shared_ptr<Graph> g, PartId part, const Estimator& estimator, const BucketRules& rules)
      : graph(std::move(g)),
        costs(estimate_all(*graph, estimator)),
        dependencies(*graph),
        overlap(*graph, part, dependencies, costs, rules) {}

  std::shared_ptr<Graph> graph;  // referenced by the other members
  std::vector<NodeCost> costs;
  Dependencies dependencies;
  OverlapGraph overlap;
};

struct Candidate {
  std::shared_ptr<const Graph> graph;  // in any order
  std::vector<NodeId> order;
  OrderFigures figures;
  std::string_view what;
  std::size_t attempt = 0;
  Bucketing bucketing = {};  // if it has buckets
};

// A base and its plan.
struct Attempt {
  Half* base;
  std::string_view of;  // describes the base in messages
  OverlapPlan plan = {};
  std::shared_ptr<Graph> graph = {};  // with the plan applied
  std::vector<MergedBucket> merged = {};
  std::unique_ptr<Half> half = {};  // of `graph`
};

class Reordering {
 public:
  Reordering(const Graph& graph, PartId part, const Estimator& estimator, const Settings& settings,
             PassContext& context)
      : estimator_(estimator),
        settings_(settings),
        context_(context),
        given_(std::make_shared<Graph>(graph), part, estimator, settings.rules),
        names_(graph, part),
        part_(part),
        judge_(graph, given_.overlap, given_.costs, settings.increase, context) {}

  Result<Graph> run() {
    if (given_.overlap.collectives.empty()) return *given_.graph;
    JOINTER_CHECK(pre_bucket());
    if (settings_.is_torch) {
      JOINTER_CHECK(make_plan());
      return finish(
          {now().graph, order_of(*now().graph), {}, "torch's plan", 0, now().plan.bucketing});
    }
    add({given_.graph, order_of(*given_.graph), judge_.before(), "the original order",
         attempts_.size() - 1});
    JOINTER_CHECK(report(0.3));
    JOINTER_CHECK(add_timed(given_, "the original order, with its collectives retimed",
                            attempts_.size() - 1));
    std::int64_t max_exposed = std::numeric_limits<std::int64_t>::max();
    for (at_ = 0; at_ < attempts_.size(); ++at_) {
      JOINTER_TRY(const std::int64_t exposed, attempt());
      if (at_ == 0) max_exposed = exposed;
    }
    return finish(take_best(max_exposed));
  }

 private:
  static std::vector<NodeId> order_of(const Graph& graph) {
    return {graph.order().begin(), graph.order().end()};
  }

  [[nodiscard]] Result<void> report(double done) const {
    const auto parts = static_cast<double>(given_.graph->part_count());
    return context_.report((static_cast<double>(part_.index()) + done) / parts);
  }

  [[nodiscard]] Attempt& now() { return attempts_[at_]; }

  // Makes the bases: first the half with FSDP's buckets, if there are any, then the original half.
  // With `torch_compatible`, makes only the first base.
  Result<void> pre_bucket() {
    if (settings_.pre_buckets) {
      const PreBucketingOptions options{
          .cap_mib = settings_.pre_bucket_mib,
          .links = {.gpu = estimator_.device().torch_nccl,
                    .gpus_per_node = context_.analysis().estimator.gpus_per_node},
          .form = settings_.form};
      auto done = pre_bucket_fsdp(*given_.graph, part_, options, names_);
      if (!done)
        context_.decide("apart",
                        fmt::format("FSDP collectives are not bucketed before scheduling: {}.",
                                    done.error().message));
      else if (*done)
        pre_bucketed_ = *std::move(*done);
    }
    if (pre_bucketed_) {
      base_ = std::make_unique<Half>(std::make_shared<Graph>(std::move(pre_bucketed_->graph)),
                                     part_, estimator_, settings_.rules);
      attempts_.push_back({.base = base_.get(), .of = " (FSDP's buckets first)"});
      if (settings_.is_torch) return {};
    }
    attempts_.push_back({.base = &given_, .of = ""});
    return {};
  }

  // Adds the candidates made from the current base. Returns the exposed time of torch's plan for
  // that base, even if the plan exceeds the limits.
  Result<std::int64_t> attempt() {
    JOINTER_CHECK(make_plan());
    if (now().base != &given_)
      JOINTER_CHECK(add_timed(*now().base, "FSDP's buckets, with collectives retimed", at_));
    const std::int64_t exposed = add_planned("torch's plan");
    JOINTER_CHECK(add_timed(*now().half, "torch's plan, with its collectives retimed", at_));
    // Repeat once: after some members are removed, the rest of a bucket may not pay off either.
    bool any = false;
    for (int i = 0; i < 2 && leave_costly(); ++i) {
      any = true;
      JOINTER_CHECK(build_plan());
    }
    if (any) {
      add_planned("torch's plan with the buckets that pay off");
      JOINTER_CHECK(
          add_timed(*now().half, "torch's plan with the buckets that pay off, retimed", at_));
    }
    return exposed;
  }

  // Reports the current attempt's progress as a fraction of the whole run.
  [[nodiscard]] Result<void> report_attempt(double done) const {
    return report(0.3 +
                  0.7 * (static_cast<double>(at_) + done) / static_cast<double>(attempts_.size()));
  }

  Result<void> make_plan() {
    const OverlapGraph& base = now().base->overlap;
    OverlapPlan& plan = now().plan;
    const TorchStorages storages(base);
    OverlapOptions options = settings_.schedule;
    options.max_bytes_more = settings_.increase.over(live_peak(base, storages));
    for (const OverlapCollective& c : base.collectives)
      options.latency_ns.push_back(estimator_.latency_ns(*now().base->graph, base.nodes[c.start]));
    JOINTER_TRY(plan.schedule, schedule_overlap(base, storages, options, [&](double done) {
                  return report_attempt(0.5 * done);
                }));
    if (!settings_.merges) {
      plan.bucketing = without_buckets(base, plan.schedule);
    } else {
      JOINTER_TRY(plan.bucketing,
                  find_buckets(base, plan.schedule, settings_.buckets,
                               [&](double done) { return report_attempt(0.5 + 0.1 * done); }));
    }
    return build_plan();
  }

  // If the dependencies that keep collectives hidden form a cycle, torch fails. Here they are
  // dropped, and if that is not enough, nothing is merged.
  Result<void> build_plan() {
    const OverlapGraph& base = now().base->overlap;
    OverlapPlan& plan = now().plan;
    const auto build = [&]() -> Result<PlannedGraph> {
      if (!settings_.form)
        return with_plan(base, now().base->dependencies, plan, settings_.rules.dtypes);
      BucketNames names = names_;
      return with_torch_plan(base, now().base->dependencies, plan, {.form = *settings_.form},
                             names);
    };
    auto built = build();
    if (!built) {
      context_.decide("kept", fmt::format("Some hidden collectives may become exposed: {}.",
                                          built.error().message));
      plan.bucketing.dependencies.clear();
      built = build();
    }
    if (!built) {
      context_.decide("apart", fmt::format("No buckets are created: {}.", built.error().message));
      plan.bucketing = without_buckets(base, plan.schedule);
      built = build();
    }
    JOINTER_TRY(PlannedGraph planned, std::move(built));
    now().graph = std::make_shared<Graph>(std::move(planned.graph));
    now().merged = std::move(planned.merged);
    return {};
  }

  // The maximum number of live bytes before the first node and after the releases of each node.
  // This is the value that torch limits.
  [[nodiscard]] static std::int64_t live_peak(const OverlapGraph& half,
                                              const TorchStorages& storages) {
    TorchMemory memory(storages);
    std::int64_t peak = memory.now();
    for (Place p = 0; p < half.size(); ++p) {
      memory.run(p);
      peak = std::max(peak, memory.now());
    }
    return peak;
  }

  // Reduces buckets that cost more than they save to the members that pay off, or drops them.
  // Returns true if there are such buckets.
  bool leave_costly() {
    auto& buckets = now().plan.bucketing.buckets;
    std::vector<std::vector<std::uint32_t>> kept;
    bool any = false;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const std::int64_t copies = copy_ns(now().merged[i]);
      const std::int64_t saved = saved_ns(buckets[i], now().merged[i]);
      std::vector<std::uint32_t> stay = buckets[i];
      if (copies > saved) {
        any = true;
        stay = paying(buckets[i], copies, saved);
      }
      for (const std::uint32_t c : buckets[i])
        if (stay.size() < 2 || std::ranges::find(stay, c) == stay.end()) {
          now().plan.bucketing.why[c] = NoBucket::costly;
          now().plan.bucketing.with[c] = buckets[i][c == buckets[i][0] ? 1 : 0];
        }
      if (stay.size() >= 2) kept.push_back(std::move(stay));
    }
    buckets = std::move(kept);
    return any;
  }

  [[nodiscard]] std::int64_t copy_ns(const MergedBucket& bucket) {
    std::int64_t sum = 0;
    for (const auto* nodes : {&bucket.ahead, &bucket.behind})
      for (const NodeId id : *nodes)
        if (const NodeCost cost = estimator_.estimate(*now().graph, id);
            cost.lane == NodeCost::Lane::compute)
          sum += cost.ns;
    return sum;
  }
  [[nodiscard]] std::int64_t saved_ns(const std::vector<std::uint32_t>& members,
                                      const MergedBucket& bucket) {
    std::int64_t sum = -estimator_.estimate(*now().graph, bucket.start).ns;
    for (const std::uint32_t c : members) sum += now().base->overlap.collectives[c].ns;
    return sum;
  }

  [[nodiscard]] std::vector<std::uint32_t> paying(const std::vector<std::uint32_t>& members,
                                                  std::int64_t copies, std::int64_t saved) {
    std::vector<std::int64_t> bytes;
    for (const std::uint32_t c : members) bytes.push_back(now().base->overlap.collectives[c].bytes);
    std::vector<std::uint32_t> stay;
    for (const std::size_t i : paying_members(bytes, copies, saved)) stay.push_back(members[i]);
    return stay;
  }

  void add(Candidate candidate) {
    tell(candidate, {});
    candidates_.push_back(std::move(candidate));
  }

  [[nodiscard]] std::string_view of(const Candidate& candidate) const {
    return candidate.what.starts_with("torch's") ? attempts_[candidate.attempt].of
                                                 : std::string_view();
  }

  void tell(const Candidate& candidate, std::string_view why_not) {
    const OrderFigures& f = candidate.figures;
    context_.decide("tried",
                    fmt::format("{}{}{}: {} of the step's {} are exposed, peak {}{}.",
                                static_cast<char>(std::toupper(candidate.what.front())),
                                candidate.what.substr(1), of(candidate), format_ns(f.exposed_ns),
                                format_ns(f.step_ns), format_bytes(f.peak_bytes), why_not));
  }

  // Adds the plan as a candidate if it is within the limits. Returns the plan's exposed time in any
  // case.
  std::int64_t add_planned(std::string_view what) {
    now().half = std::make_unique<Half>(now().graph, part_, estimator_, settings_.rules);
    const Half& half = *now().half;
    Candidate candidate{half.graph,
                        order_of(*half.graph),
                        judge_.judge(*half.graph, half.overlap, half.costs),
                        what,
                        at_,
                        now().plan.bucketing};
    const std::int64_t exposed = candidate.figures.exposed_ns;
    if (judge_.is_within(candidate.figures))
      add(std::move(candidate));
    else
      tell(candidate, "; its memory exceeds a limit");
    return exposed;
  }

  Result<void> add_timed(Half& half, std::string_view what, std::size_t attempt) {
    std::vector<NodeId> given = order_of(*half.graph);
    const Result<void> done = add_timed_of(half, what, attempt);
    half.graph->set_order(std::move(given));
    return done;
  }

  // Retimes the collectives, moves them away from the peaks until both are within the limits, and
  // adds the resulting order as a candidate. Adds none if that fails. Leaves the half's graph in
  // the last order tried.
  Result<void> add_timed_of(Half& half, std::string_view what, std::size_t attempt) {
    constexpr int kMaxRounds = 60;
    TimingBounds bounds(half.overlap);
    const TorchStorages storages(half.overlap);
    Graph& graph = *half.graph;
    Candidate candidate{half.graph, {}, {}, what, attempt, {}};
    if (&half != attempts_[attempt].base) candidate.bucketing = attempts_[attempt].plan.bucketing;
    for (int round = 0; round < kMaxRounds; ++round) {
      JOINTER_CHECK(at_ < attempts_.size() ? report_attempt(0.6) : report(0.1));
      auto order =
          order_with(half.overlap, half.dependencies, time_collectives(half.overlap, bounds));
      if (!order) return {};  // a node would cross a wall, so there is no such candidate
      graph.set_order(*std::move(order));
      candidate.figures = judge_.weigh(graph, half.overlap, storages);
      if (judge_.is_within(candidate.figures)) {
        candidate.figures = judge_.judge(graph, half.overlap, half.costs);
        candidate.order = order_of(graph);
        add(std::move(candidate));
        return {};
      }
      if (!give_way(graph, half.overlap, candidate.figures, bounds)) break;
    }
    candidate.figures = judge_.judge(graph, half.overlap, half.costs);
    tell(candidate, "; its memory cannot be reduced to within the limits");
    return {};
  }

  // Changes the bounds so that collectives live at a peak that exceeds its limit move before or
  // after it. Returns true if it changed a bound.
  bool give_way(const Graph& graph, const OverlapGraph& half, const OrderFigures& figures,
                TimingBounds& bounds) const {
    bool any = false;
    for (const auto& [at, over] :
         {std::pair(figures.peak_at, figures.peak_bytes - judge_.limit()),
          std::pair(figures.torch_peak_at, figures.torch_peak_bytes - judge_.torch_limit())}) {
      if (over <= 0 || !at || half.place_of[at.index()] == kNoPlace) continue;
      const Place peak = half.place_of[at.index()];
      std::vector<std::pair<std::int64_t, std::uint32_t>> alive;
      for (std::uint32_t c = 0; c < half.collectives.size(); ++c)
        if (is_across(graph, half, half.collectives[c], at) &&
            (grows(graph, half, c) ? bounds.not_before[c] <= peak : bounds.not_behind[c] > peak))
          alive.emplace_back(-half.collectives[c].bytes, c);
      std::ranges::sort(alive);
      std::int64_t freed = 0;
      for (const auto& [bytes, c] : alive) {
        if (freed > over) break;
        freed -= bytes;
        any = true;
        if (grows(graph, half, c))
          bounds.not_before[c] = peak + 1;
        else
          bounds.not_behind[c] = peak;
      }
    }
    return any;
  }

  // True for all-gathers, which hold more memory when they are done. To reduce the memory at the
  // peak, an all-gather must start after the peak; any other collective must end before it.
  [[nodiscard]] static bool grows(const Graph& graph, const OverlapGraph& half, std::uint32_t c) {
    const Node& start = graph.node(half.nodes[half.collectives[c].start]);
    return graph.op(start).collective == CollectiveKind::all_gather;
  }

  [[nodiscard]] static bool is_across(const Graph& graph, const OverlapGraph& half,
                                      const OverlapCollective& c, NodeId at) {
    const std::size_t place = graph.position(at);
    return graph.position(half.nodes[c.start]) <= place &&
           place <= graph.position(half.nodes[c.wait]);
  }

  Candidate take_best(std::int64_t max_exposed) {
    const auto is_better = [&](const Candidate& a, const Candidate& b) {
      const bool x = a.figures.exposed_ns <= max_exposed, y = b.figures.exposed_ns <= max_exposed;
      if (x != y) return x;
      return x ? std::pair(a.figures.step_ns, a.figures.exposed_ns) <
                     std::pair(b.figures.step_ns, b.figures.exposed_ns)
               : std::pair(a.figures.exposed_ns, a.figures.step_ns) <
                     std::pair(b.figures.exposed_ns, b.figures.step_ns);
    };
    return std::move(*std::ranges::min_element(candidates_, is_better));
  }

  Result<Graph> finish(Candidate chosen) {
    Graph graph = *chosen.graph;
    graph.set_order(std::move(chosen.order));
    const std::vector<NodeCost> costs = estimate_all(graph, estimator_);
    Attempt& attempt = attempts_[chosen.attempt];
    const bool is_merged = !chosen.bucketing.buckets.empty();
    if (is_merged) attempt.plan.bucketing = std::move(chosen.bucketing);
    if (!settings_.is_torch)
      context_.decide(
          is_merged ? "merged" : "ordered",
          fmt::format("Chose {}{} among {} within {}: {} of the step's {} are exposed (before: {} "
                      "of {}), at a peak of {} (before: {}).",
                      chosen.what, of(chosen), counted(candidates_.size(), "order"),
                      format_bytes(judge_.limit()), format_ns(chosen.figures.exposed_ns),
                      format_ns(chosen.figures.step_ns), format_ns(judge_.before().exposed_ns),
                      format_ns(judge_.before().step_ns), format_bytes(chosen.figures.peak_bytes),
                      format_bytes(judge_.before().peak_bytes)));
    if (attempt.base != &given_) decide_pre_buckets(graph);
    const OverlapGraph& base = attempt.base->overlap;
    decide_overlaps(graph, base, attempt.plan, costs, context_);
    if (settings_.merges && (is_merged || attempt.plan.bucketing.buckets.empty()))
      decide_buckets(graph, base, attempt.plan, context_);
    else if (settings_.merges)
      context_.decide(
          "apart",
          "The buckets of torch's plan were not created, because no order with them was "
          "better within the limits.");
    return graph;
  }

  void decide_pre_buckets(const Graph& graph) {
    for (const PreBucketed::Bucket& bucket : pre_bucketed_->buckets)
      for (const NodeId member : bucket.members)
        context_.decide(
            graph, member, "merged",
            fmt::format("Merged with {} into {} before scheduling; the maximum size of these "
                        "buckets is {}.",
                        counted(bucket.members.size() - 1, "more FSDP collective"),
                        graph.name(bucket.start), format_bytes(pre_bucketed_->cap_bytes)));
  }

  const Estimator& estimator_;
  const Settings& settings_;
  PassContext& context_;
  Half given_;
  BucketNames names_;  // names in use, including those of removed nodes
  PartId part_;
  OverlapJudge judge_;
  std::optional<PreBucketed> pre_bucketed_;
  std::unique_ptr<Half> base_;  // of pre_bucketed_
  std::vector<Attempt> attempts_;
  std::size_t at_ = 0;
  std::vector<Candidate> candidates_;
};

Result<void> run_autobucketing_reordering(Graph& graph, const Arguments& arguments,
                                          PassContext& context) {
  JOINTER_TRY(const Settings settings, read_settings(graph, arguments));
  JOINTER_TRY(const auto estimator, estimator_for(graph, context.analysis()));
  for (std::size_t part = 0; part < graph.part_count(); ++part) {
    JOINTER_TRY(graph, Reordering(graph, PartId(part), *estimator, settings, context).run());
  }
  return context.report(1);
}

std::vector<Parameter> bucketing_parameters() {
  Parameter exposed_first = parameter(
      "bucket_exposed_first", Parameter::Type::boolean, {},
      "Fill buckets beginning with the least hidden collective instead of in the order of the "
      "schedule; none: only in groups that gather parameters (rules of 2.15) or in all groups "
      "(2.11).");
  exposed_first.may_be_none = true;
  Parameter cap =
      optional_number("pre_bucketing_fsdp_collectives_bucket_cap_mb",
                      "Maximum size of FSDP's buckets in MiB, the larger of inputs and results; "
                      "none: enough to use the group's links well, 10 to 500.");
  std::vector<Parameter> all{
      choice("rules", {"auto", "torch-2.15", "torch-2.11"}, "auto",
             "Version of torch whose rules to follow; auto: determined by the version that "
             "captured the graph."),
      flag("pre_bucketing_fsdp_collectives", true,
           "Put FSDP collectives into buckets before scheduling (rules of 2.15 only)."),
      std::move(cap),
      flag("collective_bucketing", true, "Merge similar collectives if that costs no overlap."),
      number("max_in_flight_gb", 5.0, "Maximum GiB of collectives in flight."),
      count("max_compute_pre_fetch", 200, 0,
            "Maximum number of compute nodes between a collective's start and its use."),
      count("max_coll_distance", 200, 0,
            "Maximum number of later collectives to try to start early or to add to a bucket."),
      number("compute_overlap_multipler", 1.0,
             "Factor applied to the time of the compute that hides a collective."),
      number_or_none("max_memory_increase_gb", 1.0,
                     "Allowed growth of the peak in GiB; the larger of this and the ratio applies. "
                     "If both are none, there is no limit (rules of 2.15), or the peak may not "
                     "grow (2.11)."),
      number_or_none("max_memory_increase_ratio", 0.05,
                     "Allowed growth of the peak, as a fraction of the original peak; none: only "
                     "max_memory_increase_gb applies."),
      std::move(exposed_first),
      flag("bucket_only_internode_comms", false,
           "Make buckets only in groups that gather parameters (rules of 2.15 only)."),
      choice("bucket_mode", {"auto", "default", "custom_ops", "custom_ops_multidtype", "coalesced"},
             "auto",
             "Form of the buckets. custom_ops_multidtype: all-gathers of several dtypes may share "
             "a bucket; coalesced: a reduce-scatter receives its members as a list, without copies "
             "(rules of 2.15). auto: default (rules of 2.15), custom_ops_multidtype (2.11)."),
      number_or_none(
          "max_off_bucket_gb", 0.5,
          "Collectives that no compute depends on start together once those that could share a "
          "bucket add up to this many GiB; none: each starts independently (rules of 2.15 only)."),
      number("max_bucket_memory_gb", 2.0,
             "Maximum size of a bucket in GiB, inputs and results together."),
      flag("prioritize_bucketing_during_scheduling", true,
           "Start collectives that could share a bucket directly after one another."),
      flag("torch_compatible", false,
           "Make the decisions that torch makes, even if memory exceeds the limit."),
  };
  for (const Foreign& foreign : foreign_parameters()) {
    const bool is_flag = foreign.default_value.as<bool>() != nullptr;
    Parameter made = parameter(
        foreign.name, is_flag ? Parameter::Type::boolean : Parameter::Type::text,
        foreign.default_value, fmt::format("{} Refused: {}.", foreign.meaning, foreign.instead));
    made.choices = foreign.choices;
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace

Pass autobucketing_reordering() {
  return {.info = {.name = "autobucketing_reordering",
                   .summary = "Starts collectives early so that they overlap with independent "
                              "compute, and merges similar collectives, within a memory budget.",
                   .source = "torch/_inductor/fx_passes/overlap_scheduling.py",
                   .stage = PassStage::bucketing,
                   .parameters = bucketing_parameters()},
          .run = with_kept_decision("The graph has no collective with a wait.",
                                    run_autobucketing_reordering)};
}

}  // namespace jointer
