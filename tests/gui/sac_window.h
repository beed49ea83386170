#pragma once

// The SAC pane in the real window, with helpers that act like a user.

#include <QApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMessageBox>
#include <QMouseEvent>
#include <QProcess>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <memory>
#include <vector>

#include "core/policy/export.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/paths.h"
#include "views/sac/policy_delegate.h"
#include "views/sac/sac_pane.h"
#include "views/session/edit/editing.h"
#include "views/session/sac/sac_session.h"
#include "views/timeline/timeline_view.h"

namespace jointer::test {

inline constexpr int kSearchMs = 600'000;
inline constexpr std::int64_t kMib = 1 << 20;
inline const char kLarge[] = "resources/samples/llama_8b_tp2_fsdp2.joint.json.zst";
inline const char kStep[] = "resources/samples/llama_debug_fsdp2.train_step.json.zst";
inline const char kPair[] = "resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst";

class SacWindow : public AppWindow {
 protected:
  void make_window() { make_window(service_); }
  // `service` must outlive the window.
  void make_window(views::BenchmarkService& service) {
    make_folder();
    AppWindow::make_window(service);
  }
  bool open(const char* file) { return open_path(source_path(file)); }
  bool open_path(const std::string& path) {
    if (!open_file(path)) return false;
    if (show_pane<views::SacPane>("sac") == nullptr) return false;
    connect(&session(), &views::SacSession::refused, this,
            [](const QString& why) { qInfo() << why; });
    connect(&session().pareto(), &views::ParetoSearch::failed, this,
            [](const QString& why) { qInfo() << why; });
    if (!QTest::qWaitFor([this] { return session().state() != nullptr; }, kPatienceMs))
      return false;
    return settle();
  }
  bool settle() {
    return QTest::qWaitFor([this] { return session().is_settled(); }, kPatienceMs);
  }

  [[nodiscard]] views::SacSession& session() const { return document().sac(); }
  [[nodiscard]] views::SacPane& pane() const {
    return *qobject_cast<views::SacPane*>(window_->dock("sac")->pane());
  }
  [[nodiscard]] views::ParetoPage& pareto() const { return child<views::ParetoPage>(pane()); }
  [[nodiscard]] QTabWidget& pages() const { return child<QTabWidget>(pane(), "pages"); }
  [[nodiscard]] QPushButton& button(const char* name) const {
    return child<QPushButton>(pane(), name);
  }
  [[nodiscard]] QLineEdit& filter() const { return child<QLineEdit>(table(), "filter"); }
  // Shows the trade-off and waits until its search ends. Returns false if it finds too little.
  bool search_trade_off() {
    pane().show_pareto();
    views::ParetoPage& page = pareto();
    press(child<QPushButton>(page, "start"));
    return QTest::qWaitFor([&] { return !page.search().is_running(); }, kSearchMs) &&
           page.plot().marks().size() > 3;
  }
  [[nodiscard]] views::TargetPage& targets() const { return child<views::TargetPage>(pane()); }
  // Chooses upstream's preset that recomputes everything.
  bool recompute_all() {
    const QList<QAction*> actions = bar().presets().actions();
    const auto full = std::ranges::find_if(actions, [](const QAction* action) {
      return action->text().contains(QStringLiteral("full"));
    });
    if (full == actions.end()) return false;
    (*full)->trigger();
    return QTest::qWaitFor([this] { return editing().entry_count() == 1; }, kPatienceMs) &&
           settle();
  }
  [[nodiscard]] views::SacBar& bar() const { return child<views::SacBar>(pane()); }
  [[nodiscard]] views::SacTable& table() const { return child<views::SacTable>(pane()); }
  [[nodiscard]] views::SacFigures& figures_row() const { return child<views::SacFigures>(pane()); }
  [[nodiscard]] views::SacModel& model() const { return table().model(); }
  [[nodiscard]] PlanFigures figures() const { return session().state()->figures; }
  // Waits for the numbers of the plan in the order that a search found for it.
  bool settle_order() {
    return QTest::qWaitFor(
        [this] { return session().is_settled() && session().ordered().is_settled(); }, kPatienceMs);
  }
  // Those numbers; without an order, the plan's own.
  [[nodiscard]] Figures ordered_figures() const {
    const views::PlanOrdered& ordered = session().ordered();
    return ordered.figures() ? ordered.figures()->figures : figures().figures;
  }
  [[nodiscard]] QCheckBox& orders() const { return child<QCheckBox>(pareto(), "orders"); }
  [[nodiscard]] PlanAction action_of(NodeId node) const {
    return session().state()->tensor_of(node)->action;
  }

