#include "views/benchmark/run_comparison.h"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>

#include "views/session/benchmark/benchmark_text.h"
#include "views/session/edit/metrics.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxCalls = 10;        // maximum number of calls to list
constexpr std::int64_t kMinDiffers = 1'000;  // nanoseconds; smaller differences are not listed

using Runs = std::span<const BenchmarkResult* const>;

// The label of an option of a run, and its value as text. Options that are not listed are shown as
// on the command line. Options with the same label share one text.
struct SettingWords {
  std::string_view option;
  QString label;
  QString (*text)(const BenchmarkResult& run);
};

QString yes_or_no(bool value) {
  return value ? tr("yes") : tr("no");
}

// The options that name the files of the graph; graphs are compared by name and hash.
constexpr std::array<std::string_view, 2> kOptionsOfTheGraph{"backward", "graph"};

std::vector<SettingWords> words_of_settings() {
  const auto backend = [](const BenchmarkResult& run) {
    const QString name = to_qstring(to_string(run.request.backend));
    return run.request.recorded ? tr("%1, captured").arg(name) : name;
  };
  return {
      {"backend", tr("backend"), backend},
      {"recorded", tr("backend"), backend},
      {"ranks", tr("ranks"), ranks_text},
      {"solo", tr("ranks"), ranks_text},
      {"on", tr("run on"),
       [](const BenchmarkResult& run) { return to_qstring(to_string(run.request.on)); }},
      {"attention", tr("attention"),
       [](const BenchmarkResult& run) { return to_qstring(to_string(run.request.attention)); }},
      {"tf32", tr("TF32"),
       [](const BenchmarkResult& run) { return to_qstring(to_string(run.request.tf32)); }},
      {"iterations", tr("iterations"),
       [](const BenchmarkResult& run) { return QString::number(run.request.iterations); }},
      {"warmup", tr("warm-up"),
       [](const BenchmarkResult& run) { return QString::number(run.request.warmup); }},
      {"memory-limit", tr("memory limit"),
       [](const BenchmarkResult& run) {
         return run.request.memory_limit == 0 ? tr("none") : bytes_text(run.request.memory_limit);
       }},
      {"threads", tr("threads"),
       [](const BenchmarkResult& run) {
         return run.request.threads == 0 ? tr("default") : QString::number(run.request.threads);
       }},
      {"seed", tr("seed"),
       [](const BenchmarkResult& run) { return QString::number(run.request.seed); }},
      {"mark", tr("marked with --mark"),
       [](const BenchmarkResult& run) {
         return run.request.marked.empty() ? tr("none") : to_qstring(run.request.marked);
       }},
      {"profile", tr("profiled"),
       [](const BenchmarkResult& run) { return yes_or_no(run.request.profile); }},
      {"no-pinning", tr("pinned to CPUs"),
       [](const BenchmarkResult& run) { return yes_or_no(run.request.pins); }},
  };
}

// "interpret, 2026-11-21 13:20". If several runs have this name, those after the first are
// numbered.
QStringList names_of(Runs runs) {
  QStringList names;
  for (const BenchmarkResult* run : runs) {
    const QString name =
        QStringLiteral("%1, %2").arg(to_qstring(to_string(run->request.backend)), when_text(*run));
    QString unique = name;
    for (int n = 2; names.contains(unique); ++n)
      unique = QStringLiteral("%1 (%2)").arg(name).arg(n);
    names << unique;
  }
  return names;
}

// "5.00 ms" or, relative to `first`, "5.50 ms (+0.500 ms, +10.0%)".
template <class Text, class Difference>
QString compared(std::optional<std::int64_t> value, std::optional<std::int64_t> first,
                 bool is_first, Text text, Difference difference) {
  if (!value) return tr("not measured");
  if (is_first || !first) return text(*value);
  if (*value == *first) return tr("%1 (equal)").arg(text(*value));
  const QString share = share_difference_text(*first, *value);
  const QString change = difference(*first, *value);
  return QStringLiteral("%1 (%2)").arg(
      text(*value), share.isEmpty() ? change : QStringLiteral("%1, %2").arg(change, share));
}

