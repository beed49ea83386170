#pragma once

#include <QSplitter>
#include <QTextBrowser>
#include <QUrl>
#include <QWidget>

#include "views/kernels/kernel_table.h"
#include "views/widgets/elided_label.h"
#include "views/widgets/inspector_content.h"
#include "views/widgets/kernel_watch.h"

namespace jointer::views {

// The kernels that Inductor is predicted to make of the graph, those that its scheduler makes when
// asked, those of a compilation whose artifacts are open, or those measured in an open trace.
// Shows their totals and those of one kernel per operator or, for a compilation or a trace, how it
// fits the graph; a table of the kernels; details of the selected one; and how Inductor's answer
// differs from the prediction. The pane does not ask for predictions while it is hidden or covered.
class KernelsPane : public QWidget {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit KernelsPane(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] KernelTable& table() { return *table_; }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void show_totals();
  void show_compilation(const SnapshotKernels& shown);
  void show_measurement(const SnapshotKernels& shown);
  static QString source_html(const SnapshotKernels& shown, std::size_t row);
  void show_details();
  void follow(const QUrl& link);

  Document& document_;
  KernelWatch watch_;
  ElidedLabel* totals_ = nullptr;
  ElidedLabel* per_operator_ = nullptr;
  QSplitter* splitter_ = nullptr;
  KernelTable* table_ = nullptr;
  QTextBrowser* details_ = nullptr;
  InspectorContent content_;  // of the details
  QString html_;              // that the details show
};

}  // namespace jointer::views
