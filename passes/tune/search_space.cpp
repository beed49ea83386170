// The candidates of a search: pipelines of built-in passes that affect memory and overlap, in the
// order in which upstream runs them. Passes that do not fit the graph are left out. Partitioners
// require a joint graph; policies require a joint graph or a flat training step, to which further
// passes apply the tags. In a pair, both are already decided. Passes that do not affect estimates
// (clean-up, checks, how the graph is run) are not searched; run them before or after the search.

#include "passes/tune/search_space.h"

#include <algorithm>
#include <map>

#include "passes/presets/presets.h"
#include "passes/support/communicates.h"
#include "passes/tune/knobs.h"

namespace jointer {
namespace {

constexpr std::string_view kSac = "apply_sac", kRemat = "selective_activation_remat",
                           kReshard = "fsdp_reshard_after_fwd", kReassign = "reassign_to_pg",
                           kFastest = "fastest_plan";
constexpr std::size_t kMaxOrders = 5, kMaxEarly = 1, kMaxOperators = 12;

void drop_step(Pipeline& pipeline, std::string_view pass) {
  std::erase_if(pipeline, [&](const PipelineStep& step) { return step.pass == pass; });
}

// The section to which a pass belongs; nullopt if the pass is not searched.
std::optional<Candidate::Section> section_of(std::string_view pass) {
  for (const std::string_view policy :
       {kSac, kRemat, kReshard, std::string_view("tag_with_memory_policy"),
        std::string_view("remove_tags"), std::string_view("apply_cpu_offload")})
    if (pass == policy) return Candidate::policies;
  for (const std::string_view partitioner :
       {std::string_view("min_cut_partition"), std::string_view("default_partition"),
        std::string_view("knapsack_budget"), kFastest})
    if (pass == partitioner) return Candidate::partitioner;
  for (const std::string_view bucketing :
       {"autobucketing_reordering", "transformer_block_bucketing", "greedy_bucketing_by_mb",
        "reassign_to_pg"})
    if (pass == bucketing) return Candidate::buckets;
  for (const std::string_view order :
       {"raise_comms", "sink_waits", "reorder_compute_for_overlap",
        "reorder_communication_preserving_peak_memory", "sink_waits_iterative",
        "reorder_for_peak_memory", "place_collectives"})
    if (pass == order) return Candidate::orders;
  return std::nullopt;
}

}  // namespace

SearchSpace::SearchSpace(const Graph& graph, const PassRegistry& registry,
                         const SearchSpaceOptions& options)
    : registry_(registry), options_(options) {
  if (!graph.is_pair()) {
    const CaptureKind kind = graph.part(PartId(std::size_t{0})).kind;
    if (kind == CaptureKind::joint) kind_ = Kind::joint;
    if (kind == CaptureKind::train_step) kind_ = Kind::flat;
  }
  communicates_ = communicates(graph);
  if (kind_ != Kind::ordered) find_operators(graph);
}

// Finds the operators of the forward that produce the most bytes, not counting views and
// communication.
void SearchSpace::find_operators(const Graph& graph) {
  std::map<std::string_view, std::int64_t> bytes;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call || n.phase != Phase::forward) continue;
    const OperatorInfo& op = graph.op(n);
    if (op.is_view || op.is_getitem || op.is_wait || graph.is_asynchronous(n)) continue;
    bytes[graph.target(n)] += graph.output_bytes(n);
  }
  std::vector<std::pair<std::int64_t, std::string_view>> sorted;
  for (const auto& [target, sum] : bytes) sorted.emplace_back(-sum, target);
  std::ranges::sort(sorted);
  for (const auto& [sum, target] : sorted)
    if (operators_.size() < kMaxOperators) operators_.emplace_back(target);
}

std::string SearchSpace::out_of_reach() const {
  if (kind_ != Kind::ordered) return {};
  return "Only orders and buckets were searched, because this graph already fixes what is saved. "
         "To search policies as well, use the joint graph.";
}

