// Computes the fingerprint of a graph, and the first difference between two fingerprints.
//
// Each line of the canonical text, `NAME TARGET(ARGS) -> VALUE`, is split into four pieces: at its
// first space, at the first `(` after that, and at its last `) -> `. Each piece becomes one
// character, which encodes the lowest six bits of its CRC-32 in the base64url alphabet.
//
// Two different pieces have the same character in 1 of 64 cases, so a change of one piece of one
// line, such as a constant argument, may be missed. A change of a name also changes the lines of
// the readers, and is almost never missed. The hash decides; the fingerprint explains.

#include "core/graph/fingerprint.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/counted.h"
#include "core/graph/canonical.h"

namespace jointer {
namespace {

constexpr std::size_t kPieces = 4;
constexpr std::size_t kCompared =
    4;  // consecutive equal nodes that confirm an insertion or removal
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

using Pieces = std::array<std::string_view, kPieces>;

Pieces pieces_of(std::string_view line) {
  const std::size_t name = line.find(' ');
  const std::size_t target = line.find('(', name);
  const std::size_t arguments = line.rfind(") -> ");
  return {line.substr(0, name), line.substr(name + 1, target - name - 1),
          line.substr(target, arguments + 1 - target), line.substr(arguments + 5)};
}

char digest(std::string_view piece) {
  const auto* bytes = reinterpret_cast<const Bytef*>(piece.data());
  return kAlphabet[::crc32_z(0, bytes, piece.size()) & 63U];
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string fingerprint_of(const std::vector<std::string_view>& lines) {
  std::string result;
  result.reserve(lines.size() * kPieces);
  for (const std::string_view line : lines)
    for (const std::string_view piece : pieces_of(line)) result += digest(piece);
  return result;
}

// True if the nodes starting at `a` equal the nodes starting at `b`, for up to kCompared nodes or
// until either fingerprint ends. False if there is nothing to compare.
bool agree(std::string_view here, std::size_t a, std::string_view there, std::size_t b) {
  const auto from = [](std::string_view text, std::size_t node) {
    return text.substr(std::min(node * kPieces, text.size()), kCompared * kPieces);
  };
  const std::string_view x = from(here, a), y = from(there, b);
  const std::size_t both = std::min(x.size(), y.size());
  return both > 0 && x.substr(0, both) == y.substr(0, both);
}

std::string describe(const std::vector<std::string_view>& lines, std::string_view here,
                     std::string_view there, std::size_t index) {
  const Pieces pieces = pieces_of(lines[index]);
  const std::string place = fmt::format("node {}, {}", index, pieces[0]);
  const auto differs = [&](std::size_t piece) {
    const std::size_t at = index * kPieces + piece;
    return at >= there.size() || here[at] != there[at];
  };
  if (index * kPieces >= there.size())
    return fmt::format("{}: the recorded graph ends before this node", place);
  if (agree(here, index, there, index + 1))
    return fmt::format("{}: a node before this one is missing", place);
  if (differs(0) && agree(here, index + 1, there, index))
    return fmt::format("{}: the recorded graph does not contain this node", place);
  if (differs(0)) return fmt::format("{}: the recorded graph has a different node here", place);
  if (differs(1)) return fmt::format("{}: the target differs; here it is {}", place, pieces[1]);
  if (differs(2))
    return fmt::format("{}: the arguments differ; here they are {}", place, pieces[2]);
  return fmt::format("{}: the value differs; here it is {}", place, pieces[3]);
}

}  // namespace

std::string fingerprint(const Graph& graph, PartId part) {
  const std::string text = canonical_text(graph, part);
  return fingerprint_of(lines_of(text));
}

std::optional<std::string> first_difference(const Graph& graph, PartId part,
                                            std::string_view recorded) {
  const std::string text = canonical_text(graph, part);
  const auto lines = lines_of(text);
  const std::string here = fingerprint_of(lines);
  const auto [a, b] = std::mismatch(here.begin(), here.end(), recorded.begin(), recorded.end());
  if (a == here.end() && b == recorded.end()) return std::nullopt;
  const auto index = static_cast<std::size_t>(a - here.begin()) / kPieces;
  if (index >= lines.size())
    return fmt::format("this graph ends after {}; the recorded graph has {}",
                       counted(lines.size(), "node"), recorded.size() / kPieces);
  return describe(lines, here, recorded, index);
}

std::vector<std::size_t> different_arguments(std::string_view text, std::string_view recorded) {
  constexpr std::size_t kArguments = 2;  // index of the piece
  const std::string here = fingerprint_of(lines_of(text));
  std::vector<std::size_t> found;
  for (std::size_t at = kArguments; at < here.size(); at += kPieces)
    if (at >= recorded.size() || here[at] != recorded[at]) found.push_back(at / kPieces);
  return found;
}

}  // namespace jointer
