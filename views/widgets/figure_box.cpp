#include "views/widgets/figure_box.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "views/session/edit/metrics.h"
#include "views/theme/fonts.h"
#include "views/theme/theme.h"

namespace jointer::views {

FigureBox::FigureBox(const QString& name, const QString& how, QWidget* parent) : QWidget(parent) {
  setToolTip(how);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  name_ = new QLabel(this);
  name_->setFont(small_font(name_->font()));
  name_->setForegroundRole(QPalette::PlaceholderText);
  value_ = new QLabel(this);
  value_->setFont(figure_font(value_->font()));
  value_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  was_ = new QLabel(this);
  was_->setFont(name_->font());
  was_->setForegroundRole(QPalette::PlaceholderText);
  change_ = new QLabel(this);
  const auto add_row = [&](QLabel* first, QLabel* second) {
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    row->addWidget(first);
    row->addWidget(second);
    row->addStretch(1);
    column->addLayout(row);
    second->hide();
  };
  add_row(name_, was_);
  add_row(value_, change_);
  set_name(name);
}

void FigureBox::set_name(const QString& name) {
  name_->setText(name);
  value_->setAccessibleName(name);
  change_->setAccessibleName(tr("Change in %1").arg(name));
}

void FigureBox::show_change(std::int64_t from, std::int64_t to, const QString& was,
                            const QString& change) {
  was_->show();
  was_->setText(was);
  change_->setVisible(from != to);
  if (from == to) return;
  const Theme& theme = Theme::of(palette());
  change_->setStyleSheet(QStringLiteral("color: ") +
                         (to < from ? theme.accent : theme.warning).name());
  change_->setText(change);
  change_->setToolTip(share_difference_text(from, to));
}

void FigureBox::hide_change() {
  was_->hide();
  change_->hide();
}

}  // namespace jointer::views
