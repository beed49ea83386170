#include "core/base/bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>
#include <vector>

#include "core/base/packed_file.h"

namespace jointer {
namespace {

// Guards against decompression bombs: real captures compress by a factor of 10 to 60.
constexpr std::size_t kMaxRatio = 400;
constexpr std::size_t kAlwaysAllowed = std::size_t{64} << 20;
constexpr std::size_t kMaxBytes = (std::size_t{4} << 30) - (1 << 20);  // below simdjson's limit

constexpr std::size_t kHugePage = std::size_t{2} << 20;

Result<std::string> read_stream(std::FILE* file, std::string_view name) {
  std::string bytes;
  std::vector<char> chunk(1 << 18);
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), file)) {
    bytes.append(chunk.data(), n);
    if (bytes.size() > kMaxBytes)
      return input_error("{}: larger than 4095 MiB, which is too large for a capture", name);
  }
  if (std::ferror(file) != 0) return input_error("{}: {}", name, std::strerror(errno));
  return bytes;
}

std::size_t unpacked_limit(std::size_t packed) {
  return std::clamp(packed * kMaxRatio, kAlwaysAllowed, kMaxBytes);
}

}  // namespace

void PaddedBytes::Free::operator()(char* p) const {
  std::free(p);
}

PaddedBytes::PaddedBytes(std::size_t size) : size_(size) {
  const std::size_t total = (size + kPadding + kHugePage - 1) / kHugePage * kHugePage;
  if (total <= kHugePage) {
    data_.reset(static_cast<char*>(std::calloc(size + kPadding, 1)));
  } else {
    // Use huge pages where available: a large capture touches thousands of small pages, and
    // faulting them in takes as long as parsing.
    data_.reset(static_cast<char*>(std::aligned_alloc(kHugePage, total)));
    if (data_) {
      ::madvise(data_.get(), total, MADV_HUGEPAGE);
      std::fill_n(data_.get() + size, kPadding, '\0');
    }
  }
  if (!data_) throw std::bad_alloc();
}

PaddedBytes::PaddedBytes(std::string_view text) : PaddedBytes(text.size()) {
  std::copy(text.begin(), text.end(), data_.get());
}

namespace {

tl::unexpected<Error> too_large(std::string_view packed, std::string_view name) {
  return input_error(
      "{}: {} bytes decompress to more than {} MiB, which is too large for a capture", name,
      packed.size(), unpacked_limit(packed.size()) >> 20);
}

// Decompresses every member of a gzip file.
Result<PaddedBytes> unpack_gzip(std::string_view packed, std::string_view name) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  constexpr std::size_t kMaxAtOnce = std::size_t{1} << 30;
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  const std::size_t limit = unpacked_limit(packed.size());
  // zlib does not write to its input, but its interface predates const.
  std::string input(packed);
  std::string text;
  std::vector<char> chunk(1 << 18);
  std::size_t given = 0;
  int status = Z_OK;
  while (true) {
    if (stream.avail_in == 0) {
      const std::size_t next = std::min(input.size() - given, kMaxAtOnce);
      stream.next_in = reinterpret_cast<Bytef*>(input.data() + given);
      stream.avail_in = static_cast<uInt>(next);
      given += next;
    }
    const std::size_t at = given - stream.avail_in;
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0) return PaddedBytes(text);
      inflateReset(&stream);
    } else if (stream.avail_in == 0) {
      return input_error("{}: the gzip data ends too early, after {} bytes; copy the file again",
                         name, packed.size());
    }
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END)
      return input_error("{}: damaged gzip data near byte {}: {}; copy the file again", name, at,
                         stream.msg == nullptr ? "unexpected end" : stream.msg);
    text.append(chunk.data(), chunk.size() - stream.avail_out);
    if (text.size() > limit) return too_large(packed, name);
  }
}

Result<PaddedBytes> unpack_any(std::string_view packed, std::string_view name) {
  if (packed.starts_with(kGzipMagic)) return unpack_gzip(packed, name);
  if (!packed.starts_with(kZstdMagic)) return PaddedBytes(packed);
  const std::size_t limit = unpacked_limit(packed.size());
  const unsigned long long declared = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (declared != ZSTD_CONTENTSIZE_UNKNOWN && declared != ZSTD_CONTENTSIZE_ERROR) {
    if (declared > limit) return too_large(packed, name);
    // The common case: a single frame that declares its decompressed size.
    PaddedBytes whole(static_cast<std::size_t>(declared));
    const std::size_t size =
        ZSTD_decompress(whole.data(), whole.size(), packed.data(), packed.size());
    if (ZSTD_isError(size) == 0 && size == whole.size()) return whole;
  }

  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                        ZSTD_freeDCtx);
  if (!context) throw std::bad_alloc();
  std::string text;
  std::vector<char> chunk(ZSTD_DStreamOutSize());
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  std::size_t rest = 0;
  while (input.pos < input.size) {
    ZSTD_outBuffer output{chunk.data(), chunk.size(), 0};
    rest = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(rest) != 0)
      return input_error("{}: damaged zstd data near byte {}: {}; copy the file again", name,
                         input.pos, ZSTD_getErrorName(rest));
    text.append(chunk.data(), output.pos);
    if (text.size() > limit) return too_large(packed, name);
  }
  if (rest != 0)
    return input_error("{}: the zstd data ends too early, after {} bytes; copy the file again",
                       name, packed.size());
  return PaddedBytes(text);
}

