#pragma once

// Reads, decompresses and writes whole files. Buffers are padded for parsers that read slightly
// past the end.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// Owns `size` bytes, followed by `kPadding` zero bytes that are safe to read. A default-constructed
// object owns no memory. Like containers, throws std::bad_alloc if memory runs out.
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

// Reads a file, or standard input if `path` is `-`. Decompresses zstd and gzip, regardless of the
// file name. Error (input): the file cannot be read, or is empty, damaged or truncated; it has more
// than 4,095 MiB, compressed or decompressed; its decompressed size exceeds both 64 MiB and 400
// times its compressed size; or memory runs out.
Result<PaddedBytes> read_bytes(const std::string& path);

// Decompresses zstd or gzip data; copies anything else. `name` is used in messages. Error (input):
// the data is damaged, truncated or, once decompressed, too large (see read_bytes); or memory runs
// out.
Result<PaddedBytes> unpack(std::string_view packed, std::string_view name);

// Writes to a temporary file in the same folder and renames it, so that a reader sees either the
// old file or the complete new one. Follows symbolic links. A program that is killed while it
// writes leaves no incomplete file if the file system supports unnamed files (O_TMPFILE). Writes to
// pipes and devices directly. Compresses with zstd if `path` ends in `.zst`; writes to standard
// output if `path` is `-`. Error (run): the file cannot be written.
Result<void> write_bytes(const std::string& path, std::string_view bytes);

// Creates a folder and any missing parent folders. Error (run): a folder cannot be
// created.
Result<void> make_folder(const std::string& path);

// Returns `path` as an absolute path without `.` and `..`, so that it stays valid in another
// working directory. Each `..` removes the name before it, even if that is a symbolic link. Returns
// an empty path unchanged, and a relative path if the working directory is unknown.
std::string absolute_path(const std::string& path);

}  // namespace jointer
