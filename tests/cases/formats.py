"""formats.py - cases about the job logs of other clusters, each as its publisher writes it."""
import csv
import io
import json

from lab import V100


def info(lab, trace):
    """The import report of `colosim trace info --json`, and what was said."""
    done = lab.run("trace", "info", trace, "--json")
    return json.loads(done.out), done.err


def converted(lab, trace):
    """The rows of the native trace made of it, by job, and whether converting that once more
    changes nothing."""
    first = lab.run("trace", "convert", trace, "--quiet").out
    again = lab.run("trace", "convert", lab.file("native.csv", first), "--quiet").out
    jobs = {}
    for row in csv.DictReader(io.StringIO(first.decode())):
        jobs.setdefault(row["job"], []).append(row)
    return jobs, again == first


def gpus_of(rows):
    return sum(float(row["gpu"]) * float(row.get("instances", None) or 1) for row in rows)


REQUESTS = """\
gmt_create,predict_type,predict_status,exec_time_seconds,groupId,prompt_length,\
negative_prompt_length,num_images_per_prompt,num_inference_steps,checkpoint_model_version_id,num_lora
2024-11-20 10:00:00,TXT_2_IMG,SUCCEED,30.0,G1,40.0,,1.0,30.0,M1,0
2024-11-20 10:00:00,TXT_2_IMG,SUCCEED,10.0,G1,40.0,12.0,1.0,30.0,M2,1
2024-11-20 10:00:01,TXT_2_IMG,FAILED,84.0,G2,40.0,,1.0,30.0,M1,0
2024-11-20 10:00:05,IMG_2_IMG,SUCCEED,20.0,G1,10.0,,4.0,30.0,M1,0
2024-11-20 10:00:30,TXT_2_IMG,PENDING,0.0,G3,,,,,,0
2024-11-20 10:01:00,INPAINTING,SUCCEED,5.0,G1,10.0,,1.0,20.0,M1,2
2024-11-20 10:01:10,TXT_2_IMG,PROCESSING,43.0,G4,10.0,,1.0,20.0,M1,0
2024-11-20 10:02:00,TXT_2_IMG,SUCCEED,8.0,G5,,,,,,0
2024-11-20 10:02:04,TXT_2_IMG,SUCCEED,6.0,G1,10.0,,8.0,20.0,M3,0
2024-11-20 10:02:05,TXT_2_IMG,FAILED,0.0,G1,10.0,,8.0,20.0,M3,0
"""


def case_01(lab, tap):
    """01 GenTD26 requests"""
    trace = lab.file("lora_request_trace.csv", REQUESTS)
    run = lab.replay(trace, V100.format(1))
    tap.near("latency in file order", list(run.column("jct_s").values()), [30, 40, 55, 5, 8, 10])
    tap.near("mean latency, makespan", [run.metrics["jct_mean_s"], run.metrics["makespan_s"]],
             [148 / 6, 134])
    report, _ = info(lab, trace)
    tap.equal("rows, kept", [report["rows"], report["kept"]], [10, 6])
    dropped = {status: sum(n for reason, n in report["reasons"].items() if status in reason)
               for status in ("FAILED", "PENDING", "PROCESSING")}
    tap.equal("dropped per status", dropped, {"FAILED": 2, "PENDING": 1, "PROCESSING": 1})
    _, same = converted(lab, trace)
    tap.ok("the native trace of it reads back as the same", same)
    run = lab.replay(trace, V100.format(1), "--set", "trace.batch=session")
    tap.near("by session: work of each job", run.column("duration_s"),
             {"batch-1": 55, "batch-2": 10, "batch-3": 8, "batch-4": 6})


def attempt(start, end, *gpus):
    """gpus: how many on each machine."""
    at = lambda clock: clock and f"2017-10-10 {clock}" if clock != "None" else clock
    return {"start_time": at(start), "end_time": at(end),
            "detail": [{"ip": f"m{machine}", "gpus": [f"gpu{i}" for i in range(n)]}
                       for machine, n in enumerate(gpus)]}


