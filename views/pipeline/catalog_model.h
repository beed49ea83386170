#pragma once

#include <QAbstractListModel>
#include <memory>
#include <vector>

#include "core/pass/registry.h"

namespace jointer::views {

// Every pass that there is, by the stage that it is for, with its sentence; with a text, those that
// answer it, the best of a stage first. Headings are rows that cannot be chosen. Below them, what
// could not be loaded and why.
class CatalogModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum DataRole : int {
    summary_role = Qt::UserRole,
    source_role,   // "ours", "torch/_inductor/comms.py"; of a heading: empty
    heading_role,  // bool
    problem_role,  // bool: what could not be loaded
  };

  using QAbstractListModel::QAbstractListModel;

  void set_passes(std::shared_ptr<const PassRegistry> registry, const QStringList& problems);
  void set_text(const QString& text);

  // Empty of a heading or a problem.
  [[nodiscard]] QString pass(int row) const;
  // The first row that can be chosen, -1 if none can.
  [[nodiscard]] int first_pass() const;
  [[nodiscard]] int pass_count() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  struct Row {
    QString title;
    const Pass* pass = nullptr;  // of the registry
    bool is_problem = false;
  };
  void fill();

  std::shared_ptr<const PassRegistry> registry_;
  QStringList problems_;
  QString text_;
  std::vector<Row> rows_;
};

}  // namespace jointer::views
