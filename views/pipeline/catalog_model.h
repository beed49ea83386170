#pragma once

#include <QAbstractListModel>
#include <memory>
#include <vector>

#include "core/pass/registry.h"

namespace jointer::views {

// All passes with their summaries, grouped by stage. With a search text, only the matching passes,
// best first within each stage; if none matches, a heading says so. Headings cannot be selected.
// Sources of passes that could not be loaded come last, with the reasons.
class CatalogModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum DataRole : int {
    summary_role = Qt::UserRole,  // empty for headings and problems
    source_role,   // such as "Jointer" or "torch/_inductor/comms.py"; empty like the summary
    heading_role,  // bool
    problem_role,  // bool: the source could not be loaded
  };

  using QAbstractListModel::QAbstractListModel;

  void set_passes(std::shared_ptr<const PassRegistry> registry, const QStringList& problems);
  void set_text(const QString& text);

  // The name of the row's pass; empty for headings and problems.
  [[nodiscard]] QString pass(int row) const;
  // The first row with a pass or, with a search text, the best match; -1 if there is none.
  [[nodiscard]] int first_pass() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  struct Row {
    QString title;
    const Pass* pass = nullptr;  // owned by the registry
    bool is_problem = false;
  };
  void fill();

  std::shared_ptr<const PassRegistry> registry_;
  QStringList problems_;
  QString text_;
  std::vector<Row> rows_;
};

}  // namespace jointer::views
