#include "passes/bucketing/overlap_reasons.h"

#include <algorithm>

#include "core/base/units.h"
#include "core/schedule/simulation.h"

namespace jointer {
namespace {

std::string why_not_beside(const OverlapGraph& half, const OverlapFate& fate) {
  const auto name = [&](Place p) {
    return p == kNoPlace ? std::string_view("compute") : half.name(p);
  };
  const std::string_view beside = name(fate.beside), by = name(fate.held_by);
  switch (fate.why) {
    case NoOverlap::none:
    case NoOverlap::no_time:
      return {};
    case NoOverlap::dependency:
      return fmt::format("it depends on {}", fate.held_by == kNoPlace ? beside : by);
    case NoOverlap::memory:
      return fmt::format("during {} it would exceed the memory budget", beside);
    case NoOverlap::in_flight:
      return fmt::format("during {} too many bytes would be in flight", beside);
    case NoOverlap::needs_compute:
      return fmt::format("during {} it could not start because it depends on {}, a compute node",
                         beside, by);
    case NoOverlap::needs_start:
      return fmt::format(
          "during {} it could not start because it depends on {}, another collective", beside, by);
    case NoOverlap::needs_wait:
      return fmt::format(
          "during {} it could not start because running {} early would expose that wait's "
          "collective",
          beside, by);
    case NoOverlap::needs_exchange:
      return fmt::format(
          "during {} it could not start because it depends on {}, a communication operator", beside,
          by);
  }
  return {};
}

std::string why_not_with(NoBucket why, std::string_view other) {
  switch (why) {
    case NoBucket::none:
      return {};
    case NoBucket::alone:
      return "no other collective of its kind has the same group, dtype and reduction";
    case NoBucket::no_neighbor:
      return "the collectives of its kind before and after it differ in group, dtype or reduction";
    case NoBucket::no_parameters:
      return "its group gathers no parameters (bucket_only_internode_comms=true)";
    case NoBucket::hides_others:
      return "it or its wait hides another collective";
    case NoBucket::too_large:
      return fmt::format("a bucket with {} would be too large", other);
    case NoBucket::far:
      return fmt::format("{} is too far away", other);
    case NoBucket::needed:
      return fmt::format("it or the compute that hides it depends on {}, or vice versa", other);
    case NoBucket::hiding:
      return fmt::format("in a bucket with {}, a collective would no longer be hidden", other);
    case NoBucket::cycle:
      return fmt::format("in a bucket with {}, the starts or the waits would depend on each other",
                         other);
    case NoBucket::written:
      return fmt::format("something writes to its input or result, or to those of {}", other);
    case NoBucket::unlike:
      return fmt::format(
          "it and {} differ in device, or one of them has an unknown size or a result that is not "
          "dense",
          other);
    case NoBucket::costly:
      return fmt::format("packing and unpacking a bucket with {} would take longer than it saves",
                         other);
  }
  return {};
}

// The compute nodes that overlap with the collective, longest overlap first.
std::vector<NodeId> hidden_by(const Graph& graph, const Simulation& simulation,
                              std::span<const NodeId> compute, const CollectiveTiming& collective) {
  const auto first = std::partition_point(compute.begin(), compute.end(), [&](NodeId id) {
    return simulation.timing(id).end <= collective.start_ns;
  });
  std::vector<std::pair<std::int64_t, NodeId>> found;
  for (auto it = first; it != compute.end(); ++it) {
    const NodeTiming& timing = simulation.timing(*it);
    if (timing.start >= collective.end_ns) break;
    found.emplace_back(
        std::max(timing.start, collective.start_ns) - std::min(timing.end, collective.end_ns), *it);
  }
  std::ranges::stable_sort(found, {}, [&](const auto& entry) {
    return std::pair(entry.first, graph.position(entry.second));
  });
  std::vector<NodeId> nodes;
  for (const auto& entry : found) nodes.push_back(entry.second);
  return nodes;
}

std::string beside_text(const Graph& graph, const std::vector<NodeId>& nodes) {
  return nodes.empty() ? std::string("nothing overlaps with it")
                       : fmt::format("it overlaps with {}", names_of(graph, nodes));
}

}  // namespace

std::string names_of(const Graph& graph, std::span<const NodeId> nodes) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), kNamed); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", graph.name(nodes[i]));
  if (nodes.size() > kNamed) text += fmt::format(" and {} more", nodes.size() - kNamed);
  return text;
}

void decide_overlaps(const Graph& graph, const OverlapGraph& half, const OverlapPlan& plan,
                     std::span<const NodeCost> costs, PassContext& context) {
  const Simulation simulation(graph, costs, context.analysis().simulation);
  std::vector<NodeId> compute;
  for (const NodeId id : graph.order())
    if (const NodeTiming& timing = simulation.timing(id);
        costs[id.index()].lane == NodeCost::Lane::compute && timing.end > timing.start)
      compute.push_back(id);
  for (const CollectiveTiming& c : simulation.collectives()) {
    if (c.is_transfer || graph.node(c.start).part != graph.node(half.nodes.front()).part) continue;
    const std::vector<NodeId> beside = hidden_by(graph, simulation, compute, c);
    const std::int64_t ns = c.end_ns - c.start_ns;
    if (!c.is_exposed()) {
      context.decide(
          graph, c.start, "overlapped",
          fmt::format("All of its {} are hidden; {}.", format_ns(ns), beside_text(graph, beside)));
      continue;
    }
    std::string text = fmt::format("{} of its {} are exposed; {}", format_ns(c.exposed_ns),
                                   format_ns(ns), beside_text(graph, beside));
    if (const std::string why = reason_text(graph, c); !why.empty()) text += "; " + why;
    text += '.';
    const Place place =
        c.start.index() < half.place_of.size() ? half.place_of[c.start.index()] : kNoPlace;
    if (place != kNoPlace && half.start_of[place] >= 0) {
      const std::string more =
          why_not_beside(half, plan.schedule.fates[static_cast<std::size_t>(half.start_of[place])]);
      if (!more.empty()) text += fmt::format(" The scheduler could not hide more of it: {}.", more);
    }
    context.decide(graph, c.start, beside.empty() ? "exposed" : "partly", std::move(text));
  }
}

void decide_buckets(const Graph& graph, const OverlapGraph& half, const OverlapPlan& plan,
                    PassContext& context) {
  for (const auto& bucket : plan.bucketing.buckets) {
    for (const std::uint32_t c : bucket) {
      std::vector<NodeId> others;
      for (const std::uint32_t other : bucket)
        if (other != c) others.push_back(half.nodes[half.collectives[other].start]);
      context.decide(graph, half.nodes[half.collectives[c].start], "merged",
                     fmt::format("Merged with {}: one start-up instead of {}.",
                                 names_of(graph, others), bucket.size()));
    }
  }
  for (std::size_t c = 0; c < plan.bucketing.why.size(); ++c) {
    const NoBucket why = plan.bucketing.why[c];
    if (why == NoBucket::none || half.collectives[c].key == kNever) continue;
    const std::uint32_t with = plan.bucketing.with[c];
    const std::string text =
        why_not_with(why, with == kNever ? std::string_view("another collective")
                                         : half.name(half.collectives[with].start));
    context.decide(graph, half.nodes[half.collectives[c].start], "apart",
                   fmt::format("Not in a bucket: {}.", text));
  }
}

}  // namespace jointer
