#pragma once

#include <QListView>
#include <optional>

#include "views/pipeline/step_model.h"
#include "views/widgets/keys_group.h"

namespace jointer::views {

// The list of steps. Steps can be enabled or disabled, reordered by dragging, and removed. The
// current step stays current while the list changes.
class StepList : public QListView {
  Q_OBJECT
 public:
  explicit StepList(PipelineSession& session, QWidget* parent = nullptr);

  [[nodiscard]] StepModel& model() { return *model_; }
  // The position of the current step; nullopt if there is none.
  [[nodiscard]] std::optional<std::size_t> current() const;
  void set_current(quint64 id);
  // The position for a new step: after the current step, or last if there is none.
  [[nodiscard]] std::size_t place_to_add() const;
  // The position at which the dragged step would be dropped; nullopt if no step is being dragged.
  [[nodiscard]] std::optional<std::size_t> gap() const { return gap_; }

  static KeysGroup keys();

 public slots:
  void remove_current();
  void duplicate_current();
  void move_current(int by);
  void toggle_current();

 signals:
  // Another step, or no step, is now current.
  void current_changed();
  // The user pressed Enter or double-clicked a step.
  void activated_step();

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void restore_current();
  void end_drag();
  [[nodiscard]] std::size_t gap_at(int y) const;

  PipelineSession& session_;
  StepModel* model_;
  quint64 current_id_ = 0;
  int current_row_ = 0;
  bool is_restoring_ = false;
  std::optional<int> pressed_row_;
  QPoint pressed_at_;
  std::optional<std::size_t> gap_;
};

}  // namespace jointer::views
