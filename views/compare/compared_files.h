#pragma once

// Graphs that are compared without being open: those in files that the user chose, and the input of
// the pass that produced a document's graph. Each graph is read once, on a worker thread, when it
// is first needed.

#include <QObject>
#include <QString>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "core/capture/graph_reader.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// A compared file. Two handles are equal if they refer to the same object, not to the same path.
using ComparedFile = std::shared_ptr<const OpenRequest>;

class ComparedFiles : public QObject {
  Q_OBJECT
 public:
  using Use = std::function<void(const Result<SnapshotPtr>&)>;
  using QObject::QObject;

  // Calls `use` on this thread once the graph has been read, or immediately if it already has.
  // Error: like open_graph; also (usage), the file contains several graphs and `file` does not say
  // which one, so the user must open the graph to choose it.
  void find(const ComparedFile& file, const AnalysisOptions& options, Use use);
  // Drops all graphs, for example because the options have changed. Pending calls to `use` are
  // dropped as well.
  void forget();

 private:
  struct Known {
    ComparedFile file;
    SnapshotPtr snapshot;  // null while the file is being read
    std::vector<Use> waiting;
  };
  Known* known(const ComparedFile& file);
  void finish(const ComparedFile& file, const Result<SnapshotPtr>& made);

  std::deque<Known> known_;
  quint64 generation_ = 0;  // results of reads that started before `forget` are ignored
};

}  // namespace jointer::views
