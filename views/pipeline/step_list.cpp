#include "views/pipeline/step_list.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "views/pipeline/step_delegate.h"
#include "views/theme/theme.h"

namespace jointer::views {

StepList::StepList(PipelineSession& session, QWidget* parent)
    : QListView(parent), session_(session), model_(new StepModel(session, this)) {
  setModel(model_);
  setItemDelegate(new StepDelegate(this));
  setAccessibleName(tr("Steps of the pipeline"));
  setSelectionMode(SingleSelection);
  setUniformItemSizes(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(ScrollPerPixel);
  setEditTriggers(NoEditTriggers);
  setMinimumSize(160, 60);
  connect(model_, &QAbstractItemModel::modelReset, this, &StepList::restore_current);
  connect(selectionModel(), &QItemSelectionModel::currentChanged, this,
          [this](const QModelIndex& now) {
            if (is_restoring_) return;
            current_id_ = model_->id(now.row());
            current_row_ = now.row();
            emit current_changed();
          });
  if (model_->rowCount() > 0) setCurrentIndex(model_->index(0));
}

KeysGroup StepList::keys() {
  return {tr("Pipeline"),
          {{tr("Space"), tr("Enable or disable the step")},
           {tr("Drag; Alt+Up, Alt+Down"), tr("Move the step")},
           {tr("Delete"), tr("Remove the step")},
           {tr("Ctrl+D"), tr("Duplicate the step")},
           {tr("Enter"), tr("Go to the step's parameters")}}};
}

std::optional<std::size_t> StepList::current() const {
  return session_.draft().find(current_id_);
}

std::size_t StepList::place_to_add() const {
  const auto place = current();
  return place ? *place + 1 : session_.draft().size();
}

void StepList::set_current(quint64 id) {
  const int row = model_->row_of(id);
  if (row >= 0) setCurrentIndex(model_->index(row));
}

// Restores the current step. If it was removed, makes the step in its place or the last one
// current.
void StepList::restore_current() {
  const int row = model_->row_of(current_id_);
  const int next = row >= 0 ? row : std::min(current_row_, model_->rowCount() - 1);
  const quint64 before = current_id_;
  is_restoring_ = true;
  setCurrentIndex(model_->index(next));
  is_restoring_ = false;
  current_id_ = model_->id(next);
  current_row_ = std::max(next, 0);
  if (current_id_ != before) emit current_changed();
}

// --- Commands ---

void StepList::remove_current() {
  if (const auto place = current()) session_.draft().remove(*place);
}

void StepList::duplicate_current() {
  if (const auto place = current()) set_current(session_.draft().duplicate(*place));
}

void StepList::move_current(int by) {
  const auto place = current();
  if (!place || (by < 0 && *place == 0)) return;
  session_.draft().move(*place, by < 0 ? *place - 1 : *place + 2);
  scrollTo(currentIndex());
}

void StepList::toggle_current() {
  if (const auto place = current())
    session_.draft().enable(*place, !session_.draft().steps()[*place].step.is_enabled);
}

void StepList::keyPressEvent(QKeyEvent* event) {
  if (gap_ && event->key() == Qt::Key_Escape) return end_drag();
  const bool is_alt = event->modifiers().testFlag(Qt::AltModifier);
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
      if (!is_alt) break;
      return move_current(event->key() == Qt::Key_Up ? -1 : 1);
    case Qt::Key_Space:
      return toggle_current();
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
      return remove_current();
    case Qt::Key_D:
      if (event->modifiers() != Qt::ControlModifier) break;
      return duplicate_current();
    case Qt::Key_Return:
    case Qt::Key_Enter:
      emit activated_step();
      return;
    default:
      break;
  }
  QListView::keyPressEvent(event);
}

// --- Dragging ---
// Implemented without QDrag, because a step moves only within this list, whereas a QDrag can leave
// the window.

std::size_t StepList::gap_at(int y) const {
  const int rows = model_->rowCount();
  for (int row = 0; row < rows; ++row)
    if (y < visualRect(model_->index(row)).center().y()) return static_cast<std::size_t>(row);
  return static_cast<std::size_t>(rows);
}

void StepList::end_drag() {
  pressed_row_.reset();
  if (!gap_) return;
  gap_.reset();
  viewport()->unsetCursor();
  viewport()->update();
}

void StepList::mousePressEvent(QMouseEvent* event) {
  QListView::mousePressEvent(event);
  const QModelIndex row = indexAt(event->pos());
  pressed_row_.reset();
  if (event->button() != Qt::LeftButton || !row.isValid()) return;
  if (StepDelegate::box_rect(visualRect(row)).contains(event->pos())) return;
  pressed_row_ = row.row();
  pressed_at_ = event->pos();
}

void StepList::mouseMoveEvent(QMouseEvent* event) {
  if (!pressed_row_ || !event->buttons().testFlag(Qt::LeftButton))
    return QListView::mouseMoveEvent(event);
  if (!gap_ && (event->pos() - pressed_at_).manhattanLength() < QApplication::startDragDistance())
    return;
  if (!gap_) viewport()->setCursor(Qt::ClosedHandCursor);
  const int y = event->pos().y();
  // Scroll while the pointer is beyond an edge.
  const int beyond = y < 0 ? y : y > viewport()->height() ? y - viewport()->height() : 0;
  if (beyond != 0) verticalScrollBar()->setValue(verticalScrollBar()->value() + beyond / 2);
  gap_ = gap_at(y);
  viewport()->update();
}

void StepList::mouseReleaseEvent(QMouseEvent* event) {
  if (gap_ && pressed_row_) {
    const auto from = static_cast<std::size_t>(*pressed_row_);
    const std::size_t to = *gap_;
    end_drag();
    session_.draft().move(from, to);
    return;
  }
  end_drag();
  QListView::mouseReleaseEvent(event);
}

void StepList::mouseDoubleClickEvent(QMouseEvent* event) {
  const QModelIndex row = indexAt(event->pos());
  if (row.isValid() && !StepDelegate::box_rect(visualRect(row)).contains(event->pos()))
    emit activated_step();
}

void StepList::focusOutEvent(QFocusEvent* event) {
  end_drag();
  QListView::focusOutEvent(event);
}

void StepList::paintEvent(QPaintEvent* event) {
  QListView::paintEvent(event);
  if (!gap_ || model_->rowCount() == 0) return;
  const int last = model_->rowCount() - 1;
  const int row = std::min(static_cast<int>(*gap_), last);
  const QRect at = visualRect(model_->index(row));
  const int y = static_cast<int>(*gap_) > last ? at.bottom() : at.top();
  QPainter painter(viewport());
  painter.fillRect(QRect(0, y - 1, viewport()->width(), 3), Theme::of(palette()).text);
}

}  // namespace jointer::views
