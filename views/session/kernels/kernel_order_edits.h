#pragma once

#include <QObject>
#include <QString>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/kernels/compiled_order.h"
#include "core/kernels/kernel_order.h"
#include "core/workspace/kernel_moves.h"
#include "views/session/kernels/snapshot_kernels.h"
#include "views/session/work/task.h"

namespace jointer::views {

class PredictedKernels;

// The moves of predicted kernels that a user has made in an open graph: edits of the compiled
// order, which are not edits of the graph. They can be undone and redone, and written as a recipe
// of compiled order. When other kernels are predicted, moves that no longer apply are dropped.
//
// A move takes effect at once, but its rows are made on a worker thread: until `changed`, `shown`
// has the kernels in an earlier order, or those of an earlier graph.
class KernelOrderEdits : public QObject {
  Q_OBJECT
 public:
  // Makes the rows of an order on a worker thread; may throw.
  using MakeRows = std::function<SnapshotKernelsPtr(const SnapshotPtr& snapshot,
                                                    std::vector<CompiledPart> parts)>;
  static SnapshotKernelsPtr make_rows(const SnapshotPtr& snapshot, std::vector<CompiledPart> parts);

  // `predicted` must outlive this object.
  explicit KernelOrderEdits(PredictedKernels& predicted, MakeRows make = make_rows,
                            QObject* parent = nullptr);
  ~KernelOrderEdits() override;

  // The predicted kernels in the order after the moves; null while PredictedKernels::shown is null,
  // and while restored moves wait for the kernels of the current graph.
  [[nodiscard]] const SnapshotKernelsPtr& shown() const { return shown_; }
  // True if `shown` is of the same snapshot as the predicted kernels.
  [[nodiscard]] bool is_current() const {
    return shown_ && base_ && shown_->snapshot() == base_->snapshot();
  }
  // Why the rows of the current order could not be made, in one sentence; otherwise empty. `shown`
  // then stays as it was.
  [[nodiscard]] const QString& problem() const { return problem_; }
  // False while the rows of the current order are being made.
  [[nodiscard]] bool is_settled() const { return !ordering_.is_running(); }

  enum class Direction : std::int8_t { earlier = -1, later = 1 };
  // Moves the kernel of a row of `shown` past the next one that launches something or, with
  // `past_all`, past the next one of any kind. Returns false if it cannot be moved; `said` says
  // why.
  bool move(std::size_t row, Direction direction, bool past_all);
  // Moves the kernel as far as its dependencies allow.
  bool move_far(std::size_t row, Direction direction);

  [[nodiscard]] std::size_t move_count() const { return place_; }
  [[nodiscard]] bool can_undo() const { return base_ && place_ > 0; }
  [[nodiscard]] bool can_redo() const { return base_ && place_ < moves_.size(); }
  void undo();
  // Redoes the next move. If it no longer fits, drops it and the moves after it; `said` says so.
  void redo();
  // Undoes all moves. They can be redone.
  void reset();

  // The moves in the form that a workspace stores.
  [[nodiscard]] NamedKernelMoves saved() const;
  // Replaces the moves with those of a workspace. They wait until the kernels of the current graph
  // are predicted; those that do not fit are then dropped.
  void restore(NamedKernelMoves moves);

  // A sentence about the last move, its effect or why it was not made, or about the moves that a
  // new prediction has dropped. May be empty.
  [[nodiscard]] const QString& said() const { return said_; }

  // Writes the moves as a recipe of compiled order. Error (usage): the graph is a joint graph, or
  // there are no moves. Error (run): the file cannot be written.
  [[nodiscard]] Result<void> write(const QString& path) const;

 signals:
  // The kernels, their order or `said` has changed.
  void changed();
  // The moves have changed. `changed` follows once their rows are made.
  void moved();

 private:
  struct Move {
    NamedKernelMove named;
    kernels::KernelMove move = {};  // kernels of the part as predicted; set by `find`
  };
  // A predicted kernel: its part, and its index in the part.
  struct Chosen {
    std::size_t part = 0;
    std::int32_t kernel = -1;
  };

  // The rows of an order.
  struct Ordered {
    SnapshotKernelsPtr kernels;
    std::vector<std::uint64_t> keys;  // by row: the key that the kernel has among those predicted
  };

  void follow();
  void keep_moves();
  // Makes `orders_` and `keys_` unless they exist.
  void prepare();
  // The row in `base_` of the first kernel of a part.
  [[nodiscard]] std::size_t first_row(std::size_t part) const;
  [[nodiscard]] std::span<const std::uint64_t> keys(std::size_t part) const;
  [[nodiscard]] NamedKernel named(const Chosen& kernel) const;
  // The predicted kernel with this name, or -1.
  [[nodiscard]] std::int32_t find(std::size_t part, const NamedKernel& name) const;
  // Finds the kernels of a move among those that are predicted now.
  [[nodiscard]] bool find(Move& move) const;
  // Applies a move to the order of its part. Returns false if it is not legal.
  static bool apply(std::vector<kernels::KernelOrder>& orders, const Move& move);
  void replay();
  // Shows the current order once its rows are made. Rows that are still being made for an earlier
  // order are dropped.
  void publish();
  // Runs on a worker thread. `base_keys`: by row of `base`. `moves`: those that are applied.
  static Result<Ordered> ordered(const SnapshotKernelsPtr& base,
                                 const std::vector<std::uint64_t>& base_keys,
                                 const std::vector<Move>& moves, const MakeRows& make,
                                 const Cancellation& job);
  void take(Result<Ordered> made);
  // The kernel of a row of `shown`. If it is no longer among those predicted, says so and returns
  // nullopt.
  [[nodiscard]] std::optional<Chosen> choose(std::size_t row);
  bool add(const Chosen& kernel, std::int32_t to, Direction direction);
  // Sets `said` to what keeps the kernel from moving in this direction. Returns false.
  bool refuse(const Chosen& kernel, Direction direction);
  [[nodiscard]] QString name(const Chosen& kernel) const;
  // kernels::kernel_label, numbered like the rows.
  [[nodiscard]] std::string label(std::size_t part, std::int32_t kernel) const;

  PredictedKernels& predicted_;
  MakeRows make_;
  SnapshotKernelsPtr base_;
  std::vector<kernels::KernelOrder> orders_;  // by part, of `base_`; made for the first move
  std::vector<std::uint64_t> keys_;           // by row of `base_`; made with `orders_`
  SnapshotKernelsPtr shown_;
  std::vector<std::uint64_t> shown_keys_;  // as in Ordered; made when they are needed
  Task<Ordered> ordering_;
  std::vector<Move> moves_;
  std::size_t place_ = 0;  // moves that are applied; those after them can be redone
  std::string extra_;      // members of saved moves that this version does not know
  QString said_, problem_;
};

}  // namespace jointer::views
