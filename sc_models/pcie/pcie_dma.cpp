#include "pcie/pcie_dma.h"

#include <algorithm>

#include "pcie/pcie_pins.h"
#include "pcie/pcie_tlps.h"
#include "pcie/pcie_trains.h"

namespace mrc {
namespace {

constexpr std::uint32_t kReadQueueJobs = 8;
constexpr std::uint64_t kPageNumberBits = 52;
/// Begin and length of a region, its protection domain and rights, and where its pages begin in the table.
constexpr std::uint64_t kKeyEntryBits = 256;

/// A stream of its own, so that faults leave the latencies as they are.
KeyedRandom fault_stream(KeyedRandom random) {
  return {random.next(), "pcie.faults"};
}

}  // namespace

std::unique_ptr<PcieDma> PcieDma::create(const sc_core::sc_module_name& name, WheelModule& owner,
                                         const PcieConfig& config, const ClockDomain& clock, KeyedRandom random,
                                         const WorkClock& work, CauseTable& causes, PcieDmaRtlPath* rtl) {
  if (rtl != nullptr && rtl->by_pins()) {
    return std::make_unique<PciePins>(name, owner, config, clock, random, work, causes, *rtl);
  }
  std::unique_ptr<PcieDma> pcie;
  if (config.stepping == PcieStepping::tlp) {
    pcie = std::make_unique<PcieTlps>(name, owner, config, clock, random, work, causes);
  } else {
    pcie = std::make_unique<PcieTrains>(name, owner, config, clock, random, work, causes);
  }
  pcie->ask_rtl(rtl);
  return pcie;
}

PcieDma::Causes::Causes(CauseTable& table, CauseTable::Taker read_queue)
    : read_queue_full(table.declare_full("pcie.read_queue", read_queue)),
      read_tags(table.declare("pcie.read_tags", {"pcie.read_tags"})),
      completion_buffer(table.declare("pcie.completion_buffer", {"pcie.completion_buffer_bytes"})),
      non_posted_credits(table.declare("pcie.non_posted_credits", {"pcie.non_posted_header_credits"})),
      posted_credits(table.declare("pcie.posted_credits", {"pcie.posted_header_credits", "pcie.posted_data_credits"})),
      completion_credits(
          table.declare("pcie.completion_credits", {"pcie.completion_header_credits", "pcie.completion_data_credits"})),
      address_translation(table.declare("pcie.address_translation", {"pcie.address_translation.entries",
                                                                     "pcie.address_translation.outstanding_misses"})),
      memory_table(table.declare(
          "pcie.memory_table",
          {"pcie.memory_table.page_entries", "pcie.memory_table.key_entries", "pcie.memory_table.outstanding_misses"})),
      stall(table.declare("pcie.stall")),
      line(table.declare("pcie.line", {"pcie.generation", "pcie.lanes", "pcie.links"})),
      read_latency(table.declare("pcie.read_latency", {"pcie.read_latency_mean_ns"})),
      read_issue(table.declare("pcie.read_issue", {"nic.core_clock_ghz", "pcie.mrrs_bytes"})),
      host(table) {}

void PcieDma::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const PcieConfig& config = nic.node.pcie;
  out.add(kReadTags, {.depth = config.read_tags},
          {kBufferPointerField, {"bytes left", 13}, {"job", bits_for(config.read_tags)}, {"state", 2}});
  out.add(kCompletionBuffer, nic.datapath_words(config.completion_buffer_bytes), nic.node.nic.memory.completion_buffer,
          {{"payload", nic.node.nic.datapath_bits}});
  // A cache: an address of 64 bits is found by its number without the 12 bits within a page.
  const auto cache = [&out](std::string_view name, std::uint64_t entries, std::uint64_t tag_bits, std::uint64_t bits) {
    if (entries == 0) return;
    out.add_uncounted(
        name, {.depth = entries},
        {{"number", tag_bits}, {"entry", bits}, {"LRU links", 2 * bits_for(entries)}, {"valid, loading", 2}});
  };
  const PcieConfig::MemoryTable& tables = config.memory_table;
  const std::uint64_t page_reads = (tables.page_entries + tables.pages_per_read - 1) / tables.pages_per_read;
  cache("pcie.memory_table.keys", tables.key_entries, 32, kKeyEntryBits);
  cache("pcie.memory_table.pages", page_reads, kPageNumberBits, kPageNumberBits * tables.pages_per_read);
  cache("pcie.address_translation", config.address_translation.entries, kPageNumberBits, kPageNumberBits);
}

