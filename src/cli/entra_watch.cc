// See entra_watch.h.
#include "cli/entra_watch.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/log.h"
#include "client/fetch.h"

namespace orrery::cli {
namespace {

constexpr size_t kDocumentBytes = 4U << 20;
constexpr int64_t kRefreshS = 3600;
constexpr int64_t kRetryS = 60;  // also between two looks for a key that a token names
constexpr auto kLookEvery = std::chrono::seconds(1);

int64_t steady_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// In nanoseconds; 0 when it is not there.
int64_t changed_at(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return 0;
  return found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec;
}

Result<std::string> read_settings(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (error || bytes > kDocumentBytes || !in || !(text << in.rdbuf())) {
    return fail(Code::invalid, fmt::format("cannot read {}, or it is empty or larger than {} bytes",
                                           path, kDocumentBytes));
  }
  return std::move(text).str();
}

}  // namespace

Result<std::unique_ptr<EntraWatch>> EntraWatch::open(std::string file,
                                                     std::shared_ptr<cosmos::Entra> entra) {
  if (!entra) return nullptr;
  std::unique_ptr<EntraWatch> made(new EntraWatch(std::move(file), std::move(entra)));
  if (auto loaded = made->load(); !loaded) {
    return fail(Code::invalid, fmt::format("--entra {}: {}", made->file_, loaded.error().message));
  }
  made->thread_.post([watch = made.get()] { watch->watch(); });
  return made;
}

EntraWatch::~EntraWatch() {
  const MutexLock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
}

Result<std::string> EntraWatch::read_place(const std::string& place) {
  if (place.find("://") != std::string::npos) {
    has_address_ = true;
    return client::fetch_document(place, kDocumentBytes);
  }
  const std::string path = (std::filesystem::path(file_).parent_path() / place).string();
  seen_.emplace_back(path, changed_at(path));
  return read_settings(path);
}

Result<account::SigningKeys> EntraWatch::read_keys(const cosmos::EntraFile& file) {
  std::string place = file.keys;
  if (place.empty()) {
    auto document = read_place(file.discovery);
    if (!document) return pass(document.error());
    auto found = cosmos::keys_place_of(*document, file.issuers);
    if (!found) return pass(found.error());
    place = std::move(*found);
  }
  auto text = read_place(place);
  if (!text) return pass(text.error());
  return account::SigningKeys::parse(*text);
}

Status EntraWatch::load() {
  loaded_s_ = steady_s();
  has_address_ = false;
  has_keys_ = false;
  seen_ = {{file_, changed_at(file_)}};
  auto text = read_settings(file_);
  if (!text) return pass(text.error());
  auto file = cosmos::parse_entra_file(*text);
  if (!file) return pass(file.error());
  auto keys = read_keys(*file);
  if (!keys) {
    const bool may_answer_later = has_address_ && keys.error().code == Code::not_found;
    if (!may_answer_later || entra_->policy() != nullptr) return pass(keys.error());
    log::warn("the issuer's keys cannot be read, so tokens are refused for now",
              {{"file", file_}, {"error", keys.error().message}});
    return {};
  }
  has_keys_ = true;
  auto policy = std::make_shared<cosmos::EntraPolicy>();
  policy->tokens = {.issuers = std::move(file->issuers),
                    .audiences = std::move(file->audiences),
                    .keys = std::move(*keys)};
  policy->roles = std::move(file->roles);
  entra_->set(std::move(policy));
  return {};
}

bool EntraWatch::is_changed() const {
  for (const auto& [path, at] : seen_) {
    if (changed_at(path) != at) return true;
  }
  return false;
}

void EntraWatch::watch() {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (!stopping_) wake_.wait_for(mutex_, kLookEvery);
      if (stopping_) return;
    }
    const int64_t age_s = steady_s() - loaded_s_;
    // Asked for a key that nobody has, again and again, it looks once a minute.
    const bool is_due =
        has_address_ &&
        (age_s >= kRefreshS || (age_s >= kRetryS && (entra_->take_asked() || !has_keys_)));
    if (!is_due && !is_changed()) continue;
    if (auto loaded = load(); loaded) {
      log::info("who may sign in by a token was read again", {{"file", file_}});
    } else {
      log::warn("who may sign in by a token stays as it was: what is there now cannot be used",
                {{"file", file_}, {"error", loaded.error().message}});
    }
  }
}

}  // namespace orrery::cli