class RunComparison {
 public:
  RunComparison(Runs runs, const Snapshot& snapshot)
      : runs_(runs), snapshot_(snapshot), names_(names_of(runs)) {}

  void add_figures() {
    add_figure(
        tr("Step"),
        [](const BenchmarkResult& run) {
          return run.step ? std::optional(run.step->median_ns) : std::nullopt;
        },
        time_text, time_difference_text);
    add_figure(
        tr("Peak memory"), [](const BenchmarkResult& run) { return run.peak_bytes; }, bytes_text,
        bytes_difference_text);
    add_figure(
        tr("Reserved memory"), [](const BenchmarkResult& run) { return run.reserved_peak_bytes; },
        bytes_text, bytes_difference_text);
    add_figure(
        tr("Tokens per second"),
        [](const BenchmarkResult& run) {
          const auto& rate = run.throughput.tokens_per_second;
          return rate ? std::optional(static_cast<std::int64_t>(*rate)) : std::nullopt;
        },
        [](std::int64_t rate) { return count_text(rate); }, count_difference_text);
    add_outcomes();
  }

  // Adds the settings (see runner_options) and environments in which the runs differ.
  void add_settings() {
    section(tr("Different settings"));
    const auto add = [this](const QString& label, const QStringList& values) {
      if (values.count(values.front()) == values.size()) return;
      add_row(label, values.join(QStringLiteral(" → ")), Provenance::requested);
    };
    add(tr("graph"), of_runs([](const BenchmarkResult& run) {
          return QStringLiteral("%1 (%2)").arg(to_qstring(run.graph_name),
                                               to_qstring(run.graph_hash).left(8));
        }));
    add(tr("device"), of_runs([](const BenchmarkResult& run) { return to_qstring(run.device()); }));
    const std::vector<SettingWords> words = words_of_settings();
    QStringList labels;
    for (const RunnerOption& option : runner_options({})) {
      if (std::ranges::count(kOptionsOfTheGraph, option.name) > 0) continue;
      const auto known = std::ranges::find(words, option.name, &SettingWords::option);
      const QString label =
          known == words.end() ? QStringLiteral("--") + to_qstring(option.name) : known->label;
      if (labels.contains(label)) continue;
      labels << label;
      add(label, known == words.end() ? values_of(option.name) : of_runs(known->text));
    }
    add(tr("environment"), of_runs(environment_text));
    if (content_.sections.back().rows.empty())
      add_row(tr("none"), tr("The runs have the same settings."), Provenance::requested);
  }

  // If two runs of the graph in the snapshot are compared, adds the calls whose own times differ
  // most.
  void add_calls() {
    if (runs_.size() != 2) return;
    const RankResult* first = profiled_rank(*runs_[0]);
    const RankResult* second = first == nullptr ? nullptr : profiled_rank(*runs_[1], first->rank);
    if (second == nullptr) return;
    struct Call {
      NodeId node;
      std::int64_t first_ns = 0, second_ns = 0;
      [[nodiscard]] std::int64_t difference() const { return second_ns - first_ns; }
    };
    std::unordered_map<std::uint32_t, std::int64_t> times;  // of the first run, by position
    for (const NodeTime& each : first->measured->nodes) times.emplace(each.position, each.own_ns);
    std::vector<Call> calls;
    const auto& order = snapshot_.graph.order();
    for (const NodeTime& each : second->measured->nodes) {
      const auto time = times.find(each.position);
      if (time == times.end() || each.position >= order.size()) continue;
      const Call call{order[each.position], time->second, each.own_ns};
      if (std::abs(call.difference()) >= kMinDiffers) calls.push_back(call);
    }
    std::ranges::stable_sort(calls, std::greater<>(),
                             [](const Call& call) { return std::abs(call.difference()); });
    if (calls.size() > kMaxCalls) calls.resize(kMaxCalls);
    if (calls.empty()) return;
    section(tr("Calls with the largest differences, rank %1").arg(first->rank));
    for (const Call& call : calls)
      content_.sections.back().rows.push_back(
          {.label = time_difference_text(call.first_ns, call.second_ns),
           .value =
               QStringLiteral("%1 → %2").arg(time_text(call.first_ns), time_text(call.second_ns)),
           .provenance = Provenance::measured,
           .note = tr("Duration of the call in isolation, or of its kernels if they were traced, "
                      "in the two runs."),
           .links = {call.node}});
  }

