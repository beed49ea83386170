// Tests the questions for new users: they are asked once, and answered in the panes.

#include "views/window/first_questions.h"

#include <QTest>

#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/paths.h"
#include "views/session/edit/editing.h"
#include "views/session/edit/move_planner.h"
#include "views/window/first_answers.h"

namespace jointer {

using namespace views;
using test::child;
using test::kPatienceMs;

class FirstQuestionsTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() {
    make_folder();
    open_new_window();
  }
  void cleanup() { close_window(); }

  void all_are_whole_data() { add_sizes(); }
  void all_are_whole();
  void the_peak_is_shown();
  void the_most_exposed_collective_is_selected();
  void a_collective_is_picked_up();
  void they_are_dismissed_by_one_key();

 private:
  void open_new_window() {
    make_window();
    desktop::FirstMinutes::set_dismissed(*settings_, false);
    QVERIFY(open_file(test::source_path(test::kSample)));
  }
  [[nodiscard]] FirstQuestions* bar() const {
    auto* bar = window_->findChild<FirstQuestions*>();
    return bar != nullptr && bar->isVisible() ? bar : nullptr;
  }
  void ask(const char* name) { test::press(child<QPushButton>(*bar(), name)); }
};

void FirstQuestionsTest::all_are_whole() {
  resize();
  QTRY_VERIFY(bar() != nullptr);
  for (const auto* button : bar()->findChildren<QPushButton*>()) {
    QVERIFY2(button->width() >= button->sizeHint().width(), qPrintable(button->text()));
    QVERIFY(bar()->rect().contains(button->geometry()));
  }
}

void FirstQuestionsTest::the_peak_is_shown() {
  QTRY_VERIFY(bar() != nullptr);
  document().selection().set_moment(0);
  ask("ask_peak");
  const MemoryTimeline& memory = document().analysis().memory;
  QCOMPARE(document().selection().moment().value_or(memory.peak_index()), memory.peak_index());
  QVERIFY(window_->dock("alive")->isVisible());
  QCOMPARE(bar()->text(), answer_peak(document().snapshot()).text);
}

void FirstQuestionsTest::the_most_exposed_collective_is_selected() {
  QTRY_VERIFY(bar() != nullptr);
  ask("ask_communication");
  const FirstAnswer answer = answer_communication(document().snapshot());
  QVERIFY(answer.node);
  QCOMPARE(document().selection().current(), answer.node);
  QCOMPARE(bar()->text(), answer.text);
}

void FirstQuestionsTest::a_collective_is_picked_up() {
  QTRY_VERIFY(bar() != nullptr);
  ask("ask_what_if");
  const MovePlanner& planner = document().editing().planner();
  QTRY_VERIFY_WITH_TIMEOUT(planner.held() != nullptr, kPatienceMs);
  QCOMPARE(bar()->text(), answer_what_if(document().snapshot()).text);
  QTest::keyClick(window_->focusWidget(), Qt::Key_Escape);
  QTRY_VERIFY(planner.held() == nullptr);
  QVERIFY(bar() != nullptr);
}

void FirstQuestionsTest::they_are_dismissed_by_one_key() {
  QTRY_VERIFY(bar() != nullptr);
  QTest::keyClick(window_.get(), Qt::Key_Escape, Qt::ShiftModifier);
  QVERIFY(bar() == nullptr);
  QVERIFY(open_file(test::source_path("resources/samples/llama_debug_tp2.joint.json.zst")));
  QVERIFY(bar() == nullptr);
  QTest::keyClick(window_.get(), Qt::Key_Escape, Qt::ShiftModifier);
  QTRY_VERIFY(bar() != nullptr);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::FirstQuestionsTest, "first_questions")
#include "first_questions_test.moc"
