// SPDX-License-Identifier: MIT
// main of test programs that need a device: GoogleTest's, and a skip that tests/skips.txt does not
// permit is a failure.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/files/file.h"
#include "tests/support/listed_skips.h"

namespace kiln::testing_support {
namespace {

class SkipJudge final : public ::testing::EmptyTestEventListener {
 public:
  SkipJudge(std::string program, std::vector<ListedSkip> list)
      : program_(std::move(program)), list_(std::move(list)) {
    const char* const driver = std::getenv("VK_ICD_FILENAMES");
    lavapipe_ = driver != nullptr && std::string_view(driver).find("lvp_icd") != std::string::npos;
  }

  // Comes before the printer's: what is added here counts.
  void OnTestEnd(const ::testing::TestInfo& test) override {
    Outcome outcome{.test = program_ + "." + test.test_suite_name() + "." + test.name(),
                    .skipped = test.result()->Skipped(),
                    .reason = {},
                    .lavapipe = lavapipe_};
    for (int i = 0; i < test.result()->total_part_count(); ++i) {
      const ::testing::TestPartResult& part = test.result()->GetTestPartResult(i);
      outcome.reason += part.skipped() ? part.message() : "";
    }
    if (test.result()->Failed()) {
      return;
    }
    skips_ += outcome.skipped ? 1 : 0;
    if (const std::string wrong = JudgeSkip(list_, outcome); !wrong.empty()) {
      ADD_FAILURE() << wrong;
    }
  }
  void OnTestProgramEnd(const ::testing::UnitTest& /*all*/) override {
    std::cout << "skips: " << skips_ << ", judged by tests/skips.txt\n";
  }

 private:
  std::string program_;
  std::vector<ListedSkip> list_;
  bool lavapipe_ = false;
  int skips_ = 0;
};

int Run(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  const auto text = ReadFile(KILN_SOURCE_DIR "/tests/skips.txt");
  const auto list = text.ok() ? ReadSkipList(*text) : Result<std::vector<ListedSkip>>(text.error());
  if (!list.ok()) {
    std::cerr << "tests/skips.txt: " << ErrorText(list.error()) << "\n";
    return 1;
  }
  // Owned by GoogleTest.
  ::testing::UnitTest::GetInstance()->listeners().Append(
      std::make_unique<SkipJudge>(std::filesystem::path(argv[0]).filename().string(), *list)
          .release());
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace kiln::testing_support

int main(int argc, char** argv) { return kiln::testing_support::Run(argc, argv); }
