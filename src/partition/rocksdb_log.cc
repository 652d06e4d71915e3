// See rocksdb_log.h.
#include "partition/rocksdb_log.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace orrery::partition {
namespace {

constexpr int kLinesASecond = 5;
constexpr size_t kLineBytes = 1'024;  // what is longer is cut

}  // namespace

RocksDbLog::RocksDbLog(const Clock& clock)
    : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL), clock_(clock) {}

void RocksDbLog::Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) {
  // Headers tell options and versions, at every opening.
  if (level < GetInfoLogLevel() || level == rocksdb::InfoLogLevel::HEADER_LEVEL) return;
  uint64_t left_out = 0;
  if (!may_write(left_out)) return;
  std::array<char, kLineBytes> line{};
  const int length = std::vsnprintf(line.data(), line.size(), format, arguments);
  if (length < 0) return;
  std::string_view text(line.data(), std::min(static_cast<size_t>(length), line.size() - 1));
  while (text.ends_with('\n')) text.remove_suffix(1);
  const log::Level severity =
      level == rocksdb::InfoLogLevel::WARN_LEVEL ? log::Level::debug : log::Level::warn;
  if (left_out > 0) {
    log::write(severity, "RocksDB", {{"says", text}, {"lines_left_out", left_out}});
  } else {
    log::write(severity, "RocksDB", {{"says", text}});
  }
}

void RocksDbLog::Logv(const char* format, va_list arguments) {
  Logv(rocksdb::InfoLogLevel::INFO_LEVEL, format, arguments);
}

bool RocksDbLog::may_write(uint64_t& left_out) {
  const int64_t second = clock_.steady_us() / 1'000'000;
  MutexLock lock(mutex_);
  if (second != second_) {
    second_ = second;
    lines_ = 0;
  }
  if (lines_ == kLinesASecond) {
    ++left_out_;
    return false;
  }
  ++lines_;
  left_out = std::exchange(left_out_, 0);
  return true;
}

}  // namespace orrery::partition
