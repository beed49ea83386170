#include "core/capture/profiler_calls.h"

#include <algorithm>
#include <array>

#include "core/base/checked.h"
#include "core/base/name_table.h"

namespace jointer {
namespace {

using EventKind = ProfilerEvent::Kind;

void add_shapes(const Graph& graph, const Argument& argument, ShapeHash& shapes) {
  if (argument.kind == Argument::Kind::node) {
    for (const Tensor& t : graph.tensors(argument.node())) {
      shapes.begin();
      for (const Dim& d : graph.shape(t)) shapes.size(d.value);
      shapes.end();
    }
  }
  for (const Argument& child : graph.children(argument)) add_shapes(graph, child, shapes);
}

// Hashes the shapes that the profiler records: arguments in schema order, including keyword
// arguments, but without lists of optional tensors.
std::uint64_t node_shapes(const Graph& graph, const Node& node) {
  ShapeHash shapes;
  const auto& schema = graph.op(node).arguments;
  const auto is_recorded = [&](std::size_t i) {
    return i >= schema.size() || !schema[i].type.starts_with("Tensor?[");
  };
  const auto args = graph.args(node);
  for (std::size_t i = 0; i < args.size(); ++i)
    if (is_recorded(i)) add_shapes(graph, args[i], shapes);
  const auto kwargs = graph.children(node.kwargs);
  for (std::size_t i = args.size(); i < schema.size() && !kwargs.empty(); ++i)
    for (std::size_t k = 0; k + 1 < kwargs.size(); k += 2)
      if (graph.text(kwargs[k].text()) == schema[i].name && is_recorded(i))
        add_shapes(graph, kwargs[k + 1], shapes);
  return shapes.value();
}

// Returns the collective that a process-group method such as c10d::allreduce_ starts.
CollectiveKind c10d_kind(std::string_view name) {
  static constexpr NameTable<CollectiveKind, 12> kNames{{
      {"c10d::allreduce_", CollectiveKind::all_reduce},
      {"c10d::allreduce_coalesced_", CollectiveKind::all_reduce},
      {"c10d::allgather_", CollectiveKind::all_gather},
      {"c10d::_allgather_base_", CollectiveKind::all_gather},
      {"c10d::allgather_coalesced_", CollectiveKind::all_gather},
      {"c10d::allgather_into_tensor_coalesced_", CollectiveKind::all_gather},
      {"c10d::reduce_scatter_", CollectiveKind::reduce_scatter},
      {"c10d::_reduce_scatter_base_", CollectiveKind::reduce_scatter},
      {"c10d::reduce_scatter_tensor_coalesced_", CollectiveKind::reduce_scatter},
      {"c10d::alltoall_", CollectiveKind::all_to_all},
      {"c10d::alltoall_base_", CollectiveKind::all_to_all},
      {"c10d::broadcast_", CollectiveKind::broadcast},
  }};
  return value_in(kNames, name).value_or(CollectiveKind::none);
}

bool makes_a_call(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::call) return false;
  const OperatorInfo& op = graph.op(node);
  return !op.is_getitem && !op.has(OperatorTag::python) && !op.has(OperatorTag::higher_order);
}

// True for kernels of NCCL, such as "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)", and of RCCL.
bool communicates(std::string_view kernel) {
  return kernel.starts_with("nccl") || kernel.starts_with("rccl");
}

}  // namespace

CallTokens::CallTokens(const Graph& graph, const ProfilerEvents& events)
    : names_(events.names.size()), use_shapes_(events.has_shapes) {
  std::unordered_map<std::string, std::uint32_t> numbers;  // from 1
  std::array<std::uint32_t, 8> collectives{};              // by kind
  std::vector<std::uint32_t> of_operator(graph.operator_count());
  without_shapes_.push_back(false);
  const auto number_of = [&](const Node& node) {
    std::uint32_t& known = of_operator[node.target.index()];
    if (known != 0) return known;
    const OperatorInfo& op = graph.op(node);
    std::uint32_t& by_kind = collectives[static_cast<std::size_t>(op.collective)];
    const bool is_collective = op.collective != CollectiveKind::none;
    std::uint32_t number = is_collective ? by_kind : 0;
    const std::string name = op.event_name();
    if (number == 0) {
      number = numbers.try_emplace(name, static_cast<std::uint32_t>(without_shapes_.size()))
                   .first->second;
      if (number == without_shapes_.size()) without_shapes_.push_back(is_collective);
    }
    if (is_collective) by_kind = number;
    if (const StringId id = events.names.find(name)) names_[id.index()] = number;
    return known = number;
  };
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!makes_a_call(graph, node)) continue;
    const std::uint32_t number = number_of(node);
    const std::uint64_t shapes =
        use_shapes_ && !without_shapes_[number] ? node_shapes(graph, node) : 0;
    const auto token = static_cast<std::uint32_t>(tokens_.size() + 1);
    nodes_.push_back(id);
    of_nodes_.push_back(tokens_.try_emplace(shapes * 1'000'003ULL + number, token).first->second);
  }
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == 0)
      if (const CollectiveKind kind = c10d_kind(events.names[StringId(i)]);
          kind != CollectiveKind::none)
        names_[i] = collectives[static_cast<std::size_t>(kind)];
}

