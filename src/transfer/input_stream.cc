// See input_stream.h.
#include "transfer/input_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "transfer/compression.h"

namespace orrery::transfer {
namespace {

constexpr size_t kReadBytes = 256ULL << 10;
constexpr size_t kMagicBytes = 4;

}  // namespace

InputStream::InputStream(std::string path, FileDescriptor file)
    : path_(std::move(path)), file_(std::move(file)), fd_(file_ ? file_.get() : STDIN_FILENO) {}

InputStream::~InputStream() = default;

Result<std::unique_ptr<InputStream>> InputStream::open(const std::string& path,
                                                       std::optional<Compression> compression) {
  const bool is_standard = path == "-";
  FileDescriptor file(is_standard ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!is_standard && !file) {
    return fail(Code::invalid, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  std::unique_ptr<InputStream> stream(
      new InputStream(is_standard ? "standard input" : path, std::move(file)));
  struct stat about{};
  if (::fstat(stream->fd_, &about) == 0) {
    if (S_ISDIR(about.st_mode)) {
      return fail(Code::invalid, fmt::format("cannot read {}: it is a folder", path));
    }
    if (S_ISREG(about.st_mode)) stream->stored_ = static_cast<uint64_t>(about.st_size);
  }
  stream->compression_ = compression;
  return stream;
}

// Reads more of what is stored, after what is left of it.
Result<InputStream::State> InputStream::fill() {
  input_.erase(0, input_at_);
  input_at_ = 0;
  if (!stored_) {
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 0) == 0) return State::wait;
  }
  const size_t at = input_.size();
  input_.resize(at + kReadBytes);
  const ssize_t got = ::read(fd_, input_.data() + at, kReadBytes);
  input_.resize(at + (got > 0 ? static_cast<size_t>(got) : 0));
  if (got < 0) {
    if (errno == EINTR || errno == EAGAIN) return State::wait;
    return fail(Code::internal, fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
  }
  stored_read_ += static_cast<uint64_t>(got);
  if (got == 0) input_ended_ = true;
  return got == 0 ? State::end : State::data;
}

void InputStream::wait(int wait_ms) const {
  if (stored_) return;
  pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
  (void)::poll(&ready, 1, wait_ms);
}

Result<InputStream::State> InputStream::read(std::string& out) {
  out.clear();
  while (true) {
    const bool decides = !decompressor_ && input_.size() - input_at_ < kMagicBytes;
    if (!input_ended_ && (decides || input_at_ == input_.size())) {
      auto filled = fill();
      if (!filled) return filled;
      if (*filled == State::wait) return State::wait;
      if (!decompressor_ && input_.size() < kMagicBytes && !input_ended_) continue;
    }
    if (!decompressor_) {
      auto made = make_decompressor(compression_.value_or(compression_of_bytes(input_)));
      if (!made) return pass(made.error());
      decompressor_ = std::move(*made);
    }
    std::string_view rest = std::string_view(input_).substr(input_at_);
    if (auto done = decompressor_->expand(rest, out, kReadBytes); !done) {
      return fail(Code::corrupt, fmt::format("{}: {}", path_, done.error().message));
    }
    input_at_ = input_.size() - rest.size();
    if (!out.empty()) return State::data;
    if (input_ended_ && rest.empty()) {
      if (decompressor_->is_whole()) return State::end;
      return fail(
          Code::corrupt,
          fmt::format("{} ends in the middle of its compressed data: it is cut off", path_));
    }
  }
}

}  // namespace orrery::transfer
