#pragma once

#include <QTextBrowser>
#include <QTimer>
#include <QWidget>

#include "views/session/document/document.h"
#include "views/widgets/inspector_content.h"

namespace jointer::views {

// Details of the selected node or totals of several nodes, preceded by the totals of the selected
// range. Node names are links that select the node. All text can be selected and copied.
class InspectorPane : public QWidget {
  Q_OBJECT
 public:
  explicit InspectorPane(Document& document, QWidget* parent = nullptr);

  // Folders to search for source files with relative names.
  void set_source_roots(const QStringList& roots);
  [[nodiscard]] const InspectorContent& content() const { return content_; }
  [[nodiscard]] QTextBrowser& page() { return *page_; }

 public slots:
  // Shows how the document's edits affected the selected node, or that none did.
  void ask_why();

 protected:
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void request_refresh();
  void refresh_node() {
    if (shown_) request_refresh();
  }
  void refresh();
  void show_content(int scroll);
  void add_range();
  void follow(const QUrl& link);
  void add_plan(NodeId node);
  void add_reasons(NodeId node);
  void add_kernel(NodeId node);
  void add_measured_kernel(NodeId node);

  Document& document_;
  QTextBrowser* page_ = nullptr;
  InspectorContent content_;
  QStringList roots_;
  QTimer range_delay_;  // delay before the pane follows a range that is being dragged
  NodeId shown_;
  NodeId asked_;  // the node for which ask_why() was called
  bool is_stale_ = true;
};

}  // namespace jointer::views
