#include "core/pass/pass_table.h"

#include <gtest/gtest.h>

namespace jointer::test {
namespace {

PassTable table() {
  using Unit = PassTable::Unit;
  PassTable made;
  made.title = "Collectives";
  made.columns = {{"limit", Unit::text},
                  {"moves", Unit::count},
                  {"exposed", Unit::nanoseconds},
                  {"peak", Unit::bytes},
                  {"share", Unit::number}};
  made.rows = {{"a",
                {std::string("needs \"b\", c"), std::int64_t{12'000}, std::int64_t{-1'500'000},
                 std::int64_t{1} << 30, 0.25}},
               {"", {{}, {}, {}, {}, {}}}};
  return made;
}

TEST(PassTableTest, CellsAreReadable) {
  const PassTable made = table();
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < made.columns.size(); ++i)
    texts.push_back(cell_text(made.rows[0].cells[i], made.columns[i].unit));
  EXPECT_EQ(texts, (std::vector<std::string>{"needs \"b\", c", "12,000", "-1.50 ms", "1.00 GiB",
                                             "0.250"}));
  EXPECT_EQ(cell_text(made.rows[1].cells[0], PassTable::Unit::bytes), "");
}

}  // namespace
}  // namespace jointer::test
