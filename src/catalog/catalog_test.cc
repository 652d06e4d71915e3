// The catalog over a real partition: what it keeps, what it refuses, and what a reopening finds.
#include "catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fault.h"
#include "catalog/codec.h"
#include "partition/partition_fixture.h"
#include "volume/local/local_volume.h"

namespace orrery::catalog {
namespace {

constexpr std::string_view kFace = "face";

PartitionMap map_of(const std::vector<std::pair<std::string, std::string>>& ranges) {
  PartitionMap map;
  for (const auto& [min, max] : ranges) {
    map.ranges.push_back({map.next_id++, min, max, {}, ""});
  }
  return map;
}

ContainerSpec named(std::string_view name) {
  ContainerSpec spec;
  spec.name = name;
  return spec;
}

TEST(CoversEverything, NeitherGapNorOverlap) {
  EXPECT_TRUE(covers_everything(map_of({{"", "\xFF"}})));
  EXPECT_TRUE(covers_everything(map_of({{"", "a"}, {"a", "b"}, {"b", "\xFF"}})));
  EXPECT_FALSE(covers_everything(map_of({})));
  EXPECT_FALSE(covers_everything(map_of({{"a", "\xFF"}})));
  EXPECT_FALSE(covers_everything(map_of({{"", "a"}})));
  EXPECT_FALSE(covers_everything(map_of({{"", "a"}, {"b", "\xFF"}})));
  EXPECT_FALSE(covers_everything(map_of({{"", "b"}, {"a", "\xFF"}})));
  EXPECT_FALSE(covers_everything(map_of({{"", "a"}, {"a", "a"}, {"a", "\xFF"}})));
  EXPECT_FALSE(covers_everything(map_of({{"a", "\xFF"}, {"", "a"}})));
}

class CatalogTest : public testing::Test {
 public:
  ~CatalogTest() override { fault::disarm_all(); }

 protected:
  CatalogTest() { open(); }

  void open() {
    catalog_.reset();
    auto opened = try_open();
    ASSERT_TRUE(opened) << opened.error().message;
    catalog_ = std::move(*opened);
  }
  Result<std::unique_ptr<Catalog>> try_open() {
    return partition::once_free([&] { return Catalog::open(shared_, *volume_); });
  }

  ContainerPtr make(const DatabasePtr& database, std::string_view name,
                    const std::vector<std::string>& boundaries = {}) {
    ContainerSpec spec = named(name);
    spec.key.paths = {value::parse_property_path("/pk").value()};
    auto made = catalog_->create_container(database->number, spec, Throughput{}, boundaries);
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(nullptr);
  }
  DatabasePtr make(std::string_view name) {
    auto made = catalog_->create_database({kFace, name}, std::nullopt);
    EXPECT_TRUE(made);
    return made.value_or(nullptr);
  }

  // Writes a record behind the catalog's back; reopen afterwards.
  void put_raw(std::string_view kind, std::string_view row, std::string_view body) {
    catalog_.reset();
    auto partition = partition::once_free([&] {
      return partition::Partition::open(shared_, *volume_, kCatalogVolumeName, {0, "", "\xFF"});
    });
    ASSERT_TRUE(partition);
    partition::Write write;
    write.verb = partition::Verb::upsert;
    write.placement = kind;
    write.row = row;
    write.body = body;
    auto schema = std::make_shared<partition::Schema>();
    schema->indexed = false;
    write.schema = schema;
    auto outcome = partition::commit(**partition, std::move(write));
    ASSERT_FALSE(outcome.error);
  }

