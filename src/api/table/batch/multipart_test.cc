// Batches as clients write them, in all their spellings, and what is refused.
#include "api/table/batch/multipart.h"

#include <gtest/gtest.h>

namespace orrery::table {
namespace {

constexpr std::string_view kType = "multipart/mixed; boundary=batch_1";

std::string operation(std::string_view line, std::string_view headers, std::string_view body) {
  std::string out =
      "--changeset_1\r\ncontent-type: application/http\r\ncontent-transfer-encoding: "
      "binary\r\n\r\n";
  out += line;
  out += "\r\n";
  out += headers;
  out += "\r\n";
  out += body;
  out += "\r\n";
  return out;
}

std::string batch_of(std::string_view operations) {
  std::string out = "--batch_1\r\ncontent-type: multipart/mixed; boundary=changeset_1\r\n\r\n";
  out += operations;
  out += "--changeset_1--\r\n--batch_1--\r\n";
  return out;
}

std::string with_lf(std::string text) {
  std::erase(text, '\r');
  return text;
}

TEST(TableBatch, ReadsAChangeset) {
  const std::string body = batch_of(
      operation("POST http://127.0.0.1:10002/acct/t HTTP/1.1",
                "Accept: application/json\r\nContent-ID: 7\r\n", "{\"a\":1}") +
      operation("DELETE http://127.0.0.1/acct/t(PartitionKey='a',RowKey='b c')?x=1 HTTP/1.1",
                "IF-match: *\r\n", ""));
  for (const std::string& text : {body, with_lf(body)}) {
    auto batch = parse_batch(kType, text);
    ASSERT_TRUE(batch.has_value()) << batch.error().message;
    EXPECT_TRUE(batch->changeset);
    ASSERT_EQ(batch->parts.size(), 2U);
    const BatchPart& insert = batch->parts[0];
    EXPECT_EQ(insert.method, "POST");
    EXPECT_EQ(insert.path_and_query(), "/acct/t");
    EXPECT_EQ(insert.header("accept"), "application/json");
    EXPECT_EQ(insert.content_id, "7");
    EXPECT_EQ(insert.body, "{\"a\":1}");
    const BatchPart& remove = batch->parts[1];
    EXPECT_EQ(remove.method, "DELETE");
    EXPECT_EQ(remove.path_and_query(), "/acct/t(PartitionKey='a',RowKey='b c')?x=1");
    EXPECT_EQ(remove.header("If-Match"), "*");
    EXPECT_EQ(remove.body, "");
  }
}

TEST(TableBatch, TakesOtherSpellings) {
  // A quoted boundary that is no GUID, text before the first delimiter, two blank lines, a
  // delimiter with spaces after it, no blank line after the last header.
  const auto batch = parse_batch("Multipart/Mixed; charset=utf-8; Boundary=\"b : 1\"",
                                 "preamble\n--b : 1 \nCONTENT-TYPE:multipart/mixed;boundary=\"c\"\n"
                                 "\n\n--c\nContent-Type: application/http\n\n\n"
                                 "MERGE /acct/t(PartitionKey='a',RowKey='b')\nX: y\n--c--\n\n"
                                 "--b : 1--");
  ASSERT_TRUE(batch.has_value()) << batch.error().message;
  ASSERT_EQ(batch->parts.size(), 1U);
  EXPECT_EQ(batch->parts[0].method, "MERGE");
  EXPECT_EQ(batch->parts[0].target, "/acct/t(PartitionKey='a',RowKey='b')");
  EXPECT_EQ(batch->parts[0].header("x"), "y");
}

TEST(TableBatch, ReadsOneQuery) {
  const auto batch =
      parse_batch(kType,
                  "--batch_1\r\nContent-Type: application/http\r\n\r\nGET "
                  "http://h/acct/t(PartitionKey='a',RowKey='b') HTTP/1.1\r\nAccept: x\r\n\r\n\r\n"
                  "--batch_1--\r\n");
  ASSERT_TRUE(batch.has_value()) << batch.error().message;
  EXPECT_FALSE(batch->changeset);
  ASSERT_EQ(batch->parts.size(), 1U);
  EXPECT_EQ(batch->parts[0].header("Accept"), "x");
  EXPECT_FALSE(parse_batch(
      kType, "--batch_1\nContent-Type: application/http\n\nPOST /acct/t HTTP/1.1\n\n--batch_1--"));
}

TEST(TableBatch, BoundsOperationsAndBytes) {
  std::string operations;
  for (int i = 0; i < 100; ++i) operations += operation("POST /a/t HTTP/1.1", "", "{}");
  EXPECT_TRUE(parse_batch(kType, batch_of(operations)));
  operations += operation("POST /a/t HTTP/1.1", "", "{}");
  auto refused = parse_batch(kType, batch_of(operations));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_input);
  EXPECT_TRUE(refused.error().message.starts_with("100:")) << refused.error().message;

