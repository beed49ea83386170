// jointer sac FILE: shows what is saved for the backward and what is recomputed, given a policy, a
// partitioner and a budget; the trade-off between memory and time; and the policy in other
// programs' formats.

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/outputs.h"
#include "app/cli/commands/sac_answer.h"
#include "app/cli/commands/sac_policy.h"
#include "app/cli/commands/unused_options.h"
#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/capture/native_writer.h"
#include "core/cost/node_flops.h"
#include "core/partition/kept_values.h"
#include "core/policy/apply_step_tags.h"
#include "core/policy/step_values.h"
#include "core/policy/trade_off.h"
#include "core/policy/with_fsdp.h"

namespace jointer::cli {
namespace {

struct SacCommand {
  GraphOptions graph;
  EstimatorOptions estimator;
  PolicyOptions policy;
  std::string partitioner = "min_cut", solver = "dp", budget, optimizer = "none", format, output;
  std::string limit_of = "allocated";
  std::optional<double> slower;
  std::vector<std::string> why;
  std::size_t points = 64, top = 15, effort = PlanFrontier::kEffort;
  bool ignore_tags = false, strict_budget = false, pareto = false, json = false;
  bool no_offload = false;

  // True if the command makes a plan; false if it only reports the graph's.
  [[nodiscard]] bool decides() const {
    return policy.any() || ignore_tags || !budget.empty() || slower || pareto || !format.empty() ||
           !output.empty() || !why.empty();
  }
};

// Up to 1: torch's activation memory budget. Otherwise bytes: with a unit, or a whole number that
// cannot be meant as anything else.
Result<double> parse_budget(const std::string& text) {
  constexpr double kMinBytes = 1 << 20;
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1.0},
      {"B", 1.0},
      {"KiB", 1024.0},
      {"MiB", 1024.0 * 1024},
      {"GiB", 1024.0 * 1024 * 1024},
      {"KB", 1e3},
      {"MB", 1e6},
      {"GB", 1e9},
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && std::isfinite(number) && number >= 0) {
    std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    if (unit.starts_with(' ')) unit.remove_prefix(1);
    if (unit.empty() && number > 1 && (number < kMinBytes || number != std::floor(number)))
      return fail(Error::Kind::usage,
                  "option --budget: `{}` has no unit; for peak memory, add one, such as {}GiB; "
                  "torch's activation budget is a number from 0 to 1",
                  text, text);
    for (const auto& [name, factor] : kUnits)
      if (name == unit && number * factor < 9e18) return number * factor;
  }
  return fail(
      Error::Kind::usage,
      "option --budget: expected a number from 0 to 1 (torch's activation budget) or bytes of "
      "peak memory such as 40GiB, got `{}`",
      text);
}

PartitionOptions partition_options(const SacCommand& options) {
  PartitionOptions made;
  made.partitioner =
      options.partitioner == "default" ? Partitioner::default_partition : Partitioner::min_cut;
  made.solver = options.solver == "greedy"               ? KnapsackSolver::greedy
                : options.solver == "sliding_hirschberg" ? KnapsackSolver::sliding_hirschberg
                : options.solver == "knee_point"         ? KnapsackSolver::knee_point
                                                         : KnapsackSolver::dp;
  made.rounding = options.strict_budget ? BudgetRounding::within : BudgetRounding::torch;
  return made;
}

std::vector<Flops> flops_of(const Graph& graph) {
  std::vector<Flops> flops(graph.node_count());
  for (const NodeId id : graph.order()) flops[id.index()] = node_flops(graph, graph.node(id));
  return flops;
}

MemoryOptions memory_options(const SacCommand& options) {
  MemoryOptions memory;
  if (options.optimizer == "adamw") memory.optimizer = OptimizerState::adamw;
  return memory;
}

constexpr const char* kThisPlan = "this plan";

// A plan, the object that evaluates it, and the partitioner that builds its pair.
struct Solved {
  Partition partition;
  const PlanWhatIf* what_if = nullptr;
  Partitioner partitioner = Partitioner::min_cut;
};

// Adopts the plan that meets a limit, unless it is the current one. `why`: see
// TradeOff::partition_by.
void take_plan(Solved& solved, const TradeOff& trade_off, const Fit& fit, const std::string& why) {
  if (fit.point.name == kThisPlan) return;
  solved = {.partition = trade_off.partition_by(fit.point.plan, why),
            .what_if = &trade_off.what_if(),
            .partitioner = Partitioner::min_cut};
}

