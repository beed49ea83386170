#include "app/desktop/edit_menu.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QInputDialog>
#include <QTimer>
#include <algorithm>
#include <array>

#include "core/edit/merge.h"
#include "core/edit/replace.h"
#include "core/report/export.h"
#include "views/find/find_bar.h"
#include "views/graph/graph_pane.h"
#include "views/inspector/inspector_pane.h"
#include "views/session/edit/editing.h"
#include "views/session/sac/sac_state.h"
#include "views/session/text/node_text.h"
#include "views/tables/table_pane.h"
#include "views/widgets/button_text.h"

namespace jointer::desktop {
namespace {

using namespace views;

const QString kFindHistory = QStringLiteral("find/history");
// The panes that show what keys edit, besides the timeline: the nodes that are moved, and those
// whose edit is repeated.
const QStringList kMovePanes{QStringLiteral("graph"), QStringLiteral("exposed")};
const QStringList kRepeatPanes{QStringLiteral("graph"), QStringLiteral("exposed"),
                               QStringLiteral("sac")};

struct PolicyEntry {
  const char* verb;
  MemoryPolicy policy;
};
const char* const kUntag = QT_TRANSLATE_NOOP("MainWindow", "Remove Tags from");
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

QString policy_title(const char* verb, const ScopeEntry& scope) {
  return QStringLiteral("%1 %2").arg(QCoreApplication::translate("MainWindow", verb),
                                     QCoreApplication::translate("MainWindow", scope.whom));
}

// The selected nodes that call an operator. The current node, if it is one of them, comes first.
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

EditMenu::EditMenu(const MenuContext& context, QSettings& settings)
    : context_(context), keys_(context), settings_(settings) {
  QMenu* menu = context_.bar.addMenu(tr("&Edit"));
  add_edit_actions(menu);
  menu->addSeparator();
  const auto add = context_.adder(menu, this);
  add(tr("Copy Repor&t as Markdown"), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C)},
      Needs::document, &EditMenu::copy_report);
  menu->addSeparator();
  add(tr("&Find..."), {QKeySequence::Find, QKeySequence(Qt::Key_Slash)}, Needs::document,
      &EditMenu::show_find_bar);
  const auto walk = [this](void (FindBar::*step)()) {
    if (FindBar* bar = context_.documents.tab() == nullptr
                           ? nullptr
                           : context_.documents.tab()->findChild<FindBar*>())
      (bar->*step)();
  };
  add(tr("Find &Next"), {QKeySequence(Qt::Key_F3)}, Needs::document,
      [walk] { walk(&FindBar::next); });
  add(tr("Find Pre&vious"), {QKeySequence(Qt::SHIFT | Qt::Key_F3)}, Needs::document,
      [walk] { walk(&FindBar::previous); });
  add(tr("&Clear Selection"), {QKeySequence(Qt::Key_Escape)}, Needs::document, &EditMenu::escape);
  connect(&context_.documents, &Documents::loaded, this, &EditMenu::follow);
  connect(&context_.panes, &PaneDocks::made, this, &EditMenu::connect_pane);
}

