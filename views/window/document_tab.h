#pragma once

#include <QStackedLayout>
#include <QWidget>
#include <functional>
#include <memory>

#include "views/session/document/document.h"
#include "views/session/open/loader.h"
#include "views/session/session.h"
#include "views/window/pages.h"
#include "views/window/timeline_stack.h"

namespace jointer::views {

// A document's tab: a progress page while it is loading, then the graph or an error page.
class DocumentTab : public QWidget {
  Q_OBJECT
 public:
  using MakeSession =
      std::function<std::unique_ptr<Session>(const OpenRequest& source, SnapshotPtr snapshot)>;

  // `make_session` is called when a graph has been loaded.
  DocumentTab(OpenRequest request, AnalysisOptions options, MakeSession make_session,
              QWidget* parent = nullptr);
  ~DocumentTab() override;

  // Loads or reloads the file; a reloaded document keeps its options and assumptions. The current
  // document stays open until the new one has been loaded and the current one's saves have ended;
  // if loading fails, it stays open.
  void load();

  // The graph's title or, while there is no graph, the file names.
  [[nodiscard]] QString title() const;
  [[nodiscard]] const OpenRequest& request() const { return request_; }
  [[nodiscard]] bool is_loading() const { return loader_ != nullptr; }
  // Null until a graph has been loaded.
  [[nodiscard]] Session* session() const { return session_.get(); }
  [[nodiscard]] Document* document() const { return session_ ? &session_->document() : nullptr; }
  // The timeline on screen; null if the page has none.
  [[nodiscard]] TimelineView* timeline() const {
    return timelines_ == nullptr ? nullptr : timelines_->shown();
  }

  // Inserts a widget, such as the find bar, above the timeline.
  void insert_bar(QWidget* bar);

 signals:
  // The current document is about to be replaced by a reloaded one.
  void replacing();
  // The document was loaded or reloaded. The previous document is deleted afterwards.
  void ready();
  void several(const std::vector<jointer::GraphEntry>& entries, const jointer::Error& error);
  void failed(const jointer::Error& error);
  void cancelled();
  // The user clicked the error page's button to open another file.
  void open_requested();

 private:
  void show_graph(const SnapshotPtr& snapshot);
  void show_error(const Error& error);
  // `timelines`: the timelines on the page; null if it has none.
  void show_page(QWidget* page, TimelineStack* timelines = nullptr);

  OpenRequest request_;
  AnalysisOptions options_;
  MakeSession make_session_;
  std::unique_ptr<Session> session_;
  Loader* loader_ = nullptr;  // not null while a graph is being loaded
  QStackedLayout* stack_ = nullptr;
  QWidget* page_ = nullptr;  // the current page, owned by the stack
  TimelineStack* timelines_ = nullptr;
};

}  // namespace jointer::views
