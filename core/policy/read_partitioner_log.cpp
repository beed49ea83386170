// Reads the debug output of torch 2.11's partitioner under AOT_PARTITIONER_DEBUG=1.
//
// It consists of two parts, in one text or in two:
//   - Logger output, after any prefix. "Ops banned from re-materialization: OrderedSet([...])"
//     occurs once per solved cut. "Theoretical Per Activation Storage Sizes: [(bytes, 'name'),
//     ...]" comes last, once per partitioning, and names all saved values, including inputs. A list
//     may continue on the next lines, for example if a terminal wrapped it.
//   - If a memory budget was given, the artifact `min_cut_information` of the structured trace
//     (TORCH_TRACE, tlparse): a JSON object on one line, on several lines that begin with a tab, or
//     alone in a file. If several budgets were tried, there is one for each; torch uses the last.
//
// Source: torch/_functorch/partitioners.py, _activation_checkpointing/ac_logging_utils.py.
// Cost: linear.

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/take_part.h"
#include "core/base/utf8.h"
#include "core/policy/import.h"

namespace jointer {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kBanned = "Ops banned from re-materialization: ";
constexpr std::string_view kSizes = "Theoretical Per Activation Storage Sizes: ";
constexpr std::string_view kSaved = "Min Cut Solution Saved Values";
constexpr int kMaxDepth = 32;

// Returns the texts in quotation marks.
std::vector<std::string> quoted_texts(std::string_view text) {
  std::vector<std::string> texts;
  while (true) {
    const std::size_t begin = text.find_first_of("'\"");
    if (begin == std::string_view::npos) return texts;
    const std::size_t end = text.find(text[begin], begin + 1);
    if (end == std::string_view::npos) return texts;
    texts.emplace_back(text.substr(begin + 1, end - begin - 1));
    text.remove_prefix(end + 1);
  }
}

// Reads `[(512, 'mm'), (64, 'primals_1')]` at the start of a text.
class SizeList {
 public:
  explicit SizeList(std::string_view text) : rest_(text), begin_(first_characters(text, 40)) {}

  Result<std::vector<PartitionerLog::Value>> run() {
    std::vector<PartitionerLog::Value> values;
    if (!take('[')) return damaged();
    if (take(']')) return values;
    do {
      PartitionerLog::Value value;
      if (!take('(') || !take(value.bytes) || !take(',') || !take('\'')) return damaged();
      const std::size_t end = rest_.find_first_of("'\n");
      if (end == std::string_view::npos || rest_[end] != '\'') return damaged();
      value.node = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (!take(')')) return damaged();
      values.push_back(std::move(value));
    } while (take(','));
    if (!take(']')) return damaged();
    return values;
  }

 private:
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  bool take(char sign) {
    skip_spaces();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take(std::int64_t& number) {
    skip_spaces();
    const char* const begin = rest_.data();
    const auto [stop, error] = std::from_chars(begin, begin + rest_.size(), number);
    rest_.remove_prefix(static_cast<std::size_t>(stop - begin));
    return error == std::errc();
  }
  [[nodiscard]] tl::unexpected<Error> damaged() const {
    return input_error(
        "the list of saved values is truncated or damaged at `{}`: expected [(bytes, 'name'), "
        "...]",
        first_line(rest_.empty() ? begin_ : first_characters(rest_, 40)));
  }
  static std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
  }

  std::string_view rest_, begin_;
};

std::vector<std::string> texts_of(const Json& payload, const char* key) {
  std::vector<std::string> texts;
  for (const Json& text : payload.value(key, Json::array()))
    texts.push_back(text.get<std::string>());
  return texts;
}

template <class Number>
std::vector<Number> numbers_of(const Json& payload, const char* key) {
  std::vector<Number> numbers;
  for (const Json& number : payload.value(key, Json::array()))
    numbers.push_back(number.get<Number>());
  return numbers;
}

Result<PartitionerLog> read_payload(std::string_view text) {
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  try {
    const Json payload = Json::parse(text.begin(), text.end(), watch);
    if (too_deep) return input_error("the payload is nested more than {} levels deep", kMaxDepth);
    PartitionerLog log;
    log.candidates = texts_of(payload, "Recomputable Banned Nodes Order");
    log.candidate_bytes = numbers_of<std::int64_t>(payload, "Absolute Memories");
    log.knapsack_saved = numbers_of<std::size_t>(payload, "Knapsack Saved Nodes");
    log.knapsack_recomputed = numbers_of<std::size_t>(payload, "Knapsack Recomputed Nodes");
    for (const auto& indices : {log.knapsack_saved, log.knapsack_recomputed})
      for (const std::size_t i : indices)
        if (i >= log.candidates.size())
          return input_error("the knapsack refers to candidate {}, but there are only {}", i,
                             log.candidates.size());
    for (std::string& name : texts_of(payload, std::string(kSaved).c_str())) {
      PartitionerLog::Value value{.node = std::move(name)};
      for (std::size_t i = 0; i < std::min(log.candidates.size(), log.candidate_bytes.size()); ++i)
        if (log.candidates[i] == value.node) value.bytes = log.candidate_bytes[i];
      log.saved.push_back(std::move(value));
    }
    return log;
  } catch (const Json::parse_error& error) {
    return input_error("the payload min_cut_information is invalid JSON near byte {}", error.byte);
  } catch (const Json::exception& error) {
    return input_error("the payload min_cut_information is invalid: {}", error.what());
  }
}

}  // namespace

Result<std::vector<PartitionerLog>> read_partitioner_log(std::string_view text) {
  std::vector<PartitionerLog> logs;
  std::vector<std::string> banned;
  std::string block;  // lines that begin with a tab
  const auto take_block = [&]() -> Result<void> {
    const std::string json = std::exchange(block, {});
    if (json.find(kSaved) == std::string::npos) return {};
    JOINTER_TRY(PartitionerLog log, read_payload(json));
    logs.push_back(std::move(log));
    return {};
  };
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view from_line = rest, line = take_part(rest, '\n');
    const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
    const bool is_object = line.substr(begin).starts_with('{');
    if (!line.starts_with('\t') || line.starts_with("\t{")) JOINTER_CHECK(take_block());
    if (const std::size_t at = line.find(kBanned); at != std::string_view::npos) {
      banned = quoted_texts(line.substr(at + kBanned.size()));
    } else if (const std::size_t sizes = line.find(kSizes); sizes != std::string_view::npos) {
      PartitionerLog log;
      JOINTER_TRY(log.saved, SizeList(from_line.substr(sizes + kSizes.size())).run());
      log.banned_operators = std::exchange(banned, {});
      logs.push_back(std::move(log));
    } else if (is_object && line.find(kSaved) != std::string_view::npos) {
      JOINTER_TRY(PartitionerLog log, read_payload(line.substr(begin)));
      logs.push_back(std::move(log));
    } else if (line.starts_with("\t{") || (line.starts_with('\t') && !block.empty())) {
      block.append(line).push_back('\n');
    }
  }
  JOINTER_CHECK(take_block());
  // The whole text may be a payload that spans several lines.
  if (logs.empty() && text.find(kSaved) != std::string_view::npos &&
      text.find_first_not_of(" \t\r\n") == text.find('{')) {
    JOINTER_TRY(PartitionerLog log, read_payload(text));
    logs.push_back(std::move(log));
  }
  if (logs.empty())
    return input_error(
        "the log does not list the saved values of a partitioning; run with "
        "AOT_PARTITIONER_DEBUG=1, and log torch._functorch.partitioners at level INFO");
  return logs;
}

}  // namespace jointer