  const std::string big = batch_of(operation("POST /a/t HTTP/1.1", "", std::string(1'000, 'x')));
  refused = parse_batch(kType, big, {.operations = 100, .bytes = 1'000});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::request_body_too_large);
}

TEST(TableBatch, SaysWhichOperationIsWrong) {
  const auto refused = parse_batch(kType, batch_of(operation("POST /a/t HTTP/1.1", "", "{}") +
                                                   operation("POST /a/t HTTP/1.1", "bad\r\n", "")));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("1:")) << refused.error().message;
}

TEST(TableBatch, RefusesWhatIsNoBatch) {
  const std::string good = batch_of(operation("POST /a/t HTTP/1.1", "", "{}"));
  EXPECT_TRUE(parse_batch(kType, good));
  for (const std::string_view type :
       {"", "application/json", "multipart/mixed",
        "multipart/mixed; boundary=", "multipart/mixed; boundary=other"}) {
    EXPECT_FALSE(parse_batch(type, good)) << type;
  }
  EXPECT_FALSE(parse_batch("multipart/mixed; boundary=" + std::string(71, 'b'), good));
  // Cut short anywhere, nothing of it is taken: it would be applied in part.
  for (size_t size = 0; size + 4 < good.size(); ++size) {
    EXPECT_FALSE(parse_batch(kType, std::string_view(good).substr(0, size))) << size;
  }
  const std::string twice =
      good.substr(0, good.size() - std::string_view("--batch_1--\r\n").size()) + good;
  EXPECT_FALSE(parse_batch(kType, twice));
}

TEST(TableBatch, WritesAnswers) {
  const WrittenBatch written =
      write_batch({{.status = 204, .headers = "ETag: x\r\n", .body = "", .content_id = "1"},
                   {.status = 201, .headers = "Content-Type: application/json\r\n", .body = "{}"}},
                  true, "id");
  EXPECT_EQ(written.content_type, "multipart/mixed; boundary=batchresponse_id");
  EXPECT_EQ(written.body,
            "--batchresponse_id\r\n"
            "Content-Type: multipart/mixed; boundary=changesetresponse_id\r\n\r\n"
            "--changesetresponse_id\r\n"
            "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
            "HTTP/1.1 204 No Content\r\nContent-ID: 1\r\nETag: x\r\n\r\n\r\n"
            "--changesetresponse_id\r\n"
            "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
            "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n\r\n{}\r\n"
            "--changesetresponse_id--\r\n--batchresponse_id--\r\n");
  const WrittenBatch query =
      write_batch({{.status = 200, .headers = "", .body = "{}"}}, false, "id");
  EXPECT_EQ(query.body,
            "--batchresponse_id\r\n"
            "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
            "HTTP/1.1 200 OK\r\n\r\n{}\r\n--batchresponse_id--\r\n");
  EXPECT_EQ(at_index(3, table_error(ErrorCode::entity_already_exists)).message,
            "3:The specified entity already exists.");
}

}  // namespace
}  // namespace orrery::table
