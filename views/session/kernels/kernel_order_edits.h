#pragma once

#include <QObject>
#include <QString>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/kernels/compiled_order.h"
#include "core/kernels/kernel_order.h"
#include "views/session/kernels/snapshot_kernels.h"

namespace jointer::views {

class PredictedKernels;

// The moves of predicted kernels that a user has made in an open graph: edits of the compiled
// order, which are not edits of the graph. They can be undone and redone, and written as a recipe
// of compiled order. When other kernels are predicted, moves that no longer apply are dropped.
class KernelOrderEdits : public QObject {
  Q_OBJECT
 public:
  // `predicted` must outlive this object.
  explicit KernelOrderEdits(PredictedKernels& predicted, QObject* parent = nullptr);
  ~KernelOrderEdits() override;

  // The predicted kernels in the order after the moves; null while PredictedKernels::shown is null.
  [[nodiscard]] const SnapshotKernelsPtr& shown() const { return shown_; }

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

  // A sentence about the last move, its effect or why it was not made, or about the moves that a
  // new prediction has dropped. May be empty.
  [[nodiscard]] const QString& said() const { return said_; }

  // Writes the moves as a recipe of compiled order. Error (usage): the graph is a joint graph, or
  // there are no moves. Error (run): the file cannot be written.
  [[nodiscard]] Result<void> write(const QString& path) const;

 signals:
  // The kernels, their order or `said` has changed.
  void changed();

 private:
  struct Move {
    std::size_t part = 0;
    kernels::KernelMove move;              // kernels of the part as predicted
    std::uint64_t kernel = 0, anchor = 0;  // their keys
  };
  // A row of `shown`: its part, and its kernel in the part as predicted.
  struct Chosen {
    std::size_t part = 0;
    std::int32_t kernel = -1;
  };

  void follow();
  // The keys of a part's kernels.
  [[nodiscard]] std::span<const std::uint64_t> keys(std::size_t part) const;
  // Finds the kernels of a move among those that are predicted now.
  [[nodiscard]] bool find(Move& move) const;
  // Applies a move to the order of its part. Returns false if it is not legal.
  bool apply(const Move& move);
  void replay();
  void publish();
  [[nodiscard]] Chosen chosen(std::size_t row) const;
  bool add(const Chosen& kernel, std::int32_t to, Direction direction);
  // Sets `said` to what keeps the kernel from moving in this direction. Returns false.
  bool refuse(const Chosen& kernel, Direction direction);
  [[nodiscard]] QString name(const Chosen& kernel) const;

  PredictedKernels& predicted_;
  SnapshotKernelsPtr base_, shown_;
  std::vector<kernels::KernelOrder> orders_;  // by part, of `base_`
  std::vector<std::uint64_t> keys_;           // by row of `base_`
  std::vector<Move> moves_;
  std::size_t place_ = 0;  // moves that are applied; those after them can be redone
  QString said_;
};

}  // namespace jointer::views
