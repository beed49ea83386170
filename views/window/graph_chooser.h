#pragma once

#include <QCheckBox>
#include <QDialog>
#include <QListWidget>
#include <optional>

#include "core/capture/open.h"

namespace jointer::views {

// Which graph to open, where a log or a folder holds several.
class GraphChooser : public QDialog {
  Q_OBJECT
 public:
  GraphChooser(const QString& file, const std::vector<GraphEntry>& entries,
               QWidget* parent = nullptr);

  // Indices of the chosen graphs, in the order of the list.
  [[nodiscard]] std::vector<std::size_t> chosen() const;
  // Whether each is to be compared with the graph that a pass made it from. Null where the list
  // does not say which that is.
  [[nodiscard]] QCheckBox* compares() const { return compares_; }

 private:
  QListWidget* list_ = nullptr;
  QCheckBox* compares_ = nullptr;
};

}  // namespace jointer::views
