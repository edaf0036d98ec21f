#!/usr/bin/env python3
"""Programs that use RDMA, as Debian ships them, on modelled NICs: what they print, and what the run says of the same.

programs_test.py MRCSIM REPOSITORY [TEST…]     without TEST: all; exits with 77 (skipped) where programs are missing
"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

MRCSIM, REPOSITORY = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
PAIR = str(REPOSITORY / "tb/scenarios/pair.toml")
SKIPPED = 77
NEEDED = ("ib_write_bw", "ib_write_lat", "ibv_devinfo", "ibv_rc_pingpong")
CHECK = os.environ.get("VERBS_CHECK", "verbs_check")  # tests/programs/verbs_check.cpp
LOCAL = "127.0.0.1"
PORT = 20000 + os.getpid() % 20000  # tests side by side do not meet


def processor_seconds():
    """Of all programs so far. One of a run's programs runs at a time: on a machine that does nothing else they take as long."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Run:
    """One `mrcsim host`."""

    def __init__(self, *programs, settings=(), options=(), scenario=PAIR, nodes=None, timeout=300, environment=None):
        self.folder = tempfile.TemporaryDirectory()
        words = [MRCSIM, "host", scenario, "--out", f"{self.folder.name}/out", *options]
        for setting in settings:
            words += ["--set", setting]
        if nodes is not None:
            words += ["--nodes", ",".join(str(node) for node in nodes)]
        for program in programs:
            words += ["--", *program]
        used = processor_seconds()
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=timeout,
                              env={**os.environ, **(environment or {})})
        self.processor_seconds = processor_seconds() - used
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def result(self):
        return json.loads(pathlib.Path(self.folder.name, "out/result.json").read_text())

    def rows(self):
        """Rows of figures that perftest prints, each once: where the server prints them too, they are the client's."""
        rows = [[float(word) for word in line.split()] for line in self.out.splitlines()
                if re.fullmatch(r"\s*\d+\s+\d+(\s+[\d.]+)+\s*", line)]
        return [row for i, row in enumerate(rows) if row not in rows[:i]]

    def printed(self):
        """What programs and the run print, without wall time and names of folders."""
        left_out = ("results", "wall time")
        return [line for line in self.out.splitlines() if not any(word in line for word in left_out)]


def perftest(program, *options, **more):
    common = [program, "-p", str(PORT), *[str(option) for option in options]]
    return Run(common, [*common, LOCAL], **more)


def write_bw(*options, **more):
    return perftest("ib_write_bw", "--report_gbits", *options, **more)


def write_lat(*options, **more):
    return perftest("ib_write_lat", *options, **more)


def model_gbps(size, messages, qps, depth, both=False, more=()):
    """Of `mrcsim run`: the same messages, posted as deep on as many QPs; `more` settings."""
    with tempfile.TemporaryDirectory() as folder:
        flows = pathlib.Path(folder, "flows.csv")
        lines = ["start_us,src,dst,bytes,tag"]
        for i in range(messages * qps):
            lines.append(f"0,1,0,{size},{i}")
            if both:
                lines.append(f"0,0,1,{size},{i}")
        flows.write_text("\n".join(lines) + "\n")
        settings = [f"traffic.trace={flows}", "traffic.format=flow_csv", f"traffic.qps_per_peer={qps}",
                    f"traffic.outstanding_messages={depth * qps}", *more]
        out = pathlib.Path(folder, "out")
        words = [MRCSIM, "run", PAIR, "--quiet", "--yes", "--out", str(out), "--set", "run.node_under_test=nic1"]
        for setting in settings:
            words += ["--set", setting]
        subprocess.run(words, check=True)
        return json.loads((out / "result.json").read_text())["goodput_gbps"]


# Calls cost nothing: `mrcsim run` has no processor either. It takes each completion by itself, and posts at once: -Q 1.
FREE = [f"host.programs.{what}=0" for what in ("post_ns", "poll_ns")]
LIKE_RUN = ("-N", "-Q", 1)
LIGHT = ("fidelity=endpoint",)
# One of the two is light.
MIXED = [[f"node.nic{node}.fidelity=endpoint"] for node in (0, 1)]
LOSSY = ("fabric.loss_rate=0.01", "fabric.trim_rate=0.02")


