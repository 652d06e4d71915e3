// Stacks as people read them.
#include "script/script_error.h"

#include <gtest/gtest.h>

namespace orrery::script {
namespace {

TEST(ScriptErrorTest, StacksNameTheScriptAlone) {
  uint32_t line = 0;
  EXPECT_EQ(readable_stack("inner@a.js:4:11\n@a.js:2:3\ncall@orrery:400:12\n", line),
            "    at inner (a.js:4:11)\n    at anonymous function (a.js:2:3)");
  EXPECT_EQ(line, 4u);
  line = 7;
  EXPECT_EQ(readable_stack("next@orrery:1:2\nnot a frame\n@x\n", line), "");
  EXPECT_EQ(line, 7u) << "nothing better is known";
  EXPECT_EQ(readable_stack("f@a@b.js line 3 > eval:1:5", line),
            "    at f (a@b.js line 3 > eval:1:5)");
}

TEST(ScriptErrorTest, LongStacksAreCut) {
  std::string stack;
  for (int i = 0; i < 10'000; ++i) stack += "g@a.js:1:1\n";
  uint32_t line = 0;
  EXPECT_LT(readable_stack(stack, line).size(), 2'000u);
}

}  // namespace
}  // namespace orrery::script
