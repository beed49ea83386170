// The matches of a search are marked in the timeline and in the ladder, counted and listed.

#include <QLineEdit>
#include <QScrollBar>
#include <QTest>
#include <QToolButton>
#include <string>

#include "tests/gui/app_window.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "views/find/find_bar.h"
#include "views/graph/graph_pane.h"
#include "views/session/text/number_text.h"
#include "views/timeline/timeline_view.h"

namespace jointer {
namespace {

using namespace views;
using test::child;

}  // namespace

class HitsTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() { QVERIFY(open_sample()); }
  void cleanup() { close_window(); }

  void matches_are_marked_and_listed_data() { add_sizes(); }
  void matches_are_marked_and_listed();
  void matches_are_marked_in_the_partitioned_timeline();
  void an_illegal_phase_names_the_legal_ones();
  void selecting_all_makes_a_match_current();

 private:
  // Looks at the pixels over the middle of a node in its lane.
  [[nodiscard]] bool has_tick(NodeId node) const {
    TimelineView& view = timeline();
    const QImage image = view.viewport()->grab().toImage();
    const QColor tick = Theme::of(view.palette()).text;
    const auto extent = view.content().data().extent(node);
    const auto row = static_cast<std::size_t>(view.content().row_of(node, false));
    const auto x = static_cast<int>(view.range().axis().to_pixel(
        (static_cast<double>(extent.begin) + static_cast<double>(extent.end)) / 2));
    for (int dx = -2; dx <= 2; ++dx)
      if (image.pixelColor(x + dx, view.layout().lane[row].top() - 2) == tick) return true;
    return false;
  }
  FindBar& find(const QString& query) const {
    QTest::keyClick(&timeline(), Qt::Key_Slash);
    auto& bar = child<FindBar>(*window_->current_tab());
    bar.edit().setFocus();
    bar.edit().selectAll();
    QTest::keyClicks(&bar.edit(), query);
    return bar;
  }
};

void HitsTest::matches_are_marked_and_listed() {
  QFETCH(QSize, size);
  window_->resize(size);
  FindBar& bar = find("op:all_gather_into_tensor");
  const std::size_t count = bar.matches().size();
  QVERIFY(count > 3);
  const auto hits = document().selection().hits();
  QVERIFY(std::ranges::equal(hits, bar.matches()));
  QCOMPARE(child<QLabel>(bar, "status").text(), QStringLiteral("1 of %1").arg(count_text(count)));
  auto* graph = show_pane<GraphPane>("graph");
  QVERIFY(graph != nullptr);
  // The lanes of a low window scroll.
  timeline().verticalScrollBar()->setValue(timeline().verticalScrollBar()->maximum());
  QTRY_VERIFY2(has_tick(bar.matches().back()), "each match has a tick over its lane");

  // The list shows all of them; a click goes to one.
  auto& listing = child<QToolButton>(bar, "listing");
  QTest::mouseClick(&listing, Qt::LeftButton);
  auto& list = child<HitList>(bar);
  QVERIFY(list.isVisible());
  QCOMPARE(list.model()->rowCount(), static_cast<int>(count));
  const QModelIndex third = list.model()->index(2, 0);
  list.scrollTo(third);
  QTRY_VERIFY(list.viewport()->rect().contains(list.visualRect(third).center()));
  QTest::mouseClick(list.viewport(), Qt::LeftButton, {}, list.visualRect(third).center());
  QCOMPARE(document().selection().current(), bar.matches()[2]);
  QCOMPARE(child<QLabel>(bar, "status").text(), QStringLiteral("3 of %1").arg(count_text(count)));
  QVERIFY(window_->size() == size);

  // Closing the bar removes the marks.
  QTest::keyClick(&bar.edit(), Qt::Key_Escape);
  QVERIFY(!bar.isVisible());
  QVERIFY(document().selection().hits().empty());
  QVERIFY(!has_tick(bar.matches().back()));
}

void HitsTest::matches_are_marked_in_the_partitioned_timeline() {
  const FindBar& bar = find("op:all_gather_into_tensor");
  const std::string name(document().graph().name(bar.matches().back()));
  click_button("show_partitioned");
  QTRY_VERIFY_WITH_TIMEOUT(timeline().content().shown().graph.is_pair(), test::kPatienceMs);
  const NodeId in_pair = timeline().content().shown().graph.find(name);
  QVERIFY(static_cast<bool>(in_pair));
  timeline().verticalScrollBar()->setValue(timeline().verticalScrollBar()->maximum());
  QTRY_VERIFY2(has_tick(in_pair), "each match has a tick over its lane");
}

void HitsTest::an_illegal_phase_names_the_legal_ones() {
  const FindBar& bar = find("phase:xx");
  QCOMPARE(child<QLabel>(bar, "status").text(),
           QStringLiteral("`xx` is not a phase; write phase:fw, phase:bw or phase:recomputed."));
  QVERIFY(bar.matches().empty());
}

// The current node may have been selected elsewhere since the search.
void HitsTest::selecting_all_makes_a_match_current() {
  FindBar& bar = find("op:all_gather_into_tensor");
  document().selection().select(document().graph().order().front());
  QVERIFY(document().selection().current() != bar.matches().front());
  bar.select_all();
  QCOMPARE(document().selection().nodes().size(), bar.matches().size());
  QVERIFY(document().selection().current() == bar.matches().front());
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::HitsTest, "hits")
#include "hits_test.moc"
