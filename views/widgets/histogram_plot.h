#pragma once

#include <QWidget>
#include <functional>
#include <optional>

#include "views/widgets/value_bins.h"

namespace jointer::views {

// Bars for the bins of some values, with the smallest and the largest value below them. A click on
// a bar, or Enter on the bar marked with Left and Right, chooses its bin.
class HistogramPlot : public QWidget {
  Q_OBJECT
 public:
  explicit HistogramPlot(QWidget* parent = nullptr);

  // `text_of` formats a value; `tip_of` returns a bin's tooltip.
  void show_bins(std::vector<ValueBin> bins, std::function<QString(std::int64_t)> text_of,
                 std::function<QString(const ValueBin&)> tip_of);
  [[nodiscard]] const std::vector<ValueBin>& bins() const { return bins_; }
  // The area of a bin, over the full height of the plot.
  [[nodiscard]] QRect column(std::size_t bin) const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  void bin_chosen(std::size_t bin);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] std::optional<std::size_t> bin_at(QPoint at) const;
  [[nodiscard]] QRect plot() const;
  void mark(std::optional<std::size_t> bin);

  std::vector<ValueBin> bins_;
  std::function<QString(std::int64_t)> text_of_;
  std::function<QString(const ValueBin&)> tip_of_;
  std::optional<std::size_t> marked_;
};

}  // namespace jointer::views
