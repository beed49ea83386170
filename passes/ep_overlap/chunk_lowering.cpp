// Duplicates the body of a module for two chunks.
//
// Terms. Live-in: a value that the body reads but does not compute. Live-out: a value of the body
// that other nodes read.
//
// Steps. Split the live-ins (chunk_inputs.cpp). Turn each node of the body into a node of chunk 0,
// and add a copy for chunk 1 directly after it; if both write to a shared value, the copy reads the
// result of the first write. Pass live-outs on as halves, or join them (chunk_outputs.cpp).
// Finally, remove the nodes of the chunks that nothing reads and that do not write.
//
// Cost per module: linear in the size of the graph.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_chunk_pass.py. Deviations:
//  - Sizes that a view of a whole gradient reads are placed directly before the view. Upstream
//    places them after the view, and its own check then refuses the graph.
//  - split_with_sizes calls record the values that they return.
//  - Copies share storages as the originals do, and views share the storage of the half that they
//    view. Upstream gives each value a new storage.
//  - Arguments that refer to a size by its symbol instead of by a node are refused.

#include "passes/ep_overlap/chunk_lowering.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "core/ops/collective_targets.h"
#include "passes/ep_overlap/chunk_inputs.h"
#include "passes/ep_overlap/chunk_outputs.h"

namespace jointer {
namespace {

class Lowering {
 public:
  explicit Lowering(ChunkBody& body)
      : body_(body), p_(body.program), plan_(body.plan), inputs_(body), outputs_(body) {}

  Result<void> run() {
    JOINTER_CHECK(check());
    JOINTER_CHECK(inputs_.split());
    JOINTER_CHECK(inputs_.halve_sizes());
    for (const NodeId id : plan_.body) {
      body_.originals.emplace(id, p_.graph.node(id));
      body_.pairs.originals.try_emplace(id, p_.graph.node(id));
    }
    outputs_.classify();
    JOINTER_CHECK(copy_body(0));
    JOINTER_CHECK(copy_body(1));
    JOINTER_CHECK(outputs_.join());
    erase_unused();
    return {};
  }

 private:
  Result<void> check() {
    for (const NodeId id : plan_.body) {
      const std::string dotted = "." + p_.module(id) + ".";
      if (body_.options.mode == ChunkMode::seq && dotted.find(".attention.") != std::string::npos)
        return fail(Error::Kind::usage,
                    "{} contains attention, so it cannot be split along the sequence; set "
                    "module_pattern=layers.*.moe or mode=batch",
                    body_.where());
      if (!p_.is_collective(id) || p_.is_of_expert_parallelism(id)) continue;
      const auto inputs = p_.graph.inputs(id);
      const bool is_wait = p_.graph.target(p_.graph.node(id)) == kWaitTarget && !inputs.empty();
      if (!is_wait)
        return fail(
            Error::Kind::usage,
            "{} in {} is a collective that does not belong to expert parallelism, so it cannot run "
            "once per chunk; set module_pattern to modules without such collectives",
            p_.name(id), body_.where());
      if (!p_.is_of_expert_parallelism(inputs[0]))
        return fail(
            Error::Kind::usage,
            "{} in {} waits for {}, which does not belong to expert parallelism, so it cannot run "
            "once per chunk; set module_pattern to modules without such collectives",
            p_.name(id), body_.where(), p_.name(inputs[0]));
      if (!plan_.has(inputs[0]))
        return fail(Error::Kind::usage,
                    "{} in {} waits for {}, which is not split, so it cannot run once per chunk; "
                    "set module_pattern to modules that contain both",
                    p_.name(id), body_.where(), p_.name(inputs[0]));
    }
    return {};
  }

