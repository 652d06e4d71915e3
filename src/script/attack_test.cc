// Hostile scripts: each costs its own execution, says what happened, and leaves the host working.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <string>

#include "base/clock.h"
#include "script/host_fixture.h"

namespace orrery::script {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

// For what must succeed, however busy the machine is.
constexpr uint32_t kPatientMs = 20'000;

// Little memory, so that attacks end soon.
class AttackTest : public HostTest {
 protected:
  AttackTest() {
    limits.script_heap_bytes = 32 << 20;
    limits.script_memory_bytes = 128 << 20;
  }

  // The kind of failure, or the answer, of a script that has little time.
  std::string hurried(const std::string& statements) { return attack(statements, 500); }
  // The same of one whose time must not be what ends it.
  std::string attack(const std::string& statements, uint32_t time_ms = kPatientMs) {
    Execution script = make("function f() { " + statements + " }");
    script.time_ms = time_ms;
    auto outcome = small_host.run(script, operations);
    std::string result = outcome ? "answered " + outcome->response_body
                                 : std::string(to_string(outcome.error().failure));
    if (!outcome) EXPECT_FALSE(outcome.error().message.empty()) << statements;
    // The next one is fine.
    Execution harmless = make("x => __.response.setBody(x)", "[7]");
    harmless.time_ms = kPatientMs;
    auto next = small_host.run(harmless, operations);
    EXPECT_TRUE(next) << statements << ": " << next.error().message;
    if (next) EXPECT_EQ(next->response_body, "7") << statements;
    return result;
  }

  Host small_host{limits};
};

TEST_F(AttackTest, EndlessLoops) {
  EXPECT_EQ(hurried("while (true);"), "timed_out");
  EXPECT_EQ(hurried("for (;;) { try { for (;;); } catch { } finally { continue; } }"), "timed_out");
  EXPECT_EQ(hurried("const g = () => Promise.resolve().then(g); g();"), "timed_out");
  EXPECT_EQ(
      hurried("for (let i = 0; i < 1000; i++) { const g = () => Promise.resolve().then(g); g(); }"),
      "timed_out");
  EXPECT_EQ(
      hurried("const again = () => __.readDocuments(__.getSelfLink(), again); again(); for (;;);"),
      "timed_out");
  EXPECT_EQ(hurried("throw { toString() { for (;;); } };"), "threw");
  EXPECT_EQ(hurried("__.response.setBody({ toJSON() { for (;;); } });"), "timed_out");
}

TEST_F(AttackTest, RegularExpressionBombs) {
  EXPECT_EQ(hurried("/(a+)+$/.test('a'.repeat(60) + 'b');"), "timed_out");
  EXPECT_EQ(hurried("/^(([a-z])+.)+[A-Z]([a-z])+$/.exec('a'.repeat(80));"), "timed_out");
}

TEST_F(AttackTest, LoopsInsideTheEngine) {
  EXPECT_THAT(hurried("const a = new Array(1e9); a[0] = 1; a.indexOf(2); a.sort(); a.reverse();"),
              AnyOf("timed_out", "memory", "threw"));
  EXPECT_THAT(
      hurried("let s = 'ab'.repeat(1e7); for (;;) s.replace(/b/g, 'c').split('a').join('');"),
      AnyOf("timed_out", "memory", "crashed"));
  EXPECT_THAT(hurried("10n ** 10000000n % 7n; let x = 3n; for (;;) x *= x;"),
              AnyOf("timed_out", "memory", "threw", "crashed"));
  EXPECT_THAT(hurried("for (;;) JSON.parse('[' + '1,'.repeat(1e6) + '1]');"),
              AnyOf("timed_out", "memory", "crashed"));
}

TEST_F(AttackTest, MemoryBombs) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "with a sanitizer, memory is not bounded";
#endif
#endif
  const auto out_of_memory = AnyOf("memory", "crashed", "timed_out", "threw");
  EXPECT_THAT(hurried("const a = []; for (;;) a.push({ x: 1 });"), out_of_memory);
  EXPECT_THAT(hurried("const m = new Map(); for (let i = 0; ; i++) m.set(i, i);"), out_of_memory);
  EXPECT_THAT(hurried("const m = new Map(); for (let i = 0; ; i++) m.set('k' + i, [i]);"),
              out_of_memory);
  EXPECT_THAT(hurried("let s = 'x'; for (;;) s += s;"), out_of_memory);
  EXPECT_THAT(hurried("let a = []; for (let i = 0; ; i++) a.push('x'.repeat(1 << 20) + i);"),
              out_of_memory);
  EXPECT_THAT(hurried("const a = []; for (;;) a.push(new ArrayBuffer(1 << 20));"), out_of_memory);
  EXPECT_THAT(hurried("const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1));"),
              out_of_memory);
  EXPECT_THAT(hurried("new ArrayBuffer(2 ** 33);"), out_of_memory);
  EXPECT_THAT(
      hurried(
          "for (;;) try { const a = []; for (;;) a.push(new ArrayBuffer(1 << 24)); } catch { }"),
      out_of_memory);
  EXPECT_THAT(hurried("const p = []; for (;;) p.push(Promise.reject(p));"), out_of_memory);
  EXPECT_THAT(hurried("const o = {}; for (let i = 0; ; i++) o['p' + i] = i;"), out_of_memory);
  EXPECT_THAT(
      hurried("for (let i = 0; ; i++) eval('function f' + i + '() { return ' + i + '; }');"),
      out_of_memory);
}

