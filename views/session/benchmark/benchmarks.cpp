#include "views/session/benchmark/benchmarks.h"

#include <algorithm>

#include "core/base/bytes.h"
#include "core/bench/rank_measurement.h"
#include "core/capture/measurement_file.h"
#include "core/graph/canonical.h"
#include "views/session/benchmark/benchmark_text.h"
#include "views/session/edit/editing.h"
#include "views/session/open/go_to.h"
#include "views/session/text/number_text.h"
#include "views/session/work/task.h"

namespace jointer::views {
namespace {

// For graphs with more ranks, the default is to run only the captured rank, so that many processes
// start only on request.
constexpr int kMaxDefaultRanks = 8;

int captured_rank(const Graph& graph) {
  return static_cast<int>(graph.part(PartId(std::size_t{0})).rank.value_or(0));
}

}  // namespace

Benchmarks::Benchmarks(Document& document, BenchmarkService& service, BenchmarkHistory history,
                       QObject* parent)
    : QObject(parent),
      document_(document),
      service_(&service),
      history_(std::move(history)),
      world_size_(service.world_size(document.graph())) {
  keeping_.setMaxThreadCount(1);
  if (world_size_ > kMaxDefaultRanks) settings_.request.solo = captured_rank(document.graph());
  connect(&service, &BenchmarkService::progressed, this, &Benchmarks::handle_progress);
  connect(&service, &BenchmarkService::finished, this, &Benchmarks::handle_end);
  connect(&service, &BenchmarkService::failed, this, &Benchmarks::handle_failure);
  connect(&service, &BenchmarkService::too_large, this, &Benchmarks::handle_too_large);
}

Benchmarks::~Benchmarks() {
  if (is_running() && service_) service_->cancel(run_);
  wait_on_close(keeping_);
}

// --- The next run ---

void Benchmarks::set_settings(const BenchmarkSettings& settings) {
  settings_ = settings;
  ask({});  // the question was about the previous settings
  emit settings_changed();
}

BenchmarkRequest Benchmarks::request() const {
  BenchmarkRequest request = settings_.request;
  const OpenRequest& source = document_.source();
  request.program = {absolute_path(source.path), absolute_path(source.backward)};
  request.graph_index = source.index;
  request.assumptions = document_.graph().assumptions().text();
  if (settings_.verify) request.baseline = request.program;
  return request;
}

QString Benchmarks::why_not() const {
  if (is_running())
    return tr("A benchmark of this graph is already running. Wait until it ends, or cancel it.");
  if (const auto other = service_->running())
    return tr("A benchmark of %1 is already running; two benchmarks at once would slow each other "
              "down. Wait until it ends, or cancel it in the Benchmark pane of that graph.")
        .arg(*other);
  if (document_.source().path == "-")
    return tr(
        "The graph cannot be benchmarked: it was read from standard input, which ranks cannot read "
        "again. Save the input to a file and open that file.");
  if (QString why = service_->why_not(settings_.request.backend); !why.isEmpty()) return why;
  return service_->why_not(settings_.request.on);
}

// --- Running ---

void Benchmarks::start(bool calibrates, bool any_size) {
  load();
  if (const QString why = why_not(); !why.isEmpty()) return say(why, true);
  BenchmarkRequest asked = request();
  if (calibrates) asked.profile = true;
  calibrates_ = calibrates;
  is_cancelling_ = false;
  so_far_ = {.request = asked};
  say({});
  ask({});
  since_start_.start();
  ran_ = document_.shared_snapshot();
  run_ = service_->start({.request = asked,
                          .snapshot = ran_,
                          .title = document_.title(),
                          .is_edited = document_.editing().is_edited(),
                          .any_size = any_size});
  emit running_changed();
}

void Benchmarks::cancel() {
  if (!is_running() || is_cancelling_) return;
  is_cancelling_ = true;
  emit running_changed();
  service_->cancel(run_);
}

void Benchmarks::handle_progress(quint64 run, const BenchmarkResult& so_far) {
  if (run != run_ || run_ == 0) return;
  so_far_ = so_far;
  emit progressed();
}

void Benchmarks::end_run() {
  run_ = 0;
  ran_.reset();
  is_cancelling_ = false;
  emit running_changed();
}

void Benchmarks::handle_failure(quint64 run, const QString& why) {
  if (run != run_ || run_ == 0) return;
  say(why, true);
  end_run();
}

void Benchmarks::handle_too_large(quint64 run, const QString& why) {
  if (run != run_ || run_ == 0) return;
  ask(why);
  end_run();
}

void Benchmarks::handle_end(quint64 run, const BenchmarkResult& result, bool cancelled) {
  if (run != run_ || run_ == 0) return;
  const QString elapsed = time_text(since_start_.nsecsElapsed());
  if (cancelled) {
    say(tr("Cancelled after %1.").arg(elapsed));
    return end_run();
  }
  if (!result.graph_hash.empty()) {
    hashed_ = ran_;
    hash_of_hashed_ = result.graph_hash;
  }
  const std::uint64_t id = next_id_++;
  rows_.push_back({id, std::make_shared<const BenchmarkResult>(result)});
  if (rows_.size() > BenchmarkHistory::kMaxResults) rows_.erase(rows_.begin());
  if (result.succeeded())
    say(tr("Done in %1.").arg(elapsed));
  else
    say(tr("Failed after %1: %2").arg(elapsed, status_text(result)), true);
  emit rows_changed();
  show(id);
  if (calibrates_ && result.succeeded()) to_calibrate_ = id;
  calibrate_waiting();
  save();
  end_run();
}

void Benchmarks::say(const QString& text, bool is_error) {
  message_ = text;
  message_is_error_ = is_error;
  emit message_changed();
}

// --- Results ---

const BenchmarkResult* Benchmarks::find(std::uint64_t id) const {
  const auto row = std::ranges::find(rows_, id, &BenchmarkRow::id);
  return row == rows_.end() ? nullptr : row->result.get();
}

std::vector<MeasurementPtr> Benchmarks::measurements_of(const BenchmarkResult& result) const {
  std::vector<MeasurementPtr> measurements;
  for (const RankResult& rank : result.ranks) {
    if (!rank.measured) continue;
    measurements.push_back(
        std::make_shared<const Measurement>(measurement_of(document_.graph(), result, rank)));
  }
  return measurements;
}

// Measurements identify nodes by position, so the graph that ran must be the current one.
std::optional<bool> Benchmarks::ran_shown_graph(const BenchmarkResult& result) {
  if (result.graph_hash.empty()) return true;
  if (!hash_.empty() && !document_.editing().is_edited()) return result.graph_hash == hash_;
  if (hashed_.lock() == document_.shared_snapshot()) return result.graph_hash == hash_of_hashed_;
  find_hash();
  return std::nullopt;
}

void Benchmarks::find_hash() {
  const SnapshotPtr now = document_.shared_snapshot();
  if (hashing_.is_running() && being_hashed_ == now) return;
  being_hashed_ = now;
  hashing_.start([now] { return graph_hash(now->graph); },
                 [this, now](const Result<std::string>& hash) { handle_hash(now, hash); });
}

// If the graph has changed in the meantime, show_waiting and calibrate_waiting ask for the hash of
// the new one.
void Benchmarks::handle_hash(const SnapshotPtr& snapshot, const Result<std::string>& hash) {
  being_hashed_.reset();
  if (!hash) {
    to_show_ = to_calibrate_ = 0;
    return say(tr("Could not compare this graph with the one that ran: %1")
                   .arg(QString::fromStdString(hash.error().message)),
               true);
  }
  hashed_ = snapshot;
  hash_of_hashed_ = *hash;
  show_waiting();
  calibrate_waiting();
  emit hash_found();
}

void Benchmarks::show(std::uint64_t id) {
  if (find(id) == nullptr) return;
  shown_ = id;
  to_show_ = id;
  emit row_shown(id);
  show_waiting();
}

void Benchmarks::show_waiting() {
  const BenchmarkResult* result = find(to_show_);
  if (result == nullptr) return;
  const auto is_measured = [](const RankResult& rank) { return rank.measured.has_value(); };
  if (std::ranges::none_of(result->ranks, is_measured)) {
    to_show_ = 0;  // the run failed before it measured anything
    return;
  }
  const std::optional<bool> ran = ran_shown_graph(*result);
  if (!ran) return;
  const std::uint64_t id = std::exchange(to_show_, 0);
  if (!*ran)
    return say(
        tr("This run measured a different state of the graph, so the timeline does not show "
           "its measurement."));
  measured_ = id;
  document_.set_run(measurements_of(*result));
}

void Benchmarks::calibrate_waiting() {
  const BenchmarkResult* result = find(to_calibrate_);
  if (result == nullptr) return;
  const std::optional<bool> ran = ran_shown_graph(*result);
  if (!ran) return;
  to_calibrate_ = 0;
  if (!*ran) return;
  if (const auto measurements = measurements_of(*result); !measurements.empty())
    emit calibrated(measurements.front());
}

void Benchmarks::show_snapshot(std::uint64_t id) {
  const BenchmarkResult* result = find(id);
  const RankResult* writer = result == nullptr ? nullptr : result->snapshot_writer();
  if (writer == nullptr) return;
  const std::string& path = writer->memory_snapshot;
  // The file's name is unique, and it is the label of its measurement.
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto known = std::ranges::find_if(
      document_.measurements(), [&](const MeasurementPtr& each) { return each->label == name; });
  if (known != document_.measurements().end())
    return handle_snapshot(MeasurementPtr(*known), *writer);
  if (!reading_.insert(name).second) return;
  say(tr("Reading the memory snapshot of rank %1...").arg(writer->rank));
  const auto read = [path, snapshot = document_.shared_snapshot()] {
    return read_measurement(snapshot->graph, path);
  };
  const auto take = [this, name, rank = *writer](const Result<Measurement>& measurement) {
    reading_.erase(name);
    if (!measurement)
      return say(
          tr("Could not read the memory snapshot: %1").arg(to_qstring(measurement.error().message)),
          true);
    const auto shared = std::make_shared<const Measurement>(*measurement);
    document_.add_import(shared);
    handle_snapshot(shared, rank);
  };
  run_in_background(this, read, take);
}

void Benchmarks::handle_snapshot(const MeasurementPtr& measurement, const RankResult& rank) {
  document_.show_measurement(measurement);
  const NodeId node = rank.node.empty() ? NodeId{} : document_.graph().find(rank.node);
  if (node) go_to(document_, node);
  say(node ? tr("The timeline shows the memory snapshot of rank %1, which ran out of memory at %2.")
                 .arg(QString::number(rank.rank), to_qstring(rank.node))
           : tr("The timeline shows the memory snapshot of rank %1.").arg(rank.rank));
}

void Benchmarks::remove(const std::vector<std::uint64_t>& ids) {
  const auto is_removed = [&](std::uint64_t id) { return std::ranges::find(ids, id) != ids.end(); };
  if (std::erase_if(rows_, [&](const BenchmarkRow& row) { return is_removed(row.id); }) == 0)
    return;
  if (is_removed(shown_)) shown_ = 0;
  if (is_removed(measured_)) {
    measured_ = 0;
    document_.set_run({});
  }
  emit rows_changed();
  save();
}

bool Benchmarks::has(const BenchmarkResult& result) const {
  return std::ranges::any_of(rows_, [&](const BenchmarkRow& row) {
    return !result.started_at.empty() && row.result->started_at == result.started_at &&
           row.result->graph_hash == result.graph_hash;
  });
}

void Benchmarks::add(const std::vector<BenchmarkResult>& results) {
  std::vector<BenchmarkRow> added;
  for (const BenchmarkResult& result : results)
    if (!has(result))
      added.push_back({next_id_++, std::make_shared<const BenchmarkResult>(result)});
  if (added.empty()) return;
  rows_.insert(rows_.begin(), added.begin(), added.end());
  emit rows_changed();
}

// --- Storage ---

void Benchmarks::load() {
  if (state_ != State::fresh) return;
  state_ = State::loading;
  using Read = std::pair<std::string, BenchmarkHistory::Loaded>;
  // Results are stored under the hash of the graph as opened, even if the graph was edited.
  const auto work = [snapshot = document_.baseline(), history = history_] {
    std::string hash = graph_hash(snapshot->graph);
    auto loaded = history.load(hash);
    return Read(std::move(hash), std::move(loaded));
  };
  const auto take = [this](Result<Read> read) {
    if (read) return handle_history(std::move(read->second), std::move(read->first));
    state_ = State::fresh;  // so that the next request tries again
    say(tr("Could not load earlier results: %1").arg(to_qstring(read.error().message)), true);
    emit rows_changed();
  };
  run_in_background(this, work, take, keeping_);
}

void Benchmarks::handle_history(BenchmarkHistory::Loaded loaded, std::string hash) {
  state_ = State::loaded;
  hash_ = std::move(hash);
  const bool has_new = !rows_.empty();
  std::vector<BenchmarkRow> rows;
  for (BenchmarkResult& result : loaded.results)
    if (!has(result))
      rows.push_back({next_id_++, std::make_shared<const BenchmarkResult>(std::move(result))});
  rows_.insert(rows_.begin(), rows.begin(), rows.end());
  if (!loaded.note.empty()) say(to_qstring(loaded.note), true);
  emit rows_changed();
  // Save rows that were added before the stored ones were loaded, and replace a damaged file.
  if (has_new || (!loaded.note.empty() && !rows_.empty())) save();
}

void Benchmarks::save() {
  if (state_ != State::loaded) return;  // handle_history saves once they are loaded
  ++saving_;
  const auto work = [history = history_, hash = hash_, rows = rows_] {
    std::vector<BenchmarkResult> results;
    results.reserve(rows.size());
    for (const BenchmarkRow& row : rows) results.push_back(*row.result);
    return history.save(hash, results);
  };
  const auto take = [this](const Result<void>& saved) {
    --saving_;
    if (!saved)
      say(tr("Could not save the results: %1").arg(to_qstring(saved.error().message)), true);
  };
  run_in_background(this, work, take, keeping_);
}

}  // namespace jointer::views
