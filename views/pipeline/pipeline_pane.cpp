#include "views/pipeline/pipeline_pane.h"

#include <QAction>
#include <QContextMenuEvent>
#include <QDir>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <algorithm>

#include "core/base/bytes.h"
#include "core/pass/pipeline_file.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"
#include "views/widgets/elided_label.h"
#include "views/widgets/flow_layout.h"

namespace jointer::views {
namespace {

constexpr int kWide = 600;  // minimum width at which the pages are next to the list
constexpr int kProgressHeight = 4;
constexpr int kListShare = 2, kPagesShare = 3;
const QString kFilter = QStringLiteral("Pipelines (*.jointer-passes *.json);;All files (*)");

}  // namespace

void describe_preset(QAction& action, const PipelinePreset& preset,
                     const PipelineSession& session) {
  const auto pipeline = parse_pipeline(preset.pipeline);
  const QString why_not = pipeline ? session.why_not(*pipeline) : QString();
  action.setEnabled(why_not.isEmpty());
  action.setToolTip(QStringLiteral("%1\n%2").arg(
      to_qstring(preset.summary), why_not.isEmpty()
                                      ? to_qstring(preset.pipeline)
                                      : PipelinePane::tr("Cannot be applied: %1").arg(why_not)));
}

void load_preset(PipelineSession& session, const QString& name) {
  const auto pipeline = preset_pipeline(name.toStdString());
  if (!pipeline) return session.say(to_qstring(pipeline.error().message), true);
  session.draft().set_pipeline(*pipeline);
  for (const PipelinePreset& preset : pipeline_presets())
    if (preset.name == name.toStdString()) session.say(to_qstring(preset.summary));
}

Result<void> load_pipeline(PipelineSession& session, const QString& path) {
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path.toStdString()));
  JOINTER_TRY(const PipelineFile file,
              read_pipeline_file(bytes.view(), QFileInfo(path).fileName().toStdString()));
  session.draft().set_pipeline(file.steps);
  const QString steps = counted_text(file.steps.size(), PipelineSession::tr("1 step"),
                                     PipelineSession::tr("%1 steps"));
  session.say(PipelineSession::tr("Loaded %1 from %2.").arg(steps, QFileInfo(path).fileName()));
  return {};
}

Result<void> save_pipeline(const PipelineSession& session, const QString& path) {
  return write_pipeline_file(path.toStdString(), {.name = QFileInfo(path).baseName().toStdString(),
                                                  .steps = session.draft().pipeline()});
}

PipelinePane::PipelinePane(PipelineSession& session, QWidget* parent)
    : QWidget(parent), session_(session) {
  setAccessibleName(tr("Pipeline"));
  use_base_background(*this);
  QVBoxLayout* column = make_column(this, {0, kMargin / 2, 0, 0}, kMargin / 2);
  list_ = new StepList(session_, this);
  column->addWidget(make_bar());
  // The status is always a single line, so that the list below does not move.
  status_ = add_control(*column, new ElidedLabel(this), "status", {}, tr("Pipeline status"));
  status_->setContentsMargins(kMargin, 0, kMargin, 0);
  progress_ = add_control(*column, new QProgressBar(this), nullptr, {}, tr("Progress of the run"));
  progress_->setTextVisible(false);
  progress_->setFixedHeight(kProgressHeight);
  QSizePolicy kept = progress_->sizePolicy();
  kept.setRetainSizeWhenHidden(true);
  progress_->setSizePolicy(kept);
  splitter_ = new QSplitter(Qt::Horizontal, this);
  splitter_->setChildrenCollapsible(false);
  stack_ = new QStackedWidget(splitter_);
  stack_->addWidget(make_empty_page());
  stack_->addWidget(list_);
  splitter_->addWidget(stack_);
  pages_ = new QTabWidget(splitter_);
  pages_->setObjectName(QStringLiteral("pages"));
  pages_->setDocumentMode(true);
  form_ = new StepForm(session_, pages_);
  step_ = new StepPage(session_, pages_);
  text_ = new PipelineTextPage(session_, pages_);
  pages_->addTab(form_, tr("Parameters"));
  pages_->addTab(step_, tr("Result"));
  pages_->addTab(text_, tr("Text"));
  pages_->setMinimumSize(200, 60);
  pages_->setCornerWidget(&step_->ways());
  const auto follow_page = [this] { step_->ways().setVisible(pages_->currentWidget() == step_); };
  connect(pages_, &QTabWidget::currentChanged, this, follow_page);
  follow_page();
  splitter_->addWidget(pages_);
  splitter_->setStretchFactor(0, kListShare);
  splitter_->setStretchFactor(1, kPagesShare);
  column->addWidget(splitter_, 1);
  catalog_ = new PassCatalog(session_.service(), this);
  setFocusProxy(list_);

  connect(list_, &StepList::current_changed, this, &PipelinePane::follow_current);
  connect(list_, &StepList::activated_step, this, [this] {
    pages_->setCurrentWidget(form_);
    form_->focus_first();
  });
  connect(catalog_, &PassCatalog::chosen, this, &PipelinePane::add_pass);
  connect(catalog_, &PassCatalog::plugin_wanted, this, &PipelinePane::plugin_wanted);
  connect(catalog_, &PassCatalog::python_wanted, this, &PipelinePane::python_wanted);
  connect(form_, &StepForm::load_wanted, this, &PipelinePane::load_wanted);
  connect(step_, &StepPage::compare_wanted, this, &PipelinePane::compare_wanted);
  connect(&session_, &PipelineSession::changed, this, &PipelinePane::refresh);
  connect(&session_, &PipelineSession::progressed, this, &PipelinePane::show_status);
  connect(&session_, &PipelineSession::message_changed, this, &PipelinePane::show_status);
  connect(&session_, &PipelineSession::step_ended, this, &PipelinePane::follow_end);
  add_actions();
  follow_current();
  refresh();
}

