-- Wireshark dissector for MRC over UDP. A field is shown as mrc.<header>.<field>, both as the specification names them.
-- Trimmed packets are normal in MRC: headers that a switch cut off are left out, nothing is called malformed.

local mrc = Proto("mrc", "Multipath Reliable Connection")
mrc.prefs.port = Pref.uint("UDP port", 4791, "UDP destination port of MRC")
mrc.prefs.low_half_in_label = Pref.bool("Low half of the EV in the flow label", false,
                                        "Otherwise in the UDP source port (protocol.ev_half_order)")

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

-- A field: name, bits, how to show it ("hex" or "dec"), names of values.
local headers = {
  BTH = {
    { "opcode", 8, "hex", opcodes }, { "se", 1 }, { "m", 1 }, { "pad", 2 }, { "tver", 4 }, { "p_key", 16, "hex" },
    { "var_res", 8 }, { "dqp", 24, "hex" }, { "a", 1 }, { "r", 1 }, { "rtx", 1 }, { "ts", 1 }, { "inv_res", 4 },
    { "psn", 24 },
  },
  METH = { { "rqmsn", 16 }, { "msn", 16 } },
  TSETH = { { "tx_timestamp", 16 }, { "tsr", 1, "dec", timestamp_units }, { "reserved", 11 }, { "ftype", 4 } },
  RETH = { { "va", 64, "hex" }, { "r_key", 32, "hex" }, { "dma_len", 32 } },
  ImmDt = { { "immediate", 32, "hex" } },
  SETH = {
    { "type", 4 }, { "nh", 5 }, { "m", 2, "dec", path_marks }, { "res0", 3 }, { "pr", 1 }, { "res1", 1 },
    { "ack_psn_offset", 16, "hex" }, { "entropy", 32, "hex" }, { "spdcid", 16 }, { "dpdcid", 16 }, { "res2", 8 },
    { "cack_psn", 24 }, { "cc_type", 4 }, { "cc_fl", 4 }, { "mpr", 8 }, { "sack_offset", 16, "hex" },
    { "sack_bitmap", 64, "hex" },
  },
  CC_STATE = {
    { "tx_timestamp", 16 }, { "res", 1 }, { "ooo_count", 15 }, { "r_c", 1 }, { "rcv_cwnd_pen", 7 },
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
    field.proto_field = constructors[field.bytes](abbreviation, field[1], display, field[4], mask)
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
for _, field in ipairs({ payload_field, pad_field, icrc_field, trimmed_field, remainder_field, ev_field, plane_field, usid_field }) do
  table.insert(all_fields, field)
end
mrc.fields = all_fields

local udp_length = Field.new("udp.length")
local udp_dst_port = Field.new("udp.dstport")
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
  local trimmed = tvb:len() < udp_length().value - 8
  pinfo.cols.protocol = "MRC"
  local tree = root:add(mrc, tvb())
  local path = add_path(tree)
  pinfo.cols.info = string.format("%s PSN %d QP 0x%06x%s%s%s", opcodes[tvb(0, 1):uint()], tvb(9, 3):uint(),
                                  tvb(5, 3):uint(), path, flags(tvb), trimmed and " [trimmed]" or "")
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
  if udp_dst_port().value ~= mrc.prefs.port then return false end
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
