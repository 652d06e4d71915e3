// See exports.h.
#include "cluster/exporting/exports.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>
#include <vector>

#include "base/await.h"
#include "base/fault.h"
#include "cluster/node/catalog_caller.h"

namespace orrery::cluster {
namespace {

// To open one takes a flush, and perhaps a claim.
constexpr std::chrono::milliseconds kDeadline{60'000};

std::unexpected<Error> is_over() {
  return fail(Code::moved,
              "the server does not hold these files for a copy any more: open them again");
}

uint64_t new_id() {
  std::random_device random;
  return (static_cast<uint64_t>(random()) << 32) | random();
}

}  // namespace

Result<std::string> Exports::serve(std::string_view bytes) {
  auto request = decode_export_request(bytes);
  if (!request) return pass(request.error());
  auto address = address_for(*request);
  if (!address) return pass(address.error());
  if (address->empty()) return serve_here(*request);
  auto answer = pass_on(*address, bytes);
  if (!answer) {
    // Its node has ended, or may have: whoever copies opens the partition again.
    if (request->operation == ExportRequest::Operation::read &&
        answer.error().code != Code::corrupt) {
      return fail(Code::moved, answer.error().message);
    }
    return answer;
  }
  const MutexLock lock(mutex_);
  if (request->operation == ExportRequest::Operation::close) {
    held_.erase(request->id);
  } else if (request->operation == ExportRequest::Operation::open_catalog ||
             request->operation == ExportRequest::Operation::open_range) {
    auto opened = decode_opened_export(*answer);
    if (!opened) return pass(opened.error());
    if (opened->has_files) {
      auto held = std::make_shared<Held>();
      held->address = *address;
      held->used_us = clock_.steady_us();
      held_[opened->id] = std::move(held);
    }
  }
  return answer;
}

Result<std::string> Exports::serve_here(std::string_view bytes) {
  auto request = decode_export_request(bytes);
  if (!request) return pass(request.error());
  return serve_here(*request);
}

Result<std::string> Exports::serve_here(const ExportRequest& request) {
  switch (request.operation) {
    case ExportRequest::Operation::open_catalog:
      return open_catalog();
    case ExportRequest::Operation::open_range:
      return open_range(request);
    case ExportRequest::Operation::read:
      return read(request);
    case ExportRequest::Operation::read_commits:
      return read_commits(request);
    case ExportRequest::Operation::close:
      break;
  }
  std::shared_ptr<Held> ending;  // after unlocking
  const MutexLock lock(mutex_);
  if (const auto found = held_.find(request.id); found != held_.end()) {
    ending = std::move(found->second);
    held_.erase(found);
  }
  return std::string();
}

Result<std::string> Exports::address_for(const ExportRequest& request) {
  if (placement_ == nullptr) return std::string();
  std::optional<std::string> address;
  switch (request.operation) {
    case ExportRequest::Operation::open_catalog:
      address = placement_->coordinator_address();
      break;
    case ExportRequest::Operation::open_range:
    case ExportRequest::Operation::read_commits: {
      auto slot = slot_of(request);
      if (!slot) return pass(slot.error());
      address = placement_->address_of(**slot);
      break;
    }
    case ExportRequest::Operation::read:
    case ExportRequest::Operation::close: {
      const MutexLock lock(mutex_);
      const auto found = held_.find(request.id);
      if (found == held_.end()) return is_over();
      found->second->used_us = clock_.steady_us();
      return found->second->address;
    }
  }
  if (!address) return std::string();
  if (address->empty()) {
    return std::unexpected(Error{.code = Code::overloaded,
                                 .message = "no node is to serve this now: try again",
                                 .retry_after_ms = 200});
  }
  return *address;
}

Result<std::string> Exports::pass_on(const std::string& address, std::string_view request) {
  auto answer = await<Result<std::string>>([&](auto done) {
    link_->call(address, kExportCall, std::string(request), kDeadline, std::move(done));
  });
  return answer ? std::move(*answer) : pass(answer.error());
}

Result<std::shared_ptr<Slot>> Exports::slot_of(const ExportRequest& request) const {
  const RoutingPtr routing = table_.find(request.container);
  if (routing) {
    for (const auto& slot : routing->slots) {
      if (slot->range.id == request.range && slot->range.volume_name == request.volume_name) {
        return slot;
      }
    }
  }
  return fail(Code::moved, fmt::format("range {} of container {} is not there any more",
                                       request.range, request.container));
}

Result<uint64_t> Exports::keep(std::shared_ptr<Held> held) {
  held->used_us = clock_.steady_us();
  const uint64_t id = new_id();
  const MutexLock lock(mutex_);
  if (held_.size() >= kOpenMax) {
    return fail(Code::overloaded,
                fmt::format("the files of {} partitions are being copied already: try again when "
                            "other backups have ended",
                            kOpenMax));
  }
  held_.emplace(id, std::move(held));
  return id;
}

Result<std::string> Exports::open_catalog() {
  auto exported = catalog_.begin_export();
  if (!exported) return pass(exported.error());
  OpenedExport opened;
  opened.info = exported->files->info();
  opened.now_ms = clock_.now_ms();
  opened.ranges = std::move(exported->ranges);
  auto held = std::make_shared<Held>();
  held->files = std::move(exported->files);
  auto id = keep(std::move(held));
  if (!id) return pass(id.error());
  // Until here no other node can have made a commit.
  if (auto current = opener_.check_current(); !current) return pass(current.error());
  opened.id = *id;
  return encode(opened);
}

Result<std::string> Exports::open_range(const ExportRequest& request) {
  auto slot = slot_of(request);
  if (!slot) return pass(slot.error());
  auto partition = opener_.open_if_there(*slot);
  if (!partition) return pass(partition.error());
  OpenedExport opened;
  if (*partition == nullptr) {
    opened.has_files = false;
    return encode(opened);
  }
  auto files = (*partition)->begin_export();
  if (!files) return pass(files.error());
  if (auto current = opener_.check_current(); !current) return pass(current.error());
  opened.info = (*files)->info();
  opened.now_ms = clock_.now_ms();
  auto held = std::make_shared<Held>();
  held->files = std::move(*files);
  held->slot = *slot;
  auto id = keep(std::move(held));
  if (!id) return pass(id.error());
  opened.id = *id;
  return encode(opened);
}

Result<std::string> Exports::read(const ExportRequest& request) {
  if (auto injected = fault::point("export.read"); !injected) return pass(injected.error());
  uint64_t size = 0;
  for (const ExportRequest::Piece& piece : request.pieces) {
    if (piece.size > kExportReadMax - size) {
      return fail(Code::too_large,
                  fmt::format("at most {} bytes are read at once", kExportReadMax));
    }
    size += piece.size;
  }
  std::shared_ptr<Held> held;
  {
    const MutexLock lock(mutex_);
    const auto found = held_.find(request.id);
    if (found == held_.end() || found->second->files == nullptr) return is_over();
    held = found->second;
    held->used_us = clock_.steady_us();
  }
  // It is in use, for whoever looks for a partition to close.
  if (held->slot) held->slot->note_use(clock_.steady_us());
  std::string bytes;
  bytes.reserve(size);
  for (const ExportRequest::Piece& piece : request.pieces) {
    auto read = held->files->read(piece.file, piece.from, piece.size);
    if (!read) return read;
    bytes += *read;
  }
  return bytes;
}

Result<std::string> Exports::read_commits(const ExportRequest& request) {
  auto slot = slot_of(request);
  if (!slot) return pass(slot.error());
  auto partition = opener_.open_if_there(*slot);
  if (!partition) return pass(partition.error());
  if (*partition == nullptr) return fail(Code::precondition_failed, "the range has no files");
  (*slot)->note_use(clock_.steady_us());
  const MutexLock lock(follow_mutex_);
  Followed& followed = followed_[request.volume_name];
  followed.asked_us = clock_.steady_us();
  auto page = followed.follower.read(*partition, request.id, kExportReadMax);
  if (!page) return pass(page.error());
  // Until here no other node can have made a commit.
  if (auto current = opener_.check_current(); !current) return pass(current.error());
  return encode(*page);
}

void Exports::end_idle() {
  const int64_t now_us = clock_.steady_us();
  {
    const MutexLock lock(follow_mutex_);
    std::erase_if(followed_,
                  [&](const auto& one) { return now_us - one.second.asked_us >= kFollowIdleUs; });
  }
  std::vector<std::shared_ptr<Held>> ending;  // after unlocking
  const MutexLock lock(mutex_);
  for (auto it = held_.begin(); it != held_.end();) {
    if (now_us - it->second->used_us < kIdleUs) {
      ++it;
      continue;
    }
    ending.push_back(std::move(it->second));
    it = held_.erase(it);
  }
}

}  // namespace orrery::cluster
