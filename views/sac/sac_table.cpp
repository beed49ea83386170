#include "views/sac/sac_table.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <algorithm>
#include <array>

#include "views/session/kernels/predicted_kernels.h"
#include "views/session/text/number_text.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kPreviewMs = 30;
constexpr std::array kOwnKeys{Qt::Key_S, Qt::Key_R, Qt::Key_O, Qt::Key_Space, Qt::Key_Delete};

}  // namespace

SacTable::SacTable(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Save, recompute, offload"),
                  tr("Filter: policy:save by:user op:mm mod:layers.3 bytes>1MiB"), parent),
      session_(document.sac()),
      kernel_watch_(document, *view().viewport(), false) {
  all_ = add_control(controls(), new QToolButton(this), "show_all");
  all_->setText(tr("Show All"));
  all_->hide();
  connect(all_, &QToolButton::clicked, this, &SacTable::show_all);
  fused_ = add_control(controls(), new QToolButton(this), "when_fused",
                       tr("Show what recomputation costs if it fuses into the predicted kernels "
                          "that read the value, as torch's min cut assumes"));
  fused_->setText(tr("When Fused"));
  fused_->setCheckable(true);
  view().choose_column(SacModel::fused_column, false);
  connect(fused_, &QToolButton::toggled, this, [this](bool is_shown) {
    kernel_watch_.set_needed(is_shown);
    view().choose_column(SacModel::fused_column, is_shown);
    update_fused_costs();
    view().fit_columns();
  });
  connect(&document.kernels(), &PredictedKernels::changed, this, &SacTable::update_fused_costs);
  grouping_ = add_control(controls(), new QComboBox(this), "grouping", {}, tr("Grouping"));
  grouping_->addItem(tr("By layer"), static_cast<int>(SacGrouping::layer));
  grouping_->addItem(tr("By module"), static_cast<int>(SacGrouping::module));
  grouping_->addItem(tr("By operator"), static_cast<int>(SacGrouping::op));
  grouping_->addItem(tr("By tensor"), static_cast<int>(SacGrouping::tensor));
  connect(grouping_, &QComboBox::currentIndexChanged, this, [this] {
    const auto grouping = static_cast<SacGrouping>(grouping_->currentData().toInt());
    model_->set_grouping(grouping);
    view().setRootIsDecorated(grouping != SacGrouping::tensor);
    view().fit_columns();  // the names have changed
  });
  delegate_ = new PolicyDelegate(this);
  view().setItemDelegateForColumn(SacModel::policy_column, delegate_);
  view().viewport()->setMouseTracking(true);
  view().viewport()->installEventFilter(this);
  view().installEventFilter(this);
  preview_soon_.setSingleShot(true);
  preview_soon_.setInterval(kPreviewMs);
  connect(&preview_soon_, &QTimer::timeout, this,
          [this] { session_.preview(preview_nodes_, preview_action_); });
  // Previews follow user actions, not the current row, which also moves when the table is rebuilt
  // or gets the focus.
  connect(&view(), &TableView::rows_chosen, this, [this] {
    const PlanAction action = toggled();
    std::vector<NodeId> nodes = targets(action);
    if (!view().hasFocus() || nodes.empty()) return leave();
    preview(std::move(nodes), action);
  });
  connect(&session_, &SacSession::changed, this, &SacTable::request_refresh);
  connect(view().header(), &QHeaderView::sortIndicatorChanged, this, &SacTable::update_headline);
  // Events may still arrive after the session has been destroyed.
  connect(&session_, &QObject::destroyed, this, [this] {
    preview_soon_.stop();
    view().removeEventFilter(this);
    view().viewport()->removeEventFilter(this);
  });
  set_empty_text(tr("No tensor is saved or recomputed for the backward."));
}