std::uint32_t CallTokens::of(const ProfilerEvent& event) const {
  const std::uint32_t number = names_[event.name.index()];
  const std::uint64_t shapes = use_shapes_ && !without_shapes_[number] ? event.shapes : 0;
  const auto token = tokens_.find(shapes * 1'000'003ULL + number);
  return token == tokens_.end() ? 0 : token->second;
}

namespace {

// For each CPU event, the outermost known call that contains it (possibly the event itself), or
// kNoCall.
std::vector<std::uint32_t> find_owners(const ProfilerEvents& trace, const CallTokens& tokens) {
  const auto& events = trace.events;
  struct Open {
    std::uint32_t thread;
    std::int64_t end;
    std::uint32_t owner;
    bool hides;  // inside a Gloo annotation; calls in it do not belong to a node
  };
  std::vector<std::uint32_t> owners(events.size(), kNoCall);
  std::vector<Open> open;
  for (const std::uint32_t i : in_nesting_order(events)) {
    const ProfilerEvent& event = events[i];
    while (!open.empty() &&
           (open.back().thread != event.thread || open.back().end <= event.start_ns))
      open.pop_back();
    const bool hidden = !open.empty() && open.back().hides;
    std::uint32_t owner = open.empty() ? kNoCall : open.back().owner;
    if (owner == kNoCall && !hidden && event.kind == EventKind::op && tokens.knows(event.name))
      owner = i;
    owners[i] = owner;
    const bool hides = hidden || (event.kind == EventKind::annotation && owner == kNoCall &&
                                  trace.names[event.name].starts_with("gloo:"));
    open.push_back({event.thread, event.end_ns(), owner, hides});
  }
  return owners;
}

void add_kernel(ProfilerCall& call, const ProfilerEvent& kernel, bool transfers) {
  // If a call has kernels that communicate, its other kernels, such as copies, do not count.
  if (call.communicates && !transfers) return;
  if (transfers && !call.communicates) {
    call.communicates = true;
    call.kernels = 0;
    call.kernel_ns = 0;
  }
  call.kernel_start_ns =
      call.kernels == 0 ? kernel.start_ns : std::min(call.kernel_start_ns, kernel.start_ns);
  call.kernel_end_ns =
      call.kernels == 0 ? kernel.end_ns() : std::max(call.kernel_end_ns, kernel.end_ns());
  call.kernel_ns = saturating_add(call.kernel_ns, kernel.duration_ns);
  ++call.kernels;
}

}  // namespace

ProfilerCalls collect_calls(const ProfilerEvents& trace, const CallTokens& tokens) {
  const std::vector<std::uint32_t> owners = find_owners(trace, tokens);
  std::unordered_map<std::int64_t, std::uint32_t> by_external, by_correlation;
  ProfilerCalls result;
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const ProfilerEvent& event = trace.events[i];
    if ((event.kind == EventKind::op || event.kind == EventKind::annotation) && event.external != 0)
      by_external.emplace(event.external, i);
    if (event.kind == EventKind::runtime && event.correlation != 0)
      by_correlation.emplace(event.correlation, i);
    if (owners[i] == i)
      result.calls.push_back({.event = i,
                              .token = tokens.of(event),
                              .start_ns = event.start_ns,
                              .duration_ns = event.duration_ns});
  }
  std::ranges::stable_sort(result.calls, {}, &ProfilerCall::start_ns);
  std::vector<std::uint32_t> call_of(trace.events.size(), kNoCall);
  for (std::uint32_t i = 0; i < result.calls.size(); ++i) call_of[result.calls[i].event] = i;

  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const ProfilerEvent& event = trace.events[i];
    if (event.kind != EventKind::kernel) continue;
    result.kernel_ns = saturating_add(result.kernel_ns, event.duration_ns);
    std::uint32_t owner = kNoCall;
    if (const auto op = by_external.find(event.external); op != by_external.end())
      owner = owners[op->second];
    if (const auto launch = by_correlation.find(event.correlation);
        owner == kNoCall && launch != by_correlation.end())
      owner = owners[launch->second];
    if (owner == kNoCall) continue;
    result.kernels.push_back({.event = i, .call = call_of[owner]});
    add_kernel(result.calls[call_of[owner]], event, communicates(trace.names[event.name]));
  }
  return result;
}

