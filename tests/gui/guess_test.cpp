// Tests the window's notes about guesses that affect its numbers, and the controls that replace the
// guesses.

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFile>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/paths.h"
#include "views/session/edit/editing.h"
#include "views/session/text/number_text.h"
#include "views/session/workspace/autosave.h"
#include "views/window/estimates_dialog.h"
#include "views/window/guess_note.h"

namespace jointer {

using namespace views;
using test::child;
using test::kPatienceMs;

namespace {

// FX text gives the sizes of process groups, but not their ranks.
const char kText[] = R"(
class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "bf16[4096, 4096]", primals_2: "bf16[4096, 4096]"):
        mm: "bf16[4096, 4096]" = torch.ops.aten.mm.default(primals_1, primals_2);
        gather: "bf16[65536, 4096]" = torch.ops._c10d_functional.all_gather_into_tensor.default(mm, 16, 'fsdp');
        wait: "bf16[65536, 4096]" = torch.ops._c10d_functional.wait_tensor.default(gather);
        return (wait,)
)";
// Not even the size of a group for an all-reduce.
const char kReduction[] = R"(
class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "bf16[4096, 4096]", primals_2: "bf16[4096, 4096]"):
        mm: "bf16[4096, 4096]" = torch.ops.aten.mm.default(primals_1, primals_2);
        sum_1: "bf16[4096, 4096]" = torch.ops._c10d_functional.all_reduce.default(mm, 'sum', 'dp');
        wait: "bf16[4096, 4096]" = torch.ops._c10d_functional.wait_tensor.default(sum_1);
        return (wait,)
)";

}  // namespace

class GuessTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() {
    make_first_window();
    QVERIFY(open_text(kText));
  }
  void cleanup() { close_window(); }

  void a_guess_is_shown_and_replaced_data() { add_sizes(); }
  void a_guess_is_shown_and_replaced();
  void settings_are_kept_in_the_workspace();
  void a_guessed_size_is_shown_and_replaced_data() { add_sizes(); }
  void a_guessed_size_is_shown_and_replaced();
  void an_assumed_size_is_kept_in_the_workspace();
  void groups_of_a_capture_are_no_guess();

 private:
  bool open_text(const char* text) {
    QFile file(folder_->filePath("graph.txt"));
    if (!file.open(QIODevice::WriteOnly)) return false;
    file.write(text);
    file.close();
    return open(file.fileName());
  }
  bool reopen_text(const char* text) {
    close_window();
    make_window();
    return open_text(text);
  }
  // Saves the document and opens it in a new window.
  bool save_and_reopen() {
    Autosave& autosave = window_->current_tab()->session()->autosave();
    QSignalSpy saved(&autosave, &Autosave::saved);
    const QString path = folder_->filePath("kept.jointer");
    autosave.save(path, {});
    if (!saved.wait(kPatienceMs)) return false;
    close_window();
    make_window();
    return open(path);
  }
  bool open(const QString& path) {
    return open_file(path.toStdString()) &&
           QTest::qWaitFor([this] { return window_->findChild<GuessNote*>() != nullptr; });
  }
  [[nodiscard]] GuessNote& note() const { return child<GuessNote>(*window_); }
  [[nodiscard]] std::int64_t step() const { return document().analysis().simulation.step_ns(); }
  [[nodiscard]] EstimatesDialog* dialog() const {
    auto* dialog = window_->findChild<EstimatesDialog*>();
    return dialog != nullptr && dialog->isVisible() ? dialog : nullptr;
  }
  void apply() {
    QSignalSpy changed(&document(), &Document::changed);
    test::press(*child<QDialogButtonBox>(*dialog()).button(QDialogButtonBox::Apply));
    QVERIFY(changed.wait(kPatienceMs));
    QTRY_VERIFY(dialog() == nullptr);
  }
};

void GuessTest::a_guess_is_shown_and_replaced() {
  resize();
  QTRY_VERIFY_WITH_TIMEOUT(note().isVisible(), kPatienceMs);
  const QRect place(note().mapTo(window_.get(), QPoint()), note().size());
  QVERIFY2(window_->rect().contains(place), "the note is on screen");
  const std::int64_t neighbors = step();
  QVERIFY(note().text().contains("1 group"));
  const QString said = note().text();
  QTest::mouseClick(&note(), Qt::LeftButton);
  QTRY_VERIFY(dialog() != nullptr);
  test::type(child<QSpinBox>(*dialog(), "stride_of_fsdp"), "8");
  apply();
  QVERIFY(step() > neighbors);
  QVERIFY2(said.contains(time_text(step())), qPrintable(said));
  QTRY_VERIFY_WITH_TIMEOUT(!note().isVisible(), kPatienceMs);
  QCOMPARE(document().editing().entry_count(), 0);
  // The dialog shows it, and takes it back.
  QTest::mouseClick(&child<QToolButton>(*window_, "estimates"), Qt::LeftButton);
  QTRY_VERIFY(dialog() != nullptr);
  QCOMPARE(child<QSpinBox>(*dialog(), "stride_of_fsdp").value(), 8);
  test::type(child<QSpinBox>(*dialog(), "stride_of_fsdp"), "0");
  apply();
  QCOMPARE(step(), neighbors);
  QTRY_VERIFY_WITH_TIMEOUT(note().isVisible(), kPatienceMs);
}

