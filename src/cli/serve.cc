// See serve.h. Start: check options, take the folder, open the engine, listen, say so. Stop: accept
// no more, answer what was accepted, finish writes, close.
#include "cli/serve.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "account/account.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/survive.h"
#include "catalog/catalog.h"
#include "cli/cluster_node.h"
#include "cli/data_folder.h"
#include "cli/descriptors.h"
#include "cli/entra_watch.h"
#include "cli/face_listeners.h"
#include "cli/faces.h"
#include "cli/machine.h"
#include "cli/node_options.h"
#include "cli/readiness.h"
#include "cli/shared_account.h"
#include "cli/test_clock.h"
#include "cli/test_hop.h"
#include "cli/volumes.h"
#include "cluster/engine.h"
#include "cluster/query/query_helpers.h"
#include "cluster/replicas/replica_reader.h"
#include "face/face.h"
#include "net/certificate.h"
#include "net/loopback.h"
#include "net/server.h"
#include "prices/request_units.h"
#include "script/host.h"

namespace orrery::cli {
namespace {

constexpr uint32_t kStopMaxS = 30;        // beyond the grace
constexpr uint32_t kDeposedStopMaxS = 5;  // of a node whose lease is over

// A key that was given is the operator's to close: how it gets there may not let us.
void warn_if_others_can_read(const std::string& private_key_file) {
  struct stat found{};
  if (::stat(private_key_file.c_str(), &found) != 0 || (found.st_mode & 077) == 0) return;
  log::warn("others on this machine can read the certificate's private key: take that from them",
            {{"file", private_key_file}});
}

struct Settings {
  cluster::EngineOptions engine;
  log::Level log_level = log::Level::info;
  log::Format log_format = log::Format::text;
};

Result<Settings> settings_of(const ServeOptions& options) {
  Settings settings;
  const uint64_t memory_bytes = usable_memory_bytes();
  settings.engine.prices = &prices::kRequestUnits;
  settings.engine.codecs = face_codecs();
  Limits& defaults = settings.engine.limits;
  defaults.block_cache_bytes = default_cache_bytes(memory_bytes);
  defaults.request_buffer_bytes = default_buffer_bytes(memory_bytes);
  defaults.response_buffer_bytes = default_buffer_bytes(memory_bytes);
  for (const std::string& assignment : options.limits) {
    if (auto set = settings.engine.limits.set(assignment); !set) return pass(set.error());
  }
  if (options.dev && !net::is_loopback(options.address)) {
    return fail(
        Code::invalid,
        fmt::format("--dev uses a key that everybody knows, so it serves this machine only: "
                    "--address {} is not a loopback address. Leave out --dev to serve others",
                    options.address));
  }
  const std::string throttling =
      options.throttling.empty() ? (options.dev ? "report" : "on") : options.throttling;
  if (throttling != "on" && throttling != "report") {
    return fail(Code::invalid,
                fmt::format("--throttling '{}' is not one of on, report", throttling));
  }
  settings.engine.throttling =
      throttling == "on" ? cluster::Throttling::enforce : cluster::Throttling::report;
  if (options.durability != "sync" && options.durability != "relaxed") {
    return fail(Code::invalid,
                fmt::format("--durability '{}' is not one of sync, relaxed", options.durability));
  }
  settings.engine.sync_commits = options.durability == "sync";
  if (options.certificate.empty() != options.private_key.empty()) {
    return fail(Code::invalid, "--cert and --cert-key go together: give both or neither");
  }
  if (auto checked = check_node_options(options.node, options.volume.volume); !checked) {
    return pass(checked.error());
  }
  for (const KnownFace& known : known_faces()) {
    if (auto values = option_values(known, options); !values) return pass(values.error());
  }
  auto level = log::parse_level(options.log_level);
  if (!level) return pass(level.error());
  settings.log_level = *level;
  auto format = log::parse_format(options.log_format);
  if (!format) return pass(format.error());
  settings.log_format = *format;
  return settings;
}

// Partitions and connections are no more than the process may have descriptors for.
Status fit_descriptors(const ServeOptions& options, Limits& limits) {
  const uint64_t descriptors = raise_descriptor_limit();
  const uint32_t cores = std::max(1U, std::thread::hardware_concurrency());
  const uint32_t loops = options.threads > 0 ? options.threads : cores;
  const auto workers = static_cast<uint32_t>(limits.script_workers);
  auto lowered =
      cli::fit_descriptors(descriptors, loops, 2 * (workers > 0 ? workers : cores), limits);
  if (!lowered) return pass(lowered.error());
  if (*lowered) {
    log::warn("few files may be open at a time: raise the limit (ulimit -n) for more",
              {{"descriptors", descriptors},
               {"open_partitions", limits.open_partitions},
               {"connections", limits.connections}});
  }
  return {};
}

// A line for each listener; that of the main one, which others wait for, is the last.
void say_ready(const std::vector<net::ListenerStatus>& listeners) {
  for (size_t i = listeners.size(); i-- > 0;) {
    const net::ListenerStatus& one = listeners[i];
    const bool is_v6 = one.address.find(':') != std::string::npos;
    const std::string at =
        fmt::format("{}:{}", is_v6 ? "[" + one.address + "]" : one.address, one.port);
    if (i == 0) {
      fmt::print("orrery ready on http://{} and https://{}\n", at, at);
    } else {
      fmt::print("orrery {} ready on {}\n", one.name, at);
    }
  }
  std::fflush(stdout);
}

Result<SharedAccount> ensure_account(const ServeOptions& options, volume::ObjectStore* store) {
  if (options.node.is_node()) return ensure_shared_account(*store);
  auto keys = options.dev ? account::Keys{} : ensure_keys(options.data);
  if (!keys) return pass(keys.error());
  auto secret = ensure_secret(options.data);
  if (!secret) return pass(secret.error());
  return SharedAccount{std::move(*keys), std::move(*secret)};
}

// `store`: of the volume, which has the account of a node.
Result<std::unique_ptr<account::Account>> open_account(const ServeOptions& options,
                                                       volume::ObjectStore* store) {
  auto found = ensure_account(options, store);
  if (!found) return pass(found.error());
  if (options.dev) found->keys = {kEmulatorKey, "", "", ""};
  account::AccountOptions account_options{
      .name = options.account, .region = options.region, .regenerate = {}};
  if (!options.dev && options.node.is_node()) {
    account_options.regenerate = [store](account::KeyName name) {
      return regenerate_shared_key(*store, name);
    };
  } else if (!options.dev) {
    account_options.regenerate = [folder = options.data](account::KeyName name) {
      return regenerate_key(folder, name);
    };
  }
  return account::Account::open(found->keys, std::move(found->secret), std::move(account_options));
}

// With the certificate, which is made when none is given.
Result<net::ServerOptions> server_options_of(const ServeOptions& options, const Limits& limits) {
  net::ServerOptions made;
  made.threads = options.threads;
  made.certificate_file = options.certificate;
  made.private_key_file = options.private_key;
  if (options.certificate.empty()) {
    made.certificate_file = options.data + "/cert.pem";
    made.private_key_file = options.data + "/key.pem";
    if (auto ensured = net::ensure_certificate(made.certificate_file, made.private_key_file);
        !ensured) {
      return pass(ensured.error());
    }
  }
  warn_if_others_can_read(made.private_key_file);
  made.connections_max = static_cast<uint32_t>(limits.connections);
  made.request_buffer_bytes = limits.request_buffer_bytes;
  made.response_buffer_bytes = limits.response_buffer_bytes;
  return made;
}

// Whether one of the signals, which are blocked, has come.
bool is_pending(const sigset_t& signals) {
  sigset_t pending;
  sigpending(&pending);
  return (sigismember(&signals, SIGTERM) == 1 && sigismember(&pending, SIGTERM) == 1) ||
         (sigismember(&signals, SIGINT) == 1 && sigismember(&pending, SIGINT) == 1);
}

// A server that was killed on another machine seems to live until its lease has ended.
Result<std::unique_ptr<cluster::Engine>> open_engine(volume::Volume& volume, const Clock& clock,
                                                     const cluster::EngineOptions& options) {
  auto engine = cluster::Engine::open(volume, clock, options);
  if (engine || engine.error().code != Code::moved) return engine;
  log::info("another server had this volume: waiting to see whether it is gone",
            {{"volume", volume.place(catalog::kCatalogVolumeName)}});
  if (auto gone = volume.outlive_owner(catalog::kCatalogVolumeName); !gone) {
    return fail(Code::moved, fmt::format("another server uses this volume, and one does at a time: "
                                         "stop it first ({})",
                                         gone.error().message));
  }
  return cluster::Engine::open(volume, clock, options);
}

void set_replicas(const ServeOptions& options, cluster::Engine& engine) {
  if (engine.placement() == nullptr) return;  // a server alone
  cluster::ReplicaReader* replicas = engine.placement()->replicas();
  if (replicas == nullptr) return;
  cluster::ReplicaSettings settings{.staleness_max_us = 1'000LL * options.replica_staleness_ms};
  // Never in a normal start: while this file is there, no replica is opened or catches up.
  const char* file = std::getenv("ORRERY_TEST_HOLD_REPLICAS");  // NOLINT(concurrency-mt-unsafe)
  if (file != nullptr) {
    log::warn("ORRERY_TEST_HOLD_REPLICAS is set: a test has the replicas in hand");
    settings.is_held = [path = std::string(file)] { return std::filesystem::exists(path); };
  }
  replicas->set(std::move(settings));
}

// For the other commands.
Status note_where_it_is(const ServeOptions& options, const account::Account& account,
                        const std::vector<net::ListenerStatus>& listeners,
                        const std::string& certificate_file) {
  auto certificate = net::first_certificate(certificate_file);
  if (!certificate) return pass(certificate.error());
  RunningServer running{.address = options.address,
                        .port = listeners.front().port,
                        .dev = options.dev,
                        .certificate = std::move(*certificate),
                        .account = account.name()};
  for (size_t i = 1; i < listeners.size(); ++i) {
    running.faces.emplace(listeners[i].name, listeners[i].port);
  }
  auto written = write_running_server(options.data, running);
  if (!written) {
    remove_running_server(options.data);  // of a server before, which is not this one
    log::warn("cannot note where the server is: the other commands have to be told",
              {{"error", written.error().message}});
  }
  return {};
}

// The ready lines are out when it returns.
Status start_listening(const ServeOptions& options, const account::Account& account,
                       const std::string& certificate_file, net::Server& server,
                       FaceListeners& faces) {
  if (auto started = server.start(); !started) return started;
  faces.pages().set_server(&server);
  const std::vector<net::ListenerStatus> listeners = server.listeners();
  if (auto noted = note_where_it_is(options, account, listeners, certificate_file); !noted) {
    return noted;
  }
  say_ready(listeners);
  return {};
}

Status end_of_run(const OpenedVolume& volume) {
  if (!volume.lease || !volume.lease->is_lost()) return {};
  // No success, so that a service manager starts it again: it comes back as a new node.
  return fail(Code::moved, "another server has this volume now: start this one again");
}

// Who may do what: the account, and what tells of changes of its keys and of those that sign in.
struct Access {
  std::unique_ptr<account::Account> account;
  std::unique_ptr<KeyWatch> key_watch;  // of a node among others
  std::string metrics_token;
  std::unique_ptr<EntraWatch> entra_watch;
};

Result<Access> open_access(const ServeOptions& options, volume::ObjectStore* store) {
  Access access;
  auto account = open_account(options, store);
  if (!account) return pass(account.error());
  access.account = std::move(*account);
  if (options.node.is_node() && !options.dev) {
    access.key_watch = std::make_unique<KeyWatch>(*store, *access.account, options.data);
  }
  if (!options.dev) {
    auto token = ensure_metrics_token(options.data);
    if (!token) return pass(token.error());
    access.metrics_token = std::move(*token);
  }
  auto entra_watch = EntraWatch::open(options.entra, options.sign_in);
  if (!entra_watch) return pass(entra_watch.error());
  access.entra_watch = std::move(*entra_watch);
  return access;
}

// The threads and processes of a node that work for all of its faces.
struct SharedWorkers {
  SharedWorkers(const Limits& limits, const Clock& clock)
      : scripts(limits),
        lanes(limits, clock, scripts.workers_max()),
        query_helpers(std::max(2U, std::thread::hardware_concurrency()) - 1) {}

  script::Host scripts;
  face::Lanes lanes;
  cluster::QueryHelpers query_helpers;  // with a query's own thread, one for each core
};

// A second signal does not wait. Nor does anybody wait for ever: what was acknowledged is durable,
// and a node without its lease has nothing left to give away.
void bound_the_stop(const sigset_t& stop_signals, uint32_t patience_s) {
  const timespec patience{.tv_sec = patience_s, .tv_nsec = 0};
  survive("watching for a second signal", [&] {
    std::thread([stop_signals, patience] {
      if (sigtimedwait(&stop_signals, nullptr, &patience) > 0) std::_Exit(130);
      log::error("stopping takes too long: the process ends without it");
      std::_Exit(1);
    }).detach();
  });
}

// What the pages of other nodes ask of this one's.
void answer_other_nodes(ClusterNode& node, ops::Pages& pages) {
  for (const auto& [kind, answerer] : pages.answerers()) node.answer_with(kind, *answerer);
}

Status run(const ServeOptions& options, Settings& settings, const sigset_t& stop_signals,
           const Readiness& readiness) {
  auto lock = FolderLock::take(options.data);
  if (!lock) return pass(lock.error());
  fit_to_disk(disk_bytes(options.data), settings.engine.limits);

  auto store = open_store(options.volume);
  if (!store) return pass(store.error());
  auto access = open_access(options, store->get());
  if (!access) return pass(access.error());
  const Limits& limits = settings.engine.limits;
  auto server_options = server_options_of(options, limits);
  if (!server_options) return pass(server_options.error());

  const RealClock clock;
  auto test_clock = TestClock::from_environment();
  if (!test_clock) return pass(test_clock.error());
  if (*test_clock) log::warn("ORRERY_TEST_CLOCK is set: a test has the clock in hand");
  const Clock& engine_clock = *test_clock ? static_cast<const Clock&>(**test_clock) : clock;
  auto node = ClusterNode::open(options.node);
  if (!node) return pass(node.error());
  settings.engine.node = options.node.name;
  settings.engine.link = (*node)->link();
  auto volume = open_volume(*store, options.node, options.data, limits);
  if (!volume) return pass(volume.error());
  auto engine = open_engine(*volume->volume, engine_clock, settings.engine);
  if (!engine) return pass(engine.error());
  set_replicas(options, **engine);
  if (volume->lease) (*node)->join(**engine, clock, **store, volume->lease);
  const OnEnd node_stops([&] { (*node)->stop(); });  // whatever happens: before the engine goes
  SharedWorkers workers((*engine)->limits(), clock);
  face::Context context{.engine = **engine,
                        .scripts = workers.scripts,
                        .account = *access->account,
                        .lanes = workers.lanes,
                        .clock = clock,
                        .forwarder = (*node)->forwarder(),
                        .query_helpers = &workers.query_helpers};
  auto test_hop = TestHop::from_environment(context, options);
  if (!test_hop) return pass(test_hop.error());
  if (*test_hop) context.forwarder = &(*test_hop)->forwarder();
  FaceListeners faces(context, options, limits);  // before the server, whose sessions use them
  auto server = net::Server::create(*server_options);
  if (!server) return pass(server.error());
  if (auto made = faces.listen(**server, std::move(access->metrics_token)); !made) return made;
  const OnEnd calls_end([&] { (*node)->stop(); });  // an early return too: before the faces go
  (*node)->serve(faces.faces());
  faces.pages().set_node((*node)->node(), (*node)->link());
  if (!(*node)->wait_until_ready([&] { return is_pending(stop_signals); }))
    return end_of_run(*volume);
  const std::string& certificate = server_options->certificate_file;
  if (auto ready = start_listening(options, *access->account, certificate, **server, faces);
      !ready) {
    return ready;
  }
  answer_other_nodes(**node, faces.pages());
  readiness.ready();

  int signal = 0;
  sigwait(&stop_signals, &signal);
  Status ended = end_of_run(*volume);  // before the lease is given back
  readiness.stopping();
  // Without its lease a node can finish nothing: what it accepted waits for a plan that never
  // comes.
  const std::chrono::seconds grace(ended ? options.grace_s : 0);
  log::info("stopping: finishing what was accepted", {{"grace_s", grace.count()}});
  bound_the_stop(stop_signals, ended ? options.grace_s + kStopMaxS : kDeposedStopMaxS);
  (*node)->leave(grace);
  (*server)->stop(grace);
  if (*test_hop) (*test_hop)->stop();
  faces.pages().set_node(nullptr, nullptr);
  (*node)->stop();
  workers.lanes.stop();
  faces.stop();
  server->reset();
  engine->reset();
  remove_running_server(options.data);
  log::info("stopped");
  return ended;
}

}  // namespace

int serve(const ServeOptions& given) {
  ServeOptions options = given;
  if (!options.entra.empty()) options.sign_in = std::make_shared<cosmos::Entra>();
  set_up_heap();
  // Whatever this process and its workers make, libraries included, is the owner's alone.
  ::umask(077);
  auto settings = settings_of(options);
  Status armed = fault::arm_from_environment();
  if (!settings || !armed) {
    fmt::print(stderr, "orrery serve: {}\n",
               settings ? armed.error().message : settings.error().message);
    return 2;
  }
  log::configure(settings->log_level, settings->log_format);
  if (auto fitted = fit_descriptors(options, settings->engine.limits); !fitted) {
    fmt::print(stderr, "orrery serve: {}\n", fitted.error().message);
    return 1;
  }
  if (!settings->engine.sync_commits) {
    log::warn("durability is relaxed: writes acknowledged just before a crash may be lost");
  }
  const Readiness readiness = Readiness::from_environment();
  // Blocked before any thread starts, so that only sigwait sees them.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  Status ran;
  try {
    ran = run(options, *settings, stop_signals, readiness);
  } catch (const std::exception& error) {
    // No thread, or no memory, to start with.
    ran = fail(Code::overloaded, error.what());
  }
  if (ran) return 0;
  fmt::print(stderr, "orrery serve: {}\n", ran.error().message);
  return 1;
}

}  // namespace orrery::cli
