#pragma once

// Reads ZIP archives, ZIP64 included. Reads only the end of the file, the directory and the
// requested entries; unpacks nothing to disk.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/packed_file.h"
#include "core/base/result.h"

namespace jointer {

inline constexpr std::string_view kZipMagic = "PK\x03\x04";

struct ZipEntry {
  std::string name;               // as in the archive; may contain any bytes
  std::uint64_t size = 0;         // bytes, decompressed, as the directory states
  std::uint64_t packed_size = 0;  // bytes in the archive
  std::uint64_t at = 0;           // position of the local header
  std::uint32_t checksum = 0;     // CRC-32 of the content
  std::uint16_t method = 0;       // 0: stored, 8: deflated
  bool is_encrypted = false;
};

class ZipArchive {
 public:
  // Reads the directory of a file. Error (input): the file cannot be read, is not a complete
  // archive, or has more than 100,000 entries or a directory of more than 64 MiB.
  static Result<ZipArchive> open(const std::string& path);
  // The same for bytes in memory; `name` is used in messages.
  static Result<ZipArchive> of(std::string bytes, std::string name);

  // In the order of the directory.
  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }

  // Returns the content of an entry of this archive. Error (input): the content is larger than
  // `limit` bytes, damaged, encrypted, or compressed by a method other than deflate; the file
  // cannot be read; or memory runs out.
  [[nodiscard]] Result<std::string> read(const ZipEntry& entry, std::size_t limit) const;

 private:
  ZipArchive(std::string name, std::string bytes, File file, std::uint64_t size)
      : name_(std::move(name)), bytes_(std::move(bytes)), file_(std::move(file)), size_(size) {}

  Result<void> read_directory();
  [[nodiscard]] Result<std::string> bytes_at(std::uint64_t at, std::uint64_t count) const;

  std::string name_;
  std::string bytes_;  // the archive, if it is in memory
  File file_;          // otherwise, its file
  std::uint64_t size_ = 0;
  std::vector<ZipEntry> entries_;
};

}  // namespace jointer
