// Matches the calls of a profiler trace to the nodes of a graph and computes the nodes' times.
//
// Terms
//   call   an operator's event on the CPU, outermost among those with an operator of the graph.
//          Calls made within a call are part of it.
//   pass   one run of the graph in the trace (ProfilerStep#N, or a repetition of the calls).
//
// Steps
//   1. Turn events into calls. Attribute kernels to calls by External id, or else by the
//      correlation id of the driver call that launched them (profiler_calls.cpp).
//   2. In each pass, align the nodes, in program order, with the calls, ordered by start: compute a
//      longest common subsequence of (operator, shapes), or a shorter one if that takes too long
//      (core/base/alignment.h). A call that is not in the graph, or a node that did not run, does
//      not prevent other matches. Passes with fewer than half as many matches as the best one are
//      dropped.
//   3. A node's own time is the median over the passes; for a collective, it is the minimum.
//   4. The lanes are those of one pass. If the trace has kernels, time counts from the first one.
//
// On a CPU, the call of a collective only starts it, on threads that the profiler does not record.
// The collective's time lasts from the start of the call to the end of the wait if the wait had to
// block, that is, took more than a twentieth of this time. If it did not block, the end is unknown.
//
// Cost: linear if the trace is of this graph; otherwise see core/base/alignment.h.

#include "core/capture/profiler_trace.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/alignment.h"
#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/base/median.h"
#include "core/base/units.h"
#include "core/capture/profiler_calls.h"
#include "core/graph/title_in_text.h"

namespace jointer {
namespace {

// For each index in CallTokens::nodes, the call that the node matched, or kNoCall.
using NodeCalls = std::vector<std::uint32_t>;

struct Matcher {
  const Graph& graph;
  const ProfilerEvents& events;
  const CallTokens& tokens;
  const ProfilerCalls& calls;
  std::vector<ProfilerPass> passes;
  std::vector<NodeCalls> matches;  // indexed by pass
  std::vector<std::size_t> waits;  // indexed like nodes(): index of the wait, or nodes().size()

  void find_waits() {
    const auto& nodes = tokens.nodes();
    waits.assign(nodes.size(), nodes.size());
    std::vector<std::size_t> index_of(graph.node_count(), nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) index_of[nodes[i].index()] = i;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = graph.node(nodes[i]);
      if (!graph.is_wait(node)) continue;
      const NodeId start = graph.collective_of_wait(node);
      if (!start || index_of[start.index()] == nodes.size()) continue;
      std::size_t& wait = waits[index_of[start.index()]];
      if (wait == nodes.size()) wait = i;
    }
  }

  // Aligns each pass with the nodes. Drops passes without a match.
  void match() {
    std::vector<ProfilerPass> kept;
    std::vector<std::uint32_t> sequence, last_sequence;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const ProfilerPass& pass : passes) {
      sequence.clear();
      for (std::size_t i = 0; i < pass.count; ++i)
        sequence.push_back(calls.calls[pass.first + i].token);
      if (sequence != last_sequence) {
        pairs = align(tokens.of_nodes(), sequence);
        last_sequence = sequence;
      }
      if (pairs.empty()) continue;
      NodeCalls& match = matches.emplace_back(tokens.nodes().size(), kNoCall);
      for (const auto& [node, call] : pairs)
        match[node] = static_cast<std::uint32_t>(pass.first + call);
      kept.push_back(pass);
    }
    passes = std::move(kept);
    drop_scraps();
  }

