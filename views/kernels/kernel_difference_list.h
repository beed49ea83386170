#pragma once

#include <QToolButton>
#include <QTreeWidget>
#include <QWidget>
#include <vector>

#include "views/session/document/document.h"
#include "views/session/kernels/ask_kernels.h"

namespace jointer::views {

// Shows how the kernels of Inductor differ from the predicted ones: a line with totals, which opens
// a list of the differences by rule. Clicking a difference selects its nodes, and clicking a rule
// those of all its differences. Hidden unless the kernels of Inductor's answer are shown.
class KernelDifferenceList : public QWidget {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit KernelDifferenceList(Document& document, QWidget* parent = nullptr);

  // Maximum number of differences that are listed below a rule; another line says how many more
  // there are.
  static constexpr int kMaxListed = 200;

 private:
  void refresh();
  void fill();
  void select(const QTreeWidgetItem& item);

  Document& document_;
  QToolButton* header_ = nullptr;
  QTreeWidget* tree_ = nullptr;
  AskedAnswerPtr answer_;                   // whose differences are listed
  std::vector<std::vector<NodeId>> nodes_;  // by the number that the item stores
};

}  // namespace jointer::views
