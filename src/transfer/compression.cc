// See compression.h.
#include "transfer/compression.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

namespace orrery::transfer {
namespace {

constexpr size_t kStepBytes = 64ULL << 10;

std::unexpected<Error> no_memory() {
  return fail(Code::internal, "there is no memory to compress with");
}

class Plain final : public Decompressor, public Compressor {
 public:
  Status expand(std::string_view& input, std::string& out, size_t room) override {
    const size_t size = std::min(input.size(), room);
    out += input.substr(0, size);
    input.remove_prefix(size);
    return {};
  }
  bool is_whole() const override { return true; }
  Status compress(std::string_view input, std::string& out) override {
    out += input;
    return {};
  }
  Status end_part(std::string& out) override {
    (void)out;
    return {};
  }
};

class Gunzip final : public Decompressor {
 public:
  ~Gunzip() override { inflateEnd(&stream_); }
  // 16: gzip's header and check sum.
  bool begin() { return inflateInit2(&stream_, 15 + 16) == Z_OK; }

  Status expand(std::string_view& input, std::string& out, size_t room) override {
    const size_t before = out.size();
    while (!input.empty() && out.size() - before < room) {
      if (is_whole_ && begun_) {
        // zeros may fill up the end of a file.
        if (input.front() == 0) {
          input.remove_prefix(1);
          continue;
        }
        inflateReset(&stream_);
      }
      begun_ = true;
      const size_t at = out.size();
      out.resize(at + kStepBytes);
      const size_t given = std::min<size_t>(input.size(), std::numeric_limits<uInt>::max());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
      stream_.avail_in = static_cast<uInt>(given);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + at);
      stream_.avail_out = kStepBytes;
      const int done = inflate(&stream_, Z_NO_FLUSH);
      input.remove_prefix(given - stream_.avail_in);
      out.resize(at + kStepBytes - stream_.avail_out);
      is_whole_ = done == Z_STREAM_END;
      if (done != Z_OK && done != Z_STREAM_END && done != Z_BUF_ERROR) {
        return fail(Code::corrupt, fmt::format("the gzip data are damaged: {}",
                                               stream_.msg == nullptr ? "" : stream_.msg));
      }
    }
    return {};
  }
  bool is_whole() const override { return is_whole_; }

 private:
  z_stream stream_{};
  bool begun_ = false;
  bool is_whole_ = true;  // nothing at all is whole
};

class Unzstd final : public Decompressor {
 public:
  ~Unzstd() override { ZSTD_freeDStream(stream_); }
  bool begin() { return (stream_ = ZSTD_createDStream()) != nullptr; }

  Status expand(std::string_view& input, std::string& out, size_t room) override {
    const size_t before = out.size();
    // What is kept back must come out even when the input is used up.
    while ((!input.empty() || has_more_) && out.size() - before < room) {
      const size_t at = out.size();
      out.resize(at + kStepBytes);
      ZSTD_inBuffer in{.src = input.data(), .size = input.size(), .pos = 0};
      ZSTD_outBuffer to{.dst = out.data() + at, .size = kStepBytes, .pos = 0};
      const size_t done = ZSTD_decompressStream(stream_, &to, &in);
      input.remove_prefix(in.pos);
      out.resize(at + to.pos);
      if (ZSTD_isError(done) != 0) {
        return fail(Code::corrupt,
                    fmt::format("the zstd data are damaged: {}", ZSTD_getErrorName(done)));
      }
      is_whole_ = done == 0;
      has_more_ = to.pos == to.size;
    }
    return {};
  }
  bool is_whole() const override { return is_whole_; }

 private:
  ZSTD_DStream* stream_ = nullptr;
  bool is_whole_ = true;
  bool has_more_ = false;
};

class Gzip final : public Compressor {
 public:
  ~Gzip() override { deflateEnd(&stream_); }
  bool begin() {
    return deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                        Z_DEFAULT_STRATEGY) == Z_OK;
  }
  Status compress(std::string_view input, std::string& out) override {
    has_part_ = has_part_ || !input.empty();
    return run(input, Z_NO_FLUSH, out);
  }
  Status end_part(std::string& out) override {
    if (!has_part_) return {};
    has_part_ = false;
    if (auto done = run({}, Z_FINISH, out); !done) return done;
    if (deflateReset(&stream_) != Z_OK) return no_memory();
    return {};
  }

 private:
  Status run(std::string_view input, int flush, std::string& out) {
    do {
      const size_t given = std::min<size_t>(input.size(), std::numeric_limits<uInt>::max());
      const size_t at = out.size();
      out.resize(at + kStepBytes);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
      stream_.avail_in = static_cast<uInt>(given);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + at);
      stream_.avail_out = kStepBytes;
      const int done = deflate(&stream_, flush);
      input.remove_prefix(given - stream_.avail_in);
      out.resize(at + kStepBytes - stream_.avail_out);
      if (done == Z_STREAM_ERROR) return no_memory();
      if (done == Z_STREAM_END) break;
    } while (!input.empty() || stream_.avail_out == 0);
    return {};
  }

  z_stream stream_{};
  bool has_part_ = false;
};

class Zstd final : public Compressor {
 public:
  ~Zstd() override { ZSTD_freeCStream(stream_); }
  bool begin() { return (stream_ = ZSTD_createCStream()) != nullptr; }
  Status compress(std::string_view input, std::string& out) override {
    has_part_ = has_part_ || !input.empty();
    return run(input, ZSTD_e_continue, out);
  }
  Status end_part(std::string& out) override {
    if (!has_part_) return {};
    has_part_ = false;
    return run({}, ZSTD_e_end, out);
  }

 private:
  Status run(std::string_view input, ZSTD_EndDirective how, std::string& out) {
    ZSTD_inBuffer in{.src = input.data(), .size = input.size(), .pos = 0};
    while (true) {
      const size_t at = out.size();
      out.resize(at + kStepBytes);
      ZSTD_outBuffer to{.dst = out.data() + at, .size = kStepBytes, .pos = 0};
      const size_t left = ZSTD_compressStream2(stream_, &to, &in, how);
      out.resize(at + to.pos);
      if (ZSTD_isError(left) != 0) return fail(Code::internal, ZSTD_getErrorName(left));
      const bool done = how == ZSTD_e_end ? left == 0 : in.pos == in.size;
      if (done) return {};
    }
  }

  ZSTD_CStream* stream_ = nullptr;
  bool has_part_ = false;
};

template <class T, class As>
Result<std::unique_ptr<As>> begun() {
  auto made = std::make_unique<T>();
  if (!made->begin()) return no_memory();
  return std::unique_ptr<As>(std::move(made));
}

}  // namespace

Result<std::unique_ptr<Decompressor>> make_decompressor(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return begun<Gunzip, Decompressor>();
    case Compression::zstd:
      return begun<Unzstd, Decompressor>();
    case Compression::none:
      break;
  }
  return std::unique_ptr<Decompressor>(std::make_unique<Plain>());
}

Result<std::unique_ptr<Compressor>> make_compressor(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return begun<Gzip, Compressor>();
    case Compression::zstd:
      return begun<Zstd, Compressor>();
    case Compression::none:
      break;
  }
  return std::unique_ptr<Compressor>(std::make_unique<Plain>());
}

}  // namespace orrery::transfer
