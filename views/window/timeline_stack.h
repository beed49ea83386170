#pragma once

#include <QStackedWidget>

#include "views/session/document/partitioned.h"
#include "views/timeline/timeline_bar.h"
#include "views/timeline/timeline_view.h"

namespace jointer::views {

// The timeline of a document, with its bar. A joint graph is shown as it is or, once the pair has
// been built, as partitioned; it can be edited only as it is.
class TimelineStack : public QStackedWidget {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit TimelineStack(Document& document, QWidget* parent = nullptr);
  ~TimelineStack() override;

  // The timeline on screen.
  [[nodiscard]] TimelineView* shown() const;

 private:
  struct Page {
    QWidget* widget = nullptr;
    TimelineBar* bar = nullptr;
    TimelineView* view = nullptr;
  };
  Page add_page(Document& document, TimelineView::Moves moves);
  void share_choices();
  void choose(bool is_partitioned);
  void bring_up(const Page& page);

  Page own_;
  Page partitioned_;                           // null members until the pair has been built
  std::unique_ptr<Partitioned> partitioning_;  // null unless the document is a joint graph
};

}  // namespace jointer::views
