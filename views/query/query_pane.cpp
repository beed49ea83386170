#include "views/query/query_pane.h"

#include <QMenu>
#include <QSplitter>

#include "core/query/query_schema.h"
#include "views/query/schema_list.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/bar_button.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kRowLimit = 10'000, kMaxRowLimit = 1'000'000;

}  // namespace

QueryPane::QueryPane(Document& document, QWidget* parent)
    : QWidget(parent), runner_(document), rows_(new ResultTable(document, this)) {
  setAccessibleName(tr("Query"));
  use_base_background(*this);
  make_column(this, {0, kNarrowMargin, 0, 0}, kNarrowMargin);
  add_bar();
  add_parts();
  setFocusProxy(editor_);
  editor_->setPlainText(to_qstring(query_examples().front().sql));
  end({}, false);
  connect(editor_, &QueryEditor::run_requested, this, &QueryPane::run);
  connect(&runner_, &QueryRunner::started, this, &QueryPane::show_running);
  connect(&runner_, &QueryRunner::answered, this, &QueryPane::show_answer);
  connect(&runner_, &QueryRunner::failed, this, &QueryPane::show_error);
}

void QueryPane::add_bar() {
  bar_ = new QWidget(this);
  QHBoxLayout* row = make_row(bar_, {kNarrowMargin, 0, kNarrowMargin, 0}, 4);
  run_ = add_bar_button(*bar_, tr("Run"), tr("Run the query (Ctrl+Enter)"));
  run_->setObjectName(QStringLiteral("run"));
  cancel_ = add_bar_button(*bar_, tr("Cancel"), tr("Cancel the query"));
  cancel_->setObjectName(QStringLiteral("cancel"));
  QToolButton* examples =
      add_bar_button(*bar_, tr("Examples"), tr("Replace the query with an example and run it"));
  examples->setObjectName(QStringLiteral("examples"));
  add_examples(*examples);
  row->addStretch(1);
  auto* label = new QLabel(tr("Row limit"), bar_);
  row->addWidget(label);
  limit_ = add_control(*row, new QSpinBox(bar_), "limit", {}, label->text());
  limit_->setRange(1, kMaxRowLimit);
  limit_->setValue(kRowLimit);
  limit_->setGroupSeparatorShown(true);
  label->setBuddy(limit_);
  copy_ = add_bar_button(*bar_, tr("Copy"), tr("Copy the listed rows as tab-separated values"));
  copy_->setObjectName(QStringLiteral("copy"));
  connect(copy_, &QToolButton::clicked, rows_, &TablePane::copy_all);
  save_ = add_bar_button(*bar_, tr("Save..."), tr("Save the listed rows as TSV or CSV"));
  save_->setObjectName(QStringLiteral("save"));
  connect(save_, &QToolButton::clicked, rows_, &TablePane::save_as);
  // Disabled until a query has been answered.
  for (QToolButton* button : {copy_, save_}) button->setEnabled(false);
  connect(run_, &QToolButton::clicked, this, &QueryPane::run);
  connect(cancel_, &QToolButton::clicked, this, &QueryPane::cancel);
  layout()->addWidget(bar_);
}

void QueryPane::add_examples(QToolButton& button) {
  auto* menu = new QMenu(&button);
  for (const QueryExample& example : query_examples())
    menu->addAction(to_qstring(example.title), this, [this, sql = to_qstring(example.sql)] {
      editor_->setPlainText(sql);
      run();
    });
  open_menu(button, menu);
  button.setText(button.text() + kMenuArrow);
}

void QueryPane::add_parts() {
  editor_ = new QueryEditor(this);
  auto* schema = new SchemaList(this);
  connect(schema, &SchemaList::name_chosen, this, [this](const QString& name) {
    editor_->insertPlainText(name);
    editor_->setFocus();
  });
  auto* question = new QSplitter(Qt::Horizontal, this);
  question->addWidget(editor_);
  question->addWidget(schema);
  question->setStretchFactor(0, 3);
  question->setStretchFactor(1, 2);
  auto* answer = new QWidget(this);
  QVBoxLayout* column = make_column(answer, {}, 0);
  status_ = add_control(*column, make_text_label(answer, kNarrowMargin), "status");
  column->addWidget(rows_, 1);
  auto* halves = new QSplitter(Qt::Vertical, this);
  halves->addWidget(question);
  halves->addWidget(answer);
  halves->setStretchFactor(0, 1);
  halves->setStretchFactor(1, 2);
  halves->setChildrenCollapsible(false);
  static_cast<QVBoxLayout*>(layout())->addWidget(halves, 1);
}

void QueryPane::run() {
  runner_.run(editor_->toPlainText(), static_cast<std::size_t>(limit_->value()));
}

void QueryPane::cancel() {
  runner_.cancel();
  end(tr("Cancelled."), false);
  clear_rows();
}

void QueryPane::show_running() {
  cancel_->setEnabled(true);
  status_->setText(runner_.must_build() ? tr("Building the tables...") : tr("Running..."));
  status_->setForegroundRole(QPalette::PlaceholderText);
  status_->setPalette(palette());
  status_->show();
}

void QueryPane::show_answer(const QueryAnswer& answer) {
  const std::size_t rows = answer.result.rows.size();
  const QString time = time_text(static_cast<std::int64_t>(answer.ms * 1e6));
  const QString count = counted_text(rows, tr("1 row"), tr("%1 rows"));
  const QString first = counted_text(rows, tr("The first row"), tr("The first %1 rows"));
  end(answer.result.is_cut ? tr("%1 in %2; there are more.").arg(first, time)
                           : tr("%1 in %2").arg(count, time),
      false);
  rows_->show_result(answer.result, answer.snapshot);
  for (QToolButton* button : {copy_, save_}) button->setEnabled(true);
}

void QueryPane::show_error(const QString& message) {
  end(message, true);
  clear_rows();
}

// The rows of an earlier query would look like the result of this one.
void QueryPane::clear_rows() {
  rows_->clear();
  for (QToolButton* button : {copy_, save_}) button->setEnabled(false);
}

void QueryPane::end(const QString& status, bool is_error) {
  cancel_->setEnabled(false);
  QPalette colors = palette();
  const Theme& theme = Theme::of(colors);
  colors.setColor(QPalette::WindowText, is_error ? theme.error : theme.muted_text);
  status_->setForegroundRole(QPalette::WindowText);
  status_->setPalette(colors);
  status_->setText(status);
  status_->setVisible(!status.isEmpty());
}

}  // namespace jointer::views