void EditMenu::add_edit_actions(QMenu* menu) {
  const auto planner = [this](auto action) { return [this, action] { with_planner(action); }; };
  const auto with_keys = context_.adder(menu, this);
  undo_ = with_keys(tr("&Undo"), {QKeySequence::Undo}, Needs::nothing, [this] {
    if (Document* document = context_.documents.document()) document->editing().undo();
  });
  redo_ = with_keys(
      tr("&Redo"),
      {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)},
      Needs::nothing, [this] {
        if (Document* document = context_.documents.document()) document->editing().redo();
      });
  menu->addSeparator();
  const auto add = [&](const QString& text, const QKeySequence& key, auto slot) {
    node_actions_ << with_keys(text, {key}, Needs::document, slot);
  };
  add(tr("Pic&k Up and Move"), QKeySequence(Qt::Key_V), &EditMenu::hold_selection);
  add(tr("Move to &Best Position"), QKeySequence(Qt::Key_B),
      planner([](MovePlanner& p) { p.to_best(); }));
  add(tr("Move One Position &Earlier"), QKeySequence(Qt::ALT | Qt::Key_Left),
      planner([](MovePlanner& p) { p.nudge(-1); }));
  add(tr("Move One Position &Later"), QKeySequence(Qt::ALT | Qt::Key_Right),
      planner([](MovePlanner& p) { p.nudge(1); }));
  add(tr("Move Earlier Until Estimates Change"), QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_Left),
      planner([](MovePlanner& p) { p.to_next_change(-1); }));
  add(tr("Move Later Until Estimates Change"), QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_Right),
      planner([](MovePlanner& p) { p.to_next_change(1); }));
  add(tr("Move as Early as Possible"), QKeySequence(Qt::ALT | Qt::Key_Home),
      planner([](MovePlanner& p) { p.to_end(-1); }));
  add(tr("Move as Late as Possible"), QKeySequence(Qt::ALT | Qt::Key_End),
      planner([](MovePlanner& p) { p.to_end(1); }));
  add(tr("Move to Best Position (Toggle Chain)"), QKeySequence(Qt::SHIFT | Qt::Key_B),
      planner([](MovePlanner& p) { p.to_best(true); }));
  add(tr("Move as Early as Possible (Toggle Chain)"),
      QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_Home),
      planner([](MovePlanner& p) { p.to_end(-1, true); }));
  add(tr("Move as Late as Possible (Toggle Chain)"),
      QKeySequence(Qt::ALT | Qt::SHIFT | Qt::Key_End),
      planner([](MovePlanner& p) { p.to_end(1, true); }));
  for (QAction* action : node_actions_) keys_.limit(*action, kMovePanes);
  add(tr("Repeat Edit in All &Identical Layers"), QKeySequence(Qt::Key_L),
      &EditMenu::repeat_in_layers);
  keys_.limit(*node_actions_.last(), kRepeatPanes);
  menu->addSeparator();
  add(tr("&Merge Collectives"), {}, [this] { change_collectives(true); });
  add(tr("&Split Collective"), {}, [this] { change_collectives(false); });
  add(tr("Replace &Operator..."), {}, &EditMenu::choose_operator);
  QMenu* policies = make_policy_menu();
  menu->addMenu(policies);
  node_actions_ << policies->menuAction();
  menu->addSeparator();
  add(tr("&Why Is This Here?"), QKeySequence(Qt::Key_Y), &EditMenu::ask_why);
  why_ = node_actions_.last();
}

QMenu* EditMenu::make_policy_menu() {
  auto* menu = new QMenu(tr("Memory &Policy"), &context_.window);
  for (const ScopeEntry& scope : kScopes) {
    for (const PolicyEntry& policy : kPolicies) {
      QAction* action =
          context_.actions.add(menu, policy_title(policy.verb, scope), {}, Needs::document, this,
                               [this, &scope, &policy] { set_policy(scope.scope, policy.policy); });
      if (policy.policy == MemoryPolicy::none) untag_.push_back(action);
    }
    menu->addSeparator();
  }
  return menu;
}

void EditMenu::with_planner(const std::function<void(MovePlanner&)>& action) {
  if (Document* document = context_.documents.document()) action(document->editing().planner());
}

// Picks up the selection (MovePlanner::take) and moves the focus to the timeline, which shows the
// legal range and handles the keys that move the nodes.
void EditMenu::hold_selection() {
  Document* document = context_.documents.document();
  if (document == nullptr) return;
  const NodeId node = document->selection().current();
  if (!document->has(node)) return context_.status.say(tr("First select the node to move."));
  context_.documents.with_timeline([](TimelineView& view) { view.setFocus(); });
  document->editing().planner().take(node);
}

// Repeats in all identical layers the last edit of the selected nodes or, if there is none, the
// last edit.
void EditMenu::repeat_in_layers() {
  Document* document = context_.documents.document();
  if (document == nullptr) return;
  const auto nodes = document->selection().nodes();
  document->editing().repeat_in_layers({nodes.begin(), nodes.end()});
}