void GuessTest::settings_are_kept_in_the_workspace() {
  test::run_action(*window_, "Estimates");
  QTRY_VERIFY(dialog() != nullptr);
  test::type(child<QSpinBox>(*dialog(), "gpus_per_node"), "4");
  test::type(child<QSpinBox>(*dialog(), "stride_of_fsdp"), "2");
  auto& estimator = child<QComboBox>(*dialog(), "estimator");
  test::choose(estimator, "simple");
  test::choose(estimator, "roofline");
  apply();
  const std::int64_t before = step();
  QVERIFY(save_and_reopen());
  QCOMPARE(document().analysis().options.estimator.gpus_per_node, 4);
  QCOMPARE(QString::fromStdString(document().graph().assumptions().text()),
           QString("stride:fsdp=2"));
  QCOMPARE(step(), before);
}

void GuessTest::a_guessed_size_is_shown_and_replaced() {
  QVERIFY(reopen_text(kReduction));
  resize();
  QTRY_VERIFY_WITH_TIMEOUT(note().isVisible(), kPatienceMs);
  const std::int64_t two = step();
  const QString said = note().text();
  QVERIFY2(said.contains("16 ranks"), qPrintable(said));
  QVERIFY2(note().toolTip().startsWith("size of 1 group guessed: step "),
           qPrintable(note().toolTip()));
  QTRY_VERIFY2(note().width() >= note().sizeHint().width(), "the note is cut off");
  QTest::mouseClick(&note(), Qt::LeftButton);
  QTRY_VERIFY(dialog() != nullptr);
  auto& ranks = child<QSpinBox>(*dialog(), "ranks_of_dp");
  QCOMPARE(ranks.text(), QStringLiteral("Unknown (assume 2)"));
  test::type(ranks, "16");
  apply();
  QVERIFY(step() > two);
  QVERIFY2(said.contains(time_text(step())), qPrintable(said));
  QCOMPARE(document().editing().entry_count(), 0);
  // Now that the size is known, the note is about the places of the ranks.
  QTRY_VERIFY_WITH_TIMEOUT(note().isVisible() && note().text().contains("if spread"), kPatienceMs);
  QTest::mouseClick(&note(), Qt::LeftButton);
  QTRY_VERIFY(dialog() != nullptr);
  QCOMPARE(child<QSpinBox>(*dialog(), "ranks_of_dp").value(), 16);
  test::type(child<QSpinBox>(*dialog(), "stride_of_dp"), "8");
  apply();
  QTRY_VERIFY_WITH_TIMEOUT(!note().isVisible(), kPatienceMs);
  // The dialog takes both back.
  QTest::mouseClick(&child<QToolButton>(*window_, "estimates"), Qt::LeftButton);
  QTRY_VERIFY(dialog() != nullptr);
  test::type(child<QSpinBox>(*dialog(), "ranks_of_dp"), "0");
  test::type(child<QSpinBox>(*dialog(), "stride_of_dp"), "0");
  apply();
  QCOMPARE(step(), two);
  QTRY_VERIFY_WITH_TIMEOUT(note().isVisible(), kPatienceMs);
}

void GuessTest::an_assumed_size_is_kept_in_the_workspace() {
  QVERIFY(reopen_text(kReduction));
  test::run_action(*window_, "Estimates");
  QTRY_VERIFY(dialog() != nullptr);
  test::type(child<QSpinBox>(*dialog(), "ranks_of_dp"), "64");
  apply();
  const std::int64_t before = step();
  QVERIFY(save_and_reopen());
  QCOMPARE(QString::fromStdString(document().graph().assumptions().text()), QString("ranks:dp=64"));
  QCOMPARE(step(), before);
}

void GuessTest::groups_of_a_capture_are_no_guess() {
  QVERIFY(open(QString::fromStdString(test::source_path(test::kSample))));
  QTest::qWait(200);
  for (const auto* note : window_->findChildren<GuessNote*>()) QVERIFY(!note->isVisible());
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::GuessTest, "guess")
#include "guess_test.moc"