KeysGroup SacTable::keys() {
  return {tr("Save, recompute, offload"),
          {{tr("S, R, O"), tr("Save, recompute or offload the selected rows")},
           {tr("Space"), tr("Toggle between save and recompute")},
           {tr("Delete"), tr("Leave the rows to the partitioner when it solves again; in "
                             "a flat training step, remove their tags")},
           {tr("Click on S, R, O"), tr("Set one row, or all selected rows")},
           {tr("Hover over S, R, O; Up, Down"), tr("Preview the result")},
           {tr("Ctrl+C"), tr("Copy the selected rows as TSV")}}};
}

void SacTable::refresh() {
  // The rows that a pending preview refers to may have changed.
  preview_soon_.stop();
  const bool is_first = model_->row_count() == 0;
  model_->set_state(session_.state());
  if (is_first && model_->row_count() > 0) QTimer::singleShot(0, &view(), &TableView::fit_columns);
  if (model_->state() && model_->shows_only_some() && !follow_peak()) {
    show_all();
    emit message(tr("No saved tensor is live at the new peak; all tensors are shown."));
  }
  view().viewport()->update();  // also updates the child rows
  update_headline();
  // The costs are those of chains of calls, which only the plan of a joint graph recomputes.
  const bool has_fused = model_->state() && model_->state()->base;
  fused_->setVisible(has_fused);
  if (!has_fused) fused_->setChecked(false);  // also hides the column
  update_fused_costs();
}

// If the costs are shown and the kernels are known, computes the costs for the current plan on a
// worker thread.
void SacTable::update_fused_costs() {
  const SacStatePtr& state = model_->state();
  const SnapshotKernelsPtr& kernels = document().kernels().shown();
  if (!fused_->isChecked() || !state || !kernels) return fusing_.cancel();
  fusing_.start([state, kernels] { return fused_recompute_ns(*state, *kernels); },
                [this, state](Result<FusedCosts> costs) {
                  if (costs) model_->set_fused_costs(state, *std::move(costs));
                });
}

void SacTable::update_headline() {
  QStringList lines;
  const SacStatePtr state = session_.state();
  if (state && !state->can_change())
    lines << (state->snapshot->graph.is_pair()
                  ? tr("This pair is already partitioned, so its policies are fixed. To change "
                       "what it saves, open it as a joint graph.")
                  : tr("This graph does not contain both forward and backward. To choose saved "
                       "tensors, open the original joint graph."));
  if (state && state->is_step())
    lines
        << (!state->applied_tags.refusal.empty()
                ? tr("This training step is shown without its tags, because they cannot be "
                     "applied: %1.")
                      .arg(to_qstring(state->applied_tags.refusal))
            : state->applied_tags.any
                ? tr("This training step is shown with its tags applied; “Apply Tags” changes the "
                     "graph itself.")
                : tr("This training step has no tags to apply. Choosing S, R or O for a row sets "
                     "tags and shows the result of applying them."));
  if (state && !state->refused.empty()) {
    const QString why = to_qstring(state->refused.front().text);
    lines << (state->refused.size() == 1 ? tr("1 policy cannot be applied: %1").arg(why)
                                         : tr("%1 policies cannot be applied: %2")
                                               .arg(count_text(state->refused.size()), why));
  }
  if (model_->shows_only_some()) {
    const QHeaderView& header = *view().header();
    const bool is_by_worth = header.sortIndicatorSection() == SacModel::worth_column &&
                             header.sortIndicatorOrder() == Qt::DescendingOrder;
    lines << (is_by_worth ? at_peak_by_worth_ : at_peak_);
  }
  set_headline(lines.join(u'\n'));
  all_->setVisible(model_->shows_only_some());
}

