#include "views/sac/pareto_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "views/document/number_text.h"
#include "views/edit/metrics.h"
#include "views/theme/fonts.h"
#include "views/theme/theme.h"
#include "views/timeline/hover_card.h"

namespace jointer::views {
namespace {

constexpr int kLeft = 64, kBottom = 34, kTop = 10, kRight = 14;
constexpr int kReach = 12, kRadius = 4;
constexpr double kRoom = 0.06;
constexpr double kTickPixels = 70;
constexpr int kTickRoom = 32;  // half of a label

// The curve: budgets and presets that no other is better than in both, by growing peak.
std::vector<ParetoMark> front_of(const std::vector<ParetoMark>& marks) {
  std::vector<ParetoMark> sorted, front;
  for (const ParetoMark& mark : marks)
    if (mark.kind == ParetoKind::curve || mark.kind == ParetoKind::preset) sorted.push_back(mark);
  std::stable_sort(sorted.begin(), sorted.end(), [](const ParetoMark& a, const ParetoMark& b) {
    return std::pair(a.peak_bytes, a.step_ns) < std::pair(b.peak_bytes, b.step_ns);
  });
  for (ParetoMark& mark : sorted)
    if (front.empty() || mark.step_ns < front.back().step_ns) front.push_back(std::move(mark));
  return front;
}

}  // namespace

ParetoScale::ParetoScale(const std::vector<ParetoMark>& marks, QRectF where) : area(where) {
  if (marks.empty()) return;
  const auto by = [&](auto value) {
    const auto [least, most] = std::minmax_element(
        marks.begin(), marks.end(),
        [&](const ParetoMark& a, const ParetoMark& b) { return value(a) < value(b); });
    // One point, or several at one place, stand in the middle.
    const double middle = static_cast<double>(value(*least));
    const double span =
        std::max(static_cast<double>(value(*most)) - middle, std::max(middle * 0.01, 1.0));
    return std::pair{middle - span * kRoom, middle + span * (1 + kRoom)};
  };
  std::tie(least_bytes, most_bytes) = by([](const ParetoMark& m) { return m.peak_bytes; });
  std::tie(least_ns, most_ns) = by([](const ParetoMark& m) { return m.step_ns; });
}

QPointF ParetoScale::place(const ParetoMark& mark) const {
  const double x =
      (static_cast<double>(mark.peak_bytes) - least_bytes) / (most_bytes - least_bytes);
  const double y = (static_cast<double>(mark.step_ns) - least_ns) / (most_ns - least_ns);
  return {area.left() + x * area.width(), area.bottom() - y * area.height()};
}

ParetoPlot::ParetoPlot(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(200, 140);
  setAccessibleName(tr("Peak memory against step time"));
}

void ParetoPlot::set_marks(std::vector<ParetoMark> marks) {
  if (marks == marks_) return;
  // What is under the keys stays if it is still there.
  std::optional<ParetoMark> kept;
  if (current_) kept = marks_[*current_];
  marks_ = std::move(marks);
  current_.reset();
  if (kept)
    if (const auto at = std::find(marks_.begin(), marks_.end(), *kept); at != marks_.end())
      current_ = static_cast<std::size_t>(at - marks_.begin());
  update();
}

void ParetoPlot::set_hint(const QString& hint) {
  hint_ = hint;
  update();
}

ParetoScale ParetoPlot::scale() const {
  return {marks_, QRectF(rect().adjusted(kLeft, kTop, -kRight, -kBottom))};
}

QPoint ParetoPlot::place_of(std::size_t mark) const {
  return scale().place(marks_[mark]).toPoint();
}

// The nearest within reach; of several the one that is drawn on top.
std::optional<std::size_t> ParetoPlot::mark_at(QPoint at) const {
  const ParetoScale s = scale();
  std::optional<std::size_t> found;
  double nearest = kReach;
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const QPointF place = s.place(marks_[i]);
    const double distance = std::hypot(place.x() - at.x(), place.y() - at.y());
    if (distance > nearest) continue;
    nearest = distance;
    found = i;
  }
  return found;
}

