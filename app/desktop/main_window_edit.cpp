// MainWindow's menus that change a graph, and the commands behind their entries.

#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QMessageBox>
#include <QStatusBar>
#include <QTimer>
#include <array>

#include "app/desktop/main_window.h"
#include "app/desktop/main_window_action.h"
#include "core/base/bytes.h"
#include "core/edit/merge.h"
#include "core/edit/replace.h"
#include "core/edit/replay.h"
#include "views/inspector/inspector_pane.h"
#include "views/sac/sac_pane.h"
#include "views/session/edit/policy_edit.h"
#include "views/session/text/node_text.h"
#include "views/session/work/task.h"

namespace jointer::desktop {
namespace {

using namespace views;

const QString kRecipeSuffix = QStringLiteral(".recipe.json");

struct PolicyEntry {
  const char* verb;
  MemoryPolicy policy;
};
constexpr std::array kPolicies{
    PolicyEntry{QT_TRANSLATE_NOOP("MainWindow", "Save"), MemoryPolicy::must_save},
    PolicyEntry{QT_TRANSLATE_NOOP("MainWindow", "Recompute"), MemoryPolicy::must_recompute},
    PolicyEntry{QT_TRANSLATE_NOOP("MainWindow", "Offload"), MemoryPolicy::must_cpu_offload},
    PolicyEntry{QT_TRANSLATE_NOOP("MainWindow", "Leave to the Partitioner:"), MemoryPolicy::none},
};
struct ScopeEntry {
  const char* whom;
  PolicyScope scope;
};
constexpr std::array kScopes{
    ScopeEntry{QT_TRANSLATE_NOOP("MainWindow", "Selected Nodes"), PolicyScope::nodes},
    ScopeEntry{QT_TRANSLATE_NOOP("MainWindow", "Operator Everywhere"), PolicyScope::op},
    ScopeEntry{QT_TRANSLATE_NOOP("MainWindow", "Operator in Similar Modules"),
               PolicyScope::pattern},
};

// The selected nodes that can have a policy, the current node first.
std::vector<NodeId> calls_selected(const Document& document) {
  std::vector<NodeId> calls;
  const auto add = [&](NodeId node) {
    if (document.has(node) && document.graph().node(node).kind == NodeKind::call)
      calls.push_back(node);
  };
  const NodeId current = document.selection().current();
  add(current);
  for (const NodeId node : document.selection().nodes())
    if (node != current) add(node);
  return calls;
}

}  // namespace

// --- Edit ---

void MainWindow::add_edit_actions(QMenu* menu) {
  const auto planner = [this](auto action) { return [this, action] { with_planner(action); }; };
  add_action(menu, tr("&Undo"), {QKeySequence::Undo}, Needs::undo, [this] {
    if (Document* document = current_document()) document->editing().undo();
  });
  add_action(menu, tr("&Redo"),
             {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)},
             Needs::redo, [this] {
               if (Document* document = current_document()) document->editing().redo();
             });
  menu->addSeparator();
  const auto add = [&](const QString& text, const QKeySequence& key, auto slot) {
    node_actions_ << add_action(menu, text, {key}, Needs::document, slot);
  };
  add(tr("&Hold and Move"), QKeySequence(Qt::Key_V), &MainWindow::hold_selection);
  add(tr("Move to &Best Place"), QKeySequence(Qt::Key_B),
      planner([](MovePlanner& p) { p.to_best(); }));
  add(tr("Move One Place &Earlier"), QKeySequence(Qt::ALT | Qt::Key_Left),
      planner([](MovePlanner& p) { p.nudge(-1); }));
  add(tr("Move One Place &Later"), QKeySequence(Qt::ALT | Qt::Key_Right),
      planner([](MovePlanner& p) { p.nudge(1); }));
  add(tr("Move to Previous Change"), QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_Left),
      planner([](MovePlanner& p) { p.to_next_change(-1); }));
  add(tr("Move to Next Change"), QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_Right),
      planner([](MovePlanner& p) { p.to_next_change(1); }));
  add(tr("Move as Early as Possible"), QKeySequence(Qt::ALT | Qt::Key_Home),
      planner([](MovePlanner& p) { p.to_end(-1); }));
  add(tr("Move as Late as Possible"), QKeySequence(Qt::ALT | Qt::Key_End),
      planner([](MovePlanner& p) { p.to_end(1); }));
  add(tr("Move Chain to Best Place"), QKeySequence(Qt::SHIFT | Qt::Key_B),
      planner([](MovePlanner& p) { p.to_best(true); }));
  add(tr("Move Chain as Early as Possible"), QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_Home),
      planner([](MovePlanner& p) { p.to_end(-1, true); }));
  add(tr("Move Chain as Late as Possible"), QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_End),
      planner([](MovePlanner& p) { p.to_end(1, true); }));
  menu->addSeparator();
  add(tr("&Merge Collectives"), {}, [this] { change_collectives(true); });
  add(tr("&Split Collective"), {}, [this] { change_collectives(false); });
  add(tr("&Replace Operator..."), {}, &MainWindow::choose_operator);
  QMenu* policies = make_policy_menu();
  menu->addMenu(policies);
  node_actions_ << policies->menuAction();
  menu->addSeparator();
  add(tr("&Why Is This Here?"), QKeySequence(Qt::Key_Y), &MainWindow::ask_why);
  why_ = node_actions_.last();
}

