// The kernels of a measured run are drawn in lanes, hovered and clicked.

#include <QScrollBar>
#include <QTest>
#include <algorithm>

#include "tests/gui/app_window.h"
#include "tests/gui/gui_test.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/timeline/timeline_view.h"

namespace jointer {
namespace {

using namespace views;

constexpr std::int64_t kKernelNs = 1000, kKernelsPerNode = 4;

// Every node launches several kernels, one after another: collectives on stream 21, all others on
// stream 7.
Measurement measurement_with_kernels(const Document& document) {
  Measurement m{.label = "rank 0, interpret", .device = "NVIDIA H200", .device_type = "cuda"};
  for (const NodeId id : document.analysis().memory.steps()) {
    const bool is_collective = document.graph().is_collective_start(document.graph().node(id));
    const std::int64_t begin = m.step_ns;
    for (int i = 0; i < kKernelsPerNode; ++i) {
      m.kernels.push_back({.node = id,
                           .name = "void ns::kernel_" + std::to_string(m.kernels.size()) + "(int)",
                           .stream = is_collective ? 21 : 7,
                           .start_ns = m.step_ns,
                           .end_ns = m.step_ns + kKernelNs});
      m.step_ns += kKernelNs;
    }
    m.nodes.push_back({id, begin, m.step_ns, m.step_ns - begin});
  }
  return m;
}

}  // namespace

class KernelsTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() {
    QVERIFY(open_sample());
    document().add_import(std::make_shared<Measurement>(measurement_with_kernels(document())));
    timeline().content().set_kind(AxisKind::measured_time);
    // The lanes of kernels are the lowest ones.
    timeline().verticalScrollBar()->setValue(timeline().verticalScrollBar()->maximum());
  }
  void cleanup() { close_window(); }

  void a_kernel_is_hovered_and_clicked_data() {
    QTest::addColumn<std::int64_t>("stream");
    QTest::newRow("compute") << std::int64_t{7};
    QTest::newRow("communication") << std::int64_t{21};
  }
  void a_kernel_is_hovered_and_clicked();
  void narrow_kernels_are_folded();

 private:
  [[nodiscard]] std::size_t row_of(std::int64_t stream) const {
    const auto& rows = timeline().content().rows();
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (rows[row].has_kernels &&
          timeline().content().lane(rows[row]).name() == "stream " + std::to_string(stream))
        return row;
    qFatal("no lane has this stream");
  }
};

void KernelsTest::a_kernel_is_hovered_and_clicked() {
  QFETCH(std::int64_t, stream);
  const std::size_t row = row_of(stream);
  const Lane& lane = timeline().content().lane(timeline().content().rows()[row]);
  const LaneItem item = lane.items()[lane.items().size() / 2];
  const Graph& graph = document().graph();
  timeline().range().show(item.begin, item.end, 1);
  // The layout may still change, for example when the header shows the graph as partitioned.
  const auto place = [&] {
    timeline().verticalScrollBar()->setValue(timeline().verticalScrollBar()->maximum());
    return QPoint(static_cast<int>(timeline().range().axis().to_pixel(
                      static_cast<double>(item.begin + item.end) / 2)),
                  timeline().layout().lane[row].center().y());
  };
  QTRY_VERIFY_WITH_TIMEOUT(!timeline().card_at(place()).isEmpty(), test::kPatienceMs);
  const QPoint at = place();

  // Hovering shows a card about the kernel.
  document().selection().clear();
  const QImage before = timeline().viewport()->grab().toImage();
  QTest::mouseMove(timeline().viewport(), at);
  QTRY_VERIFY(timeline().viewport()->grab().toImage() != before);
  const QString card = timeline().card_at(place()).join('\n');
  const auto& kernels = document().measured()->measurement().kernels;
  const NodeKernel& kernel = kernels[static_cast<std::size_t>(item.kernel)];
  for (const QString& part :
       {QString::fromStdString(kernel.name), QStringLiteral("on stream %1").arg(stream),
        time_text(kKernelNs),
        QStringLiteral("launched by %1, ").arg(to_qstring(graph.name(kernel.node)))})
    QVERIFY2(card.contains(part), qPrintable(card + "\n\n" + part));
  QVERIFY(document().selection().nodes().empty());

  // A click selects the node, and its kernels are marked in their lane.
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, {}, place());
  QCOMPARE(document().selection().current(), item.node);
  QCOMPARE(document().selection().nodes().size(), 1U);
  QTest::mouseMove(timeline().viewport(), QPoint(2, 2));  // hides the card
  const AxisView& axis = timeline().range().axis();
  const int x =
      static_cast<int>(axis.to_pixel(static_cast<double>(item.begin + 2 * kKernelNs / 5)));
  const QImage image = timeline().viewport()->grab().toImage();
  QCOMPARE(image.pixelColor(x, timeline().layout().lane[row].bottom() - 1),
           Theme::of(timeline().palette()).accent);
}

void KernelsTest::narrow_kernels_are_folded() {
  timeline().range().fit();
  const std::size_t row = row_of(7);
  const LaneTrack track = timeline().scene().lane_track(row);
  const Lane& lane = timeline().content().lane(timeline().content().rows()[row]);
  // There are more kernels than runs, which are bounded by the pixels.
  QVERIFY(lane.items().size() > 1000);
  QVERIFY(track.runs().size() <= static_cast<std::size_t>(timeline().layout().width()));
  const auto run = std::ranges::find_if(track.runs(), [&](const LaneRun& each) {
    return each.is_folded() && lane.items()[each.first].node != lane.items()[each.last - 1].node;
  });
  QVERIFY(run != track.runs().end());
  const QPoint at(run->left, timeline().layout().lane[row].center().y());
  const QString card = timeline().card_at(at).join('\n');
  QVERIFY2(
      card.startsWith(QStringLiteral("%1 kernels here").arg(count_text(run->last - run->first))),
      qPrintable(card));
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, {}, at);
  QVERIFY(document().selection().nodes().size() > 1);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::KernelsTest, "kernels")
#include "kernels_test.moc"
