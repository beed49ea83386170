#include "core/base/json_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace jointer::test {

struct Wheel {
  int spokes = 0;
  std::string tyre;
};
struct Point {
  std::int64_t x = 0;
  std::uint32_t y = 0;
};
enum class Color : std::uint8_t { red, blue };
constexpr std::array kColors{Color::red, Color::blue};
std::string_view to_string(Color color) {
  return color == Color::red ? "red" : "blue";
}
struct Car {
  std::string name;
  Color color = Color::red;
  bool is_new = false;
  double length = 0;
  std::optional<std::int64_t> seats;
  std::optional<Wheel> spare;
  std::vector<Wheel> wheels;
  std::vector<Point> path;
  std::int64_t delay_ns = 0;
  std::string options = "{}";
  std::string comment;
  std::string extra;
};

constexpr auto json_fields(const Wheel* /*of*/) {
  return std::tuple(json_field("spokes", &Wheel::spokes).required(),
                    json_field("tyre", &Wheel::tyre).if_set());
}

std::int64_t to_us(std::int64_t ns) {
  return ns / 1000;
}
std::int64_t from_us(std::int64_t us) {
  return us * 1000;
}

constexpr auto json_fields(const Car* /*of*/) {
  return std::tuple(
      json_field("name", &Car::name).required(),
      json_choice("color", &Car::color, kColors, &to_string), json_field("is_new", &Car::is_new),
      json_field("length", &Car::length), json_field("seats", &Car::seats).if_set(),
      json_field("spare", &Car::spare), json_field("wheels", &Car::wheels).if_set(),
      json_columns("path", &Car::path, json_column("x", &Point::x), json_column("y", &Point::y)),
      json_converted("delay_us", &Car::delay_ns, &to_us, &from_us),
      json_raw("options", &Car::options, JsonForm::object),
      json_field("comment", &Car::comment).if_set().lenient(), json_rest(&Car::extra));
}

namespace {

using testing::HasSubstr;

constexpr std::string_view kAll =
    R"({"name":"a","color":"blue","is_new":true,"length":4.5,"seats":5,"spare":{"spokes":3},)"
    R"("wheels":[{"spokes":4,"tyre":"t"},{"spokes":5}],"path":{"x":[1,-2],"y":[3,4]},)"
    R"("delay_us":7,"options":{"k":[1,2.0]},"comment":"c","later":{"z":[null]}})";

Result<Car> read(std::string_view text) {
  return from_json<Car>(*parse_json(text, "car"));
}

TEST(JsonFields, OneTableReadsAndWrites) {
  const auto car = read(kAll);
  ASSERT_TRUE(car) << car.error().message;
  EXPECT_EQ(car->color, Color::blue);
  EXPECT_EQ(car->seats, 5);
  EXPECT_EQ(car->spare->spokes, 3);
  EXPECT_EQ(car->wheels[1].spokes, 5);
  EXPECT_EQ(car->path[1].x, -2);
  EXPECT_EQ(car->path[1].y, 4U);
  EXPECT_EQ(car->delay_ns, 7000);
  EXPECT_EQ(car->options, R"({"k":[1,2.0]})");
  EXPECT_EQ(car->extra, R"("later":{"z":[null]})");
  EXPECT_EQ(write_json(json_of(*car)), kAll);
}

TEST(JsonFields, MissingMembersHaveTheirDefaults) {
  const auto car = read(R"({"name":"a","seats":null,"is_new":null,"comment":7})");
  ASSERT_TRUE(car) << car.error().message;
  EXPECT_EQ(write_json(json_of(*car)),
            R"({"name":"a","color":"red","is_new":false,"length":0.0,"spare":null,)"
            R"("delay_us":0,"options":{}})");
}

// A lenient field must read what it can, and objects have no lenient form.
template <class Field>
concept CanBeLenient = requires(const Field& field) {
  field.lenient();
};
static_assert(CanBeLenient<JsonField<Car, std::string>>);
static_assert(CanBeLenient<JsonField<Car, std::optional<std::int64_t>>>);
static_assert(CanBeLenient<JsonField<Car, std::vector<std::string>>>);
static_assert(!CanBeLenient<JsonField<Car, Wheel>>);
static_assert(!CanBeLenient<JsonField<Car, std::optional<Wheel>>>);
static_assert(!CanBeLenient<JsonField<Car, std::vector<Wheel>>>);

TEST(JsonFields, ErrorsNameTheLocation) {
  const auto problem = [](std::string_view members) {
    const auto car = read("{" + std::string(members) + "}");
    EXPECT_FALSE(car) << members;
    return car ? std::string() : car.error().message;
  };
  EXPECT_EQ(problem(""), "`name` is missing");
  EXPECT_EQ(problem(R"("name":3)"), "`name`: expected a string");
  EXPECT_EQ(problem(R"("name":"a","is_new":1)"), "`is_new`: expected true or false");
  EXPECT_EQ(problem(R"("name":"a","length":"4")"), "`length`: expected a number");
  EXPECT_EQ(problem(R"("name":"a","seats":1.5)"), "`seats`: expected an integer");
  EXPECT_EQ(problem(R"("name":"a","color":"green")"), "`color`: expected one of red, blue");
  EXPECT_EQ(problem(R"("name":"a","spare":[])"), "`spare`: expected an object");
  EXPECT_EQ(problem(R"("name":"a","spare":{})"), "`spare`: `spokes` is missing");
  EXPECT_EQ(problem(R"("name":"a","wheels":{})"), "`wheels`: expected a list");
  EXPECT_EQ(problem(R"("name":"a","wheels":[{"spokes":1},{"spokes":"2"}])"),
            "`wheels` 1: `spokes`: expected an integer");
  EXPECT_THAT(problem(R"("name":"a","path":{"x":[1],"y":[]})"), HasSubstr("`path`: `y`"));
  EXPECT_THAT(problem(R"("name":"a","path":{"x":[1],"y":[-1]})"), HasSubstr("at least 0"));
  EXPECT_EQ(problem(R"("name":"a","options":[])"), "`options`: expected an object");
  // Only the first one counts.
  EXPECT_EQ(problem(R"("name":3,"length":"4")"), "`name`: expected a string");
  EXPECT_EQ(from_json<Car>(OrderedJson(3), "car 2").error().message, "car 2: expected an object");
}

TEST(JsonFields, NumbersThatJsonLacksAreStrings) {
  for (const double value : {std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(), 1e-45, 0.1}) {
    double again = 0;
    EXPECT_EQ(read_json(json_of(value), again), nullptr);
    EXPECT_EQ(again, value);
  }
  EXPECT_EQ(write_json(json_of(std::numeric_limits<double>::quiet_NaN())), R"("nan")");
}

TEST(JsonFields, NumbersKeepTheirRange) {
  std::uint32_t small = 7;
  EXPECT_NE(read_json(OrderedJson(std::int64_t{1} << 32), small), nullptr);
  EXPECT_NE(read_json(OrderedJson(-1), small), nullptr);
  std::int64_t large = 7;
  EXPECT_NE(read_json(OrderedJson(std::numeric_limits<std::uint64_t>::max()), large), nullptr);
  EXPECT_EQ(small, 7U);
  EXPECT_EQ(large, 7);
}

}  // namespace
}  // namespace jointer::test
