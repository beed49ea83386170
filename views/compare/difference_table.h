#pragma once

#include <QComboBox>
#include <optional>

#include "views/compare/difference_model.h"
#include "views/tables/table_pane.h"

namespace jointer::views {

// The nodes that differ, with a filter; what is selected in it is selected everywhere.
class DifferenceTable : public TablePane {
  Q_OBJECT
 public:
  explicit DifferenceTable(Document& document, QWidget* parent = nullptr);

  void set(NodeDifferencesPtr differences);
  void say(const QString& text) { set_empty_text(text); }
  // Nodes that differ in one way alone; nothing: all of them.
  void show_only(std::optional<NodeChange> change);
  [[nodiscard]] DifferenceModel& model() { return *model_; }
  [[nodiscard]] QComboBox& kind_box() { return *kinds_; }

 private:
  DifferenceTable(Document& document, DifferenceModel* model, QWidget* parent);
  void refresh() override;
  void fill_kinds();

  DifferenceModel* model_;
  QComboBox* kinds_ = nullptr;
  NodeDifferencesPtr differences_;
};

}  // namespace jointer::views
