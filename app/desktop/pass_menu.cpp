#include "app/desktop/pass_menu.h"

#include <QTimer>
#include <map>

#include "passes/presets/presets.h"
#include "views/compare/compare_pane.h"
#include "views/session/pipeline/pipeline_session.h"
#include "views/session/text/node_text.h"
#include "views/session/tune/tune_session.h"
#include "views/widgets/controls.h"

namespace jointer::desktop {
namespace {

using namespace views;

constexpr int kMakingMs = 20;  // a pane is created in a later turn of the event loop

}  // namespace

PassMenu::PassMenu(const MenuContext& context, LocalPasses& passes, Workspaces& workspaces,
                   Recipes& recipes)
    : context_(context), passes_(passes), workspaces_(workspaces), recipes_(recipes) {
  questions_ = new CodeQuestions(passes_, &context_.window);
  connect(&passes_, &PassService::failed, this, [this](const QString& sentence) {
    show_warning(tr("Passes"), sentence, &context_.window);
  });
  QMenu* menu = context_.bar.addMenu(tr("&Passes"));
  const auto add = context_.adder(menu, this);
  add(tr("&Run Pipeline"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R)}, Needs::document,
      [this] { with_pipeline([](PipelineSession& s) { s.run(); }); });
  add(tr("Run &Next Step"), {QKeySequence(Qt::Key_F10)}, Needs::document,
      [this] { with_pipeline([](PipelineSession& s) { s.run_next(); }); });
  add(tr("&Stop Pipeline"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Period)}, Needs::passes,
      [this] { with_pipeline([](PipelineSession& s) { s.cancel(); }); });
  menu->addSeparator();
  add(tr("&Add Pass..."), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_A)}, Needs::document,
      [this] { with_pipeline_pane([](PipelinePane& pane) { pane.open_catalog(); }); });
  pass_menu_ = menu->addMenu(tr("Passes &by Stage"));
  QMenu* presets = menu->addMenu(tr("Pr&esets"));
  presets->setToolTipsVisible(true);
  for (const PipelinePreset& preset : pipeline_presets()) {
    const QString name = to_qstring(preset.name);
    QAction* action = context_.actions.add(
        presets, tr("Preset %1").arg(name), {}, Needs::document, this,
        [this, name] { with_pipeline([name](PipelineSession& s) { load_preset(s, name); }); });
    action->setToolTip(to_qstring(preset.summary));
    connect(presets, &QMenu::aboutToShow, action, [this, action, &preset] {
      if (Session* session = context_.documents.session())
        describe_preset(*action, preset, session->pipeline());
    });
  }
  menu->addSeparator();
  add(tr("&Tune..."), {}, Needs::document, [this] {
    context_.panes.bring_up(QStringLiteral("tune"));
    if (QWidget* pane = context_.panes.dock(QStringLiteral("tune"))->pane()) pane->setFocus();
  });
  menu->addSeparator();
  add(tr("&Load Pipeline..."), {}, Needs::document,
      [this] { with_pipeline_pane([](PipelinePane& pane) { pane.choose_file(); }); });
  add(tr("Sa&ve Pipeline As..."), {}, Needs::document,
      [this] { with_pipeline_pane([](PipelinePane& pane) { pane.save_file(); }); });
  menu->addSeparator();
  add(tr("Add Plu&gin..."), {}, Needs::nothing, [this] { questions_->choose_plugin(); });
  add(tr("Add P&ython Pass..."), {}, Needs::nothing, [this] { questions_->choose_python(); });
  connect(&passes_, &PassService::changed, this, &PassMenu::fill_pass_menu);
  connect(&context_.documents, &Documents::loaded, this, &PassMenu::follow);
  connect(&context_.panes, &PaneDocks::made, this, &PassMenu::connect_pane);
  fill_pass_menu();
}

