#pragma once

// A pass: what it is called, what it can be told, and what it does to a graph. Built-in passes,
// plugins and Python passes are all this.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/edit/decision.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/pass/parameter.h"
#include "core/pass/pass_table.h"
#include "core/pass/pipeline_text.h"
#include "core/schedule/analysis.h"

namespace jointer {

// Where upstream runs it.
enum class PassStage : std::uint8_t {
  joint,       // tags on a joint graph, before it is partitioned
  partition,   // a joint graph becomes a pair
  clean_up,    // fewer nodes, the same values
  fsdp,        // gathered parameters
  bucketing,   // several collectives become one
  reordering,  // the same nodes in another order
  check,       // changes nothing
  compile,     // how the runner runs it
  search,      // looks for the other passes that serve best
};
std::string_view to_string(PassStage stage);
// All of them, in the order that lists of passes have.
inline constexpr std::array kPassStages{
    PassStage::joint, PassStage::partition, PassStage::clean_up,
    PassStage::fsdp,  PassStage::bucketing, PassStage::reordering,
    PassStage::check, PassStage::compile,   PassStage::search};

struct PassInfo {
  std::string name;     // upstream's
  std::string summary;  // one sentence
  std::string source;   // whose semantics: "torch/_inductor/comms.py", "ours", a plugin's path
  PassStage stage = PassStage::reordering;
  std::vector<Parameter> parameters;
  bool keeps_numerics = true;  // outputs stay bitwise equal
  bool is_idempotent = false;  // a second run changes nothing
  bool saves_memory = false;   // it is run for a lower peak: a higher one is a warning
};

// A Python function that is run on a graph in a process of its own.
struct PythonCall {
  std::string function;  // "module:function"
  std::vector<std::pair<std::string, PassValue>> arguments;
  std::function<bool()> is_cancelled;  // may be empty
};
// Gives the graph that the function made of it. Error (run): there is no Python here, or what
// became of the function; (cancelled).
using PythonRunner = std::function<Result<Graph>(const Graph& graph, const PythonCall& call)>;

// What a pass ran that runs others.
struct RanSteps {
  Pipeline steps;
  std::optional<std::int64_t> peak_limit;  // bytes: what they were told to keep within
};

// What a pass has at hand while it runs.
class PassContext {
 public:
  struct Options {
    AnalysisOptions analysis;                 // whose estimator and rules decide
    std::optional<std::int64_t> peak_limit;   // bytes: what a pass must not exceed
    std::function<void(double done)> report;  // 0 .. 1
    std::function<bool()> is_cancelled;
    PythonRunner python;  // of passes that only Python has; empty: there is no Python here
  };
  // Must outlive it.
  explicit PassContext(const Options& options) : options_(options) {}

  [[nodiscard]] const AnalysisOptions& analysis() const { return options_.analysis; }
  [[nodiscard]] std::optional<std::int64_t> peak_limit() const { return options_.peak_limit; }
  // How far it is, 0 .. 1. Error (cancelled): a person wants it to end; to be handed on.
  Result<void> report(double done) const;
  // Runs a Python function. Error: as PythonRunner.
  [[nodiscard]] Result<Graph> run_python(
      const Graph& graph, std::string function,
      std::vector<std::pair<std::string, PassValue>> arguments = {}) const;
  void decide(const Graph& graph, NodeId node, std::string action, std::string reason);
  void decide(std::string action, std::string reason);

  void add_decision(Decision decision) { decisions_.push_back(std::move(decision)); }
  // What a pass that this one ran has decided and reported.
  void add(const PassContext& part);
  void add_table(PassTable table) { tables_.push_back(std::move(table)); }
  // Of a pass that runs others: which, with what they were told.
  void set_ran(RanSteps ran) { ran_ = std::move(ran); }
  // Of a pass whose work reads better in several edits than in one: what it did, in order. Together
  // they give the graph that it leaves.
  void add_edit(Edit edit) { edits_.push_back(std::move(edit)); }

  [[nodiscard]] const std::vector<Decision>& decisions() const { return decisions_; }
  [[nodiscard]] const std::vector<PassTable>& tables() const { return tables_; }
  [[nodiscard]] const RanSteps& ran() const { return ran_; }
  [[nodiscard]] const std::vector<Edit>& edits() const { return edits_; }

 private:
  const Options& options_;
  std::vector<Decision> decisions_;
  std::vector<PassTable> tables_;
  RanSteps ran_;
  std::vector<Edit> edits_;
};

struct Pass {
  PassInfo info;
  // Changes the graph, which is sound before and must be sound afterwards. The same graph and
  // arguments give the same result on every rank and in every run. After an error, whoever runs it
  // goes on with the graph as it was: what is left in this one does not matter.
  std::function<Result<void>(Graph& graph, const Arguments& arguments, PassContext& context)> run;
};

}  // namespace jointer
