// Searches for the plan with the shortest step whose peak is within a limit, or for the plan with
// the lowest peak whose step is within a limit.
//
// Terms
//   price     the cost of a byte that is live between the halves, or of a nanosecond of copies
//             (plan_relaxation.cpp).
//   sample    the plan that is optimal for a pair of prices.
//   bracket   two samples with neighboring byte prices, one within the limit and one beyond it.
//
// Every plan is judged by its complete step (PlanWhatIf), never by prices. All plans that no other
// plan beats are kept.
//
// Steps
//   1. For each of a few copy prices, sample a series of byte prices from far below to far above
//      the mean cost of a byte.
//   2. Bracket the limit in each series and halve the interval between the two prices.
//   3. Mix the two plans of each bracket; repeat both steps at up to two more copy prices, between
//      the best one and its neighbors; then mix the mixed plans of neighboring copy prices: a price
//      treats equal layers alike, but the best plan need not (plan_mixing.cpp). Steps 2 and 3 run
//      first for a limit that is a tenth tighter, since plans within it are within the limit.
//   4. Improve the best plan so far: change decisions until it is within the limit and no change
//      makes it better (plan_descent.cpp). Then, until the effort is spent:
//      - tune the best plans tensor by tensor (plan_tuning.cpp), and improve the best of them;
//      - improve the plans of the brackets, first those beyond the limit: the descent then gives up
//        the least valuable decisions first;
//      - change up to three decisions of the best plan at random, improve the result, and continue
//        from it if it is not worse: where a few large values dominate, several changes together
//        may help although none helps alone.
//   5. Improve the best plan once more, also with changes that the descent has left out so far to
//      save time (step 3 of plan_descent.cpp). On a graph with 20,000 nodes, this evaluates at most
//      as many plans as the effort; on a larger one, fewer in proportion.
//   6. For a limit on the peak, raise the lower bound on the step time with prices at the moment of
//      the plan's peak (plan_moment.cpp).
//
// The effort is counted in plans and changes that are tried, not in time, so the result is the same
// on every machine. A descent before step 5, and the tuning, run to their end even if they exceed
// the effort, and the brackets of different copy prices, which are mixed at the same time, may
// exceed it together.
//
// Cost with offloading: 7 * 14 minimum cuts and plans once; for each limit at most 152 cuts
// more, and 20 in step 6; and `effort` evaluations of a plan plus those of the last descent and of
// step 5: on Llama3-8B, 2,000 and 1,500.

#include "core/partition/plan_frontier.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "core/base/parallel.h"
#include "core/partition/plan_tuning.h"

