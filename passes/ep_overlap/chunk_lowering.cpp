// Terms. Live-in: what the body reads and is not of it. Live-out: what others read of the body.
//
// Steps. Live-ins over the chunk symbol are split where the first node of the body needs them, and
// made contiguous if the half is not; sizes are halved. Each node of the body becomes chunk 0 and
// gets a copy, chunk 1, behind it; a write to something that both share goes on from what the first
// wrote. A live-out goes in halves to those that come in chunks themselves; for others it is put
// together: `cat` along the chunk dimension, `add` for sums of gradients.
//
// With early sums a chunked live-out of the backward is put together before the views and waits
// that lead to it, which then run once.
//
// Cost: linear in the body and its readers, per module linear in the graph.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_chunk_pass.py. Deviations: sizes that a
// view of a whole gradient reads stand right before it (upstream puts them behind it, and its own
// check refuses the graph); split_with_sizes says what it returns; copies share storages as the
// originals did, views with the halves that they are views of (upstream gives each value one of its
// own); arguments that name a size by its symbol, and not by a node, are refused.

#include "passes/ep_overlap/chunk_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/graph/storages.h"

namespace jointer {
namespace {

constexpr int kNone = ChunkProgram::kNone;

Argument ref(NodeId id) {
  return Argument::of_node(id);
}

class Lowering {
 public:
  Lowering(ChunkProgram& program, const std::vector<ChunkPlan>& plans, std::size_t which,
           const ChunkLoweringOptions& options, ChunkPairs& pairs)
      : p_(program), plans_(plans), plan_(plans[which]), options_(options), pairs_(pairs) {}

  Result<void> run() {
    JOINTER_CHECK(check());
    find_boundary();
    JOINTER_CHECK(split_live_ins());
    JOINTER_CHECK(halve_sizes());
    for (const NodeId id : plan_.body) {
      originals_.emplace(id, p_.graph.node(id));
      pairs_.originals.try_emplace(id, p_.graph.node(id));
    }
    classify_live_outs();
    JOINTER_CHECK(copy_body(0));
    JOINTER_CHECK(copy_body(1));
    JOINTER_CHECK(join_live_outs());
    erase_unused();
    return {};
  }

 private:
  using Scalars = std::unordered_map<std::string, ChunkPair>;  // by the size's text

  struct LiveOut {
    NodeId node;
    std::vector<NodeId> chunked, full;  // users
    std::uint32_t first_full = ~0U;
  };

  // --- Before anything changes ---

  [[nodiscard]] std::string where() const {
    return fmt::format("{} ({})", plan_.root.name, plan_.root.direction());
  }

  Result<void> check() {
    for (const NodeId id : plan_.body) {
      const std::string dotted = "." + p_.module(id) + ".";
      if (options_.mode == ChunkMode::seq && dotted.find(".attention.") != std::string::npos)
        return fail(Error::Kind::usage,
                    "{} holds attention, which reads the whole sequence: cut layers.*.moe, or the "
                    "batch",
                    where());
      if (!p_.is_collective(id) || p_.is_of_expert_parallelism(id)) continue;
      const auto inputs = p_.graph.inputs(id);
      const bool is_wait =
          p_.graph.target(p_.graph.node(id)) == "_c10d_functional.wait_tensor.default" &&
          !inputs.empty() && plan_.has(inputs[0]) && p_.is_of_expert_parallelism(inputs[0]);
      if (!is_wait)
        return fail(
            Error::Kind::usage,
            "{} of {} is a collective, and not of expert parallelism: both chunks would run "
            "it",
            p_.name(id), where());
    }
    return {};
  }

  void find_boundary() {
    places_ = p_.fx.places();
    std::vector<bool> is_met(p_.graph.node_count(), false);
    for (const NodeId id : plan_.body)
      for (const NodeId input : p_.graph.inputs(id)) {
        if (plan_.has(input) || is_met[input.index()]) continue;
        is_met[input.index()] = true;
        live_ins_.push_back(input);
      }
    std::ranges::sort(live_ins_, {}, [this](NodeId id) { return places_[id.index()]; });
    for (const NodeId id : plan_.body) {
      LiveOut out{.node = id, .chunked = {}, .full = {}};
      for (const NodeId user : p_.fx.users(id))
        if (!plan_.has(user) && p_.is_needed(user)) out.full.push_back(user);
      if (!out.full.empty()) live_outs_.push_back(std::move(out));
    }
  }

  // --- Live-ins ---

  [[nodiscard]] ChunkPair chunks_of(NodeId id) const { return ChunkPairs::of(chunks_, id); }
  [[nodiscard]] bool is_chunked(NodeId id) const { return static_cast<bool>(chunks_of(id)[0]); }

  void set_chunks(NodeId id, ChunkPair pair) { ChunkPairs::set(chunks_, id, pair); }

