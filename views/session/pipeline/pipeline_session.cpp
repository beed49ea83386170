#include "views/session/pipeline/pipeline_session.h"

#include <QDir>
#include <QStandardPaths>
#include <algorithm>

#include "core/base/nearest_name.h"
#include "core/pass/graph_rules.h"
#include "core/pass/pipeline_file.h"
#include "core/pass/pipeline_rules.h"
#include "views/session/edit/editing.h"
#include "views/session/edit/metrics.h"
#include "views/session/sac/pair_file.h"
#include "views/session/sac/solve_settings.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr int kTickMs = 50;

QString sentence_of(const std::string& text) {
  QString sentence = to_qstring(text);
  if (!sentence.endsWith(u'.')) sentence += u'.';
  return sentence;
}

// The error in a step, regardless of the other steps; empty if there is none.
QString own_mistake(const PipelineStep& step, const PassRegistry& registry, const QString& source) {
  const Pass* pass = registry.find(step.pass);
  if (pass != nullptr) {
    const auto fits = Arguments::check(pass->info.parameters, step.given);
    return fits ? QString() : sentence_of(fits.error().message);
  }
  const QString name = to_qstring(step.pass);
  if (!source.isEmpty()) return PipelineSession::tr("%1 is not loaded (%2).").arg(name, source);
  std::vector<std::string_view> names;
  for (const Pass& each : registry.passes()) names.emplace_back(each.info.name);
  const std::string_view nearest = nearest_name(step.pass, names);
  return nearest.empty() ? PipelineSession::tr("Unknown pass %1.").arg(name)
                         : PipelineSession::tr("Unknown pass %1; did you mean %2?")
                               .arg(name, to_qstring(nearest));
}

// The edit for a partitioner step, as the SAC pane makes it: the plan follows from the tags, and
// the graph stays the joint graph.
std::optional<Edit> partition_edit(const StepResult& result) {
  if (!parse_solve(result.step)) return std::nullopt;
  return Edit{
      .title = result.step, .by = result.step, .decisions = kept_decisions(result.decisions)};
}

}  // namespace

QString status_text(StepStatus status) {
  switch (status) {
    case StepStatus::idle:
      return PipelineSession::tr("not run");
    case StepStatus::disabled:
      return PipelineSession::tr("off");
    case StepStatus::wrong:
      return PipelineSession::tr("cannot run");
    case StepStatus::waiting:
      return PipelineSession::tr("waiting");
    case StepStatus::running:
      return PipelineSession::tr("running");
    case StepStatus::done:
      return PipelineSession::tr("done");
    case StepStatus::undone:
      return PipelineSession::tr("undone");
    case StepStatus::outdated:
      return PipelineSession::tr("outdated");
    case StepStatus::failed:
      return PipelineSession::tr("failed");
  }
  return {};
}

PipelineSession::PipelineSession(Document& document, PassService& service, QObject* parent)
    : QObject(parent), document_(document), service_(service), work_(service.threads()) {
  tick_.setInterval(kTickMs);
  connect(&tick_, &QTimer::timeout, this, &PipelineSession::progressed);
  connect(&draft_, &PipelineDraft::changed, this, &PipelineSession::follow_draft);
  connect(&service_, &PassService::changed, this, &PipelineSession::follow_draft);
  connect(&service_, &PassService::printed, this, [this](const QString& pass, const QString& line) {
    if (run_ && run_->outcomes.size() < run_->steps.size() &&
        run_->steps[run_->outcomes.size()].step.pass == pass.toStdString())
      printed_ << line;
  });
  connect(&document_.editing(), &Editing::changed, this, &PipelineSession::changed);
  connect(&document_, &Document::changed, this, [this] {
    find_mistakes();
    emit changed();
  });
  // If the graph is a reproducer, load the recorded pipeline.
  if (const auto said = reproduced(document_.baseline()->graph)) apply_reproducer(*said);
}

// Restores the pipeline and the peak limit of the recorded run, and the sources of third-party
// passes, which the user must allow before they run.
void PipelineSession::apply_reproducer(const Reproduced& said) {
  peak_limit_ = said.settings.peak_limit;
  if (const auto pipeline = parse_step_lines(said.pipeline)) {
    const auto name = [&](const QString& source) {
      for (const PipelineStep& step : *pipeline)
        if (service_.registry()->find(step.pass) == nullptr)
          draft_.set_source(to_qstring(step.pass), source);
    };
    for (const std::string& folder : said.settings.plugins)
      name(kPluginSource + to_qstring(folder));
    for (const std::string& spec : said.settings.python_passes)
      name(kPythonSource + to_qstring(spec));
    draft_.set_pipeline(*pipeline);
  }
  say(tr("This is a reproducer. Recorded error: %1").arg(to_qstring(said.error)));
}

