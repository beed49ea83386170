#pragma once

#include <QTextBrowser>
#include <QWidget>

#include "views/document/document.h"
#include "views/inspector/inspector_content.h"

namespace jointer::views {

// What is known of the selected node, or what several add up to. Names of nodes are links; a click
// selects them. All text can be selected and copied.
class InspectorPane : public QWidget {
  Q_OBJECT
 public:
  explicit InspectorPane(Document& document, QWidget* parent = nullptr);

  // Folders in which source files with relative names are looked for.
  void set_source_roots(const QStringList& roots);
  [[nodiscard]] const InspectorContent& content() const { return content_; }
  [[nodiscard]] QTextBrowser& page() { return *page_; }

 public slots:
  // Brings up what the document's edits say of the selected node: also where they say nothing.
  void ask_why();

 protected:
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void request_refresh();
  void refresh();
  void follow(const QUrl& link);
  void add_plan(NodeId node);
  void add_reasons(NodeId node);

  Document& document_;
  QTextBrowser* page_ = nullptr;
  InspectorContent content_;
  QStringList roots_;
  NodeId shown_;
  NodeId asked_;  // of which a person wants to know why it is here
  bool is_stale_ = true;
};

}  // namespace jointer::views
