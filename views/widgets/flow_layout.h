#pragma once

#include <QLayout>
#include <memory>
#include <vector>

namespace jointer::views {

// Lays out items from left to right, wrapped into as many rows as the width requires.
class FlowLayout : public QLayout {
 public:
  FlowLayout(QWidget* parent, int horizontal_spacing, int vertical_spacing);

  void addItem(QLayoutItem* item) override { items_.emplace_back(item); }
  [[nodiscard]] int count() const override { return static_cast<int>(items_.size()); }
  [[nodiscard]] QLayoutItem* itemAt(int index) const override;
  QLayoutItem* takeAt(int index) override;
  [[nodiscard]] Qt::Orientations expandingDirections() const override { return {}; }
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;
  void setGeometry(const QRect& rect) override;
  [[nodiscard]] QSize sizeHint() const override { return minimumSize(); }
  [[nodiscard]] QSize minimumSize() const override;

 private:
  // Returns the required height; moves the items only if `moves` is set.
  int arrange(const QRect& rect, bool moves) const;

  std::vector<std::unique_ptr<QLayoutItem>> items_;
  int horizontal_spacing_, vertical_spacing_;
};

}  // namespace jointer::views
