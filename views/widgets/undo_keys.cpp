#include "views/widgets/undo_keys.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTextDocument>
#include <QTextEdit>

namespace jointer::views {
namespace {

// Returns true if the object is a field whose text has no change to undo or, if `redo`, to redo.
bool has_nothing_to(bool redo, const QObject& object) {
  const QTextDocument* document = nullptr;
  if (const auto* plain = qobject_cast<const QPlainTextEdit*>(&object))
    document = plain->document();
  else if (const auto* rich = qobject_cast<const QTextEdit*>(&object))
    document = rich->document();
  if (document != nullptr)
    return !(redo ? document->isRedoAvailable() : document->isUndoAvailable());
  const auto* line = qobject_cast<const QLineEdit*>(&object);
  if (const auto* box = qobject_cast<const QComboBox*>(&object)) line = box->lineEdit();
  if (qobject_cast<const QAbstractSpinBox*>(&object) != nullptr)
    line = object.findChild<QLineEdit*>();
  return line != nullptr && !(redo ? line->isRedoAvailable() : line->isUndoAvailable());
}

}  // namespace

UndoKeys::UndoKeys(QObject* parent) : QObject(parent) {
  qApp->installEventFilter(this);
}

bool UndoKeys::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride) return false;
  const auto* key = static_cast<const QKeyEvent*>(event);
  const bool redo = key->matches(QKeySequence::Redo);
  if (!redo && !key->matches(QKeySequence::Undo)) return false;
  if (!has_nothing_to(redo, *watched)) return false;
  event->ignore();
  return true;
}

}  // namespace jointer::views
