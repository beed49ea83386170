// Helper of test_kernel_schedule.py:
//
//   kernel_schedule REFERENCE    prints the kernels that we make of the ops in a file of reference kernels, as JSON

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/index.h"
#include "core/kernels/kernels.h"
#include "core/kernels/memory_order.h"
#include "core/kernels/scheduling.h"
#include "tests/support/kernel_reference.h"

using namespace jointer;
using kernels::Kernel;
using kernels::Kernels;
using nlohmann::json;
using test::KernelReference;

namespace {

std::string kernel_name(const Kernel& kernel) {
  std::string name;
  for (const kernels::OpId op : kernel.ops) {
    if (!name.empty()) name += "_";
    name += KernelReference::op_name(op);
  }
  return name;
}

json bytes_of(const kernels::Ir& ir, const std::vector<kernels::BufferBytes>& list) {
  json found = json::object();
  for (const kernels::BufferBytes& each : list)
    found[ir.buffers[as_index(each.buffer)].name] = each.bytes;
  return found;
}

json describe(const KernelReference& reference) {
  std::int64_t fastest = 0;
  Kernels result;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    result = schedule(reference.ir, reference.torch);
    const std::int64_t ns =
        (std::chrono::steady_clock::now() - start) / std::chrono::nanoseconds(1);
    fastest = i == 0 ? ns : std::min(fastest, ns);
  }
  json answer{{"ns", fastest},
              {"peak", result.peak},
              {"fused_peak", result.fused_peak},
              {"order_peaks", result.order_peaks},
              {"refusals", result.refusals},
              {"refused_pairs", result.refused.size()},
              {"kernels", json::array()},
              {"fused_order", json::array()},
              {"first_order", json::array()},
              {"buffers", json::object()}};
  for (std::size_t i = 0; i < result.kernels.size(); ++i) {
    const Kernel& kernel = result.kernels[i];
    answer["kernels"].push_back(
        {{"name", kernel_name(kernel)},
         {"kind", to_string(kernel.kind)},
         {"reads", bytes_of(reference.ir, kernel.reads)},
         {"writes", bytes_of(reference.ir, kernel.writes)},
         {"bytes", kernel.bytes},
         {"memory", {result.after_allocation[i], result.after_release[i]}}});
  }
  for (const std::int32_t kernel : result.fused_order)
    answer["fused_order"].push_back(kernel_name(result.kernels[as_index(kernel)]));
  const kernels::Scheduling scheduling(reference.ir, reference.torch);
  for (const kernels::NodeIndex id : scheduling.first_order())
    answer["first_order"].push_back(KernelReference::op_name(scheduling.node(id).ops.front()));
  for (const kernels::BufferLife& life : result.lives)
    answer["buffers"][reference.ir.buffers[as_index(life.buffer)].name] = {life.allocated,
                                                                           life.freed};
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: kernel_schedule REFERENCE\n");
    return 2;
  }
  const Result<KernelReference> reference = test::read_kernel_reference(argv[1]);
  if (!reference) {
    std::fprintf(stderr, "%s\n", reference.error().message.c_str());
    return 3;
  }
  std::puts(describe(*reference).dump().c_str());
  return 0;
}
