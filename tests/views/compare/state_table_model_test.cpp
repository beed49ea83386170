#include "views/compare/state_table_model.h"

#include <gtest/gtest.h>

namespace jointer::views {
namespace {

std::vector<StateTableModel::Row> rows() {
  return {{.name = "as opened", .metrics = Metrics{.peak_bytes = 1000, .step_ns = 200}},
          {.name = "now", .metrics = Metrics{.peak_bytes = 750, .step_ns = 210}},
          {.name = "pending"},
          {.name = "failed", .metrics = fail(Error::Kind::usage, "no plan")}};
}

TEST(StateTableModel, ShowsNumbersAndChangesFromTheReference) {
  StateTableModel model;
  model.set(rows(), 0);
  EXPECT_EQ(model.number(1, StateTableModel::peak_column), 750);
  EXPECT_EQ(model.number(1, StateTableModel::peak_change_column), -250'000);
  EXPECT_EQ(model.number(1, StateTableModel::step_change_column), 50'000);
  EXPECT_EQ(model.number(0, StateTableModel::step_change_column), 0);
  model.set(rows(), 1);
  EXPECT_EQ(model.number(1, StateTableModel::peak_change_column), 0);
  EXPECT_EQ(model.number(0, StateTableModel::peak_change_column), 333'333);
}

TEST(StateTableModel, AStateThatIsNotKnownHasNoNumbers) {
  StateTableModel model;
  model.set(rows(), 2);
  for (const int row : {2, 3})
    for (std::size_t column = 1; column < model.columns().size(); ++column)
      EXPECT_FALSE(model.number(row, static_cast<int>(column))) << row << ' ' << column;
  EXPECT_FALSE(model.number(0, StateTableModel::peak_change_column)) << "the reference is unknown";
  EXPECT_FALSE(model.is_alarm(2));
  EXPECT_TRUE(model.is_alarm(3));
  EXPECT_EQ(model.note(3, StateTableModel::name_column), "no plan");
}

}  // namespace
}  // namespace jointer::views