QStringList ParetoPlot::lines_of(std::size_t index) const {
  const ParetoMark& mark = marks_[index];
  QStringList lines{
      mark.name, tr("peak %1, step %2").arg(bytes_text(mark.peak_bytes), time_text(mark.step_ns))};
  const auto now = std::find_if(marks_.begin(), marks_.end(),
                                [](const ParetoMark& m) { return m.kind == ParetoKind::now; });
  if (now != marks_.end() && mark.kind != ParetoKind::now) {
    lines << tr("against now: peak %1, step %2")
                 .arg(bytes_difference_text(now->peak_bytes, mark.peak_bytes),
                      time_difference_text(now->step_ns, mark.step_ns));
    lines << tr("Click to take it.");
  }
  return lines;
}

// --- Painting ---

void ParetoPlot::paint_axes(QPainter& painter, const ParetoScale& s) const {
  const Theme& theme = Theme::of(palette());
  const int text_height = painter.fontMetrics().height();
  const double gib = static_cast<double>(std::int64_t{1} << 30);
  struct Ticks {
    std::vector<double> at;
    int decimals = 0;  // that tell one from the next
  };
  const auto ticks = [](double least, double most, double pixels) {
    const double rough = (most - least) / std::max(pixels / kTickPixels, 1.0);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    const double unit = rough / power <= 1   ? 1
                        : rough / power <= 2 ? 2
                        : rough / power <= 5 ? 5
                                             : 10;
    const double step = unit * power;
    Ticks found{.at = {}, .decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step))))};
    for (double t = std::ceil(least / step) * step; t <= most; t += step) found.at.push_back(t);
    return found;
  };
  const Ticks of_bytes = ticks(s.least_bytes / gib, s.most_bytes / gib, s.area.width());
  for (const double bytes : of_bytes.at) {
    const ParetoMark at{.kind = {},
                        .name = {},
                        .peak_bytes = static_cast<std::int64_t>(bytes * gib),
                        .step_ns = static_cast<std::int64_t>(s.least_ns)};
    const int x = static_cast<int>(s.place(at).x());
    painter.fillRect(QRect(x, static_cast<int>(s.area.top()), 1, static_cast<int>(s.area.height())),
                     theme.grid);
    painter.setPen(theme.muted_text);
    if (x + kTickRoom > width()) continue;
    painter.drawText(QRect(x - 45, static_cast<int>(s.area.bottom()) + 3, 90, text_height),
                     Qt::AlignCenter, tr("%1 GiB").arg(bytes, 0, 'f', of_bytes.decimals));
  }
  const bool in_seconds = s.most_ns >= 1e9;
  const double unit_ns = in_seconds ? 1e9 : 1e6;
  const Ticks of_time = ticks(s.least_ns / unit_ns, s.most_ns / unit_ns, s.area.height() * 1.6);
  for (const double time : of_time.at) {
    const ParetoMark at{.kind = {},
                        .name = {},
                        .peak_bytes = static_cast<std::int64_t>(s.least_bytes),
                        .step_ns = static_cast<std::int64_t>(time * unit_ns)};
    const int y = static_cast<int>(s.place(at).y());
    painter.fillRect(QRect(static_cast<int>(s.area.left()), y, static_cast<int>(s.area.width()), 1),
                     theme.grid);
    painter.setPen(theme.muted_text);
    painter.drawText(QRect(0, y - text_height / 2, kLeft - 6, text_height),
                     Qt::AlignRight | Qt::AlignVCenter,
                     (in_seconds ? tr("%1 s") : tr("%1 ms")).arg(time, 0, 'f', of_time.decimals));
  }
  painter.setPen(theme.muted_text);
  painter.drawText(QRect(kLeft, height() - text_height - 1, width() - kLeft - kRight, text_height),
                   Qt::AlignRight | Qt::AlignVCenter, tr("peak memory →   step time ↑"));
}

// Marks that stand at one place have one label, at the first of them.
QString ParetoPlot::label_of(const ParetoScale& s, std::size_t index) const {
  QStringList names;
  const QPointF at = s.place(marks_[index]);
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const QPointF other = s.place(marks_[i]);
    if (marks_[i].kind == ParetoKind::curve ||
        std::hypot(other.x() - at.x(), other.y() - at.y()) > kRadius)
      continue;
    if (i < index) return {};
    names << marks_[i].name;
  }
  return marks_[index].kind == ParetoKind::curve ? QString() : names.join(QStringLiteral(", "));
}