def philly_job(name, submitted, *attempts, status="Pass"):
    return {"status": status, "vc": "v0", "jobid": name, "attempts": attempts, "user": "u0",
            "submitted_time": submitted and f"2017-10-10 {submitted}"}


PHILLY = [
    philly_job("p1", "01:00:00", attempt("01:00:30", "01:10:30", 2)),
    philly_job("p2", "01:59:00", attempt("02:00:00", "02:01:14", 8),
               attempt("02:02:00", "02:12:00", 8), status="Failed"),
    philly_job("p3", "02:30:00", status="Killed"),
    philly_job("p4", "02:40:00", attempt("02:41:00", None, 1)),
    philly_job("p5", "02:50:00", attempt("None", "02:55:00", 1)),
    philly_job("p6", "02:59:00", attempt("03:00:00", "03:30:00", 8, 4)),
    philly_job("p7", "03:00:00", attempt("03:00:10", "03:05:10"), status="Killed"),
    philly_job("p8", None, attempt("03:10:00", "03:11:00", 1)),
]


def case_29(lab, tap):
    """29 Philly jobs with odd attempts"""
    for indent in (None, 1):
        trace = lab.file("cluster_job_log", json.dumps(PHILLY, indent=indent))
        report, said = info(lab, trace)
        tap.equal("jobs read, kept, dropped", [report[key] for key in ("rows", "kept", "dropped")],
                  [8, 3, 5])
        tap.equal("one dropped for each reason",
                  [sum(n for reason, n in report["reasons"].items() if word in reason) for word in
                   ("no attempt", "no end", "no start", "no GPU", "no submi")], [1, 1, 1, 1, 1])
        tap.ok("the reasons are said", "no attempt" in said and "no GPU" in said, said)
        jobs, same = converted(lab, trace)
        tap.equal("kept", list(jobs), ["p1", "p2", "p6"])
        tap.near("run time", {name: float(rows[0]["duration_s"]) for name, rows in jobs.items()},
                 {"p1": 600, "p2": 674, "p6": 1800})
        tap.near("gpus", {name: gpus_of(rows) for name, rows in jobs.items()},
                 {"p1": 2, "p2": 8, "p6": 12})
        tap.near("gpu_seconds kept", report["gpu_seconds"], 28192)
        tap.ok("the native trace of it reads back as the same", same)
    run = lab.replay(trace, "m1,V100,96,512,8\nm2,V100,96,512,8\n")
    tap.near("replayed: gpu seconds", run.metrics["gpu_seconds"], 28192)


HELIOS = """\
job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
1,u1,vcA,1,4,1,COMPLETED,2020-06-09 09:00:00,2020-06-09 09:00:00,2020-06-09 09:10:00,600,0
2,u1,vcA,0,4,1,COMPLETED,2020-06-09 09:00:01,2020-06-09 09:00:01,2020-06-09 09:10:01,600,0
3,u2,vcA,12,48,2,CANCELLED,2020-06-09 09:00:02,2020-06-09 09:05:00,2020-06-09 09:15:00,600,298
4,u2,vcB,8,32,1,NODE_FAIL,2020-06-09 09:01:00,2020-06-09 09:01:00,2020-06-09 09:06:00,300,0
5,u3,vcB,1,4,1,FAILED,2020-06-09 09:02:30,2020-06-09 09:02:00,2020-06-09 09:03:00,60,-30
6,u3,vcB,2,4,1,TIMEOUT,2020-06-09 09:03:00,2020-06-09 09:03:00,2020-06-09 09:05:40,100,0
7,u3,vcB,1,4,1,RUNNING,2020-06-09 09:04:00,2020-06-09 09:04:00,,,0
"""