// The result of `read`, or an error if it throws because memory runs out.
template <class Read>
Result<PaddedBytes> within_memory(std::string_view name, Read read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    return input_error("{}: not enough memory to read the file", name);
  }
}

Result<PaddedBytes> read_all(std::FILE* file, std::string_view name) {
  return within_memory(name, [&]() -> Result<PaddedBytes> {
    JOINTER_TRY(const std::string packed, read_stream(file, name));
    if (packed.empty()) return input_error("{}: the file is empty", name);
    return unpack_any(packed, name);
  });
}

// Pipes, sockets and devices are written to directly, because renaming a file over one would
// replace it.
bool is_special(const std::string& path) {
  std::error_code status;
  const auto type = std::filesystem::status(path, status).type();
  using enum std::filesystem::file_type;
  return type == fifo || type == character || type == block || type == socket;
}

Result<void> write_stream(std::FILE* file, std::string_view bytes, std::string_view name) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fflush(file) != 0)
    return fail(Error::Kind::run, "{}: {}", name, std::strerror(errno));
  return {};
}

bool write_durably(std::FILE* file, std::string_view bytes) {
  return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
         std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
}

// A file without a name in the folder of `path`. Null if it cannot be created: not every file
// system has such files.
File open_unnamed(const std::string& path) {
#ifdef O_TMPFILE
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  constexpr mode_t kMode = 0666;  // less the umask, as for fopen
  const int number =
      ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode);
  if (number < 0) return nullptr;
  File file(::fdopen(number, "wb"));
  if (!file) ::close(number);
  return file;
#else
  (void)path;
  return nullptr;
#endif
}

// Returns 0, or errno on failure. Where possible, gives the file its name only when it is complete,
// so that a program that is killed while it writes leaves no incomplete file behind.
int write_temporary(const std::string& path, std::string_view bytes) {
  if (const File unnamed = open_unnamed(path)) {
    if (!write_durably(unnamed.get(), bytes)) return errno;
    ::unlink(path.c_str());  // may be left from a killed process with the same id
    const std::string entry = fmt::format("/proc/self/fd/{}", ::fileno(unnamed.get()));
    if (::linkat(AT_FDCWD, entry.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
  }
  const File file(std::fopen(path.c_str(), "wb"));
  return file && write_durably(file.get(), bytes) ? 0 : errno;
}

}  // namespace

Result<PaddedBytes> unpack(std::string_view packed, std::string_view name) {
  return within_memory(name, [&] { return unpack_any(packed, name); });
}

Result<PaddedBytes> read_bytes(const std::string& path) {
  if (path == "-") {
    if (std::feof(stdin) != 0)
      return input_error("standard input was already read; give the other input as a file");
    return read_all(stdin, "standard input");
  }
  std::error_code status;
  if (std::filesystem::is_directory(path, status))
    return input_error("{}: expected a file, got a folder", path);
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return input_error("{}: {}", path, std::strerror(errno));
  return read_all(file.get(), path);
}

Result<void> write_bytes(const std::string& path, std::string_view bytes) {
  std::string packed;
  if (path.ends_with(".zst")) {
    packed.resize(ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 9);
    if (ZSTD_isError(size) != 0)
      return fail(Error::Kind::run, "{}: {}", path, ZSTD_getErrorName(size));
    packed.resize(size);
    bytes = packed;
  }
  if (path == "-") return write_stream(stdout, bytes, "standard output");
  if (is_special(path)) {
    const File file(std::fopen(path.c_str(), "wb"));
    if (!file) return fail(Error::Kind::run, "{}: {}", path, std::strerror(errno));
    return write_stream(file.get(), bytes, path);
  }
  // If the path is a symbolic link, write to its target, so that the link is preserved.
  std::error_code status;
  const std::string target = std::filesystem::is_symlink(path, status)
                                 ? std::filesystem::weakly_canonical(path, status).string()
                                 : path;
  const std::string temporary = fmt::format("{}.{}.tmp", target, ::getpid());
  const auto give_up = [&](int error) {
    ::unlink(temporary.c_str());
    return fail(Error::Kind::run, "{}: {}", path, std::strerror(error));
  };
  if (const int error = write_temporary(temporary, bytes); error != 0) return give_up(error);
  if (::rename(temporary.c_str(), target.c_str()) != 0) return give_up(errno);
  return {};
}

Result<void> make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return fail(Error::Kind::run, "cannot create the folder {}: {}", path, error.message());
  return {};
}

std::string absolute_path(const std::string& path) {
  if (path.empty()) return {};
  std::error_code status;
  const std::filesystem::path absolute = std::filesystem::absolute(path, status);
  return status ? path : absolute.lexically_normal().string();
}

}  // namespace jointer
