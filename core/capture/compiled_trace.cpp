// Finds the launches of compiled graphs in a profiler trace, and their times.
//
// Steps
//   1. On each CPU thread, find what encloses each event: the run of a compiled graph, which torch
//      marks with "## Call CompiledFxGraph KEY ##", and the outermost call in it.
//   2. A kernel belongs to the run and the call that enclose the driver call with its correlation
//      id or, if the trace lacks that, the operator with its External id. If the trace has no
//      kernels, the calls themselves are the launches, except operators that compute nothing
//      (views, allocations, waits).
//   3. If the trace marks no compiled graph, as for packages, each ProfilerStep is one run, and
//      launches outside of steps are left out; without steps, the whole trace is one run.
//   4. The runs of a compiled graph that made the most frequent sequence of calls and kernels give
//      the times: for each call the median or, for a collective, the minimum. Other runs, such as a
//      first one that tunes kernels, are left out.
//   5. Starts, gaps and totals are those of the run with the median duration, so that they add up.
//
// Launches are ordered by the CPU's calls, so their order does not depend on which stream is
// faster.
//
// Source: torch/_inductor/output_code.py (the mark), runtime/triton_heuristics.py (the calls of
// Triton kernels), codegen/cpp.py (C++ functions: `graph_N_` and the name, recorded with
// config.cpp.enable_kernel_profile).
//
// Cost: O(n log n) in the events.

#include "core/capture/compiled_trace.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/base/characters.h"
#include "core/base/checked.h"
#include "core/base/median.h"
#include "core/capture/profiler_events.h"
#include "core/ops/operator_table.h"

namespace jointer {
namespace {

using EventKind = ProfilerEvent::Kind;

constexpr std::uint32_t kNoEvent = std::numeric_limits<std::uint32_t>::max();
constexpr std::string_view kGraphMark = "## Call CompiledFxGraph ";

// Returns "cpp_fused_add_0" for "graph_0_cpp_fused_add_0".
std::string_view without_graph_id(std::string_view name) {
  constexpr std::string_view kGraph = "graph_";
  if (!name.starts_with(kGraph)) return name;
  const std::size_t end = name.find_first_not_of("0123456789", kGraph.size());
  const bool has_id = end != std::string_view::npos && end > kGraph.size() && name[end] == '_';
  return has_id ? name.substr(end + 1) : name;
}

// True for the name of a call; false for the names of events around calls: "Torch-Compiled Region:
// 0/0", "CompiledFunction", "autograd::engine::evaluate_function: MmBackward0".
bool is_call_name(std::string_view name) {
  if (is_inductor_kernel(name)) return true;
  return name.find("::") != std::string_view::npos && !name.starts_with("autograd::") &&
         !name.starts_with("torch::");
}

// True for a plain name, as Triton kernels that the model defines have.
bool is_plain_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, is_name_character) &&
         !name.ends_with("_inductor_wrapper_call");
}

// True for operators that compute nothing: views, allocations, waits.
bool computes_nothing(std::string_view name) {
  constexpr std::array<std::string_view, 21> kNames{
      "aten::_reshape_alias", "aten::_unsafe_view", "aten::alias",
      "aten::as_strided",     "aten::as_strided_",  "aten::detach",
      "aten::empty",          "aten::empty_like",   "aten::empty_strided",
      "aten::expand",         "aten::permute",      "aten::reshape",
      "aten::resize_",        "aten::select",       "aten::set_",
      "aten::slice",          "aten::squeeze",      "aten::t",
      "aten::transpose",      "aten::unsqueeze",    "aten::view"};
  return std::ranges::find(kNames, name) != kNames.end() || name == "_c10d_functional::wait_tensor";
}

// True for the names of NCCL's and RCCL's kernels, and of calls of collectives.
bool is_of_collective(std::string_view name) {
  if (name.starts_with("nccl") || name.starts_with("rccl") || name.starts_with("c10d::"))
    return true;
  return name.starts_with("_c10d_functional::") && name != "_c10d_functional::wait_tensor";
}

