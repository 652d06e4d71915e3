// Writes the records of a container or a table into files: an array, NDJSON or CSV.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "transfer/checkpoint.h"
#include "transfer/csv.h"
#include "transfer/item.h"
#include "transfer/output_file.h"
#include "transfer/progress.h"
#include "transfer/pump.h"
#include "transfer/record_source.h"
#include "transfer/reject_file.h"

namespace orrery::transfer {

struct ExportSettings {
  std::string what;
  std::string checkpoint_path;
  std::string rejects_path;
  OutputOptions output;
  CsvOptions csv;
  bool chosen_columns = false;  // a person chose them: other properties are left out on purpose
  bool keep_system = false;     // _ts, _etag, … as well
  RecordKind kind = RecordKind::item;
  std::function<bool()> stopped;
};

// The columns that the records of a source have, by first appearance; `id` of items is the first.
// Code::invalid when there are more than kColumnsMax.
Result<std::vector<std::string>> find_columns(RecordSource& source, const ExportSettings& settings,
                                              Progress& progress);

class Exporter {
 public:
  Exporter(RecordSource& source, ExportSettings settings, Progress& progress);

  // Whether there is a checkpoint to go on from; the columns of CSV are in it then.
  Result<bool> resume();
  void set_columns(std::vector<std::string> columns);
  Result<Ending> run();

  const TransferCounts& counts() const { return counts_; }
  const std::string& rejects_path() const { return rejects_.path(); }
  uint64_t files() const { return output_ ? output_->files() : 0; }
  void remove_checkpoint() const { checkpoint_.remove(); }

 private:
  Status take(const Record& record);
  // The record as a line of the file; an error rejects it.
  Result<std::string> line_of(const Record& record) const;
  Result<std::string> csv_line_of(const value::Node& object) const;
  Status finish_file();
  Status save();

  RecordSource& source_;
  ExportSettings settings_;
  Progress& progress_;
  CheckpointFile checkpoint_;
  RejectFile rejects_;
  std::optional<OutputFile> output_;
  std::unordered_map<std::string, size_t> column_at_;
  TransferCounts counts_;
  bool file_has_records_ = false;
  RealClock clock_;
  int64_t saved_us_ = 0;
};

}  // namespace orrery::transfer
