// Reads ZIP archives: the record at the end of the file points to the directory, and the directory
// to the entries. Source: PKWARE, APPNOTE.TXT 6.3.10, 4.3 and 4.5.3. Archives that are split into
// several files are not supported.

#include "core/base/zip_archive.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace jointer {
namespace {

constexpr std::string_view kEndMagic = "PK\x05\x06", kEnd64Magic = "PK\x06\x06",
                           kLocatorMagic = "PK\x06\x07", kEntryMagic = "PK\x01\x02";
// Sizes of the records without their variable-length fields.
constexpr std::uint64_t kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20, kEntrySize = 46,
                        kLocalSize = 30;
constexpr std::uint64_t kMaxComment = 0xffff;
constexpr std::uint64_t kMaxEntries = 100'000, kMaxDirectory = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxRatio = 1032;  // of deflate: 258 bytes for 2 bits
constexpr std::uint16_t kZip64Field = 1, kStored = 0, kDeflated = 8, kEncrypted = 1;
// Placeholders for a number that is in the ZIP64 record or field.
constexpr std::uint64_t kIn64 = 0xffffffff, kCountIn64 = 0xffff;

// The little-endian number of `size` bytes; bytes past the end count as 0.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;)
    number = number << 8 |
             (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : std::uint64_t{0});
  return number;
}
std::uint64_t two_bytes(std::string_view bytes, std::size_t at) {
  return number_at(bytes, at, 2);
}
std::uint64_t four_bytes(std::string_view bytes, std::size_t at) {
  return number_at(bytes, at, 4);
}
std::uint64_t eight_bytes(std::string_view bytes, std::size_t at) {
  return number_at(bytes, at, 8);
}

// Takes from the ZIP64 field the sizes and the position that do not fit in the entry's 32-bit
// fields.
void read_zip64_field(std::string_view fields, ZipEntry& entry) {
  while (fields.size() >= 4) {
    const std::uint64_t id = two_bytes(fields, 0), size = two_bytes(fields, 2);
    const std::string_view field = fields.substr(4, size);
    fields.remove_prefix(std::min<std::size_t>(fields.size(), 4 + size));
    if (id != kZip64Field) continue;
    std::size_t at = 0;
    for (std::uint64_t* number : {&entry.size, &entry.packed_size, &entry.at})
      if (*number == kIn64) {
        *number = eight_bytes(field, at);
        at += 8;
      }
  }
}

// Inflates raw data to `size` bytes; nullopt if the data is damaged or has a different size.
std::optional<std::string> inflated(std::string_view packed, std::size_t size) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  constexpr std::size_t kMaxAtOnce = std::size_t{1} << 30;
  // zlib does not write to its input, but its interface predates const.
  std::string input(packed);
  std::string text(size + 1, '\0');  // a larger result fills the last byte
  std::size_t given = 0, made = 0;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    if (stream.avail_in == 0) {
      const std::size_t next = std::min(input.size() - given, kMaxAtOnce);
      stream.next_in = reinterpret_cast<Bytef*>(input.data() + given);
      stream.avail_in = static_cast<uInt>(next);
      given += next;
    }
    const std::size_t room = std::min(text.size() - made, kMaxAtOnce);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + made);
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) return std::nullopt;
    made += room - stream.avail_out;
    if (made > size) return std::nullopt;
    if (status == Z_OK && stream.avail_in == 0 && given == input.size()) return std::nullopt;
  }
  if (made != size) return std::nullopt;
  text.resize(size);
  return text;
}

std::uint32_t checksum_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

