// Moves records from a source into a container or a table: reads while the writer has room, keeps
// account of what is under way, saves checkpoints, and writes down what was rejected.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/client.h"
#include "transfer/checkpoint.h"
#include "transfer/group_writer.h"
#include "transfer/ledger.h"
#include "transfer/progress.h"
#include "transfer/record_source.h"
#include "transfer/reject_file.h"

namespace orrery::transfer {

struct PumpOptions {
  std::string what;             // which transfer this is, for the checkpoint
  std::string checkpoint_path;  // empty: none
  std::string rejects_path;
  bool generate_ids = false;
  std::optional<uint64_t> rejects_max;  // more than that end it
  std::function<bool()> stopped;        // whether a person asked to stop
  std::function<void()> each_round;     // unset: nothing
  std::string_view phase;               // for the progress
};

enum class Ending : uint8_t { complete, stopped };

class Pump {
 public:
  static Result<std::unique_ptr<Pump>> open(RecordSource& source, client::Client& target,
                                            const MakeWriter& make_writer, PumpOptions options,
                                            Progress& progress);

  // Goes on from the checkpoint, if there is one. An error ends it; what was done is in the
  // checkpoint then.
  Result<Ending> run();

  const TransferCounts& counts() const { return counts_; }
  const std::string& rejects_path() const { return rejects_.path(); }
  uint64_t throttled() const;
  void set_phase(std::string_view phase) { options_.phase = phase; }
  // For what is done after run(): the checkpoint is of no use then.
  void remove_checkpoint() const { checkpoint_.remove(); }

 private:
  Pump(RecordSource& source, client::Client& target, PumpOptions options, Progress& progress);
  Status resume();
  // Reads records while there is room. False: the source has nothing now.
  Result<bool> read_some();
  void take(Record record);
  void reject(uint64_t ticket, std::string_view record, std::string_view reason);
  Status drain();
  // Keeps what a checkpoint says, while the source is settled.
  void note_position();
  Status save();
  Status save_now_and_then();
  std::optional<double> fraction() const;
  void show();

  RecordSource& source_;
  client::Client& target_;
  PumpOptions options_;
  Progress& progress_;
  Ledger ledger_;
  CheckpointFile checkpoint_;
  RejectFile rejects_;
  std::unique_ptr<GroupWriter> writer_;
  TransferCounts counts_;  // of all that was passed: what the checkpoint says
  bool ended_ = false;     // the source
  Checkpoint noted_;
  int64_t saved_us_ = 0;
  RealClock clock_;
  std::optional<Error> failed_;
};

}  // namespace orrery::transfer
