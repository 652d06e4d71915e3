// See rados_store.h.
#include "volume/rados/rados_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "volume/rados/librados.h"

namespace orrery::volume {
namespace {

// How many entries one answer brings; Ceph's own limit is 1,024.
constexpr uint64_t kEntriesAtOnce = 1'000;

std::string error_text(int result) {
  return std::strerror(-result);
}

Outcome outcome_of(int result, const ObjectChange& change) {
  if (result >= 0) return {};
  switch (-result) {
    case ECANCELED:  // a comparison
    case ENODATA:    // of an attribute that is not there
      return {.applied = Applied::differs};
    case EEXIST:
      return {.applied = Applied::exists};
    case ENOENT:
      // A comparison with an object that is not there says the same.
      return {.applied = change.presence == ObjectChange::Presence::must_be_there || change.remove
                             ? Applied::absent
                             : Applied::differs};
    case ENOSPC:
    case EDQUOT:
      return {.applied = Applied::full, .message = error_text(result)};
    case ETIMEDOUT:
      return {.applied = Applied::unknown, .message = error_text(result)};
    default:
      return {.applied = Applied::failed, .message = error_text(result)};
  }
}

// Arrays as the library takes them.
struct NamesAndValues {
  std::vector<const char*> names;
  std::vector<const char*> values;
  std::vector<size_t> name_sizes;
  std::vector<size_t> value_sizes;

  explicit NamesAndValues(const std::map<std::string, std::string>& all) {
    for (const auto& [name, value] : all) {
      names.push_back(name.data());
      name_sizes.push_back(name.size());
      values.push_back(value.data());
      value_sizes.push_back(value.size());
    }
  }
};

class WriteOperation {
 public:
  // The change outlives it.
  WriteOperation(const Librados& rados, const ObjectChange& change)
      : rados_(rados), operation_(rados.create_write_op()) {
    add_conditions(change);
    if (change.remove) {
      rados_.write_op_remove(operation_);
    } else {
      add_changes(change);
    }
  }
  ~WriteOperation() { rados_.release_write_op(operation_); }
  WriteOperation(const WriteOperation&) = delete;
  WriteOperation& operator=(const WriteOperation&) = delete;

  rados_write_op_t get() const { return operation_; }

 private:
  void add_conditions(const ObjectChange& change) {
    switch (change.presence) {
      case ObjectChange::Presence::any:
        // Compared with, it must be there; made here, it equals an empty one.
        if (!change.remove) {
          rados_.write_op_create(operation_, LIBRADOS_CREATE_IDEMPOTENT, nullptr);
        }
        break;
      case ObjectChange::Presence::must_be_new:
        rados_.write_op_create(operation_, LIBRADOS_CREATE_EXCLUSIVE, nullptr);
        break;
      case ObjectChange::Presence::must_be_there:
        rados_.write_op_assert_exists(operation_);
        break;
    }
    for (const auto& [name, value] : change.attributes_equal) {
      rados_.write_op_cmpxattr(operation_, name.c_str(), LIBRADOS_CMPXATTR_OP_EQ, value.data(),
                               value.size());
    }
    results_.resize(change.entries_equal.size());
    for (size_t i = 0; i < change.entries_equal.size(); ++i) {
      const auto& [name, value] = change.entries_equal[i];
      rados_.write_op_omap_cmp2(operation_, name.c_str(), LIBRADOS_CMPXATTR_OP_EQ, value.data(),
                                name.size(), value.size(), &results_[i]);
    }
  }

  void add_changes(const ObjectChange& change) {
    for (const auto& [name, value] : change.set_attributes) {
      rados_.write_op_setxattr(operation_, name.c_str(), value.data(), value.size());
    }
    if (!change.erase_entries.empty()) {
      std::vector<const char*> names;
      std::vector<size_t> sizes;
      for (const std::string& name : change.erase_entries) {
        names.push_back(name.data());
        sizes.push_back(name.size());
      }
      rados_.write_op_omap_rm_keys2(operation_, names.data(), sizes.data(), names.size());
    }
    if (!change.set_entries.empty()) {
      const NamesAndValues all(change.set_entries);
      rados_.write_op_omap_set2(operation_, all.names.data(), all.values.data(),
                                all.name_sizes.data(), all.value_sizes.data(), all.names.size());
    }
    switch (change.data) {
      case ObjectChange::Data::keep:
        break;
      case ObjectChange::Data::append:
        rados_.write_op_append(operation_, change.bytes.data(), change.bytes.size());
        break;
      case ObjectChange::Data::replace:
        rados_.write_op_write_full(operation_, change.bytes.data(), change.bytes.size());
        break;
    }
  }

