#pragma once

// Bytes of a file, unpacked, ready for a parser that may read a little past the end.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// Owns `size` bytes with `kPadding` readable zero bytes after them.
class PaddedBytes {
 public:
  static constexpr std::size_t kPadding = 64;

  PaddedBytes() = default;
  explicit PaddedBytes(std::size_t size);
  explicit PaddedBytes(std::string_view text);

  [[nodiscard]] char* data() { return data_.get(); }
  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(char* p) const;
  };
  std::unique_ptr<char[], Free> data_;
  std::size_t size_ = 0;
};

// Reads a file (`-`: standard input) and unpacks it if it is zstd or gzip, whatever its name.
// Error: the file cannot be read, is damaged or cut off, or unpacks to more than a capture can need
// (a small file that unpacks to gigabytes is refused before the memory is taken).
Result<PaddedBytes> read_bytes(const std::string& path);

// Unpacks zstd or gzip, or copies what is neither. `name` is for messages.
Result<PaddedBytes> unpack(std::string_view packed, std::string_view name);

// Writes through a temporary file beside `path` and renames it, so that a reader sees the old file
// or the whole new one; pipes and devices are written to as they are. A path that ends in `.zst` is
// packed. `-` writes to standard output.
Result<void> write_bytes(const std::string& path, std::string_view bytes);

// The file may be used from another folder: `path` from the root, without `.` and `..`. Empty stays
// empty.
std::string absolute_path(const std::string& path);

}  // namespace jointer
