// jointer diff A B: compares two graphs, node by node, and their estimates.

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/figures.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/outputs.h"
#include "app/cli/commands/plan_comparison.h"
#include "app/cli/commands/table.h"
#include "app/cli/commands/unused_options.h"
#include "core/base/bytes.h"
#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/compiled/compiled_step.h"
#include "core/edit/difference.h"
#include "core/edit/node_comparer.h"
#include "core/edit/recipe.h"
#include "core/graph/canonical.h"
#include "core/open/open.h"

namespace jointer::cli {
namespace {

struct DiffCommand {
  GraphOptions a, b;
  EstimatorOptions estimator;
  ExecutionOption execution;
  std::string optimizer = "none", recipe;
  std::size_t top = 20;
  bool ignores_names = false, json = false;
};

struct DiffAnswer {
  const Graph& a;
  const Graph& b;
  NodeMatch match;
  GraphDifference difference;
  GraphFigures before, after;
  // The comparison of the plans, or why it failed; std::nullopt if the plans are equal or
  // `compare_plans_of` does not compare them.
  std::optional<Result<PlanComparison>> plan;
};

NodeId in_a(const DiffAnswer& answer, NodeId id) {
  return answer.match.in_before(id);
}

std::vector<DetailDifference> detail_differences(const DiffAnswer& answer, NodeId id) {
  return NodeComparer(answer.a, answer.b, &answer.match).detail_differences(in_a(answer, id), id);
}

// The nodes of B whose counterparts in A have different names.
std::vector<NodeId> renamed(const DiffAnswer& answer) {
  std::vector<NodeId> found;
  for (const NodeId id : answer.b.order())
    if (const NodeId was = in_a(answer, id); was && answer.a.name(was) != answer.b.name(id))
      found.push_back(id);
  return found;
}

// True if the texts of the two calls and their results are the same except for names, so that the
// nodes differ only in details.
bool differs_in_details(const DiffAnswer& answer, NodeId id) {
  const NodeId was = in_a(answer, id);
  const std::string before = canonical_call(answer.a, was), after = canonical_call(answer.b, id);
  if (before == after) return true;
  const NodeComparer comparer(answer.a, answer.b, &answer.match);
  const auto value = [](const std::string& call) { return call.substr(call.rfind(") -> ")); };
  return !answer.match.is_by_name() && comparer.same_target(was, id) &&
         comparer.same_args(was, id) && comparer.same_kwargs(was, id) &&
         value(before) == value(after);
}

Json names(const Graph& graph, const std::vector<NodeId>& nodes) {
  Json json = Json::array();
  for (const NodeId id : nodes) json.push_back(edit_name(graph, id));
  return json;
}

std::string_view policy_text(MemoryPolicy policy) {
  return policy == MemoryPolicy::none ? "none" : to_string(policy);
}

std::optional<std::int64_t> region(const Node& node) {
  return node.has(Node::has_ac_graph_id) ? std::optional(node.ac_graph_id) : std::nullopt;
}

// The policy of `node`, followed by its region if the regions of the two nodes differ.
std::string tag_text(const Node& node, const Node& other) {
  const std::string policy(policy_text(node.policy));
  if (region(node) == region(other)) return policy;
  const auto id = region(node);
  return id ? fmt::format("{}, region {}", policy, *id) : policy + ", no region";
}

Json tag_json(const Node& node) {
  return {{"policy", policy_text(node.policy)},
          {"region", region(node) ? Json(*region(node)) : Json()}};
}

// True if the graphs' computations differ only in rank-specific constants, like those of two ranks
// of one program.
bool is_other_rank(const DiffAnswer& answer) {
  const Graph &a = answer.a, &b = answer.b;
  if (a.part_count() != b.part_count() || graph_hash(a) == graph_hash(b)) return false;
  for (std::size_t i = 0; i < a.part_count(); ++i)
    if (rank_hash(a, PartId(i)) != rank_hash(b, PartId(i))) return false;
  return true;
}

Json to_json(const DiffAnswer& answer) {
  const GraphDifference& d = answer.difference;
  Json json;
  json["equal"] = d.empty();
  json["hash"] = Json::array({graph_hash(answer.a), graph_hash(answer.b)});
  json["other_rank"] = is_other_rank(answer);
  json["common"] = d.common;
  json["nodes"] = {{"added", names(answer.b, d.added)},
                   {"removed", names(answer.a, d.removed)},
                   {"moved", names(answer.b, d.moved)},
                   {"changed", names(answer.b, d.changed)},
                   {"retagged", names(answer.b, d.retagged)}};
  Json& changes = json["changes"] = Json::array();
  for (const NodeId id : d.changed) {
    Json& change = changes.emplace_back();
    change["node"] = edit_name(answer.b, id);
    change["before"] = canonical_call(answer.a, in_a(answer, id));
    change["after"] = canonical_call(answer.b, id);
    for (const DetailDifference& each : detail_differences(answer, id))
      change["details"].push_back(
          {{"part", each.part}, {"before", each.before}, {"after", each.after}});
  }
  Json& retags = json["retags"] = Json::array();
  for (const NodeId id : d.retagged)
    retags.push_back({{"node", edit_name(answer.b, id)},
                      {"before", tag_json(answer.a.node(in_a(answer, id)))},
                      {"after", tag_json(answer.b.node(id))}});
  if (!answer.match.is_by_name()) {
    Json& names = json["renamed"] = Json::array();
    for (const NodeId id : renamed(answer))
      names.push_back(
          {{"before", edit_name(answer.a, in_a(answer, id))}, {"after", edit_name(answer.b, id)}});
  }
  json["metrics"] = cli::to_json(answer.before, answer.after);
  if (answer.plan) json["plan"] = cli::to_json(*answer.plan);
  return json;
}

class Printer {
 public:
  Printer(const DiffAnswer& answer, std::size_t top) : answer_(answer), top_(top) {}

