// What queries read of a partition: see view.h.
#include "partition/view.h"

#include <map>
#include <random>

#include "partition/partition_fixture.h"
#include "value/ordered.h"

namespace orrery::partition {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;  // term, key

std::string number_term(std::string_view path, double number) {
  std::string term = value::term_path(path_of(path));
  value::append_term_value(term, number);
  return term;
}
std::string text_term(std::string_view path, std::string_view text) {
  std::string term = value::term_path(path_of(path));
  value::append_term_value(term, text);
  return term;
}
// All terms of a path.
std::pair<std::string, std::string> terms_of(std::string_view path) {
  const std::string from = value::term_path(path_of(path));
  return {from, value::after_prefix(from)};
}

Entries rest_of(EntryCursor& cursor) {
  Entries entries;
  for (;;) {
    auto moved = cursor.next();
    EXPECT_TRUE(moved) << moved.error().message;
    if (!moved || !*moved) return entries;
    entries.emplace_back(cursor.term(), cursor.key());
  }
}

Entries entries_of(const View& view, const std::string& from, const std::string& to,
                   bool descending = false, const View::Place* after = nullptr) {
  auto cursor = view.entries(from, to, descending, after);
  EXPECT_TRUE(cursor) << cursor.error().message;
  return cursor ? rest_of(**cursor) : Entries();
}

std::vector<std::string> bodies_of(const View& view, const std::string* after = nullptr,
                                   bool inclusive = false) {
  std::vector<std::string> bodies;
  auto cursor = view.items(after, inclusive);
  EXPECT_TRUE(cursor) << cursor.error().message;
  while ((*cursor)->next().value()) bodies.emplace_back((*cursor)->body());
  return bodies;
}

class ViewTest : public PartitionTest {
 protected:
  std::unique_ptr<View> view_of(const std::shared_ptr<Partition>& partition,
                                std::string_view min = "", std::string_view max = "\xFF") {
    auto view = View::open(partition, min, max, *schema_);
    EXPECT_TRUE(view) << view.error().message;
    return view ? std::move(*view) : nullptr;
  }
  // The entries that all_terms() says there are, of a stretch and a range of terms.
  static Entries expected(const Partition& partition, std::string_view min, std::string_view max,
                          const std::string& from, const std::string& to) {
    Entries entries;
    for (const auto& [term, key] : partition.all_terms().value()) {
      if (key.placement < min || key.placement >= max || term < from || term >= to) continue;
      entries.emplace_back(term, item_key(key.placement, key.row));
    }
    std::ranges::sort(entries);
    return entries;
  }
  // Everything that a view gives of a stretch, in every way it can be asked.
  void expect_agrees(const std::shared_ptr<Partition>& partition, std::string_view min,
                     std::string_view max, const std::string& from, const std::string& to) {
    const Entries all = expected(*partition, min, max, from, to);
    const Entries reversed(all.rbegin(), all.rend());
    // What an estimate has counted is kept, and read from there.
    for (const bool is_counted : {false, true}) {
      auto view = view_of(partition, min, max);
      if (is_counted) EXPECT_GE(view->estimate(from, to), all.size());
      EXPECT_EQ(entries_of(*view, from, to), all);
      EXPECT_EQ(entries_of(*view, from, to, true), reversed);
      for (size_t i = 0; i < all.size(); i += 1 + all.size() / 7) {
        const View::Place place{all[i].first, all[i].second};
        EXPECT_EQ(entries_of(*view, from, to, false, &place),
                  Entries(all.begin() + static_cast<ptrdiff_t>(i) + 1, all.end()));
        EXPECT_EQ(entries_of(*view, from, to, true, &place),
                  Entries(all.rend() - static_cast<ptrdiff_t>(i), all.rend()));
      }
    }
  }
};

TEST_F(ViewTest, GivesItemsFromTheLastToTheFirst) {
  auto partition = open();
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) {
    const std::string key = "k" + std::to_string(i % 4);
    ASSERT_FALSE(commit(*partition, create(key, std::to_string(i))).error);
    keys.push_back(item_key(key, std::to_string(i)));
  }
  std::ranges::sort(keys);
  const auto keys_of = [](Result<std::unique_ptr<ItemCursor>> cursor) {
    std::vector<std::string> found;
    while ((*cursor)->next().value()) found.emplace_back((*cursor)->key());
    std::ranges::reverse(found);
    return found;
  };
  auto view = view_of(partition);
  EXPECT_EQ(keys_of(view->items_descending(nullptr)), keys);
  EXPECT_EQ(keys_of(view->items_descending(&keys[7])),
            std::vector<std::string>(keys.begin(), keys.begin() + 7));
  auto stretch = view_of(partition, "k1", "k3");
  EXPECT_EQ(keys_of(stretch->items_descending(nullptr)),
            std::vector<std::string>(keys.begin() + 5, keys.begin() + 15));
  EXPECT_EQ(keys_of(View::of_nothing()->items_descending(nullptr)), std::vector<std::string>());
}

