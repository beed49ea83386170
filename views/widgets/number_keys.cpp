#include "views/widgets/number_keys.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QLineEdit>

namespace jointer::views {
namespace {

bool is_letter(const QKeyEvent& key) {
  const bool is_plain = (key.modifiers() & ~Qt::ShiftModifier) == Qt::NoModifier;
  return is_plain && key.text().size() == 1 && key.text().front().isLetter();
}

// Returns true if the field's text with this letter added could be, or become, a valid value.
bool can_use(const QAbstractSpinBox& field, const QString& letter) {
  const auto* line = field.findChild<QLineEdit*>();
  QString text = line->text();
  int place = line->cursorPosition();
  if (line->hasSelectedText()) {
    place = line->selectionStart();
    text.remove(place, line->selectedText().size());
  }
  text.insert(place++, letter);
  return field.validate(text, place) != QValidator::Invalid;
}

}  // namespace

NumberKeys::NumberKeys(QObject* parent) : QObject(parent) {
  qApp->installEventFilter(this);
}

bool NumberKeys::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride) return false;
  const auto* field = qobject_cast<const QAbstractSpinBox*>(watched);
  const auto* key = static_cast<const QKeyEvent*>(event);
  if (field == nullptr || !is_letter(*key) || can_use(*field, key->text())) return false;
  event->ignore();
  return true;
}

}  // namespace jointer::views
