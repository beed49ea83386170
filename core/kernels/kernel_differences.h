#pragma once

// The differences between two lists of kernels of one graph, such as predicted ones and those of
// Inductor.
//
// Terms
//   equal       kernels of both lists in which the same nodes run; if the nodes of one are unknown,
//               kernels of the same kind and bytes
//   first,      the two lists. A difference is described from the first to the second: one kernel
//   second      of the first that is several of the second is split
//   rule        differences of one kind for which the same list states the same reason not to fuse
//               the kernels: its most frequent one, that of the second list if both state some.
//               Differences for which no list states a reason have one rule for each kind

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernels/kernel_list.h"

namespace jointer::kernels {

enum class ListSide : std::uint8_t { neither, first, second };

struct KernelDifference {
  enum class Kind : std::uint8_t {
    split,        // one kernel of the first is several of the second
    merged,       // several kernels of the first are one of the second
    regrouped,    // the nodes are grouped into kernels differently
    only_first,   // kernels that the second does not have
    only_second,  // kernels that the first does not have
    other_kind,   // equal, but of another kind
    other_bytes,  // equal, but they read and write a different number of bytes
    order,        // equal, but it runs at another place among the equal kernels
  };
  Kind kind = Kind::split;
  std::vector<std::int32_t> first, second;  // indices of the kernels, ascending
  std::vector<NodeId> nodes;                // nodes of these kernels, each once, ascending
  std::int64_t first_bytes = 0, second_bytes = 0;
  std::size_t rule = 0;  // index in KernelComparison::rules
};

struct DifferenceRule {
  KernelDifference::Kind kind = KernelDifference::Kind::split;
  ListSide refused_by = ListSide::neither;
  std::string reason;      // why that list did not fuse the kernels; empty if it states no reason
  std::int64_t count = 0;  // differences
  std::int64_t first_bytes = 0, second_bytes = 0;  // sums
};

struct KernelComparison {
  struct Figures {
    std::int64_t kernels = 0;  // launched ones, including collectives
    std::int64_t bytes = 0;    // read and written by them
    std::int64_t peak = 0;     // bytes
    friend bool operator==(const Figures&, const Figures&) = default;
  };
  Figures first, second;
  std::int64_t equal_kernels = 0;
  // Nodes in the kernels of either list, and those of them that run in a kernel without an equal
  // one.
  std::int64_t nodes = 0, nodes_elsewhere = 0;
  std::vector<DifferenceRule> rules;          // with the most differences first
  std::vector<KernelDifference> differences;  // by rule, then in the order of the kernels

  [[nodiscard]] bool is_equal() const { return differences.empty() && first == second; }
};

// Compares launched kernels and waits. Leaves out views and results of calls. Cost: O(n log n) in
// the number of nodes in kernels and of refusals, if few kernels share a node.
KernelComparison compare_kernels(const KernelList& first, const KernelList& second);

// "split", "merged", ...; `first` and `second` name the lists: "only_predicted".
std::string name_of(KernelDifference::Kind kind, std::string_view first, std::string_view second);
// A rule as a line of text: "one kernel of the prediction is several of Inductor; not fused by
// Inductor: They share no data that both access in the same pattern." `first` and `second` name the
// lists.
std::string to_text(const DifferenceRule& rule, std::string_view first, std::string_view second);

}  // namespace jointer::kernels