TEST_F(AttackTest, DeepRecursion) {
  EXPECT_EQ(attack("const g = () => g() + 1; g();"), "threw");
  EXPECT_EQ(attack("let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a);"),
            "threw");
  EXPECT_EQ(attack("JSON.parse('['.repeat(1e6));"), "threw");
  EXPECT_EQ(attack("new Function('('.repeat(1e5))();"), "threw");
  EXPECT_EQ(attack("/*deep*/ new RegExp('('.repeat(1e5) + ')'.repeat(1e5));"), "threw");
  EXPECT_EQ(hurried("const g = () => { try { g(); } catch { g(); } }; g();"), "timed_out");
}

TEST_F(AttackTest, LargeAnswers) {
  EXPECT_THAT(attack("__.response.setBody('x'.repeat(5e6));"), AnyOf("threw", "too_large"));
  EXPECT_EQ(attack("__.response.setBody({ text: 'x'.repeat(5e6) });"), "too_large");
  EXPECT_EQ(attack("__.createDocument(__.getSelfLink(), { id: 'a', text: 'x'.repeat(18e6) });"),
            "threw");
  EXPECT_EQ(operations.seen.size(), 0u) << "what is over the limit does not reach the server";
  EXPECT_EQ(attack("throw new Error('x'.repeat(1e7));"), "threw");
  EXPECT_EQ(attack("throw 'y'.repeat(1e7);"), "threw");
}

TEST_F(AttackTest, ExecutionsDoNotShareState) {
  EXPECT_EQ(attack("globalThis.left = 1; Array.prototype.left = 2; Object.prototype.left = 3; "
                   "JSON.stringify = () => 'broken'; getContext = null; __ = null; "
                   "Promise.prototype.then = null; __.x = 1;"),
            "threw");
  auto outcome = small_host.run(
      make("function f() { __.response.setBody([typeof left, [].left, ({}).left]); }"), operations);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->response_body, R"(["undefined",null,null])");
  // Work left in the promise queue is not carried over.
  EXPECT_EQ(
      attack("Promise.resolve().then(() => __.createDocument(__.getSelfLink(), { id: 'late' })); "
             "throw 1;"),
      "threw");
  EXPECT_TRUE(operations.seen.empty());
  EXPECT_EQ(small_host.workers(), 1u);
}