namespace jointer {
namespace {

constexpr int kHalvings = 8;
constexpr std::int64_t kTighterTenths = 9;  // of the limit: the tighter one of steps 2 and 3
constexpr std::size_t kMaxKicks = 3;        // random changes at once
constexpr std::size_t kLastNodes = 20'000;  // see step 5

}  // namespace

PlanFrontier::PlanFrontier(const Graph& joint, const PlanWhatIf& what_if, PlanRelaxation relaxation,
                           Options options)
    : joint_(joint),
      what_if_(what_if),
      relaxation_(std::move(relaxation)),
      options_(std::move(options)),
      rules_(what_if, options_.policies, options_.offload),
      descent_(joint, what_if,
               {.rules = rules_,
                .go_on = [this] { return evaluated_ < descent_end_ && go_on(); },
                .exhaustive = options_.effort}) {}

Result<std::unique_ptr<PlanFrontier>> PlanFrontier::make(const Graph& joint,
                                                         const PlanWhatIf& what_if,
                                                         Options options) {
  JOINTER_TRY(PlanRelaxation relaxation, PlanRelaxation::make(what_if, options.policies));
  return std::unique_ptr<PlanFrontier>(
      new PlanFrontier(joint, what_if, std::move(relaxation), std::move(options)));
}

void PlanFrontier::add(const EvaluatedPlan& plan) {
  const Figures& f = plan.figures.figures;
  auto after = points_.upper_bound(f.peak_bytes);
  if (after != points_.begin() && std::prev(after)->second.figures.figures.step_ns <= f.step_ns)
    return;
  auto first = points_.lower_bound(f.peak_bytes);
  while (first != points_.end() && first->second.figures.figures.step_ns >= f.step_ns)
    first = points_.erase(first);
  points_.emplace(f.peak_bytes, plan);
}

std::vector<EvaluatedPlan> PlanFrontier::points() const {
  std::vector<EvaluatedPlan> all;
  for (const auto& [peak, plan] : points_) all.push_back(plan);
  return all;
}

const EvaluatedPlan* PlanFrontier::best_so_far(const PlanLimit& limit) const {
  const EvaluatedPlan* best = nullptr;
  for (const auto& [peak, plan] : points_)
    if (best == nullptr || limit.is_better(plan.figures.figures, best->figures.figures))
      best = &plan;
  return best;
}

std::int64_t PlanFrontier::bound_ns(std::int64_t peak_bytes) const {
  return relaxation_.bound_ns(bounds_, peak_bytes);
}

bool PlanFrontier::go_on() {
  const std::lock_guard lock(go_on_mutex_);
  is_cancelled_ = is_cancelled_ || (options_.go_on && !options_.go_on());
  if (!is_cancelled_) ++evaluated_;
  return !is_cancelled_;
}

std::optional<Result<EvaluatedPlan>> PlanFrontier::evaluate(SavePlan plan, Results& results) {
  if (!go_on()) return std::nullopt;
  ++results.evaluated;
  auto figures = what_if_.figures(plan);
  if (!figures) return tl::unexpected(figures.error());
  results.plans.push_back({std::move(plan), *figures});
  return results.plans.back();
}

std::optional<Result<EvaluatedPlan>> PlanFrontier::evaluate(SavePlan plan) {
  Results results;
  auto judged = evaluate(std::move(plan), results);
  keep(results);
  return judged;
}

void PlanFrontier::keep(const Results& results) {
  bounds_.insert(bounds_.end(), results.bounds.begin(), results.bounds.end());
  for (const EvaluatedPlan& plan : results.plans) add(plan);
}

Result<PlanFrontier::Sample> PlanFrontier::sample(const PlanPrices& prices, Results& results) {
  Sample sample{.prices = prices, .solution = {}, .plan = std::nullopt};
  JOINTER_TRY(sample.solution, relaxation_.solve(prices));
  if (PlanRelaxation::bounds(prices, options_.offload))
    results.bounds.push_back({prices, sample.solution.cost_ns});
  if (const auto plan = relaxation_.plan(sample.solution.actions))
    if (auto judged = evaluate(*plan, results); judged && *judged)
      sample.plan = **std::move(judged);
  return sample;
}

Result<void> PlanFrontier::find_samples() {
  if (!samples_.empty()) return {};
  const std::vector<PlanPrices> prices = relaxation_.series(options_.offload);
  struct Job {
    Result<Sample> sample;
    Results results;
  };
  std::vector<Job> jobs(prices.size());
  (void)first_true(jobs.size(), [&](std::size_t i) {
    jobs[i].sample = sample(prices[i], jobs[i].results);
    return is_cancelled_ || !jobs[i].sample;
  });
  for (const Job& job : jobs)
    if (!job.sample) return tl::unexpected(job.sample.error());
  // After a cancellation, jobs that have not run have no plan and are ignored.
  constexpr std::size_t kSeries = PlanRelaxation::kSeries;
  samples_.resize(jobs.size() / kSeries);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    samples_[i / kSeries].push_back(*std::move(jobs[i].sample));
    keep(jobs[i].results);
  }
  return {};
}

std::optional<PlanFrontier::Bracket> PlanFrontier::bracket(std::size_t series,
                                                           const PlanLimit& limit,
                                                           Results& results) {
  const auto holds = [&](const Sample& s) { return limit.holds(s.plan->figures.figures); };
  std::vector<Sample> known;
  for (const Sample& each : samples_[series])
    if (each.plan) known.push_back(each);
  std::optional<Bracket> bracket;
  for (std::size_t i = 1; i < known.size(); ++i) {
    if (holds(known[i - 1]) == holds(known[i])) continue;
    const bool first = holds(known[i - 1]);
    bracket = Bracket{known[first ? i - 1 : i], known[first ? i : i - 1]};
    if (!first) break;
  }
  if (bracket) bracket = narrowed(*std::move(bracket), limit, results);
  return bracket;
}

PlanFrontier::Bracket PlanFrontier::narrowed(Bracket bracket, const PlanLimit& limit,
                                             Results& results) {
  for (int i = 0; i < kHalvings && !is_cancelled_; ++i) {
    PlanPrices middle = bracket.within.prices;
    middle.byte_ns = std::sqrt(middle.byte_ns * bracket.beyond.prices.byte_ns);
    auto between = sample(middle, results);
    if (!between || !between->plan) break;
    const bool holds = limit.holds(between->plan->figures.figures);
    (holds ? bracket.within : bracket.beyond) = *std::move(between);
    if (bracket.within.solution.actions == bracket.beyond.solution.actions) break;
  }
  return bracket;
}