  const Librados& rados_;
  const rados_write_op_t operation_;
  std::vector<int> results_;
};

class RadosStore final : public ObjectStore {
 public:
  RadosStore(const Librados& rados, RadosOptions options)
      : rados_(rados), options_(std::move(options)) {}
  ~RadosStore() override {
    if (pool_ != nullptr) rados_.ioctx_destroy(pool_);
    if (cluster_ != nullptr) rados_.shutdown(cluster_);
  }
  RadosStore(const RadosStore&) = delete;
  RadosStore& operator=(const RadosStore&) = delete;

  Status connect() {
    if (int made = rados_.create2(&cluster_, "ceph", ("client." + options_.user).c_str(), 0);
        made < 0) {
      cluster_ = nullptr;
      return cannot("prepare a connection", made);
    }
    if (int read = rados_.conf_read_file(cluster_, options_.conf_file.c_str()); read < 0) {
      return cannot(fmt::format("read {}", options_.conf_file), read);
    }
    const std::array<std::pair<const char*, uint32_t>, 3> settings = {{
        {"client_mount_timeout", options_.connect_timeout_s},
        {"rados_osd_op_timeout", options_.timeout_s},
        {"rados_mon_op_timeout", options_.timeout_s},
    }};
    for (const auto& [name, value] : settings) {
      rados_.conf_set(cluster_, name, std::to_string(value).c_str());
    }
    if (int connected = rados_.connect(cluster_); connected < 0) {
      return cannot("reach the monitors", connected);
    }
    if (int opened = rados_.ioctx_create(cluster_, options_.pool.c_str(), &pool_); opened < 0) {
      pool_ = nullptr;
      return cannot(fmt::format("open the pool '{}'", options_.pool), opened);
    }
    rados_.ioctx_set_namespace(pool_, options_.name_space.c_str());
    return {};
  }

  Outcome apply(const std::string& object, const ObjectChange& change) override {
    const WriteOperation operation(rados_, change);
    return outcome_of(rados_.write_op_operate(operation.get(), pool_, object.c_str(), nullptr, 0),
                      change);
  }

  void start(const std::string& object, const ObjectChange& change,
             std::move_only_function<void(Outcome)> done) override {
    auto pending = std::make_unique<Pending>(rados_, change, std::move(done));
    rados_completion_t completion = nullptr;
    if (int made = rados_.aio_create_completion2(pending.get(), &Pending::complete, &completion);
        made < 0) {
      return pending->done(outcome_of(made, change));
    }
    Pending* const raw = pending.release();
    const int sent = rados_.aio_write_op_operate(raw->operation.get(), pool_, completion,
                                                 object.c_str(), nullptr, 0);
    if (sent < 0) {
      const std::unique_ptr<Pending> unsent(raw);
      rados_.aio_release(completion);
      unsent->done(outcome_of(sent, unsent->change));
    }
  }

  Result<ObjectState> inspect(const std::string& object) override {
    // Pages of entries may be of different moments: it is read again until they are not.
    for (;;) {
      ObjectState state;
      uint64_t version = 0;
      bool same = true;
      for (std::string after;;) {
        bool more = false;
        auto read = read_page(object, after, state, more);
        if (!read) return pass(read.error());
        same = after.empty() || *read == version;
        version = *read;
        if (!more || !same) break;
        after = state.entries.rbegin()->first;
      }
      if (same) return state;
    }
  }

  Result<std::optional<std::string>> entry(const std::string& object,
                                           const std::string& name) override {
    const rados_read_op_t operation = rados_.create_read_op();
    const char* key = name.data();
    const size_t key_size = name.size();
    rados_omap_iter_t found = nullptr;
    int answer = 0;
    rados_.read_op_omap_get_vals_by_keys2(operation, &key, 1, &key_size, &found, &answer);
    const int result = rados_.read_op_operate(operation, pool_, object.c_str(), 0);
    std::optional<std::string> value;
    if (found != nullptr) {
      if (result >= 0) next_entry(found, [&](std::string_view, std::string_view v) { value = v; });
      rados_.omap_get_end(found);
    }
    rados_.release_read_op(operation);
    if (result < 0 && result != -ENOENT) return failed("read an entry of", object, result);
    return value;
  }

  Result<size_t> read(const std::string& object, uint64_t offset, std::span<char> into) override {
    const int got = rados_.read(pool_, object.c_str(), into.data(), into.size(), offset);
    if (got < 0) return failed("read", object, got);
    return static_cast<size_t>(got);
  }

  Result<std::vector<std::string>> list(std::string_view prefix) override {
    rados_list_ctx_t listing = nullptr;
    if (int opened = rados_.nobjects_list_open(pool_, &listing); opened < 0) {
      return failed("list", options_.pool, opened);
    }
    std::vector<std::string> names;
    const char* name = nullptr;
    int result = 0;
    while ((result = rados_.nobjects_list_next(listing, &name, nullptr, nullptr)) == 0) {
      if (std::string_view(name).starts_with(prefix)) names.emplace_back(name);
    }
    rados_.nobjects_list_close(listing);
    if (result != -ENOENT) return failed("list", options_.pool, result);
    return names;
  }

