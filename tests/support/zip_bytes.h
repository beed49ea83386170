#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jointer::test {

enum class ZipForm {
  stored,
  deflated,
  with_64,  // stored, with all sizes and positions in ZIP64 fields
};

// The bytes of a ZIP archive with these files: (name, content).
inline std::string zip_bytes(const std::vector<std::pair<std::string, std::string>>& files,
                             ZipForm form = ZipForm::stored) {
  const auto number = [](std::uint64_t value, int size) {
    std::string bytes;
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
    return bytes;
  };
  const auto deflated = [](std::string_view text) {
    z_stream stream{};
    deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string input(text), packed(compressBound(text.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
  };
  const bool is_64 = form == ZipForm::with_64;
  std::string archive, directory;
  for (const auto& [name, content] : files) {
    const std::string packed = form == ZipForm::deflated ? deflated(content) : content;
    const std::uint64_t checksum =
        crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
    const std::uint64_t at = archive.size();
    const std::string common = number(0, 2) + number(form == ZipForm::deflated ? 8 : 0, 2) +
                               number(0, 4) + number(checksum, 4);
    archive += "PK\x03\x04" + number(20, 2) + common + number(packed.size(), 4) +
               number(content.size(), 4) + number(name.size(), 2) + number(0, 2) + name + packed;
    const std::string fields = is_64 ? number(1, 2) + number(24, 2) + number(content.size(), 8) +
                                           number(packed.size(), 8) + number(at, 8)
                                     : std::string();
    const std::uint64_t in_64 = 0xffffffff;
    directory += "PK\x01\x02" + number(20, 2) + number(20, 2) + common +
                 number(is_64 ? in_64 : packed.size(), 4) +
                 number(is_64 ? in_64 : content.size(), 4) + number(name.size(), 2) +
                 number(fields.size(), 2) + number(0, 2) + number(0, 2) + number(0, 2) +
                 number(0, 4) + number(is_64 ? in_64 : at, 4) + name + fields;
  }
  const std::uint64_t at = archive.size();
  archive += directory;
  if (is_64) {
    const std::uint64_t record = archive.size();
    archive += "PK\x06\x06" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 4) +
               number(0, 4) + number(files.size(), 8) + number(files.size(), 8) +
               number(directory.size(), 8) + number(at, 8);
    archive += "PK\x06\x07" + number(0, 4) + number(record, 8) + number(1, 4);
  }
  archive += "PK\x05\x06" + number(0, 2) + number(0, 2) + number(is_64 ? 0xffff : files.size(), 2) +
             number(is_64 ? 0xffff : files.size(), 2) +
             number(is_64 ? 0xffffffff : directory.size(), 4) + number(is_64 ? 0xffffffff : at, 4) +
             number(0, 2);
  return archive;
}

}  // namespace jointer::test
