#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/pass/pass.h"
#include "core/pass/pipeline_text.h"

namespace jointer {

// The passes that there are. Whoever runs pipelines holds one: built_in_passes(), then plugins and
// Python passes.
class PassRegistry {
 public:
  // Error (usage): the name is no word, is taken, or a parameter is declared twice or with a
  // default that it does not allow.
  Result<void> add(Pass pass);

  // Ordered by name.
  [[nodiscard]] std::span<const Pass> passes() const { return passes_; }
  // Null if there is none.
  [[nodiscard]] const Pass* find(std::string_view name) const;

  // Error (usage): a pass that does not exist, with the nearest name, or what it was told. Of all
  // steps, disabled ones too.
  [[nodiscard]] Result<void> check(const Pipeline& pipeline) const;

 private:
  std::vector<Pass> passes_;
};

}  // namespace jointer
