#include "views/inspector/describe_nodes.h"
#include "views/inspector/inspector_words.h"
#include "views/session/text/measured_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {

using namespace inspector;

namespace {

// A row with the measured time of the nodes; empty if none of them was measured.
std::optional<InspectorRow> measured_row(const Snapshot& snapshot, std::span<const NodeId> nodes,
                                         const MeasuredTimeline& measured) {
  std::int64_t ns = 0, estimate = 0;
  std::size_t count = 0;
  for (const NodeId id : nodes) {
    const MeasuredNode* m = measured.find(id);
    const auto own = m == nullptr ? std::nullopt : measured_ns(snapshot, *m);
    if (!own) continue;
    ++count;
    ns += *own;
    estimate += estimated_ns(snapshot, id);
  }
  if (count == 0) return std::nullopt;
  const QString label = to_qstring(measured.measurement().label);
  return InspectorRow{
      .label = tr("measured"),
      .value = tr("%1 (%2) · estimated %3").arg(time_text(ns), label, time_text(estimate)),
      .provenance = Provenance::measured,
      .note = counted_text(count, tr("Only 1 node was measured."),
                           tr("Sum over the %1 measured nodes."))};
}

// A row for each compiled block that ran in place of some of the nodes.
void add_blocks(const Snapshot& snapshot, std::span<const NodeId> nodes,
                const MeasuredTimeline& measured, InspectorSection& section) {
  std::vector<std::pair<const MeasuredBlock*, std::size_t>> counts;  // with the number of nodes
  for (const NodeId id : nodes) {
    const MeasuredBlock* block = measured.block_of(id);
    if (block == nullptr) continue;
    const auto found =
        std::ranges::find(counts, block, [](const auto& each) { return each.first; });
    if (found == counts.end())
      counts.emplace_back(block, 1);
    else
      ++found->second;
  }
  for (const auto& [block, count] : counts)
    section.rows.push_back(
        {.label = tr("compiled"),
         .value =
             tr("%1 of %2 of %3: %4 (%5) · estimated %6")
                 .arg(count_text(count), nodes_text(block->nodes.size()), to_qstring(block->name),
                      time_text(block->own_ns), to_qstring(measured.measurement().label),
                      time_text(estimated_ns(snapshot, *block))),
         .provenance = Provenance::measured,
         .note = tr("Time of the whole compiled package, whose nodes were not timed individually. "
                    "Peak memory while it ran: %1.")
                     .arg(bytes_text(block->peak_bytes))});
}

}  // namespace

InspectorContent describe(const Snapshot& snapshot, std::span<const NodeId> nodes,
                          const MeasuredTimeline* measured) {
  const Graph& graph = snapshot.graph;
  const Analysis& analysis = snapshot.analysis;
  std::int64_t output_bytes = 0, ns = 0, flops = 0, exposed = 0, storage_bytes = 0;
  std::size_t forward = 0, collectives = 0, asynchronous = 0, storages = 0;
  std::vector<char> is_counted(analysis.memory.lifetimes().size(), 0);
  for (const NodeId id : nodes) {
    const Node& n = graph.node(id);
    output_bytes += graph.output_bytes(n);
    ns += analysis.costs[id.index()].ns;
    flops += analysis.flops[id.index()].total;
    if (n.phase == Phase::forward) ++forward;
    if (graph.is_asynchronous(n)) {
      if (graph.is_collective_start(n)) ++collectives;
      ++asynchronous;
      if (const std::int32_t c = analysis.simulation.collective_of(id); c >= 0)
        exposed += analysis.simulation.collectives()[static_cast<std::size_t>(c)].exposed_ns;
    }
    for (const Tensor& t : graph.tensors(n)) {
      if (!t.storage) continue;
      const auto index = analysis.memory.lifetime_of(graph.real_storage(t.storage));
      if (!index || is_counted[*index] != 0) continue;
      is_counted[*index] = 1;
      ++storages;
      storage_bytes += analysis.memory.lifetimes()[*index].bytes;
    }
  }
  InspectorContent content{.title = tr("%1 nodes").arg(count_text(nodes.size()))};
  InspectorSection s{tr("Total"), {}};
  s.add(tr("phase"),
        tr("%1 forward, %2 backward").arg(count_text(forward), count_text(nodes.size() - forward)));
  s.add(tr("outputs"), bytes_text(output_bytes), Provenance::computed,
        exact_bytes_text(output_bytes) + tr("; views are counted in full."));
  s.add(tr("storages"), tr("%1 in %2").arg(bytes_text(storage_bytes), count_text(storages)),
        Provenance::computed,
        exact_bytes_text(storage_bytes) + tr("; each storage is counted once."));
  if (measured != nullptr) {
    if (auto row = measured_row(snapshot, nodes, *measured)) s.rows.push_back(*std::move(row));
    add_blocks(snapshot, nodes, *measured, s);
  }
  s.add(tr("time"), time_text(ns), Provenance::estimated,
        tr("Sum of device times; streams may overlap. Estimator: %1.")
            .arg(to_qstring(analysis.estimator)));
  s.add(tr("FLOPs"), flops == 0 ? QStringLiteral("0") : flops_text(flops), Provenance::computed);
  if (asynchronous > 0) {
    const std::size_t copies = asynchronous - collectives;
    const QString copies_text =
        counted_text(copies, tr("1 copy to or from the host"), tr("%1 copies to or from the host"));
    s.add(collectives > 0 ? tr("collectives") : tr("copies"),
          tr("%1, exposed %2")
              .arg(collectives == 0 || copies == 0
                       ? count_text(asynchronous)
                       : tr("%1 and %2").arg(count_text(collectives), copies_text),
                   time_text(exposed)),
          Provenance::estimated);
  }
  content.sections.push_back(std::move(s));
  InspectorSection first{tr("Nodes"), {}};
  first.rows.push_back(link_row(tr("first"), nodes));
  first.rows.back().all_links.clear();  // all nodes are already selected
  content.sections.push_back(std::move(first));
  return content;
}

}  // namespace jointer::views
