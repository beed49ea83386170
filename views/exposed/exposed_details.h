#pragma once

#include <QLabel>
#include <QPushButton>
#include <QWidget>

#include "views/exposed/exposed_model.h"

namespace jointer::views {

// Shows why the current collective is exposed, with links to the nodes, and has buttons that apply
// fixes.
class ExposedDetails : public QWidget {
  Q_OBJECT
 public:
  // `model` must outlive this object.
  explicit ExposedDetails(const ExposedModel& model, QWidget* parent = nullptr);

  // Shows the details of a row; -1 shows none.
  void show_row(int row);

 signals:
  void node_chosen(jointer::NodeId node);
  void best_wanted();
  void all_layers_wanted();

 private:
  [[nodiscard]] QString why(int row) const;
  void show_fix(QPushButton& button, const QString& verb, int row, std::optional<FixKind> kind);

  const ExposedModel& model_;
  QLabel* why_ = nullptr;
  QPushButton* best_ = nullptr;
  QPushButton* layers_ = nullptr;
};

}  // namespace jointer::views