LimitedMemory memory_of(const SacCommand& options) {
  return options.limit_of == to_string(LimitedMemory::reserved) ? LimitedMemory::reserved
                                                                : LimitedMemory::allocated;
}

// Changes the plan to meet a limit on the peak (bytes) or on the slowdown.
Result<LimitAnswer> meet_limit(const SacCommand& options, double budget, const TradeOff& trade_off,
                               Solved& solved) {
  if (!options.slower) {
    const auto limit = saturating_whole(budget);
    JOINTER_TRY(const Fit fit, trade_off.fastest_within(limit));
    take_plan(solved, trade_off, fit,
              fmt::format("chosen for a peak of at most {}", options.budget));
    return LimitAnswer{.kind = "peak",
                       .memory = options.limit_of,
                       .asked = static_cast<double>(limit),
                       .reached = static_cast<double>(memory_of(options) == LimitedMemory::reserved
                                                          ? fit.point.reserved_bytes.value_or(0)
                                                          : fit.point.figures.figures.peak_bytes),
                       .met = fit.fits,
                       .bound_ns = fit.point.bound_ns};
  }
  JOINTER_TRY(const Fit fit, trade_off.smallest_within(*options.slower));
  take_plan(solved, trade_off, fit,
            fmt::format("chosen for a step at most {}% slower", *options.slower));
  return LimitAnswer{.kind = "step",
                     .memory = options.limit_of,
                     .asked = static_cast<double>(trade_off.longest_step(*options.slower)),
                     .reached = static_cast<double>(fit.point.figures.figures.step_ns),
                     .met = fit.fits,
                     .bound_ns = fit.point.bound_ns};
}

// The plan and its figures, for comparison with other plans.
Result<ParetoPoint> point_of(const Solved& solved) {
  JOINTER_TRY(PlanFigures figures, solved.what_if->figures(solved.partition.plan));
  return ParetoPoint{.budget = -1,
                     .name = kThisPlan,
                     .plan = solved.partition.plan,
                     .figures = figures,
                     .partitioner = solved.partitioner};
}

Result<std::vector<WhyAnswer>> explain(const Partition& partition, const SacAnswer& answer,
                                       const std::vector<std::string>& names) {
  std::vector<WhyAnswer> found;
  for (const std::string& name : names) {
    const NodeId id = partition.joint.find(name);
    if (!id)
      return fail(Error::Kind::usage,
                  "option --why: there is no node {}; the partitioner may have merged it with an "
                  "equal node",
                  name);
    const auto is = [&](const std::vector<SavedValue>& values) {
      return std::find_if(values.begin(), values.end(),
                          [&](const SavedValue& value) { return value.node == id; });
    };
    WhyAnswer why{.name = name, .keep = "not needed", .reason = partition.reasons[id.index()].text};
    if (const auto saved = is(answer.saved); saved != answer.saved.end())
      why.keep = to_string(saved->keep);
    else if (partition.joint.node(id).kind != NodeKind::call)
      why.keep = kind_text(partition.joint.node(id).kind);
    else if (partition.reasons[id.index()].kind != PlanReason::Kind::none)
      why.keep = to_string(Keep::recompute);
    found.push_back(std::move(why));
  }
  return found;
}

Result<PolicyFormat> format_of(const SacCommand& options) {
  if (const auto format = parse_policy_format(options.format)) return *format;
  return fail(Error::Kind::usage,
              "option --export: expected torchtitan, selectors or recipe, got `{}`",
              options.format);
}

int print_answer(const SacCommand& options, const Graph& graph, const SacAnswer& answer) {
  const int code = answer.limit && !answer.limit->met ? ExitCode::answer_is_no : ExitCode::done;
  if (options.output == "-") return code;
  if (options.json) {
    print_json(to_json(answer, graph));
  } else if (answer.exported) {
    fmt::print("{}", answer.exported->text);
    for (const std::string& difference : answer.exported->differences)
      fmt::print(stderr, "jointer: {}\n", difference);
  } else {
    print_tables(answer, graph, options.top);
  }
  if (code != ExitCode::done)
    fmt::print(stderr, "jointer: no plan meets the limit; this is the closest one found\n");
  return code;
}

