#include "views/widgets/pareto_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "views/session/edit/metrics.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"
#include "views/theme/fonts.h"
#include "views/theme/theme.h"
#include "views/widgets/hover_card.h"
#include "views/widgets/label_places.h"

namespace jointer::views {
namespace {

constexpr int kLeft = 64, kBottom = 34, kTop = 10, kRight = 14;
constexpr int kReach = 12, kLabelHeight = 16, kLabelDistance = kMarkRadius + 5;
constexpr double kRoom = 0.06;
constexpr double kTickPixels = 70;
constexpr int kTickRoom = 32;  // half of a label
constexpr int kLegendLine = 18, kLegendGap = 14, kSwatch = 14, kBoundSwatch = 11;

std::int64_t bytes_of(const ParetoMark& mark, LimitedMemory memory) {
  return memory == LimitedMemory::reserved ? mark.reserved_bytes.value_or(0) : mark.peak_bytes;
}

// The Pareto front of the plans, except for named states, or of the pipelines, sorted by memory.
std::vector<ParetoMark> front_of(const std::vector<ParetoMark>& marks, bool of_pipelines,
                                 LimitedMemory memory) {
  std::vector<ParetoMark> sorted, front;
  for (const ParetoMark& mark : marks)
    if (mark.kind != ParetoKind::named && is_pipeline(mark.kind) == of_pipelines)
      sorted.push_back(mark);
  std::ranges::stable_sort(sorted, {}, [&](const ParetoMark& each) {
    return std::pair(bytes_of(each, memory), each.step_ns);
  });
  for (ParetoMark& mark : sorted)
    if (front.empty() || mark.step_ns < front.back().step_ns) front.push_back(std::move(mark));
  return front;
}

// The lower bound at each peak for which it is known, sorted by peak.
std::vector<ParetoMark> bound_of(const std::vector<ParetoMark>& marks) {
  std::vector<ParetoMark> found;
  for (ParetoMark mark : marks) {
    if (mark.bound_ns == 0) continue;
    mark.step_ns = mark.bound_ns;
    found.push_back(std::move(mark));
  }
  std::ranges::stable_sort(found, {}, &ParetoMark::peak_bytes);
  return found;
}

QPen pen_of_bound(const Theme& theme) {
  return {theme.muted_text, 1, Qt::DashLine};
}

// Returns true for kinds with labels. There are too many marks of the other kinds to label them.
bool has_label(ParetoKind kind) {
  return kind != ParetoKind::curve && kind != ParetoKind::budget && kind != ParetoKind::pipeline;
}

// Labels of a higher rank are placed first: those of the best pipeline and of the current plan.
int rank_of(ParetoKind kind) {
  switch (kind) {
    case ParetoKind::tuned:
    case ParetoKind::now:
      return 2;
    case ParetoKind::start:
    case ParetoKind::named:
      return 1;
    default:
      return 0;
  }
}

// The kinds of marks that the legend explains.
std::vector<ParetoKind> legend_of(const std::vector<ParetoMark>& marks) {
  std::vector<ParetoKind> kinds;
  for (const ParetoMark& mark : marks)
    if (!legend_text(mark.kind).isEmpty()) kinds.push_back(mark.kind);
  std::ranges::sort(kinds);
  const auto same = std::ranges::unique(kinds);
  kinds.erase(same.begin(), same.end());
  return kinds;
}

// The texts of the legend's entries: one for each of these kinds, and one for the bound if there is
// a line of it.
QStringList legend_texts(const std::vector<ParetoMark>& marks) {
  QStringList texts;
  for (const ParetoKind kind : legend_of(marks)) texts << legend_text(kind);
  if (bound_of(marks).size() > 1) texts << tr("lower bound on the step time");
  return texts;
}

}  // namespace

ParetoScale::ParetoScale(const std::vector<ParetoMark>& marks, QRectF where, LimitedMemory of)
    : area(where), memory(of) {
  if (marks.empty()) return;
  const auto by = [&](auto value) {
    const auto [min, max] = std::minmax_element(
        marks.begin(), marks.end(),
        [&](const ParetoMark& a, const ParetoMark& b) { return value(a) < value(b); });
    // The axis covers at least 1% of the minimum.
    const double low = static_cast<double>(value(*min));
    const double span = std::max({static_cast<double>(value(*max)) - low, low * 0.01, 1.0});
    return std::pair{low - span * kRoom, low + span * (1 + kRoom)};
  };
  std::tie(min_bytes, max_bytes) = by([&](const ParetoMark& m) { return bytes_of(m, memory); });
  std::tie(min_ns, max_ns) = by([](const ParetoMark& m) { return m.step_ns; });
  const double lowest = min_ns;
  for (const ParetoMark& mark : marks)
    if (mark.bound_ns > 0)
      min_ns = std::min(min_ns, static_cast<double>(mark.bound_ns) - (max_ns - lowest) * kRoom);
}

QPointF ParetoScale::place(const ParetoMark& mark) const {
  return place(static_cast<double>(bytes_of(mark, memory)), static_cast<double>(mark.step_ns));
}

QPointF ParetoScale::place(double bytes, double ns) const {
  const double x = (bytes - min_bytes) / (max_bytes - min_bytes);
  const double y = (ns - min_ns) / (max_ns - min_ns);
  return {area.left() + x * area.width(), area.bottom() - y * area.height()};
}

ParetoPlot::ParetoPlot(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(200, 100);
  setAccessibleName(tr("Step time against memory"));
  plan_action_ = tr("Click to use this plan.");
}

void ParetoPlot::set_marks(std::vector<ParetoMark> marks, LimitedMemory memory) {
  if (marks == marks_ && memory == memory_) return;
  if (std::exchange(memory_, memory) != memory) framed_.clear();
  // Keep the highlighted mark if it still exists.
  std::optional<ParetoMark> kept;
  if (current_) kept = marks_[*current_];
  marks_ = std::move(marks);
  if (marks_.empty()) framed_.clear();
  for (const ParetoMark& mark : marks_)
    if (std::ranges::find(framed_, mark) == framed_.end()) framed_.push_back(mark);
  std::optional<std::size_t> current;
  if (kept)
    if (const auto at = std::find(marks_.begin(), marks_.end(), *kept); at != marks_.end())
      current = static_cast<std::size_t>(at - marks_.begin());
  highlight(current);
}

void ParetoPlot::set_hint(const QString& hint) {
  hint_ = hint;
  update();
}

void ParetoPlot::set_current(std::size_t mark) {
  highlight(mark);
}

void ParetoPlot::highlight(std::optional<std::size_t> mark) {
  current_ = mark;
  setAccessibleDescription(mark ? lines_of(*mark).join(u'\n') : QString());
  update();
}

// The legend keeps space for all kinds that are or were shown, so that marks do not move when it
// changes.
ParetoScale ParetoPlot::scale() const {
  const std::vector<QRect> entries = legend_places(legend_texts(framed_));
  const int top = entries.empty() ? kTop : entries.back().bottom() + kTop;
  return {framed_, QRectF(rect().adjusted(kLeft, top, -kRight, -kBottom)), memory_};
}

std::vector<ParetoKind> ParetoPlot::legend() const {
  return legend_of(marks_);
}

QStringList ParetoPlot::legend_entries() const {
  return legend_texts(marks_);
}

std::vector<QRect> ParetoPlot::legend_places(const QStringList& texts) const {
  const QFontMetrics metrics(small_font(font()));
  std::vector<QRect> places;
  QPoint at(kLeft, 2);
  for (const QString& text : texts) {
    const QSize size(kSwatch + metrics.horizontalAdvance(text) + 1, kLegendLine);
    if (at.x() > kLeft && at.x() + size.width() > width() - kRight)
      at = QPoint(kLeft, at.y() + kLegendLine);
    places.emplace_back(at, size);
    at.rx() += size.width() + kLegendGap;
  }
  return places;
}

QPoint ParetoPlot::place_of(std::size_t mark) const {
  return scale().place(marks_[mark]).toPoint();
}

// The nearest mark within reach; if several are equally near, the one drawn on top.
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
  QStringList lines{mark.name, plan_text(mark.peak_bytes, mark.reserved_bytes, mark.step_ns)};
  if (!mark.order.isEmpty()) lines << tr("ordered by %1").arg(mark.order);
  if (mark.bound_ns > 0)
    lines << (mark.is_bound_of_any_order
                  ? tr("lower bound on the step time at this peak, in any order, without "
                       "communication: %1 (%2% less)")
                  : tr("lower bound on the step time at this peak: %1 (%2% less)"))
                 .arg(time_text(mark.bound_ns))
                 .arg(100.0 * static_cast<double>(mark.step_ns - mark.bound_ns) /
                          static_cast<double>(std::max<std::int64_t>(mark.step_ns, 1)),
                      0, 'f', 1);
  const auto now = std::ranges::find(marks_, ParetoKind::now, &ParetoMark::kind);
  if (now != marks_.end() && mark.kind != ParetoKind::now) {
    QStringList changes{
        tr("change: peak %1").arg(bytes_difference_text(now->peak_bytes, mark.peak_bytes))};
    if (mark.reserved_bytes && now->reserved_bytes)
      changes << tr("reserved %1")
                     .arg(bytes_difference_text(*now->reserved_bytes, *mark.reserved_bytes));
    changes << tr("step %1").arg(time_difference_text(now->step_ns, mark.step_ns));
    lines << changes.join(QStringLiteral(", "));
  }
  if (mark.kind == ParetoKind::named)
    lines << tr("Click to go to this state.");
  else if (mark.kind != ParetoKind::now)
    lines << (is_pipeline(mark.kind) ? tr("Click to apply this pipeline.") : plan_action_);
  return lines;
}

