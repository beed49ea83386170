#include "app/runner/groups/process_groups.h"

#include <ATen/ops/full.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>
#include <vector>

#include "app/runner/support/torch_error.h"
#include "core/base/number_text.h"
#include "core/graph/group_of_rank.h"

namespace jointer::runner {
namespace {

Result<int> number_in(const char* variable, int fallback) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return fallback;
  const std::string_view view = text;
  const auto value = number_of<int>(view);
  if (!value || *value < 0)
    return fail(Error::Kind::usage, "{}: expected an integer of at least 0, got `{}`", variable,
                view);
  return *value;
}

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

class RegisteredGroups final : public ProcessGroups {
 public:
  ~RegisteredGroups() override {
    c10d::unregister_all_process_groups();
    try {
      for (const auto& [name, group] : groups_) group->shutdown();
      if (world_) world_->shutdown();
    } catch (const std::exception&) {
      // Another rank has failed, and the launcher reports which one.
    }
  }

  void barrier() override {
    if (world_) barrier_of(*world_);
  }
  void barrier(const std::string& name) override {
    const auto found = groups_.find(name);
    if (found != groups_.end()) barrier_of(*found->second);
  }

  // Runs on the host, since every group has a backend for host tensors.
  bool any(bool here) override {
    if (!world_) return here;
    std::vector<at::Tensor> flags{at::full({1}, here ? 1 : 0, at::kInt)};
    c10d::AllreduceOptions options;
    options.reduceOp = c10d::ReduceOp::MAX;
    world_->allreduce(flags, options)->wait();
    return flags.front().item<int>() != 0;
  }

  void connect(const Options& options) {
    device_ = options.device;
    if (!options.alone) {
      c10d::TCPStoreOptions store;
      store.port = static_cast<std::uint16_t>(options.world.master_port);
      store.isServer = options.world.rank == 0 && !options.world.agent_has_store;
      store.numWorkers = static_cast<std::size_t>(options.world.size);
      store.waitWorkers = !options.world.agent_has_store;
      store.timeout = options.timeout;
      store_ = c10::make_intrusive<c10d::PrefixStore>(
          "jointer", c10::make_intrusive<c10d::TCPStore>(options.world.master_address, store));
    }
    world_ = make_group(options, "world", options.world.rank, options.world.size);
  }

  void add(const Options& options, const std::string& name, std::span<const std::int32_t> ranks) {
    const auto at = std::ranges::find(ranks, options.world.rank) - ranks.begin();
    // Groups of other ranks may have the same name, but must have different keys in the store.
    const std::string key = fmt::format("{}/{}", name, ranks.front());
    Group group = make_group(options, key, static_cast<int>(at), static_cast<int>(ranks.size()));
    group->setGroupName(name);
    c10d::register_process_group(name, group);
    groups_.emplace(name, std::move(group));
  }

 private:
  // Runs the barrier on the device, so that it follows the collectives there.
  void barrier_of(c10d::ProcessGroup& group) const {
    c10d::BarrierOptions options;
    options.device = device_;
    group.barrier(options)->wait();
  }

  static c10d::ProcessGroup::BackendType type_of(const BackendFactory& backend) {
    using Type = c10d::ProcessGroup::BackendType;
    const std::string name = backend.name();
    return name == "nccl" ? Type::NCCL : name == "gloo" ? Type::GLOO : Type::CUSTOM;
  }

  // Graphs for a GPU also contain collectives of host tensors, such as sizes; any() needs one, too.
  static void add_host_backend(c10d::ProcessGroup& group, const Options& options,
                               const c10::intrusive_ptr<c10d::Store>& store,
                               const c10::intrusive_ptr<c10d::Backend>& copies) {
    if (options.alone) {
      group.setBackend(at::kCPU, c10d::ProcessGroup::BackendType::CUSTOM, copies);
      return;
    }
    group.setBackend(at::kCPU, c10d::ProcessGroup::BackendType::GLOO,
                     gloo_collectives().make(c10::make_intrusive<c10d::PrefixStore>("host", store),
                                             group.getRank(), group.getSize(), options.timeout));
  }

