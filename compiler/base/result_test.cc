// SPDX-License-Identifier: MIT
#include "compiler/base/result.h"

#include <memory>

#include <gtest/gtest.h>

namespace kiln {
namespace {

Result<int> Parse(std::string_view text) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '9') {
    return Error{.code = ErrorCode::kInvalidArgument, .context = "not a digit"};
  }
  return text[0] - '0';
}

Result<int> Sum(std::string_view a, std::string_view b) {
  KILN_TRY(const int left, Parse(a));
  KILN_TRY(const int right, Parse(b));
  return left + right;
}

Result<void> CheckDigit(std::string_view text) {
  KILN_TRY_VOID(Parse(text));
  return {};
}

TEST(Result, Value_IsGivenBack) {
  const Result<int> sum = Sum("3", "4");
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(*sum, 7);
}

TEST(Result, Error_IsPassedOn) {
  const Result<int> sum = Sum("3", "x");
  ASSERT_FALSE(sum.ok());
  EXPECT_EQ(sum.error(), (Error{.code = ErrorCode::kInvalidArgument, .context = "not a digit"}));
}

TEST(Result, Void_PassesErrorsOn) {
  EXPECT_TRUE(CheckDigit("3").ok());
  EXPECT_EQ(CheckDigit("x").error().code, ErrorCode::kInvalidArgument);
}

TEST(Result, MoveOnlyValue_IsMovedOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(ErrorText, WithAndWithoutReason_NamesTheCode) {
  EXPECT_EQ(ErrorText({.code = ErrorCode::kNotFound, .context = "batch 7"}), "NOT_FOUND: batch 7");
  EXPECT_EQ(ErrorText({.code = ErrorCode::kFull, .context = "try later", .reason = "QUEUE_FULL"}),
            "RESOURCE_EXHAUSTED (QUEUE_FULL): try later");
  EXPECT_EQ(ErrorText({.code = ErrorCode::kCorrupt}), "DATA_LOSS");
}

TEST(ErrorText, ContextAdded_StandsInFront) {
  EXPECT_EQ(ErrorText(WithContext({.code = ErrorCode::kBusy, .context = "locked"}, "cache")),
            "UNAVAILABLE: cache: locked");
}

TEST(ErrorCode, EveryCode_HasTheNumberAndNameOfGrpc) {
  struct Row {
    int number;
    std::string_view name;
  };
  constexpr Row kRows[] = {
      {1, "CANCELLED"},          {3, "INVALID_ARGUMENT"},    {4, "DEADLINE_EXCEEDED"},
      {5, "NOT_FOUND"},          {6, "ALREADY_EXISTS"},      {7, "PERMISSION_DENIED"},
      {8, "RESOURCE_EXHAUSTED"}, {9, "FAILED_PRECONDITION"}, {10, "ABORTED"},
      {11, "OUT_OF_RANGE"},      {12, "UNIMPLEMENTED"},      {13, "INTERNAL"},
      {14, "UNAVAILABLE"},       {15, "DATA_LOSS"},          {16, "UNAUTHENTICATED"}};
  for (const Row& row : kRows) {
    EXPECT_EQ(ErrorCodeName(static_cast<ErrorCode>(row.number)), row.name);
  }
}

}  // namespace
}  // namespace kiln
