#include "views/compare/compare_pane.h"

#include <QClipboard>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QPushButton>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/open/open.h"
#include "views/session/document/document.h"
#include "views/session/document/open_documents.h"
#include "views/session/open/open_requests.h"
#include "views/session/sac/sac_session.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

// Sizes in pixels. Below this height, the curves and the totals of the first two tables are hidden
// to leave space for rows.
constexpr int kLow = 300;
// From this width, the numbers are next to the tables, with a width between these limits.
constexpr int kMinBeside = 600, kMinNumbers = 430, kMaxNumbers = 440;
constexpr QSize kMinPage(120, 20);  // the numbers scroll if the pane is small
constexpr int kStateWidth = 72;     // of a state's name above the numbers; the lists show all of it
constexpr int kMinStateLetters = 7;   // in the lists; more would make a small window's pane wider
constexpr int kNumberPadding = 2;     // in the cells of the numbers
constexpr int kOpened = 0, kNow = 1;  // indices of the first two choices
constexpr int kAsShown = -1;          // no execution is chosen
constexpr int kNodesTab = 0, kPlanTab = 1, kStatesTab = 2;
constexpr int kLongMs = 300;  // if a comparison takes longer, it can be cancelled

// The title of the graph's numbers below those of its plan.
QString graph_title(const Graph& graph) {
  const SacKind kind = sac_kind(graph);
  return kind == SacKind::joint  ? ComparePane::tr("Joint graph")
         : kind == SacKind::step ? ComparePane::tr("Without tags")
                                 : ComparePane::tr("Graph");
}

// A state's name on one line.
QString state_title(const QString& name, const QFontMetrics& metrics) {
  return metrics.elidedText(name, Qt::ElideMiddle, kStateWidth).replace(u' ', QChar(QChar::Nbsp));
}

}  // namespace