struct Launched {
  std::uint32_t event = kNoEvent;
  std::uint32_t graph = kNoEvent;  // the event that marks its run
  std::uint32_t call = kNoEvent;   // the event of the outermost call
  std::int64_t called_ns = 0, launched_ns = 0;
};

// One run: its launches in the order in which the CPU made them.
struct TracedRun {
  std::vector<Launched> launches;
  std::vector<std::uint64_t> names;  // of calls and kernels, by launch
  std::int64_t span_ns = 0;
  std::int32_t step = -1;
};

class CompiledTraceReader {
 public:
  CompiledTraceReader(std::string_view name, const ProfilerEvents& trace)
      : name_(name), trace_(trace) {}

  Result<CompiledTrace> run() {
    find_places();
    collect_launches();
    JOINTER_CHECK(check());
    find_steps();
    result_.label = name_.substr(name_.rfind('/') + 1);
    result_.is_gpu = trace_.has_kernels;
    result_.device = !trace_.has_kernels ? "CPU" : trace_.gpu.empty() ? "GPU" : trace_.gpu;
    result_.steps = steps_.size();
    for (auto& [key, runs] : group_runs()) add_graph(key, std::move(runs));
    return std::move(result_);
  }

 private:
  [[nodiscard]] const ProfilerEvent& event(std::uint32_t index) const {
    return trace_.events[index];
  }
  [[nodiscard]] std::string_view name_of(std::uint32_t index) const {
    return index == kNoEvent ? std::string_view() : trace_.names[event(index).name];
  }
  // The name of a call; empty for none.
  [[nodiscard]] std::string_view call_name(std::uint32_t index) const {
    return without_graph_id(name_of(index));
  }

  // For each event on the CPU, the run and the outermost call around it (possibly itself).
  void find_places() {
    const auto& events = trace_.events;
    graph_of_.assign(events.size(), kNoEvent);
    call_of_.assign(events.size(), kNoEvent);
    std::vector<std::uint32_t> open;
    for (const std::uint32_t i : in_nesting_order(events)) {
      while (!open.empty() && (event(open.back()).thread != event(i).thread ||
                               event(open.back()).end_ns() <= event(i).start_ns))
        open.pop_back();
      if (!open.empty()) {
        graph_of_[i] = graph_of_[open.back()];
        call_of_[i] = call_of_[open.back()];
      }
      open.push_back(i);
      if (name_of(i).starts_with(kGraphMark)) {
        has_marks_ = true;
        if (graph_of_[i] != kNoEvent) continue;
        graph_of_[i] = i;
        call_of_[i] = kNoEvent;
      } else if (call_of_[i] == kNoEvent && event(i).kind == EventKind::op &&
                 (is_call_name(name_of(i)) ||
                  (graph_of_[i] != kNoEvent && is_plain_name(name_of(i))))) {
        call_of_[i] = i;
      }
    }
  }

  void collect_launches() {
    std::unordered_map<std::int64_t, std::uint32_t> by_external, by_correlation;
    for (std::uint32_t i = 0; i < trace_.events.size(); ++i) {
      const ProfilerEvent& each = event(i);
      if (each.kind == EventKind::op && each.external != 0) by_external.emplace(each.external, i);
      if (each.kind == EventKind::runtime && each.correlation != 0)
        by_correlation.emplace(each.correlation, i);
      has_inductor_kernels_ = has_inductor_kernels_ || is_inductor_kernel(call_name(i));
    }
    for (std::uint32_t i = 0; i < trace_.events.size(); ++i) {
      if (!trace_.has_kernels) {
        if (call_of_[i] == i && !computes_nothing(name_of(i))) add_launch(i, i);
        continue;
      }
      if (event(i).kind != EventKind::kernel) continue;
      std::uint32_t from = kNoEvent;
      if (const auto found = by_correlation.find(event(i).correlation);
          found != by_correlation.end())
        from = found->second;
      else if (const auto op = by_external.find(event(i).external); op != by_external.end())
        from = op->second;
      add_launch(i, from);
    }
  }

