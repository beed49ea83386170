#pragma once

// A pipeline divided into sections. Sections from two pipelines can be combined into a pipeline
// with a sensible order of passes.

#include <array>
#include <cstddef>

#include "core/pass/pipeline_text.h"

namespace jointer {

struct Candidate {
  enum Section : std::size_t {
    policies,     // passes that set tags and, for a flat training step, apply them
    partitioner,  // one pass, for a joint graph
    early,        // reordering before bucketing
    buckets,      // bucketing
    orders,       // reordering after bucketing
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
