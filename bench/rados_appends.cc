// rados_appends CONF SECONDS WRITERS: how many appends of 1 KB a second Ceph takes, each writer
// with a log of its own and one append under way, as the write-ahead logs of that many partitions
// would. Prints {"perSecond": …, "mean_us": …}.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "volume/rados/rados_store.h"

using orrery::volume::ObjectChange;
using std::chrono::steady_clock;

namespace {

constexpr size_t kBytes = 1024;
constexpr int kAppendsMax = 32 * 1024;  // 32 MB, as the extents of logs

struct Sum {
  std::atomic<uint64_t> appends{0};
  std::atomic<uint64_t> failed{0};
};

void append_until(orrery::volume::ObjectStore& store, int writer, steady_clock::time_point end,
                  Sum& sum) {
  const std::string bytes(kBytes, 'x');
  std::string log;
  for (int i = 0; steady_clock::now() < end; ++i) {
    if (i % kAppendsMax == 0) {
      log = "bench.log." + std::to_string(writer) + "." + std::to_string(i / kAppendsMax);
    }
    const auto outcome = store.apply(log, {.data = ObjectChange::Data::append, .bytes = bytes});
    (outcome.is_done() ? sum.appends : sum.failed).fetch_add(1);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "rados_appends CONF SECONDS WRITERS\n");
    return 2;
  }
  auto store =
      orrery::volume::open_rados_store({.conf_file = arguments[1], .name_space = "bench-appends"});
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 1;
  }
  const int seconds = std::atoi(arguments[2]);
  const int writers = std::atoi(arguments[3]);
  Sum sum;
  const auto end = steady_clock::now() + std::chrono::seconds(seconds);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(writers));
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] { append_until(**store, writer, end, sum); });
  }
  for (std::thread& thread : threads) thread.join();
  if (sum.failed > 0 || sum.appends == 0) {
    std::fprintf(stderr, "%llu appends failed\n", static_cast<unsigned long long>(sum.failed));
    return 1;
  }
  const double done = static_cast<double>(sum.appends);
  std::printf("{\"perSecond\": %.1f, \"mean_us\": %.1f}\n", done / seconds,
              1e6 * seconds * writers / done);
  return 0;
}
