// Offloads saved values of a pair to host memory between its halves.
//
// Steps
//   1. Find each value's placeholder in the backward, the last use of its storage in the forward (a
//      use of a view counts), and its first reader in the backward.
//   2. Add the new nodes, and redirect the readers: the output of the forward and all readers in
//      the backward.
//   3. Insert the new calls into the order of both halves. Other calls keep their order.
// The value's placeholder in the backward is replaced by a placeholder with a different name and
// device.
//
// Cost: linear in nodes and edges, plus sorting the copies.

#include "core/partition/add_offload.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/graph/replace_inputs.h"
#include "core/graph/storages.h"
#include "core/partition/offload_transfers.h"
#include "core/partition/offloadable.h"

namespace jointer {
namespace {

class Adder {
 public:
  Adder(Graph& pair, std::span<const NodeId> values)
      : pair_(pair), values_(values), slot_by_node_(pair.node_count(), -1) {}

  Result<void> run() {
    JOINTER_CHECK(find_placeholders());
    find_halves();
    find_uses();
    const std::vector<TransferCall> offloads =
        offload_calls(TransferPlanner(layers_[0]), last_use_);
    const std::vector<TransferCall> reloads = reload_calls(TransferPlanner(layers_[1]), first_use_);
    std::vector<NodeId> order(pair_.order().begin(), pair_.order().end());
    for (std::size_t v = 0; v < values_.size(); ++v) add_nodes(v);
    remember_storages();
    rewire();
    find_storages();
    order = place(order, offloads, reloads);
    std::vector<NodeId> dropped;
    for (const Slot& slot : slots_) dropped.push_back(slot.placeholder);
    pair_.erase(dropped);
    pair_.set_order(std::move(order));
    return pair_.finish();
  }

 private:
  // The nodes involved in offloading one value.
  struct Slot {
    NodeId placeholder;  // the one to replace
    NodeId reader;       // the first call of the backward that reads it; none if there is none
    NodeId offload, waited, given, reload, back;  // `given`: the new placeholder
  };

  Result<void> find_placeholders() {
    if (!pair_.is_pair())
      return fail(Error::Kind::usage,
                  "copies to the host can be added only to a pair; partition a joint graph first");
    slots_.resize(values_.size());
    const Offloadable offloadable(pair_);
    for (std::size_t v = 0; v < values_.size(); ++v) {
      if (const std::string why = offloadable.why_not(values_[v]); !why.empty())
        return fail(Error::Kind::usage, "{}", why);
      slot_by_node_[values_[v].index()] = static_cast<std::int32_t>(v);
    }
    for (const NodeId id : pair_.order())
      if (pair_.node(id).kind == NodeKind::placeholder)
        if (const std::int32_t v = slot_read_as(id); v >= 0)
          slots_[static_cast<std::size_t>(v)].placeholder = id;
    for (const OutputEntry& entry : pair_.part(kForwardPart).outputs)
      if (entry.node && entry.role != Role::saved && slot_by_node_[entry.node.index()] >= 0)
        return fail(Error::Kind::usage,
                    "{} cannot be offloaded: it is a result of the forward and stays on the device",
                    pair_.name(entry.node));
    for (std::size_t v = 0; v < values_.size(); ++v)
      if (!slots_[v].placeholder)
        return fail(Error::Kind::usage, "{} cannot be offloaded: it is not saved for backward",
                    pair_.name(values_[v]));
    return {};
  }

  void find_halves() {
    const std::vector<std::int32_t> layers = layers_by_node(pair_);
    index_.assign(pair_.node_count(), 0);
    for (const NodeId id : pair_.order()) {
      const Node& n = pair_.node(id);
      if (n.kind != NodeKind::call) continue;
      const std::size_t half = n.part.index();
      index_[id.index()] = layers_[half].size();
      layers_[half].push_back(layers[id.index()]);
    }
  }

  [[nodiscard]] StorageId storage_of(NodeId value) const {
    const Tensor& t = *pair_.single_tensor(pair_.node(value));
    return t.storage ? pair_.real_storage(t.storage) : StorageId{};
  }

  void find_uses() {
    std::vector<std::size_t> last(pair_.storage_count(), 0);
    for (const NodeId id : pair_.order()) {
      const Node& n = pair_.node(id);
      if (n.part != kForwardPart || n.kind != NodeKind::call) continue;
      const auto use = [&](NodeId of) {
        for (const Tensor& t : pair_.tensors(of))
          if (t.storage) last[pair_.real_storage(t.storage).index()] = index_[id.index()];
      };
      use(id);
      for (const NodeId input : pair_.inputs(n)) use(input);
    }
    for (const NodeId value : values_) {
      const StorageId storage = storage_of(value);
      last_use_.push_back(storage ? last[storage.index()] : index_[value.index()]);
    }
    first_use_.assign(values_.size(), layers_[1].size());
    for (const NodeId id : pair_.order()) {
      const Node& n = pair_.node(id);
      if (n.part != kBackwardPart || n.kind != NodeKind::call) continue;
      for (const NodeId input : pair_.inputs(n)) {
        const std::int32_t v = slot_read_as(input);
        if (v < 0) continue;
        std::size_t& first = first_use_[static_cast<std::size_t>(v)];
        if (index_[id.index()] >= first) continue;
        first = index_[id.index()];
        slots_[static_cast<std::size_t>(v)].reader = id;
      }
    }
  }

