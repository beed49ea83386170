#pragma once

#include <QComboBox>
#include <QWidget>
#include <optional>
#include <utility>

#include "views/differences/plan_difference_table.h"
#include "views/session/sac/sac_session.h"
#include "views/widgets/elided_label.h"

namespace jointer::views {

// Lists the changes to the plan that the last history entry made, or those since the graph was
// opened or since a named state.
class ChangesPage : public QWidget {
  Q_OBJECT
 public:
  explicit ChangesPage(Document& document, QWidget* parent = nullptr);

 signals:
  // A sentence about the changes to the plan in the last history entry; empty if that entry did not
  // change the plan, or if the plans cannot be compared.
  void summarized(const QString& sentence);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct Base {
    QString name;
    EditHistory history;
  };
  void refresh();
  void fill_bases();
  void compare();
  void show(const Result<PlanChangesPtr>& found);

  Document& document_;
  SacSession& session_;
  QComboBox* since_ = nullptr;
  ElidedLabel* summary_ = nullptr;
  PlanDifferenceTable* table_ = nullptr;
  std::vector<Base> bases_;
  // The state for which the last history entry was summarized, and the latest comparison requested
  // for the table.
  using State = std::pair<SnapshotPtr, EditHistory>;
  std::optional<State> summarized_;
  std::optional<std::pair<State, EditHistory>> compared_;
};

}  // namespace jointer::views
