#include "views/query/query_editor.h"

#include <QFontDatabase>
#include <QKeyEvent>

namespace jointer::views {
namespace {

constexpr int kMinLines = 4;

bool runs(const QKeyEvent& event) {
  return event.modifiers().testFlag(Qt::ControlModifier) &&
         (event.key() == Qt::Key_Return || event.key() == Qt::Key_Enter);
}

}  // namespace

QueryEditor::QueryEditor(QWidget* parent) : QPlainTextEdit(parent) {
  setObjectName(QStringLiteral("sql"));
  setAccessibleName(tr("Query"));
  setPlaceholderText(tr("SELECT ... FROM nodes"));
  QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  fixed.setPixelSize(fontInfo().pixelSize());
  setFont(fixed);
  setTabChangesFocus(true);
  setMinimumHeight(kMinLines * fontMetrics().lineSpacing());
}

// Claims Ctrl+Enter, which could otherwise trigger a shortcut of the window.
bool QueryEditor::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && runs(*static_cast<QKeyEvent*>(event))) {
    event->accept();
    return true;
  }
  return QPlainTextEdit::event(event);
}

void QueryEditor::keyPressEvent(QKeyEvent* event) {
  if (runs(*event)) return emit run_requested();
  QPlainTextEdit::keyPressEvent(event);
}

}  // namespace jointer::views
