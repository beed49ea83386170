#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "core/schedule/what_if.h"
#include "tests/support/snapshots.h"

namespace jointer::test {

// Two collectives of one group, each directly followed by its wait. The compute between them
// depends on neither.
class TwoGathers : public testing::Test {
 protected:
  void SetUp() override {
    snapshot_ = snapshot_of(R"(
      group fsdp: 0 1
      w: f32[512,512] = parameter
      x: f32[512,512] = input
      g1: f32[1024,512] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
      v1: f32[1024,512] = _c10d_functional.wait_tensor(g1)
      a: f32[512,512] = aten.mm(x, x)
      b: f32[512,512] = aten.mm(a, x)
      g2: f32[1024,512] = _c10d_functional.all_gather_into_tensor(x, 2, 'fsdp')
      v2: f32[1024,512] = _c10d_functional.wait_tensor(g2)
      y: f32[1024,512] = aten.mm(v1, b)
      z: f32[1024,512] = aten.mm(v2, b)
      return [y, z]
    )");
    ASSERT_TRUE(snapshot_);
    dependencies_ = std::make_unique<Dependencies>(graph());
    what_if_ = std::make_unique<WhatIf>(graph(), *dependencies_, snapshot_->analysis.costs);
  }
  [[nodiscard]] const Graph& graph() const { return snapshot_->graph; }
  [[nodiscard]] NodeId node(const char* name) const { return graph().find(name); }

  views::SnapshotPtr snapshot_;
  std::unique_ptr<Dependencies> dependencies_;
  std::unique_ptr<WhatIf> what_if_;
};

}  // namespace jointer::test
