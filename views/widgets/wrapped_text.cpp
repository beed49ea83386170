#include "views/widgets/wrapped_text.h"

#include <QHelpEvent>
#include <QToolTip>
#include <cmath>
#include <memory>

namespace jointer::views {
namespace {

constexpr int kUsualWidth = 400;

}  // namespace

WrappedText::WrappedText(const QString& text, QWidget* parent) : QTextEdit(parent) {
  setReadOnly(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setAutoFillBackground(false);
  document()->setDocumentMargin(0);
  setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  set_text(text);
}

void WrappedText::set_text(const QString& text) {
  setPlainText(text);
  setAccessibleName(text);
  updateGeometry();
}

int WrappedText::heightForWidth(int width) const {
  const std::unique_ptr<QTextDocument> copy(document()->clone());
  copy->setTextWidth(width);
  return static_cast<int>(std::ceil(copy->size().height()));
}

bool WrappedText::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QTextEdit::viewportEvent(event);
  const bool is_cut = heightForWidth(width()) > height();
  QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(),
                     is_cut ? toPlainText() : toolTip(), this);
  return true;
}

QSize WrappedText::sizeHint() const {
  return {kUsualWidth, heightForWidth(kUsualWidth)};
}

}  // namespace jointer::views
