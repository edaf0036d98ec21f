#!/usr/bin/env bash
# Sweeps as job arrays of a Slurm that is started here: slurm_test.sh MRCSIM REPOSITORY. Controller, node daemon and munge
# run with ports, keys and folders of their own and are gone at the end. Exits with 77 and a reason where they cannot run.
set -euo pipefail
mrcsim=$(realpath "$1")
scenario=$(realpath "$2")/tb/scenarios/pair.toml

skip() { echo "SKIPPED: $*"; exit 77; }
for program in munged slurmctld slurmd sbatch squeue scancel scontrol; do
  command -v "$program" >/dev/null || PATH=$PATH:/usr/sbin command -v "$program" >/dev/null ||
    skip "$program is missing (Debian: slurm-wlm, munge)"
done
PATH=$PATH:/usr/sbin
[ "$(id -u)" -eq 0 ] || skip "slurmd wants root"

scratch=$(mktemp -d /tmp/mrcsim_slurm.XXXXXX)
started=()
stop_slurm() {
  local daemon pid
  for daemon in "${started[@]}"; do
    for _ in $(seq 50); do [ -s "$scratch/$daemon.pid" ] || sleep 0.1; done
    pid=$(cat "$scratch/$daemon.pid" 2>/dev/null) || continue
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    rm -f "$scratch/$daemon.pid"
  done
  started=()
}
finish() {
  stop_slurm
  [ ! -s "$scratch/munged.pid" ] || kill "$(cat "$scratch/munged.pid")" 2>/dev/null || true
  sleep 0.5; rm -rf "$scratch" || { sleep 2; rm -rf "$scratch"; }
}
trap finish EXIT
fail() {
  echo "FAILED: $*" >&2
  tail -n 20 "$scratch"/slurmctld.log "$scratch"/slurmd.log >&2 || true
  exit 1
}

chmod 755 "$scratch"
dd if=/dev/urandom of="$scratch/munge.key" bs=128 count=1 status=none
chmod 400 "$scratch/munge.key"
munged --force --key-file="$scratch/munge.key" --socket="$scratch/munge.socket" --pid-file="$scratch/munged.pid" \
  --log-file="$scratch/munged.log" --seed-file="$scratch/munged.seed" || skip "munged does not start"

