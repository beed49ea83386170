#pragma once

#include <QStackedLayout>
#include <QWidget>
#include <memory>

#include "views/document/document.h"
#include "views/document/loader.h"
#include "views/timeline/timeline_view.h"
#include "views/window/pages.h"

namespace jointer::views {

// One document from the moment a person asks for it: a page that says how far the reading is, then
// the graph, or why it could not be opened.
class DocumentTab : public QWidget {
  Q_OBJECT
 public:
  DocumentTab(OpenRequest request, AnalysisOptions options, QWidget* parent = nullptr);
  ~DocumentTab() override;
  DocumentTab(const DocumentTab&) = delete;
  DocumentTab& operator=(const DocumentTab&) = delete;

  // Reads the file, again if it was read before. A document that is shown stays until the new one
  // is there, and stays for good if it cannot be read.
  void load();

  // File names until there is a graph, then its title.
  [[nodiscard]] QString title() const;
  [[nodiscard]] const OpenRequest& request() const { return request_; }
  [[nodiscard]] bool is_loading() const { return loader_ != nullptr; }
  // Null until the graph is read.
  [[nodiscard]] Document* document() const { return document_.get(); }
  [[nodiscard]] TimelineView* timeline() const { return timeline_; }

  // Puts a widget (the find bar) over the timeline.
  void insert_bar(QWidget* bar);

 signals:
  // There is a document, or another one than before; the old one is deleted right afterwards.
  void ready();
  void several(const std::vector<jointer::GraphEntry>& entries, const jointer::Error& error);
  void failed(const jointer::Error& error);
  void cancelled();
  // The person asks for these.
  void close_requested();
  void open_requested();

 private:
  void show_graph(const SnapshotPtr& snapshot);
  void show_error(const Error& error);
  void show_page(QWidget* page);

  OpenRequest request_;
  AnalysisOptions options_;
  std::unique_ptr<Document> document_;
  Loader* loader_ = nullptr;  // while a graph is being read
  QStackedLayout* stack_ = nullptr;
  QWidget* page_ = nullptr;  // the one shown, owned by the stack
  TimelineView* timeline_ = nullptr;
};

}  // namespace jointer::views