  InspectorContent take() {
    content_.title = tr("%1 runs compared").arg(runs_.size());
    content_.subtitle = tr("Differences from %1").arg(names_.front());
    return std::move(content_);
  }

 private:
  void section(const QString& title) { content_.sections.push_back({title, {}}); }
  void add_row(const QString& label, const QString& value, Provenance provenance) {
    content_.sections.back().add(label, value, provenance);
  }

  // Adds a section with this number for each run, unless no run has it.
  template <class Figure, class Text, class Difference>
  void add_figure(const QString& title, Figure figure, Text text, Difference difference) {
    const auto has_figure = [&](const BenchmarkResult* run) { return figure(*run).has_value(); };
    if (std::ranges::none_of(runs_, has_figure)) return;
    section(title);
    const std::optional<std::int64_t> first = figure(*runs_.front());
    for (std::size_t i = 0; i < runs_.size(); ++i)
      add_row(names_[static_cast<int>(i)],
              compared(figure(*runs_[i]), first, i == 0, text, difference), Provenance::measured);
  }

  // Adds how each run ended and whether its outputs are right, unless all runs succeeded and no
  // output is wrong.
  void add_outcomes() {
    const auto is_good = [](const BenchmarkResult* run) { return !is_failure(*run); };
    if (std::ranges::all_of(runs_, is_good)) return;
    section(tr("Outcome"));
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const QString verified = verified_text(runs_[i]->verified());
      const QString status = status_text(*runs_[i]);
      add_row(names_[static_cast<int>(i)],
              verified.isEmpty() ? status : QStringLiteral("%1 · %2").arg(status, verified),
              Provenance::measured);
    }
  }

  template <class Text>
  [[nodiscard]] QStringList of_runs(Text text) const {
    QStringList values;
    for (const BenchmarkResult* run : runs_) values << text(*run);
    return values;
  }

  // The values of an option as on the command line.
  [[nodiscard]] QStringList values_of(std::string_view option) const {
    return of_runs([option](const BenchmarkResult& run) {
      const std::vector<RunnerOption> options = runner_options(run.request);
      const auto found = std::ranges::find(options, option, &RunnerOption::name);
      return found == options.end() || !found->value ? tr("default") : to_qstring(*found->value);
    });
  }

  static QString environment_text(const BenchmarkResult& run) {
    for (const RankResult& rank : run.ranks) {
      if (!rank.started) continue;
      QStringList lines;
      for (const std::string& line : rank.started->environment) lines << to_qstring(line);
      return lines.join(QStringLiteral(", "));
    }
    return {};
  }

  // The first rank with times of calls or, if `rank` is given, that rank; null if there is none.
  static const RankResult* profiled_rank(const BenchmarkResult& run, std::optional<int> rank = {}) {
    const auto found = std::ranges::find_if(run.ranks, [&](const RankResult& each) {
      return (!rank || each.rank == *rank) && each.measured && !each.measured->nodes.empty();
    });
    return found == run.ranks.end() ? nullptr : &*found;
  }

  Runs runs_;
  const Snapshot& snapshot_;
  QStringList names_;
  InspectorContent content_;
};

}  // namespace

InspectorContent compare_runs(Runs runs, const Snapshot& snapshot, bool are_of_graph) {
  RunComparison comparison(runs, snapshot);
  comparison.add_figures();
  comparison.add_settings();
  if (are_of_graph) comparison.add_calls();
  return comparison.take();
}

}  // namespace jointer::views
