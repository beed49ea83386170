// Finds the operators that a Python text names, without running it.
//
// The text is split into words: dotted names, strings, numbers and signs. Comments and
// triple-quoted strings are ignored. An operator is
//   - torch.ops.SPACE.NAME or torch.ops.SPACE.NAME.OVERLOAD, where `torch.ops` or `torch.ops.SPACE`
//     may be replaced by a short name that the text assigns (`aten = torch.ops.aten`) or that torch
//     itself uses (aten, prims, _c10d_functional);
//   - torch.ops.higher_order.NAME or torch._higher_order_ops.NAME;
//   - (torch.ops, "SPACE.NAME.OVERLOAD") or (torch._higher_order_ops, "NAME"), as torchtitan writes
//     operators that some builds of torch lack;
//   - a string with the name of an operator that torch knows.
// A module pattern before an operator (`layers.*::torch.ops.aten.mm.default`) is not Python and is
// an error. RECOMPUTE_EVERY_NTH = {OPERATOR: (N, "layer"), ...} contains every-nth rules, as
// export.h writes them.
//
// Cost: linear.

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "core/base/characters.h"
#include "core/base/number_text.h"
#include "core/ops/operator_table.h"
#include "core/policy/import.h"

namespace jointer {
namespace {

struct Word {
  enum class Kind : std::uint8_t { name, text, number, sign };
  Kind kind = Kind::sign;
  std::string_view value;
};

class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  std::vector<Word> all() {
    std::vector<Word> words;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        if (auto word = quoted(c)) words.push_back(*word);
      } else if (is_digit(c)) {
        words.push_back({Word::Kind::number, take(is_name_character)});
      } else if (is_name_character(c)) {
        words.push_back({Word::Kind::name, take(is_dotted_name_character)});
      } else {
        if (std::isspace(static_cast<unsigned char>(c)) == 0)
          words.push_back({Word::Kind::sign, text_.substr(at_, 1)});
        ++at_;
      }
    }
    return words;
  }

 private:
  template <class Belongs>
  std::string_view take(Belongs belongs) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // The string as a word; nullopt if it is triple-quoted or is not closed on the same line.
  std::optional<Word> quoted(char mark) {
    const std::string triple(3, mark);
    if (text_.substr(at_, 3) == triple) {
      const std::size_t end = text_.find(triple, at_ + 3);
      at_ = end == std::string_view::npos ? text_.size() : end + 3;
      return std::nullopt;
    }
    const std::size_t end = text_.find_first_of(std::array{mark, '\n'}.data(), at_ + 1, 2);
    const std::size_t begin = at_ + 1;
    at_ = std::min(end, text_.size() - 1) + 1;
    if (end == std::string_view::npos || text_[end] == '\n') return std::nullopt;
    return Word{Word::Kind::text, text_.substr(begin, end - begin)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// True for a dotted name without empty segments.
bool has_space(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot != std::string_view::npos && dot > 0 && !name.ends_with('.') &&
         name.find("..") == std::string_view::npos;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : words_(Words(text).all()) {
    for (const std::string_view space : {"aten", "prims", "_c10d_functional"})
      short_names_.emplace(space, std::string(kOps).append(space));
    for (std::size_t i = 2; i < words_.size(); ++i) {
      if (!is_sign(i - 1, '=') || words_[i].kind != Word::Kind::name ||
          words_[i - 2].kind != Word::Kind::name)
        continue;
      std::string full = in_full(words_[i].value);
      if (full == "torch.ops" || (full.starts_with(kOps) && !has_space(full.substr(kOps.size()))))
        short_names_[std::string(words_[i - 2].value)] = std::move(full);
    }
  }

  Result<OperatorSetText> run() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i].kind == Word::Kind::name) {
        names_set_ = names_set_ || words_[i].value == "SAVE_OPS";
        if (words_[i].value.find("compute_intensive_ops") != std::string_view::npos)
          list_.names_torchs_list = true;
        if (words_[i].value == "RECOMPUTE_EVERY_NTH") {
          JOINTER_TRY(i, read_rules(i + 1));
          continue;
        }
      }
      const std::string op = operator_at(i);
      if (!op.empty() && is_sign(i - 1, ':') && is_sign(i - 2, ':'))
        return input_error(
            "`::` before {} is allowed only in selectors, which must be one per line or "
            "separated by |",
            op);
      if (!op.empty() && seen_.insert(op).second) list_.options.save.push_back(op);
    }
    if (list_.options.save.empty() && list_.options.every_nth.empty() && !names_set_ &&
        !list_.names_torchs_list)
      return input_error("expected an operator, such as torch.ops.aten.mm.default");
    return std::move(list_);
  }

 private:
  static constexpr std::string_view kOps = "torch.ops.";
  static constexpr std::string_view kHigherOrder = "torch._higher_order_ops.";

  [[nodiscard]] bool is_sign(std::size_t i, char sign) const {
    return i < words_.size() && words_[i].kind == Word::Kind::sign &&
           words_[i].value.front() == sign;
  }

  // The operator that a word names; empty if it names none.
  [[nodiscard]] std::string operator_at(std::size_t i) const {
    const Word& word = words_[i];
    if (word.kind == Word::Kind::name) return of_name(word.value);
    if (word.kind != Word::Kind::text) return {};
    const bool in_pair = i >= 2 && is_sign(i - 1, ',') && words_[i - 2].kind == Word::Kind::name;
    const std::string_view before = in_pair ? words_[i - 2].value : std::string_view();
    if (before == "torch.ops" && has_space(word.value)) return std::string(word.value);
    if (before == "torch._higher_order_ops") return std::string(word.value);
    const bool known =
        has_space(word.value) && (describe_operator(word.value).known ||
                                  describe_operator(std::string(word.value) + ".default").known);
    return known ? std::string(word.value) : std::string();
  }

  // The name; if it begins with a short name, that is expanded.
  [[nodiscard]] std::string in_full(std::string_view name) const {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const auto known = short_names_.find(std::string(name.substr(0, dot)));
    if (known == short_names_.end()) return std::string(name);
    return known->second + std::string(name.substr(dot));
  }

  [[nodiscard]] std::string of_name(std::string_view written) const {
    const std::string full = in_full(written);
    const std::string_view name = full;
    if (name.starts_with(kHigherOrder)) return std::string(name.substr(name.rfind('.') + 1));
    if (name.starts_with(kOps)) {
      const std::string_view rest = name.substr(kOps.size());
      if (!has_space(rest)) return {};
      constexpr std::string_view kSpace = "higher_order.";
      return std::string(rest.starts_with(kSpace) ? rest.substr(kSpace.size()) : rest);
    }
    return {};
  }

  // Reads `= {OPERATOR: N, OPERATOR: (N, "layer")}`, which starts at word `i`. Returns the index of
  // its last word, or `i - 1` if no such text starts there.
  Result<std::size_t> read_rules(std::size_t i) {
    if (!is_sign(i, '=') || !is_sign(i + 1, '{')) return i - 1;
    EveryNth rule{.op = {}};
    bool has_number = false;
    const auto finish = [&]() -> Result<void> {
      if (rule.op.empty()) return {};
      if (!has_number)
        return input_error("RECOMPUTE_EVERY_NTH: {} has no number; write, for example, {}: 2",
                           rule.op, rule.op);
      list_.options.every_nth.push_back(rule);
      rule = {.op = {}};
      has_number = false;
      return {};
    };
    for (i += 2; i < words_.size(); ++i) {
      const Word& word = words_[i];
      if (is_sign(i, '}')) {
        JOINTER_CHECK(finish());
        return i;
      }
      if (word.kind == Word::Kind::number) {
        if (rule.op.empty() || has_number)
          return input_error(
              "RECOMPUTE_EVERY_NTH: `{}` is not the number of an operator; write, for example, "
              "torch.ops.aten.mm.default: 2",
              word.value);
        rule.n = number_of<decltype(rule.n)>(word.value).value_or(0);
        if (rule.n < 1)
          return input_error("RECOMPUTE_EVERY_NTH: `{}` is not a positive number", word.value);
        has_number = true;
      } else if (word.value == "layer" || word.value == "global") {
        rule.counter =
            word.value == "layer" ? EveryNth::Counter::per_layer : EveryNth::Counter::global;
      } else if (std::string op = operator_at(i); !op.empty()) {
        JOINTER_CHECK(finish());
        rule.op = std::move(op);
      }
    }
    return input_error("RECOMPUTE_EVERY_NTH: missing closing brace");
  }

  std::vector<Word> words_;
  std::map<std::string, std::string> short_names_;  // maps short names to full names
  std::set<std::string> seen_;
  OperatorSetText list_{
      .options = {.save = {}, .every_nth = {}, .default_list = false, .whole_forward = true}};
  bool names_set_ = false;
};

}  // namespace

Result<OperatorSetText> read_operator_set(std::string_view text) {
  return Reader(text).run();
}

}  // namespace jointer
