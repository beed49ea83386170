// A runner whose CUDA device is the fake one, for tests of the launcher. FAKE_FAULT is
// RANK/KIND/STAGE/CALL (faults.h), such as `1/died/measure/3`. FAKE_EXCLUSIVE names a device in
// exclusive compute mode that all ranks use. As for CUDA, an empty CUDA_VISIBLE_DEVICES hides the
// device.

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>

#include "app/runner/session.h"
#include "core/bench/status_file.h"
#include "tests/runner/fake_device/device.h"
#include "tests/runner/fake_device/platform.h"

namespace {

using namespace jointer;

// The status file of this process, which the session writes.
class OwnStatus : public StatusMapping {
 public:
  explicit OwnStatus(const std::string& path) {
    if (auto words = map(path, /*create=*/false)) words_ = *std::move(words);
  }
  [[nodiscard]] std::string stage() const {
    return !words_ ? "" : std::string(RankStatus{.stage = words_[1]}.stage_name());
  }
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

test::Faults faults_from_environment(const OwnStatus& status) {
  std::istringstream words(variable("FAKE_FAULT"));
  std::string rank, kind, stage, call;
  std::getline(words, rank, '/');
  std::getline(words, kind, '/');
  std::getline(words, stage, '/');
  std::getline(words, call);
  const auto* found = std::ranges::find(test::kFaultKinds, kind, test::to_string);
  if (rank != variable("RANK") || found == test::kFaultKinds.end()) return {};
  return {{.kind = *found, .stage = stage, .call = std::atoi(call.c_str())},
          [&status] { return status.stage(); }};
}

}  // namespace

int main(int argc, char** argv) {
  const OwnStatus status(variable(kStatusFileVariable));
  test::FakeDevice::instance().reset(
      {.exclusive_name = variable("FAKE_EXCLUSIVE"), .faults = faults_from_environment(status)});
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool is_hidden = visible != nullptr && *visible == '\0';
  return runner::run_rank(argc, argv, runner::make_cpu_platform,
                          is_hidden ? nullptr : test::make_fake_platform,
                          is_hidden ? "no device is visible" : "");
}