std::optional<PlanFrontier::Bracket> PlanFrontier::bracket_between(const Bracket& a,
                                                                   const Bracket& b,
                                                                   const PlanLimit& limit,
                                                                   Results& results) {
  if (!a.within.prices.copy || !b.within.prices.copy) return std::nullopt;
  const double copy = std::sqrt(*a.within.prices.copy * *b.within.prices.copy);
  const auto [low, high] = std::minmax({a.within.prices.byte_ns, a.beyond.prices.byte_ns,
                                        b.within.prices.byte_ns, b.beyond.prices.byte_ns});
  auto cheap = sample({.byte_ns = low, .copy = copy}, results);
  auto expensive = sample({.byte_ns = high, .copy = copy}, results);
  if (!cheap || !expensive || !cheap->plan || !expensive->plan) return std::nullopt;
  const auto holds = [&](const Sample& s) { return limit.holds(s.plan->figures.figures); };
  if (holds(*cheap) == holds(*expensive)) return std::nullopt;
  if (holds(*cheap)) std::swap(cheap, expensive);
  return narrowed({.within = *std::move(expensive), .beyond = *std::move(cheap)}, limit, results);
}

std::optional<Figures> PlanFrontier::judge(std::span<const PlanAction> actions, std::size_t effort,
                                           Results& results) {
  if (is_cancelled_ || results.evaluated >= effort) return std::nullopt;
  auto plan = relaxation_.plan(actions);
  if (!plan) return std::nullopt;
  const auto judged = evaluate(*std::move(plan), results);
  return judged && *judged ? std::optional((*judged)->figures.figures) : std::nullopt;
}

MixedPlan PlanFrontier::mixed_plan(const Bracket& bracket, const PlanLimit& limit,
                                   std::size_t effort, Results& results) {
  const auto plan_of = [](const Sample& sample) {
    return MixedPlan{sample.solution.actions, sample.plan->figures.figures};
  };
  return mixed_within(
      plan_of(bracket.within), plan_of(bracket.beyond), limit,
      [&](std::span<const PlanAction> actions) { return judge(actions, effort, results); });
}

std::vector<PlanFrontier::Bracket> PlanFrontier::mix(const PlanLimit& limit, std::size_t end) {
  struct Job {
    std::size_t place = 0;  // among the brackets
    std::optional<Bracket> bracket;
    MixedPlan mixed;
    Results results;
  };
  const auto left_effort = [&] { return end - std::min<std::size_t>(evaluated_, end); };
  // Finds a bracket for each job and mixes its plans; drops the jobs without a bracket.
  const auto run = [&](std::vector<Job>& jobs, const auto& find_bracket) {
    const std::size_t effort = left_effort();
    (void)first_true(jobs.size(), [&](std::size_t i) {
      Job& job = jobs[i];
      job.bracket = find_bracket(job);
      if (job.bracket) job.mixed = mixed_plan(*job.bracket, limit, effort, job.results);
      return is_cancelled_.load();
    });
    for (const Job& job : jobs) keep(job.results);
    std::erase_if(jobs, [](const Job& job) { return !job.bracket; });
  };
  std::vector<Job> jobs(samples_.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].place = i;
  run(jobs, [&](Job& job) { return bracket(job.place, limit, job.results); });
  if (jobs.empty() || is_cancelled_) return {};
  const auto is_better = [&](const Job& a, const Job& b) {
    return limit.is_better(a.mixed.figures, b.mixed.figures);
  };
  const auto best =
      static_cast<std::size_t>(std::ranges::min_element(jobs, is_better) - jobs.begin());
  // On both sides of the best bracket, one at a copy price between it and its neighbor.
  std::vector<Job> between;
  for (const std::size_t at : {best, best + 1})
    if (at > 0 && at < jobs.size()) between.emplace_back().place = at;
  run(between, [&](Job& job) {
    return bracket_between(*jobs[job.place - 1].bracket, *jobs[job.place].bracket, limit,
                           job.results);
  });
  // The later place first, so that the earlier one stays valid.
  for (std::size_t i = between.size(); i-- > 0;)
    jobs.insert(jobs.begin() + static_cast<std::ptrdiff_t>(between[i].place),
                std::move(between[i]));
  MixedPlan blend = jobs.front().mixed;
  for (const Job& next : jobs) {
    Results results;
    const std::size_t effort = left_effort();
    blend = blended(blend, next.mixed, limit, [&](std::span<const PlanAction> actions) {
      return judge(actions, effort, results);
    });
    keep(results);
  }
  std::vector<Bracket> brackets;
  for (Job& job : jobs) brackets.push_back(*std::move(job.bracket));
  return brackets;
}

