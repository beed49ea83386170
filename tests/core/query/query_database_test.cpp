// Queries over a graph: their sums are the numbers of the graph, and they can only read.

#include "core/query/query_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/open/open.h"
#include "core/query/query_schema.h"
#include "tests/support/graphs.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kSmall = R"(
  group tp: 0 1
  x: f32[8] = input
  a: f32[8] = aten.relu(x)
  ar: f32[8] = _c10d_functional.all_reduce(a, 'sum', 'tp')
  w: f32[8] = _c10d_functional.wait_tensor(ar)
  c: f32[8] = aten.add.Tensor(w, x)
  return [c]
)";

struct Queried {
  explicit Queried(Graph made)
      : graph(std::move(made)),
        analysis(*analyze(graph)),
        database(*QueryDatabase::build(graph, analysis)) {}
  explicit Queried(std::string_view literal) : Queried(parse(literal)) {}

  [[nodiscard]] Result<QueryResult> run(std::string_view sql,
                                        const QueryLimits& limits = {}) const {
    return database.run(sql, limits);
  }
  // The only value of the result.
  [[nodiscard]] std::int64_t integer(std::string_view sql) const {
    const auto result = run(sql);
    if (!result) throw std::runtime_error(result.error().message);
    return std::get<std::int64_t>(result->rows.at(0).at(0));
  }
  [[nodiscard]] std::string error(std::string_view sql,
                                  Error::Kind kind = Error::Kind::usage) const {
    const auto result = run(sql);
    if (result) return "no error";
    EXPECT_EQ(result.error().kind, kind) << result.error().message;
    return result.error().message;
  }

  Graph graph;
  Analysis analysis;
  QueryDatabase database;
};

TEST(QueryDatabase, HasARowPerNode) {
  const Queried small(kSmall);
  const auto result =
      small.run("SELECT node, kind, operator, inputs, users FROM nodes ORDER BY position");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->rows.size(), small.graph.order().size());
  EXPECT_EQ(result->columns,
            (std::vector<std::string>{"node", "kind", "operator", "inputs", "users"}));
  EXPECT_EQ(std::get<std::string>(result->rows[0][0]), "x");
  EXPECT_EQ(std::get<std::string>(result->rows[0][1]), "placeholder");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(result->rows[0][2]));
  EXPECT_EQ(std::get<std::int64_t>(result->rows[0][4]), 2) << "a and c read x";
  EXPECT_EQ(std::get<std::string>(result->rows[1][2]), "aten.relu.default");
}

TEST(QueryDatabase, FollowsInputs) {
  const Queried small(kSmall);
  const auto result = small.run(
      "SELECT i.node FROM inputs JOIN nodes n USING (node_id) JOIN nodes i ON i.node_id = input_id "
      "WHERE n.node = 'c' ORDER BY i.node");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->rows.size(), 2U);
  EXPECT_EQ(std::get<std::string>(result->rows[0][0]), "w");
  EXPECT_EQ(std::get<std::string>(result->rows[1][0]), "x");
}

TEST(QueryDatabase, RefusesToWrite) {
  const Queried small(kSmall);
  for (const char* sql :
       {"DELETE FROM nodes", "UPDATE nodes SET ns = 0", "INSERT INTO inputs VALUES (1, 2)",
        "DROP TABLE nodes", "CREATE TABLE t(a)", "CREATE TEMP TABLE t(a)",
        "CREATE VIEW v AS SELECT 1", "ALTER TABLE nodes ADD COLUMN z",
        "CREATE INDEX i ON nodes(ns)", "ATTACH '/tmp/other.sqlite' AS o", "DETACH main",
        "PRAGMA query_only = OFF", "PRAGMA journal_mode = WAL", "PRAGMA writable_schema = ON",
        "VACUUM INTO '/tmp/copy.sqlite'", "BEGIN", "SAVEPOINT s", "ANALYZE"})
    EXPECT_THAT(small.error(sql), HasSubstr("can only read")) << sql;
  EXPECT_THAT(small.error("SELECT load_extension('/tmp/x.so')"), HasSubstr("load_extension"));
  EXPECT_EQ(small.integer("SELECT count(*) FROM nodes"),
            static_cast<std::int64_t>(small.graph.order().size()));
}

TEST(QueryDatabase, SaysWhatIsWrongAndWhere) {
  const Queried small(kSmall);
  EXPECT_EQ(small.error("SELECT nod\nFROM nodes"),
            "no such column: nod (line 1, column 8); did you mean node?");
  EXPECT_THAT(small.error("SELECT node\nFROM nodez"),
              StartsWith("no such table: nodez; did you mean nodes? the tables are "));
  EXPECT_EQ(small.error("SELECT cuont(node) FROM nodes"),
            "no such function: cuont (line 1, column 8); did you mean count?");
  EXPECT_EQ(small.error("SELECT 'ä',\n  node FORM nodes"),
            "near \"nodes\": syntax error (line 2, column 13)");
  EXPECT_THAT(small.error(""), HasSubstr("empty"));
  EXPECT_THAT(small.error("-- only a comment"), HasSubstr("empty"));
  EXPECT_EQ(small.error("SELECT 1; SELECT 2"),
            "the query contains more than one statement; enter only one");
  EXPECT_EQ(small.error("SELECT node FROM nodes WHERE"),
            "the query is incomplete; complete the statement");
  EXPECT_EQ(small.integer("SELECT 1;  -- done"), 1);
}

