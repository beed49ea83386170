#pragma once

// Builds small Irs by hand.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/kernels/ir.h"

namespace jointer::test {

class SmallIr {
 public:
  using Sizes = std::vector<std::int64_t>;

  static std::int64_t product(const Sizes& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  }

  // A position that advances by `strides[i]` with loop i.
  static kernels::Index strided(const Sizes& strides, std::int64_t offset = 0) {
    kernels::Index index{{}, offset};
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (strides[i] != 0)
        index.terms.push_back({{{static_cast<std::int16_t>(i), 1}}, 0, 1, 0, strides[i]});
    return index;
  }

  static Sizes contiguous(const Sizes& sizes) {
    Sizes strides(sizes.size(), 1);
    for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
    return strides;
  }

  kernels::BufferId input(Sizes shape, bool may_be_freed = true) {
    kernels::Buffer buffer = made("input" + std::to_string(ir.buffers.size()), std::move(shape));
    buffer.is_input = true;
    buffer.may_be_freed = may_be_freed;
    ir.buffers.push_back(std::move(buffer));
    return last_buffer();
  }

  // A read of a float32 buffer with these strides in the loops of the op.
  struct Read {
    kernels::BufferId buffer;
    Sizes strides;
  };

  kernels::BufferId pointwise(const Sizes& loops, std::initializer_list<Read> reads) {
    return computed(kernels::Op::Kind::pointwise, "Pointwise", loops, {}, reads);
  }
  kernels::BufferId sum(const Sizes& loops, const Sizes& reduced,
                        std::initializer_list<Read> reads) {
    return computed(kernels::Op::Kind::reduction, "Reduction:sum", loops, reduced, reads);
  }
  kernels::BufferId external(Sizes shape, std::initializer_list<kernels::BufferId> reads,
                             kernels::Op::Kind kind = kernels::Op::Kind::extern_) {
    kernels::Op op;
    op.kind = kind;
    for (const kernels::BufferId id : reads) {
      op.reads.push_back(star(id));
      use(id);
    }
    return add(std::move(op), std::move(shape), {});
  }
  void output(kernels::BufferId id) {
    kernels::Buffer& buffer = ir.buffers[static_cast<std::size_t>(id)];
    buffer.is_output = true;
    buffer.users.push_back({-1});
  }

  kernels::Ir ir;

 private:
  [[nodiscard]] kernels::BufferId last_buffer() const {
    return static_cast<kernels::BufferId>(ir.buffers.size() - 1);
  }

  static kernels::Buffer made(std::string name, Sizes shape) {
    kernels::Buffer buffer;
    buffer.name = std::move(name);
    buffer.numel = product(shape);
    buffer.bytes = 4 * buffer.numel;
    buffer.stride = contiguous(shape);
    buffer.shape = std::move(shape);
    return buffer;
  }

  kernels::Access star(kernels::BufferId id) const {
    kernels::Access access;
    access.buffer = id;
    access.bytes = ir.buffers[static_cast<std::size_t>(id)].bytes;
    return access;
  }

  void use(kernels::BufferId id) {
    std::vector<kernels::User>& users = ir.buffers[static_cast<std::size_t>(id)].users;
    const auto op = static_cast<kernels::OpId>(ir.ops.size());
    if (users.empty() || users.back().op != op) users.push_back({op});
  }

  static kernels::Access access(kernels::BufferId buffer, const Sizes& strides, const Sizes& nest) {
    kernels::Access result;
    result.buffer = buffer;
    result.kind = kernels::Access::Kind::memory;
    result.index = strided(strides);
    std::int64_t numel = 1;
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (strides[i] != 0) {
        numel *= nest[i];
        result.sizes.assign(nest.begin(), nest.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    result.bytes = 4 * numel;
    return result;
  }

  kernels::BufferId computed(kernels::Op::Kind kind, std::string text, const Sizes& loops,
                             const Sizes& reduced, std::initializer_list<Read> reads) {
    kernels::Op op;
    op.kind = kind;
    op.ir = std::move(text);
    op.loops = loops;
    op.reduced = reduced;
    op.numel = product(loops);
    op.rnumel = product(reduced);
    Sizes nest = loops;
    nest.insert(nest.end(), reduced.begin(), reduced.end());
    for (const Read& read : reads) {
      op.reads.push_back(access(read.buffer, read.strides, nest));
      use(read.buffer);
    }
    return add(std::move(op), loops, loops);
  }

  kernels::BufferId add(kernels::Op op, Sizes shape, const Sizes& loops) {
    kernels::Buffer buffer = made("buf" + std::to_string(ir.ops.size()), std::move(shape));
    buffer.op = static_cast<kernels::OpId>(ir.ops.size());
    ir.buffers.push_back(std::move(buffer));
    const kernels::BufferId id = last_buffer();
    op.outputs = {id};
    if (loops.empty())
      op.writes = {star(id)};
    else
      op.writes = {access(id, contiguous(loops), loops)};
    ir.ops.push_back(std::move(op));
    return id;
  }
};

}  // namespace jointer::test
