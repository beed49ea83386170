// Passes the halves of a live-out to readers that exist per chunk, and joins them for other
// readers: with `cat` along the chunk dimension, or with `add` for gradients and sizes. With early
// joins, a live-out in the backward that has the chunk dimension is joined before the views and
// collectives that lead to it, so that these run only once.

#include "passes/ep_overlap/chunk_outputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "core/ops/collective_targets.h"

namespace jointer {

namespace {

constexpr int kNone = ChunkProgram::kNone;

}  // namespace

ChunkOutputs::ChunkOutputs(ChunkBody& body) : body_(body), p_(body.program), plan_(body.plan) {
  for (const NodeId id : plan_.body) {
    LiveOut out{.node = id, .chunked = {}, .full = {}};
    for (const NodeId user : p_.fx.users(id))
      if (!plan_.has(user) && p_.is_needed(user)) out.full.push_back(user);
    if (!out.full.empty()) live_outs_.push_back(std::move(out));
  }
}

// True if the user reads halves: the value is computed in the forward of a module, and the user
// belongs to the backward of that module. A backward call without a module belongs to it if the
// call depends on the chunk symbol, and its inputs and users are in the module or have no module.
bool ChunkOutputs::takes_chunks(NodeId user) {
  const ChunkPlan* owner = nullptr;
  for (const ChunkPlan& plan : body_.plans)
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

void ChunkOutputs::classify() {
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

Result<void> ChunkOutputs::join() {
  const std::vector<std::uint32_t> places = p_.fx.places();
  const auto place = [&](NodeId id) { return places[id.index()]; };
  for (LiveOut& out : live_outs_)
    if (!out.full.empty()) out.first_full = place(*std::ranges::min_element(out.full, {}, place));
  std::ranges::stable_sort(live_outs_, {}, &LiveOut::first_full);
  for (const LiveOut& out : live_outs_) {
    const ChunkPair pair{body_.copies[0].at(out.node), body_.copies[1].at(out.node)};
    if (!out.chunked.empty())
      for (const NodeId id : {out.node, pair[0], pair[1]})
        ChunkPairs::set(body_.pairs.per_chunk, id, pair);
    if (out.full.empty() || kept_scalars_.contains(out.node)) continue;
    const Tensor* whole = p_.graph.single_tensor(body_.originals.at(out.node));
    if (!out.chunked.empty() && (whole == nullptr || p_.chunk_dim(*whole) == kNone) &&
        !p_.has_chunk_dim(out.node))
      return fail(Error::Kind::usage,
                  "{} in {} is read both by chunks and by other nodes (such as {}), but has no "
                  "dimension along which its chunks can be joined",
                  p_.name(out.node), body_.where(), p_.name(out.full.front()));
    before_ = *std::ranges::min_element(out.full, {}, place);
    JOINTER_TRY(const NodeId made,
                join_one(out.node, out.full, body_.options.early_joins && out.chunked.empty()));
    for (const NodeId user : out.full) p_.fx.replace_use(user, out.node, made);
  }
  return {};
}

bool ChunkOutputs::is_reduction(NodeId id) const {
  const std::string_view target = p_.graph.target(p_.graph.node(id));
  if (target == kAllReduceTarget || target == kWaitTarget) return true;
  if (target != kReduceScatterTarget) return false;
  const auto inputs = p_.tensor_inputs(id);
  if (inputs.size() != 1) return false;
  const auto a = p_.graph.shape(*p_.graph.single_tensor(p_.graph.node(id))),
             b = p_.graph.shape(*p_.graph.single_tensor(p_.graph.node(inputs[0])));
  return std::ranges::equal(a, b);
}

// True for what torch calls a view: the result aliases an argument, and no argument is written.
bool ChunkOutputs::is_view(NodeId id) const {
  const OperatorInfo& op = p_.graph.op(p_.graph.node(id));
  return !op.mutates && std::ranges::any_of(op.arguments, [](const SchemaArgument& each) {
    return each.alias_set != 0;
  });
}

// The views and collectives that lead to a live-out, in program order. They run on the whole value.
std::vector<NodeId> ChunkOutputs::find_suffix(NodeId out) const {
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

Result<NodeId> ChunkOutputs::join_one(NodeId out, const std::vector<NodeId>& users, bool early) {
  if (const auto made = joined_.find(out); made != joined_.end()) return made->second;
  std::vector<NodeId> suffix;
  NodeId boundary = out;
  if (early && plan_.root.is_backward && p_.has_chunk_dim(out)) {
    suffix = find_suffix(out);
    if (!suffix.empty()) boundary = p_.tensor_inputs(suffix.front())[0];
    if (!body_.copies[0].contains(boundary)) {
      boundary = out;
      suffix.clear();
    }
  }
  NodeId made;
  if (boundary != out) {
    JOINTER_TRY(made, join_one(boundary, users, early));
    JOINTER_TRY(made, add_suffix(boundary, made, suffix));
  } else {
    JOINTER_TRY(made, add_join(out, users));
  }
  joined_.emplace(out, made);
  return made;
}

Result<NodeId> ChunkOutputs::add_join(NodeId out, const std::vector<NodeId>& users) {
  const Node original = body_.originals.at(out);
  const Tensor* whole = p_.graph.single_tensor(original);
  const ChunkPair pair{body_.copies[0].at(out), body_.copies[1].at(out)};
  int dim = p_.chunk_dim(out);
  if (dim < 0 && whole != nullptr) dim = p_.chunk_dim(*whole);
  const bool is_sum = dim < 0;
  if (whole == nullptr && p_.graph.target(original) == "aten.sym_size.int")
    return name_join(out,
                     body_.add("aten.add.Tensor", {ref(pair[0]), ref(pair[1])}, original.value,
                               before_, ChunkRole::materialization),
                     "It is the sum of both chunks' sizes.");
  if (whole == nullptr)
    return fail(Error::Kind::usage,
                "{} in {} is read by {}, but is not a tensor, so its chunks cannot be joined",
                p_.name(out), body_.where(), p_.name(users.front()));
  if (is_sum && !is_gradient(out, users))
    return fail(
        Error::Kind::usage,
        "{} in {} is read by {}, but its chunks cannot be joined: only values that are split along "
        "exactly one dimension can be concatenated, and only gradients are summed",
        p_.name(out), body_.where(), p_.name(users.front()));
  const Tensor like = *whole;
  const auto sizes = p_.graph.shape(like), steps = p_.graph.stride(like);
  const std::vector<Dim> shape(sizes.begin(), sizes.end()), stride(steps.begin(), steps.end());
  JOINTER_TRY(const Value value, p_.tensor_like(like, shape, stride, {}, {}));
  const NodeId made =
      is_sum ? body_.add("aten.add.Tensor", {ref(pair[0]), ref(pair[1])}, value, before_,
                         ChunkRole::materialization)
             : body_.add("aten.cat.default",
                         {body_.list({ref(pair[0]), ref(pair[1])}), Argument::of_int(dim)}, value,
                         before_, ChunkRole::materialization);
  return name_join(out, made,
                   is_sum
                       ? fmt::format("The gradient is the sum of both chunks of {}.", body_.where())
                       : fmt::format("{} reads both chunks of {} as a single value.",
                                     p_.name(users.front()), body_.where()));
}

NodeId ChunkOutputs::name_join(NodeId out, NodeId made, std::string reason) {
  p_.rename(made, fmt::format("{}_chunk_materialized", p_.name(out)));
  body_.options.decide(made, "joined", std::move(reason));
  return made;
}

bool ChunkOutputs::is_gradient(NodeId out, const std::vector<NodeId>& users) const {
  if (!plan_.root.is_backward) return false;
  const bool is_output = std::ranges::all_of(
      users, [this](NodeId user) { return p_.graph.node(user).kind == NodeKind::output; });
  return is_output || (out.index() < plan_.is_escape.size() && plan_.is_escape[out.index()]);
}

// Adds the calls of the suffix, applied to the whole value.
Result<NodeId> ChunkOutputs::add_suffix(NodeId boundary, NodeId made,
                                        const std::vector<NodeId>& suffix) {
  std::unordered_map<NodeId, NodeId> whole{{boundary, made}};
  NodeId current = made;
  for (const NodeId id : suffix) {
    const Node original = body_.originals.at(id);
    const NodeId before = p_.fx.next(current);
    const auto args = p_.graph.children(original.args);
    std::vector<Argument> now(args.begin(), args.end());
    for (Argument& arg : now)
      if (arg.kind == Argument::Kind::node && whole.contains(arg.node()))
        arg = ref(whole.at(arg.node()));
    const Tensor* tensor = p_.graph.single_tensor(original);
    if (const auto at = body_.shape_argument(original);
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
    body_.options.decide(copy, "joined",
                         fmt::format("It runs once, for both chunks of {}.", body_.where()));
    whole.emplace(id, copy);
    current = copy;
  }
  return current;
}

// A view shares the storage of its input; the result of a collective has its own storage.
Result<Value> ChunkOutputs::suffix_value(const Node& original, NodeId input) {
  const Tensor tensor = *p_.graph.single_tensor(original);
  const auto sizes = p_.graph.shape(tensor), steps = p_.graph.stride(tensor);
  const std::vector<Dim> shape(sizes.begin(), sizes.end()), stride(steps.begin(), steps.end());
  const bool is_view_of = p_.graph.op(original).is_view;
  return p_.tensor_like(
      tensor, shape, stride, p_.graph.offset(tensor),
      is_view_of ? p_.graph.tensors(input)[0].storage : storage_of_whole(tensor.storage));
}

// Views outside the body still refer to the storage of the body's value, so the joined value reuses
// that storage. Returns none if the storage belongs to a live-in, or if another value already
// reuses it.
StorageId ChunkOutputs::storage_of_whole(StorageId storage) {
  const bool is_own = storage && body_.storages[0].contains(storage);
  return is_own && taken_.insert(storage).second ? storage : StorageId{};
}

// The shape argument of the whole value, with a node for each symbolic size. Each size is a
// multiple of a symbol, which is read from the first placeholder that has it as a dimension.
Result<Argument> ChunkOutputs::whole_shape(const Tensor& tensor, NodeId before) {
  const auto sizes = p_.graph.shape(tensor);
  const std::vector<Dim> shape(sizes.begin(), sizes.end());
  std::map<std::string, NodeId> made;  // by the size's text
  std::vector<Argument> items;
  for (const Dim& size : shape) {
    if (!size.expression) {
      items.push_back(Argument::of_int(size.value));
      continue;
    }
    const std::string name = body_.text(size);
    const auto multiple = multiple_of_symbol(name);
    if (!multiple)
      return fail(Error::Kind::usage, "{} uses the size {}, which is not a multiple of one symbol",
                  body_.where(), name);
    if (!made.contains(multiple->first)) {
      JOINTER_TRY(made[multiple->first], add_symbol(multiple->first, before));
    }
    if (!made.contains(name))
      made[name] = body_.add("_operator.mul",
                             {Argument::of_int(multiple->second), ref(made.at(multiple->first))},
                             Value::of_symbol(size.expression), before, ChunkRole::materialization);
    items.push_back(ref(made.at(name)));
  }
  return body_.list(items);
}

Result<NodeId> ChunkOutputs::add_symbol(const std::string& symbol, NodeId before) {
  for (NodeId id = p_.fx.first(); id; id = p_.fx.next(id)) {
    const Node& node = p_.graph.node(id);
    const Tensor* tensor = p_.graph.single_tensor(node);
    if (node.kind != NodeKind::placeholder || tensor == nullptr) continue;
    const auto shape = p_.graph.shape(*tensor);
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i].expression && body_.text(shape[i]) == symbol)
        return body_.add("aten.sym_size.int",
                         {ref(id), Argument::of_int(static_cast<std::int64_t>(i))},
                         Value::of_symbol(shape[i].expression), before, ChunkRole::materialization);
  }
  return fail(Error::Kind::usage, "no input of the graph has a dimension of size {}, which {} uses",
              symbol, body_.where());
}

}  // namespace jointer