bool SearchSpace::fits(const PipelineStep& step) const {
  const auto section = section_of(step.pass);
  if (!section) return false;
  if (step.pass == kReassign && !options_.twin_groups) return false;
  if (step.pass == kRemat || step.pass == "apply_cpu_offload") return kind_ == Kind::flat;
  if (*section == Candidate::policies) return kind_ != Kind::ordered;
  if (*section == Candidate::partitioner) return kind_ == Kind::joint;
  return communicates_ || step.pass == "reorder_for_peak_memory";
}

// A reordering pass after a bucketing pass reorders the buckets; a reordering pass before it
// belongs to the section `early`.
Candidate SearchSpace::in_sections(const Pipeline& pipeline) const {
  const bool has_buckets = std::ranges::any_of(
      pipeline, [](const auto& step) { return section_of(step.pass) == Candidate::buckets; });
  Candidate candidate;
  for (const PipelineStep& step : pipeline) {
    if (!fits(step)) continue;
    Candidate::Section section = *section_of(step.pass);
    if (section == Candidate::orders && has_buckets &&
        candidate.sections[Candidate::buckets].empty())
      section = Candidate::early;
    candidate.sections[section].push_back(step);
  }
  Pipeline& policies = candidate.sections[Candidate::policies];
  if (kind_ == Kind::flat && !policies.empty() && !has_pass(policies, kRemat))
    policies.push_back(step_of(kRemat));
  Pipeline& partition = candidate.sections[Candidate::partitioner];
  if (kind_ == Kind::joint && partition.empty()) partition.push_back(step_of("min_cut_partition"));
  return candidate;
}

Candidate SearchSpace::of(std::string_view policies, std::string_view rest) const {
  Pipeline all;
  for (const std::string_view text : {policies, rest}) {
    const auto part = parse_pipeline(text);
    all.insert(all.end(), part->begin(), part->end());
  }
  return in_sections(all);
}

std::vector<NamedCandidate> SearchSpace::starts() const {
  std::vector<NamedCandidate> found;
  const auto add = [&](std::string name, Candidate candidate) {
    for (const NamedCandidate& known : found)
      if (known.candidate == candidate) return;
    found.push_back({std::move(name), std::move(candidate)});
  };
  // Plans like those that `jointer sac --budget` finds within the limit come first, with and
  // without --keep-order, so that the result is rarely slower than theirs. Since orders may raise
  // the peak, a plan with a lower limit is also tried.
  if (kind_ == Kind::joint)
    for (const std::string_view rest :
         {"fastest_plan", "fastest_plan{hidden=0.8},place_collectives",
          "fastest_plan,place_collectives", "fastest_plan{share=0.95},place_collectives"})
      add({}, of("", rest));
  else
    add({}, {});
  for (const PipelinePreset& preset : pipeline_presets())
    if (const auto pipeline = parse_pipeline(preset.pipeline))
      add(preset.name, in_sections(*pipeline));
  const std::string_view as_it_is = kind_ == Kind::joint ? "fsdp_reshard_after_fwd" : "";
  for (const std::string_view rest :
       {"reorder_communication_preserving_peak_memory",
        "reorder_communication_preserving_peak_memory{reorder_iterative_use_runtime_estimations="
        "true}",
        "reorder_for_peak_memory", "raise_comms", "reorder_compute_for_overlap",
        "reorder_communication_preserving_peak_memory,sink_waits_iterative,"
        "reorder_communication_preserving_peak_memory",
        "reorder_for_peak_memory,reorder_communication_preserving_peak_memory",
        "autobucketing_reordering,reorder_communication_preserving_peak_memory",
        "reorder_for_peak_memory,autobucketing_reordering", "autobucketing_reordering",
        "reorder_communication_preserving_peak_memory,place_collectives", "place_collectives",
        "reorder_for_peak_memory,place_collectives"})
    add({}, of(as_it_is, rest));
  if (kind_ == Kind::ordered) return found;
  constexpr std::string_view kOrder = "reorder_communication_preserving_peak_memory";
  for (const std::string_view policies :
       {"remove_tags", "apply_sac,fsdp_reshard_after_fwd", "apply_sac",
        "tag_with_memory_policy{policy=eager}", "tag_with_memory_policy{policy=full}",
        "tag_with_memory_policy"})
    add({}, of(policies, kOrder));
  if (kind_ == Kind::joint)
    for (const std::string_view budget : {"0.7", "0.4", "0.1"})
      add({}, of(as_it_is, fmt::format("knapsack_budget{{budget={}}},{}", budget, kOrder)));
  return found;
}