  void recover_chunks() {
    for (const NodeId id : live_ins_) {
      ChunkPair pair = ChunkPairs::of(pairs_.per_chunk, id);
      if (!pair[0]) {
        pair = ChunkPairs::of(pairs_.copies, id);
        if (!pair[0] || is_erased(pair[0]) || is_erased(pair[1])) continue;
      }
      set_chunks(id, pair);
    }
  }
  // Copies that nobody needed.
  [[nodiscard]] bool is_erased(NodeId id) const {
    return ChunkPairs::of(pairs_.copies, id)[0] != id && ChunkPairs::of(pairs_.copies, id)[1] != id;
  }

  [[nodiscard]] bool is_static(NodeId id) const {
    const Node& node = p_.graph.node(id);
    return node.kind == NodeKind::placeholder &&
           (node.role == Role::parameter || node.role == Role::buffer);
  }

  bool names_chunk_size(const Argument& argument) {
    if (argument.kind == Argument::Kind::node) return p_.depends(argument.node());
    if (argument.kind == Argument::Kind::symbol) return p_.sizes.depends(argument.expression());
    return std::ranges::any_of(p_.graph.children(argument),
                               [this](const Argument& child) { return names_chunk_size(child); });
  }

  // The first node of the body that reads it, or a size of a chunk.
  NodeId first_consumer(NodeId live_in) {
    for (const NodeId id : plan_.body) {
      if (places_[id.index()] <= places_[live_in.index()]) continue;
      const auto inputs = p_.graph.inputs(id);
      if (std::ranges::find(inputs, live_in) != inputs.end() ||
          names_chunk_size(p_.graph.node(id).args) || names_chunk_size(p_.graph.node(id).kwargs))
        return id;
    }
    return plan_.body.front();
  }

  NodeId first_reader(NodeId live_in) {
    for (const NodeId id : plan_.body) {
      const auto inputs = p_.graph.inputs(id);
      if (std::ranges::find(inputs, live_in) != inputs.end()) return id;
    }
    return plan_.body.front();
  }

  Result<void> split_live_ins() {
    recover_chunks();
    std::vector<NodeId> split;
    for (const NodeId id : live_ins_) {
      if (!is_chunked(id) && !is_static(id) && p_.has_chunk_dim(id)) split.push_back(id);
      if (!plan_.root.is_backward && p_.is_call(id) && !is_chunked(id) && p_.is_backward(id) &&
          p_.is_tensor(id) && !p_.graph.shape(*p_.graph.single_tensor(p_.graph.node(id))).empty())
        return fail(Error::Kind::usage, "{} reads {} of the backward", where(), p_.name(id));
    }
    const bool is_any =
        std::ranges::any_of(live_ins_, [this](NodeId id) { return is_chunked(id); });
    if (split.empty() && !is_any)
      return fail(Error::Kind::usage, "{} reads nothing that can be cut in two", where());
    for (const NodeId id : split) JOINTER_CHECK(split_live_in(id));
    return {};
  }

  NodeId add(std::string_view target, std::vector<Argument> args, const Value& value, NodeId before,
             ChunkRole role, int chunk = kNone) {
    return p_.add(target, args, value, before, plan_.root, role, chunk);
  }

  Argument list(std::vector<Argument> items) {
    return p_.graph.make_children(Argument::Kind::list, items);
  }

  Result<void> split_live_in(NodeId id) {
    const NodeId before = first_consumer(id);
    const Tensor whole = *p_.graph.single_tensor(p_.graph.node(id));
    const int dim = p_.chunk_dim(whole);
    const auto at = static_cast<std::size_t>(dim);
    const auto sizes = p_.graph.shape(whole), steps = p_.graph.stride(whole);
    std::vector<Dim> shape(sizes.begin(), sizes.end()), stride(steps.begin(), steps.end());
    const Dim extent = shape[at];
    if (const auto hint = p_.sizes.hint(extent); hint && *hint % 2 != 0)
      return fail(Error::Kind::usage, "{} cannot be cut in two: dimension {} is {}", p_.name(id),
                  dim, *hint);
    JOINTER_TRY(shape[at], p_.sizes.half(extent));
    const NodeId size = add("aten.sym_size.int", {ref(id), Argument::of_int(dim)},
                            Value::of_symbol(extent.expression), before, ChunkRole::split_boundary);
    const NodeId half = add("_operator.floordiv", {ref(size), Argument::of_int(2)},
                            Value::of_symbol(shape[at].expression), before, ChunkRole::chunk_input);
    scalars_[text(extent)] = {half, half};

    JOINTER_TRY(const Dim offset, offset_of_second(whole, at, shape[at]));
    std::array<Value, 2> values, halves;
    for (const bool again : {false, true}) {
      for (std::size_t chunk = 0; chunk < 2; ++chunk) {
        JOINTER_TRY((again ? values : halves)[chunk],
                    p_.tensor_like(whole, shape, stride,
                                   chunk == 0 ? p_.graph.offset(whole) : offset, whole.storage));
      }
    }
    const NodeId split =
        add("aten.split_with_sizes.default",
            {ref(id), list({ref(half), ref(half)}), Argument::of_int(dim)},
            p_.graph.make_children(Value::Kind::list, halves), before, ChunkRole::split_boundary);
    options_.decide(split, "split",
                    fmt::format("Each chunk of {} takes half of {}.", where(), p_.name(id)));
    ChunkPair pair;
    for (std::size_t chunk = 0; chunk < 2; ++chunk)
      pair[chunk] =
          add("_operator.getitem", {ref(split), Argument::of_int(static_cast<std::int64_t>(chunk))},
              values[chunk], before, ChunkRole::split_boundary, static_cast<int>(chunk));
    if (!is_contiguous(shape, stride)) JOINTER_CHECK(clone(whole, shape, before, pair));
    set_chunks(id, pair);
    return {};
  }

