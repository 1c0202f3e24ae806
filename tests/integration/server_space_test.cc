// SPDX-License-Identifier: MIT
// CountVariants and ListVariants over a socket: exact counts, pages by rank, what is cached.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "server/test_server.h"

namespace kiln::server {
namespace {

class Spaces : public ServerTest {};

// The only space of BatchOf: 2 * 2 * 3 points.
v1::ProgramSpace SpaceOf(const std::string& text) { return BatchOf(text).spaces(0); }

TEST_F(Spaces, CountVariants_IsExactAndKnowsWhatIsCached) {
  Start();
  struct Row {
    const char* exclude;
    const char* filter;
    const char* variants;
    std::map<std::string, double> factors;
  };
  const Row rows[] = {
      {"", "", "12", {{"cheap", 2}, {"cut", 2}, {"quality", 3}}},
      {"cheap && cut", "", "9", {{"cheap", 1.5}, {"cut", 1.5}, {"quality", 3}}},
      {"", "cheap", "6", {{"cheap", 0}, {"cut", 2}, {"quality", 3}}},
      {"cheap || !cheap", "", "0", {{"cheap", 0}, {"cut", 0}, {"quality", 0}}},
  };
  for (const Row& row : rows) {
    v1::CountVariantsRequest request;
    *request.add_spaces() = SpaceOf(GoodSource());
    if (*row.exclude != '\0') {
      request.mutable_spaces(0)->add_exclude()->set_text(row.exclude);
    }
    if (*row.filter != '\0') {
      request.mutable_filter()->set_text(row.filter);
    }
    grpc::ClientContext context;
    v1::CountVariantsReply reply;
    const grpc::Status status = compile->CountVariants(&context, request, &reply);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(reply.programs_size(), 1);
    const v1::VariantCount& count = reply.programs(0);
    EXPECT_EQ(count.variants(), row.variants) << row.exclude;
    EXPECT_EQ(count.results_upper(), row.variants);
    EXPECT_EQ(count.cached(), "0");
    EXPECT_TRUE(count.exact());
    std::map<std::string, double> factors;
    for (const v1::VariantCount::AxisCount& axis : count.per_axis()) {
      factors[axis.name()] = axis.factor();
    }
    EXPECT_EQ(factors, row.factors) << row.exclude;
  }
}

TEST_F(Spaces, CountVariants_OfWrongThings_AreDiagnosticsOfTheirProgram) {
  Start();
  v1::CountVariantsRequest request;
  *request.add_spaces() = SpaceOf(WrongSource());
  *request.add_spaces() = SpaceOf(GoodSource());
  request.mutable_spaces(1)->add_exclude()->set_text("cheap &&");
  *request.add_spaces() = SpaceOf(GoodSource());
  grpc::ClientContext context;
  v1::CountVariantsReply reply;
  ASSERT_TRUE(compile->CountVariants(&context, request, &reply).ok());
  ASSERT_EQ(reply.programs_size(), 3);
  EXPECT_GT(reply.programs(0).diagnostics_size(), 0);
  EXPECT_GT(reply.programs(1).diagnostics_size(), 0);
  EXPECT_EQ(reply.programs(1).variants(), "");
  EXPECT_EQ(reply.programs(2).diagnostics_size(), 0);
  EXPECT_EQ(reply.programs(2).variants(), "12");
}

TEST_F(Spaces, CountVariants_OfAHugeSpace_TakesNoEnumeration) {
  Start();
  std::string text = GoodSource();
  v1::ProgramSpace space;
  for (int i = 0; i < 60; ++i) {
    text += "global huge_" + std::to_string(i) + ": flag false;\n";
  }
  space = SpaceOf(text);
  for (int i = 0; i < 60; ++i) {
    v1::Axis& axis = *space.add_axes();
    axis.set_name("huge_" + std::to_string(i));
    axis.set_all(true);
  }
  space.add_exclude()->set_text("huge_0 && huge_1");
  v1::CountVariantsRequest request;
  *request.add_spaces() = space;
  grpc::ClientContext context;
  v1::CountVariantsReply reply;
  ASSERT_TRUE(compile->CountVariants(&context, request, &reply).ok());
  EXPECT_EQ(reply.programs(0).variants(), "10376293541461622784");  // 12 * 2^58 * 3
  EXPECT_EQ(reply.programs(0).results_upper(), "12");               // the others are dead
}

TEST_F(Spaces, ListVariants_PagesInRankOrderWithTheirState) {
  Start();
  v1::StartBatchRequest batch = BatchOf(GoodSource());
  batch.mutable_filter()->set_text("cheap");
  std::map<int, int> seen;
  Watch(StartBatch(batch).batch_id(), seen);
  v1::ListVariantsRequest request;
  *request.mutable_space() = SpaceOf(GoodSource());
  request.set_page_size(5);
  std::vector<std::string> ranks;
  int cached = 0;
  for (int pages = 0; pages < 3; ++pages) {
    grpc::ClientContext context;
    v1::ListVariantsReply reply;
    const grpc::Status status = compile->ListVariants(&context, request, &reply);
    ASSERT_TRUE(status.ok()) << status.error_message();
    for (const v1::VariantRow& row : reply.rows()) {
      ranks.push_back(row.rank());
      ASSERT_EQ(row.options_size(), 3);
      EXPECT_EQ(row.options(0).name(), "cheap");
      const bool is_cached = row.state() == v1::VariantRow::CACHED;
      EXPECT_EQ(row.signature().size(), is_cached ? 16U : 0U);
      if (row.options(0).flag()) {
        EXPECT_TRUE(is_cached) << row.rank();
      }
      cached += is_cached ? 1 : 0;
    }
    EXPECT_EQ(reply.next_page_token().empty(), pages == 2);
    request.set_page_token(reply.next_page_token());
  }
  EXPECT_EQ(ranks, (std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10",
                                             "11"}));
  EXPECT_GE(cached, 6);
}

TEST_F(Spaces, ListVariants_RefusesForeignTokensAndWrongSpaces) {
  Start();
  v1::ListVariantsRequest request;
  *request.mutable_space() = SpaceOf(GoodSource());
  request.set_page_size(5);
  v1::ListVariantsReply reply;
  grpc::ClientContext first;
  ASSERT_TRUE(compile->ListVariants(&first, request, &reply).ok());
  const std::string token = reply.next_page_token();
  const auto reason_of = [&](const v1::ListVariantsRequest& wrong) {
    grpc::ClientContext context;
    v1::ListVariantsReply none;
    EXPECT_EQ(compile->ListVariants(&context, wrong, &none).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
    return DetailOf(context).reason();
  };
  for (const std::string& foreign :
       {std::string("x"), token + "x", "0" + token, std::string("--"), std::string(100'000, '-')}) {
    v1::ListVariantsRequest wrong = request;
    wrong.set_page_token(foreign);
    EXPECT_EQ(reason_of(wrong), "BAD_PAGE_TOKEN") << foreign.substr(0, 50);
  }
  v1::ListVariantsRequest other = request;
  other.mutable_filter()->set_text("cheap");
  other.set_page_token(token);
  EXPECT_EQ(reason_of(other), "BAD_PAGE_TOKEN");
  v1::ListVariantsRequest wrong = request;
  wrong.mutable_space()->add_exclude()->set_text("nobody");
  EXPECT_EQ(reason_of(wrong), "BAD_EXPRESSION");
}

TEST_F(Spaces, ListOptions_OfManyPrograms_AnswersEachInItsPlace) {
  Start();
  v1::ListOptionsRequest request;
  for (const std::string& text :
       {GoodSource(), WrongSource(), std::string("global one: flag false;\n")}) {
    *request.add_programs() = ProgramOf(text, true);
  }
  grpc::ClientContext context;
  v1::ListOptionsReply reply;
  ASSERT_TRUE(compile->ListOptions(&context, request, &reply).ok());
  EXPECT_EQ(reply.options_size(), 0);
  ASSERT_EQ(reply.programs_size(), 3);
  EXPECT_EQ(reply.programs(0).options_size(), 3);
  EXPECT_EQ(reply.programs(0).diagnostics_size(), 0);
  EXPECT_NE(reply.programs(1).diagnostics_size(), 0);
  ASSERT_EQ(reply.programs(2).options_size(), 1);
  EXPECT_EQ(reply.programs(2).options(0).name(), "one");
}

TEST_F(Spaces, ListOptions_OfManyPrograms_TellsAllThatIsMissingAndNothingElse) {
  Start();
  v1::ListOptionsRequest request;
  for (const char* const text : {"global a: flag false;\n", "global b: flag false;\n"}) {
    *request.add_programs() = ProgramOf(text, false);
  }
  v1::ListOptionsReply reply;
  {
    grpc::ClientContext context;
    const grpc::Status status = compile->ListOptions(&context, request, &reply);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(DetailOf(context).reason(), "SOURCES_MISSING");
    EXPECT_EQ(DetailOf(context).missing_size(), 2);
  }
  *request.mutable_program() = ProgramOf(GoodSource(), true);
  grpc::ClientContext context;
  EXPECT_EQ(compile->ListOptions(&context, request, &reply).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(context).field(), "programs");
}

}  // namespace
}  // namespace kiln::server