// `opened`: the graph before its policy was applied, which the exported policy is for.
Result<int> finish_answer(const SacCommand& options, const Graph& opened, const Solved& solved,
                          SacAnswer answer) {
  const Partition& partition = solved.partition;
  if (!options.format.empty()) {
    JOINTER_TRY(const PolicyFormat format, format_of(options));
    JOINTER_TRY(answer.exported, export_plan(partition.joint, partition.plan, format, opened,
                                             {.partitioner = solved.partitioner,
                                              .memory = memory_options(options)}));
  }
  if (!options.output.empty()) {
    JOINTER_TRY(const Graph pair, emit_pair(partition.joint, partition.plan, solved.partitioner));
    JOINTER_CHECK(write_bytes(options.output, write_native(pair)));
  }
  return print_answer(options, partition.joint, answer);
}

// Options of partitioners, which only split joint graphs.
constexpr std::initializer_list<const char*> kPartitionerOptions{
    "--budget", "--slower", "--pareto",     "--strict-budget", "--partitioner",
    "--solver", "--points", "--no-offload", "--limit-of",      "--effort"};

// Refuses options for a search over budgets if there is no search.
Result<void> check_budget_options(const SacCommand& options, double budget,
                                  const CLI::App& command) {
  if (options.slower || budget > 1) return {};
  JOINTER_CHECK(refuse_options(command, {"--limit-of"},
                               "needs --slower or a --budget in bytes of peak memory"));
  if (options.pareto) return {};
  JOINTER_CHECK(refuse_options(command, {"--points", "--no-offload", "--effort"},
                               "needs --pareto, --slower or a --budget in bytes of peak memory"));
  if (!options.budget.empty()) return {};
  return refuse_options(command, {"--solver", "--strict-budget"},
                        "needs --budget, --slower or --pareto");
}

Result<int> run_joint(const SacCommand& options, Graph graph, const CLI::App& command) {
  double budget = 1;
  if (!options.budget.empty()) {
    JOINTER_TRY(budget, parse_budget(options.budget));
  }
  JOINTER_CHECK(check_budget_options(options, budget, command));
  if (options.slower && !options.budget.empty())
    return fail(Error::Kind::usage, "options --budget and --slower cannot be used together");
  const Graph opened = options.format.empty() ? Graph{} : graph;
  const MemoryPolicy fsdp = options.ignore_tags ? MemoryPolicy::none : fsdp_policy(graph);
  JOINTER_TRY(std::vector<std::string> notes, options.policy.apply_to(graph, options.ignore_tags));
  PartitionOptions partitioning = partition_options(options);
  if (budget <= 1) partitioning.activation_budget = budget;
  if (budget < 1 && partitioning.partitioner == Partitioner::default_partition)
    return fail(Error::Kind::usage,
                "option --budget: the default partitioner has no activation budget; use "
                "--partitioner min_cut");
  JOINTER_TRY(const Partition partition, jointer::partition(graph, partitioning));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(partition.joint));
  const std::vector<NodeCost> costs = estimate_all(partition.joint, *estimator);
  const std::vector<Flops> flops = flops_of(partition.joint);
  const MemoryOptions memory = memory_options(options);
  const PlanWhatIf what_if(
      partition.joint, costs, flops, memory, {},
      {.transfers = estimator->transfer_costs(), .partitioner = partitioning.partitioner});
  Solved solved{
      .partition = partition, .what_if = &what_if, .partitioner = partitioning.partitioner};

  std::unique_ptr<TradeOff> trade_off;
  if (budget > 1 || options.slower || options.pareto) {
    JOINTER_TRY(ParetoPoint now, point_of(solved));
    const TradeOff::Estimates estimates{.costs = costs,
                                        .flops = flops,
                                        .memory = memory,
                                        .simulation = {},
                                        .transfers = estimator->transfer_costs()};
    JOINTER_TRY(trade_off, TradeOff::make(graph, estimates,
                                          {.partition = partition_options(options),
                                           .now = std::move(now),
                                           .fsdp = fsdp,
                                           .has_policy = options.policy.any(),
                                           .offload = !options.no_offload,
                                           .memory = memory_of(options),
                                           .max_budgets = options.points,
                                           .effort = options.effort,
                                           .found = {}}));
  }
  std::optional<LimitAnswer> limit;
  if (budget > 1 || options.slower) {
    JOINTER_TRY(limit, meet_limit(options, budget, *trade_off, solved));
  }
  JOINTER_TRY(SacAnswer answer, describe_plan(solved.partition.joint, solved.partition.plan,
                                              solved.partition.reasons, *solved.what_if));
  answer.limit = limit;
  answer.notes = std::move(notes);
  if (options.pareto) {
    JOINTER_TRY(ParetoPoint now, point_of(solved));
    trade_off->set_now(std::move(now));
    JOINTER_TRY(answer.pareto, trade_off->curve());
  }
  JOINTER_TRY(answer.why, explain(solved.partition, answer, options.why));
  return finish_answer(options, opened, solved, std::move(answer));
}