PipelineSession::~PipelineSession() = default;

// --- State ---

std::vector<DraftStep> PipelineSession::enabled() const {
  std::vector<DraftStep> steps;
  for (const DraftStep& each : draft_.steps())
    if (each.step.is_enabled) steps.push_back(each);
  return steps;
}

std::optional<std::size_t> PipelineSession::reached() const {
  if (ran_.empty() || !same_estimates(*start_estimates_, document_.snapshot())) return std::nullopt;
  // A step that changed nothing has the same history as the previous step, so the last match
  // counts.
  for (std::size_t count = ran_.size() + 1; count-- > 0;)
    if (history_after(count) == document_.editing().edit_history()) return count;
  return std::nullopt;
}

std::size_t PipelineSession::unchanged() const {
  const std::vector<DraftStep> steps = enabled();
  std::size_t count = 0;
  while (count < ran_.size() && count < steps.size() && ran_[count].step == steps[count].step &&
         ran_[count].peak_limit == peak_limit_)
    ++count;
  return count;
}

std::size_t PipelineSession::base() const {
  const auto there = reached();
  return there ? std::min(*there, unchanged()) : 0;
}

std::optional<std::size_t> PipelineSession::ran(std::size_t place) const {
  if (place >= draft_.size() || !draft_.steps()[place].step.is_enabled) return std::nullopt;
  const auto index = static_cast<std::size_t>(std::count_if(
      draft_.steps().begin(), draft_.steps().begin() + static_cast<std::ptrdiff_t>(place),
      [](const DraftStep& each) { return each.step.is_enabled; }));
  return index < unchanged() ? std::optional(index) : std::nullopt;
}

std::optional<std::size_t> PipelineSession::next() const {
  const std::vector<DraftStep> steps = enabled();
  const std::size_t from = base();
  return from < steps.size() ? draft_.find(steps[from].id) : std::nullopt;
}

StepStatus PipelineSession::status(std::size_t place) const {
  const DraftStep& step = draft_.steps()[place];
  if (!step.step.is_enabled) return StepStatus::disabled;
  if (run_)
    for (std::size_t i = 0; i < run_->steps.size(); ++i)
      if (run_->steps[i].id == step.id) {
        const std::size_t now = run_->outcomes.size();
        return i < now ? StepStatus::done : i == now ? StepStatus::running : StepStatus::waiting;
      }
  if (!mistakes_[place].isEmpty()) return StepStatus::wrong;
  if (failure(place) != nullptr) return StepStatus::failed;
  if (const auto index = ran(place)) {
    const auto there = reached();
    return there && *index < *there ? StepStatus::done : StepStatus::undone;
  }
  return outcome(place) ? StepStatus::outdated : StepStatus::idle;
}

StepOutcomePtr PipelineSession::outcome(std::size_t place) const {
  if (place >= draft_.size()) return nullptr;
  const quint64 id = draft_.steps()[place].id;
  if (run_)
    for (const StepOutcomePtr& each : run_->outcomes)
      if (each->step == id) return each;
  for (const RanStep& each : ran_)
    if (each.outcome->step == id) return each.outcome;
  if (const auto index = ran(place)) return ran_[*index].outcome;
  return nullptr;
}

const StepFailure* PipelineSession::failure(std::size_t place) const {
  if (!failure_ || place >= draft_.size()) return nullptr;
  const DraftStep& step = draft_.steps()[place];
  return failure_->step == step.id && failure_->text == to_text(step.step) ? &*failure_ : nullptr;
}

std::optional<PipelineSession::Histories> PipelineSession::histories(std::size_t place) const {
  const auto index = ran(place);
  if (!index || run_) return std::nullopt;
  const Histories histories{history_after(*index), history_after(*index + 1)};
  const Editing& editing = document_.editing();
  if (!editing.place_of(histories.before) || !editing.place_of(histories.after))
    return std::nullopt;
  return histories;
}

QString PipelineSession::why_not() const {
  if (run_) return tr("The pipeline is running.");
  const std::vector<DraftStep> steps = enabled();
  if (draft_.empty()) return tr("No steps yet. Add a pass.");
  if (steps.empty()) return tr("No step is enabled.");
  for (std::size_t place = 0; place < draft_.size(); ++place)
    if (draft_.steps()[place].step.is_enabled && !mistakes_[place].isEmpty())
      return tr("Step %1 cannot run: %2").arg(place + 1).arg(mistakes_[place]);
  if (base() == steps.size()) return tr("All steps are done.");
  return {};
}

