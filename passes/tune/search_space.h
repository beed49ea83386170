#pragma once

// The pipelines that a search tries on a graph: starting points, and variations of candidates.

#include <string>
#include <vector>

#include "core/pass/registry.h"
#include "passes/tune/candidate.h"
#include "passes/tune/chance.h"

namespace jointer {

struct NamedCandidate {
  std::string name;  // the name of a preset, or empty
  Candidate candidate;
};

struct SearchSpaceOptions {
  // Allows reassign_to_pg, which makes the graph require an additional process group.
  bool twin_groups = true;
};

class SearchSpace {
 public:
  // `registry` must outlive this object and contain the built-in passes.
  SearchSpace(const Graph& graph, const PassRegistry& registry,
              const SearchSpaceOptions& options = {});

  // The starting points, without duplicates: for a joint graph, pipelines that search for a plan,
  // and for other graphs, the unchanged graph; then the pipeline steps of presets that fit this
  // graph; then pipelines that often help.
  [[nodiscard]] std::vector<NamedCandidate> starts() const;
  // Returns the candidate with one random change: of the orders, a parameter, the buckets, the
  // policies or the partition.
  [[nodiscard]] Candidate changed(Candidate candidate, Chance& chance) const;
  // Combines two candidates: copies each section from one of them at random.
  [[nodiscard]] static Candidate mixed(const Candidate& a, const Candidate& b, Chance& chance);

  // True if candidates must contain a partitioner, because the graph is a joint graph.
  [[nodiscard]] bool needs_partition() const { return kind_ == Kind::joint; }
  // A sentence about what the search leaves out on this graph; empty if it leaves out nothing.
  [[nodiscard]] std::string out_of_reach() const;

 private:
  enum class Kind : std::uint8_t {
    joint,
    flat,     // a flat training step, which has its own passes for policies
    ordered,  // a pair or a half; the saved values are already decided
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
  std::vector<std::string> operators_;  // the operators of the forward that produce the most bytes
};

}  // namespace jointer