Candidate SearchSpace::mixed(const Candidate& a, const Candidate& b, Chance& chance) {
  Candidate made;
  for (std::size_t i = 0; i < Candidate::kSections; ++i)
    made.sections[i] = (chance.once_in(2) ? a : b).sections[i];
  return made;
}

// Sets one knob to a random value; a pipeline step without knobs stays unchanged.
PipelineStep SearchSpace::turned(PipelineStep step, Chance& chance) const {
  const std::span<const Knob> knobs = knobs_of(step.pass);
  if (knobs.empty()) return step;
  const Knob& knob = chance.one_of(knobs);
  return with_value(std::move(step), *registry_.find(knob.pass), knob.parameter,
                    chance.one_of(knob.values));
}

PipelineStep SearchSpace::any_order(Chance& chance) const {
  if (!communicates_) return turned(step_of("reorder_for_peak_memory"), chance);
  // Passes that often help are listed several times.
  static constexpr std::string_view kOrders[] = {"reorder_communication_preserving_peak_memory",
                                                 "reorder_communication_preserving_peak_memory",
                                                 "reorder_communication_preserving_peak_memory",
                                                 "place_collectives",
                                                 "place_collectives",
                                                 "place_collectives",
                                                 "sink_waits_iterative",
                                                 "sink_waits_iterative",
                                                 "reorder_for_peak_memory",
                                                 "reorder_for_peak_memory",
                                                 "raise_comms",
                                                 "reorder_compute_for_overlap",
                                                 "sink_waits"};
  PipelineStep step = step_of(chance.one_of(kOrders));
  for (std::size_t turns = chance.below(3); turns > 0; --turns) step = turned(step, chance);
  return step;
}

void SearchSpace::change_orders(Candidate& candidate, Chance& chance) const {
  Pipeline& orders = candidate.sections[Candidate::orders];
  Pipeline& early = candidate.sections[Candidate::early];
  const std::size_t what = chance.below(8);
  if (what == 0 && !candidate.sections[Candidate::buckets].empty()) {
    if (early.size() < kMaxEarly)
      early.push_back(any_order(chance));
    else
      early.clear();
  } else if (what == 1 && orders.size() > 1) {
    const std::size_t at = chance.below(orders.size() - 1);
    std::swap(orders[at], orders[at + 1]);
  } else if (what == 2 && !orders.empty()) {
    orders.erase(orders.begin() + static_cast<std::ptrdiff_t>(chance.below(orders.size())));
  } else if (what == 3 && !orders.empty()) {
    orders[chance.below(orders.size())] = any_order(chance);
  } else if (orders.size() < kMaxOrders) {
    const std::size_t at = chance.once_in(2) ? orders.size() : chance.below(orders.size() + 1);
    orders.insert(orders.begin() + static_cast<std::ptrdiff_t>(at), any_order(chance));
  } else {
    orders.pop_back();
  }
}

void SearchSpace::change_buckets(Candidate& candidate, Chance& chance) const {
  Pipeline& buckets = candidate.sections[Candidate::buckets];
  static constexpr std::string_view kBuckets[] = {
      "", "autobucketing_reordering", "autobucketing_reordering", "transformer_block_bucketing",
      "greedy_bucketing_by_mb"};
  if (chance.once_in(4) && !buckets.empty() && options_.twin_groups) {
    if (has_pass(buckets, kReassign))
      drop_step(buckets, kReassign);
    else
      buckets.insert(buckets.begin(), step_of(kReassign));
    return;
  }
  drop_step(buckets, "autobucketing_reordering");
  drop_step(buckets, "transformer_block_bucketing");
  drop_step(buckets, "greedy_bucketing_by_mb");
  if (const std::string_view pass = chance.one_of(kBuckets); !pass.empty()) {
    PipelineStep step = step_of(pass);
    for (std::size_t turns = chance.below(3); turns > 0; --turns) step = turned(step, chance);
    buckets.push_back(std::move(step));
  }
}

