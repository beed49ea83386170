#include "core/base/file_start.h"

#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/base/packed_file.h"

namespace jointer {
namespace {

// Decompresses the start of a file. `packed` holds the bytes already read from it.
Result<std::string> start_of_zstd(std::FILE* file, const std::string& path, std::string packed,
                                  std::size_t size) {
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                        ZSTD_freeDCtx);
  if (!context) return input_error("{}: not enough memory", path);
  std::string text(size, '\0');
  ZSTD_outBuffer output{text.data(), text.size(), 0};
  while (!packed.empty() && output.pos < output.size) {
    ZSTD_inBuffer input{packed.data(), packed.size(), 0};
    while (input.pos < input.size && output.pos < output.size)
      if (const std::size_t rest = ZSTD_decompressStream(context.get(), &output, &input);
          ZSTD_isError(rest) != 0)
        return input_error("{}: damaged zstd data: {}; copy the file again", path,
                           ZSTD_getErrorName(rest));
    packed.resize(std::fread(packed.data(), 1, packed.size(), file));
  }
  text.resize(output.pos);
  return text;
}

}  // namespace

Result<std::string> read_start(const std::string& path, std::size_t size) {
  std::string packed(size, '\0'), text(size, '\0');
  {
    const File file(std::fopen(path.c_str(), "rb"));
    if (!file) return input_error("{}: {}", path, std::strerror(errno));
    packed.resize(std::fread(packed.data(), 1, packed.size(), file.get()));
    if (std::ferror(file.get()) != 0) return input_error("{}: {}", path, std::strerror(errno));
    if (packed.starts_with(kZstdMagic)) return start_of_zstd(file.get(), path, packed, size);
  }
  if (!packed.starts_with(kGzipMagic)) return packed;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  const int count = file ? gzread(file.get(), text.data(), static_cast<unsigned>(size)) : -1;
  if (count < 0) return input_error("{}: damaged gzip data; copy the file again", path);
  text.resize(static_cast<std::size_t>(count));
  return text;
}

}  // namespace jointer
