#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace jointer {

// The positions of a longest strictly increasing subsequence of `values`, in order.
//
// Steps: for each length, keep the position of the lowest value that ends an increasing subsequence
// of that length; each value extends the longest one that it can (patience sorting).
// Cost: O(n log n).
template <class Value>
std::vector<std::size_t> longest_increasing(const std::vector<Value>& values) {
  std::vector<std::size_t> ends;                     // indexed by length - 1
  std::vector<std::size_t> previous(values.size());  // in the subsequence that ends here
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at =
        std::ranges::lower_bound(ends, values[i], {}, [&](std::size_t end) { return values[end]; });
    previous[i] = at == ends.begin() ? i : *std::prev(at);
    if (at == ends.end())
      ends.push_back(i);
    else
      *at = i;
  }
  std::vector<std::size_t> places(ends.size());
  for (std::size_t length = ends.size(), i = ends.empty() ? 0 : ends.back(); length-- > 0;
       i = previous[i])
    places[length] = i;
  return places;
}

}  // namespace jointer
