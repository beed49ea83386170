#include "core/kernels/access_order.h"
#include "core/kernels/slot.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace jointer::kernels {
namespace {

class Ordering {
 public:
  explicit Ordering(Ir& ir)
      : ir_(ir),
        renamed_(ir.buffers.size(), -1),
        real_(ir.buffers.size(), -1),
        list_(ir.buffers.size()) {
    std::iota(list_.begin(), list_.end(), 0);
    users_.resize(ir.buffers.size());
  }

  void run();

 private:
  using Users = SmallVector<User, 4>;

  // The representative of a buffer and its aliases (union-find); `users_` has their readers there.
  BufferId list_of(BufferId id) {
    while (list_[slot(id)] != id) {
      list_[slot(id)] = list_[slot(list_[slot(id)])];
      id = list_[slot(id)];
    }
    return id;
  }
  [[nodiscard]] BufferId renamed(BufferId id) const {
    while (renamed_[slot(id)] >= 0) id = renamed_[slot(id)];
    return id;
  }
  void add_user(BufferId buffer, User user) {
    Users& users = users_[slot(list_of(renamed(buffer)))];
    // Ops are visited in order, so an equal user can only be among the last ones.
    for (std::size_t i = users.size(); i-- > 0 && users[i].op == user.op;)
      if (users[i] == user) return;
    users.push_back(user);
  }
  static void add_read(Op& op, Access access) {
    if (std::ranges::find(op.reads, access) == op.reads.end())
      op.reads.push_back(std::move(access));
  }
  [[nodiscard]] Access star(BufferId buffer) const;
  [[nodiscard]] static Access weak(BufferId buffer, BufferId mutating, bool keeps_alive);
  void chain_collectives();
  void mutate(OpId id, BufferId output);
  void rename(Op& op) const;
  [[nodiscard]] bool may_overwrite(const Op& op, const Access& read) const;

