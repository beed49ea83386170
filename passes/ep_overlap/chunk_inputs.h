#pragma once

// The live-ins of a module: values that its body reads but does not compute. Each chunk gets half
// of each live-in that depends on the chunk symbol, except parameters and buffers; the chunks share
// these and other live-ins.

#include <string>
#include <unordered_map>
#include <vector>

#include "passes/ep_overlap/chunk_body.h"

namespace jointer {

class ChunkInputs {
 public:
  // Finds the live-ins. The body must outlive this object.
  explicit ChunkInputs(ChunkBody& body);

  // Splits tensors. Error (usage): a value cannot be split in two, there is nothing to split, or a
  // forward body reads a value from the backward.
  Result<void> split();
  // Halves sizes; call this after `split`. Error (usage): a size cannot be halved.
  Result<void> halve_sizes();

  // The value that a chunk reads in place of a live-in: the chunk's half, or the live-in itself.
  [[nodiscard]] NodeId in_chunk(NodeId id, std::size_t chunk) const;
  // The node that computes the chunk's counterpart of a size of the whole value, or none.
  [[nodiscard]] NodeId size_in_chunk(const Dim& size, std::size_t chunk) const;

 private:
  [[nodiscard]] ChunkPair chunks_of(NodeId id) const { return ChunkPairs::of(chunks_, id); }
  [[nodiscard]] bool is_chunked(NodeId id) const { return static_cast<bool>(chunks_of(id)[0]); }
  void set_chunks(NodeId id, ChunkPair pair) { ChunkPairs::set(chunks_, id, pair); }
  void recover_chunks();
  [[nodiscard]] bool is_erased(NodeId id) const;
  [[nodiscard]] bool is_static(NodeId id) const;
  [[nodiscard]] bool is_chunked_size(NodeId id) const;
  NodeId first_consumer(NodeId live_in);
  NodeId first_reader(NodeId live_in);
  Result<void> split_one(NodeId id);
  Result<void> clone(NodeId id, std::span<const Dim> shape, NodeId before, ChunkPair& pair);
  Result<Dim> offset_of_second(NodeId id, std::size_t at, const Dim& half);
  bool is_contiguous(std::span<const Dim> shape, std::span<const Dim> stride);
  Result<ChunkPair> sizes_of_chunks(NodeId id);

  ChunkBody& body_;
  ChunkProgram& p_;
  const ChunkPlan& plan_;
  std::vector<std::uint32_t> places_;                   // by node
  std::vector<NodeId> live_ins_;                        // in program order
  std::vector<ChunkPair> chunks_;                       // by node
  std::unordered_map<std::string, ChunkPair> scalars_;  // by the size's text
  std::unordered_map<NodeId, ChunkPair> scalar_nodes_;
};

}  // namespace jointer
