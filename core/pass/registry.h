#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/pass/pass.h"
#include "core/pass/pipeline_text.h"

namespace jointer {

// The available passes. A program that runs pipelines has one registry, with built_in_passes() and
// then plugins and Python passes.
class PassRegistry {
 public:
  // Error (usage): the pass's name is not a word or is already in use, or a parameter is declared
  // twice, has a name that is not a word, or has an invalid default.
  Result<void> add(Pass pass);

  // All passes, ordered by name. These references, like that of find(), are valid until the next
  // add().
  [[nodiscard]] std::span<const Pass> passes() const { return passes_; }
  // Returns null if there is no such pass.
  [[nodiscard]] const Pass* find(std::string_view name) const;

  // Checks all pipeline steps, including disabled ones. Error (usage): a pass is unknown (the
  // message suggests the most similar name, if there is one), or its arguments are invalid.
  [[nodiscard]] Result<void> check(const Pipeline& pipeline) const;

 private:
  std::vector<Pass> passes_;
};

}  // namespace jointer
