// Compares saved sets with torch 2.11's: JOINTER_SHARED/reference/summary.json has those of two
// models under four taggings and both partitioners, as AOTAutograd chose them when the captures
// were made. Names and their order are equal in all of them: no cut there has an equally cheap
// alternative. The fourth tagging has no capture: its graph is made from the plain one, whose tags
// are FSDP's.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/open/open.h"
#include "core/partition/partition.h"
#include "core/policy/tagging.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/reference.h"

namespace jointer::test {
namespace {

struct Case {
  std::string model, tagging;
  Partitioner partitioner = Partitioner::min_cut;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* model : {"llama3_debug_tp2_fsdp2", "llama3_8b_tp2_fsdp2"})
    for (const char* tagging : {"fsdp_only", "no_tags", "graph_sac", "graph_sac_without_fsdp"})
      for (const Partitioner partitioner : {Partitioner::min_cut, Partitioner::default_partition})
        all.push_back({model, tagging, partitioner});
  return all;
}

std::string key(Partitioner partitioner) {
  return partitioner == Partitioner::min_cut ? "min_cut" : "default";
}

// The joint graph of a model, tagged.
Result<Graph> tagged_joint(const std::string& model, const std::string& tagging) {
  const std::string capture = model + (tagging == "graph_sac" ? "_graph_sac.joint" : ".joint");
  JOINTER_TRY(Graph joint, open_graph({.path = capture_path(capture)}));
  if (tagging != "graph_sac_without_fsdp") return joint;
  JOINTER_TRY(const Edit untag, remove_tags(joint));
  JOINTER_CHECK(apply(joint, untag));
  JOINTER_TRY(const Edit sac, apply_sac(joint));
  JOINTER_CHECK(apply(joint, sac));
  return joint;
}

class TorchSavedSets : public testing::TestWithParam<Case> {};

TEST_P(TorchSavedSets, AreEqual) {
  JOINTER_NEEDS_SHARED();
  const auto& [model, tagging, partitioner] = GetParam();
  static const nlohmann::json summary = load_json(shared_directory() + "/reference/summary.json");
  const auto joint = must(tagged_joint(model, tagging));
  const auto done =
      must(partition(joint, {.partitioner = partitioner, .ignore_tags = tagging == "no_tags"}));

  std::vector<std::string> wanted, saved;
  std::int64_t wanted_bytes = 0, saved_bytes = 0;
  for (const auto& row :
       summary["graphs"][model]["partition"][tagging][key(partitioner)]["saved"]) {
    wanted.push_back(row[0]);
    wanted_bytes += row[2].get<std::int64_t>();
  }
  for (const NodeId id : done.plan.saved) {
    saved.emplace_back(done.joint.name(id));
    saved_bytes += done.joint.output_bytes(done.joint.node(id));
  }
  ASSERT_FALSE(wanted.empty());
  EXPECT_EQ(saved_bytes, wanted_bytes);
  EXPECT_EQ(saved, wanted);
}

INSTANTIATE_TEST_SUITE_P(Summary, TorchSavedSets, testing::ValuesIn(cases()),
                         [](const auto& parameter) {
                           return parameter.param.model + "_" + parameter.param.tagging + "_" +
                                  key(parameter.param.partitioner);
                         });

}  // namespace
}  // namespace jointer::test