bool SacTable::follow_peak() {
  const SacStatePtr state = model_->state();
  const std::vector<NodeId> nodes = session_.saved_at_peak();
  if (!state || nodes.empty()) return false;
  std::int64_t bytes = 0;
  for (const NodeId node : nodes)
    if (const SacTensor* tensor = state->tensor_of(node)) bytes += tensor->bytes;
  const QString peak = bytes_text(state->figures.figures.peak_bytes);
  at_peak_ = nodes.size() == 1
                 ? tr("1 saved tensor (%1) is live at the peak of %2.").arg(bytes_text(bytes), peak)
                 : tr("%1 saved tensors (%2) are live at the peak of %3.")
                       .arg(count_text(nodes.size()), bytes_text(bytes), peak);
  if (nodes.size() > 1)
    at_peak_by_worth_ = tr("%1 saved tensors (%2) are live at the peak of %3; the best candidates "
                           "for recomputation come first.")
                            .arg(count_text(nodes.size()), bytes_text(bytes), peak);
  else
    at_peak_by_worth_ = at_peak_;
  model_->show_only(nodes);
  return true;
}

void SacTable::show_peak() {
  if (!session_.state() || !session_.state()->can_change()) return;
  model_->set_state(session_.state());
  if (!follow_peak()) return emit message(tr("No saved tensor is live at the peak."));
  grouping_->setCurrentIndex(grouping_->findData(static_cast<int>(SacGrouping::tensor)));
  view().sortByColumn(SacModel::worth_column, Qt::DescendingOrder);
  view().scrollToTop();
  update_headline();
}

void SacTable::show_all() {
  model_->show_only(std::nullopt);
  update_headline();
}

// --- Targets of commands ---

// A group stands for its tensors only if the user selected the group itself. A node selected in
// another pane stands only for itself, even if its row is folded.
std::vector<NodeId> SacTable::targets(std::optional<PlanAction> action) const {
  auto& self = const_cast<SacTable&>(*this);
  if (rows_are_chosen()) return model_->changeable(self.view().selected_rows(), action);
  std::vector<NodeId> nodes;
  const SacStatePtr state = session_.state();
  for (const NodeId node : self.document().selection().nodes())
    if (state && state->tensor_of(node) != nullptr &&
        state->snapshot->graph.node(node).kind == NodeKind::call)
      nodes.push_back(node);
  return nodes;
}

std::vector<int> SacTable::rows_with(int row) const {
  std::vector<int> rows = const_cast<SacTable*>(this)->view().selected_rows();
  if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows = {row};
  return rows;
}

PlanAction SacTable::toggled() const {
  const SacStatePtr state = session_.state();
  const std::vector<NodeId> nodes = targets(PlanAction::save);
  const bool all_saved = !nodes.empty() && std::ranges::all_of(nodes, [&](NodeId node) {
    const SacTensor* tensor = state ? state->tensor_of(node) : nullptr;
    return tensor != nullptr && tensor->action == PlanAction::save;
  });
  return all_saved ? PlanAction::recompute : PlanAction::save;
}

void SacTable::set_action(std::optional<PlanAction> action) {
  tick(targets(action), rows_are_chosen() ? view().selected_rows() : std::vector<int>(), action);
}

void SacTable::tick(const std::vector<NodeId>& nodes, std::span<const int> rows,
                    std::optional<PlanAction> action) {
  if (!session_.state() || !session_.state()->can_change()) return;
  if (nodes.empty())
    return emit message(rows.empty() && document().selection().nodes().empty()
                            ? tr("First select a row.")
                            : model_->why_unchanged(rows, action));
  preview_soon_.stop();  // the change itself is about to be applied
  session_.set_action(nodes, action);
}

void SacTable::add_to_menu(QMenu& menu) {
  menu.addSeparator();
  const bool can =
      session_.state() && session_.state()->can_change() && !targets(PlanAction::save).empty();
  const auto add = [&](const QString& text, const QKeySequence& key, auto action) {
    QAction* entry = menu.addAction(text, this, action);
    entry->setShortcut(key);
    entry->setEnabled(can);
  };
  add(tr("Save"), Qt::Key_S, [this] { set_action(PlanAction::save); });
  add(tr("Recompute"), Qt::Key_R, [this] { set_action(PlanAction::recompute); });
  add(tr("Offload"), Qt::Key_O, [this] { set_action(PlanAction::offload); });
  add(tr("Checkpoint Layer"), QKeySequence(), [this] { checkpoint_layers(); });
  const bool is_step = session_.state() && session_.state()->is_step();
  add(is_step ? tr("Remove Tag") : tr("Leave to the Partitioner"), Qt::Key_Delete,
      [this] { set_action(std::nullopt); });
}

