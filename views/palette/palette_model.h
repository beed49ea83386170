#pragma once

#include <QAbstractListModel>
#include <QAction>
#include <QPointer>
#include <memory>
#include <vector>

#include "views/document/document.h"
#include "views/find/node_search.h"

namespace jointer::views {

// What a command palette offers for a text: actions that match it, best first, then modules and
// nodes. With `@` before the text only the latter.
class PaletteModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum DataRole : int {
    title_role = Qt::DisplayRole,
    detail_role = Qt::UserRole,  // menu of an action, operator of a node
    shortcut_role,               // QString
    positions_role,              // QList<int>: letters of the title that match
  };

  using QAbstractListModel::QAbstractListModel;

  // The actions must live as long as they are offered; ones that are deleted are passed over.
  // Menus, separators and actions without text are left out.
  void set_actions(const QList<QAction*>& actions);
  // Where nodes are looked for; may be null.
  void set_document(Document* document);
  void set_text(const QString& text);

  // What choosing a row does: exactly one of them is there.
  [[nodiscard]] QAction* action(int row) const;
  [[nodiscard]] std::vector<NodeId> nodes(int row) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  struct Row {
    QPointer<QAction> action;
    NodeId node;
    ModuleId module;
    QString title, detail;
    QList<int> positions;
    int score = 0;
  };

  void add_actions(const QString& text);
  void add_modules(const QString& text);
  void add_nodes(const QString& text);

  QList<QPointer<QAction>> actions_;
  QPointer<Document> document_;
  SnapshotPtr snapshot_;  // that the rows and the search are of
  std::unique_ptr<NodeSearch> search_;
  std::vector<Row> rows_;
};

// "Show reserved memory" of "Show &reserved memory…".
QString plain_action_text(const QAction& action);

}  // namespace jointer::views