free_port() {
  for _ in $(seq 50); do
    local port=$((20000 + RANDOM % 20000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}
host=$(hostname -s)
start_slurm() { # MaxArraySize
  mkdir -p "$scratch/state" "$scratch/spool"
  cat >"$scratch/slurm.conf" <<CONF
ClusterName=mrcsim_test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket
CredType=cred/munge
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MaxArraySize=$1
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
  export SLURM_CONF=$scratch/slurm.conf
  slurmctld || skip "slurmctld does not start"
  started=(slurmctld)
  slurmd || skip "slurmd does not start"
  started=(slurmd slurmctld)
  for _ in $(seq 150); do
    case "$(sinfo --noheader --format=%T 2>/dev/null)" in idle*) return ;; esac
    sleep 0.2
  done
  cat "$scratch"/slurmctld.log "$scratch"/slurmd.log | tail -n 20
  skip "the node does not become idle"
}

cd "$scratch"
results() { # database
  python3 - "$1" <<'PY'
import hashlib, sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("SELECT settings, seed, status, result FROM runs JOIN run r ON r.id = run_id ORDER BY 1, 2".replace("settings, seed, status", "runs.settings, runs.seed, runs.status")):
    print(row[0], row[1], row[2], hashlib.sha256((row[3] or "").encode()).hexdigest())
PY
}
quick=(--set traffic.byte_scale=0.02 --set host.payload=reference --vary pcie.read_tags=64..512:x2 --seeds 2)
slow=(--set traffic.byte_scale=0.5 --vary pcie.read_tags=128..512:x2 --seeds 3 --vary nic.ports=8)

echo "== an array of 8, results as those of local runs"
start_slurm 1001
"$mrcsim" sweep "$scenario" "${quick[@]}" --db a.sqlite --on slurm >a.out 2>a.err || fail "sweep: $(cat a.err)"
grep -q 'submitted job array [0-9]* of 8 tasks' a.err || fail "$(cat a.err)"
grep -q '8 runs: 8 executed, 0 reused' a.out || fail "$(cat a.out)"
"$mrcsim" sweep "$scenario" "${quick[@]}" --db local.sqlite --quiet
results a.sqlite >a.results
results local.sqlite >local.results
[ "$(wc -l <a.results)" -eq 8 ] && [ "$(grep -c ' complete ' a.results)" -eq 8 ] || fail "$(cat a.results)"
cmp a.results local.results || fail "the cluster's results differ from local ones"
[ ! -e a.sqlite.runs ] || fail "a.sqlite.runs is left behind"
"$mrcsim" sweep "$scenario" "${quick[@]}" --db a.sqlite --on slurm >a.out 2>a.err
grep -q '0 executed, 8 reused' a.out && [ ! -s a.err ] || fail "done runs are done again"

echo "== killed while the array runs: its tasks are fetched, not submitted again"
"$mrcsim" sweep "$scenario" "${slow[@]}" --db b.sqlite --on slurm >/dev/null 2>b.err &
sweep=$!
for _ in $(seq 100); do grep -qs submitted b.err && break; sleep 0.1; done
kill -9 "$sweep"
wait "$sweep" 2>/dev/null || true
"$mrcsim" sweep "$scenario" "${slow[@]}" --db b.sqlite --on slurm >b.out 2>b.err || fail "$(cat b.err)"
! grep -q submitted b.err || fail "submitted again: $(cat b.err)"
[ "$(results b.sqlite | grep -c ' complete ')" -eq 9 ] || fail "$(cat b.out)"

echo "== tasks that are cancelled are named, the others are kept, and they are submitted again"
"$mrcsim" sweep "$scenario" "${slow[@]}" --set pcie.mps_bytes=512 --db c.sqlite --on slurm >/dev/null 2>c.err &
sweep=$!
for _ in $(seq 100); do grep -qs submitted c.err && break; sleep 0.1; done
array=$(sed -n 's/.*job array \([0-9]*\) of.*/\1/p' c.err)
scancel "${array}_8"
for _ in $(seq 100); do squeue --array --noheader --states=running --format=%i | grep -qx "${array}_0" && break; sleep 0.1; done
scancel "${array}_0"
code=0
wait "$sweep" || code=$?
[ "$code" -eq 1 ] || fail "exit code $code: $(cat c.err)"
grep -q "Slurm task ${array}_0 ended without a result: CANCELLED" c.err || fail "$(cat c.err)"
# One that had not begun leaves no trace in this Slurm.
grep -q "Slurm task ${array}_8 ended without a result: " c.err || fail "$(cat c.err)"
[ "$(results c.sqlite | grep -c ' complete ')" -eq 7 ] || fail "others are lost: $(results c.sqlite)"
"$mrcsim" sweep "$scenario" "${slow[@]}" --set pcie.mps_bytes=512 --db c.sqlite --on slurm >c.out 2>c.err
grep -q '2 executed, 7 reused' c.out || fail "$(cat c.out c.err)"

echo "== more runs than an array may have tasks"
stop_slurm
rm -rf "$scratch/state" "$scratch/spool"
start_slurm 6
"$mrcsim" sweep "$scenario" "${quick[@]}" --db d.sqlite --on slurm >d.out 2>d.err || fail "$(cat d.err)"
[ "$(sed -n 's/.* of \([0-9]*\) tasks.*/\1/p' d.err | xargs)" = "5 3" ] || fail "$(cat d.err)"
results d.sqlite | cmp - local.results || fail "results differ"
echo "passed"
