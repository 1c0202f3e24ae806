// SPDX-License-Identifier: MIT
#include "server/jobs/batch_throttle.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::jobs {
namespace {

struct Row {
  BatchThrottle::PressureSample seen;
  int looks = 1;
  uint32_t most = 0;
  std::string slowed_by;
};

void Follow(BatchThrottle& polite, const std::vector<Row>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int look = 0; look < rows[i].looks; ++look) {
      polite.Look(rows[i].seen);
    }
    EXPECT_EQ(polite.most(), rows[i].most) << "row " << i;
    EXPECT_EQ(polite.slowed_by(), rows[i].slowed_by) << "row " << i;
  }
}

TEST(BatchThrottle, Pressure_HalvesAtOnceAndThenEveryFifthLook) {
  BatchThrottle polite(8);
  Follow(polite, {{.seen = {}, .most = 8, .slowed_by = ""},
                  {.seen = {.cpu = 0.40}, .looks = 9, .most = 8, .slowed_by = ""},
                  {.seen = {.cpu = 0.41}, .most = 4, .slowed_by = "cpu"},
                  {.seen = {.cpu = 0.9}, .looks = 4, .most = 4, .slowed_by = "cpu"},
                  {.seen = {.cpu = 0.9, .io = 0.95}, .most = 2, .slowed_by = "io"},
                  {.seen = {.cpu = 0.9}, .looks = 50, .most = 1, .slowed_by = "cpu"}});
}

TEST(BatchThrottle, PressureGoes_OneMoreEveryFifthLook) {
  BatchThrottle polite(4);
  Follow(polite, {{.seen = {.memory = 0.5}, .most = 2, .slowed_by = "memory"},
                  {.seen = {.memory = 0.3}, .looks = 20, .most = 2, .slowed_by = "memory"},
                  {.seen = {.memory = 0.19}, .most = 3, .slowed_by = "memory"},
                  {.seen = {.memory = 0.19}, .looks = 4, .most = 3, .slowed_by = "memory"},
                  {.seen = {.memory = 0.19}, .most = 4, .slowed_by = ""}});
}

TEST(BatchThrottle, OwnMemoryIsTight_CountsAsPressure) {
  BatchThrottle polite(2);
  Follow(polite, {{.seen = {.memory_is_tight = true}, .most = 1, .slowed_by = "memory"}});
}

TEST(BatchThrottle, OneWorker_IsNeverSlowed) {
  BatchThrottle polite(1);
  Follow(polite, {{.seen = {.cpu = 1, .memory = 1, .io = 1}, .looks = 20, .most = 1}});
}

}  // namespace
}  // namespace kiln::jobs