  Result<void> clone(const Tensor& whole, std::span<const Dim> shape, NodeId before,
                     ChunkPair& pair) {
    std::vector<Dim> stride(shape.size());
    Dim step{1, {}};
    for (std::size_t i = shape.size(); i-- > 0;) {
      stride[i] = step;
      if (i == 0) break;
      if (shape[i].expression && step.expression)
        return fail(Error::Kind::usage, "{} reads a tensor with two symbolic sizes", where());
      JOINTER_TRY(const Dim size, p_.sizes.at_least_one(shape[i]));
      JOINTER_TRY(step, size.expression ? p_.sizes.times(size, step.value)
                                        : p_.sizes.times(step, size.value));
    }
    for (std::size_t chunk = 0; chunk < 2; ++chunk) {
      JOINTER_TRY(const Value value, p_.tensor_like(whole, shape, stride, {}, {}));
      const NodeId made = add("aten.clone.default", {ref(pair[chunk])}, value, before,
                              ChunkRole::chunk_input, static_cast<int>(chunk));
      const std::array<Argument, 2> kwargs{
          Argument::of_text(Argument::Kind::string, p_.graph.intern("memory_format")),
          Argument::of_text(Argument::Kind::memory_format, p_.graph.intern("contiguous_format"))};
      p_.graph.node(made).kwargs = p_.graph.make_children(Argument::Kind::dict, kwargs);
      p_.graph.node(made).set(Node::has_kwargs);
      pair[chunk] = made;
    }
    return {};
  }

  Result<Dim> offset_of_second(const Tensor& whole, std::size_t at, const Dim& half) {
    const Dim stride = p_.graph.stride(whole)[at], start = p_.graph.offset(whole);
    if (stride.expression || start.expression || start.value != 0)
      return fail(Error::Kind::usage, "{} reads a slice that cannot be cut in two", where());
    return p_.sizes.times(half, stride.value);
  }

  bool is_contiguous(std::span<const Dim> shape, std::span<const Dim> stride) {
    std::int64_t expected = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      const auto size = p_.sizes.hint(shape[i]), step = p_.sizes.hint(stride[i]);
      if (!size || !step) return false;
      if (*size == 1) continue;
      if (*step != expected) return false;
      expected *= *size;
    }
    return true;
  }

  [[nodiscard]] std::string text(const Dim& dim) const {
    return std::string(p_.graph.expression_text(dim.expression));
  }

  // --- Sizes that the body reads ---

  Result<void> halve_sizes() {
    for (const NodeId id : live_ins_) {
      const Value value = p_.graph.node(id).value;
      if (is_chunked(id) || scalar_nodes_.contains(id) || value.kind != Value::Kind::symbol ||
          !p_.sizes.depends(value.expression()))
        continue;
      const Dim size{0, value.expression()};
      ChunkPair pair;
      if (is_size_of_chunked(id)) {
        JOINTER_TRY(pair, sizes_of_chunks(id));
      } else {
        if (!multiple_of_symbol(p_.graph.expression_text(value.expression())))
          return fail(Error::Kind::usage, "{} is {}, which is not a multiple of the chunk's size",
                      p_.name(id), text(size));
        if (const auto hint = p_.sizes.hint(size); !hint || *hint % 2 != 0)
          return fail(Error::Kind::usage, "{} is {}, which is not even", p_.name(id), text(size));
        JOINTER_TRY(const Dim halved, p_.sizes.half(size));
        const NodeId half =
            add("_operator.floordiv", {ref(id), Argument::of_int(2)},
                Value::of_symbol(halved.expression), first_reader(id), ChunkRole::chunk_input);
        pair = {half, half};
      }
      scalar_nodes_.emplace(id, pair);
      scalars_[text(size)] = pair;
    }
    return {};
  }

  [[nodiscard]] bool is_size_of_chunked(NodeId id) const {
    const Node& node = p_.graph.node(id);
    const std::string_view target = p_.graph.target(node);
    const auto args = p_.graph.args(node);
    return p_.is_call(id) && (target == "aten.sym_size.int" || target == "aten.sym_stride.int") &&
           args.size() >= 2 && args[0].kind == Argument::Kind::node && is_chunked(args[0].node()) &&
           args[1].kind == Argument::Kind::integer;
  }