// --- Building ---

QWidget* PipelinePane::make_bar() {
  auto* bar = new QWidget(this);
  auto* row = new FlowLayout(bar, kMargin / 2, kMargin / 2);
  row->setContentsMargins(kMargin, 0, kMargin, 0);
  const auto add_button = [&](const char* name, const QString& text, const QString& tip,
                              auto slot) {
    QPushButton* button = add_control(*row, new QPushButton(text, bar), name, tip);
    button->setFixedWidth(fontMetrics().horizontalAdvance(text) + 3 * kMargin);
    connect(button, &QPushButton::clicked, this, slot);
    return button;
  };
  run_ = add_button("run", tr("Run"), {}, [this] { session_.run(); });
  next_ = add_button("next", tr("Next Step"), {}, [this] { session_.run_next(); });
  stop_ = add_button("stop", tr("Stop"), tr("Stop the run but keep completed steps (Ctrl+Shift+.)"),
                     [this] { session_.cancel(); });
  add_ = add_button(nullptr, tr("Add..."), tr("Add a pass after the current step (Ctrl+Shift+A)"),
                    [this] { open_catalog(); });
  const auto add_menu = [&](const QString& text, const QString& tip, QMenu* menu) {
    add_control(*row, new QPushButton(text, bar), nullptr, tip)->setMenu(menu);
    return menu;
  };
  add_menu(tr("Presets"), tr("Replace the steps with one of torchtitan's pipelines"),
           make_presets());
  more_ = add_menu(tr("More"), tr("More commands for steps, pipelines and plugins"), make_more());
  row->addWidget(make_limit(bar));
  return bar;
}

QWidget* PipelinePane::make_limit(QWidget* bar) {
  auto* field = new QWidget(bar);
  QHBoxLayout* row = make_row(field, {kMargin, 0, 0, 0}, kMargin / 2);
  auto* name = new QLabel(tr("Peak limit"), field);
  row->addWidget(name);
  limit_ = add_control(*row, new ByteBox(field), "limit", {}, tr("Peak limit"));
  limit_->setSpecialValueText(tr("No limit"));
  limit_->setKeyboardTracking(false);
  limit_->set_bytes(session_.peak_limit().value_or(0));
  name->setBuddy(limit_);
  field->setToolTip(
      tr("Limit on peak memory for passes that support a limit. Steps that ran with a different "
         "limit will run again. 0 means no limit."));
  connect(limit_, &QDoubleSpinBox::valueChanged, this, [this] {
    session_.set_peak_limit(limit_->bytes() > 0 ? std::optional(limit_->bytes()) : std::nullopt);
  });
  return field;
}

QMenu* PipelinePane::make_presets() {
  auto* menu = new QMenu(this);
  menu->setToolTipsVisible(true);
  for (const PipelinePreset& preset : pipeline_presets()) {
    const QString name = to_qstring(preset.name);
    QAction* action = menu->addAction(name, this, [this, name] { load_preset(session_, name); });
    connect(menu, &QMenu::aboutToShow, action,
            [this, action, &preset] { describe_preset(*action, preset, session_); });
  }
  return menu;
}

