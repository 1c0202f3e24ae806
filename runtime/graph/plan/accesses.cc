// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/accesses.h"

#include <algorithm>
#include <numeric>

namespace kiln::graph {
namespace {

// Looks at accesses one after the other, in the order in which they were declared. Reads and
// creates alternate unpredictably, so the few differences between them are selected without
// branches, which the processor would mispredict.
class AccessIndex {
 public:
  AccessIndex(const Declarations& rows, AccessFacts& facts, PassAccesses& out)
      : outside_(static_cast<uint32_t>(rows.versions.size())),
        accesses_(rows.accesses.data()),
        versions_(rows.versions.data()),
        passes_(rows.passes.data()),
        pass_begin_(out.pass_begin.data()),
        layouts_(out.layouts.data()),
        chain_begin_(facts.chain_begin.data()),
        chain_pass_(facts.marks.data()),
        def_access_(facts.def_access.data()),
        kill_access_(facts.kill_access.data()),
        bits_(facts.bits.data()),
        pass_bits_(facts.pass_bits.data()),
        followers_(facts.followers.data()) {}

  void Add(uint32_t index) {
    const AccessRow& access = accesses_[index];
    const VersionRow& version = versions_[access.version];
    const uint32_t pass = access.pass;
    const uint32_t chain = version.chain;
    def_access_[std::min(access.result, outside_)] = index;  // of none: beside them
    const bool exports = version.exported != 0 && access.op == Op::kRead && version.kill == pass;
    if (access.op == Op::kWrite || exports) {  // an export overwrites by reading
      kill_access_[access.version] = index;
    }
    const uint8_t bits = BitsOf(access, version);
    bits_[index] = bits;
    pass_bits_[pass] |= bits;
    layouts_[index] = access.layout;
    followers_[follower_count_] = index;  // unless the next takes its place
    follower_count_ += access.op == Op::kCreate ? 0 : 1;
    // Counts in the row behind: summed up, they become the places where each pass and each chain
    // begins.
    ++pass_begin_[pass + 1];
    ++chain_begin_[chain + 1];
    unsorted_ |= pass < last_;
    last_ = pass;
    shared_ |= chain_pass_[chain] == pass;
    chain_pass_[chain] = pass;
  }

  uint32_t follower_count() const { return follower_count_; }
  // Whether the accesses of every pass were declared before those of the next.
  bool sorted() const { return !unsorted_; }
  // Whether a pass has several accesses to one chain. Requires: they are sorted.
  bool shared() const { return shared_; }

 private:
  // The bits that an access may have by its operation, and those that it has by what it names;
  // their intersection is the answer without a branch.
  uint8_t BitsOf(const AccessRow& access, const VersionRow& version) const {
    constexpr uint32_t kOfOp[] = {0, kWrites, kWrites | kForgets | kBegins};  // at most
    static_assert(static_cast<int>(Op::kRead) == 0 && static_cast<int>(Op::kCreate) == 2);
    const uint32_t own = ((access.accesses & kWriteAccesses) != 0 ? kWrites : 0) |
                         ((version.bits & kOfTexture) != 0 ? kBegins : 0) | kForgets;
    return static_cast<uint8_t>((own & kOfOp[static_cast<size_t>(access.op)]) |
                                (access.whole == 0 ? kPart : 0) |
                                (access.discard != 0 ? kForgets : 0) |
                                (passes_[access.pass].kind == PassKind::kHost ? kOnHost : 0));
  }

