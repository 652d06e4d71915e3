// Reading and writing: see multipart.h.
#include "api/table/batch/multipart.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "net/response_head.h"

namespace orrery::table {
namespace {

constexpr size_t kMaxBoundaryBytes = 70;  // as RFC 2046 has it
constexpr size_t kMaxHeaders = 64;        // of one part

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Takes a line off the front, without its end.
std::string_view take_line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void skip_blank_lines(std::string_view& rest) {
  while (!rest.empty()) {
    std::string_view after = rest;
    if (!trimmed(take_line(after)).empty()) return;
    rest = after;
  }
}

bool is_multipart(std::string_view content_type) {
  return equals_ignore_case(trimmed(content_type.substr(0, content_type.find(';'))),
                            "multipart/mixed");
}

// Nothing when there is none, or none that can be.
std::optional<std::string_view> boundary_of(std::string_view content_type) {
  size_t semicolon = content_type.find(';');
  while (semicolon != std::string_view::npos) {
    content_type.remove_prefix(semicolon + 1);
    semicolon = content_type.find(';');
    const std::string_view parameter = trimmed(content_type.substr(0, semicolon));
    const size_t equals = parameter.find('=');
    if (equals == std::string_view::npos ||
        !equals_ignore_case(trimmed(parameter.substr(0, equals)), "boundary")) {
      continue;
    }
    std::string_view value = trimmed(parameter.substr(equals + 1));
    if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"')) {
      value = value.substr(1, value.size() - 2);
    }
    if (value.empty() || value.size() > kMaxBoundaryBytes) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

enum class Line : uint8_t { text, delimiter, end };

Line kind_of(std::string_view line, std::string_view boundary) {
  if (!line.starts_with("--")) return Line::text;
  line.remove_prefix(2);
  if (!line.starts_with(boundary)) return Line::text;
  line = trimmed(line.substr(boundary.size()));
  if (line.empty()) return Line::delimiter;
  return line == "--" ? Line::end : Line::text;
}

struct Split {
  std::vector<std::string_view> parts;
  bool too_many = false;
  bool ended = false;  // the last delimiter is there
};

// The parts between the delimiters; the line end before a delimiter belongs to it.
Split split(std::string_view body, std::string_view boundary, size_t max_parts) {
  Split found;
  const char* part_begin = nullptr;  // null: before the first delimiter
  std::string_view rest = body;
  while (!rest.empty()) {
    const char* line_begin = rest.data();
    const Line kind = kind_of(take_line(rest), boundary);
    if (kind == Line::text) continue;
    if (part_begin) {
      if (found.parts.size() == max_parts) {
        found.too_many = true;
        return found;
      }
      std::string_view part(part_begin, static_cast<size_t>(line_begin - part_begin));
      if (part.ends_with('\n')) part.remove_suffix(1);
      if (part.ends_with('\r')) part.remove_suffix(1);
      found.parts.push_back(part);
    }
    if (kind == Line::end) {
      found.ended = true;
      return found;
    }
    part_begin = rest.data();
  }
  return found;
}

using Headers = std::vector<std::pair<std::string_view, std::string_view>>;

std::string_view find_header(const Headers& headers, std::string_view name) {
  const auto found = std::ranges::find_if(
      headers, [&](const auto& header) { return equals_ignore_case(header.first, name); });
  return found == headers.end() ? std::string_view() : found->second;
}

std::unexpected<TableError> bad_batch(std::string message) {
  return refuse(ErrorCode::invalid_input, std::move(message));
}

// Lines up to a blank one, which is taken as well.
TableStatus take_headers(std::string_view& rest, Headers& headers) {
  headers.reserve(8);
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (trimmed(line).empty()) return {};
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      return bad_batch("A line of the batch is no header: \"" + std::string(line.substr(0, 64)) +
                       "\".");
    }
    if (headers.size() == kMaxHeaders) {
      return bad_batch("A part of the batch has more than " + std::to_string(kMaxHeaders) +
                       " headers.");
    }
    headers.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return {};
}

// METHOD target HTTP/1.1
TableStatus take_request_line(std::string_view& rest, BatchPart& part) {
  skip_blank_lines(rest);
  const std::string_view line = trimmed(take_line(rest));
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) {
    return bad_batch("\"" + std::string(line.substr(0, 64)) +
                     "\" is no request line like POST http://host/table HTTP/1.1.");
  }
  part.method = line.substr(0, space);
  std::string_view target = trimmed(line.substr(space + 1));
  const size_t last = target.rfind(' ');
  if (last != std::string_view::npos && target.substr(last + 1).starts_with("HTTP/")) {
    target = trimmed(target.substr(0, last));
  }
  part.target = target;
  return {};
}

// An application/http part, whose own headers have been taken off.
TableResult<BatchPart> parse_request(const Headers& part_headers, std::string_view content) {
  BatchPart part;
  if (auto line = take_request_line(content, part); !line) return pass(line.error());
  if (auto headers = take_headers(content, part.headers); !headers) return pass(headers.error());
  part.body = content;
  part.content_id = find_header(part_headers, "Content-ID");
  if (part.content_id.empty()) part.content_id = part.header("Content-ID");
  return part;
}

TableResult<BatchPart> parse_part(std::string_view part) {
  Headers headers;
  skip_blank_lines(part);
  if (auto taken = take_headers(part, headers); !taken) return pass(taken.error());
  return parse_request(headers, part);
}

TableResult<Batch> parse_changeset(std::string_view content_type, std::string_view content,
                                   const BatchLimits& limits) {
  const auto boundary = boundary_of(content_type);
  if (!boundary) return bad_batch("The changeset of the batch names no boundary.");
  const Split found = split(content, *boundary, limits.operations);
  if (found.too_many) {
    return pass(at_index(
        limits.operations,
        table_error(ErrorCode::invalid_input, "The batch request operation exceeds the maximum " +
                                                  std::to_string(limits.operations) +
                                                  " changes per change set.")));
  }
  if (!found.ended || found.parts.empty()) {
    return bad_batch("The changeset has no operations, or does not end with --" +
                     std::string(*boundary) + "--.");
  }
  Batch batch;
  batch.parts.reserve(found.parts.size());
  for (const std::string_view part : found.parts) {
    auto parsed = parse_part(part);
    if (!parsed) return pass(at_index(batch.parts.size(), std::move(parsed.error())));
    batch.parts.push_back(std::move(*parsed));
  }
  return batch;
}

void append_answer(std::string& out, const BatchAnswer& answer) {
  out += "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 ";
  out += std::to_string(answer.status);
  out += ' ';
  out += net::reason_phrase(answer.status);
  out += "\r\n";
  if (!answer.content_id.empty()) {
    out += "Content-ID: ";
    std::ranges::transform(answer.content_id, std::back_inserter(out),
                           [](char c) { return static_cast<unsigned char>(c) < ' ' ? ' ' : c; });
    out += "\r\n";
  }
  out += answer.headers;
  out += "\r\n";
  out += answer.body;
  out += "\r\n";
}

}  // namespace