TEST_F(ViewTest, GivesEntriesInBothDirectionsFromAnyPlace) {
  auto partition = open();
  for (int i = 0; i < 60; ++i) {
    const std::string key = "k" + std::to_string(i % 6);
    ASSERT_FALSE(commit(*partition, create(key, std::to_string(i),
                                           "\"n\":" + std::to_string(i % 10) + ",\"s\":\"v" +
                                               std::to_string(i % 3) + "\""))
                     .error);
  }
  for (const auto& [from, to] :
       {terms_of("/n"), terms_of("/s"), terms_of("/nothing"),
        std::pair(number_term("/n", 3), number_term("/n", 7)),
        std::pair(number_term("/n", 3), value::after_prefix(number_term("/n", 3))),
        std::pair(number_term("/n", 4), std::string("\xFF")),
        std::pair(std::string(), std::string("\xFF"))}) {
    expect_agrees(partition, "", "\xFF", from, to);
    expect_agrees(partition, "k2", "k4", from, to);
    expect_agrees(partition, "k3", std::string("k3\0", 3), from, to);
    expect_agrees(partition, "k9", "kz", from, to);
  }
}

TEST_F(ViewTest, TakesBoundsThatAreMoreThanATerm) {
  auto partition = open();
  for (int i = 0; i < 5; ++i) {
    ASSERT_FALSE(
        commit(*partition, create("k", std::to_string(i), "\"n\":" + std::to_string(i))).error);
  }
  auto view = view_of(partition);
  const std::string two = number_term("/n", 2);
  // From just after a term: without it. Up to just after it: with it.
  EXPECT_EQ(entries_of(*view, two + '\0', terms_of("/n").second).size(), 2U);
  EXPECT_EQ(entries_of(*view, terms_of("/n").first, two + '\0').size(), 3U);
  EXPECT_EQ(entries_of(*view, two, two + '\0').size(), 1U);
  EXPECT_EQ(entries_of(*view, two, two).size(), 0U);
}

TEST_F(ViewTest, SeeksForwardsWithinATerm) {
  auto partition = open();
  std::vector<Write> writes;
  for (int i = 0; i < 200; ++i) {
    writes.push_back(create("k", std::to_string(1000 + i), i % 2 == 0 ? "\"n\":1" : "\"n\":2"));
  }
  ASSERT_FALSE(commit(*partition, std::move(writes)).error);
  auto view = view_of(partition);
  const std::string one = number_term("/n", 1);
  auto cursor = view->entries(one, value::after_prefix(one), false, nullptr).value();
  auto at = [&](int i) { return item_key("k", std::to_string(1000 + i)); };
  ASSERT_TRUE(cursor->seek(at(7)).value());
  EXPECT_EQ(cursor->key(), at(8));
  ASSERT_TRUE(cursor->seek(at(3)).value());  // never backwards
  EXPECT_EQ(cursor->key(), at(8));
  ASSERT_TRUE(cursor->seek(at(10)).value());
  EXPECT_EQ(cursor->key(), at(10));
  ASSERT_TRUE(cursor->seek(at(151)).value());
  EXPECT_EQ(cursor->key(), at(152));
  ASSERT_TRUE(cursor->next().value());
  EXPECT_EQ(cursor->key(), at(154));
  EXPECT_FALSE(cursor->seek(at(199)).value());
  EXPECT_FALSE(cursor->next().value());

  // Over several terms: past the end of one, it is at the start of the next.
  auto [from, to] = terms_of("/n");
  auto both = view->entries(from, to, false, nullptr).value();
  ASSERT_TRUE(both->seek(at(196)).value());
  EXPECT_EQ(both->term(), one);
  EXPECT_EQ(both->key(), at(196));
  ASSERT_TRUE(both->seek(at(199)).value());
  EXPECT_EQ(both->term(), number_term("/n", 2));
  EXPECT_EQ(both->key(), at(1));
  ASSERT_TRUE(both->seek(at(150)).value());
  EXPECT_EQ(both->key(), at(151));
}

