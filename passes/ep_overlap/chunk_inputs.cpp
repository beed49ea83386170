// Splits each live-in with the chunk symbol in its shape, before the first node of the body that
// needs it; copies halves that are not known to be contiguous; and halves sizes. Values that a
// previously lowered module already computes per chunk are used directly.

#include "passes/ep_overlap/chunk_inputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/base/counted.h"

namespace jointer {

ChunkInputs::ChunkInputs(ChunkBody& body) : body_(body), p_(body.program), plan_(body.plan) {
  places_ = p_.fx.places();
  std::vector<bool> is_met(p_.graph.node_count(), false);
  for (const NodeId id : plan_.body)
    for (const NodeId input : p_.graph.inputs(id)) {
      if (plan_.has(input) || is_met[input.index()]) continue;
      is_met[input.index()] = true;
      live_ins_.push_back(input);
    }
  std::ranges::sort(live_ins_, {}, [this](NodeId id) { return places_[id.index()]; });
}

NodeId ChunkInputs::in_chunk(NodeId id, std::size_t chunk) const {
  if (is_chunked(id)) return chunks_of(id)[chunk];
  const auto scalar = scalar_nodes_.find(id);
  return scalar == scalar_nodes_.end() ? id : scalar->second[chunk];
}

NodeId ChunkInputs::size_in_chunk(const Dim& size, std::size_t chunk) const {
  const auto scalar = scalars_.find(body_.text(size));
  return scalar == scalars_.end() ? NodeId{} : scalar->second[chunk];
}

void ChunkInputs::recover_chunks() {
  for (const NodeId id : live_ins_) {
    ChunkPair pair = ChunkPairs::of(body_.pairs.per_chunk, id);
    if (!pair[0]) {
      pair = ChunkPairs::of(body_.pairs.copies, id);
      if (!pair[0] || is_erased(pair[0]) || is_erased(pair[1])) continue;
    }
    set_chunks(id, pair);
  }
}

// True if this copy was removed because nothing read it.
bool ChunkInputs::is_erased(NodeId id) const {
  return ChunkPairs::of(body_.pairs.copies, id)[0] != id &&
         ChunkPairs::of(body_.pairs.copies, id)[1] != id;
}

bool ChunkInputs::is_static(NodeId id) const {
  const Node& node = p_.graph.node(id);
  return node.kind == NodeKind::placeholder &&
         (node.role == Role::parameter || node.role == Role::buffer);
}

// The first node of the body after the live-in that reads it or has an argument that depends on the
// chunk symbol; the body's first node if there is none.
NodeId ChunkInputs::first_consumer(NodeId live_in) {
  for (const NodeId id : plan_.body) {
    if (places_[id.index()] <= places_[live_in.index()]) continue;
    const auto inputs = p_.graph.inputs(id);
    if (std::ranges::find(inputs, live_in) != inputs.end() ||
        body_.depends_on_chunk_size(p_.graph.node(id).args) ||
        body_.depends_on_chunk_size(p_.graph.node(id).kwargs))
      return id;
  }
  return plan_.body.front();
}

NodeId ChunkInputs::first_reader(NodeId live_in) {
  for (const NodeId id : plan_.body) {
    const auto inputs = p_.graph.inputs(id);
    if (std::ranges::find(inputs, live_in) != inputs.end()) return id;
  }
  return plan_.body.front();
}

Result<void> ChunkInputs::split() {
  recover_chunks();
  std::vector<NodeId> split;
  for (const NodeId id : live_ins_) {
    if (!is_chunked(id) && !is_static(id) && p_.has_chunk_dim(id)) split.push_back(id);
    if (!plan_.root.is_backward && p_.is_call(id) && !is_chunked(id) && p_.is_backward(id) &&
        p_.is_tensor(id) && !p_.graph.shape(*p_.graph.single_tensor(p_.graph.node(id))).empty())
      return fail(Error::Kind::usage, "{} reads {}, which belongs to the backward", body_.where(),
                  p_.name(id));
  }
  const bool is_any = std::ranges::any_of(live_ins_, [this](NodeId id) { return is_chunked(id); });
  if (split.empty() && !is_any)
    return fail(Error::Kind::usage,
                "{} cannot be split in two: no tensor that it reads, other than parameters and "
                "buffers, has a chunk symbol in its shape; trace the step again with "
                "--compile.ep_overlap.enabled",
                body_.where());
  for (const NodeId id : split) JOINTER_CHECK(split_one(id));
  return {};
}

Result<void> ChunkInputs::split_one(NodeId id) {
  const NodeId before = first_consumer(id);
  const Tensor whole = *p_.graph.single_tensor(p_.graph.node(id));
  const int dim = p_.chunk_dim(whole);
  const auto at = static_cast<std::size_t>(dim);
  const auto sizes = p_.graph.shape(whole), steps = p_.graph.stride(whole);
  std::vector<Dim> shape(sizes.begin(), sizes.end()), stride(steps.begin(), steps.end());
  const Dim extent = shape[at];
  if (const auto hint = p_.sizes.hint(extent); hint && *hint % 2 != 0)
    return fail(Error::Kind::usage,
                "{} cannot be split in two: dimension {} has the odd size {}; trace the step with "
                "an even size",
                p_.name(id), dim, *hint);
  JOINTER_TRY(shape[at], p_.sizes.half(extent));
  const NodeId size =
      body_.add("aten.sym_size.int", {ref(id), Argument::of_int(dim)},
                Value::of_symbol(extent.expression), before, ChunkRole::split_boundary);
  const NodeId half =
      body_.add("_operator.floordiv", {ref(size), Argument::of_int(2)},
                Value::of_symbol(shape[at].expression), before, ChunkRole::chunk_input);
  scalars_[body_.text(extent)] = {half, half};

  JOINTER_TRY(const Dim offset, offset_of_second(id, at, shape[at]));
  std::array<Value, 2> values, halves;
  for (const bool again : {false, true}) {
    for (std::size_t chunk = 0; chunk < 2; ++chunk) {
      JOINTER_TRY((again ? values : halves)[chunk],
                  p_.tensor_like(whole, shape, stride, chunk == 0 ? p_.graph.offset(whole) : offset,
                                 whole.storage));
    }
  }
  const NodeId split = body_.add(
      "aten.split_with_sizes.default",
      {ref(id), body_.list({ref(half), ref(half)}), Argument::of_int(dim)},
      p_.graph.make_children(Value::Kind::list, halves), before, ChunkRole::split_boundary);
  body_.options.decide(
      split, "split", fmt::format("Each chunk of {} gets half of {}.", body_.where(), p_.name(id)));
  ChunkPair pair;
  for (std::size_t chunk = 0; chunk < 2; ++chunk)
    pair[chunk] = body_.add(
        "_operator.getitem", {ref(split), Argument::of_int(static_cast<std::int64_t>(chunk))},
        values[chunk], before, ChunkRole::split_boundary, static_cast<int>(chunk));
  if (!is_contiguous(shape, stride)) JOINTER_CHECK(clone(id, shape, before, pair));
  set_chunks(id, pair);
  return {};
}

Result<void> ChunkInputs::clone(NodeId id, std::span<const Dim> shape, NodeId before,
                                ChunkPair& pair) {
  const Tensor whole = *p_.graph.single_tensor(p_.graph.node(id));
  std::vector<Dim> stride(shape.size());
  Dim step{1, {}};
  for (std::size_t i = shape.size(); i-- > 0;) {
    stride[i] = step;
    if (i == 0) break;
    if (shape[i].expression && step.expression)
      return fail(Error::Kind::usage,
                  "{} reads {}, which cannot be split in two: the halves must be copied, and at "
                  "most one dimension after the first may be symbolic; trace the step with fewer "
                  "dynamic dimensions",
                  body_.where(), p_.name(id));
    JOINTER_TRY(const Dim size, p_.sizes.at_least_one(shape[i]));
    JOINTER_TRY(step, size.expression ? p_.sizes.times(size, step.value)
                                      : p_.sizes.times(step, size.value));
  }
  for (std::size_t chunk = 0; chunk < 2; ++chunk) {
    JOINTER_TRY(const Value value, p_.tensor_like(whole, shape, stride, {}, {}));
    const NodeId made = body_.add("aten.clone.default", {ref(pair[chunk])}, value, before,
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

Result<Dim> ChunkInputs::offset_of_second(NodeId id, std::size_t at, const Dim& half) {
  const Tensor& whole = *p_.graph.single_tensor(p_.graph.node(id));
  const Dim stride = p_.graph.stride(whole)[at], start = p_.graph.offset(whole);
  if (stride.expression)
    return fail(Error::Kind::usage,
                "{} reads {}, which cannot be split in two: the stride of dimension {} is symbolic",
                body_.where(), p_.name(id), at);
  if (start.expression || start.value != 0)
    return fail(Error::Kind::usage,
                "{} reads {}, which cannot be split in two: its storage offset is not 0; let the "
                "module read a clone of it",
                body_.where(), p_.name(id));
  return p_.sizes.times(half, stride.value);
}

bool ChunkInputs::is_contiguous(std::span<const Dim> shape, std::span<const Dim> stride) {
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

Result<void> ChunkInputs::halve_sizes() {
  for (const NodeId id : live_ins_) {
    const Value value = p_.graph.node(id).value;
    if (is_chunked(id) || scalar_nodes_.contains(id) || value.kind != Value::Kind::symbol ||
        !p_.sizes.depends(value.expression()))
      continue;
    const Dim size{0, value.expression()};
    ChunkPair pair;
    if (is_chunked_size(id)) {
      JOINTER_TRY(pair, sizes_of_chunks(id));
    } else {
      if (!multiple_of_symbol(p_.graph.expression_text(value.expression())))
        return fail(Error::Kind::usage,
                    "{} cannot be split in two: its value {} is not a multiple of a chunk symbol",
                    p_.name(id), body_.text(size));
      const auto hint = p_.sizes.hint(size);
      if (!hint)
        return fail(Error::Kind::usage,
                    "{} cannot be split in two: its value {} is not known to be even", p_.name(id),
                    body_.text(size));
      if (*hint % 2 != 0)
        return fail(Error::Kind::usage,
                    "{} cannot be split in two: its value {} is {}, which is odd; trace the step "
                    "with an even size",
                    p_.name(id), body_.text(size), *hint);
      JOINTER_TRY(const Dim halved, p_.sizes.half(size));
      const NodeId half =
          body_.add("_operator.floordiv", {ref(id), Argument::of_int(2)},
                    Value::of_symbol(halved.expression), first_reader(id), ChunkRole::chunk_input);
      pair = {half, half};
    }
    scalar_nodes_.emplace(id, pair);
    scalars_[body_.text(size)] = pair;
  }
  return {};
}

bool ChunkInputs::is_chunked_size(NodeId id) const {
  const Node& node = p_.graph.node(id);
  const std::string_view target = p_.graph.target(node);
  const auto args = p_.graph.args(node);
  return p_.is_call(id) && (target == "aten.sym_size.int" || target == "aten.sym_stride.int") &&
         args.size() >= 2 && args[0].kind == Argument::Kind::node && is_chunked(args[0].node()) &&
         args[1].kind == Argument::Kind::integer;
}

Result<ChunkPair> ChunkInputs::sizes_of_chunks(NodeId id) {
  const Node node = p_.graph.node(id);
  const std::string target(p_.graph.target(node));
  const ChunkPair chunks = chunks_of(p_.graph.args(node)[0].node());
  const std::int64_t dim = p_.graph.args(node)[1].integer;
  ChunkPair pair;
  for (std::size_t chunk = 0; chunk < 2; ++chunk) {
    const Tensor& tensor = *p_.graph.single_tensor(p_.graph.node(chunks[chunk]));
    const auto dims =
        target == "aten.sym_size.int" ? p_.graph.shape(tensor) : p_.graph.stride(tensor);
    if (dim < 0)
      return fail(Error::Kind::usage,
                  "{} reads dimension {}; negative dimensions are not supported", p_.name(id), dim);
    if (static_cast<std::size_t>(dim) >= dims.size())
      return fail(Error::Kind::usage, "{} reads dimension {} of {}, which has only {}", p_.name(id),
                  dim, p_.name(chunks[chunk]), counted(dims.size(), "dimension"));
    const Dim size = dims[static_cast<std::size_t>(dim)];
    const Value value =
        size.expression
            ? Value::of_symbol(size.expression)
            : Value::of_text(Value::Kind::constant, p_.graph.intern(std::to_string(size.value)));
    pair[chunk] = body_.add(target, {ref(chunks[chunk]), Argument::of_int(dim)}, value,
                            p_.fx.next(chunks[1]), ChunkRole::chunk_input, static_cast<int>(chunk));
  }
  return pair;
}

}  // namespace jointer
