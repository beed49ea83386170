#include "views/widgets/figure_box.h"

#include <QHBoxLayout>
#include <initializer_list>

#include "views/session/edit/metrics.h"
#include "views/theme/fonts.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"

namespace jointer::views {

FigureBox::FigureBox(const QString& name, const QString& how, QWidget* parent)
    : QWidget(parent), how_(how) {
  setToolTip(how);
  QVBoxLayout* column = make_column(this, {}, 0);
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
  warning_ = new QLabel(this);
  terms_ = new QLabel(this);
  terms_->setFont(name_->font());
  terms_->setForegroundRole(QPalette::PlaceholderText);
  terms_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  const auto add_row = [&](std::initializer_list<QLabel*> labels) {
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    for (QLabel* label : labels) row->addWidget(label);
    row->addStretch(1);
    column->addLayout(row);
  };
  add_row({name_, was_});
  add_row({value_, change_, warning_});
  add_row({terms_});
  for (QLabel* label : {was_, change_, warning_, terms_}) label->hide();
  set_name(name);
}

void FigureBox::set_name(const QString& name) {
  name_->setText(name);
  value_->setAccessibleName(name);
  change_->setAccessibleName(tr("Change in %1").arg(name));
  warning_->setAccessibleName(tr("Warning about %1").arg(name));
  terms_->setAccessibleName(tr("Terms of %1").arg(name));
}

void FigureBox::show_change(std::int64_t from, std::int64_t to, const QString& was,
                            const QString& change) {
  was_->setText(was);
  change_->setText(from == to ? QString() : change);
  if (from != to) {
    const Theme& theme = Theme::of(palette());
    set_color(*change_, to < from ? theme.accent : theme.warning);
    change_->setToolTip(share_difference_text(from, to));
  }
  show_parts();
}

void FigureBox::show_warning(const QString& text) {
  set_color(*warning_, Theme::of(palette()).warning);
  warning_->setText(text);
  warning_->setVisible(!text.isEmpty());
}

void FigureBox::hide_change() {
  was_->clear();
  change_->clear();
  show_parts();
}

void FigureBox::set_was(const QString& text) {
  was_->setText(text);
  show_parts();
}

void FigureBox::leave_out(bool was, bool change) {
  leaves_out_was_ = was;
  leaves_out_change_ = change;
  show_parts();
}

void FigureBox::set_terms(const QString& terms, const QString& brief) {
  all_terms_ = terms;
  brief_terms_ = brief;
  show_parts();
}

void FigureBox::shorten_terms(bool is_brief) {
  has_brief_terms_ = is_brief;
  show_parts();
}

void FigureBox::explain(const QString& how) {
  how_ = how;
  show_parts();
}

void FigureBox::set_note(const QString& note) {
  note_ = note;
  show_parts();
}

// The tooltip contains what has no space in the box.
void FigureBox::show_parts() {
  was_->setVisible(!leaves_out_was_ && !was_->text().isEmpty());
  change_->setVisible(!leaves_out_change_ && !change_->text().isEmpty());
  terms_->setText(has_brief_terms_ ? brief_terms_ : all_terms_);
  terms_->setVisible(!terms_->text().isEmpty());
  QStringList lines{how_, note_};
  if (has_brief_terms_) lines << all_terms_;
  if (leaves_out_was_) lines << was_->text();
  if (leaves_out_change_) lines << change_->text();
  lines.removeAll(QString());
  setToolTip(lines.join(u'\n'));
}

}  // namespace jointer::views
