#include "views/kernels/kernels_pane.h"

#include <QEvent>

#include "core/base/index.h"
#include "views/kernels/describe_kernel.h"
#include "views/session/kernels/kernel_text.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"
#include "views/widgets/inspector_html.h"

namespace jointer::views {
namespace {

constexpr int kWideKernels = 1000;  // minimum width at which the details are next to the table
constexpr int kMinWithPage = 320;   // minimum height at which the details are below the table
constexpr int kMinPageHeight = 40, kMinPageWidth = 160;

}  // namespace

KernelsPane::KernelsPane(Document& document, QWidget* parent)
    : QWidget(parent), document_(document), watch_(document, *this) {
  setAccessibleName(tr("Kernels"));
  use_base_background(*this);
  QVBoxLayout* column = make_column(this, {0, kNarrowMargin, 0, 0}, 2);
  const auto add_line = [&](const char* name) {
    ElidedLabel* line = add_control(*column, new ElidedLabel(this), name);
    line->setContentsMargins(kNarrowMargin, 0, kNarrowMargin, 0);
    return line;
  };
  totals_ = add_line("totals");
  per_operator_ = add_line("per_operator");
  per_operator_->setForegroundRole(QPalette::PlaceholderText);
  splitter_ = new QSplitter(Qt::Vertical, this);
  splitter_->setChildrenCollapsible(false);
  table_ = new KernelTable(document_, splitter_);
  details_ = make_text_page(tr("Details of the kernel"), kMargin, splitter_);
  details_->setObjectName(QStringLiteral("details"));
  details_->setMinimumSize(kMinPageWidth, kMinPageHeight);
  splitter_->addWidget(table_);
  splitter_->addWidget(details_);
  splitter_->setStretchFactor(0, 3);
  splitter_->setStretchFactor(1, 2);
  column->addWidget(splitter_, 1);
  setFocusProxy(&table_->view());

  connect(&table_->view(), &TableView::selection_changed, this, &KernelsPane::show_details);
  connect(details_, &QTextBrowser::anchorClicked, this, &KernelsPane::follow);
  connect(&document_.kernels(), &PredictedKernels::changed, this, [this] {
    show_totals();
    show_details();
  });
  show_totals();
  show_details();
}

void KernelsPane::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool is_wide = width() >= kWideKernels;
  splitter_->setOrientation(is_wide ? Qt::Horizontal : Qt::Vertical);
  details_->setVisible(is_wide || height() >= kMinWithPage);
}

void KernelsPane::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (details_ == nullptr) return;  // the palette changed during construction
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) show_details();
}

void KernelsPane::show_totals() {
  const SnapshotKernelsPtr& shown = document_.kernels().shown();
  totals_->setText(shown ? tr("Predicted for Inductor: %1").arg(kernel_totals_text(shown->totals()))
                         : QString());
  per_operator_->setText(shown ? tr("One kernel per operator, as estimated: %1")
                                     .arg(kernel_totals_text(shown->per_operator()))
                               : QString());
}

void KernelsPane::show_details() {
  const Theme& theme = Theme::of(palette());
  const SnapshotKernelsPtr& shown = table_->model().predicted();
  const int row = shown ? table_->selected_row() : -1;
  content_ = row < 0 ? InspectorContent() : describe_kernel(*shown, as_index(row));
  details_->setHtml(
      row < 0 ? QStringLiteral("<p style=\"color: %1\">%2</p>")
                    .arg(theme.muted_text.name(),
                         tr("Select a kernel to see its buffers, and why it was not fused with "
                            "others."))
              : inspector_html(content_, shown->snapshot()->graph, theme, {},
                               page_font_pixels(font())));
}

void KernelsPane::follow(const QUrl& link) {
  const QString target = link.path();
  if (link.scheme() == u"node") {
    const NodeId node(target.toULongLong());
    if (document_.has(node)) document_.selection().select(node);
  } else if (link.scheme() == u"nodes") {
    const QStringList parts = target.split(u'.');
    const auto section = parts.value(0).toUInt(), row = parts.value(1).toUInt();
    if (section >= content_.sections.size() || row >= content_.sections[section].rows.size())
      return;
    document_.selection().select_all(content_.sections[section].rows[row].all_links);
  }
}

}  // namespace jointer::views
