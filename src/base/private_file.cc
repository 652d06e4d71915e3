// Written under a temporary name, synced, renamed, and the folder synced: see private_file.h.
#include "base/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/file_descriptor.h"

namespace orrery {
namespace {

std::unexpected<Error> cannot(std::string_view what, const std::string& path) {
  return fail(Code::invalid,
              fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(errno)));
}

}  // namespace

Status write_private_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".new";
  // What is there was left by a process that died, or put there by somebody: its mode and its
  // readers are not ours.
  ::unlink(temporary.c_str());
  {
    const FileDescriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return cannot("create", temporary);
    while (!text.empty()) {
      const ssize_t n = ::write(file.get(), text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        auto failed = cannot("write", temporary);
        ::unlink(temporary.c_str());
        return failed;
      }
      text.remove_prefix(static_cast<size_t>(n));
    }
    if (::fsync(file.get()) != 0) return cannot("sync", temporary);
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return cannot("write", path);
  // The new name is on disk only when the folder is.
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const FileDescriptor folder_file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_file || ::fsync(folder_file.get()) != 0) return cannot("sync", folder);
  return {};
}

}  // namespace orrery
