#pragma once

#include <QCheckBox>
#include <QDialog>
#include <QLabel>
#include <QListWidget>
#include <QPointer>
#include <QPushButton>
#include <QTreeWidget>
#include <vector>

#include "core/open/open_ranks.h"
#include "views/session/document/document.h"
#include "views/session/work/task.h"

namespace jointer::views {

// The result of comparing several ranks, one of which may be the document's own.
struct RankCheck {
  std::vector<RankProgram> programs;  // read from files
  SnapshotPtr own;                    // null if only files are compared
  int own_rank = 0;
  SpmdReport report;
};

// Opens files and compares their graphs. `own`: the document's graph, which replaces that of
// `own_rank`; may be null. Call it on a worker thread. Errors: see open_ranks and check_spmd.
Result<RankCheck> check_ranks(const std::vector<RankFiles>& files, const SnapshotPtr& own,
                              int own_rank);

// Checks whether the collectives of the document's graph, as edited, match those in captures of
// other ranks; if not, shows the first mismatch.
class SpmdDialog : public QDialog {
  Q_OBJECT
 public:
  explicit SpmdDialog(Document& document, QWidget* parent = nullptr);

  void add_files(const QStringList& paths);
  [[nodiscard]] QString answer() const { return answer_->text(); }

 public slots:
  void check();

 signals:
  void checked();
  // The user clicked a node of this document at which the ranks differ.
  void node_activated(jointer::NodeId node);

 private:
  void choose_files();
  void refresh();
  void show_result(const RankCheck& result);
  void show_error(const QString& sentence) { answer_->setText(sentence); }

  QPointer<Document> document_;
  int rank_ = 0;
  QListWidget* files_ = nullptr;
  QCheckBox* with_own_ = nullptr;
  QPushButton* check_ = nullptr;
  QLabel* answer_ = nullptr;
  QTreeWidget* sides_ = nullptr;
  Task<RankCheck> checking_;
};

}  // namespace jointer::views
