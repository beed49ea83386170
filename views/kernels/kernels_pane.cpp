#include "views/kernels/kernels_pane.h"

#include <QEvent>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/base/index.h"
#include "views/kernels/asked_status.h"
#include "views/kernels/describe_kernel.h"
#include "views/kernels/kernel_difference_list.h"
#include "views/kernels/kernel_order_bar.h"
#include "views/session/kernels/asked_kernels.h"
#include "views/session/kernels/kernel_text.h"
#include "views/session/kernels/opened_kernels.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/session/kernels/tied_trace.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/qstring.h"
#include "views/session/translation/tr.h"
#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"
#include "views/widgets/inspector_html.h"

namespace jointer::views {
namespace {

constexpr int kWideKernels = 1000;  // minimum width at which the details are next to the table
constexpr int kMinWithPage = 320;   // minimum height at which the details are below the table
constexpr qsizetype kMaxSource = 20'000;  // characters of a source that are shown
constexpr std::size_t kMaxUntied = 200;   // kernels, and calls of a trace, that are named
constexpr int kMinPageHeight = 40, kMinPageWidth = 160;

// The text or, if the shown kernels are of an earlier graph, the text with a remark that says so.
QString with_state(const QString& text, const ShownKernels& shown) {
  return shown.is_current() ? text : tr("%1, for an earlier graph").arg(text);
}

// The source of the kernels that are predicted or that Inductor's scheduler makes, and whether they
// are of an earlier graph.
QString source_text(const Document& document) {
  const ShownKernels& shown = document.shown_kernels();
  if (shown.source() == ShownKernels::Source::predicted)
    return with_state(tr("Predicted for Inductor"), shown);
  const AskedKernels& asked = document.asked_kernels();
  return with_state(
      tr("Inductor in torch %1, for %2")
          .arg(to_qstring(asked.answer()->torch), to_qstring(asked.answer()->device).toUpper()),
      shown);
}

// The text or, if it is long, its beginning and the number of characters that are left out. Cuts at
// the end of a line, if possible.
QString shortened(const QString& text) {
  if (text.size() <= kMaxSource) return text;
  const qsizetype line_end = text.lastIndexOf(u'\n', kMaxSource);
  const qsizetype shown = line_end > 0 ? line_end : kMaxSource;
  return text.first(shown) + counted_text(text.size() - shown, tr("\n… 1 more character"),
                                          tr("\n… %1 more characters"));
}

QString named_html(const QString& title, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const std::size_t shown = std::min(names.size(), kMaxUntied);
  QStringList first;
  for (std::size_t i = 0; i < shown; ++i) first << to_qstring(names[i]);
  QString text = first.join(QStringLiteral(", "));
  if (names.size() > shown) text += tr(" and %1 more").arg(count_text(names.size() - shown));
  return QStringLiteral("<h3>%1</h3><p>%2</p>").arg(title.toHtmlEscaped(), text.toHtmlEscaped());
}

// Lists the kernels and calls that are not tied; empty if the kernels are not measured.
QString untied_html(const SnapshotKernels* shown) {
  if (shown == nullptr || !shown->is_measured()) return {};
  const UntiedNames untied = untied_names(*shown);
  return named_html(tr("Not found in the trace"), untied.kernels) +
         named_html(tr("Calls in the trace that match no kernel"), untied.calls);
}

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
  column->addWidget(new AskedStatus(document_, this));
  column->addWidget(new KernelOrderBar(document_, this));
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
  column->addWidget(new KernelDifferenceList(document_, this));
  setFocusProxy(&table_->view());

