#!/bin/sh
# JSON Schemas of `weft keys --schema`: every file of configs/ is valid under that of its kind, and a key that no reader knows is not.
#     FOLDER=build/release tests/schema.sh
# Needs python3-yaml and python3-jsonschema, which `make test` installs; skipped with a line where they are missing.
set -u
cd "$(dirname "$0")/.." || exit 2
python3 -c 'import yaml, jsonschema' 2>/dev/null || { echo "schema.sh: skipped, no python3-yaml or python3-jsonschema"; exit 0; }
exec python3 - "${FOLDER:-build/release}/weft" <<'..'
import copy, glob, json, random, subprocess, sys
import jsonschema, yaml

weft = sys.argv[1]
FOLDERS = {"networks": "network", "npus": "npu", "servers": "server", "systems": "like", "parts": "parts", "models": "model", "workloads": "workload",
           "studies": "study", "clusters": "place"}

def schema(kind, known={}):
    if kind not in known:
        text = subprocess.run([weft, "keys", "--schema", kind], capture_output=True, text=True, check=True).stdout
        jsonschema.Draft7Validator.check_schema(json.loads(text))
        known[kind] = jsonschema.Draft7Validator(json.loads(text))
    return known[kind]

def kind_of(path):
    parts = path.split("/")
    if "profiles" in parts:
        return "profile"
    if parts[-1].startswith("gossip"):
        return "gossip"
    if parts[-1].startswith("heter"):
        return "hetero"
    return FOLDERS.get(parts[1])

# Maps whose keys are the user's own: names of groups, resources and axes.
FREE = {"vary", "zip", "union", "keys", "groups", "compute_ms", "comm_ms", "handover_ms", "servers", "demand", "sobol",
        "factor", "tiers"}

def maps(node, own=True):
    if isinstance(node, dict):
        if own:
            yield node
        for key, value in node.items():
            yield from maps(value, own and key not in FREE)
    elif isinstance(node, list):
        for value in node:
            yield from maps(value, own)

faults = files = refused = 0
draw = random.Random(1)
for path in sorted(glob.glob("configs/**/*.yaml", recursive=True)):
    kind = kind_of(path)
    if not kind:
        continue
    files += 1
    doc = yaml.safe_load(open(path))
    for error in schema(kind).iter_errors(doc):
        faults += 1
        print(f"{path}: {list(error.absolute_path)}: {error.message:.200}")
    # A misspelt key somewhere in the file, which the program refuses too.
    for _ in range(3):
        wrong = copy.deepcopy(doc)
        at = draw.choice(list(maps(wrong)))
        at["bw_Gbsp"] = 1
        if schema(kind).is_valid(wrong):
            faults += 1
            print(f"{path}: an unknown key passes beside {list(at)[:4]}")
        refused += 1

WRONG = {
    "study": ["{network: 'ring:4@1', workloads: 3}", "{network: 'ring:4@1', objective: fastest}", "{network: 'ring:4@1', model: [alpha-beta]}",
              "{network: {dims: [{shape: ring, size: 1}]}}", "{network: {dims: [{shape: circle, size: 4}]}}",
              "{network: {dims: [{shape: ring, size: 4, bw_GBps: -1}]}}", "{network: {dims: [{shape: ring, size: four}]}}",
              "{network: 'ring:4@1', budget: 10}", "{network: 'ring:4@1', total_GBps: many}"],
    "network": ["{dims: {shape: ring}}", "{npu: [h100], dims: [{shape: ring, size: 4}]}"],
    "npu": ["{peak_TFLOPS: fast}", "{name: x, mem_GB: -3}"],
    "model": ["{layers: 2.5}", "{hidden: wide}"],
    "place": ["{model: nosuch}"],
}
for kind, texts in WRONG.items():
    for text in texts:
        if schema(kind).is_valid(yaml.safe_load(text)):
            faults += 1
            print(f"{kind}: passes: {text}")
for text in ["{network: h100, vary: {network: [a, b]}}", "{network: 'ring:4@1', total_GBps: 1e3}", "{network: {npu: b200, dims: 'ring:4@1'}}"]:
    for error in schema("study").iter_errors(yaml.safe_load(text)):
        faults += 1
        print(f"study: {text}: {error.message:.200}")
print(f"{files} files are valid, {refused} misspelt keys and {sum(map(len, WRONG.values()))} wrong values are not; {faults} faults")
sys.exit(1 if faults or files < 80 else 0)
..
