#include "views/sac/target_page.h"

#include <QKeyEvent>
#include <QLabel>
#include <algorithm>

#include "core/policy/decider.h"
#include "views/session/edit/editing.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"
#include "views/widgets/fit_texts.h"
#include "views/widgets/flow_layout.h"

namespace jointer::views {
namespace {

constexpr int kMaxChanges = 9999;
constexpr std::int64_t kUsualPart = 10;  // by default, 1/kUsualPart of the peak is to be freed

QString figures_text(const Figures& figures) {
  return TargetPage::tr("%1, %2").arg(bytes_text(figures.peak_bytes), time_text(figures.step_ns));
}

// The passes that order the plan, for the end of a sentence; empty if the plan keeps its own order.
QString ordered_by(const std::string& passes) {
  return passes.empty() ? QString() : TargetPage::tr(", ordered by %1").arg(to_qstring(passes));
}

}  // namespace

TargetPage::TargetPage(Document& document, QWidget* parent)
    : QWidget(parent), session_(document.sac()), search_(new TargetSearch(this)) {
  QVBoxLayout* column = make_column(this, {}, 0);
  auto* controls = new QWidget(this);
  make_controls(controls);
  column->addWidget(controls);
  QHBoxLayout* line = make_row(nullptr, {kMargin, 0, kMargin, 0});
  column->addLayout(line);
  answer_ = add_control(*line, new WrappedText({}, this), "answer");
  answer_->setFocusPolicy(Qt::ClickFocus);
  answer_->hide();
  table_ = new TargetTable(document, this);
  column->addWidget(table_, 1);
  setFocusProxy(bytes_);

  connect(find_, &QPushButton::clicked, this, &TargetPage::start_or_cancel);
  connect(goal_, &QComboBox::currentIndexChanged, this, [this] {
    // Convert the value, so that the limit stays the same.
    if (const SacStatePtr state = session_.state())
      bytes_->set_bytes(
          std::max<std::int64_t>(0, state->figures.figures.peak_bytes - bytes_->bytes()));
  });
  connect(at_most_, &QSpinBox::valueChanged, this, &TargetPage::name_units);
  // At least one kind of change must stay allowed.
  connect(recompute_, &QCheckBox::toggled, this, [this](bool on) {
    if (!on) offload_->setChecked(true);
  });
  connect(offload_, &QCheckBox::toggled, this, [this](bool on) {
    if (!on) recompute_->setChecked(true);
  });
  connect(&table_->apply_button(), &QPushButton::clicked, this, &TargetPage::apply);
  connect(search_, &TargetSearch::changed, this, &TargetPage::refresh);
  connect(search_, &TargetSearch::failed, this, &TargetPage::message);
  connect(&session_, &SacSession::changed, this, &TargetPage::refresh);
  refresh();
}

void TargetPage::make_controls(QWidget* controls) {
  auto* row = new FlowLayout(controls, kMargin, 4);
  row->setContentsMargins(kMargin, 4, kMargin, 4);
  goal_ = add_control(*row, new QComboBox(controls), "goal",
                      tr("Free: lower the peak by this much.\nFit: lower the peak to this value."),
                      tr("Target"));
  goal_->addItem(tr("Free"), static_cast<int>(Goal::free));
  goal_->addItem(tr("Fit"), static_cast<int>(Goal::fit));
  bytes_ = add_control(*row, new ByteBox(controls), "bytes", {}, tr("Bytes"));
  bytes_->installEventFilter(this);
  row->addWidget(new QLabel(tr("by changing"), controls));
  at_most_ =
      add_control(*row, new QSpinBox(controls), "at_most", {}, tr("Maximum number of changes"));
  at_most_->setRange(0, kMaxChanges);
  at_most_->setSpecialValueText(tr("any number of"));
  at_most_->setPrefix(tr("at most "));
  at_most_->installEventFilter(this);
  unit_ = add_control(
      *row, new QComboBox(controls), "unit",
      tr("The values that change together and count as one: a tensor, the same tensor in all "
         "layers, the results of all calls of an operator, or a whole layer"),
      tr("Unit of a change"));
  for (const MoveUnit unit :
       {MoveUnit::tensor, MoveUnit::all_layers, MoveUnit::op, MoveUnit::layer})
    unit_->addItem({}, static_cast<int>(unit));
  name_units();
  recompute_ = add_control(*row, new QCheckBox(tr("Recompute"), controls), "recompute",
                           tr("Allow changes that recompute values"));
  recompute_->setChecked(true);
  offload_ = add_control(*row, new QCheckBox(tr("Offload"), controls), "offload",
                         tr("Allow changes that offload values to the host"));
  offload_->setChecked(true);
  orders_ = add_control(*row, new OrdersBox(session_.pareto(), controls), "orders",
                        tr("%1\nThe list is the shortest one found in the plan's own order. An "
                           "order is then found for the resulting plan.")
                            .arg(OrdersBox::explanation()));
  find_ = add_control(*row, new QPushButton(controls), "find");
  fit_texts(*find_, {tr("Find Changes"), tr("Cancel")});
}

bool TargetPage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress && (watched == bytes_ || watched == at_most_)) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
      auto* box = static_cast<QAbstractSpinBox*>(watched);
      box->interpretText();
      if (!search_->is_running()) start_or_cancel();
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

