#include "views/window/assumptions_dialog.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QIntValidator>
#include <QLabel>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTreeView>
#include <QVBoxLayout>

#include "core/graph/group_argument.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"

namespace jointer::views {

AssumptionsDialog::AssumptionsDialog(Document& document, QWidget* parent)
    : QDialog(parent), document_(document) {
  setWindowTitle(tr("Assumed Sizes"));
  resize(520, 560);
  auto* column = new QVBoxLayout(this);
  auto* text = new QLabel(
      tr("Symbols stand for sizes that are known only at run time, such as the number of tokens "
         "routed to an expert. Memory and time depend on the assumed values. The default is "
         "balanced routing: symbols get equal shares of their sum if the capture records it."),
      this);
  text->setWordWrap(true);
  column->addWidget(text);

  QLineEdit* filter = add_control(*column, new QLineEdit(this), "filter");
  filter->setPlaceholderText(tr("Filter by name"));
  filter->setClearButtonEnabled(true);
  model_ = new SymbolModel(document.graph(), document.wanted_assumptions(), this);
  auto* proxy = new QSortFilterProxyModel(this);
  proxy->setSourceModel(model_);
  connect(filter, &QLineEdit::textChanged, proxy, &QSortFilterProxyModel::setFilterFixedString);
  auto* table = new QTreeView(this);
  table->setObjectName(QStringLiteral("symbols"));
  table->setModel(proxy);
  table->setRootIsDecorated(false);
  table->setUniformRowHeights(true);
  table->setStyleSheet(QStringLiteral("QTreeView::item { height: %1px; }").arg(kTableRowHeight));
  table->setSortingEnabled(true);
  table->sortByColumn(-1, Qt::AscendingOrder);
  table->setEditTriggers(QAbstractItemView::AllEditTriggers);
  table->header()->setStretchLastSection(true);
  column->addWidget(table, 1);

  auto* row = new QHBoxLayout;
  row->addWidget(new QLabel(tr("Value of all unknown symbols:"), this));
  fallback_ = add_control(*row, new QLineEdit(this), "fallback");
  fallback_->setValidator(new QIntValidator(0, 1 << 30, fallback_));
  fallback_->setPlaceholderText(tr("balanced"));
  if (const auto& fallback = document.wanted_assumptions().fallback)
    fallback_->setText(QString::number(*fallback));
  column->addLayout(row);

  auto* buttons = new QDialogButtonBox(
      QDialogButtonBox::Apply | QDialogButtonBox::Reset | QDialogButtonBox::Close, this);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  apply_ = buttons->button(QDialogButtonBox::Apply);
  apply_->setDefault(true);
  connect(apply_, &QPushButton::clicked, this, &AssumptionsDialog::apply);
  connect(buttons->button(QDialogButtonBox::Reset), &QPushButton::clicked, this, [this] {
    document_.assume(only_group_assumptions(document_.wanted_assumptions()));
    accept();
  });
}

void AssumptionsDialog::apply() {
  apply_->setFocus();  // commits a value that is being typed in the table
  Assumptions assumptions = model_->assumptions();
  assumptions.fallback.reset();
  bool is_number = false;
  const int number = fallback_->text().toInt(&is_number);
  if (is_number) assumptions.fallback = number;
  document_.assume(assumptions);
  accept();
}

}  // namespace jointer::views