QMenu* PipelinePane::make_more() {
  auto* menu = new QMenu(this);
  menu->setToolTipsVisible(true);
  const auto add = [&](const QString& text, const QString& tip, auto slot) {
    QAction* action = menu->addAction(text, this, slot);
    action->setToolTip(tip);
    return action;
  };
  to_here_ =
      add(tr("Run to Here"), tr("Run the remaining steps up to and including the current one"),
          [this] { run_to_current(); });
  start_over_ = add(tr("Start Over"), tr("Return the document to the state before the first step"),
                    [this] { session_.start_over(); });
  menu->addSeparator();
  step_actions_ << to_here_
                << add(tr("Duplicate Step\tCtrl+D"), {}, [this] { list_->duplicate_current(); })
                << add(tr("Remove Step\tDel"), {}, [this] { list_->remove_current(); })
                << add(tr("Move Up\tAlt+Up"), {}, [this] { list_->move_current(-1); })
                << add(tr("Move Down\tAlt+Down"), {}, [this] { list_->move_current(1); });
  undo_ = add(tr("Undo Pipeline Change"), {}, [this] { session_.draft().undo(); });
  menu->addSeparator();
  add(tr("Load Pipeline..."), {}, [this] { choose_file(); });
  save_ = add(tr("Save Pipeline As..."), {}, [this] { save_file(); });
  menu->addSeparator();
  add(tr("Add Plugin..."), tr("Add C++ passes from a folder that contains plugin.json"),
      [this] { emit plugin_wanted(); });
  add(tr("Add Python Pass..."),
      tr("Add functions (gm, example_inputs) -> gm from a file or module as passes"),
      [this] { emit python_wanted(); });
  return menu;
}

QWidget* PipelinePane::make_empty_page() {
  auto* page = new QWidget(this);
  QVBoxLayout* column = make_column(page, {2 * kMargin, kMargin, 2 * kMargin, kMargin});
  column->addStretch(1);
  column->addWidget(make_hint(tr("A pipeline is a list of passes that change the graph one after "
                                 "another. Add a pass, choose a preset, drop a pipeline file here, "
                                 "or write the steps on the Text page."),
                              page));
  auto* row = new QHBoxLayout;
  row->addStretch(1);
  auto* add = new QPushButton(tr("Add Pass..."), page);
  connect(add, &QPushButton::clicked, this, &PipelinePane::open_catalog);
  row->addWidget(add);
  row->addStretch(1);
  column->addLayout(row);
  column->addStretch(1);
  return page;
}

// Adds commands for the palette that have no shortcuts in the window.
void PipelinePane::add_actions() {
  const auto add = [this](const QString& text, auto slot) {
    auto* action = new QAction(text, this);
    connect(action, &QAction::triggered, this, slot);
  };
  add(tr("Pipeline: Run to Here"), [this] { run_to_current(); });
  add(tr("Pipeline: Start Over"), [this] { session_.start_over(); });
  add(tr("Pipeline: Duplicate Step"), [this] { list_->duplicate_current(); });
  add(tr("Pipeline: Remove Step"), [this] { list_->remove_current(); });
  add(tr("Pipeline: Undo Change"), [this] { session_.draft().undo(); });
  add(tr("Pipeline: Edit as Text"), [this] {
    pages_->setCurrentWidget(text_);
    text_->edit().setFocus();
  });
}

// --- Commands ---

void PipelinePane::open_catalog() {
  catalog_->open(add_->isVisible() ? static_cast<QWidget&>(*add_) : *this);
}

void PipelinePane::add_pass(const QString& name) {
  list_->set_current(session_.draft().insert(list_->place_to_add(), {.pass = name.toStdString()}));
  pages_->setCurrentWidget(form_);
}

void PipelinePane::choose_file() {
  const QString path =
      QFileDialog::getOpenFileName(this, tr("Load Pipeline"), last_folder_, kFilter);
  if (path.isEmpty()) return;
  last_folder_ = QFileInfo(path).absolutePath();
  if (const auto loaded = load_pipeline(session_, path); !loaded)
    session_.say(to_qstring(loaded.error().message), true);
}