// --- Painting ---

void ParetoPlot::paint_axes(QPainter& painter, const ParetoScale& s) const {
  const Theme& theme = Theme::of(palette());
  const int text_height = painter.fontMetrics().height();
  // Use the largest unit in which the maximum is at least `kFew`.
  constexpr double kFew = 4;
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t in = 0;
  double unit_bytes = 1;
  for (; in + 1 < kUnits.size() && s.max_bytes / unit_bytes >= kFew * 1024; ++in)
    unit_bytes *= 1024;
  struct Ticks {
    std::vector<double> at;
    int decimals = 0;  // enough to distinguish adjacent ticks
  };
  const auto ticks = [](double min, double max, double pixels) {
    const double rough = (max - min) / std::max(pixels / kTickPixels, 1.0);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    const double unit = rough / power <= 1   ? 1
                        : rough / power <= 2 ? 2
                        : rough / power <= 5 ? 5
                                             : 10;
    const double step = unit * power;
    Ticks found{.decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step))))};
    for (double t = std::ceil(min / step) * step; t <= max; t += step) found.at.push_back(t);
    return found;
  };
  const Ticks of_bytes = ticks(s.min_bytes / unit_bytes, s.max_bytes / unit_bytes, s.area.width());
  for (const double bytes : of_bytes.at) {
    const int x = static_cast<int>(s.place(bytes * unit_bytes, s.min_ns).x());
    painter.fillRect(QRect(x, static_cast<int>(s.area.top()), 1, static_cast<int>(s.area.height())),
                     theme.grid);
    painter.setPen(theme.muted_text);
    if (x + kTickRoom > width()) continue;
    painter.drawText(QRect(x - 45, static_cast<int>(s.area.bottom()) + 3, 90, text_height),
                     Qt::AlignCenter,
                     QStringLiteral("%1 %2")
                         .arg(bytes, 0, 'f', of_bytes.decimals)
                         .arg(QLatin1String(kUnits[in])));
  }
  const bool in_seconds = s.max_ns >= 1e9;
  const double unit_ns = in_seconds ? 1e9 : 1e6;
  const Ticks of_time = ticks(s.min_ns / unit_ns, s.max_ns / unit_ns, s.area.height() * 1.6);
  for (const double time : of_time.at) {
    const int y = static_cast<int>(s.place(s.min_bytes, time * unit_ns).y());
    painter.fillRect(QRect(static_cast<int>(s.area.left()), y, static_cast<int>(s.area.width()), 1),
                     theme.grid);
    painter.setPen(theme.muted_text);
    painter.drawText(QRect(0, y - text_height / 2, kLeft - 6, text_height),
                     Qt::AlignRight | Qt::AlignVCenter,
                     (in_seconds ? tr("%1 s") : tr("%1 ms")).arg(time, 0, 'f', of_time.decimals));
  }
  painter.setPen(theme.muted_text);
  painter.drawText(QRect(kLeft, height() - text_height - 1, width() - kLeft - kRight, text_height),
                   Qt::AlignRight | Qt::AlignVCenter,
                   memory_ == LimitedMemory::reserved ? tr("reserved memory →   step time ↑")
                                                      : tr("peak memory →   step time ↑"));
}

