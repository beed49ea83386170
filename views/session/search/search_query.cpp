#include "views/session/search/search_query.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

#include "core/base/byte_units.h"
#include "core/base/characters.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

struct FieldName {
  std::string_view name;
  SearchField field;
};
constexpr std::array<FieldName, 25> kFields{
    {{"op", SearchField::op},       {"target", SearchField::op},
     {"mod", SearchField::module},  {"module", SearchField::module},
     {"name", SearchField::name},   {"stack", SearchField::stack},
     {"tag", SearchField::tag},     {"group", SearchField::group},
     {"role", SearchField::role},   {"phase", SearchField::phase},
     {"dtype", SearchField::dtype}, {"shape", SearchField::shape},
     {"bytes", SearchField::bytes}, {"size", SearchField::bytes},
     {"ms", SearchField::time},     {"time", SearchField::time},
     {"flops", SearchField::flops}, {"exposed", SearchField::exposed},
     {"users", SearchField::users}, {"inputs", SearchField::inputs},
     {"call", SearchField::step},   {"step", SearchField::step},
     {"is", SearchField::phase},    {"policy", SearchField::policy},
     {"by", SearchField::decider}}};

bool is_number(SearchField field) {
  return field >= SearchField::bytes;
}

std::optional<SearchField> field_of(std::string_view name) {
  for (const FieldName& f : kFields)
    if (f.name == name) return f.field;
  return std::nullopt;
}

using Unit = std::pair<std::string_view, double>;
// Without a unit, times are in milliseconds.
constexpr std::array<Unit, 5> kTimeUnits{
    {{"", 1e6}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
constexpr std::array<Unit, 6> kCountUnits{
    {{"", 1}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}, {"p", 1e15}}};

// The size of the unit with this name, given in lower case; nullopt if there is none.
std::optional<double> unit_of(SearchField field, std::string_view name) {
  std::span<const Unit> units = kCountUnits;
  std::string wanted(name);
  if (field == SearchField::bytes) {
    units = kBytesPerUnit;
    if (name == "k" || name == "m" || name == "g") wanted += "ib";
  } else if (field == SearchField::time || field == SearchField::exposed) {
    units = kTimeUnits;
  }
  for (const auto& [unit, size] : units)
    if (lowercase(unit) == wanted) return size;
  return std::nullopt;
}

// An example for each numeric field, in the order of SearchField.
constexpr std::array<std::string_view, 7> kExamples{
    "bytes>1MiB", "ms>0.1", "flops>1G", "exposed>0", "users>3", "inputs>3", "call<100"};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<SearchQuery> parse() {
    SearchQuery query;
    while (skip_blanks()) {
      take_half(query);
      JOINTER_TRY(SearchTerm term, parse_term());
      query.terms.push_back(std::move(term));
    }
    return query;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size();
  }

  // Recipes use this prefix to name the nodes of one half: `backward:mm_12`.
  void take_half(SearchQuery& query) {
    for (const std::string_view half : {"forward", "backward"}) {
      const std::string_view rest = text_.substr(at_);
      if (lowercase(rest.substr(0, half.size())) != half || rest.size() < half.size() + 2) continue;
      if (rest[half.size()] != ':' ||
          std::isspace(static_cast<unsigned char>(rest[half.size() + 1])))
        continue;
      SearchTerm phase;
      phase.field = SearchField::phase;
      phase.texts = {std::string(half)};
      query.terms.push_back(std::move(phase));
      at_ += half.size() + 1;
    }
  }

  Result<SearchTerm> parse_term() {
    SearchTerm term;
    if (peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ' ') {
      term.is_negated = true;
      ++at_;
    }
    const std::size_t begin = at_;
    while (std::isalpha(static_cast<unsigned char>(peek())) != 0) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    const auto field = field_of(lowercase(name));
    const char next = peek();
    const bool is_relation = next == '<' || next == '>' || next == '=';
    // `model.py:12` and `c10d::all_gather` are text, not filters.
    const bool is_filter = next == ':' && at_ + 1 < text_.size() && text_[at_ + 1] != ':';
    if (name.empty() || (!is_filter && !is_relation && !(field && next == ':'))) {
      at_ = begin;
      JOINTER_CHECK(parse_texts(term, false));
      return term;
    }
    if (!field)
      return fail(Error::Kind::usage,
                  "Unknown filter `{}`; use op, mod, name, phase, tag, group, role, dtype, "
                  "shape, stack, bytes, ms, flops, exposed, users, inputs, call, policy or by.",
                  name);
    term.field = *field;
    if (is_number(*field)) {
      JOINTER_CHECK(parse_number(term));
      return term;
    }
    if (is_relation && next != '=')
      return fail(Error::Kind::usage, "`{}` is not a numeric filter; write `{}:TEXT`.", name, name);
    ++at_;
    JOINTER_CHECK(*field == SearchField::shape ? parse_shape(term) : parse_texts(term, true));
    if (term.texts.empty() && !term.pattern && term.sizes.empty())
      return fail(Error::Kind::usage, "`{}:` needs a value.", name);
    if (*field == SearchField::phase) JOINTER_CHECK(check_phases(term));
    return term;
  }

  // Checks the texts that parse_texts has read into `term`.
  [[nodiscard]] Result<void> check_phases(const SearchTerm& term) const {
    std::vector<std::string> values = typed_;
    // The search compares phases with words only.
    if (term.pattern) values.push_back("/" + term.pattern->pattern().toStdString() + "/");
    for (const std::string& value : values)
      if (!parse_search_phase(lowercase(value)))
        return fail(Error::Kind::usage,
                    "`{}` is not a phase; write phase:fw, phase:bw or phase:recomputed.", value);
    return {};
  }

  Result<void> parse_number(SearchTerm& term) {
    const std::string_view example = kExamples[static_cast<std::size_t>(term.field) -
                                               static_cast<std::size_t>(SearchField::bytes)];
    using Relation = SearchTerm::Relation;
    const char relation = peek();
    ++at_;
    const bool or_equal = relation != ':' && peek() == '=';
    if (or_equal) ++at_;
    if (relation == '<')
      term.relation = or_equal ? Relation::at_most : Relation::less;
    else if (relation == '>')
      term.relation = or_equal ? Relation::at_least : Relation::more;
    else
      term.relation = Relation::equal;
    const std::string_view word = take_word();
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || !std::isfinite(number))
      return fail(Error::Kind::usage, "Expected a number, as in {}.", example);
    const std::string_view unit(end, static_cast<std::size_t>(word.data() + word.size() - end));
    if (const auto size = unit_of(term.field, lowercase(unit))) {
      term.number = number * *size;
      return {};
    }
    return fail(Error::Kind::usage, "`{}` is not a valid unit here; write, for example, {}.", unit,
                example);
  }

  Result<void> parse_shape(SearchTerm& term) {
    const std::string word = lowercase(take_word());
    const char* at = word.data();
    const char* end = at + word.size();
    while (at < end) {
      std::int64_t size = 0;
      const auto [rest, error] = std::from_chars(at, end, size);
      const bool is_separated = rest == end || *rest == ',' || *rest == 'x';
      if (error != std::errc() || !is_separated)
        return fail(Error::Kind::usage, "Sizes must be integers, as in shape:8192,7168.");
      term.sizes.push_back(size);
      at = rest == end ? end : rest + 1;
    }
    return {};
  }

  // Parses one text, several texts separated by commas, or a pattern.
  Result<void> parse_texts(SearchTerm& term, bool may_be_several) {
    typed_.clear();
    if (peek() == '/') {
      // An opening slash without a closing one is part of a path.
      const auto close = closing_slash();
      if (close != std::string_view::npos) {
        const std::string_view pattern = text_.substr(at_ + 1, close - at_ - 1);
        QRegularExpression expression(
            QString::fromUtf8(pattern.data(), static_cast<qsizetype>(pattern.size())),
            QRegularExpression::CaseInsensitiveOption | QRegularExpression::MultilineOption);
        if (!expression.isValid())
          return fail(Error::Kind::usage, "/{}/ is not a valid regular expression: {}.", pattern,
                      expression.errorString().toStdString());
        expression.optimize();
        term.pattern = std::move(expression);
        at_ = close + 1;
        return {};
      }
    }
    while (true) {
      const std::string_view text = peek() == '"' ? take_quoted() : take_until(may_be_several);
      if (!text.empty()) {
        term.texts.push_back(lowercase(text));
        typed_.emplace_back(text);
      }
      if (!may_be_several || peek() != ',') return {};
      ++at_;
    }
  }

  // Position of the closing slash, which must end a word.
  [[nodiscard]] std::size_t closing_slash() const {
    for (std::size_t i = at_ + 2; i < text_.size(); ++i)
      if (text_[i] == '/' && text_[i - 1] != '\\' && (i + 1 == text_.size() || text_[i + 1] == ' '))
        return i;
    return std::string_view::npos;
  }

  std::string_view take_word() { return take_until(false); }

  std::string_view take_until(bool comma_ends) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) == 0 &&
           !(comma_ends && text_[at_] == ','))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string_view take_quoted() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') ++at_;
    const std::string_view quoted = text_.substr(begin, at_ - begin);
    if (at_ < text_.size()) ++at_;
    return quoted;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> typed_;  // the texts that parse_texts read last, as typed
};

}  // namespace

