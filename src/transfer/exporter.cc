// See exporter.h.
#include "transfer/exporter.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::transfer {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

constexpr int64_t kSaveEveryUs = 2'000'000;
constexpr int kExportWaitMs = 50;

std::string csv_header(const CsvOptions& csv) {
  std::string line;
  for (const std::string& column : csv.columns) {
    if (!line.empty()) line += csv.delimiter;
    append_name_cell(line, column, csv.delimiter);
  }
  return line + "\r\n";
}

bool is_kept(const ExportSettings& settings, std::string_view name) {
  return settings.keep_system || !is_system_property(name, settings.kind);
}

}  // namespace

Result<std::vector<std::string>> find_columns(RecordSource& source, const ExportSettings& settings,
                                              Progress& progress) {
  std::vector<std::string> columns;
  std::unordered_set<std::string> seen;
  uint64_t records = 0;
  while (true) {
    if (settings.stopped && settings.stopped()) return fail(Code::would_wait, "stopped");
    Record record;
    auto pulled = source.pull(record);
    if (!pulled) return pass(pulled.error());
    if (*pulled == RecordSource::Pull::end) break;
    source.turn(*pulled == RecordSource::Pull::wait ? kExportWaitMs : 0);
    if (*pulled == RecordSource::Pull::wait) continue;
    source.passed(record.mark);
    ++records;
    progress.show({.records = records,
                   .charge = source.charge(),
                   .fraction = source.fraction(),
                   .phase = "looking for columns"});
    auto document = JsonDocument::parse(record.text);
    if (!document || document->root().type != Type::object)
      continue;  // rejected when it is written
    auto found = columns_of(document->root(), settings.csv.nested);
    if (!found) continue;
    for (Column& column : *found) {
      if (column.name.empty() || !is_kept(settings, column.name)) continue;
      if (!seen.insert(column.name).second) continue;
      if (columns.size() == kColumnsMax) {
        return fail(Code::invalid,
                    fmt::format("the items have more than {} columns: choose some with --columns, "
                                "or another format",
                                kColumnsMax));
      }
      if (column.name == "id" && settings.kind == RecordKind::item) {
        columns.insert(columns.begin(), "id");
      } else {
        columns.push_back(std::move(column.name));
      }
    }
  }
  if (columns.empty() && settings.kind == RecordKind::item) columns.emplace_back("id");
  if (columns.empty()) columns = {"PartitionKey", "RowKey"};
  return columns;
}

Exporter::Exporter(RecordSource& source, ExportSettings settings, Progress& progress)
    : source_(source),
      settings_(std::move(settings)),
      progress_(progress),
      checkpoint_(settings_.checkpoint_path),
      rejects_(settings_.rejects_path) {
  set_columns(settings_.csv.columns);
}

void Exporter::set_columns(std::vector<std::string> columns) {
  settings_.csv.columns = std::move(columns);
  column_at_.clear();
  for (size_t i = 0; i < settings_.csv.columns.size(); ++i) {
    column_at_.emplace(settings_.csv.columns[i], i);
  }
}

Result<bool> Exporter::resume() {
  auto output = OutputFile::open(settings_.output);
  if (!output) return pass(output.error());
  output_ = std::move(*output);
  auto saved = checkpoint_.read(settings_.what);
  if (!saved) return pass(saved.error());
  if (!*saved) {
    if (Status is_new = rejects_.check_is_new(); !is_new) return pass(is_new.error());
    return false;
  }
  const Node* where = (*saved)->output;
  const Node* position = where == nullptr ? nullptr : where->find("position");
  if (position == nullptr) {
    return fail(Code::invalid, fmt::format("{} is no checkpoint of an export", checkpoint_.path()));
  }
  if (Status done = source_.resume(*(*saved)->position); !done) return pass(done.error());
  if (Status done = output_->resume(*position); !done) return pass(done.error());
  counts_ = (*saved)->checkpoint.counts;
  rejects_ = RejectFile((*saved)->checkpoint.rejects_path);
  if (Status done = rejects_.resume((*saved)->checkpoint.rejects_bytes); !done) {
    return pass(done.error());
  }
  const Node* has_records = where->find("hasRecords");
  file_has_records_ = has_records != nullptr && has_records->boolean;
  std::vector<std::string> columns;
  const Node* names = where->find("columns");
  for (const Node* one = names == nullptr ? nullptr : names->first; one != nullptr;
       one = one->next) {
    columns.emplace_back(one->text);
  }
  set_columns(std::move(columns));
  progress_.say(fmt::format("going on from {}: {} records were done", checkpoint_.path(),
                            with_commas(counts_.read)));
  return true;
}