  connect(&table_->view(), &TableView::selection_changed, this, &KernelsPane::show_details);
  connect(details_, &QTextBrowser::anchorClicked, this, &KernelsPane::follow);
  // The kernels may now be of an earlier graph.
  connect(&document_, &Document::changed, this, &KernelsPane::show_totals);
  connect(&document_.shown_kernels(), &ShownKernels::changed, this, [this] {
    watch_.set_needed(document_.shown_kernels().source() == ShownKernels::Source::predicted);
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
  const SnapshotKernelsPtr& shown = document_.shown_kernels().shown();
  if (shown && shown->is_measured()) return show_measurement(*shown);
  if (shown && shown->is_compiled()) return show_compilation(*shown);
  totals_->setText(
      shown ? tr("%1: %2").arg(source_text(document_), kernel_totals_text(shown->totals()))
            : QString());
  per_operator_->setText(shown ? tr("One kernel per operator, as in eager mode: %1")
                                     .arg(kernel_totals_text(shown->per_operator()))
                               : QString());
}

// The second line says how the compilation fits the graph.
void KernelsPane::show_compilation(const SnapshotKernels& shown) {
  QStringList names;
  Compilation sum;
  for (const Compilation& each : shown.compilations()) {
    names << to_qstring(each.program->name);
    sum.tied_calls += each.tied_calls;
    sum.untied_kernels += each.untied_kernels;
    sum.calls_without_kernel += each.calls_without_kernel;
  }
  const std::string& version = shown.compilations().front().program->torch_version;
  const QString made_by =
      version.empty() ? tr("Compiled") : tr("Compiled by torch %1").arg(to_qstring(version));
  const QString source = tr("%1 (%2)").arg(made_by, names.join(QStringLiteral("; ")));
  totals_->setText(tr("%1: %2").arg(with_state(source, document_.shown_kernels()),
                                    kernel_totals_text(shown.totals())));
  per_operator_->setText(
      tr("%1 in these kernels · %2 in none · %3 without a call of the graph")
          .arg(counted_text(sum.tied_calls, tr("1 call"), tr("%1 calls")),
               count_text(sum.calls_without_kernel),
               counted_text(sum.untied_kernels, tr("1 kernel"), tr("%1 kernels"))));
}

// The second line counts the kernels and the calls of the trace that are not tied; the details name
// them.
void KernelsPane::show_measurement(const SnapshotKernels& shown) {
  std::int64_t estimated_ns = 0;
  std::size_t measured = 0;
  for (const KernelRow& row : shown.rows()) {
    if (!row.launches || !row.is_measured) continue;
    ++measured;
    estimated_ns = saturating_add(estimated_ns, row.estimated_ns);
  }
  std::size_t runs = 0;
  for (const PartMeasurement& each : shown.measurements())
    if (each.ties.tied_kernels() > 0) runs = std::max(runs, each.graph().runs);
  const CompiledTrace& trace = *shown.measurements().front().trace;
  const QString source = tr("Measured on %1 (%2, %3; kernels as %4)")
                             .arg(to_qstring(trace.device), to_qstring(trace.label),
                                  counted_text(runs, tr("1 run"), tr("%1 runs")),
                                  shown.is_compiled() ? tr("compiled") : tr("predicted"));
  totals_->setText(tr("%1: %2, %3 (predicted %4)")
                       .arg(with_state(source, document_.shown_kernels()),
                            counted_text(measured, tr("1 kernel"), tr("%1 kernels")),
                            time_text(shown.total_ns()), time_text(estimated_ns)));
  const UntiedNames untied = untied_names(shown);
  per_operator_->setText(
      tr("%1 not found in the trace · %2 in the trace matched to no kernel")
          .arg(counted_text(untied.kernels.size(), tr("1 kernel"), tr("%1 kernels")),
               counted_text(untied.calls.size(), tr("1 call"), tr("%1 calls"))));
}

// The call and the source of a compiled kernel, as HTML; empty for other kernels.
QString KernelsPane::source_html(const SnapshotKernels& shown, std::size_t row) {
  const CompiledKernel* kernel = shown.compiled(row);
  if (kernel == nullptr) return {};
  const CompiledProgram& program = *shown.program_of(row);
  const auto text = [](const QString& title, const std::string& content) {
    return QStringLiteral("<h3>%1</h3><pre>%2</pre>")
        .arg(title.toHtmlEscaped(), shortened(to_qstring(content)).toHtmlEscaped());
  };
  QString html = text(tr("Call, line %1 of the wrapper in %2")
                          .arg(count_text(kernel->line), to_qstring(program.file)),
                      kernel->call);
  if (!kernel->source) return html;
  const KernelSource& source = program.sources[*kernel->source];
  return html +
         text(tr("Source of %1 (%2)").arg(to_qstring(source.name), to_qstring(source.language)),
              source.text);
}

void KernelsPane::show_details() {
  const Theme& theme = Theme::of(palette());
  const SnapshotKernelsPtr& shown = table_->model().kernels();
  const int row = shown ? table_->selected_row() : -1;
  content_ = row < 0 ? InspectorContent() : describe_kernel(*shown, as_index(row));
  const QString html =
      row < 0 ? QStringLiteral("<p style=\"color: %1\">%2</p>")
                        .arg(theme.muted_text.name(),
                             tr("Select a kernel to see its buffers, and why it was not fused with "
                                "others.")) +
                    untied_html(shown.get())
              : inspector_html(content_, shown->snapshot()->graph, theme, {},
                               page_font_pixels(font())) +
                    source_html(*shown, as_index(row));
  // Setting the same text again would lose the scroll position, and sources are long.
  if (html == html_) return;
  html_ = html;
  details_->setHtml(html);
}

void KernelsPane::follow(const QUrl& link) {
  // The kernel may be of an earlier graph.
  std::vector<NodeId> nodes = document_.existing(linked_nodes(content_, link));
  if (!nodes.empty()) document_.selection().select_all(std::move(nodes));
}

}  // namespace jointer::views
