#include "views/pipeline/parameter_field.h"

#include <QEvent>
#include <QGridLayout>
#include <QSignalBlocker>
#include <algorithm>

#include "core/pass/pipeline_text.h"
#include "views/pipeline/step_text.h"
#include "views/theme/fonts.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kNameLetters = 22;

// Parses a value in the syntax of a pipeline's text.
std::optional<PassValue> parsed(const QString& text) {
  const auto steps = parse_pipeline("p{v=" + text.toStdString() + "}");
  if (!steps || steps->size() != 1 || steps->front().given.size() != 1) return std::nullopt;
  return steps->front().given.front().second;
}

}  // namespace

std::optional<PassValue> typed_value(const Parameter& parameter, const QString& text) {
  QString typed = text.trimmed();
  if (typed.isEmpty()) return std::nullopt;
  if (parameter.type == Parameter::Type::list) {
    const QString list = typed.startsWith(u'[') ? typed : QStringLiteral("[%1]").arg(typed);
    if (auto value = parsed(list)) return value;
    return PassValue(typed.toStdString());
  }
  if (parameter.type == Parameter::Type::text && !typed.startsWith(u'"')) {
    if (typed == u"none" && parameter.takes_none()) return PassValue();
    return PassValue(typed.toStdString());
  }
  if (parameter.type == Parameter::Type::bytes) typed.remove(u' ');
  if (auto value = parsed(typed)) return value;
  return PassValue(typed.toStdString());
}

QString typed_text(const PassValue& value) {
  if (const auto* text = value.as<std::string>(); text != nullptr && !text->empty())
    return QString::fromStdString(*text);
  return QString::fromStdString(to_text(value));
}

ParameterField::ParameterField(const Parameter& parameter, bool is_stacked, QWidget* parent)
    : QWidget(parent), parameter_(parameter) {
  const QString name = QString::fromStdString(parameter_.name);
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 4);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(2);
  name_ = new QLabel(name, this);
  name_->setToolTip(parameter_text(parameter_));
  name_->setMinimumWidth(fontMetrics().averageCharWidth() * kNameLetters);
  QWidget* control = make_control();
  control->setAccessibleName(name);
  control->setAccessibleDescription(QString::fromStdString(parameter_.doc));
  control->setToolTip(parameter_text(parameter_));
  name_->setBuddy(control);
  reset_ = new QToolButton(this);
  reset_->setText(tr("Reset"));
  reset_->setAutoRaise(true);
  reset_->setAccessibleName(tr("Reset %1").arg(name));
  reset_->setToolTip(tr("Reset to %1").arg(typed_text(parameter_.default_value)));
  QSizePolicy kept = reset_->sizePolicy();
  kept.setRetainSizeWhenHidden(true);
  reset_->setSizePolicy(kept);
  connect(reset_, &QToolButton::clicked, this, [this] {
    if (line_ != nullptr) line_->clear();
    show_value(std::nullopt);
    emit edited(std::nullopt);
  });
  hint_ = make_text_label(this, 0, Qt::PlainText);
  hint_->setFont(small_font(font()));
  grid->addWidget(name_, 0, 0);
  const int row = is_stacked ? 1 : 0;
  grid->addWidget(control, row, is_stacked ? 0 : 1);
  grid->addWidget(reset_, row, is_stacked ? 1 : 2);
  grid->addWidget(hint_, row + 1, is_stacked ? 0 : 1, 1, 2);
  grid->setColumnStretch(is_stacked ? 0 : 1, 1);
  if (is_stacked) name_->setMinimumWidth(0);
  show_value(std::nullopt);
}

QWidget* ParameterField::make_control() {
  const bool is_flag = parameter_.type == Parameter::Type::boolean;
  if (is_flag && !parameter_.takes_none()) {
    check_ = new QCheckBox(this);
    connect(check_, &QCheckBox::toggled, this, [this](bool on) {
      check_->setText(on ? tr("yes") : tr("no"));
      commit(PassValue(on));
    });
    return check_;
  }
  std::vector<PassValue> choices;
  if (is_flag) choices = {PassValue(true), PassValue(false)};
  if (parameter_.type == Parameter::Type::text)
    choices.assign(parameter_.choices.begin(), parameter_.choices.end());
  if (!choices.empty()) {
    choice_ = new QComboBox(this);
    if (parameter_.takes_none()) choices.insert(choices.begin(), PassValue());
    for (const PassValue& each : choices) {
      const QString text = typed_text(each);
      choice_->addItem(each == parameter_.default_value ? tr("%1 (default)").arg(text) : text,
                       text);
    }
    connect(choice_, &QComboBox::activated, this, [this] {
      const QString text = choice_->currentData().toString();
      commit(text == u"none"                               ? PassValue()
             : parameter_.type == Parameter::Type::boolean ? PassValue(text == u"true")
                                                           : PassValue(text.toStdString()));
    });
    return choice_;
  }
  line_ = new QLineEdit(this);
  line_->setPlaceholderText(tr("%1 (default)").arg(typed_text(parameter_.default_value)));
  line_->setClearButtonEnabled(false);
  connect(line_, &QLineEdit::textEdited, this,
          [this](const QString& text) { commit(typed_value(parameter_, text)); });
  return line_;
}

// The default value is stored as nullopt.
void ParameterField::commit(const std::optional<PassValue>& value) {
  const auto stored = value && *value == parameter_.default_value ? std::nullopt : value;
  show_state(stored);
  emit edited(stored);
}

void ParameterField::show_value(const std::optional<PassValue>& given) {
  const PassValue& value = given ? *given : parameter_.default_value;
  if (check_ != nullptr) {
    const QSignalBlocker quiet(check_);
    const bool* on = value.as<bool>();
    check_->setChecked(on != nullptr && *on);
    check_->setText(check_->isChecked() ? tr("yes") : tr("no"));
  }
  if (choice_ != nullptr) {
    const int index = choice_->findData(typed_text(value));
    choice_->setCurrentIndex(index);  // -1 if the value is not one of the choices; the hint says so
  }
  // Keep the text as the user typed it if it already stands for this value.
  if (line_ != nullptr &&
      typed_value(parameter_, line_->text()).value_or(parameter_.default_value) != value)
    line_->setText(given ? typed_text(*given) : QString());
  show_state(given);
}

void ParameterField::show_state(const std::optional<PassValue>& given) {
  given_ = given;
  mistake_.clear();
  if (given)
    if (const auto fits = Arguments::check(std::span(&parameter_, 1), {{parameter_.name, *given}});
        !fits)
      mistake_ = QString::fromStdString(fits.error().message);
  reset_->setVisible(given.has_value());
  const Theme& theme = Theme::of(palette());
  set_color(*hint_, mistake_.isEmpty() ? theme.muted_text : theme.error);
  hint_->setText(mistake_.isEmpty() ? QString::fromStdString(parameter_.doc)
                                    : tr("Invalid: %1.").arg(mistake_));
  hint_->setVisible(!hint_->text().isEmpty());
  QFont font = name_->font();
  font.setBold(given.has_value());
  name_->setFont(font);
}

void ParameterField::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && hint_ != nullptr && hint_->parent() != nullptr)
    show_state(given_);
}

}  // namespace jointer::views