Result<std::string> Exporter::csv_line_of(const Node& object) const {
  auto columns = columns_of(object, settings_.csv.nested);
  if (!columns) return pass(columns.error());
  std::vector<const Node*> cells(settings_.csv.columns.size(), nullptr);
  for (const Column& column : *columns) {
    if (!is_kept(settings_, column.name)) continue;
    const auto found = column_at_.find(column.name);
    if (found != column_at_.end()) {
      cells[found->second] = column.node;
    } else if (column.name.empty() && !settings_.chosen_columns) {
      return fail(Code::invalid, "it has a property without a name, which a column cannot be");
    } else if (!settings_.chosen_columns) {
      return fail(Code::invalid,
                  fmt::format("it has the property '{}', which no item had when the columns were "
                              "looked for: it was written since",
                              column.name));
    }
  }
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += settings_.csv.delimiter;
    append_cell(line, cells[i], settings_.csv.delimiter);
  }
  // A line without anything would be read as none.
  if (line.empty()) line = "null";
  return line + "\r\n";
}

Result<std::string> Exporter::line_of(const Record& record) const {
  auto document = JsonDocument::parse(record.text);
  if (!document) return pass(document.error());
  const Node& root = document->root();
  const bool is_object = root.type == Type::object;
  if (settings_.output.format == Format::csv) {
    if (!is_object) return fail(Code::invalid, "it is not an object, which a row of CSV is");
    return csv_line_of(root);
  }
  std::string line = is_object && !settings_.keep_system
                         ? without_system_properties(root, settings_.kind)
                         : std::string(root.raw);
  if (settings_.output.format == Format::ndjson) line += '\n';
  return line;
}

Status Exporter::take(const Record& record) {
  ++counts_.read;
  auto line = line_of(record);
  if (!line) {
    ++counts_.rejected;
    return rejects_.add(reject_line(source_.name_of(record.mark), record.mark.line,
                                    line.error().message, record.text));
  }
  auto is_first = output_->begin();
  if (!is_first) return pass(is_first.error());
  std::string head;
  if (settings_.output.format == Format::csv && *is_first) head = csv_header(settings_.csv);
  if (settings_.output.format == Format::array) head = file_has_records_ ? ",\n" : "[\n";
  file_has_records_ = true;
  ++counts_.written;
  if (!head.empty()) {
    if (Status done = output_->write(head); !done) return done;
  }
  if (Status done = output_->write(*line); !done) return done;
  return output_->is_full() ? finish_file() : Status();
}

Status Exporter::finish_file() {
  if (settings_.output.format == Format::array) {
    if (Status done = output_->write(file_has_records_ ? "\n]\n" : "[]\n"); !done) return done;
  }
  file_has_records_ = false;
  return output_->finish_file();
}

Status Exporter::save() {
  // Between two pages alone: what is read of one is read again by whoever goes on.
  if (!checkpoint_.is_used() || !source_.is_settled()) return {};
  saved_us_ = clock_.steady_us();
  auto position = output_->cut();
  if (!position) return pass(position.error());
  if (Status done = rejects_.sync(); !done) return done;
  std::string columns;
  for (const std::string& column : settings_.csv.columns) {
    columns += (columns.empty() ? "" : ",") + value::quoted(column);
  }
  return checkpoint_.write(
      {.what = settings_.what,
       .position_json = source_.position_json(),
       .counts = counts_,
       .rejects_path = rejects_.path(),
       .rejects_bytes = rejects_.bytes(),
       .output_json = fmt::format("{{\"position\":{},\"hasRecords\":{},\"columns\":[{}]}}",
                                  *position, file_has_records_, columns)});
}

Result<Ending> Exporter::run() {
  const auto give_up = [&](const Error& error) {
    if (checkpoint_.is_used()) {
      (void)save();
    } else {
      output_->discard();
    }
    return pass(error);
  };
  if (Status saved = save(); !saved) return pass(saved.error());
  while (true) {
    if (settings_.stopped && settings_.stopped() &&
        (source_.is_settled() || !checkpoint_.is_used())) {
      if (!checkpoint_.is_used()) output_->discard();
      if (Status saved = save(); !saved) return pass(saved.error());
      return Ending::stopped;
    }
    Record record;
    auto pulled = source_.pull(record);
    if (!pulled) return give_up(pulled.error());
    if (*pulled == RecordSource::Pull::end) break;
    if (*pulled == RecordSource::Pull::wait) {
      source_.turn(kExportWaitMs);
    } else {
      if (Status taken = take(record); !taken) return give_up(taken.error());
      source_.passed(record.mark);
    }
    if (clock_.steady_us() - saved_us_ >= kSaveEveryUs) {
      if (Status saved = save(); !saved) return give_up(saved.error());
    }
    progress_.show({.records = counts_.read,
                    .rejected = counts_.rejected,
                    .charge = source_.charge(),
                    .fraction = source_.fraction(),
                    .phase = {}});
  }
  // Nothing at all is a file as well: an empty array, a header alone.
  if (output_->files() == 0 || file_has_records_) {
    auto is_first = output_->begin();
    if (!is_first) return give_up(is_first.error());
    if (*is_first && settings_.output.format == Format::csv) {
      if (Status done = output_->write(csv_header(settings_.csv)); !done) {
        return give_up(done.error());
      }
    }
    if (Status done = finish_file(); !done) return give_up(done.error());
  }
  if (Status synced = rejects_.sync(); !synced) return pass(synced.error());
  return Ending::complete;
}

}  // namespace orrery::transfer
