#pragma once

#include "app/runner/platform.h"

namespace jointer::test {

// The fake device (device.h) as a platform of the runner. The device keeps its options.
Result<std::unique_ptr<runner::Platform>> make_fake_platform(
    const runner::PlatformOptions& options);

}  // namespace jointer::test
