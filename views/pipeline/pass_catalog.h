#pragma once

#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QListView>

#include "views/pipeline/catalog_model.h"
#include "views/session/pipeline/pass_service.h"

namespace jointer::views {

// A popup that lists all passes. Typing searches, Up and Down move the selection, Enter adds a
// pass, Shift+Enter adds a pass and keeps the popup open, and Esc closes it.
class PassCatalog : public QFrame {
  Q_OBJECT
 public:
  explicit PassCatalog(PassService& service, QWidget* parent = nullptr);

  [[nodiscard]] QLineEdit& edit() { return *edit_; }
  [[nodiscard]] QListView& list() { return *list_; }
  [[nodiscard]] CatalogModel& model() { return *model_; }

  // Shows the popup below `at`, or as far down as it fits on the screen.
  void open(const QWidget& at);

 signals:
  void chosen(const QString& pass);
  void plugin_wanted();
  void python_wanted();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refresh();
  void select_first();
  void choose(const QModelIndex& index, bool stays);
  void move_current(int by);

  PassService& service_;
  CatalogModel* model_;
  QLineEdit* edit_ = nullptr;
  QListView* list_ = nullptr;
};

}  // namespace jointer::views
