#include "nic/tx/srv6_encap_rtl_path.h"

namespace mrc {

EncapReply Srv6EncapRtlPath::run(const NicContext&, const Packet&, const Srv6EncapInput&, std::uint64_t) { return {}; }

}  // namespace mrc
