// SPDX-License-Identifier: MIT
// A generic module: what a front end made of one source, as flat tables in one buffer. The
// in-memory form is the file form (a section_file), so loading is one copy into an aligned buffer.
//
// Module owns the buffer; ModuleView borrows it (or any 16-byte aligned copy of it) and is what all
// later stages read. A view is trustworthy only after Open and VerifyIds have both succeeded; from
// then on, code indexes without checks. See docs/IR.md.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"
#include "compiler/ir/cexpr.h"
#include "compiler/ir/decls.h"
#include "compiler/ir/ids.h"
#include "compiler/ir/insts.h"
#include "compiler/ir/types.h"
#include "compiler/source/span.h"

namespace kiln::ir {

enum class Language : uint32_t { kRpl, kHlsl, kWgsl, kSpirv };

// What a language refuses beyond what the IR refuses, each of which later stages check only where
// the module says so. See docs/IR.md, "Rules".
enum class ModuleRule : uint8_t {
  kNamesHideNothing,         // RPL6040
  kNothingBehindAnEnd,       // RPL6041
  kExpressionsHaveEffects,   // RPL6044
  kFunctionsReturn,          // RPL5021
  kReadsAreAssigned,         // RPL6043
  kEntriesTakeNothing,       // RPL5003
  kVertexWritesPosition,     // RPL5009
  kOneFunctionPerName,       // RPL5002
  kGroupsOrderTheInterface,  // spec/rpl 8.1 step 3
};
inline constexpr uint32_t kModuleRules = 9;
inline constexpr uint32_t kAllRules = (1u << kModuleRules) - 1;

// What a front end says about a module as a whole.
struct ModuleHeader {
  Language language = Language::kRpl;
  uint32_t version = 1;  // of the language
  uint32_t typed = 0;    // 1: instructions are those of typed modules
  uint32_t rules = kAllRules;

  bool Has(ModuleRule rule) const { return (rules >> static_cast<uint32_t>(rule) & 1u) != 0; }
};

struct ModuleView {
  ModuleHeader header;
  std::span<const Type> types;
  std::span<const Const> consts;
  std::span<const Cexpr> cexprs;
  std::span<const Option> options;
  std::span<const Decl> decls;
  std::span<const Member> members;
  std::span<const Local> locals;
  std::span<const Region> regions;
  std::span<const Inst> insts;
  std::span<const Block> blocks;
  std::span<const uint32_t> block_insts;  // InstId values
  std::span<const uint32_t> extra;        // lists: count, then items
  std::span<const uint32_t> string_ends;  // end offset of each string in string_bytes
  std::span<const char> string_bytes;
  std::span<const Attribute> attributes;  // a section only if there are any
  // Spans: empty if the image was stored without them.
  std::span<const Span> spans;
  std::span<const DeclSpans> decl_spans;
  std::span<const MemberSpans> member_spans;
  std::span<const LocalSpans> local_spans;
  std::span<const RegionSpans> region_spans;
  std::span<const InstSpans> inst_spans;

  std::string_view Text(StringId id) const;
  std::span<const uint32_t> List(ListId id) const;      // empty if invalid
  std::span<const uint32_t> InstsOf(BlockId id) const;  // InstId values in order
  std::span<const Member> MembersOf(const Decl& decl) const;
  std::span<const Attribute> AttributesOf(DeclId id) const;  // O(log attributes), and so on
  std::span<const Attribute> AttributesOf(MemberId id) const;
  Span SpanOf(SpanId id) const;  // {0,0} if invalid or without spans

  // Checks header, fingerprint and section bounds of `image` (16-byte aligned, must outlive the
  // view). Errors: kCorrupt if it is not an image, kFailedPrecondition if of another fingerprint.
  static Result<ModuleView> Open(std::span<const std::byte> image, const Hash128& fingerprint);
};

class Module {
 public:
  // Requires: `view` is of `image`.
  Module(std::vector<std::byte> image, const ModuleView& view, const Hash128& fingerprint);
  Module(Module&&) noexcept = default;  // a buffer does not move with its owner
  Module& operator=(Module&&) noexcept = default;
  const ModuleView& view() const { return view_; }
  std::span<const std::byte> image() const { return image_; }
  // Content id of the image without its span sections (spec/cache 2.4.3).
  Hash128 semantic_id() const;

 private:
  std::vector<std::byte> image_;
  ModuleView view_;
  Hash128 fingerprint_;
};

// What an image says about the texts that its spans count in; both may be empty.
struct SourceSections {
  std::span<const uint32_t> line_starts;  // line_starts.h
  ByteView files;                         // module_files.h
};

// The image of these tables and the view of it.
Module WriteModule(const ModuleView& tables, const SourceSections& sources,
                   const Hash128& fingerprint);

}  // namespace kiln::ir
