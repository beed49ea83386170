// jointer sac FILE: what is saved for the backward and what is made again, under a policy, a
// partitioner and a budget; the trade-off between them; and the policy as other programs take it.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/sac_answer.h"
#include "app/cli/commands/sac_policy.h"
#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "core/cost/node_flops.h"

namespace jointer::cli {
namespace {

struct SacCommand {
  GraphOptions graph;
  EstimatorOptions estimator;
  PolicyOptions policy;
  std::string partitioner = "min_cut", solver = "dp", budget, optimizer = "none", format, output;
  std::optional<double> slower;
  std::vector<std::string> why;
  std::size_t points = 64, top = 15;
  bool ignore_tags = false, strict_budget = false, pareto = false, json = false;

  // Whether anything is to be decided, and not only reported.
  [[nodiscard]] bool decides() const {
    return policy.any() || ignore_tags || !budget.empty() || slower || pareto || !format.empty() ||
           !output.empty() || !why.empty();
  }
};

// Up to 1: torch's activation budget; larger: bytes.
Result<double> parse_budget(const std::string& text) {
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
    for (const auto& [name, factor] : kUnits)
      if (name == unit && number * factor < 9e18) return number * factor;
  }
  return fail(Error::Kind::usage,
              "--budget takes a number from 0 to 1 (torch's activation budget) or bytes of peak "
              "memory, such as 40GiB; not `{}`",
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

// What a plan was chosen by, where that was not the partitioner.
void take_plan(Partition& partition, const Fit& fit, const std::string& why) {
  std::vector<bool> before(partition.joint.node_count(), false);
  std::vector<bool> after = before;
  for (const NodeId id : partition.plan.saved) before[id.index()] = true;
  for (const NodeId id : fit.point.plan.saved) after[id.index()] = true;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i] && partition.joint.node(NodeId(i)).kind == NodeKind::call)
      partition.reasons[i] = {PlanReason::Kind::knapsack, {}, why};
  partition.plan = fit.point.plan;
}

// Bytes of peak memory, or a step that may take longer. The plan is changed to meet it.
Result<LimitAnswer> meet_limit(const Graph& graph, Partition& partition, const PlanWhatIf& what_if,
                               const SacCommand& options, double budget) {
  ParetoRequest request{.partition = partition_options(options),
                        .given = {{.budget = -1, .name = "partitioner", .plan = partition.plan}},
                        .most_budgets = options.points,
                        .found = {}};
  // Upstream's presets are good places to begin, unless somebody has decided otherwise.
  if (!options.policy.any()) {
    JOINTER_TRY(const std::vector<ParetoPoint> presets, preset_points(graph));
    request.given.insert(request.given.end(), presets.begin(), presets.end());
  }
  if (!options.slower) {
    const auto limit = static_cast<std::int64_t>(budget);
    JOINTER_TRY(const Fit fit, fastest_within(partition.joint, what_if, limit, request));
    take_plan(partition, fit, fmt::format("chosen for a peak of at most {}", options.budget));
    return LimitAnswer{.kind = "peak",
                       .asked = static_cast<double>(limit),
                       .reached = static_cast<double>(fit.point.figures.figures.peak_bytes),
                       .met = fit.fits};
  }
  JOINTER_TRY(const PlanFigures now, what_if.figures(partition.plan));
  const double limit = static_cast<double>(now.figures.step_ns) * (1 + *options.slower / 100);
  const auto limit_ns = static_cast<std::int64_t>(limit);
  JOINTER_TRY(const Fit fit, smallest_within(partition.joint, what_if, limit_ns, request));
  take_plan(partition, fit, fmt::format("chosen for a step at most {} % slower", *options.slower));
  return LimitAnswer{.kind = "step",
                     .asked = static_cast<double>(limit_ns),
                     .reached = static_cast<double>(fit.point.figures.figures.step_ns),
                     .met = fit.fits};
}

Result<std::vector<WhyAnswer>> explain(const Partition& partition, const SacAnswer& answer,
                                       const std::vector<std::string>& names) {
  std::vector<WhyAnswer> found;
  for (const std::string& name : names) {
    const NodeId id = partition.joint.find(name);
    if (!id)
      return fail(Error::Kind::usage,
                  "--why: there is no node {}; the partitioner may have merged it with its like",
                  name);
    const auto is = [&](const std::vector<SavedValue>& values) {
      return std::find_if(values.begin(), values.end(),
                          [&](const SavedValue& value) { return value.node == id; });
    };
    WhyAnswer why{.node = id, .keep = "not needed", .reason = partition.reasons[id.index()].text};
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

// `captured`: the graph as it was opened, which a recipe is for: merging common subexpressions is
// the partitioner's work, not the recipe's.
Result<int> finish_answer(const SacCommand& options, const Graph& captured,
                          const Partition& partition, SacAnswer answer) {
  if (!options.format.empty()) {
    const auto format = parse_policy_format(options.format);
    if (!format) return fail(Error::Kind::usage, "no such format: {}", options.format);
    const Graph& of = *format == PolicyFormat::recipe ? captured : partition.joint;
    JOINTER_TRY(answer.exported, export_plan(of, partition.plan, *format));
  }
  if (!options.output.empty()) {
    JOINTER_TRY(const Graph pair,
                emit_pair(partition.joint, partition.plan, partition_options(options).partitioner));
    JOINTER_CHECK(write_bytes(options.output, write_native(pair)));
  }
  const int code = answer.limit && !answer.limit->met ? ExitCode::answer_is_no : ExitCode::done;
  if (options.output == "-") return code;
  if (options.json) {
    print_json(to_json(answer, partition.joint));
  } else if (answer.exported) {
    fmt::print("{}", answer.exported->text);
    for (const std::string& misfit : answer.exported->misfits)
      fmt::print(stderr, "jointer: {}\n", misfit);
  } else {
    print_tables(answer, partition.joint, options.top);
  }
  if (code != ExitCode::done)
    fmt::print(stderr, "jointer: no plan was found within the limit; this one is nearest to it\n");
  return code;
}

Result<int> run_joint(const SacCommand& options, Graph graph) {
  double budget = 1;
  if (!options.budget.empty()) {
    JOINTER_TRY(budget, parse_budget(options.budget));
  }
  if (options.slower && !options.budget.empty())
    return fail(Error::Kind::usage, "--budget and --slower are two limits: give one of them");
  const Graph captured = options.format.empty() ? Graph{} : graph;
  JOINTER_TRY(std::vector<std::string> notes, options.policy.apply_to(graph, options.ignore_tags));
  PartitionOptions partitioning = partition_options(options);
  if (budget <= 1) partitioning.activation_budget = budget;
  if (budget < 1 && partitioning.partitioner == Partitioner::default_partition)
    return fail(Error::Kind::usage,
                "an activation budget is min_cut's: default_partition has none");
  JOINTER_TRY(Partition partition, jointer::partition(graph, partitioning));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(partition.joint));
  const std::vector<NodeCost> costs = estimate_all(partition.joint, *estimator);
  const std::vector<Flops> flops = flops_of(partition.joint);
  const PlanWhatIf what_if(
      partition.joint, costs, flops, memory_options(options), {},
      {.transfers = estimator->transfer_costs(), .partitioner = partitioning.partitioner});

  std::optional<LimitAnswer> limit;
  if (budget > 1 || options.slower) {
    JOINTER_TRY(limit, meet_limit(graph, partition, what_if, options, budget));
  }
  JOINTER_TRY(SacAnswer answer,
              describe_plan(partition.joint, partition.plan, partition.reasons, what_if, costs));
  answer.limit = limit;
  answer.notes = std::move(notes);
  if (options.pareto) {
    ParetoRequest request{.partition = partition_options(options),
                          .given = {},
                          .most_budgets = options.points,
                          .found = {}};
    JOINTER_TRY(request.given, preset_points(graph));
    request.given.insert(request.given.begin(),
                         {.budget = -1, .name = "this plan", .plan = partition.plan});
    JOINTER_TRY(answer.pareto, jointer::pareto(partition.joint, what_if, request));
  }
  JOINTER_TRY(answer.why, explain(partition, answer, options.why));
  return finish_answer(options, captured, partition, std::move(answer));
}

Result<int> run(const SacCommand& options) {
  JOINTER_TRY(Graph graph, options.graph.open(options.json));
  if (!graph.is_pair() && graph.part(PartId(0)).kind == CaptureKind::joint)
    return run_joint(options, std::move(graph));
  if (options.decides())
    return fail(Error::Kind::usage,
                "{} is {}: what it saves is decided, and can only be shown; decisions are made on "
                "a joint graph",
                options.graph.file,
                graph.is_pair() ? "a pair"
                                : fmt::format("a {} graph", to_string(graph.part(PartId(0)).kind)));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  const std::vector<Flops> flops = flops_of(graph);
  JOINTER_TRY(const SacAnswer answer,
              describe_captured(graph, costs, flops, memory_options(options)));
  if (options.json)
    print_json(to_json(answer, graph));
  else
    print_tables(answer, graph, options.top);
  return ExitCode::done;
}

}  // namespace

void add_sac_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<SacCommand>();
  CLI::App* command = program.add_subcommand(
      "sac", "What is saved for the backward, what is made again, what that costs and why");
  options->graph.add_to(*command);
  options->policy.add_to(*command);
  command->add_option("--partitioner", options->partitioner, "torch's min_cut or default")
      ->check(CLI::IsMember({"min_cut", "default"}));
  command->add_flag("--ignore-tags", options->ignore_tags,
                    "Without the recompute tags that the capture has");
  command->add_option("--budget", options->budget,
                      "Up to 1: torch's activation budget; larger, or with a unit: bytes of peak "
                      "memory, and the fastest plan within them");
  command
      ->add_option("--slower", options->slower,
                   "The smallest plan whose step is at most so many percent slower")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--solver", options->solver, "Of an activation budget")
      ->check(CLI::IsMember({"dp", "greedy", "sliding_hirschberg", "knee_point"}));
  command->add_flag("--strict-budget", options->strict_budget,
                    "Not more than the activation budget where torch's rounding exceeds it");
  command->add_flag("--pareto", options->pareto,
                    "Peak memory against step time over budgets, with upstream's presets");
  command->add_option("--points", options->points, "How many budgets to try at most")
      ->check(CLI::Range(2, 1000));
  command->add_option("--why", options->why, "Why these nodes are saved or made again")
      ->delimiter(',');
  command
      ->add_option("--export", options->format,
                   "The plan as torchtitan's operator set, selectors, or a recipe")
      ->check(CLI::IsMember({"torchtitan", "selectors", "recipe"}));
  command->add_option("-o,--output", options->output,
                      "The forward and backward as one native capture (`pair`), packed if it ends "
                      "in .zst; `-` is standard output, without the figures");
  options->estimator.add_to(*command);
  add_optimizer_option(*command, options->optimizer);
  command->add_option("--top", options->top, "How many rows of each table to show")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--json", options->json, "One JSON object on standard output");
  command->callback([options, &exit_code] { exit_code = finish(run(*options)); });
}

}  // namespace jointer::cli