Result<ZipArchive> ZipArchive::open(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return input_error("{}: {}", path, std::strerror(errno));
  struct stat status {};
  if (::fstat(::fileno(file.get()), &status) != 0)
    return input_error("{}: {}", path, std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return input_error("{}: expected a regular file, not a folder, a pipe or a device", path);
  Result<ZipArchive> archive =
      ZipArchive(path, {}, std::move(file), static_cast<std::uint64_t>(status.st_size));
  JOINTER_CHECK(archive->read_directory());
  return archive;
}

Result<ZipArchive> ZipArchive::of(std::string bytes, std::string name) {
  const std::uint64_t size = bytes.size();
  Result<ZipArchive> archive = ZipArchive(std::move(name), std::move(bytes), nullptr, size);
  JOINTER_CHECK(archive->read_directory());
  return archive;
}

// Reads `count` bytes at a position. The caller must limit `count`.
Result<std::string> ZipArchive::bytes_at(std::uint64_t at, std::uint64_t count) const {
  if (at > size_ || count > size_ - at)
    return input_error("{}: the ZIP archive is damaged or cut off; copy the file again", name_);
  if (!file_) return bytes_.substr(at, count);
  std::string bytes(count, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pread(::fileno(file_.get()), bytes.data() + done, bytes.size() - done,
                              static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return input_error("{}: {}", name_, std::strerror(errno));
    if (n == 0)
      return input_error("{}: the file became shorter while it was read; try again", name_);
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

Result<void> ZipArchive::read_directory() {
  const std::uint64_t tail_size = std::min(size_, kEndSize + kMaxComment);
  JOINTER_TRY(const std::string tail, bytes_at(size_ - tail_size, tail_size));
  const std::size_t end = tail.rfind(kEndMagic);
  if (end == std::string::npos || tail.size() - end < kEndSize)
    return input_error(
        "{}: the directory at the end of the ZIP archive is missing; copy the file again", name_);
  const std::string_view record = std::string_view(tail).substr(end);
  std::uint64_t count = two_bytes(record, 10), directory_size = four_bytes(record, 12),
                at = four_bytes(record, 16);
  const bool is_in_64 = count == kCountIn64 || directory_size == kIn64 || at == kIn64;
  if (is_in_64 && end >= kLocatorSize) {
    const std::string_view locator = std::string_view(tail).substr(end - kLocatorSize);
    if (locator.starts_with(kLocatorMagic)) {
      JOINTER_TRY(const std::string record64, bytes_at(eight_bytes(locator, 8), kEnd64Size));
      if (record64.starts_with(kEnd64Magic)) {
        count = eight_bytes(record64, 32);
        directory_size = eight_bytes(record64, 40);
        at = eight_bytes(record64, 48);
      }
    }
  }
  if (count > kMaxEntries || directory_size > kMaxDirectory)
    return input_error(
        "{}: the directory of the ZIP archive is too large: {} entries in {} bytes, but at most {} "
        "entries in {} MiB can be read",
        name_, count, directory_size, kMaxEntries, kMaxDirectory >> 20);
  JOINTER_TRY(const std::string directory, bytes_at(at, directory_size));
  std::string_view rest = directory;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!rest.starts_with(kEntryMagic) || rest.size() < kEntrySize)
      return input_error(
          "{}: the directory of the ZIP archive is damaged at entry {} of {}; copy the file again",
          name_, i + 1, count);
    ZipEntry entry;
    entry.is_encrypted = (two_bytes(rest, 8) & kEncrypted) != 0;
    entry.method = static_cast<std::uint16_t>(two_bytes(rest, 10));
    entry.checksum = static_cast<std::uint32_t>(four_bytes(rest, 16));
    entry.packed_size = four_bytes(rest, 20);
    entry.size = four_bytes(rest, 24);
    entry.at = four_bytes(rest, 42);
    const std::uint64_t name_size = two_bytes(rest, 28), fields_size = two_bytes(rest, 30),
                        comment_size = two_bytes(rest, 32);
    rest.remove_prefix(kEntrySize);
    entry.name = rest.substr(0, name_size);
    rest.remove_prefix(std::min<std::size_t>(rest.size(), name_size));
    read_zip64_field(rest.substr(0, fields_size), entry);
    rest.remove_prefix(std::min<std::size_t>(rest.size(), fields_size + comment_size));
    entries_.push_back(std::move(entry));
  }
  return {};
}

Result<std::string> ZipArchive::read(const ZipEntry& entry, std::size_t limit) const {
  if (entry.size > limit)
    return input_error("{}: {} has {} bytes, more than the {} bytes that may be read", name_,
                       entry.name, entry.size, limit);
  if (entry.is_encrypted)
    return input_error("{}: {} is encrypted; decrypt the archive first", name_, entry.name);
  if (entry.method != kStored && entry.method != kDeflated)
    return input_error("{}: {} is compressed by method {}; only deflate can be read", name_,
                       entry.name, entry.method);
  const auto damaged = [&] {
    return input_error("{}: {} is damaged; copy the file again", name_, entry.name);
  };
  // No common encoder makes data grow by more than this.
  if (entry.packed_size > entry.size + entry.size / 1000 + 1024) return damaged();
  if (entry.method == kStored && entry.packed_size != entry.size) return damaged();
  // Whatever the directory states, no more memory is allocated than the data can fill.
  if (entry.size / kMaxRatio > entry.packed_size)
    return input_error("{}: {} is damaged: {} bytes cannot decompress to {}; copy the file again",
                       name_, entry.name, entry.packed_size, entry.size);
  try {
    JOINTER_TRY(const std::string header, bytes_at(entry.at, kLocalSize));
    if (!header.starts_with(kZipMagic)) return damaged();
    JOINTER_TRY(std::string packed,
                bytes_at(entry.at + kLocalSize + two_bytes(header, 26) + two_bytes(header, 28),
                         entry.packed_size));
    std::optional<std::string> text =
        entry.method == kStored ? std::optional(std::move(packed)) : inflated(packed, entry.size);
    if (!text || checksum_of(*text) != entry.checksum) return damaged();
    return *std::move(text);
  } catch (const std::bad_alloc&) {
    return input_error("{}: not enough memory for {}", name_, entry.name);
  }
}

}  // namespace jointer
