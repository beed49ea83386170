#pragma once

// The parts of events that a result holds too.

#include "core/bench/event.h"
#include "core/bench/json_fields.h"

namespace jointer {

// Members of an open object.
void write_members(JsonWriter& json, const RankStarted& started);
void write_members(JsonWriter& json, const RankProgress& progress);
void write_members(JsonWriter& json, const RankMeasured& measured, bool with_profile);
void write_members(JsonWriter& json, const RankVerified& verified);

void read_members(FieldReader& fields, RankStarted& started);
void read_members(FieldReader& fields, RankProgress& progress);
void read_members(FieldReader& fields, RankMeasured& measured);
void read_members(FieldReader& fields, RankVerified& verified);

}  // namespace jointer
