#include "views/timeline/memory_track.h"

#include <QImage>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/base/units.h"
#include "views/widgets/draw_list.h"

namespace jointer::views {
namespace {

constexpr double kMinTickPixels = 34;

}  // namespace

int MemoryTrack::y_of(std::int64_t bytes) const {
  const double share =
      static_cast<double>(bytes - bytes_.bottom) / static_cast<double>(bytes_.span());
  return area_.bottom() + 1 - static_cast<int>(std::lround(share * area_.height()));
}

std::int64_t MemoryTrack::bytes_at(int y) const {
  const double share =
      static_cast<double>(area_.bottom() + 1 - y) / static_cast<double>(area_.height());
  return bytes_.bottom + static_cast<std::int64_t>(share * static_cast<double>(bytes_.span()));
}

std::optional<MemoryCategory> MemoryTrack::category_at(std::size_t point, int y) const {
  const std::int64_t wanted = bytes_at(y);
  std::int64_t sum = 0;
  for (const MemoryCategory category : stacking_order()) {
    sum += data_.bytes(category, point);
    if (wanted < sum) return category;
  }
  return std::nullopt;
}

std::vector<std::int64_t> MemoryTrack::ticks() const {
  const double pixels =
      area_.height() * static_cast<double>(bytes_.top) / static_cast<double>(bytes_.span());
  std::vector<std::int64_t> shown;
  for (const double bytes : byte_ticks(bytes_.top, pixels, kMinTickPixels))
    if (bytes > static_cast<double>(bytes_.bottom))
      shown.push_back(static_cast<std::int64_t>(bytes));
  return shown;
}

void MemoryTrack::paint_scale(QPainter& painter, const QRect& other_label) const {
  const QFontMetrics metrics = painter.fontMetrics();
  painter.setPen(theme_.muted_text);
  for (const std::int64_t bytes : ticks()) {
    const int y = y_of(bytes);
    const QRect label(0, y - metrics.height() / 2, area_.left() - 8, metrics.height());
    if (label.intersects(other_label)) continue;
    painter.drawText(label, Qt::AlignRight | Qt::AlignVCenter,
                     QString::fromStdString(format_tick_bytes(bytes)));
  }
}

namespace {

// The fill of a category's area: one color or a repeating tile.
struct Ink {
  static constexpr int kTile = 8;
  bool plain = true;
  std::array<std::array<QRgb, kTile>, kTile> tile{};

