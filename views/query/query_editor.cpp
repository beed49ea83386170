#include "views/query/query_editor.h"

#include <QFontDatabase>
#include <QKeyEvent>
#include <algorithm>
#include <cmath>

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
  setMinimumHeight(kMinLines * fontMetrics().lineSpacing() + edges());
}

// The height that lines cannot use: the frame, and the margin above the text. The margin below the
// text does not count, because a part of the next line shows in it.
int QueryEditor::edges() const {
  return 2 * frameWidth() + static_cast<int>(std::ceil(document()->documentMargin()));
}

// Leaves no space for a part of a line below the last one: the editor scrolls by whole lines, so
// that line would always be cut off.
void QueryEditor::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  const int rest = std::max(0, height() - edges()) % fontMetrics().lineSpacing();
  if (rest != viewportMargins().bottom()) setViewportMargins(0, 0, 0, rest);
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
