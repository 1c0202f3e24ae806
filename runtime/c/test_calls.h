// SPDX-License-Identifier: MIT
// Calls of the C interface that are tried the wrong ways first, and who was called with what
// result: in the end every function has succeeded, and failed where the table says that it can.
// Included by tests behind everything else, since it makes macros of the functions.
#pragma once

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <gtest/gtest.h>
#include <kiln/kiln.h>

namespace kiln::c::testing {

struct CallCounts {
  uint32_t succeeded = 0;
  uint32_t failed = 0;
};

inline std::map<std::string, CallCounts, std::less<>>& AllCalls() {
  static std::map<std::string, CallCounts, std::less<>> calls;
  return calls;
}

inline kiln_result Called(const char* name, kiln_result result) {
  CallCounts& counts = AllCalls()[name];
  (result == KILN_OK ? counts.succeeded : counts.failed) += 1;
  return result;
}
inline void Called(const char* name) { AllCalls()[name].succeeded += 1; }

// Refused as what it is, with an error object and without one.
template <class Call>
void Refused(const char* what, Call&& call) {
  kiln_error* error = nullptr;
  EXPECT_EQ(call(&error), KILN_INVALID_ARGUMENT) << what;
  EXPECT_NE(error, nullptr) << what;
  EXPECT_EQ(kiln_error_code(error), KILN_INVALID_ARGUMENT) << what;
  EXPECT_GT(kiln_error_message(error).size, 0U) << what;
  kiln_error_destroy(error);
  EXPECT_EQ(call(nullptr), KILN_INVALID_ARGUMENT) << what;
}

// A struct that is smaller or much larger than the library's, and one with something behind it that
// the library does not know.
template <class T, class Call>
void OtherSizes(const char* what, T* given, Call&& call) {
  using Struct = std::remove_const_t<T>;
  struct Larger {
    Struct value;
    unsigned char more[64];
  };
  if (given == nullptr) {
    return;
  }
  Larger larger{};
  std::memcpy(&larger.value, given, sizeof(Struct));
  for (const size_t size :
       {size_t{0}, size_t{1}, sizeof(Struct) - 1, sizeof(Struct) + 5000, ~size_t{0}}) {
    larger.value.struct_size = size;
    Refused(what, [&](kiln_error** error) { return call(&larger.value, error); });
    EXPECT_EQ(larger.value.struct_size, size) << what;
  }
  if (std::is_const_v<T>) {
    larger.value.struct_size = sizeof(Larger);
    larger.more[40] = 1;
    Refused(what, [&](kiln_error** error) { return call(&larger.value, error); });
  }
}

// What functions give for NULL.
template <class T>
void Nothing(std::string_view name, const T& value) {
  T zero{};
  if (name != "kiln_pipelines_state") {
    EXPECT_EQ(std::memcmp(&value, &zero, sizeof(zero)), 0) << name;
  }
}

// A function of the table: its tests see it succeed, and fail if the table says how.
struct FunctionRow {
  const char* name;
  bool fails;
};

// Behind all tests of a program: no function is without one.
class Coverage final : public ::testing::Environment {
 public:
  explicit Coverage(std::span<const FunctionRow> functions) : functions_(functions) {}

  void TearDown() override {
    if (::testing::UnitTest::GetInstance()->test_to_run_count() !=
        ::testing::UnitTest::GetInstance()->total_test_count()) {
      return;
    }
    for (const FunctionRow& row : functions_) {
      const CallCounts counts = AllCalls()[row.name];
      EXPECT_GT(counts.succeeded, 0U) << row.name << " was never seen to succeed";
      if (row.fails) {
        EXPECT_GT(counts.failed, 0U) << row.name << " was never seen to fail";
      }
    }
  }

 private:
  const std::span<const FunctionRow> functions_;
};

}  // namespace kiln::c::testing