void PipelinePane::save_file() {
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Save Pipeline"),
      QDir(last_folder_).filePath(session_.document().title() + QStringLiteral(".jointer-passes")),
      kFilter);
  if (path.isEmpty()) return;
  last_folder_ = QFileInfo(path).absolutePath();
  const auto saved = save_pipeline(session_, path);
  if (saved)
    session_.say(tr("Wrote %1.").arg(QDir::toNativeSeparators(path)));
  else
    session_.say(to_qstring(saved.error().message), true);
}

void PipelinePane::run_to_current() {
  if (const auto place = list_->current()) session_.run_to(static_cast<int>(*place));
}

void PipelinePane::contextMenuEvent(QContextMenuEvent* event) {
  if (list_->isVisible() && list_->rect().contains(list_->mapFromGlobal(event->globalPos())))
    more_->exec(event->globalPos());
}

// --- Changes of the session ---

void PipelinePane::follow_current() {
  const auto place = list_->current();
  const quint64 id = place ? session_.draft().steps()[*place].id : 0;
  form_->show_step(id);
  step_->show_step(id);
  refresh();
}

// Shows the result of the step with which a run ended: one that failed, or the last one.
void PipelinePane::follow_end(quint64 step) {
  if (const auto progress = session_.progress();
      progress && progress->done < progress->count && session_.failure(progress->place) == nullptr)
    return;
  list_->set_current(step);
  pages_->setCurrentWidget(step_);
}

void PipelinePane::refresh() {
  const bool is_empty = session_.draft().empty();
  stack_->setCurrentIndex(is_empty ? 0 : 1);
  setFocusProxy(is_empty ? static_cast<QWidget*>(add_) : list_);
  const bool is_running = session_.is_running();
  const QString why_not = session_.why_not();
  run_->setEnabled(why_not.isEmpty());
  next_->setEnabled(why_not.isEmpty());
  const auto next = session_.next();
  run_->setToolTip(why_not.isEmpty() ? tr("Run all remaining steps (Ctrl+Shift+R)") : why_not);
  next_->setToolTip(
      why_not.isEmpty() && next
          ? tr("Run only %1 (F10)").arg(to_qstring(session_.draft().steps()[*next].step.pass))
          : why_not);
  stop_->setEnabled(is_running);
  for (QAction* action : step_actions_) action->setEnabled(list_->current().has_value());
  to_here_->setEnabled(list_->current().has_value() && !is_running);
  start_over_->setEnabled(!is_running);
  limit_->setEnabled(!is_running);
  undo_->setEnabled(session_.draft().can_undo());
  save_->setEnabled(!session_.draft().empty());
  show_status();
}

void PipelinePane::show_status() {
  const auto progress = session_.progress();
  progress_->setVisible(progress.has_value());
  const Theme& theme = Theme::of(palette());
  QColor color = theme.muted_text;
  QString text;
  if (progress) {
    const auto& steps = session_.draft().steps();
    const QString pass =
        progress->place < steps.size() ? to_qstring(steps[progress->place].step.pass) : QString();
    text = progress->is_applying
               ? tr("Applying the result to the document...")
               : tr("Step %1 of %2: %3, %4")
                     .arg(progress->done + 1)
                     .arg(progress->count)
                     .arg(pass, time_text(progress->elapsed_ms / 100 * 100'000'000));
    color = theme.text;
    // If the only step reports no progress, the progress bar is indeterminate.
    const bool is_known = progress->of_step > 0 || progress->count > 1 || progress->is_applying;
    progress_->setRange(0, is_known ? 1000 : 0);
    const double done = static_cast<double>(progress->done) + progress->of_step;
    if (is_known)
      progress_->setValue(
          static_cast<int>(1000 * std::min(1.0, done / static_cast<double>(progress->count))));
  } else if (!session_.message().isEmpty()) {
    text = session_.message();
    color = session_.message_is_error() ? theme.error : theme.text;
  } else if (!session_.draft().empty()) {
    const auto next = session_.next();
    const QString why_not = session_.why_not();
    text = next && why_not.isEmpty()
               ? tr("Next: %1.").arg(to_qstring(session_.draft().steps()[*next].step.pass))
               : why_not;
  } else {
    text = tr("Steps run in order. Steps that edit the graph can be undone.");
  }
  status_->setText(text);
  set_color(*status_, color);
}

void PipelinePane::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  splitter_->setOrientation(width() >= kWide ? Qt::Horizontal : Qt::Vertical);
}

void PipelinePane::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && status_ != nullptr && catalog_ != nullptr)
    show_status();
}

}  // namespace jointer::views