// `values`: the step's values after its tags were applied; `tagged`: the graph before that.
Result<std::vector<WhyAnswer>> explain_step(const Graph& tagged,
                                            const std::vector<StepValue>& values,
                                            const std::vector<std::string>& names) {
  std::vector<WhyAnswer> found;
  for (const std::string& name : names) {
    const NodeId id = tagged.find(name);
    if (!id) return fail(Error::Kind::usage, "option --why: there is no node {}", name);
    const Node& node = tagged.node(id);
    WhyAnswer why{.name = name, .keep = "not needed", .reason = {}};
    const auto value = std::ranges::find(values, id, &StepValue::node);
    if (value != values.end()) {
      why.keep = to_string(value->keep);
      why.reason = to_sentence(value->reason, node.policy);
    } else if (node.kind != NodeKind::call) {
      why.keep = kind_text(node.kind);
    }
    found.push_back(std::move(why));
  }
  return found;
}

// A flat training step: forward and backward are already in one graph, so its tags are applied
// within it.
Result<int> run_step(const SacCommand& options, Graph graph, const CLI::App& command) {
  JOINTER_CHECK(refuse_options(
      command, kPartitionerOptions,
      fmt::format("is for joint graphs, but {} is a flat training step, which no partitioner "
                  "splits; choose what is saved with --preset, --save or --policy",
                  options.graph.file)));
  const Graph opened = options.format.empty() ? Graph{} : graph;
  std::vector<std::string> notes;
  std::optional<Graph> tagged;
  if (options.decides()) {
    JOINTER_TRY(notes, options.policy.apply_to(graph, options.ignore_tags));
    tagged = graph;
    JOINTER_TRY(const std::vector<Edit> edits, apply_step_tags(graph));
    for (const Edit& edit : edits) notes.insert(notes.end(), edit.notes.begin(), edit.notes.end());
  }
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  JOINTER_TRY(const std::vector<SaveCandidate> kept, kept_values(graph, costs, flops_of(graph)));
  SacAnswer answer = describe_captured(graph, costs, kept, memory_options(options));
  answer.notes = std::move(notes);
  if (tagged) {
    const std::vector<StepValue> values = step_values(*tagged, graph, kept);
    for (SavedValue& saved : answer.saved)
      if (const auto value = std::ranges::find(values, saved.node, &StepValue::node);
          value != values.end())
        saved.reason = to_sentence(value->reason, tagged->node(saved.node).policy);
    JOINTER_TRY(answer.why, explain_step(*tagged, values, options.why));
  }
  if (!options.format.empty()) {
    JOINTER_TRY(const PolicyFormat format, format_of(options));
    JOINTER_TRY(const SavePlan plan, plan_of_step(*tagged, graph));
    JOINTER_TRY(answer.exported, export_plan(*tagged, plan, format, opened,
                                             {.memory = memory_options(options),
                                              .step_peak = answer.figures.figures.peak_bytes}));
  }
  if (!options.output.empty()) JOINTER_CHECK(write_bytes(options.output, write_native(graph)));
  return print_answer(options, graph, answer);
}

// Refuses options that do not affect the chosen output.
Result<void> check_answer_options(const SacCommand& options, const CLI::App& command) {
  const std::vector<OutputFile> outputs{{"--output", options.output}};
  JOINTER_CHECK(
      check_outputs(outputs, {options.graph.file, options.graph.backward, options.policy.file}));
  if (fills_standard_output(outputs))
    return refuse_options(command, {"--json", "--export", "--pareto", "--points", "--why", "--top"},
                          kNoFigures);
  if (options.json)
    return refuse_options(command, {"--top"}, "limits the tables; --json lists everything");
  if (!options.format.empty())
    return refuse_options(command, {"--pareto", "--points", "--why", "--top"},
                          "has no effect with --export, which prints only the plan");
  return {};
}