PcieDma::PcieDma(const sc_core::sc_module_name& name, WheelModule& owner, const PcieConfig& config,
                 const ClockDomain& clock, KeyedRandom random, const WorkClock& work, CauseTable& causes)
    : Box(name, owner, {.name = "pcie_dma", .part = NicPart::pcie, .behind = "payload_fetch"}),
      config_(config),
      law_(pcie_law(config)),
      clock_(clock),
      credit_return_ps_(ps_from_ns(config.credit_return_ns)),
      write_latency_ps_(ps_from_ns(config.write_latency_ns)),
      request_ps_(clock.cycles(config.request_cycles)),
      report_ps_(clock.cycles(config.report_cycles)),
      write_ps_(clock.cycles(config.write_cycles)),
      completion_timeout_ps_(ps_from_ns(1000.0 * config.completion_timeout_us)),
      faults_on_(config.duplicate_completion_rate > 0 || config.poisoned_completion_rate > 0 ||
                 config.lost_completion_rate > 0),
      tracks_tags_(faults_on_),
      upstream_(law_.gbps),
      downstream_(law_.gbps),
      read_queue_(*this, "pcie.read_queue", kReadQueueJobs),
      tag_table_(config.read_tags),
      tags_(*this, "pcie.read_tags", "tags", config.read_tags),
      completion_buffer_(*this, "pcie.completion_buffer", "bytes", config.completion_buffer_bytes),
      causes_(causes, read_queue_.taker()),
      answers_wait_for_(causes_.line),
      read_issue_(*this, work, "read_issue"),
      read_data_(*this, work, "read_data"),
      write_slot_(*this, work, "write"),
      latency_(config),
      latency_random_(random),
      fault_random_(fault_stream(random)),
      translation_(config.address_translation) {
  read_queue_.connect(this);
  if (NicLookups::wanted(config)) lookups_ = std::make_unique<NicLookups>(config, static_cast<LookupUser&>(*this));
  write_limit_ = causes_.line;
  declare(DeclaredServer{.cause = causes_.line, .gbps = law_.gbps});
  const auto pool = [this](Cause cause, std::uint64_t capacity, const char* unit, const char* returned_by,
                           TokenWay way) {
    declare(DeclaredTokens{cause, capacity, unit, "pcie_dma", returned_by, way});
  };
  pool(causes_.read_tags, config.read_tags, "tags", "pcie_dma", TokenWay::pcie_read);
  pool(causes_.completion_buffer, config.completion_buffer_bytes, "bytes", "srv6_encap", TokenWay::pcie_read);
  pool(causes_.non_posted_credits, config.non_posted_header_credits, "credits", "pcie_dma", TokenWay::pcie_read);
  pool(causes_.posted_credits, config.posted_data_credits, "credits", "pcie_dma", TokenWay::pcie_write);
  if (!lookups_) return;
  const PcieConfig::MemoryTable& tables = config.memory_table;
  const bool only_translations = tables.key_entries == 0 && tables.page_entries == 0;
  pool(only_translations ? causes_.address_translation : causes_.memory_table,
       only_translations ? config.address_translation.outstanding_misses : tables.outstanding_misses, "misses",
       "pcie_dma", TokenWay::pcie_read);
}

