// Tests moves of kernels in the Kernels pane: keys, the line about the peak, undo and redo, and the
// recipe of compiled order.

#include <QFile>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <string>

#include "core/base/bytes.h"
#include "core/base/index.h"
#include "core/capture/native_writer.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/graphs.h"
#include "tests/support/kernel_graphs.h"
#include "views/kernels/kernel_order_bar.h"
#include "views/kernels/kernels_pane.h"
#include "views/session/edit/editing.h"
#include "views/session/kernels/kernel_order_edits.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/widgets/elided_label.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::kPatienceMs;

}  // namespace

class KernelOrderTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() { make_first_window(); }
  void cleanup() { close_window(); }

  void keys_move_the_selected_kernel();
  void a_moved_kernel_stays_in_view();
  void a_kernel_that_is_held_says_why();
  void the_graph_is_not_edited();
  void the_order_of_a_pair_is_exported();

 private:
  void show_kernels();
  void open_literal(const std::string& literal = test::kTwoProductChains);
  [[nodiscard]] TableView& view() const { return pane_->table().view(); }
  [[nodiscard]] KernelModel& model() const { return pane_->table().model(); }
  [[nodiscard]] KernelOrderEdits& edits() const { return document().kernel_order(); }
  [[nodiscard]] NodeId node(const char* name) const { return document().graph().find(name); }
  [[nodiscard]] int row_of(const char* name) const { return model().row_of(node(name)); }
  [[nodiscard]] QString said() const { return child<ElidedLabel>(*pane_, "order_text").text(); }
  [[nodiscard]] QToolButton& button(const char* name) const {
    return child<QToolButton>(*pane_, name);
  }
  void choose(int row) const {
    view().show_row(row);
    view().setFocus();
    QCOMPARE(view().selected_rows(), std::vector{row});
  }
  void press(Qt::Key key, Qt::KeyboardModifiers more = {}) const {
    QTest::keyClick(&view(), key, Qt::AltModifier | more);
  }

  KernelsPane* pane_ = nullptr;
};

void KernelOrderTest::show_kernels() {
  pane_ = show_pane<KernelsPane>("kernels");
  QVERIFY(pane_ != nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(document().kernels().is_current(), kPatienceMs);
  QTRY_COMPARE(model().kernels(), edits().shown());
  QVERIFY(model().rowCount() > 0);
}

void KernelOrderTest::open_literal(const std::string& literal) {
  const std::string path = folder_->filePath("chains.json").toStdString();
  QVERIFY(write_bytes(path, write_native(test::parse(literal))));
  QVERIFY(open_file(path));
  show_kernels();
}

void KernelOrderTest::keys_move_the_selected_kernel() {
  open_literal();
  const auto& bar = *pane_->findChild<KernelOrderBar*>();
  QVERIFY(!bar.isVisible());
  choose(row_of("c"));
  press(Qt::Key_Up, Qt::ShiftModifier);
  if (edits().move_count() == 0) press(Qt::Key_Down, Qt::ShiftModifier);
  QCOMPARE(edits().move_count(), std::size_t{1});
  QTRY_VERIFY(edits().is_settled());
  QVERIFY(bar.isVisible());
  QVERIFY2(said().contains("1 move: peak") && said().contains("c runs as kernel"),
           qPrintable(said()));
  QTRY_COMPARE(model().kernels(), edits().shown());
  // The kernel stays selected, and its row shows its new number.
  QCOMPARE(view().selected_rows(), std::vector{row_of("c")});
  const int moved = row_of("c");
  QVERIFY(moved == 0 || moved == 2);
  press(moved == 0 ? Qt::Key_Down : Qt::Key_Up);
  QCOMPARE(edits().move_count(), std::size_t{2});
  QTRY_COMPARE(row_of("c"), 1);
  QTest::mouseClick(&button("undo_kernel_move"), Qt::LeftButton);
  QTRY_COMPARE(row_of("c"), moved);
  QTest::mouseClick(&button("redo_kernel_move"), Qt::LeftButton);
  QTRY_COMPARE(row_of("c"), 1);
  QTest::mouseClick(&button("reset_kernel_order"), Qt::LeftButton);
  QTRY_COMPARE(model().kernels(), document().kernels().shown());
  QVERIFY(!button("undo_kernel_move").isEnabled());
  QVERIFY(!button("export_kernel_order").isEnabled());
}

void KernelOrderTest::a_moved_kernel_stays_in_view() {
  constexpr int kProducts = 80;  // more than fit into the pane
  std::string literal = "  x: f32[64,64] = input\n", results;
  for (int i = 0; i < kProducts; ++i)
    literal += "  y" + std::to_string(i) + ": f32[64,64] = input\n";
  for (int i = 0; i < kProducts; ++i) {
    const std::string number = std::to_string(i);
    literal += "  p" + number + ": f32[64,64] = aten.mm(x, y" + number + ")\n";
    results += (i == 0 ? "p" : ", p") + number;
  }
  open_literal(literal + "  return [" + results + "]\n");
  const int last = model().row_count() - 1;
  QCOMPARE(last, kProducts - 1);
  const auto is_in_view = [this](int row) {
    return view().viewport()->rect().intersects(view().visualRect(model().index_of(row)));
  };
  choose(0);
  QVERIFY(is_in_view(0));
  QVERIFY(!is_in_view(last));
  press(Qt::Key_Down, Qt::ShiftModifier);
  QCOMPARE(edits().move_count(), std::size_t{1});
  QTRY_COMPARE(view().selected_rows(), std::vector{last});
  QVERIFY(is_in_view(last));
}

void KernelOrderTest::a_kernel_that_is_held_says_why() {
  open_literal();
  choose(row_of("b"));
  press(Qt::Key_Up, Qt::ShiftModifier);
  if (edits().move_count() > 0) press(Qt::Key_Up, Qt::ShiftModifier);
  QVERIFY2(said().contains("Held by a: earlier, it would read"), qPrintable(said()));
}

void KernelOrderTest::the_graph_is_not_edited() {
  open_literal();
  choose(row_of("c"));
  press(Qt::Key_Up, Qt::ShiftModifier);
  press(Qt::Key_Down, Qt::ShiftModifier);
  QVERIFY(edits().move_count() > 0);
  QCOMPARE(document().editing().entry_count(), 0);
}

void KernelOrderTest::the_order_of_a_pair_is_exported() {
  QVERIFY(open_file(test::source_path("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst")));
  show_kernels();
  auto& all = child<QToolButton>(pane_->table(), "show_all");
  all.setFocus();
  QTest::keyClick(&all, Qt::Key_Space);
  for (int row = 0; row < model().row_count() && edits().move_count() == 0; ++row) {
    if (edits().shown()->kernel(as_index(row)).kind != kernels::Kernel::Kind::wait) continue;
    choose(row);
    press(Qt::Key_Up);
    if (edits().move_count() == 0) press(Qt::Key_Down);
  }
  QCOMPARE(edits().move_count(), std::size_t{1});
  QTRY_VERIFY(button("export_kernel_order").isEnabled());
  const QString path = folder_->filePath("pair.order.json");
  test::answer_file_dialog(path);
  QTest::mouseClick(&button("export_kernel_order"), Qt::LeftButton);
  QFile written(path);
  QVERIFY(written.open(QIODevice::ReadOnly));
  const QByteArray text = written.readAll();
  QVERIFY(text.contains("\"jointer-compiled-order\"") && text.contains("\"wait\""));
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::KernelOrderTest, "kernel_order")
#include "kernel_order_test.moc"