void PlanFrontier::tune(const PlanLimit& limit) {
  const auto holds = [&](const Figures& f) { return limit.holds(f); };
  PlanTuning tuning(what_if_, {.rules = rules_, .evaluate = [this](SavePlan plan) {
                                 return evaluate(std::move(plan));
                               }});
  const auto up_to = [&](const EvaluatedPlan& from) {
    (void)tuning.lower_while(from, limit.minimized, holds);
  };
  // The plan beyond the limit that is nearest to it.
  const EvaluatedPlan* beyond = nullptr;
  for (const auto& [peak, plan] : points_) {
    const Figures& f = plan.figures.figures;
    if (!limit.holds(f) &&
        (beyond == nullptr || f.*limit.limited < beyond->figures.figures.*limit.limited))
      beyond = &plan;
  }
  if (beyond != nullptr) {
    const EvaluatedPlan start = *beyond;
    const EvaluatedPlan reached = tuning.lower_until(start, limit.limited, holds);
    if (limit.holds(reached.figures.figures)) up_to(reached);
  }
  if (const EvaluatedPlan* best = best_so_far(limit); limit.holds(best->figures.figures)) {
    const EvaluatedPlan start = *best;
    up_to(start);
  }
}

std::vector<EvaluatedPlan> PlanFrontier::plans_of(const std::vector<Bracket>& brackets,
                                                  const PlanLimit& limit) const {
  std::vector<EvaluatedPlan> all;
  for (const auto side : {&Bracket::beyond, &Bracket::within}) {
    std::vector<EvaluatedPlan> plans;
    for (const Bracket& each : brackets) plans.push_back(*(each.*side).plan);
    std::ranges::stable_sort(plans, [&](const EvaluatedPlan& a, const EvaluatedPlan& b) {
      return limit.is_better(a.figures.figures, b.figures.figures);
    });
    for (EvaluatedPlan& each : plans)
      if (std::ranges::find(all, each.plan, &EvaluatedPlan::plan) == all.end())
        all.push_back(std::move(each));
  }
  return all;
}

void PlanFrontier::improve(const EvaluatedPlan& plan, const PlanLimit& limit, bool all) {
  add(descent_.improved(plan, limit, all));
}

void PlanFrontier::random_walk(const PlanLimit& limit, std::size_t end) {
  std::mt19937_64 chance(1);
  // The plan after one to kMaxKicks random changes; nullopt if none of the drawn changes is
  // possible.
  const auto kicked = [&](SavePlan plan) -> std::optional<SavePlan> {
    const auto candidates = what_if_.candidates(plan);
    if (!candidates || candidates->empty()) return std::nullopt;
    constexpr int kMaxDraws = 50;
    const std::size_t wanted = 1 + chance() % kMaxKicks;
    std::size_t changes = 0;
    for (int draw = 0; changes < wanted && draw < kMaxDraws; ++draw) {
      const SaveCandidate& each = (*candidates)[chance() % candidates->size()];
      const auto action = static_cast<PlanAction>(chance() % 3);
      if (!rules_.may_change(each, action)) continue;
      auto changed = what_if_.change(plan, {&each.node, 1}, action);
      if (!changed) continue;
      plan = *std::move(changed);
      ++changes;
    }
    return changes > 0 ? std::optional(std::move(plan)) : std::nullopt;
  };
  EvaluatedPlan current = *best_so_far(limit);
  constexpr int kMaxMisses = 20;  // impossible plans in a row
  for (int misses = 0; misses < kMaxMisses && evaluated_ < end && !is_cancelled_; ++misses) {
    auto plan = kicked(current.plan);
    if (!plan) continue;
    auto judged = evaluate(*std::move(plan));
    if (!judged) return;
    if (!*judged) continue;
    misses = -1;
    EvaluatedPlan found = descent_.improved(**std::move(judged), limit, false);
    add(found);
    if (!limit.is_better(current.figures.figures, found.figures.figures))
      current = std::move(found);
  }
}