  Result<ChunkPair> sizes_of_chunks(NodeId id) {
    const Node node = p_.graph.node(id);
    const std::string target(p_.graph.target(node));
    const ChunkPair chunks = chunks_of(p_.graph.args(node)[0].node());
    const std::int64_t dim = p_.graph.args(node)[1].integer;
    ChunkPair pair;
    for (std::size_t chunk = 0; chunk < 2; ++chunk) {
      const Tensor& tensor = *p_.graph.single_tensor(p_.graph.node(chunks[chunk]));
      const auto dims =
          target == "aten.sym_size.int" ? p_.graph.shape(tensor) : p_.graph.stride(tensor);
      if (dim < 0 || static_cast<std::size_t>(dim) >= dims.size())
        return fail(Error::Kind::usage, "{} asks for dimension {} of a chunk, which has {}",
                    p_.name(id), dim, dims.size());
      const Dim size = dims[static_cast<std::size_t>(dim)];
      const Value value =
          size.expression
              ? Value::of_symbol(size.expression)
              : Value::of_text(Value::Kind::constant, p_.graph.intern(std::to_string(size.value)));
      pair[chunk] = add(target, {ref(chunks[chunk]), Argument::of_int(dim)}, value,
                        p_.fx.next(chunks[1]), ChunkRole::chunk_input, static_cast<int>(chunk));
    }
    return pair;
  }

  // --- Copies ---

  Result<Argument> map(const Argument& argument, std::size_t chunk,
                       const ChunkSizes::Renamed& renamed) {
    if (argument.kind == Argument::Kind::node) return map(argument.node(), chunk);
    if (argument.kind == Argument::Kind::symbol) {
      const Dim size{0, argument.expression()};
      if (const auto scalar = scalars_.find(text(size)); scalar != scalars_.end())
        return ref(scalar->second[chunk]);
      if (p_.sizes.depends(argument.expression()))
        return fail(Error::Kind::usage, "{} is called with the size {} that no node computes",
                    where(), text(size));
      JOINTER_TRY(const Dim mapped, p_.sizes.of_chunk(size, renamed));
      return Argument::of_symbol(mapped.expression);
    }
    if (!argument.has_children()) return argument;
    const auto children = p_.graph.children(argument);
    std::vector<Argument> copies(children.begin(), children.end());
    for (Argument& copy : copies) {
      JOINTER_TRY(copy, map(copy, chunk, renamed));
    }
    return p_.graph.make_children(argument.kind, copies);
  }
  [[nodiscard]] Argument map(NodeId id, std::size_t chunk) const {
    if (const auto copy = copied_[chunk].find(id); copy != copied_[chunk].end())
      return ref(copy->second);
    if (is_chunked(id)) return ref(chunks_of(id)[chunk]);
    if (const auto scalar = scalar_nodes_.find(id); scalar != scalar_nodes_.end())
      return ref(scalar->second[chunk]);
    return ref(id);
  }

  Result<void> copy_body(std::size_t chunk) {
    ChunkSizes::Renamed renamed;
    for (const NodeId id : plan_.body) {
      const Node original = originals_.at(id);
      const std::string name(p_.graph.text(original.name));
      JOINTER_TRY(const Argument args, map(original.args, chunk, renamed));
      JOINTER_TRY(const Argument kwargs, map(original.kwargs, chunk, renamed));
      JOINTER_CHECK(check_view(original, args));
      JOINTER_TRY(const Argument written,
                  chunk == 1 ? after_first(id, original, args) : Result<Argument>(args));
      const bool in_place = chunk == 0 && !kept_scalars_.contains(id);
      NodeId copy = id;
      if (in_place)
        p_.fx.set_call(id, written, kwargs);
      else
        copy = p_.add_copy(original, written, kwargs, p_.fx.next(id));
      p_.rename(copy, fmt::format("{}_chunk{}", name, chunk));
      // A symbol that a call brings to light has another name in each copy.
      for (const std::string& symbol : p_.bound_symbols(id)) renamed[symbol] = p_.fresh_symbol();
      JOINTER_TRY(const Value value, value_of(id, original.value, chunk, renamed));
      Node& node = p_.graph.node(copy);
      node.custom = original.custom;
      node.value = value;
      p_.graph.refresh(copy);
      if (copy != id) p_.graph.node(copy).origin = original.origin;
      p_.mark(copy, plan_.root, ChunkRole::body, static_cast<int>(chunk));
      copied_[chunk].emplace(id, copy);
      options_.decide(copy, "chunked", fmt::format("{} for chunk {} of {}.", name, chunk, where()));
    }
    if (chunk == 1)
      for (const NodeId id : plan_.body) {
        const ChunkPair pair{copied_[0].at(id), copied_[1].at(id)};
        for (const NodeId each : pair) ChunkPairs::set(pairs_.copies, each, pair);
      }
    return {};
  }

