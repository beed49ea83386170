#include "views/kernels/describe_kernel.h"

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "core/base/index.h"
#include "views/session/kernels/kernel_text.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxNodeLinks = 20;

class KernelDescription {
 public:
  KernelDescription(const SnapshotKernels& of, std::size_t row)
      : of_(of),
        row_(row),
        part_(of.part_of(row)),
        kernel_(of.kernel(row)),
        first_(of.first_row_of_part(row)) {}

  InspectorContent run() {
    InspectorContent content;
    content.title = to_qstring(of_.names()[row_]);
    content.subtitle = QStringLiteral("%1 · %2").arg(kernel_number_text(of_, row_),
                                                     kernel_kind_text(kernel_.kind));
    add_figures(content.sections.emplace_back());
    add_buffers(content.sections.emplace_back());
    add_refusals(content.sections.emplace_back());
    std::erase_if(content.sections, [](const InspectorSection& each) { return each.rows.empty(); });
    return content;
  }

 private:
  // The number of a kernel of this part, as the table shows it.
  [[nodiscard]] QString number_of(std::int32_t kernel) const {
    return count_text(first_ + as_index(kernel) + 1);
  }
  [[nodiscard]] const kernels::Buffer& buffer(kernels::BufferId id) const {
    return part_.ir.buffers[as_index(id)];
  }

  void add_figures(InspectorSection& section) const {
    section.title = tr("Kernel");
    InspectorRow& nodes = section.rows.emplace_back();
    nodes.label = tr("nodes");
    nodes.provenance = Provenance::computed;
    nodes.links = kernel_.nodes;
    if (nodes.links.size() > kMaxNodeLinks) {
      nodes.links.resize(kMaxNodeLinks);
      nodes.all_links = kernel_.nodes;
    }
    if (kernel_.nodes.empty()) section.rows.pop_back();
    using Kind = kernels::Kernel::Kind;
    const bool has_loops = kernel_.kind == Kind::pointwise || kernel_.kind == Kind::reduction ||
                           kernel_.kind == Kind::mix_order_reduction;
    if (has_loops && of_.compiled(row_) == nullptr)
      section.add(tr("iterations"),
                  kernel_.rnumel == 1
                      ? count_text(kernel_.numel)
                      : tr("%1 outer, %2 reduced")
                            .arg(count_text(kernel_.numel), count_text(kernel_.rnumel)),
                  Provenance::computed);
    section.add(tr("read"), bytes_text(kernel_.bytes_read), Provenance::computed,
                exact_bytes_text(kernel_.bytes_read));
    section.add(tr("written"), bytes_text(kernel_.bytes_written), Provenance::computed,
                exact_bytes_text(kernel_.bytes_written));
    const KernelRow& figures = of_.rows()[row_];
    if (!figures.launches) return;
    const Provenance source = figures.is_measured ? Provenance::measured : Provenance::estimated;
    if (const auto gbps = kernel_gbps(of_, row_))
      section.add(tr("rate"), tr("%1 GB/s").arg(count_text(*gbps)), source);
    if (const QString measured = measured_time_text(of_, row_); !measured.isEmpty())
      section.add(tr("measured"), measured, Provenance::measured);
    const QString limit = kernel_limit_text(of_, row_);
    section.add(of_.is_measured() ? tr("predicted") : tr("time"),
                limit.isEmpty() ? time_text(figures.estimated_ns)
                                : tr("%1, bound by %2").arg(time_text(figures.estimated_ns), limit),
                Provenance::estimated);
    if (!of_.has_time(row_)) return;
    section.add(
        tr("above roofline"),
        tr("%1 (%2 at peak rates)")
            .arg(time_text(figures.ns - figures.roofline_ns), time_text(figures.roofline_ns)),
        source,
        figures.is_measured ? tr("Measured time minus the time at the device's peak rates.")
                            : tr("Estimated time minus the time at the device's peak rates."));
  }