void TargetPage::name_units() {
  const auto count = static_cast<std::size_t>(at_most_->value());
  for (int i = 0; i < unit_->count(); ++i)
    unit_->setItemText(
        i, to_qstring(unit_name(static_cast<MoveUnit>(unit_->itemData(i).toInt()), count)));
}

void TargetPage::start_or_cancel() {
  if (search_->is_running()) return search_->cancel();
  const SacStatePtr state = session_.state();
  if (!state || !state->can_change()) return;
  PlanTarget target{.peak_bytes = goal() == Goal::fit
                                      ? bytes_->bytes()
                                      : state->figures.figures.peak_bytes - bytes_->bytes(),
                    .moves = {.unit = static_cast<MoveUnit>(unit_->currentData().toInt()),
                              .recompute = recompute_->isChecked(),
                              .offload = offload_->isChecked()}};
  if (at_most_->value() > 0) target.at_most = static_cast<std::size_t>(at_most_->value());
  search_->find(state, target, session_.pareto().settings());
}

void TargetPage::refresh() {
  const SacStatePtr state = session_.state();
  const bool can = state && state->can_change();
  find_->setText(search_->is_running() ? tr("Cancel") : tr("Find Changes"));
  find_->setEnabled(can);
  orders_->show_for(state);
  if (can && bytes_->bytes() == 0)
    bytes_->set_bytes(state->figures.figures.peak_bytes / kUsualPart);
  const auto* outcome = search_->outcome();
  if (outcome != shown_) show_list();
  answer_->set_text(answer());
  answer_->setVisible(!answer_->toPlainText().isEmpty());
  table_->apply_button().setEnabled(
      is_current() &&
      (!outcome->list.changes.empty() || (outcome->order && !outcome->order->passes.empty())));
}

void TargetPage::show_list() {
  shown_ = search_->outcome();
  if (shown_ != nullptr)
    table_->show_list(shown_->list, shown_->state->snapshot);
  else
    table_->show_list({}, nullptr);
}

// Returns true if the list is for the plan on screen.
bool TargetPage::is_current() const {
  const auto* outcome = search_->outcome();
  const SacStatePtr state = session_.state();
  return outcome != nullptr && state && state->has_graph_of(*outcome->state) &&
         state->plan == outcome->state->plan;
}

QString TargetPage::answer() const {
  const auto* outcome = search_->outcome();
  if (outcome == nullptr) return search_->is_running() ? tr("Searching...") : QString();
  const ChangeList& list = outcome->list;
  QStringList lines;
  if (!outcome->is_reached()) {
    lines << to_qstring(outcome->order ? why_not_reached(list, *outcome->order, outcome->target)
                                       : why_not_reached(list, outcome->target));
  } else if (list.changes.empty()) {
    const QString limit = bytes_text(outcome->target.peak_bytes);
    lines << (list.is_reached
                  ? tr("The peak is already within %1.").arg(limit)
                  : tr("No changes are needed: in a different order, the peak is within %1.")
                        .arg(limit));
  } else {
    lines << tr("%1: %2 before, %3 after. %4")
                 .arg(list.changes.size() == 1 ? tr("1 change")
                                               : tr("%1 changes").arg(list.changes.size()),
                      figures_text(list.before.figures), figures_text(list.figures.figures),
                      list.is_shortest ? tr("No shorter list was found.")
                                       : tr("A shorter list may exist."));
  }
  for (const QString& line : {order_text(), best_text()})
    if (!line.isEmpty()) lines << line;
  const SacStatePtr state = session_.state();
  if (!is_current())
    lines << (state && state->has_graph_of(*outcome->state) && state->plan == list.plan
                  ? tr("The list has been applied.")
                  : tr("This list is for an earlier plan."));
  return lines.join(u'\n');
}

// The estimates of the list's plan in the order found for it, or the progress of that search; empty
// if no order is searched for.
QString TargetPage::order_text() const {
  if (search_->is_ordering()) return tr("Searching for an order for this plan...");
  const auto& order = search_->outcome()->order;
  if (!order) return {};
  if (order->passes.empty()) return tr("No better order was found for this plan.");
  return tr("Reordered: %1%2.").arg(figures_text(order->figures), ordered_by(order->passes));
}

QString TargetPage::best_text() const {
  const Fit* best = search_->best();
  if (best == nullptr)
    return search_->is_running() && !search_->is_ordering()
               ? tr("Searching for the fastest plan without these conditions...")
               : QString();
  const QString plan = figures_text(figures_of(best->point)) + ordered_by(best->point.order);
  return best->fits
             ? tr("Without these conditions, the fastest plan found within the target peak is %1.")
                   .arg(plan)
             : tr("Without these conditions, no plan was found within the target peak either; the "
                  "closest is %1.")
                   .arg(plan);
}

// Without an order for the list, the plan keeps the order that it has.
void TargetPage::apply() {
  const auto* outcome = search_->outcome();
  if (!is_current()) return;
  const auto& order = outcome->order;
  const QString title = tr("Lower the peak to %1").arg(bytes_text(outcome->figures().peak_bytes));
  if (outcome->state->is_step() || outcome->list.changes.empty())
    return session_.apply_plan(outcome->list.plan, title,
                               searched_with(order ? order->passes : outcome->state->order));
  Edit edit = edit_of(outcome->list, outcome->state->snapshot->graph, title);
  if (order) edit.by = decided_with(order->passes);
  session_.editing().apply(edit);
}

}  // namespace jointer::views