def case_50(lab, tap):
    """50 Helios rows"""
    trace = lab.file("cluster_log.csv", HELIOS)
    report, said = info(lab, trace)
    tap.equal("rows, GPU jobs kept, CPU jobs, dropped",
              [report[key] for key in ("rows", "kept", "apart", "dropped")], [7, 5, 1, 1])
    tap.ok("duration mismatch: job 6, 160 and not 100",
           any("rows: 1 (" in note and "job 6" in note and "160 s, not 100" in note
               for note in report["notes"]), report["notes"])
    tap.ok("start before submission: job 5",
           any("before submission, rows: 1 (" in note and "job 5" in note
               for note in report["notes"]), report["notes"])
    tap.near("gpu_seconds kept", report["gpu_seconds"], 10580)
    tap.ok("and all that is said", "7 rows read, 5 kept (5 jobs), 1 dropped, 1 CPU jobs kept apart"
           in said, said)
    _, same = converted(lab, trace)
    tap.ok("the native trace of it reads back as the same", same)
    run = lab.replay(trace, "m1,V100,96,512,8\nm2,V100,96,512,8\n")
    tap.near("replayed: gpu seconds", run.metrics["gpu_seconds"], 10580)


SWF = "; UnixStartTime: 0\n" + "".join(
    " ".join(map(str, row)) + "\n" for row in (
        (1, 0, 0, 100, 8, -1, -1, 8, 200, -1, 1, 1, 1, -1, 1, -1, -1, -1),
        (2, 10, -1, 50, 20, -1, -1, 20, 60, -1, 1, 2, 1, -1, 1, -1, -1, -1),
        (3, 20, -1, -1, 4, -1, -1, 4, 30, -1, 5, 3, 2, -1, 1, -1, -1, -1)))
PODS = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p0,1000,1024,1,500,,LS,Running,0,100,0
p1,1000,1024,1,500,T4|P100,BE,Succeeded,10,60,20
p2,1000,1024,2,1000,P100,BE,Succeeded,10,60,20
"""
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,1,T4\nn1,64000,262144,2,P100\n"


def case_others(lab, tap):
    """logs of pods and of a workload archive"""
    trace = lab.file("jobs.swf", SWF)
    report, _ = info(lab, trace)
    tap.equal("swf: rows, kept", [report["rows"], report["kept"]], [3, 2])
    run = lab.replay(trace, "4x8:v100-32g")
    tap.near("swf: jct", run.column("jct_s"), {"1": 100, "2": 50})
    tap.near("swf: gpus", run.column("gpu"), {"1": 8, "2": 20})
    lab.file("openb/openb_pod_list.csv", PODS)
    nodes = lab.file("openb/openb_node_list.csv", NODES)
    done = lab.run("run", "--trace", lab.path("openb"), "--policy", "fifo", "--db",
                   lab.path("o.db"), "--json")
    jobs = lab.jobs(lab.path("o.db"), json.loads(done.out)["run"])
    tap.near("openb: jct on the nodes that come with the pods",
             {name: job["jct_s"] for name, job in jobs.items()}, {"p0": 100, "p1": 40, "p2": 40})
    run = lab.replay(lab.path("openb/openb_pod_list.csv"), nodes)
    tap.near("openb: the same with the node list as the cluster", run.column("jct_s"),
             {"p0": 100, "p1": 40, "p2": 40})
    for name in (trace, lab.path("openb")):
        _, same = converted(lab, name)
        tap.ok(f"{name.rpartition('/')[2]}: the native trace reads back as the same", same)


def case_assigned(lab, tap):
    """what a trace lacks is given to its jobs, and said"""
    trace = lab.file("cluster_log.csv", HELIOS)
    rows = lambda *options: list(csv.DictReader(io.StringIO(
        lab.run("trace", "convert", trace, *options).out.decode())))
    on = ("--set", "trace.assign=on")
    given = rows(*on)
    tap.ok("every job has kind, workload and target", all(
        row["kind"] == "train" and row["workload"] and row["min_rate_frac"] == "0.5"
        for row in given), given)
    tap.equal("the same every time", rows(*on), given)
    tap.ok("another seed, another mapping",
           any(rows(*on, "--set", f"trace.assign_seed={seed}") != given for seed in range(2, 5)))
    tap.ok("off, the default: nothing", "workload" not in rows()[0])
    tap.ok("and it says how", "trace.assign=on" in lab.run("trace", "convert", trace).err)
    said = lab.run("trace", "convert", trace, *on).err
    tap.ok("what was assumed is said", "assumed: workload of 5 jobs" in said and
           "assumed: min_rate_frac 0.5" in said, said)
