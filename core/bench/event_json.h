#pragma once

// Reads and writes the parts of events that a benchmark result also contains.

#include "core/bench/event.h"
#include "core/bench/json_fields.h"

namespace jointer {

// These write and read the members of an open object.
void write_members(JsonWriter& json, const RankStarted& started);
void write_members(JsonWriter& json, const RankProgress& progress);
void write_members(JsonWriter& json, const RankMeasured& measured, bool with_profile);
void write_members(JsonWriter& json, const RankVerified& verified);

void read_members(FieldReader& fields, RankStarted& started);
void read_members(FieldReader& fields, RankProgress& progress);
void read_members(FieldReader& fields, RankMeasured& measured);
void read_members(FieldReader& fields, RankVerified& verified);

}  // namespace jointer