  void print() {
    using enum Table::Align;
    const GraphDifference& d = answer_.difference;
    fmt::print("A  {}\nB  {}\n", answer_.a.title(), answer_.b.title());
    if (d.empty()) {
      const std::size_t names = renamed(answer_).size();
      fmt::print("\nThe same {} in the same order{}.\n", counted(d.common, "node"),
                 names > 0 ? fmt::format("; {}", counted(names, "has a different name",
                                                         "have different names"))
                           : std::string());
    }
    if (is_other_rank(answer_))
      fmt::print("\nThe computation differs only in rank-specific constants.\n");
    table(fmt::format("moved {} of {}", d.moved.size(), d.common),
          {{"node", left}, {"operator", left}, {"position in A", right}, {"in B", right}}, d.moved,
          [&](NodeId id) -> std::vector<std::string> {
            return {name(id), target(answer_.b, id), place(answer_.a, in_a(answer_, id)),
                    place(answer_.b, id)};
          });
    const auto whole = [&](const Graph& graph) {
      return [&](NodeId id) -> std::vector<std::string> {
        return {edit_name(graph, id), target(graph, id), place(graph, id)};
      };
    };
    const std::vector<Table::Column> columns{
        {"node", left}, {"operator", left}, {"position", right}};
    table(fmt::format("added {}", d.added.size()), columns, d.added, whole(answer_.b));
    table(fmt::format("removed {}", d.removed.size()), columns, d.removed, whole(answer_.a));
    table(fmt::format("changed {}", d.changed.size()),
          {{"node", left}, {"in A", left}, {"in B", left}}, d.changed,
          [&](NodeId id) { return changed(id); });
    table(fmt::format("different policy {}", d.retagged.size()),
          {{"node", left}, {"in A", left}, {"in B", left}}, d.retagged,
          [&](NodeId id) -> std::vector<std::string> {
            const Node &was = answer_.a.node(in_a(answer_, id)), &is = answer_.b.node(id);
            return {name(id), tag_text(was, is), tag_text(is, was)};
          });
    fmt::print("\n{}", compare_table(answer_.before, answer_.after, "A", "B").text());
    if (!answer_.plan) return;
    fmt::print("{}", heading("plan"));
    if (*answer_.plan)
      print_plan_comparison(**answer_.plan, top_);
    else
      fmt::print("  {}\n", answer_.plan->error().message);
  }

