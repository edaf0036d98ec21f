-- Wireshark dissector for MRC over UDP. A field is shown as mrc.<header>.<field>, both as the specification names them.
-- Trimmed packets are normal in MRC: headers that a switch cut off are left out, nothing is called malformed.

local mrc = Proto("mrc", "Multipath Reliable Connection")
mrc.prefs.port = Pref.uint("UDP port", 4791, "UDP destination port of MRC")
mrc.prefs.low_half_in_label = Pref.bool("Low half of the EV in the flow label", false,
                                        "Otherwise in the UDP source port (protocol.ev_half_order)")
mrc.prefs.any_address = Pref.bool("Link answers of any address", false,
                                  "Otherwise the lower 64 bits of an address are those of a NIC, the same at all of its ports")

local opcodes = {
  [0xC6] = "WRITE_FIRST", [0xC7] = "WRITE_MIDDLE", [0xC8] = "WRITE_LAST", [0xC9] = "WRITE_LAST_IMM",
  [0xCA] = "WRITE_ONLY", [0xCB] = "WRITE_ONLY_IMM", [0xD1] = "TRANSPORT_ACK",
  [0xD8] = "ENDPOINT_REQUEST", [0xD9] = "ENDPOINT_RESPONSE",
  [0xDC] = "SACK", [0xDD] = "NACK", [0xDE] = "PROBE_REQ",
}
local nack_reasons = {
  [0x01] = "TRIMMED", [0x02] = "TRIMMED_LASTHOP", [0x06] = "NO_BITMAP", [0x07] = "NO_PKT_BUFFER",
  [0x0A] = "NO_RESOURCE", [0x0B] = "PSN_OOR_WINDOW", [0x19] = "UNEXP_EVENT",
}
local path_marks = { [0] = "NONE", [1] = "SKIP_ONCE", [2] = "ALWAYS_SKIP" }
local timestamp_units = { [0] = "128 ns", [1] = "1 us" }
local endpoint_ops = { [0] = "PORT_STATUS_UPDATE", [1] = "EV_PROBE" }
local no_yes = { [0] = "no", [1] = "yes" }

-- A field: name, bits, how to show it ("hex" or "dec"), names of values, what a short name means.
local headers = {
  BTH = {
    { "opcode", 8, "hex", opcodes }, { "se", 1, "dec", no_yes, "solicited event" },
    { "m", 1, "dec", no_yes, "migration state" }, { "pad", 2 }, { "tver", 4 }, { "p_key", 16, "hex" },
    { "var_res", 8 }, { "dqp", 24, "hex", nil, "destination QP" }, { "a", 1, "dec", no_yes, "ACK requested" },
    { "r", 1, "dec", no_yes, "reserved" }, { "rtx", 1, "dec", no_yes, "retransmission" },
    { "ts", 1, "dec", no_yes, "TSETH follows" }, { "inv_res", 4 }, { "psn", 24 },
  },
  METH = { { "rqmsn", 16 }, { "msn", 16 } },
  TSETH = { { "tx_timestamp", 16 }, { "tsr", 1, "dec", timestamp_units }, { "reserved", 11 }, { "ftype", 4 } },
  RETH = { { "va", 64, "hex" }, { "r_key", 32, "hex" }, { "dma_len", 32 } },
  ImmDt = { { "immediate", 32, "hex" } },
  SETH = {
    { "type", 4 }, { "nh", 5 }, { "m", 2, "dec", path_marks, "mark of the path" }, { "res0", 3 },
    { "pr", 1, "dec", no_yes, "answers a probe" }, { "res1", 1 },
    { "ack_psn_offset", 16, "hex" }, { "entropy", 32, "hex" }, { "spdcid", 16 }, { "dpdcid", 16 }, { "res2", 8 },
    { "cack_psn", 24 }, { "cc_type", 4 }, { "cc_fl", 4 }, { "mpr", 8 }, { "sack_offset", 16, "hex" },
    { "sack_bitmap", 64, "hex" },
  },
  CC_STATE = {
    { "tx_timestamp", 16 }, { "res", 1 }, { "ooo_count", 15 },
    { "r_c", 1, "dec", no_yes, "restore the congestion window" }, { "rcv_cwnd_pen", 7 },
    { "rcvd_bytes", 24 },
  },
  NETH = {
    { "type", 4 }, { "nh", 5 }, { "res0", 7 }, { "nack_reason", 8, "hex", nack_reasons }, { "vendor_info", 8, "hex" },
    { "entropy", 32, "hex" }, { "spdcid", 16 }, { "dpdcid", 16 }, { "res1", 8 }, { "nack_psn", 24 },
    { "cc_type", 4 }, { "cc_fl", 4 }, { "res2", 8 }, { "tx_timestamp", 16 },
  },
  PETH = {
    { "type", 4 }, { "nh", 5 }, { "res0", 7 }, { "res1", 8 }, { "vendor_info", 8, "hex" }, { "probe_id", 16 },
    { "res2", 16 }, { "spdcid", 16 }, { "dpdcid", 16 }, { "tx_timestamp", 16 },
    { "tsr", 1, "dec", timestamp_units }, { "res3", 11 }, { "ftype", 4 },
  },
  ERTH = {
    { "type", 4 }, { "nh", 5 }, { "res0", 5 }, { "op", 2, "dec", endpoint_ops }, { "res1", 8 },
    { "vendor_info", 8, "hex" }, { "port_status_mask", 32, "hex" }, { "res2", 32 }, { "tx_timestamp", 16 },
    { "tsr", 1, "dec", timestamp_units }, { "res3", 11 }, { "ftype", 4 },
  },
  EETH = {
    { "first_half", 16, "hex" }, { "res0", 16 }, { "res1", 64 }, { "res2", 64 }, { "res3", 64 },
    { "tx_timestamp", 16 }, { "res4", 16 }, { "res5", 32 },
  },
  AETH = { { "syndrome", 8, "hex" }, { "msn", 24 } },
}