std::string_view BatchPart::header(std::string_view name) const {
  return find_header(headers, name);
}

std::string_view BatchPart::path_and_query() const {
  const size_t scheme = target.find("://");
  // A "://" after the first slash is part of the path or of the query.
  if (scheme == std::string_view::npos || target.find('/') < scheme) return target;
  const size_t path = target.find_first_of("/?", scheme + 3);
  return path == std::string_view::npos ? std::string_view("/") : target.substr(path);
}

TableResult<Batch> parse_batch(std::string_view content_type, std::string_view body,
                               const BatchLimits& limits) {
  if (body.size() > limits.bytes) {
    return refuse(ErrorCode::request_body_too_large,
                  "The batch has " + std::to_string(body.size()) + " bytes; at most " +
                      std::to_string(limits.bytes) + " are taken.");
  }
  const auto boundary = is_multipart(content_type) ? boundary_of(content_type) : std::nullopt;
  if (!boundary) {
    return bad_batch(
        "The Content-Type of a batch is multipart/mixed with a boundary of up to 70 characters.");
  }
  const Split found = split(body, *boundary, 1);
  if (found.too_many) {
    return bad_batch("A batch has one changeset, or one query, and nothing else.");
  }
  if (!found.ended || found.parts.empty()) {
    return bad_batch("The batch has no part, or does not end with --" + std::string(*boundary) +
                     "--.");
  }
  std::string_view content = found.parts.front();
  Headers headers;
  skip_blank_lines(content);
  if (auto taken = take_headers(content, headers); !taken) return pass(taken.error());
  const std::string_view type = find_header(headers, "Content-Type");
  if (is_multipart(type)) return parse_changeset(type, content, limits);
  auto query = parse_request(headers, content);
  if (!query) return pass(query.error());
  if (query->method != "GET") {
    return bad_batch(std::string(query->method.substr(0, 16)) +
                     " stands outside a changeset: only a GET may.");
  }
  Batch batch{.changeset = false, .parts = {}};
  batch.parts.push_back(std::move(*query));
  return batch;
}

WrittenBatch write_batch(const std::vector<BatchAnswer>& answers, bool changeset,
                         std::string_view id) {
  WrittenBatch written;
  const std::string outer = "batchresponse_" + std::string(id);
  const std::string inner = "changesetresponse_" + std::string(id);
  written.content_type = "multipart/mixed; boundary=" + outer;
  std::string& out = written.body;
  size_t bytes = 512;
  for (const BatchAnswer& answer : answers) {
    bytes += 256 + answer.headers.size() + answer.body.size();
  }
  out.reserve(bytes);
  out += "--" + outer + "\r\n";
  if (changeset) out += "Content-Type: multipart/mixed; boundary=" + inner + "\r\n\r\n";
  const std::string delimiter = changeset ? "--" + inner + "\r\n" : "";
  for (const BatchAnswer& answer : answers) {
    out += delimiter;
    append_answer(out, answer);
  }
  if (changeset) out += "--" + inner + "--\r\n";
  out += "--" + outer + "--\r\n";
  return written;
}

TableError at_index(size_t index, TableError error) {
  error.message.insert(0, std::to_string(index) + ":");
  return error;
}

}  // namespace orrery::table
