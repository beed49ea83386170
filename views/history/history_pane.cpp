#include "views/history/history_pane.h"

#include <QTimer>
#include <utility>

#include "views/session/document/document.h"
#include "views/session/sac/plan_edits.h"
#include "views/session/sac/sac_state.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"

namespace jointer::views {

HistoryPane::HistoryPane(Document& document, QWidget* parent)
    : QWidget(parent),
      document_(document),
      editing_(document.editing()),
      plans_(document.sac()),
      entry_model_(
          new HistoryModel({tr("1 state"), tr("%1 states")}, tr("the previous state"), this)),
      state_model_(new HistoryModel({tr("1 named state"), tr("%1 named states")},
                                    tr("the graph as opened"), this)) {
  setAccessibleName(tr("History"));
  use_base_background(*this);
  QVBoxLayout* column = make_column(this, {0, kMargin, 0, 0}, 6);
  const auto add_table = [&](HistoryModel& model, const QString& name, int stretch) {
    auto* view = new TableView(model, this);
    view->set_flat();
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setSortingEnabled(false);
    view->set_names_column(HistoryModel::title_column);
    view->setTextElideMode(Qt::ElideRight);  // actions differ in their first words
    view->setAccessibleName(name);
    column->addWidget(view, stretch);
    return view;
  };
  entries_ = add_table(*entry_model_, tr("Edit history"), 3);
  entries_->setObjectName(QStringLiteral("steps"));
  const auto add_row = [&] {
    QHBoxLayout* row = make_row(nullptr, {kMargin, 0, kMargin, 0}, 4);
    column->addLayout(row);
    return row;
  };
  QHBoxLayout* row = add_row();
  name_ = add_control(*row, new QLineEdit(this), "name", {}, tr("State name"));
  row->setStretchFactor(name_, 1);
  name_->setPlaceholderText(tr("Name this state to return to it later"));
  name_->setClearButtonEnabled(true);
  keep_ = add_button(row, tr("Save State"),
                     tr("Save the current state under the name in the field on the left"),
                     &HistoryPane::keep);
  state_model_->show_names();
  states_ = add_table(*state_model_, tr("Named states"), 2);
  states_->setObjectName(QStringLiteral("states"));
  states_->setColumnHidden(HistoryModel::place_column, true);
  states_->setColumnHidden(HistoryModel::by_column, true);
  row = add_row();
  row->setContentsMargins(kMargin, 0, kMargin, kMargin);
  go_ = add_button(row, tr("Go To"),
                   tr("Return to the selected state; the current one stays in the history"),
                   &HistoryPane::go);
  rename_ =
      add_button(row, tr("Rename"), tr("Rename the selected state to the name in the field above"),
                 &HistoryPane::rename);
  remove_ =
      add_button(row, tr("Delete"), tr("Delete the selected state; the graph does not change"),
                 &HistoryPane::remove);
  row->addStretch(1);
  setFocusProxy(entries_);

  connect(entries_, &TableView::rows_chosen, this, &HistoryPane::choose_entry);
  connect(states_, &TableView::selection_changed, this, &HistoryPane::choose_state);
  connect(states_, &QAbstractItemView::activated, this, &HistoryPane::go);
  connect(name_, &QLineEdit::returnPressed, this, &HistoryPane::keep);
  connect(name_, &QLineEdit::textChanged, this, &HistoryPane::choose_state);
  connect(&editing_, &Editing::changed, this, &HistoryPane::refresh);
  connect(&document_, &Document::changed, this, &HistoryPane::refresh);
  connect(&plans_, &PlanHistory::changed, this, &HistoryPane::refresh);
}

QPushButton* HistoryPane::add_button(QLayout* row, const QString& text, const QString& tip,
                                     void (HistoryPane::*slot)()) {
  auto* button = new QPushButton(text, this);
  button->setToolTip(tip);
  connect(button, &QPushButton::clicked, this, slot);
  row->addWidget(button);
  return button;
}

void HistoryPane::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (is_stale_) refresh();
}

void HistoryPane::refresh() {
  is_stale_ = true;
  if (!isVisible()) return;
  is_stale_ = false;
  has_plans_ = plans_.has_plans();
  is_computing_ = false;
  fill_entries();
  fill_states();
  choose_state();
  const bool has_named = !editing_.named().empty();
  if (std::exchange(has_named_, has_named) != has_named) is_fitted_ = false;
  if (!is_fitted_)
    QTimer::singleShot(0, this, [this] {
      entries_->fit_columns();
      states_->fit_columns();
    });
  is_fitted_ |= (editing_.entry_count() > 0 || has_named) && !is_computing_;
}

