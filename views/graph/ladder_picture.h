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

// Saves the visible part or the whole ladder as an image. The file name must end with .svg or .png.
// Returns false if the image could not be created or the file could not be written.
bool write_ladder_picture(const QString& path, bool whole, const QString& title,
                          const LadderScene& scene, const QFont& font);

}  // namespace jointer::views