TEST_F(AttackTest, BrokenPreludeHurtsOnlyItself) {
  EXPECT_THAT(attack("Array.prototype.push = function () { throw 'mine'; }; "
                     "__.readDocuments(__.getSelfLink(), () => 1);"),
              StartsWith("threw"));
  EXPECT_THAT(
      attack("Object.defineProperty(Object.prototype, 'etag', { get() { throw 'mine'; } }); "
             "__.readDocuments(__.getSelfLink(), {}, () => 1);"),
      "threw");
  EXPECT_EQ(attack("Error = function () {}; throw new Error(1);"), "threw");
}

TEST_F(AttackTest, NothingButTheLanguageIsThere) {
  auto outcome = small_host.run(make(R"(function f() {
    const absent = ["require", "process", "setTimeout", "setInterval", "fetch", "XMLHttpRequest",
      "WebSocket", "Worker", "load", "read", "readline", "print", "os", "quit", "SharedArrayBuffer",
      "Atomics", "WebAssembly", "gc", "module", "exports", "window", "self", "native", "Deno",
      "importScripts", "WeakRef", "FinalizationRegistry", "evalcx", "newGlobal", "Debugger"];
    let module = "no error";
    const found = absent.filter((name) => name in globalThis);
    __.response.setBody([found, new Date(2020, 0, 1).getTimezoneOffset(), Math.max(1, 2),
                         typeof Date.now(), typeof Intl]);
  })"),
                                operations);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->response_body, R"([[],0,2,"number","object"])");
  EXPECT_EQ(attack("return import('fs').then(() => 1);"), "threw");
}

TEST_F(AttackTest, MemoryComesBackAfterwards) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(
        attack(
            "const a = []; for (let i = 0; i < 60; i++) a.push(new Uint8Array(1 << 20).fill(1)); "
            "__.response.setBody(a.length);"),
        "answered 60");
  }
}

// A worker that dies under a script, or between two, is replaced.
TEST_F(AttackTest, KilledWorkersAreReplaced) {
  EXPECT_EQ(attack("__.response.setBody(1);"), "answered 1");
  class Killer final : public Operations {
   public:
    Reply perform(const ItemOperation& /*operation*/) override {
      // The only child of this process.
      std::ifstream children("/proc/thread-self/children");
      pid_t pid = 0;
      children >> pid;
      if (pid != 0) kill(pid, SIGKILL);
      return Reply{.status = 200, .body = "[]"};
    }
  } killer;
  auto outcome = small_host.run(
      make("function f() { __.readDocuments(__.getSelfLink()); for (;;); }"), killer);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().failure, Failure::crashed);
  EXPECT_THAT(outcome.error().message, HasSubstr("signal 9"));
  EXPECT_EQ(attack("__.response.setBody(1);"), "answered 1");
}

TEST_F(AttackTest, BusyWorkersRefuseAfterAWhile) {
  limits.script_workers = 1;
  limits.script_time_ms = 200;
  Host one(limits);
  class Nested final : public Operations {
   public:
    explicit Nested(Host& host) : host_(host) {}
    Reply perform(const ItemOperation& /*operation*/) override {
      MapOperations none;
      auto inner = host_.run(make("function f() {}"), none);
      return Reply{
          .status = 200,
          .body = inner ? "[1]" : "[\"" + std::string(to_string(inner.error().failure)) + "\"]"};
    }

   private:
    Host& host_;
  } nested(one);
  Execution outer = make(
      "function f() { __.readDocuments(__.getSelfLink(), (e, feed) => __.response.setBody(feed)); "
      "}");
  outer.time_ms = 2000;
  auto outcome = one.run(outer, nested);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->response_body, R"(["busy"])");
}

TEST_F(AttackTest, AProgramThatIsNoWorkerIsRefused) {
  Host wrong(limits, "/bin/true");
  auto outcome = wrong.run(make("function f() {}"), operations);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().failure, Failure::unable);
  Host absent(limits, "/nonexistent");
  outcome = absent.run(make("function f() {}"), operations);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().failure, Failure::unable);
}

}  // namespace
}  // namespace orrery::script
