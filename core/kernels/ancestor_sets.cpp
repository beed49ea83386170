#include "core/kernels/ancestor_sets.h"

namespace jointer::kernels {

void AncestorSets::replace(std::size_t place, const Chunk& changed) {
  if (chunks_[lists_[place]] == changed) return;
  lists_[place] = static_cast<std::uint32_t>(chunks_.size());
  chunks_.push_back(changed);
}

void AncestorSets::unite(std::size_t set, std::size_t other) {
  for (std::size_t i = 0; i < length_; ++i) {
    std::uint32_t& own = lists_[set * length_ + i];
    const std::uint32_t added = lists_[other * length_ + i];
    if (own == added || added == 0) continue;
    const Chunk &a = chunks_[own], &b = chunks_[added];
    Chunk both;
    for (std::size_t word = 0; word < kWords; ++word) both[word] = a[word] | b[word];
    if (both == b)
      own = added;
    else
      replace(set * length_ + i, both);
  }
}

}  // namespace jointer::kernels