QString PipelineSession::why_not(const Pipeline& other) const {
  const auto fits = check_graph(document_.graph(), other, *service_.registry());
  return fits ? QString() : sentence_of(fits.error().message);
}

bool PipelineSession::is_settled() const {
  return !run_ && document_.editing().is_settled();
}

std::optional<PipelineSession::Progress> PipelineSession::progress() const {
  if (!run_) return std::nullopt;
  const std::size_t done = run_->outcomes.size();
  const std::size_t at = std::min(done, run_->steps.size() - 1);
  return Progress{.place = draft_.find(run_->steps[at].id).value_or(0),
                  .done = done,
                  .count = run_->steps.size(),
                  .of_step = run_->work.share->done,
                  .elapsed_ms = run_->since.elapsed(),
                  .is_applying = run_->is_applying};
}

void PipelineSession::say(const QString& sentence, bool is_error) {
  message_ = sentence;
  message_is_error_ = is_error;
  emit message_changed();
}

// --- Errors ---

void PipelineSession::find_mistakes() {
  const Pipeline pipeline = draft_.pipeline();
  const auto registry = service_.registry();
  mistakes_.clear();
  for (const PipelineStep& step : pipeline) {
    const QString name = to_qstring(step.pass);
    if (const Pass* pass = registry->find(step.pass)) {
      const QString source = to_qstring(pass->info.source);
      // Set the source only once: `code_at` reads the file.
      if (draft_.source_of(name) != source && service_.code_at(source))
        draft_.set_source(name, source);
    }
    mistakes_.push_back(own_mistake(step, *registry, draft_.source_of(name)));
  }
  for (const OrderMistake& wrong : find_order_mistakes(pipeline))
    if (mistakes_[wrong.step].isEmpty()) mistakes_[wrong.step] = sentence_of(wrong.message);
  for (const GraphMistake& wrong : find_graph_mistakes(document_.graph(), pipeline, *registry))
    if (mistakes_[wrong.step].isEmpty()) mistakes_[wrong.step] = sentence_of(wrong.message);
}

void PipelineSession::follow_draft() {
  find_mistakes();
  if (!run_ && !message_.isEmpty()) say({});  // the message was about the previous draft
  emit changed();
}

// --- Running ---

void PipelineSession::run_next() {
  if (const auto place = next())
    run_until(*place + 1);
  else
    run_until(draft_.size());
}

QString PipelineSession::why_none_until(std::size_t end) const {
  const auto disabled = static_cast<std::size_t>(std::count_if(
      draft_.steps().begin(),
      draft_.steps().begin() + static_cast<std::ptrdiff_t>(std::min(end, draft_.size())),
      [](const DraftStep& each) { return !each.step.is_enabled; }));
  if (disabled > 0 && disabled == end && !enabled().empty())
    return tr("All steps up to here are disabled.");
  if (disabled < end && end <= draft_.size() && !draft_.steps()[end - 1].step.is_enabled)
    return tr("Step %1 is disabled. All enabled steps before it are done.").arg(end);
  if (const QString why = why_not(); !why.isEmpty()) return why;
  return disabled > 0 ? tr("All enabled steps up to here are done.")
                      : tr("All steps up to here are done.");
}

void PipelineSession::run_until(std::size_t end) {
  if (run_) return;
  const std::vector<DraftStep> all = enabled();
  const std::size_t first = base();
  std::vector<DraftStep> steps;
  QList<ForeignCode> code;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t place = *draft_.find(all[i].id);
    if (place >= end) break;
    if (!mistakes_[place].isEmpty())
      return say(tr("Step %1: %2").arg(place + 1).arg(mistakes_[place]), true);
    if (i < first) continue;
    steps.push_back(all[i]);
    const auto foreign = service_.unallowed(to_qstring(all[i].step.pass));
    if (!foreign) continue;
    const auto known = std::ranges::find(code, foreign->source, &ForeignCode::source);
    if (known == code.end())
      code << *foreign;
    else
      known->passes += foreign->passes;
  }
  if (steps.empty()) return say(why_none_until(end));
  if (!code.isEmpty()) {
    emit asks(code, [this, end] { run_until(end); });
    return;
  }
  start(std::move(steps), first);
}