  // What the first chunk wrote to something shared, the second reads.
  Result<Argument> after_first(NodeId id, const Node& original, const Argument& args) {
    const OperatorInfo& op = p_.graph.op(original);
    const auto was = p_.graph.children(original.args);
    std::optional<std::size_t> shared;
    for (std::size_t i = 0; i < op.arguments.size() && i < was.size(); ++i) {
      if (!op.arguments[i].writes || was[i].kind != Argument::Kind::node ||
          copied_[1].contains(was[i].node()))
        continue;
      if (shared)
        return fail(Error::Kind::usage, "{} writes to two values that both chunks share",
                    p_.graph.text(original.name));
      shared = i;
    }
    if (!shared) return args;
    const auto children = p_.graph.children(args);
    std::vector<Argument> changed(children.begin(), children.end());
    changed[*shared] = ref(copied_[0].at(id));
    return p_.graph.make_children(args.kind, changed);
  }

  // A view of a chunk takes its size from the chunk, or leaves it to be found.
  Result<void> check_view(const Node& original, const Argument& args) {
    const auto at = shape_argument(original);
    const Tensor* tensor = p_.graph.single_tensor(original);
    const auto given = p_.graph.children(args);
    if (!at || tensor == nullptr || *at >= given.size() || p_.chunk_dim(*tensor) < 0) return {};
    const Argument& shape = given[*at];
    if (shape.kind != Argument::Kind::list && shape.kind != Argument::Kind::tuple) return {};
    for (const Argument& size : p_.graph.children(shape))
      if (size.kind == Argument::Kind::integer && size.integer == -1) return {};
    if (names_chunk_size(shape)) return {};
    return fail(Error::Kind::usage,
                "{} of {} has a number where the size of a chunk is wanted: take it from the "
                "tensor (x.shape[0]), or say -1",
                p_.graph.text(original.name), where());
  }

  // Where a call on one tensor that gives one takes a shape.
  [[nodiscard]] std::optional<std::size_t> shape_argument(const Node& node) const {
    const OperatorInfo& op = p_.graph.op(node);
    if (op.arguments.empty() || !op.arguments[0].type.starts_with("Tensor") ||
        op.arguments[0].type.size() > 6 || op.returns.size() != 1 || op.returns[0].type != "Tensor")
      return std::nullopt;
    for (std::size_t i = 1; i < op.arguments.size(); ++i)
      if (const SchemaArgument& each = op.arguments[i];
          !each.keyword_only && (each.name == "shape" || each.name == "size") &&
          each.type == "SymInt[]")
        return i;
    return std::nullopt;
  }

  Result<Value> value_of(NodeId id, const Value& value, std::size_t chunk,
                         const ChunkSizes::Renamed& renamed) {
    if (value.kind == Value::Kind::symbol) {
      JOINTER_TRY(const Dim size, p_.sizes.of_chunk(Dim{0, value.expression()}, renamed));
      return Value::of_symbol(size.expression);
    }
    if (value.kind == Value::Kind::list || value.kind == Value::Kind::dict) {
      const auto children = p_.graph.children(value);
      std::vector<Value> copies(children.begin(), children.end());
      for (Value& each : copies) {
        JOINTER_TRY(each, value_of(id, each, chunk, renamed));
      }
      return p_.graph.make_children(value.kind, copies);
    }
    if (value.kind != Value::Kind::tensor) return value;
    const Tensor tensor = p_.graph.tensor(value.tensor());
    const auto sizes = p_.graph.shape(tensor), steps = p_.graph.stride(tensor);
    std::vector<Dim> shape(sizes.begin(), sizes.end()), stride(steps.begin(), steps.end());
    for (auto* dims : {&shape, &stride})
      for (Dim& dim : *dims) {
        JOINTER_TRY(dim, p_.sizes.of_chunk(dim, renamed));
      }
    JOINTER_TRY(const Dim offset, p_.sizes.of_chunk(p_.graph.offset(tensor), renamed));
    JOINTER_TRY(const StorageId storage, storage_of(id, tensor, shape, chunk, renamed));
    return p_.tensor_like(tensor, shape, stride, offset, storage);
  }

  // That of what the copy is a view of, or a new one as large as the copy needs.
  Result<StorageId> storage_of(NodeId id, const Tensor& tensor, std::span<const Dim> shape,
                               std::size_t chunk, const ChunkSizes::Renamed& renamed) {
    if (!tensor.storage) return StorageId{};
    const auto known = storages_[chunk].find(tensor.storage);
    if (known != storages_[chunk].end()) return known->second;
    for (const NodeId input : p_.graph.inputs(originals_.at(id))) {
      const auto was = pairs_.originals.find(input);
      const auto before =
          p_.graph.tensors(was == pairs_.originals.end() ? p_.graph.node(input) : was->second);
      const auto after = p_.graph.tensors(map(input, chunk).node());
      for (std::size_t i = 0; i < before.size() && i < after.size(); ++i)
        if (before[i].storage == tensor.storage) return after[i].storage;
    }
    StorageId made;
    if (const auto bytes = p_.sizes.of_chunk(p_.graph.storage(tensor.storage).bytes, renamed)) {
      made = p_.graph.add_storage(p_.part, *bytes);
      p_.graph.storage(made).device = tensor.device;
    } else {
      JOINTER_TRY(made, p_.add_storage(tensor, shape));
    }
    storages_[chunk].emplace(tensor.storage, made);
    return made;
  }

