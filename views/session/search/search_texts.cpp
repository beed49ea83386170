#include "views/session/search/search_texts.h"

#include <algorithm>

#include "core/base/characters.h"
#include "views/session/translation/qstring.h"

namespace jointer::views {
namespace {

constexpr char kEnd = '\n';

// Returns true if `part` occurs in `text`, delimited on both sides by a dot or an end of the text.
bool has_part(std::string_view text, std::string_view part) {
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    const auto end = at + part.size();
    if ((at == 0 || text[at - 1] == '.') && (end == text.size() || text[end] == '.')) return true;
  }
  return false;
}

}  // namespace

void SearchTexts::add(std::string_view more) {
  if (first_.empty()) first_.push_back(0);
  const std::string low = lowercase(more);
  // Replace newlines inside the text, since a newline ends it.
  for (const char c : low) text_ += c == kEnd ? ' ' : c;
  text_ += kEnd;
  first_.push_back(static_cast<std::uint32_t>(text_.size()));
}

SearchTexts::Flags SearchTexts::containing(const SearchTerm& term) const {
  Flags flags(size(), 0);
  if (flags.empty()) return flags;
  const auto mark = [&](std::size_t offset) {
    const std::size_t i = index_at(offset);
    flags[i] = 1;
    return std::size_t{first_[i + 1]};  // continue with the next text: one hit per text is enough
  };
  for (const std::string& part : term.texts) {
    for (auto at = text_.find(part); at != std::string::npos; at = text_.find(part, mark(at))) {
    }
  }
  if (term.pattern) mark_matches(*term.pattern, flags);
  return flags;
}

void SearchTexts::mark_matches(const QRegularExpression& pattern, Flags& flags) const {
  // Matching several texts at once enters the regex engine once per hit instead of once per text.
  // Matching all of them at once would let a pattern such as [^x]* run to the very end from each
  // text.
  constexpr std::size_t kTogether = 64;
  for (std::size_t begin = 0; begin < size(); begin += kTogether) {
    const std::size_t end = std::min(begin + kTogether, size());
    const auto chunk = std::string_view(text_).substr(first_[begin], first_[end] - first_[begin]);
    const auto is_ascii = [](unsigned char c) { return c > 0 && c < 0x80; };
    if (!std::ranges::all_of(chunk, is_ascii)) {
      for (std::size_t i = begin; i < end; ++i)
        if (matches(pattern, i)) flags[i] = 1;
      continue;
    }
    const QString subject = QString::fromLatin1(chunk.data(), static_cast<qsizetype>(chunk.size()));
    for (std::size_t from = 0; from < chunk.size();) {
      const QRegularExpressionMatch match =
          pattern.match(subject, static_cast<qsizetype>(from), QRegularExpression::NormalMatch,
                        QRegularExpression::DontCheckSubjectStringMatchOption);
      if (!match.hasMatch()) break;
      const std::size_t at = first_[begin] + static_cast<std::size_t>(match.capturedStart());
      if (at >= first_[end]) break;
      const std::size_t i = index_at(at);
      // A match may extend beyond the end of its text; if so, search that text alone.
      const std::size_t last = first_[begin] + static_cast<std::size_t>(match.capturedEnd());
      if (last < first_[i + 1] || matches(pattern, i)) flags[i] = 1;
      from = first_[i + 1] - first_[begin];
    }
  }
}

bool SearchTexts::matches(const QRegularExpression& pattern, std::size_t i) const {
  return pattern.match(to_qstring((*this)[i])).hasMatch();
}

std::size_t SearchTexts::index_at(std::size_t offset) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), offset);
  return static_cast<std::size_t>(after - first_.begin()) - 1;
}

SearchTexts::Flags SearchTexts::with_part(const SearchTerm& term) const {
  if (term.pattern) return containing(term);
  Flags flags(size(), 0);
  for (const std::string& part : term.texts) {
    bool is_found = false;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!has_part((*this)[i], part)) continue;
      flags[i] = 1;
      is_found = true;
    }
    if (is_found) continue;
    for (std::size_t i = 0; i < size(); ++i)
      if ((*this)[i].find(part) != std::string_view::npos) flags[i] = 1;
  }
  return flags;
}

}  // namespace jointer::views