// The moment of the plan's peak, or the next one that every plan has.
std::shared_ptr<const PlanMoment> PlanFrontier::moment_of_peak(const SavePlan& plan) const {
  const auto outcome = what_if_.evaluate(plan);
  if (!outcome) return nullptr;
  const auto peak = static_cast<std::size_t>(std::ranges::max_element(outcome->profile) -
                                             outcome->profile.begin());
  for (std::size_t step = peak == 0 ? 0 : (peak - 1) / 2; step < outcome->steps.size(); ++step)
    if (auto moment = relaxation_.moment_at(outcome->steps[step], step >= outcome->forward_steps))
      return moment;
  return nullptr;
}

// Raises the bound for a peak with prices at the moment of the peak. Starts from the prices that
// give the best bound so far, with half of the byte price at the moment between the halves and half
// at that of the peak. Then multiplies or divides each price by smaller and smaller factors as long
// as that helps.
void PlanFrontier::tighten_bound(const EvaluatedPlan& plan, std::int64_t peak_bytes) {
  constexpr int kMaxCuts = 20;
  const PlanRelaxation::Solved* best = nullptr;
  std::int64_t best_ns = 0;
  for (const PlanRelaxation::Solved& each : bounds_)
    if (const std::int64_t ns = relaxation_.bound_ns(each.prices, each.cost_ns, peak_bytes);
        best == nullptr || ns > best_ns) {
      best = &each;
      best_ns = ns;
    }
  const auto moment = best == nullptr ? nullptr : moment_of_peak(plan.plan);
  if (!moment) return;
  PlanPrices prices = best->prices;
  int cuts = 0;
  // Returns true if these prices give a better bound.
  const auto is_better = [&](const PlanPrices& tried) {
    ++cuts;
    const auto solution = relaxation_.solve(tried);
    if (!solution) return false;
    bounds_.push_back({tried, solution->cost_ns});
    const std::int64_t ns = relaxation_.bound_ns(tried, solution->cost_ns, peak_bytes);
    return ns > std::exchange(best_ns, std::max(ns, best_ns));
  };
  prices.moment = moment;
  prices.moment_ns = prices.byte_ns = prices.byte_ns / 2;
  (void)is_better(prices);
  for (double factor = 4; factor > 1.1; factor = std::sqrt(factor))
    for (bool helps = true; helps && cuts < kMaxCuts;) {
      helps = false;
      for (const auto price : {&PlanPrices::byte_ns, &PlanPrices::moment_ns})
        for (const double by : {factor, 1 / factor}) {
          PlanPrices tried = prices;
          tried.*price *= by;
          if (cuts >= kMaxCuts || !is_better(tried)) continue;
          prices = tried;
          helps = true;
        }
    }
}

Result<EvaluatedPlan> PlanFrontier::best(const PlanLimit& limit, std::size_t effort) {
  JOINTER_CHECK(find_samples());
  const std::size_t end = evaluated_ + effort;
  const auto is_over = [&] { return is_cancelled_ || evaluated_ >= end; };
  if (points_.empty())
    return is_cancelled_ ? fail(Error::Kind::cancelled, "cancelled")
                         : fail(Error::Kind::usage, "found no legal plan for this graph");
  PlanLimit tighter = limit;
  tighter.value = limit.value / 10 * kTighterTenths;
  (void)mix(tighter, end);
  const std::vector<Bracket> brackets = mix(limit, end);
  improve(*best_so_far(limit), limit, false);
  if (!is_over()) {
    tune(limit);
    improve(*best_so_far(limit), limit, false);
  }
  const std::vector<EvaluatedPlan> starts = plans_of(brackets, limit);
  for (std::size_t i = 0; i < starts.size() && !is_over(); ++i) improve(starts[i], limit, false);
  random_walk(limit, end);
  if (options_.exhaustive && effort >= options_.effort) {
    const std::size_t nodes = std::max<std::size_t>(joint_.order().size(), 1);
    descent_end_ = evaluated_ + options_.effort * kLastNodes / nodes;
    improve(*best_so_far(limit), limit, true);
    descent_end_ = kNoEnd;
  }
  if (limit.limited == &Figures::peak_bytes && !is_cancelled_)
    tighten_bound(*best_so_far(limit),
                  std::max(limit.value, best_so_far(limit)->figures.figures.peak_bytes));
  return *best_so_far(limit);
}

}  // namespace jointer
