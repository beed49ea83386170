#include "views/inspector/measured_kernel_of_node.h"

#include "core/base/index.h"
#include "views/session/kernels/kernel_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {

void add_measured_times(InspectorSection& section, const SnapshotKernels& of, std::size_t row) {
  section.add(tr("measured"), measured_time_text(of, row), Provenance::measured);
  section.add(tr("predicted"), time_text(of.rows()[row].estimated_ns), Provenance::estimated);
}

InspectorSection describe_measured_kernel_of(const SnapshotKernels& of, NodeId node) {
  InspectorSection section{.title = tr("Measured kernel")};
  const std::int32_t found = of.row_of(node);
  if (found < 0 || !of.rows()[as_index(found)].launches) return section;
  const std::size_t row = as_index(found);
  section.add(tr("runs in"),
              tr("%1: %2").arg(kernel_number_text(of, row), to_qstring(of.names()[row])),
              Provenance::computed);
  add_measured_times(section, of, row);
  if (const auto gbps = kernel_gbps(of, row))
    section.add(tr("rate"), tr("%1 GB/s").arg(count_text(*gbps)), Provenance::measured,
                tr("Bytes that the kernel reads and writes, divided by the measured time."));
  return section;
}

}  // namespace jointer::views
