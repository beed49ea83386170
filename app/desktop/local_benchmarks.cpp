#include "app/desktop/local_benchmarks.h"

#include "app/launch/benchmark.h"
#include "app/launch/fit.h"
#include "app/launch/programs.h"
#include "core/base/environment.h"

namespace jointer::desktop {
namespace {

using namespace views;

bool needs_python(Backend backend) {
  return backend == Backend::inductor || backend == Backend::regional || backend == Backend::python;
}

QString message_of(const Error& error) {
  return QString::fromStdString(error.message);
}

// Hints that name controls of the Benchmark pane rather than options of the command line.
RunHints hints_of_form() {
  return {.alone = "choose Single rank to run one rank alone, with local copies for collectives",
          .all_or_one = "choose either Single rank or all ranks",
          .on_cpu = "set Device to cpu to run without GPUs",
          .device = {}};
}

// "Each of the 8 ranks needs 47.8 GiB, but its share of the free memory is 2.70 GiB."
QString sentence_of(const MemoryShortage& shortage) {
  QString text = QString::fromStdString(to_text(shortage)) + u'.';
  text.front() = text.front().toUpper();
  return text;
}

}  // namespace

Result<LocalBenchmarks::Outcome> LocalBenchmarks::run_job(
    const BenchmarkJob& job, const Reporter<BenchmarkResult>& reporter) {
  LaunchOptions options;
  options.is_cancelled = [&] { return reporter.is_cancelled(); };
  options.on_progress = [&](const std::vector<RankResult>& ranks) {
    BenchmarkResult so_far{.request = job.request};
    so_far.ranks = ranks;
    reporter.report(std::move(so_far));
  };
  const Graph& graph = job.snapshot->graph;
  // The estimator is the one chosen in the window; the device is the one that runs the benchmark.
  EstimatorRequest estimator = job.snapshot->analysis.options.estimator;
  estimator.device.clear();
  const Machine machine = this_machine();
  JOINTER_TRY(const FittedRequest fitted,
              fit_to_machine(graph, job.request, machine, hints_of_form()));
  if (!job.any_size)
    if (const auto shortage = memory_shortage(graph, fitted.request, machine)) return *shortage;
  JOINTER_TRY(BenchmarkOutcome outcome,
              run_benchmark(graph, fitted, estimator, options,
                            job.is_edited ? ProgramSource::graph : ProgramSource::files));
  return std::move(outcome.result);
}

LocalBenchmarks::LocalBenchmarks(QObject* parent)
    : BenchmarkService(parent), machine_(this_machine()) {
  pool_.setMaxThreadCount(1);
  const QString processor = QString::fromStdString(processor_name()).simplified();
  devices_ = {tr("%1, %2").arg(
      processor.isEmpty() ? tr("unknown processor") : processor,
      machine_.cores == 1 ? tr("1 logical CPU") : tr("%1 logical CPUs").arg(machine_.cores))};
  QStringList gpus;
  for (const std::string& name : machine_.gpu_names)
    gpus << QString::fromStdString(name).simplified();
  if (machine_.gpus == 0)
    devices_ << tr("no GPU");
  else if (gpus.size() == machine_.gpus)
    devices_ += gpus;
  else
    devices_ << (machine_.gpus == 1 ? tr("1 GPU") : tr("%1 GPUs").arg(machine_.gpus));
}

QString LocalBenchmarks::why_not(Backend backend) const {
  if (backend == Backend::cudagraph && machine_.gpus == 0)
    return tr("CUDA graphs need a GPU; this machine has none. Choose another backend.");
  if (backend != Backend::python)
    if (const auto runner = runner_program(); !runner) return message_of(runner.error());
  if (needs_python(backend))
    if (const auto python = python_program(); !python) return message_of(python.error());
  return {};
}

QString LocalBenchmarks::why_not(RunOn on) const {
  return on == RunOn::cuda && machine_.gpus == 0
             ? tr("This machine has no GPU. Run on another device.")
             : QString();
}

int LocalBenchmarks::world_size(const Graph& graph) const {
  return jointer::world_size(graph);
}

std::optional<QString> LocalBenchmarks::running() const {
  return run_ ? std::optional(run_->title) : std::nullopt;
}

quint64 LocalBenchmarks::start(const BenchmarkJob& job) {
  run_ = {.number = ++last_number_, .title = job.title, .so_far = {.request = job.request}};
  const auto work = [job](const Reporter<BenchmarkResult>& reporter) {
    return run_job(job, reporter);
  };
  task_.start(
      work, [this](const Result<Outcome>& outcome) { finish(outcome); },
      [this](const BenchmarkResult& so_far) {
        run_->so_far = so_far;
        emit progressed(run_->number, so_far);
      });
  emit running_changed();
  return last_number_;
}

void LocalBenchmarks::cancel(quint64 run) {
  if (!run_ || run_->number != run) return;
  run_->is_cancelled = true;
  task_.end_early();
}

void LocalBenchmarks::finish(const Result<Outcome>& outcome) {
  const Run ended = *std::exchange(run_, std::nullopt);
  const auto* result = outcome ? std::get_if<BenchmarkResult>(&*outcome) : nullptr;
  if (ended.is_cancelled)
    emit finished(ended.number, result != nullptr ? *result : ended.so_far, true);
  else if (result != nullptr)
    emit finished(ended.number, *result, false);
  else if (outcome)
    emit too_large(ended.number, sentence_of(std::get<MemoryShortage>(*outcome)));
  else
    emit failed(ended.number, message_of(outcome.error()));
  emit running_changed();
}

}  // namespace jointer::desktop
