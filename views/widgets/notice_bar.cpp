#include "views/widgets/notice_bar.h"

#include <QPainter>

#include "views/theme/theme.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kStripe = 4;

}  // namespace

NoticeBar::NoticeBar(QWidget* parent, Tone tone) : QFrame(parent), tone_(tone) {
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  QHBoxLayout* row = make_row(this, {10 + kStripe, 4, 6, 4});
  text_ = new WrappedText({}, this);
  row->addWidget(text_, 1, Qt::AlignVCenter);
}

void NoticeBar::set_text(const QString& text) {
  text_->set_text(text);
  setAccessibleName(text);
}

QPushButton* NoticeBar::add_button(const QString& text, const char* name) {
  return add_control(*layout(), new QPushButton(text, this), name);
}

void NoticeBar::paintEvent(QPaintEvent* event) {
  QFrame::paintEvent(event);
  QPainter painter(this);
  painter.fillRect(QRect(0, 0, kStripe, height()), tone_ == Tone::warning
                                                       ? Theme::of(palette()).warning
                                                       : palette().color(QPalette::Highlight));
}

}  // namespace jointer::views