class Quick(unittest.TestCase):
    def test_devinfo(self):
        run = Run(["ibv_devinfo", "-v"])
        self.assertEqual(run.code, 0, run.err)
        for expected in ("hca_id:\tmrc0", "PORT_ACTIVE", "4096 (5)", "Ethernet"):
            self.assertIn(expected, run.out)

    def test_bandwidth(self):
        run = write_bw("-s", 65536, "-n", 200)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(len(run.rows()), 1, run.out)
        self.assertGreater(run.rows()[0][3], 500)
        result = run.result()
        self.assertEqual((result["status"], result["messages"]["completed"]), ("complete", 200))
        self.assertEqual(result["bytes"]["delivered"], 200 * 65536)
        self.assertLess(abs(run.rows()[0][3] / result["goodput_gbps"] - 1), 0.01)

    def test_latency(self):
        run = write_lat("-s", 2, "-n", 50)
        self.assertEqual(run.code, 0, run.err)
        typical = run.rows()[0][4]
        self.assertGreater(typical, 2)
        self.assertLess(typical, 10)
        self.assertEqual(run.printed(), write_lat("-s", 2, "-n", 50).printed())

    def test_four_nodes(self):
        """Two pairs at a time: the clients on nic2 and nic3, nothing lost."""
        common = [["ib_write_bw", "-p", str(PORT + i), "-s", "65536", "-n", "200", "--report_gbits"] for i in range(2)]
        run = Run(*common, *[[*words, LOCAL] for words in common], settings=["fabric.nics=4"], nodes=(0, 1, 2, 3))
        self.assertEqual(run.code, 0, run.err)
        result = run.result()
        self.assertEqual((result["status"], result["messages"]["completed"]), ("complete", 400))
        self.assertEqual(result["bytes"]["delivered"], 400 * 65536)
        for row in run.rows():
            self.assertGreater(row[3], 500)

    def test_bad_input(self):
        for words, expected in ((["--", "no_such_program"], "no_such_program"),
                                (["--nodes", "7", "--", "true"], "nic7"),
                                (["--set", "transport=rocev2", "--", "true"], "allowed: mrc")):
            done = subprocess.run([MRCSIM, "host", PAIR, *words], capture_output=True, text=True, check=False, cwd="/tmp")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(expected, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Bandwidth(unittest.TestCase):
    """Within 1 % of `mrcsim run`. The first messages differ: perftest posts all that one QP takes before it turns to the next, where
    `mrcsim run` takes the QPs in turn. Small messages on many QPs therefore need a run much longer than what is posted at first."""

    def compare(self, run, messages, qps, both=False):
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue(run.rows(), run.out)
        for size, *_, messages_per_us in run.rows():
            average = messages_per_us * size * 8 / 1e3  # which has more digits than the printed average
            depth = min(128, messages)
            model = model_gbps(int(size), messages, qps, depth, both) * (2 if both else 1)
            print(f"{int(size):8} B, {qps:2} QPs{', both ways' if both else ''}: {average:8.2f} Gb/s, run {model:8.2f}")
            self.assertLess(abs(average / model - 1), 0.01, f"{size} B, {qps} QPs")

    def test_all_sizes(self):
        for qps in (1, 4, 16):
            for size in (2, 64, 1024, 4096, 32768, 262144, 1 << 20, 8 << 20):
                # The first and the last messages count alike in both, the doorbell before the first does not.
                messages = 4000 if qps > 4 and size < 4096 else max(24, min(4000, (96 << 20) // size)) // qps + 8
                with self.subTest(size=size, qps=qps):
                    run = write_bw("-s", size, "-n", messages, "-q", qps, *LIKE_RUN, settings=FREE)
                    self.compare(run, messages, qps)

    def test_dash_a(self):
        run = write_bw("-a", "-n", 20)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual([int(row[0]) for row in run.rows()], [1 << i for i in range(1, 24)])

    def test_both_ways(self):
        # The two begin at different times, which many messages make small.
        for size, messages in ((4096, 3000), (65536, 400), (1 << 20, 400)):
            with self.subTest(size=size):
                self.compare(write_bw("-s", size, "-n", messages, "-b", *LIKE_RUN, settings=FREE), messages, 1, both=True)


class Published(unittest.TestCase):
    """The published figures of perftest beside what Debian's perftest prints (docs/validation.md)."""

    TOPOLOGIES = {"below one T0": [], "across T1s": ["fabric.nics_per_t0=1", "fabric.t1s_per_plane=8"]}
    INLINE = "nic.wqe_fetch.inline_bytes=28"

    def line(self, run):
        """That perftest prints of its figures, and the document has."""
        self.assertEqual(run.code, 0, run.err)
        line = next(line for line in run.out.splitlines() if re.fullmatch(r"\s*\d+\s+\d+(\s+[\d.]+)+\s*", line))
        self.assertIn(f"`{' '.join(line.split())}`", (REPOSITORY / "docs/validation.md").read_text())
        return [float(word) for word in line.split()]

    def test_latency(self):
        for (where, settings), published in zip(self.TOPOLOGIES.items(), (5.09, 6.54)):
            with self.subTest(where):
                average = self.line(write_lat("-s", 2, "-n", 1000, settings=[self.INLINE, *settings]))[5]
                self.assertLess(abs(average / published - 1), 0.02)

    def test_bandwidth(self):
        for where, settings in self.TOPOLOGIES.items():
            with self.subTest(where):
                average = self.line(write_bw("-s", 32768, "-q", 4, "-n", 500, settings=[self.INLINE, *settings]))[3]
                self.assertLess(abs(average / 770 - 1), 0.02)


class Agreement(unittest.TestCase):
    def test_rates(self):
        """What perftest prints, what the run says, and what the times in a capture at the sender's ports say."""
        with tempfile.TemporaryDirectory() as folder:
            capture = pathlib.Path(folder, "run.pcapng")
            run = write_bw("-s", 65536, "-n", 4000, options=["--pcap", str(capture)])
            self.assertEqual(run.code, 0, run.err)
            times = [packet[0] for packet in writes_of_client(capture)]
        payload_bits = len(times) * run.result()["parameters"]["protocol.mtu_bytes"] * 8
        rates = {"perftest": run.rows()[0][3], "run": run.result()["goodput_gbps"],
                 "capture": payload_bits / (max(times) - min(times)) / 1e3}
        print(rates)
        self.assertEqual(payload_bits, 4000 * 65536 * 8)
        for rate in rates.values():
            self.assertLess(abs(rate / rates["perftest"] - 1), 0.01)


class Rtl(unittest.TestCase):
    """Programs over RTL of every block. QPs are connected while time passes, and programs on a lossy fabric."""

    def test_all_blocks(self):
        for options in (["--shadow", "all@nic0,all@nic1"], ["--rtl", "all@nic0,all@nic1"],
                        ["--rtl", "all@nic0,all@nic1", "--rtl-timing", "pins"]):
            with self.subTest(options=options):
                run = write_bw("-s", 65536, "-n", 300, "-q", 4, "-b", options=options,
                               settings=["fabric.loss_rate=0.001", "fabric.trim_rate=0.001", "fabric.ecn_rate=0.01"])
                self.assertEqual(run.code, 0, run.err)
                self.assertEqual(run.result()["messages"]["completed"], 2 * 1200)
                blocks = run.result()["rtl"]
                self.assertEqual(len(blocks), 14)
                for block in blocks:
                    self.assertGreater(block["transactions"], 1000, block)
                    self.assertEqual(block["mismatches"], 0, block)


class Repeats(unittest.TestCase):
    """The same to the last byte."""

    def test_same_ten_times(self):
        first = write_bw("-s", 65536, "-n", 300, "-q", 4)
        results = {json.dumps({k: v for k, v in first.result().items() if k != "cost"})}
        for _ in range(9):
            again = write_bw("-s", 65536, "-n", 300, "-q", 4)
            self.assertEqual(first.printed(), again.printed())
            results.add(json.dumps({k: v for k, v in again.result().items() if k != "cost"}))
        self.assertEqual(len(results), 1)

    def test_same_beside_busy_loops(self):
        alone = write_lat("-s", 2, "-n", 100).printed()
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4)]
        try:
            beside = write_lat("-s", 2, "-n", 100).printed()
        finally:
            for process in busy:
                process.kill()
                process.wait()
        self.assertEqual(alone, beside)

    def test_same_on_one_core(self):
        """As above, all on one core of the machine."""
        alone = write_bw("-s", 65536, "-n", 300, "-q", 4).printed()
        cores = os.sched_getaffinity(0)
        busy = []
        try:
            os.sched_setaffinity(0, {min(cores)})
            busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4)]
            beside = [write_bw("-s", 65536, "-n", 300, "-q", 4).printed() for _ in range(10)]
        finally:
            os.sched_setaffinity(0, cores)
            for process in busy:
                process.kill()
                process.wait()
        self.assertEqual([alone] * 10, beside)

    def test_same_for_two_pairs(self):
        """Programs that start beside each other start at the same simulated times, however busy the machine is."""
        words = [["ib_write_bw", "-p", str(PORT + i), "-s", "65536", "-n", "1000", "--report_gbits"] for i in range(2)]

        def rates():
            run = Run(*words, *[[*w, LOCAL] for w in words], nodes=(0, 0, 1, 1))
            self.assertEqual(run.code, 0, run.err)
            return sorted(run.rows()), run.result()["simulated_time_us"]

        alone = rates()
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(4)]
        try:
            beside = [rates() for _ in range(5)]
        finally:
            for process in busy:
                process.kill()
                process.wait()
        self.assertEqual([alone] * 5, beside)


# One transport, and datagrams to connect it. UCX posts 4,095 receives otherwise, one by one.
UCX = {"UCX_TLS": "rc_v,self", "UCX_NET_DEVICES": "mrc0:1", "UCX_RC_RX_QUEUE_LEN": "64", "UCX_UD_RX_QUEUE_LEN": "64"}


def ucx_perftest(*options):
    """Its command line. Built with MPI, as Debian 13's is, it asks for mpirun unless told otherwise; other builds refuse that option."""
    explained = subprocess.run(["ucx_perftest", "-h"], capture_output=True, text=True).stdout
    without_mpi = ["-P", "0"] if "MPI mode" in explained else []
    return ["ucx_perftest", *without_mpi, "-p", str(PORT), "-n", "1000", "-w", "10", *options]


