// What every object store promises (object_store.h), as tests that any implementation can run.
// Included by tests only.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "volume/objects/object_store.h"

namespace orrery::volume {

// Opens an empty store.
using StoreFactory = std::function<std::shared_ptr<ObjectStore>()>;

class ObjectStoreContract : public testing::TestWithParam<StoreFactory> {
 protected:
  using Presence = ObjectChange::Presence;
  using Data = ObjectChange::Data;

  std::shared_ptr<ObjectStore> store_ = GetParam()();

  Applied apply(const std::string& object, const ObjectChange& change) {
    const Outcome outcome = store_->apply(object, change);
    EXPECT_TRUE(outcome.message.empty()) << outcome.message;
    return outcome.applied;
  }
  std::string read(const std::string& object, uint64_t offset = 0, size_t most = 1 << 20) {
    std::string bytes(most, '\0');
    auto got = store_->read(object, offset, bytes);
    if (!got) return "(" + got.error().message + ")";
    bytes.resize(*got);
    return bytes;
  }
};

TEST_P(ObjectStoreContract, BytesAreAppendedAndReplaced) {
  EXPECT_EQ(store_->inspect("a").error().code, Code::not_found);
  EXPECT_EQ(apply("a", {.data = Data::append, .bytes = "one"}), Applied::done);
  EXPECT_EQ(apply("a", {.data = Data::append, .bytes = "two"}), Applied::done);
  EXPECT_EQ(read("a"), "onetwo");
  EXPECT_EQ(read("a", 2, 3), "etw");
  EXPECT_EQ(read("a", 6), "");
  EXPECT_EQ(read("a", 100), "");
  EXPECT_EQ(store_->inspect("a")->size, 6U);
  EXPECT_EQ(apply("a", {.data = Data::replace, .bytes = "one two three"}), Applied::done);
  EXPECT_EQ(read("a"), "one two three");
  std::string none(1, 'x');
  EXPECT_EQ(store_->read("b", 0, none).error().code, Code::not_found);
}

TEST_P(ObjectStoreContract, MakingExclusivelyHappensOnce) {
  EXPECT_EQ(apply("a", {.presence = Presence::must_be_new, .set_attributes = {{"x", "1"}}}),
            Applied::done);
  EXPECT_EQ(apply("a", {.presence = Presence::must_be_new, .set_attributes = {{"x", "2"}}}),
            Applied::exists);
  EXPECT_EQ(store_->inspect("a")->attribute("x"), "1");
  EXPECT_EQ(apply("b", {.presence = Presence::must_be_there, .set_attributes = {{"x", "2"}}}),
            Applied::absent);
  EXPECT_EQ(store_->inspect("b").error().code, Code::not_found);
}

TEST_P(ObjectStoreContract, ConditionsAndChangesAreOne) {
  ASSERT_EQ(apply("a", {.set_attributes = {{"epoch", "1"}}, .set_entries = {{"f", "old"}}}),
            Applied::done);
  const ObjectChange late{.presence = Presence::must_be_there,
                          .attributes_equal = {{"epoch", "0"}},
                          .set_attributes = {{"epoch", "9"}},
                          .set_entries = {{"f", "new"}},
                          .data = Data::append,
                          .bytes = "late"};
  EXPECT_EQ(apply("a", late), Applied::differs);
  auto state = store_->inspect("a");
  EXPECT_EQ(state->attribute("epoch"), "1");
  EXPECT_EQ(state->entries["f"], "old");
  EXPECT_EQ(state->size, 0U);

  ObjectChange right = late;
  right.attributes_equal = {{"epoch", "1"}};
  EXPECT_EQ(apply("a", right), Applied::done);
  state = store_->inspect("a");
  EXPECT_EQ(state->attribute("epoch"), "9");
  EXPECT_EQ(state->entries["f"], "new");
  EXPECT_EQ(read("a"), "late");
}

TEST_P(ObjectStoreContract, WhatIsNotThereEqualsNothing) {
  EXPECT_EQ(apply("a", {.attributes_equal = {{"x", "1"}}, .set_attributes = {{"x", "2"}}}),
            Applied::differs);
  EXPECT_EQ(apply("a", {.entries_equal = {{"k", ""}}, .set_entries = {{"k", "1"}}}), Applied::done);
  EXPECT_EQ(apply("a", {.entries_equal = {{"k", ""}}, .set_entries = {{"k", "2"}}}),
            Applied::differs);
  EXPECT_EQ(apply("a", {.attributes_equal = {{"x", ""}}, .set_attributes = {{"x", "3"}}}),
            Applied::done);
  EXPECT_EQ(apply("a", {.attributes_equal = {{"x", ""}}, .set_attributes = {{"x", "4"}}}),
            Applied::differs);
  EXPECT_EQ(apply("a", {.presence = Presence::must_be_there,
                        .attributes_equal = {{"x", "3"}},
                        .set_attributes = {{"x", ""}}}),
            Applied::done);
  EXPECT_EQ(store_->inspect("a")->attribute("x"), "");
  EXPECT_EQ(store_->entry("a", "k")->value(), "1");
  EXPECT_FALSE(store_->entry("a", "none")->has_value());
  EXPECT_FALSE(store_->entry("none", "k")->has_value());
}

TEST_P(ObjectStoreContract, RemovingComparesToo) {
  ASSERT_EQ(apply("a", {.set_attributes = {{"refs", "t "}}, .data = Data::append, .bytes = "x"}),
            Applied::done);
  const ObjectChange removal{
      .presence = Presence::must_be_there, .attributes_equal = {{"refs", ""}}, .remove = true};
  EXPECT_EQ(apply("a", removal), Applied::differs);
  EXPECT_EQ(read("a"), "x");
  ASSERT_EQ(apply("a", {.set_attributes = {{"refs", ""}}}), Applied::done);
  EXPECT_EQ(apply("a", removal), Applied::done);
  EXPECT_EQ(store_->inspect("a").error().code, Code::not_found);
  EXPECT_EQ(apply("a", removal), Applied::absent);
  EXPECT_EQ(apply("a", {.data = Data::append, .bytes = "y"}), Applied::done);
  EXPECT_EQ(read("a"), "y") << "nothing of the old one";
}

TEST_P(ObjectStoreContract, ManyEntriesAreOneState) {
  ObjectChange many;
  for (int i = 0; i < 3'000; ++i) many.set_entries[std::to_string(i)] = std::string(20, 'x');
  ASSERT_EQ(apply("a", many), Applied::done);
  EXPECT_EQ(store_->inspect("a")->entries.size(), 3'000U);
  ObjectChange fewer{.set_entries = {{"new", "1"}}, .erase_entries = {"7", "8", "not there"}};
  ASSERT_EQ(apply("a", fewer), Applied::done);
  auto state = store_->inspect("a");
  EXPECT_EQ(state->entries.size(), 2'999U);
  EXPECT_FALSE(state->entries.contains("7"));
  EXPECT_EQ(state->entries["new"], "1");
}

TEST_P(ObjectStoreContract, ListsByPrefix) {
  for (const char* name : {"lease.1", "lease.2", "root.1"}) {
    ASSERT_EQ(apply(name, {.set_attributes = {{"x", "1"}}}), Applied::done);
  }
  EXPECT_THAT(store_->list("lease.").value(), testing::UnorderedElementsAre("lease.1", "lease.2"));
  EXPECT_THAT(store_->list("file.").value(), testing::IsEmpty());
  const double free = store_->free_share().value();
  EXPECT_GE(free, 0);
  EXPECT_LE(free, 1);
}

TEST_P(ObjectStoreContract, OfManyThatCompareOneWinsEachTime) {
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  ASSERT_EQ(apply("counter", {.set_attributes = {{"n", "0"}}}), Applied::done);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int done = 0; done < kEach;) {
          const std::string before(store_->inspect("counter")->attribute("n"));
          const std::string after = std::to_string(std::stoi(before) + 1);
          if (store_
                  ->apply("counter", {.presence = Presence::must_be_there,
                                      .attributes_equal = {{"n", before}},
                                      .set_attributes = {{"n", after}},
                                      .data = Data::append,
                                      .bytes = "."})
                  .is_done()) {
            ++done;
          }
        }
      });
    }
  }
  EXPECT_EQ(store_->inspect("counter")->attribute("n"), std::to_string(kThreads * kEach));
  EXPECT_EQ(store_->inspect("counter")->size, kThreads * kEach);
}

TEST_P(ObjectStoreContract, ChangesCanBeStartedWithoutWaiting) {
  constexpr int kMany = 16;
  const std::string bytes(1 << 20, 'b');
  std::latch done(kMany);
  std::atomic<int> succeeded = 0;
  for (int i = 0; i < kMany; ++i) {
    store_->start("s." + std::to_string(i), {.data = Data::replace, .bytes = bytes},
                  [&](const Outcome& outcome) {
                    if (outcome.is_done()) ++succeeded;
                    done.count_down();
                  });
  }
  done.wait();
  EXPECT_EQ(succeeded, kMany);
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(store_->inspect("s." + std::to_string(i))->size, bytes.size());
  }
}

}  // namespace orrery::volume
