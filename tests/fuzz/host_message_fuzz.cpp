// Messages of a pass host, which may be anything: any line gives a message or a one-line error. A
// message that was read can be written and read again.

#include "core/pass/registry.h"
#include "plugins/hosted/message.h"
#include "tests/fuzz/fuzz.h"

using namespace jointer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  const auto message = parse_host_message(text);
  if (!message) {
    const std::string& error = message.error().message;
    fuzz::require(error.find('\n') == std::string::npos, "an error of several lines", error);
    return 0;
  }
  const std::string line = write_host_message(*message);
  fuzz::require(line.find('\n') == std::string::npos, "a message of several lines", line);
  const auto again = parse_host_message(line);
  fuzz::require(again && write_host_message(*again) == line, "a message reads as another", line);
  // The registry accepts what was declared, or refuses it.
  if (const auto* declared = std::get_if<HostDeclared>(&*message)) {
    PassRegistry registry;
    for (const PassInfo& info : declared->passes)
      if (const auto added = registry.add({.info = info, .run = {}}); !added)
        fuzz::require(!added.error().message.empty(), "an error without a word");
  }
  return 0;
}
