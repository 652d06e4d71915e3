// The test program's main: the program is its own worker, as the server is.
#include <gtest/gtest.h>

#include "script/worker.h"

int main(int argc, char** argv) {
  orrery::script::run_if_worker(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
