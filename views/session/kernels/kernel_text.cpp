#include "views/session/kernels/kernel_text.h"

#include <QStringList>
#include <algorithm>
#include <string_view>
#include <vector>

#include "core/base/checked.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxOperators = 5;

// "mul" for aten.mul.Tensor.
std::string_view operator_word(const OperatorInfo& op) {
  const std::string_view packet = op.packet().empty() ? std::string_view(op.name) : op.packet();
  return packet.substr(packet.rfind('.') + 1);
}

// The distinct operators that the kernel's nodes call, in order; views and getitem only if
// `with_views`.
std::vector<std::string_view> operator_words(const Graph& graph, const kernels::Kernel& kernel,
                                             bool with_views) {
  std::vector<std::string_view> words;
  for (const NodeId id : kernel.nodes) {
    const Node& node = graph.node(id);
    if (node.kind != NodeKind::call) continue;
    const OperatorInfo& op = graph.op(node);
    if (!with_views && (op.is_view || op.is_getitem)) continue;
    const std::string_view word = operator_word(op);
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  return words;
}

}  // namespace

QString kernel_kind_text(kernels::Kernel::Kind kind) {
  using Kind = kernels::Kernel::Kind;
  switch (kind) {
    case Kind::pointwise:
      return tr("pointwise");
    case Kind::reduction:
      return tr("reduction");
    case Kind::mix_order_reduction:
      return tr("mix-order reduction");
    case Kind::foreach_:
      return tr("foreach");
    case Kind::template_:
      return tr("template");
    case Kind::external:
      return tr("library");
    case Kind::multi_output:
      return tr("result");
    case Kind::view:
      return tr("view");
    case Kind::collective:
      return tr("collective");
    case Kind::wait:
      return tr("wait");
    case Kind::nop:
      return tr("no-op");
  }
  return {};
}

QString kernel_name(const Graph& graph, const kernels::Kernel& kernel) {
  std::vector<std::string_view> words = operator_words(graph, kernel, false);
  if (words.empty()) words = operator_words(graph, kernel, true);
  QStringList shown;
  for (std::size_t i = 0; i < std::min(words.size(), kMaxOperators); ++i)
    shown << to_qstring(words[i]);
  QString name = shown.join(QStringLiteral(", "));
  if (words.size() > kMaxOperators) name += tr(" +%1").arg(words.size() - kMaxOperators);
  return words.size() > 1 ? tr("fused %1").arg(name) : name;
}

QString kernel_totals_text(const KernelTotals& totals) {
  QString text = counted_text(totals.kernels, tr("1 kernel"), tr("%1 kernels"));
  if (totals.collectives > 0)
    text += QStringLiteral(", ") +
            counted_text(totals.collectives, tr("1 collective"), tr("%1 collectives"));
  return tr("%1 · %2 memory-bound (%3 read and written) · peak %4")
      .arg(text, count_text(totals.memory_bound), bytes_text(totals.memory_bound_bytes),
           bytes_text(totals.peak_bytes));
}

QString kernel_limit_text(const SnapshotKernels& of, std::size_t row) {
  const KernelRow& at = of.rows()[row];
  if (!at.launches) return {};
  if (const QString limit = limit_text(at.limit); !limit.isEmpty()) return limit;
  return at.is_memory_bound ? tr("memory") : QString();
}

std::optional<std::int64_t> kernel_gbps(const SnapshotKernels& of, std::size_t row) {
  const KernelRow& at = of.rows()[row];
  const kernels::Kernel& kernel = of.kernel(row);
  if (!of.has_time(row) || at.ns <= 0 || kernel.kind == kernels::Kernel::Kind::collective)
    return std::nullopt;
  return saturating_round(static_cast<double>(at.timed_bytes) / static_cast<double>(at.ns));
}

QString measured_time_text(const SnapshotKernels& of, std::size_t row) {
  const PartMeasurement* measurement = of.measurement_of(row);
  const KernelRow& at = of.rows()[row];
  if (measurement == nullptr || !at.launches) return {};
  const KernelMeasurement& measured =
      measurement->ties.kernels[static_cast<std::size_t>(at.kernel)];
  if (measured.by == TiedBy::nothing) return tr("not found in the trace");
  if (measured.counted_in >= 0)
    return tr("measured with kernel %1, in one C++ function")
        .arg(count_text(of.first_row_of_part(row) + static_cast<std::size_t>(measured.counted_in) +
                        1));
  if (!measured.ns) return tr("unknown: the call only starts the collective");
  const std::size_t runs = measurement->graph().runs;
  const QString time = time_text(*measured.ns);
  const bool is_minimum = of.kernel(row).kind == kernels::Kernel::Kind::collective;
  QString text = runs == 1    ? tr("%1, in one run").arg(time)
                 : is_minimum ? tr("%1, the minimum of %2 runs").arg(time, count_text(runs))
                              : tr("%1, the median of %2 runs").arg(time, count_text(runs));
  if (measured.by == TiedBy::neighbors) text += tr(", identified by its neighbors");
  return text;
}

QString kernel_number_text(const SnapshotKernels& of, std::size_t row) {
  return tr("kernel %1 of %2").arg(count_text(row + 1), count_text(of.rows().size()));
}

QString kernel_bytes_text(const SnapshotKernels& of, std::size_t row) {
  const kernels::Kernel& kernel = of.kernel(row);
  QString text = tr("reads %1, writes %2")
                     .arg(bytes_text(kernel.bytes_read), bytes_text(kernel.bytes_written));
  if (const auto gbps = kernel_gbps(of, row)) text += tr(" · %1 GB/s").arg(count_text(*gbps));
  return text;
}

QStringList kernel_card_lines(const SnapshotKernels& of, std::size_t row) {
  const KernelRow& at = of.rows()[row];
  const kernels::Kernel& kernel = of.kernel(row);
  QStringList lines{to_qstring(of.names()[row]),
                    QStringLiteral("%1 · %2 · %3")
                        .arg(kernel_number_text(of, row), kernel_kind_text(kernel.kind),
                             nodes_text(kernel.nodes.size()))};
  lines << kernel_bytes_text(of, row);
  if (!at.launches) return lines << tr("launches nothing");
  if (const QString measured = measured_time_text(of, row); !measured.isEmpty())
    lines << tr("measured: %1").arg(measured);
  QString time = tr("%1 estimated").arg(time_text(at.estimated_ns));
  if (const QString limit = kernel_limit_text(of, row); !limit.isEmpty())
    time += tr(", bound by %1").arg(limit);
  lines << time;
  if (!of.has_time(row)) return lines;
  if (of.total_ns() > 0)
    lines << tr("%1 of the time of all kernels")
                 .arg(to_qstring(format_percent(static_cast<double>(at.ns) /
                                                static_cast<double>(of.total_ns()))));
  if (at.ns > at.roofline_ns)
    lines << tr("%1 above the roofline").arg(time_text(at.ns - at.roofline_ns));
  return lines;
}

}  // namespace jointer::views