local constructors = {
  [1] = ProtoField.uint8, [2] = ProtoField.uint16, [3] = ProtoField.uint24, [4] = ProtoField.uint32,
  [8] = ProtoField.uint64,
}

local all_fields = {}

-- Gives each field its place: the bytes that hold it, and the mask of its bits in them.
local function lay_out(name, fields)
  local bit_at = 0
  for _, field in ipairs(fields) do
    local bits, display = field[2], field[3] == "hex" and base.HEX or base.DEC
    field.at = math.floor(bit_at / 8)
    field.bytes = math.floor((bit_at + bits + 7) / 8) - field.at
    local bits_below = (field.at + field.bytes) * 8 - bit_at - bits
    local mask = bits < field.bytes * 8 and (2 ^ bits - 1) * 2 ^ bits_below or nil
    local abbreviation = "mrc." .. name:lower() .. "." .. field[1]
    local label = field[5] and field[1] .. ", " .. field[5] or field[1]
    field.proto_field = constructors[field.bytes](abbreviation, label, display, field[4], mask)
    table.insert(all_fields, field.proto_field)
    bit_at = bit_at + bits
  end
  fields.bytes = bit_at / 8
end
for name, fields in pairs(headers) do lay_out(name, fields) end

local payload_field = ProtoField.bytes("mrc.payload", "Payload")
local pad_field = ProtoField.bytes("mrc.pad", "Pad")
local icrc_field = ProtoField.uint32("mrc.icrc", "ICRC", base.HEX)
local trimmed_field = ProtoField.bool("mrc.trimmed", "Trimmed")
local remainder_field = ProtoField.bytes("mrc.remainder", "What trimming left behind the last whole header")
local ev_field = ProtoField.uint32("mrc.ev", "EV", base.HEX_DEC)
local plane_field = ProtoField.uint8("mrc.plane", "Plane")
local usid_field = ProtoField.string("mrc.usid", "uSID")
local answers_field = ProtoField.framenum("mrc.answers", "Answers the packet in frame", base.NONE, frametype.REQUEST)
local acknowledges_field = ProtoField.framenum("mrc.acknowledges", "Acknowledges the packet in frame", base.NONE,
                                               frametype.ACK)
local acknowledged_field = ProtoField.framenum("mrc.acknowledged_by", "Acknowledged by the SACK in frame", base.NONE,
                                               frametype.RESPONSE)
for _, field in ipairs({ payload_field, pad_field, icrc_field, trimmed_field, remainder_field, ev_field, plane_field, usid_field,
                         answers_field, acknowledges_field, acknowledged_field }) do
  table.insert(all_fields, field)
end
mrc.fields = all_fields

local udp_length = Field.new("udp.length")
local udp_src_port = Field.new("udp.srcport")
local ipv6_flow = Field.new("ipv6.flow")
local ipv6_dst = Field.new("ipv6.dst")

local icrc_bytes = 4