void ParetoPlot::paint_mark(QPainter& painter, const ParetoScale& s, std::size_t index,
                            std::vector<QRectF>& labels) const {
  const Theme& theme = Theme::of(palette());
  const ParetoMark& mark = marks_[index];
  const QPointF at = s.place(mark);
  painter.setPen(current_ == index ? QPen(theme.text, 2) : QPen(theme.surface, 1));
  const double r = kRadius + (current_ == index ? 1.5 : 0);
  switch (mark.kind) {
    case ParetoKind::curve:
      painter.setBrush(theme.accent);
      painter.drawEllipse(at, r - 1, r - 1);
      break;
    case ParetoKind::preset:
      painter.setBrush(theme.category(MemoryCategory::output));
      painter.drawRect(QRectF(at.x() - r, at.y() - r, 2 * r, 2 * r));
      break;
    case ParetoKind::snapshot: {
      QPainterPath path(at + QPointF(0, -r - 1));
      path.lineTo(at + QPointF(r + 1, 0));
      path.lineTo(at + QPointF(0, r + 1));
      path.lineTo(at + QPointF(-r - 1, 0));
      path.closeSubpath();
      painter.setBrush(theme.category(MemoryCategory::recomputed));
      painter.drawPath(path);
      break;
    }
    case ParetoKind::now:
      painter.setBrush(theme.warning);
      painter.drawEllipse(at, r + 1, r + 1);
      break;
  }
  const QString name = label_of(s, index);
  if (name.isEmpty()) return;
  // Beside it, on the side where there is room.
  const int wide = painter.fontMetrics().horizontalAdvance(name) + 2;
  const bool to_left = at.x() + r + 6 + wide > width();
  QRectF label(to_left ? at.x() - r - 5 - wide : at.x() + r + 5, at.y() - 9, wide, 18);
  // Over what is written there already.
  while (std::any_of(labels.begin(), labels.end(),
                     [&](const QRectF& other) { return other.intersects(label); }))
    label.translate(0, -label.height());
  labels.push_back(label);
  painter.setPen(theme.text);
  painter.drawText(label, Qt::AlignVCenter | Qt::AlignLeft, name);
}

void ParetoPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme& theme = Theme::of(palette());
  painter.fillRect(rect(), theme.surface);
  painter.setFont(small_font(font()));
  if (marks_.empty()) {
    painter.setPen(theme.muted_text);
    painter.drawText(rect().adjusted(12, 0, -12, 0), Qt::AlignCenter | Qt::TextWordWrap, hint_);
    return;
  }
  const ParetoScale s = scale();
  paint_axes(painter, s);
  painter.setRenderHint(QPainter::Antialiasing);
  QPolygonF line;
  for (const ParetoMark& mark : front_of(marks_)) line << s.place(mark);
  painter.setPen(QPen(theme.half(theme.accent), 2));
  painter.drawPolyline(line);
  std::vector<QRectF> labels;
  for (std::size_t i = 0; i < marks_.size(); ++i) paint_mark(painter, s, i, labels);
  painter.setRenderHint(QPainter::Antialiasing, false);
  if (current_)
    paint_card(painter, scale().place(marks_[*current_]).toPoint(), rect(), lines_of(*current_),
               theme);
}

// --- Input ---

void ParetoPlot::mouseMoveEvent(QMouseEvent* event) {
  const auto at = mark_at(event->position().toPoint());
  setCursor(at && marks_[*at].kind != ParetoKind::now ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (at == current_) return;
  current_ = at;
  update();
}

void ParetoPlot::leaveEvent(QEvent* /*event*/) {
  current_.reset();
  update();
}

void ParetoPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const auto at = mark_at(event->position().toPoint());
  if (at && marks_[*at].kind != ParetoKind::now) emit chosen(*at);
}

// From left to right, whatever kind they are.
void ParetoPlot::step(int direction) {
  if (marks_.empty()) return;
  std::vector<std::size_t> order(marks_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return marks_[a].peak_bytes < marks_[b].peak_bytes;
  });
  const auto at = current_ ? std::find(order.begin(), order.end(), *current_) : order.end();
  if (at == order.end())
    current_ = direction > 0 ? order.front() : order.back();
  else if (direction > 0 && at + 1 != order.end())
    current_ = *(at + 1);
  else if (direction < 0 && at != order.begin())
    current_ = *(at - 1);
  update();
}

void ParetoPlot::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      return step(event->key() == Qt::Key_Right ? 1 : -1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (current_ && marks_[*current_].kind != ParetoKind::now) emit chosen(*current_);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace jointer::views
