// nccl_answers < ROWS: torch 2.15's estimates, for one collective per line: {"bytes": b, "ranks":
// n, "target": "_c10d_functional.all_reduce.default", "gpu": 2, "gpus_per_node": 8} gives {"ms",
// "saturation"}, or null if torch has none.

#include <fmt/core.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/cost/torch_nccl_2_15.h"

int main() {
  using namespace jointer;
  for (std::string line; std::getline(std::cin, line);) {
    const auto row = nlohmann::json::parse(line);
    const auto call = torch_nccl_call(row["target"].get<std::string>());
    nlohmann::json answer{{"ms", nullptr}, {"saturation", nullptr}};
    if (call) {
      const NcclLinks links{.gpu = static_cast<NcclGpu>(row["gpu"].get<int>()),
                            .gpus_per_node = row["gpus_per_node"].get<std::int64_t>()};
      const auto ranks = row["ranks"].get<std::int64_t>();
      answer["ms"] = torch_nccl_2_15_ms(row["bytes"].get<std::int64_t>(), ranks, *call, links);
      if (const auto bytes = torch_saturation_bytes(ranks, *call, links))
        answer["saturation"] = *bytes;
    }
    fmt::print("{}\n", answer.dump());
  }
  return EXIT_SUCCESS;
}
