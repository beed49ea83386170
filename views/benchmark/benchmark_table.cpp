#include "views/benchmark/benchmark_table.h"

#include <QAction>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QToolButton>
#include <algorithm>

#include "core/base/bytes.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kMaxRanksPerNode = 8;

}  // namespace

BenchmarkTable::BenchmarkTable(Benchmarks& benchmarks, QWidget* parent)
    : TablePaneOf(benchmarks.document(), tr("Benchmarks"), tr("Filter benchmarks"), parent),
      benchmarks_(benchmarks) {
  view().set_flat();
  show_hint();
  remove_ = new QAction(tr("Remove"), this);
  remove_->setShortcut(QKeySequence::Delete);
  remove_->setShortcutContext(Qt::WidgetShortcut);
  connect(remove_, &QAction::triggered, this, &BenchmarkTable::remove_selected);
  view().addAction(remove_);
  auto* menu = new QMenu(this);
  add_to_menu(*menu);
  auto* more = new QToolButton(this);
  more->setText(tr("Export") + kMenuArrow);
  open_menu(*more, menu);
  controls().addWidget(more);

  connect(&benchmarks_, &Benchmarks::rows_changed, this, &BenchmarkTable::request_refresh);
  connect(&benchmarks_, &Benchmarks::settings_changed, this, &BenchmarkTable::show_hint);
  connect(&benchmarks_, &Benchmarks::running_changed, this, &BenchmarkTable::show_hint);
  connect(&benchmarks_.service(), &BenchmarkService::running_changed, this,
          &BenchmarkTable::show_hint);
  connect(&view(), &TableView::selection_changed, this, &BenchmarkTable::current_changed);
  connect(&view(), &TableView::rows_chosen, this, [this] { benchmarks_.show(current()); });
}

void BenchmarkTable::show_hint() {
  const QString why_not = benchmarks_.why_not();
  const QString hint = benchmarks_.is_running() ? tr("The first one is running.")
                       : why_not.isEmpty()
                           ? tr("Press Run to measure peak memory and step time on this machine.")
                           : tr("Run is disabled. %1").arg(why_not);
  set_empty_text(tr("No benchmarks of this graph yet.\n%1").arg(hint));
}

void BenchmarkTable::refresh() {
  const bool was_empty = model_->row_count() == 0;
  model_->set_rows_of(document().shared_snapshot(), benchmarks_.rows());
  // Until now, the column widths were fitted only to the titles.
  if (was_empty && model_->row_count() > 0) view().fit_columns();
  // The benchmark may have been shown before the table had its row.
  if (current() == 0) select(benchmarks_.shown());
}

std::vector<std::uint64_t> BenchmarkTable::selected_ids() const {
  std::vector<std::uint64_t> ids;
  for (const int row : const_cast<BenchmarkTable*>(this)->view().selected_rows())
    ids.push_back(model_->benchmark(row).id);
  return ids;
}

std::vector<const BenchmarkResult*> BenchmarkTable::selected() const {
  const std::vector<std::uint64_t> ids = selected_ids();
  std::vector<const BenchmarkResult*> results;
  for (const BenchmarkRow& row : benchmarks_.rows())
    if (std::ranges::find(ids, row.id) != ids.end()) results.push_back(row.result.get());
  return results;
}

std::vector<BenchmarkResult> BenchmarkTable::chosen() const {
  std::vector<BenchmarkResult> results;
  for (const BenchmarkResult* result : selected()) results.push_back(*result);
  if (results.empty())
    for (const BenchmarkRow& row : benchmarks_.rows()) results.push_back(*row.result);
  return results;
}

std::uint64_t BenchmarkTable::current() const {
  const std::vector<std::uint64_t> ids = selected_ids();
  return ids.empty() ? 0 : ids.front();
}

void BenchmarkTable::select(std::uint64_t id) {
  for (int row = 0; row < model_->row_count(); ++row)
    if (model_->benchmark(row).id == id && current() != id) return view().show_row(row);
}

void BenchmarkTable::copy_markdown() {
  QGuiApplication::clipboard()->setText(QString::fromStdString(results_markdown(chosen())));
}

void BenchmarkTable::export_csv() {
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Export Benchmarks"), document().title() + QStringLiteral(".benchmarks.csv"),
      QStringLiteral("*.csv"));
  if (path.isEmpty()) return;
  const auto written = write_bytes(path.toStdString(), results_csv(chosen()));
  if (written) return;
  show_warning(tr("Export Benchmarks"), QString::fromStdString(written.error().message), this);
}

// Copies a command for the selected run or, if none is selected, the next run. The command starts
// all ranks, at most kMaxRanksPerNode on each machine.
void BenchmarkTable::copy_command(std::string (*command)(const BenchmarkRequest&, int, int)) {
  const BenchmarkResult* result = benchmarks_.find(current());
  BenchmarkRequest request = result == nullptr ? benchmarks_.request() : result->request;
  request.solo.reset();
  const int world = benchmarks_.world_size();
  const int per_node = std::min(world, kMaxRanksPerNode);
  QGuiApplication::clipboard()->setText(
      QString::fromStdString(command(request, (world + per_node - 1) / per_node, per_node)));
}

void BenchmarkTable::add_to_menu(QMenu& menu) {
  if (!menu.isEmpty()) menu.addSeparator();
  menu.addAction(tr("Copy as Markdown"), this, &BenchmarkTable::copy_markdown);
  menu.addAction(tr("Copy as TSV"), this, [this] {
    if (view().selected_rows().empty()) return copy_all();
    view().copy();
  });
  menu.addAction(tr("Export as CSV..."), this, &BenchmarkTable::export_csv);
  menu.addSeparator();
  menu.addAction(tr("Copy torchrun Command"), this, [this] { copy_command(torchrun_command); });
  menu.addAction(tr("Copy Slurm Command"), this, [this] { copy_command(slurm_command); });
  menu.addSeparator();
  menu.addAction(remove_);
}

}  // namespace jointer::views
