#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "views/session/edit/collective_fixes.h"
#include "views/session/work/task.h"

namespace jointer::views {

class Editing;
class OpenGraph;

using CollectiveFixesPtr = std::shared_ptr<const CollectiveFixes>;

// Determines on a worker thread what moving a document's collectives gains, one collective at a
// time, and applies moves that it found. Results are kept until the graph or its analysis changes.
class FixSearch : public QObject {
  Q_OBJECT
 public:
  // `open` and `editing` must outlive this object.
  FixSearch(OpenGraph& open, Editing& editing, QObject* parent = nullptr);

  // Finds the fixes of the collectives that start with these nodes, in this order. The request
  // replaces earlier ones. An empty list stops the search, unless a move is waiting to be applied.
  void want(std::vector<NodeId> starts);
  // The fixes of this collective; null until they are found.
  [[nodiscard]] CollectiveFixesPtr found(NodeId start) const;
  [[nodiscard]] bool is_running() const { return finding_.is_running(); }

  // Apply a move of the collective as one history entry: the best move in its own layer, or the
  // move of this kind. Find the moves first if they are not known yet. Emit `refused`, with the
  // reason, if there is no such move. A newer request replaces a pending one.
  void apply_best(NodeId start);
  void apply(NodeId start, FixKind kind);

 signals:
  // The fixes of this collective are known.
  void fixes_found(jointer::NodeId start);
  // All results are outdated and have been discarded.
  void forgotten();
  void refused(const QString& sentence);

 private:
  struct Fix {
    NodeId start;
    std::optional<FixKind> kind;  // nullopt for the best one
  };

  void forget();
  void pump();
  void take(NodeId start, const Result<CollectiveFixes>& fixes);
  void apply_pending();

  OpenGraph& open_;
  Editing& editing_;
  SnapshotPtr graph_;                  // the snapshot that the results belong to
  std::shared_ptr<FixFinder> finder_;  // used by the running job
  Task<CollectiveFixes> finding_;
  std::vector<NodeId> wanted_;
  std::optional<Fix> to_apply_;
  std::unordered_map<std::uint32_t, CollectiveFixesPtr> found_;  // by the start's id
};

}  // namespace jointer::views
