// Messages: what is decoded, what is refused, and how answers look.
#include "api/mongo/wire/message.h"

#include <gtest/gtest.h>

#include <string>

#include "api/mongo/bson/bson_writer.h"
#include "base/bytes.h"
#include "base/crc32c.h"

namespace orrery::mongo {
namespace {

std::string u32(uint32_t value) {
  std::string bytes(4, '\0');
  store_u32_le(bytes.data(), value);
  return bytes;
}

std::string with_header(uint32_t opcode, const std::string& rest) {
  return u32(static_cast<uint32_t>(16 + rest.size())) + u32(7) + u32(0) + u32(opcode) + rest;
}

std::string document() {
  BsonWriter writer;
  writer.int32("ping", 1).string("$db", "admin");
  return writer.take();
}

std::string msg_inside() {
  const std::string one = document();
  std::string section = std::string("documents") + '\0' + one + one;
  section = u32(static_cast<uint32_t>(section.size() + 4)) + section;
  return u32(0) + '\0' + one + '\1' + section;
}

TEST(Crc32c, IsTheOneOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
}

TEST(Message, HasItsCommandAndItsSequences) {
  const std::string bytes = with_header(2013, msg_inside());
  auto message = parse_message(bytes);
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->body, document());
  ASSERT_EQ(message->sequences.size(), 1U);
  EXPECT_EQ(message->sequences[0].name, "documents");
  EXPECT_EQ(message->sequences[0].documents.size(), 2U);
  EXPECT_EQ(message->form.request_id, 7);
  EXPECT_FALSE(message->more_to_come);
}

TEST(Message, ChecksumsAreChecked) {
  std::string bytes = with_header(2013, u32(1) + '\0' + document() + u32(0));
  EXPECT_FALSE(parse_message(bytes));
  store_u32_le(bytes.data() + bytes.size() - 4,
               crc32c(std::string_view(bytes).substr(0, bytes.size() - 4)));
  auto message = parse_message(bytes);
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_TRUE(message->form.has_checksum);
  // An answer has one too, and it is right.
  EXPECT_TRUE(parse_message(make_reply(message->form, 1, document())));
}

TEST(Message, UnknownFlagsThatMustBeKnownAreRefused) {
  EXPECT_FALSE(parse_message(with_header(2013, u32(4) + '\0' + document())));
  EXPECT_TRUE(parse_message(with_header(2013, u32(1U << 20) + '\0' + document())));
}

TEST(Message, EveryCompressorBothWays) {
  BsonWriter writer;
  writer.string("text", std::string(5000, 'x'));
  const std::string large = writer.take();
  for (const Compressor compressor : kCompressors) {
    const std::string inside = msg_inside();
    const std::string bytes =
        with_header(2012, u32(2013) + u32(static_cast<uint32_t>(inside.size())) +
                              static_cast<char>(compressor) + compress(compressor, inside));
    EXPECT_EQ(decoded_bytes(bytes), inside.size());
    auto message = parse_message(bytes);
    ASSERT_TRUE(message) << to_text(compressor) << message.error().message;
    EXPECT_EQ(message->body, document());
    const std::string reply = make_reply(message->form, 1, large);
    EXPECT_LT(reply.size(), 1000U);
    auto back = parse_message(reply);
    ASSERT_TRUE(back) << to_text(compressor);
    EXPECT_EQ(back->body, large);
    std::string wrong_size = bytes;
    store_u32_le(wrong_size.data() + 20, static_cast<uint32_t>(inside.size() + 1));
    EXPECT_FALSE(parse_message(wrong_size)) << to_text(compressor);
  }
}

TEST(Message, WhatWouldBeTooLargeIsNotDecompressed) {
  for (const Compressor compressor : kCompressors) {
    const std::string small = compress(compressor, std::string(1000, 'x'));
    const std::string bytes =
        with_header(2012, u32(2013) + u32(static_cast<uint32_t>(kMaxMessageBytes + 1)) +
                              static_cast<char>(compressor) + small);
    const auto message = parse_message(bytes);
    ASSERT_FALSE(message) << to_text(compressor);
    EXPECT_NE(message.error().message.find("are the most"), std::string::npos);
  }
}

TEST(Message, TheOldHandshakeIsAnsweredInItsOwnForm) {
  const std::string bytes =
      with_header(2004, u32(0) + "admin.$cmd" + '\0' + u32(0) + u32(0xFFFFFFFF) + document());
  auto message = parse_message(bytes);
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_TRUE(message->form.is_query);
  EXPECT_EQ(message->collection, "admin.$cmd");
  const std::string reply = make_reply(message->form, 1, document());
  EXPECT_EQ(load_u32_le(reply.data() + 12), 1U);
  EXPECT_EQ(reply.substr(36), document());
}

TEST(Message, EveryTruncationIsRefused) {
  const std::string bytes = with_header(2013, msg_inside());
  for (size_t size = 0; size < bytes.size(); ++size) {
    // What ends behind the first section is a message of its own.
    if (size == 21 + document().size()) continue;
    EXPECT_FALSE(parse_message(std::string_view(bytes).substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace orrery::mongo