ComparePane::ComparePane(Document& document, OpenDocuments& open, QWidget* parent)
    : QWidget(parent), document_(document), open_(open), editing_(document.editing()) {
  setAccessibleName(tr("Compare"));
  use_base_background(*this);
  QVBoxLayout* column = make_column(this, {0, kMargin, 0, 0}, kMargin / 2);
  QHBoxLayout* row = make_row(nullptr, {kMargin, 0, kMargin, 0});
  const auto add_box = [&](const char* object_name, const QString& name) {
    QComboBox* box = add_control(*row, new QComboBox(this), object_name, name, name);
    row->setStretchFactor(box, 1);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(kMinStateLetters);
    connect(box, &QComboBox::activated, this, &ComparePane::compare);
    return box;
  };
  from_ = add_box("from", tr("First state"));
  row->addWidget(new QLabel(QStringLiteral("→"), this));
  to_ = add_box("to", tr("Second state"));
  execution_ = add_control(
      *row, new QComboBox(this), "second_execution",
      tr("How the second state is executed. If you choose anything but “as shown”, the second "
         "state is compared with itself as shown; you can then choose another first state. Kernels "
         "are predicted by the rules of the torch version that made the graph."),
      tr("Execution of the second state"));
  const auto add_execution = [this](const QString& text, int execution) {
    execution_->addItem(text, execution);
  };
  add_execution(tr("as shown"), kAsShown);
  add_execution(tr("eager"), static_cast<int>(Execution::eager));
  add_execution(tr("regional"), static_cast<int>(Execution::regional));
  add_execution(tr("Inductor"), static_cast<int>(Execution::inductor));
  add_execution(tr("CUDA graph"), static_cast<int>(Execution::cudagraph));
  connect(execution_, &QComboBox::activated, this, &ComparePane::choose_execution);
  const auto add_button = [&](const char* object_name, const QString& text, const QString& tip,
                              auto slot) {
    QPushButton* button = add_control(*row, new QPushButton(text, this), object_name, tip, tip);
    connect(button, &QPushButton::clicked, this, slot);
    return button;
  };
  cancel_ = add_button("cancel_comparison", tr("Cancel"), tr("Cancel the comparison"),
                       [this] { comparing_.end_early(); });
  cancel_->hide();
  is_long_.setSingleShot(true);
  is_long_.setInterval(kLongMs);
  connect(&is_long_, &QTimer::timeout, cancel_, &QWidget::show);
  add_button("files", tr("File..."), tr("Compare with files that are not open"),
             &ComparePane::choose_files);
  markdown_ =
      add_button("markdown", tr("Markdown"), tr("Copy as Markdown"), &ComparePane::copy_markdown);
  tsv_ = add_button("tsv", tr("TSV"), tr("Copy as tab-separated values"), &ComparePane::copy_tsv);
  column->addLayout(row);
  metrics_ = make_text_page(tr("Numbers for both states"), kMargin, this);
  metrics_->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
  metrics_->setMinimumSize(kMinPage);
  body_ = new QBoxLayout(QBoxLayout::TopToBottom);
  body_->setSpacing(kMargin / 2);
  // The stretch lets the numbers grow to the maximum size that `fit` sets.
  body_->addWidget(metrics_, 100);
  QVBoxLayout* rest = make_column(nullptr, {}, kMargin / 2);
  body_->addLayout(rest, 1);
  column->addLayout(body_, 1);
  curves_ = new CurveOverlay(this);
  rest->addWidget(curves_);
  summary_ = make_text_label(this, kMargin);
  rest->addWidget(summary_);
  tables_ = new QTabWidget(this);
  tables_->setObjectName(QStringLiteral("tables"));
  tables_->setDocumentMode(true);
  table_ = new DifferenceTable(document_, tables_);
  plan_table_ = new PlanDifferenceTable(document_, tables_);
  plan_table_->say(tr("No values changed."));
  states_ = new StateTable(
      document_, [this](const StateChoice& choice, const Take& take) { make(choice, take); },
      tables_);
  tables_->addTab(table_, tr("Nodes"));
  tables_->addTab(plan_table_, tr("Plan"));
  tables_->addTab(states_, tr("All States"));
  tables_->setTabToolTip(kStatesTab, tr("Show the numbers of all states in one table"));
  connect(states_, &StateTable::state_activated, this, &ComparePane::choose_second);
  rest->addWidget(tables_, 1);
  show_plan(nullptr);
  show_metrics();
  fit({});  // until the size is known
  setFocusProxy(from_);
  connect(&editing_, &Editing::changed, this, &ComparePane::refresh);
  connect(&document_, &Document::changed, this, [this] {
    files_.forget();  // they may have been analyzed with different options
    refresh();
  });
  connect(&open_, &OpenDocuments::changed, this, [this] {
    // A document of the pending comparison, or of a choice, may have been closed.
    ++wanted_;
    drop_pending();
    fill_choices();
    show_states_table();
    follow_others();
    refresh();
  });
  follow_others();
  look_for_before();
}

// The states of other documents can also be chosen, so the lists follow the edits to them.
void ComparePane::follow_others() {
  for (Document* other : open_.all()) {
    if (other == &document_) continue;
    connect(&other->editing(), &Editing::changed, this, &ComparePane::refresh,
            Qt::UniqueConnection);
    connect(other, &Document::changed, this, &ComparePane::refresh, Qt::UniqueConnection);
  }
}

// Looks for the input of the pass that produced the document's graph. Only a file with several
// graphs can contain it. Such a file can be large, so it is read on a worker thread.
void ComparePane::look_for_before() {
  const OpenRequest& source = document_.source();
  if (!source.index || !source.backward.empty()) return;
  const OpenRequest request{
      .path = source.path, .index = source.index, .assumptions = source.assumptions};
  const auto find = [request] { return request_before(request); };
  run_in_background(this, find, [this](const Result<OpenRequest>& found) {
    if (!found) return;  // not a log of passes
    before_ = std::make_shared<const OpenRequest>(*found);
    fill_choices();
    for (std::size_t i = 0; i < choices_.size(); ++i)
      if (choices_[i].kind == StateChoice::Kind::before && editing_.entry_count() == 0)
        from_->setCurrentIndex(static_cast<int>(i));
    refresh();
  });
}

