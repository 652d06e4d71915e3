// See export_messages.h.
#include "cluster/exporting/export_messages.h"

#include "base/pack.h"

namespace orrery::cluster {

std::string encode(const ExportRequest& request) {
  Packer packed;
  packed.number(static_cast<uint64_t>(request.operation))
      .number(request.container)
      .number(request.range)
      .text(request.volume_name)
      .number(request.id)
      .number(request.pieces.size());
  for (const ExportRequest::Piece& piece : request.pieces) {
    packed.text(piece.file).number(piece.from).number(piece.size);
  }
  return packed.take();
}

Result<ExportRequest> decode_export_request(std::string_view bytes) {
  Unpacker from(bytes);
  ExportRequest request;
  const uint64_t operation = from.number();
  request.operation = static_cast<ExportRequest::Operation>(operation);
  request.container = static_cast<uint32_t>(from.number());
  request.range = static_cast<uint32_t>(from.number());
  request.volume_name = from.text();
  request.id = from.number();
  const uint64_t pieces = from.count(3 * sizeof(uint64_t));
  for (uint64_t i = 0; i < pieces; ++i) {
    ExportRequest::Piece& piece = request.pieces.emplace_back();
    piece.file = from.text();
    piece.from = from.number();
    piece.size = from.number();
  }
  if (!from.is_good() ||
      operation > static_cast<uint64_t>(ExportRequest::Operation::read_commits)) {
    return fail(Code::invalid,
                "cannot read what is to be copied: is the program of the same "
                "version as the server?");
  }
  return request;
}

std::string encode(const OpenedExport& opened) {
  Packer packed;
  const partition::ExportInfo& info = opened.info;
  packed.number(opened.id)
      .number(opened.has_files ? 1 : 0)
      .number(info.lsn)
      .number(info.time_s)
      .number(info.usage.bytes)
      .number(info.usage.items)
      .number(info.index_version)
      .number(info.sequence)
      .number(static_cast<uint64_t>(opened.now_ms))
      .number(info.files.size());
  for (const partition::ExportedFile& file : info.files) {
    packed.text(file.name).number(file.size).text(file.mark);
  }
  packed.number(opened.ranges.size());
  for (const catalog::ExportedRange& range : opened.ranges) {
    packed.number(range.container)
        .number(range.range)
        .text(range.volume_name)
        .number(range.has_files ? 1 : 0)
        .number(range.index_version)
        .number(range.indexed_version);
  }
  return packed.take();
}

Result<OpenedExport> decode_opened_export(std::string_view bytes) {
  Unpacker from(bytes);
  OpenedExport opened;
  partition::ExportInfo& info = opened.info;
  opened.id = from.number();
  opened.has_files = from.number() != 0;
  info.lsn = from.number();
  info.time_s = static_cast<uint32_t>(from.number());
  info.usage.bytes = from.number();
  info.usage.items = from.number();
  info.index_version = static_cast<uint32_t>(from.number());
  info.sequence = from.number();
  opened.now_ms = static_cast<int64_t>(from.number());
  const uint64_t files = from.count(3 * sizeof(uint64_t));
  for (uint64_t i = 0; i < files; ++i) {
    partition::ExportedFile& file = info.files.emplace_back();
    file.name = from.text();
    file.size = from.number();
    file.mark = from.text();
  }
  const uint64_t ranges = from.count(6 * sizeof(uint64_t));
  for (uint64_t i = 0; i < ranges; ++i) {
    catalog::ExportedRange& range = opened.ranges.emplace_back();
    range.container = static_cast<uint32_t>(from.number());
    range.range = static_cast<uint32_t>(from.number());
    range.volume_name = from.text();
    range.has_files = from.number() != 0;
    range.index_version = static_cast<uint32_t>(from.number());
    range.indexed_version = static_cast<uint32_t>(from.number());
  }
  if (!from.is_good()) {
    return fail(Code::invalid,
                "cannot read the server's list of files: is the program of the same "
                "version as the server?");
  }
  return opened;
}

std::string encode(const partition::CommitPage& page) {
  Packer packed;
  packed.number(page.sequence)
      .number(static_cast<uint64_t>(page.until_ms))
      .number(page.more ? 1 : 0)
      .number(page.batches.size());
  for (const partition::CommitBatch& batch : page.batches) {
    packed.number(batch.first)
        .number(batch.last)
        .number(static_cast<uint64_t>(batch.time_ms))
        .text(batch.bytes);
  }
  return packed.take();
}

Result<partition::CommitPage> decode_commit_page(std::string_view bytes) {
  Unpacker from(bytes);
  partition::CommitPage page;
  page.sequence = from.number();
  page.until_ms = static_cast<int64_t>(from.number());
  page.more = from.number() != 0;
  const uint64_t batches = from.count(4 * sizeof(uint64_t));
  for (uint64_t i = 0; i < batches; ++i) {
    partition::CommitBatch& batch = page.batches.emplace_back();
    batch.first = from.number();
    batch.last = from.number();
    batch.time_ms = static_cast<int64_t>(from.number());
    batch.bytes = from.text();
  }
  if (!from.is_good()) return fail(Code::invalid, "cannot read the server's list of commits");
  return page;
}

}  // namespace orrery::cluster
