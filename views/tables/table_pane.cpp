#include "views/tables/table_pane.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <algorithm>
#include <iterator>

#include "views/session/document/shown_range.h"
#include "views/session/text/number_text.h"
#include "views/tables/call_histogram.h"
#include "views/tables/table_export.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"
#include "views/widgets/elided_label.h"
#include "views/widgets/range_bar.h"

namespace jointer::views {
namespace {

constexpr int kMinTable = 66;      // fits the header, a row and a scroll bar, in pixels
constexpr int kCompactMargin = 3;  // between the parts of a low pane
// The number of rows that stay visible above a histogram; the second one applies if the bars of the
// histogram would otherwise be hidden.
constexpr int kRowsAboveBars = 5, kRowsAboveLowBars = 4;

}  // namespace

TablePane::TablePane(Document& document, TableModel& model, const QString& filter_hint,
                     QWidget* parent)
    : QWidget(parent), document_(document), model_(model) {
  use_base_background(*this);
  rows_ = make_column(this, {0, kNarrowMargin, 0, kNarrowMargin}, kNarrowMargin);
  controls_ = make_row(nullptr, {kNarrowMargin, 0, kNarrowMargin, 0});
  filter_ = new QLineEdit(this);
  filter_->setObjectName(QStringLiteral("filter"));
  filter_->setPlaceholderText(filter_hint);
  filter_->setClearButtonEnabled(true);
  filter_->setAccessibleName(tr("Filter"));
  filter_->installEventFilter(this);
  controls_->addWidget(filter_, 1);
  rows_->addLayout(controls_);
  headline_ = make_text_label(this, kNarrowMargin);
  headline_->hide();
  rows_->addWidget(headline_);
  view_ = new TableView(model, this);
  view_->setContextMenuPolicy(Qt::CustomContextMenu);
  view_->setMinimumHeight(kMinTable);
  rows_->addWidget(view_, 1);
  setFocusProxy(view_);
  empty_ = make_hint({}, view_->viewport());
  empty_->setAttribute(Qt::WA_TransparentForMouseEvents);
  auto* overlay = new QVBoxLayout(view_->viewport());
  overlay->addWidget(empty_);
  footer_ = add_control(*rows_, new ElidedLabel(this), "footer");
  footer_->setContentsMargins(kNarrowMargin, 0, kNarrowMargin, 0);
  footer_->setForegroundRole(QPalette::PlaceholderText);

  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    model_.set_filter(text);
    update_empty_text();
  });
  connect(view_, &TableView::rows_chosen, this, &TablePane::choose);
  connect(view_, &TableView::selection_changed, this, &TablePane::update_footer);
  connect(view_, &QAbstractItemView::activated, this, [this](const QModelIndex& index) {
    choose();
    const std::vector<NodeId> nodes = subject().existing(model_.nodes(TableModel::row_at(index)));
    if (!nodes.empty()) emit node_activated(*std::min_element(nodes.begin(), nodes.end()));
  });
  connect(view_, &QWidget::customContextMenuRequested, this, &TablePane::show_menu);
  connect(&document_, &Document::changed, this, &TablePane::request_refresh);
  connect(&document_.selection(), &Selection::nodes_changed, this, &TablePane::follow_selection);
}

void TablePane::follow_range() {
  follows_range_ = true;
  rows_->insertWidget(1, new RangeBar(document_, kNarrowMargin, this));
  range_delay_.setSingleShot(true);
  range_delay_.setInterval(kRangeDelayMs);
  connect(&range_delay_, &QTimer::timeout, this, &TablePane::request_refresh);
  const ShownRange* range = &document_.shown_range();
  connect(range, &ShownRange::range_changed, &range_delay_, [this] {
    is_stale_ = true;
    range_delay_.start();
  });
  connect(range, &ShownRange::graph_changed, this, &TablePane::follow_graph);
  connect(range, &ShownRange::nodes_changed, this, &TablePane::follow_selection);
}

void TablePane::follow_timeline() {
  follow_range();
  follows_timeline_ = true;
  const ShownRange* shown = &document_.shown_range();
  connect(shown, &ShownRange::timeline_changed, this, &TablePane::follow_graph);
  connect(shown, &ShownRange::moment_changed, this, &TablePane::request_refresh);
}

// The rows stand for nodes of the previous graph, so they must no longer be used.
void TablePane::follow_graph() {
  chosen_.clear();
  view_->show_row(-1);
  request_refresh();
  follow_selection();
}

Document& TablePane::subject() const {
  if (follows_timeline_) return document_.shown_range().in_timeline();
  return follows_range_ ? document_.shown_range().document() : document_;
}

void TablePane::add_histogram() {
  histogram_ = new CallHistogram(this);
  rows_->insertWidget(rows_->indexOf(footer_), histogram_);
  connect(view_, &TableView::selection_changed, this, &TablePane::update_histogram);
  connect(histogram_, &CallHistogram::calls_chosen, this, &TablePane::select_part);
  histogram_->hide();
}