namespace {

// Estimates how many times these calls run the graph: the median over the kinds of call in the
// graph.
std::size_t count_runs(const std::unordered_map<std::uint32_t, std::size_t>& in_graph,
                       const std::unordered_map<std::uint32_t, std::vector<std::size_t>>& places) {
  std::vector<std::size_t> runs;
  for (const auto& [token, count] : in_graph)
    if (const auto at = places.find(token); at != places.end())
      runs.push_back((at->second.size() + count / 2) / count);
  if (runs.empty()) return 1;
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), middle, runs.end());
  return std::max<std::size_t>(*middle, 1);
}

// Splits a range of calls into runs of the graph.
void split(const ProfilerCalls& calls, const CallTokens& tokens, ProfilerPass range,
           std::vector<ProfilerPass>& passes) {
  const auto& graph = tokens.of_nodes();
  const auto at = [&](std::size_t i) { return calls.calls[range.first + i].token; };
  std::unordered_map<std::uint32_t, std::size_t> in_graph;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> places;
  for (const std::uint32_t token : graph) ++in_graph[token];
  for (std::size_t i = 0; i < range.count; ++i) places[at(i)].push_back(i);
  const std::size_t runs = count_runs(in_graph, places);
  std::vector<std::size_t> cuts{0};
  if (runs > 1) {
    // Cut at the first node whose kind of call occurs the expected number of times, then move each
    // cut back over the calls that match the preceding nodes.
    const auto mark = std::ranges::find_if(graph, [&](std::uint32_t token) {
      const auto found = places.find(token);
      return found != places.end() && found->second.size() == runs * in_graph[token];
    });
    if (mark != graph.end())
      for (std::size_t run = 1; run < runs; ++run) {
        std::size_t cut = places[*mark][run * in_graph[*mark]];
        for (auto before = mark;
             before != graph.begin() && cut > cuts.back() + 1 && *std::prev(before) == at(cut - 1);
             --before)
          --cut;
        cuts.push_back(cut);
      }
  }
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    ProfilerPass pass = range;
    pass.first = range.first + cuts[i];
    pass.count = (i + 1 < cuts.size() ? cuts[i + 1] : range.count) - cuts[i];
    if (cuts.size() > 1) {
      const ProfilerCall& first = calls.calls[pass.first];
      const ProfilerCall& last = calls.calls[pass.first + pass.count - 1];
      pass.start_ns = first.start_ns;
      pass.step_ns = last.start_ns + last.duration_ns - first.start_ns;
    }
    passes.push_back(pass);
  }
}

}  // namespace

std::vector<ProfilerPass> find_passes(const ProfilerEvents& events, const ProfilerCalls& calls,
                                      const CallTokens& tokens) {
  std::vector<const ProfilerEvent*> steps;
  for (const ProfilerEvent& event : events.events)
    if (event.kind == EventKind::step) steps.push_back(&event);
  std::ranges::stable_sort(steps, {}, &ProfilerEvent::start_ns);
  const auto index_at = [&](std::int64_t ns) {
    const auto call = std::ranges::lower_bound(calls.calls, ns, {}, &ProfilerCall::start_ns);
    return static_cast<std::size_t>(call - calls.calls.begin());
  };
  std::vector<ProfilerPass> passes;
  for (const ProfilerEvent* step : steps) {
    const std::size_t first = index_at(step->start_ns), end = index_at(step->end_ns());
    if (first < end)
      split(calls, tokens,
            {.first = first,
             .count = end - first,
             .start_ns = step->start_ns,
             .step_ns = step->duration_ns},
            passes);
  }
  if (!steps.empty() || calls.calls.empty()) return passes;
  const ProfilerCall &first = calls.calls.front(), &last = calls.calls.back();
  split(calls, tokens,
        {.first = 0,
         .count = calls.calls.size(),
         .start_ns = first.start_ns,
         .step_ns = last.start_ns + last.duration_ns - first.start_ns},
        passes);
  return passes;
}

}  // namespace jointer