void HistoryPane::add_figures(HistoryModel::Row& row, const EditHistory& history,
                              const std::optional<Metrics>& metrics,
                              const std::optional<Figures>& before) {
  row.before = before;
  row.about = tr("Computing...");
  if (!has_plans_) {
    is_computing_ |= !metrics.has_value();
    if (!metrics) return;
    row.figures = figures_of(*metrics);
    row.about.clear();
    return;
  }
  const auto found = plans_.find(history);
  is_computing_ |= !found.has_value();
  if (!found) return;
  if (!*found) {
    row.about = to_qstring(found->error().message);
    return;
  }
  row.figures = **found;
  row.about = sac_kind(document_.graph()) == SacKind::joint
                  ? tr("Estimates for the pair that this state's plan produces, in the order "
                       "that a search found for it, if any.")
                  : tr("Estimates for the training step with this state's tags applied, in the "
                       "order that a search found for it, if any.");
}

void HistoryPane::add_effects(HistoryModel::Row& row, const EditEntry& entry,
                              const std::optional<Metrics>& before) const {
  if (!has_plans_) return;
  const SacKind kind = sac_kind(document_.baseline()->graph);
  const OrderChange order = order_change(entry.before, entry.after, kind);
  row.drops_order = order.is_dropped;
  QStringList lines;
  if (!order.sentence.empty()) lines << to_qstring(order.sentence);
  if (before && entry.metrics && figures_of(*before) != figures_of(*entry.metrics))
    lines << (kind == SacKind::joint ? tr("The joint graph itself: %1.")
                                     : tr("The training step without its tags applied: %1."))
                 .arg(figures_difference_text(figures_of(*before), figures_of(*entry.metrics)));
  row.notes << lines;
  lines.prepend(row.about);
  row.about = lines.join(u'\n');
}

void HistoryPane::fill_entries() {
  const SnapshotPtr opened = document_.baseline();
  std::vector<HistoryModel::Row> rows;
  HistoryModel::Row first{.place = QStringLiteral("0"),
                          .title = editing_.entry_count() == 0
                                       ? tr("As opened: drag a collective in the timeline")
                                       : tr("As opened"),
                          .is_current = editing_.place() == 0};
  add_figures(first, {}, metrics_of(opened->graph, opened->analysis), {});
  rows.push_back(std::move(first));
  for (int i = 0; i < editing_.entry_count(); ++i) {
    const EditEntry& entry = editing_.entry(i);
    QStringList notes = entry.notes;
    if (const std::size_t replaced = replaced_edits(entry); replaced > 0)
      notes << counted_text(replaced, tr("Replaces the previous edit; undo returns to that edit."),
                            tr("Replaces the previous %1 edits; undo returns to them."));
    HistoryModel::Row row{.place = QString::number(i + 1),
                          .title = entry.title,
                          .by = entry.by.isEmpty() ? tr("you") : entry.by,
                          .notes = notes,
                          .is_current = editing_.place() == i + 1,
                          .is_undone = i + 1 > editing_.place()};
    add_figures(row, entry.after, entry.metrics, rows.back().figures);
    add_effects(
        row, entry,
        i == 0 ? metrics_of(opened->graph, opened->analysis) : editing_.entry(i - 1).metrics);
    rows.push_back(std::move(row));
  }
  entry_model_->set(std::move(rows));
  entries_->show_row(editing_.place());
}

void HistoryPane::fill_states() {
  const SnapshotPtr opened = document_.baseline();
  HistoryModel::Row base;
  add_figures(base, {}, metrics_of(opened->graph, opened->analysis), {});
  std::vector<HistoryModel::Row> rows;
  for (const NamedState& state : editing_.named()) {
    HistoryModel::Row row{.title = state.name,
                          .is_current = state.history == editing_.edit_history()};
    add_figures(row, state.history, state.metrics, base.figures);
    rows.push_back(std::move(row));
  }
  state_model_->set(std::move(rows));
}

void HistoryPane::choose_entry() {
  const std::vector<int> rows = entries_->selected_rows();
  if (!rows.empty()) editing_.go_to(rows.front());
}

int HistoryPane::state() const {
  const std::vector<int> rows = states_->selected_rows();
  return rows.empty() ? -1 : rows.front();
}

void HistoryPane::choose_state() {
  const bool has_name = !name_->text().trimmed().isEmpty();
  keep_->setEnabled(has_name);
  go_->setEnabled(state() >= 0);
  rename_->setEnabled(state() >= 0 && has_name);
  remove_->setEnabled(state() >= 0);
}

void HistoryPane::keep() {
  const QString name = name_->text().trimmed();
  if (name.isEmpty()) return;
  name_->clear();
  editing_.keep_state(name);
  states_->show_row(static_cast<int>(editing_.named().size()) - 1);
}

void HistoryPane::go() {
  if (state() >= 0) editing_.go_to_state(static_cast<std::size_t>(state()));
}

void HistoryPane::rename() {
  const QString name = name_->text().trimmed();
  const int chosen = state();
  if (chosen < 0 || name.isEmpty()) return;
  name_->clear();
  editing_.rename_state(static_cast<std::size_t>(chosen), name);
}

void HistoryPane::remove() {
  if (state() >= 0) editing_.remove_state(static_cast<std::size_t>(state()));
}

}  // namespace jointer::views
