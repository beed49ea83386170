#pragma once

#include <QFont>
#include <QPainter>
#include <QString>

#include "views/graph/ladder_painter.h"

namespace jointer::views {

// Sizes in pixels.
inline constexpr int kLadderHeader = 24, kLadderLegend = 24;

// Paints the header, the ladder below it, and the legend at the bottom.
void paint_ladder_picture(QPainter& painter, QSize size, const LadderScene& scene,
                          const QFont& font);

// Saves the visible part or the whole ladder as an image: an SVG if the file name ends with .svg;
// otherwise, it must end with .png. A PNG of the whole ladder is scaled down to at most 16,000
// pixels on a side and 60 million in total. Returns false if the image could not be created or the
// file could not be written.
bool write_ladder_picture(const QString& path, bool whole, const QString& title,
                          const LadderScene& scene, const QFont& font);

}  // namespace jointer::views