  Result<Argument> map(const Argument& argument, std::size_t chunk,
                       const ChunkSizes::Renamed& renamed) {
    if (argument.kind == Argument::Kind::node) return map(argument.node(), chunk);
    if (argument.kind == Argument::Kind::symbol) {
      const Dim size{0, argument.expression()};
      if (const NodeId node = inputs_.size_in_chunk(size, chunk)) return ref(node);
      if (p_.sizes.depends(argument.expression()))
        return fail(Error::Kind::usage,
                    "{}: a call has the argument {}, but no value that the module reads has this "
                    "size",
                    body_.where(), body_.text(size));
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
    const auto copy = body_.copies[chunk].find(id);
    return ref(copy == body_.copies[chunk].end() ? inputs_.in_chunk(id, chunk) : copy->second);
  }

  Result<void> copy_body(std::size_t chunk) {
    ChunkSizes::Renamed renamed;
    for (const NodeId id : plan_.body) {
      const Node original = body_.originals.at(id);
      const std::string name(p_.graph.text(original.name));
      JOINTER_TRY(const Argument args, map(original.args, chunk, renamed));
      JOINTER_TRY(const Argument kwargs, map(original.kwargs, chunk, renamed));
      JOINTER_CHECK(check_view(original, args));
      JOINTER_TRY(const Argument written,
                  chunk == 1 ? after_first(id, original, args) : Result<Argument>(args));
      const bool in_place = chunk == 0 && !outputs_.is_kept(id);
      NodeId copy = id;
      if (in_place)
        p_.fx.set_call(id, written, kwargs);
      else
        copy = p_.add_copy(original, written, kwargs, p_.fx.next(id));
      p_.rename(copy, fmt::format("{}_chunk{}", name, chunk));
      // If a call introduces an unbacked symbol, each copy gets its own symbol.
      for (const std::string& symbol : p_.bound_symbols(id)) renamed[symbol] = p_.fresh_symbol();
      JOINTER_TRY(const Value value, value_of(id, original.value, chunk, renamed));
      Node& node = p_.graph.node(copy);
      node.custom = original.custom;
      node.value = value;
      p_.graph.refresh(copy);
      if (copy != id) p_.graph.node(copy).origin = original.origin;
      p_.mark(copy, plan_.root, ChunkRole::body, static_cast<int>(chunk));
      body_.copies[chunk].emplace(id, copy);
      body_.options.decide(copy, "chunked",
                           fmt::format("{} for chunk {} of {}.", name, chunk, body_.where()));
    }
    if (chunk == 1)
      for (const NodeId id : plan_.body) {
        const ChunkPair pair{body_.copies[0].at(id), body_.copies[1].at(id)};
        for (const NodeId each : pair) ChunkPairs::set(body_.pairs.copies, each, pair);
      }
    return {};
  }

  // If both chunks write to a shared value, chunk 1 reads the result of chunk 0's write.
  Result<Argument> after_first(NodeId id, const Node& original, const Argument& args) {
    const OperatorInfo& op = p_.graph.op(original);
    const auto was = p_.graph.children(original.args);
    std::optional<std::size_t> shared;
    for (std::size_t i = 0; i < op.arguments.size() && i < was.size(); ++i) {
      if (!op.arguments[i].writes || was[i].kind != Argument::Kind::node ||
          body_.copies[1].contains(was[i].node()))
        continue;
      if (shared)
        return fail(Error::Kind::usage,
                    "{} writes to two values that both chunks share, but only one is supported",
                    p_.graph.text(original.name));
      shared = i;
    }
    if (!shared) return args;
    const auto children = p_.graph.children(args);
    std::vector<Argument> changed(children.begin(), children.end());
    changed[*shared] = ref(body_.copies[0].at(id));
    return p_.graph.make_children(args.kind, changed);
  }

  // The shape of a view in a chunk must contain the chunk's size or -1.
  Result<void> check_view(const Node& original, const Argument& args) {
    const auto at = body_.shape_argument(original);
    const Tensor* tensor = p_.graph.single_tensor(original);
    const auto given = p_.graph.children(args);
    if (!at || tensor == nullptr || *at >= given.size() || p_.chunk_dim(*tensor) < 0) return {};
    const Argument& shape = given[*at];
    if (shape.kind != Argument::Kind::list && shape.kind != Argument::Kind::tuple) return {};
    for (const Argument& size : p_.graph.children(shape))
      if (size.kind == Argument::Kind::integer && size.integer == -1) return {};
    if (body_.depends_on_chunk_size(shape)) return {};
    return fail(Error::Kind::usage,
                "the shape passed to {} in {} does not contain the chunk's size; read the size "
                "from the tensor (such as x.shape[0]), or use -1",
                p_.graph.text(original.name), body_.where());
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

  // The storage that the copy views, or a new storage of the required size.
  Result<StorageId> storage_of(NodeId id, const Tensor& tensor, std::span<const Dim> shape,
                               std::size_t chunk, const ChunkSizes::Renamed& renamed) {
    if (!tensor.storage) return StorageId{};
    const auto known = body_.storages[chunk].find(tensor.storage);
    if (known != body_.storages[chunk].end()) return known->second;
    for (const NodeId input : p_.graph.inputs(body_.originals.at(id))) {
      const auto was = body_.pairs.originals.find(input);
      const auto before =
          p_.graph.tensors(was == body_.pairs.originals.end() ? p_.graph.node(input) : was->second);
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
    body_.storages[chunk].emplace(tensor.storage, made);
    return made;
  }
  // Removes copies that nothing reads, unless they write or are passed on as halves.
  void erase_unused() {
    std::vector<NodeId> copies;
    for (const auto& by_origin : body_.copies)
      for (const auto& [id, copy] : by_origin) copies.push_back(copy);
    const std::vector<std::uint32_t> places = p_.fx.places();
    std::ranges::sort(copies, {}, [&](NodeId id) { return places[id.index()]; });
    for (std::size_t i = copies.size(); i-- > 0;) {
      const NodeId id = copies[i];
      if (ChunkPairs::of(body_.pairs.per_chunk, id)[0] || !p_.fx.users(id).empty() ||
          p_.mutates(id))
        continue;
      p_.fx.erase(id);
      ChunkPairs::set(body_.pairs.copies, id, {});
    }
  }

  ChunkBody& body_;
  ChunkProgram& p_;
  const ChunkPlan& plan_;
  ChunkInputs inputs_;
  ChunkOutputs outputs_;
};

}  // namespace

Result<void> lower_chunks(ChunkProgram& program, const std::vector<ChunkPlan>& plans,
                          std::size_t which, const ChunkLoweringOptions& options,
                          ChunkPairs& pairs) {
  ChunkBody body{
      .program = program, .plans = plans, .plan = plans[which], .options = options, .pairs = pairs};
  program.sizes.where = body.where();
  return Lowering(body).run();
}

}  // namespace jointer
