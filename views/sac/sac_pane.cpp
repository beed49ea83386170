#include "views/sac/sac_pane.h"

#include "views/session/document/document.h"
#include "views/session/sac/pair_file.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

// Below this height in pixels, the curve and the reasons are hidden and the numbers are shown as
// text, to leave space for the table.
constexpr int kMinWithCurve = 460;
// Below this height, everything except the table's rows takes as little space as possible: there is
// one line of numbers, margins are narrow, and the line about the last history entry, which the
// Changes page repeats, and the totals of the tensors are hidden.
constexpr int kMinRoomy = 340;
constexpr int kGap = 2;  // between the parts of the pane
constexpr int kMinWithLongReasons = 560, kFewLines = 5, kManyLines = 8;

}  // namespace

SacPane::SacPane(Document& document, QWidget* parent)
    : QWidget(parent), document_(document), session_(document.sac()) {
  use_base_background(*this);
  setAccessibleName(tr("SAC"));
  QVBoxLayout* whole = make_column(this, {});
  stack_ = new QStackedWidget(this);
  whole->addWidget(stack_);
  stack_->addWidget(make_waiting());

  auto* shown = new QWidget(stack_);
  column_ = make_column(shown, {}, kGap);
  figures_ = new SacFigures(session_, shown);
  bar_ = new SacBar(session_, shown);
  curve_ = new PlanCurve(shown);
  pages_ = new QTabWidget(shown);
  pages_->setObjectName(QStringLiteral("pages"));
  pages_->setDocumentMode(true);
  table_ = new SacTable(document, pages_);
  pareto_ = new ParetoPage(session_, *bar_, pages_);
  pages_->addTab(table_, tr("Tensors"));
  targets_ = new TargetPage(document, pages_);
  pages_->addTab(pareto_, tr("Trade-off"));
  pages_->addTab(targets_, tr("Targets"));
  changes_ = new ChangesPage(document, pages_);
  pages_->addTab(changes_, tr("Changes"));
  pages_->setCornerWidget(&bar_->more());
  column_->addWidget(figures_);
  column_->addWidget(bar_);
  to_joint_ = new QPushButton(tr("Open as Joint Graph"), shown);
  to_joint_->setObjectName(QStringLiteral("to_joint"));
  to_joint_->setToolTip(
      tr("Join the forward and backward graphs into a joint graph with an editable plan, and open "
         "it in a new tab"));
  connect(to_joint_, &QPushButton::clicked, this, &SacPane::make_joint);
  column_->addWidget(to_joint_, 0, Qt::AlignHCenter);
  column_->addWidget(curve_);
  last_change_ = make_last_change(shown);
  column_->addWidget(last_change_);
  column_->addWidget(pages_, 1);
  reasons_ = new SacReasons(document, shown);
  column_->addWidget(reasons_);
  stack_->addWidget(shown);
  setFocusProxy(&table_->view());

  connect(pages_, &QTabWidget::currentChanged, this, [this] {
    // The keys of the table must not act while another page is shown.
    if (const QWidget* page = pages_->currentWidget()) setFocusProxy(page->focusProxy());
    fit_pages();
    show_reasons();
  });
  connect(&session_, &SacSession::changed, this, &SacPane::refresh);
  connect(&session_, &SacSession::working_changed, this, &SacPane::refresh);
  connect(&session_, &SacSession::previewed, this, [this] {
    const auto& preview = session_.shown_preview();
    curve_->set_what_if(preview ? preview->shown() : nullptr,
                        preview ? preview->name() : QString());
  });
  connect(&session_, &SacSession::refused, this, &SacPane::refused);
  connect(table_, &SacTable::message, this, &SacPane::message);
  connect(bar_, &SacBar::message, this, &SacPane::message);
  connect(bar_, &SacBar::pair_wanted, this, &SacPane::make_pair);
  connect(pareto_, &ParetoPage::message, this, &SacPane::message);
  connect(pareto_, &ParetoPage::none_fits, figures_, &SacFigures::set_note);
  connect(pareto_, &ParetoPage::tune_wanted, this, &SacPane::tune_wanted);
  connect(targets_, &TargetPage::message, this, &SacPane::message);
  connect(curve_, &PlanCurve::peak_clicked, this, &SacPane::show_peak);
  add_actions();
  fit_pages();
  fit_height(0);  // until the height is known
  refresh();
}

