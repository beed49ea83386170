#pragma once

#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPointer>

#include "views/palette/palette_model.h"

namespace jointer::views {

// A popup for commands, nodes and modules. The user types part of a command, or `@` followed by a
// node or module. Up, Down, Page Up and Page Down move through the rows, Enter chooses a row, and
// Esc closes the popup. Actions run after the popup has closed.
class CommandPalette : public QFrame {
  Q_OBJECT
 public:
  explicit CommandPalette(QWidget* parent = nullptr);

  // Sets the available actions; see PaletteModel.
  void set_actions(const QList<QAction*>& actions) { model_->set_actions(actions); }
  void set_document(Document* document);

  [[nodiscard]] QLineEdit& edit() { return *edit_; }
  [[nodiscard]] QListView& list() { return *list_; }
  [[nodiscard]] PaletteModel& model() { return *model_; }

 public slots:
  // Shows the palette with `text` as the query, near the top of the parent's window.
  void open(const QString& text = {});

 signals:
  // A node or module was chosen and has been selected; `node` is its first node.
  void node_chosen(jointer::NodeId node);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void update_rows(const QString& text);
  void choose(const QModelIndex& index);
  void move_current(int by);

  PaletteModel* model_;
  QPointer<Document> document_;
  QLineEdit* edit_ = nullptr;
  QListView* list_ = nullptr;
  QLabel* hint_ = nullptr;
};

}  // namespace jointer::views
