#include "views/pipeline/step_form.h"

#include <QEvent>
#include <algorithm>

#include "views/session/text/node_text.h"
#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr std::size_t kLongName = 24;  // if a name is longer, all names are above their controls

// Qt's Fusion style outlines controls in a darker shade of the window color, which is barely
// visible in a dark theme.
void outline_controls(QWidget& page, const Theme& theme) {
  page.setStyleSheet(
      QStringLiteral("QLineEdit { border: 1px solid %1; border-radius: 3px; padding: 2px 4px; }"
                     "QLineEdit:focus { border-color: %2; }"
                     "QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid %1;"
                     "  border-radius: 2px; }"
                     "QCheckBox::indicator:checked { background: %2; border-color: %2; }"
                     "QCheckBox:focus { color: %2; }")
          .arg(theme.ghost.name(), theme.accent.name()));
}

}  // namespace

StepForm::StepForm(PipelineSession& session, QWidget* parent)
    : QScrollArea(parent), session_(session) {
  setFrameShape(NoFrame);
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName(tr("Step parameters"));
  page_ = new QWidget(this);
  page_->setBackgroundRole(QPalette::Base);
  page_->setAutoFillBackground(true);
  outline_controls(*page_, Theme::of(palette()));
  column_ = make_column(page_, {kMargin, kMargin, kMargin, kMargin}, 4);
  const auto add_label = [this](bool is_muted) {
    QLabel* label = make_text_label(page_, 0, Qt::PlainText);
    if (is_muted) label->setForegroundRole(QPalette::PlaceholderText);
    column_->addWidget(label);
    return label;
  };
  title_ = add_label(false);
  title_->setFont(bold_font(title_->font()));
  summary_ = add_label(false);
  notes_ = add_label(true);
  notes_->setFont(small_font(font()));
  mistake_ = add_label(false);
  load_ = new QPushButton(tr("Load..."), page_);
  load_->setObjectName(QStringLiteral("load"));
  column_->addWidget(load_, 0, Qt::AlignLeft);
  column_->addSpacing(4);
  column_->addStretch(1);
  setWidget(page_);
  connect(load_, &QPushButton::clicked, this, [this] {
    const auto place = session_.draft().find(id_);
    if (!place) return;
    const QString pass = to_qstring(session_.draft().steps()[*place].step.pass);
    if (const auto code = session_.service().code_at(session_.draft().source_of(pass)))
      emit load_wanted(*code);
  });
  connect(&session_, &PipelineSession::changed, this, &StepForm::refresh);
  refresh();
}

ParameterField* StepForm::field(const QString& name) const {
  for (ParameterField* each : fields_)
    if (each->parameter().name == name.toStdString()) return each;
  return nullptr;
}

void StepForm::focus_first() {
  for (const ParameterField* each : fields_)
    for (auto* control : each->findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
      if (control->focusPolicy() != Qt::NoFocus && control != &each->hint())
        return control->setFocus(Qt::TabFocusReason);
}

void StepForm::show_step(quint64 id) {
  id_ = id;
  shown_registry_.reset();  // recreates the fields even for the same pass
  refresh();
}

void StepForm::refresh() {
  const auto place = session_.draft().find(id_);
  title_->setVisible(place.has_value());
  if (!place) return show_nothing();
  const PipelineStep& step = session_.draft().steps()[*place].step;
  const auto registry = session_.service().registry();
  const Pass* pass = registry->find(step.pass);
  if (registry != shown_registry_ || step.pass != shown_pass_) {
    shown_registry_ = registry;
    shown_pass_ = step.pass;
    make_fields(pass);
  }
  show_values();
  // Fields show errors in their values; this label shows errors in the step as a whole.
  const bool is_at_field =
      std::ranges::any_of(fields_, [](const ParameterField* f) { return !f->mistake().isEmpty(); });
  mistake_->setText(is_at_field ? QString() : session_.mistake(*place));
  mistake_->setVisible(!mistake_->text().isEmpty());
  set_color(*mistake_, Theme::of(palette()).error);
  const QString source = session_.draft().source_of(to_qstring(step.pass));
  load_->setVisible(pass == nullptr && session_.service().code_at(source).has_value());
}

void StepForm::show_nothing() {
  shown_registry_.reset();
  for (ParameterField* each : fields_) delete each;
  fields_.clear();
  for (QWidget* each : {static_cast<QWidget*>(notes_), static_cast<QWidget*>(mistake_),
                        static_cast<QWidget*>(load_)})
    each->hide();
  summary_->setForegroundRole(QPalette::PlaceholderText);
  summary_->setText(tr("Select a step to set its parameters."));
  summary_->show();
}

void StepForm::make_fields(const Pass* pass) {
  for (ParameterField* each : fields_) delete each;
  fields_.clear();
  title_->setText(to_qstring(shown_pass_));
  summary_->setForegroundRole(QPalette::WindowText);
  summary_->setVisible(pass != nullptr);
  notes_->setVisible(pass != nullptr);
  if (pass == nullptr) return;
  const PassInfo& info = pass->info;
  summary_->setText(to_qstring(info.summary));
  QStringList notes{tr("stage: %1").arg(to_qstring(to_string(info.stage))),
                    tr("source: %1").arg(to_qstring(info.source))};
  if (!info.keeps_numerics) notes << tr("outputs may differ bitwise");
  if (info.parameters.empty()) notes << tr("no parameters");
  notes_->setText(notes.join(QStringLiteral(" · ")));
  const bool is_stacked = std::any_of(info.parameters.begin(), info.parameters.end(),
                                      [](const Parameter& p) { return p.name.size() > kLongName; });
  for (const Parameter& parameter : info.parameters) {
    auto* field = new ParameterField(parameter, is_stacked, page_);
    column_->insertWidget(column_->count() - 1, field);
    fields_.push_back(field);
    connect(field, &ParameterField::edited, this,
            [this, name = parameter.name](const std::optional<PassValue>& value) {
              if (const auto place = session_.draft().find(id_))
                session_.draft().set_argument(*place, name, value);
            });
  }
  // Make the tab order follow the reading order.
  QWidget* before = load_;
  for (const ParameterField* each : fields_)
    for (QWidget* control :
         {static_cast<QWidget*>(each->line()), static_cast<QWidget*>(each->check()),
          static_cast<QWidget*>(each->choice()), static_cast<QWidget*>(&each->reset())}) {
      if (control == nullptr) continue;
      setTabOrder(before, control);
      before = control;
    }
}

void StepForm::show_values() {
  const PipelineStep& step = session_.draft().steps()[*session_.draft().find(id_)].step;
  for (ParameterField* field : fields_) {
    const auto given = std::ranges::find_if(
        step.given, [&](const auto& each) { return each.first == field->parameter().name; });
    field->show_value(given == step.given.end() ? std::nullopt : std::optional(given->second));
  }
}

void StepForm::changeEvent(QEvent* event) {
  QScrollArea::changeEvent(event);
  if (event->type() != QEvent::PaletteChange || load_ == nullptr) return;
  outline_controls(*page_, Theme::of(palette()));
  if (id_ != 0) refresh();
}

}  // namespace jointer::views