TEST(QueryDatabase, StopsAtItsLimits) {
  const Queried small(kSmall);
  const auto cut = small.run("SELECT node FROM nodes", {.rows = 2});
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(cut->rows.size(), 2U);
  EXPECT_TRUE(cut->is_cut);
  const auto whole = small.run("SELECT node FROM nodes", {.rows = small.graph.order().size()});
  EXPECT_FALSE(whole->is_cut);

  constexpr std::string_view kEndless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
  const auto slow = small.run(kEndless, {.time = std::chrono::milliseconds(20)});
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().kind, Error::Kind::run);
  EXPECT_THAT(slow.error().message, HasSubstr("0.02 s"));
  int asked = 0;
  const auto stopped = small.database.run(kEndless, {}, [&] { return ++asked == 3; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, Error::Kind::cancelled);
  EXPECT_EQ(small.integer("SELECT 7"), 7) << "the next query runs";
  EXPECT_THAT(small.error("SELECT zeroblob(1000000000)"), HasSubstr("larger than 64 MiB"));
}

TEST(QueryDatabase, CanBeStoppedWhileItIsBuilt) {
  const Graph graph =
      *open_graph({.path = source_path("resources/samples/llama_debug_tp2_fsdp2.joint.json.zst")});
  const Analysis analysis = *analyze(graph);
  const auto built = QueryDatabase::build(graph, analysis, [] { return true; });
  EXPECT_TRUE(built || built.error().kind == Error::Kind::cancelled);
}

TEST(QueryDatabase, ReturnsValuesOfEachKind) {
  const Queried small(kSmall);
  const auto result = small.run("SELECT 1, 0.5, 'text', NULL, x'0aff'");
  ASSERT_TRUE(result) << result.error().message;
  const auto& row = result->rows.at(0);
  EXPECT_EQ(std::get<std::int64_t>(row[0]), 1);
  EXPECT_EQ(std::get<double>(row[1]), 0.5);
  EXPECT_EQ(std::get<std::string>(row[2]), "text");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(row[3]));
  EXPECT_EQ(std::get<std::string>(row[4]), "0aff");
}

TEST(QuerySchema, IsDocumented) {
  std::ifstream file(source_path("docs/query.md"));
  std::stringstream text;
  text << file.rdbuf();
  for (const QueryTable& table : query_schema()) {
    EXPECT_THAT(text.str(), HasSubstr("`" + std::string(table.name) + "`"));
    for (const QueryColumn& column : table.columns) {
      EXPECT_THAT(text.str(), HasSubstr("| `" + std::string(column.name) + "` |")) << table.name;
      EXPECT_FALSE(column.meaning.empty()) << column.name;
    }
  }
}

TEST(QuerySchema, MatchesTheTablesThatQueriesSee) {
  const Queried small(kSmall);
  for (const QueryTable& table : query_schema()) {
    const auto columns =
        small.run(fmt::format("SELECT name FROM pragma_table_info('{}')", table.name));
    ASSERT_TRUE(columns) << columns.error().message;
    ASSERT_EQ(columns->rows.size(), table.columns.size());
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      EXPECT_EQ(std::get<std::string>(columns->rows[i][0]), table.columns[i].name);
  }
}

// --- Real graphs ---

std::vector<std::string> captures() {
  std::vector<std::string> paths = sample_captures();
  for (const std::string& path : shared_captures()) paths.push_back(path);
  std::ranges::sort(paths);
  return paths;
}

class QueriesOfCaptures : public testing::TestWithParam<std::string> {};

TEST_P(QueriesOfCaptures, AddUpToTheFigures) {
  auto graph = open_graph({.path = GetParam()});
  if (!graph) GTEST_SKIP() << graph.error().message;
  const Queried queried(*std::move(graph));
  const Simulation& s = queried.analysis.simulation;
  const MemoryTimeline& memory = queried.analysis.memory;
  EXPECT_EQ(queried.integer("SELECT step_ns FROM step"), s.step_ns());
  EXPECT_EQ(queried.integer("SELECT coalesce(sum(ns), 0) FROM nodes WHERE stream = 'compute'"),
            s.compute_ns());
  EXPECT_EQ(queried.integer("SELECT coalesce(sum(exposed_ns), 0) FROM collectives"),
            s.exposed_ns());
  EXPECT_EQ(queried.integer("SELECT coalesce(sum(exposed_ns), 0) FROM nodes"), s.exposed_ns());
  EXPECT_EQ(queried.integer("SELECT coalesce(sum(ns), 0) FROM collectives WHERE NOT is_copy"),
            s.communication_ns());
  EXPECT_EQ(queried.integer("SELECT coalesce(sum(bytes), 0) FROM storages WHERE is_live_at_peak"),
            memory.peak_bytes());
  EXPECT_EQ(queried.integer("SELECT coalesce(max(live_bytes), 0) FROM events"),
            memory.peak_bytes());
  EXPECT_EQ(queried.integer("SELECT coalesce(sum(bytes), 0) FROM events"), memory.profile().back());
  EXPECT_EQ(queried.integer("SELECT peak_bytes FROM step"), memory.peak_bytes());
  EXPECT_EQ(queried.integer("SELECT sum(flops) FROM nodes"), queried.analysis.total_flops.total);
  EXPECT_EQ(queried.integer("SELECT count(*) FROM nodes"),
            static_cast<std::int64_t>(queried.graph.order().size()));
  EXPECT_EQ(queried.integer("SELECT sum(inputs) FROM nodes"),
            queried.integer("SELECT count(*) FROM inputs"));
  for (const QueryExample& example : query_examples()) {
    const auto rows = queried.run(example.sql, {.rows = 100});
    EXPECT_TRUE(rows) << example.title << ": " << rows.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(All, QueriesOfCaptures, testing::ValuesIn(captures()),
                         parameter_name<testing::TestParamInfo<std::string>>);

}  // namespace
}  // namespace jointer::test