class Ucx(unittest.TestCase):
    """ucx_perftest over its transport rc_verbs: each in at most a minute."""

    def final(self, *options):
        """Average latency in us and bandwidth in MiB/s."""
        common = ucx_perftest("-d", "mrc0:1", "-x", "rc_verbs", *options)
        # UCX posts 4,095 receives otherwise, one by one.
        run = Run(common, [*common, LOCAL], options=["--beyond-mrc"], environment={"UCX_RC_RX_QUEUE_LEN": "64"})
        self.assertEqual(run.code, 0, run.out + run.err)
        row = re.search(r"Final: +1000 +[\d.]+ +([\d.]+) +[\d.]+ +([\d.]+)", run.out)
        print("ucx_perftest", *options, row.groups())
        return [float(word) for word in row.groups()]

    def setUp(self):
        if shutil.which("ucx_perftest") is None:
            self.skipTest("ucx_perftest is missing (Debian: ucx-utils)")

    def test_put(self):
        latency, _ = self.final("-t", "put_lat", "-D", "short", "-s", "8")
        self.assertGreater(latency, 4)
        self.assertLess(latency, 8)
        # One message at a time, and sixteen; how many without -O depends on the version.
        _, one = self.final("-t", "put_bw", "-D", "zcopy", "-s", "65536", "-O", "1")
        _, sixteen = self.final("-t", "put_bw", "-D", "zcopy", "-s", "65536", "-O", "16")
        self.assertGreater(sixteen, 3 * one)
        self.assertLess(sixteen * 8 * 2**20 / 1e9, 800)

    def test_active_messages(self):
        """SENDs into shared receives; UCX ends a test with WRITEs of 0 bytes."""
        self.assertLess(self.final("-t", "am_lat", "-D", "short", "-s", "8")[0], 8)
        self.assertGreater(self.final("-t", "am_bw", "-D", "bcopy", "-s", "4096")[1], 5000)

    def test_get_and_atomics(self):
        self.assertGreater(self.final("-t", "get", "-D", "zcopy", "-s", "65536")[0], 8)
        for operation in ("fadd", "cswap"):
            self.assertGreater(self.final("-t", operation)[0], 8)


class UcxProtocols(unittest.TestCase):
    """ucx_perftest over UCP, which chooses protocols by itself and connects by datagrams."""

    def final(self, *options):
        common = ucx_perftest(*options)
        run = Run(common, [*common, LOCAL], options=["--beyond-mrc"], environment=UCX)
        self.assertEqual(run.code, 0, run.out + run.err)
        self.assertLess(run.processor_seconds, 60)
        self.assertIn("datagrams were carried", run.err)
        row = re.search(r"Final: +1000 +[\d.]+ +([\d.]+) +[\d.]+ +([\d.]+)", run.out)
        print("ucx_perftest", *options, row.groups(), f"{run.processor_seconds:.1f} s")
        return [float(word) for word in row.groups()]

    def setUp(self):
        if shutil.which("ucx_perftest") is None:
            self.skipTest("ucx_perftest is missing (Debian: ucx-utils)")

    def test_put(self):
        latency = self.final("-t", "ucp_put_lat", "-s", "8")[0]
        self.assertGreater(latency, 4)
        self.assertLess(latency, 10)
        bandwidth = self.final("-t", "ucp_put_bw", "-s", "65536", "-O", "16")[1]
        self.assertGreater(bandwidth * 8 * 2**20 / 1e9, 400)
        self.assertLess(bandwidth * 8 * 2**20 / 1e9, 800)

    def test_messages(self):
        self.assertLess(self.final("-t", "tag_lat", "-s", "8")[0], 10)