local function extensions(opcode, has_timestamp)
  if opcode >= 0xC6 and opcode <= 0xCB then
    local list = { "METH" }
    if has_timestamp then table.insert(list, "TSETH") end
    table.insert(list, "RETH")
    if opcode == 0xC9 or opcode == 0xCB then table.insert(list, "ImmDt") end
    return list
  end
  local control = {
    [0xD1] = { "AETH" }, [0xD8] = { "ERTH" }, [0xD9] = { "EETH" }, [0xDC] = { "SETH", "CC_STATE" },
    [0xDD] = { "NETH" }, [0xDE] = { "PETH" },
  }
  return control[opcode]
end

-- Adds a header at `at` and returns where the next one begins; nil if the header is not whole.
local function add_header(name, tvb, at, tree)
  local fields = headers[name]
  if tvb:len() - at < fields.bytes then return nil end
  local subtree = tree:add(mrc, tvb(at, fields.bytes), name)
  for _, field in ipairs(fields) do subtree:add(field.proto_field, tvb(at + field.at, field.bytes)) end
  return at + fields.bytes
end

local function add_rest(tvb, at, tree, trimmed)
  local left = tvb:len() - at
  if trimmed then
    if left > 0 then tree:add(remainder_field, tvb(at, left)) end
    return
  end
  local pad = tvb(1, 1):bitfield(2, 2)
  local payload = left - icrc_bytes - pad
  if payload < 0 then return end
  if payload > 0 then tree:add(payload_field, tvb(at, payload)) end
  if pad > 0 then tree:add(pad_field, tvb(at + payload, pad)) end
  tree:add_le(icrc_field, tvb(tvb:len() - icrc_bytes, icrc_bytes))
end

-- What a uSID names, as mrcsim numbers them (the numbering is unpublished): plane, role, index.
local usid_roles = { [0] = "t0.%d", [1] = "t1.%d", [2] = "down%d" }
local function usid_name(usid)
  local role = math.floor(usid / 2048) % 4
  return string.format(usid_roles[role] or "role 3, %d", usid % 2048), role == 2
end

