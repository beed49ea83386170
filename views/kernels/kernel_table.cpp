#include "views/kernels/kernel_table.h"

#include <QAction>
#include <QHeaderView>
#include <QToolButton>
#include <utility>

#include "core/base/index.h"
#include "views/kernels/kernel_source_controls.h"
#include "views/session/kernels/asked_kernels.h"
#include "views/session/kernels/kernel_order_edits.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/widgets/controls.h"

namespace jointer::views {

KernelTable::KernelTable(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Kernels"), tr("Filter kernels by operator, kind or node"), parent) {
  view().set_flat();
  // Fit the widths only to the rows on screen: large graphs have thousands of kernels.
  view().header()->setResizeContentsPrecision(0);
  QToolButton* all = add_control(controls(), new QToolButton(this), "show_all",
                                 tr("Also list entries that launch nothing on the device, such as "
                                    "views, waits and results"));
  all->setText(tr("Show All"));
  all->setCheckable(true);
  connect(all, &QToolButton::toggled, this, [this](bool shows_all) {
    model_->set_show_all(shows_all);
    request_refresh();
  });
  controls().addWidget(new KernelSourceControls(document, this));
  connect(&document.shown_kernels(), &ShownKernels::changed, this, &KernelTable::request_refresh);
  add_moves();
}

// The actions are also in the menu of a row.
void KernelTable::add_moves() {
  using Direction = KernelOrderEdits::Direction;
  const auto add = [this](const QString& text, QKeyCombination keys, Direction direction,
                          bool is_far) {
    auto* action = new QAction(text, this);
    action->setShortcut(QKeySequence(keys));
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, [this, direction, is_far] {
      const int row = selected_row();
      if (row < 0) return;
      KernelOrderEdits& order = document().kernel_order();
      is_moving_ = true;
      const bool is_moved = is_far ? order.move_far(as_index(row), direction)
                                   : order.move(as_index(row), direction, model_->shows_all());
      if (!is_moved) is_moving_ = false;
    });
    addAction(action);
    moves_.append(action);
  };
  add(tr("Move Kernel Earlier"), Qt::ALT | Qt::Key_Up, Direction::earlier, false);
  add(tr("Move Kernel Later"), Qt::ALT | Qt::Key_Down, Direction::later, false);
  add(tr("Move Kernel as Early as Possible"), Qt::ALT | Qt::SHIFT | Qt::Key_Up, Direction::earlier,
      true);
  add(tr("Move Kernel as Late as Possible"), Qt::ALT | Qt::SHIFT | Qt::Key_Down, Direction::later,
      true);
}

int KernelTable::selected_row() {
  const std::vector<int> rows = view().selected_rows();
  return rows.size() == 1 ? rows.front() : -1;
}

void KernelTable::refresh() {
  const ShownKernels& source = document().shown_kernels();
  for (QAction* move : moves_) move->setEnabled(source.source() == ShownKernels::Source::predicted);
  if (model_->kernels() != source.shown()) {
    const bool is_first = model_->row_count() == 0;
    model_->set_kernels(source.shown());
    if (is_first && model_->row_count() > 0) view().fit_columns();
    if (std::exchange(is_moving_, false)) view().scrollTo(view().currentIndex());
  } else if (document().kernel_order().is_settled()) {
    is_moving_ = false;  // the move was undone before its rows were made
  }
  // Show the kernel of a node that was selected before its kernel was known.
  const auto nodes = document().selection().nodes();
  if (nodes.size() == 1 && view().selected_rows().empty())
    view().show_row(view().exposed_row(model_->row_of(nodes.front())));
  set_empty_text(empty_text());
}

QString KernelTable::empty_text() {
  const QString none = tr("No kernels run in this graph.");
  const PredictedKernels& predicted = document().kernels();
  const AskedKernels& asked = document().asked_kernels();
  switch (document().shown_kernels().source()) {
    case ShownKernels::Source::predicted:
      if (!predicted.problem().isEmpty())
        return tr("The kernels cannot be predicted: %1").arg(predicted.problem());
      if (const QString& problem = document().kernel_order().problem(); !problem.isEmpty())
        return tr("The order of the kernels cannot be shown: %1").arg(problem);
      return predicted.is_current() && document().kernel_order().is_settled()
                 ? none
                 : tr("Predicting the kernels...");
    case ShownKernels::Source::asked:
      if (asked.is_running()) return tr("Asking Inductor...");
      return asked.answer() ? none : tr("Inductor has not answered yet. Press Ask Inductor.");
    case ShownKernels::Source::compiled:
    case ShownKernels::Source::measured:
      return none;
  }
  return {};
}

}  // namespace jointer::views
