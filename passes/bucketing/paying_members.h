#pragma once

// Chooses the members of a bucket that are worth merging.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jointer {

// Finds the members to keep if the copies of a bucket take longer than merging saves. Each member
// causes the part of the copies that corresponds to its bytes. A bucket of n members saves the
// start-up time of n - 1 collectives, so each member after the first saves an equal part.
//
// `bytes`: by member, at least two. `copies_ns`: the time of the bucket's copies. `saved_ns`: the
// time that the merged collective saves. Returns indices of members, ascending: those that gain
// most together, or none if every set of two or more costs more than it saves, or if all sizes are
// 0. Never returns all members if copies_ns is greater than saved_ns.
std::vector<std::size_t> paying_members(std::span<const std::int64_t> bytes, std::int64_t copies_ns,
                                        std::int64_t saved_ns);

}  // namespace jointer