void ComparePane::make(const StateChoice& choice, const Take& take) {
  const Document& document = choice.other != nullptr ? *choice.other : document_;
  const auto use = [choice, take, baseline = document.baseline()](const Result<SnapshotPtr>& made) {
    if (!made) return take(tl::unexpected(made.error()));
    take(StateOfDocument{.name = choice.name,
                         .snapshot = *made,
                         .baseline = choice.file || choice.history.empty() ? *made : baseline,
                         .history = choice.history});
  };
  if (choice.file) return files_.find(choice.file, document_.analysis().options, use);
  document.editing().make_state(choice.history, this, use);
}

void ComparePane::choose_files() {
  const QString folder = QFileInfo(QString::fromStdString(document_.source().path)).absolutePath();
  const QStringList paths =
      QFileDialog::getOpenFileNames(this, tr("Compare with Files"), folder, graph_file_filter());
  if (!paths.isEmpty()) add_files(paths);
}

void ComparePane::add_files(const QStringList& paths) {
  const std::size_t first = chosen_.size();
  for (OpenRequest& request : requests_for(paths)) {
    request.assumptions = document_.source().assumptions;
    chosen_.push_back(std::make_shared<const OpenRequest>(std::move(request)));
  }
  if (first == chosen_.size()) return;
  fill_choices();
  const auto added = std::ranges::find(choices_, chosen_[first], &StateChoice::file);
  from_->setCurrentIndex(static_cast<int>(added - choices_.begin()));
  to_->setCurrentIndex(kNow);
  compare();
}

void ComparePane::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (is_stale_) refresh();
}

void ComparePane::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit(size());
}

void ComparePane::fit(QSize size) {
  const bool is_low = size.height() < kLow, is_beside = size.width() >= kMinBeside;
  const int all_rows = static_cast<int>(std::ceil(metrics_->document()->size().height()));
  body_->setDirection(is_beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  if (is_beside)
    metrics_->setMaximumSize(std::clamp(size.width() * 5 / 8, kMinNumbers, kMaxNumbers),
                             QWIDGETSIZE_MAX);
  else
    metrics_->setMaximumSize(QWIDGETSIZE_MAX, std::clamp(size.height() / 2, kMinPage.height(),
                                                         std::max(all_rows, kMinPage.height())));
  // If the numbers are above the tables, they get space before the curves do.
  has_space_for_curves_ = !is_low && (is_beside || size.height() - all_rows >= kLow);
  show_curves();
  table_->set_compact(is_low);
  plan_table_->set_compact(is_low);
}

void ComparePane::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (metrics_ != nullptr && event->type() == QEvent::PaletteChange) show_metrics();
}

const StateChoice* ComparePane::chosen(const QComboBox* box) const {
  const auto index = static_cast<std::size_t>(box->currentIndex());
  return index < choices_.size() ? &choices_[index] : nullptr;
}

// Refills the lists but keeps the chosen states, which are identified by their names and edits;
// "now" always stands for the current graph.
void ComparePane::fill_choices() {
  const auto copy = [&](const QComboBox* box) {
    const StateChoice* choice = chosen(box);
    return choice == nullptr ? std::nullopt : std::optional(*choice);
  };
  const auto from = copy(from_), to = copy(to_);
  choices_ = state_choices(document_, before_, open_, chosen_);
  const auto fill = [&](QComboBox* box, const std::optional<StateChoice>& keep, int usual) {
    const QSignalBlocker quiet(box);
    box->clear();
    for (const StateChoice& choice : choices_) box->addItem(choice.name);
    int next = usual;
    if (keep)
      for (std::size_t i = 0; i < choices_.size(); ++i)
        if (is_same_state(choices_[i], *keep)) next = static_cast<int>(i);
    box->setCurrentIndex(next);
  };
  fill(from_, from, kOpened);
  fill(to_, to, kNow);
}

void ComparePane::refresh() {
  is_stale_ = true;
  if (!isVisible()) return;
  is_stale_ = false;
  fill_choices();
  choose_wanted();
  compare();
}

void ComparePane::show_states(const EditHistory& from, const EditHistory& to) {
  wanted_states_ = {from, to};
  refresh();
}

