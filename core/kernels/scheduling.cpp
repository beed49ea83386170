#include "core/kernels/scheduling.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/index.h"

namespace jointer::kernels {

namespace {

bool is_extern_kind(Op::Kind kind) {
  switch (kind) {
    case Op::Kind::extern_:
    case Op::Kind::multi_output:
    case Op::Kind::view:
    case Op::Kind::collective:
    case Op::Kind::wait:
    case Op::Kind::nop:
      return true;
    case Op::Kind::pointwise:
    case Op::Kind::reduction:
    case Op::Kind::scan:
    case Op::Kind::sort:
    case Op::Kind::template_:
      return false;
  }
  return true;
}

// Keeps each value once, in order. `seen` is scratch memory of the caller, indexed by value; all of
// it is 0 before and after.
void keep_first(AccessIds& values, std::vector<char>& seen) {
  std::size_t kept = 0;
  for (const AccessId value : values) {
    if (seen[as_index(value)] != 0) continue;
    seen[as_index(value)] = 1;
    values[kept++] = value;
  }
  values.resize(kept);
  for (const AccessId value : values) seen[as_index(value)] = 0;
}

}  // namespace

Scheduling::Scheduling(const Ir& ir, TorchVersion torch)
    : table(ir.buffers), ir_(ir), torch_(torch), ancestors_(ir.ops.size()) {
  const std::size_t ops = ir.ops.size();
  loops_.resize(ops);
  node_of_.assign(ops, -1);
  is_dead_.assign(ops, 0);
  users_.reserve(ir.buffers.size());
  for (const Buffer& each : ir.buffers) {
    users_.push_back({all_users_.size(), each.users.size()});
    all_users_.insert(all_users_.end(), each.users.begin(), each.users.end());
  }
  follow_mutations();
  sort_names();
  nodes_.reserve(2 * ops);
  ancestors_.reserve(2 * ops);
  std::size_t accesses = 0;
  for (const Op& op : ir.ops) accesses += op.reads.size() + op.writes.size();
  table.reserve(2 * accesses);  // with the merged forms
  std::vector<NodeIndex> all(ops);
  for (std::size_t i = 0; i < ops; ++i) {
    const Op& op = ir.ops[i];
    OpLoops& loops = loops_[i];
    loops.loops = op.loops;
    loops.reduced = op.reduced;
    loops.numel = op.numel;
    loops.rnumel = op.rnumel;
    AccessIds reads, writes;
    for (const Access& access : op.reads) reads.push_back(table.add(access));
    for (const Access& access : op.writes) writes.push_back(table.add(access));
    set_accesses(static_cast<OpId>(i), std::move(reads), std::move(writes));
    make_single(static_cast<OpId>(i));
    all[i] = static_cast<NodeIndex>(i);
  }
  order_ = sorted(all);
  remove_dead(order_);
  find_ancestors(order_);
  group_lists(order_);
  order_ = sorted(order_);
}

bool Scheduling::is_reduction(OpId id) const {
  const Op::Kind kind = op(id).kind;
  return kind == Op::Kind::reduction || kind == Op::Kind::scan || kind == Op::Kind::sort;
}

bool Scheduling::defines(NodeIndex id, BufferId wanted) const {
  const OpId op = buffer(wanted).op;
  return op >= 0 && node_of_[as_index(op)] >= 0 &&
         std::find(node(id).ops.begin(), node(id).ops.end(), op) != node(id).ops.end();
}

void Scheduling::follow_mutations() {
  const std::size_t buffers = ir_.buffers.size();
  renamed_.resize(buffers);
  std::iota(renamed_.begin(), renamed_.end(), 0);
  real_ = renamed_;
  const auto last_name = [&](BufferId id) {
    while (renamed_[as_index(id)] != id) id = renamed_[as_index(id)];
    return id;
  };
  for (const Op& op : ir_.ops)
    for (const BufferId output : op.outputs)
      for (const BufferId changed : buffer(output).mutates) {
        renamed_[as_index(last_name(changed))] = output;
        renamed_[as_index(changed)] = output;
        real_[as_index(output)] = real_[as_index(changed)];
        mutations_.push_back(output);
      }
}

void Scheduling::sort_names() {
  // The first eight characters as a number, which decides most comparisons.
  struct Named {
    std::uint64_t start = 0;
    BufferId id = -1;
  };
  std::vector<Named> names(ir_.buffers.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = ir_.buffers[i].name;
    for (std::size_t at = 0; at < sizeof(std::uint64_t); ++at)
      names[i].start =
          (names[i].start << 8U) | (at < name.size() ? static_cast<unsigned char>(name[at]) : 0U);
    names[i].id = static_cast<BufferId>(i);
  }
  std::sort(names.begin(), names.end(), [&](const Named& a, const Named& b) {
    return a.start != b.start ? a.start < b.start : buffer(a.id).name < buffer(b.id).name;
  });
  name_rank_.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    name_rank_[as_index(names[i].id)] = static_cast<std::int32_t>(i);
}

AccessIds Scheduling::unmet_of(std::span<const AccessId> reads) const {
  AccessIds unmet;
  for (const AccessId access : reads)
    if (table.buffer(access) >= 0 && buffer(table.buffer(access)).op >= 0) unmet.push_back(access);
  return unmet;
}

void Scheduling::set_accesses(OpId id, AccessIds reads, AccessIds writes) {
  const auto keep = [](AccessIds& values) {
    AccessIds kept;
    for (const AccessId value : values)
      if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(value);
    values = std::move(kept);
  };
  keep(reads);
  keep(writes);
  OpLoops& each = loops(id);
  each.unmet = unmet_of(reads);
  each.reads = std::move(reads);
  each.writes = std::move(writes);
}

NodeIndex Scheduling::add(SchedulerNode node) {
  nodes_.push_back(std::move(node));
  ancestors_.resize(nodes_.size());
  return static_cast<NodeIndex>(nodes_.size() - 1);
}

void Scheduling::set_derived(SchedulerNode& node) const {
  node.accesses = node.reads;
  node.accesses.insert(node.accesses.end(), node.writes.begin(), node.writes.end());
  std::sort(node.accesses.begin(), node.accesses.end());
  node.accesses.erase(std::unique(node.accesses.begin(), node.accesses.end()), node.accesses.end());
  node.used.clear();
  const auto use = [&](std::span<const AccessId> accesses) {
    for (const AccessId access : accesses) {
      const BufferId id = table.buffer(access);
      if (std::find(node.used.begin(), node.used.end(), id) == node.used.end())
        node.used.push_back(id);
    }
  };
  if (node.ops.size() == 1) {
    use(node.reads);
    use(node.writes);
    return;
  }
  for (const OpId id : node.ops) {
    use(loops(id).reads);
    use(loops(id).writes);
  }
}

void Scheduling::make_single(OpId id) {
  const Op& each = op(id);
  const OpLoops& own = loops(id);
  SchedulerNode node;
  node.ops = {id};
  node.leader = id;
  node.reads = own.reads;
  node.writes = own.writes;
  node.unmet = own.unmet;
  node.outputs = each.outputs;
  node.numel = own.numel;
  node.rnumel = own.rnumel;
  node.is_reduction = is_reduction(id);
  node.is_extern = is_extern_kind(each.kind);
  node.is_on_gpu = each.is_on_gpu;
  node.is_template = each.kind == Op::Kind::template_;
  set_derived(node);
  node_of_[as_index(id)] = add(std::move(node));
}

void Scheduling::refresh(NodeIndex id) {
  SchedulerNode& each = node(id);
  if (each.ops.size() == 1) {
    const OpLoops& own = loops(each.ops.front());
    each.reads = own.reads;
    each.writes = own.writes;
    each.unmet = own.unmet;
    each.numel = own.numel;
    each.rnumel = own.rnumel;
    set_derived(each);
    return;
  }
  seen_.resize(table.size(), 0);
  each.reads.clear();
  each.writes.clear();
  each.unmet.clear();
  for (const OpId op : each.ops) {
    const OpLoops& own = loops(op);
    each.reads.insert(each.reads.end(), own.reads.begin(), own.reads.end());
    each.writes.insert(each.writes.end(), own.writes.begin(), own.writes.end());
    each.unmet.insert(each.unmet.end(), own.unmet.begin(), own.unmet.end());
  }
  keep_first(each.reads, seen_);
  keep_first(each.writes, seen_);
  keep_first(each.unmet, seen_);
  for (const AccessId access : each.writes) seen_[as_index(access)] = 1;
  const auto is_written = [&](AccessId access) { return seen_[as_index(access)] != 0; };
  erase_if(each.reads, is_written);
  erase_if(each.unmet, [&](AccessId access) {
    return is_written(access) || std::find(each.outputs.begin(), each.outputs.end(),
                                           table.buffer(access)) != each.outputs.end();
  });
  for (const AccessId access : each.writes) seen_[as_index(access)] = 0;
  set_derived(each);
}

NodeIndex Scheduling::make_fused(NodeIndex a, NodeIndex b) {
  SchedulerNode fused;
  for (const NodeIndex part : {a, b}) {
    const SchedulerNode& each = node(part);
    fused.ops.insert(fused.ops.end(), each.ops.begin(), each.ops.end());
    fused.outputs.insert(fused.outputs.end(), each.outputs.begin(), each.outputs.end());
  }
  const SchedulerNode &first = node(a), &second = node(b);
  fused.min_order = std::min(first.min_order, second.min_order);
  fused.max_order = std::max(first.max_order, second.max_order);
  fused.is_reduction = first.is_reduction || second.is_reduction;
  fused.is_on_gpu = first.is_on_gpu;
  fused.is_template = first.is_template || second.is_template;
  fused.leader = fused.ops.front();
  for (const OpId id : fused.ops)
    if (is_reduction(id)) {
      fused.leader = id;
      break;
    }
  fused.numel = loops(fused.leader).numel;
  fused.rnumel = loops(fused.leader).rnumel;
  const NodeIndex id = add(std::move(fused));
  for (const NodeIndex part : {a, b}) ancestors_.unite(as_index(id), as_index(part));
  refresh(id);
  return id;
}

NodeIndex Scheduling::fuse(NodeIndex a, NodeIndex b) {
  const NodeIndex id = make_fused(a, b);
  for (const OpId op : node(id).ops) node_of_[as_index(op)] = id;
  return id;
}

NodeIndex Scheduling::make_foreach(std::vector<NodeIndex> parts) {
  SchedulerNode all;
  const SchedulerNode& first = node(parts.front());
  all.min_order = first.min_order;
  all.max_order = first.max_order;
  all.is_on_gpu = first.is_on_gpu;
  for (const NodeIndex part : parts) {
    const SchedulerNode& each = node(part);
    all.ops.insert(all.ops.end(), each.ops.begin(), each.ops.end());
    all.outputs.insert(all.outputs.end(), each.outputs.begin(), each.outputs.end());
    all.min_order = std::min(all.min_order, each.min_order);
    all.max_order = std::max(all.max_order, each.max_order);
    all.is_reduction = all.is_reduction || each.is_reduction;
  }
  all.leader = all.ops.front();
  all.numel = 0;
  for (const NodeIndex part : parts) all.numel += node(part).numel;
  const NodeIndex id = add(std::move(all));
  for (const NodeIndex part : parts) ancestors_.unite(as_index(id), as_index(part));
  node(id).parallel = std::move(parts);
  refresh(id);
  for (const OpId op : node(id).ops) node_of_[as_index(op)] = id;
  return id;
}

void Scheduling::group_lists(std::vector<NodeIndex>& order) {
  if (ir_.lists.empty()) return;
  std::vector<NodeIndex> made;
  std::vector<char> is_grouped(ir_.ops.size(), 0);
  for (const std::vector<OpId>& list : ir_.lists) {
    std::vector<NodeIndex> parts;
    // An op that depends on an earlier one of the list starts a new kernel.
    std::vector<BufferId> written;
    const auto close = [&] {
      if (!parts.empty()) made.push_back(make_foreach(std::exchange(parts, {})));
      written.clear();
    };
    for (const OpId id : list) {
      if (is_dead(id) || is_extern_kind(op(id).kind)) continue;
      is_grouped[as_index(id)] = 1;
      if (std::any_of(loops(id).unmet.begin(), loops(id).unmet.end(), [&](AccessId access) {
            return std::find(written.begin(), written.end(), table.buffer(access)) != written.end();
          }))
        close();
      parts.push_back(node_of(id));
      written.insert(written.end(), op(id).outputs.begin(), op(id).outputs.end());
    }
    close();
  }
  std::erase_if(order, [&](NodeIndex id) {
    return !node(id).is_foreach() && is_grouped[as_index(node(id).ops.front())] != 0;
  });
  order.insert(order.end(), made.begin(), made.end());
}

NodeIndex Scheduling::fuse_mix_order(NodeIndex contiguous, NodeIndex crossing) {
  const NodeIndex id = fuse(contiguous, crossing);
  node(id).contiguous = contiguous;
  node(id).crossing = crossing;
  return id;
}

std::vector<NodeIndex> Scheduling::sorted(std::span<const NodeIndex> nodes) const {
  std::vector<NodeIndex> maker(ir_.buffers.size(), -1);
  for (const NodeIndex id : nodes)
    for (const BufferId output : node(id).outputs) maker[as_index(output)] = id;
  std::vector<char> seen(nodes_.size(), 0);
  std::vector<NodeIndex> result;
  result.reserve(nodes.size());
  // Visits nodes depth first, and the makers of a node's reads in the order of the buffers' names.
  struct Visit {
    NodeIndex node;
    std::size_t first, next, last;  // indices in `before`
  };
  std::vector<Visit> stack;
  std::vector<BufferId> before;
  const auto enter = [&](NodeIndex id) {
    seen[as_index(id)] = 1;
    const std::size_t first = before.size();
    for (const AccessId access : node(id).unmet)
      if (maker[as_index(table.buffer(access))] >= 0) before.push_back(table.buffer(access));
    std::sort(
        before.begin() + static_cast<std::ptrdiff_t>(first), before.end(),
        [&](BufferId a, BufferId b) { return name_rank_[as_index(a)] < name_rank_[as_index(b)]; });
    stack.push_back({id, first, first, before.size()});
  };
  for (const NodeIndex root : nodes) {
    if (seen[as_index(root)] != 0) continue;
    enter(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next == top.last) {
        result.push_back(top.node);
        before.resize(top.first);
        stack.pop_back();
        continue;
      }
      const NodeIndex next = maker[as_index(before[top.next++])];
      if (seen[as_index(next)] == 0) enter(next);
    }
  }
  return result;
}

