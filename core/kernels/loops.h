#pragma once

// The data structures of a lowering: loops whose body is a list of operations, buffers, and
// views of them.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/kernels/fx_graph.h"
#include "core/kernels/index_pool.h"
#include "core/kernels/ir.h"

namespace jointer::kernels {

using Positions = SmallVector<ExpressionIndex, 6>;  // one per dimension
using SetId = std::int32_t;                         // a set of nodes: Lowering::origin_sets

// One operation of a loop body. Equal operations of a body are stored once, but loads are counted,
// since Inductor weighs each load when it orders the loops.
struct BodyOp {
  std::string_view op;  // "load", "constant", "index_expr", or an operation on earlier ones
  std::int16_t operands[3] = {-1, -1, -1};
  double number = 0;            // of a constant; to_dtype: the type; masked: the other value
  DType type = DType::float32;  // of a constant
  // A constant that is a whole number but a real one in the call: torch counts 1 and 1.0 apart.
  bool is_real = false;
  BufferId buffer = -1;  // the one that a load, a seed or bucketize reads
  // The position of a load in the storage or, while the buffer's strides are undecided, the
  // position in each dimension. The value of an index_expr.
  ExpressionIndex at = -1;
  Positions dims;

  std::int16_t times = 1;  // for a load: number of equal loads
  // If the position of a load is itself loaded: number of times that this position is looked up.
  // Two loads from a position that was looked up once count once.
  std::int16_t lookups = 1;

  // Compares the members that differ most often first.
  bool operator==(const BodyOp& other) const {
    return operands[0] == other.operands[0] && buffer == other.buffer && at == other.at &&
           operands[1] == other.operands[1] && operands[2] == other.operands[2] &&
           number == other.number && type == other.type && is_real == other.is_real &&
           dims == other.dims && op == other.op;
  }
};

struct Loops {
  // softmax: one of several results of a reduction (the maximum and sum of a softmax, moments)
  enum class Kind : std::uint8_t { pointwise, scatter, reduction, softmax, scan, sort };
  Kind kind = Kind::pointwise;
  DType dtype = DType::float32;
  bool is_on_gpu = true;
  std::string_view op;       // for reductions, scans and sorts
  Sizes ranges, reduced;     // loops i < ranges.size() are the outer ones, then the reduced ones
  std::vector<BodyOp> body;  // the last one computes the value
  Positions store;           // scatter: where it writes, in each dimension of the target
  std::size_t stored_after = 0;  // scatter: number of first operations, which compute `store`
  bool adds = false;             // scatter
  std::int64_t axis = 0;         // scan, sort: the dimension of the reduced loop
  SetId origins = 0;
  // If the loops are the first layer of a split reduction: the number of elements that one piece
  // reduces, and the loops without the split.
  std::int64_t split = 0;
  std::int32_t unsplit = -1;  // index in Lowering::loops

  [[nodiscard]] bool is_reduction() const {
    return kind == Kind::reduction || kind == Kind::softmax || keeps_axis();
  }
  // True if each element along the reduced loop has its own result.
  [[nodiscard]] bool keeps_axis() const { return kind == Kind::scan || kind == Kind::sort; }
  [[nodiscard]] int reads() const;           // number of distinct loads
  [[nodiscard]] int reads_at_loops() const;  // those whose position is not always 0
  [[nodiscard]] int operation_count() const { return static_cast<int>(body.size()); }
};

struct BufferState {
  enum class Layout : std::uint8_t {
    fixed,
    flexible,  // the strides may still change
    target,    // computed into `target` (MutationLayoutSHOULDREMOVE)
    in_other,  // a part of another buffer (NonOwningLayout)
    none,      // has no data, only orders ops (NoneLayout)
    many,      // a tuple (MultiOutputLayout)
  };
  Layout layout = Layout::fixed;
  DType dtype = DType::float32;
  bool is_on_gpu = true;
  Sizes shape, stride;
  std::int32_t loops = -1;  // the loops that compute it
  OpId op = -1;
  BufferId target = -1;  // for target and in_other: the buffer that has the storage
  bool is_input = false;
  bool is_constant = false;
  bool allocates_itself = false;  // ExternKernelAlloc
  bool is_mutated = false;
  std::string_view name;  // of inputs
  BufferIds aliases, mutates;
  SmallVector<std::int32_t, 4>
      readers;  // storages that read it and were not yet buffers when added here
};

// A storage: loops that are not computed yet, or a buffer.
struct StorageState {
  std::int32_t loops = -1;
  BufferId buffer = -1;
  FxId value_of = -1;  // the node whose value it is (origin_node)
};

// The position of each element of a tensor in another tensor or in a buffer.
struct ViewState {
  bool is_strided = false;   // ReinterpretView: strides and an offset in the buffer
  std::int32_t parent = -1;  // another view; -1: the storage
  DType dtype = DType::float32;
  Sizes shape, stride;
  std::int64_t offset = 0;
  Positions at;  // without strides: the position in each dimension of the parent
};

// A tensor while the graph is lowered (TensorBox).
struct Box {
  std::int32_t storage = -1, view = -1;
  SetId origins = 0;
};
using Boxes = SmallVector<Box, 4>;

// An operation of the scheduler, before its accesses are computed.
struct OpState {
  Op::Kind kind = Op::Kind::pointwise;
  std::string_view ir, target;
  BufferIds outputs;
  BufferIds reads;              // for calls
  std::vector<Box> read_boxes;  // for templates: tensors with strides
  std::int32_t loops = -1;      // for loops
  FxId call = -1;               // for calls: the node
  FxId value_of = -1;           // for loops: as in StorageState
  SetId origins = 0;
  bool is_on_gpu = true, has_side_effects = false;
};

}  // namespace jointer::kernels