  Ir& ir_;
  std::vector<BufferId> renamed_, real_, list_;
  std::vector<Users> users_;
};

Access Ordering::star(BufferId id) const {
  const Buffer& buffer = ir_.buffers[slot(id)];
  Access made;
  made.buffer = id;
  made.bytes = buffer.has_many_results || (buffer.has_no_layout && buffer.mutates.empty()) ? 0
               : buffer.has_no_layout ? item_size(buffer.dtype)
                                      : buffer.numel * item_size(buffer.dtype);
  return made;
}

Access Ordering::weak(BufferId buffer, BufferId mutating, bool keeps_alive) {
  Access made;
  made.buffer = buffer;
  made.kind = Access::Kind::weak;
  made.bytes = 1;
  made.mutating = mutating;
  made.keeps_alive = keeps_alive;
  return made;
}

void Ordering::chain_collectives() {
  const Op* previous = nullptr;
  for (Op& op : ir_.ops) {
    if (op.kind != Op::Kind::collective) continue;
    if (previous != nullptr)
      for (const BufferId output : previous->outputs)
        add_read(op, weak(output, op.outputs.front(), false));
    previous = &op;
  }
}

void Ordering::mutate(OpId id, BufferId output) {
  Op& op = ir_.ops[slot(id)];
  for (const BufferId mutated : ir_.buffers[slot(output)].mutates) {
    const BufferId changed = renamed(mutated);
    add_user(changed, {.op = id});
    Access before = star(changed);
    before.is_atomic = op.writes.size() == 1 && op.writes.front().is_atomic;
    add_read(op, std::move(before));
    // The mutation runs after all ops that read the old value.
    const Users users = users_[slot(list_of(changed))];
    for (const User& user : users) {
      if (user.op == id || user.op < 0) continue;
      for (const BufferId other : ir_.ops[slot(user.op)].outputs) {
        const std::vector<BufferId>& aliases = ir_.buffers[slot(other)].aliases;
        const bool is_alias = std::ranges::find(aliases, changed) != aliases.end();
        const BufferId last = renamed(other);
        add_read(op, weak(last, output, is_alias));
        add_user(last, {.op = id, .may_overwrite = false, .is_weak = true});
      }
    }
  }
}

void Ordering::rename(Op& op) const {
  const auto is_renamed = [this](const Access& access) {
    return renamed_[slot(access.buffer)] >= 0;
  };
  for (Access& write : op.writes)
    if (is_renamed(write)) write.buffer = renamed(write.buffer);
  if (std::ranges::none_of(op.reads, is_renamed)) return;  // already distinct
  std::vector<Access> reads;
  reads.reserve(op.reads.size());
  for (Access& read : op.reads) {
    if (const BufferId last = renamed_[slot(read.buffer)]; last >= 0) {
      // A read of the whole storage counts the bytes of the buffer that the mutation defines: those
      // of one element if that buffer has no layout.
      const bool is_whole =
          read.kind == Access::Kind::star ||
          (read.kind == Access::Kind::memory &&
           std::ranges::any_of(read.index.terms, [](const IndexTerm& term) {
             return std::ranges::any_of(term.inner,
                                        [](const IndexTerm::Inner& i) { return i.loop < 0; });
           }));
      read.buffer = renamed(read.buffer);
      if (is_whole) read.bytes = star(read.buffer).bytes;
    }
    if (std::ranges::find(reads, read) == reads.end()) reads.push_back(std::move(read));
  }
  op.reads = std::move(reads);
}

bool Ordering::may_overwrite(const Op& op, const Access& read) const {
  if (op.writes.size() != 1 || read.kind != Access::Kind::memory ||
      op.writes.front().kind != Access::Kind::memory)
    return false;
  for (const BufferId output : op.outputs)
    if (!ir_.buffers[slot(output)].aliases.empty()) return false;
  return read.index == op.writes.front().index && read.sizes == op.writes.front().sizes;
}

void Ordering::run() {
  chain_collectives();
  for (const Op& op : ir_.ops)
    for (const BufferId output : op.outputs) {
      const Buffer& buffer = ir_.buffers[slot(output)];
      if (buffer.has_no_layout && buffer.aliases.size() > 1) continue;
      for (const BufferId alias : buffer.aliases) {
        const BufferId a = list_of(output), b = list_of(alias);
        if (a != b) list_[slot(a)] = b;
      }
    }
  for (std::size_t i = 0; i < ir_.ops.size(); ++i) {
    const auto id = static_cast<OpId>(i);
    Op& op = ir_.ops[i];
    for (const BufferId output : op.outputs) mutate(id, output);
    for (const Access& read : op.reads)
      if (read.kind != Access::Kind::weak)
        add_user(read.buffer, {.op = id, .may_overwrite = may_overwrite(op, read)});
    rename(op);
    for (const BufferId output : op.outputs)
      for (const BufferId mutated : ir_.buffers[slot(output)].mutates) {
        const BufferId last = renamed(mutated);
        const BufferId real = real_[slot(mutated)] >= 0 ? real_[slot(mutated)] : mutated;
        renamed_[slot(last)] = output;
        if (mutated != output) renamed_[slot(mutated)] = output;
        real_[slot(output)] = real;
      }
  }
  for (std::size_t i = 0; i < ir_.buffers.size(); ++i) {
    const auto id = static_cast<BufferId>(i);
    if (ir_.buffers[i].is_output || (ir_.buffers[i].is_input && renamed_[i] >= 0))
      add_user(id, {.op = -1});
  }
  for (const Op& op : ir_.ops)
    for (const BufferId output : op.outputs)
      ir_.buffers[slot(output)].users = users_[slot(list_of(output))];
  for (std::size_t i = 0; i < ir_.buffers.size(); ++i) {
    Buffer& buffer = ir_.buffers[i];
    if (!buffer.is_input) continue;
    buffer.users = users_[slot(list_of(static_cast<BufferId>(i)))];
    // An input that nothing reads lives as long as the caller keeps it.
    buffer.may_be_freed =
        buffer.may_be_freed &&
        std::ranges::any_of(buffer.users, [](const User& user) { return user.op >= 0; });
  }
}

}  // namespace

void add_order(Ir& ir) {
  Ordering(ir).run();
}

}  // namespace jointer::kernels
