#include "cosim/pcie_dma/model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace mrc::cosim {
namespace {

using namespace pcie_dma_ports;

const std::vector<std::string> kBlocks{"128", "256", "512", "1024", "2048", "4096"};
const std::vector<std::string> kShapes{"inside a block", "over a block, inside 4 KiB", "over 4 KiB"};
const std::vector<std::string> kAsk{"new", "again"};
const std::vector<std::string> kAskOutcomes{"made", "no tag", "no room", "no credit", "port held"};
const std::vector<std::string> kVerdicts{"unexpected", "behind a loss", "accepted", "complete"};
const std::vector<std::string> kBefore{"none", "same tag", "same read", "another read"};

constexpr std::uint64_t kReportCycles = 2;  ///< from the verdict that ends a read to its report

std::size_t block_number(std::uint32_t bytes) {
  return static_cast<std::size_t>(std::countr_zero(bytes)) - 7;
}

std::size_t shape(std::uint64_t address, std::uint64_t bytes, std::uint32_t block) {
  const std::uint64_t end = address + bytes - 1;
  return address / 4096 != end / 4096 ? 2 : address / block != end / block ? 1 : 0;
}

/// Shortly before a multiple of 4 KiB; now and then of a larger power of two, so that carries go far.
std::uint64_t before_boundary(std::uint64_t address, KeyedRandom& random) {
  const std::uint64_t bits = random.chance(0.1) ? 13 + random.below(40) : 12;
  return address | ((1ULL << bits) - 1 - random.below(130));
}

Transaction to_transaction(const CompletionTlp& completion) {
  return Cpl{.tag = completion.tag,
             .bytes = completion.bytes,
             .byte_count = completion.byte_count,
             .poisoned = completion.poisoned}
      .transfer();
}

CompletionTlp to_completion(const Transaction& values) {
  return {static_cast<std::uint16_t>(values[Cpl::kTag]), static_cast<std::uint32_t>(values[Cpl::kBytes]),
          static_cast<std::uint32_t>(values[Cpl::kByteCount]), values[Cpl::kPoisoned] != 0};
}

}  // namespace

PcieDmaModel::PcieDmaModel(const PcieDmaSizes& sizes, MakeDut make_dut)
    : BlockModel(std::move(make_dut)), sizes_(sizes) {
  points_.read = coverage.cross("MRRS × read", kBlocks, kShapes);
  points_.write = coverage.cross("MPS × write", kBlocks, kShapes);
  const std::size_t impossible = (kBlocks.size() - 1) * kShapes.size() + 1;
  coverage.waive(points_.read, impossible, "a block is 4 KiB");
  coverage.waive(points_.write, impossible, "a block is 4 KiB");
  points_.ask = coverage.cross("request × what it meets", kAsk, kAskOutcomes);
  coverage.waive(points_.ask, kAskOutcomes.size() + 1, "it has given its tag back, and new ones wait behind it");
  coverage.waive(points_.ask, kAskOutcomes.size() + 2, "it keeps its room");
  points_.verdict = coverage.cross("verdict × completion in the cycle before", kVerdicts, kBefore);
  points_.poison = coverage.point("poisoned completion", {"the only one", "first", "in the middle", "last"});
  points_.expiry = coverage.point("expiry", {"at once", "waits for a completion", "of a free tag"});
  points_.end = coverage.point("read ends", {"in order, the oldest", "in order, behind an older", "loose, the oldest",
                                             "loose, passes an older"});
  points_.room = coverage.point("completion buffer", {"empty", "in between", "full to the byte"});
  points_.together = coverage.point(
      "in one cycle", {"request, completion and write TLP", "request and release", "completion and both reports"});
}

void PcieDmaModel::reset(KeyedRandom& random, const Dut& dut) {
  mrrs_ = 128U << random.below(6);
  mps_ = 128U << random.below(6);
  credit_ = std::array{0.1, 0.5, 0.9, 1.0}[random.below(4)];
  fault_ = random.chance(0.5) ? 0.0 : 0.05;
  small_ = std::array{0.02, 0.1, 0.5, 0.9, 1.0}[random.below(5)];
  traffic_ = false;
  of_run_ = false;
  requests_ = PcieDmaRequests(sizes_.tags);
  dut.set_constant("mrrs_log2", static_cast<std::uint64_t>(std::countr_zero(mrrs_)));
  dut.set_constant("mps_log2", static_cast<std::uint64_t>(std::countr_zero(mps_)));
  reference_.emplace(sizes_, mrrs_, mps_);
  asked_.clear();
  at_host_.assign(sizes_.tags, false);
  free_jobs_.clear();
  for (std::uint32_t job = 0; job < sizes_.jobs; ++job) free_jobs_.push_back(job);
  job_order_.clear();
  bytes_of_.assign(sizes_.jobs, 0);
  left_of_.assign(sizes_.jobs, 0);
  in_order_.assign(sizes_.jobs, false);
  to_release_ = 0;
  tlps_left_ = 0;
  owes_tlp_ = false;
  early_.reset();
  cycle_ = 0;
  reports_due_ = {};
  owes_request_ = expiry_waited_ = completion_offered_ = false;
  last_completion_.reset();
  completion_before_.reset();
  last_expiry_.reset();
}

