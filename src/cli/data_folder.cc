// See data_folder.h.
#include "cli/data_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/rand.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <system_error>

#include "base/bytes.h"
#include "base/log.h"
#include "base/private_file.h"
#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeyBytes = 64;
constexpr size_t kSecretBytes = 32;

std::string error_text(int error) {
  return std::generic_category().message(error);
}

Result<std::string> random_bytes(size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) {
    return fail(Code::internal, "the system's random number generator does not work");
  }
  return bytes;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return fail(Code::not_found, fmt::format("cannot read {}", path));
  return text.str();
}

bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string text_member(const value::Node& root, std::string_view name) {
  const value::Node* member = root.find(name);
  return member != nullptr && member->type == value::Type::string ? std::string(member->text) : "";
}

constexpr fs::perms kOthers = fs::perms::group_all | fs::perms::others_all;

// Removes the access of others to one of our folders or files. True when they had any.
bool take_from_others(const fs::directory_entry& entry, std::error_code& error) {
  const fs::perms before = entry.symlink_status(error).permissions();
  if (error || entry.is_symlink() || (before & kOthers) == fs::perms::none) return false;
  fs::permissions(entry.path(), kOthers, fs::perm_options::remove, error);
  return true;
}

// An older folder, or a copy of one, may be open to others, and so may its files. A closed folder
// protects everything below it, so its files need no check.
void keep_private(const std::string& folder) {
  std::error_code error;
  const fs::directory_entry top(fs::canonical(folder, error));
  if (error || !take_from_others(top, error)) return;
  if (error) {
    log::warn("others on this machine may read the data folder, and it is not ours to close",
              {{"folder", folder}, {"error", error.message()}});
    return;
  }
  uint64_t closed = 0;
  auto each = fs::recursive_directory_iterator(top.path(), error);
  for (; !error && each != fs::recursive_directory_iterator(); each.increment(error)) {
    std::error_code one;
    if (take_from_others(*each, one) && !one) ++closed;
  }
  log::warn("others on this machine could read the data folder: now its owner alone can",
            {{"folder", folder}, {"files", closed}});
}

}  // namespace

std::string usual_data_folder() {
  const char* const own = "./orrery-data";
  std::error_code ignored;
  return !fs::exists(own, ignored) && fs::exists(kInstalledDataFolder, ignored)
             ? kInstalledDataFolder
             : own;
}

Result<std::unique_ptr<FolderLock>> FolderLock::take(const std::string& folder) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error) {
    return fail(Code::invalid,
                fmt::format("cannot make the data folder {}: {}", folder, error.message()));
  }
  if (made) fs::permissions(folder, fs::perms::owner_all, error);
  const std::string path = folder + "/LOCK";
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0)
    return fail(Code::invalid, fmt::format("cannot open {}: {}", path, error_text(errno)));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return fail(
        Code::conflict,
        fmt::format("the data folder {} is in use by another server: stop that one, or choose "
                    "another folder with --data",
                    folder));
  }
  std::unique_ptr<FolderLock> lock(new FolderLock(fd));
  keep_private(folder);
  return lock;
}

FolderLock::~FolderLock() {
  ::close(fd_);
}

Result<account::Keys> read_keys(const std::string& folder) {
  const std::string path = folder + "/keys.json";
  auto text = read_file(path);
  if (!text) return pass(text.error());
  auto document = value::JsonDocument::parse(*text);
  if (!document) {
    return fail(Code::corrupt, fmt::format("{} is not JSON: {}", path, document.error().message));
  }
  const value::Node& root = document->root();
  account::Keys keys{text_member(root, "primary"), text_member(root, "secondary"),
                     text_member(root, "primaryReadonly"), text_member(root, "secondaryReadonly")};
  if (keys.primary.empty()) {
    return fail(Code::corrupt, fmt::format("{} has no \"primary\" key", path));
  }
  return keys;
}

Result<account::Keys> with_new_keys(account::Keys keys, std::span<const account::KeyName> names) {
  for (const account::KeyName name : names) {
    auto bytes = random_bytes(kKeyBytes);
    if (!bytes) return pass(bytes.error());
    account::key_of(keys, name) = to_base64(*bytes);
  }
  return keys;
}

Status write_keys(const std::string& folder, const account::Keys& keys) {
  const std::string json = fmt::format(
      "{{\n  \"primary\": \"{}\",\n  \"secondary\": \"{}\",\n  \"primaryReadonly\": \"{}\",\n"
      "  \"secondaryReadonly\": \"{}\"\n}}\n",
      keys.primary, keys.secondary, keys.primary_readonly, keys.secondary_readonly);
  return write_private_file(folder + "/keys.json", json);
}

