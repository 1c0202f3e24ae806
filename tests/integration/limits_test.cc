// SPDX-License-Identifier: MIT
// Every limit of class S that a request can meet, below it, at it and above it: a table. Those of
// counting, packs, caches and languages have their tests where they are enforced. spec/daemon 10
#include <algorithm>
#include <sys/socket.h>
#include <thread>

#include <fmt/format.h>

#include "server/rpc/messages/convert_batch.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/transport/rpc_server.h"
#include "server/test_server.h"

namespace kiln::server {
namespace {

constexpr int kHeaderBytes = 16 << 10;

class Limits : public ServerTest {
 protected:
  Limits() { Start(); }

  // What a call ended with, and its detail.
  struct Ended {
    grpc::Status status;
    v1::ErrorDetail detail;
  };

  template <class Send>
  static Ended End(Send send) {
    grpc::ClientContext context;
    Ended ended{.status = send(context), .detail = {}};
    ended.detail = DetailOf(context);
    return ended;
  }

  Ended List(const v1::Program& program) {
    v1::ListOptionsRequest request;
    *request.mutable_program() = program;
    v1::ListOptionsReply reply;
    return End([&](auto& context) { return compile->ListOptions(&context, request, &reply); });
  }

  Ended Count(const v1::CountVariantsRequest& request) {
    v1::CountVariantsReply reply;
    return End([&](auto& context) { return compile->CountVariants(&context, request, &reply); });
  }

  template <class Ask>
  Ended StartWith(Ask ask) {
    v1::StartBatchRequest request = BatchOf(GoodSource());
    ask(request);
    v1::StartBatchReply reply;
    return End([&](auto& context) { return batch->StartBatch(&context, request, &reply); });
  }

  // One message per row: bytes of a source, or of a source's digest alone.
  Ended Put(const std::vector<v1::PutSourcesRequest>& messages) {
    v1::PutSourcesReply reply;
    return End([&](grpc::ClientContext& context) {
      const auto writer = compile->PutSources(&context, &reply);
      for (const v1::PutSourcesRequest& message : messages) {
        if (!writer->Write(message)) {
          break;
        }
      }
      writer->WritesDone();
      return writer->Finish();
    });
  }

  static v1::PutSourcesRequest Source(const std::string& text) {
    v1::PutSourcesRequest message;
    const Digest digest = DigestOf(std::string_view(text));
    message.mutable_digest()->set_id(Id(digest.id));
    message.mutable_digest()->set_size(digest.size);
    message.set_data(text);
    message.set_last(true);
    return message;
  }

