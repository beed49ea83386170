// Passes in MainWindow: the menu, the current document's pipeline, and third-party code.

#include <QFileInfo>
#include <QMessageBox>
#include <QTimer>

#include "app/desktop/main_window.h"
#include "app/desktop/main_window_action.h"
#include "passes/presets/presets.h"
#include "views/compare/compare_pane.h"
#include "views/session/text/node_text.h"

namespace jointer::desktop {
namespace {

using namespace views;

constexpr int kMakingMs = 20;  // a pane is created in an event loop turn after it is shown

}  // namespace

void MainWindow::make_passes_menu() {
  questions_ = new CodeQuestions(passes_, this);
  connect(&passes_, &PassService::failed, this, [this](const QString& sentence) {
    auto* box =
        new QMessageBox(QMessageBox::Warning, tr("Passes"), sentence, QMessageBox::Ok, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
  });
  QMenu* menu = menus_->addMenu(tr("&Passes"));
  add_action(menu, tr("&Run Pipeline"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R)},
             Needs::document, [this] { with_pipeline([](PipelineSession& s) { s.run(); }); });
  add_action(menu, tr("Run &Next Step"), {QKeySequence(Qt::Key_F10)}, Needs::document,
             [this] { with_pipeline([](PipelineSession& s) { s.run_next(); }); });
  add_action(menu, tr("&Stop Pipeline"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Period)},
             Needs::passes, [this] { with_pipeline([](PipelineSession& s) { s.cancel(); }); });
  menu->addSeparator();
  add_action(menu, tr("&Add Pass..."), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_A)},
             Needs::document,
             [this] { with_pipeline_pane([](PipelinePane& pane) { pane.open_catalog(); }); });
  pass_menu_ = menu->addMenu(tr("Passes by &Stage"));
  QMenu* presets = menu->addMenu(tr("Pr&esets"));
  presets->setToolTipsVisible(true);
  for (const PipelinePreset& preset : pipeline_presets()) {
    const QString name = QString::fromStdString(preset.name);
    add_action(presets, tr("Preset %1").arg(name), {}, Needs::document, [this, name] {
      with_pipeline([name](PipelineSession& s) { take_preset(s, name); });
    })->setToolTip(QString::fromStdString(preset.summary));
  }
  menu->addSeparator();
  add_action(menu, tr("&Tune..."), {}, Needs::document, [this] {
    show_pane(QStringLiteral("tune"));
    if (QWidget* pane = dock(QStringLiteral("tune"))->pane()) pane->setFocus();
  });
  menu->addSeparator();
  add_action(menu, tr("&Load Pipeline..."), {}, Needs::document,
             [this] { with_pipeline_pane([](PipelinePane& pane) { pane.choose_file(); }); });
  add_action(menu, tr("Sa&ve Pipeline As..."), {}, Needs::document,
             [this] { with_pipeline_pane([](PipelinePane& pane) { pane.save_file(); }); });
  menu->addSeparator();
  add_action(menu, tr("Add Plu&gin..."), {}, Needs::nothing,
             [this] { questions_->choose_plugin(); });
  add_action(menu, tr("Add P&ython Pass..."), {}, Needs::nothing,
             [this] { questions_->choose_python(); });
  connect(&passes_, &PassService::changed, this, &MainWindow::fill_pass_menu);
  fill_pass_menu();
}

// Grouped by stage, and rebuilt whenever plugins change.
void MainWindow::fill_pass_menu() {
  for (QAction* old : pass_menu_->findChildren<QAction*>()) std::erase(document_actions_, old);
  pass_menu_->clear();
  qDeleteAll(pass_menu_->findChildren<QMenu*>(Qt::FindDirectChildrenOnly));
  std::map<PassStage, QMenu*> stages;
  const auto registry = passes_.registry();
  for (const Pass& pass : registry->passes()) {
    QMenu*& stage = stages[pass.info.stage];
    if (stage == nullptr) {
      stage = pass_menu_->addMenu(to_qstring(to_string(pass.info.stage)));
      stage->setToolTipsVisible(true);
    }
    const QString name = QString::fromStdString(pass.info.name);
    // Owned by the menu, not the window, so that it is deleted with the menu.
    auto* action = new QAction(tr("Add Pass %1").arg(name), stage);
    action->setToolTip(QString::fromStdString(pass.info.summary));
    action->setEnabled(current_document() != nullptr);
    connect(action, &QAction::triggered, this, [this, name] { add_pass(name); });
    stage->addAction(action);
    document_actions_.push_back(action);
  }
}