void PipelineSession::start(std::vector<DraftStep> steps, std::size_t first) {
  const SnapshotPtr now = document_.shared_snapshot();
  if (!reached()) {
    ran_.clear();
    start_history_ = document_.editing().edit_history();
    start_graph_ = std::shared_ptr<const Graph>(now, &now->graph);
    start_estimates_ = now;
  }
  failure_.reset();
  printed_.clear();
  run_ = std::make_unique<Run>();
  run_->first = first;
  run_->history = document_.editing().edit_history();
  run_->steps = std::move(steps);
  run_->since.start();
  PipelineWork& work = run_->work;
  work.graph = first == 0 ? start_graph_ : ran_[first - 1].outcome->result.graph;
  work.steps = run_->steps;
  work.registry = service_.registry();
  work.options.analysis = document_.analysis().options;
  work.options.python = service_.python();
  work.options.peak_limit = peak_limit_;
  work.reproducer_folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
                           QStringLiteral("/reproducers");
  say({});
  tick_.start();
  work_.start([work](const Reporter<StepDone>& job) { work_pipeline(work, job); },
              [this](const Result<void>& result) { finish(result); },
              [this](const StepDone& ended) { take(ended); });
  emit changed();
  emit progressed();
}

void PipelineSession::take(const StepDone& ended) {
  quint64 step = 0;
  if (ended.outcome) {
    step = ended.outcome->step;
    ended.outcome->printed = std::exchange(printed_, {});
    run_->outcomes.push_back(ended.outcome);
  } else {
    step = ended.failure->step;
    ended.failure->printed = std::exchange(printed_, {});
    failure_ = *ended.failure;
  }
  emit changed();
  emit progressed();
  emit step_ended(step);
}

void PipelineSession::finish(const Result<void>& result) {
  if (!result) return apply(sentence_of(result.error().message), true);
  if (!failure_) return apply(done_text(), false);
  QString text = sentence_of(failure_->error.message);
  text += u' ' + tr("This step did not change the graph.");
  if (!failure_->no_reproducer.isEmpty())
    text += u' ' + tr("No reproducer was written: %1.").arg(failure_->no_reproducer);
  else if (!failure_->reproducer.isEmpty())
    text += u' ' + tr("Reproducer: %1").arg(QDir::toNativeSeparators(failure_->reproducer));
  apply(text, true);
}

// The job ends when its pass next checks for cancellation. Nothing waits for it.
void PipelineSession::cancel() {
  if (!run_ || run_->is_applying) return;
  const std::size_t done = run_->outcomes.size();
  const QString pass = to_qstring(run_->steps[std::min(done, run_->steps.size() - 1)].step.pass);
  apply(done == 0   ? tr("Stopped during %1; nothing was changed.").arg(pass)
        : done == 1 ? tr("Stopped during %1; the previous step was kept.").arg(pass)
                    : tr("Stopped during %1; the previous %2 steps were kept.")
                          .arg(pass, QString::number(done)),
        false);
}

QString PipelineSession::done_text() const {
  if (run_->outcomes.empty()) return {};
  std::int64_t ns = 0;
  for (const StepOutcomePtr& each : run_->outcomes) ns += each->result.ns;
  const QString steps = counted_text(run_->outcomes.size(), tr("1 step"), tr("%1 steps"));
  const Figures& before = run_->outcomes.front()->result.before.figures;
  const Figures& after = run_->outcomes.back()->result.after.figures;
  // The nodes may have changed even if the estimates have not.
  const QString effect =
      before == after ? tr("the estimates did not change") : figures_difference_text(before, after);
  QString text = tr("%1 in %2: %3").arg(steps, time_text(ns), effect);
  const auto limit = run_->work.options.peak_limit;
  if (limit && after.peak_bytes > *limit)
    text += tr("; the peak is above the limit of %1").arg(bytes_text(*limit));
  const auto other = std::ranges::find_if(
      run_->outcomes, [](const StepOutcomePtr& each) { return each->is_another_graph(); });
  if (other != run_->outcomes.end())
    text += u' ' + ((*other)->result.graph->is_pair() && !(*other)->before->is_pair()
                        ? tr("(%1 created a pair: Show > Graph in New Tab opens it.)")
                        : tr("(%1 created a separate graph: Show > Graph in New Tab opens it.)"))
                       .arg(to_qstring((*other)->result.step));
  return text;
}

