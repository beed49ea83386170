#pragma once

// What a host of passes says: one JSON object a line on its standard output (docs/plugins.md).

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/pass/pass.h"

namespace jointer {

// Of requests and of messages.
inline constexpr int kHostProtocol = 1;

// The first line.
struct HostReady {
  int protocol = kHostProtocol;
  std::string host;  // "Python 3.11.2, torch 2.11.0"
};
// Of `run`: how far the pass is, 0 .. 1.
struct HostProgress {
  double done = 0;
};
struct HostDecision {
  Decision decision;  // without the pass
};
struct HostTable {
  PassTable table;
};
// Of `list`: what is behind one name that was asked for; no passes and why, or some.
struct HostDeclared {
  std::string spec;
  std::vector<PassInfo> passes;
  std::string error;
};
// The last line: it was done.
struct HostDone {};
// The last line: it was not.
struct HostFailed {
  enum class Kind : std::uint8_t {
    usage,   // there is no such pass, or it cannot be told that
    pass,    // it raised, or gave back something else than a graph
    memory,  // it reached the limit
  };
  Kind kind = Kind::pass;
  std::string text;  // one sentence, without the pass's name
};

using HostMessage = std::variant<HostReady, HostProgress, HostDecision, HostTable, HostDeclared,
                                 HostDone, HostFailed>;

// Error (run): the line is none of these, or of another version.
Result<HostMessage> parse_host_message(std::string_view line);

// Without the end of the line.
std::string write_host_message(const HostMessage& message);

}  // namespace jointer