-- The path, from the headers around MRC: the EV is in the flow label and the UDP source port, the switches are the uSIDs of
-- the outer destination address behind its locator block. The last uSID is the link to the NIC; switches remove those
-- that were used.
local function add_path(tree)
  local labels, addresses = { ipv6_flow() }, { ipv6_dst() }
  if #labels == 0 then return "" end
  local port, label = udp_src_port().value, labels[#labels].value % 65536
  local ev = mrc.prefs.low_half_in_label and port * 65536 + label or label * 65536 + port
  local path = tree:add(mrc, "Path")
  path:add(ev_field, ev):set_generated()
  if #addresses < 2 then return string.format(" EV 0x%08x", ev) end
  local carrier, names = addresses[1].range, {}
  local plane = carrier:range(4, 1):bitfield(0, 3)
  path:add(plane_field, carrier:range(4, 1), plane):set_generated()
  for at = 4, 14, 2 do
    local name, is_last = usid_name(carrier:range(at, 2):uint())
    path:add(usid_field, carrier:range(at, 2), name):set_generated()
    table.insert(names, name)
    if is_last then break end
  end
  return string.format(" EV 0x%08x plane %d: %s", ev, plane, table.concat(names, " "))
end

-- ---- Which packets an answer is about
--
-- A SACK, NACK or answer to a probe names a PSN (or probe) and the EV that it came with, and the requestor's QP. The packet
-- itself names the responder's QP, and nothing in a capture says which two belong together. EV and PSN do: a pair of QPs is known
-- from the first answer that fits one QP alone.

local psns = 16777216  -- 2^24 as an integer: Lua 5.4 prints the result of ^ with ".0"
local farthest_psn = 32768
local flows, qps_of_packet, flow_of_answers, flow_is_taken, links_of_answer, links_of_frame, acknowledged_by

local function forget()
  flows = {}            -- by direction and responder's QP: frames and acknowledged PSNs
  qps_of_packet = {}    -- by direction, half of the EV and PSN: the flows that sent such a packet
  flow_of_answers = {}  -- by direction and requestor's QP
  flow_is_taken = {}    -- by flow: its answers are known
  links_of_answer = {}  -- by the bytes of an answer: its copies at sender and receiver have the same links
  links_of_frame = {}
  acknowledged_by = {}
end
forget()
mrc.init = forget  -- when a capture is opened

local function groups_of(text)
  local groups = {}
  for group in text:gmatch("[^:]+") do table.insert(groups, group) end
  return groups
end

-- The NIC of an address of a port: its lower 64 bits. Not from a field, see below.
local function nic_of(address)
  local text = tostring(address)
  if mrc.prefs.any_address then return "" end
  if not text:find(":") then return text end
  local groups, tail = groups_of(text), groups_of(text:match("::(.*)$") or "")
  if text:find("::") then
    groups = groups_of(text:match("^(.-)::"))
    while #groups + #tail < 8 do table.insert(groups, "0") end
    for _, group in ipairs(tail) do table.insert(groups, group) end
  end
  return table.concat(groups, ":", 5, 8)
end

-- The half of an EV that the UDP source port carries.
local function half_in_port(ev)
  return mrc.prefs.low_half_in_label and math.floor(ev / 65536) or ev % 65536
end

local function note_packet(direction, qp, psn, ev, frame)
  local name = direction .. qp
  local flow = flows[name]
  if flow == nil then
    flow = { frames = {}, acknowledged = {} }
    flows[name] = flow
  end
  flow.frames[psn] = flow.frames[psn] or {}
  table.insert(flow.frames[psn], frame)
  local key = direction .. ev .. ":" .. psn
  qps_of_packet[key] = qps_of_packet[key] or {}
  qps_of_packet[key][name] = true
end

local function flow_answered(direction, requestor_qp, psn, ev)
  local answers = direction .. requestor_qp
  if flow_of_answers[answers] then return flows[flow_of_answers[answers]] end
  local only = nil
  for name in pairs(qps_of_packet[direction .. ev .. ":" .. psn] or {}) do
    if not flow_is_taken[name] then
      if only then return nil end
      only = name
    end
  end
  if only == nil then return nil end
  flow_of_answers[answers], flow_is_taken[only] = only, true
  return flows[only]
end

local function last_frame(flow, psn)
  local frames = flow and flow.frames[psn]
  return frames and frames[#frames]
end

local function acknowledge(flow, psn, frame, newly)
  if flow.acknowledged[psn] or not flow.frames[psn] then return end
  flow.acknowledged[psn] = true
  table.insert(newly, last_frame(flow, psn))
  for _, copy in ipairs(flow.frames[psn]) do acknowledged_by[copy] = frame end
end

-- A packet is listed with the first SACK that acknowledges it. PSNs repeat after 2^24 packets, which is not told apart.
local function acknowledge_all(flow, seth, frame)
  local newly, cack = {}, seth(13, 3):uint()
  local below = flow.cack and math.min((cack - flow.cack) % psns, farthest_psn) or farthest_psn
  if below == farthest_psn and flow.cack then below = 0 end
  for distance = below - 1, 0, -1 do
    local psn = (cack - distance) % psns
    acknowledge(flow, psn, frame, newly)
  end
  if flow.cack == nil or below > 0 then flow.cack = cack end
  local first, low, high = cack + seth(18, 2):int(), seth(24, 4):uint(), seth(20, 4):uint()
  for bit = 0, 63 do
    local word = bit < 32 and low or high
    if math.floor(word / 2 ^ (bit % 32)) % 2 == 1 then acknowledge(flow, (first + bit) % psns, frame, newly) end
  end
  return newly
end

local function find_links(tvb, direction, frame)
  local opcode, qp, header = tvb(0, 1):uint(), tvb(5, 3):uint(), tvb(12)
  local ev = half_in_port(header(4, 4):uint())
  if opcode == 0xDD then
    local psn = header(13, 3):uint()
    return { answers = last_frame(flow_answered(direction, qp, psn, ev), psn), acknowledges = {} }
  end
  local is_probe, id = header(1, 1):bitfield(6, 1) == 1, header(2, 2):uint()
  local psn = (header(13, 3):uint() + header(2, 2):int()) % psns
  local flow = flow_answered(direction, qp, is_probe and "probe" .. id or psn, ev)
  if flow == nil then return { acknowledges = {} } end
  local links = { answers = last_frame(flow, is_probe and "probe" .. id or psn) }
  links.acknowledges = acknowledge_all(flow, header, frame)
  return links
end

-- Once for each frame, in the order of the capture.
local function note_frame(tvb, pinfo)
  local opcode, frame, ev = tvb(0, 1):uint(), pinfo.number, pinfo.src_port
  local from, to = nic_of(pinfo.net_src), nic_of(pinfo.net_dst)
  if opcode <= 0xCB then return note_packet(from .. ">" .. to .. ":", tvb(5, 3):uint(), tvb(9, 3):uint(), ev, frame) end
  if opcode == 0xDE and tvb:len() >= 18 then
    return note_packet(from .. ">" .. to .. ":", tvb(5, 3):uint(), "probe" .. tvb(16, 2):uint(), ev, frame)
  end
  local is_answer = opcode == 0xDC and tvb:len() >= 48 or opcode == 0xDD and tvb:len() >= 32
  if not is_answer then return end
  local direction = to .. ">" .. from .. ":"
  local bytes = direction .. tvb:bytes():tohex()
  links_of_answer[bytes] = links_of_answer[bytes] or find_links(tvb, direction, frame)
  links_of_frame[frame] = links_of_answer[bytes]
end

local function add_links(tree, frame)
  local links = links_of_frame[frame]
  if acknowledged_by[frame] then tree:add(acknowledged_field, acknowledged_by[frame]):set_generated() end
  if links == nil then return end
  if links.answers then tree:add(answers_field, links.answers):set_generated() end
  for _, packet in ipairs(links.acknowledges) do tree:add(acknowledges_field, packet):set_generated() end
end

-- What an answer, probe or endpoint packet says, in words.
local function meaning(tvb)
  local opcode, header = tvb(0, 1):uint(), tvb:len() >= 28 and tvb(12)
  if not header then return "" end
  if opcode == 0xDC then
    local mark = header(0, 2):bitfield(9, 2)
    local marked = mark > 0 and " " .. (path_marks[mark] or "mark 3") or ""
    if header(1, 1):bitfield(6, 1) == 1 then return string.format(" answers probe %d%s", header(2, 2):uint(), marked) end
    return string.format(" reports PSN %d%s", (header(13, 3):uint() + header(2, 2):int()) % psns, marked)
  end
  if opcode == 0xDD then return " " .. (nack_reasons[header(2, 1):uint()] or string.format("reason 0x%02x", header(2, 1):uint())) end
  if opcode == 0xDE then return string.format(" probe %d", header(4, 2):uint()) end
  if opcode == 0xD8 then return " " .. (endpoint_ops[header(1, 1):bitfield(6, 2)] or "") end
  return ""
end

-- Flags of the BTH by name.
local function flags(tvb)
  local names = {}
  if tvb(8, 1):bitfield(0, 1) == 1 then table.insert(names, "ACK requested") end
  if tvb(8, 1):bitfield(2, 1) == 1 then table.insert(names, "retransmission") end
  return #names > 0 and " [" .. table.concat(names, ", ") .. "]" or ""
end

function mrc.dissector(tvb, pinfo, root)
  if tvb:len() < headers.BTH.bytes then return 0 end
  local list = extensions(tvb(0, 1):uint(), tvb(8, 1):bitfield(3, 1) == 1)
  if list == nil then return 0 end
  -- Fields are those of the tree, which a packet that is looked at for the first time may not have.
  local length = udp_length()
  local trimmed = length ~= nil and tvb:len() < length.value - 8
  pinfo.cols.protocol = "MRC"
  local tree = root:add(mrc, tvb())
  local path = add_path(tree)
  pinfo.cols.info = string.format("%s PSN %d QP 0x%06x%s%s%s%s", opcodes[tvb(0, 1):uint()], tvb(9, 3):uint(),
                                  tvb(5, 3):uint(), meaning(tvb), path, flags(tvb), trimmed and " [trimmed]" or "")
  if not pinfo.visited then note_frame(tvb, pinfo) end
  add_links(tree, pinfo.number)
  if trimmed then tree:add(trimmed_field, true):set_generated() end
  local at = add_header("BTH", tvb, 0, tree)
  for _, name in ipairs(list) do
    local next_at = add_header(name, tvb, at, tree)
    if next_at == nil then break end
    at = next_at
  end
  add_rest(tvb, at, tree, trimmed)
  return tvb:len()
end

-- The source port carries entropy and may be any protocol's port: with a heuristic that is asked first, MRC's
-- destination port decides alone. The table entry replaces the stock RRoCE for those who turn heuristics off.
local function is_mrc(tvb, pinfo, root)
  if pinfo.dst_port ~= mrc.prefs.port then return false end
  return mrc.dissector(tvb, pinfo, root) > 0
end
mrc:register_heuristic("udp", is_mrc)
set_preference("udp.try_heuristic_first", true)
-- MRC's packets are protected by ICRC, their UDP checksum is 0.
set_preference("udp.ignore_ipv6_zero_checksum", true)

local registered_port = nil
local function register_port()
  local udp_ports = DissectorTable.get("udp.port")
  if registered_port then udp_ports:remove(registered_port, mrc) end
  registered_port = mrc.prefs.port
  udp_ports:add(registered_port, mrc)
end
mrc.prefs_changed = register_port
register_port()
