// Tests the dialog that compares a document's graph with captures of other ranks.

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>
#include <memory>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/graphs.h"
#include "views/spmd/spmd_dialog.h"

namespace jointer {
namespace {

using namespace views;

using test::kPatienceMs;
constexpr std::string_view kHead = "group tp: 0 1\nx: f32[8,4] = input\ny: f32[2,4] = input\n";
constexpr std::string_view kSum = "a: f32[8,4] = _c10d_functional.all_reduce(x, 'sum', 'tp')\n";
constexpr std::string_view kSmall = "b: f32[2,4] = _c10d_functional.all_reduce(y, 'sum', 'tp')\n";

Graph program(int rank, std::string_view first, std::string_view second) {
  Graph graph =
      test::parse(std::string(kHead) + std::string(first) + std::string(second) + "return [a, b]");
  graph.part(PartId(std::size_t{0})).rank = rank;
  graph.part(PartId(std::size_t{0})).world_size = 2;
  return graph;
}

}  // namespace

class SpmdTest : public QObject {
  Q_OBJECT

 private slots:
  void reports_matching_ranks();
  void reports_the_first_mismatch();
  void reports_unreadable_files();
  void compares_only_files();
  void a_title_is_not_a_pattern();

 private:
  QString write(int rank, std::string_view first, std::string_view second) {
    const QString path = folder_.filePath(QStringLiteral("rank%1.json").arg(rank));
    if (!write_bytes(path.toStdString(), write_native(program(rank, first, second))))
      qFatal("not written");
    return path;
  }
  std::unique_ptr<Document> document(std::string_view first, std::string_view second) {
    auto snapshot = make_snapshot(program(0, first, second), {});
    if (!snapshot) qFatal("no snapshot");
    return std::make_unique<Document>(
        OpenRequest{.path = folder_.path().toStdString() + "/me.json"}, *snapshot);
  }
  static QString check(SpmdDialog& dialog) {
    QSignalSpy checked(&dialog, &SpmdDialog::checked);
    QTest::mouseClick(dialog.findChild<QPushButton*>("check"), Qt::LeftButton);
    // The signal may have been emitted during the click.
    if (checked.isEmpty() && !checked.wait(kPatienceMs)) qFatal("it does not end");
    return dialog.answer();
  }

  QTemporaryDir folder_;
};

void SpmdTest::reports_matching_ranks() {
  const auto document = this->document(kSum, kSmall);
  auto* dialog = new SpmdDialog(*document);
  dialog->show();
  QVERIFY(!dialog->findChild<QPushButton*>("check")->isEnabled());
  QCOMPARE(dialog->answer(), QStringLiteral("Add the captures of other ranks."));
  dialog->add_files({write(1, kSum, kSmall)});
  QVERIFY(dialog->findChild<QPushButton*>("check")->isEnabled());
  QCOMPARE(dialog->answer(), QString());
  const QString answer = check(*dialog);
  QVERIFY2(answer.startsWith("All ranks make the same calls in the same order."),
           qPrintable(answer));
  QVERIFY(answer.contains("tp (2 calls)"));
  QVERIFY(!dialog->findChild<QTreeWidget*>("sides")->isVisible());
  dialog->close();
}

void SpmdTest::reports_the_first_mismatch() {
  const auto document = this->document(kSum, kSmall);
  auto* dialog = new SpmdDialog(*document);
  dialog->show();
  // The document's graph replaces the file of its rank.
  dialog->add_files({write(0, kSmall, kSum), write(1, kSmall, kSum)});
  const QString answer = check(*dialog);
  QVERIFY2(answer.startsWith("In group tp (ranks 0, 1), as collective 0, rank 0 calls a"),
           qPrintable(answer));
  QVERIFY(answer.contains("the run would hang or compute wrong results"));
  auto* sides = dialog->findChild<QTreeWidget*>("sides");
  QVERIFY(sides->isVisible());
  QCOMPARE(sides->topLevelItemCount(), 2);
  QCOMPARE(sides->topLevelItem(1)->text(1), QStringLiteral("b"));
  // Clicking goes to the node in the window; the other one is in another file.
  QSignalSpy activated(dialog, &SpmdDialog::node_activated);
  const auto click = [&](int row) {
    QTest::mouseClick(sides->viewport(), Qt::LeftButton, {},
                      sides->visualItemRect(sides->topLevelItem(row)).center());
  };
  click(0);
  QCOMPARE(activated.count(), 1);
  QCOMPARE(activated.front().front().value<NodeId>(), document->graph().find("a"));
  click(1);
  QCOMPARE(activated.count(), 1);
  dialog->close();
}

void SpmdTest::reports_unreadable_files() {
  const auto document = this->document(kSum, kSmall);
  auto* dialog = new SpmdDialog(*document);
  dialog->show();
  dialog->add_files({folder_.filePath("<b>none.json")});
  QVERIFY(check(*dialog).contains("<b>none.json"));
  // The name of a file is not markup.
  QCOMPARE(test::child<QLabel>(*dialog, "answer").textFormat(), Qt::PlainText);
  dialog->close();
}

void SpmdTest::compares_only_files() {
  const auto document = this->document(kSmall, kSum);
  auto* dialog = new SpmdDialog(*document);
  dialog->show();
  dialog->findChild<QCheckBox*>()->setChecked(false);
  dialog->add_files({write(0, kSum, kSmall), write(1, kSum, kSmall)});
  QVERIFY(check(*dialog).startsWith("All ranks make the same calls"));
  dialog->close();
}

void SpmdTest::a_title_is_not_a_pattern() {
  Graph graph = program(0, kSum, kSmall);
  graph.set_title("llama %2 of %1");
  auto snapshot = make_snapshot(std::move(graph), {});
  QVERIFY(snapshot.has_value());
  Document document(OpenRequest{.path = "/tmp/graph.json"}, *snapshot);
  const SpmdDialog dialog(document);
  QCOMPARE(test::child<QCheckBox>(dialog).text(),
           QString("Use llama %2 of %1, as currently edited, for rank 0"));
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::SpmdTest, "spmd")
#include "spmd_test.moc"