 private:
  // The two calls or, if they differ only in details, those details.
  std::vector<std::string> changed(NodeId id) const {
    if (!differs_in_details(answer_, id))
      return {name(id), canonical_call(answer_.a, in_a(answer_, id)),
              canonical_call(answer_.b, id)};
    std::string before, after;
    for (const DetailDifference& each : detail_differences(answer_, id)) {
      const std::string_view separator = before.empty() ? "" : ", ";
      before += fmt::format("{}{} {}", separator, each.part, each.before);
      after += fmt::format("{}{} {}", separator, each.part, each.after);
    }
    return {name(id), std::move(before), std::move(after)};
  }

  // The name in B, followed by the name in A if the two differ.
  std::string name(NodeId id) const {
    const std::string is = edit_name(answer_.b, id), was = edit_name(answer_.a, in_a(answer_, id));
    return is == was ? is : fmt::format("{} (A: {})", is, was);
  }

  static std::string target(const Graph& graph, NodeId id) {
    return std::string(graph.target(graph.node(id)));
  }
  static std::string place(const Graph& graph, NodeId id) {
    return format_count(graph.position(id));
  }

  template <class Row>
  void table(const std::string& title, const std::vector<Table::Column>& columns,
             const std::vector<NodeId>& nodes, Row row) const {
    if (nodes.empty()) return;
    Table rows(columns);
    for (std::size_t i = 0; i < std::min(top_, nodes.size()); ++i) rows.add(row(nodes[i]));
    fmt::print("{}{}", heading(title), rows.text());
    print_rest(nodes.size(), top_);
  }

  const DiffAnswer& answer_;
  std::size_t top_;
};

// Compares the plans of two joint graphs or two flat training steps if their tags differ, and the
// plans of two pairs if their nodes differ, since a pair's plan follows from its nodes. Compares no
// plans with --ignore-names, since values are matched by name.
std::optional<Result<PlanComparison>> compare_plans_of(const DiffCommand& options, const Graph& a,
                                                       const Graph& b, const GraphDifference& d) {
  const CaptureKind kind = a.part(PartId(0)).kind;
  const bool has_tags = kind == CaptureKind::joint || kind == CaptureKind::train_step;
  if (options.ignores_names || kind != b.part(PartId(0)).kind) return std::nullopt;
  if (a.is_pair() ? d.empty() : !has_tags || d.retagged.empty()) return std::nullopt;
  return compare_own_plans({"A", a}, {"B", b}, options.estimator,
                           memory_options(options.optimizer));
}

// If B is not given, compares graph N of A with the input of the pass that made it: the input
// becomes A, and graph N becomes B.
Result<void> complete(DiffCommand& options) {
  if (!options.b.file.empty()) return {};
  if (!options.b.backward.empty() || options.b.graph)
    return fail(Error::Kind::usage, "options --b-backward and --b-graph need a second graph, B");
  if (!options.a.graph)
    return fail(Error::Kind::usage,
                "diff needs a second graph, B, or --graph N, which compares graph N of a log of "
                "passes with the input of the pass that made it");
  JOINTER_TRY(const OpenRequest before, request_before({.path = options.a.file,
                                                        .backward = options.a.backward,
                                                        .index = options.a.graph}));
  options.b = options.a;
  options.a.graph = before.index;
  return {};
}

// Both graphs are estimated for the device of the first.
Result<GraphFigures> figures_as_executed(const Graph& graph, const Estimator& estimator,
                                         const DiffCommand& options) {
  JOINTER_TRY(const Execution execution, options.execution.of(graph));
  if (execution == Execution::eager) return figures_of(graph, estimator, options.optimizer);
  EstimatorRequest request = options.estimator.request();
  if (request.device.empty()) request.device = estimator.device().id;
  JOINTER_TRY(const Analysis analysis,
              analyze_step(graph, {.memory = memory_options(options.optimizer),
                                   .estimator = std::move(request),
                                   .simulation = {},
                                   .execution = execution}));
  return figures_of(graph, analysis.memory, analysis.simulation);
}

Result<int> run(DiffCommand options, const CLI::App& command) {
  JOINTER_CHECK(complete(options));
  const std::vector<OutputFile> outputs{{"--save-recipe", options.recipe}};
  JOINTER_CHECK(check_outputs(
      outputs, {options.a.file, options.a.backward, options.b.file, options.b.backward}));
  if (fills_standard_output(outputs))
    JOINTER_CHECK(refuse_options(command, {"--json", "--top"}, kNoFigures));
  JOINTER_TRY(const Graph a, options.a.open(options.json));
  JOINTER_TRY(const Graph b, options.b.open(options.json));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(a));
  if (const auto fits = check_comparable(a, b); !fits)
    return fail(fits.error().kind, "{}; compare two pairs or two single graphs",
                fits.error().message);
  NodeMatch match =
      options.ignores_names ? NodeMatch::by_structure(a, b) : NodeMatch::by_name(a, b);
  GraphDifference found = compare_graphs(a, b, match);
  auto plan = compare_plans_of(options, a, b, found);
  JOINTER_TRY(const GraphFigures before, figures_as_executed(a, *estimator, options));
  JOINTER_TRY(const GraphFigures after, figures_as_executed(b, *estimator, options));
  const DiffAnswer answer{.a = a,
                          .b = b,
                          .match = std::move(match),
                          .difference = std::move(found),
                          .before = before,
                          .after = after,
                          .plan = std::move(plan)};
  if (!options.recipe.empty()) {
    JOINTER_TRY(Edit edit, difference(a, b));
    const Recipe recipe = make_recipe(a, b, {std::move(edit)}, std::string(b.title()));
    JOINTER_CHECK(write_bytes(options.recipe, write_recipe(recipe)));
  }
  const int code = answer.difference.empty() ? ExitCode::done : ExitCode::negative_answer;
  if (fills_standard_output(outputs)) return code;
  if (options.json)
    print_json(to_json(answer));
  else
    Printer(answer, options.top).print();
  return code;
}

}  // namespace