// --- Events ---

bool SacTable::eventFilter(QObject* watched, QEvent* event) {
  if (watched == view().viewport()) {
    const auto* mouse = static_cast<QMouseEvent*>(event);
    // The second press of a double-click counts as another click on the switch and must not expand
    // the row.
    const bool is_press =
        event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonDblClick;
    if (is_press && mouse->button() == Qt::LeftButton && mouse->modifiers() == Qt::NoModifier &&
        press(mouse->position().toPoint()))
      return true;
    if (event->type() == QEvent::MouseMove) hover(mouse->position().toPoint());
    if (event->type() == QEvent::Leave) leave();
  }
  if (watched == &view() && (event->type() == QEvent::FocusOut || event->type() == QEvent::Hide))
    leave();
  if (watched == &view() &&
      (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride)) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool is_plain = (key->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
    if (is_plain && std::find(kOwnKeys.begin(), kOwnKeys.end(), key->key()) != kOwnKeys.end()) {
      event->accept();
      if (event->type() == QEvent::KeyPress) key_press(key->key());
      return true;
    }
  }
  return TablePane::eventFilter(watched, event);
}

void SacTable::key_press(int key) {
  switch (key) {
    case Qt::Key_S:
      return set_action(PlanAction::save);
    case Qt::Key_R:
      return set_action(PlanAction::recompute);
    case Qt::Key_O:
      return set_action(PlanAction::offload);
    case Qt::Key_Space:
      return toggle();
    default:
      return set_action(std::nullopt);
  }
}

bool SacTable::press(QPoint at) {
  const QModelIndex index = view().indexAt(at);
  if (!index.isValid() || index.column() != SacModel::policy_column ||
      index.data(SacModel::fixed_role).toBool())
    return false;
  const auto action = PolicyDelegate::action_at(view().visualRect(index), at);
  if (!action) return false;
  view().setFocus(Qt::MouseFocusReason);
  preview_soon_.stop();
  const std::vector<int> rows = rows_with(TableModel::row_at(index));
  tick(model_->changeable(rows, action), rows, action);
  return true;
}

void SacTable::hover(QPoint at) {
  const QModelIndex index = view().indexAt(at);
  const bool is_switch = index.isValid() && index.column() == SacModel::policy_column &&
                         !index.data(SacModel::fixed_role).toBool();
  const auto action =
      is_switch ? PolicyDelegate::action_at(view().visualRect(index), at) : std::nullopt;
  if (!action) return leave();
  delegate_->set_hover(index, *action);
  view().viewport()->update();
  std::vector<NodeId> nodes = model_->changeable(rows_with(TableModel::row_at(index)), action);
  if (nodes.empty()) {
    preview_soon_.stop();
    preview_nodes_.clear();
    return session_.clear_preview();
  }
  preview(std::move(nodes), action);
}

void SacTable::leave() {
  preview_soon_.stop();
  preview_nodes_.clear();
  delegate_->set_hover({}, PlanAction::save);
  session_.clear_preview();
  view().viewport()->update();
}

void SacTable::preview(std::vector<NodeId> nodes, std::optional<PlanAction> action) {
  if (nodes == preview_nodes_ && action == preview_action_ &&
      (preview_soon_.isActive() || session_.shown_preview()))
    return;
  preview_nodes_ = std::move(nodes);
  preview_action_ = action;
  preview_soon_.start();
}

}  // namespace jointer::views
