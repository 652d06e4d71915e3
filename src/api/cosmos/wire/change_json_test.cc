// What a change looks like on the wire.
#include "api/cosmos/wire/change_json.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace orrery::cosmos {
namespace {

using partition::Event;
using partition::EventKind;

value::KeyDefinition key_of(std::initializer_list<std::string_view> paths) {
  value::KeyDefinition key;
  for (std::string_view path : paths) {
    key.paths.push_back(value::parse_property_path(path).value());
  }
  return key;
}

std::string text_of(const Event& event, const value::KeyDefinition& key) {
  std::string json;
  EXPECT_TRUE(append_event(json, event, key));
  EXPECT_TRUE(value::JsonDocument::parse(json)) << json;
  return json;
}

TEST(ChangeJson, AnItemWithItsLsn) {
  partition::Change change;
  change.lsn = 7;
  change.item.body = R"({"id":"1"})";
  std::string json;
  append_change(json, change, ChangeFormat::plain);
  EXPECT_EQ(json, R"({"id":"1","_lsn":7})");
}

TEST(ChangeJson, AnItemApartFromItsMetadata) {
  partition::Change change;
  change.lsn = 7;
  change.item.version.time_s = 99;
  change.item.body = R"({"id":"1"})";
  std::string json;
  append_change(json, change, ChangeFormat::separate);
  EXPECT_EQ(json, R"({"current":{"id":"1"},"metadata":{"lsn":7,"crts":99}})");
}

TEST(ChangeJson, CreateAndReplace) {
  Event event{.lsn = 5, .time_s = 99, .operation = EventKind::create, .body = R"({"id":"1"})"};
  EXPECT_EQ(text_of(event, key_of({"/pk"})),
            R"({"current":{"id":"1"},"metadata":{"operationType":"create","lsn":5,"crts":99}})");
  event.operation = EventKind::replace;
  event.previous_lsn = 4;
  event.previous_body = R"({"id":"0"})";
  EXPECT_EQ(text_of(event, key_of({"/pk"})),
            R"({"current":{"id":"1"},"previous":{"id":"0"},"metadata":{"operationType":"replace",)"
            R"("lsn":5,"crts":99,"previousImageLSN":4}})");
}

TEST(ChangeJson, DeletesNameWhatIsGone) {
  Event event{.lsn = 6,
              .time_s = 99,
              .operation = EventKind::remove,
              .key = {"", "a\"b"},
              .previous_lsn = 5,
              .previous_body = R"({"id":"a\"b","t":{"n":null},"u":2})"};
  EXPECT_EQ(text_of(event, key_of({"/t/n", "/u", "/gone"})),
            R"({"current":{},"previous":{"id":"a\"b","t":{"n":null},"u":2},"metadata":)"
            R"({"operationType":"delete","lsn":6,"crts":99,"previousImageLSN":5,)"
            R"("id":"a\"b","partitionKey":{"t/n":null,"u":2}}})");
  event.operation = EventKind::expire;
  EXPECT_NE(text_of(event, key_of({})).find(R"("timeToLiveExpired":true,"id")"), std::string::npos);
}

}  // namespace
}  // namespace orrery::cosmos