  partition::TemporaryDirectory directory_;
  ManualClock clock_;
  std::unique_ptr<volume::Volume> volume_ = volume::open_local_volume(directory_.path()).value();
  partition::Shared shared_{Limits(), clock_};
  std::unique_ptr<Catalog> catalog_;
};

TEST_F(CatalogTest, EachFaceHasNamesOfItsOwn) {
  const auto mine = catalog_->create_database({"a", "shop"}, std::nullopt).value();
  const auto yours = catalog_->create_database({"b", "shop"}, std::nullopt).value();
  EXPECT_NE(mine->number, yours->number);
  EXPECT_EQ(catalog_->create_database({"b", "shop"}, {}).error().code, Code::conflict);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(catalog_->database({"a", "shop"})->number, mine->number);
    EXPECT_EQ(catalog_->database({"b", "shop"})->number, yours->number);
    EXPECT_EQ(catalog_->database({"c", "shop"}), nullptr);
    EXPECT_EQ(catalog_->databases("a").size(), 1U);
    EXPECT_EQ(catalog_->database_count(), 2U);
    ASSERT_EQ(catalog_->all_databases().size(), 2U);
    EXPECT_EQ(catalog_->all_databases()[0]->face, "a");
    open();
  }
  ASSERT_TRUE(catalog_->remove_database(mine->number));
  EXPECT_EQ(catalog_->database({"a", "shop"}), nullptr);
  EXPECT_NE(catalog_->database({"b", "shop"}), nullptr);
}

TEST_F(CatalogTest, RefusesWhatCouldNotBeReadBack) {
  const auto database = make("shop");
  const std::string no_utf8 = "\xFF\xFE";
  EXPECT_EQ(catalog_->create_database({kFace, no_utf8}, std::nullopt).error().code, Code::invalid);
  EXPECT_EQ(catalog_->create_resource(0, database->number, "body", no_utf8).error().code,
            Code::invalid);
  EXPECT_EQ(catalog_->create_resource(0, database->number, no_utf8, "{}").error().code,
            Code::invalid);
  const auto kept = catalog_->create_resource(0, database->number, "kept", "{}");
  ASSERT_TRUE(kept);
  EXPECT_EQ(catalog_->replace_resource((*kept)->number, "kept", no_utf8, std::nullopt).error().code,
            Code::invalid);
  ContainerSpec spec = named(no_utf8);
  spec.key.paths = {value::parse_property_path("/pk").value()};
  EXPECT_EQ(catalog_->create_container(database->number, spec, Throughput{}, {}).error().code,
            Code::invalid);
  open();
  EXPECT_EQ(catalog_->database_count(), 1U);
  ASSERT_EQ(catalog_->resources(0, database->number).size(), 1U);
  EXPECT_EQ(catalog_->resources(0, database->number)[0]->body, "{}");
}

TEST_F(CatalogTest, KeepsDatabasesAndContainers) {
  auto database = catalog_->create_database({kFace, "db"}, Throughput{.units = 1000}).value();
  make(database, "b");
  auto a = make(database, "a", {"m", "t"});
  EXPECT_THAT(a->map->ranges, testing::SizeIs(3));
  EXPECT_EQ(a->map->ranges[1].min, "m");
  EXPECT_EQ(a->map->ranges[1].max, "t");
  EXPECT_EQ(a->map->next_id, 3);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(catalog_->database({kFace, "db"}));
    EXPECT_EQ(catalog_->database(database->number)->throughput->units, 1000);
    auto containers = catalog_->containers(database->number);
    ASSERT_EQ(containers.size(), 2);
    EXPECT_EQ(containers[0]->spec.name, "a");
    EXPECT_EQ(containers[1]->spec.name, "b");
    EXPECT_EQ(catalog_->container(a->number)->revision, a->revision);
    EXPECT_EQ(catalog_->container(database->number, "a")->number, a->number);
    EXPECT_EQ(catalog_->all_containers().size(), 2);
    EXPECT_EQ(catalog_->container(database->number, "c"), nullptr);
    open();
  }
}

TEST_F(CatalogTest, NamesAreUnique) {
  auto one = make("one");
  auto two = make("two");
  EXPECT_EQ(catalog_->create_database({kFace, "one"}, {}).error().code, Code::conflict);
  make(one, "c");
  make(two, "c");
  const ContainerSpec again = named("c");
  EXPECT_EQ(catalog_->create_container(one->number, again, {}, {}).error().code, Code::conflict);
  EXPECT_EQ(catalog_->create_container(77, again, {}, {}).error().code, Code::not_found);
}

TEST_F(CatalogTest, NumbersAreNeverUsedTwice) {
  auto database = make("db");
  auto first = make(database, "c");
  ASSERT_TRUE(catalog_->remove_container(first->number));
  open();
  auto second = make(database, "c");
  EXPECT_GT(second->number, first->number);
  ASSERT_TRUE(catalog_->remove_database(database->number));
  open();
  EXPECT_TRUE(catalog_->databases(kFace).empty());
  EXPECT_GT(make("db")->number, second->number);
}