void ComparePane::choose_wanted() {
  if (!wanted_states_) return;
  const auto [from, to] = *std::exchange(wanted_states_, std::nullopt);
  const auto choose = [this](QComboBox* box, const EditHistory& history) {
    // Prefer the last match: a history entry, if there is one, stays the same, whereas "now"
    // changes with the graph.
    for (std::size_t i = choices_.size(); i-- > 0;)
      if (!choices_[i].file && choices_[i].other == nullptr && choices_[i].history == history)
        return box->setCurrentIndex(static_cast<int>(i));
  };
  choose(from_, from);
  choose(to_, to);
}

std::optional<Execution> ComparePane::chosen_execution() const {
  const int chosen = execution_->currentData().toInt();
  return chosen == kAsShown ? std::nullopt : std::optional(static_cast<Execution>(chosen));
}

// When an execution is first chosen, the second state is compared with itself. Further choices keep
// the first state, which the user may have changed. Without an execution, a state is not compared
// with itself.
void ComparePane::choose_execution() {
  const bool was_as_shown = !std::exchange(last_execution_, chosen_execution());
  if (chosen_execution()) {
    if (was_as_shown) from_->setCurrentIndex(to_->currentIndex());
  } else if (from_->currentIndex() == to_->currentIndex()) {
    from_->setCurrentIndex(kOpened);
  }
  compare();
}

void ComparePane::show_states_table() {
  states_->set_choices(choices_, static_cast<std::size_t>(from_->currentIndex()));
}

void ComparePane::choose_second(const StateChoice& choice) {
  const auto found = std::ranges::find_if(
      choices_, [&](const StateChoice& each) { return is_same_state(each, choice); });
  if (found == choices_.end()) return;
  to_->setCurrentIndex(static_cast<int>(found - choices_.begin()));
  tables_->setCurrentIndex(kNodesTab);
  compare();
}

void ComparePane::drop_pending() {
  comparing_.cancel();
  is_long_.stop();
  cancel_->hide();
}

void ComparePane::compare() {
  show_states_table();
  const StateChoice from = *chosen(from_), to = *chosen(to_);
  const quint64 job = ++wanted_;
  drop_pending();
  make(from, [=, this](const Result<StateOfDocument>& a) {
    if (job != wanted_) return;
    if (!a) return show_comparison(tl::unexpected(a.error()));
    make(to, [=, this, before = *a](const Result<StateOfDocument>& b) {
      if (job != wanted_) return;
      if (!b) return show_comparison(tl::unexpected(b.error()));
      const bool is_of_two = !is_same_document(from, to);
      const auto work =
          [before, after = *b, is_of_two, options = document_.analysis().options,
           execution = chosen_execution()](const Cancellation& comparing) -> Result<Comparison> {
        if (is_of_two) return compare_documents(before, after, options, execution, comparing);
        StateOfDocument second = after;
        if (execution) {
          JOINTER_TRY(second, executed_as(std::move(second), *execution, comparing));
        }
        return compare_states({before.name, before.snapshot}, {second.name, second.snapshot});
      };
      is_long_.start();
      comparing_.start(work, [=, this](const Result<Comparison>& result) {
        drop_pending();
        show_comparison(result);
        if (result && !is_of_two) compare_plans(from, to);
      });
    });
  });
}

void ComparePane::show_comparison(const Result<Comparison>& result) {
  comparison_ = result ? std::make_shared<const Comparison>(*result) : nullptr;
  summary_->setText(
      result ? comparison_->nodes->summary()
      : result.error().kind == Error::Kind::cancelled
          ? tr("The comparison was cancelled. Choose a state or an execution to compare again.")
          : QString::fromStdString(result.error().message));
  curves_->set(comparison_);
  const auto is_own = [this](const QComboBox* box) {
    const StateChoice* choice = chosen(box);
    return choice != nullptr && choice->kind != StateChoice::Kind::before &&
           is_same_document(*choice, choices_[kNow]);
  };
  const bool is_within = is_own(from_) && is_own(to_);
  table_->say(
      !result ? QString()
      : is_within && editing_.entry_count() == 0 && !chosen_execution()
          ? tr("No edits yet.\nIn the timeline, drag a collective, or select a node and press "
               "V, to see the differences here.")
          : tr("No nodes differ between these two states."));
  table_->set(comparison_ ? comparison_->nodes : nullptr);
  show_plan(result ? result->plan : nullptr);
  show_metrics();
  emit compared();
}