void EditMenu::set_policy(PolicyScope scope, MemoryPolicy policy) {
  Document* document = context_.documents.document();
  if (document == nullptr) return;
  const std::vector<NodeId> nodes = calls_selected(*document);
  if (nodes.empty()) return context_.status.say(tr("First select a node that calls an operator."));
  document->editing().apply(
      policy_edit(document->graph(), document->analysis().modules, nodes, scope, policy));
}

void EditMenu::change_collectives(bool merge) {
  Document* document = context_.documents.document();
  if (document == nullptr) return;
  // A selected wait counts as its collective.
  std::vector<NodeId> starts;
  const Simulation& simulation = document->analysis().simulation;
  for (const NodeId node : document->selection().nodes()) {
    const std::int32_t index = document->has(node) ? simulation.collective_of(node) : -1;
    if (index < 0) continue;
    const NodeId start = simulation.collectives()[static_cast<std::size_t>(index)].start;
    if (std::find(starts.begin(), starts.end(), start) == starts.end()) starts.push_back(start);
  }
  if (starts.empty())
    return context_.status.say(merge ? tr("First select the collectives to merge.")
                                     : tr("First select the collective to split."));
  if (!merge && starts.size() > 1)
    return context_.status.say(
        tr("%1 collectives are selected. Select only the one to split.").arg(starts.size()));
  const Result<Edit> edit = merge ? merge_collectives(document->graph(), starts)
                                  : split_collective(document->graph(), starts.front());
  if (!edit) return context_.status.warn(to_qstring(edit.error().message));
  document->editing().apply(*edit);
}