// Shows the edits' reasons for the selected node's position.
void MainWindow::ask_why() {
  const Document* document = current_document();
  if (document == nullptr) return;
  if (!document->has(document->selection().current())) return say(tr("Select a node first."));
  PaneDock* pane = dock(QStringLiteral("inspector"));
  pane->show();
  pane->raise();
  const auto ask = [pane] {
    auto* inspector = qobject_cast<InspectorPane*>(pane->pane());
    if (inspector != nullptr) inspector->ask_why();
    return inspector != nullptr;
  };
  // A pane is created when it is first shown.
  if (!ask()) QTimer::singleShot(0, pane, [ask] { ask(); });
}

QMenu* MainWindow::make_policy_menu() {
  auto* menu = new QMenu(tr("Memory &Policy"), this);
  for (const ScopeEntry& scope : kScopes) {
    for (const PolicyEntry& policy : kPolicies)
      add_action(menu,
                 QStringLiteral("%1 %2").arg(QCoreApplication::translate("MainWindow", policy.verb),
                                             QCoreApplication::translate("MainWindow", scope.whom)),
                 {}, Needs::document,
                 [this, &scope, &policy] { set_policy(scope.scope, policy.policy); });
    menu->addSeparator();
  }
  return menu;
}

void MainWindow::with_planner(const std::function<void(MovePlanner&)>& action) {
  if (Document* document = current_document()) action(document->editing().planner());
}

// Works wherever the node was selected: the timeline shows its legal range and handles the keys.
void MainWindow::hold_selection() {
  Document* document = current_document();
  if (document == nullptr) return;
  const NodeId node = document->selection().current();
  if (!document->has(node)) return say(tr("Select the node to move first."));
  with_timeline([](TimelineView& view) { view.setFocus(); });
  document->editing().planner().take(node);
}

void MainWindow::set_policy(PolicyScope scope, MemoryPolicy policy) {
  Document* document = current_document();
  if (document == nullptr) return;
  const std::vector<NodeId> nodes = calls_selected(*document);
  if (nodes.empty()) return say(tr("Select the output of an operator first."));
  document->editing().apply(
      policy_edit(document->graph(), document->analysis().modules, nodes, scope, policy));
}

void MainWindow::change_collectives(bool merge) {
  Document* document = current_document();
  if (document == nullptr) return;
  // A wait stands for its collective.
  std::vector<NodeId> starts;
  const Simulation& simulation = document->analysis().simulation;
  for (const NodeId node : document->selection().nodes()) {
    const std::int32_t index = document->has(node) ? simulation.collective_of(node) : -1;
    if (index < 0) continue;
    const NodeId start = simulation.collectives()[static_cast<std::size_t>(index)].start;
    if (std::find(starts.begin(), starts.end(), start) == starts.end()) starts.push_back(start);
  }
  if (starts.empty())
    return say(merge ? tr("Select the collectives to merge first.")
                     : tr("Select the collective to split first."));
  const Result<Edit> edit = merge ? merge_collectives(document->graph(), starts)
                                  : split_collective(document->graph(), starts.front());
  if (!edit) return say(QString::fromStdString(edit.error().message));
  document->editing().apply(*edit);
}

// Offers the operators that take the call's arguments and return the same shape and dtype.
void MainWindow::choose_operator() {
  Document* document = current_document();
  if (document == nullptr) return;
  const NodeId node = document->selection().current();
  if (!document->has(node)) return say(tr("Select the call to change first."));
  const Graph& graph = document->graph();
  QStringList operators;
  for (const std::string& name : replacing_operators(graph, node))
    operators << QString::fromStdString(name);
  const QString call = to_qstring(graph.name(node)),
                target = to_qstring(graph.target(graph.node(node)));
  if (operators.isEmpty())
    return say(tr("No other operator is known to return the same as %1 (%2).").arg(call, target));
  auto* dialog = new QInputDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Replace Operator"));
  dialog->setLabelText(tr("%1 calls %2. Replace it with:").arg(call, target));
  dialog->setComboBoxItems(operators);
  dialog->setComboBoxEditable(true);
  // The graph may have changed when the user chooses.
  connect(dialog, &QInputDialog::textValueSelected, document,
          [this, document, name = edit_name(graph, node)](const QString& chosen) {
            const NodeId now = document->graph().find(name);
            if (!now)
              return say(tr("There is no node %1 any more.").arg(QString::fromStdString(name)));
            const Result<Edit> edit =
                replace_call(document->graph(), now, chosen.trimmed().toStdString());
            if (!edit) return say(QString::fromStdString(edit.error().message));
            document->editing().apply(*edit);
          });
  dialog->open();
}

