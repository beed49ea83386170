#include "views/inspector/describe_nodes.h"
#include "views/inspector/inspector_words.h"
#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {

using namespace inspector;

InspectorSection describe_range(const RangeFigures& figures) {
  const RangeTotals& t = figures.totals();
  InspectorSection section{
      tr("Range %1").arg(time_range_text(figures.range().begin, figures.range().end)), {}};
  const auto add_bytes = [&](const QString& label, std::int64_t bytes, const QString& value) {
    section.add(label, value, Provenance::computed, exact_bytes_text(bytes));
  };
  using enum Provenance;
  section.add(tr("duration"), time_text(figures.range().length()), estimated);
  section.add(
      tr("nodes"), count_text(t.nodes), computed,
      tr("Nodes that run entirely or partly within the range, and collectives for which the "
         "compute stream waits there."));
  if (t.recomputed > 0)
    section.add(
        tr("recomputed"), nodes_text(t.recomputed), computed,
        tr("Nodes in the range that recompute a value of the forward. The other rows include "
           "them."));
  section.add(tr("compute"), time_text(t.compute_ns), estimated,
              tr("Time of the kernels on the compute stream within the range."));
  section.add(tr("communication"), time_text(t.communication_ns), estimated,
              tr("Time of collectives and copies within the range, both hidden and exposed."));
  section.add(tr("exposed"), time_text(t.exposed_ns), estimated,
              tr("Time within the range in which the compute stream waits for communication, or "
                 "communication runs after the last kernel."));
  section.add(tr("FLOPs"), t.flops == 0 ? QStringLiteral("0") : flops_text(t.flops), computed,
              tr("FLOPs of all nodes that run in the range; each node counts in full."));
  add_bytes(tr("allocated"), t.allocated_bytes, storages_text(t.allocated_bytes, t.allocated));
  add_bytes(tr("freed"), t.freed_bytes, storages_text(t.freed_bytes, t.freed));
  add_bytes(
      tr("live"), t.end_bytes,
      tr("%1 at the start, %2 at the end").arg(bytes_text(t.begin_bytes), bytes_text(t.end_bytes)));
  add_bytes(tr("maximum"), t.peak_bytes, bytes_text(t.peak_bytes));
  return section;
}

}  // namespace jointer::views
