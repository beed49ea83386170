// Describes a node for the inspector, section by section. The description consists of text and ids,
// which inspector_html.cpp formats.

#include "views/inspector/describe_nodes.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/bench/reached_rates.h"
#include "core/cost/collective_model.h"
#include "core/graph/group_argument.h"
#include "views/inspector/inspector_words.h"
#include "views/inspector/storage_aliases.h"
#include "views/session/snapshot/stack_trace.h"
#include "views/session/text/measured_text.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"
#include "views/session/text/ranks_text.h"
#include "views/session/translation/tr.h"
#include "views/theme/theme.h"

namespace jointer::views {

using namespace inspector;

namespace {

QString dims_text(const Graph& graph, std::span<const Dim> dims) {
  QStringList parts;
  for (const Dim& dim : dims) {
    const QString number = QString::number(dim.value);
    parts << (dim.expression ? to_qstring(graph.expression_text(dim.expression)) + u'=' + number
                             : number);
  }
  return u'[' + parts.join(QStringLiteral(", ")) + u']';
}

bool is_symbolic(std::span<const Dim> dims) {
  return std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return bool(d.expression); });
}

class Describer {
 public:
  Describer(const Snapshot& snapshot, NodeId id, const MeasuredTimeline* measured)
      : snapshot_(snapshot),
        graph_(snapshot.graph),
        id_(id),
        node_(graph_.node(id)),
        measured_(measured) {}

  InspectorContent describe() {
    content_.title = to_qstring(graph_.name(id_));
    content_.subtitle = node_.kind == NodeKind::call ? to_qstring(graph_.target(node_)) : kind();
    collective();  // first, since exposure matters most for a collective
    tensors();
    memory();
    cost();
    place();
    neighbors();
    call();
    stack();
    return std::move(content_);
  }

 private:
  [[nodiscard]] QString kind() const {
    switch (node_.kind) {
      case NodeKind::placeholder:
        return tr("placeholder");
      case NodeKind::get_attr:
        return tr("get_attr");
      case NodeKind::output:
        return tr("output");
      case NodeKind::call:
        break;
    }
    return {};
  }

  InspectorSection& section(const QString& title) {
    content_.sections.push_back({title, {}});
    return content_.sections.back();
  }

  void tensors() {
    const auto tensors = graph_.tensors(node_);
    if (tensors.empty()) {
      if (const QString value = value_text(graph_, node_); !value.isEmpty())
        section(tr("Value")).add_code(tr("value"), value);
      return;
    }
    constexpr std::size_t kMaxTensors = 8;
    for (std::size_t i = 0; i < std::min(tensors.size(), kMaxTensors); ++i)
      tensor(tensors[i], tensors.size() == 1 ? tr("Tensor") : tr("Tensor %1").arg(i));
    if (tensors.size() > kMaxTensors)
      section(tr("More tensors"))
          .add(tr("not shown"),
               tr("%1 more; %2 for all outputs")
                   .arg(tensors.size() - kMaxTensors)
                   .arg(bytes_text(graph_.output_bytes(node_))),
               Provenance::computed);
  }

  void tensor(const Tensor& t, const QString& title) {
    InspectorSection& s = section(title);
    const bool is_assumed = is_symbolic(graph_.shape(t));
    const Provenance sizes = is_assumed ? Provenance::assumed : Provenance::captured;
    s.add_code(tr("type"), to_qstring(to_string(t.dtype)));
    s.add_code(tr("shape"), dims_text(graph_, graph_.shape(t)), sizes,
               is_assumed ? tr("The Sizes button at the top lists the values of "
                               "symbols.")
                          : QString());
    if (t.has(Tensor::has_stride)) s.add_code(tr("stride"), dims_text(graph_, graph_.stride(t)));
    if (graph_.offset(t).value != 0)
      s.add_code(tr("offset"), QString::number(graph_.offset(t).value));
    if (t.device) s.add_code(tr("device"), to_qstring(graph_.text(graph_.device(t.device).name)));
    s.add(tr("output"), bytes_text(graph_.bytes(t)),
          is_assumed ? Provenance::assumed : Provenance::computed,
          exact_bytes_text(graph_.bytes(t)) + tr(": elements × item size."));
  }