void MainWindow::listen_to_edits(DocumentTab* tab) {
  Editing& editing = tab->document()->editing();
  tab->timeline()->addActions(node_actions_);
  tab->timeline()->setContextMenuPolicy(Qt::ActionsContextMenu);
  connect(tab->timeline(), &TimelineView::plan_peak_clicked, this, [this] {
    PaneDock* sac = dock(QStringLiteral("sac"));
    sac->show();
    sac->raise();
    if (auto* pane = qobject_cast<SacPane*>(sac->pane())) pane->show_peak();
  });
  connect(&editing, &Editing::changed, this, [this, tab] {
    refresh_tab_texts(tab);
    refresh_actions();
  });
  connect(&editing, &Editing::applied, this, &MainWindow::say);
  connect(&editing, &Editing::refused, this, &MainWindow::say);
  connect(&editing.planner(), &MovePlanner::refused, this, &MainWindow::say);
  connect(&editing.planner(), &MovePlanner::progressed, this, [this](int done, int count) {
    if (done < count)
      say(tr("Finding places: %1 of %2. Press Esc to cancel.").arg(done).arg(count));
  });
}

// --- Recipes ---

void MainWindow::add_recipe_actions(QMenu* menu) {
  add_action(menu, tr("Export Re&cipe..."), {}, Needs::edits, &MainWindow::export_recipe);
  add_action(menu, tr("&Apply Recipe..."), {}, Needs::document, &MainWindow::choose_recipe);
}

void MainWindow::export_recipe() {
  const Document* document = current_document();
  if (document == nullptr) return;
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Export recipe"), QDir(last_folder_).filePath(document->title() + kRecipeSuffix),
      QStringLiteral("*%1").arg(kRecipeSuffix));
  if (path.isEmpty()) return;
  last_folder_ = QFileInfo(path).absolutePath();
  const auto written = document->editing().write_recipe(path);
  say(written ? tr("Wrote %1").arg(QDir::toNativeSeparators(path))
              : QString::fromStdString(written.error().message));
}

void MainWindow::choose_recipe() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Apply recipe"), last_folder_,
                                                    tr("Recipes (*.json);;All files (*)"));
  if (path.isEmpty()) return;
  last_folder_ = QFileInfo(path).absolutePath();
  apply_recipe(path);
}

void MainWindow::apply_recipe(const QString& path) {
  Document* document = current_document();
  if (document == nullptr) return;
  const auto replay_it = [path, snapshot = document->shared_snapshot()]() -> Result<Replay> {
    JOINTER_TRY(const PaddedBytes bytes, read_bytes(path.toStdString()));
    JOINTER_TRY(const Recipe recipe, read_recipe(bytes.view()));
    Graph graph = snapshot->graph;
    return replay(graph, recipe, true);
  };
  run_in_background(document, replay_it, [this, document, path](const Result<Replay>& done) {
    const QString name = QFileInfo(path).fileName();
    QString text, details;
    if (!done) {
      text = tr("%1 was not applied: %2").arg(name, QString::fromStdString(done.error().message));
    } else {
      document->editing().apply_all(done->done);
      text = tr("%1: applied %2 of %3 edits.")
                 .arg(name)
                 .arg(done->done.size())
                 .arg(done->done.size() + done->skipped.size());
      if (!done->other_rank.empty())
        text += tr(" Note: %1.").arg(QString::fromStdString(done->other_rank));
      for (const SkippedEdit& skipped : done->skipped)
        details +=
            tr("%1: %2\n")
                .arg(QString::fromStdString(skipped.title), QString::fromStdString(skipped.why));
    }
    say(text);
    if (done && details.isEmpty()) return;
    auto* box =
        new QMessageBox(QMessageBox::Warning, tr("Apply recipe"), text, QMessageBox::Ok, this);
    box->setInformativeText(details.section(u'\n', 0, 4));
    box->setDetailedText(details);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
  });
}

}  // namespace jointer::desktop