QWidget* SacPane::make_waiting() {
  auto* page = new QWidget(stack_);
  QVBoxLayout* column = make_column(page, {2 * kMargin, 2 * kMargin, 2 * kMargin, 2 * kMargin});
  column->addStretch(1);
  message_ = make_hint({}, page);
  column->addWidget(message_);
  button_ = new QPushButton(page);
  column->addWidget(button_, 0, Qt::AlignHCenter);
  column->addStretch(1);
  connect(button_, &QPushButton::clicked, this, [this] {
    if (session_.is_working())
      session_.cancel();
    else
      session_.start();
  });
  return page;
}

// A line that summarizes what the last history entry changed.
QWidget* SacPane::make_last_change(QWidget* parent) {
  auto* line = new QWidget(parent);
  QHBoxLayout* row = make_row(line, {kMargin, 0, kMargin, 0});
  auto* text = new ElidedLabel(line);
  text->setObjectName(QStringLiteral("last_change"));
  row->addWidget(text, 1);
  QPushButton* button =
      add_control(*row, new QPushButton(tr("Show Changes"), line), "show_changes",
                  tr("List the values that changed, grouped by layer or operator, or one by one"));
  line->hide();
  connect(button, &QPushButton::clicked, this, &SacPane::show_changes);
  connect(changes_, &ChangesPage::summarized, line, [this, text](const QString& sentence) {
    text->setText(sentence);
    show_last_change(!sentence.isEmpty());
  });
  return line;
}

// Showing or hiding the line must not move the plot below it under the pointer, so either its space
// is reserved or it is never shown.
void SacPane::show_last_change(bool has_changed) {
  has_changed_ = has_changed;
  const SacStatePtr state = session_.state();
  const bool has_space = height_ >= kMinRoomy && state && state->can_change();
  QSizePolicy policy = last_change_->sizePolicy();
  policy.setRetainSizeWhenHidden(has_space);
  last_change_->setSizePolicy(policy);
  last_change_->setVisible(has_changed_ && has_space);
}

// Adds commands that have no shortcut in the window, so that the palette lists them.
void SacPane::add_actions() {
  const auto add = [this](const QString& text, auto slot) {
    auto* action = new QAction(text, this);
    connect(action, &QAction::triggered, this, slot);
    return action;
  };
  add(tr("SAC: Solve"), [this] { bar_->solve(); });
  apply_tags_ = add(tr("SAC: Apply Tags"), [this] { session_.apply_tags(); });
  add(tr("SAC: Show Tensors at the Peak"), [this] { show_peak(); });
  add(tr("SAC: Compute Trade-off"), [this] {
    show_pareto();
    if (!pareto_->search().is_running()) pareto_->start_or_cancel();
  });
  add(tr("SAC: Tune Order and Buckets..."), [this] { pareto_->tune(); });
  add(tr("SAC: Show Targets"), [this] { show_targets(); });
  of_partitioner_.push_back(add(tr("SAC: Open as Pair"), [this] { make_pair(); }));
  add(tr("SAC: Show Changes"), [this] { show_changes(); });
  add(tr("SAC: Save Selected"), [this] { table_->set_action(PlanAction::save); });
  add(tr("SAC: Recompute Selected"), [this] { table_->set_action(PlanAction::recompute); });
  add(tr("SAC: Offload Selected"), [this] { table_->set_action(PlanAction::offload); });
  add(tr("SAC: Checkpoint Layers of Selected"), [this] { table_->checkpoint_layers(); });
  of_partitioner_.push_back(add(tr("SAC: Leave Selected to the Partitioner"),
                                [this] { table_->set_action(std::nullopt); }));
  untag_ = add(tr("SAC: Remove Tags from Selected"), [this] { table_->set_action(std::nullopt); });
}

void SacPane::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  // Showing the pane does not restart a computation that failed or was cancelled.
  if (session_.problem().isEmpty()) session_.start();
}

void SacPane::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit_height(height());
}

