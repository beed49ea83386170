#include "passes/kernel_order/kernel_units.h"

#include <algorithm>

#include "core/base/index.h"

namespace jointer {

namespace {

// True for calls whose `python_kernel_name` in torch is that of a library, and for flash attention.
bool calls_gemm_library(const kernels::Op& op) {
  return op.ir == "ExternKernelOut" || op.ir == "Convolution" ||
         op.target == "aten._scaled_dot_product_flash_attention.default";
}

Lists<KernelUnit> reversed_lists(const Lists<KernelUnit>& lists, std::size_t count) {
  return Lists<KernelUnit>::of_each(count, [&](auto add) {
    for (std::size_t i = 0; i < count; ++i)
      for (const KernelUnit other : lists.of(i)) add(as_index(other), static_cast<KernelUnit>(i));
  });
}

}  // namespace

KernelUnits::KernelUnits(const kernels::Scheduling& scheduling,
                         std::span<const kernels::NodeIndex> nodes,
                         std::span<const double> ms_of_op)
    : scheduling_(scheduling), nodes_(nodes), memory_(scheduling, nodes) {
  find_dependencies();
  describe(ms_of_op);
}

void KernelUnits::find_dependencies() {
  const kernels::AccessTable& table = scheduling_.table;
  std::vector<KernelUnit> maker(scheduling_.ir().buffers.size(), -1);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (const kernels::BufferId output : scheduling_.node(nodes_[i]).outputs)
      maker[as_index(output)] = static_cast<KernelUnit>(i);
  const auto add = [](Lists<KernelUnit>& lists, KernelUnit unit) {
    const auto own = lists.all.begin() + static_cast<std::ptrdiff_t>(lists.first.back());
    if (std::find(own, lists.all.end(), unit) == lists.all.end()) lists.all.push_back(unit);
  };
  data_before_.first.push_back(0);
  all_before_.first.push_back(0);
  for (const kernels::NodeIndex node : nodes_) {
    for (const kernels::AccessId access : scheduling_.node(node).unmet) {
      const KernelUnit before = maker[as_index(table.buffer(access))];
      if (before < 0) continue;
      add(all_before_, before);
      if (!table.is_weak(access) || table[access].access.keeps_alive) add(data_before_, before);
    }
    data_before_.first.push_back(static_cast<std::uint32_t>(data_before_.all.size()));
    all_before_.first.push_back(static_cast<std::uint32_t>(all_before_.all.size()));
  }
  data_after_ = reversed_lists(data_before_, nodes_.size());
  all_after_ = reversed_lists(all_before_, nodes_.size());
}

void KernelUnits::describe(std::span<const double> ms_of_op) {
  flags_.reserve(size());
  ms_.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    const std::span<const kernels::OpId> own = ops(static_cast<KernelUnit>(i));
    const kernels::Op& op = scheduling_.op(own.front());
    unsigned flags = 0;
    if (op.kind == kernels::Op::Kind::collective) {
      flags = kCollective;
      if (op.target.find("shard_dim_alltoall") == std::string::npos) flags |= kAsynchronous;
    } else if (op.kind == kernels::Op::Kind::wait) {
      flags = kWait;
    } else if (own.size() == 1 && calls_gemm_library(op)) {
      flags = kGemm;
    }
    flags_.push_back(static_cast<std::uint8_t>(flags));
    ms_.push_back(ms_of_op[as_index(own.front())]);
  }
}

}  // namespace jointer
