#pragma once

#include <QComboBox>
#include <optional>

#include "views/differences/difference_model.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// The nodes that differ between two states, with a filter. Selecting rows selects their nodes in
// the document.
class DifferenceTable : public TablePaneOf<DifferenceModel> {
  Q_OBJECT
 public:
  explicit DifferenceTable(Document& document, QWidget* parent = nullptr);

  void set(NodeDifferencesPtr differences);
  void say(const QString& text) { set_empty_text(text); }
  // Shows only one kind of change; nullopt shows all.
  void show_only(std::optional<NodeChange> change);

 private:
  void refresh() override { model_->set(differences_, document().shared_snapshot()); }
  void fill_kinds();

  QComboBox* kinds_ = nullptr;
  NodeDifferencesPtr differences_;
};

}  // namespace jointer::views
