// See reject_file.h.
#include "transfer/reject_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file_bytes.h"
#include "base/printable.h"
#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::transfer {
namespace {

// A record may be no UTF-8, which JSON must be.
std::string quoted_bytes(std::string_view text) {
  std::string quoted = value::quoted(text);
  if (value::JsonDocument::parse(quoted)) return quoted;
  std::string shown;
  append_printable(shown, text);
  return value::quoted(shown);
}

}  // namespace

std::string reject_line(std::string_view source, uint64_t line, std::string_view reason,
                        std::string_view record) {
  std::string out = fmt::format("{{\"source\":{}", quoted_bytes(source));
  if (line != 0) out += fmt::format(",\"line\":{}", line);
  out += fmt::format(",\"reason\":{},\"record\":{}}}", quoted_bytes(reason), quoted_bytes(record));
  return out;
}

Status RejectFile::open(bool resumed) {
  const int how = O_WRONLY | O_CREAT | O_CLOEXEC | (resumed ? 0 : O_EXCL);
  file_ = FileDescriptor(::open(path_.c_str(), how, 0600));
  if (file_) return {};
  return fail(Code::invalid, fmt::format("cannot write the rejected records to {}: {}", path_,
                                         std::strerror(errno)));
}

Status RejectFile::check_is_new() const {
  struct stat about{};
  if (::stat(path_.c_str(), &about) != 0) return {};
  return fail(Code::invalid,
              fmt::format("cannot write the rejected records to {}: it is there already; move it "
                          "away, or name another with --rejects",
                          path_));
}

Status RejectFile::resume(uint64_t bytes) {
  struct stat about{};
  if (bytes == 0 && ::stat(path_.c_str(), &about) != 0) return {};
  if (Status opened = open(true); !opened) return opened;
  if (::fstat(file_.get(), &about) != 0 || static_cast<uint64_t>(about.st_size) < bytes) {
    return fail(Code::invalid,
                fmt::format("{} is shorter than the checkpoint says: it was changed", path_));
  }
  // Records beyond the checkpoint are read again, and rejected again.
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) {
    return fail(Code::internal, fmt::format("cannot cut {}: {}", path_, std::strerror(errno)));
  }
  bytes_ = bytes;
  return {};
}

Status RejectFile::add(std::string_view line) {
  if (!file_) {
    if (Status opened = open(false); !opened) return opened;
  }
  const std::string text = std::string(line) + "\n";
  if (!write_at(file_.get(), bytes_, text)) {
    return fail(Code::internal, fmt::format("cannot write to {}: {}", path_, std::strerror(errno)));
  }
  bytes_ += text.size();
  return {};
}

Status RejectFile::sync() {
  if (file_ && ::fdatasync(file_.get()) != 0) {
    return fail(Code::internal, fmt::format("cannot write to {}: {}", path_, std::strerror(errno)));
  }
  return {};
}

}  // namespace orrery::transfer
