#pragma once

// The messages that a host writes to its standard output: JSON objects, one per line
// (docs/plugins.md).

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/pass/pass.h"

namespace jointer {

// The version of requests and messages.
inline constexpr int kHostProtocol = 1;

// The first message.
struct HostReady {
  std::int64_t protocol = kHostProtocol;
  std::string host;  // "Python 3.11.2, torch 2.11.0"
};
// In reply to `run`: the progress of the pass, from 0 to 1.
struct HostProgress {
  double done = 0;
};
struct HostDecision {
  Decision decision;  // `pass` is not set
};
struct HostTable {
  PassTable table;
};
// In reply to `list`: the passes of one requested spec, or an error.
struct HostDeclared {
  std::string spec;
  std::vector<PassInfo> passes;
  std::string error;
};
// The last message in reply to a request that succeeded.
struct HostDone {};
// The last message in reply to a request that failed.
struct HostFailed {
  enum class Kind : std::uint8_t {
    usage,   // the pass does not exist, or its arguments are invalid
    pass,    // the pass raised an exception, or did not return a graph
    memory,  // the host reached its memory limit
  };
  Kind kind = Kind::pass;
  std::string text;  // one sentence, without the name of the pass
};

using HostMessage = std::variant<HostReady, HostProgress, HostDecision, HostTable, HostDeclared,
                                 HostDone, HostFailed>;

// Error (run): the line is not a message, or its protocol version differs.
Result<HostMessage> parse_host_message(std::string_view line);

// The message as one line, without the line break.
std::string write_host_message(const HostMessage& message);

}  // namespace jointer
