#pragma once

#include <QHash>
#include <QStackedWidget>
#include <functional>

#include "views/document/document.h"

namespace jointer::views {

// One kind of widget for whichever document is in front. A document's widget is made when it is
// first seen, so what nobody looks at costs nothing, and kept, so each document finds its own
// scroll position and filters again. It goes with its document.
class DocumentStack : public QStackedWidget {
  Q_OBJECT
 public:
  using Make = std::function<QWidget*(Document& document)>;

  explicit DocumentStack(Make make, QWidget* parent = nullptr);

  // Null: no document is in front.
  void show_document(Document* document);
  // A tab of a dock that lies behind another one counts as visible for Qt, but nobody sees it.
  void set_seen(bool seen);
  // The widget of the document in front, null if there is none yet.
  [[nodiscard]] QWidget* shown() const;

 protected:
  void showEvent(QShowEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;

 private:
  void make_soon();
  void make_widget();

  Make make_;
  QWidget* empty_ = nullptr;
  QHash<Document*, QWidget*> widgets_;
  Document* document_ = nullptr;
  bool is_seen_ = true;
};

}  // namespace jointer::views