  // --- Live-outs ---

  // Who else comes in chunks.
  bool takes_chunks(NodeId user) {
    const ChunkPlan* owner = nullptr;
    for (const ChunkPlan& plan : plans_)
      if (plan.has(user)) owner = &plan;
    if (plan_.root.is_backward) return false;
    if (owner != nullptr && owner->root.name == plan_.root.name && owner->root.is_backward)
      return true;
    if (!p_.is_backward(user)) return false;
    if (is_inside(p_.module(user), plan_.root.name)) return true;
    const auto is_within = [&](NodeId each) {
      return p_.module(each).empty() || is_inside(p_.module(each), plan_.root.name);
    };
    return p_.module(user).empty() && p_.depends(user) &&
           std::ranges::all_of(p_.graph.inputs(user), is_within) &&
           std::ranges::all_of(p_.fx.users(user), is_within);
  }

  void classify_live_outs() {
    for (LiveOut& out : live_outs_) {
      const bool is_scalar = !p_.is_tensor(out.node);
      const auto& users = p_.fx.users(out.node);
      if (is_scalar && std::ranges::any_of(users, [this](NodeId user) { return plan_.has(user); }))
        kept_scalars_.insert(out.node);
      std::vector<NodeId> full;
      for (const NodeId user : out.full) (takes_chunks(user) ? out.chunked : full).push_back(user);
      out.full = std::move(full);
    }
  }

  Result<void> join_live_outs() {
    places_ = p_.fx.places();
    const auto place = [this](NodeId id) { return places_[id.index()]; };
    for (LiveOut& out : live_outs_)
      if (!out.full.empty()) out.first_full = place(*std::ranges::min_element(out.full, {}, place));
    std::ranges::stable_sort(live_outs_, {}, &LiveOut::first_full);
    for (const LiveOut& out : live_outs_) {
      const ChunkPair pair{copied_[0].at(out.node), copied_[1].at(out.node)};
      if (!out.chunked.empty())
        for (const NodeId id : {out.node, pair[0], pair[1]})
          ChunkPairs::set(pairs_.per_chunk, id, pair);
      if (out.full.empty() || kept_scalars_.contains(out.node)) continue;
      const Tensor* whole = p_.graph.single_tensor(originals_.at(out.node));
      if (!out.chunked.empty() && (whole == nullptr || p_.chunk_dim(*whole) == kNone) &&
          !p_.has_chunk_dim(out.node))
        return fail(Error::Kind::usage,
                    "{} of {} is read by chunks and by others ({}), and has no dimension along "
                    "which its chunks can be joined",
                    p_.name(out.node), where(), p_.name(out.full.front()));
      before_ = *std::ranges::min_element(out.full, {}, place);
      JOINTER_TRY(const NodeId made,
                  join(out.node, out.full, options_.early_sums && out.chunked.empty()));
      for (const NodeId user : out.full) p_.fx.replace_use(user, out.node, made);
    }
    return {};
  }

  [[nodiscard]] bool is_reduction(NodeId id) const {
    const std::string_view target = p_.graph.target(p_.graph.node(id));
    if (target == "_c10d_functional.all_reduce.default" ||
        target == "_c10d_functional.wait_tensor.default")
      return true;
    if (target != "_c10d_functional.reduce_scatter_tensor.default") return false;
    const auto inputs = p_.tensor_inputs(id);
    if (inputs.size() != 1) return false;
    const auto a = p_.graph.shape(*p_.graph.single_tensor(p_.graph.node(id))),
               b = p_.graph.shape(*p_.graph.single_tensor(p_.graph.node(inputs[0])));
    return std::ranges::equal(a, b);
  }

  // A view as torch has it: some argument is aliased, and none is written.
  [[nodiscard]] bool is_view(NodeId id) const {
    const OperatorInfo& op = p_.graph.op(p_.graph.node(id));
    return !op.mutates() && std::ranges::any_of(op.arguments, [](const SchemaArgument& each) {
      return each.alias_set != 0;
    });
  }

  // The views and collectives that lead to a live-out, first one first; they run on the whole.
  std::vector<NodeId> find_suffix(NodeId out) const {
    std::vector<NodeId> suffix;
    NodeId node = out;
    while (plan_.has(node) && p_.is_call(node)) {
      const auto inputs = p_.tensor_inputs(node);
      if (inputs.size() != 1 || (!is_view(node) && !is_reduction(node))) break;
      const auto& users = p_.fx.users(inputs[0]);
      if (std::ranges::any_of(users, [&](NodeId user) { return user != node && plan_.has(user); }))
        break;
      suffix.push_back(node);
      node = inputs[0];
    }
    std::ranges::reverse(suffix);
    return suffix;
  }

