// See file_source.h.
#include "transfer/file_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "value/json_quoted.h"

namespace orrery::transfer {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> size_of(const std::string& path) {
  std::error_code error;
  if (path == "-" || !fs::is_regular_file(path, error)) return std::nullopt;
  const auto size = fs::file_size(path, error);
  if (error) return std::nullopt;
  return size;
}

}  // namespace

Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths,
                                              const FileOptions& options,
                                              std::vector<std::string>& passed_over) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" || !fs::is_directory(path, error)) {
      if (path != "-" && !fs::exists(path, error)) {
        return fail(Code::invalid, fmt::format("there is no file {}", path));
      }
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (!entry.is_regular_file(error)) continue;
      const std::string name = entry.path().string();
      (options.format || form_of_name(name).format ? inside : passed_over).push_back(name);
    }
    if (error) {
      return fail(Code::invalid, fmt::format("cannot read {}: {}", path, error.message()));
    }
    if (inside.empty()) {
      return fail(Code::invalid, fmt::format("the folder {} has no file whose name ends in .json, "
                                             ".ndjson, .jsonl or .csv; say --format",
                                             path));
    }
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

FileSource::FileSource(std::vector<std::string> paths, FileOptions options)
    : paths_(std::move(paths)), options_(std::move(options)) {
  for (const std::string& path : paths_) sizes_.push_back(size_of(path));
}

Status FileSource::open_next() {
  const std::string& path = paths_[file_];
  const NamedForm named = form_of_name(path);
  // The bytes tell the compression better than the name does.
  auto stream = InputStream::open(path, options_.compression);
  if (!stream) return pass(stream.error());
  stream_ = std::move(*stream);
  number_ = 0;
  file_ended_ = false;
  const std::optional<Format> format = options_.format ? options_.format : named.format;
  if (format) parser_ = make_parser(*format, options_.csv);
  return {};
}

Result<bool> FileSource::read_more() {
  if (!stream_) {
    if (auto opened = open_next(); !opened) return pass(opened.error());
  }
  auto state = stream_->read(chunk_);
  if (!state) return pass(state.error());
  if (*state == InputStream::State::wait) return false;
  const auto explain = [&](const Error& error) {
    return Error{error.code, fmt::format("{}: {}", paths_[file_], error.message)};
  };
  if (!parser_) {
    const std::optional<Format> format = format_of_bytes(chunk_);
    if (!format) {
      return fail(Code::invalid,
                  fmt::format("{}: neither its name nor its first bytes tell the format: say "
                              "--format json, ndjson or csv",
                              paths_[file_]));
    }
    parser_ = make_parser(*format, options_.csv);
  }
  file_ended_ = *state == InputStream::State::end;
  Status parsed = file_ended_ ? parser_->finish(ready_) : parser_->feed(chunk_, ready_);
  if (!parsed) failed_ = explain(parsed.error());
  return true;
}

Result<RecordSource::Pull> FileSource::pull(Record& record) {
  while (true) {
    while (ready_at_ < ready_.size()) {
      ParsedRecord& next = ready_[ready_at_++];
      if (++number_ <= skip_) continue;
      record.text = std::move(next.text);
      record.reason = std::move(next.reason);
      record.mark = {.part = static_cast<uint32_t>(file_), .at = number_, .line = next.line};
      return Pull::record;
    }
    ready_.clear();
    ready_at_ = 0;
    if (failed_) return pass(*failed_);
    if (file_ended_) {
      stored_before_ += stream_->stored_bytes_read();
      stream_.reset();
      parser_.reset();
      file_ended_ = false;
      skip_ = 0;
      ++file_;
    }
    if (file_ == paths_.size()) return Pull::end;
    auto more = read_more();
    if (!more) return pass(more.error());
    if (!*more) return Pull::wait;
  }
}

void FileSource::turn(int wait_ms) {
  if (stream_) stream_->wait(wait_ms);
}

void FileSource::passed(const Mark& mark) {
  passed_ = mark;
}

std::string FileSource::position_json() const {
  std::string files;
  for (size_t i = 0; i < paths_.size(); ++i) {
    if (i > 0) files += ',';
    files += fmt::format("{{\"path\":{},\"bytes\":{}}}", value::quoted(paths_[i]),
                         sizes_[i] ? std::to_string(*sizes_[i]) : "null");
  }
  return fmt::format("{{\"files\":[{}],\"file\":{},\"records\":{}}}", files, passed_.part,
                     passed_.at);
}

Status FileSource::resume(const value::Node& position) {
  const value::Node* files = position.find("files");
  const value::Node* file = position.find("file");
  const value::Node* records = position.find("records");
  if (files == nullptr || file == nullptr || records == nullptr || files->count != paths_.size() ||
      file->number >= static_cast<double>(paths_.size())) {
    return fail(Code::invalid, "the checkpoint is of other files");
  }
  size_t i = 0;
  for (const value::Node* one = files->first; one != nullptr; one = one->next, ++i) {
    const value::Node* path = one->find("path");
    const value::Node* bytes = one->find("bytes");
    const bool same_size = bytes != nullptr &&
                           (bytes->type == value::Type::number) == !!sizes_[i] &&
                           (!sizes_[i] || bytes->number == static_cast<double>(*sizes_[i]));
    if (path == nullptr || path->text != paths_[i] || !same_size) {
      return fail(Code::invalid,
                  fmt::format("{} is not the file that the checkpoint was made for, or it has "
                              "changed since",
                              paths_[i]));
    }
  }
  file_ = static_cast<size_t>(file->number);
  skip_ = static_cast<uint64_t>(records->number);
  passed_ = {.part = static_cast<uint32_t>(file_), .at = skip_, .line = 0};
  for (size_t before = 0; before < file_; ++before) stored_before_ += sizes_[before].value_or(0);
  return {};
}

std::optional<double> FileSource::fraction() const {
  uint64_t all = 0;
  for (const auto& size : sizes_) {
    if (!size) return std::nullopt;
    all += *size;
  }
  if (all == 0) return std::nullopt;
  // Of what was read of this file, the records that are parsed and not pulled yet are left.
  const auto pulled = static_cast<double>(number_);
  const auto left = static_cast<double>(ready_.size() - ready_at_);
  double read = stream_ ? static_cast<double>(stream_->stored_bytes_read()) : 0;
  if (left > 0) read *= pulled / (pulled + left);
  read += static_cast<double>(stored_before_);
  return std::min(1.0, read / static_cast<double>(all));
}

}  // namespace orrery::transfer
