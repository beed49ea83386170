#include "views/widgets/histogram_plot.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"

namespace jointer::views {
namespace {

constexpr int kBars = 52, kMinBars = 12, kMinBar = 2;  // heights in pixels
constexpr int kGap = 3;                                // between bars and labels

}  // namespace

HistogramPlot::HistogramPlot(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::TabFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
}

QSize HistogramPlot::sizeHint() const {
  return {200, kBars + kGap + QFontMetrics(small_font(font())).height()};
}

QSize HistogramPlot::minimumSizeHint() const {
  return {60, sizeHint().height() - kBars + kMinBars};
}

void HistogramPlot::show_bins(std::vector<ValueBin> bins,
                              std::function<QString(std::int64_t)> text_of,
                              std::function<QString(const ValueBin&)> tip_of) {
  bins_ = std::move(bins);
  text_of_ = std::move(text_of);
  tip_of_ = std::move(tip_of);
  mark(std::nullopt);  // it was a bar of the previous bins
  update();
}

QRect HistogramPlot::plot() const {
  const int labels = sizeHint().height() - kBars;
  return {kNarrowMargin, 0, std::max(width() - 2 * kNarrowMargin, 1),
          std::max(height() - labels, 1)};
}

QRect HistogramPlot::column(std::size_t bin) const {
  const QRect area = plot();
  const auto edge = [&](std::size_t i) {
    return area.left() +
           static_cast<int>(static_cast<std::size_t>(area.width()) * i / bins_.size());
  };
  return {edge(bin), area.top(), edge(bin + 1) - edge(bin), area.height()};
}

std::optional<std::size_t> HistogramPlot::bin_at(QPoint at) const {
  for (std::size_t bin = 0; bin < bins_.size(); ++bin)
    if (column(bin).contains(at)) return bin;
  return std::nullopt;
}

void HistogramPlot::paintEvent(QPaintEvent* /*event*/) {
  if (bins_.empty()) return;
  QPainter painter(this);
  const Theme& theme = Theme::of(palette());
  const std::size_t max_count = std::ranges::max(bins_, {}, &ValueBin::count).count();
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    const QRect area = column(bin);
    if (marked_ == bin) painter.fillRect(area, theme.bed);
    if (bins_[bin].count() == 0) continue;
    const int height = std::max(
        static_cast<int>(static_cast<std::size_t>(area.height()) * bins_[bin].count() / max_count),
        kMinBar);
    painter.fillRect(
        QRect(area.left(), area.bottom() + 1 - height, std::max(area.width() - 1, 1), height),
        marked_ == bin ? theme.accent : theme.half(theme.accent));
  }
  painter.setPen(theme.border);
  painter.drawLine(plot().left(), plot().bottom() + 1, plot().right(), plot().bottom() + 1);
  painter.setFont(small_font(font()));
  painter.setPen(theme.muted_text);
  const QRect labels(plot().left(), plot().bottom() + 1 + kGap, plot().width(),
                     height() - plot().bottom() - 1 - kGap);
  painter.drawText(labels, Qt::AlignLeft | Qt::AlignTop, text_of_(bins_.front().low));
  if (bins_.back().high != bins_.front().low)
    painter.drawText(labels, Qt::AlignRight | Qt::AlignTop, text_of_(bins_.back().high));
  if (hasFocus()) {
    painter.setPen(theme.accent);
    painter.drawRect(plot().adjusted(0, 0, -1, 0));
  }
}

void HistogramPlot::mark(std::optional<std::size_t> bin) {
  if (std::exchange(marked_, bin) == bin) return;
  setAccessibleDescription(bin ? tip_of_(bins_[*bin]) : QString());
  update();
}

bool HistogramPlot::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const auto bin = bin_at(help->pos()))
      QToolTip::showText(help->globalPos(), tip_of_(bins_[*bin]), this, column(*bin));
    else
      QToolTip::hideText();
    return true;
  }
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  return QWidget::event(event);
}

void HistogramPlot::mouseMoveEvent(QMouseEvent* event) {
  const auto bin = bin_at(event->pos());
  mark(bin);
  const bool is_clickable = bin && bins_[*bin].count() > 0;
  setCursor(is_clickable ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void HistogramPlot::leaveEvent(QEvent* event) {
  mark(std::nullopt);
  QWidget::leaveEvent(event);
}

void HistogramPlot::mousePressEvent(QMouseEvent* event) {
  const auto bin = event->button() == Qt::LeftButton ? bin_at(event->pos()) : std::nullopt;
  if (bin && bins_[*bin].count() > 0) emit bin_chosen(*bin);
}

void HistogramPlot::keyPressEvent(QKeyEvent* event) {
  if (bins_.empty()) return QWidget::keyPressEvent(event);
  const std::size_t last = bins_.size() - 1;
  switch (event->key()) {
    case Qt::Key_Left:
      return mark(marked_ ? std::max<std::size_t>(*marked_, 1) - 1 : last);
    case Qt::Key_Right:
      return mark(marked_ ? std::min(*marked_ + 1, last) : 0);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (marked_ && bins_[*marked_].count() > 0) emit bin_chosen(*marked_);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace jointer::views
