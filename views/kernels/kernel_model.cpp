#include "views/kernels/kernel_model.h"

#include <algorithm>
#include <utility>

#include "core/base/index.h"
#include "views/session/kernels/kernel_keys.h"
#include "views/session/kernels/kernel_text.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr int kMaxKernelName = 320;
constexpr std::size_t kMaxNodesInNote = 12;

}  // namespace

KernelModel::KernelModel(QObject* parent) : TableModel({tr("1 kernel"), tr("%1 kernels")}, parent) {
  set_columns({
      {.title = tr("kernel"),
       .meaning =
           tr("Operators that run in the kernel, without views. A compiled kernel has its own "
              "name."),
       .max_width = kMaxKernelName},
      {.title = tr("number"),
       .unit = Unit::count,
       .meaning = tr("Position in the order in which the kernels run.")},
      {.title = tr("kind"),
       .meaning = tr("Kind of entry: loops that Inductor generates, a call, or something that "
                     "launches nothing, such as a view.")},
      {.title = tr("phase"),
       .meaning = tr("Phase of the first node that runs in the kernel."),
       .hide_priority = 3},
      {.title = tr("nodes"),
       .unit = Unit::count,
       .meaning = tr("Number of nodes that run in the kernel. A cheap node can run in several "
                     "kernels."),
       .hide_priority = 1},
      {.title = tr("read"),
       .unit = Unit::bytes,
       .meaning = tr("Bytes that the kernel reads; each buffer counts at most once."),
       .adds_up = true,
       .total_title = tr("read")},
      {.title = tr("written"),
       .unit = Unit::bytes,
       .meaning = tr("Bytes that the kernel writes."),
       .adds_up = true,
       .total_title = tr("written")},
      {.title = tr("time"),
       .unit = Unit::time,
       .meaning = tr("Time on the device: estimated or, for measured kernels, measured."),
       .adds_up = true},
      {.title = tr("share"),
       .unit = Unit::share,
       .meaning = tr("Time as a share of the time of all kernels. Collectives overlap "
                     "with other kernels.")},
      {.title = tr("roofline"),
       .unit = Unit::time,
       .meaning = tr("Time at the device's peak rates, without launches. A collective has its "
                     "estimated time."),
       .adds_up = true,
       .total_title = tr("roofline"),
       .hide_priority = 6},
      {.title = tr("above roofline"),
       .unit = Unit::time,
       .meaning = tr("Time above the roofline: the time minus the time at the device's peak rates. "
                     "Sort by this column to find the kernels with the most to gain."),
       .adds_up = true,
       .total_title = tr("above roofline"),
       .hide_priority = 4},
      {.title = tr("GB/s"),
       .unit = Unit::count,
       .meaning = tr("Bytes read and written, divided by the time."),
       .hide_priority = 5},
      {.title = tr("bound by"),
       .meaning = tr("The resource that limits the kernel's time."),
       .hide_priority = 2},
  });
}

void KernelModel::set_kernels(SnapshotKernelsPtr shown) {
  begin_rows();
  shown_ = std::move(shown);
  column_at(share_column).whole = shown_ ? shown_->total_ns() : 0;
  keys_ = shown_ ? kernel_keys(*shown_) : std::vector<std::uint64_t>();
  set_rows(std::vector<int>(keys_.size(), -1));
}

void KernelModel::set_show_all(bool shows_all) {
  if (std::exchange(shows_all_, shows_all) != shows_all) refilter();
}

std::optional<std::int64_t> KernelModel::number(int row, int column) const {
  switch (column) {
    case number_column:
      return row + 1;
    case nodes_column:
      return static_cast<std::int64_t>(kernel(row).nodes.size());
    case read_column:
      return kernel(row).bytes_read;
    case written_column:
      return kernel(row).bytes_written;
    case time_column:
    case share_column:
      return shown_->has_time(as_index(row)) ? std::optional(figures(row).ns) : std::nullopt;
    case roofline_column:
      return shown_->has_time(as_index(row)) ? std::optional(figures(row).roofline_ns)
                                             : std::nullopt;
    case above_roofline_column:
      return shown_->has_time(as_index(row))
                 ? std::optional(figures(row).ns - figures(row).roofline_ns)
                 : std::nullopt;
    case rate_column:
      return kernel_gbps(*shown_, as_index(row));
    default:
      return std::nullopt;
  }
}

QString KernelModel::text(int row, int column) const {
  switch (column) {
    case name_column:
      return to_qstring(shown_->names()[as_index(row)]);
    case kind_column:
      return kernel_kind_text(kernel(row).kind);
    case phase_column:
      return kernel(row).nodes.empty() ? QString()
                                       : phase_text(graph().node(kernel(row).nodes.front()));
    case bound_column:
      return kernel_limit_text(*shown_, as_index(row));
    default:
      return {};
  }
}

QString KernelModel::note(int row, int column) const {
  if (column == time_column || column == share_column) {
    if (!figures(row).launches) return {};
    if (const QString measured = measured_time_text(*shown_, as_index(row)); !measured.isEmpty())
      return tr("Measured: %1. Predicted: %2.").arg(measured, time_text(figures(row).estimated_ns));
    const DeviceDescription& device = shown_->snapshot()->analysis.device;
    if (figures(row).is_time_of_nodes || figures(row).limit == NodeCost::Limit::given)
      return tr("Estimator: %1").arg(to_qstring(shown_->snapshot()->analysis.estimator));
    if (device.kernels)
      return tr("%1 us for the launch, plus the time to move the bytes, which depends on their "
                "number and access pattern, or to compute special functions such as exp, whichever "
                "is longer.")
          .arg(device.kernels->launch_us);
    return tr("Time to move the bytes at %1 GB/s, but at least %2 us.")
        .arg(device.memory_gbps * device.efficiency.memory, 0, 'f', 0)
        .arg(device.kernel_us);
  }
  if (column != name_column) return {};
  const std::vector<NodeId>& nodes = kernel(row).nodes;
  QStringList lines;
  for (std::size_t i = 0; i < std::min(nodes.size(), kMaxNodesInNote); ++i)
    lines << to_qstring(graph().name(nodes[i]));
  if (nodes.size() > kMaxNodesInNote)
    lines << tr("and %1 more").arg(nodes.size() - kMaxNodesInNote);
  return lines.join(u'\n');
}

std::vector<NodeId> KernelModel::nodes(int row) const {
  return kernel(row).nodes;
}

bool KernelModel::passes(int row, const QStringList& words) const {
  if (!shows_all_ && !figures(row).launches) return false;
  if (words.isEmpty()) return true;
  QString texts;
  for (const int column : {name_column, kind_column, phase_column, bound_column})
    texts += text(row, column) + u'\n';
  for (const NodeId node : kernel(row).nodes) texts += to_qstring(graph().name(node)) + u'\n';
  return std::ranges::all_of(
      words, [&](const QString& word) { return texts.contains(word, Qt::CaseInsensitive); });
}

}  // namespace jointer::views
