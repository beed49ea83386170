// replace_view_copy_with_view: replaces a copy of a view with the view itself, which copies and
// allocates nothing.
//
// A call of `X_copy`, the copying variant of the view X, becomes X if
//   1. nothing in the graph writes to the storage of the copy or of its base; otherwise a write to
//      either would change the other;
//   2. neither the copy nor a view of it is returned; otherwise the caller could write to the base,
//      and the returned view would keep the base alive;
//   3. the view has the same strides as the copy. Readers then read the same values in the same
//      order, so results are bitwise equal, and views of the copy stay valid.
// The strides can be derived for alias, detach, view, expand, permute, t, transpose, select, slice,
// squeeze and unsqueeze; other copies stay.
//
// Cost: linear in the number of nodes.
// Source: ExecuTorch's pass for slice_copy (pull request 14715), extended to all views, as a
// reviewer of that request suggested. Deviations: a copy stays if the view would have different
// strides.

#include <algorithm>
#include <optional>

#include "core/graph/effects.h"
#include "core/graph/storage_moves.h"
#include "core/graph/storages.h"
#include "passes/clean_up/clean_up.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

constexpr std::string_view kCopy = "_copy";

// A tensor's sizes, strides and offset, in elements.
struct Layout {
  std::vector<std::int64_t> shape, stride;
  std::int64_t offset = 0;

  [[nodiscard]] std::int64_t elements() const {
    std::int64_t product = 1;
    for (const std::int64_t size : shape) product *= size;
    return product;
  }
};

// std::nullopt if a size, a stride or the offset is symbolic, or the strides are unknown.
std::optional<Layout> layout_of(const Graph& graph, const Tensor& tensor) {
  Layout layout;
  if (!tensor.has(Tensor::has_stride)) return std::nullopt;
  for (const Dim& size : graph.shape(tensor)) {
    if (size.expression) return std::nullopt;
    layout.shape.push_back(size.value);
  }
  for (const Dim& step : graph.stride(tensor)) {
    if (step.expression) return std::nullopt;
    layout.stride.push_back(step.value);
  }
  const Dim offset = graph.offset(tensor);
  if (offset.expression) return std::nullopt;
  layout.offset = offset.value;
  return layout;
}

// True if both layouts visit the same elements in the same order. The stride of a dimension of size
// 1 does not matter.
bool same_strides(const Layout& a, const Layout& b) {
  if (a.shape != b.shape) return false;
  if (a.elements() == 0) return true;
  for (std::size_t i = 0; i < a.shape.size(); ++i)
    if (a.shape[i] != 1 && a.stride[i] != b.stride[i]) return false;
  return true;
}

bool is_dense(const Layout& layout) {
  return same_strides(layout, {layout.shape, contiguous_strides(layout.shape), 0});
}

// Derives the layout of the view that would replace `copy`; std::nullopt if it is unknown.
class ViewLayout {
 public:
  ViewLayout(const Graph& graph, NodeId call, Layout base, const Layout& copy)
      : graph_(graph), node_(graph.node(call)), layout_(std::move(base)), copy_(copy) {}

  std::optional<Layout> of(std::string_view packet) {
    if (packet == "aten.alias_copy" || packet == "aten.detach_copy") return layout_;
    if (packet == "aten.view_copy" || packet == "aten.squeeze_copy" ||
        packet == "aten.unsqueeze_copy")
      return in_other_sizes();
    if (packet == "aten.expand_copy") return expanded();
    if (packet == "aten.t_copy") return layout_.shape.size() == 2 ? swapped(0, 1) : layout_;
    if (packet == "aten.transpose_copy") return transposed();
    if (packet == "aten.permute_copy") return permuted();
    if (packet == "aten.select_copy") return selected();
    if (packet == "aten.slice_copy") return sliced();
    return std::nullopt;
  }

 private:
  // The layout of a view with the copy's sizes, which is dense like the base; std::nullopt if the
  // base is not dense or has a different number of elements.
  [[nodiscard]] std::optional<Layout> in_other_sizes() const {
    if (!is_dense(layout_) || layout_.elements() != copy_.elements()) return std::nullopt;
    return Layout{copy_.shape, contiguous_strides(copy_.shape), layout_.offset};
  }

