#pragma once

#include <QCheckBox>
#include <QDialog>
#include <QListWidget>
#include <optional>

#include "core/open/open.h"

namespace jointer::views {

// Asks which graphs to open if a log or folder contains several.
class GraphChooser : public QDialog {
  Q_OBJECT
 public:
  GraphChooser(const QString& file, const std::vector<GraphEntry>& entries,
               QWidget* parent = nullptr);

  // The indices of the chosen graphs, in the order of the list.
  [[nodiscard]] std::vector<std::size_t> chosen() const;
  // The option to compare each graph with the input of the pass that produced it. Null if the file
  // does not record these inputs.
  [[nodiscard]] QCheckBox* compares() const { return compares_; }

 private:
  QListWidget* list_ = nullptr;
  QCheckBox* compares_ = nullptr;
};

}  // namespace jointer::views
