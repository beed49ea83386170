#pragma once

#include "app/runner/groups/backend_factory.h"

namespace jointer::test {

// Collectives of the fake device, as if the other ranks did what this one does: local copies, on
// the communication stream. They take the device's `collective_ns`, and fail once its link is down.
const runner::BackendFactory& fake_collectives();

}  // namespace jointer::test
