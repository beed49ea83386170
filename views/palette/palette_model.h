#pragma once

#include <QAbstractListModel>
#include <QAction>
#include <QPointer>
#include <memory>
#include <vector>

#include "views/session/document/document.h"
#include "views/session/search/node_search.h"

namespace jointer::views {

// The rows of the command palette for a query: matching actions, enabled ones first and the best of
// them on top, and, if only a few actions match, matching modules and nodes. A leading `@` excludes
// actions. An empty query shows all actions in their given order.
class PaletteModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum DataRole : int {
    title_role = Qt::DisplayRole,
    detail_role = Qt::UserRole,  // an action's menu, a module's class, or a node's operator
    shortcut_role,               // QString
    positions_role,              // QList<int>: indices of the matching letters in the title
  };

  using QAbstractListModel::QAbstractListModel;

  // Sets the available actions. Excludes menus, separators and actions without text. Actions that
  // are deleted later are skipped.
  void set_actions(const QList<QAction*>& actions);
  // Sets the document whose nodes and modules are searched; may be null.
  void set_document(Document* document) { document_ = document; }
  void set_text(const QString& text);

  // The target of a row: an action or nodes. Leaves out nodes that have been removed since the text
  // was set.
  [[nodiscard]] QAction* action(int row) const {
    return rows_[static_cast<std::size_t>(row)].action;
  }
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
  SnapshotPtr snapshot_;  // the graph that the rows and the search refer to
  std::unique_ptr<NodeSearch> search_;
  std::vector<Row> rows_;
};

// Returns, for example, "Show reserved memory" for "Show &reserved memory…".
QString plain_action_text(const QAction& action);

}  // namespace jointer::views