  static v1::Program ProgramWith(uint64_t sources) {
    v1::Program program = ProgramOf(GoodSource(), true);
    while (static_cast<uint64_t>(program.sources_size()) < sources) {
      v1::SourceRef& source = *program.add_sources();
      source.set_path("empty" + std::to_string(program.sources_size()) + ".rpl");
    }
    return program;
  }
};

// `at` sends a request of that size; above `max` it must end with RESOURCE_EXHAUSTED and the
// limit's name, up to it with anything else.
struct Row {
  const char* limit;
  uint64_t max;
  std::function<void(uint64_t size)> at;
  grpc::StatusCode code = grpc::StatusCode::RESOURCE_EXHAUSTED;
};

TEST_F(Limits, BelowAtAndAbove) {
  Ended last;
  const auto set = [&](Ended ended) { last = std::move(ended); };
  const Row table[] = {
      {"inline source", rpc::kMaxInlineSource,
       [&](uint64_t size) { set(List(ProgramOf(std::string(size, ' '), true))); }},
      {"sources per program", rpc::kMaxSources,
       [&](uint64_t count) { set(List(ProgramWith(count))); }},
      {"axis values", rpc::kMaxAxisValues,
       [&](uint64_t count) {
         v1::CountVariantsRequest request;
         v1::ProgramSpace& space = *request.add_spaces();
         *space.mutable_program() = ProgramOf(GoodSource(), true);
         v1::Axis& axis = *space.add_axes();
         axis.set_name("quality");
         for (uint64_t i = 0; i < count; ++i) {
           axis.add_values()->set_uint(static_cast<uint32_t>(i));
         }
         set(Count(request));
       }},
      {"expression", rpc::kMaxExpression,
       [&](uint64_t size) {
         v1::CountVariantsRequest request;
         *request.add_spaces()->mutable_program() = ProgramOf(GoodSource(), true);
         request.mutable_filter()->set_text("cheap" + std::string(size - 5, ' '));
         set(Count(request));
       }},
      {"programs per manifest", rpc::kMaxPrograms,
       [&](uint64_t count) {
         v1::CountVariantsRequest request;
         for (uint64_t i = 0; i < count; ++i) {
           request.add_spaces();
         }
         set(Count(request));
       }},
      {"programs of a list", rpc::kMaxListedPrograms,
       [&](uint64_t count) {
         v1::ListOptionsRequest request;
         for (uint64_t i = 0; i < count; ++i) {
           request.add_programs();
         }
         v1::ListOptionsReply reply;
         set(End([&](auto& context) { return compile->ListOptions(&context, request, &reply); }));
       }},
      {"targets per program", rpc::kMaxTargets,
       [&](uint64_t count) {
         v1::Program program = ProgramOf(GoodSource(), true);
         const v1::Target target = program.targets(0);
         program.clear_targets();
         for (uint64_t i = 0; i < count; ++i) {
           *program.add_targets() = target;
           program.mutable_targets(static_cast<int>(i))->set_name(std::to_string(i));
         }
         set(List(program));
       }},
      {"targets per program", rpc::kMaxTargets,  // by index, again and again
       [&](uint64_t count) {
         v1::CompileRequest request = RequestOf(GoodSource());
         for (uint64_t i = 0; i < count; ++i) {
           request.mutable_variant()->add_targets(0);
         }
         v1::CompileReply reply;
         set(End([&](auto& context) { return compile->Compile(&context, request, &reply); }));
       }},
      {"axes per program", rpc::kMaxAxes,
       [&](uint64_t count) {
         v1::CountVariantsRequest request;
         v1::ProgramSpace& space = *request.add_spaces();
         *space.mutable_program() = ProgramOf(GoodSource(), true);
         for (uint64_t i = 0; i < count; ++i) {
           space.add_axes()->set_name("axis" + std::to_string(i));
         }
         set(Count(request));
       }},
      {"expressions per program", rpc::kMaxExpressions,
       [&](uint64_t count) {
         v1::CountVariantsRequest request;
         v1::ProgramSpace& space = *request.add_spaces();
         *space.mutable_program() = ProgramOf(GoodSource(), true);
         for (uint64_t i = 0; i < count; ++i) {
           (i % 2 == 0 ? space.add_exclude() : space.add_require())->set_text("cheap");
         }
         set(Count(request));
       }},
      {"distinct results per program", compile::kMaxResults,
       [&](uint64_t results) {
         set(StartWith([&](v1::StartBatchRequest& request) {
           request.mutable_budget()->set_results(results);
         }));
       },
       grpc::StatusCode::INVALID_ARGUMENT},
      {"distinct results per program", compile::kMaxResults,
       [&](uint64_t results) {
         set(StartWith([&](v1::StartBatchRequest& request) {
           request.mutable_spaces(0)->mutable_budget()->set_results(results);
         }));
       },
       grpc::StatusCode::INVALID_ARGUMENT},
      {"distinct results per program", compile::kMaxResults,
       [&](uint64_t results) {
         set(StartWith([&](v1::StartBatchRequest& request) { request.set_explore(results); }));
       },
       grpc::StatusCode::INVALID_ARGUMENT},
      {"digests", rpc::kMaxDigests,
       [&](uint64_t count) {
         v1::FindMissingRequest request;
         for (uint64_t i = 0; i < count; ++i) {
           v1::Digest& digest = *request.add_digests();
           digest.set_id(std::string(16, 'x'));
           digest.set_size(1);
         }
         v1::FindMissingReply reply;
         set(End([&](auto& context) { return cache->FindMissing(&context, request, &reply); }));
       }},
      {"source file", rpc::kMaxSourceFile,
       [&](uint64_t size) {
         v1::PutSourcesRequest message = Source("x");
         message.mutable_digest()->set_size(size);
         set(Put({message}));
       }},
      {"source files of a manifest", rpc::kMaxSourceFiles,
       [&](uint64_t count) { set(Put(std::vector<v1::PutSourcesRequest>(count, Source("x")))); }},
      {"stream message", rpc::kMaxStreamMessage,
       [&](uint64_t size) {
         v1::PutSourcesRequest message = Source("x");
         message.set_path_hint(std::string(size, 'x'));
         message.set_path_hint(std::string(2 * size - message.ByteSizeLong(), 'x'));
         ASSERT_EQ(message.ByteSizeLong(), size);
         set(Put({message}));
       }},
  };
  for (const Row& row : table) {
    for (const uint64_t size : {row.max - 1, row.max, row.max + 1}) {
      row.at(size);
      const bool refused = last.status.error_code() == row.code;
      EXPECT_EQ(refused, size > row.max)
          << row.limit << " at " << size << ": " << last.status.error_message();
      if (refused) {
        EXPECT_EQ(last.detail.reason(), "LIMIT_EXCEEDED") << row.limit;
        EXPECT_EQ(last.detail.limit(), row.limit);
        EXPECT_EQ(last.detail.max(), row.max) << row.limit;
        EXPECT_EQ(last.detail.actual(), size) << row.limit;
      }
    }
  }
}

// A row of a daemon that allowed more is read like a request of today.
TEST_F(Limits, StoredBatchOfAnotherAge_ObeysThem) {
  for (const uint64_t results : {compile::kMaxResults, compile::kMaxResults + 1}) {
    v1::StartBatchRequest request = BatchOf(GoodSource());
    request.mutable_budget()->set_results(results);
    const std::string spec = rpc::CanonicalBytes(request);
    const Result<compile::BatchRequest> stored =
        rpc::BatchFromSpec(rpc::BatchIdOf(request), AsBytes(spec));
    EXPECT_EQ(stored.ok(), results == compile::kMaxResults);
    if (!stored.ok()) {
      EXPECT_EQ(stored.error().code, ErrorCode::kInvalidArgument) << "not damage";
    }
  }
}

TEST_F(Limits, AxisThatIsListedTwice_IsMalformed) {
  v1::CountVariantsRequest request;
  v1::ProgramSpace& space = *request.add_spaces();
  *space.mutable_program() = ProgramOf(GoodSource(), true);
  for (int i = 0; i < 2; ++i) {
    space.add_axes()->set_name("cheap");
  }
  const Ended ended = Count(request);
  EXPECT_EQ(ended.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ended.detail.field(), "axes.name");
}

// gRPC itself refuses these, before there is a call of kiln.
TEST_F(Limits, RequestMessage_IsRefusedByTheTransport) {
  for (const int64_t beyond : {-1, 0, 1}) {
    v1::CompileRequest request = RequestOf(GoodSource());
    std::string& project = *request.mutable_project();
    const auto wanted = static_cast<int64_t>(rpc::ServiceLimits{}.request_message) + beyond;
    project.assign(static_cast<size_t>(wanted), 'x');
    project.resize(static_cast<size_t>(2 * wanted - static_cast<int64_t>(request.ByteSizeLong())));
    ASSERT_EQ(static_cast<int64_t>(request.ByteSizeLong()), wanted);
    v1::CompileReply reply;
    const Ended ended =
        End([&](auto& context) { return compile->Compile(&context, request, &reply); });
    EXPECT_EQ(ended.status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED, beyond > 0)
        << beyond << ": " << ended.status.error_message();
  }
}

TEST_F(Limits, HeaderList_IsRefusedByTheTransport) {
  for (const auto& [size, fits] :
       {std::pair{kHeaderBytes / 2, true}, std::pair{kHeaderBytes + 1, false}}) {
    grpc::ClientContext context;
    context.AddMetadata("x-long", std::string(static_cast<size_t>(size), 'x'));
    v1::ServerInfo reply;
    EXPECT_EQ(admin->GetServerInfo(&context, v1::GetServerInfoRequest(), &reply).ok(), fits)
        << size;
  }
}

TEST_F(Limits, ServerInfo_ShowsThem) {
  grpc::ClientContext context;
  v1::ServerInfo info;
  ASSERT_TRUE(admin->GetServerInfo(&context, v1::GetServerInfoRequest(), &info).ok());
  std::map<std::string, std::pair<uint64_t, std::string>> shown;
  for (const v1::ServerInfo::Limit& limit : info.limits()) {
    shown[limit.name()] = {limit.value(), limit.kind()};
  }
  EXPECT_EQ(shown["request message"], (std::pair<uint64_t, std::string>(4 << 20, "S")));
  EXPECT_EQ(shown["connections"].first, 1024u);
  EXPECT_EQ(shown["streams"].first, 100u);
  EXPECT_EQ(shown["tokens"], (std::pair<uint64_t, std::string>(2'000'000, "D")));
  EXPECT_EQ(shown["bytes of diagnostics"], (std::pair<uint64_t, std::string>(256 << 10, "D")));
  EXPECT_EQ(shown["bytes of paths of includes"], (std::pair<uint64_t, std::string>(1 << 20, "D")));
  EXPECT_EQ(shown["push_constant"], (std::pair<uint64_t, std::string>(128, "D")));
  EXPECT_EQ(shown["distinct results per program"].first, 100'000u);
  EXPECT_EQ(shown["worker wall time"], (std::pair<uint64_t, std::string>(60'000, "T")));
  EXPECT_EQ(shown["worker cpu"], (std::pair<uint64_t, std::string>(30'000, "T")));
  EXPECT_EQ(shown["worker memory"], (std::pair<uint64_t, std::string>(1 << 30, "T")));
  EXPECT_EQ(shown["cpu of a job"], (std::pair<uint64_t, std::string>(10'000, "T")));
  EXPECT_EQ(shown["interactive job"], (std::pair<uint64_t, std::string>(30'000, "T")));
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    EXPECT_EQ(shown[std::string(row.name)],
              (std::pair<uint64_t, std::string>(LanguageLimits{}.*row.value, "D")));
  }
  EXPECT_EQ(static_cast<size_t>(info.limits_size()), shown.size()) << "each is shown once";
}

std::string Times(uint64_t count, const std::string& text) {
  std::string all;
  for (uint64_t i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

std::string Code(const std::string& statements, const std::string& declarations = {}) {
  return declarations + "void main (void) {\n" + statements + "\n}\n";
}

// Functions of `size` doublings: an alias stands for 2^size additions.
std::string Aliases(uint64_t size) {
  std::string text = "f1 x = 1.0; alias (a0, x)\n";
  for (uint64_t i = 1; i <= size; ++i) {
    const uint64_t one = i - 1;
    text += fmt::format("alias (a{0}, (a{1} + a{1}))\n", i, one);
  }
  return Code(text + "f1 y = a" + std::to_string(size) + ";");
}

// A source of so many tokens. Requires: at least 7, and not 8.
std::string Tokens(uint64_t count) {
  const uint64_t rest = count - 7;
  const std::string variable = rest % 2 == 0 ? "" : "f1 x;";
  return Code(variable + Times((rest - (rest % 2 == 0 ? 0 : 3)) / 2, "{}"));
}

// main calls the last of so many functions, and each calls the one before it.
std::string Calls(uint64_t count) {
  std::string text;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string before = i == 0 ? "" : "g" + std::to_string(i - 1) + " ();";
    text += "void g" + std::to_string(i) + " (void) { " + before + " }\n";
  }
  return Code("g" + std::to_string(count - 1) + " ();", text);
}

std::string Locals(uint64_t count) {
  std::string text;
  for (uint64_t i = 0; i < count; ++i) {
    text += "f1 x" + std::to_string(i) + " = " + std::to_string(i) + ".5;\n";
  }
  return Code(text);
}

// `count` times one and another text with a number between them.
std::string Declarations(uint64_t count, const std::string& before, const std::string& after) {
  std::string text;
  for (uint64_t i = 0; i < count; ++i) {
    text += before + std::to_string(i) + after;
  }
  return text;
}

// Limits of class D: `source(at)` is what the lowered limit still allows, `source(at + 1)` is not.
// With `above` the limit lies somewhere below that: what is exact is shown where it is counted.
struct LanguageRow {
  const char* limit;
  uint32_t lowered;
  uint64_t at;
  std::string (*source)(uint64_t size);
  const char* code;
  bool compute = false;
  uint64_t above = 0;
};

const LanguageRow kLanguageRows[] = {
    {"bindings", 16, 16,
     [](uint64_t n) { return Code("", Declarations(n, "set_pass sampler s", ";\n")); }, "LIM1001"},
    {"call_depth", 16, 16, Calls, "LIM1001"},
    {"enum_values", 2, 2,
     [](uint64_t n) {
       std::string values;
       for (uint64_t i = 0; i < n; ++i) {
         values += " \"v" + std::to_string(i) + "\"";
       }
       return Code("", "global kind: enum" + values + ";\n");
     },
     "LIM1001"},
    {"function_rows", 1024, 8, Aliases, "LIM1001", false, 11},
    {"functions", 64, 64,
     [](uint64_t n) { return Code("", Declarations(n - 1, "void g", " (void) { }\n")); },
     "LIM1001"},
    {"identifier", 64, 64,
     [](uint64_t n) { return Code("f1 " + std::string(static_cast<size_t>(n), 'a') + ";"); },
     "LIM1001"},
    {"locals", 64, 64, Locals, "LIM1001"},
    {"metadata_bytes", 4096, 4,
     [](uint64_t n) {
       return Code("",
                   "set_pass uniform_buffer b { " + Declarations(n, "f4 parameter", "; ") + "};\n");
     },
     "LIM1001", false, 400},
    {"nesting", 16, 16,
     [](uint64_t n) { return Code("f1 x = " + Times(n, "(") + "1.0" + Times(n, ")") + ";"); },
     "RPL1009"},
    {"nodes", 1024, 20, Locals, "LIM1001", false, 400},
    {"options", 16, 16,
     [](uint64_t n) {
       std::string flags;
       for (uint64_t i = 0; i < n; ++i) {
         flags += "global f" + std::to_string(i) + ": flag false;\n";
       }
       return Code("", flags);
     },
     "RPL2010"},
    {"parameters", 64, 64,
     [](uint64_t n) {
       std::string fields;
       for (uint64_t i = 0; i < n; ++i) {
         fields += "f4 p" + std::to_string(i) + "; ";
       }
       return Code("", "set_pass uniform_buffer b { " + fields + "};\n");
     },
     "LIM1001"},
    {"push_constant", 32, 2,
     [](uint64_t n) {
       return Code("", "push_constant draw { f4[" + std::to_string(n) + "] v; };\n");
     },
     "RPL4053"},
    {"source_bytes", 2048, 2048,
     [](uint64_t n) {
       std::string text = Code("");
       return text + std::string(n - text.size(), ' ');
     },
     "RPL1008"},
    {"spirv_bytes", 4096, 10, Locals, "LIM1001", false, 400},
    {"spirv_ids", 256, 50, Locals, "LIM1001", false, 400},
    {"string", 64, 64,
     [](uint64_t n) {
       return Code("", "global kind: enum \"" + std::string(static_cast<size_t>(n), 'a') + "\";\n");
     },
     "LIM1001"},
    {"terms", 64, 64, [](uint64_t n) { return Code("f1 x = 1.0" + Times(n - 1, " + 1.0") + ";"); },
     "LIM1001"},
    {"tokens", 1024, 1024, Tokens, "LIM1001"},
    {"uniform_buffer", 1024, 64,
     [](uint64_t n) {
       return Code("", "set_pass uniform_buffer b { f4[" + std::to_string(n) + "] v; };\n");
     },
     "RPL4053"},
    {"value_items", 64, 64, [](uint64_t n) { return Code("f1[" + std::to_string(n) + "] v;"); },
     "LIM1001"},
    {"workgroup", 4, 4,
     [](uint64_t n) {
       return Code("", "setting workgroup_size_x = " + std::to_string(n) + "u;\n");
     },
     "RPL8106", true},
};

class LanguageLimit : public ServerTest {
 protected:
  void StartWithLimits(const LanguageLimits& limits) {
    daemon.reset();
    Daemon::Options options = OptionsIn(folder.path());
    options.config.language_limits = limits;
    StartWith(options);
  }
  v1::Outcome Build(const std::string& text, bool compute = false) {
    v1::CompileRequest request = RequestOf(text);
    v1::Program& program = *request.mutable_variant()->mutable_inline_program();
    program.set_pipeline(compute ? "compute" : "graphics_classic");
    program.clear_entry_points();
    v1::EntryPoint& entry = *program.add_entry_points();
    entry.set_stage(compute ? v1::EntryPoint::COMPUTE : v1::EntryPoint::FRAGMENT);
    entry.set_function("main");
    request.set_durability(v1::DURABILITY_LOCAL);
    return Compile(request);
  }
};

// Those of HLSL, which the daemon does not read: front_hlsl_preprocess_test has them.
constexpr std::string_view kOfHlsl[] = {"include_depth", "include_files", "macro_depth",
                                        "macro_tokens"};

TEST_F(LanguageLimit, Lowered_IsADiagnosticAboveItAndNotAtIt) {
  for (const std::string_view name : kOfHlsl) {
    EXPECT_NE(std::ranges::find(LanguageLimitTable(), name, &LanguageLimitRow::name),
              LanguageLimitTable().end());
  }
  ASSERT_EQ(std::size(kLanguageRows) + std::size(kOfHlsl), LanguageLimitTable().size());
  StartWithLimits({});
  for (const LanguageRow& row : kLanguageRows) {  // what follows is the lowered limit's doing
    for (const uint64_t size : {row.at, row.above == 0 ? row.at + 1 : row.above}) {
      const v1::Outcome outcome = Build(row.source(size), row.compute);
      EXPECT_EQ(outcome.kind(), v1::Outcome::OK)
          << row.limit << " " << size << ": " << outcome.ShortDebugString();
    }
  }
  for (const LanguageRow& row : kLanguageRows) {
    LanguageLimits limits;
    const auto table = LanguageLimitTable();
    limits.*std::ranges::find(table, std::string_view(row.limit), &LanguageLimitRow::name)->value =
        row.lowered;
    StartWithLimits(limits);
    for (const uint64_t size : {row.at - 1, row.at}) {
      const v1::Outcome built = Build(row.source(size), row.compute);
      EXPECT_EQ(built.kind(), v1::Outcome::OK)
          << row.limit << " " << size << ": " << built.ShortDebugString();
    }
    const uint64_t above = row.above == 0 ? row.at + 1 : row.above;
    const v1::Outcome refused = Build(row.source(above), row.compute);
    EXPECT_EQ(refused.kind(), v1::Outcome::SOURCE_ERROR) << row.limit;
    ASSERT_GE(refused.diagnostics_size(), 1) << row.limit;
    EXPECT_EQ(refused.diagnostics(0).code(), row.code) << row.limit;
    if (std::string_view(row.code) == "LIM1001") {
      const std::string end = "the limit is " + std::to_string(row.lowered);
      EXPECT_NE(refused.diagnostics(0).message().find(end), std::string::npos)
          << row.limit << ": " << refused.diagnostics(0).message();
    }
  }
}

TEST_F(LanguageLimit, ResultsOfOtherLimits_AreNeverAnswers) {
  const std::string text = Code("f1 x = " + Times(20, "(") + "1.0" + Times(20, ")") + ";");
  StartWithLimits({});
  const v1::Outcome made = Build(text);
  ASSERT_EQ(made.kind(), v1::Outcome::OK);
  StartWithLimits({.nesting = 16});
  EXPECT_EQ(Build(text).kind(), v1::Outcome::SOURCE_ERROR);
  const std::string plain = Code("f1 x = 2.0;");
  EXPECT_EQ(Build(plain).artifacts(0).origin(), v1::Artifact::COMPILED);
  StartWithLimits({});
  const v1::Outcome found = Build(text);
  ASSERT_EQ(found.kind(), v1::Outcome::OK) << "the failure was another limit's";
  EXPECT_EQ(found.artifacts(0).origin(), v1::Artifact::LOCAL);
  EXPECT_EQ(found.artifacts(0).signature(), made.artifacts(0).signature());
  EXPECT_EQ(Build(plain).artifacts(0).origin(), v1::Artifact::COMPILED);
}

TEST_F(LanguageLimit, RequestMessage_MayBeLargerOrSmaller) {
  for (const uint32_t most : {2u << 20, 6u << 20}) {
    Daemon::Options options = OptionsIn(folder.path());
    options.config.limits.request_message = most;
    daemon.reset();
    StartWith(options);
    for (const uint32_t beyond : {0u, 4096u}) {
      v1::CompileRequest request = RequestOf(GoodSource());
      request.set_project(std::string(most - 2048 - request.ByteSizeLong() + beyond, 'x'));
      grpc::ClientContext context;
      v1::CompileReply reply;
      const grpc::Status status = compile->Compile(&context, request, &reply);
      EXPECT_EQ(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED, beyond != 0)
          << most << " " << beyond << ": " << status.error_message();
    }
  }
}

// A megabyte can be a gigabyte of zeros, which gRPC would make of it before anybody sees its size.
TEST_F(Limits, CompressedRequest_IsRefusedAndNeverReadAsAnother) {
  for (const grpc_compression_algorithm how : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    v1::ListOptionsRequest request;
    *request.mutable_program() = ProgramOf(std::string(rpc::kMaxInlineSource / 2, ' '), true);
    grpc::ClientContext context;
    context.set_compression_algorithm(how);
    v1::ListOptionsReply reply;
    const grpc::Status status = compile->ListOptions(&context, request, &reply);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
  }
}

}  // namespace
}  // namespace kiln::server
