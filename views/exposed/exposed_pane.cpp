#include "views/exposed/exposed_pane.h"

#include <QAction>
#include <QBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QScrollBar>
#include <QToolButton>

#include "views/session/sac/plan_history.h"
#include "views/session/sac/sac_session.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

// Below this height in pixels, the details are hidden to leave space for rows.
constexpr int kMinWithDetails = 230;

}  // namespace

ExposedPane::ExposedPane(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Exposed Collectives"), tr("Filter collectives"), parent),
      search_(document, document.editing()) {
  view().set_flat();
  // Fit the widths only to the rows on screen, since measuring the reasons in all rows is slow.
  view().header()->setResizeContentsPrecision(0);
  view().sortByColumn(ExposedModel::exposed_column, Qt::DescendingOrder);
  QToolButton* hidden = add_control(controls(), new QToolButton(this), "show_hidden",
                                    tr("Also list the collectives hidden by compute"));
  hidden->setText(tr("Show Hidden"));
  hidden->setCheckable(true);
  connect(hidden, &QToolButton::toggled, this, [this](bool shown) {
    model_->set_show_hidden(shown);
    request_refresh();
  });
  details_ = new ExposedDetails(*model_, this);
  qobject_cast<QBoxLayout*>(layout())->addWidget(details_);
  best_ = add_key(tr("Move to Best Position"), Qt::NoModifier, &ExposedPane::apply_best);
  layers_ = add_key(tr("Move to Best Position in All Identical Layers"), Qt::ShiftModifier,
                    &ExposedPane::apply_in_all_layers);

  ask_soon_.setSingleShot(true);
  ask_soon_.setInterval(0);
  const auto ask_soon = [this] { ask_soon_.start(); };
  connect(&ask_soon_, &QTimer::timeout, this, &ExposedPane::ask_for_gains);
  view().viewport()->installEventFilter(this);
  connect(view().verticalScrollBar(), &QScrollBar::valueChanged, this, ask_soon);
  connect(view().selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this, ask_soon] {
    show_details();
    ask_soon();
  });
  connect(model_, &QAbstractItemModel::layoutChanged, this, ask_soon);
  connect(model_, &QAbstractItemModel::modelReset, this, ask_soon);
  connect(&search_, &FixSearch::fixes_found, this, [this](NodeId start) {
    model_->set_fixes(start, search_.found(start));
    if (model_->row_of(start) == current_row()) show_details();
  });
  connect(&search_, &FixSearch::refused, this, &ExposedPane::message);
  connect(details_, &ExposedDetails::node_chosen, this, [this](NodeId node) {
    if (this->document().has(node)) this->document().selection().select(node);
  });
  connect(details_, &ExposedDetails::best_wanted, this, &ExposedPane::apply_best);
  connect(details_, &ExposedDetails::all_layers_wanted, this, &ExposedPane::apply_in_all_layers);
}

KeysGroup ExposedPane::keys() {
  return {
      tr("Exposed Collectives"),
      {{tr("Enter"), tr("Move the collective to its best position")},
       {tr("Shift+Enter"), tr("Move the collective to its best position in all identical layers")},
       {tr("Ctrl+C"), tr("Copy the selected rows as TSV")}}};
}

// Adds an action whose keys work only in the table.
QAction* ExposedPane::add_key(const QString& text, Qt::KeyboardModifiers modifiers,
                              void (ExposedPane::*slot)()) {
  auto* action = new QAction(text, &view());
  action->setShortcuts({QKeySequence(modifiers | Qt::Key_Return),
                        QKeySequence(modifiers | Qt::KeypadModifier | Qt::Key_Enter),
                        QKeySequence(modifiers | Qt::Key_Enter)});
  action->setShortcutContext(Qt::WidgetShortcut);
  connect(action, &QAction::triggered, this, slot);
  view().addAction(action);
  return action;
}

void ExposedPane::add_to_menu(QMenu& menu) {
  menu.addSeparator();
  const bool has_row = current_row() >= 0;
  for (QAction* action : {best_, layers_}) {
    QAction* entry = menu.addAction(action->text(), action, &QAction::trigger);
    entry->setShortcut(action->shortcut());
    entry->setEnabled(has_row);
  }
}

void ExposedPane::refresh() {
  const SnapshotPtr now = document().shared_snapshot();
  if (model_->snapshot() != now) model_->set_snapshot(now);
  // The row of a selected node may have reappeared after an edit had removed it.
  for (const NodeId node : document().selection().nodes())
    if (const int row = model_->row_of(node); row >= 0 && current_row() < 0) view().show_row(row);
  // The model forgets the fixes whenever its rows change.
  model_->set_all_fixes([this](NodeId start) { return search_.found(start); });
  set_empty_text(
      model_->collective_count() == 0
          ? tr("No collectives in this graph.")
          : tr("All communication in this graph is hidden by compute. Show Hidden lists it."));
  set_headline(!shows_plans(document().sac()) ? QString()
               : sac_kind(now->graph) == SacKind::joint
                   ? tr("Gains are estimated for the joint graph itself. The History pane shows "
                        "the estimates for the pair that the current plan produces.")
                   : tr("Gains are estimated for the training step without its tags. The History "
                        "pane shows the estimates with the tags applied."));
  show_details();
  ask_soon_.start();
}

int ExposedPane::current_row() {
  const QModelIndex index = view().currentIndex();
  return index.isValid() ? TableModel::row_at(index) : -1;
}

// Requests the gains of the current row, then those of the rows on screen from top to bottom.
void ExposedPane::ask_for_gains() {
  was_covered_ = visibleRegion().isEmpty();  // hidden, or covered by another tab
  if (was_covered_) return search_.want({});
  std::vector<NodeId> starts;
  if (const int current = current_row(); current >= 0)
    starts.push_back(model_->collective(current).start);
  const int bottom = view().viewport()->height();
  for (QModelIndex index = view().indexAt(QPoint(0, 0));
       index.isValid() && view().visualRect(index).top() < bottom; index = view().indexBelow(index))
    starts.push_back(model_->collective(TableModel::row_at(index)).start);
  search_.want(std::move(starts));
}

void ExposedPane::apply(std::optional<FixKind> kind) {
  const int row = current_row();
  if (row < 0) return emit message(tr("First select a collective."));
  const NodeId start = model_->collective(row).start;
  if (!model_->fixes(row)) emit message(tr("Finding the best position..."));
  if (kind)
    search_.apply(start, *kind);
  else
    search_.apply_best(start);
}

void ExposedPane::showEvent(QShowEvent* event) {
  TablePane::showEvent(event);
  ask_soon_.start();
}

void ExposedPane::hideEvent(QHideEvent* event) {
  TablePane::hideEvent(event);
  search_.want({});
}

void ExposedPane::resizeEvent(QResizeEvent* event) {
  TablePane::resizeEvent(event);
  details_->setVisible(height() >= kMinWithDetails);
  ask_soon_.start();
}

// A pane that appears from behind another tab gets a paint event, but no show or resize event.
bool ExposedPane::eventFilter(QObject* watched, QEvent* event) {
  if (was_covered_ && watched == view().viewport() && event->type() == QEvent::Paint)
    ask_soon_.start();
  return TablePane::eventFilter(watched, event);
}

}  // namespace jointer::views