  Ink() = default;
  Ink(QRgb area, QRgb line, Qt::BrushStyle hatch) : plain(hatch == Qt::NoBrush) {
    for (int y = 0; y < kTile; ++y)
      for (int x = 0; x < kTile; ++x) {
        const bool on_line = hatch == Qt::BDiagPattern    ? (x + y) % kTile == 0
                             : hatch == Qt::FDiagPattern  ? x == y
                             : hatch == Qt::HorPattern    ? y == 0
                             : hatch == Qt::Dense7Pattern ? x % 4 == 0 && y % 4 == 0
                                                          : false;
        tile[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = on_line ? line : area;
      }
  }
};

}  // namespace

// Writes the curve into an image row by row: painting rectangles would take several operations per
// column, and QPainter uses other threads for large transparent or patterned areas.
void MemoryTrack::paint_curve(QPainter& painter, bool hatched) const {
  const qreal ratio = painter.device()->devicePixelRatioF();
  const auto device = [&](int logical) { return static_cast<int>(std::lround(logical * ratio)); };
  QImage image(device(area_.width()), device(area_.height()), QImage::Format_RGB32);
  if (image.isNull()) return;
  image.fill(theme_.surface);
  for (const std::int64_t bytes : ticks()) {
    const int y = device(y_of(bytes) - area_.top());
    if (y >= 0 && y < image.height())
      std::fill_n(reinterpret_cast<QRgb*>(image.scanLine(y)), image.width(), theme_.grid.rgb());
  }

  std::array<Ink, kMemoryCategories> inks;
  for (std::size_t c = 0; c < kMemoryCategories; ++c) {
    const auto category = static_cast<MemoryCategory>(c);
    const QColor color = theme_.category(category);
    inks[c] = {color.rgb(), blended(color, Theme::text_on(color), 0.22).rgb(),
               hatched ? Theme::hatch(category) : Qt::NoBrush};
  }

  // Each run of columns is a stack of bands, from the bottom up. Band edges are rounded running
  // sums, so that there are no gaps between bands.
  struct Band {
    int top;  // first pixel row of the band
    const Ink* ink;
  };
  struct Column {
    int left, right;
    std::size_t next, end;  // bands in or above the current pixel row
  };
  std::vector<Band> bands;
  std::vector<Column> columns;
  const double scale = image.height() / static_cast<double>(bytes_.span());
  int highest = image.height();
  for (const MemoryRun& run : memory_columns(data_, axis_)) {
    const std::size_t first = bands.size();
    std::int64_t sum = 0;
    for (const MemoryCategory category : stacking_order()) {
      const std::int64_t bytes = data_.bytes(category, run.point);
      if (bytes == 0) continue;
      sum += bytes;
      const int top =
          image.height() -
          static_cast<int>(std::lround(static_cast<double>(sum - bytes_.bottom) * scale));
      const int below = bands.size() > first ? bands.back().top : image.height();
      if (top < below) bands.push_back({top, &inks[static_cast<std::size_t>(category)]});
    }
    if (bands.size() == first) continue;
    highest = std::min(highest, bands.back().top);
    columns.push_back({device(run.left - area_.left()),
                       std::min(device(run.right - area_.left()), image.width()), first,
                       bands.size()});
  }

  for (int y = image.height() - 1; y >= std::max(highest, 0); --y) {
    auto* row = reinterpret_cast<QRgb*>(image.scanLine(y));
    for (Column& column : columns) {
      while (column.next < column.end && bands[column.next].top > y) ++column.next;
      if (column.next == column.end) continue;
      const Ink& ink = *bands[column.next].ink;
      const auto& line = ink.tile[static_cast<std::size_t>(y % Ink::kTile)];
      if (ink.plain)
        std::fill(row + column.left, row + column.right, line[0]);
      else
        for (int x = column.left; x < column.right; ++x)
          row[x] = line[static_cast<std::size_t>(x % Ink::kTile)];
    }
  }
  image.setDevicePixelRatio(ratio);
  painter.drawImage(area_.topLeft(), image);
}

// The upper edge of a curve: a horizontal line for each run of columns, with vertical connections.
// The lines are rectangles, since QPainter draws wide pens line by line.
template <class BytesAt>
std::vector<QRect> MemoryTrack::outline(const std::vector<MemoryRun>& runs, BytesAt bytes_at,
                                        int width) const {
  std::vector<QRect> edges;
  int last_y = 0;
  for (const MemoryRun& run : runs) {
    const int y = y_of(bytes_at(run.point)) - width / 2;
    if (!edges.empty() && y != last_y)
      edges.emplace_back(run.left, std::min(y, last_y), width, std::abs(y - last_y) + width);
    edges.emplace_back(run.left, y, run.right - run.left, width);
    last_y = y;
  }
  return edges;
}

void MemoryTrack::paint_reserved(QPainter& painter) const {
  const auto edges = outline(
      memory_columns(data_, axis_), [this](std::size_t point) { return data_.reserved(point); }, 1);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme_.muted_text);
  painter.drawRects(edges.data(), static_cast<int>(edges.size()));
}

void MemoryTrack::paint_outline(QPainter& painter, const TimelineData& data,
                                std::span<const std::int64_t> profile, const QColor& color) const {
  const auto edges = outline(
      memory_columns(data, axis_), [profile](std::size_t point) { return profile[point]; }, 2);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawRects(edges.data(), static_cast<int>(edges.size()));
}

void MemoryTrack::paint_strong(QPainter& painter, std::vector<QRect> edges,
                               const QColor& color) const {
  painter.setPen(Qt::NoPen);
  // A light line with a dark border, or the reverse, is visible on every color of the stack.
  for (QRect& edge : edges) edge.adjust(0, -1, 0, 1);
  painter.setBrush(theme_.surface);
  painter.drawRects(edges.data(), static_cast<int>(edges.size()));
  for (QRect& edge : edges) edge.adjust(0, 1, 0, -1);
  painter.setBrush(color);
  painter.drawRects(edges.data(), static_cast<int>(edges.size()));
}

void MemoryTrack::paint_measured(QPainter& painter, const MeasuredCurve& curve) const {
  paint_strong(painter,
               outline(
                   memory_columns(curve, axis_),
                   [&curve](std::size_t point) { return curve.bytes(point); }, 2),
               theme_.text);
}

namespace {

// Splits edges into dashes.
std::vector<QRect> dashes_of(const std::vector<QRect>& edges) {
  constexpr int kDash = 6, kPeriod = 10;
  std::vector<QRect> dashes;
  for (const QRect& edge : edges)
    for (int x = edge.left() - edge.left() % kPeriod; x <= edge.right(); x += kPeriod)
      if (const QRect dash = edge & QRect(x, edge.top(), kDash, edge.height()); !dash.isEmpty())
        dashes.push_back(dash);
  return dashes;
}

}  // namespace

void MemoryTrack::paint_plan(QPainter& painter, const PlanTrack& plan, bool dashed) const {
  std::vector<QRect> edges = outline(
      plan.columns(axis_), [&plan](std::size_t step) { return plan.bytes(step); }, 2);
  paint_strong(painter, dashed ? dashes_of(edges) : std::move(edges), theme_.accent);
}

}  // namespace jointer::views
