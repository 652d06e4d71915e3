// A store of named objects, each with bytes, attributes and entries, as RADOS has them. It is what
// the object volume is built on: RADOS for clusters, a shared directory for tests without Ceph.
//
// An ObjectChange is atomic: its conditions are checked and its changes made at one moment, or
// nothing is changed. There is no atomicity across objects; whatever needs several steps is ordered
// so that a crash between any two of them is harmless.
//
// Thread-safe. Calls block, but for start().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace orrery::volume {

struct ObjectChange {
  enum class Presence : uint8_t {
    any,           // made when it is not there
    must_be_new,   // Applied::exists otherwise
    must_be_there  // Applied::absent otherwise
  };
  enum class Data : uint8_t { keep, append, replace };

  // Conditions. An attribute or entry that is not there equals the empty string.
  Presence presence = Presence::any;
  std::vector<std::pair<std::string, std::string>> attributes_equal = {};
  std::vector<std::pair<std::string, std::string>> entries_equal = {};

  // Changes.
  std::map<std::string, std::string> set_attributes = {};
  std::map<std::string, std::string> set_entries = {};
  std::vector<std::string> erase_entries = {};
  Data data = Data::keep;
  std::string_view bytes = {};  // for append and replace
  bool remove = false;          // the whole object, and nothing else
};

enum class Applied : uint8_t {
  done,
  differs,  // an attribute or entry is not what it should be
  exists,
  absent,
  full,     // the store has no space left
  unknown,  // no answer: it may have been applied, or may be at any later time
  failed,   // not applied, for another reason
};

struct Outcome {
  Applied applied = Applied::done;
  std::string message = {};  // of full, unknown and failed

  bool is_done() const { return applied == Applied::done; }
};

struct ObjectState {
  uint64_t size = 0;
  std::map<std::string, std::string> attributes;
  std::map<std::string, std::string, std::less<>> entries;

  // Empty when it is not there.
  std::string_view attribute(const std::string& name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? std::string_view() : std::string_view(found->second);
  }
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  virtual Outcome apply(const std::string& object, const ObjectChange& change) = 0;
  // The same without waiting. `change.bytes` stay as they are until `done` is called, which must
  // not block.
  virtual void start(const std::string& object, const ObjectChange& change,
                     std::move_only_function<void(Outcome)> done) {
    done(apply(object, change));
  }

  // All of an object but its bytes, as of one moment. Code::not_found without it.
  virtual Result<ObjectState> inspect(const std::string& object) = 0;
  // One entry of it; nothing without the entry or the object.
  virtual Result<std::optional<std::string>> entry(const std::string& object,
                                                   const std::string& name) = 0;
  // How many bytes were there. Code::not_found without the object.
  virtual Result<size_t> read(const std::string& object, uint64_t offset, std::span<char> into) = 0;
  // Of names that begin so. It may take long, and need not know what is made or removed meanwhile.
  virtual Result<std::vector<std::string>> list(std::string_view prefix) = 0;

  // How much of the space is free: 0 to 1.
  virtual Result<double> free_share() = 0;
  // As an operator knows it: for messages.
  virtual std::string place() const = 0;
};

}  // namespace orrery::volume