  void memory() {
    const MemoryTimeline& memory = snapshot_.analysis.memory;
    constexpr std::size_t kMaxStorages = 4;
    InspectorSection s{tr("Memory"), {}};
    std::vector<StorageId> seen;
    std::size_t count = 0;
    std::int64_t bytes = 0;  // of all storages
    for (const Tensor& t : graph_.tensors(node_)) {
      if (!t.storage) continue;
      const StorageId storage = graph_.real_storage(t.storage);
      if (std::find(seen.begin(), seen.end(), storage) != seen.end()) continue;
      seen.push_back(storage);
      const auto index = memory.lifetime_of(storage);
      if (!index) continue;
      const Lifetime& l = memory.lifetimes()[*index];
      bytes = saturating_add(bytes, l.bytes);
      if (++count > kMaxStorages) continue;
      const Provenance identity =
          t.has(Tensor::has_storage) ? Provenance::captured : Provenance::derived;
      s.add(tr("storage"), tr("%1, %2").arg(bytes_text(l.bytes), category_label(l.category)),
            identity,
            exact_bytes_text(l.bytes) +
                (snapshot_.analysis.compiled
                     ? tr(". Sizes are rounded up as by the device's allocator, except for "
                          "buffers of compiled kernels.")
                     : tr(", rounded up as by the device's allocator.")));
      s.add(tr("lifetime"), lifetime_words(l), Provenance::computed,
            tr("Calls are numbered from 0, in the order in which they run."));
      if (l.producer != id_) s.rows.push_back(link_row(tr("allocated by"), {{l.producer}}));
      const std::vector<NodeId> others = storage_aliases(snapshot_, id_, storage);
      if (!others.empty()) s.rows.push_back(link_row(tr("aliases"), others));
    }
    if (count > kMaxStorages)
      s.add(tr("storages not shown"),
            tr("%1 more, %2 in total").arg(count - kMaxStorages).arg(bytes_text(bytes)),
            Provenance::computed);
    if (!s.rows.empty()) content_.sections.push_back(std::move(s));
  }

  [[nodiscard]] QString lifetime_words(const Lifetime& l) const {
    const auto steps = static_cast<std::int32_t>(snapshot_.analysis.memory.steps().size());
    if (l.first < 0 && l.last >= steps) return tr("whole step");
    if (l.first < 0) return tr("from the start to call %1").arg(count_text(l.last));
    if (l.last >= steps) return tr("from call %1 to the end").arg(count_text(l.first));
    if (l.first == l.last) return tr("call %1").arg(count_text(l.first));
    return tr("calls %1 to %2").arg(count_text(l.first), count_text(l.last));
  }

  void cost() {
    const NodeCost& cost = snapshot_.analysis.costs[id_.index()];
    const NodeTiming& timing = snapshot_.analysis.simulation.timing(id_);
    const Flops& flops = snapshot_.analysis.flops[id_.index()];
    const MeasuredNode* measured = measured_ == nullptr ? nullptr : measured_->find(id_);
    const MeasuredBlock* block = measured_ == nullptr ? nullptr : measured_->block_of(id_);
    if (cost.ns == 0 && flops.total == 0 && timing.end == timing.start && measured == nullptr &&
        block == nullptr)
      return;
    InspectorSection& s = section(tr("Cost"));
    if (measured != nullptr) add_measured(s, *measured);
    if (block != nullptr) add_measured(s, *block);
    const QString estimator = to_qstring(snapshot_.analysis.estimator);
    const QString limit = limit_text(cost.limit), time = time_text(cost.ns);
    if (cost.ns > 0)
      s.add(tr("time"), limit.isEmpty() ? time : tr("%1, bound by %2").arg(time, limit),
            Provenance::estimated, tr("%1 ns. Estimator: %2.").arg(count_text(cost.ns), estimator));
    if (timing.end > timing.start)
      s.add(graph_.is_wait(node_) ? tr("stall") : tr("runs"),
            time_range_text(timing.start, timing.end), Provenance::estimated,
            tr("Relative to the start of the simulated step."));
    if (flops.total > 0)
      s.add(tr("FLOPs"), flops_text(flops.total), Provenance::computed,
            tr("%1, computed from shapes; torch.utils.flop_counter counts %2.")
                .arg(count_text(flops.total), count_text(flops.torch_registry)));
    if (flops.total > 0 && cost.ns > 0)
      s.add(tr("rate"),
            to_qstring(format_rate(static_cast<double>(flops.total) /
                                   (static_cast<double>(cost.ns) / 1e9))),
            Provenance::estimated, tr("FLOPs divided by the estimated time."));
  }