namespace {

Result<account::Keys> write_new_keys(const std::string& folder, account::Keys keys,
                                     std::initializer_list<account::KeyName> names) {
  auto made = with_new_keys(std::move(keys), {names.begin(), names.size()});
  if (!made) return made;
  if (auto written = write_keys(folder, *made); !written) return pass(written.error());
  return made;
}

}  // namespace

Result<account::Keys> ensure_keys(const std::string& folder) {
  using enum account::KeyName;
  if (is_there(folder + "/keys.json")) return read_keys(folder);
  return write_new_keys(folder, {}, {primary, secondary, primary_readonly, secondary_readonly});
}

Result<account::Keys> regenerate_key(const std::string& folder, account::KeyName name) {
  auto keys = read_keys(folder);
  if (!keys) return keys;
  return write_new_keys(folder, std::move(*keys), {name});
}

Result<std::string> ensure_secret(const std::string& folder) {
  const std::string path = folder + "/secret";
  if (is_there(path)) {
    auto text = read_file(path);
    if (text && text->size() == kSecretBytes) return text;
    return fail(Code::corrupt,
                fmt::format("{} is damaged: remove it (continuation tokens and resource tokens "
                            "given out before become invalid)",
                            path));
  }
  auto bytes = new_secret();
  if (!bytes) return bytes;
  if (auto written = write_private_file(path, *bytes); !written) return pass(written.error());
  return bytes;
}

Result<std::string> new_secret() {
  return random_bytes(kSecretBytes);
}

Result<std::string> ensure_metrics_token(const std::string& folder) {
  const std::string path = folder + "/metrics-token";
  if (is_there(path)) {
    auto text = read_file(path);
    if (!text) return text;
    while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
    if (!text->empty() && text->find_first_of(" \t\r\n") == std::string::npos) return text;
    return fail(Code::corrupt, fmt::format("{} is not one line of text without spaces: remove it, "
                                           "and the next start makes a new one",
                                           path));
  }
  auto bytes = random_bytes(kSecretBytes);
  if (!bytes) return pass(bytes.error());
  std::string token = to_base64(*bytes);
  if (auto written = write_private_file(path, token + "\n"); !written) {
    return pass(written.error());
  }
  return token;
}

Status write_running_server(const std::string& folder, const RunningServer& server) {
  std::string certificate;
  value::append_json_string(certificate, server.certificate);
  std::string faces;
  for (const auto& [name, port] : server.faces) {
    faces += fmt::format("{}\"{}\":{}", faces.empty() ? "" : ",", name, port);
  }
  return write_private_file(
      folder + "/server.json",
      fmt::format("{{\"address\":\"{}\",\"port\":{},\"dev\":{},\"pid\":{},\"account\":{},"
                  "\"faces\":{{{}}},\"certificate\":{}}}\n",
                  server.address, server.port, server.dev, ::getpid(),
                  value::quoted(server.account), faces, certificate));
}

Result<RunningServer> read_running_server(const std::string& folder) {
  auto text = read_file(folder + "/server.json");
  if (!text) {
    return fail(Code::not_found, fmt::format("no server is running on the data folder {}", folder));
  }
  auto document = value::JsonDocument::parse(*text);
  if (!document) return pass(document.error());
  RunningServer server;
  server.address = text_member(document->root(), "address");
  const auto port_in = [](const value::Node* port) -> uint16_t {
    const bool is_port = port != nullptr && port->type == value::Type::number &&
                         port->number >= 1 && port->number <= UINT16_MAX;
    return is_port ? static_cast<uint16_t>(port->number) : 0;
  };
  server.port = port_in(document->root().find("port"));
  if (server.port == 0) {
    return fail(Code::corrupt, fmt::format("{}/server.json names no port", folder));
  }
  server.account = text_member(document->root(), "account");
  const value::Node* faces = document->root().find("faces");
  for (const value::Node* one = faces == nullptr ? nullptr : faces->first; one != nullptr;
       one = one->next) {
    if (const uint16_t at = port_in(one); at != 0) server.faces.emplace(one->name, at);
  }
  if (const value::Node* dev = document->root().find("dev")) server.dev = dev->boolean;
  server.certificate = text_member(document->root(), "certificate");
  return server;
}

void remove_running_server(const std::string& folder) {
  std::error_code error;
  fs::remove(folder + "/server.json", error);
}

}  // namespace orrery::cli
