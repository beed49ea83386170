#include "views/pipeline/report/decision_table.h"

#include <QSignalBlocker>
#include <QTimer>
#include <algorithm>

#include "core/edit/edit.h"
#include "views/session/text/number_text.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kMinReason = 260;

}  // namespace

DecisionTable::DecisionTable(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Decisions"), tr("Filter by node, action, reason or effect"),
                  parent) {
  view().set_flat();
  view().setTextElideMode(Qt::ElideRight);  // elide sentences at the end
  actions_ = add_control(controls(), new QComboBox(this), "actions",
                         tr("Show only decisions with one action"), tr("Action"));
  actions_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  actions_->setMinimumContentsLength(11);
  selected_ = add_control(controls(), new QToolButton(this), "selected",
                          tr("Show only decisions about the selected nodes"));
  selected_->setText(tr("Selected"));
  selected_->setCheckable(true);
  selected_->setMinimumHeight(22);
  connect(actions_, &QComboBox::currentIndexChanged, this, [this] {
    model_->show_action(actions_->currentData().toString().toStdString());
    show_empty_text();
  });
  connect(selected_, &QToolButton::toggled, this, [this] {
    only_.clear();
    follow_selection();
  });
  connect(&document.selection(), &Selection::nodes_changed, this, &DecisionTable::follow_selection);
  fill_actions();
  show_empty_text();
}

void DecisionTable::set(DecisionList list) {
  const QSignalBlocker quiet(selected_);
  selected_->setChecked(false);
  model_->set(std::move(list), document().shared_snapshot());
  view().setColumnHidden(DecisionModel::step_column, model_->list().steps.size() < 2);
  fill_actions();
  show_empty_text();
  request_refresh();
  if (isVisible()) fit();
}

void DecisionTable::fit() {
  view().fit_columns();
  fit_reasons();
}

// The reason column gets the width that the other columns leave.
void DecisionTable::fit_reasons() {
  int others = 0;
  for (int column = 0; column < model_->columnCount(); ++column)
    if (column != DecisionModel::reason_column && !view().isColumnHidden(column))
      others += view().columnWidth(column);
  view().setColumnWidth(DecisionModel::reason_column,
                        std::max(kMinReason, view().viewport()->width() - others));
}

void DecisionTable::showEvent(QShowEvent* event) {
  TablePane::showEvent(event);
  QTimer::singleShot(0, this, &DecisionTable::fit_reasons);
}

void DecisionTable::resizeEvent(QResizeEvent* event) {
  TablePane::resizeEvent(event);
  QTimer::singleShot(0, this, &DecisionTable::fit_reasons);
}

bool DecisionTable::has_action(const std::string& action) const {
  return actions_->findData(to_qstring(action)) >= 0;
}

void DecisionTable::show_action(const std::string& action) {
  actions_->setCurrentIndex(std::max(0, actions_->findData(to_qstring(action))));
}

void DecisionTable::fill_actions() {
  const QSignalBlocker quiet(actions_);
  actions_->clear();
  actions_->addItem(tr("All actions"), QString());
  for (const auto& [action, count] : model_->list().actions) {
    const QString name = to_qstring(action);
    actions_->addItem(QStringLiteral("%1 (%2)").arg(name, count_text(count)), name);
  }
}

// Keeps the rows if decisions about all selected nodes are already shown: if the user clicks a row,
// the other rows must stay.
void DecisionTable::follow_selection() {
  if (!selected_->isChecked()) {
    model_->show_nodes(std::nullopt);
    return show_empty_text();
  }
  std::unordered_set<std::string> names;
  for (const NodeId node : document().selection().nodes())
    if (document().has(node)) names.insert(edit_name(document().graph(), node));
  const bool is_part =
      !names.empty() && std::all_of(names.begin(), names.end(),
                                    [&](const auto& name) { return only_.contains(name); });
  if (is_part) return;
  only_ = std::move(names);
  model_->show_nodes(only_);
  show_empty_text();
}

void DecisionTable::show_empty_text() {
  set_empty_text(model_->list().rows.empty()
                     ? tr("No decisions were recorded.")
                     : tr("No decisions match the action and the selected nodes."));
}

}  // namespace jointer::views