  void group_by(views::SacGrouping grouping) {
    auto& box = child<QComboBox>(table(), "grouping");
    box.setCurrentIndex(box.findData(static_cast<int>(grouping)));
  }
  // Rows of changeable tensors with that policy, largest first.
  std::vector<int> rows_of(PlanAction action) {
    group_by(views::SacGrouping::tensor);
    std::vector<int> rows;
    for (const int row : model().shown(-1)) {
      const NodeId node = model().nodes(row).front();
      const views::SacTensor& tensor = *session().state()->tensor_of(node);
      if (tensor.action == action && tensor.chain > 0 &&
          document().graph().node(node).kind == NodeKind::call)
        rows.push_back(row);
    }
    std::ranges::stable_sort(rows, std::ranges::greater(), [this](int i) {
      return *model().number(i, views::SacModel::bytes_column);
    });
    return rows;
  }
  int largest(PlanAction action) {
    const std::vector<int> rows = rows_of(action);
    return rows.empty() ? -1 : rows.front();
  }
  // Clicks next to the switches.
  void choose_row(int row) { table().view().setCurrentIndex(model().index_of(row)); }
  [[nodiscard]] QAction* command(const QString& text) const {
    for (QAction* action : pane().findChildren<QAction*>())
      if (action->text() == text) return action;
    return nullptr;
  }
  // The area in the viewport where a click on a row's switch sets `keep`.
  [[nodiscard]] QRect switch_of(int row, PlanAction action) const {
    const QModelIndex index = model().index_of(row, views::SacModel::policy_column);
    return views::PolicyDelegate::place_of(table().view().visualRect(index), action);
  }
  void click_switch(int row, PlanAction action) {
    table().view().scrollTo(model().index_of(row));
    QTest::mouseClick(table().view().viewport(), Qt::LeftButton, {},
                      switch_of(row, action).center());
  }
  // Without a button: Qt's helper moves the screen's pointer, which stays within 800 x 800.
  void move_pointer(QPoint at) {
    QWidget* viewport = table().view().viewport();
    QMouseEvent move(QEvent::MouseMove, at, viewport->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    QApplication::sendEvent(viewport, &move);
  }
  // Copies the plan to the clipboard, even if the format cannot express it.
  bool copy_plan(PolicyFormat format) {
    QSignalSpy messages(&pane(), &views::SacPane::message);
    for (QAction* action : bar().exchange().actions())
      if (action->data().toInt() == static_cast<int>(format) && action->text().startsWith("Copy"))
        action->trigger();
    const auto is_asked = [this] { return shown_dialog() != nullptr; };
    if (!QTest::qWaitFor([&] { return messages.count() > 0 || is_asked(); }, kPatienceMs))
      return false;
    if (is_asked())
      for (QAbstractButton* each : shown_dialog()->buttons())
        if (each->text().contains("Anyway")) QTest::mouseClick(each, Qt::LeftButton);
    return QTest::qWaitFor([&] { return messages.count() > 0; }, kPatienceMs);
  }
  // The dialog that says that a format cannot express the plan, if it is shown.
  [[nodiscard]] QMessageBox* shown_dialog() const {
    auto* dialog = window_->findChild<QMessageBox*>("cannot_express");
    return dialog != nullptr && dialog->isVisible() ? dialog : nullptr;
  }
  [[nodiscard]] static QString source_of(const char* file) {
    return QString::fromStdString(source_path(file));
  }
  // The device of the estimates; the command line may choose another one.
  [[nodiscard]] QString device() const {
    return QString::fromStdString(document().analysis().options.estimator.device);
  }
  // The answer of the command line with `--json`; empty if it fails or takes too long.
  static QJsonObject run_jointer(const QStringList& arguments) {
    QProcess program;
    program.start(QCoreApplication::applicationDirPath() + QStringLiteral("/jointer"),
                  arguments + QStringList{QStringLiteral("--json")});
    if (!program.waitForFinished(kSearchMs)) return {};
    return QJsonDocument::fromJson(program.readAllStandardOutput()).object();
  }
  // The texts of a widget's labels.
  [[nodiscard]] static QStringList labels_of(const QWidget& widget) {
    QStringList texts;
    for (const auto* label : widget.findChildren<QLabel*>()) texts << label->text();
    return texts;
  }
};

}  // namespace jointer::test