void SacPane::fit_height(int height) {
  height_ = height;
  const bool is_low = height < kMinWithCurve, is_roomy = height >= kMinRoomy;
  curve_->setVisible(!is_low);
  show_last_change(has_changed_);
  column_->setSpacing(is_roomy ? kGap : 0);
  bar_->set_compact(!is_roomy);
  table_->set_compact(!is_roomy);
  reasons_->set_lines(height < kMinWithLongReasons ? kFewLines : kManyLines);
  show_reasons();
  if (is_low)
    figures_->show_compact(is_roomy ? 2 : 1);
  else
    figures_->show_boxes();
}

// Only the current page determines the minimum height, not the tallest one.
void SacPane::fit_pages() {
  for (int i = 0; i < pages_->count(); ++i)
    pages_->widget(i)->setSizePolicy(QSizePolicy::Preferred, i == pages_->currentIndex()
                                                                 ? QSizePolicy::Preferred
                                                                 : QSizePolicy::Ignored);
}

// Reasons are shown only below a table, and only if there is space for both.
void SacPane::show_reasons() {
  const SacStatePtr state = session_.state();
  const QWidget* page = pages_->currentWidget();
  reasons_->setVisible(state && state->can_change() && (page == table_ || page == targets_) &&
                       height_ >= kMinWithCurve);
}

void SacPane::refresh() {
  const SacStatePtr state = session_.state();
  curve_->set_state(state);
  stack_->setCurrentIndex(state ? 1 : 0);
  const bool is_step = state && state->is_step();
  to_joint_->setVisible(document_.graph().is_pair());
  for (QWidget* page : std::initializer_list<QWidget*>{pareto_, targets_, changes_})
    pages_->setTabVisible(pages_->indexOf(page), state && state->can_change());
  show_last_change(has_changed_);
  show_reasons();
  for (QAction* action : of_partitioner_) action->setVisible(!is_step);
  for (QAction* action : {apply_tags_, untag_}) action->setVisible(is_step);
  if (state) return;
  if (session_.problem().isEmpty()) {
    message_->setText(sac_kind(document_.graph()) == SacKind::joint
                          ? tr("Partitioning the graph...")
                          : tr("Analyzing saved and recomputed tensors..."));
    button_->setText(tr("Cancel"));
  } else {
    message_->setText(session_.problem());
    button_->setText(tr("Try Again"));
  }
}

void SacPane::show_peak() {
  pages_->setCurrentWidget(table_);
  table_->show_peak();
}

void SacPane::show_pareto() {
  pages_->setCurrentWidget(pareto_);
  pareto_->setFocus();
}

void SacPane::show_plan(const ParetoPoint& plan) {
  show_pareto();
  pareto_->highlight(plan);
}

void SacPane::show_changes() {
  pages_->setCurrentWidget(changes_);
  changes_->setFocus();
}

void SacPane::show_targets() {
  pages_->setCurrentWidget(targets_);
  targets_->setFocus();
}

void SacPane::make_pair() {
  const SacStatePtr state = session_.state();
  if (!state || !state->base || making_pair_.is_running()) return;
  emit message(tr("Creating the forward and backward graphs for this plan..."));
  const auto make = [state, title = document_.title()] { return write_pair(*state, title); };
  making_pair_.start(make, [this, state](const Result<OpenRequest>& request) {
    if (request)
      emit pair_made(*request, state->snapshot->analysis.options);
    else
      show_warning(tr("Open as Pair"), to_qstring(request.error().message), this);
  });
}

// If the graph changes in the meantime, the file still contains the graph as it was when the button
// was pressed.
void SacPane::make_joint() {
  const SacStatePtr state = session_.state();
  if (!state || making_pair_.is_running()) return;
  emit message(tr("Joining the forward and backward graphs..."));
  const auto make = [snapshot = state->snapshot, title = document_.title()] {
    return write_joint(snapshot->graph, title);
  };
  making_pair_.start(make, [this, state](const Result<OpenRequest>& request) {
    if (!request)
      return show_warning(tr("Open as Joint Graph"), to_qstring(request.error().message), this);
    emit message(
        tr("The joint graph is tagged with the pair's plan. To partition it from scratch, turn on "
           "Ignore Tags and press Solve."));
    emit pair_made(*request, state->snapshot->analysis.options);
  });
}

}  // namespace jointer::views