void PcieDma::trace_to(NodeTrace& trace) {
  trace_ = &trace;
  request_place_ = trace.new_place();
  data_place_ = trace.new_place();
  if (path_) host_place_ = trace.new_place();
}

void PcieDma::use_host(const HostPathConfig& host, bool peer_regions) {
  path_.reset();
  if (!host.is_modelled()) return;
  path_ = std::make_unique<HostPath>(host, peer_regions);
  if (host.iommu.iotlb_entries > 0) {
    declare(DeclaredServer{.cause = causes_.host[HostPart::iommu],
                           .interval_ps = ps_from_ns(host.iommu.walk_ns / host.iommu.walkers)});
  }
  if (host.memory.gbps > 0) {
    declare(DeclaredServer{.cause = causes_.host[HostPart::memory],
                           .gbps = host.memory.gbps - host.memory.other_load_gbps});
  }
  if (host.numa.remote_share > 0 && host.numa.link_gbps > 0) {
    declare(DeclaredServer{.cause = causes_.host[HostPart::numa_link], .gbps = host.numa.link_gbps});
  }
  if (host.pcie_switch.uplink_gbps > 0) {
    declare(DeclaredServer{.cause = causes_.host[HostPart::pcie_switch],
                           .gbps = host.pcie_switch.uplink_gbps - host.pcie_switch.other_load_gbps});
  }
  if (peer_regions && (host.peer.read_gbps > 0 || host.peer.write_gbps > 0)) {
    const double slower = host.peer.read_gbps > 0 && host.peer.write_gbps > 0
                              ? std::min(host.peer.read_gbps, host.peer.write_gbps)
                              : std::max(host.peer.read_gbps, host.peer.write_gbps);
    declare(DeclaredServer{.cause = causes_.host[HostPart::peer], .gbps = slower});
  } else if (peer_regions && host.peer.outstanding_reads > 0) {
    declare(DeclaredTokens{causes_.host[HostPart::peer], host.peer.outstanding_reads, "requests", "pcie_dma",
                           "pcie_dma", TokenWay::pcie_read});
  }
  if (host.root_complex.outstanding_reads > 0) {
    declare(DeclaredTokens{causes_.host[HostPart::root_complex], host.root_complex.outstanding_reads, "requests",
                           "pcie_dma", "pcie_dma", TokenWay::pcie_read});
  }
}

std::uint32_t PcieDma::new_job() {
  if (free_jobs_.empty()) {
    jobs_.emplace_back();
    return static_cast<std::uint32_t>(jobs_.size() - 1);
  }
  const std::uint32_t index = free_jobs_.back();
  free_jobs_.pop_back();
  return index;
}

void PcieDma::read(TimePs now, std::uint64_t address, std::uint32_t bytes, ReadClient& client, std::uint64_t cookie,
                   bool in_order, std::byte* into, StartId because, bool payload) {
  const std::uint32_t index = queue_job({.address = address,
                                         .cookie = cookie,
                                         .client = &client,
                                         .bytes = bytes,
                                         .to_issue = bytes,
                                         .in_order = in_order,
                                         .payload = payload || in_order,
                                         .into = into,
                                         .because = because,
                                         .access = client_access()});
  if (translation_.enabled()) jobs_[index].translated_at = translation_.ready_at(now, address, bytes);
  if (lookups_ && lookups_->is_registered(address)) {
    jobs_[index].in_lookup = true;
    lookup_done_by_ = because;
    lookups_->look_up(now, address, bytes, index);
  }
  read_queue_.push(now, index, now + request_ps_);
}

std::uint32_t PcieDma::queue_job(const ReadJob& job) {
  const std::uint32_t index = new_job();
  bytes_asked_ += job.bytes;
  jobs_[index] = job;
  return index;
}

