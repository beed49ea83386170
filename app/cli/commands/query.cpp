// jointer query FILE SQL: runs a SELECT on the graph's tables.

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/figures.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/table.h"
#include "core/compiled/compiled_step.h"
#include "core/query/query_database.h"
#include "core/query/query_schema.h"

namespace jointer::cli {
namespace {

struct QueryCommand {
  GraphOptions graph;
  EstimatorOptions estimator;
  ExecutionOption execution;
  std::string sql, optimizer = "none";
  std::size_t limit = 100'000;
  bool json = false;
};

Json to_json(const QueryValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return {};
}

Json to_json(const QueryResult& result) {
  Json rows = Json::array();
  for (const auto& values : result.rows) {
    Json& row = rows.emplace_back(Json::array());
    for (const QueryValue& value : values) row.push_back(to_json(value));
  }
  return {{"columns", result.columns}, {"rows", std::move(rows)}, {"is_cut", result.is_cut}};
}

std::string text_of(const QueryValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:.6g}", *number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return "NULL";
}

void print_table(const QueryResult& result) {
  std::vector<Table::Column> columns;
  for (std::size_t c = 0; c < result.columns.size(); ++c) {
    const bool is_text =
        !result.rows.empty() && std::holds_alternative<std::string>(result.rows.front()[c]);
    columns.push_back({result.columns[c], is_text ? Table::Align::left : Table::Align::right});
  }
  Table table(std::move(columns));
  for (const auto& values : result.rows) {
    std::vector<std::string> row;
    for (const QueryValue& value : values) row.push_back(text_of(value));
    table.add(std::move(row));
  }
  fmt::print("{}", table.text());
}

void print_schema() {
  for (const QueryTable& table : query_schema()) {
    fmt::print("{}  {}\n", table.name, table.meaning);
    Table columns({{"", Table::Align::left}, {"", Table::Align::left}, {"", Table::Align::left}});
    for (const QueryColumn& column : table.columns)
      columns.add({fmt::format("  {}", column.name), std::string(column.type),
                   std::string(column.meaning)});
    fmt::print("{}\n", columns.text());
  }
}

Result<int> run(const QueryCommand& options) {
  JOINTER_TRY(const Graph graph, options.graph.open(options.json));
  JOINTER_TRY(const Execution execution, options.execution.of(graph));
  JOINTER_TRY(const Analysis analysis,
              options.execution.analyze(graph, {.memory = memory_options(options.optimizer),
                                                .estimator = options.estimator.request(),
                                                .simulation = {},
                                                .execution = execution}));
  JOINTER_TRY(const QueryDatabase database, QueryDatabase::build(graph, analysis));
  JOINTER_TRY(const QueryResult result, database.run(options.sql, {.rows = options.limit}));
  if (options.json) {
    Json json = to_json(result);
    json["execution"] = to_string(execution);
    print_json(json);
  } else {
    print_table(result);
  }
  if (result.is_cut)
    fmt::print(stderr, "jointer: only the first {} shown; --limit 0 shows all\n",
               options.limit == 1 ? "row is" : fmt::format("{} rows are", options.limit));
  return ExitCode::done;
}

}  // namespace

void add_query_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<QueryCommand>();
  CLI::App* command =
      program.add_subcommand("query",
                             "Runs a SELECT over the graph's nodes, storages, memory "
                             "events and collectives");
  options->graph.add_to(*command);
  command
      ->add_option("SQL", options->sql,
                   "Query, such as \"SELECT operator, sum(ns) FROM nodes GROUP BY operator\"")
      ->type_name("")
      ->required();
  options->estimator.add_to(*command);
  add_optimizer_option(*command, options->optimizer);
  options->execution.add_to(*command);
  options->execution.add_trace_to(*command);
  command
      ->add_option("--limit", options->limit,
                   "Show at most N rows, or all if N is 0; default: 100000")
      ->type_name("N")
      ->check(whole_number(0));
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->add_flag_callback(
      "--schema",
      [] {
        print_schema();
        throw CLI::Success();
      },
      "List the tables and their columns");
  command->callback([options, &exit_code] { exit_code = finish(run(*options)); });
}

}  // namespace jointer::cli