Result<int> run(const SacCommand& options, const CLI::App& command) {
  JOINTER_CHECK(check_answer_options(options, command));
  JOINTER_TRY(Graph graph, options.graph.open(options.json));
  const CaptureKind kind = graph.part(PartId(0)).kind;
  if (!graph.is_pair() && kind == CaptureKind::joint)
    return run_joint(options, std::move(graph), command);
  if (!graph.is_pair() && kind == CaptureKind::train_step)
    return run_step(options, std::move(graph), command);
  const std::string what =
      fmt::format("{} is {}", options.graph.file,
                  graph.is_pair() ? "a pair" : fmt::format("a {} graph", to_string(kind)));
  if (options.decides())
    return fail(Error::Kind::usage,
                "{}: saved activations are fixed and can only be shown; policies need "
                "a joint graph or a flat training step",
                what);
  JOINTER_CHECK(refuse_options(
      command, kPartitionerOptions,
      fmt::format("is for joint graphs, but {}, and its saved activations are fixed", what)));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  JOINTER_TRY(const std::vector<SaveCandidate> kept, kept_values(graph, costs, flops_of(graph)));
  return print_answer(options, graph,
                      describe_captured(graph, costs, kept, memory_options(options)));
}

void add_joint_options(CLI::App& command, SacCommand& options) {
  const HelpGroup group(command, "Joint graphs only");
  set_choices(
      command.add_option("--partitioner", options.partitioner, "torch's partitioner to use"),
      {"min_cut", "default"});
  command
      .add_option(
          "--budget", options.budget,
          "Up to 1: torch's activation budget. Larger, or with a unit: maximum peak memory, "
          "for which the fastest plan is found")
      ->type_name("FRACTION|BYTES");
  command
      .add_option("--slower", options.slower,
                  "Find the plan with the lowest peak whose step is at most this much slower than "
                  "without this option")
      ->type_name("PERCENT")
      ->check(non_negative_number());
  set_choices(
      command.add_option("--solver", options.solver,
                         "With --budget, --slower or --pareto: torch's algorithm for meeting an "
                         "activation budget"),
      {"dp", "greedy", "sliding_hirschberg", "knee_point"});
  command.add_flag("--strict-budget", options.strict_budget,
                   "With --budget, --slower or --pareto: never exceed the activation budget, even "
                   "by torch's rounding");
  command.add_flag(
      "--pareto", options.pareto,
      "Show peak memory against step time, for a range of budgets and upstream's presets");
  command.add_flag("--no-offload", options.no_offload,
                   "With --pareto, --slower or a --budget in bytes: offload nothing to the host");
  command
      .add_option("--limit-of", options.limit_of,
                  "With --slower or a --budget in bytes: the memory that counts, allocated (live "
                  "tensors) or reserved (by torch's caching allocator)")
      ->check(CLI::IsMember({"allocated", "reserved"}))
      ->capture_default_str();
  command
      .add_option("--effort", options.effort,
                  "With --pareto, --slower or a --budget in bytes: number of plans to evaluate for "
                  "each limit, in addition to a final check of single decisions. More find better "
                  "plans")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option(
          "--points", options.points,
          "With --pareto, --slower or a --budget in bytes: maximum number of budgets to try")
      ->type_name("N")
      ->check(whole_number(2, 1000));
}

}  // namespace

void add_sac_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<SacCommand>();
  CLI::App* command = program.add_subcommand("sac",
                                             "Shows or decides which activations are saved for "
                                             "backward or recomputed, with costs and reasons");
  options->graph.add_to(*command);
  options->policy.add_to(*command);
  command->add_flag("--ignore-tags", options->ignore_tags,
                    "Ignore the recompute tags in the capture");
  add_joint_options(*command, *options);
  command->add_option("--why", options->why, "Explain why these nodes are saved or recomputed")
      ->type_name("NODE")
      ->delimiter(',');
  set_choices(command->add_option("--export", options->format,
                                  "Print only the plan: torchtitan's operator set, selectors, or a "
                                  "recipe"),
              {"torchtitan", "selectors", "recipe"});
  command
      ->add_option("-o,--output", options->output,
                   "Write the forward and backward as one native capture (`pair`), or the flat "
                   "training step with its tags applied; compressed if the name ends in .zst; `-` "
                   "is standard output, without the figures")
      ->type_name("FILE");
  options->estimator.add_to(*command);
  add_optimizer_option(*command, options->optimizer);
  command->add_option("--top", options->top, "List at most N rows in each table")
      ->type_name("N")
      ->check(whole_number(0));
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(
      "A joint graph takes all options. A flat training step has no partitioner: it takes --save, "
      "--every-nth, --policy, --preset and --ignore-tags, and the options that print or write the "
      "result. A pair or a half is shown as captured.");
  command->callback(
      [options, command, &exit_code] { exit_code = finish(run(*options, *command)); });
}

}  // namespace jointer::cli
