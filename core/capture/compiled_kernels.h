#pragma once

// The kernels of one compilation by Inductor, as its artifacts state them: the wrapper's source
// ("output code") with its kernels, and the mappings of kernels to nodes. Nothing here is run.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/dtype.h"
#include "core/graph/part.h"

namespace jointer {

enum class CompiledKind : std::uint8_t {
  pointwise,
  reduction,
  mix_order_reduction,
  matrix_template,  // "template"
  foreach,
  external,  // "extern"
  collective,
  wait,
  view,  // an operator that Inductor calls only to get a view; computes nothing
};
// The names that `jointer kernels --source inductor` prints.
std::string_view to_string(CompiledKind kind);

// The definition of a kernel in the wrapper.
struct KernelSource {
  std::string name;       // "triton_poi_fused_add_0"
  std::string language;   // "triton", "cpp_pybinding", ...: the function of async_compile
  std::string heuristic;  // Triton's: "persistent_reduction"; empty for other languages
  CompiledKind kind = CompiledKind::pointwise;
  std::string text;                     // the kernel's own source
  std::vector<std::string> parameters;  // "in_ptr0", "out_ptr0", "xnumel", in order
  // From the comments above the kernel: the nodes of the post-grad graph, those of the graph that
  // was given to Inductor, and operators. If several calls share the kernel, these belong to the
  // first one.
  std::vector<std::string> nodes, source_nodes, operators;
};

// Consecutive bytes that the program allocates and releases together. Buffers that reuse a block,
// and views of it, have the same block.
struct BufferBlock {
  std::string name;                   // of its first buffer
  std::optional<std::int64_t> count;  // elements that its sizes and strides span, if known
  std::optional<DType> dtype;
  std::string device;  // "cuda"; empty if the wrapper does not say
  bool is_input = false;
  bool is_output = false;
  // The index of the kernel that allocates the block as its result, if one does.
  std::optional<std::size_t> made_by;
  bool is_dtype_assumed = false;  // the data type is that of the first tensor that `made_by` reads

  // Unknown if the size is symbolic without a value, or the data type is not stated.
  [[nodiscard]] std::optional<std::int64_t> bytes() const;
};

// A buffer among the arguments or the results of a kernel.
struct CompiledUse {
  std::string name;  // of the buffer
  std::size_t block = 0;
  std::optional<std::int64_t>
      bytes;  // of the buffer or view, each element once; at most the block's
  bool is_read = false, is_written = false;
};

// How the nodes of a kernel were found.
enum class NodesFrom : std::uint8_t {
  nothing,     // they are unknown
  provenance,  // inductor_provenance_tracking_node_mappings, or a package's kernel_information.json
  comments,    // the comments of the wrapper
  order,       // the next call of the same operator in the post-grad graph
};
std::string_view to_string(NodesFrom from);

// One call in the wrapper.
struct CompiledKernel {
  std::string name;  // "triton_poi_fused_add_0", "extern_kernels.mm"
  CompiledKind kind = CompiledKind::external;
  std::optional<std::size_t> source;  // index in CompiledProgram::sources
  std::string call;                   // the statement
  std::size_t line = 0;               // of the wrapper, from 1
  std::string handle;                 // key in the provenance mappings: "extern_kernels.mm:5"
  std::vector<std::string> source_nodes, operators;  // from the comment above the call
  std::vector<std::string> nodes;                    // of the post-grad graph
  std::vector<std::string> original_nodes;           // of the graph before Inductor's passes
  NodesFrom nodes_from = NodesFrom::nothing;
  std::string stack;  // stack traces of its nodes, if the artifacts have them
  std::vector<CompiledUse> uses;
};

// The uses of buffers that a kernel reads or writes (`is_used`: CompiledUse::is_read or
// is_written), each buffer once.
std::vector<const CompiledUse*> distinct_uses(const CompiledKernel& kernel,
                                              bool CompiledUse::*is_used);

struct CompiledEvent {
  enum class Kind : std::uint8_t { allocate, release, reuse, run };
  Kind kind = Kind::run;
  std::size_t index = 0;  // of the block; for `run`, of the kernel
  std::string name;       // of the buffer that is allocated, released or reuses the block
};

struct CompiledProgram {
  std::string name;     // "rank 0, 0/0, forward"
  std::string compile;  // "rank 0, 0/0"
  std::string file;
  std::string torch_version;  // empty if the artifacts do not say
  // Forward or backward, from the wrapper's AOT ID or a package's manifest.
  std::optional<CaptureKind> half;
  std::optional<std::int64_t> rank;
  // True if the compiled graph may use a name in the captured graph for a different node. Kernels
  // are then tied by `original_nodes`, which are in the captured graph.
  bool is_retraced = false;
  std::string text;             // the wrapper
  std::string post_grad_graph;  // FX text; empty if the artifacts lack it
  // The operators of the post-grad graph's calls, by node: "mm": "aten.mm.default".
  std::map<std::string, std::string, std::less<>> targets;
  std::vector<KernelSource> sources;
  std::vector<CompiledKernel> kernels;  // in call order
  std::vector<BufferBlock> blocks;
  std::vector<CompiledEvent> events;  // in order; inputs have no `allocate`
  std::vector<std::string> schedule;  // inductor_collective_schedule: operators, in order
  // The first 100 statements of the wrapper that were not understood, with their line numbers; each
  // is cut off after 120 characters.
  std::vector<std::string> unread;

  // The device with the most blocks: "cuda"; empty if none is known.
  [[nodiscard]] std::string device() const;
};

}  // namespace jointer