  [[nodiscard]] Group make_group(const Options& options, const std::string& key, int rank,
                                 int size) const {
    c10::intrusive_ptr<c10d::Store> store;
    if (store_) store = c10::make_intrusive<c10d::PrefixStore>(key, store_);
    auto group = store ? c10::make_intrusive<c10d::ProcessGroup>(store, rank, size)
                       : c10::make_intrusive<c10d::ProcessGroup>(rank, size);
    const auto type = type_of(*options.backend);
    const auto backend = options.backend->make(store, rank, size, options.timeout);
    group->setBackend(options.device.type(), type, backend);
    if (!options.device.is_cpu()) {
      // After this, a barrier uses this rank's device.
      if (!options.alone) backend->setBoundDeviceId(options.device);
      add_host_backend(*group, options, store, backend);
    }
    group->setDefaultBackend(type);
    return group;
  }

  c10::Device device_ = at::kCPU;
  c10::intrusive_ptr<c10d::Store> store_;
  Group world_;
  std::map<std::string, Group> groups_;
};

}  // namespace

Result<World> World::from_environment() {
  World world;
  JOINTER_TRY(world.rank, number_in("RANK", 0));
  JOINTER_TRY(world.size, number_in("WORLD_SIZE", 1));
  JOINTER_TRY(world.local_rank, number_in("LOCAL_RANK", world.rank));
  JOINTER_TRY(world.local_size, number_in("LOCAL_WORLD_SIZE", world.size));
  JOINTER_TRY(world.master_port, number_in("MASTER_PORT", world.master_port));
  if (!std::in_range<std::uint16_t>(world.master_port))
    return fail(Error::Kind::usage, "MASTER_PORT: expected a port of at most 65535, got `{}`",
                world.master_port);
  if (const char* address = std::getenv("MASTER_ADDR"); address != nullptr)
    world.master_address = address;
  const char* agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  world.agent_has_store = agent != nullptr && std::string_view(agent) == "True";
  if (world.size < 1 || world.rank >= world.size)
    return fail(Error::Kind::usage,
                "RANK must be less than WORLD_SIZE, but RANK={} and WORLD_SIZE={}", world.rank,
                world.size);
  return world;
}

Result<std::unique_ptr<ProcessGroups>> ProcessGroups::make(const Graph& graph,
                                                           const Options& options) {
  auto groups = std::make_unique<RegisteredGroups>();
  std::map<std::string, std::vector<std::int32_t>>
      wanted;  // all ranks create them in the same order
  for (std::size_t g = 0; g < graph.group_count(); ++g) {
    const ProcessGroup& group = graph.group(GroupId(static_cast<std::uint32_t>(g)));
    const std::string name(graph.text(group.name));
    if (wanted.contains(name)) continue;
    if (group.ranks.empty())
      return input_error(
          "the capture does not record which ranks are in the process group {}; capture the graph "
          "again",
          name);
    if (options.alone) {
      wanted[name] = group.ranks;
      // With local copies, any index in the group will do, so put this rank first.
      if (std::ranges::find(group.ranks, options.world.rank) == group.ranks.end())
        wanted[name][0] = options.world.rank;
      continue;
    }
    JOINTER_TRY(wanted[name], group_of_rank(group.ranks, options.world.rank, options.world.size));
  }
  try {
    groups->connect(options);
    for (const auto& [name, ranks] : wanted) groups->add(options, name, ranks);
  } catch (const std::exception& error) {
    const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
    const std::string where =
        options.alone ? std::string()
                      : fmt::format(" (rendezvous at {}:{})", options.world.master_address,
                                    options.world.master_port);
    return fail(Error::Kind::run, "cannot create the process groups{}: {}", where,
                of_torch != nullptr ? summary(*of_torch) : first_line(error.what()));
  }
  return groups;
}

}  // namespace jointer::runner
