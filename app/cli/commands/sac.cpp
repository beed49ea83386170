// jointer sac FILE: shows the values that are saved for backward and those that are recomputed,
// given a policy, a partitioner and a budget; the trade-off between memory and time; and the policy
// in the formats of other programs.

#include <fmt/core.h>

#include <algorithm>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/figures.h"
#include "app/cli/commands/outputs.h"
#include "app/cli/commands/sac_command.h"
#include "app/cli/commands/sac_pair.h"
#include "app/cli/commands/unused_options.h"
#include "core/partition/partitioned_values.h"

namespace jointer::cli {
namespace {

// Options that choose a plan or search for plans.
constexpr std::initializer_list<const char*> kPlanOptions{
    "--budget",       "--slower",     "--pareto",   "--strict-budget",
    "--partitioner",  "--solver",     "--points",   "--no-offload",
    "--free",         "--at-most",    "--by",       "--same-in-all-layers",
    "--no-recompute", "--checkpoint", "--limit-of", "--effort",
    "--keep-order",   "--twin-groups"};

// Checks the files, and refuses options that do not affect the chosen output.
Result<void> check_answer_options(const SacCommand& options, const CLI::App& command) {
  if (options.against == "-")
    return fail(Error::Kind::usage,
                "option --against: cannot read standard input (`-`); give a file");
  const std::vector<OutputFile> outputs{{"--output", options.output}};
  JOINTER_CHECK(check_outputs(
      outputs, {options.graph.file, options.graph.backward, options.policy.file, options.against}));
  if (fills_standard_output(outputs))
    return refuse_options(command,
                          {"--json", "--export", "--pareto", "--points", "--why", "--against",
                           "--against-tags", "--top"},
                          kNoFigures);
  if (options.json)
    return refuse_options(command, {"--top"}, "has no effect with --json, which lists everything");
  if (!options.format.empty())
    return refuse_options(command,
                          {"--pareto", "--points", "--why", "--against", "--against-tags", "--top"},
                          "has no effect with --export, which prints only the plan");
  return {};
}

bool changes_plan(const SacCommand& options, const CLI::App& command) {
  return options.decides() || std::ranges::any_of(kPlanOptions, [&](const char* option) {
           return command.count(option) > 0;
         });
}

// Shows the values that a pair saves.
Result<int> show_captured(const SacCommand& options, const Graph& graph) {
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  JOINTER_TRY(const std::vector<SaveCandidate> decided,
              partitioned_values(graph, costs, flops_of(graph)));
  SacAnswer answer = describe_captured(graph, costs, decided, memory_options(options.optimizer));
  if (options.compares())
    JOINTER_CHECK(add_comparison(options, graph, graph, plan_rows(graph, decided, graph), answer));
  return print_answer(options, graph, answer);
}

Result<int> run(const SacCommand& options, const CLI::App& command) {
  JOINTER_CHECK(check_answer_options(options, command));
  JOINTER_TRY(Graph graph, options.graph.open(options.json));
  const CaptureKind kind = graph.part(PartId(0)).kind;
  if (!graph.is_pair() && kind == CaptureKind::joint)
    return run_joint(options, std::move(graph), command);
  if (!graph.is_pair() && kind == CaptureKind::train_step)
    return run_step(options, std::move(graph), command);
  if (graph.is_pair()) {
    if (!changes_plan(options, command)) return show_captured(options, graph);
    JOINTER_CHECK(check_search_options(options, command));
    JOINTER_TRY(const PairPlan own,
                join_for_plan(options, std::move(graph), decides_anew(options, command)));
    return run_joint(options, own.joint, command, &own);
  }
  if (kind == CaptureKind::subgraph)
    return fail(
        Error::Kind::usage,
        "{} is a subgraph, which has no plan; give a joint graph, a pair or a flat training step",
        options.graph.file);
  return fail(Error::Kind::usage,
              "{} is a {} graph, which has no plan without its other half; open the pair with "
              "`jointer sac FORWARD --backward BACKWARD`",
              options.graph.file, to_string(kind));
}

void add_plan_options(CLI::App& command, SacCommand& options) {
  const HelpGroup group(command, "Plan (a pair is joined first)");
  set_choices(command.add_option("--partitioner", options.partitioner,
                                 "Joint graphs and pairs only: torch's partitioner to use"),
              {"min_cut", "default"});
  command
      .add_option(
          "--budget", options.budget,
          "Up to 1 without a unit: torch's activation budget. A size such as 40GiB: maximum peak "
          "memory, for which the fastest plan is found")
      ->type_name("FRACTION|BYTES");
  command
      .add_option("--slower", options.slower,
                  "Find the plan with the lowest peak and a step time at most this much longer "
                  "than without this option")
      ->type_name("PERCENT")
      ->check(non_negative_number());
  command
      .add_option(
          "--checkpoint", options.checkpointed,
          "Recompute everything in these modules, such as layers.3, and save what they read")
      ->type_name("MODULE")
      ->delimiter(',');
  set_choices(
      command.add_option("--solver", options.solver,
                         "With --budget, --slower, --free or --pareto: torch's algorithm for "
                         "meeting an activation budget"),
      knapsack_solver_names());
  command.add_flag("--strict-budget", options.strict_budget,
                   "With --budget, --slower, --free or --pareto: never exceed the activation "
                   "budget, even by torch's rounding");
  command.add_flag(
      "--pareto", options.pareto,
      "Show peak memory against step time, for a range of budgets and torchtitan's policies");
  command.add_flag("--no-offload", options.no_offload,
                   "With --pareto, --slower, --free or a --budget in bytes: offload nothing to the "
                   "host");
  command.add_flag("--keep-order", options.keep_order,
                   "With --pareto, --slower, --free or a --budget in bytes: search only for plans, "
                   "without moving or bucketing collectives afterwards");
  command.add_flag("--twin-groups", options.twin_groups,
                   "With --pareto, --slower, --free or a --budget in bytes: also try orders in "
                   "which FSDP's all-gathers run in additional process groups");
  set_choices(command.add_option("--limit-of", options.limit_of,
                                 "With --slower or a --budget in bytes: memory to limit, either "
                                 "that allocated by live tensors or that reserved by torch's "
                                 "caching allocator"),
              {"allocated", "reserved"});
  command
      .add_option("--effort", options.effort,
                  "With --pareto, --slower, --free or a --budget in bytes: number of plans to "
                  "evaluate for each limit before the search stops trying new starting points. "
                  "Higher values can find better plans")
      ->type_name("N")
      ->check(whole_number(1));
  command
      .add_option("--points", options.points,
                  "With --pareto, --slower, --free or a --budget in bytes: maximum number of "
                  "budgets to try")
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
  command->add_flag("--ignore-tags", options->ignore_tags, "Ignore the policy tags in the capture");
  add_plan_options(*command, *options);
  options->target.add_to(*command);
  command->add_option("--why", options->why, "Explain why these nodes are saved or recomputed")
      ->type_name("NODE")
      ->delimiter(',');
  CLI::Option* against =
      command
          ->add_option("--against", options->against,
                       "Show how this plan differs from another: that of a capture, or that of a "
                       "policy in a file, applied to this graph")
          ->type_name("FILE");
  command
      ->add_flag("--against-tags", options->against_tags,
                 "Show how this plan differs from the capture's own plan")
      ->excludes(against);
  set_choices(command->add_option("--export", options->format,
                                  "Print only the plan: torchtitan's operator set, selectors, or a "
                                  "recipe"),
              {"torchtitan", "selectors", "recipe"});
  command
      ->add_option("-o,--output", options->output,
                   "Write the forward and backward as one native capture (`pair`), or the flat "
                   "training step with its tags applied; compressed if the name ends in .zst; `-` "
                   "is standard output, and nothing else is printed")
      ->type_name("FILE");
  options->estimator.add_to(*command);
  add_optimizer_option(*command, options->optimizer);
  command
      ->add_option("--top", options->top,
                   "List at most N rows in the tables of operators, values and differences")
      ->type_name("N")
      ->check(whole_number(0));
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(
      "All options apply to a joint graph, and all but --partitioner to a flat training step. A "
      "pair is shown as captured; with an option that changes the plan, it is joined into a joint "
      "graph first, and changes start from its own plan. A single half has no plan and is "
      "refused.");
  command->callback(
      [options, command, &exit_code] { exit_code = finish(run(*options, *command)); });
}

}  // namespace jointer::cli
