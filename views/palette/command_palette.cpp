#include "views/palette/command_palette.h"

#include <QKeyEvent>
#include <algorithm>

#include "views/palette/palette_delegate.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kWidth = 620;
constexpr int kVisibleRows = 12;

}  // namespace

CommandPalette::CommandPalette(QWidget* parent)
    : QFrame(parent, Qt::Popup), model_(new PaletteModel(this)) {
  setAccessibleName(tr("Commands"));
  setFrameShape(QFrame::StyledPanel);
  QVBoxLayout* rows = make_column(this, {kMargin, kMargin, kMargin, kMargin}, kMargin);
  edit_ = add_control(*rows, new QLineEdit(this), nullptr, {}, tr("Command"));
  edit_->setPlaceholderText(tr("Type a command, or @ followed by a node or module"));
  edit_->installEventFilter(this);
  list_ = new QListView(this);
  list_->setAccessibleName(tr("Matches"));
  list_->setModel(model_);
  list_->setItemDelegate(new PaletteDelegate(list_));
  list_->setUniformItemSizes(true);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setFocusPolicy(Qt::NoFocus);  // keyboard input stays in the line edit
  rows->addWidget(list_, 1);
  hint_ = new QLabel(this);
  hint_->setForegroundRole(QPalette::PlaceholderText);
  hint_->setAlignment(Qt::AlignCenter);
  rows->addWidget(hint_);
  setFocusProxy(edit_);
  connect(edit_, &QLineEdit::textChanged, this, &CommandPalette::update_rows);
  connect(list_, &QAbstractItemView::clicked, this, &CommandPalette::choose);
}

void CommandPalette::set_document(Document* document) {
  document_ = document;
  model_->set_document(document);
}

void CommandPalette::open(const QString& text) {
  edit_->setText(text);
  update_rows(text);
  const int row_height = list_->sizeHintForRow(0) > 0 ? list_->sizeHintForRow(0) : 26;
  const int height = edit_->sizeHint().height() + 3 * kMargin + kVisibleRows * row_height;
  if (const QWidget* window = parentWidget() ? parentWidget()->window() : nullptr) {
    const int width = std::min(kWidth, window->width() - 2 * kMargin);
    resize(width, std::min(height, window->height() - 2 * kMargin));
    move(window->mapToGlobal(QPoint((window->width() - width) / 2, window->height() / 12)));
  } else {
    resize(kWidth, height);
  }
  show();
  edit_->setFocus(Qt::PopupFocusReason);
}

void CommandPalette::update_rows(const QString& text) {
  model_->set_text(text);
  const bool is_empty = model_->rowCount() == 0;
  list_->setVisible(!is_empty);
  hint_->setText(tr("No match."));
  hint_->setVisible(is_empty);
  list_->setCurrentIndex({});
  move_current(1);
}

void CommandPalette::move_current(int by) {
  const int count = model_->rowCount();
  if (count == 0) return;
  const QModelIndex current = list_->currentIndex();
  const int direction = by < 0 ? -1 : 1;
  int row = current.isValid() ? std::clamp(current.row() + by, 0, count - 1) : 0;
  // Skip rows that cannot be selected.
  while (row >= 0 && row < count && (model_->flags(model_->index(row)) & Qt::ItemIsEnabled) == 0)
    row += direction;
  if (row < 0 || row >= count) return;
  list_->setCurrentIndex(model_->index(row));
}

void CommandPalette::choose(const QModelIndex& index) {
  if (!index.isValid() || (model_->flags(index) & Qt::ItemIsEnabled) == 0) return;
  const QPointer<QAction> action = model_->action(index.row());
  const std::vector<NodeId> nodes = action ? std::vector<NodeId>() : model_->nodes(index.row());
  hide();
  if (action) {
    action->trigger();
  } else if (!nodes.empty() && document_) {
    document_->selection().select_all(nodes);
    emit node_chosen(nodes.front());
  }
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched != edit_ || event->type() != QEvent::KeyPress)
    return QFrame::eventFilter(watched, event);
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down:
      move_current(1);
      return true;
    case Qt::Key_Up:
      move_current(-1);
      return true;
    case Qt::Key_PageDown:
      move_current(kVisibleRows - 1);
      return true;
    case Qt::Key_PageUp:
      move_current(1 - kVisibleRows);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      choose(list_->currentIndex());
      return true;
    case Qt::Key_Escape:
      hide();
      return true;
    default:
      return QFrame::eventFilter(watched, event);
  }
}

}  // namespace jointer::views
