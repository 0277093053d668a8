// SPDX-License-Identifier: BSD-3-Clause
// What the server answers to the page Machine (view/answers/machine.h writes it).

// Where each rank ran. Columns are by rank; -1 is unknown.
export interface MachineAnswer {
  program: string;
  started_unix_ns: string; // a string, because a double does not hold it
  seconds: number;
  mpi: string;
  source: string; // what witnessed the messages
  traced: boolean;
  begin_ns: number; // of the trace, in nanoseconds of the run
  end_ns: number;
  hosts: string[];
  host: number[]; // by rank: number of its host
  socket: number[];
  cores: string[]; // by rank: the processors that it may use, as in /sys; "" unknown
  classes: { name: string; hidden: boolean }[];
  functions: { name: string; group: string }[];
  map: PyriteMap | null;
  map_problem: string; // why the map of the run was not used; "" if it was, or there is none
}

// Pyrite's map of a machine (tools/topology_generator.py and slurm_topology_generator.py).
export interface PyriteMap {
  metadata?: { system_name?: string };
  cabinets?: PyriteCabinet[];
}
export interface PyriteCabinet {
  id?: string | number;
  x?: number;
  z?: number;
  racks?: PyriteRack[];
}
export interface PyriteRack {
  id?: string | number;
  x_offset?: number;
  z_offset?: number;
  blades?: { id?: string | number; y_offset?: number; nodes?: PyriteNode[] }[];
  nodes?: PyriteNode[];
}
export interface PyriteNode {
  hostname?: string;
  slot?: number;
  x_offset?: number;
  cpus?: number;
  cores_per_cpu?: number;
}

// The messages and calls of a stretch of time, in bins of equal length; columns of equal length.
export interface TrafficAnswer {
  from_ns: number;
  to_ns: number;
  bins: number;
  flows: {
    bin: number[];
    source: number[];
    destination: number[];
    class: number[];
    messages: number[];
    bytes: number[];
  };
  activity: { bin: number[]; rank: number[]; function: number[]; busy_ns: number[] };
  left_out: number; // rows of flows beyond the most that an answer holds
}

export interface SizesAnswer {
  edges: number[]; // lower ends of the bins, bytes
  functions: string[];
  calls: number[][]; // by function, then by bin
  unsized: number[]; // by function: calls that name no size
}
