// jointer spmd FILE...: checks that the collectives of the ranks' programs match.

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/table.h"
#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/open/open_ranks.h"

namespace jointer::cli {
namespace {

struct SpmdCommand {
  std::vector<std::string> files, backward, assume;
  std::optional<std::size_t> graph;
  bool json = false;
};

Result<std::vector<RankFiles>> files_of(const SpmdCommand& options) {
  if (!options.backward.empty() && options.backward.size() != options.files.size())
    return fail(Error::Kind::usage,
                "option --backward: got {} and {}; give one backward graph for each FILE",
                counted(options.files.size(), "forward graph"),
                counted(options.backward.size(), "backward graph"));
  JOINTER_TRY(const Assumptions assumptions, parse_assumptions(options.assume));
  std::vector<RankFiles> files;
  for (std::size_t i = 0; i < options.files.size(); ++i)
    files.push_back({.path = options.files[i],
                     .backward = options.backward.empty() ? "" : options.backward[i],
                     .index = options.graph,
                     .assumptions = assumptions});
  return files;
}

const RankProgram& program_of(const std::vector<RankProgram>& programs, int rank) {
  return *std::ranges::find(programs, rank, &RankProgram::rank);
}

Json to_json(const SpmdSide& side, const std::vector<RankProgram>& programs) {
  const RankProgram& program = program_of(programs, side.rank);
  Json json{{"rank", side.rank},
            {"file", program.path},
            {"node", nullptr},
            {"position", nullptr},
            {"does", nullptr}};
  if (!side.node) return json;
  json["node"] = program.graph.name(side.node);
  json["position"] = side.position;
  json["does"] = side.does;
  return json;
}

Json to_json(const SpmdReport& report, const std::vector<RankProgram>& programs) {
  Json json{{"agrees", !report.mismatch}, {"ranks", Json::array()}, {"groups", Json::array()}};
  for (const RankProgram& program : programs)
    json["ranks"].push_back({{"rank", program.rank}, {"file", program.path}});
  for (const SpmdGroup& group : report.groups)
    json["groups"].push_back({{"name", group.label},
                              {"ranks", group.ranks},
                              {"checked", group.checked},
                              {"calls", group.calls}});
  json["mismatch"] = nullptr;
  if (const auto& m = report.mismatch)
    json["mismatch"] = {{"group", m->group},
                        {"ranks", m->ranks},
                        {"call", m->call},
                        {"sides", {to_json(m->a, programs), to_json(m->b, programs)}},
                        {"sentence", m->sentence}};
  json["notes"] = report.notes;
  return json;
}

void print_tables(const SpmdReport& report, const std::vector<RankProgram>& programs) {
  using enum Table::Align;
  Table groups({{"process group", left}, {"ranks", right}, {"compared", right}, {"calls", right}});
  for (const SpmdGroup& group : report.groups)
    groups.add({group.label, format_count(group.ranks.size()), format_count(group.checked.size()),
                format_count(group.calls)});
  fmt::print("{} programs\n{}", programs.size(), groups.text());
  if (report.groups.empty())
    fmt::print("No process group contains two of these ranks, so no calls were compared.\n");
  for (const std::string& note : report.notes) fmt::print("{}\n", note);
  if (!report.mismatch) {
    if (!report.groups.empty()) fmt::print("All ranks make the same calls in the same order.\n");
    return;
  }
  fmt::print("\n{}\n", report.mismatch->brief);
  Table sides({{"rank", right}, {"node", left}, {"position", right}, {"does", left}});
  for (const SpmdSide& side : {report.mismatch->a, report.mismatch->b}) {
    const Graph& graph = program_of(programs, side.rank).graph;
    if (side.node)
      sides.add({std::to_string(side.rank), std::string(graph.name(side.node)),
                 format_count(side.position), side.does});
    else
      sides.add({std::to_string(side.rank), "-", "", "nothing more"});
  }
  fmt::print("{}", sides.text());
}

Result<int> run(const SpmdCommand& options) {
  JOINTER_TRY(const std::vector<RankFiles> files, files_of(options));
  JOINTER_TRY(const std::vector<RankProgram> programs, open_ranks(files));
  JOINTER_TRY(const SpmdReport report, check_spmd(rank_graphs(programs)));
  if (options.json)
    print_json(to_json(report, programs));
  else
    print_tables(report, programs);
  return report.mismatch ? ExitCode::negative_answer : ExitCode::done;
}

}  // namespace

void add_spmd_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<SpmdCommand>();
  CLI::App* command = program.add_subcommand("spmd",
                                             "Checks that the collectives of several ranks' "
                                             "captures match, or reports the first mismatch");
  command
      ->add_option("FILE", options->files, "Captures, one per rank; `{rank}` stands for the rank")
      ->type_name("")
      ->required();
  command
      ->add_option("--backward", options->backward,
                   "Backward halves of the pairs, in the same order")
      ->type_name("FILE");
  command->add_option("--graph", options->graph, "Index of the graph, if a file contains several")
      ->type_name("N")
      ->check(whole_number(0));
  command
      ->add_option(
          "--assume", options->assume,
          "Values of size symbols, such as u0=64,u1=32, or one value for all unbacked symbols")
      ->type_name("SYMBOL=N");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options, &exit_code] { exit_code = finish(run(*options)); });
}

}  // namespace jointer::cli
