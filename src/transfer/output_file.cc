// See output_file.h.
#include "transfer/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/file_bytes.h"

namespace orrery::transfer {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 256ULL << 10;

std::unexpected<Error> cannot(std::string_view what, const std::string& path) {
  return fail(Code::invalid, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

// A pipe takes as much as it likes at once.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno != EINTR) return false;
    if (done > 0) bytes.remove_prefix(static_cast<size_t>(done));
  }
  return true;
}

uint64_t number_at(const value::Node& object, std::string_view name) {
  const value::Node* found = object.find(name);
  return found == nullptr ? 0 : static_cast<uint64_t>(found->number);
}

}  // namespace

OutputFile::OutputFile(OutputOptions options) : options_(std::move(options)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::open(OutputOptions options) {
  OutputFile output(std::move(options));
  const std::string& path = output.options_.path;
  std::error_code error;
  output.is_folder_ = path.ends_with('/') || fs::is_directory(path, error);
  if (output.is_folder_) {
    fs::create_directories(path, error);
    if (error) {
      return fail(Code::invalid,
                  fmt::format("cannot make the folder {}: {}", path, error.message()));
    }
  }
  auto compressor = make_compressor(output.options_.compression);
  if (!compressor) return pass(compressor.error());
  output.compressor_ = std::move(*compressor);
  return output;
}

std::string OutputFile::name_of(uint64_t part) const {
  if (!is_folder_) return options_.path;
  return (fs::path(options_.path) /
          fmt::format("part-{:05}{}", part, name_end(options_.format, options_.compression)))
      .string();
}

Status OutputFile::open_file(bool resumed) {
  if (is_standard_output()) return {};
  const std::string name = name_of(part_);
  std::error_code error;
  if (!resumed && !options_.overwrite && fs::exists(name, error)) {
    return fail(Code::invalid, fmt::format("{} is there already: name another file, or say "
                                           "--overwrite",
                                           name));
  }
  // Data may be secret: only the owner reads them, until told otherwise.
  file_ = FileDescriptor(::open((name + ".partial").c_str(),
                                O_WRONLY | O_CREAT | O_CLOEXEC | (resumed ? 0 : O_TRUNC), 0600));
  if (!file_) return cannot("write", name + ".partial");
  return {};
}

Result<bool> OutputFile::begin() {
  if (is_begun_) return false;
  if (Status opened = open_file(false); !opened) return pass(opened.error());
  is_begun_ = true;
  plain_ = 0;
  stored_ = 0;
  return true;
}

Status OutputFile::put(std::string_view bytes) {
  const bool done = file_ ? write_at(file_.get(), stored_, bytes) : write_all(STDOUT_FILENO, bytes);
  if (!done) return cannot("write", is_standard_output() ? "standard output" : name_of(part_));
  stored_ += bytes.size();
  return {};
}

Status OutputFile::write(std::string_view text) {
  plain_ += text.size();
  if (Status done = compressor_->compress(text, buffer_); !done) return done;
  if (buffer_.size() < kBufferBytes) return {};
  return put(std::exchange(buffer_, {}));
}

bool OutputFile::is_full() const {
  return is_folder_ && plain_ >= options_.part_bytes;
}

Status OutputFile::finish_file() {
  if (Status done = compressor_->end_part(buffer_); !done) return done;
  if (Status done = put(std::exchange(buffer_, {})); !done) return done;
  is_begun_ = false;
  ++files_;
  if (!file_) return {};
  const std::string name = name_of(part_);
  if (::fdatasync(file_.get()) != 0) return cannot("write", name);
  file_.reset();
  if (::rename((name + ".partial").c_str(), name.c_str()) != 0) return cannot("name", name);
  ++part_;
  return {};
}

Result<std::string> OutputFile::cut() {
  if (Status done = compressor_->end_part(buffer_); !done) return pass(done.error());
  if (Status done = put(std::exchange(buffer_, {})); !done) return pass(done.error());
  if (file_ && ::fdatasync(file_.get()) != 0) return cannot("write", name_of(part_));
  return fmt::format("{{\"part\":{},\"begun\":{},\"plain\":{},\"bytes\":{}}}", part_, is_begun_,
                     plain_, stored_);
}

Status OutputFile::resume(const value::Node& position) {
  part_ = std::max<uint64_t>(1, number_at(position, "part"));
  files_ = part_ - 1;
  const value::Node* begun = position.find("begun");
  const bool was_begun = begun != nullptr && begun->boolean;
  const std::string partial = name_of(part_) + ".partial";
  std::error_code error;
  // The crash may have come between the last cut and the end of the file.
  if (was_begun && !fs::exists(partial, error)) fs::rename(name_of(part_), partial, error);
  // Parts that came after the cut are written again.
  for (uint64_t later = part_; is_folder_ && fs::exists(name_of(later), error); ++later) {
    fs::remove(name_of(later), error);
  }
  if (!was_begun) return {};
  plain_ = number_at(position, "plain");
  stored_ = number_at(position, "bytes");
  const auto size = fs::file_size(partial, error);
  if (error || size < stored_) {
    return fail(
        Code::invalid,
        fmt::format("{} is not as the checkpoint says: it was changed or removed", partial));
  }
  if (Status opened = open_file(true); !opened) return opened;
  if (::ftruncate(file_.get(), static_cast<off_t>(stored_)) != 0) return cannot("cut", partial);
  is_begun_ = true;
  return {};
}

void OutputFile::discard() {
  if (!file_) return;
  file_.reset();
  std::error_code error;
  fs::remove(name_of(part_) + ".partial", error);
}

}  // namespace orrery::transfer