void TablePane::set_compact(bool compact) {
  footer_->setVisible(!compact);
  const int margin = compact ? kCompactMargin : kNarrowMargin;
  rows_->setContentsMargins(0, margin, 0, compact ? 0 : margin);
  rows_->setSpacing(margin);
}

void TablePane::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit_histogram();
}

void TablePane::fit_histogram() {
  if (histogram_ == nullptr) return;
  const QMargins margins = rows_->contentsMargins();
  int others = margins.top() + margins.bottom() + view_->header()->sizeHint().height() +
               view_->horizontalScrollBar()->sizeHint().height();
  int parts = 0;
  for (int i = 0; i < rows_->count(); ++i) {
    const QLayoutItem& item = *rows_->itemAt(i);
    if (item.isEmpty() && item.widget() != histogram_) continue;
    ++parts;
    if (item.widget() != histogram_ && item.widget() != view_) others += item.sizeHint().height();
  }
  others += (parts - 1) * rows_->spacing();
  histogram_->fit(height() - others - kRowsAboveBars * kTableRowHeight,
                  height() - others - kRowsAboveLowBars * kTableRowHeight);
}

void TablePane::update_histogram() {
  const std::vector<int> rows = view_->selected_rows();
  std::vector<NodeId> nodes = selected_nodes();
  std::ranges::sort(nodes);
  const auto repeated = std::ranges::unique(nodes);
  nodes.erase(repeated.begin(), repeated.end());
  const QString title =
      rows.size() == 1 ? model_.text(rows.front(), 0) : tr("%1 rows").arg(count_text(rows.size()));
  const bool was_hidden = histogram_->isHidden();
  const ShownRange& shown = document_.shown_range();
  const bool has_range = follows_range_ && shown.range();
  histogram_->show_calls(subject().shared_snapshot(), title, nodes,
                         has_range ? shown.figures() : nullptr);
  if (histogram_->isHidden()) return;
  fit_histogram();
  if (!was_hidden) return;
  // The histogram must not cover the row that it describes.
  QTimer::singleShot(0, view_, [this] {
    const std::vector<int> selected = view_->selected_rows();
    if (selected.size() != 1) return;
    const int left = view_->horizontalScrollBar()->value();
    view_->scrollTo(model_.index_of(selected.front()));
    view_->horizontalScrollBar()->setValue(left);
  });
}

// Selects some of the selected rows' nodes. The rows stay selected.
void TablePane::select_part(std::vector<NodeId> nodes) {
  const QScopedValueRollback choosing(is_choosing_, true);
  subject().selection().select_all(std::move(nodes));
}

void TablePane::set_headline(const QString& text) {
  headline_->setText(text);
  headline_->setVisible(!text.isEmpty());
}

void TablePane::set_empty_text(const QString& text) {
  empty_text_ = text;
  update_empty_text();
}

void TablePane::request_refresh() {
  is_stale_ = true;
  if (!isVisible()) return;
  is_stale_ = false;
  refresh();
  update_empty_text();
  update_footer();
  if (histogram_ != nullptr) update_histogram();
}

void TablePane::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (is_stale_) request_refresh();
  view_->setAccessibleName(accessibleName());
  // Fit the columns after the layout has set the pane's width.
  if (!is_fitted_) QTimer::singleShot(0, view_, &TableView::fit_columns);
  is_fitted_ = true;
  follow_selection();
}