TEST_F(CatalogTest, RemovingADatabaseRemovesItsContainers) {
  auto database = make("db");
  auto other = make("other");
  auto gone = make(database, "c");
  auto stays = make(other, "c");
  ASSERT_TRUE(catalog_->remove_database(database->number));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(catalog_->database({kFace, "db"}), nullptr);
    EXPECT_EQ(catalog_->database(database->number), nullptr);
    EXPECT_EQ(catalog_->container(gone->number), nullptr);
    EXPECT_TRUE(catalog_->containers(database->number).empty());
    EXPECT_NE(catalog_->container(stays->number), nullptr);
    open();
  }
  EXPECT_EQ(catalog_->remove_database(database->number).error().code, Code::not_found);
  EXPECT_EQ(catalog_->remove_container(gone->number).error().code, Code::not_found);
}

TEST_F(CatalogTest, UpdatesAContainerAndLeavesSnapshotsAlone) {
  auto database = make("db");
  auto before = make(database, "c");
  clock_.advance_ms(5000);
  auto after = catalog_->update_container(before->number, [](Container& container) -> Status {
    container.throughput = Throughput{.units = 800};
    return {};
  });
  ASSERT_TRUE(after);
  EXPECT_EQ(before->throughput->units, 400);
  EXPECT_NE((*after)->revision, before->revision);
  EXPECT_EQ((*after)->changed_s, before->changed_s + 5);
  open();
  EXPECT_EQ(catalog_->container(before->number)->throughput->units, 800);
  EXPECT_EQ(catalog_->container(before->number)->revision, (*after)->revision);
}

TEST_F(CatalogTest, RefusesAnUpdateThatBreaksTheMapOrIsRefused) {
  auto made = make(make("db"), "c");
  auto broken = catalog_->update_container(made->number, [](Container& container) -> Status {
    auto map = std::make_shared<PartitionMap>(*container.map);
    map->ranges.front().max = "a";
    container.map = map;
    return {};
  });
  EXPECT_EQ(broken.error().code, Code::internal);
  auto refused = catalog_->update_container(
      made->number, [](Container&) -> Status { return fail(Code::invalid, "no"); });
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(catalog_->container(made->number), made);
  EXPECT_EQ(catalog_->create_container(made->database, named("d"), {}, {"b", "a"}).error().code,
            Code::internal);
}

TEST_F(CatalogTest, RenamesAContainerToANameThatIsFree) {
  const auto database = make("db");
  const auto made = make(database, "c");
  make(database, "taken");
  const auto rename_to = [&](std::string_view name) {
    return catalog_->update_container(made->number, [name](Container& container) -> Status {
      container.spec.name = name;
      return {};
    });
  };
  EXPECT_EQ(rename_to("taken").error().code, Code::conflict);
  EXPECT_EQ(catalog_->container(made->number), made);
  ASSERT_TRUE(rename_to("other"));
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(catalog_->container(database->number, "c"), nullptr);
    ASSERT_NE(catalog_->container(database->number, "other"), nullptr);
    EXPECT_EQ(catalog_->container(database->number, "other")->number, made->number);
    EXPECT_EQ(catalog_->containers(database->number).size(), 2U);
    open();
  }
  EXPECT_NE(make(database, "c"), nullptr);
}

TEST_F(CatalogTest, SetsTheThroughputOfADatabase) {
  auto database = catalog_->create_database({kFace, "db"}, Throughput{.units = 400}).value();
  ASSERT_TRUE(catalog_->set_throughput(database->number, {.units = 2000, .autoscale = true}));
  EXPECT_EQ(catalog_->set_throughput(99, {}).error().code, Code::not_found);
  open();
  EXPECT_EQ(catalog_->database({kFace, "db"})->throughput,
            (Throughput{.units = 2000, .autoscale = true}));
}

TEST_F(CatalogTest, AChangeThatTheDiskRefusedIsNotSeen) {
  auto database = make("db");
  fault::arm("partition.commit", fault::Action::error);
  auto failed = catalog_->create_container(database->number, named("c"), {}, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::read_only);
  EXPECT_EQ(catalog_->container(database->number, "c"), nullptr);
  fault::disarm_all();
  clock_.advance_ms(2000);
  EXPECT_TRUE(make(database, "c"));
}

