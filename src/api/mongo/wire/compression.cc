// See compression.h.
#include "api/mongo/wire/compression.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

namespace orrery::mongo {
namespace {

constexpr int kZstdLevel = 1;  // answers are made while a client waits

std::unexpected<Error> broken(Compressor compressor) {
  return refuse(kInvalidLength, "the message cannot be decompressed with " +
                                    std::string(to_text(compressor)) +
                                    " to the size that it says it has");
}

}  // namespace

std::string_view to_text(Compressor compressor) {
  switch (compressor) {
    case Compressor::none:
      return "noop";
    case Compressor::snappy:
      return "snappy";
    case Compressor::zlib:
      return "zlib";
    case Compressor::zstd:
      break;
  }
  return "zstd";
}

std::optional<Compressor> compressor_of(std::string_view name) {
  for (const Compressor compressor : kCompressors) {
    if (to_text(compressor) == name) return compressor;
  }
  return std::nullopt;
}

std::string compress(Compressor compressor, std::string_view bytes) {
  std::string out;
  switch (compressor) {
    case Compressor::none:
      return std::string(bytes);
    case Compressor::snappy:
      snappy::Compress(bytes.data(), bytes.size(), &out);
      return out;
    case Compressor::zlib: {
      uLongf size = compressBound(bytes.size());
      out.resize(size);
      ::compress(reinterpret_cast<Bytef*>(out.data()), &size,
                 reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
      out.resize(size);
      return out;
    }
    case Compressor::zstd:
      break;
  }
  out.resize(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kZstdLevel);
  out.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return out;
}

Answer<std::string> decompress(Compressor compressor, std::string_view bytes, size_t size) {
  std::string out;
  switch (compressor) {
    case Compressor::none:
      if (bytes.size() != size) return broken(compressor);
      return std::string(bytes);
    case Compressor::snappy: {
      size_t found = 0;
      if (!snappy::GetUncompressedLength(bytes.data(), bytes.size(), &found) || found != size) {
        return broken(compressor);
      }
      out.resize(size);
      if (!snappy::RawUncompress(bytes.data(), bytes.size(), out.data())) {
        return broken(compressor);
      }
      return out;
    }
    case Compressor::zlib: {
      out.resize(size);
      uLongf found = size;
      if (::uncompress(reinterpret_cast<Bytef*>(out.data()), &found,
                       reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) != Z_OK ||
          found != size) {
        return broken(compressor);
      }
      return out;
    }
    case Compressor::zstd:
      break;
  }
  out.resize(size);
  const size_t found = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(found) != 0 || found != size) return broken(compressor);
  return out;
}

}  // namespace orrery::mongo
