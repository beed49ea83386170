#include "views/inspector/kernel_of_node.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/index.h"
#include "views/inspector/inspector_words.h"
#include "views/inspector/measured_kernel_of_node.h"
#include "views/session/kernels/kernel_source_text.h"
#include "views/session/kernels/kernel_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxOtherKernels = 4;

QString source_note(ShownKernels::Source source) {
  switch (source) {
    case ShownKernels::Source::predicted:
      return tr("Predicted for Inductor. The Kernels pane lists all kernels.");
    case ShownKernels::Source::asked:
      return tr("From Inductor's scheduler. The Kernels pane lists all kernels.");
    case ShownKernels::Source::compiled:
      return tr("Read from the open artifacts. The Kernels pane lists all kernels.");
    case ShownKernels::Source::measured:
      return tr("Measured in the open trace. The Kernels pane lists all kernels.");
  }
  return {};
}

bool is_call(const kernels::Kernel& kernel) {
  return kernel.kind == kernels::Kernel::Kind::external ||
         kernel.kind == kernels::Kernel::Kind::collective;
}

class KernelOfNode {
 public:
  KernelOfNode(const SnapshotKernels& of, NodeId node, std::size_t row, ShownKernels::Source source)
      : of_(of),
        graph_(of.snapshot()->graph),
        node_(node),
        row_(row),
        source_(source),
        part_(of.part_of(row)),
        kernel_(of.kernel(row)),
        first_(of.first_row_of_part(row)) {
    section_.title = kernel_source_title(source_);
  }

  InspectorSection run() {
    add_kernel();
    add_figures();
    if (source_ == ShownKernels::Source::predicted) add_results();
    const bool is_compiled = source_ == ShownKernels::Source::compiled || of_.is_compiled();
    if (!is_compiled) add_refusals();
    return std::move(section_);
  }

 private:
  void add(const QString& label, const QString& value, const QString& note = {}) {
    section_.add(label, value, Provenance::computed, note);
  }
  // The number of a kernel of this part, as the Kernels pane shows it.
  [[nodiscard]] QString number_of(std::int32_t kernel) const {
    return count_text(first_ + as_index(kernel) + 1);
  }

  void add_kernel() {
    add(tr("runs in"),
        tr("%1: %2 (%3)")
            .arg(kernel_number_text(of_, row_), to_qstring(of_.names()[row_]),
                 kernel_kind_text(kernel_.kind)),
        source_note(source_));
    std::vector<NodeId> others = kernel_.nodes;
    std::erase(others, node_);
    if (!others.empty())
      section_.rows.push_back(
          inspector::link_row(tr("with (%1)").arg(count_text(others.size())), others));
    QStringList numbers;
    std::size_t more = 0;
    for (std::size_t row = row_ + 1; row < of_.rows().size(); ++row) {
      const std::vector<NodeId>& nodes = of_.kernel(row).nodes;
      if (!of_.rows()[row].launches || std::ranges::find(nodes, node_) == nodes.end()) continue;
      if (static_cast<std::size_t>(numbers.size()) < kMaxOtherKernels)
        numbers << count_text(row + 1);
      else
        ++more;
    }
    if (numbers.isEmpty()) return;
    QString text = (numbers.size() == 1 ? tr("kernel %1") : tr("kernels %1"))
                       .arg(numbers.join(QStringLiteral(", ")));
    if (more > 0) text += tr(" and %1 more").arg(count_text(more));
    add(tr("also in"), text, tr("A cheap node is computed in each kernel that reads it."));
  }

  void add_figures() {
    const KernelRow& figures = of_.rows()[row_];
    if (!figures.launches) return;
    if (of_.is_measured()) {
      add_measured_times(section_, of_, row_);
      add(tr("kernel bytes"), kernel_bytes_text(of_, row_));
      return;
    }
    QString time = time_text(figures.ns);
    if (const QString limit = kernel_limit_text(of_, row_); !limit.isEmpty())
      time += tr(", bound by %1").arg(limit);
    section_.add(tr("kernel time"), time, Provenance::estimated);
    add(tr("kernel bytes"), kernel_bytes_text(of_, row_));
  }

  // True if the op computes only views after the node, so that its result is the node's value.
  [[nodiscard]] bool computes_result(const kernels::Op& op) const {
    const auto at = std::ranges::find(op.nodes, node_);
    return at != op.nodes.end() && std::all_of(at + 1, op.nodes.end(), [this](NodeId id) {
             const Node& node = graph_.node(id);
             return node.kind == NodeKind::call && graph_.op(node).is_view;
           });
  }

  void add_results() {
    bool is_stored = false, is_computed = false;
    for (const kernels::OpId id : kernel_.ops) {
      const kernels::Op& op = part_.ir.ops[as_index(id)];
      is_computed = is_computed || std::ranges::find(op.nodes, node_) != op.nodes.end();
      if (!computes_result(op)) continue;
      for (const kernels::BufferId buffer : op.outputs) {
        is_stored = true;
        add_buffer(buffer);
      }
    }
    if (is_computed && !is_stored)
      add(tr("result"), tr("not stored; it is computed where it is read"));
  }

  // The lifetime of a buffer; null if it takes no memory, or only shares that of another buffer.
  [[nodiscard]] const kernels::BufferLife* life_of(kernels::BufferId buffer) const {
    const auto found =
        std::ranges::find(part_.scheduled.lives, buffer, &kernels::BufferLife::buffer);
    return found == part_.scheduled.lives.end() ? nullptr : &*found;
  }

