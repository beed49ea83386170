#include "views/benchmark/benchmark_pane.h"

#include <QEvent>
#include <QHeaderView>
#include <algorithm>

#include "views/benchmark/benchmark_details.h"
#include "views/benchmark/run_comparison.h"
#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"
#include "views/widgets/inspector_html.h"

namespace jointer::views {
namespace {

constexpr int kMinTable = 92;  // in pixels: the header, two lines of text and a scroll bar
constexpr int kTickMs = 250;
constexpr int kMaxRankRows = 5;  // rows visible at once; the others can be scrolled to
constexpr int kWide = 1000;      // minimum width at which the details are next to the table

}  // namespace

BenchmarkPane::BenchmarkPane(Benchmarks& benchmarks, QWidget* parent)
    : QWidget(parent), benchmarks_(benchmarks) {
  setAccessibleName(tr("Benchmark"));
  use_base_background(*this);
  QVBoxLayout* column = make_column(this, {0, kMargin, 0, 0}, 6);
  form_ = new BenchmarkForm(benchmarks_, this);
  column->addWidget(form_);
  status_ = add_control(*column, make_text_label(this, kMargin), "status");
  // The label may wrap, but the minimum size of the pane includes only one line of it.
  status_->setMinimumSize(1, fontMetrics().height());
  make_question();
  column->addWidget(question_);
  make_snapshot_offer();
  column->addWidget(snapshot_offer_);
  ranks_ = new RankModel(this);
  rank_view_ = add_control(*column, new TableView(*ranks_, this), "ranks", {}, tr("Ranks"));
  rank_view_->setRootIsDecorated(false);
  rank_view_->setSelectionMode(QAbstractItemView::NoSelection);
  rank_view_->setFocusPolicy(Qt::NoFocus);
  rank_view_->hide();
  splitter_ = new QSplitter(Qt::Horizontal, this);
  splitter_->setChildrenCollapsible(false);
  table_ = new BenchmarkTable(benchmarks_, splitter_);
  details_ = make_text_page(tr("Details of the benchmark"), kMargin, splitter_);
  details_->setObjectName(QStringLiteral("details"));
  details_->setMinimumSize(160, 40);
  table_->view().setMinimumHeight(kMinTable);
  splitter_->addWidget(table_);
  splitter_->addWidget(details_);
  splitter_->setStretchFactor(0, 3);
  splitter_->setStretchFactor(1, 2);
  column->addWidget(splitter_, 1);
  setFocusProxy(&form_->run_button());

  connect(&benchmarks_, &Benchmarks::running_changed, this, &BenchmarkPane::show_status);
  connect(form_, &BenchmarkForm::hint_changed, this, &BenchmarkPane::show_status);
  connect(&benchmarks_, &Benchmarks::message_changed, this, &BenchmarkPane::show_status);
  connect(&benchmarks_, &Benchmarks::progressed, this, &BenchmarkPane::show_progress);
  connect(&benchmarks_, &Benchmarks::row_shown, table_,
          [this](quint64 row) { table_->select(row); });
  connect(table_, &BenchmarkTable::current_changed, this, &BenchmarkPane::show_details);
  connect(&benchmarks_.document(), &Document::changed, this, &BenchmarkPane::show_details);
  connect(&benchmarks_, &Benchmarks::hash_found, this, &BenchmarkPane::show_details);
  connect(details_, &QTextBrowser::anchorClicked, this, &BenchmarkPane::follow);
  tick_.setInterval(kTickMs);
  connect(&tick_, &QTimer::timeout, this, [this] {
    ranks_->tick(benchmarks_.elapsed_ms());
    show_status();
  });
  show_status();
  show_details();
}

void BenchmarkPane::make_question() {
  question_ = new NoticeBar(this);
  question_->setObjectName(QStringLiteral("question"));
  connect(question_->add_button(tr("Start Anyway"), "start_anyway"), &QPushButton::clicked,
          &benchmarks_, &Benchmarks::start_anyway);
  connect(question_->add_button(tr("Don't Start"), "drop_question"), &QPushButton::clicked,
          &benchmarks_, &Benchmarks::drop_question);
  connect(&benchmarks_, &Benchmarks::question_changed, this, &BenchmarkPane::show_question);
  show_question();
}

void BenchmarkPane::show_question() {
  const QString& question = benchmarks_.question();
  question_->setVisible(!question.isEmpty());
  if (!question.isEmpty())
    question_->set_text(
        tr("%1 A rank stops at the first node that needs more than its share.").arg(question));
}

void BenchmarkPane::make_snapshot_offer() {
  snapshot_offer_ = new NoticeBar(this, NoticeBar::Tone::hint);
  snapshot_offer_->setObjectName(QStringLiteral("snapshot_offer"));
  connect(snapshot_offer_->add_button(tr("Show Memory Snapshot"), "show_snapshot"),
          &QPushButton::clicked, this, [this] { benchmarks_.show_snapshot(table_->current()); });
  snapshot_offer_->hide();
}

// Offers the memory snapshot of the selected run if a rank ran out of memory and wrote one.
void BenchmarkPane::show_snapshot_offer() {
  const std::vector<const BenchmarkResult*> selected = table_->selected();
  const RankResult* rank = selected.size() == 1 ? selected.front()->snapshot_writer() : nullptr;
  snapshot_offer_->setVisible(rank != nullptr);
  if (rank == nullptr) return;
  const QString number = QString::number(rank->rank);
  snapshot_offer_->set_text(
      rank->node.empty()
          ? tr("Rank %1 ran out of GPU memory. Its memory snapshot shows what was allocated.")
                .arg(number)
          : tr("Rank %1 ran out of GPU memory at %2. Its memory snapshot shows what was allocated.")
                .arg(number, to_qstring(rank->node)));
}

void BenchmarkPane::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  benchmarks_.load();
  table_->select(benchmarks_.shown());
  show_details();
}