  // A name that is unused in both halves, because a saved value has the same name in both.
  [[nodiscard]] StringId fresh_name(const std::string& base) {
    std::string name = base;
    for (int i = 1; pair_.find(kForwardPart, name) || pair_.find(kBackwardPart, name); ++i)
      name = fmt::format("{}_{}", base, i);
    return pair_.intern(name);
  }

  [[nodiscard]] TensorId tensor_on(const Node& like, DeviceId device, StorageId storage) {
    Tensor t = *pair_.single_tensor(like);
    const std::vector<Dim> shape(pair_.shape(t).begin(), pair_.shape(t).end());
    std::vector<Dim> stride;
    if (t.has(Tensor::has_stride)) stride.assign(pair_.stride(t).begin(), pair_.stride(t).end());
    t.device = device;
    t.storage = storage;
    t.set(Tensor::has_storage);
    return pair_.add_tensor(t, shape, stride, {});
  }

  [[nodiscard]] Node call(const Node& like, PartId part, std::string_view target,
                          const std::string& name, std::span<const Argument> args) {
    Node n;
    n.part = part;
    n.name = fresh_name(name);
    n.target = pair_.intern_operator(target);
    n.phase = part == kForwardPart ? Phase::forward : Phase::backward;
    n.module = like.module;
    n.stack = like.stack;
    n.partitioner_tag = pair_.intern(part == kForwardPart ? "is_forward" : "is_backward");
    n.args = pair_.make_children(Argument::Kind::list, args);
    n.set(Node::has_args);
    n.set(Node::has_value);
    return n;
  }

  NodeId add(Node n, const Node& like, DeviceId device, StorageId storage) {
    n.value = Value::of_tensor(tensor_on(like, device, storage));
    return pair_.add_node(n);
  }

  void add_nodes(std::size_t v) {
    const NodeId value = values_[v];
    const Node source = pair_.node(value);
    Slot& slot = slots_[v];
    const Node old = pair_.node(slot.placeholder);
    const std::string name(pair_.name(value));
    const DeviceId device = pair_.single_tensor(source)->device;
    const DeviceId host = pair_.intern_device("cpu");
    const Dim bytes{.value = pair_.bytes(*pair_.single_tensor(source)), .expression = {}};
    const auto storage_in = [&](PartId part, DeviceId on) {
      const StorageId storage = pair_.add_storage(part, bytes);
      pair_.storage(storage).device = on;
      return storage;
    };
    const auto ref = [](NodeId id) { return Argument::of_node(id); };

    const StorageId on_host = storage_in(kForwardPart, host);
    slot.offload = add(call(source, kForwardPart, "ao.offload.default", "async_cpu_offload_" + name,
                            std::array{ref(value)}),
                       source, host, on_host);
    slot.waited = add(call(source, kForwardPart, "ao.wait_tensor.default", "cpu_offload_" + name,
                           std::array{ref(slot.offload), ref(value)}),
                      source, host, on_host);
    Node given = old;
    given.name = pair_.intern(pair_.name(slot.waited));
    given.target = pair_.intern_operator(pair_.name(slot.waited));
    given.partner = slot.waited;
    slot.given = add(given, source, host, storage_in(kBackwardPart, host));

    const Node reader = slot.reader ? pair_.node(slot.reader) : Node{};
    const StorageId on_device = storage_in(kBackwardPart, device);
    const Argument where = Argument::of_text(Argument::Kind::device,
                                             pair_.intern(pair_.text(pair_.device(device).name)));
    slot.reload = add(call(reader, kBackwardPart, "ao.reload.default", "async_gpu_reload_" + name,
                           std::array{ref(slot.given), where}),
                      source, device, on_device);
    slot.back = add(call(reader, kBackwardPart, "ao.wait_tensor.default", "gpu_reload_" + name,
                         std::array{ref(slot.reload)}),
                    source, device, on_device);
  }

  // The index of the offloaded value that `placeholder` receives; -1 for other nodes.
  [[nodiscard]] std::int32_t slot_read_as(NodeId placeholder) const {
    const NodeId partner = pair_.node(placeholder).partner;
    return partner && partner.index() < slot_by_node_.size() ? slot_by_node_[partner.index()] : -1;
  }