class Mpi(unittest.TestCase):
    """Open MPI over UCX: each rank on the node of its number."""

    @classmethod
    def setUpClass(cls):
        if missing := [program for program in ("mpicc", "mpirun") if shutil.which(program) is None]:
            raise unittest.SkipTest(f"{', '.join(missing)} missing (Debian: openmpi-bin libopenmpi-dev)")
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = f"{cls.folder.name}/all_reduce"
        subprocess.run(["mpicc", "-O2", "-o", cls.program, str(REPOSITORY / "tests/programs/all_reduce.c")], check=True)

    def all_reduce(self, ranks, rounds, elements):
        words = ["mpirun", "--oversubscribe", "-n", str(ranks), "--mca", "pml", "ucx", "--mca", "btl", "^openib,ofi,vader,tcp",
                 "--mca", "osc", "^ucx", self.program, str(rounds), str(elements)]
        allow = {name: "1" for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")}
        run = Run(words, settings=[f"fabric.nics={ranks}"], options=["--beyond-mrc"], environment={**UCX, **allow}, timeout=900)
        self.assertEqual(run.code, 0, run.out + run.err)
        self.assertLess(run.processor_seconds, 60)
        self.assertEqual(sorted(re.findall(r"rank (\d+): 0 wrong", run.out)), [str(rank) for rank in range(ranks)], run.out)
        result = run.result()
        self.assertEqual((result["status"], result["messages"]["failed"]), ("complete", 0))
        # At least what an all-reduce has to send and to receive.
        self.assertGreater(result["bytes"]["delivered"], rounds * elements * 8 * 2 * (ranks - 1))
        print(f"{ranks} ranks, {elements} elements:", re.findall(r"([\d.]+) us", run.out), f"{run.processor_seconds:.1f} s")

    def test_ten_times(self):
        for _ in range(10):
            self.all_reduce(4, 2, 65536)

    def test_two(self):
        self.all_reduce(2, 2, 8192)

    def test_eight(self):
        self.all_reduce(8, 2, 8192)


def writes_of_client(capture):
    """What nic1 of two NICs with eight ports sent and wrote in a pcapng file: (time in us, EV, port from 1) of each packet."""
    data, packets, at = capture.read_bytes(), [], 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:  # enhanced packet
            interface, high, low = struct.unpack_from("<III", data, at + 8)
            packet = write_in(data[at + 28:at + length]) if interface >= 8 else None
            if packet is not None and packet[0] == 2:
                packets.append(((high << 32 | low) / 1e3, *packet[1:]))
        at += length
    return packets


def write_in(frame):
    """Source, EV and port of a WRITE; None for another packet. IPv6 within IPv6, UDP, BTH."""
    at, kind = 14, 41
    while kind == 41:
        source, label, kind, at = frame[at + 8:at + 24], frame[at + 2:at + 4], frame[at + 6], at + 40
    if kind != 17 or not 0xC6 <= frame[at + 8] <= 0xCB:
        return None
    return source[15], int.from_bytes(label + frame[at:at + 2], "big"), source[7] + 1


class Ocp(unittest.TestCase):
    """OCP's samples from a checkout of the user's, as they are there, over libmrc."""
    SETTINGS = ()

    @classmethod
    def setUpClass(cls):
        cls.checkout = os.environ.get("MRC_API_DIR", "")
        if not cls.checkout:
            raise unittest.SkipTest("MRC_API_DIR is not set: the folder of a checkout with OCP's mrc.h and its examples")
        cls.folder = tempfile.TemporaryDirectory()
        cls.copy = pathlib.Path(cls.folder.name, "ocp")
        shutil.copytree(cls.checkout, cls.copy)
        library = os.environ.get("LIBMRC", "")
        if library:
            shutil.copy(library, cls.copy / "lib_mrc.so")
        else:
            subprocess.run(["c++", "-std=c++20", "-O2", "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti", f"-I{cls.copy}",
                            f"-I{REPOSITORY / 'tb'}", "-o",
                            str(cls.copy / "lib_mrc.so"), str(REPOSITORY / "tb/verbs/libmrc.cpp"), "-libverbs"], check=True)
        for folder in ("examples/benchmark", "test"):
            subprocess.run(["make", "-s", "-C", str(cls.copy / folder)], check=True, stdout=subprocess.DEVNULL)

    def example(self):
        common = [str(self.copy / "examples/benchmark/mrc_example"), "-p", str(PORT), "-d", "mrc0", "-n", "200", "-w", "10", "-s", "65536",
                  "--step-factor", "16"]
        server, client = common, [common[0], LOCAL, *common[1:]]
        return Run(server, client, environment={"MRC_LOG_LEVEL": "DEBUG"}, settings=self.SETTINGS)

    def test_example(self):
        run = self.example()
        text = run.out + run.err
        self.assertEqual(run.code, 0, text)
        self.assertEqual(text.count("Data validation passed"), 5, text)
        self.assertEqual(text.count("MRC example completed successfully"), 2, text)
        rows = re.findall(r"^ (\d+) +200 +([\d.]+) +[\d.]+$", run.out, re.MULTILINE)
        print("mrc_example:", rows)
        self.assertEqual([int(size) for size, _ in rows], [1, 16, 256, 4096, 65536])
        self.assertGreater(float(rows[-1][1]), 500)
        self.assertLess(float(rows[-1][1]), 800)
        self.assertEqual(rows, re.findall(r"^ (\d+) +200 +([\d.]+) +[\d.]+$", self.example().out, re.MULTILINE))

    # The client of perftest sleeps a second before it connects, and writes from then on for 1.4 ms.
    BEFORE_US, WHILE_US = 900000, 1000500

    def control(self, *words, programs=(), code=0, settings=(), **more):
        """mrc_control_check on nic1, behind `programs` on nic0 and nic1."""
        check = self.copy / "mrc_control_check"
        if not check.exists():
            subprocess.run(["cc", "-O2", "-Wall", "-Werror", f"-I{self.copy}", "-o", str(check), str(REPOSITORY / "tests/programs/mrc_control_check.c"),
                            f"-L{self.copy}", "-l:lib_mrc.so", "-libverbs", f"-Wl,-rpath,{self.copy}"], check=True)
        run = Run(*programs, [str(check), *[str(word) for word in words]], nodes=[*range(len(programs)), 1],
                  settings=[*self.SETTINGS, *settings], **more)
        self.assertEqual(run.code, code, run.out + run.err)
        return run

    def beside_writes(self, *words, messages=2000, **more):
        """While nic1 writes to nic0."""
        writes = ["ib_write_bw", "-p", str(PORT), "-s", "65536", "-n", str(messages)]
        run = self.control(*words, programs=(writes, [*writes, LOCAL]), **more)
        if run.code == 0:
            self.assertEqual(run.result()["messages"]["completed"], messages)
        return run

    def test_profiles(self):
        """A controller reads what the scenario has set."""
        settings = ["cc.gamma=0.7", "cc.base_rtt_ns=9000", "protocol.ev_count=2048", "protocol.ev_min_active=16"]
        out = self.control("read", 200, settings=settings).out
        for expected in ("2048 EVs, ports 1fe, uet-1.0-nscc", "base RTT 9000 ns, gamma 0.70, window 1350000", "2048 EVs, at least 16 active, AUTO",
                         "format STEV: 32 bits", "all EVs are GOOD"):
            self.assertIn(expected, out)
        settings = ["cc.algorithm=none", "protocol.ev_layout.kind=fields", "protocol.ev_layout.port_bits=3",
                    *[f"protocol.ev_layout.{field}_bit={bit}" for field, bit in (("destination_plane", 3), ("uplink", 6), ("t1_plane", 8), ("source_plane", 12))]]
        out = self.control("read", 200, settings=settings).out
        self.assertIn("algorithm none", out)
        self.assertNotIn("gamma", out)
        self.assertIn("format STEV: 17 3 1 3 2 3 3 bits", out)

    def test_changes(self):
        """What can be changed is read back; the rest has its errno, and one line that says why."""
        run = self.control("changes")
        self.assertIn("changes are right", run.out)
        for reason in ("mrc_ctl_modify_port: ", "EVs are AUTO, as many as protocol.ev_count, or EXPLICIT", "cc.gamma = 11",
                       "the last EV that is not DENIED is denied", "while the EV profile is ONLINE"):
            self.assertIn(reason, run.err)

    def test_bad_evs(self):
        """An EV that loses its packets is ASSUMED_BAD for who reads the profile, with the port that it had."""
        lossy = 'fault.one={kind = "loss", where = "nic1.port3", at_us = 0, ev_index = 3}'
        run = self.beside_writes("read", 5000, 1000000, settings=[lossy])
        self.assertRegex(run.out, r"EV 3, port 4, is ASSUMED_BAD")

    def captured(self, *words, messages=2000, **more):
        """Packets of nic1's WRITEs, and what was printed."""
        capture = self.copy / "run.pcapng"
        run = self.beside_writes(*words, messages=messages, options=["--pcap", str(capture)], **more)
        packets = writes_of_client(capture)
        self.assertGreaterEqual(len(packets), messages * 16)
        return packets, run.out

    def test_denied_ev(self):
        """From a microsecond after it is denied, the EV carries no packet: those on their way have left by then."""
        packets, out = self.captured("deny", self.WHILE_US, 0, 5)
        value, at = re.search(r"1 EVs, first (\w+) of port 6, are DENIED at ([\d.]+) us", out).groups()
        times = [time for time, ev, _ in packets if ev == int(value, 16)]
        print(f"EV {value}: {len(times)} packets, the last {float(at) - max(times):.3f} us before it was DENIED; all: {len(packets)}")
        self.assertGreater(len(times), 50)
        self.assertGreater(max(time for time, _, _ in packets), float(at) + 200)
        self.assertLess(max(times), float(at) + 1)

    def test_denied_by_rtl(self):
        """RTL of spray_scheduler has what a controller does, before a QP is connected and while it sends."""
        for words in (("deny", self.WHILE_US, 0, 5), ("deny", self.BEFORE_US, self.WHILE_US - self.BEFORE_US, "port", 3)):
            for more in (["--shadow", "spray_scheduler@nic1"], ["--rtl", "spray_scheduler@nic1", "--rtl-timing", "pins"]):
                with self.subTest(words=words, more=more):
                    run = self.beside_writes(*words, messages=2000, options=more)
                    self.assertEqual(run.code, 0, run.err)
                    [block] = run.result()["rtl"]
                    self.assertGreater(block["transactions"], 32000)
                    self.assertEqual(block["mismatches"], 0)

    def test_denied_port(self):
        """Before a QP is connected, and allowed while it sends: EVs of the port are used from then on."""
        packets, out = self.captured("deny", self.BEFORE_US, self.WHILE_US - self.BEFORE_US, "port", 3, messages=4000)
        at = float(re.search(r"32 EVs, first \w+ of port 3, are GOOD at ([\d.]+) us", out).group(1))
        of_port = [time for time, _, port in packets if port == 3]
        print(f"port 3: first packet {min(of_port) - at:.3f} us after its EVs were allowed, {len(of_port)} of {len(packets)}")
        self.assertLess(min(time for time, _, _ in packets), at - 100)
        # It prints the time after the call, which takes a microsecond.
        self.assertGreater(min(of_port), at - 2)
        self.assertLess(min(of_port), at + 50)

    def test_explicit_evs(self):
        """EVs of the controller's carry the packets, and those that are DENIED none."""
        for count, settings in ((64, []), (8, []), (256, ["protocol.path_table_scope=profile", "cc.algorithm=none"])):
            with self.subTest(count=count):
                packets, out = self.captured("explicit", self.BEFORE_US, count, settings=settings)
                denied = count // 2 if count >= 16 else 0
                self.assertIn(f"{count} EVs are in use, {denied} DENIED", out)
                used = {(ev - 0xABC00000, port) for _, ev, port in packets}
                print(f"{count} explicit EVs: {len(used)} carried {len(packets)} packets")
                self.assertEqual(used, {(ev, ev % 8 + 1) for ev in range(count) if denied == 0 or ev % 16 < 8} & used)
                self.assertEqual(len(used), min(count - denied, 128))

    def test_window(self):
        """A largest window of 40,000 bytes: nic1 sends no faster than a window in a round trip."""
        usual = self.beside_writes("window", self.BEFORE_US, 1_200_000).result()["goodput_gbps"]
        run = self.beside_writes("window", self.BEFORE_US, 40_000)
        small = run.result()["goodput_gbps"]
        print(f"goodput with windows of 1,200,000 and 40,000 bytes: {usual:.1f} and {small:.1f} Gb/s")
        self.assertGreater(usual, 500)
        self.assertLess(small, 200)
        changed = self.beside_writes("window", self.WHILE_US, 40_000).result()["goodput_gbps"]
        print(f"goodput where the window changes in between: {changed:.1f} Gb/s")
        self.assertGreater(changed, small * 1.2)
        self.assertLess(changed, usual * 0.8)

    def test_offline(self):
        """A profile goes OFFLINE only while no QP is connected, and then none can be."""
        run = self.beside_writes("offline", self.WHILE_US)
        self.assertIn("OFFLINE: busy", run.out)
        self.assertIn("the EV profile goes OFFLINE while QPs are connected", run.err)
        run = self.beside_writes("offline", self.BEFORE_US, code=5)
        self.assertIn("OFFLINE: done", run.out)
        self.assertIn("a QP is connected while its profile is OFFLINE", run.err)

    def test_events(self):
        """EVs whose packets are lost from a time on become ASSUMED_BAD after it, and GOOD by probes when the fault is over."""
        begin, length = self.WHILE_US, 300
        fault = f'fault.one={{kind = "loss", where = "nic1.port3", at_us = {begin}, for_us = {length}, ev_index = 3}}'
        events = re.compile(r"event: EV (\w+), port (\d+), (\w+), (\d+) dropped, at ([\d.]+) us")
        run = self.beside_writes("events", self.BEFORE_US, 104000, settings=[fault])
        found = events.findall(run.out)
        print(found)
        self.assertEqual([(port, state, dropped) for _, port, state, dropped, _ in found], [("4", "ASSUMED_BAD", "0"), ("4", "GOOD", "0")])
        bad, good = [float(event[-1]) for event in found]
        self.assertGreater(bad, begin)
        self.assertLess(bad, begin + 100)
        self.assertGreater(good, begin + length)
        self.assertLess(good, begin + length + 1000)
        # A queue of one entry, of which a channel tells: the second event has no room.
        run = self.beside_writes("events", self.BEFORE_US, 2000, "channel", settings=[fault])
        self.assertAlmostEqual(float(re.search(r"channel: an event at ([\d.]+) us", run.out).group(1)), bad, delta=5)
        self.assertEqual([event[2] for event in events.findall(run.out)], ["ASSUMED_BAD"])

    def test_probes(self):
        """A path of each port, with QPs and without any; a port without a link answers nothing."""
        idle = self.control("probe", 100, 0, programs=(["sleep", "0.01"],))
        self.check_probes(idle.out, range(1, 9))
        self.check_probes(self.beside_writes("probe", self.WHILE_US, 0).out, range(1, 9), most=40000)
        dark = 'fault.one={kind = "nic_port_loss", where = "nic0.port3", at_us = 0}'
        run = self.control("probe", 100, 0, programs=(["sleep", "0.01"],), settings=[dark])
        self.check_probes(run.out, [1, 2, 3, 5, 6, 7, 8], error=110)

    def check_probes(self, out, ports, error=0, most=10000):
        print(out.strip().splitlines()[0])
        self.assertRegex(out, rf"{len(ports)} of 8 probes, errno {error}, ")
        answers = [tuple(int(word) for word in row) for row in re.findall(r"probe (\d+), port (\d+), (\d+) ns, adjusted 0", out)]
        print(answers)
        self.assertEqual(sorted((number, port) for number, port, _ in answers), [(1000 + port, port) for port in ports])
        for _, _, round_trip_ns in answers:
            self.assertGreater(round_trip_ns, 1500)
            self.assertLess(round_trip_ns, most)

    def test_hello(self):
        run = Run([str(self.copy / "test/mrc_test"), "-d", "mrc0"])
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("Hello MRC!", run.out)


class OcpLight(Ocp):
    """The same on light endpoints, which have no probes for software."""
    SETTINGS = LIGHT

    test_denied_by_rtl = None  # there are no boxes that RTL could take the place of

    def test_probes(self):
        run = self.control("probe", 100, 0, programs=(["sleep", "0.01"],), code=5)
        self.assertRegex(run.out, "0 of 8 probes, errno 95, ")
        self.assertIn("nic1: a light endpoint has no probes for software", run.err)
        # A detailed NIC's probes are answered by one, with a QP and without.
        mixed = ["node.nic1.fidelity=detailed"]
        self.check_probes(self.control("probe", 100, 0, programs=(["sleep", "0.01"],), settings=mixed).out, range(1, 9))
        self.check_probes(self.beside_writes("probe", self.WHILE_US, 0, settings=mixed).out, range(1, 9), most=40000)


def programs_of(model):
    """Process ids of the programs that a model runs, in the order of their start."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, fields = stat.read_text().rsplit(")", 1)
        except OSError:
            continue
        if int(fields.split()[1]) == model and "(mrcsim" not in name:
            found.append(int(stat.parent.name))
    return sorted(found)


class Robust(unittest.TestCase):
    """kill -9 at any time: the run ends, says why, and leaves nothing behind."""

    def start(self, folder, second=None, settings=()):
        common = ["ib_write_bw", "-p", str(PORT), "-s", "65536", "-n", "1000000"]
        assignments = [word for setting in settings for word in ("--set", setting)]
        return subprocess.Popen([MRCSIM, "host", PAIR, "--quiet", "--out", f"{folder}/out", *assignments, "--", *common, "--",
                                 *(second or [*common, LOCAL])], env={**os.environ, "TMPDIR": folder},
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def wait_for_programs(self, model, count):
        end = time.monotonic() + 60
        while len(programs := programs_of(model.pid)) < count:
            self.assertLess(time.monotonic(), end, "programs did not start")
            time.sleep(0.01)
        return programs

    def test_killed_program(self):
        for victim in (0, 1):
            for after, settings in ((0, ()), (0.3, ()), (2, ()), (2, LIGHT)):
                with self.subTest(victim=victim, after=after, settings=settings), tempfile.TemporaryDirectory() as folder:
                    model = self.start(folder, settings=settings)
                    programs = self.wait_for_programs(model, victim + 1)
                    time.sleep(after)
                    os.kill(programs[victim], signal.SIGKILL)
                    _, err = model.communicate(timeout=120)
                    self.assertEqual(model.returncode, 5, err)
                    self.assertIn(f"ib_write_bw on nic{victim} was ended by signal 9", err)
                    self.assertEqual([p for p in programs if pathlib.Path(f"/proc/{p}").exists()], [])
                    self.assertEqual(list(pathlib.Path(folder).glob("mrcsim-host-*")), [])

    def test_killed_beside_computing(self):
        """A program that never gives its turn back is ended some time after another has failed, not before."""
        with tempfile.TemporaryDirectory() as folder:
            model = self.start(folder, ["sh", "-c", "while true; do :; done"])
            programs = self.wait_for_programs(model, 2)
            time.sleep(25)
            self.assertIsNone(model.poll())
            os.kill(programs[0], signal.SIGKILL)
            begun = time.monotonic()
            _, err = model.communicate(timeout=120)
            self.assertGreater(time.monotonic() - begun, 15)
            self.assertEqual(model.returncode, 5, err)
            self.assertIn("ib_write_bw on nic0 was ended by signal 9", err)
            details = json.loads(pathlib.Path(folder, "out/result.json").read_text())["details"]
            self.assertEqual(len(details), 2)
            self.assertRegex(details[1], "^sh .*on nic1 still ran after another program had failed, and was ended$")
            self.assertEqual([p for p in programs if pathlib.Path(f"/proc/{p}").exists()], [])
            self.assertEqual(list(pathlib.Path(folder).glob("mrcsim-host-*")), [])

    def test_killed_model_without_stderr(self):
        """Nobody reads what the watcher prints: it cleans up all the same."""
        with tempfile.TemporaryDirectory() as folder:
            model = self.start(folder)
            programs = self.wait_for_programs(model, 2)
            model.stderr.close()
            model.kill()
            model.wait()
            self.assert_gone(folder, programs)

    def assert_gone(self, folder, programs):
        def left():
            return [p for p in programs if pathlib.Path(f"/proc/{p}").exists()] + list(pathlib.Path(folder).glob("mrcsim-host-*"))
        end = time.monotonic() + 10
        while left() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(left(), [])

    def test_killed_model(self):
        for after in (0, 2):
            with self.subTest(after=after), tempfile.TemporaryDirectory() as folder:
                model = self.start(folder)
                programs = self.wait_for_programs(model, 2)
                time.sleep(after)
                model.kill()
                _, err = model.communicate(timeout=60)
                self.assertEqual(model.returncode, -signal.SIGKILL)
                self.assertEqual(err.count("mrcsim: ") - err.count("mrcsim: warning: "), 1, err)
                self.assertIn("the model was ended", err)
                self.assert_gone(folder, programs)

    def test_garbage(self):
        """Messages that no preload would send: the run goes on, and ends as its programs do."""
        for seed, beyond in ((0, []), (1, []), (2, []), (3, ["--beyond-mrc"]), (4, ["--beyond-mrc"])):
            with self.subTest(seed=seed):
                run = Run([sys.executable, "-B", str(REPOSITORY / "tests/programs/garbage.py"), str(seed), "1000"], options=["--quiet", *beyond],
                          timeout=900)
                self.assertEqual(run.code, 0, run.err[-2000:])
                self.assertRegex(run.out, r"answered \d{3}")
                self.assertIn("sent an invalid message", run.err)

    def test_threads(self):
        """A program that computes for long, and so is looked at, while it starts threads."""
        run = Run([CHECK, "threads", "3000"], timeout=120)
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("3000 threads", run.out)

    def test_strict(self):
        for program, name in (("ib_send_bw", "SEND"), ("ib_read_bw", "READ"), ("ib_atomic_bw", "FETCH AND ADD")):
            with self.subTest(program=program):
                run = perftest(program, "-n", 10, timeout=120)
                self.assertEqual(run.code, 5)
                self.assertIn(f"{name} is not in MRC, which has WRITE and WRITE with immediate; --beyond-mrc carries it", run.err)


class Beyond(unittest.TestCase):
    """READ and atomic operations: as a request, and a WRITE back."""

    def beyond(self, program, *options, settings=()):
        run = perftest(program, *options, options=["--beyond-mrc"], settings=settings)
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("mrcsim: beyond MRC: ", run.err)
        self.assertIn("beyond MRC: ", run.out)
        self.assertTrue(any(note.startswith("beyond MRC: ") for note in run.result()["notes"]))
        return run

    def test_bytes_order_and_errors(self):
        run = Run([CHECK, "beyond", str(PORT)], [CHECK, "beyond", str(PORT), LOCAL], options=["--beyond-mrc"])
        self.assertEqual(run.code, 0, run.out + run.err)
        for what in ("READ is right", "atomic operations are right", "refusal is right"):
            self.assertIn(what, run.out)

    def test_read_bandwidth(self):
        """The bytes come from nic0, whose run has the same figure as the program."""
        run = self.beyond("ib_read_bw", "-s", 65536, "-n", 500, "--report_gbits", settings=["run.node_under_test=nic0"])
        printed, result = run.rows()[0][3], run.result()
        self.assertGreater(printed, 500)
        self.assertLess(printed, 800)
        self.assertLess(abs(printed / result["goodput_gbps"] - 1), 0.03)
        self.assertEqual(result["bytes"]["delivered"], 500 * (65536 + 16))
        # 16 READs are under way at a time, or as many as the program asks for.
        self.assertLess(self.beyond("ib_read_bw", "-s", 65536, "-n", 200, "-o", 1, "--report_gbits").rows()[0][3], printed / 8)

    def test_read_latency(self):
        """A request, its answer, and the hosts' part of it: between two and four times a WRITE's."""
        typical = self.beyond("ib_read_lat", "-s", 2, "-n", 50).rows()[0][4]
        write = write_lat("-s", 2, "-n", 50).rows()[0][4]
        self.assertGreater(typical, 1.5 * write)
        self.assertLess(typical, 4 * write)

    def test_datagrams(self):
        """UD: perftest's messages, and ibv_ud_pingpong, which checks what came."""
        run = self.beyond("ib_send_lat", "-c", "UD", "-s", 64, "-n", 100)
        self.assertGreater(run.rows()[0][4], 2)
        self.assertLess(run.rows()[0][4], 10)
        self.assertIn("datagrams were carried as WRITEs with immediate, 0 dropped", run.err)
        common = ["ibv_ud_pingpong", "-d", "mrc0", "-g", "0", "-p", str(PORT), "-n", "100", "-c"]
        run = Run(common, [*common, LOCAL], options=["--beyond-mrc"])
        self.assertEqual(run.code, 0, run.out + run.err)
        strict = Run(common, [*common, LOCAL])
        self.assertEqual(strict.code, 5)
        self.assertIn("MRC has connected QPs only (IBV_QPT_RC); --beyond-mrc carries datagrams (IBV_QPT_UD)", strict.err)

    def test_datagrams_are_inline(self):
        """As libucx connects: with a buffer that is used for another datagram as soon as the first is posted."""
        run = Run([CHECK, "datagrams", str(PORT)], [CHECK, "datagrams", str(PORT), LOCAL], options=["--beyond-mrc"])
        self.assertEqual(run.code, 0, run.out + run.err)
        self.assertIn("32 datagrams are right", run.out)

    def test_atomics(self):
        for kind in ("FETCH_AND_ADD", "CMP_AND_SWAP"):
            run = self.beyond("ib_atomic_bw", "-n", 200, "-A", kind)
            self.assertIn("200 atomic operations", run.err)
            self.assertGreater(run.rows()[0][3], 1)

    def test_same_twice(self):
        one, other = (self.beyond("ib_read_bw", "-s", 4096, "-n", 200, "-b").printed() for _ in range(2))
        self.assertEqual(one, other)


def expect_port_events(test, run):
    """The port goes down at 1,000 us and comes back at 1,500 us; the program sees each within 200 us."""
    test.assertEqual(run.code, 0, run.err)
    events = re.findall(r"(\d+) us: (.*)", run.out)
    test.assertEqual([what for _, what in events], ["port error, port 1, down", "port active, port 1, active"])
    for (seen, _), at in zip(events, (1000, 1500)):
        test.assertGreaterEqual(int(seen), at)
        test.assertLess(int(seen), at + 200)


def all_ports(node, at_us, for_us=None):
    more = "" if for_us is None else f", for_us = {for_us}"
    return [f'fault.p{port}={{kind = "nic_port_loss", where = "{node}.port{port}", at_us = {at_us}{more}}}' for port in range(8)]


class Connections(unittest.TestCase):
    """Connections of librdmacm."""

    def setUp(self):
        if shutil.which("rping") is None:
            self.skipTest("rping is missing (Debian: rdmacm-utils)")

    def rping(self, server, *options, settings=()):
        client = ["rping", "-c", "-a", LOCAL, "-p", str(PORT), *options]
        return Run(server, client, options=["--beyond-mrc"], settings=settings, timeout=120)

    def listening(self, *options):
        return ["rping", "-s", "-a", LOCAL, "-p", str(PORT), *options]

    def test_bandwidth(self):
        """As without librdmacm: it makes the connection, and takes no part in what follows."""
        options = ("-s", 65536, "-n", 1000)
        run = write_bw("-R", *options, options=["--beyond-mrc"], timeout=120)
        self.assertEqual(run.code, 0, run.out + run.err)
        plain = write_bw(*options)
        self.assertLess(abs(run.rows()[0][3] / plain.rows()[0][3] - 1), 0.01)

    def test_latency(self):
        run = write_lat("-R", "-s", 2, "-n", 50, options=["--beyond-mrc"], timeout=120)
        self.assertEqual(run.code, 0, run.out + run.err)
        self.assertLess(abs(run.rows()[0][4] / write_lat("-s", 2, "-n", 50).rows()[0][4] - 1), 0.05)

    def test_rping(self):
        """SENDs, READs and WRITEs in turn; both sides print each ping, and the client compares it (-V)."""
        run = self.rping(self.listening("-C", "10", "-v"), "-C", "10", "-v", "-V")
        self.assertEqual(run.code, 0, run.out + run.err)
        for number in range(10):
            self.assertEqual(len(re.findall(f"ping data: rdma-ping-{number}: ", run.out)), 2, run.out)

    def test_nobody_listens(self):
        run = self.rping(["true"], "-C", "1")
        self.assertNotEqual(run.code, 0)
        self.assertIn("RDMA_CM_EVENT_REJECTED", run.out + run.err)

    def test_peer_ends(self):
        """A server without a number of pings ends when its client has disconnected."""
        run = self.rping(self.listening("-v"), "-C", "3")
        self.assertEqual(run.code, 0, run.out + run.err)
        self.assertIn("server DISCONNECT EVENT", run.out + run.err)
        self.assertEqual(run.result()["status"], "complete")


class Faults(unittest.TestCase):
    """Programs see what the fault timeline does."""

    def test_port_events(self):
        """The device's port is down while all of the NIC's are; one port alone changes nothing."""
        one = 'fault.one={kind = "nic_port_loss", where = "nic0.port3", at_us = 100, for_us = 200}'
        run = Run([CHECK, "events", "2"], settings=[one, *all_ports("nic0", 1000, 500)])
        expect_port_events(self, run)

    def test_error_completion(self):
        run = Run([CHECK, "writes", str(PORT)], [CHECK, "writes", str(PORT), LOCAL],
                  settings=[*all_ports("nic0", 100), "protocol.linear_retries=1", "protocol.exponential_retries=2"])
        self.assertEqual(run.code, 0, run.err)
        self.assertRegex(run.out, r"WRITE \d+ ended with transport retry counter exceeded")
        self.assertEqual(run.result()["messages"]["failed"], 1)

    def test_flapping_port(self):
        """Nothing is lost, and the rate follows the planes: seven of eight while the port is down, all after it."""
        whole = write_bw("-s", 65536, "-n", 4000)
        down = 'fault.flap={kind = "nic_port_loss", where = "nic1.port3", at_us = 0}'
        seven = write_bw("-s", 65536, "-n", 4000, settings=[down])
        # Both programs start within the first millisecond; the flapping goes on for as long as they run.
        flap = 'fault.flap={kind = "link_flap", where = "nic1.port3", at_us = 10, period_us = 400, for_us = 200, count = 10000}'
        flapping = write_bw("-s", 65536, "-n", 4000, settings=[flap])
        for run in (whole, seven, flapping):
            self.assertEqual(run.code, 0, run.err)
            self.assertEqual((run.result()["status"], run.result()["messages"]["completed"]), ("complete", 4000))
            self.assertEqual(run.result()["bytes"]["delivered"], 4000 * 65536)
        # The programs go on for much longer than they send.
        for run, down_gbps in ((seven, 100), (flapping, 75)):
            limits = {limit["cause"]: limit["gbps"] for limit in run.result()["limits"]}
            self.assertLess(abs(limits["port.link_down"] - down_gbps), 2, limits)
            self.assertLess(abs(limits.get("unattributed", 0)), 4, limits)
        rates = [run.rows()[0][3] for run in (whole, seven, flapping)]
        print("whole, seven of eight planes, flapping:", rates)
        self.assertLess(abs(rates[1] / rates[0] - 7 / 8), 0.02)
        self.assertLess(rates[2], rates[0])
        self.assertGreater(rates[2], rates[1] * 0.9)


class Light(unittest.TestCase):
    """On light endpoints, and between one and a detailed NIC: the same verbs, bytes and errors."""

    def check(self, *words, settings, options=()):
        run = Run([CHECK, *words, str(PORT)], [CHECK, *words, str(PORT), LOCAL], settings=settings, options=options)
        self.assertEqual(run.code, 0, run.out + run.err)
        return run

    def test_bandwidth(self):
        """Within 1 % of `mrcsim run` with the same messages between the same light endpoints."""
        for size, messages, qps, both in ((4096, 3000, 1, False), (65536, 1000, 1, False), (65536, 1000, 4, False),
                                          (1 << 20, 100, 1, False), (65536, 1000, 1, True)):
            with self.subTest(size=size, qps=qps, both=both):
                run = write_bw("-s", size, "-n", messages, "-q", qps, *LIKE_RUN, *(["-b"] if both else []), settings=[*FREE, *LIGHT])
                self.assertEqual(run.code, 0, run.err)
                model = model_gbps(size, messages, qps, 128, both, LIGHT) * (2 if both else 1)
                average = run.rows()[0][3]
                print(f"light, {size:8} B, {qps} QPs{', both ways' if both else ''}: {average:8.2f} Gb/s, run {model:8.2f}")
                self.assertLess(abs(average / model - 1), 0.01)
                result = run.result()
                self.assertEqual(result["bytes"]["delivered"], messages * size * qps * (2 if both else 1))
                self.assertAlmostEqual(sum(limit["gbps"] for limit in result["limits"]) + result["goodput_gbps"], 800, delta=4)

    def test_dash_a(self):
        run = write_bw("-a", "-n", 20, settings=LIGHT)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual([int(row[0]) for row in run.rows()], [1 << i for i in range(1, 24)])

    def test_latency(self):
        """No random times of PCIe: all are the same, near those of detailed NICs."""
        light, detailed = (write_lat("-s", 2, "-n", 100, settings=settings).rows()[0] for settings in (LIGHT, ()))
        print("latency, light and detailed:", light[4], detailed[4])
        self.assertLess(light[3] - light[2], 0.02)
        self.assertLess(abs(light[4] / detailed[4] - 1), 0.05)

    def test_bytes_and_order(self):
        for settings in (LIGHT, *MIXED):
            for more in ((), LOSSY):
                with self.subTest(settings=settings, more=more):
                    run = self.check("data", settings=[*settings, *more])
                    self.assertIn("512 WRITEs are right", run.out)
                    if more:
                        self.assertGreater(run.result()["packets"]["retransmitted"], 50)

    def test_refusals(self):
        """Wrong keys and addresses: errors as with detailed NICs, and no byte elsewhere."""
        def errors(run):
            return [line for line in run.out.splitlines() if "then" in line]
        detailed = errors(self.check("refusals", settings=()))
        self.assertEqual(len(detailed), 4)
        for settings in (LIGHT, *MIXED):
            with self.subTest(settings=settings):
                self.assertEqual(errors(self.check("refusals", settings=settings)), detailed)

    def test_beyond(self):
        for settings in (LIGHT, *MIXED):
            with self.subTest(settings=settings):
                run = self.check("beyond", settings=settings, options=["--beyond-mrc"])
                for what in ("READ is right", "atomic operations are right", "refusal is right"):
                    self.assertIn(what, run.out)
                self.assertIn("32 datagrams are right", self.check("datagrams", settings=settings, options=["--beyond-mrc"]).out)

    def test_faults(self):
        run = Run([CHECK, "events", "2"], settings=[*LIGHT, *all_ports("nic0", 1000, 500)])
        expect_port_events(self, run)
        run = self.check("writes", settings=[*LIGHT, *all_ports("nic0", 100), "protocol.linear_retries=1", "protocol.exponential_retries=2"])
        self.assertRegex(run.out, r"WRITE \d+ ended with transport retry counter exceeded")
        self.assertEqual(run.result()["messages"]["failed"], 1)

    def test_same_twice(self):
        """Also the capture, whose WRITEs have the bytes of the program."""
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder, f"{i}.pcapng") for i in range(2)]
            runs = [write_bw("-s", 65536, "-n", 50, "-q", 4, settings=LIGHT, options=["--pcap", str(file)]) for file in files]
            self.assertEqual(*[[line for line in run.printed() if "capture" not in line] for run in runs])
            self.assertEqual(*[{k: v for k, v in run.result().items() if k != "cost"} for run in runs])
            self.assertEqual(*[file.read_bytes() for file in files])
            run = Run([CHECK, "counts", str(PORT)], [CHECK, "counts", str(PORT), LOCAL], settings=LIGHT,
                      options=["--pcap", str(files[0])])
            self.assertEqual(run.code, 0, run.err)
            for number in range(1, 6):
                self.assertIn(struct.pack("<Q", number), files[0].read_bytes())

    def test_many_nodes(self):
        """A program on each of 16 light endpoints."""
        pairs = [["ib_write_bw", "-p", str(PORT + i), "-s", "65536", "-n", "200", "--report_gbits"] for i in range(8)]
        run = Run(*pairs, *[[*words, LOCAL] for words in pairs], settings=[*LIGHT, "fabric.nics=16"])
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(run.result()["bytes"]["delivered"], 8 * 200 * 65536)