  Result<NodeId> join(NodeId out, const std::vector<NodeId>& users, bool early) {
    if (const auto made = joined_.find(out); made != joined_.end()) return made->second;
    std::vector<NodeId> suffix;
    NodeId boundary = out;
    if (early && plan_.root.is_backward && p_.has_chunk_dim(out)) {
      suffix = find_suffix(out);
      if (!suffix.empty()) boundary = p_.tensor_inputs(suffix.front())[0];
      if (!copied_[0].contains(boundary)) {
        boundary = out;
        suffix.clear();
      }
    }
    NodeId made;
    if (boundary != out) {
      JOINTER_TRY(made, join(boundary, users, early));
      JOINTER_TRY(made, add_suffix(boundary, made, suffix));
    } else {
      JOINTER_TRY(made, add_join(out, users));
    }
    joined_.emplace(out, made);
    return made;
  }

  Result<NodeId> add_join(NodeId out, const std::vector<NodeId>& users) {
    const Node original = originals_.at(out);
    const Tensor* whole = p_.graph.single_tensor(original);
    const ChunkPair pair{copied_[0].at(out), copied_[1].at(out)};
    int dim = p_.chunk_dim(out);
    if (dim < 0 && whole != nullptr) dim = p_.chunk_dim(*whole);
    const bool is_sum = dim < 0;
    if (whole == nullptr && p_.graph.target(original) == "aten.sym_size.int")
      return name_join(out,
                       add("aten.add.Tensor", {ref(pair[0]), ref(pair[1])}, original.value, before_,
                           ChunkRole::materialization),
                       "The size is that of both chunks.");
    if (whole == nullptr)
      return fail(Error::Kind::usage,
                  "{} of {} is read by {}, and chunks of a number cannot be joined", p_.name(out),
                  where(), p_.name(users.front()));
    if (is_sum && !is_gradient(out, users))
      return fail(
          Error::Kind::usage,
          "{} of {} has no dimension along which its chunks can be joined, and is not a sum of "
          "gradients; {} reads it",
          p_.name(out), where(), p_.name(users.front()));
    const Tensor like = *whole;
    const auto sizes = p_.graph.shape(like), steps = p_.graph.stride(like);
    const std::vector<Dim> shape(sizes.begin(), sizes.end()), stride(steps.begin(), steps.end());
    JOINTER_TRY(const Value value, p_.tensor_like(like, shape, stride, {}, {}));
    const NodeId made = is_sum ? add("aten.add.Tensor", {ref(pair[0]), ref(pair[1])}, value,
                                     before_, ChunkRole::materialization)
                               : add("aten.cat.default",
                                     {list({ref(pair[0]), ref(pair[1])}), Argument::of_int(dim)},
                                     value, before_, ChunkRole::materialization);
    return name_join(out, made,
                     is_sum ? fmt::format("The gradient is the sum of both chunks of {}.", where())
                            : fmt::format("{} reads both chunks of {} as one.",
                                          p_.name(users.front()), where()));
  }
  NodeId name_join(NodeId out, NodeId made, std::string reason) {
    p_.rename(made, fmt::format("{}_chunk_materialized", p_.name(out)));
    options_.decide(made, "joined", std::move(reason));
    return made;
  }

  bool is_gradient(NodeId out, const std::vector<NodeId>& users) const {
    if (!plan_.root.is_backward) return false;
    const bool is_output = std::ranges::all_of(
        users, [this](NodeId user) { return p_.graph.node(user).kind == NodeKind::output; });
    return is_output || (out.index() < plan_.is_escape.size() && plan_.is_escape[out.index()]);
  }

  // The suffix, on the whole.
  Result<NodeId> add_suffix(NodeId boundary, NodeId made, const std::vector<NodeId>& suffix) {
    std::unordered_map<NodeId, NodeId> whole{{boundary, made}};
    NodeId current = made;
    for (const NodeId id : suffix) {
      const Node original = originals_.at(id);
      const NodeId before = p_.fx.next(current);
      const auto args = p_.graph.children(original.args);
      std::vector<Argument> now(args.begin(), args.end());
      for (Argument& arg : now)
        if (arg.kind == Argument::Kind::node && whole.contains(arg.node()))
          arg = ref(whole.at(arg.node()));
      const Tensor* tensor = p_.graph.single_tensor(original);
      if (const auto at = shape_argument(original);
          at && *at < now.size() && tensor != nullptr &&
          (now[*at].kind == Argument::Kind::list || now[*at].kind == Argument::Kind::tuple)) {
        JOINTER_TRY(now[*at], whole_shape(*tensor, before));
      }
      const NodeId copy = p_.add_copy(original, p_.graph.make_children(Argument::Kind::list, now),
                                      original.kwargs, before);
      p_.rename(copy, fmt::format("{}_chunk_materialized", p_.graph.text(original.name)));
      JOINTER_TRY(const Value value, suffix_value(original, current));
      p_.graph.node(copy).value = value;
      p_.graph.refresh(copy);
      p_.mark_synthetic(copy, plan_.root, ChunkRole::materialization, kNone);
      options_.decide(copy, "joined", fmt::format("It runs once, on both chunks of {}.", where()));
      whole.emplace(id, copy);
      current = copy;
    }
    return current;
  }

