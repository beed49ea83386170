// Workspaces and journals: any bytes give a document or a one-line error. A document can be
// written and read again. A journal's checksums are computed here, because random bytes would
// rarely get past them.

#include "core/workspace/workspace.h"

#include "core/workspace/journal.h"
#include "tests/fuzz/fuzz.h"

using namespace jointer;

namespace {

void check_message(const Error& error) {
  fuzz::require(!error.message.empty() && error.message.find('\n') == std::string::npos,
                "an error is not one line", error.message);
}

std::string as_journal(std::string_view text) {
  std::string journal;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    journal += journal_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return journal;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  is_workspace(text);
  if (const auto workspace = parse_workspace(text, "fuzz")) {
    const std::string written = workspace_text(*workspace);
    const auto again = parse_workspace(written, "again");
    fuzz::require(again && workspace_text(*again) == written, "a workspace reads as another",
                  written);
    for (std::size_t i = 0; i <= workspace->history.entries.size(); ++i)
      static_cast<void>(workspace->history.edits_at(i));
  } else {
    check_message(workspace.error());
  }
  for (const std::string& journal : {std::string(text), as_journal(text)})
    if (const auto state = parse_journal(journal); !state) check_message(state.error());
  return 0;
}