void PcieDmaModel::reset_to_traffic(KeyedRandom& random, const Dut& dut) {
  reset(random, dut);
  traffic_ = true;
  credit_ = 1.0;
  fault_ = 0.0;
  mrrs_ = 512;
  mps_ = 256;
  dut.set_constant("mrrs_log2", 9);
  dut.set_constant("mps_log2", 8);
  reference_.emplace(sizes_, mrrs_, mps_);
}

void PcieDmaModel::reset_to_trace(KeyedRandom& random, const Dut& dut,
                                  const std::map<std::string, std::uint64_t>& settings) {
  if (settings.at("tags") != sizes_.tags) {
    throw std::invalid_argument(
        fmt::format("the run's pcie_dma has {} tags, this size {}", settings.at("tags"), sizes_.tags));
  }
  reset(random, dut);
  of_run_ = true;
  mrrs_ = 1U << settings.at("mrrs_log2");
  mps_ = 1U << settings.at("mps_log2");
  dut.set_constant("mrrs_log2", settings.at("mrrs_log2"));
  dut.set_constant("mps_log2", settings.at("mps_log2"));
  reference_.emplace(sizes_, mrrs_, mps_);
}

void PcieDmaModel::drive(KeyedRandom& random, const Dut& dut) {
  dut.set_constant("np_credit", random.chance(credit_) ? 1 : 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Stimulus.
// ---------------------------------------------------------------------------------------------------------------------

bool PcieDmaModel::offer(std::size_t port, KeyedRandom& random, Transaction& values) {
  switch (port) {
    case kReadPort:
      return offer_read(random, values);
    case kWritePort:
      return offer_write(random, values);
    case kCompletionPort:
      return offer_completion(random, values);
    case kExpiryPort:
      return offer_expiry(random, values);
    default:
      return offer_release(random, values);
  }
}

bool PcieDmaModel::offer_read(KeyedRandom& random, Transaction& values) {
  if (free_jobs_.empty()) return false;
  const std::size_t pick = random.below(free_jobs_.size());
  std::uint64_t bytes = 1 + random.below(random.chance(small_) ? 200 : 9'000);
  if (random.chance(0.1)) bytes = std::uint64_t{mrrs_} << random.below(3);
  if (random.chance(0.02)) bytes = 1;
  if (random.chance(0.01)) bytes += 1ULL << (14 + random.below(6));
  std::uint64_t address = random.next() >> random.below(40);
  if (random.chance(0.3)) address &= ~std::uint64_t{4095};
  if (random.chance(0.3)) address = before_boundary(address, random);
  if (traffic_) {  // three packets of 4 KiB for a WQE
    bytes = random.chance(0.25) ? 64 : 4'096;
    address &= ~std::uint64_t{4095};
  }
  bytes = std::min(bytes, sizes_.completion_buffer_bytes);
  values = {address, bytes, free_jobs_[pick], random.chance(traffic_ ? 0.75 : 0.6)};
  return true;
}

bool PcieDmaModel::offer_write(KeyedRandom& random, Transaction& values) const {
  std::uint64_t address = random.next();
  if (random.chance(0.3)) address = before_boundary(address, random);
  std::uint64_t bytes = 1 + random.below(random.chance(small_) ? 200 : 9'000);
  if (random.chance(0.002)) bytes += 1ULL << (14 + random.below(5));
  if (traffic_) {
    bytes = random.chance(0.25) ? 64 : 4'096;
    address &= ~std::uint64_t{4095};
  }
  values = {address, bytes};
  return true;
}

bool PcieDmaModel::offer_completion(KeyedRandom& random, Transaction& values) {
  if (random.chance(fault_)) return completion_offered_ = offer_faulty_completion(random, values);
  if (asked_.empty()) return false;
  std::size_t pick = random.below(asked_.size());
  if (random.chance(0.7) && last_pick_ < asked_.size()) pick = last_pick_;
  while (traffic_ && pick > 0 && asked_[pick - 1].sent == 0) --pick;
  while (traffic_ && pick + 1 < asked_.size() && asked_[pick].sent > 0) ++pick;
  last_pick_ = pick;
  Asked& asked = asked_[pick];
  if (asked.sent == asked.request.bytes) return false;
  const std::uint64_t address = asked.request.address + asked.sent;
  const std::uint32_t rcb = random.chance(0.5) ? 64 : mps_;
  std::uint32_t chunk = bytes_in_block(address, asked.request.bytes - asked.sent, rcb);
  if (traffic_ || (rcb == 64 && random.chance(0.5))) chunk = asked.request.bytes - asked.sent;
  const std::uint32_t owed = asked.request.bytes - asked.sent;
  asked.sent += chunk;
  if (random.chance(fault_)) {  // lost on its way
    asked.dead = true;
    return false;
  }
  values = to_transaction({asked.request.tag, chunk, owed, random.chance(fault_)});
  return completion_offered_ = true;
}

bool PcieDmaModel::offer_faulty_completion(KeyedRandom& random, Transaction& values) const {
  auto tag = static_cast<std::uint16_t>(random.below(sizes_.tags));
  // Mostly of a request of which some has come.
  for (std::uint32_t i = 0; i < sizes_.tags && received(tag) == 0 && random.chance(0.9); ++i) {
    tag = static_cast<std::uint16_t>((tag + 1U) % sizes_.tags);
  }
  const ReadTags::Tag& state = reference_->tag(tag);
  if (!state.outstanding) {
    if (may_give_tag()) return false;
    values = to_transaction({tag, 64, 64 + 64 * static_cast<std::uint32_t>(random.below(8)), false});
    return true;
  }
  const std::uint32_t came = received(tag);
  if (came == 0 || !can_answer(tag)) return false;
  std::uint32_t owed = state.bytes - came + 1 + static_cast<std::uint32_t>(random.below(came));
  if (random.chance(0.5)) owed = state.bytes;
  values = to_transaction({tag, std::min(owed, 64U), owed, false});  // a second copy
  return true;
}

/// A request that lost something; its later completions are dropped.
bool PcieDmaModel::offer_expiry(KeyedRandom& random, Transaction& values) {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (!asked_[i].dead) continue;
    values = {asked_[i].request.tag};
    asked_.erase(asked_.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  if (!random.chance(fault_ / 10)) return false;
  const auto tag = static_cast<std::uint16_t>(random.below(sizes_.tags));
  // It must not have to wait until the tag is given out.
  if (reference_->tag(tag).outstanding || may_give_tag() || completion_offered_) return false;
  values = {tag};
  return true;
}

bool PcieDmaModel::offer_release(KeyedRandom& random, Transaction& values) const {
  if (to_release_ == 0) return false;
  const std::uint64_t most = std::min<std::uint64_t>(to_release_, 4096);
  values = {traffic_ || random.chance(0.5) ? most : 1 + random.below(most)};
  return true;
}

bool PcieDmaModel::can_answer(std::uint16_t tag) const {
  return at_host_[tag] && last_expiry_ != tag && received(tag) < reference_->tag(tag).bytes;
}

std::uint32_t PcieDmaModel::received(std::uint16_t tag) const {
  const ReadTags::Tag& state = reference_->tag(tag);
  const bool comes = last_completion_ && last_completion_->tag == tag && state.outstanding &&
                     last_completion_->byte_count == state.bytes - state.received;
  return state.received + (comes ? last_completion_->bytes : 0);
}

// In a replay without some of its transfers other tags and jobs are in use.
bool PcieDmaModel::adapt(std::size_t port, Transaction& values) const {
  switch (port) {
    case kReadPort:
      return adapt_read(values);
    case kCompletionPort:
      return adapt_completion(values);
    case kExpiryPort:
      return adapt_expiry(values);
    case kReleasePort:
      if (of_run_) return to_release_ >= values[0];
      values[0] = std::min(values[0], to_release_);
      return to_release_ > 0;
    default:
      return true;
  }
}

bool PcieDmaModel::adapt_read(Transaction& values) const {
  constexpr std::size_t job = 2;
  if (free_jobs_.empty()) return false;
  if (std::find(free_jobs_.begin(), free_jobs_.end(), values[job]) == free_jobs_.end())
    values[job] = free_jobs_.front();
  return true;
}

bool PcieDmaModel::adapt_completion(Transaction& values) const {
  if (of_run_) return adapt_completion_of_run(values);
  const auto tag = static_cast<std::uint16_t>(values[Cpl::kTag]);
  if (can_answer(tag)) return true;
  if (!reference_->tag(tag).outstanding && !may_give_tag()) return true;
  for (const Asked& asked : asked_) {
    if (!can_answer(asked.request.tag)) continue;
    values[Cpl::kTag] = asked.request.tag;
    values[Cpl::kByteCount] = asked.request.bytes - received(asked.request.tag);
    values[Cpl::kBytes] = std::min(values[Cpl::kBytes], values[Cpl::kByteCount]);
    return true;
  }
  return false;
}

/// A run's completion names its request. If the tag of that request has been given to another one, or may be in this
/// cycle, a duplicate completion of a third request is offered instead: it is unexpected as well.
bool PcieDmaModel::adapt_completion_of_run(Transaction& values) const {
  const std::uint64_t name = values[Cpl::kTag];
  const std::optional<std::uint16_t> tag = requests_.tag_of(name);
  if (!tag) return false;
  values[Cpl::kTag] = *tag;
  if (requests_.of(*tag) == name && (reference_->tag(*tag).outstanding || !may_give_tag())) return true;
  const auto copied = std::ranges::find_if(asked_, [&](const Asked& asked) { return can_answer(asked.request.tag); });
  if (copied == asked_.end()) return false;
  values = to_transaction({copied->request.tag, 1, copied->request.bytes + 1, false});
  return true;
}

bool PcieDmaModel::adapt_expiry(Transaction& values) const {
  if (of_run_) {
    const std::optional<std::uint16_t> tag = requests_.tag_of(values[Expire::kTag]);
    if (!tag) return false;
    values[Expire::kTag] = *tag;
  }
  const auto tag = static_cast<std::uint16_t>(values[Expire::kTag]);
  return reference_->tag(tag).outstanding ? can_answer(tag) : !may_give_tag();
}

// ---------------------------------------------------------------------------------------------------------------------
// Reference.
// ---------------------------------------------------------------------------------------------------------------------

std::optional<Difference> PcieDmaModel::observe(const Dut& dut, std::vector<std::vector<Transaction>>& expected) {
  const bool work = reference_->splitting() || reference_->repeating();
  const bool full = reference_->splitting() && !reference_->repeating() && reference_->has_tag() && !reference_->fits();
  const std::array<std::uint64_t, 3> levels{work && !reference_->has_tag(), full, reference_->buffer_used()};
  std::optional<Difference> first;
  const auto compare = [&](const std::string& field, std::uint64_t wanted, std::uint64_t actual) {
    if (wanted != actual && !first) first = Difference{field, wanted, actual};
  };
  for (std::size_t i = 0; i < levels.size(); ++i) compare(dut.state[i].name, levels[i], dut.state[i].pin.get());
  const std::uint64_t used = reference_->buffer_used();
  coverage.hit(points_.room, used == 0 ? 0 : used == sizes_.completion_buffer_bytes ? 2 : 1);

  // One cycle to the request, one to the verdict, two more to the report. The first two decide the tag of a request
  // and what a completion meets, so they hold for any block.
  if (owes_request_) compare("req_valid", 1, dut.ports[kRequestPort].valid.get());
  compare("verdict_valid", last_completion_.has_value(), dut.ports[kVerdictPort].valid.get());
  if (data_sheet_cycles) cut_write(dut, compare);
  ++cycle_;
  for (std::size_t i = 0; data_sheet_cycles && i < reports_due_.size(); ++i) {
    const Port& port = dut.ports[kOrderedPort + i];
    if (!reports_due_[i].empty() && reports_due_[i].front() <= cycle_)
      compare(port.name + "_valid", 1, port.valid.get());
  }

  // The content of the first stage was looked up in the previous cycle.
  const bool known = last_completion_ && reference_->tag(last_completion_->tag).outstanding;
  if (last_expiry_ && !reference_->tag(*last_expiry_).outstanding) last_expiry_.reset();
  form_request(dut, expected);
  compare("rd_ready", reference_->splitting() ? 0 : 1, dut.ports[kReadPort].ready.get());
  const bool completes = dut.ports[kCompletionPort].valid.get() != 0;
  if (owes_request_ && completes && dut.ports[kTlpPort].valid.get() != 0) coverage.hit(points_.together, 0);
  if (owes_request_ && dut.ports[kReleasePort].valid.get() != 0) coverage.hit(points_.together, 1);
  if (completes && dut.ports[kOrderedPort].valid.get() != 0 && dut.ports[kLoosePort].valid.get() != 0) {
    coverage.hit(points_.together, 2);
  }
  expiry_waited_ = expiry_waited_ || (completes && dut.ports[kExpiryPort].valid.get() != 0);
  completion_offered_ = false;
  judge_completion(known, expected);
  return first;
}

template <typename Compare>
void PcieDmaModel::cut_write(const Dut& dut, const Compare& compare) {
  const Port& tlps = dut.ports[kTlpPort];
  if (owes_tlp_) compare("tlp_valid", 1, tlps.valid.get());
  owes_tlp_ = tlps_left_ > 0 && (tlps.valid.get() == 0 || tlps.ready.get() != 0);
  if (owes_tlp_) --tlps_left_;
  const std::uint64_t takes_write = tlps_left_ == 0 ? 1 : 0;
  const std::uint64_t wr_ready = dut.ports[kWritePort].ready.get();
  if (early_ && (tlps.valid.get() == 0 || tlps.ready.get() != 0)) compare("wr_ready", early_->expected, early_->actual);
  if (!early_ && takes_write != wr_ready) early_ = Difference{"wr_ready", takes_write, wr_ready};
}

void PcieDmaModel::form_request(const Dut& dut, std::vector<std::vector<Transaction>>& expected) {
  const bool credit = dut.constants[2].pin.get() != 0;
  const bool held = dut.ports[kRequestPort].valid.get() != 0 && dut.ports[kRequestPort].ready.get() == 0;
  owes_request_ = credit && !held && reference_->can_request();
  if (reference_->splitting() || reference_->repeating()) {
    const std::size_t outcome = owes_request_                                     ? 0
                                : !reference_->has_tag()                          ? 1
                                : !reference_->repeating() && !reference_->fits() ? 2
                                : !credit                                         ? 3
                                                                                  : 4;
    coverage.hit(points_.ask, reference_->repeating() ? 1 : 0, outcome, kAskOutcomes.size());
  }
  if (!owes_request_) return;
  const ReadRequestTlp r = reference_->request();
  expected[kRequestPort].push_back({r.again, r.address, r.bytes, r.job, r.tag});
}

/// What was accepted at the previous edge is now in the first stage.
void PcieDmaModel::judge_completion(bool known, std::vector<std::vector<Transaction>>& expected) {
  if (last_completion_) {
    const std::uint16_t tag = last_completion_->tag;
    const std::uint32_t bytes = reference_->tag(tag).bytes;
    const std::uint32_t came = reference_->tag(tag).received;
    const ReadTags::Verdict verdict = known ? reference_->completion(*last_completion_) : ReadTags::Verdict::unexpected;
    expected[kVerdictPort].push_back({static_cast<std::uint64_t>(verdict), tag});
    std::size_t before = 0;
    if (completion_before_) {
      const bool same_read = reference_->tag(completion_before_->tag).job == reference_->tag(tag).job;
      before = completion_before_->tag == tag ? 1 : same_read ? 2 : 3;
    }
    coverage.hit(points_.verdict, static_cast<std::size_t>(verdict), before, kBefore.size());
    if (last_completion_->poisoned && verdict >= ReadTags::Verdict::accepted) {
      const bool last = verdict == ReadTags::Verdict::complete;
      coverage.hit(points_.poison, came == 0 ? (last && bytes == last_completion_->bytes ? 0 : 1) : last ? 3 : 2);
    }
    if (verdict == ReadTags::Verdict::complete) end_request(tag, expected);
  }
  if (last_expiry_) reference_->expire(*last_expiry_);
  completion_before_ = last_completion_;
  last_completion_.reset();
  last_expiry_.reset();
}

void PcieDmaModel::end_request(std::uint16_t tag, std::vector<std::vector<Transaction>>& expected) {
  std::erase_if(asked_, [&](const Asked& asked) { return asked.request.tag == tag; });
  at_host_[tag] = false;
  const ReadTags::Tag& state = reference_->tag(tag);
  const std::uint32_t job = state.job;
  if (!state.poisoned) left_of_[job] -= state.bytes;
  const bool done = !state.poisoned && left_of_[job] == 0;
  bool reported = false;
  while (const auto ordered = reference_->ordered_done()) {
    expected[kOrderedPort].push_back({*ordered});
    reports_due_[0].push_back(cycle_ + kReportCycles);
    reported = reported || *ordered == job;
  }
  while (const auto loose = reference_->loose_done()) {
    expected[kLoosePort].push_back({*loose});
    reports_due_[1].push_back(cycle_ + kReportCycles);
  }
  if (!done) return;
  const bool oldest = !job_order_.empty() && job_order_.front() == job;
  coverage.hit(points_.end, in_order_[job] ? (reported ? 0 : 1) : oldest ? 2 : 3);
}

void PcieDmaModel::accept(std::size_t port, const Transaction& values,
                          std::vector<std::vector<Transaction>>& expected) {
  caused_ = 0;
  switch (port) {
    case kReadPort:
      return accept_read(values);
    case kWritePort:
      return accept_write(values, expected);
    case kCompletionPort:
      return accept_completion(values);
    case kExpiryPort:
      return accept_expiry(static_cast<std::uint16_t>(values[Cpl::kTag]));
    default:
      to_release_ -= values[0];
      reference_->release(static_cast<std::uint32_t>(values[0]));
  }
}

void PcieDmaModel::accept_read(const Transaction& values) {
  const std::uint64_t address = values[0];
  const auto bytes = static_cast<std::uint32_t>(values[1]);
  const auto job = static_cast<std::uint32_t>(values[2]);
  std::erase(free_jobs_, job);
  reference_->read(job, address, bytes, values[3] != 0);
  job_order_.push_back(job);
  bytes_of_[job] = left_of_[job] = bytes;
  in_order_[job] = values[3] != 0;
  coverage.hit(points_.read, block_number(mrrs_), shape(address, bytes, mrrs_), kShapes.size());
  caused_ = (address + bytes - 1) / mrrs_ - address / mrrs_ + 1;
}

void PcieDmaModel::accept_write(const Transaction& values, std::vector<std::vector<Transaction>>& expected) {
  reference_->write(values[0], static_cast<std::uint32_t>(values[1]));
  while (const auto tlp = reference_->write_tlp()) {
    expected[kTlpPort].push_back({tlp->address, tlp->bytes, tlp->last});
    ++caused_;
  }
  tlps_left_ = caused_;
  coverage.hit(points_.write, block_number(mps_), shape(values[0], values[1], mps_), kShapes.size());
}

void PcieDmaModel::accept_completion(const Transaction& values) {
  const CompletionTlp completion = to_completion(values);
  const ReadTags::Tag& state = reference_->tag(completion.tag);
  const bool completes = state.outstanding && completion.bytes == completion.byte_count &&
                         completion.byte_count == state.bytes - received(completion.tag);
  caused_in_order_ = in_order_[state.job];
  caused_ = completes && !state.poisoned && !completion.poisoned ? left_of_[state.job] == state.bytes : 0;
  last_completion_ = completion;
}

void PcieDmaModel::accept_expiry(std::uint16_t tag) {
  const bool outstanding = reference_->tag(tag).outstanding;
  coverage.hit(points_.expiry, !outstanding ? 2 : expiry_waited_ ? 1 : 0);
  expiry_waited_ = false;
  std::erase_if(asked_, [&](const Asked& asked) { return asked.request.tag == tag; });
  at_host_[tag] = false;
  last_expiry_ = tag;
}

void PcieDmaModel::taken(std::size_t port, const Transaction& values) {
  if (port == kRequestPort) {
    const ReadRequestTlp request{values[1], static_cast<std::uint32_t>(values[2]),
                                 static_cast<std::uint32_t>(values[3]), static_cast<std::uint16_t>(values[4]),
                                 values[0] != 0};
    asked_.push_back({request, 0, false});
    at_host_[request.tag] = true;
    if (of_run_) requests_.request(request);
  }
  if (port != kOrderedPort && port != kLoosePort) return;
  reports_due_[port - kOrderedPort].pop_front();
  const auto job = static_cast<std::uint32_t>(values[0]);
  free_jobs_.push_back(job);
  std::erase(job_order_, job);
  to_release_ += bytes_of_[job];
}

// ---------------------------------------------------------------------------------------------------------------------
// Calibration.
// ---------------------------------------------------------------------------------------------------------------------

std::optional<std::size_t> PcieDmaModel::caused(std::size_t port) const {
  return port == kOrderedPort && !caused_in_order_ ? 0 : caused_;
}

SystemcCycles PcieDmaModel::systemc_cycles(const SystemcCycles& pipeline) const {
  return {pipeline.occupied * std::max<std::uint64_t>(caused_, 1), pipeline.latency};
}

}  // namespace mrc::cosim