  void add_buffers(InspectorSection& section) const {
    section.title = tr("Buffers");
    struct Use {
      std::int64_t read = 0, written = 0;
    };
    std::map<kernels::BufferId, Use> uses;
    for (const kernels::BufferBytes& each : kernel_.reads) uses[each.buffer].read += each.bytes;
    for (const kernels::BufferBytes& each : kernel_.writes) uses[each.buffer].written += each.bytes;
    std::map<kernels::BufferId, const kernels::BufferLife*> lives;
    for (const kernels::BufferLife& life : part_.scheduled.lives)
      if (uses.contains(life.buffer)) lives[life.buffer] = &life;
    for (const auto& [id, use] : uses) {
      QStringList texts;
      if (use.read > 0) texts << tr("read %1").arg(bytes_text(use.read));
      if (use.written > 0) texts << tr("written %1").arg(bytes_text(use.written));
      if (buffer(id).bytes > 0) texts << tr("size %1").arg(bytes_text(buffer(id).bytes));
      const auto life = lives.find(id);
      texts << (life != lives.end()   ? life_text(id, *life->second)
                : buffer(id).is_input ? tr("an input, never freed")
                                      : tr("shares memory"));
      section.add(to_qstring(buffer(id).name), texts.join(QStringLiteral(" · ")),
                  Provenance::computed);
    }
  }

  [[nodiscard]] QString life_text(kernels::BufferId id, const kernels::BufferLife& life) const {
    const bool is_kept = life.last < 0;
    if (buffer(id).is_input)
      return is_kept ? tr("an input, never freed")
                     : tr("an input, freed after kernel %1").arg(number_of(life.last));
    return is_kept
               ? tr("live from kernel %1 to the end").arg(number_of(life.first))
               : tr("live from kernel %1 to %2").arg(number_of(life.first), number_of(life.last));
  }

  void add_refusals(InspectorSection& section) const {
    section.title = tr("Not fused with");
    const std::int32_t self = of_.rows()[row_].kernel;
    std::set<std::tuple<std::int32_t, std::int32_t, kernels::Refusal>> others;  // by distance
    for (const auto& [other, refusal] : part_.scheduled.refusals_of(self))
      others.emplace(std::abs(other - self), other, refusal);
    std::size_t shown = 0;
    for (const auto& [distance, other, refusal] : others) {
      if (shown == kMaxRefusals) break;
      ++shown;
      add_refusal(section, other, to_qstring(kernels::to_sentence(refusal)));
    }
    std::set<std::tuple<std::int32_t, std::int32_t, std::string>> stated;
    for (const StatedRefusal& each : part_.stated)
      if (each.first == self || each.second == self) {
        const std::int32_t other = each.first == self ? each.second : each.first;
        stated.emplace(std::abs(other - self), other, each.reason);
      }
    for (const auto& [distance, other, reason] : stated) {
      if (shown == kMaxRefusals) break;
      ++shown;
      add_refusal(section, other, tr("Inductor: %1").arg(to_qstring(reason)));
    }
    if (const std::size_t all = others.size() + stated.size(); shown < all)
      section.add(tr("others"), tr("%1 more").arg(count_text(all - shown)), Provenance::computed);
  }

  void add_refusal(InspectorSection& section, std::int32_t other, const QString& reason) const {
    InspectorRow& row = section.rows.emplace_back();
    row.label = tr("kernel %1").arg(number_of(other));
    row.value = reason;
    row.provenance = Provenance::computed;
    const std::vector<NodeId>& nodes = part_.scheduled.kernels[as_index(other)].nodes;
    if (!nodes.empty()) row.links.push_back(nodes.front());
  }

  const SnapshotKernels& of_;
  std::size_t row_;
  const CompiledPart& part_;
  const kernels::Kernel& kernel_;
  std::size_t first_;  // the row of the part's first kernel
};

}  // namespace

InspectorContent describe_kernel(const SnapshotKernels& of, std::size_t row) {
  return KernelDescription(of, row).run();
}

}  // namespace jointer::views