// Adds a random operator to the list of saved operators, or removes it if it is in the list.
void SearchSpace::toggle_saved(PipelineStep& sac, Chance& chance) const {
  PassValue::List saved;
  for (const auto& [name, value] : sac.given)
    if (const auto* list = value.as<PassValue::List>(); name == "save" && list != nullptr)
      saved = *list;
  if (saved.empty())  // upstream's list is in use: start with a random half
    for (const std::string& op : operators_)
      if (chance.once_in(2)) saved.emplace_back(op);
  const PassValue op = chance.one_of(operators_);
  if (const auto at = std::find(saved.begin(), saved.end(), op); at != saved.end())
    saved.erase(at);
  else
    saved.push_back(op);
  std::ranges::sort(saved, [](const PassValue& a, const PassValue& b) {
    return *a.as<std::string>() < *b.as<std::string>();
  });
  sac = with_value(std::move(sac), *registry_.find(kSac), "save",
                   saved.empty() ? PassValue() : PassValue(std::move(saved)));
}

void SearchSpace::change_policies(Candidate& candidate, Chance& chance) const {
  Pipeline& policies = candidate.sections[Candidate::policies];
  const auto sac = std::ranges::find(policies, kSac, &PipelineStep::pass);
  if (sac != policies.end() && !operators_.empty() && chance.once_in(2)) {
    toggle_saved(*sac, chance);
    return;
  }
  static constexpr std::string_view kTaggers[] = {
      "",           "apply_sac", "apply_sac", "tag_with_memory_policy", "tag_with_memory_policy",
      "remove_tags"};
  policies.clear();
  if (const std::string_view tagger = chance.one_of(kTaggers); !tagger.empty())
    policies.push_back(turned(step_of(tagger), chance));
  if (chance.once_in(2)) policies.push_back(turned(step_of(kReshard), chance));
  if (kind_ == Kind::flat && !policies.empty()) {
    if (chance.once_in(6)) policies.push_back(step_of("apply_cpu_offload"));
    policies.push_back(step_of(kRemat));
  }
}

void SearchSpace::change_partition(Candidate& candidate, Chance& chance) const {
  static constexpr std::string_view kPartitioners[] = {
      "min_cut_partition", "knapsack_budget", "knapsack_budget",
      "default_partition", kFastest,          kFastest};
  candidate.sections[Candidate::partitioner] = {
      turned(step_of(chance.one_of(kPartitioners)), chance)};
}

void SearchSpace::change_value(Candidate& candidate, Chance& chance) const {
  std::vector<PipelineStep*> steps;
  for (Pipeline& section : candidate.sections)
    for (PipelineStep& step : section)
      if (!knobs_of(step.pass).empty()) steps.push_back(&step);
  if (steps.empty()) return change_orders(candidate, chance);
  PipelineStep& step = *steps[chance.below(steps.size())];
  step = turned(step, chance);
}

Candidate SearchSpace::changed(Candidate candidate, Chance& chance) const {
  const std::size_t what = chance.below(kind_ == Kind::ordered ? 8 : 12);
  if (what < 4 || (what == 7 && !communicates_))
    change_orders(candidate, chance);
  else if (what < 7)
    change_value(candidate, chance);
  else if (what < 8)
    change_buckets(candidate, chance);
  else if (what < 10 || kind_ == Kind::flat)
    change_policies(candidate, chance);
  else
    change_partition(candidate, chance);
  return candidate;
}

}  // namespace jointer