// Applies the results to the document, as one edit for each step that changed the graph.
void PipelineSession::apply(const QString& message, bool is_error) {
  tick_.stop();
  work_.cancel();
  if (run_->outcomes.empty()) return end_run(message, is_error);
  Editing& editing = document_.editing();
  if (editing.edit_history() != run_->history || !editing.is_settled())
    return end_run(tr("The graph was edited while the pipeline ran, so the result was discarded. "
                      "Run the pipeline again."),
                   true);
  run_->is_applying = true;
  const EditHistory base = history_after(run_->first);
  bool is_elsewhere =
      std::any_of(ran_.begin(), ran_.begin() + static_cast<std::ptrdiff_t>(run_->first),
                  [](const RanStep& each) { return each.outcome->is_another_graph(); });
  std::vector<Edit> edits;
  std::vector<std::size_t> edits_after;
  for (const StepOutcomePtr& outcome : run_->outcomes) {
    const StepResult& result = outcome->result;
    if (!is_elsewhere && outcome->is_another_graph()) {
      is_elsewhere = true;
      if (auto edit = partition_edit(result)) edits.push_back(*std::move(edit));
    } else if (!is_elsewhere && !result.edit.changes.empty()) {
      edits.push_back(result.edit);
    }
    edits_after.push_back(edits.size());
  }
  applying_ = std::make_unique<QObject>();
  const auto finish_applying = [=, this](const QStringList& refused) {
    applying_.release()->deleteLater();  // called from one of its slots
    handle_applied(base, edits_after, refused, message, is_error);
  };
  const bool goes_back = base != editing.edit_history();
  if (edits.empty() && !goes_back) return finish_applying({});
  if (edits.empty()) {
    connect(&editing, &Editing::changed, applying_.get(), [this, base, finish_applying] {
      if (document_.editing().edit_history() == base) finish_applying({});
    });
    connect(&editing, &Editing::refused, applying_.get(),
            [finish_applying](const QString& why) { finish_applying({why}); });
  } else {
    connect(
        &editing, &Editing::applied_all, applying_.get(),
        [finish_applying](int /*count*/, const QStringList& refused) { finish_applying(refused); });
  }
  emit changed();
  emit progressed();
  const auto place = goes_back ? editing.place_of(base) : std::optional(editing.place());
  if (!place) {
    applying_.reset();
    return end_run(
        tr("The state from which this run continued is no longer in the history. Run the "
           "pipeline again."),
        true);
  }
  if (edits.empty())
    editing.go_to(*place);
  else
    editing.apply_all_from(*place, std::move(edits));
}

void PipelineSession::handle_applied(const EditHistory& base,
                                     const std::vector<std::size_t>& edits_after,
                                     const QStringList& refused, const QString& message,
                                     bool is_error) {
  const EditHistory history = document_.editing().edit_history();
  const bool fits = refused.isEmpty() && history.size() == base.size() + edits_after.back() &&
                    std::equal(base.begin(), base.end(), history.begin());
  if (!fits) {
    ran_.clear();
    return end_run(refused.isEmpty()
                       ? tr("The result could not be applied. Run the pipeline again.")
                       : tr("The result could not be applied: %1").arg(refused.front()),
                   true);
  }
  ran_.resize(run_->first);
  for (std::size_t i = 0; i < run_->outcomes.size(); ++i)
    ran_.push_back(
        {.step = run_->steps[i].step,
         .peak_limit = run_->work.options.peak_limit,
         .outcome = run_->outcomes[i],
         .history = {history.begin(),
                     history.begin() + static_cast<std::ptrdiff_t>(base.size() + edits_after[i])}});
  end_run(message, is_error);
}

void PipelineSession::end_run(const QString& message, bool is_error) {
  tick_.stop();
  run_.reset();
  say(message, is_error);
  emit changed();
  emit progressed();
}

void PipelineSession::start_over() {
  if (run_ || ran_.empty()) return;
  Editing& editing = document_.editing();
  if (const auto place = editing.place_of(start_history_)) editing.go_to(*place);
}

// --- Graphs that no edit leads to ---

void PipelineSession::open_graph(int place) {
  const auto index = place < 0 ? std::nullopt : ran(static_cast<std::size_t>(place));
  if (!index || run_) return;
  // Start at the last step that made a separate graph; the later steps are edits of that graph.
  std::size_t from = *index;
  while (from > 0 && !ran_[from].outcome->is_another_graph()) --from;
  if (!ran_[from].outcome->is_another_graph()) from = *index;
  std::vector<Edit> edits;
  for (std::size_t i = from + 1; i <= *index; ++i)
    if (const Edit& edit = ran_[i].outcome->result.edit; !edit.changes.empty())
      edits.push_back(edit);
  const auto write =
      [graph = ran_[from].outcome->result.graph, after = ran_[*index].outcome->result.graph, edits,
       title = document_.title()] { return write_graph_and_edits(*graph, *after, edits, title); };
  say(tr("Writing the graph..."));
  run_in_background(this, write, [this](const Result<GraphFiles>& files) {
    if (!files) return say(to_qstring(files.error().message), true);
    say({});
    emit graph_made(files->graph, files->recipe);
  });
}

}  // namespace jointer::views