TEST_F(ViewTest, SeeksAsSteppingWouldWhateverTheStretch) {
  auto partition = open();
  std::mt19937 random(7);
  std::vector<Write> writes;
  for (int i = 0; i < 400; ++i) {
    writes.push_back(create("k" + std::to_string(random() % 20), std::to_string(i),
                            "\"n\":" + std::to_string(random() % 5)));
  }
  ASSERT_FALSE(commit(*partition, std::move(writes)).error);
  auto [from, to] = terms_of("/n");
  for (int round = 0; round < 100; ++round) {
    std::string min = "k" + std::to_string(random() % 20);
    std::string max = "k" + std::to_string(random() % 20);
    if (max < min) std::swap(min, max);
    const Entries all = expected(*partition, min, max, from, to);
    auto view = view_of(partition, min, max);
    auto cursor = view->entries(from, to, false, nullptr).value();
    size_t at = 0;
    for (bool more = !all.empty(), started = false; more;) {
      if (random() % 3 == 0) {
        at += started ? 1 : 0;
        more = cursor->next().value();
      } else {
        const std::string key = item_key("k" + std::to_string(random() % 20), "");
        const std::string term = all[at].first;
        while (at < all.size() && all[at].first == term && all[at].second < key) ++at;
        more = cursor->seek(key).value();
      }
      started = true;
      ASSERT_EQ(more, at < all.size());
      if (more)
        ASSERT_EQ(std::pair(std::string(cursor->term()), std::string(cursor->key())), all[at]);
    }
  }
}

TEST_F(ViewTest, KeepsLongStringsApart) {
  auto partition = open();
  const std::string same(1500, 'x');
  for (int i = 0; i < 4; ++i) {
    ASSERT_FALSE(commit(*partition, create("k", std::to_string(i),
                                           "\"s\":\"" + same + std::to_string(i / 2) + "\""))
                     .error);
  }
  auto [from, to] = terms_of("/s");
  expect_agrees(partition, "", "\xFF", from, to);
  expect_agrees(partition, "k", "l", from, to);
  auto view = view_of(partition);
  const std::string term = text_term("/s", same + "1");
  EXPECT_EQ(entries_of(*view, term, value::after_prefix(term)).size(), 2U);
}

TEST_F(ViewTest, IsOfOneMoment) {
  auto partition = open();
  ASSERT_FALSE(commit(*partition, create("k", "a", "\"n\":1")).error);
  ASSERT_FALSE(commit(*partition, create("k", "b", "\"n\":2")).error);
  auto view = view_of(partition);
  ASSERT_FALSE(commit(*partition, replace("k", "a", "\"n\":5")).error);
  ASSERT_FALSE(commit(*partition, remove("k", "b")).error);
  ASSERT_FALSE(commit(*partition, create("k", "c", "\"n\":3")).error);
  EXPECT_EQ(view->lsn(), 2U);
  EXPECT_EQ(view->items_at_most(), 2U);
  auto [from, to] = terms_of("/n");
  EXPECT_THAT(entries_of(*view, from, to),
              testing::ElementsAre(testing::Pair(number_term("/n", 1), item_key("k", "a")),
                                   testing::Pair(number_term("/n", 2), item_key("k", "b"))));
  EXPECT_THAT(bodies_of(*view),
              testing::ElementsAre(body_of("a", "\"n\":1"), body_of("b", "\"n\":2")));
  const std::vector<std::string> keys = {item_key("k", "b"), item_key("k", "c"),
                                         item_key("k", "a")};
  EXPECT_THAT(view->fetch(keys).value(),
              testing::ElementsAre(body_of("b", "\"n\":2"), "", body_of("a", "\"n\":1")));
  EXPECT_EQ(view_of(partition)->lsn(), 5U);
}