  void add_measured(InspectorSection& s, const MeasuredNode& m) {
    const Measurement& measurement = measured_->measurement();
    if (const auto ns = measured_ns(snapshot_, m)) {
      const std::int64_t estimate = estimated_ns(snapshot_, id_);
      const QString ratio = ratio_text(*ns, estimate);
      s.add(tr("measured"),
            tr("%1 (%2) · estimated %3")
                .arg(time_text(*ns), to_qstring(measurement.label), time_text(estimate)),
            Provenance::measured,
            tr("%1 ns on %2.").arg(count_text(*ns), to_qstring(measurement.device)) +
                (ratio.isEmpty() ? QString() : tr(" %1 the estimate.").arg(ratio)));
    }
    add_rates(s, m);
    s.add(tr("ran"), time_range_text(m.start_ns, m.end_ns), Provenance::measured,
          tr("Relative to the start of the measured step."));
  }

  // Adds the FLOP and byte rates that follow from the measured time.
  void add_rates(InspectorSection& s, const MeasuredNode& m) {
    const auto ns = measured_ns(snapshot_, m);
    if (!ns) return;
    const std::string rates =
        reached_rates(graph_, snapshot_.analysis, measured_->measurement(), id_, *ns);
    if (rates.empty()) return;
    s.add(tr("reached"), to_qstring(rates), Provenance::measured,
          tr("FLOPs, and the minimum number of bytes that the kernel must move, divided by "
             "the measured time. For a collective, the bus bandwidth as nccl-tests defines "
             "it."));
  }

  void add_measured(InspectorSection& s, const MeasuredBlock& block) {
    const Measurement& measurement = measured_->measurement();
    s.add(tr("measured"), tr("part of %1").arg(block_text(block)), Provenance::measured,
          tr("On %1, a compiled package ran in place of the block's nodes, "
             "which were not timed individually.")
              .arg(to_qstring(measurement.device)));
    s.add(tr("block"),
          tr("%1 (%2) · estimated %3")
              .arg(time_text(block.own_ns), to_qstring(measurement.label),
                   time_text(estimated_ns(snapshot_, block))),
          Provenance::measured,
          tr("Duration of the whole block measured alone: the median of several runs. In "
             "the profiled step, it ran for %1. The estimate is the sum over its nodes, "
             "without asynchronous collectives and copies.")
              .arg(time_text(block.end_ns - block.start_ns)));
    s.add(tr("peak"), bytes_text(block.peak_bytes), Provenance::measured,
          tr("Maximum allocated memory while the block ran."));
  }

  void collective() {
    const std::int32_t index = snapshot_.analysis.simulation.collective_of(id_);
    if (index < 0) return;
    const CollectiveTiming& c =
        snapshot_.analysis.simulation.collectives()[static_cast<std::size_t>(index)];
    InspectorSection& s = section(c.is_transfer ? tr("Copy") : tr("Collective"));
    const Node& start = graph_.node(c.start);
    const QString reason = to_qstring(reason_text(graph_, c));
    s.add(tr("exposed"), c.is_exposed() ? time_text(c.exposed_ns) : tr("hidden"),
          Provenance::estimated,
          c.is_transfer
              ? tr("Time during which the compute stream waits for the copy, or the copy "
                   "runs after the last kernel.")
              : tr("Time during which the compute stream waits for the collective, or the "
                   "collective runs after the last kernel."));
    if (!reason.isEmpty())
      s.add(tr("because"), reason, Provenance::computed, tr("From the simulated step."));
    if (!c.is_transfer) s.add(tr("kind"), to_qstring(to_string(graph_.op(start).collective)));
    if (c.group) {
      const ProcessGroup& group = graph_.group(c.group);
      s.add(tr("group"), to_qstring(graph_.group_label(c.group)));
      s.add(tr("ranks"), ranks_text(graph_, start),
            group.derived ? Provenance::derived : Provenance::captured,
            group.derived ? derivation_of_ranks(start, group) : QString());
    }
    if (!c.is_transfer) {
      const std::int64_t bytes = collective_bytes(graph_, start);
      s.add(
          tr("message"), bytes_text(bytes), Provenance::computed,
          exact_bytes_text(bytes) + tr(": size of a rank's input or output, whichever is larger."));
    }
    s.add(tr("in flight"),
          tr("%1, %2").arg(time_range_text(c.start_ns, c.end_ns), time_text(c.end_ns - c.start_ns)),
          Provenance::estimated,
          tr("At %1, the communication has been launched and all earlier work on the compute "
             "stream is done.")
              .arg(time_text(c.ready_ns)));
    if (c.start != id_) s.rows.push_back(link_row(tr("start"), {{c.start}}));
    if (c.wait && c.wait != id_) s.rows.push_back(link_row(tr("wait"), {{c.wait}}));
  }