void add_diff_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<DiffCommand>();
  CLI::App* command = program.add_subcommand(
      "diff",
      "Compares two graphs, by the names of their nodes or by structure; exit code 1 if they "
      "differ");
  {
    const HelpGroup group(*command, "Graphs");
    command->add_option("A", options->a.file, "First graph")->type_name("")->required();
    command
        ->add_option("B", options->b.file,
                     "Second graph; without it, --graph N of a log is compared with the graph "
                     "before its pass")
        ->type_name("");
    command
        ->add_option("--backward", options->a.backward,
                     "Backward half of the pair A, if A is the forward half")
        ->type_name("FILE");
    command
        ->add_option("--b-backward", options->b.backward,
                     "Backward half of the pair B, if B is the forward half")
        ->type_name("FILE");
    command
        ->add_option("--graph", options->a.graph, "Index of the graph in A, if it contains several")
        ->type_name("N")
        ->check(whole_number(0));
    command
        ->add_option("--b-graph", options->b.graph,
                     "Index of the graph in B, if it contains several")
        ->type_name("N")
        ->check(whole_number(0));
    command
        ->add_option("--assume", options->a.assume,
                     "Values of size symbols in both graphs, such as u0=64,u1=32, or one value for "
                     "all unbacked symbols")
        ->type_name("SYMBOL=N")
        ->delimiter(';');
  }
  options->estimator.add_to(*command);
  add_optimizer_option(*command, options->optimizer);
  options->execution.add_to(*command);
  CLI::Option* recipe = command
                            ->add_option("--save-recipe", options->recipe,
                                         "Write a recipe that turns A into B; `-` is standard "
                                         "output, and nothing else is printed")
                            ->type_name("FILE");
  command
      ->add_flag("--ignore-names", options->ignores_names,
                 "Compare nodes by operator and arguments, not by name; graphs that differ only in "
                 "names count as equal")
      ->excludes(recipe);
  CLI::Option* top =
      command->add_option("--top", options->top, "List at most N nodes of each kind of difference")
          ->type_name("N")
          ->check(whole_number(0));
  command->add_flag("--json", options->json, "Print the result as JSON")->excludes(top);
  command->callback([options, command, &exit_code] {
    options->b.assume = options->a.assume;
    exit_code = finish(run(*options, *command));
  });
}

}  // namespace jointer::cli