bool TablePane::eventFilter(QObject* watched, QEvent* event) {
  // The window also uses Esc; the filter claims the key while it has text to clear.
  if (watched == filter_ && event->type() == QEvent::ShortcutOverride &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape && !filter_->text().isEmpty()) {
    event->accept();
    return true;
  }
  if (watched == filter_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Escape && !filter_->text().isEmpty()) {
      filter_->clear();
      return true;
    }
    if (key == Qt::Key_Down) {
      view_->setFocus(Qt::TabFocusReason);
      if (!view_->currentIndex().isValid()) view_->setCurrentIndex(model_.index(0, 0));
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

std::vector<NodeId> TablePane::selected_nodes() const {
  std::vector<NodeId> nodes;
  for (const int row : view_->selected_rows())
    std::ranges::copy(model_.nodes(row), std::back_inserter(nodes));
  return nodes;
}

void TablePane::choose() {
  const QScopedValueRollback choosing(is_choosing_, true);
  // Rows may be of an earlier graph, with nodes that an edit has removed.
  std::vector<NodeId> nodes = subject().existing(selected_nodes());
  // Deselecting the last row keeps the selected nodes; Esc clears them.
  if (nodes.empty()) return;
  Selection& selection = subject().selection();
  selection.select_all(std::move(nodes));
  const auto selected = selection.nodes();
  chosen_.assign(selected.begin(), selected.end());
}

void TablePane::follow_selection() {
  if (is_choosing_ || is_stale_ || !isVisible() || !has_rows_of_nodes()) return;
  // If this selection was made here, its rows stay selected.
  if (rows_are_chosen()) return;
  const Selection& selection = subject().selection();
  const bool is_one = selection.nodes().size() == 1 && subject().has(selection.current());
  show_node(is_one ? selection.current() : NodeId());
}

void TablePane::show_node(NodeId node) {
  view_->show_row(node ? view_->exposed_row(model_.row_of(node)) : -1);
}

bool TablePane::rows_are_chosen() const {
  const auto nodes = subject().selection().nodes();
  return view_->selectionModel()->hasSelection() && !chosen_.empty() &&
         std::equal(chosen_.begin(), chosen_.end(), nodes.begin(), nodes.end());
}

void TablePane::update_footer() {
  const std::vector<int> rows = view_->selected_rows();
  QString text;
  if (!rows.empty())
    text = tr("Selected: %1").arg(model_.totals_text(model_.totals(rows)));
  else if (model_.row_count() > 0)
    text = model_.totals_text(model_.totals());
  footer_->setText(text);
}

void TablePane::update_empty_text() {
  const bool is_empty = model_.rowCount() == 0;
  const QString mistake = model_.filter_error();
  filter_->setToolTip(mistake);
  QPalette colors = palette();
  if (!mistake.isEmpty()) colors.setColor(QPalette::Text, Theme::of(palette()).error);
  filter_->setPalette(colors);
  empty_->setText(model_.filter().isEmpty() ? empty_text_
                                            : tr("No rows match “%1”.").arg(model_.filter()));
  empty_->setVisible(is_empty);
}

void TablePane::copy_all() {
  QGuiApplication::clipboard()->setText(model_.tsv(shown_rows(model_)));
}

void TablePane::save_as() {
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Save Table"), accessibleName().toLower() + QStringLiteral(".tsv"),
      tr("Tab-separated values (*.tsv);;Comma-separated values (*.csv)"));
  if (path.isEmpty()) return;
  if (const auto written = write_table(model_, path); !written)
    show_warning(tr("Save Table"), to_qstring(written.error().message), this);
}

void TablePane::show_menu(QPoint at) {
  QMenu menu(this);
  const bool has_rows = view_->selectionModel()->hasSelection();
  QAction* copy = menu.addAction(tr("Copy"), view_, &TableView::copy);
  copy->setShortcut(QKeySequence::Copy);
  copy->setEnabled(has_rows);
  menu.addAction(tr("Copy All Rows (%1)").arg(count_text(shown_rows(model_).size())), this,
                 &TablePane::copy_all);
  menu.addAction(tr("Save as TSV or CSV..."), this, &TablePane::save_as);
  menu.addAction(tr("Select Nodes"), this, &TablePane::choose)
      ->setEnabled(!subject().existing(selected_nodes()).empty());
  if (view_->rootIsDecorated()) {
    menu.addSeparator();
    menu.addAction(tr("Expand All"), view_, &QTreeView::expandAll);
    menu.addAction(tr("Collapse All"), view_, &QTreeView::collapseAll);
  }
  menu.addSeparator();
  if (view_->isSortingEnabled()) add_sort_menu(*menu.addMenu(tr("Sort By")));
  view_->add_columns(*menu.addMenu(tr("Columns")));
  add_to_menu(menu);
  if (!actions().isEmpty()) {
    menu.addSeparator();
    menu.addActions(actions());
  }
  menu.exec(view_->viewport()->mapToGlobal(at));
}

void TablePane::add_sort_menu(QMenu& menu) {
  const int sorted = view_->header()->sortIndicatorSection();
  const auto usual_order = [this](int column) {
    return static_cast<Qt::SortOrder>(
        model_.headerData(column, Qt::Horizontal, Qt::InitialSortOrderRole).toInt());
  };
  for (int column = 0; column < model_.columnCount(); ++column) {
    if (view_->isColumnHidden(column)) continue;
    const Qt::SortOrder usual = usual_order(column);
    const bool is_usual = sorted == column && view_->header()->sortIndicatorOrder() == usual;
    const Qt::SortOrder order = !is_usual                     ? usual
                                : usual == Qt::AscendingOrder ? Qt::DescendingOrder
                                                              : Qt::AscendingOrder;
    QAction* action = menu.addAction(model_.columns()[static_cast<std::size_t>(column)].title,
                                     [this, column, order] { view_->sortByColumn(column, order); });
    action->setCheckable(true);
    action->setChecked(sorted == column);
  }
  menu.addSeparator();
  menu.addAction(tr("Original Order"), [this] { view_->sortByColumn(-1, Qt::AscendingOrder); })
      ->setEnabled(sorted >= 0);
}

}  // namespace jointer::views
