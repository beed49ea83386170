#pragma once

// Which pipelines there are for a graph: where a search begins, and how one becomes another.

#include <string>
#include <vector>

#include "core/pass/registry.h"
#include "passes/tune/candidate.h"
#include "passes/tune/chance.h"

namespace jointer {

struct NamedCandidate {
  std::string name;  // a preset's, or empty
  Candidate candidate;
};

struct SearchSpaceOptions {
  // Whether reassign_to_pg may be used: whoever runs the graph then makes a process group more.
  bool twin_groups = true;
};

class SearchSpace {
 public:
  // `registry` must outlive it and hold the built-in passes.
  SearchSpace(const Graph& graph, const PassRegistry& registry,
              const SearchSpaceOptions& options = {});

  // Each once: the presets' parts that this graph takes, then pipelines that often serve.
  [[nodiscard]] std::vector<NamedCandidate> starts() const;
  // Another one that differs in a step, in what a step is told, or in the order of two.
  [[nodiscard]] Candidate changed(Candidate candidate, Chance& chance) const;
  // Sections of either.
  [[nodiscard]] static Candidate mixed(const Candidate& a, const Candidate& b, Chance& chance);

  // The candidate without any step: of a joint graph it has a partitioner.
  [[nodiscard]] bool needs_partition() const { return kind_ == Kind::joint; }
  // What is not searched on this graph, in a sentence; empty where all is.
  [[nodiscard]] std::string out_of_reach() const;

 private:
  enum class Kind : std::uint8_t {
    joint,
    flat,     // a training step with the policies' passes of its own
    ordered,  // a pair, a half: what is saved is decided
  };
  [[nodiscard]] Candidate in_sections(const Pipeline& pipeline) const;
  [[nodiscard]] bool fits(const PipelineStep& step) const;
  [[nodiscard]] Candidate of(std::string_view policies, std::string_view rest) const;
  [[nodiscard]] PipelineStep turned(PipelineStep step, Chance& chance) const;
  [[nodiscard]] PipelineStep any_order(Chance& chance) const;
  void change_policies(Candidate& candidate, Chance& chance) const;
  void change_partition(Candidate& candidate, Chance& chance) const;
  void change_buckets(Candidate& candidate, Chance& chance) const;
  void change_orders(Candidate& candidate, Chance& chance) const;
  void change_value(Candidate& candidate, Chance& chance) const;
  void toggle_saved(PipelineStep& sac, Chance& chance) const;
  void find_operators(const Graph& graph);

  const PassRegistry& registry_;
  SearchSpaceOptions options_;
  Kind kind_ = Kind::ordered;
  bool communicates_ = false;
  std::vector<std::string> operators_;  // of the forward, those that make most bytes
};

}  // namespace jointer
