// The fence of one claim on a local partition: see local_volume.h for how it works.
//
// Thread-safe. The locks belong to this object's own file description; many threads share the flock
// by counting, since unlocking in one would unlock for all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/thread_annotations.h"

namespace orrery::volume {

enum class LivingOwner : uint8_t { is_left_alone, is_deposed };

class Fence {
 public:
  // Claims the partition at `place`. Code::moved, with nothing changed, when it has a living owner
  // that is to be left alone. Code::not_found when the directory does not exist, or was removed
  // while this waited for another claimer. `check` is given the notes behind the epoch while nobody
  // else can change the place, and may refuse. Unless a living owner is being deposed, nothing has
  // been changed before that.
  static Result<std::shared_ptr<Fence>> take(const std::string& place, LivingOwner owner,
                                             const std::function<Status(std::string_view)>& check);
  // Deposes whoever owns `place` and calls `remove` while nobody can take it; what was taken before
  // stays deposed even if a place of the same name is made afterwards.
  static Status depose(const std::string& place, const std::function<Status()>& remove);
  ~Fence();
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

  uint64_t epoch() const { return epoch_; }

  // The owner's notes, in the same file as the epoch: see progress.h. Fails when it was deposed.
  static constexpr size_t kNotesBytes = 2048;
  Status write_notes(size_t at, std::string_view bytes, bool and_sync);

  // While one of these is alive and ok(), nobody can take over.
  class Pass {
   public:
    explicit Pass(Fence& fence) : fence_(fence), ok_(fence.enter()) {}
    ~Pass() {
      if (ok_) fence_.leave();
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    bool ok() const { return ok_; }

   private:
    Fence& fence_;
    bool ok_;
  };

 private:
  Fence(int fd, uint64_t epoch) : fd_(fd), epoch_(epoch) {}
  bool enter();
  void leave();

  const int fd_;
  const uint64_t epoch_;
  Mutex mutex_;
  int inside_ ORRERY_GUARDED_BY(mutex_) = 0;
};

}  // namespace orrery::volume
