// Helper of test_partition.py and tests/runner/test_partition.py:
//
//   partition_pair CAPTURE min_cut|default [--ignore-tags] OUT
//
// writes the pair that a partitioner makes of a joint graph, as a native capture, and prints the
// saved values: one JSON object with names and bytes in the order of the forward's outputs.

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "core/open/open.h"
#include "core/partition/partition.h"

using namespace jointer;

namespace {

Result<void> run(const std::vector<std::string>& arguments) {
  JOINTER_TRY(const Graph joint, open_graph({.path = arguments[0]}));
  const Partitioner partitioner =
      arguments[1] == "default" ? Partitioner::default_partition : Partitioner::min_cut;
  const bool ignore_tags = arguments[2] == "--ignore-tags";
  JOINTER_TRY(const Partition done,
              partition(joint, {.partitioner = partitioner, .ignore_tags = ignore_tags}));
  JOINTER_TRY(const Graph pair, emit_pair(done.joint, done.plan, partitioner));
  nlohmann::json answer{{"saved", nlohmann::json::array()},
                        {"symbols", nlohmann::json::array()},
                        {"capacity", done.cut_capacity}};
  for (const NodeId id : done.plan.saved)
    answer["saved"].push_back({done.joint.name(id), done.joint.output_bytes(done.joint.node(id))});
  for (const NodeId id : done.plan.saved_symbols) answer["symbols"].push_back(done.joint.name(id));
  std::puts(answer.dump().c_str());
  return write_bytes(arguments.back(), write_native(pair));
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  if (arguments.size() < 3) return 2;
  const auto done = run(arguments);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