  // A view lies where its input does; what a collective gives has a storage of its own.
  Result<Value> suffix_value(const Node& original, NodeId input) {
    const Tensor tensor = *p_.graph.single_tensor(original);
    const auto sizes = p_.graph.shape(tensor), steps = p_.graph.stride(tensor);
    const std::vector<Dim> shape(sizes.begin(), sizes.end()), stride(steps.begin(), steps.end());
    const bool is_view_of = p_.graph.op(original).is_view();
    return p_.tensor_like(
        tensor, shape, stride, p_.graph.offset(tensor),
        is_view_of ? p_.graph.tensors(input)[0].storage : storage_of_whole(tensor.storage));
  }

  // Views outside of the body are of the storage that the body's value had: what stands in for that
  // value lies there. None if it was a live-in's, or another value has taken it.
  StorageId storage_of_whole(StorageId storage) {
    const bool is_own = storage && storages_[0].contains(storage);
    return is_own && taken_.insert(storage).second ? storage : StorageId{};
  }

  // Sizes of the whole as nodes: the chunk symbol from the first input that has it.
  Result<Argument> whole_shape(const Tensor& tensor, NodeId before) {
    const auto sizes = p_.graph.shape(tensor);
    const std::vector<Dim> shape(sizes.begin(), sizes.end());
    std::map<std::string, NodeId> made;  // by the size's text
    std::vector<Argument> items;
    for (const Dim& size : shape) {
      if (!size.expression) {
        items.push_back(Argument::of_int(size.value));
        continue;
      }
      const std::string name = text(size);
      const auto multiple = multiple_of_symbol(name);
      if (!multiple)
        return fail(Error::Kind::usage, "{} needs the size {}, which no input has", where(), name);
      if (!made.contains(multiple->first)) {
        JOINTER_TRY(made[multiple->first], add_symbol(multiple->first, before));
      }
      if (!made.contains(name))
        made[name] = add("_operator.mul",
                         {Argument::of_int(multiple->second), ref(made.at(multiple->first))},
                         Value::of_symbol(size.expression), before, ChunkRole::materialization);
      items.push_back(ref(made.at(name)));
    }
    return list(items);
  }

  Result<NodeId> add_symbol(const std::string& symbol, NodeId before) {
    for (NodeId id = p_.fx.first(); id; id = p_.fx.next(id)) {
      const Node& node = p_.graph.node(id);
      const Tensor* tensor = p_.graph.single_tensor(node);
      if (node.kind != NodeKind::placeholder || tensor == nullptr) continue;
      const auto shape = p_.graph.shape(*tensor);
      for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i].expression && text(shape[i]) == symbol)
          return add("aten.sym_size.int", {ref(id), Argument::of_int(static_cast<std::int64_t>(i))},
                     Value::of_symbol(shape[i].expression), before, ChunkRole::materialization);
    }
    return fail(Error::Kind::usage, "no input has the size {} that {} needs", symbol, where());
  }

  // --- What nobody reads ---

  void erase_unused() {
    std::vector<NodeId> copies;
    for (const auto& by_origin : copied_)
      for (const auto& [id, copy] : by_origin) copies.push_back(copy);
    const std::vector<std::uint32_t> places = p_.fx.places();
    std::ranges::sort(copies, {}, [&](NodeId id) { return places[id.index()]; });
    for (std::size_t i = copies.size(); i-- > 0;) {
      const NodeId id = copies[i];
      if (ChunkPairs::of(pairs_.per_chunk, id)[0] || !p_.fx.users(id).empty() || p_.mutates(id))
        continue;
      p_.fx.erase(id);
      ChunkPairs::set(pairs_.copies, id, {});
    }
  }

  ChunkProgram& p_;
  const std::vector<ChunkPlan>& plans_;
  const ChunkPlan& plan_;
  const ChunkLoweringOptions& options_;
  ChunkPairs& pairs_;
  std::vector<std::uint32_t> places_;  // by node
  std::vector<NodeId> live_ins_;       // in program order
  std::vector<LiveOut> live_outs_;
  std::vector<ChunkPair> chunks_;  // of live-ins, by node
  Scalars scalars_;
  std::unordered_map<NodeId, ChunkPair> scalar_nodes_;
  std::unordered_map<NodeId, Node> originals_;
  std::unordered_set<NodeId> kept_scalars_;
  std::array<std::unordered_map<NodeId, NodeId>, 2> copied_;
  std::array<std::unordered_map<StorageId, StorageId>, 2> storages_;
  std::unordered_set<StorageId> taken_;
  std::unordered_map<NodeId, NodeId> joined_;
  NodeId before_;
};

}  // namespace

Result<void> lower_chunks(ChunkProgram& program, const std::vector<ChunkPlan>& plans,
                          std::size_t which, const ChunkLoweringOptions& options,
                          ChunkPairs& pairs) {
  return Lowering(program, plans, which, options, pairs).run();
}

}  // namespace jointer