// Overlapping marks share a label, which is shown at the first of them.
QString ParetoPlot::label_of(const ParetoScale& s, std::size_t index) const {
  QStringList names;
  const QPointF at = s.place(marks_[index]);
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const QPointF other = s.place(marks_[i]);
    if (!has_label(marks_[i].kind) ||
        std::hypot(other.x() - at.x(), other.y() - at.y()) > kMarkRadius)
      continue;
    if (i < index) return {};
    names << marks_[i].name;
  }
  return has_label(marks_[index].kind) ? names.join(QStringLiteral(", ")) : QString();
}

// A label that is not next to its mark is connected to it by a line.
void ParetoPlot::paint_mark(QPainter& painter, const ParetoScale& s, std::size_t index,
                            const QRectF& label) const {
  const Theme& theme = Theme::of(palette());
  const QPointF at = s.place(marks_[index]);
  if (!label.isEmpty()) {
    const QPointF end(std::clamp(at.x(), label.left(), label.right()),
                      std::clamp(at.y(), label.top(), label.bottom()));
    if (std::max(std::abs(end.x() - at.x()), std::abs(end.y() - at.y())) > kLabelDistance + 1) {
      painter.setPen(theme.border);
      painter.drawLine(at, end);
    }
  }
  paint_symbol(painter, marks_[index].kind, at, current_ == index, theme);
  if (label.isEmpty()) return;
  painter.setPen(theme.text);
  painter.drawText(
      label, Qt::AlignVCenter | Qt::AlignLeft,
      painter.fontMetrics().elidedText(label_of(s, index), Qt::ElideRight, qCeil(label.width())));
}