void BenchmarkPane::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  splitter_->setOrientation(width() >= kWide ? Qt::Horizontal : Qt::Vertical);
}

void BenchmarkPane::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (details_ == nullptr) return;  // the palette changed during construction
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    show_status();
    show_details();
  }
}

void BenchmarkPane::show_status() {
  const bool running = benchmarks_.is_running();
  if (running && !tick_.isActive()) {
    ranks_->clear();
    tick_.start();
  }
  if (!running) {
    tick_.stop();
    rank_view_->hide();
  }
  const QString message = benchmarks_.message();
  QString text = message.isEmpty() ? form_->hint() : message;
  if (running)
    text = benchmarks_.is_cancelling()
               ? tr("Cancelling the run...")
               : tr("Running for %1").arg(time_text(benchmarks_.elapsed_ms() / 100 * 100'000'000));
  const Theme& theme = Theme::of(palette());
  const QColor color = running || (!message.isEmpty() && !benchmarks_.message_is_error())
                           ? theme.text
                       : message.isEmpty() ? theme.muted_text
                                           : theme.error;
  set_color(*status_, color);
  status_->setText(text);
}

void BenchmarkPane::show_progress() {
  ranks_->update(benchmarks_.so_far(), benchmarks_.elapsed_ms());
  if (!rank_view_->isVisible() && ranks_->rowCount() > 0) {
    const int rows = std::min(ranks_->rowCount(), kMaxRankRows);
    rank_view_->setFixedHeight(rank_view_->header()->sizeHint().height() +
                               rows * rank_view_->sizeHintForRow(0) + 2);
    rank_view_->show();
    rank_view_->fit_columns();
    rank_view_->setColumnWidth(RankModel::stage_column, width() / 3);
  }
  show_status();
}

// Describes the selected benchmark, or compares the selected benchmarks.
void BenchmarkPane::show_details() {
  show_snapshot_offer();
  const std::vector<const BenchmarkResult*> selected = table_->selected();
  details_->setVisible(!selected.empty() || !benchmarks_.rows().empty());
  if (!isVisible()) return;
  const Theme& theme = Theme::of(palette());
  if (selected.empty()) {
    content_ = {};
    details_->setHtml(
        QStringLiteral("<p style=\"color: %1\">%2</p>")
            .arg(theme.muted_text.name(),
                 tr("Select a benchmark to see its details and show its measurement in the "
                    "timeline. Select several to compare them.")));
    return;
  }
  // Until the graph's hash is known, treat runs as those of another graph; `hash_found` follows.
  const bool are_of_graph = std::ranges::all_of(selected, [this](const auto* result) {
    return benchmarks_.ran_shown_graph(*result).value_or(false);
  });
  const Snapshot& snapshot = benchmarks_.document().snapshot();
  content_ = selected.size() == 1 ? describe_benchmark(*selected.front(), snapshot, are_of_graph)
                                  : compare_runs(selected, snapshot, are_of_graph);
  details_->setHtml(inspector_html(content_, benchmarks_.document().graph(), theme, {},
                                   page_font_pixels(font())));
}

void BenchmarkPane::follow(const QUrl& link) {
  if (link.scheme() == u"node")
    benchmarks_.document().selection().select(NodeId(link.path().toULongLong()));
}

}  // namespace jointer::views