void MainWindow::show_pane(const QString& name) {
  PaneDock* pane = dock(name);
  pane->show();
  pane->raise();
}

// The pane is shown first, so that the user sees the result.
void MainWindow::with_pipeline(const std::function<void(PipelineSession&)>& action) {
  Session* session = current_session();
  if (session == nullptr) return;
  show_pane(QStringLiteral("pipeline"));
  action(session->pipeline());
}

void MainWindow::with_pipeline_pane(std::function<void(PipelinePane&)> action) {
  if (current_document() == nullptr) return;
  show_pane(QStringLiteral("pipeline"));
  const auto act = [this, action = std::move(action)] {
    if (auto* pane = qobject_cast<PipelinePane*>(dock(QStringLiteral("pipeline"))->pane()))
      action(*pane);
  };
  if (dock(QStringLiteral("pipeline"))->pane() != nullptr) return act();
  QTimer::singleShot(kMakingMs, this, act);
}

void MainWindow::add_pass(const QString& name) {
  with_pipeline_pane([name](PipelinePane& pane) { pane.add_pass(name); });
}

void MainWindow::load_pipeline_file(const QString& path) {
  with_pipeline([path](PipelineSession& session) {
    if (const auto loaded = load_pipeline(session, path); !loaded)
      session.say(QString::fromStdString(loaded.error().message), true);
  });
}

void MainWindow::connect_pipeline(PipelineSession& session) {
  connect(&session, &PipelineSession::changed, this, &MainWindow::refresh_actions);
  connect(&session, &PipelineSession::message_changed, this, [this, &session] {
    if (!session.message().isEmpty()) say(session.message());
  });
  connect(&session, &PipelineSession::asks, questions_, &CodeQuestions::ask);
  connect(&session, &PipelineSession::graph_made, this, &MainWindow::open_graph_of_step);
}

void MainWindow::connect_pipeline_pane(PipelinePane& pane) {
  connect(&pane, &PipelinePane::plugin_wanted, questions_, &CodeQuestions::choose_plugin);
  connect(&pane, &PipelinePane::python_wanted, questions_, &CodeQuestions::choose_python);
  connect(&pane, &PipelinePane::load_wanted, questions_, &CodeQuestions::load);
  connect(&pane.step_page().report(), &StepReport::node_activated, this, [this](NodeId /*node*/) {
    with_timeline([](TimelineView& view) { view.show_selection(); });
  });
  connect(
      &pane, &PipelinePane::compare_wanted, this,
      [this](const EditHistory& before, const EditHistory& after) {
        show_pane(QStringLiteral("compare"));
        QTimer::singleShot(kMakingMs, this, [this, before, after] {
          if (auto* compare = qobject_cast<ComparePane*>(dock(QStringLiteral("compare"))->pane()))
            compare->show_states(before, after);
        });
      });
}

// The remaining steps are applied once the graph is loaded.
void MainWindow::open_graph_of_step(const QString& capture, const QString& recipe) {
  if (!recipe.isEmpty()) {
    auto* waiting = new QObject(this);
    connect(this, &MainWindow::opened, waiting, [this, waiting, capture, recipe](DocumentTab* tab) {
      if (tab->request().path != capture.toStdString() || tab != current_tab()) return;
      waiting->deleteLater();
      apply_recipe(recipe);
    });
  }
  open({.path = capture.toStdString()});
}

}  // namespace jointer::desktop
