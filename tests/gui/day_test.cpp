// The main journey in the real window with mouse and keyboard: open a capture, apply a preset, tick
// two rows, move a collective, run the graph on real ranks together with the original, and export
// the recipe.
//
// JOINTER_DAY_CAPTURE names the capture. JOINTER_DAY_RECIPE names the recipe to write, which
// tests/day/test_day.py uses for training.

#include <QFileInfo>
#include <QTest>
#include <algorithm>

#include "app/desktop/local_benchmarks.h"
#include "core/base/bytes.h"
#include "core/edit/replay.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/gui/timeline_hand.h"

namespace jointer {
namespace {

using namespace views;

constexpr int kRunMs = 100000;  // two ranks that load LibTorch on a busy machine

std::string capture_path() {
  const QString path = qEnvironmentVariable("JOINTER_DAY_CAPTURE");
  return path.isEmpty() ? test::source_path("resources/samples/llama_debug_fsdp2.joint.json.zst")
                        : path.toStdString();
}

}  // namespace

class DayTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void from_a_capture_to_a_recipe();

 private:
  // Each is one history entry.
  void apply_preset();
  void tick_two_rows();
  void move_a_collective();
  void run_and_compare_with_the_opened_graph();
  void export_recipe(const QString& path);
};

void DayTest::from_a_capture_to_a_recipe() {
  desktop::LocalBenchmarks ranks;
  make_window(ranks);
  QVERIFY(open_path(capture_path()));
  const std::string opened = graph_hash(document().graph());
  const std::int64_t promised = figures().saved_bytes;
  apply_preset();
  tick_two_rows();
  move_a_collective();
  if (QTest::currentTestFailed()) return close_window();
  QCOMPARE(editing().entry_count(), 4);
  QVERIFY(validate(document().graph()));
  QVERIFY(graph_hash(document().graph()) != opened);
  QVERIFY(figures().saved_bytes != promised);

  const QString given = qEnvironmentVariable("JOINTER_DAY_RECIPE");
  const QString path = given.isEmpty() ? folder_->filePath("day.recipe.json") : given;
  export_recipe(path);
  const auto bytes = read_bytes(path.toStdString());
  QVERIFY2(bytes.has_value(), bytes ? "" : bytes.error().message.c_str());
  const auto recipe = read_recipe(bytes->view());
  QVERIFY(recipe.has_value());
  QCOMPARE(recipe->edits.size(), 4U);
  Graph again = document().baseline()->graph;
  const auto replayed = replay(again, *recipe);
  QVERIFY2(replayed.has_value(), replayed ? "" : replayed.error().message.c_str());
  QCOMPARE(graph_hash(again), graph_hash(document().graph()));

  const QString why = ranks.why_not(Backend::interpret);
  if (why.isEmpty()) run_and_compare_with_the_opened_graph();
  close_window();
  if (!why.isEmpty()) QSKIP(qPrintable("the graph was not run: " + why));
}

void DayTest::apply_preset() {
  const QList<QAction*> presets = bar().presets().actions();
  const auto apply_sac = std::ranges::find_if(
      presets, [](const QAction* action) { return action->text() == QStringLiteral("apply_sac"); });
  QVERIFY(apply_sac != presets.end());
  (*apply_sac)->trigger();
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
}

void DayTest::tick_two_rows() {
  for (const PlanAction action : {PlanAction::recompute, PlanAction::save}) {
    const int row = largest(action == PlanAction::save ? PlanAction::recompute : PlanAction::save);
    QVERIFY(row >= 0);
    const NodeId node = model().nodes(row).front();
    click_switch(row, action);
    QVERIFY(settle());
    QCOMPARE(action_of(node), action);
  }
  QCOMPARE(editing().entry_count(), 3);
}

void DayTest::move_a_collective() {
  const NodeId wait = test::exposed_wait(document());
  QVERIFY(wait);
  const std::size_t from = document().graph().position(wait);
  test::TimelineHand hand(document(), timeline());
  const auto at = hand.drag(wait, [](const MovePreview& p) { return p.last(); });
  QVERIFY(at.has_value());
  QTest::mouseRelease(timeline().viewport(), Qt::LeftButton, {}, *at);
  QVERIFY(QTest::qWaitFor([this] { return editing().entry_count() == 4 && editing().is_settled(); },
                          test::kPatienceMs));
  QVERIFY(settle());
  QVERIFY(document().graph().position(wait) > from);
}

void DayTest::export_recipe(const QString& path) {
  test::answer_file_dialog(path);
  test::run_action(*window_, "Export Recipe");
  QVERIFY2(QFileInfo::exists(path), qPrintable(path));
}

void DayTest::run_and_compare_with_the_opened_graph() {
  Benchmarks& benchmarks = window_->current_tab()->session()->benchmarks();
  BenchmarkSettings settings = benchmarks.settings();
  settings.request.on = RunOn::cpu;
  settings.request.iterations = 1;
  settings.request.warmup = 0;
  settings.request.profile = false;
  settings.verify = true;
  benchmarks.set_settings(settings);
  QCOMPARE(benchmarks.world_size(), 2);
  // The dialog had the focus.
  window_->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  QTest::keyClick(window_.get(), Qt::Key_R, Qt::ControlModifier);
  QVERIFY2(benchmarks.is_running(), qPrintable(benchmarks.message()));
  QTRY_VERIFY_WITH_TIMEOUT(!benchmarks.is_running(), kRunMs);
  QCOMPARE(benchmarks.rows().size(), 1U);
  const BenchmarkResult& result = *benchmarks.rows().front().result;
  QVERIFY2(result.succeeded(), result.failure().c_str());
  QCOMPARE(result.ranks.size(), 2U);
  QCOMPARE(result.graph_hash, graph_hash(document().graph()));
  QVERIFY(result.verified().has_value());
  QVERIFY(result.verified()->bitwise);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::DayTest, "day")
#include "day_test.moc"
