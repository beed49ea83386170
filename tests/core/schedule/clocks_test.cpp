// ClockDelays, compared with the rules that it summarizes.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "core/schedule/clocks.h"

namespace jointer::test {
namespace {

using Kind = TimedCall::Kind;

RC_GTEST_PROP(ClockDelays, AreThoseOfRunningTheCalls, ()) {
  std::vector<TimedCall> calls(*rc::gen::inRange<std::size_t>(0, 12));
  for (TimedCall& call : calls)
    call = {.host_ns = *rc::gen::inRange<std::int64_t>(0, 20),
            .ns = *rc::gen::inRange<std::int64_t>(0, 20),
            .kind = *rc::gen::element(Kind::host, Kind::kernel, Kind::blocking_kernel)};
  Clocks expected{.host = *rc::gen::inRange<std::int64_t>(0, 100),
                  .compute = *rc::gen::inRange<std::int64_t>(0, 100)};
  Clocks clocks = expected;

  for (const TimedCall& call : calls) {
    expected.launch(call.host_ns);
    if (call.kind != Kind::host) expected.run_kernel(call);
  }
  ClockDelays delays;
  std::for_each(calls.rbegin(), calls.rend(), [&](const TimedCall& c) { delays.precede(c); });
  delays.apply(clocks);

  RC_ASSERT(clocks.host == expected.host);
  RC_ASSERT(clocks.compute == expected.compute);
}

}  // namespace
}  // namespace jointer::test