  void add_buffer(kernels::BufferId id) {
    const kernels::Buffer& buffer = part_.ir.buffers[as_index(id)];
    const kernels::BufferLife* life = life_of(id);
    QStringList texts;
    if (buffer.bytes > 0) texts << bytes_text(buffer.bytes);
    std::vector<NodeId> readers;
    if (life == nullptr) {
      const bool is_written =
          std::ranges::find(kernel_.writes, id, &kernels::BufferBytes::buffer) !=
          kernel_.writes.end();
      texts << (!buffer.aliases.empty()
                    ? tr("shares the memory of %1")
                          .arg(to_qstring(part_.ir.buffers[as_index(buffer.aliases.front())].name))
                : is_written ? tr("shares memory")
                             : tr("stays in the kernel and takes no memory"));
    } else if (life->last < 0) {
      texts << (buffer.is_output ? tr("live to the end, as an output of the graph")
                                 : tr("live to the end"));
    } else {
      readers = last_readers(buffer, life->last);
      texts << (readers.empty()
                    ? tr("live until kernel %1").arg(number_of(life->last))
                    : tr("live until its last reader, kernel %1").arg(number_of(life->last)));
      if (std::ranges::any_of(buffer.users, [&](const kernels::User& user) {
            return user.may_overwrite && kernel_of(user.op) == life->last;
          }))
        texts << tr("the reader may overwrite it with its result");
    }
    add(to_qstring(buffer.name), texts.join(QStringLiteral(" · ")));
    section_.rows.back().links = std::move(readers);
  }

  [[nodiscard]] std::int32_t kernel_of(kernels::OpId op) const {
    return op < 0 ? -1 : part_.scheduled.kernel_of[as_index(op)];
  }

  // The first node of each op that reads the buffer in a kernel.
  [[nodiscard]] std::vector<NodeId> last_readers(const kernels::Buffer& buffer,
                                                 std::int32_t kernel) const {
    std::vector<NodeId> nodes;
    for (const kernels::User& user : buffer.users) {
      if (user.is_weak || kernel_of(user.op) != kernel) continue;
      const std::vector<NodeId>& of_op = part_.ir.ops[as_index(user.op)].nodes;
      if (!of_op.empty() && std::ranges::find(nodes, of_op.front()) == nodes.end())
        nodes.push_back(of_op.front());
    }
    return nodes;
  }

  // A reason not to fuse with another kernel of this part.
  using Reason = std::pair<std::int32_t, QString>;

  // Adds the reasons why this kernel was not fused with those of the node's inputs and users.
  void add_refusals() {
    std::map<std::int32_t, NodeId> neighbors;  // by kernel of this part
    const auto add_neighbor = [&](NodeId id) {
      const std::int32_t row = of_.row_of(id);
      if (row < 0 || !of_.rows()[as_index(row)].launches) return;
      if (of_.rows()[as_index(row)].part != of_.rows()[row_].part) return;
      neighbors.emplace(of_.rows()[as_index(row)].kernel, id);
    };
    for (const NodeId input : graph_.inputs(node_)) add_neighbor(input);
    for (const NodeId user : of_.snapshot()->users.of(node_)) add_neighbor(user);
    const std::int32_t self = of_.rows()[row_].kernel;
    std::set<std::pair<std::int32_t, kernels::Refusal>> refused;
    for (const auto& [other, refusal] : part_.scheduled.refusals_of(self))
      if (neighbors.contains(other)) refused.emplace(other, refusal);
    std::set<std::pair<std::int32_t, std::string>> stated;
    for (const StatedRefusal& each : part_.stated) {
      if (each.first != self && each.second != self) continue;
      const std::int32_t other = each.first == self ? each.second : each.first;
      if (neighbors.contains(other)) stated.emplace(other, each.reason);
    }
    // Inductor does not try to fuse library calls and collectives, so no refusal is recorded.
    for (const auto& [other, id] : neighbors) {
      const kernels::Kernel& kernel = part_.scheduled.kernels[as_index(other)];
      const auto known = refused.lower_bound({other, kernels::Refusal{}});
      const auto said = stated.lower_bound({other, std::string()});
      const bool is_known = (known != refused.end() && known->first == other) ||
                            (said != stated.end() && said->first == other);
      if (other != self && !is_known && (is_call(kernel_) || is_call(kernel)))
        refused.emplace(other, kernels::Refusal::is_external);
    }
    std::vector<Reason> reasons;
    for (const auto& [other, refusal] : refused)
      reasons.emplace_back(other, to_qstring(kernels::to_sentence(refusal)));
    for (const auto& [other, reason] : stated)
      reasons.emplace_back(other, tr("Inductor: %1").arg(to_qstring(reason)));
    std::ranges::stable_sort(reasons, {}, &Reason::first);
    for (std::size_t i = 0; i < std::min(reasons.size(), kMaxNeighborRefusals); ++i) {
      const auto& [other, reason] = reasons[i];
      add(tr("not fused with"), tr("kernel %1: %2").arg(number_of(other), reason));
      section_.rows.back().links = {neighbors[other]};
    }
    if (reasons.size() > kMaxNeighborRefusals)
      add(tr("not fused with"),
          tr("%1 more").arg(count_text(reasons.size() - kMaxNeighborRefusals)));
  }

  const SnapshotKernels& of_;
  const Graph& graph_;
  NodeId node_;
  std::size_t row_;
  ShownKernels::Source source_;
  const CompiledPart& part_;
  const kernels::Kernel& kernel_;
  std::size_t first_;  // the row of the part's first kernel
  InspectorSection section_;
};

}  // namespace

InspectorSection describe_kernel_of(const SnapshotKernels& of, NodeId node,
                                    ShownKernels::Source source) {
  const std::int32_t row = of.row_of(node);
  return row < 0 ? InspectorSection() : KernelOfNode(of, node, as_index(row), source).run();
}

}  // namespace jointer::views
