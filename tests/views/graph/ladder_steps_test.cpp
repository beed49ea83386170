// Tests of moving through a ladder and of scrolling it, without a view.

#include "views/graph/ladder_steps.h"

#include <gtest/gtest.h>

#include <QScrollBar>

#include "tests/support/ladders.h"
#include "views/graph/ladder_scroll.h"
#include "views/graph/ladder_selection.h"

namespace jointer::views {
namespace {

using Kind = LadderStep::Kind;

class LadderStepsTest : public testing::Test {
 protected:
  [[nodiscard]] int row(const char* key) const { return model.ladder().find(key); }
  [[nodiscard]] LadderPosition position() const {
    return {model, selection.marks(), selection.side()};
  }

  Document document{OpenRequest{}, make_snapshot(test::layered_graph(3), {}).value()};
  LadderModel model{document, 900};
  LadderSelection selection{document, model};
};

TEST_F(LadderStepsTest, GoesInAndOut) {
  selection.select_row(row("*layers.0"), LadderSide::backward);
  LadderStep step = step_in(position());
  EXPECT_EQ(step.kind, Kind::open_row);
  EXPECT_EQ(step.row, row("*layers.0"));
  EXPECT_EQ(step.side, LadderSide::backward);
  model.open_row(step.row, step.side);
  selection.refresh_marks();
  step = step_in(position());
  EXPECT_EQ(step.kind, Kind::select_row);
  EXPECT_EQ(model.ladder().row(step.row).parent, row("*layers.0"));
  EXPECT_EQ(step_out(position()).kind, Kind::close_row);
  selection.select_row(step.row, step.side);
  step = step_out(position());
  EXPECT_EQ(step.kind, Kind::select_row);
  EXPECT_EQ(step.row, row("*layers.0"));
}

TEST_F(LadderStepsTest, StaysAtTheEnds) {
  const int first = model.layout().items().front().row, last = model.layout().items().back().row;
  EXPECT_EQ(step_rows(position(), 1).row, first);
  selection.select_row(first, LadderSide::forward);
  EXPECT_EQ(step_rows(position(), -1).row, first);
  selection.select_row(last, LadderSide::forward);
  EXPECT_EQ(step_rows(position(), 1).row, last);
  EXPECT_EQ(step_nodes(position(), true, 1).kind, Kind::none);
}

TEST_F(LadderStepsTest, AnotherSelectionTakesTheFocus) {
  int others = 0;
  QObject::connect(&selection, &LadderSelection::selected_elsewhere, [&] { ++others; });
  selection.select_row(row("*layers.0"), LadderSide::forward);
  EXPECT_EQ(selection.marks().focus_row, row("*layers.0"));
  EXPECT_EQ(others, 0);
  document.selection().select(model.snapshot().graph.find("o_0"));
  EXPECT_EQ(others, 1);
}

TEST_F(LadderStepsTest, AnAnchorKeepsItsPosition) {
  QScrollBar horizontal, vertical;
  LadderScroll scroll(model, horizontal, vertical);
  scroll.restore({}, {900, 100});
  scroll.pan({0, -40});
  EXPECT_EQ(vertical.value(), 40);
  const LadderScroll::Anchor before = scroll.anchor_at(row("*layers.0"), LadderSide::forward);
  model.open_row(row("*layers.0"));
  scroll.restore(before, {900, 100});
  const LadderScroll::Anchor after = scroll.anchor_at(row("*layers.0"), LadderSide::forward);
  EXPECT_DOUBLE_EQ(after.x, before.x);
  EXPECT_DOUBLE_EQ(after.y, before.y);
  vertical.setValue(vertical.value() + 5);
  EXPECT_DOUBLE_EQ(scroll.view().y, vertical.value());
}

}  // namespace
}  // namespace jointer::views