  uint32_t outside_;
  const AccessRow* accesses_;
  const VersionRow* versions_;
  const PassRow* passes_;
  uint32_t* pass_begin_;
  VkImageLayout* layouts_;
  uint32_t* chain_begin_;
  uint32_t* chain_pass_;  // the last pass that used it
  uint32_t* def_access_;
  uint32_t* kill_access_;
  uint8_t* bits_;
  uint8_t* pass_bits_;
  uint32_t* followers_;
  uint32_t follower_count_ = 0;
  uint32_t last_ = 0;
  bool unsorted_ = false;
  bool shared_ = false;
};

// Turns the counts of the rows before into the places where each begins.
void SumUp(std::vector<uint32_t>& begins) {
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
}

// Sorts accesses that were declared out of the order of their passes.
// A counting sort, so accesses of one pass keep the order in which they were declared.
void SortByPass(const Declarations& rows, std::vector<uint32_t>& next, PassAccesses& out) {
  next.assign(out.pass_begin.begin(), out.pass_begin.end());
  for (uint32_t i = 0; i < rows.accesses.size(); ++i) {
    out.pass_accesses[next[rows.accesses[i].pass]++] = i;
  }
}

// All readers of a version share one layout, so that changes of layout between them disappear. That
// is a trade: GENERAL, where reads need it, may be slower to read from than the layout of each. So
// it is an option of the plan, off by default.
void UnifyReads(const Declarations& rows, std::vector<VkImageLayout>& unified) {
  constexpr Accesses kReadOnly = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |
                                 VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT |
                                 VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT;
  // Two passes over the accesses: the first finds versions that are read in several layouts, the
  // second gives their reads the common one.
  std::vector<VkImageLayout> layouts(rows.versions.size(), VK_IMAGE_LAYOUT_UNDEFINED);
  std::vector<uint8_t> several(rows.versions.size(), 0);
  std::vector<Accesses> accesses(rows.versions.size(), 0);
  const auto is_read = [&](const AccessRow& access) {
    return access.op == Op::kRead && access.accesses != 0 && rows.ChainOf(access).texture();
  };
  for (const AccessRow& access : rows.accesses) {
    if (is_read(access)) {
      VkImageLayout& layout = layouts[access.version];
      several[access.version] |=
          layout != VK_IMAGE_LAYOUT_UNDEFINED && layout != access.layout ? 1 : 0;
      layout = access.layout;
      accesses[access.version] |= access.accesses;
    }
  }
  for (size_t i = 0; i < rows.accesses.size(); ++i) {
    const AccessRow& access = rows.accesses[i];
    if (is_read(access) && several[access.version] != 0) {
      unified[i] = (accesses[access.version] & ~kReadOnly) == 0 ? VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL
                                                                : VK_IMAGE_LAYOUT_GENERAL;
    }
  }
}

}  // namespace

// One look at every access, which is most of what planning an unchanged frame costs. Everything
// that later steps would have to look up again is counted here.
void GroupAccesses(const Declarations& rows, const PlanOptions& options, AccessFacts& facts,
                   PassAccesses& out) {
  const auto count = static_cast<uint32_t>(rows.accesses.size());
  out.pass_begin.assign(rows.passes.size() + 1, 0);
  out.pass_accesses.resize(count);
  out.layouts.resize(count);
  facts.chain_begin.assign(rows.chains.size() + 1, 0);
  facts.marks.assign(rows.chains.size(), kNone);
  facts.bits.resize(count);
  facts.def_access.assign(rows.versions.size() + 1, kNone);
  facts.kill_access.assign(rows.versions.size(), kNone);
  facts.followers.resize(count + 1);
  facts.pass_bits.assign(rows.passes.size(), 0);
  AccessIndex index(rows, facts, out);
  for (uint32_t i = 0; i < count; ++i) {
    index.Add(i);
  }
  SumUp(out.pass_begin);
  SumUp(facts.chain_begin);
  // Declarations nearly always come pass by pass: then the order of the accesses is the one that is
  // wanted, and nothing is sorted.
  if (index.sorted()) {
    std::iota(out.pass_accesses.begin(), out.pass_accesses.end(), 0);
  } else {
    SortByPass(rows, facts.marks, out);
  }
  facts.followers.resize(index.follower_count());
  facts.any_shared = index.shared() || !index.sorted();
  if (options.unify_reads) {
    UnifyReads(rows, out.layouts);
  }
}

}  // namespace kiln::graph