  // Drops passes with fewer than half as many matches as the best pass: truncated runs, or calls
  // that happen to resemble the graph.
  void drop_scraps() {
    std::vector<std::size_t> sizes;
    for (const NodeCalls& match : matches) sizes.push_back(matches_in(match));
    const std::size_t max_matches = sizes.empty() ? 0 : *std::ranges::max_element(sizes);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < matches.size(); ++i) {
      if (sizes[i] * 2 < max_matches) continue;
      if (kept != i) {
        matches[kept] = std::move(matches[i]);
        passes[kept] = passes[i];
      }
      ++kept;
    }
    matches.resize(kept);
    passes.resize(kept);
  }

  static std::size_t matches_in(const NodeCalls& match) {
    return match.size() - static_cast<std::size_t>(std::ranges::count(match, kNoCall));
  }
  [[nodiscard]] bool is_matched(std::size_t node) const {
    return std::ranges::any_of(matches,
                               [&](const NodeCalls& match) { return match[node] != kNoCall; });
  }

  [[nodiscard]] const ProfilerCall* call(std::size_t pass, std::size_t node) const {
    if (node >= matches[pass].size() || matches[pass][node] == kNoCall) return nullptr;
    return &calls.calls[matches[pass][node]];
  }

  struct Times {
    std::int64_t start = 0, end = 0, own = 0;
  };

  // Returns the times of a node in a pass, on the trace's clock; nullopt if the node has no call
  // or, in a trace with kernels, no kernel. `own` is -1 if unknown.
  [[nodiscard]] std::optional<Times> times(std::size_t pass, std::size_t node) const {
    const ProfilerCall* c = call(pass, node);
    if (c == nullptr) return std::nullopt;
    if (events.has_kernels) {
      if (c->kernels == 0) return std::nullopt;
      return Times{c->kernel_start_ns, c->kernel_end_ns, c->kernel_ns};
    }
    Times t{c->start_ns, c->start_ns + c->duration_ns, c->duration_ns};
    if (!graph.is_collective_start(graph.node(tokens.nodes()[node]))) return t;
    const ProfilerCall* wait = call(pass, waits[node]);
    t.own = -1;
    if (wait == nullptr) return t;
    t.end = std::max(t.end, wait->start_ns + wait->duration_ns);
    if (wait->duration_ns > (t.end - t.start) / 20) t.own = t.end - t.start;
    return t;
  }

  [[nodiscard]] std::int64_t own_ns(std::size_t node) const {
    std::vector<std::int64_t> own;
    for (std::size_t pass = 0; pass < passes.size(); ++pass)
      if (const auto t = times(pass, node); t && t->own >= 0) own.push_back(t->own);
    if (own.empty()) return -1;
    if (graph.is_collective_start(graph.node(tokens.nodes()[node])))
      return *std::ranges::min_element(own);
    return median(std::move(own));
  }

  // Returns the pass with the median duration among those with the most matches.
  [[nodiscard]] std::size_t representative() const {
    std::vector<std::pair<std::int64_t, std::size_t>> candidates;
    std::size_t max_matches = 0;
    for (std::size_t pass = 0; pass < passes.size(); ++pass) {
      const std::size_t count = matches_in(matches[pass]);
      if (count > max_matches) candidates.clear();
      max_matches = std::max(max_matches, count);
      if (count == max_matches) candidates.emplace_back(passes[pass].step_ns, pass);
    }
    std::ranges::sort(candidates);
    return candidates[candidates.size() / 2].second;
  }

  // The kernels of the nodes in a pass, ordered by start, with times on the trace's clock.
  [[nodiscard]] std::vector<NodeKernel> kernels(std::size_t pass) const {
    const ProfilerPass& range = passes[pass];
    std::vector<NodeId> node_of(range.count);  // indexed by the call's position in the pass
    for (std::size_t i = 0; i < tokens.nodes().size(); ++i)
      if (matches[pass][i] != kNoCall) node_of[matches[pass][i] - range.first] = tokens.nodes()[i];
    std::vector<NodeKernel> launched;
    for (const CallKernel& each : calls.kernels) {
      if (each.call < range.first || each.call - range.first >= range.count) continue;
      const NodeId node = node_of[each.call - range.first];
      if (!node) continue;
      const ProfilerEvent& event = events.events[each.event];
      launched.push_back({.node = node,
                          .name = std::string(events.names[event.name]),
                          .stream = event.stream,
                          .start_ns = event.start_ns,
                          .end_ns = event.end_ns()});
    }
    std::ranges::stable_sort(launched, {}, &NodeKernel::start_ns);
    return launched;
  }

  void fill(TraceMatch& match) const {
    const std::size_t lanes = representative();
    Measurement& m = match.measurement;
    m.kernels = kernels(lanes);
    const std::int64_t origin =
        m.kernels.empty() ? passes[lanes].start_ns : m.kernels.front().start_ns;
    for (NodeKernel& kernel : m.kernels) {
      kernel.start_ns -= origin;
      kernel.end_ns -= origin;
    }
    for (std::size_t i = 0; i < tokens.nodes().size(); ++i) {
      match.matched += is_matched(i) ? 1 : 0;
      // A node without times in the representative pass does not appear in the lanes.
      if (const auto t = times(lanes, i))
        m.nodes.push_back({.node = tokens.nodes()[i],
                           .start_ns = t->start - origin,
                           .end_ns = t->end - origin,
                           .own_ns = own_ns(i)});
    }
    std::ranges::stable_sort(m.nodes, {}, &MeasuredNode::start_ns);
    std::vector<std::int64_t> steps;
    for (const ProfilerPass& pass : passes) steps.push_back(pass.step_ns);
    m.step_ns = median(std::move(steps));
  }
};