void Scheduling::forget_user(BufferId id, OpId user) {
  Users& range = users_[as_index(id)];
  const auto first = all_users_.begin() + static_cast<std::ptrdiff_t>(range.first);
  const auto last = first + static_cast<std::ptrdiff_t>(range.count);
  const auto left =
      std::remove_if(first, last, [user](const User& each) { return each.op == user; });
  range.count = as_index(left - first);
}

void Scheduling::remove_dead(std::vector<NodeIndex>& order) {
  const auto is_unused = [&](const User& user) {
    return user.is_weak || (user.op >= 0 && is_dead_[as_index(user.op)] != 0);
  };
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const OpId id = node(*at).ops.front();
    const Op& each = op(id);
    bool is_used = each.has_side_effects;
    for (const BufferId output : each.outputs)
      is_used = is_used || !std::all_of(users(output).begin(), users(output).end(), is_unused);
    if (is_used) continue;
    is_dead_[as_index(id)] = 1;
    for (const AccessId access : loops(id).reads)
      if (const BufferId read = table.buffer(access); read >= 0) forget_user(read, id);
  }
  std::erase_if(order, [&](NodeIndex id) { return is_dead(node(id).ops.front()); });
  for (const NodeIndex index : order) {
    const OpId id = node(index).ops.front();
    const auto is_pruned = [&](AccessId access) {
      if (!table.is_weak(access)) return false;
      const OpId maker = buffer(table.buffer(access)).op;
      return maker >= 0 && is_dead(maker);
    };
    OpLoops& own = loops(id);
    if (std::none_of(own.reads.begin(), own.reads.end(), is_pruned)) continue;
    erase_if(own.reads, is_pruned);
    erase_if(own.unmet, is_pruned);
    refresh(index);
  }
}

void Scheduling::find_ancestors(std::span<const NodeIndex> order) {
  std::int32_t place = 0;
  for (const NodeIndex id : order) {
    SchedulerNode& each = node(id);
    for (const AccessId access : each.unmet) {
      const OpId before = buffer(table.buffer(access)).op;
      if (before == each.ops.front()) continue;
      ancestors_.unite(as_index(id), as_index(node_of(before)));
      ancestors_.add(as_index(id), before);
    }
    each.min_order = each.max_order = place++;
  }
}

}  // namespace jointer::kernels