TEST_F(CatalogTest, DamagedRecordsAreRefusedAtTheStart) {
  auto database = make("db");
  auto container = make(database, "c");
  const std::string good = encode(*container);
  const std::string row = std::to_string(container->number);

  put_raw("containers", row, good.substr(0, good.size() / 2));
  EXPECT_EQ(try_open().error().code, Code::corrupt);
  Container gap = *container;
  auto map = std::make_shared<PartitionMap>(*gap.map);
  map->ranges.front().min = "a";
  gap.map = map;
  put_raw("containers", row, encode(gap));
  EXPECT_EQ(try_open().error().code, Code::corrupt);
  Container lost = *container;
  lost.database = 55;
  put_raw("containers", row, encode(lost));
  EXPECT_EQ(try_open().error().code, Code::corrupt);
  put_raw("containers", row, good);
  put_raw("account", "next-number", "1");
  EXPECT_EQ(try_open().error().code, Code::corrupt);
  put_raw("account", "next-number", "9x");
  EXPECT_EQ(try_open().error().code, Code::corrupt);
  put_raw("account", "next-number", "9");
  open();
  EXPECT_EQ(make("next")->number, 9);
}

TEST_F(CatalogTest, KeepsResourcesThroughAReopening) {
  DatabasePtr database = make("shop");
  ContainerPtr container = make(database, "orders");
  auto user = catalog_->create_resource(0, database->number, "reader", "{}");
  ASSERT_TRUE(user) << user.error().message;
  auto permission = catalog_->create_resource(1, (*user)->number, "p", "one");
  ASSERT_TRUE(permission);
  ASSERT_TRUE(catalog_->create_resource(2, container->number, "reader", "script"));
  auto replaced = catalog_->replace_resource((*permission)->number, "q", "two", std::nullopt);
  ASSERT_TRUE(replaced) << replaced.error().message;
  EXPECT_NE((*replaced)->revision, (*permission)->revision);
  EXPECT_EQ((*replaced)->number, (*permission)->number);
  open();
  EXPECT_EQ(catalog_->resource(0, database->number, "reader")->number, (*user)->number);
  EXPECT_EQ(catalog_->resource(1, (*user)->number, "p"), nullptr);
  EXPECT_EQ(catalog_->resource(1, (*user)->number, "q")->body, "two");
  EXPECT_EQ(catalog_->resource((*permission)->number)->revision, (*replaced)->revision);
  EXPECT_EQ(catalog_->resources(2, container->number).size(), 1U);
  EXPECT_EQ(catalog_->resource_totals().count, 3U);
}