// Groups passes by stage. Called whenever the registry changes.
void PassMenu::fill_pass_menu() {
  for (QAction* old : pass_menu_->findChildren<QAction*>()) context_.actions.exclude(old);
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
    const QString name = to_qstring(pass.info.name);
    // The menu, not the window, owns the action, so that both are deleted together.
    auto* action = new QAction(tr("Add Pass %1").arg(name), stage);
    action->setToolTip(to_qstring(pass.info.summary));
    action->setEnabled(context_.documents.document() != nullptr);
    connect(action, &QAction::triggered, this, [this, name] {
      with_pipeline_pane([name](PipelinePane& pane) { pane.add_pass(name); });
    });
    stage->addAction(action);
    context_.actions.include(action, Needs::document);
  }
}

// Shows the pane first, so that the user sees the result.
void PassMenu::with_pipeline(const std::function<void(PipelineSession&)>& action) {
  Session* session = context_.documents.session();
  if (session == nullptr) return;
  context_.panes.bring_up(QStringLiteral("pipeline"));
  action(session->pipeline());
}

void PassMenu::with_pipeline_pane(std::function<void(PipelinePane&)> action) {
  if (context_.documents.document() == nullptr) return;
  context_.panes.bring_up(QStringLiteral("pipeline"));
  const auto act = [this, action = std::move(action)] {
    if (auto* pane = context_.panes.pane<PipelinePane>(QStringLiteral("pipeline"))) action(*pane);
  };
  if (context_.panes.dock(QStringLiteral("pipeline"))->pane() != nullptr) return act();
  QTimer::singleShot(kMakingMs, this, act);
}

void PassMenu::load_pipeline_file(const QString& path) {
  with_pipeline([path](PipelineSession& session) {
    if (const auto loaded = load_pipeline(session, path); !loaded)
      session.say(to_qstring(loaded.error().message), true);
  });
}

void PassMenu::follow(const DocumentTab* tab) {
  const PipelineSession& session = tab->session()->pipeline();
  const Document* document = tab->document();
  connect(&session, &PipelineSession::message_changed, this, [this, &session, document] {
    if (session.message().isEmpty()) return;
    if (session.message_is_error()) return context_.status.warn_about(*document, session.message());
    context_.status.say(session.message());
  });
  connect(&session, &PipelineSession::asks, questions_, &CodeQuestions::ask);
  const auto open = [this, document](const OpenRequest& graph, const QString& recipe) {
    open_graph_of_step(*document, graph, recipe);
  };
  connect(&session, &PipelineSession::graph_made, this, open);
  connect(&tab->session()->tune(), &TuneSession::graph_made, this, open);
}

void PassMenu::connect_pane(QWidget* made) {
  auto* pane = qobject_cast<PipelinePane*>(made);
  if (pane == nullptr) return;
  connect(pane, &PipelinePane::plugin_wanted, questions_, &CodeQuestions::choose_plugin);
  connect(pane, &PipelinePane::python_wanted, questions_, &CodeQuestions::choose_python);
  connect(pane, &PipelinePane::load_wanted, questions_, &CodeQuestions::load);
  connect(&pane->step_page().report(), &StepReport::node_activated, this, [this](NodeId /*node*/) {
    context_.documents.with_timeline([](TimelineView& view) { view.range().show_selection(); });
  });
  connect(pane, &PipelinePane::compare_wanted, this, &PassMenu::show_states);
}

void PassMenu::show_states(const EditHistory& before, const EditHistory& after) {
  context_.panes.bring_up(QStringLiteral("compare"));
  QTimer::singleShot(kMakingMs, this, [this, before, after] {
    if (auto* compare = context_.panes.pane<ComparePane>(QStringLiteral("compare")))
      compare->show_states(before, after);
  });
}

// The recipe contains the edits of the steps after the one that made the graph. It is applied once
// the graph has loaded, even if the user shows another document in the meantime or has to retry
// loading. Reloading the tab later does not apply it again: the edits are in the journal.
void PassMenu::open_graph_of_step(const Document& source, const OpenRequest& graph,
                                  const QString& recipe) {
  DocumentTab* tab = workspaces_.open_made(graph, source.analysis().options);
  if (recipe.isEmpty()) return;
  connect(
      tab, &DocumentTab::ready, this,
      [this, tab, recipe] { recipes_.apply(recipe, *tab->document()); }, Qt::SingleShotConnection);
}

}  // namespace jointer::desktop
