#pragma once

#include <QHash>
#include <QStackedWidget>
#include <functional>

#include "views/session/session.h"

namespace jointer::views {

// Shows one kind of widget for the current document. Each document's widget is created when it
// first becomes visible, so hidden panes cost nothing. A widget is kept until its document is
// deleted, so scroll positions and filters survive when the user switches documents.
class DocumentStack : public QStackedWidget {
  Q_OBJECT
 public:
  using Make = std::function<QWidget*(Session& session)>;

  explicit DocumentStack(Make make, QWidget* parent = nullptr);

  // `session`: the current document's; null if there is none.
  void show_session(Session* session);
  // Sets whether the user can see the stack. Qt considers even a dock behind another tab visible.
  void set_seen(bool seen);
  // The current document's widget; null if it has not been created.
  [[nodiscard]] QWidget* shown() const;

 protected:
  void showEvent(QShowEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;

 private:
  void make_soon();
  void make_widget();

  Make make_;
  QWidget* empty_ = nullptr;
  QHash<Session*, QWidget*> widgets_;
  Session* session_ = nullptr;
  bool is_seen_ = true;
};

}  // namespace jointer::views
