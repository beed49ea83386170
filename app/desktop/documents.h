#pragma once

#include <QObject>
#include <QStackedWidget>
#include <QTabBar>
#include <functional>
#include <vector>

#include "views/window/document_tab.h"

namespace jointer::desktop {

// The open documents, each with a tab and a page. The page of the current one is shown.
class Documents : public QObject {
  Q_OBJECT
 public:
  // `empty_page` is the page in `pages` that is shown while no document is open. `tabs`, which must
  // be empty, and `pages` must outlive this object. `make_session` is called when a graph has
  // loaded.
  Documents(QTabBar& tabs, QStackedWidget& pages, QWidget& empty_page,
            views::DocumentTab::MakeSession make_session);

  // Starts loading a graph in a new tab and makes the tab current.
  views::DocumentTab* open(const OpenRequest& request, const AnalysisOptions& analysis);
  void close(views::DocumentTab* tab);
  // Closes all documents. Called when the window is destroyed, before the panes that show the
  // documents are destroyed. Emits nothing.
  void close_all();
  // Makes the next tab current (`direction` 1) or the previous one (-1); wraps around.
  void step(int direction);
  // Updates the tab after a document's title, path or saved state has changed.
  void refresh_texts(views::DocumentTab* tab);

  // Makes a tab current.
  void show(views::DocumentTab* tab);

  [[nodiscard]] int count() const { return tabs_.count(); }
  // The tabs from left to right.
  [[nodiscard]] std::vector<views::DocumentTab*> all() const;
  // These belong to the current tab, and are null if no document is open. All but the tab itself
  // are also null until the tab's graph has loaded.
  [[nodiscard]] views::DocumentTab* tab() const { return tab_at(tabs_.currentIndex()); }
  [[nodiscard]] views::Session* session() const;
  [[nodiscard]] views::Document* document() const;
  [[nodiscard]] views::TimelineView* timeline() const;
  // Calls `action` unless the timeline is null.
  void with_timeline(const std::function<void(views::TimelineView&)>& action) const;

 signals:
  // A document was reloaded and is about to be replaced.
  void replacing(jointer::views::DocumentTab* tab);
  // A document was loaded or reloaded, but is not shown yet. Meant for objects that follow its
  // session.
  void loaded(jointer::views::DocumentTab* tab);
  // Emitted after `loaded`. If the tab is current, the document is on screen by then.
  void opened(jointer::views::DocumentTab* tab);
  void failed(jointer::views::DocumentTab* tab, const jointer::Error& error);
  // The file contains several graphs, and the request does not choose one.
  void several(jointer::views::DocumentTab* tab, const std::vector<jointer::GraphEntry>& entries,
               const jointer::Error& error);
  void closed(jointer::views::DocumentTab* tab);
  // The user clicked a tab's close button.
  void close_requested(jointer::views::DocumentTab* tab);
  // The current tab or its session has changed; both may be null.
  void current_changed();
  void texts_changed();
  // On an error page, the user clicked the button that opens another file.
  void open_requested();

 private:
  [[nodiscard]] views::DocumentTab* tab_at(int index) const;
  [[nodiscard]] int index_of(const views::DocumentTab* tab) const;
  void finish_loading(views::DocumentTab* tab);
  void show_current();

  QTabBar& tabs_;  // each tab's data is its DocumentTab
  QStackedWidget& pages_;
  QWidget& empty_page_;
  views::DocumentTab::MakeSession make_session_;
};

}  // namespace jointer::desktop
