#include "core/bench/status_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "core/process/file_descriptor.h"

namespace jointer {
namespace {

constexpr std::size_t kWords = 4;
constexpr std::size_t kBytes = kWords * sizeof(std::int64_t);

std::int64_t load(const std::int64_t& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

}  // namespace

std::string_view RankStatus::stage_name() const {
  return stage >= 0 && stage < std::ssize(kRunStages) ? kRunStages[stage] : std::string_view();
}

void StatusMapping::Unmap::operator()(std::int64_t* words) const {
  ::munmap(words, kBytes);
}

Result<StatusMapping::Words> StatusMapping::map(const std::string& path, bool create) {
  const FileDescriptor file(
      ::open(path.c_str(), O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0600));
  const auto error = [&] {
    return fail(Error::Kind::run, "cannot {} the status file {}: {}", create ? "create" : "open",
                path, std::strerror(errno));
  };
  if (!file || (create && ::ftruncate(file.get(), kBytes) != 0)) return error();
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return error();
  if (static_cast<std::size_t>(info.st_size) != kBytes)
    return fail(Error::Kind::run, "{}: not the status file of a rank", path);
  void* mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return error();
  return Words(static_cast<std::int64_t*>(mapped));
}

Result<StatusWriter> StatusWriter::open(const std::string& path) {
  StatusWriter writer;
  JOINTER_TRY(writer.words_, map(path, false));
  if (load(writer.words_[0]) != kStatusMagic)
    return fail(Error::Kind::run, "{}: not the status file of a rank", path);
  writer.count_ = load(writer.words_[3]);
  return writer;
}

StatusWriter StatusWriter::from_environment() {
  const char* path = std::getenv(kStatusFileVariable);
  if (path == nullptr) return {};
  auto writer = open(path);
  return writer ? *std::move(writer) : StatusWriter();
}

void StatusWriter::set_stage(std::string_view stage) {
  const auto* found = std::ranges::find(kRunStages, stage);
  if (words_) store(1, found == std::end(kRunStages) ? -1 : found - std::begin(kRunStages));
  set_position(-1);
}

Result<StatusReader> StatusReader::make(const std::string& path) {
  StatusReader reader;
  JOINTER_TRY(reader.words_, map(path, true));
  reader.words_[1] = reader.words_[2] = -1;
  __atomic_store_n(&reader.words_[0], kStatusMagic, __ATOMIC_RELEASE);
  return reader;
}

RankStatus StatusReader::read() const {
  return {load(words_[1]), load(words_[2]), load(words_[3])};
}

}  // namespace jointer
