// Places the labels of points, one after the other. The candidates are eight positions around the
// point: to its right and left, above and below it, and diagonally. If these are taken, the same
// positions at larger distances follow. Among candidates that overlap no label and are within the
// area, the one with the least penalty is chosen: for each mark and line under the label, and for
// the distance.

#include "views/widgets/label_places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace jointer::views {
namespace {

constexpr int kDistances = 7;
constexpr int kMarkPenalty = 5, kLinePenalty = 1, kDistancePenalty = 4;

// Returns true if a segment crosses a rectangle. Checks a point every few pixels.
bool crosses(QPointF from, QPointF to, const QRectF& where) {
  constexpr double kPixels = 4;
  if (std::max(from.x(), to.x()) < where.left() || std::min(from.x(), to.x()) > where.right() ||
      std::max(from.y(), to.y()) < where.top() || std::min(from.y(), to.y()) > where.bottom())
    return false;
  const QPointF way = to - from;
  const int steps = static_cast<int>(std::hypot(way.x(), way.y()) / kPixels) + 1;
  for (int i = 0; i <= steps; ++i)
    if (where.contains(from + way * i / steps)) return true;
  return false;
}

int penalty_of(const QRectF& label, const LabelField& field) {
  int penalty = 0;
  for (const QRectF& mark : field.marks) penalty += mark.intersects(label) ? kMarkPenalty : 0;
  for (const QPolygonF& line : field.lines)
    for (qsizetype i = 1; i < line.size(); ++i)
      penalty += crosses(line[i - 1], line[i], label) ? kLinePenalty : 0;
  return penalty;
}

std::array<QRectF, 8> places_around(QPointF at, QSizeF size, double gap) {
  const double right = at.x() + gap, left = at.x() - gap - size.width();
  const double over = at.y() - gap - size.height(), under = at.y() + gap;
  const double middle = at.x() - size.width() / 2, level = at.y() - size.height() / 2;
  const auto place = [&](double x, double y) { return QRectF(QPointF(x, y), size); };
  return {place(right, level), place(left, level),  place(middle, over), place(middle, under),
          place(right, over),  place(right, under), place(left, over),   place(left, under)};
}

QRectF free_place(const PointLabel& label, const LabelField& field, std::span<const QRectF> taken) {
  QRectF best;
  int min_penalty = std::numeric_limits<int>::max();
  for (int distance = 0; distance < kDistances && distance * kDistancePenalty < min_penalty;
       ++distance) {
    const double gap = field.gap + distance * label.size.height();
    for (const QRectF& place : places_around(label.at, label.size, gap)) {
      const auto overlaps = [&](const QRectF& other) { return other.intersects(place); };
      if (!field.area.contains(place) || std::ranges::any_of(taken, overlaps)) continue;
      const int penalty = penalty_of(place, field) + distance * kDistancePenalty;
      if (penalty >= min_penalty) continue;
      min_penalty = penalty;
      best = place;
    }
  }
  return best;
}

}  // namespace

std::vector<QRectF> place_labels(std::span<const PointLabel> labels, const LabelField& field) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return labels[i].rank; });
  std::vector<QRectF> places(labels.size()), taken;
  for (const std::size_t i : order) {
    places[i] = free_place(labels[i], field, taken);
    if (!places[i].isEmpty()) taken.push_back(places[i]);
  }
  return places;
}

}  // namespace jointer::views
