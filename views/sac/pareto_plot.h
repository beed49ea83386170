#pragma once

#include <QWidget>
#include <optional>
#include <vector>

namespace jointer::views {

// What a point of the plot is.
enum class ParetoKind : std::uint8_t {
  curve,     // on the way of the budgets: no other is better in both
  preset,    // an upstream policy
  snapshot,  // a state that a person gave a name to
  now,       // the plan as it is
};

struct ParetoMark {
  ParetoKind kind = ParetoKind::curve;
  QString name;  // "budget 0.42", "full", "before the merge"
  std::int64_t peak_bytes = 0, step_ns = 0;
  friend bool operator==(const ParetoMark&, const ParetoMark&) = default;
};

// Where a mark is drawn: a plain mapping of bytes and nanoseconds to pixels.
struct ParetoScale {
  QRectF area;
  double least_bytes = 0, most_bytes = 1, least_ns = 0, most_ns = 1;

  // Holds all marks with some room around them.
  ParetoScale(const std::vector<ParetoMark>& marks, QRectF area);
  [[nodiscard]] QPointF place(const ParetoMark& mark) const;
};

// Peak memory (to the right) against step time (up). The pointer tells what is under it, a click
// takes it; the arrow keys go from point to point and Enter takes.
class ParetoPlot : public QWidget {
  Q_OBJECT
 public:
  explicit ParetoPlot(QWidget* parent = nullptr);

  void set_marks(std::vector<ParetoMark> marks);
  [[nodiscard]] const std::vector<ParetoMark>& marks() const { return marks_; }
  // Where the name of each mark is written; empty where none is.
  [[nodiscard]] std::vector<QRectF> label_places() const;
  [[nodiscard]] QPoint place_of(std::size_t mark) const;
  [[nodiscard]] QStringList lines_of(std::size_t mark) const;
  // What is written where there are no points.
  void set_hint(const QString& hint);
  [[nodiscard]] QSize sizeHint() const override { return {320, 200}; }

 signals:
  // A mark by its index, never the plan as it is.
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
  void paint_axes(QPainter& painter, const ParetoScale& scale) const;
  [[nodiscard]] QString label_of(const ParetoScale& scale, std::size_t index) const;
  void paint_mark(QPainter& painter, const ParetoScale& scale, std::size_t index,
                  const QRectF& label) const;
  [[nodiscard]] QRectF free_place(const ParetoScale& scale, std::size_t index, QSizeF size,
                                  const std::vector<QRectF>& labels) const;
  void step(int direction);

  std::vector<ParetoMark> marks_;
  std::optional<std::size_t> current_;  // under the pointer, or the keys'
  QString hint_;
};

}  // namespace jointer::views
