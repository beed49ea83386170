// A claim is a socket whose name identifies the GPU. Names in Linux's abstract namespace need no
// file, and the kernel releases them when the process ends, however it ends. A name has at most 107
// bytes, but CUDA_VISIBLE_DEVICES, which identifies the parts of a divided GPU, may be longer. The
// name then contains a hash instead, since a truncated name could be that of another part.

#include "app/runner/device_claim.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>

#include "core/base/sha256.h"

namespace jointer::runner {

Result<FileDescriptor> claim_device(std::string_view device, ComputeMode mode) {
  if (mode == ComputeMode::shared) return FileDescriptor();
  if (mode == ComputeMode::prohibited)
    return fail(Error::Kind::run, "{}",
                explain_unusable(fmt::format("{} cannot be used", device), mode));
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A name that starts with a zero byte is abstract.
  const std::string prefix = "jointer-gpu-";
  std::string name = prefix + std::string(device);
  if (name.size() > sizeof address.sun_path - 1) name = prefix + sha256(device);
  std::ranges::copy(name, address.sun_path + 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (!socket) return FileDescriptor();  // CUDA then refuses the second process
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) return socket;
  if (errno != EADDRINUSE) return FileDescriptor();
  return fail(Error::Kind::run,
              "another benchmark or rank uses {}, which is in exclusive compute mode, so only one "
              "process at a time can use it; wait for the other benchmark, give each rank its own "
              "GPU (with Slurm: --gpus-per-task=1), or run one rank with --solo RANK",
              device);
}

}  // namespace jointer::runner
