// SPDX-License-Identifier: MIT
// Inspect over the wire: views of results by signature, digest and variant. See spec/daemon 4.1
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "server/test_server.h"

namespace kiln::server {
namespace {

using View = v1::InspectRequest;

constexpr std::string_view kSource = R"(
global fog: flag false;
global lights: uint 4;
set_material uniform_buffer tint { f4 shade; };
color_output_container target { f4 color; };
void mist_vertex (void) { vertex_stage_output_position (f4 {0.0}); }
void mist_fragment (void)
{
    f4 color = tint.shade;
    conditional (fog) { color = f4 {0.5}; }
    target.color = color;
}
)";

class Inspect : public ServerTest {
 protected:
  struct Seen {
    grpc::Status status;
    v1::ErrorDetail detail;
    size_t messages = 0;
    size_t largest = 0;
    std::vector<View::View> views;  // in the order of arrival
    std::map<View::View, std::string> text, json;
  };

  Seen Ask(const v1::InspectRequest& request) {
    grpc::ClientContext context;
    const auto stream = compile->Inspect(&context, request);
    Seen seen;
    v1::InspectReply reply;
    while (stream->Read(&reply)) {
      ++seen.messages;
      seen.largest = std::max(seen.largest, reply.ByteSizeLong());
      if (seen.views.empty() || seen.views.back() != reply.view()) {
        seen.views.push_back(reply.view());
      }
      seen.text[reply.view()] += reply.text();
      seen.json[reply.view()] += reply.json();
    }
    seen.status = stream->Finish();
    seen.detail = DetailOf(context);
    return seen;
  }