  Result<double> free_share() override {
    rados_cluster_stat_t stat = {};
    if (int result = rados_.cluster_stat(cluster_, &stat); result < 0) {
      return failed("ask for the space of", options_.pool, result);
    }
    if (stat.kb == 0) return 1.0;
    return static_cast<double>(stat.kb_avail) / static_cast<double>(stat.kb);
  }

  std::string place() const override {
    return options_.name_space.empty()
               ? fmt::format("rados:{}", options_.pool)
               : fmt::format("rados:{}/{}", options_.pool, options_.name_space);
  }

 private:
  // A change on its way.
  struct Pending {
    Pending(const Librados& rados_in, const ObjectChange& change_in,
            std::move_only_function<void(Outcome)> done_in)
        : rados(rados_in),
          change(change_in),
          operation(rados_in, change),
          done(std::move(done_in)) {}

    // Called by a thread of the library.
    static void complete(rados_completion_t completion, void* argument) {
      const std::unique_ptr<Pending> pending(static_cast<Pending*>(argument));
      const int result = pending->rados.aio_get_return_value(completion);
      pending->rados.aio_release(completion);
      pending->done(outcome_of(result, pending->change));
    }

    const Librados& rados;
    const ObjectChange change;
    const WriteOperation operation;
    std::move_only_function<void(Outcome)> done;
  };

  std::unexpected<Error> cannot(std::string_view what, int result) const {
    return fail(Code::invalid, fmt::format("cannot {} of Ceph, as client.{} with {}: {}", what,
                                           options_.user, options_.conf_file, error_text(result)));
  }
  std::unexpected<Error> failed(std::string_view what, std::string_view object, int result) const {
    return fail(result == -ENOENT ? Code::not_found : Code::internal,
                fmt::format("cannot {} {} in {}: {}", what, object, place(), error_text(result)));
  }

  template <class Take>
  bool next_entry(rados_omap_iter_t iterator, const Take& take) const {
    char* name = nullptr;
    char* value = nullptr;
    size_t name_size = 0;
    size_t value_size = 0;
    if (rados_.omap_get_next2(iterator, &name, &value, &name_size, &value_size) != 0) return false;
    if (name == nullptr) return false;
    take(std::string_view(name, name_size), std::string_view(value, value_size));
    return true;
  }

  // Adds the entries after this one, and sets everything else. Returns the object's version.
  Result<uint64_t> read_page(const std::string& object, const std::string& after,
                             ObjectState& state, bool& more) const {
    const rados_read_op_t operation = rados_.create_read_op();
    uint64_t size = 0;
    int stat_result = 0;
    rados_.read_op_stat(operation, &size, nullptr, &stat_result);
    rados_xattrs_iter_t attributes = nullptr;
    int attributes_result = 0;
    rados_.read_op_getxattrs(operation, &attributes, &attributes_result);
    rados_omap_iter_t entries = nullptr;
    unsigned char has_more = 0;
    int entries_result = 0;
    rados_.read_op_omap_get_vals2(operation, after.c_str(), "", kEntriesAtOnce, &entries, &has_more,
                                  &entries_result);
    rados_completion_t completion = nullptr;
    int result = rados_.aio_create_completion2(nullptr, nullptr, &completion);
    uint64_t version = 0;
    if (result >= 0) {
      result = rados_.aio_read_op_operate(operation, pool_, completion, object.c_str(), 0);
      if (result >= 0) {
        rados_.aio_wait_for_complete(completion);
        result = rados_.aio_get_return_value(completion);
        version = rados_.aio_get_version(completion);
      }
      rados_.aio_release(completion);
    }
    if (result >= 0) {
      state.size = size;
      state.attributes.clear();
      const char* name = nullptr;
      const char* value = nullptr;
      size_t value_size = 0;
      while (rados_.getxattrs_next(attributes, &name, &value, &value_size) == 0 &&
             name != nullptr) {
        state.attributes.emplace(name, std::string(value, value_size));
      }
      while (next_entry(entries, [&](std::string_view key, std::string_view text) {
        state.entries.insert_or_assign(std::string(key), std::string(text));
      })) {
      }
      more = has_more != 0 && !state.entries.empty();
    }
    if (attributes != nullptr) rados_.getxattrs_end(attributes);
    if (entries != nullptr) rados_.omap_get_end(entries);
    rados_.release_read_op(operation);
    if (result < 0) return failed("read", object, result);
    return version;
  }

  const Librados& rados_;
  const RadosOptions options_;
  rados_t cluster_ = nullptr;
  rados_ioctx_t pool_ = nullptr;
};

}  // namespace

Result<std::shared_ptr<ObjectStore>> open_rados_store(const RadosOptions& options) {
  auto rados = Librados::load();
  if (!rados) return pass(rados.error());
  auto store = std::make_shared<RadosStore>(**rados, options);
  if (auto connected = store->connect(); !connected) return pass(connected.error());
  return store;
}

}  // namespace orrery::volume