std::vector<QRectF> ParetoPlot::label_places() const {
  const ParetoScale s = scale();
  const QFontMetrics metrics(small_font(font()));
  LabelField field{.area = s.area.adjusted(0, 2 - kTop, kRight - 2, 0), .gap = kLabelDistance};
  const double widest = field.area.width() / 2;
  std::vector<PointLabel> labels;
  std::vector<std::size_t> marks;  // of the labels
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const QPointF at = s.place(marks_[i]);
    field.marks.emplace_back(at - QPointF(kMarkRadius, kMarkRadius),
                             QSizeF(2 * kMarkRadius, 2 * kMarkRadius));
    const QString name = label_of(s, i);
    if (name.isEmpty()) continue;
    const double width = metrics.horizontalAdvance(name) + 2;
    labels.push_back({.at = at,
                      .size = QSizeF(std::min(width, widest), kLabelHeight),
                      .rank = rank_of(marks_[i].kind)});
    marks.push_back(i);
  }
  for (const bool of_pipelines : {false, true}) {
    QPolygonF line;
    for (const ParetoMark& mark : front_of(marks_, of_pipelines, memory_)) line << s.place(mark);
    field.lines.push_back(std::move(line));
  }
  const std::vector<QRectF> found = place_labels(labels, field);
  std::vector<QRectF> places(marks_.size());
  for (std::size_t i = 0; i < marks.size(); ++i) places[marks[i]] = found[i];
  return places;
}

void ParetoPlot::paint_legend(QPainter& painter) const {
  const Theme& theme = Theme::of(palette());
  const std::vector<ParetoKind> kinds = legend();
  const QStringList texts = legend_entries();
  const std::vector<QRect> places = legend_places(texts);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const QRectF place = places[i];
    const double middle = place.center().y();
    if (i < kinds.size()) {
      paint_symbol(painter, kinds[i], {place.left() + kMarkRadius + 1, middle}, false, theme);
    } else {
      painter.setPen(pen_of_bound(theme));
      painter.drawLine(QPointF(place.left(), middle), QPointF(place.left() + kBoundSwatch, middle));
    }
    painter.setPen(theme.muted_text);
    painter.drawText(place.adjusted(kSwatch, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     texts[static_cast<qsizetype>(i)]);
  }
}

void ParetoPlot::paint_fronts(QPainter& painter, const ParetoScale& s) const {
  const Theme& theme = Theme::of(palette());
  for (const bool of_pipelines : {false, true}) {
    QPolygonF line;
    for (const ParetoMark& mark : front_of(marks_, of_pipelines, memory_)) line << s.place(mark);
    const ParetoKind kind = of_pipelines ? ParetoKind::pipeline : ParetoKind::curve;
    painter.setPen(QPen(theme.half(color_of(kind, theme)), 2));
    painter.drawPolyline(line);
  }
  QPolygonF bound;
  for (const ParetoMark& mark : bound_of(marks_)) bound << s.place(mark);
  painter.setPen(pen_of_bound(theme));
  painter.drawPolyline(bound);
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
  paint_legend(painter);
  paint_fronts(painter, s);
  const std::vector<QRectF> labels = label_places();
  for (std::size_t i = 0; i < marks_.size(); ++i) paint_mark(painter, s, i, labels[i]);
  painter.setRenderHint(QPainter::Antialiasing, false);
  if (current_)
    paint_card(painter, scale().place(marks_[*current_]).toPoint(), rect(), lines_of(*current_),
               theme);
}

// --- Input ---

void ParetoPlot::mouseMoveEvent(QMouseEvent* event) {
  const auto at = mark_at(event->position().toPoint());
  setCursor(at && marks_[*at].kind != ParetoKind::now ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (current_ != at) highlight(at);
}

void ParetoPlot::leaveEvent(QEvent* /*event*/) {
  highlight(std::nullopt);
}

void ParetoPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const auto at = mark_at(event->position().toPoint());
  if (at && marks_[*at].kind != ParetoKind::now) emit chosen(*at);
}

// Highlights the next mark to the right or left, regardless of its kind.
void ParetoPlot::step(int direction) {
  if (marks_.empty()) return;
  std::vector<std::size_t> order(marks_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return bytes_of(marks_[i], memory_); });
  const auto at = current_ ? std::find(order.begin(), order.end(), *current_) : order.end();
  if (at == order.end())
    highlight(direction > 0 ? order.front() : order.back());
  else if (direction > 0 && at + 1 != order.end())
    highlight(*(at + 1));
  else if (direction < 0 && at != order.begin())
    highlight(*(at - 1));
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
