// Splits a pipeline stage's joint graph into a pair: a forward and a backward that a schedule runs
// at different times.
//
// Terms. The forward's outputs are the first outputs of the graph; the others are gradients. The
// inputs that only the backward has come from the next stage: they are the gradients of this
// stage's outputs. A value is a forward value if a forward output depends on it, and a backward
// value if a gradient depends on it.
//
// Steps. Save:
//   - forward values that are read by a node that only gradients depend on;
//   - placeholders that are returned next to gradients;
//   - values other than placeholders that a call writes to before the last forward output, if a
//     gradient depends on the value, but none on the call.
// Instead of a tuple, save the elements that the backward reads. The forward returns its outputs,
// the saved values, and the calls up to the last forward output that write in place and that no
// gradient depends on; the backward's inputs are the saved values, then the inputs that only the
// backward has. extract.cpp extracts both halves.
//
// Cost: linear in the number of edges.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/graph_pp/partition.py. Like upstream, this
// does not search for a cut: passes on the joint graph have already decided which values are
// recomputed.

#include <algorithm>

#include "core/graph/complete.h"
#include "core/graph/derive.h"
#include "core/graph/users.h"
#include "passes/graph_pp/extract.h"
#include "passes/graph_pp/stages.h"
#include "passes/support/unknown_name.h"

namespace jointer {
namespace {

class StagePartition {
 public:
  StagePartition(const Graph& joint, std::size_t forward_outputs, const StageReasons& reasons)
      : joint_(joint), users_(joint), count_(forward_outputs), reasons_(reasons) {}

  Result<Graph> run(const std::vector<std::string>& backward_inputs) {
    JOINTER_TRY(const std::vector<NodeId> returned, returned_nodes(joint_, PartId(0)));
    if (count_ == 0 || count_ > returned.size())
      return fail(Error::Kind::usage,
                  "forward_outputs={}: expected an integer from 1 to {}, the number of outputs",
                  count_, returned.size());
    const auto middle = returned.begin() + static_cast<std::ptrdiff_t>(count_);
    forward_outputs_.assign(returned.begin(), middle);
    backward_outputs_.assign(middle, returned.end());
    JOINTER_CHECK(find_backward_inputs(backward_inputs));
    in_forward_ = ancestors(joint_, forward_outputs_);
    in_backward_ = ancestors(joint_, backward_outputs_);
    find_read_by_backward();
    find_passed_through();
    JOINTER_CHECK(find_writes());
    saved_ = unique_in_order(saved_);
    flatten();
    return write();
  }

 private:
  Result<void> find_backward_inputs(const std::vector<std::string>& names) {
    is_backward_input_.assign(joint_.node_count(), false);
    for (const std::string& name : names) {
      const NodeId id = joint_.find(name);
      if (!id || joint_.node(id).kind != NodeKind::placeholder)
        return unknown_name("backward_inputs", "placeholder", name, placeholder_names());
      if (is_backward_input_[id.index()])
        return fail(Error::Kind::usage, "backward_inputs: {} is given twice; leave out one", name);
      is_backward_input_[id.index()] = true;
    }
    return {};
  }

  [[nodiscard]] std::vector<std::string_view> placeholder_names() const {
    std::vector<std::string_view> names;
    for (const NodeId id : placeholders(joint_, PartId(0))) names.push_back(joint_.name(id));
    return names;
  }

  void say(NodeId id, std::string action, std::string reason) {
    reasons_(joint_, id, std::move(action), std::move(reason));
  }

  void find_read_by_backward() {
    for (const NodeId id : joint_.order()) {
      if (!in_forward_[id.index()] || is_backward_input_[id.index()]) continue;
      const auto readers = users_.of(id);
      const auto reader = std::ranges::find_if(readers, [&](NodeId user) {
        return in_backward_[user.index()] && !in_forward_[user.index()];
      });
      if (reader == readers.end()) continue;
      saved_.push_back(id);
      say(id, "saved", fmt::format("{} in the backward reads it.", joint_.name(*reader)));
    }
  }

  void find_passed_through() {
    for (const NodeId id : unique_in_order(backward_outputs_)) {
      if (!id || joint_.node(id).kind != NodeKind::placeholder || is_backward_input_[id.index()])
        continue;
      saved_.push_back(id);
      say(id, "saved", "The backward returns it along with a gradient.");
    }
  }

  // The placeholder or call at the base of a chain of views.
  [[nodiscard]] NodeId base_of(NodeId id) const {
    for (;;) {
      const Node& n = joint_.node(id);
      const auto args = joint_.args(n);
      if (n.kind != NodeKind::call || !joint_.op(n).is_view || args.empty() ||
          args[0].kind != Argument::Kind::node)
        return id;
      id = args[0].node();
    }
  }