void PcieDma::fetch(TimePs now, const LookupEntry& entry) {
  if (free_lookup_entries_.empty()) {
    free_lookup_entries_.push_back(lookup_entries_.size());
    lookup_entries_.emplace_back();
  }
  const std::uint64_t cookie = free_lookup_entries_.back();
  free_lookup_entries_.pop_back();
  lookup_entries_[cookie] = entry;
  const std::uint32_t bytes = lookups_->table_bytes(entry);
  const bool translation = entry.table == LookupTable::translations;
  lookup_reads_.push_back(queue_job({.address = lookups_->table_address(entry),
                                     .cookie = cookie,
                                     .client = this,
                                     .bytes = bytes,
                                     .to_issue = bytes,
                                     .because = lookup_done_by_,
                                     .access = translation ? HostAccess::translation : HostAccess::by_address}));
  wake_at(now);
}

void PcieDma::read_done(std::uint64_t cookie, TimePs, TimePs done_at) {
  // With the start that ended it, which gives its place to the next.
  looked_up_.emplace_back(done_at, cookie | std::uint64_t{done_by_} << 32);
  std::push_heap(looked_up_.begin(), looked_up_.end(), std::greater<>{});
}

void PcieDma::take_lookups(TimePs now) {
  while (!looked_up_.empty() && looked_up_.front().first <= now) {
    std::pop_heap(looked_up_.begin(), looked_up_.end(), std::greater<>{});
    const std::uint64_t cookie = looked_up_.back().second & 0xFFFF'FFFF;
    lookup_done_by_ = static_cast<StartId>(looked_up_.back().second >> 32);
    looked_up_.pop_back();
    const LookupEntry entry = lookup_entries_[cookie];
    free_lookup_entries_.push_back(cookie);
    release_completion_buffer(now, lookups_->table_bytes(entry));
    if (trace_ != nullptr) trace_->give(cause_of(entry.table), lookup_done_by_);
    lookups_->fetched(now, entry);
  }
}

void PcieDma::looked_up(TimePs now, std::uint64_t access) {
  if (access < kFirstWriteAccess) {
    jobs_[access].in_lookup = false;
    return;
  }
  for (UntranslatedWrite& waiting : untranslated_) {
    if (waiting.in_lookup == access) waiting.in_lookup = 0;
  }
  wake_at(now);
}

void PcieDma::begin(ReadJob& job, std::uint32_t index) {
  job.begun = true;
  order_.begin(index, job.in_order);
  if (rtl_) rtl_->read(index, job.address, job.bytes, job.in_order);
}

bool PcieDma::make(TimePs now, std::uint32_t sequence, ReadRequestTlp& request) {
  if (!tracks_tags_) return true;
  request.tag = tag_table_.next();
  if (rtl_) {
    const std::optional<ReadRequestTlp> given = rtl_->request(now, request);
    if (!given) return false;
    request = *given;
  }
  if (request.tag == tag_table_.next()) {
    tag_table_.allocate(sequence, request.job, request.address, request.bytes);
  } else {
    tag_table_.allocate_as(request.tag, sequence, request.job, request.address, request.bytes);
  }
  return true;
}

ReadTags::Verdict PcieDma::accept(TimePs now, const Request& request, std::uint32_t offset, std::uint32_t bytes,
                                  bool poisoned) {
  const ReadTags::Verdict verdict = tag_table_.accept(request.tag, request.sequence, offset, bytes, poisoned);
  if (!rtl_) return verdict;
  return rtl_->completion(now, {request.tag, bytes, request.bytes - offset, poisoned}, verdict);
}

void PcieDma::give_up(std::uint16_t tag) {
  const ReadTags::Tag& read = tag_table_[tag];
  ++counts_.completion_timeouts;
  retries_.push({read.address, read.job, read.bytes});
  if (rtl_) rtl_->expire(tag);
}