  // How the ranks of a group that the capture does not describe are determined.
  [[nodiscard]] QString derivation_of_ranks(const Node& start, const ProcessGroup& group) const {
    if (group.ranks.empty() && known_group_size(graph_, start))
      return tr("The graph does not say which ranks are in the group.");
    if (group.ranks.empty())
      return tr("The graph does not say which ranks are in the group. Estimates assume %1.")
          .arg(counted_text(estimated_group_size(graph_, start), tr("1 rank"), tr("%1 ranks")));
    if (const ProcessGroup* original = original_of(graph_, group))
      return tr("The group is named after %1, so it is assumed to have the same ranks.")
          .arg(to_qstring(graph_.text(original->name)));
    return tr(
        "The group_size argument gives the number of ranks; the ranks themselves are assumed.");
  }

  void place() {
    InspectorSection& s = section(tr("Location"));
    s.add(tr("phase"), phase_text(node_));
    const Module& module = snapshot_.analysis.modules.module(snapshot_.analysis.modules.of(id_));
    if (!module.path.empty())
      s.add_code(tr("module"), to_qstring(module.path), Provenance::captured,
                 to_qstring(module.type));
    if (node_.role != Role::none) s.add(tr("role"), role_text(node_.role));
    if (node_.role_target && !graph_.text(node_.role_target).empty())
      s.add_code(tr("for"), to_qstring(graph_.text(node_.role_target)));
    if (node_.policy != MemoryPolicy::none) s.add(tr("policy tag"), policy_text(node_.policy));
    const auto step = snapshot_.analysis.memory.step_of(id_);
    s.add(tr("position"),
          step ? tr("%1, call %2").arg(count_text(graph_.position(id_)), count_text(*step))
               : count_text(graph_.position(id_)),
          Provenance::computed,
          tr("Position among %1 in program order, from 0. Calls are numbered from 0, in the "
             "order in which they run.")
              .arg(nodes_text(graph_.order().size())));
    if (node_.has(Node::has_seq_nr)) s.add(tr("seq_nr"), QString::number(node_.seq_nr));
    if (node_.original_aten)
      s.add_code(tr("original_aten"), to_qstring(graph_.text(node_.original_aten)));
    if (node_.has(Node::has_ac_graph_id))
      s.add(tr("ac_graph_id"), QString::number(node_.ac_graph_id));
    if (node_.origin) s.rows.push_back(link_row(tr("origin"), {{node_.origin}}));
    if (node_.partner) s.rows.push_back(link_row(tr("provided by"), {{node_.partner}}));
  }

  void neighbors() {
    const auto inputs = graph_.inputs(id_);
    const auto users = snapshot_.users.of(id_);
    if (inputs.empty() && users.empty()) return;
    InspectorSection& s = section(tr("Graph"));
    if (!inputs.empty())
      s.rows.push_back(link_row(tr("inputs (%1)").arg(count_text(inputs.size())), inputs));
    if (!users.empty())
      s.rows.push_back(link_row(tr("users (%1)").arg(count_text(users.size())), users));
  }

  void call() {
    const QString arguments = arguments_text(graph_, node_);
    if (arguments.isEmpty() && !node_.custom) return;
    InspectorSection& s = section(tr("Call"));
    if (!arguments.isEmpty()) s.add_code(tr("arguments"), arguments);
    if (node_.custom) s.add_code(tr("annotations"), to_qstring(graph_.text(node_.custom)));
  }

  void stack() {
    if (!node_.stack) return;
    const auto frames = parse_stack(graph_.text(graph_.stack(node_.stack).text));
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      content_.stack.push_back({.file = to_qstring(frame->file),
                                .function = to_qstring(frame->function),
                                .code = to_qstring(frame->code),
                                .line = frame->line});
  }

  const Snapshot& snapshot_;
  const Graph& graph_;
  NodeId id_;
  const Node& node_;
  const MeasuredTimeline* measured_;
  InspectorContent content_;
};

}  // namespace

InspectorContent describe(const Snapshot& snapshot, NodeId node, const MeasuredTimeline* measured) {
  return Describer(snapshot, node, measured).describe();
}

}  // namespace jointer::views
