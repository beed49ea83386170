#pragma once

#include <QStringList>
#include <QWidget>
#include <optional>
#include <vector>

#include "views/widgets/pareto_mark.h"

namespace jointer::views {

// Maps bytes and nanoseconds to pixels.
struct ParetoScale {
  QRectF area;
  double min_bytes = 0, max_bytes = 1, min_ns = 0, max_ns = 1;

  LimitedMemory memory = LimitedMemory::allocated;

  // Makes a scale that fits all marks, with a margin.
  ParetoScale(const std::vector<ParetoMark>& marks, QRectF area,
              LimitedMemory memory = LimitedMemory::allocated);
  [[nodiscard]] QPointF place(const ParetoMark& mark) const;
  [[nodiscard]] QPointF place(double bytes, double ns) const;
};

// Plots step time (y) against peak or reserved memory (x), with the lower bound as a dashed line.
// One line connects the Pareto front of the plans, and another that of the pipelines. Hovering over
// a mark shows its numbers, and clicking chooses it; Left and Right move between marks, and Enter
// or Space chooses. The axes do not change while marks appear, move and disappear, except that they
// grow if a mark is beyond them.
class ParetoPlot : public QWidget {
  Q_OBJECT
 public:
  explicit ParetoPlot(QWidget* parent = nullptr);

  // If `marks` is empty, or `memory` changes, the axes are reset. For reserved memory, all marks
  // must have reserved bytes.
  void set_marks(std::vector<ParetoMark> marks, LimitedMemory memory = LimitedMemory::allocated);
  [[nodiscard]] const std::vector<ParetoMark>& marks() const { return marks_; }
  // The area of each mark's label (label_places.h); empty if it has none, or if there is not enough
  // space for it.
  [[nodiscard]] std::vector<QRectF> label_places() const;
  [[nodiscard]] QPoint place_of(std::size_t mark) const;
  [[nodiscard]] QStringList lines_of(std::size_t mark) const;
  // The kinds of marks that the legend above the plot explains, in the legend's order.
  [[nodiscard]] std::vector<ParetoKind> legend() const;
  // The texts of the legend: those of the kinds and, if it is drawn, of the lower bound.
  [[nodiscard]] QStringList legend_entries() const;
  // Sets the sentence on a plan's card that says what a click does.
  void set_plan_action(const QString& sentence) { plan_action_ = sentence; }
  // Highlights a mark, as Left and Right do.
  void set_current(std::size_t mark);
  [[nodiscard]] std::optional<std::size_t> current() const { return current_; }
  // Sets the text that is shown while there are no marks.
  void set_hint(const QString& hint);
  [[nodiscard]] QSize sizeHint() const override { return {320, 200}; }

 signals:
  // The index of the chosen mark, whose kind is never `now`.
  void chosen(std::size_t mark);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] ParetoScale scale() const;
  [[nodiscard]] std::optional<std::size_t> mark_at(QPoint at) const;
  // The area of each of the legend's entries with these texts.
  [[nodiscard]] std::vector<QRect> legend_places(const QStringList& texts) const;
  void paint_legend(QPainter& painter) const;
  void paint_fronts(QPainter& painter, const ParetoScale& scale) const;
  void paint_axes(QPainter& painter, const ParetoScale& scale) const;
  [[nodiscard]] QString label_of(const ParetoScale& scale, std::size_t index) const;
  void paint_mark(QPainter& painter, const ParetoScale& scale, std::size_t index,
                  const QRectF& label) const;
  // Highlights a mark, or none, and describes it to screen readers.
  void highlight(std::optional<std::size_t> mark);
  void step(int direction);

  std::vector<ParetoMark> marks_;
  std::vector<ParetoMark> framed_;      // the marks shown now or earlier, which the axes fit
  std::optional<std::size_t> current_;  // under the pointer, or selected with the keyboard
  LimitedMemory memory_ = LimitedMemory::allocated;  // the memory on the x axis
  QString hint_, plan_action_;
};

}  // namespace jointer::views
