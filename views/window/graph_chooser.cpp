#include "views/window/graph_chooser.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "views/theme/spacing.h"
#include "views/widgets/controls.h"

namespace jointer::views {

GraphChooser::GraphChooser(const QString& file, const std::vector<GraphEntry>& entries,
                           QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("Choose Graphs"));
  resize(560, 420);
  auto* column = new QVBoxLayout(this);
  auto* question = new QLabel(
      tr("%1 contains %2 graphs. Choose one or more:").arg(file, QString::number(entries.size())),
      this);
  question->setTextFormat(Qt::PlainText);  // a name may look like markup
  column->addWidget(question);
  list_ = new QListWidget(this);
  list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  int joint = -1;
  for (const GraphEntry& entry : entries) {
    auto* item = new QListWidgetItem(QString::fromStdString(describe(entry)), list_);
    item->setSizeHint({0, kTableRowHeight});
    if (joint < 0 && entry.kind == CaptureKind::joint) joint = list_->row(item);
  }
  // Most users choose the joint graph.
  list_->setCurrentRow(std::max(joint, 0));
  column->addWidget(list_, 1);
  const bool has_passes = std::any_of(entries.begin(), entries.end(),
                                      [](const GraphEntry& e) { return e.before.has_value(); });
  if (has_passes) {
    compares_ =
        add_control(*column, new QCheckBox(tr("&Compare with the previous graph"), this), nullptr,
                    tr("Show what the pass that produced the chosen graph changed"));
  }
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel, this);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(list_, &QListWidget::itemDoubleClicked, this, &QDialog::accept);
}

std::vector<std::size_t> GraphChooser::chosen() const {
  std::vector<std::size_t> indices;
  for (int row = 0; row < list_->count(); ++row)
    if (list_->item(row)->isSelected()) indices.push_back(static_cast<std::size_t>(row));
  return indices;
}

}  // namespace jointer::views
