// See node.h: loads the module, and lends it threads on which to answer.
#include "peer/node.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/worker_pool.h"
#include "peer/grpc/module.h"

namespace orrery::peer {
namespace {

constexpr const char* kModuleFile = "liborrery_peer.so";
constexpr const char* kInstalledModule = "/usr/lib/orrery/liborrery_peer.so";

// Beside the program, or where a package puts modules; also where /proc is not there to tell.
std::string module_file() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    for (const char* folder : {".", "../lib/orrery"}) {
      auto file = program.parent_path() / folder / kModuleFile;
      if (std::filesystem::exists(file, error)) return file;
    }
  }
  return std::filesystem::exists(kInstalledModule, error) ? kInstalledModule : kModuleFile;
}

Result<ModuleDoor> load() {
  const std::string file = module_file();
  // For good: gRPC has threads that end with the process.
  void* module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr) {
    return fail(Code::unsupported,
                fmt::format("cannot load {}, which has what nodes speak with one another; it "
                            "belongs beside the program, and needs gRPC (libgrpc++1.51): {}",
                            kModuleFile, ::dlerror()));
  }
  auto* door = reinterpret_cast<const ModuleDoor* (*)()>(::dlsym(module, kModuleDoorName));
  if (door == nullptr || door()->version != kModuleVersion) {
    return fail(Code::unsupported,
                fmt::format("{} is of another version than the program: install both from the same "
                            "package",
                            file));
  }
  return *door();
}

// Answers on threads that may block.
class PooledAnswerer final : public Answerer {
 public:
  PooledAnswerer(Answerer& inner, size_t threads) : inner_(inner), pool_("peers", threads) {}
  // Bounded by the calls that the module lets be under way.
  void answer(std::string kind, std::string bytes, Done done) override {
    pool_.post(
        [this, kind = std::move(kind), bytes = std::move(bytes), done = std::move(done)]() mutable {
          inner_.answer(std::move(kind), std::move(bytes), std::move(done));
        });
  }

 private:
  Answerer& inner_;
  WorkerPool pool_;
};

class LoadedNode final : public Node {
 public:
  LoadedNode(const NodeOptions& options, Answerer& answerer)
      : answerer_(answerer, options.answering_threads) {}
  ~LoadedNode() override { stop(std::chrono::milliseconds(0)); }

  Status open(const ModuleDoor& door, const NodeOptions& options, ForwardReceiver& receiver) {
    auto opened = door.open(options, answerer_, receiver);
    if (!opened) return pass(opened.error());
    inner_ = std::move(*opened);
    return {};
  }
  void call(const std::string& address, std::string kind, std::string bytes,
            std::chrono::milliseconds deadline, Done done) override {
    inner_->call(address, std::move(kind), std::move(bytes), deadline, std::move(done));
  }
  void forward(const std::string& address, const OutgoingRequest& request,
               std::chrono::milliseconds deadline, std::stop_token stop,
               ForwardDone done) override {
    inner_->forward(address, request, deadline, std::move(stop), std::move(done));
  }
  uint16_t port() const override { return inner_->port(); }
  NodeCounts counts() const override { return inner_->counts(); }
  void stop(std::chrono::milliseconds grace) override {
    if (inner_) inner_->stop(grace);
  }

 private:
  PooledAnswerer answerer_;
  std::unique_ptr<Node> inner_;
};

}  // namespace

Result<std::unique_ptr<Node>> open_node(const NodeOptions& options, Answerer& answerer,
                                        ForwardReceiver& receiver) {
  auto door = load();
  if (!door) return pass(door.error());
  NodeOptions given = options;
  if (given.log == nullptr) {
    // Nothing to worry about: whoever connects without a certificate makes such a line.
    given.log = [](const char* message) { log::debug("from gRPC", {{"message", message}}); };
  }
  auto node = std::make_unique<LoadedNode>(given, answerer);
  if (auto opened = node->open(*door, given, receiver); !opened) return pass(opened.error());
  return node;
}

}  // namespace orrery::peer