  [[nodiscard]] NodeId replacement(const Node& reader, NodeId read) const {
    if (reader.part == kForwardPart && reader.kind == NodeKind::output) {
      const std::int32_t v = slot_by_node_[read.index()];
      return v < 0 ? read : slots_[static_cast<std::size_t>(v)].waited;
    }
    const std::int32_t v = reader.part == kBackwardPart ? slot_read_as(read) : -1;
    return v < 0 ? read : slots_[static_cast<std::size_t>(v)].back;
  }

  void rewire() {
    for (std::size_t i = 0; i < index_.size(); ++i) {
      const NodeId id(i);
      if (!pair_.is_live(id)) continue;
      const Node reader = pair_.node(id);
      redirect_inputs(pair_, id, [&](NodeId input) { return replacement(reader, input); });
    }
    for (const PartId part : {kForwardPart, kBackwardPart})
      for (OutputEntry& entry : pair_.part(part).outputs) {
        if (!entry.node) continue;
        entry.node = replacement(Node{.kind = NodeKind::output, .part = part}, entry.node);
      }
  }

  // Makes a view of a replaced placeholder a view of the reloaded value: tensors of a call that
  // shared an input's storage move to the new storage of that input.
  void find_storages() {
    for (const NodeId id : pair_.order()) {
      const Node& n = pair_.node(id);
      if (n.part != kBackwardPart || n.kind != NodeKind::call) continue;
      for (std::uint32_t i = n.first_tensor; i < n.first_tensor + n.tensor_count; ++i) {
        if (const StorageId now = storage_of_input(n, first_storage_[i]))
          pair_.tensor(TensorId(i)).storage = now;
      }
    }
  }

  // The current storage of the first input that was in storage `was`; none if no input was.
  [[nodiscard]] StorageId storage_of_input(const Node& call, StorageId was) const {
    for (const NodeId input : pair_.inputs(call)) {
      const Node& n = pair_.node(input);
      for (std::uint32_t i = n.first_tensor; i < n.first_tensor + n.tensor_count; ++i)
        if (was && first_storage_[i] == was) return pair_.tensor(TensorId(i)).storage;
    }
    return {};
  }

  void remember_storages() {
    const auto remember = [&](NodeId id, NodeId as) {
      const Node& n = pair_.node(id);
      const auto tensors = pair_.tensors(as);
      const std::size_t end = n.first_tensor + n.tensor_count;
      if (first_storage_.size() < end) first_storage_.resize(end);
      for (std::size_t i = 0; i < tensors.size(); ++i)
        first_storage_[n.first_tensor + i] = tensors[i].storage;
    };
    for (const NodeId id : pair_.order()) remember(id, id);
    for (const Slot& slot : slots_) remember(slot.back, slot.placeholder);
  }

  std::vector<NodeId> place(std::span<const NodeId> before, std::span<const TransferCall> offloads,
                            std::span<const TransferCall> reloads) {
    std::vector<NodeId> order;
    const std::array transfers{offloads, reloads};
    std::array<std::size_t, 2> next{};
    const auto emit_until = [&](std::size_t half, std::size_t index) {
      for (; next[half] < transfers[half].size() && transfers[half][next[half]].before <= index;
           ++next[half])
        order.push_back(node_of(transfers[half][next[half]]));
    };
    for (const NodeId id : before) {
      const Node& n = pair_.node(id);
      const std::size_t half = n.part.index();
      if (n.kind == NodeKind::call) emit_until(half, index_[id.index()]);
      if (n.kind == NodeKind::output) emit_until(half, layers_[half].size());
      const std::int32_t v = n.kind == NodeKind::placeholder ? slot_read_as(id) : -1;
      order.push_back(v < 0 ? id : slots_[static_cast<std::size_t>(v)].given);
    }
    return order;
  }

  [[nodiscard]] NodeId node_of(const TransferCall& call) const {
    const Slot& slot = slots_[call.value];
    switch (call.kind) {
      case TransferCall::Kind::offload:
        return slot.offload;
      case TransferCall::Kind::offload_wait:
        return slot.waited;
      case TransferCall::Kind::reload:
        return slot.reload;
      case TransferCall::Kind::reload_wait:
        return slot.back;
    }
    return {};
  }

  Graph& pair_;
  std::span<const NodeId> values_;
  std::vector<std::int32_t> slot_by_node_;  // by node of the original pair, or -1
  // By tensor: its original storage; for a reloaded value, that of the placeholder it replaces.
  std::vector<StorageId> first_storage_;
  std::vector<Slot> slots_;
  std::array<std::vector<std::int32_t>, 2> layers_;  // layers of each half's calls
  std::vector<std::size_t> index_;                 // by node: its index among the calls of its half
  std::vector<std::size_t> last_use_, first_use_;  // by value
};

}  // namespace

Result<void> add_offload(Graph& pair, std::span<const NodeId> values) {
  if (values.empty()) return {};
  return Adder(pair, values).run();
}

}  // namespace jointer