  v1::Artifact Built() { return Compile(RequestOf(std::string(kSource))).artifacts(0); }
};

TEST_F(Inspect, Signature_HasStatsMetadataAndOptions) {
  Start();
  const v1::Artifact artifact = Built();
  v1::InspectRequest request;
  request.set_signature(artifact.signature());
  const Seen seen = Ask(request);
  ASSERT_TRUE(seen.status.ok()) << seen.status.error_message();
  EXPECT_EQ(seen.views, (std::vector{View::STATS, View::META, View::OPTIONS}));
  EXPECT_NE(seen.text.at(View::STATS).find("fragment"), std::string::npos);
  EXPECT_NE(seen.json.at(View::STATS).find(R"("stage":"vertex")"), std::string::npos);
  EXPECT_NE(seen.text.at(View::META).find("pipeline graphics_classic"), std::string::npos);
  EXPECT_NE(seen.json.at(View::META).find("pipelineType"), std::string::npos);
  EXPECT_NE(seen.text.at(View::OPTIONS).find("fog"), std::string::npos);
  EXPECT_EQ(seen.text.at(View::OPTIONS).find("lights"), std::string::npos) << "nobody reads it";
}

TEST_F(Inspect, VariantAndDigest_ShowTheSameMetadata) {
  Start();
  const v1::Artifact artifact = Built();
  v1::InspectRequest by_variant;
  *by_variant.mutable_variant() = RequestOf(std::string(kSource)).variant();
  by_variant.add_views(View::LAYOUT);
  by_variant.add_views(View::META);
  const Seen variant = Ask(by_variant);
  ASSERT_TRUE(variant.status.ok()) << variant.status.error_message();
  EXPECT_EQ(variant.views, (std::vector{View::LAYOUT, View::META}));
  EXPECT_NE(variant.text.at(View::LAYOUT).find("tint"), std::string::npos);
  v1::InspectRequest by_digest;
  *by_digest.mutable_digest() = artifact.metadata();
  const Seen digest = Ask(by_digest);
  ASSERT_TRUE(digest.status.ok()) << digest.status.error_message();
  EXPECT_EQ(digest.views, (std::vector{View::STATS, View::META, View::OPTIONS}));
  EXPECT_EQ(digest.text.at(View::META), variant.text.at(View::META));
}

TEST_F(Inspect, Code_IsShownInEveryLanguageOfTheLibraries) {
  Start();
  const v1::Artifact artifact = Built();
  v1::InspectRequest request;
  request.set_signature(artifact.signature());
  request.add_views(View::DISASM);
  request.add_views(View::CROSS);
  for (const char* dialect : {"msl2.1", "glsl450", "hlsl6.0"}) {
    request.add_dialects(dialect);
  }
  const Seen seen = Ask(request);
  ASSERT_TRUE(seen.status.ok()) << seen.status.error_message();
  EXPECT_EQ(seen.views, (std::vector{View::DISASM, View::CROSS}));
  for (const char* word : {"; vertex\n", "OpEntryPoint Vertex", "; fragment\n", "OpReturn"}) {
    EXPECT_NE(seen.text.at(View::DISASM).find(word), std::string::npos) << word;
  }
  for (const char* word : {"// fragment\n", "metal_stdlib", "#version 450", "SV_Target0"}) {
    EXPECT_NE(seen.text.at(View::CROSS).find(word), std::string::npos) << word;
  }
  v1::InspectRequest module;  // the same by its content; GLSL unless said otherwise
  *module.mutable_digest() = artifact.code(1).digest();
  const Seen alone = Ask(module);
  ASSERT_TRUE(alone.status.ok()) << alone.status.error_message();
  EXPECT_EQ(alone.views, (std::vector{View::STATS, View::DISASM}));
  EXPECT_NE(alone.text.at(View::DISASM).find("OpEntryPoint Fragment"), std::string::npos);
  module.add_views(View::CROSS);
  EXPECT_NE(Ask(module).text.at(View::CROSS).find("#version 450"), std::string::npos);
}

TEST_F(Inspect, TranslatedResult_IsItsOwnText) {
  Start();
  v1::CompileRequest compiled = RequestOf(std::string(kSource));
  v1::Target& target = *compiled.mutable_variant()->mutable_inline_program()->mutable_targets(0);
  target.set_form(v1::Target::GLSL);
  target.set_name("gl");
  const v1::Outcome outcome = this->Compile(compiled);
  ASSERT_EQ(outcome.kind(), v1::Outcome::OK);
  v1::InspectRequest request;
  *request.mutable_variant() = compiled.variant();
  request.add_views(View::CROSS);
  const Seen seen = Ask(request);
  ASSERT_TRUE(seen.status.ok()) << seen.status.error_message();
  EXPECT_NE(seen.text.at(View::CROSS).find("#version 450"), std::string::npos);
  request.add_views(View::DISASM);
  EXPECT_EQ(Ask(request).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Inspect, IntermediateForm_IsThatOfTheVariant) {
  Start();
  Built();
  v1::CompileRequest foggy = RequestOf(std::string(kSource));
  v1::OptionValue& fog = *foggy.mutable_variant()->add_options();
  fog.set_name("fog");
  fog.set_flag(true);
  this->Compile(foggy);
  v1::InspectRequest plain_request, foggy_request;
  *plain_request.mutable_variant() = RequestOf(std::string(kSource)).variant();
  *foggy_request.mutable_variant() = foggy.variant();
  plain_request.add_views(View::IR);
  foggy_request.add_views(View::IR);
  const Seen plain = Ask(plain_request);
  const Seen other = Ask(foggy_request);
  ASSERT_TRUE(plain.status.ok()) << plain.status.error_message();
  ASSERT_TRUE(other.status.ok()) << other.status.error_message();
  EXPECT_NE(plain.text.at(View::IR).find("mist_fragment"), std::string::npos);
  EXPECT_NE(plain.text.at(View::IR), other.text.at(View::IR));
  EXPECT_EQ(plain.json.at(View::IR), "");
}

TEST_F(Inspect, LongView_ComesInMessagesThatAStreamTakes) {
  std::string text(kSource);
  const size_t at = text.find("    target.color");
  std::string more;
  for (int i = 0; i < 4000; ++i) {
    more += "    color = color * color.wzyx + f4 {" + std::to_string(i) + ".25};\n";
  }
  text.insert(at, more);
  Start();
  const v1::Outcome outcome = this->Compile(RequestOf(text));
  ASSERT_EQ(outcome.kind(), v1::Outcome::OK);
  v1::InspectRequest request;
  request.set_signature(outcome.artifacts(0).signature());
  request.add_views(View::DISASM);
  const Seen seen = Ask(request);
  ASSERT_TRUE(seen.status.ok()) << seen.status.error_message();
  EXPECT_GT(seen.messages, 1u);
  EXPECT_LE(seen.largest, size_t{1} << 20);
  EXPECT_GT(seen.text.at(View::DISASM).size(), size_t{1} << 19);
  EXPECT_NE(seen.text.at(View::DISASM).find("OpFunctionEnd"), std::string::npos);
}

TEST_F(Inspect, WhatIsNotThere_IsNotBuilt) {
  Start();
  const v1::Artifact artifact = Built();
  using C = grpc::StatusCode;
  struct Row {
    const char* what;
    std::function<void(v1::InspectRequest&)> make;
    C code;
    const char* reason;
    const char* field;
  };
  const std::string nobody(16, 'x');
  const auto by_signature = [&](View::View view) {
    return [&artifact, view](v1::InspectRequest& r) {
      r.set_signature(artifact.signature());
      r.add_views(view);
    };
  };
  for (const Row& row : std::vector<Row>{
           {"nothing", [](v1::InspectRequest&) {}, C::INVALID_ARGUMENT, "MALFORMED_REQUEST",
            "subject"},
           {"an unknown signature", [&](v1::InspectRequest& r) { r.set_signature(nobody); },
            C::NOT_FOUND, "UNKNOWN_RESULT", ""},
           {"a signature that is none", [](v1::InspectRequest& r) { r.set_signature("abc"); },
            C::INVALID_ARGUMENT, "MALFORMED_REQUEST", "signature"},
           {"an unknown digest", [&](v1::InspectRequest& r) { r.mutable_digest()->set_id(nobody); },
            C::NOT_FOUND, "UNKNOWN_RESULT", ""},
           {"metadata of a module",
            [&](v1::InspectRequest& r) {
              *r.mutable_digest() = artifact.code(0).digest();
              r.add_views(View::META);
            },
            C::INVALID_ARGUMENT, "MALFORMED_REQUEST", "views"},
           {"code of metadata",
            [&](v1::InspectRequest& r) {
              *r.mutable_digest() = artifact.metadata();
              r.add_views(View::DISASM);
            },
            C::INVALID_ARGUMENT, "MALFORMED_REQUEST", "views"},
           {"a variant that was not built",
            [](v1::InspectRequest& r) {
              *r.mutable_variant() = RequestOf("// new\n" + std::string(kSource)).variant();
              v1::OptionValue& fog = *r.mutable_variant()->add_options();
              fog.set_name("fog");
              fog.set_flag(true);
            },
            C::NOT_FOUND, "UNKNOWN_RESULT", ""},
           {"a variant of wrong sources",
            [](v1::InspectRequest& r) {
              *r.mutable_variant() = RequestOf(WrongSource()).variant();
            },
            C::NOT_FOUND, "UNKNOWN_RESULT", ""},
           {"sources that nobody has",
            [](v1::InspectRequest& r) {
              *r.mutable_variant() = RequestOf("// unsent\n", false).variant();
            },
            C::FAILED_PRECONDITION, "SOURCES_MISSING", ""},
           {"the IR of a signature", by_signature(View::IR), C::INVALID_ARGUMENT,
            "MALFORMED_REQUEST", "views"},
           {"the WGSL of SPIR-V", by_signature(View::WGSL), C::INVALID_ARGUMENT,
            "MALFORMED_REQUEST", "views"},
           {"a view that nobody has", by_signature(static_cast<View::View>(99)),
            C::INVALID_ARGUMENT, "MALFORMED_REQUEST", "views"},
           {"a language that nobody speaks",
            [&](v1::InspectRequest& r) {
              r.set_signature(artifact.signature());
              r.add_views(View::CROSS);
              r.add_dialects("cobol");
            },
            C::INVALID_ARGUMENT, "MALFORMED_REQUEST", "dialects"},
           {"views without end",
            [&](v1::InspectRequest& r) {
              r.set_signature(artifact.signature());
              for (int i = 0; i < 33; ++i) {
                r.add_views(View::STATS);
              }
            },
            C::INVALID_ARGUMENT, "MALFORMED_REQUEST", "views"}}) {
    v1::InspectRequest request;
    row.make(request);
    const Seen seen = Ask(request);
    EXPECT_EQ(seen.status.error_code(), row.code)
        << row.what << ": " << seen.status.error_message();
    EXPECT_EQ(seen.detail.reason(), row.reason) << row.what;
    EXPECT_EQ(seen.detail.field(), row.field) << row.what;
    EXPECT_EQ(seen.detail.help().empty(),
              row.code == C::NOT_FOUND || row.code == C::INVALID_ARGUMENT)
        << row.what;
    EXPECT_EQ(seen.messages, 0u) << row.what;
  }
}

// A source is content like any other, but not for showing.
TEST_F(Inspect, ContentOfAnotherKind_IsRefused) {
  Start();
  const v1::Program program = ProgramOf(std::string(kSource), false);
  grpc::ClientContext context;
  v1::PutSourcesReply reply;
  const auto upload = compile->PutSources(&context, &reply);
  v1::PutSourcesRequest chunk;
  *chunk.mutable_digest() = program.sources(0).digest();
  chunk.set_data(std::string(kSource));
  chunk.set_last(true);
  upload->Write(chunk);
  upload->WritesDone();
  ASSERT_TRUE(upload->Finish().ok());
  v1::InspectRequest request;
  *request.mutable_digest() = program.sources(0).digest();
  EXPECT_EQ(Ask(request).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace kiln::server