WriteTlp PcieDma::next_tlp(TimePs now, PostedWrite& left) {
  const std::uint32_t chunk = bytes_in_block(left.address, left.bytes, config_.mps_bytes);
  WriteTlp tlp{left.address, chunk, chunk == left.bytes};
  if (rtl_) tlp = rtl_->write_tlp(now, tlp);
  left.address = tlp.address + tlp.bytes;
  left.bytes = tlp.last ? 0 : left.bytes - std::min(tlp.bytes, left.bytes);
  return tlp;
}

void PcieDma::report(TimePs now) {
  const auto done = [&](std::uint32_t index) { return jobs_[index].to_issue == 0 && jobs_[index].outstanding == 0; };
  order_.take_reported(done, [&](std::uint32_t index, bool in_order) {
    if (!rtl_ || rtl_->report(now, index, in_order)) finish_job(now, index, in_order);
  });
}

void PcieDma::finish_job(TimePs now, std::uint32_t index, bool in_order) {
  ReadJob job = jobs_[index];
  if (in_order) {
    if (job.done_at > in_order_done_) in_order_done_by_ = job.done_by;
    job.done_at = in_order_done_ = std::max(in_order_done_, job.done_at);
    job.done_by = in_order_done_by_;
  }
  done_by_ = job.done_by;
  free_jobs_.push_back(index);
  bytes_reported_ += job.bytes;
  job.client->read_done(job.cookie, now, std::max(now, job.done_at + report_ps_));
}

void PcieDma::release_completion_buffer(TimePs now, std::uint32_t bytes) {
  completion_buffer_.remove(now, bytes);
  bytes_released_ += bytes;
  if (rtl_) rtl_->release(bytes);
  if (Box* box = std::exchange(waits_for_payload_room_, nullptr)) box->wake_at(now);
  if (!waits_for_completion_buffer_) return;
  waits_for_completion_buffer_ = false;
  wake_at(now);
}

std::uint64_t PcieDma::bytes_under_way() const {
  std::uint64_t bytes = 0;
  for (const ReadJob& job : jobs_) bytes += job.bytes;
  for (const std::uint32_t index : free_jobs_) bytes -= jobs_[index].bytes;
  return bytes;
}

void PcieDma::write(TimePs now, TimePs start, std::uint64_t address, std::uint32_t bytes, WriteClient& client,
                    std::uint64_t cookie, WriteOrder order) {
  const PostedWrite write{.start = start > writes_end_ ? start + write_ps_ : start,
                          .address = address,
                          .client = &client,
                          .cookie = cookie,
                          .bytes = bytes,
                          .access = client_access()};
  if (!translation_.enabled() && !lookups_) {
    issue_write(now, write);
    return;
  }
  const bool strict = order == WriteOrder::strict;
  TimePs ready = translation_.enabled() ? translation_.ready_at(now, address, bytes) : now;
  if (strict) {
    for (const UntranslatedWrite& earlier : untranslated_) ready = std::max(ready, earlier.ready_at);
  }
  const bool looked_up = look_up_write(now, address, bytes);
  if (ready <= write.start && looked_up && (!lookups_ || !strict || untranslated_.empty())) {
    issue_write(now, write);
    return;
  }
  write_slot_.blocked(start, looked_up ? causes_.address_translation : cause_of(lookups_->waits_for(write_accesses_)));
  untranslated_.push_back({ready, write, strict, looked_up ? 0 : write_accesses_});
  wake_at(std::max(now, ready));
}

bool PcieDma::look_up_write(TimePs now, std::uint64_t address, std::uint32_t bytes) {
  if (!lookups_ || !lookups_->is_registered(address)) return true;
  return lookups_->look_up(now, address, bytes, ++write_accesses_);
}