// Offers the operators that are known to accept the call's arguments and to return the same shape
// and dtype.
void EditMenu::choose_operator() {
  Document* document = context_.documents.document();
  if (document == nullptr) return;
  const NodeId node = document->selection().current();
  const Graph& graph = document->graph();
  if (!document->has(node) || graph.node(node).kind != NodeKind::call)
    return context_.status.say(tr("First select a node that calls an operator."));
  QStringList operators;
  for (const std::string& name : replacing_operators(graph, node)) operators << to_qstring(name);
  const QString call = to_qstring(graph.name(node)),
                target = to_qstring(graph.target(graph.node(node)));
  if (operators.isEmpty())
    return context_.status.say(tr("No other known operator accepts the arguments of %1 (%2) and "
                                  "returns the same shape and dtype.")
                                   .arg(call, target));
  auto* dialog = new QInputDialog(&context_.window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Replace Operator"));
  dialog->setLabelText(tr("Replace %2, called by %1, with:").arg(call, target));
  dialog->setComboBoxItems(operators);
  dialog->setComboBoxEditable(true);
  // By the time the user chooses, the graph may have changed.
  connect(dialog, &QInputDialog::textValueSelected, document,
          [this, document, name = edit_name(graph, node)](const QString& chosen) {
            const NodeId now = document->graph().find(name);
            if (!now)
              return context_.status.warn(
                  tr("The operator of %1 was not replaced: an edit removed the node.")
                      .arg(to_qstring(name)));
            const Result<Edit> edit =
                replace_call(document->graph(), now, chosen.trimmed().toStdString());
            if (!edit) return context_.status.warn(to_qstring(edit.error().message));
            document->editing().apply(*edit);
          });
  dialog->open();
}

// Shows the reasons that edits gave for the position of the selected node.
void EditMenu::ask_why() {
  const Document* document = context_.documents.document();
  if (document == nullptr) return;
  if (!document->has(document->selection().current()))
    return context_.status.say(tr("First select a node."));
  context_.panes.bring_up(QStringLiteral("inspector"));
  const PaneDock* pane = context_.panes.dock(QStringLiteral("inspector"));
  const auto ask = [pane] {
    auto* inspector = qobject_cast<InspectorPane*>(pane->pane());
    if (inspector != nullptr) inspector->ask_why();
    return inspector != nullptr;
  };
  // A pane that was never shown is created in a later turn of the event loop.
  if (!ask()) QTimer::singleShot(0, pane, [ask] { ask(); });
}

void EditMenu::copy_report() {
  const Document* document = context_.documents.document();
  if (document == nullptr) return;
  QApplication::clipboard()->setText(
      to_qstring(export_markdown(document->graph(), document->analysis())));
  context_.status.say(tr("The report was copied to the clipboard."));
}

void EditMenu::show_find_bar() {
  DocumentTab* tab = context_.documents.tab();
  if (tab == nullptr || tab->document() == nullptr) return;
  auto* bar = tab->findChild<FindBar*>();
  if (bar == nullptr) {
    bar = new FindBar(*tab->document(), tab);
    bar->set_history(settings_.value(kFindHistory).toStringList());
    connect(bar, &FindBar::history_changed, this,
            [this, bar] { settings_.setValue(kFindHistory, bar->history()); });
    connect(bar, &FindBar::closed, tab->timeline(), qOverload<>(&QWidget::setFocus));
    tab->insert_bar(bar);
  }
  bar->open();
}

// Stops a running move command and gives up the move of a held node. If no node is held, closes the
// find bar or, if that is not open, clears the selection.
void EditMenu::escape() {
  const DocumentTab* tab = context_.documents.tab();
  if (tab == nullptr || tab->document() == nullptr) return;
  MovePlanner& planner = tab->document()->editing().planner();
  planner.cancel();
  if (planner.held() != nullptr || planner.is_taking()) return planner.give_up();
  if (auto* bar = tab->findChild<FindBar*>(); bar != nullptr && bar->isVisible()) {
    bar->close_bar();
    return;
  }
  // The timeline may show another document (As Partitioned), with its own moment and range.
  if (TimelineView* view = tab->timeline()) view->content().document().selection().clear();
  tab->document()->selection().clear();
}

void EditMenu::follow(const DocumentTab* tab) {
  tab->timeline()->addActions(node_actions_);
  tab->timeline()->setContextMenuPolicy(Qt::ActionsContextMenu);
  const Editing* editing = &tab->document()->editing();
  StatusLine* status = &context_.status;
  connect(editing, &Editing::applied, status, &StatusLine::say);
  const Document* document = tab->document();
  const auto warn = [status, document](const QString& why) { status->warn_about(*document, why); };
  connect(editing, &Editing::refused, status, warn);
  const MovePlanner* planner = &tab->document()->editing().planner();
  connect(planner, &MovePlanner::refused, status, &StatusLine::say);
  connect(planner, &MovePlanner::progressed, status, [status](int done, int count) {
    if (done < count)
      status->say(tr("Moving nodes: %1 of %2. Press Esc to cancel.").arg(done).arg(count));
  });
}

void EditMenu::connect_pane(QWidget* pane) {
  QList<TablePane*> tables = pane->findChildren<TablePane*>();
  if (auto* table = qobject_cast<TablePane*>(pane)) tables << table;
  for (TablePane* table : tables) table->addActions(node_actions_);
  if (auto* graph = qobject_cast<GraphPane*>(pane)) graph->view().addAction(why_);
}

void EditMenu::refresh() {
  const Document* document = context_.documents.document();
  const Editing* editing = document == nullptr ? nullptr : &document->editing();
  const auto name = [](QAction* action, const QString& verb, const EditEntry* entry) {
    action->setEnabled(entry != nullptr);
    action->setText(entry != nullptr ? QStringLiteral("%1 %2").arg(verb, button_text(entry->title))
                                     : verb);
  };
  name(undo_, tr("&Undo"), editing == nullptr ? nullptr : editing->undoable());
  name(redo_, tr("&Redo"), editing == nullptr ? nullptr : editing->redoable());
  // A flat training step has no partitioner.
  const bool is_step = document != nullptr && sac_kind(document->graph()) == SacKind::step;
  for (std::size_t i = 0; i < untag_.size(); ++i)
    untag_[i]->setText(policy_title(is_step ? kUntag : kPolicies.back().verb, kScopes[i]));
}

}  // namespace jointer::desktop
