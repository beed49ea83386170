#pragma once

// A pipeline as the search holds it: in sections, so that parts of two can be put together and what
// comes out is still in an order that makes sense.

#include <array>
#include <cstddef>

#include "core/pass/pipeline_text.h"

namespace jointer {

struct Candidate {
  enum Section : std::size_t {
    policies,   // tags of a joint graph; of a flat step also what carries them out
    partition,  // of a joint graph: the partitioner
    early,      // orders before collectives are merged
    buckets,    // what merges collectives
    orders,     // orders of what there is then
    kSections,
  };
  std::array<Pipeline, kSections> sections;

  [[nodiscard]] Pipeline pipeline() const;
  [[nodiscard]] std::size_t size() const;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// The same without the step at this place of its pipeline.
Candidate without_step(Candidate candidate, std::size_t step);

}  // namespace jointer