TEST_F(ViewTest, GivesItemsOfTheStretchFromAnyKey) {
  auto partition = open();
  for (const char* key : {"a", "b", "c", "d"}) {
    for (const char* row : {"1", "2"}) ASSERT_FALSE(commit(*partition, create(key, row)).error);
  }
  auto view = view_of(partition, "b", "d");
  EXPECT_EQ(bodies_of(*view).size(), 4U);
  const std::string at = item_key("b", "2");
  EXPECT_EQ(bodies_of(*view, &at).size(), 2U);
  EXPECT_EQ(bodies_of(*view, &at, true).size(), 3U);
  const std::string before = item_key("a", "1");
  EXPECT_EQ(bodies_of(*view, &before).size(), 4U);
  const std::string past = item_key("d", "1");
  EXPECT_EQ(bodies_of(*view, &past, true).size(), 0U);
  // An item of another stretch is not given, though it is there.
  EXPECT_THAT(view->fetch(std::vector<std::string>{past, at}).value(),
              testing::ElementsAre("", body_of("2")));
}

TEST_F(ViewTest, CountsExactlyWhereItCan) {
  auto partition = open();
  for (int i = 0; i < 30; ++i) {
    ASSERT_FALSE(commit(*partition, create("k" + std::to_string(i % 3), std::to_string(i))).error);
  }
  EXPECT_EQ(view_of(partition)->items_at_most(), 30U);
  EXPECT_EQ(view_of(partition, "k1", std::string("k1\0", 3))->items_at_most(), 10U);
  EXPECT_EQ(view_of(partition, "kx", std::string("kx\0", 3))->items_at_most(), 0U);
  EXPECT_GE(view_of(partition, "k0", "k2")->items_at_most(), 20U);
  EXPECT_TRUE(view_of(partition)->entries_are_items());
}