// Formats up to four of the most frequent names, and the number of remaining names: "aten::mm (12),
// aten::t (9), aten::add (3), aten::cos (2) and 4 more".
std::string most_frequent(const std::map<std::string, std::size_t>& counts) {
  constexpr std::size_t kShown = 4;
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           &std::pair<std::string, std::size_t>::second);
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, sorted.size()); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", sorted[i].first, sorted[i].second);
  if (sorted.size() > kShown) text += fmt::format(" and {} more", sorted.size() - kShown);
  return text;
}

std::int64_t count(std::size_t number) {
  return static_cast<std::int64_t>(number);
}

void add_notes(const Matcher& m, const std::string& device, TraceMatch& match) {
  std::vector<std::string>& notes = match.measurement.notes;
  std::map<std::string, std::size_t> missing, foreign;
  for (std::size_t i = 0; i < m.tokens.nodes().size(); ++i)
    if (!m.is_matched(i)) ++missing[m.graph.op(m.graph.node(m.tokens.nodes()[i])).event_name()];
  std::vector<bool> taken(m.calls.calls.size());
  std::int64_t owned_ns = 0;
  for (const NodeCalls& node_calls : m.matches)
    for (const std::uint32_t call : node_calls)
      if (call != kNoCall) {
        taken[call] = true;
        owned_ns = saturating_add(owned_ns, m.calls.calls[call].kernel_ns);
      }
  for (const ProfilerPass& pass : m.passes)
    for (std::size_t i = pass.first; i < pass.first + pass.count; ++i)
      if (!taken[i]) {
        ++foreign[std::string(m.events.names[m.events.events[m.calls.calls[i].event].name])];
        ++match.foreign_calls;
      }
  match.device_ns = m.calls.kernel_ns;
  match.foreign_device_ns = std::max<std::int64_t>(m.calls.kernel_ns - owned_ns, 0);

  if (match.matched < match.nodes)
    notes.push_back(fmt::format(
        "{} of {} {} no call: {}", format_count(count(match.nodes - match.matched)),
        counted(match.nodes, "node"), match.nodes - match.matched == 1 ? "matches" : "match",
        most_frequent(missing)));
  if (match.foreign_calls > 0)
    notes.push_back(
        fmt::format("{}: {}",
                    counted(match.foreign_calls, "call matches no node or differs in shape",
                            "calls match no node or differ in shape"),
                    most_frequent(foreign)));
  if (match.foreign_device_ns > 0)
    notes.push_back(fmt::format("{} of the total kernel time of {} does not belong to any node",
                                format_ns(match.foreign_device_ns), format_ns(match.device_ns)));
  if (!m.events.has_shapes)
    notes.emplace_back(
        "the trace has no shapes: calls are matched only by operator and order; profile with "
        "record_shapes=True");
  if (device.empty() && m.events.gpu.empty())
    notes.push_back(
        fmt::format("the trace does not name its device: assumed `{}`", match.measurement.device));
}

}  // namespace

Result<TraceMatch> match_profiler_trace(const Graph& graph, std::string_view name,
                                        const PaddedBytes& json, const std::string& device) {
  JOINTER_TRY(const ProfilerEvents events, read_profiler_events(name, json));
  // In a GPU run, CPU calls only launch kernels, so their times do not reflect the work.
  if (!events.has_kernels && !events.gpu.empty() && graph.main_device() == DeviceType::cuda)
    return input_error(
        "{}: the trace names the GPU {} but has no kernels; add ProfilerActivity.CUDA to the "
        "profiler's activities",
        name, events.gpu);
  const CallTokens tokens(graph, events);
  const ProfilerCalls calls = collect_calls(events, tokens);
  Matcher matcher{.graph = graph,
                  .events = events,
                  .tokens = tokens,
                  .calls = calls,
                  .passes = find_passes(events, calls, tokens)};
  matcher.find_waits();
  matcher.match();
  if (matcher.passes.empty())
    return input_error(
        "{}: none of the {} operator calls matches a node of {}; is this a trace of that graph?",
        name,
        std::ranges::count_if(events.events,
                              [](const auto& e) { return e.kind == ProfilerEvent::Kind::op; }),
        title_in_text(graph));
  TraceMatch match;
  match.passes = matcher.passes.size();
  match.nodes = tokens.nodes().size();
  Measurement& m = match.measurement;
  m.label = name.substr(name.rfind('/') + 1);
  m.device_type = events.has_kernels ? "cuda" : "cpu";
  m.device = !device.empty()                             ? device
             : events.has_kernels && !events.gpu.empty() ? events.gpu
             : events.has_kernels                        ? "GPU"
                                                         : "CPU";
  matcher.fill(match);
  add_notes(matcher, device, match);
  return match;
}

}  // namespace jointer