  [[nodiscard]] std::optional<Layout> expanded() const {
    if (copy_.shape.size() < layout_.shape.size()) return std::nullopt;
    Layout view{copy_.shape, std::vector<std::int64_t>(copy_.shape.size(), 0), layout_.offset};
    const std::size_t added = copy_.shape.size() - layout_.shape.size();
    for (std::size_t i = added; i < copy_.shape.size(); ++i)
      if (layout_.shape[i - added] == copy_.shape[i]) view.stride[i] = layout_.stride[i - added];
    return view;
  }

  [[nodiscard]] std::optional<Layout> swapped(std::size_t a, std::size_t b) const {
    Layout view = layout_;
    std::swap(view.shape[a], view.shape[b]);
    std::swap(view.stride[a], view.stride[b]);
    return view;
  }

  [[nodiscard]] std::optional<Layout> transposed() const {
    const auto a = dimension(argument("dim0")), b = dimension(argument("dim1"));
    if (!a || !b) return std::nullopt;
    return swapped(*a, *b);
  }

  [[nodiscard]] std::optional<Layout> permuted() const {
    const Argument* dims = graph_.argument(node_, "dims");
    if (dims == nullptr) return std::nullopt;
    Layout view{{}, {}, layout_.offset};
    for (const Argument& each : graph_.children(*dims)) {
      const auto dim = each.kind == Argument::Kind::integer ? dimension(each.integer)
                                                            : std::optional<std::size_t>();
      if (!dim) return std::nullopt;
      view.shape.push_back(layout_.shape[*dim]);
      view.stride.push_back(layout_.stride[*dim]);
    }
    return view;
  }

  [[nodiscard]] std::optional<Layout> selected() const {
    const auto dim = dimension(argument("dim"));
    auto index = argument("index");
    if (!dim || !index) return std::nullopt;
    if (*index < 0) *index += layout_.shape[*dim];
    Layout view = layout_;
    view.offset += *index * layout_.stride[*dim];
    view.shape.erase(view.shape.begin() + static_cast<std::ptrdiff_t>(*dim));
    view.stride.erase(view.stride.begin() + static_cast<std::ptrdiff_t>(*dim));
    return view;
  }

  [[nodiscard]] std::optional<Layout> sliced() const {
    const auto dim = dimension(argument("dim", 0));
    auto start = argument("start", 0);
    const auto step = argument("step", 1);
    if (!dim || !start || !step) return std::nullopt;
    const std::int64_t size = layout_.shape[*dim];
    if (*start < 0) *start = std::max<std::int64_t>(*start + size, 0);
    Layout view{copy_.shape, layout_.stride, layout_.offset};
    if (view.shape.size() != layout_.shape.size()) return std::nullopt;
    view.offset += std::min(*start, size) * layout_.stride[*dim];
    view.stride[*dim] *= *step;
    return view;
  }

  // The value of an integer argument; `default_value` if it is not given, std::nullopt if it is not
  // an integer.
  [[nodiscard]] std::optional<std::int64_t> argument(
      std::string_view name, std::optional<std::int64_t> default_value = {}) const {
    const Argument* given = graph_.argument(node_, name);
    if (given == nullptr || given->kind == Argument::Kind::none) return default_value;
    if (given->kind != Argument::Kind::integer) return std::nullopt;
    return given->integer;
  }

  [[nodiscard]] std::optional<std::size_t> dimension(std::optional<std::int64_t> dim) const {
    const auto rank = static_cast<std::int64_t>(layout_.shape.size());
    if (!dim || *dim < -rank || *dim >= rank) return std::nullopt;
    return static_cast<std::size_t>(*dim < 0 ? *dim + rank : *dim);
  }

  const Graph& graph_;
  const Node& node_;
  Layout layout_;
  const Layout& copy_;
};

class Replacer {
 public:
  Replacer(Graph& graph, PassContext& context)
      : graph_(graph), context_(context), moved_(graph.storage_count()) {}