TEST_F(ViewTest, LeavesExpiredItemsOut) {
  schema_->default_life_ms = Lifetime::kForever;
  auto partition = open();
  Write mortal = create("k", "mortal", "\"n\":1");
  mortal.lifetime.ms = 10'000;
  ASSERT_FALSE(commit(*partition, std::move(mortal)).error);
  ASSERT_FALSE(commit(*partition, create("k", "lasting", "\"n\":1")).error);
  clock_.advance_ms(11'000);
  auto view = view_of(partition);
  EXPECT_FALSE(view->entries_are_items());
  EXPECT_THAT(bodies_of(*view), testing::ElementsAre(body_of("lasting", "\"n\":1")));
  const std::vector<std::string> keys = {item_key("k", "mortal"), item_key("k", "lasting")};
  EXPECT_THAT(view->fetch(keys).value(), testing::ElementsAre("", body_of("lasting", "\"n\":1")));
}

TEST_F(ViewTest, OfAChildDoesNotGiveWhatItsSiblingHas) {
  auto parent = open();
  std::vector<Write> writes;
  for (int i = 0; i < 200; ++i) {
    writes.push_back(create("k" + std::to_string(10 + i % 20), std::to_string(i),
                            "\"n\":" + std::to_string(i % 4)));
  }
  ASSERT_FALSE(commit(*parent, std::move(writes)).error);
  auto cut = parent->begin_split(kPlainKeys, "m").value();
  Partition::Children children;
  ASSERT_TRUE(parent->finish_split(cut, {8, "p8"}, {9, "p9"}, [&](const Partition::Children& made) {
    children = made;
    return Status();
  }));
  auto [from, to] = terms_of("/n");
  for (bool trimmed : {false, true}) {
    for (const auto& child : {children.first, children.second}) {
      if (trimmed) ASSERT_TRUE(child->trim());
      expect_agrees(child, "", "\xFF", from, to);
      expect_agrees(child, "k12", "k14", from, to);
      expect_agrees(child, "k16", "k29", from, to);
      auto view = view_of(child);
      EXPECT_EQ(view->items_at_most(), child->usage().items);
      EXPECT_EQ(bodies_of(*view).size(), child->usage().items);
    }
  }
  auto left = view_of(children.first);
  EXPECT_THAT(left->fetch(std::vector<std::string>{item_key("k29", "19")}).value(),
              testing::ElementsAre(""));
}

TEST_F(ViewTest, OfNothingIsEmpty) {
  auto view = View::of_nothing();
  EXPECT_EQ(view->lsn(), 0U);
  EXPECT_EQ(view->items_at_most(), 0U);
  EXPECT_EQ(view->estimate("", "\xFF"), 0U);
  EXPECT_TRUE(view->is_indexed());
  EXPECT_TRUE(view->entries_are_items());
  EXPECT_TRUE(entries_of(*view, "", "\xFF").empty());
  EXPECT_FALSE(view->entries("", "\xFF", false, nullptr).value()->seek("k").value());
  EXPECT_TRUE(bodies_of(*view).empty());
  EXPECT_THAT(view->fetch(std::vector<std::string>{"k"}).value(), testing::ElementsAre(""));
  auto partition = open();
  EXPECT_TRUE(bodies_of(*view_of(partition, "x", "x")).empty());
}

TEST_F(ViewTest, EstimatesBeforeAndAfterFlushing) {
  auto partition = open();
  for (int batch = 0; batch < 20; ++batch) {
    std::vector<Write> writes;
    for (int i = 0; i < 500; ++i) {
      const int n = batch * 500 + i;
      writes.push_back(create("k" + std::to_string(n % 50), std::to_string(n),
                              "\"n\":" + std::to_string(n % 10) + ",\"u\":" + std::to_string(n)));
    }
    ASSERT_FALSE(commit(*partition, std::move(writes)).error);
  }
  const std::string tenth = number_term("/n", 3);
  const std::string one = number_term("/u", 77);
  for (bool flushed : {false, true}) {
    if (flushed) {
      auto cut = partition->begin_split(kPlainKeys, "m");  // it flushes
      ASSERT_TRUE(cut);
      partition->abandon_split();
    }
    auto view = view_of(partition);
    const uint64_t all = view->estimate(terms_of("/n").first, terms_of("/n").second);
    const uint64_t some = view->estimate(tenth, value::after_prefix(tenth));
    EXPECT_EQ(view->estimate(one, value::after_prefix(one)), 1U) << "few are counted";
    // Of what has not been flushed nothing more is known than that there are many.
    EXPECT_GE(all, flushed ? 5'000U : 256U);
    EXPECT_GE(some, 256U);
    if (!flushed) continue;
    EXPECT_LE(all, 20'000U);
    EXPECT_LE(some, 3'000U);
  }
}

TEST_F(ViewTest, ItemsAreOfItsMomentWhateverTheCacheHas) {
  auto partition = open();
  ASSERT_FALSE(commit(*partition, create("k", "a", "\"n\":1")).error);
  const std::vector<std::string> keys = {item_key("k", "a")};
  const auto fetched = [&](View& view) { return std::string(view.fetch(keys).value().front()); };
  auto before = view_of(partition);
  const std::string first = fetched(*before);
  EXPECT_THAT(first, testing::HasSubstr("\"n\":1"));

  ASSERT_FALSE(commit(*partition, replace("k", "a", "\"n\":2")).error);
  EXPECT_EQ(fetched(*before), first);
  EXPECT_THAT(partition->read("k", "a").value()->body, testing::HasSubstr("\"n\":2"));
  EXPECT_EQ(fetched(*before), first);  // though the cache has the newer one
  EXPECT_THAT(fetched(*view_of(partition)), testing::HasSubstr("\"n\":2"));

  // What an old view reads from the files is not put into the cache.
  ASSERT_FALSE(commit(*partition, replace("k", "a", "\"n\":3")).error);
  EXPECT_EQ(fetched(*before), first);
  EXPECT_THAT(partition->read("k", "a").value()->body, testing::HasSubstr("\"n\":3"));
}

TEST_F(ViewTest, ReadingsAreUsedAgainOnlyWhileNothingIsWritten) {
  auto partition = open();
  const auto [from, to] = terms_of("/n");
  for (int i = 0; i < 20; ++i) {
    ASSERT_FALSE(commit(*partition, create("k", std::to_string(i), "\"n\":1")).error);
    for (int again = 0; again < 3; ++again) {
      EXPECT_EQ(entries_of(*view_of(partition), from, to).size(), size_t(i) + 1);
    }
    if (i % 5 == 0) partition->release_readings();
  }
  // Several at once, and one that outlives a write.
  auto one = view_of(partition);
  auto two = view_of(partition);
  ASSERT_FALSE(commit(*partition, create("k", "new", "\"n\":1")).error);
  EXPECT_EQ(entries_of(*one, from, to).size(), 20U);
  EXPECT_EQ(entries_of(*two, from, to).size(), 20U);
  one.reset();
  two.reset();
  EXPECT_EQ(entries_of(*view_of(partition), from, to).size(), 21U);
}

TEST_F(ViewTest, WithoutReachingForFilesGivesWhatIsInMemoryOrSaysThatItWouldWait) {
  const auto [from, to] = terms_of("/n");
  {
    auto partition = open();
    for (int i = 0; i < 10; ++i) {
      ASSERT_FALSE(commit(*partition, create("k", std::to_string(i), "\"n\":1")).error);
    }
    ASSERT_TRUE(partition->settle());
  }
  auto partition = open();
  const std::vector<std::string> keys = {item_key("k", "3")};
  const auto in_memory = [&] {
    return View::open(partition, "", "\xFF", *schema_, Reach::memory).value();
  };
  auto view = in_memory();
  auto moved = view->entries(from, to, false, nullptr).value()->next();
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, Code::would_wait);
  auto body = view->fetch(keys);
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().code, Code::would_wait);
  // An estimate cannot say so, but for not saying that there are none: what is read next does.
  view = in_memory();
  EXPECT_EQ(view->estimate(from, to), 1U);
  auto told = view->entries(from, to, false, nullptr);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::would_wait);

  auto patient = view_of(partition);
  EXPECT_EQ(entries_of(*patient, from, to).size(), 10U);
  EXPECT_TRUE(patient->fetch(keys));
  view = in_memory();
  EXPECT_EQ(view->estimate(from, to), 10U);
  EXPECT_EQ(entries_of(*view, from, to).size(), 10U);
  EXPECT_TRUE(view->fetch(keys));
}

// Views of several moments, used by turns while items come, change and go: what one of them has
// looked up is kept for the others only where it is theirs as well.
TEST_F(ViewTest, GivesTheEntriesOfItsOwnMomentWhateverOthersLookedUp) {
  auto partition = open();
  std::mt19937 random(11);  // NOLINT(bugprone-random-generator-seed): the same in every run
  constexpr int kValues = 6;
  std::map<std::string, int> now;  // the values of n by id
  struct Moment {
    std::unique_ptr<View> view;
    std::map<std::string, int> values;
  };
  std::vector<Moment> moments;
  for (int step = 0; step < 600; ++step) {
    const std::string id = std::to_string(random() % 20);
    const int n = static_cast<int>(random() % kValues);
    if (random() % 4 == 0 && now.contains(id)) {
      ASSERT_FALSE(commit(*partition, remove("k" + id, id)).error);
      now.erase(id);
    } else {
      ASSERT_FALSE(commit(*partition, upsert("k" + id, id, "\"n\":" + std::to_string(n))).error);
      now[id] = n;
    }
    if (moments.size() == 4) moments.erase(moments.begin() + static_cast<long>(random() % 4));
    moments.push_back({view_of(partition), now});
    for (const Moment& moment : moments) {
      const int wanted = static_cast<int>(random() % kValues);
      const std::string term = number_term("/n", wanted);
      std::vector<std::string> keys;
      for (const auto& [known, value] : moment.values) {
        if (value == wanted) keys.push_back(item_key("k" + known, known));
      }
      std::ranges::sort(keys);
      ASSERT_EQ(moment.view->estimate(term, term + '\0'), keys.size()) << "step " << step;
      std::vector<std::string> found;
      for (const auto& [_, key] : entries_of(*moment.view, term, term + '\0')) found.push_back(key);
      ASSERT_EQ(found, keys) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace orrery::partition
