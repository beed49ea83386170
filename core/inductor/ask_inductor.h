#pragma once

// Asks the scheduler of the installed torch for the kernels of a graph. A worker process,
// `python -m jointer kernels`, lowers and schedules the graph on fake tensors; no GPU is needed.
// Nothing is compiled or run.

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/json_text.h"
#include "core/base/name_table.h"
#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// The stages of the worker, in order.
enum class AskStage : std::uint8_t { load_torch, decompose, lower, fuse, reorder };
inline constexpr NameTable<AskStage, 5> kAskStages{{{"load_torch", AskStage::load_torch},
                                                    {"decompose", AskStage::decompose},
                                                    {"lower", AskStage::lower},
                                                    {"fuse", AskStage::fuse},
                                                    {"reorder", AskStage::reorder}}};

struct AskProgress {
  AskStage stage = AskStage::load_torch;
  std::int64_t done = 0, of = 0;  // nodes of the graph; 0 of 0 if the stage does not count them

  // The progress of the whole worker, between 0 and 1; every stage counts the same.
  [[nodiscard]] double fraction() const;
};

struct AskOptions {
  std::string device = "h100";  // the GPU to schedule for, which need not exist
  std::string torch;            // the version to insist on, such as "2.15"; empty: any
  bool may_be_cached = true;    // false: ask again even if there is an answer in the cache
  std::string cache_folder;     // empty: AnswerCache::default_folder()
  // Both are called on the thread that asks, and may be empty.
  std::function<void(const AskProgress& progress)> on_progress;
  std::function<bool()> is_cancelled;
};

// Returns the JSON that the worker prints (docs/command_line.md) about one part: the graph, or a
// half of a pair. Answers are cached for each user, by the content of the part's capture, the
// version of torch, the GPU, the worker's source and the environment's TORCHINDUCTOR_* variables.
// Undoing edits thus brings back the earlier answer at once. Cost: about a minute for a half of an
// 8B model.
//
// Error (run): Python, torch or Inductor fails; the message says why. Error (input): torch is not
// the required version, or the worker cannot read the graph. Error (cancelled): `is_cancelled`
// returned true; the worker and everything that it started have ended.
Result<OrderedJson> ask_inductor(const Graph& graph, PartId part, const AskOptions& options);

// Identifies a part of a graph by everything that its capture holds: two parts with the same
// content have the same kernels. Unlike the graph's hash, it also covers strides, devices, assumed
// sizes and subgraphs.
std::string content_of(const Graph& graph, PartId part);

}  // namespace jointer