  Result<void> run() {
    find_kept();
    const std::vector<NodeId> order(graph_.order().begin(), graph_.order().end());
    for (const NodeId id : order) {
      follow_base(id);
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::call || !graph_.op(n).has(OperatorTag::view_copy)) continue;
      if (const std::string why = replace(id); why.empty())
        context_.decide(graph_, id, "changed", "nothing writes to it or to its base");
      else
        context_.decide(graph_, id, "kept", why);
    }
    return is_changed_ ? graph_.finish() : Result<void>();
  }

 private:
  // Finds the real storages that are written to or returned.
  void find_kept() {
    written_.assign(graph_.storage_count(), false);
    returned_.assign(graph_.storage_count(), false);
    for (const NodeId id : graph_.order()) {
      for (const NodeId each : written_arguments(graph_, graph_.node(id))) mark(each, written_);
      if (graph_.node(id).kind == NodeKind::output)
        for (const NodeId input : graph_.inputs(id)) mark(input, returned_);
    }
  }

  void mark(NodeId id, std::vector<bool>& marks) const {
    for (const Tensor& t : graph_.tensors(id))
      if (t.storage) marks[graph_.real_storage(t.storage).index()] = true;
  }

  // Turns views of a replaced copy into views of the copy's base.
  void follow_base(NodeId id) {
    move_tensors(graph_, id, [&](const Tensor& tensor) {
      return tensor.storage ? moved_[graph_.real_storage(tensor.storage).index()] : StorageMove{};
    });
  }

  // Replaces the copy. If the copy must stay, returns the reason; otherwise returns an empty
  // string.
  std::string replace(NodeId id) {
    const Node& n = graph_.node(id);
    const OperatorInfo& op = graph_.op(n);
    const std::string view_name = name_of_view(op);
    const auto args = graph_.args(n);
    const Tensor* copy = graph_.single_tensor(n);
    if (view_name.empty() || copy == nullptr || args.empty() ||
        args.front().kind != Argument::Kind::node)
      return "its base is not known";
    const Tensor* base = graph_.single_tensor(graph_.node(args.front().node()));
    if (base == nullptr || !base->storage || !copy->storage) return "its base is not known";
    const StorageId of_copy = graph_.real_storage(copy->storage);
    const StorageId of_base = graph_.real_storage(base->storage);
    if (written_[of_copy.index()]) return "it is written to, or a view of it is";
    if (written_[of_base.index()]) return "its base is written to";
    if (returned_[of_copy.index()]) return "it is returned, or a view of it is";
    const auto have = layout_of(graph_, *copy), from = layout_of(graph_, *base);
    const auto view = have && from ? ViewLayout(graph_, id, *from, *have).of(op.packet())
                                   : std::optional<Layout>();
    if (!view) return "the strides of the view are unknown";
    if (!same_strides(*view, *have)) return "the view would have different strides";
    const StorageId storage = base->storage;
    const StorageMove move{storage, view->offset - have->offset};
    moved_[of_copy.index()] = move;
    graph_.node(id).target = graph_.intern_operator(view_name);
    move_tensors(graph_, id, [&](const Tensor&) { return move; });
    is_changed_ = true;
    return {};
  }

  // The view operator of a copy, such as aten.slice.Tensor for aten.slice_copy.Tensor; empty if
  // there is none.
  static std::string name_of_view(const OperatorInfo& op) {
    const std::string packet(op.packet());
    if (!packet.ends_with(kCopy)) return {};
    std::string name = packet.substr(0, packet.size() - kCopy.size());
    name += op.name.substr(packet.size());
    return describe_operator(name).known ? name : std::string();
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<StorageMove> moved_;        // by real storage: the new place of a copy
  std::vector<bool> written_, returned_;  // by real storage
  bool is_changed_ = false;
};

Result<void> run_replace_view_copy_with_view(Graph& graph, const Arguments&, PassContext& context) {
  return Replacer(graph, context).run();
}

}  // namespace

Pass replace_view_copy_with_view_pass() {
  return {
      .info = {.name = "replace_view_copy_with_view",
               .summary =
                   "Replaces copies of views with the views themselves if nothing writes to them.",
               .source = "ExecuTorch, pull request 14715",
               .stage = PassStage::clean_up,
               .is_idempotent = true},
      .run =
          with_kept_decision("The graph has no copy of a view.", run_replace_view_copy_with_view)};
}

}  // namespace jointer
