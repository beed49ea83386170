#pragma once

// The interface of a pass: its description, its parameters, and a function that changes a graph.
// Built-in passes, plugins and Python passes all have this interface.

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

// The stage at which upstream runs a pass, or would run it.
enum class PassStage : std::uint8_t {
  joint,       // tags an unpartitioned graph, applies its tags, or splits its modules into chunks
  partition,   // splits a graph into forward and backward or smaller parts, or joins such parts
  clean_up,    // simplifies the graph without changing the values
  fsdp,        // changes how parameters are gathered or their gradients are reduced
  bucketing,   // merges collectives, or changes their groups or how they run
  reordering,  // changes the order of nodes
  check,       // changes nothing
  compile,     // decides how the runner executes the graph
  search,      // searches for the best pipeline of other passes
};
std::string_view to_string(PassStage stage);
// All stages, in the order in which lists of passes show them.
inline constexpr std::array kPassStages{
    PassStage::joint, PassStage::partition, PassStage::clean_up,
    PassStage::fsdp,  PassStage::bucketing, PassStage::reordering,
    PassStage::check, PassStage::compile,   PassStage::search};

struct PassInfo {
  std::string name;     // upstream's, if upstream has the pass
  std::string summary;  // one sentence
  std::string source;   // of the semantics: "torch/_inductor/comms.py", "Jointer", "plugin: PATH"
  PassStage stage = PassStage::reordering;
  std::vector<Parameter> parameters = {};
  bool keeps_numerics = true;  // the outputs stay bitwise equal
  bool is_idempotent = false;  // a second run changes nothing
  bool saves_memory = false;   // meant to lower the peak: raising it causes a warning
};

// A call of a Python function on a graph, in a separate process.
struct PythonCall {
  std::string function;  // "module:function"
  std::vector<std::pair<std::string, PassValue>> arguments;
  std::function<bool()> is_cancelled;  // may be empty
};
// Calls the function and returns its graph. Error (run): Python is not available, or the function
// failed. Error (cancelled): the call was cancelled.
using PythonRunner = std::function<Result<Graph>(const Graph& graph, const PythonCall& call)>;

// The pipeline steps that a pass ran, if it runs other passes.
struct RanSteps {
  Pipeline steps;
  std::optional<std::int64_t> peak_limit;  // bytes; the limit under which the steps ran
};

// The context of a running pass: the options of the run, and the report of the pass.
class PassContext {
 public:
  struct Options {
    AnalysisOptions analysis;                // the estimator and memory rules for decisions
    std::optional<std::int64_t> peak_limit;  // bytes; the maximum peak after a pass
    // Both may be empty. A pass calls them on any of its threads, but never concurrently.
    std::function<void(double done)> report;  // 0 .. 1
    std::function<bool()> is_cancelled;
    PythonRunner python;  // for passes that exist only in Python; empty if there is no Python
  };
  // `options` must outlive the context.
  explicit PassContext(const Options& options) : options_(options) {}

  [[nodiscard]] const AnalysisOptions& analysis() const { return options_.analysis; }
  [[nodiscard]] std::optional<std::int64_t> peak_limit() const { return options_.peak_limit; }
  // Reports progress, from 0 to 1. Error (cancelled): the user cancelled the run; the pass must
  // return this error.
  Result<void> report(double done) const;
  // Runs a Python function. Errors: same as PythonRunner.
  [[nodiscard]] Result<Graph> run_python(
      const Graph& graph, std::string function,
      std::vector<std::pair<std::string, PassValue>> arguments = {}) const;
  // Reports a decision about a node, or about the whole graph.
  void decide(const Graph& graph, NodeId node, std::string action, std::string reason);
  void decide(std::string action, std::string reason);

  void add_decision(Decision decision) { decisions_.push_back(std::move(decision)); }
  // Removes the decisions after the first `count`, except those with the action "kept" or "note".
  // For a pass that undoes the changes that it has reported since.
  void drop_changes(std::size_t count);
  // Adds the decisions and tables of another pass that this one ran.
  void add(const PassContext& part);
  void add_table(PassTable table) { tables_.push_back(std::move(table)); }
  // For a pass that runs other passes: sets the pipeline steps that it ran, with their arguments.
  void set_ran(RanSteps ran) { ran_ = std::move(ran); }
  // For a pass whose changes are easier to follow as several edits than as one: adds the next edit.
  // Together, the edits must lead to the resulting graph.
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
  // Changes the graph, which is valid before the call and must be valid afterwards. The same graph
  // and arguments must give the same result on every rank and in every run. If this returns an
  // error, the caller discards the graph and continues with the original.
  std::function<Result<void>(Graph& graph, const Arguments& arguments, PassContext& context)> run;
};

}  // namespace jointer