// The nodes of a joint graph or a flat training step do not reflect the plan, so plans are compared
// separately.
void ComparePane::compare_plans(const StateChoice& from, const StateChoice& to) {
  const Document& document = from.other != nullptr ? *from.other : document_;
  SacSession& session = document.sac();
  const auto has_plan = [](const StateChoice& choice) {
    return std::ranges::any_of(choice.history,
                               [](const DoneEditPtr& done) { return changes_plan(done->edit); });
  };
  if (from.file || to.file || from.history == to.history ||
      sac_kind(document.graph()) == SacKind::partitioned || (!has_plan(from) && !has_plan(to)))
    return;
  if (session.problem().isEmpty()) session.start();
  const auto use = [this, job = wanted_](const Result<PlanChangesPtr>& found) {
    if (job != wanted_ || !comparison_) return;
    if (!found) return show_error(found.error());
    if ((*found)->empty()) return;
    Comparison whole = *comparison_;
    whole.plan = *found;
    comparison_ = std::make_shared<const Comparison>(std::move(whole));
    show_plan(*found);
    show_metrics();
    emit compared();
  };
  session.find_changes(from.history, to.history, this, use, SacSession::ComparedOrder::found);
}

void ComparePane::show_error(const Error& error) {
  if (error.kind == Error::Kind::cancelled) return;
  summary_->setText(tr("%1\nThe plans were not compared: %2")
                        .arg(comparison_->nodes->summary(), QString::fromStdString(error.message)));
}

// The plan's tab is visible only if the plans differ. Unless the tab with all states is then
// current, the plan's tab becomes current if nodes differ at most in their policies or regions, and
// the nodes' tab otherwise.
void ComparePane::show_plan(const PlanChangesPtr& plan) {
  tables_->setTabVisible(kPlanTab, plan != nullptr);
  plan_table_->set(plan);
  are_curves_equal_ = false;
  show_curves();
  if (!plan) return;
  summary_->setText(
      QStringLiteral("%1.\n%2").arg(summary_text(*plan), comparison_->nodes->summary()));
  const GraphDifference& nodes = comparison_->nodes->difference();
  const bool is_plan_alone =
      nodes.moved.empty() && nodes.added.empty() && nodes.removed.empty() && nodes.changed.empty();
  const auto execution_of = [](const ComparedState& state) {
    return state.snapshot->analysis.options.execution;
  };
  are_curves_equal_ =
      is_plan_alone && execution_of(comparison_->from) == execution_of(comparison_->to);
  if (tables_->currentIndex() != kStatesTab)
    tables_->setCurrentIndex(is_plan_alone ? kPlanTab : kNodesTab);
  show_curves();
}

void ComparePane::show_curves() {
  curves_->setVisible(!are_curves_equal_ && has_space_for_curves_);
}

void ComparePane::show_metrics() {
  for (QPushButton* button : {markdown_, tsv_}) button->setEnabled(comparison_ != nullptr);
  if (!comparison_) return metrics_->clear();
  const QFontMetrics metrics = metrics_->fontMetrics();
  metrics_->setHtml(
      metric_table_html(metric_rows(*comparison_), state_title(comparison_->from.name, metrics),
                        state_title(comparison_->to.name, metrics), Theme::of(palette()),
                        graph_title(comparison_->to.snapshot->graph), kNumberPadding));
  fit(size());
}

void ComparePane::copy_markdown() {
  if (comparison_) QGuiApplication::clipboard()->setText(comparison_markdown(*comparison_));
}

void ComparePane::copy_tsv() {
  if (comparison_) QGuiApplication::clipboard()->setText(comparison_tsv(*comparison_));
}

}  // namespace jointer::views
