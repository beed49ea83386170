#include "views/sac/changes_page.h"

#include <QSignalBlocker>
#include <algorithm>

#include "views/session/document/document.h"
#include "views/session/edit/editing.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"

namespace jointer::views {

ChangesPage::ChangesPage(Document& document, QWidget* parent)
    : QWidget(parent), document_(document), session_(document.sac()) {
  QVBoxLayout* column = make_column(this, {0, kMargin / 2, 0, 0}, 4);
  QHBoxLayout* row = make_row(nullptr, {kMargin, 0, kMargin, 0});
  since_ = add_control(*row, new QComboBox(this), "since",
                       tr("The state to compare the current plan with"), tr("Compare with"));
  since_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  since_->setMinimumContentsLength(16);
  summary_ = new ElidedLabel(this);
  summary_->setObjectName(QStringLiteral("plan_summary"));
  row->addWidget(summary_, 1);
  column->addLayout(row);
  table_ = new PlanDifferenceTable(document, this);
  column->addWidget(table_, 1);
  setFocusProxy(&table_->view());
  connect(since_, &QComboBox::activated, this, &ChangesPage::compare);
  connect(&session_, &SacSession::changed, this, &ChangesPage::refresh);
  connect(&session_.editing(), &Editing::changed, this, &ChangesPage::refresh);
}

void ChangesPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

void ChangesPage::refresh() {
  const Editing& editing = session_.editing();
  if (!session_.state() || !editing.is_settled()) return;
  fill_bases();
  if (isVisible()) compare();
  const State now{document_.baseline(), editing.edit_history()};
  if (std::exchange(summarized_, now) == now) return;
  const EditEntry* last = editing.undoable();
  const bool is_of_plan =
      last != nullptr && std::ranges::any_of(last->after, [&](const DoneEditPtr& done) {
        return std::ranges::find(last->before, done) == last->before.end() &&
               changes_plan(done->edit);
      });
  if (!is_of_plan) return emit summarized({});
  session_.find_changes(last->before, last->after, this,
                        [this, now](const Result<PlanChangesPtr>& found) {
                          if (summarized_ == now)
                            emit summarized(found ? summary_text(**found) : QString());
                        });
}

// Refills the list of states but keeps the chosen one, identified by its name.
void ChangesPage::fill_bases() {
  const Editing& editing = session_.editing();
  const QString chosen = since_->currentText();
  bases_.clear();
  const EditEntry* last = editing.undoable();
  bases_.push_back({tr("In the last edit"), last != nullptr ? last->before : EditHistory()});
  bases_.push_back({tr("Since opening"), {}});
  for (const NamedState& state : editing.named())
    bases_.push_back({tr("Since “%1”").arg(state.name), state.history});
  const QSignalBlocker quiet(since_);
  since_->clear();
  for (const Base& base : bases_) since_->addItem(base.name);
  since_->setCurrentIndex(std::max(0, since_->findText(chosen)));
}

void ChangesPage::compare() {
  const Base& base = bases_[static_cast<std::size_t>(since_->currentIndex())];
  const std::pair wanted{State{document_.baseline(), session_.editing().edit_history()},
                         base.history};
  if (std::exchange(compared_, wanted) == wanted) return;
  session_.find_changes(base.history, wanted.first.second, this,
                        [this, wanted](const Result<PlanChangesPtr>& found) {
                          if (compared_ == wanted) show(found);
                        });
}

void ChangesPage::show(const Result<PlanChangesPtr>& found) {
  const QString problem = found ? QString() : QString::fromStdString(found.error().message);
  summary_->setText(found ? summary_text(**found) : problem);
  table_->say(found ? tr("No values changed.") : problem);
  table_->set(found ? *found : nullptr);
}

}  // namespace jointer::views