  // Adds the launch whose event has this index. `from`: the event on the CPU that made it, or
  // kNoEvent.
  void add_launch(std::uint32_t index, std::uint32_t from) {
    Launched launch{.event = index, .launched_ns = event(index).start_ns};
    if (from != kNoEvent) {
      launch.graph = graph_of_[from];
      launch.call = call_of_[from];
      launch.launched_ns = event(from).start_ns;
    }
    launch.called_ns = launch.call == kNoEvent ? launch.launched_ns : event(launch.call).start_ns;
    if (has_marks_ && launch.graph == kNoEvent) {
      ++result_.outside_launches;
      result_.outside_ns = saturating_add(result_.outside_ns, event(index).duration_ns);
      return;
    }
    launches_.push_back(launch);
  }

  [[nodiscard]] Result<void> check() const {
    if (!has_marks_ && !has_inductor_kernels_) {
      const auto calls = std::ranges::count_if(
          trace_.events, [](const ProfilerEvent& each) { return each.kind == EventKind::op; });
      return input_error(
          "{}: the trace is not of a compiled step: none of its operator calls ({}) is a kernel of "
          "Inductor, and no compiled graph is marked; profile the model after torch.compile, or "
          "open the trace as a measurement of the graph (`jointer calibrate --trace`)",
          name_, calls);
    }
    const bool is_on_gpu = !trace_.gpu.empty() || has_triton_calls();
    if (!trace_.has_kernels && is_on_gpu)
      return input_error(
          "{}: the compiled step ran on a GPU, but the trace has no kernels; add "
          "ProfilerActivity.CUDA to the profiler's activities",
          name_);
    if (!trace_.has_kernels && !has_inductor_kernels_)
      return input_error(
          "{}: the trace has no kernels of the compiled step; Inductor's kernels for the CPU are "
          "recorded only if the step is compiled with "
          "torch._inductor.config.cpp.enable_kernel_profile = True "
          "(TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE=1)",
          name_);
    if (launches_.empty())
      return input_error(
          "{}: the compiled graphs in the trace launch nothing; profile a whole step", name_);
    return {};
  }

  [[nodiscard]] bool has_triton_calls() const {
    return std::ranges::any_of(trace_.events, [&](const ProfilerEvent& each) {
      return each.kind == EventKind::op && trace_.names[each.name].starts_with("triton_");
    });
  }

  void find_steps() {
    for (std::uint32_t i = 0; i < trace_.events.size(); ++i)
      if (event(i).kind == EventKind::step) steps_.push_back(i);
    std::ranges::stable_sort(steps_, {}, [&](std::uint32_t i) { return event(i).start_ns; });
  }

  // The ProfilerStep that contains a time on the CPU, or -1.
  [[nodiscard]] std::int32_t step_at(std::int64_t ns) const {
    const auto after = std::ranges::upper_bound(steps_, ns, {},
                                                [&](std::uint32_t i) { return event(i).start_ns; });
    if (after == steps_.begin()) return -1;
    const auto at = std::prev(after);
    return event(*at).end_ns() > ns ? static_cast<std::int32_t>(at - steps_.begin()) : -1;
  }

  using Groups = std::vector<std::pair<std::string, std::vector<TracedRun>>>;

