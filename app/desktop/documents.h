#pragma once

#include <QObject>
#include <QStackedWidget>
#include <QTabBar>
#include <functional>

#include "views/window/document_tab.h"

namespace jointer::desktop {

// The open documents: a tab for each, and the page of the current one.
class Documents : public QObject {
  Q_OBJECT
 public:
  // `empty_page` is a page of `pages` that is shown while no document is open. The tab bar, which
  // must be empty, and the pages must outlive this object. `make_session` is called when a graph
  // has loaded.
  Documents(QTabBar& tabs, QStackedWidget& pages, QWidget& empty_page,
            views::DocumentTab::MakeSession make_session);

  // Starts to load a graph in a new tab and makes it current.
  views::DocumentTab* open(const OpenRequest& request, const AnalysisOptions& analysis);
  void close(views::DocumentTab* tab);
  // Closes all documents when the window is destroyed, before the panes that show them. Emits
  // nothing.
  void close_all();
  // Makes the next tab current, or the previous one if `direction` is negative.
  void step(int direction);
  // Updates the tab after a document's title, path or saved state has changed.
  void refresh_texts(views::DocumentTab* tab);

  [[nodiscard]] int count() const { return tabs_.count(); }
  // These belong to the current tab. All but the tab itself are null until its graph has loaded.
  [[nodiscard]] views::DocumentTab* tab() const;
  [[nodiscard]] views::Session* session() const;
  [[nodiscard]] views::Document* document() const;
  [[nodiscard]] views::TimelineView* timeline() const;
  void with_timeline(const std::function<void(views::TimelineView&)>& action) const;

 signals:
  // A document was loaded or reloaded; it is not yet shown. For parts that follow its session.
  void loaded(jointer::views::DocumentTab* tab);
  // Like `loaded`, but once the document is shown.
  void opened(jointer::views::DocumentTab* tab);
  void failed(jointer::views::DocumentTab* tab, const jointer::Error& error);
  // The file contains several graphs.
  void several(jointer::views::DocumentTab* tab, const std::vector<jointer::GraphEntry>& entries,
               const jointer::Error& error);
  void closed(jointer::views::DocumentTab* tab);
  // Another tab or session, or none, is now current.
  void current_changed();
  void texts_changed();
  // The user clicked the button of an error page that opens another file.
  void open_requested();

 private:
  [[nodiscard]] views::DocumentTab* tab_at(int index) const;
  [[nodiscard]] int index_of(const views::DocumentTab* tab) const;
  void take_loaded(views::DocumentTab* tab);
  void show_current();

  QTabBar& tabs_;  // each tab's data is its DocumentTab
  QStackedWidget& pages_;
  QWidget& empty_page_;
  views::DocumentTab::MakeSession make_session_;
};

}  // namespace jointer::desktop
