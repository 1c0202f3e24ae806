// SPDX-License-Identifier: MIT
// Inspect: a result by signature, one of its products by digest, or a variant -> views as text and
// JSON. Nothing is built and nothing is kept. See spec/daemon 4.1, spec/cli 6.7
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/rpc/calls/compile_calls.h"

namespace kiln::rpc {

// A view in its forms; the JSON of views that have none is empty.
struct ViewForms {
  std::string text, json;
};

// Views as a sequence of pages, one view of one artifact each. One thread at a time.
class InspectPages {
 public:
  InspectPages(Engine& engine, v1::InspectRequest request)
      : engine_(engine), request_(std::move(request)) {}

  // Messages that a stream takes; none after the last view. Errors: kNotFound with UNKNOWN_RESULT;
  // kInvalidArgument if the subject has no such view; kUnimplemented; kFailedPrecondition with
  // SOURCES_MISSING, `detail` lists them, or as Recipes::Show.
  Result<std::vector<v1::InspectReply>> Next(const cache::Call& call, v1::ErrorDetail& detail);

 private:
  // What there is to look at.
  struct Subject {
    std::optional<v1::Artifact> artifact;  // nothing: a product by itself
    std::vector<v1::StageCode> code;
    std::optional<v1::Digest> metadata;
    std::shared_ptr<const compile::PreparedProgram> prepared;  // of a variant
  };
  struct Page {
    size_t subject = 0;
    v1::InspectRequest::View view = v1::InspectRequest::VIEW_UNSPECIFIED;
    std::string dialect;
  };

  Result<void> Begin(const cache::Call& call, v1::ErrorDetail& detail);
  Result<void> AddSignature(const cache::Call& call);
  Result<void> AddContent(const cache::Call& call);
  Result<void> AddVariant(const cache::Call& call, v1::ErrorDetail& detail);
  void AddArtifact(const compile::Outcome& found,
                   std::shared_ptr<const compile::PreparedProgram> prepared);
  Result<void> AddPages();
  Result<ViewForms> FormsOf(const Page& page, const cache::Call& call);
  Result<ViewForms> MetadataForms(const Page& page, const cache::Call& call);
  Result<ViewForms> CodeForms(const Page& page, const cache::Call& call);
  Result<ViewForms> IrForms(const Subject& subject) const;

  Engine& engine_;
  const v1::InspectRequest request_;
  bool begun_ = false;
  std::vector<resolve::OptionSetting> options_;  // of the variant
  std::vector<Subject> subjects_;
  std::vector<Page> pages_;
  size_t next_ = 0;
};

}  // namespace kiln::rpc
