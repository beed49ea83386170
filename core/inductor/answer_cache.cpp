#include "core/inductor/answer_cache.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/environment.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".json.zst";

// Other processes may remove files at the same time, so errors are ignored.
void remove_oldest(const std::string& folder, std::size_t max_answers) {
  std::vector<std::pair<fs::file_time_type, fs::path>> answers;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().ends_with(kSuffix)) continue;
    std::error_code gone;
    const fs::file_time_type written = at->last_write_time(gone);
    if (!gone) answers.emplace_back(written, at->path());
  }
  std::sort(answers.begin(), answers.end());
  for (std::size_t i = 0; i + max_answers < answers.size(); ++i)
    fs::remove(answers[i].second, error);
}

}  // namespace

std::string AnswerCache::default_folder() {
  return cache_folder() + "/kernels";
}

std::string AnswerCache::path_of(const std::string& key) const {
  return folder_ + '/' + key + std::string(kSuffix);
}

std::optional<std::string> AnswerCache::find(const std::string& key) const {
  const std::string path = path_of(key);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  const auto bytes = read_bytes(path);
  if (!bytes) return std::nullopt;
  return std::string(bytes->view());
}

Result<void> AnswerCache::save(const std::string& key, const std::string& answer) const {
  JOINTER_CHECK(make_folder(folder_));
  JOINTER_CHECK(write_bytes(path_of(key), answer));
  remove_oldest(folder_, kMaxAnswers);
  return {};
}

}  // namespace jointer