  // The runs of each compiled graph, in order.
  Groups group_runs() {
    std::ranges::stable_sort(launches_, [&](const Launched& x, const Launched& y) {
      const auto key = [&](const Launched& each) {
        return std::tuple(each.called_ns, each.launched_ns, event(each.event).stream,
                          event(each.event).start_ns);
      };
      return key(x) < key(y);
    });
    std::map<std::pair<std::uint32_t, std::int32_t>, TracedRun> runs;
    std::vector<std::pair<std::uint32_t, std::int32_t>> order;
    for (const Launched& launch : launches_) {
      const std::int32_t step = step_at(launch.called_ns);
      if (launch.graph == kNoEvent && !steps_.empty() && step < 0) continue;
      // A run belongs to the step in which it starts, because it may end after that step.
      const std::pair key(launch.graph,
                          launch.graph == kNoEvent ? step : step_at(event(launch.graph).start_ns));
      const auto [run, is_new] = runs.try_emplace(key);
      if (is_new) order.push_back(key);
      run->second.step = key.second;
      run->second.launches.push_back(launch);
    }
    Groups groups;
    std::map<std::string, std::size_t, std::less<>> group_of;
    for (const auto& key : order) {
      std::string name = key_of(key.first);
      const auto [group, is_new] = group_of.try_emplace(name, groups.size());
      if (is_new) groups.emplace_back(std::move(name), std::vector<TracedRun>());
      groups[group->second].second.push_back(std::move(runs.find(key)->second));
    }
    return groups;
  }

  // Returns "fabc" for the event "## Call CompiledFxGraph fabc ##".
  [[nodiscard]] std::string key_of(std::uint32_t graph) const {
    std::string_view text = name_of(graph);
    if (!text.starts_with(kGraphMark)) return {};
    text.remove_prefix(kGraphMark.size());
    return std::string(text.substr(0, text.find(' ')));
  }

  void describe(TracedRun& run) const {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    for (const Launched& launch : run.launches) {
      const ProfilerEvent& at = event(launch.event);
      first = std::min(first, at.start_ns);
      last = std::max(last, at.end_ns());
      const std::uint64_t call =
          launch.call == kNoEvent ? 0 : std::uint64_t{event(launch.call).name.index()} + 1;
      run.names.push_back((call << 32U) | std::uint64_t{at.name.index()});
    }
    run.span_ns = last - first;
  }

  // Keeps the runs with the most frequent sequence of calls and kernels; if several are equally
  // frequent, the one that occurs last. Returns the number of removed runs.
  static std::size_t keep_usual(std::vector<TracedRun>& runs) {
    std::map<std::vector<std::uint64_t>, std::size_t> counts;
    for (const TracedRun& run : runs) ++counts[run.names];
    const std::vector<std::uint64_t>* usual = nullptr;
    std::size_t max_count = 0;
    for (const TracedRun& run : runs)
      if (const std::size_t count = counts.find(run.names)->second; count >= max_count) {
        max_count = count;
        usual = &run.names;
      }
    const std::vector<std::uint64_t> names = *usual;
    return std::erase_if(runs, [&](const TracedRun& run) { return run.names != names; });
  }

  void add_graph(const std::string& key, std::vector<TracedRun> runs) {
    for (TracedRun& run : runs) describe(run);
    TracedGraph& graph = result_.graphs.emplace_back();
    graph.key = key;
    graph.other_runs = keep_usual(runs);
    graph.runs = runs.size();
    std::set<std::int32_t> steps;
    for (const TracedRun& run : runs)
      if (run.step >= 0) steps.insert(run.step);
    graph.steps = steps.size();
    std::ranges::stable_sort(runs, {}, &TracedRun::span_ns);
    const TracedRun& shown = runs[runs.size() / 2];
    graph.span_ns = shown.span_ns;
    add_calls(shown, graph);
    add_times(runs, graph);
    add_streams(graph);
  }

