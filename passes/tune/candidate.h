#pragma once

// A pipeline divided into sections, so that a combination of sections of two pipelines is a
// pipeline in a sensible order.

#include <array>
#include <cstddef>

#include "core/pass/pipeline_text.h"

namespace jointer {

struct Candidate {
  enum Section : std::size_t {
    policies,   // tags of a joint graph; for a flat training step also passes that apply tags
    partition,  // the partitioner of a joint graph
    early,      // orders before bucketing
    buckets,    // bucketing
    orders,     // orders after bucketing
    kSections,
  };
  std::array<Pipeline, kSections> sections;

  [[nodiscard]] Pipeline pipeline() const;
  [[nodiscard]] std::size_t size() const;
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// The candidate without one of its pipeline steps; `step` is an index into the candidate's
// pipeline.
Candidate without_step(Candidate candidate, std::size_t step);

}  // namespace jointer