void PcieDma::release_translated_writes(TimePs now) {
  if (untranslated_.empty()) return;
  TimePs next = kNever;
  for (std::size_t i = 0; i < untranslated_.size();) {
    if (untranslated_[i].ready_at > now) {
      next = std::min(next, untranslated_[i++].ready_at);
      continue;
    }
    // A strict one waits for all that were before it; the end of a lookup is a step of its own.
    if (untranslated_[i].in_lookup != 0 || (untranslated_[i].strict && i > 0)) {
      ++i;
      continue;
    }
    PostedWrite write = untranslated_[i].write;
    untranslated_.erase(untranslated_.begin() + static_cast<std::ptrdiff_t>(i));
    write.start = std::max(write.start, now);
    issue_write(now, write);
  }
  if (next != kNever) wake_at(next);
}

PcieDma::Fate PcieDma::draw_fate() {
  Fate fate;
  fate.lost = fault_random_.chance(config_.lost_completion_rate);
  fate.poisoned = fault_random_.chance(config_.poisoned_completion_rate);
  fate.duplicated = fault_random_.chance(config_.duplicate_completion_rate);
  counts_.lost_completions += fate.lost;
  counts_.poisoned_completions += fate.poisoned;
  counts_.duplicated_completions += fate.duplicated;
  return fate;
}

StartId PcieDma::trace_host(const HostPath::Times& times, StartId request) {
  if (!traces() || times.waited == 0) return request;
  StartId& last = last_host_[static_cast<std::size_t>(times.where)];
  last = trace_->waited(times.ready, last, host_place_, causes_.host[times.where]);
  return last;
}

void PcieDma::reach_host_path(TimePs sent, TimePs latency, TimePs posted_visible, Request request) {
  HostPath::Times times = path_->read(sent, latency, request.address, request.bytes, jobs_[request.job].access);
  const TimePs ready = in_order(times.ready, posted_visible);
  // What a part serves one after another ends before the latency, which is drawn.
  times.ready = times.taken;
  request.start = trace_host(times, request.start);
  answer(sent, ready, request);
}

TimePs PcieDma::reach_host(TimePs end, const WriteTlp& tlp, HostAccess access) {
  if (!path_) return end;
  const HostPath::Times times = path_->write(end, tlp.address, tlp.bytes, access);
  write_visible_ = std::max(write_visible_, times.ready + write_latency_ps_);
  late_write_ = times.waited > 0 ? causes_.host[times.where] : Cause();
  return times.taken;
}

void PcieDma::ask_host(TimePs sent, TimePs latency, const Request& request) {
  ReadJob& job = jobs_[request.job];
  const TimePs back = std::max(latency / 2, shortest_return_ps_);
  const TimePs there = latency - std::min(latency, back);
  const std::uint64_t begin_of_job = job.address - (job.bytes - job.to_issue);
  std::byte* into = job.into == nullptr ? nullptr : job.into + (request.address - begin_of_job);
  ++job.unanswered;
  const std::uint64_t sequence = request.sequence | std::uint64_t{request.tag} << 32;
  host_->read(sent + there, {request.address, sequence, into, request.bytes, request.job, back});
}

void PcieDma::host_answered(const HostRead& request, TimePs at) {
  --jobs_[request.job].unanswered;
  expect_completion(at + request.return_ps,
                    {request.address, static_cast<std::uint32_t>(request.sequence), request.job,
                     static_cast<std::uint16_t>(request.bytes), static_cast<std::uint16_t>(request.sequence >> 32)});
  wake_at(at + request.return_ps);
}

PcieCounts PcieDma::counts() const {
  PcieCounts counts = counts_;
  counts.translation_lookups = translation_.lookups();
  counts.translation_misses = translation_.misses();
  if (!lookups_) return counts;
  const LookupCounts& asked = lookups_->counts(LookupTable::translations);
  counts.translation_lookups += asked.lookups;
  counts.translation_misses += asked.misses;
  for (const LookupTable table : {LookupTable::keys, LookupTable::pages}) {
    counts.table_lookups += lookups_->counts(table).lookups;
    counts.table_misses += lookups_->counts(table).misses;
  }
  return counts;
}

}  // namespace mrc
