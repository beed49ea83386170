-- Measured times of operators and collectives on devices, stored across runs.
-- Default path: $XDG_DATA_HOME/jointer/costs.sqlite, or ~/.local/share/jointer/costs.sqlite;
-- JOINTER_COSTS overrides it.
--
-- PRAGMA application_id is 0x4a4e5452 ("JNTR"). PRAGMA user_version is the version of this schema,
-- major * 100 + minor: newer major versions are rejected; newer minor versions only add tables or
-- columns that older programs do not query. Files of older minor versions are extended when they are
-- written to: 1.1 adds device.gpu.
--
-- Times are in nanoseconds, dates in seconds since 1970 (UTC). The time of a key is the median of
-- its samples; the nine newest samples of each key are stored, one per run.

PRAGMA application_id = 0x4a4e5452;
PRAGMA user_version = 101;

-- The properties of a GPU (core/cost/gpu_properties.h) describe it if it has no built-in description.
CREATE TABLE device (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,          -- 'NVIDIA H200', 'AMD EPYC 7763, 2 threads'
  type TEXT NOT NULL,                 -- 'cpu', 'cuda'
  first_measured INTEGER NOT NULL,
  last_measured INTEGER NOT NULL,
  gpu TEXT                            -- a GPU's properties: 'gpu{"name":"NVIDIA L40S",...}', or NULL
);

-- The work of a node: its operator, the shapes, layouts and types of its tensors, and the numbers
-- that determine the work: 'aten.mm.default(bf16[8,64], bf16[64,64]^1.0)'. See core/cost/work_key.h.
CREATE TABLE node_cost (
  id INTEGER PRIMARY KEY,
  device INTEGER NOT NULL REFERENCES device(id) ON DELETE CASCADE,
  work TEXT NOT NULL,
  UNIQUE (device, work)
);

CREATE TABLE node_sample (
  id INTEGER PRIMARY KEY,             -- ascending: higher ids are newer
  cost INTEGER NOT NULL REFERENCES node_cost(id) ON DELETE CASCADE,
  ns INTEGER NOT NULL CHECK (ns >= 0)
);
CREATE INDEX node_sample_of_cost ON node_sample(cost);

CREATE TABLE collective_cost (
  id INTEGER PRIMARY KEY,
  device INTEGER NOT NULL REFERENCES device(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                 -- 'all-gather', 'reduce-scatter', 'all-reduce', ...
  backend TEXT NOT NULL,              -- 'gloo', 'nccl'
  ranks INTEGER NOT NULL,             -- in the group
  machines INTEGER NOT NULL,          -- number of machines with ranks of the group
  bytes INTEGER NOT NULL,             -- the larger of a rank's input and output
  dtype TEXT NOT NULL,
  UNIQUE (device, kind, backend, ranks, machines, bytes, dtype)
);

CREATE TABLE collective_sample (
  id INTEGER PRIMARY KEY,
  cost INTEGER NOT NULL REFERENCES collective_cost(id) ON DELETE CASCADE,
  ns INTEGER NOT NULL CHECK (ns >= 0)
);
CREATE INDEX collective_sample_of_cost ON collective_sample(cost);
