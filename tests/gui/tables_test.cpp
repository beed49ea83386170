// Tests every table of the window: the first click on a column of numbers shows the largest first.

#include <QHeaderView>

#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "views/session/edit/editing.h"
#include "views/tables/table_view.h"

namespace jointer {
namespace {

using namespace views;
using test::kPatienceMs;

}  // namespace

class TablesTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() { make_window(); }
  void cleanup() { close_window(); }

  void the_first_click_on_numbers_sorts_descending();
};

void TablesTest::the_first_click_on_numbers_sorts_descending() {
  QVERIFY(open(test::kSample));
  editing().keep_state(QStringLiteral("as opened"));
  int tables = 0, columns = 0;
  for (PaneDock* dock : window_->findChildren<PaneDock*>()) {
    dock->show();
    dock->raise();
    QVERIFY(QTest::qWaitFor([&] { return dock->pane() != nullptr; }, kPatienceMs));
    for (TableView* view : dock->pane()->findChildren<TableView*>()) {
      if (!view->isSortingEnabled()) continue;
      const auto& model = *qobject_cast<TableModel*>(view->model());
      ++tables;
      for (int column = 0; column < model.columnCount(); ++column) {
        const bool is_text = model.columns()[static_cast<std::size_t>(column)].unit == Unit::text;
        QHeaderView* header = view->header();
        header->setSortIndicator(-1, Qt::AscendingOrder);
        // A click where the section is, which may be scrolled out of sight.
        view->scrollTo(model.index(0, column));
        header->setOffsetToSectionPosition(header->visualIndex(column));
        const QPoint at(header->sectionViewportPosition(column) + 12, header->height() / 2);
        QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, at);
        if (header->sortIndicatorSection() != column) continue;  // the pane is not shown
        ++columns;
        QCOMPARE(header->sortIndicatorOrder(), is_text ? Qt::AscendingOrder : Qt::DescendingOrder);
        std::optional<std::int64_t> last;
        for (const int row : model.shown(-1)) {
          const auto number = is_text ? std::nullopt : model.number(row, column);
          if (number && last) QVERIFY(*number <= *last);
          if (number) last = number;
        }
      }
    }
  }
  QVERIFY(tables >= 5);
  QVERIFY(columns >= 30);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::TablesTest, "tables")
#include "tables_test.moc"
