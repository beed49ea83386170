#include "core/query/name_hint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jointer {
namespace {

using testing::StartsWith;

TEST(NameHint, NamesTheMostSimilarNameOfTheSameKind) {
  const std::vector<std::string> functions{"avg", "count", "sum"};
  const auto hint = [&](std::string_view message, std::string_view sql = "SELECT 1") {
    return name_hint(message, sql, functions);
  };
  EXPECT_THAT(hint("no such table: Nodez"),
              StartsWith("; did you mean nodes? the tables are step, nodes, "));
  EXPECT_THAT(hint("no such table: completely_different"), StartsWith("; the tables are step, "));
  EXPECT_EQ(hint("no such column: outptu_bytes"), "; did you mean output_bytes?");
  EXPECT_EQ(hint("no such column: n.NODEID"), "; did you mean n.node_id?");
  EXPECT_EQ(hint("no such function: cuont"), "; did you mean count?");
  EXPECT_EQ(hint("no such column: zzzzzzzz"), "");
  EXPECT_EQ(hint("near \"SELEC\": syntax error"), "");
}

// `nodes` has no column `wait_id`.
TEST(NameHint, ColumnsAreThoseOfTheTablesInTheQuery) {
  const std::string_view message = "no such column: wiat_id";
  EXPECT_EQ(name_hint(message, "SELECT wiat_id FROM collectives", {}), "; did you mean wait_id?");
  EXPECT_NE(name_hint(message, "SELECT wiat_id FROM nodes", {}), "; did you mean wait_id?");
}

}  // namespace
}  // namespace jointer
