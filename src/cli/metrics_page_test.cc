// The metrics as the program puts them together: of a listener that comes and goes while they are
// read. (ThreadSanitizer has the last word here.)
#include "ops/metrics_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "api/cosmos/service.h"
#include "cli/data_folder.h"
#include "cluster/engine.h"
#include "net/http_session.h"
#include "net/server.h"
#include "ops/pages.h"
#include "script/host.h"
#include "volume/local/local_volume.h"

namespace orrery::cli {
namespace {

class PromisedAnswer final : public net::ResponseSink {
 public:
  void send(net::Response&& response) noexcept override { promise_.set_value(std::move(response)); }
  void abandon() noexcept override {
    net::Response response;
    response.status = 500;
    send(std::move(response));
  }
  std::future<net::Response> future() { return promise_.get_future(); }

 private:
  std::promise<net::Response> promise_;
};

TEST(MetricsPageTest, IsReadWhileTheListenerComesAndGoes) {
  char pattern[] = "/tmp/orrery-metrics-XXXXXX";
  const std::string folder = mkdtemp(pattern);
  const RealClock clock;
  auto volume = volume::open_local_volume(folder);
  ASSERT_TRUE(volume);
  auto engine = cluster::Engine::open(**volume, clock, {});
  ASSERT_TRUE(engine) << engine.error().message;
  script::Host scripts((*engine)->limits());
  face::Lanes lanes((*engine)->limits(), clock, scripts.workers_max());
  auto account = account::Account::open({kEmulatorKey, "", "", ""}, std::string(32, 's'), {});
  ASSERT_TRUE(account);
  const face::Context context{
      .engine = **engine, .scripts = scripts, .account = **account, .lanes = lanes, .clock = clock};
  cosmos::Service service(context, {});
  ops::Pages pages(context, {&service}, "", "");
  ops::Front front(&pages, &service, {});

  const auto read = [&] {
    auto sink = std::make_shared<PromisedAnswer>();
    auto answer = sink->future();
    net::Request request;
    request.method = "GET";
    request.target = "/metrics";
    front.handle(request, net::Responder(std::move(sink)));
    return answer.get();
  };
  std::atomic<bool> done{false};
  std::atomic<size_t> reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        EXPECT_EQ(read().status, 200);
        ++reads;
      }
    });
  }
  net::ServerOptions options;
  options.threads = 1;
  for (int i = 0; i < 5; ++i) {
    auto server = net::Server::create(options);
    ASSERT_TRUE(server) << server.error().message;
    net::ListenerSpec listener;
    listener.sessions = net::http_sessions(front, {});
    ASSERT_TRUE((*server)->listen(std::move(listener)));
    ASSERT_TRUE((*server)->start());
    pages.set_server(server->get());
    const size_t before = reads;
    while (reads < before + 10) std::this_thread::yield();
    EXPECT_THAT(read().body, testing::HasSubstr("orrery_connections_open{listener=\"http\"} 0"));
    pages.set_server(nullptr);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_THAT(read().body, testing::Not(testing::HasSubstr("orrery_connections_open")));
  lanes.stop();
  engine->reset();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace orrery::cli
