#include "views/widgets/focus_mark.h"

#include <gtest/gtest.h>

#include <QLineEdit>
#include <QTest>

namespace jointer::views {
namespace {

// The frame follows the widget with the focus if a widget around it moves, as all pages of a pane
// do when the text above them needs another line.
TEST(FocusMark, FollowsAWidgetWhosePageMoves) {
  QWidget area;
  area.resize(200, 100);
  QWidget page(&area);
  page.setGeometry(0, 10, 200, 60);
  QLineEdit field(&page);
  field.setGeometry(20, 10, 100, 20);
  area.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&area));
  const FocusMark mark(area, field);
  ASSERT_TRUE(mark.mask().contains(QPoint(70, 20)));

  page.move(0, 35);
  EXPECT_TRUE(mark.mask().contains(QPoint(70, 45)));
  EXPECT_FALSE(mark.mask().contains(QPoint(70, 20)));
}

}  // namespace
}  // namespace jointer::views