class Nodes(unittest.TestCase):
    def test_programs_share_a_node(self):
        """Two pairs on one pair of NICs: each finds its own objects, and all bytes arrive."""
        words = [["ib_write_bw", "-p", str(PORT + i), "-s", "65536", "-n", "500", "--report_gbits"] for i in range(2)]
        run = Run(*words, *[[*w, LOCAL] for w in words], nodes=(0, 0, 1, 1))
        self.assertEqual(run.code, 0, run.err)
        result = run.result()
        self.assertEqual((result["messages"]["completed"], result["bytes"]["delivered"]), (1000, 1000 * 65536))
        for row in run.rows():
            self.assertLess(row[3], 800)

    def test_pairs_share_bandwidth(self):
        """Two pairs on the same two NICs at the same time: each gets about half, and together what one alone gets."""
        alone = write_bw("-s", 65536, "-n", 4000).rows()[0][3]
        words = [["ib_write_bw", "-p", str(PORT + i), "-s", "65536", "-n", "4000", "--report_gbits"] for i in range(2)]
        run = Run(*words, *[[*w, LOCAL] for w in words], nodes=(0, 0, 1, 1))
        self.assertEqual(run.code, 0, run.err)
        rates = [row[3] for row in run.rows()]
        print("alone, two pairs:", alone, rates)
        self.assertEqual(len(rates), 2)
        for rate in rates:
            self.assertLess(abs(rate / (alone / 2) - 1), 0.1)
        self.assertLess(abs(run.result()["goodput_gbps"] / alone - 1), 0.05)

    def test_loop_that_counts(self):
        """A program that counts how often it has looked at its memory sees a write when it comes."""
        program = [CHECK, "counts", str(PORT)]
        run = Run(program, [*program, LOCAL], timeout=60)
        self.assertEqual(run.code, 0, run.err)
        times = [float(time) for time in re.findall(r"([\d.]+) us: round \d, looked often", run.out)]
        self.assertEqual(len(times), 5, run.out)
        for one, other in zip(times, times[1:]):
            self.assertLess(abs(other - one - 107), 10)

    def test_terminals(self):
        """Each program by a command of its own; the run ends with the last of them."""
        with tempfile.TemporaryDirectory() as folder:
            setting = {**os.environ, "TMPDIR": folder}
            words = ["ib_write_bw", "-p", str(PORT), "-s", "65536", "-n", "500", "--report_gbits"]
            model = subprocess.Popen([MRCSIM, "host", PAIR, "--node", "0", "--out", f"{folder}/out", "--", *words], env=setting,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            end = time.monotonic() + 60
            while not programs_of(model.pid) and time.monotonic() < end:
                time.sleep(0.05)

            def join(*options):
                return subprocess.run([MRCSIM, "host", *options], capture_output=True, text=True, check=False, env=setting, timeout=120)
            for options, expected in ((["--node", "7", "--", "true"], "the run to join has nic0 to nic1"),
                                      (["--node", "1", "--seed", "3", "--", "true"], "takes the run's settings"),
                                      (["--node", "1", "--join", "/nowhere", "--", "true"], "/nowhere")):
                done = join(*options)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
                self.assertIn(expected, done.stderr)
            client = join("--node", "1", "--", *words, LOCAL)
            self.assertEqual(client.returncode, 0, client.stderr)
            out, err = model.communicate(timeout=60)
            self.assertEqual(model.returncode, 0, err)
            self.assertIn("complete", out)
            beside = write_bw("-s", 65536, "-n", 500).rows()
            self.assertEqual([row for row in beside if f"{row[3]:.2f}" in client.stdout], beside)
            self.assertEqual(list(pathlib.Path(folder).glob("mrcsim-host-*")), [])
            done = join("--node", "1", "--", "true")
            self.assertEqual(done.returncode, 2)
            self.assertIn("no run to join", done.stderr)


if __name__ == "__main__":
    if missing := [program for program in NEEDED if shutil.which(program) is None]:
        print(f"skipped: {', '.join(missing)} missing (Debian: perftest ibverbs-utils)")
        sys.exit(SKIPPED)
    done = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False).result
    if done.wasSuccessful() and len(done.skipped) >= max(done.testsRun, 1):
        print("skipped:", "; ".join(sorted({reason for _, reason in done.skipped})))
        sys.exit(SKIPPED)
    sys.exit(not done.wasSuccessful())
