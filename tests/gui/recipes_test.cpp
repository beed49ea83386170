// Tests recipes in the real window: exporting, applying, and what is asked and said.

#include <QFile>
#include <QMessageBox>
#include <QTest>

#include "core/edit/replay.h"
#include "core/graph/canonical.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/timeline_hand.h"
#include "views/session/edit/editing.h"

namespace jointer {
namespace {

using namespace views;
using test::kPatienceMs;
using test::kSample;

}  // namespace

class RecipesTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() { make_first_window(); }
  void cleanup() { close_window(); }

  void recipes_are_exported_and_applied();
  void a_recipe_for_another_graph_is_not_applied_without_asking();
  void a_recipe_applied_in_part_says_so();

 private:
  bool open_sample() { return open_file(test::source_path(kSample)) && settle(); }
  void run_action(const QString& text) { test::run_action(*window_, text); }
  [[nodiscard]] std::string hash() const { return graph_hash(document().graph()); }
  [[nodiscard]] NodeId exposed_wait() const { return test::exposed_wait(document()); }
  // Waits until all requests are shown.
  bool settle() {
    return QTest::qWaitFor(
        [this] { return editing().is_settled() && editing().planner().is_ready(); }, kPatienceMs);
  }
  // Waits for this number of history entries.
  bool wait_for(int entries) {
    return QTest::qWaitFor([&] { return editing().entry_count() == entries; }, kPatienceMs) &&
           settle();
  }
};

void RecipesTest::recipes_are_exported_and_applied() {
  QVERIFY(open_sample());
  document().selection().select(exposed_wait());
  run_action("Move as Late as Possible");
  QVERIFY(wait_for(1));
  const std::string moved = hash();
  const QString path = folder_->filePath("moved.recipe.json");
  QVERIFY(editing().write_recipe(path));
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QVERIFY(settle());
  QVERIFY(hash() != moved);
  test::answer_file_dialog(path);
  run_action("Apply Recipe");
  QVERIFY(QTest::qWaitFor([&] { return hash() == moved; }, kPatienceMs));
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
}

// As `jointer apply --recipe`, which refuses it.
void RecipesTest::a_recipe_for_another_graph_is_not_applied_without_asking() {
  QVERIFY(open_sample());
  const NodeId wait = exposed_wait();
  const std::string name = edit_name(document().graph(), wait);
  const NodeId next = document().graph().order()[document().graph().position(wait) + 2];
  const MoveNodes move{{name}, edit_name(document().graph(), next)};
  document().selection().select(wait);
  run_action("Move as Late as Possible");
  QVERIFY(wait_for(1));
  const std::string moved = hash();
  const QString path = folder_->filePath("other.recipe.json");
  Recipe recipe = make_recipe(document().baseline()->graph, document().graph(), editing().edits(),
                              "the other graph");
  QVERIFY(write_bytes(path.toStdString(), write_recipe(recipe)).has_value());
  const auto question = [this] {
    return window_->findChild<QMessageBox*>("ask_about_other_graph");
  };
  const auto apply = [&] {
    test::answer_file_dialog(path);
    run_action("Apply Recipe");
  };
  // An edit does not make the graph another one.
  editing().go_to(0);
  editing().apply({.title = "mine", .changes = {move}});
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  apply();
  QVERIFY(wait_for(2));
  QVERIFY(question() == nullptr);
  editing().go_to(0);
  QVERIFY(settle());

  for (RecipeGraph& graph : recipe.graphs) {
    graph.hash = "another graph";
    graph.rank_hash.clear();
    graph.fingerprint.clear();
  }
  QVERIFY(write_bytes(path.toStdString(), write_recipe(recipe)).has_value());
  apply();
  QTRY_VERIFY_WITH_TIMEOUT(question() != nullptr, kPatienceMs);
  QVERIFY2(question()->text().contains("made for another graph"), qPrintable(question()->text()));
  QVERIFY(question()->informativeText().contains("the other graph"));
  QTest::mouseClick(question()->button(QMessageBox::Cancel), Qt::LeftButton);
  QTRY_VERIFY(question() == nullptr);
  QVERIFY(settle());
  QCOMPARE(editing().place(), 0);

  apply();
  QTRY_VERIFY_WITH_TIMEOUT(question() != nullptr, kPatienceMs);
  for (QAbstractButton* button : question()->buttons())
    if (button->text().contains("Apply Anyway")) QTest::mouseClick(button, Qt::LeftButton);
  QTRY_VERIFY_WITH_TIMEOUT(hash() == moved, kPatienceMs);
}

// The recipe has one edit, of which one node is missing here.
void RecipesTest::a_recipe_applied_in_part_says_so() {
  QVERIFY(open_sample());
  const std::string known = edit_name(document().graph(), exposed_wait());
  Recipe recipe;
  recipe.edits.push_back(
      {.title = "Save",
       .changes = {SetPolicy{.policy = MemoryPolicy::must_save, .nodes = {known, "none_such"}}}});
  const QString path = folder_->filePath("part.recipe.json");
  QFile file(path);
  QVERIFY(file.open(QFile::WriteOnly));
  file.write(QByteArray::fromStdString(write_recipe(recipe)));
  file.close();
  test::answer_file_dialog(path);
  run_action("Apply Recipe");
  QMessageBox* box = nullptr;
  QTRY_VERIFY_WITH_TIMEOUT(
      (box = window_->findChild<QMessageBox*>()) != nullptr && box->isVisible(), kPatienceMs);
  QCOMPARE(box->text(), "part.recipe.json was partially applied; 1 change was skipped.");
  QCOMPARE(box->textFormat(), Qt::PlainText);  // a file's name can look like markup
  box->close();
  QVERIFY(wait_for(1));
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::RecipesTest, "recipes")
#include "recipes_test.moc"