  Result<void> find_writes() {
    std::size_t last = 0;
    bool is_any = false;
    for (const NodeId id : forward_outputs_)
      if (id) {
        last = std::max(last, joint_.position(id));
        is_any = true;
      }
    if (!is_any) return {};
    for (const NodeId id : joint_.order()) {
      const Node& n = joint_.node(id);
      if (joint_.position(id) > last) break;
      if (in_backward_[id.index()] || n.kind != NodeKind::call || !joint_.op(n).mutates) continue;
      const auto args = joint_.args(n);
      if (args.empty() || args[0].kind != Argument::Kind::node) continue;
      const NodeId base = base_of(args[0].node());
      if (is_backward_input_[base.index()])
        return fail(Error::Kind::usage,
                    "{} in the forward writes to {}, which is an input of the backward; correct "
                    "forward_outputs or backward_inputs",
                    joint_.name(id), joint_.name(base));
      writes_.push_back(id);
      say(id, "returned", "The forward returns it, so that its write is not dropped.");
      if (joint_.node(base).kind == NodeKind::placeholder || !in_backward_[base.index()]) continue;
      saved_.push_back(base);
      say(base, "saved",
          fmt::format("{} writes to it in the forward, and the backward reads it.",
                      joint_.name(id)));
    }
    writes_ = unique_in_order(writes_);
    return {};
  }

  void flatten() {
    std::vector<NodeId> flat;
    for (const NodeId id : saved_) add_elements(id, flat);
    saved_ = unique_in_order(flat);
  }

  void add_elements(NodeId id, std::vector<NodeId>& flat) {
    std::vector<NodeId> readers;
    if (joint_.node(id).value.kind == Value::Kind::list)
      for (const NodeId user : users_.of(id))
        if (in_backward_[user.index()]) readers.push_back(user);
    const bool is_taken_apart = !readers.empty() && std::ranges::all_of(readers, [&](NodeId user) {
      return joint_.op(joint_.node(user)).is_getitem;
    });
    if (!is_taken_apart) {
      flat.push_back(id);
      return;
    }
    for (const NodeId user : readers) {
      say(user, "saved",
          fmt::format("It is an element of {} that the backward reads.", joint_.name(id)));
      add_elements(user, flat);
    }
  }

  Result<Graph> write() {
    std::vector<NodeId> forward_returned = forward_outputs_;
    forward_returned.insert(forward_returned.end(), saved_.begin(), saved_.end());
    forward_returned.insert(forward_returned.end(), writes_.begin(), writes_.end());
    const auto needed = ancestors(joint_, forward_returned);
    const auto needed_later = ancestors(joint_, backward_outputs_);
    std::vector<NodeId> forward_inputs, backward_inputs = saved_;
    for (const NodeId id : placeholders(joint_, PartId(0))) {
      if (needed[id.index()] && is_backward_input_[id.index()])
        return fail(Error::Kind::usage,
                    "the forward depends on {}, which is an input of the backward; correct "
                    "forward_outputs or backward_inputs",
                    joint_.name(id));
      if (needed[id.index()]) forward_inputs.push_back(id);
      if (is_backward_input_[id.index()] && needed_later[id.index()]) backward_inputs.push_back(id);
    }
    JOINTER_TRY(const Extraction forward,
                extract(joint_, PartId(0), std::move(forward_inputs), std::move(forward_returned)));
    JOINTER_TRY(const Extraction backward,
                extract(joint_, PartId(0), std::move(backward_inputs), backward_outputs_));
    return write(forward, backward);
  }

  // The descriptions of the forward's outputs: those in the joint graph, and for saved values and
  // writes, those that other partitioners give to saved values.
  [[nodiscard]] std::string forward_descriptions(std::span<const std::string> all) const {
    std::vector<std::string> chosen;
    for (std::size_t i = 0; i < count_; ++i)
      chosen.push_back(i < all.size() ? all[i]
                                      : fmt::format(R"({{"type":"PlainAOTOutput","idx":{}}})", i));
    for (std::size_t i = 0; i < saved_.size() + writes_.size(); ++i)
      chosen.push_back(fmt::format(R"({{"type":"SavedForBackwardsAOTOutput","idx":{}}})", i));
    return join_descriptions(chosen, chosen.size());
  }

  Result<Graph> write(const Extraction& forward, const Extraction& backward) {
    const std::vector<std::string> all = output_descriptions(joint_, PartId(0));
    const std::size_t first = std::min(count_, all.size());
    const std::string name = joint_.part(PartId(0)).name;
    Graph pair;
    write_extraction(joint_, PartId(0), forward, pair, CaptureKind::forward, name + ".fw",
                     forward_descriptions(all));
    const auto written =
        write_extraction(joint_, PartId(0), backward, pair, CaptureKind::backward, name + ".bw",
                         join_descriptions(std::span(all).subspan(first), backward.outputs.size()));
    for (const NodeId id : backward.inputs) {
      Node& n = pair.node(written[id.index()]);
      if (is_backward_input_[id.index()] && !n.desc)
        n.desc = pair.intern(R"({"type":"TangentAOTInput"})");
    }
    pair.set_title(std::string(joint_.title()) + ".graph_pp");
    JOINTER_CHECK(complete(pair, joint_));
    return pair;
  }

  const Graph& joint_;
  const Users users_;
  std::size_t count_;
  const StageReasons& reasons_;
  std::vector<NodeId> forward_outputs_, backward_outputs_;
  std::vector<bool> is_backward_input_, in_forward_, in_backward_;  // by node
  std::vector<NodeId> saved_, writes_;
};

}  // namespace

Result<Graph> partition_joint_graph(const Graph& joint, std::size_t forward_outputs,
                                    const std::vector<std::string>& backward_inputs,
                                    const StageReasons& reasons) {
  if (joint.is_pair())
    return fail(Error::Kind::usage,
                "the graph is already a forward/backward pair; run the pass on its joint graph");
  return StagePartition(joint, forward_outputs, reasons).run(backward_inputs);
}

}  // namespace jointer