TEST_F(CatalogTest, RefusesResourcesThatCannotBe) {
  DatabasePtr database = make("shop");
  auto one = catalog_->create_resource(0, database->number, "one", "{}");
  auto two = catalog_->create_resource(0, database->number, "two", "{}");
  ASSERT_TRUE(one && two);
  EXPECT_EQ(catalog_->create_resource(0, database->number, "one", "{}").error().code,
            Code::conflict);
  EXPECT_EQ(catalog_->create_resource(0, 999, "one", "{}").error().code, Code::not_found);
  EXPECT_EQ(catalog_->replace_resource((*two)->number, "one", "{}", std::nullopt).error().code,
            Code::conflict);
  EXPECT_EQ(catalog_->replace_resource((*two)->number, "two", "{}", 999'999).error().code,
            Code::precondition_failed);
  EXPECT_EQ(catalog_->remove_resource((*two)->number, 999'999).error().code,
            Code::precondition_failed);
  EXPECT_TRUE(catalog_->remove_resource((*two)->number, (*two)->revision));
  EXPECT_EQ(catalog_->remove_resource((*two)->number, std::nullopt).error().code, Code::not_found);
  EXPECT_EQ(catalog_->replace_resource((*two)->number, "x", "{}", std::nullopt).error().code,
            Code::not_found);
}

TEST_F(CatalogTest, RemovesResourcesWithWhatTheyBelongTo) {
  DatabasePtr database = make("shop");
  ContainerPtr container = make(database, "orders");
  auto user = catalog_->create_resource(0, database->number, "reader", "{}");
  ASSERT_TRUE(user);
  ASSERT_TRUE(catalog_->create_resource(1, (*user)->number, "p", "{}"));
  auto script = catalog_->create_resource(2, container->number, "s", "{}");
  ASSERT_TRUE(script);
  ASSERT_TRUE(catalog_->remove_resource((*user)->number, std::nullopt));
  EXPECT_EQ(catalog_->resource_totals().count, 1U);
  ASSERT_TRUE(catalog_->remove_container(container->number));
  EXPECT_EQ(catalog_->resource_totals().count, 0U);

  container = make(database, "orders");
  user = catalog_->create_resource(0, database->number, "reader", "{}");
  auto again = catalog_->create_resource(2, container->number, "s", "{}");
  ASSERT_TRUE(user && again);
  EXPECT_GT((*again)->number, (*script)->number);
  ASSERT_TRUE(catalog_->create_resource(1, (*user)->number, "p", "{}"));
  ASSERT_TRUE(catalog_->remove_database(database->number));
  EXPECT_EQ(catalog_->resource_totals().count, 0U);
  open();
  EXPECT_EQ(catalog_->resource_totals().count, 0U);
}

TEST_F(CatalogTest, RefusesAResourceOfNothing) {
  make("shop");
  Resource lost;
  lost.number = 1;
  lost.parent = 77;
  lost.name = "lost";
  put_raw("resources", "1", encode(lost));
  auto opened = try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::corrupt);
}

TEST_F(CatalogTest, AnIntentToSplitEndsWithTheMapThatNamesItsClones) {
  auto container = make(make("d"), "c");
  const PartitionRange parent = container->map->ranges[0];
  ASSERT_TRUE(catalog_->note_opened(container->number, parent, 7));
  auto intend = [&](uint64_t attempt) {
    return catalog_->intend_split(container->number, parent.id, 7, attempt).value();
  };
  auto publish = [&](const IntendedClones& clones) {
    return catalog_->publish_split(container->number, parent.id, "m", clones);
  };
  IntendedClones clones{.left = 8, .right = 9, .left_name = "left", .right_name = "right"};
  EXPECT_EQ(publish(clones).error().code, Code::conflict) << "nobody intended to";
  clones = intend(1);
  open();
  ASSERT_EQ(catalog_->removals().size(), 2U);
  EXPECT_EQ(catalog_->removals()[0].volume_name, clones.left_name);
  EXPECT_EQ(catalog_->removals()[0].clone_of->parent, parent.volume_name);
  EXPECT_EQ(catalog_->removals()[0].clone_of->epoch, 7U);
  ASSERT_TRUE(catalog_->forget_removals({clones.right_name}));
  EXPECT_EQ(publish(clones).error().code, Code::conflict) << "one was given up";
  ASSERT_TRUE(catalog_->forget_removals({clones.left_name}));
  const IntendedClones again = intend(2);
  EXPECT_NE(again.left, clones.left) << "ids are never used twice";
  EXPECT_NE(again.left_name, clones.left_name);
  auto published = publish(again);
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_EQ(publish(again).value()->revision, (*published)->revision) << "it may be repeated";
  for (int opened = 0; opened < 2; ++opened) {
    ASSERT_EQ(catalog_->removals().size(), 1U) << "the parent";
    EXPECT_EQ(catalog_->removals()[0].volume_name, parent.volume_name);
    EXPECT_FALSE(catalog_->removals()[0].clone_of);
    EXPECT_TRUE(catalog_->has_files((*published)->map->ranges[1]));
    open();
  }
  ASSERT_TRUE(catalog_->forget_removals({parent.volume_name, "never was"}));
  open();
  EXPECT_TRUE(catalog_->removals().empty());
}

TEST_F(CatalogTest, AMergeIsIntendedAndThenPublishedOrGivenUp) {
  auto database = catalog_->create_database({kFace, "d"}, std::nullopt).value();
  auto container =
      catalog_->create_container(database->number, named("c"), Throughput{}, {"g", "m"}).value();
  const uint32_t number = container->number;
  const std::vector<PartitionRange> ranges = container->map->ranges;
  for (const PartitionRange& range : ranges) ASSERT_TRUE(catalog_->note_opened(number, range, 3));
  auto intend = [&](uint32_t left, uint32_t right, uint64_t attempt) {
    return catalog_->intend_merge(
        number, {.left = left, .right = right, .left_epoch = 3, .right_epoch = 4}, attempt);
  };
  EXPECT_EQ(intend(0, 2, 1).error().code, Code::conflict) << "no neighbours";
  EXPECT_EQ(intend(1, 0, 1).error().code, Code::conflict) << "not in this order";
  EXPECT_EQ(intend(0, 9, 1).error().code, Code::not_found);
  EXPECT_EQ(catalog_->merge_empty(number, 0, 1).error().code, Code::conflict) << "they have files";
  auto given_up = intend(0, 1, 1);
  ASSERT_TRUE(given_up) << given_up.error().message;
  open();
  ASSERT_EQ(catalog_->removals().size(), 1U);
  EXPECT_EQ(catalog_->removals()[0].clone_of->parent, ranges[0].volume_name);
  EXPECT_EQ(catalog_->removals()[0].and_of->parent, ranges[1].volume_name);
  EXPECT_EQ(catalog_->removals()[0].and_of->epoch, 4U);
  // Whoever opens a parent with a later epoch ends it.
  ASSERT_TRUE(catalog_->note_opened(number, ranges[1], 5));
  EXPECT_FALSE(catalog_->removals()[0].clone_of);
  EXPECT_EQ(catalog_->publish_merge(number, 0, 1, *given_up).error().code, Code::conflict);
  ASSERT_TRUE(catalog_->forget_removals({given_up->name}));

  const IntendedMerge again = intend(0, 1, 2).value();
  EXPECT_NE(again.id, given_up->id) << "ids are never used twice";
  auto published =
      catalog_->publish_merge(number, 0, 1, again, {.at_s = 77, .cause = MergeCause::throughput});
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_EQ(catalog_->publish_merge(number, 0, 1, again).value()->revision, (*published)->revision)
      << "it may be repeated";
  open();
  const auto after = catalog_->container(number);
  EXPECT_TRUE(covers_everything(*after->map));
  ASSERT_EQ(after->map->ranges.size(), 2U);
  EXPECT_EQ(after->map->ranges[0].id, again.id);
  EXPECT_THAT(after->map->ranges[0].parents, testing::ElementsAre(0, 1));
  EXPECT_TRUE(catalog_->has_files(after->map->ranges[0]));
  ASSERT_EQ(after->map->merges.size(), 1U);
  EXPECT_EQ(after->map->merges[0].cut, "g");
  EXPECT_EQ(after->map->merges[0].why.cause, MergeCause::throughput);
  ASSERT_EQ(catalog_->removals().size(), 2U) << "both parents";
  EXPECT_FALSE(catalog_->removals()[0].clone_of);
}

TEST_F(CatalogTest, ASplitWasPublishedAlsoWhenItsChildrenWereSplitSince) {
  auto container = make(make("d"), "c");
  const auto number = container->number;
  const PartitionRange parent = container->map->ranges[0];
  const IntendedClones first = catalog_->intend_split(number, parent.id, 1, 1).value();
  ASSERT_TRUE(catalog_->publish_split(number, parent.id, "m", first));
  for (const auto& [child, cut] : {std::pair(first.left, "f"), std::pair(first.right, "t")}) {
    const IntendedClones clones = catalog_->intend_split(number, child, 3, 1).value();
    ASSERT_TRUE(catalog_->publish_split(number, child, cut, clones));
    // Whoever made the first one had no answer, and asks again.
    auto again = catalog_->publish_split(number, parent.id, "m", first);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ((*again)->revision, catalog_->container(number)->revision) << "nothing changed";
  }
  EXPECT_EQ(catalog_->container(number)->map->ranges.size(), 4U);
  // One that never was is still refused.
  EXPECT_EQ(catalog_->publish_split(number, parent.id, "m", {77, 78, "l", "r"}).error().code,
            Code::not_found);
}

TEST_F(CatalogTest, AMapRemembersItsLastSplitsAndWhyTheyWere) {
  auto container = make(make("d"), "c");
  const auto number = container->number;
  const IntendedClones first = catalog_->intend_split(number, 0, 1, 1).value();
  const SplitReason full{.at_s = 1'790'000'000, .cause = SplitCause::storage};
  ASSERT_TRUE(catalog_->publish_split(number, 0, "m", first, full));
  open();
  ASSERT_EQ(catalog_->container(number)->map->splits.size(), 1U);
  const PastSplit split = catalog_->container(number)->map->splits[0];
  EXPECT_EQ(split.why.at_s, full.at_s);
  EXPECT_EQ(split.why.cause, full.cause);
  EXPECT_EQ(split.parent, 0U);
  EXPECT_EQ(split.left, first.left);
  EXPECT_EQ(split.right, first.right);
  // Of any number, so many.
  std::string cut = "m";
  uint32_t right = catalog_->container(number)->map->ranges.back().id;
  for (size_t i = 0; i < PartitionMap::kSplitsMax; ++i) {
    cut += 'm';
    const SplitReason why{.at_s = static_cast<int64_t>(i), .cause = SplitCause::throughput};
    const IntendedClones clones = catalog_->intend_split(number, right, 1, 1).value();
    ASSERT_TRUE(catalog_->publish_split(number, right, cut, clones, why));
    right = clones.right;
  }
  const auto& splits = catalog_->container(number)->map->splits;
  ASSERT_EQ(splits.size(), PartitionMap::kSplitsMax);
  EXPECT_EQ(splits.front().why.at_s, 0) << "the first of all is forgotten";
  EXPECT_EQ(splits.back().right, right);
}

TEST_F(CatalogTest, TwoSplitsAtATimeKeepEachOthersRanges) {
  auto container = make(make("d"), "c", {"m"});
  const auto number = container->number;
  const IntendedClones left = catalog_->intend_split(number, 0, 1, 1).value();
  const IntendedClones right = catalog_->intend_split(number, 1, 1, 1).value();
  ASSERT_TRUE(catalog_->publish_split(number, 1, "t", right));
  auto published = catalog_->publish_split(number, 0, "f", left);
  ASSERT_TRUE(published) << published.error().message;
  std::vector<uint32_t> ids;
  for (const PartitionRange& range : (*published)->map->ranges) ids.push_back(range.id);
  EXPECT_EQ(ids, (std::vector<uint32_t>{left.left, left.right, right.left, right.right}));
}

TEST_F(CatalogTest, AnOwnerWithALaterEpochEndsTheSplitOfTheOneBefore) {
  auto container = make(make("d"), "c");
  const PartitionRange parent = container->map->ranges[0];
  ASSERT_TRUE(catalog_->note_opened(container->number, parent, 3));
  const IntendedClones clones = catalog_->intend_split(container->number, parent.id, 3, 1).value();
  ASSERT_TRUE(catalog_->note_opened(container->number, parent, 3)) << "the splitter itself";
  EXPECT_TRUE(catalog_->removals()[0].clone_of);
  ASSERT_TRUE(catalog_->note_opened(container->number, parent, 4));
  EXPECT_FALSE(catalog_->removals()[0].clone_of) << "they are only to be removed now";
  EXPECT_EQ(catalog_->publish_split(container->number, parent.id, "m", clones).error().code,
            Code::conflict);
  // Published, the parent is gone: whoever claims it after that is told.
  const IntendedClones later = catalog_->intend_split(container->number, parent.id, 4, 1).value();
  ASSERT_TRUE(catalog_->publish_split(container->number, parent.id, "m", later));
  EXPECT_EQ(catalog_->note_opened(container->number, parent, 5).error().code, Code::moved);
}

TEST_F(CatalogTest, WhatIsDroppedIsRecordedAsToBeRemoved) {
  auto database = make("d");
  auto one = make(database, "one", {"m"});
  make(database, "two");
  ASSERT_TRUE(catalog_->remove_container(one->number));
  EXPECT_EQ(catalog_->removals().size(), 2U);
  ASSERT_TRUE(catalog_->remove_database(database->number));
  open();
  EXPECT_EQ(catalog_->removals().size(), 3U);
}

TEST_F(CatalogTest, ARangeWhoseFilesAreToGoIsDamage) {
  auto container = make(make("d"), "c");
  put_raw("removals", container->map->ranges[0].volume_name,
          "{\"volume\":\"" + container->map->ranges[0].volume_name + "\"}");
  EXPECT_EQ(try_open().error().code, Code::corrupt);
}

}  // namespace
}  // namespace orrery::catalog
