-- Measured times of operators and collectives on devices, kept from run to run.
-- Default place: $XDG_DATA_HOME/jointer/costs.sqlite, else ~/.local/share/jointer/costs.sqlite;
-- JOINTER_COSTS names another file.
--
-- PRAGMA application_id is 0x4a4e5452 ("JNTR"). PRAGMA user_version is the version of this schema,
-- major * 100 + minor: a newer major version is refused, a newer minor one only adds tables or
-- columns that an older program does not ask for.
--
-- Times are nanoseconds, dates are seconds since 1970 in UTC. A time is the median of a key's
-- samples; of each key the last nine are kept, one a run.

PRAGMA application_id = 0x4a4e5452;
PRAGMA user_version = 100;

CREATE TABLE device (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,          -- 'NVIDIA H200', 'AMD EPYC 7763, 2 threads'
  type TEXT NOT NULL,                 -- 'cpu', 'cuda'
  first_measured INTEGER NOT NULL,
  last_measured INTEGER NOT NULL
);

-- What a node does: operator, shapes, layouts and types of its tensors, and the numbers that decide
-- the work: 'aten.mm.default(bf16[8,64], bf16[64,64]^1.0)'. See core/cost/work_key.h.
CREATE TABLE node_cost (
  id INTEGER PRIMARY KEY,
  device INTEGER NOT NULL REFERENCES device(id) ON DELETE CASCADE,
  work TEXT NOT NULL,
  UNIQUE (device, work)
);

CREATE TABLE node_sample (
  id INTEGER PRIMARY KEY,             -- grows: the last ones are the newest
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
  machines INTEGER NOT NULL,          -- that the ranks are spread over
  bytes INTEGER NOT NULL,             -- the larger of what one rank gives and what it gets
  dtype TEXT NOT NULL,
  UNIQUE (device, kind, backend, ranks, machines, bytes, dtype)
);

CREATE TABLE collective_sample (
  id INTEGER PRIMARY KEY,
  cost INTEGER NOT NULL REFERENCES collective_cost(id) ON DELETE CASCADE,
  ns INTEGER NOT NULL CHECK (ns >= 0)
);
CREATE INDEX collective_sample_of_cost ON collective_sample(cost);
