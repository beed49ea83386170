#pragma once

#include <QCoreApplication>
#include <QPainter>
#include <QStringList>
#include <span>
#include <vector>

#include "views/theme/fonts.h"
#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// Paints the ruler and the marks along the axis: the selected range, the user's marks, and the
// current moment.
class RulerPainter {
  Q_DECLARE_TR_FUNCTIONS(RulerPainter)
 public:
  explicit RulerPainter(const TimelineScene& scene) : scene_(scene) {}
  void paint_ruler(QPainter& painter) const;
  void paint_range(QPainter& painter) const;
  // The totals of the selected range; empty if there is none.
  [[nodiscard]] QStringList range_card() const;
  void paint_range_card(QPainter& painter, const QStringList& card) const;
  // `moments`: points in the memory profile.
  void paint_marks(QPainter& painter, std::span<const std::size_t> moments) const;
  void paint_distances(QPainter& painter, std::span<const std::size_t> moments) const;
  void paint_moment(QPainter& painter) const;

  // The box in the ruler that describes the current moment; empty if the moment is not on screen.
  [[nodiscard]] QRect moment_box() const;
  // The labels of the ruler. Labels that the box of the current moment would cover are left out.
  struct Label {
    QRect place;
    QString text;
  };
  [[nodiscard]] std::vector<Label> labels() const;

 private:
  [[nodiscard]] QString text_of(std::size_t moment) const;
  [[nodiscard]] std::vector<Tick> ticks() const;
  [[nodiscard]] QFontMetrics metrics() const { return QFontMetrics(small_font(scene_.font)); }

  const TimelineScene& scene_;
};

}  // namespace jointer::views