  void add_calls(const TracedRun& shown, TracedGraph& graph) const {
    std::int64_t origin = std::numeric_limits<std::int64_t>::max();
    for (const Launched& launch : shown.launches)
      origin = std::min(origin, event(launch.event).start_ns);
    std::uint32_t last = kNoEvent;
    for (std::size_t i = 0; i < shown.launches.size(); ++i) {
      const Launched& launch = shown.launches[i];
      const ProfilerEvent& at = event(launch.event);
      const std::string_view kernel = without_graph_id(name_of(launch.event));
      if (launch.call == kNoEvent || launch.call != last) {
        TracedCall& call = graph.calls.emplace_back();
        call.name = call_name(launch.call);
        // The kernels of a CUDA graph are launched by one call, but have their own names.
        if (call.name.empty() && is_inductor_kernel(kernel)) call.name = kernel;
        call.first = i;
      }
      last = launch.call;
      TracedCall& call = graph.calls.back();
      ++call.count;
      call.is_collective =
          call.is_collective || is_of_collective(call.name) || is_of_collective(kernel);
      graph.launches.push_back(
          {.name = std::string(kernel),
           .call = graph.calls.size() - 1,
           .stream = trace_.has_kernels ? at.stream : static_cast<std::int64_t>(at.thread),
           .start_ns = at.start_ns - origin,
           .end_ns = at.end_ns() - origin});
    }
  }

  void add_times(const std::vector<TracedRun>& runs, TracedGraph& graph) const {
    for (TracedCall& call : graph.calls) {
      std::vector<std::int64_t> times;
      for (const TracedRun& run : runs) {
        std::int64_t ns = 0;
        for (std::size_t i = call.first; i < call.first + call.count; ++i)
          ns = saturating_add(ns, event(run.launches[i].event).duration_ns);
        times.push_back(ns);
      }
      call.ns = call.is_collective ? *std::ranges::min_element(times) : median(std::move(times));
    }
  }

  static void add_streams(TracedGraph& graph) {
    std::map<std::int64_t, std::vector<std::size_t>> by_stream;
    for (std::size_t i = 0; i < graph.launches.size(); ++i)
      by_stream[graph.launches[i].stream].push_back(i);
    for (auto& [stream, launches] : by_stream) {
      std::ranges::stable_sort(launches, {},
                               [&](std::size_t i) { return graph.launches[i].start_ns; });
      TracedStream& sum = graph.streams.emplace_back();
      sum.stream = stream;
      sum.launches = launches.size();
      const std::int64_t first = graph.launches[launches.front()].start_ns;
      std::int64_t idle_from = first;
      for (const std::size_t i : launches) {
        TracedLaunch& launch = graph.launches[i];
        launch.gap_ns = std::max<std::int64_t>(launch.start_ns - idle_from, 0);
        sum.kernel_ns = saturating_add(sum.kernel_ns, launch.end_ns - launch.start_ns);
        sum.gap_ns += launch.gap_ns;
        sum.overlap_ns = saturating_add(
            sum.overlap_ns,
            std::max<std::int64_t>(std::min(idle_from, launch.end_ns) - launch.start_ns, 0));
        idle_from = std::max(idle_from, launch.end_ns);
      }
      sum.span_ns = idle_from - first;
    }
    std::ranges::stable_sort(graph.streams, std::ranges::greater{}, &TracedStream::kernel_ns);
  }

  std::string_view name_;
  const ProfilerEvents& trace_;
  std::vector<std::uint32_t> graph_of_, call_of_;  // by event
  std::vector<Launched> launches_;
  std::vector<std::uint32_t> steps_;  // events, ordered by start
  bool has_marks_ = false, has_inductor_kernels_ = false;
  CompiledTrace result_;
};

}  // namespace

bool is_inductor_kernel(std::string_view name) {
  const std::string_view kernel = without_graph_id(name);
  return kernel.starts_with("triton_") || kernel.starts_with("cpp_");
}

Result<CompiledTrace> read_compiled_trace(std::string_view name, const PaddedBytes& json) {
  JOINTER_TRY(const ProfilerEvents events, read_profiler_events(name, json));
  return CompiledTraceReader(name, events).run();
}

Result<CompiledTrace> read_compiled_trace(const std::string& path) {
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
  return read_compiled_trace(path, bytes);
}

}  // namespace jointer