std::optional<SearchPhase> parse_search_phase(std::string_view text) {
  const auto begins = [&](std::string_view word) {
    return !text.empty() && word.starts_with(text);
  };
  if (begins("recomputed")) return SearchPhase::recomputed;
  if (text == "fw" || text == "fwd" || begins("forward")) return SearchPhase::forward;
  if (text == "bw" || text == "bwd" || begins("backward")) return SearchPhase::backward;
  return std::nullopt;
}

Result<SearchQuery> parse_search(std::string_view text) {
  return Parser(text).parse();
}

std::vector<std::pair<QString, QString>> search_help() {
  return {
      {QStringLiteral("view_12"), tr("has this in its name, operator, module or stack")},
      {QStringLiteral("/mm_\\d+$/"), tr("matches this regular expression")},
      {QStringLiteral("op:mm"), tr("calls aten.mm")},
      {QStringLiteral("mod:layers.3"), tr("is in this module or one of its submodules")},
      {QStringLiteral("phase:bw"), tr("is in the backward; also fw, recomputed")},
      {QStringLiteral("bytes>1MiB"), tr("has outputs of more than 1 MiB in total")},
      {QStringLiteral("ms>0.1"), tr("has an estimated time of more than 0.1 ms")},
      {QStringLiteral("exposed>0"), tr("is a collective with exposed time")},
      {QStringLiteral("tag:must_save"), tr("has this policy tag")},
      {QStringLiteral("group:tp"), tr("uses this process group")},
      {QStringLiteral("dtype:bf16"), tr("has an output with this dtype")},
      {QStringLiteral("shape:8192"),
       tr("has an output with a dimension of this size; also shape:8192,7168")},
      {QStringLiteral("-op:view"), tr("does not match op:view")},
      {QStringLiteral("op:mm,bmm"), tr("calls either operator")},
  };
}

}  // namespace jointer::views
