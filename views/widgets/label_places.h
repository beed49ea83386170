#pragma once

#include <QPolygonF>
#include <QRectF>
#include <span>
#include <vector>

namespace jointer::views {

// A label of a point in a plot.
struct PointLabel {
  QPointF at;    // the point
  QSizeF size;   // of the text
  int rank = 0;  // labels with a higher rank are placed first
};

// The plot that labels are placed in, in pixels.
struct LabelField {
  QRectF area;                // labels stay within it, so that they do not cover axes or a legend
  double gap = 0;             // between a point and a label next to it
  std::vector<QRectF> marks;  // the symbols of all points
  std::vector<QPolygonF> lines;  // through points
};

// The place of each label, in the order of `labels`. Labels never overlap each other, and stay
// within the area. A label is next to its point if possible without covering marks or lines;
// otherwise it may be farther away, or cover some of them. A label without a place has an empty
// rectangle. Cost: per label, a few positions times the labels, marks and lines.
std::vector<QRectF> place_labels(std::span<const PointLabel> labels, const LabelField& field);

}  // namespace jointer::views
