#include "views/window/graph_chooser.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "core/base/units.h"

namespace jointer::views {

GraphChooser::GraphChooser(const QString& file, const std::vector<GraphEntry>& entries,
                           QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("Choose a graph"));
  resize(560, 420);
  auto* column = new QVBoxLayout(this);
  column->addWidget(new QLabel(
      tr("%1 holds %2 graphs. Choose one or several:").arg(file).arg(entries.size()), this));
  list_ = new QListWidget(this);
  list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  for (const GraphEntry& entry : entries) {
    QString text = QString::fromStdString(entry.name);
    if (entry.nodes > 0)
      text +=
          tr("   %1 nodes")
              .arg(QString::fromStdString(format_count(static_cast<std::int64_t>(entry.nodes))));
    list_->addItem(text);
  }
  list_->setCurrentRow(0);
  column->addWidget(list_, 1);
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
