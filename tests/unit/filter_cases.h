/* tests/unit/filter_cases.h - rows, filters with the rows that they find, and filters that are
 * refused, with the column and what is said. */
#ifndef FILTER_CASES_H
#define FILTER_CASES_H

static const char filter_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"id\":{\"type\":\"integer\"},"
    "\"name\":{\"type\":\"string\"},"
    "\"population\":{\"type\":[\"integer\",\"null\"]},"
    "\"area\":{\"type\":\"number\"},"
    "\"capital\":{\"type\":\"boolean\"},"
    "\"founded\":{\"type\":\"string\",\"format\":\"date\"},"
    "\"seen\":{\"type\":\"string\",\"format\":\"date-time\"},"
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"address\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},"
    "\"geo\":{\"type\":\"object\",\"properties\":{\"lat\":{\"type\":\"number\"}}},"
    "\"in\":{\"type\":\"integer\"}}},"
    "\"extra\":{\"type\":\"object\"},"
    "\"anything\":{},"
    "\"date\":{\"type\":\"string\"},"
    "\"odd name\":{\"type\":\"integer\"},"
    "\"or\":{\"type\":\"integer\"},"
    "\"q\\\"q\":{\"type\":\"integer\"},"
    "\"größe\":{\"type\":\"integer\"}}}";

static const char *const filter_rows[] = {
    /* 1 */
    "{\"id\":1,\"name\":\"Berlin\",\"population\":3600000,\"area\":891.7,\"capital\":true,"
    "\"founded\":\"1237-10-28\",\"seen\":\"2024-01-31T10:00:00Z\",\"tags\":[\"big\"],"
    "\"address\":{\"city\":\"Mitte\",\"geo\":{\"lat\":52.5},\"in\":1},\"extra\":{\"color\":\"red\"}"
    ","
    "\"anything\":1,\"date\":\"x\",\"odd name\":7,\"or\":1,\"q\\\"q\":1,\"größe\":4}",
    /* 2 */
    "{\"id\":2,\"name\":\"Bonn\",\"population\":330000,\"area\":141,\"capital\":false,"
    "\"founded\":\"1243-03-18\",\"seen\":\"2024-01-31T11:00:00+02:00\",\"tags\":[],"
    "\"address\":{\"city\":\"O'Hara\"},\"extra\":{\"color\":5},\"anything\":\"1\","
    "\"date\":\"y\",\"odd name\":8,\"or\":2,\"q\\\"q\":2,\"größe\":5}",
    /* 3: nulls */
    "{\"id\":3,\"name\":\"Null Island\",\"population\":null,\"capital\":null,\"address\":null,"
    "\"anything\":null}",
    /* 4: nothing but the key */
    "{\"id\":4}",
    /* 5 */
    "{\"id\":5,\"name\":\"100%_\\\\ sure\",\"population\":-5,\"area\":-0.5,\"capital\":true,"
    "\"founded\":\"2024-02-29\",\"seen\":\"2024-01-31T10:00:00.5Z\",\"address\":{\"geo\":{\"lat\":-"
    "33}},"
    "\"anything\":true,\"extra\":{\"color\":\"blue\",\"deep\":{\"er\":[1]}}}",
    /* 6: large numbers */
    "{\"id\":6,\"name\":\"Größe\",\"population\":9007199254740993,\"area\":9007199254740992,"
    "\"anything\":9223372036854775807,\"seen\":\"2016-12-31T23:59:60Z\"}",
    /* 7: values that are not what the schema says */
    "{\"id\":7,\"name\":7,\"population\":\"many\",\"area\":\"1\",\"capital\":\"yes\","
    "\"founded\":\"2024-02-30\",\"seen\":\"yesterday\",\"address\":\"here\",\"extra\":[1],"
    "\"anything\":{\"a\":1}}",
    /* 8 */
    "{\"id\":8,\"name\":\"\",\"population\":0,\"area\":0,\"anything\":[1,2],\"tags\":[\"a\",\"b\"],"
    "\"founded\":\"0000-01-01\",\"seen\":\"0000-01-01T00:00:00+23:59\"}",
};

static const struct {
    const char *text, *rows;
} filter_cases[] = {
    /* comparisons of numbers */
    {"id = 1", "1"},
    {"id=1", "1"},
    {"id != 1", "2 3 4 5 6 7 8"},
    {"id <> 1", "2 3 4 5 6 7 8"},
    {"id < 3", "1 2"},
    {"id <= 3", "1 2 3"},
    {"id > 6", "7 8"},
    {"id >= 6", "6 7 8"},
    {"population = 3600000.0", "1"},
    {"population = 36e5", "1"},
    {"population = 0.5", ""},
    {"population > -5.5 and population < 0.5", "5 8"},
    {"population = -5", "5"},
    {"population>-6 and population<-4", "5"},
    {"population = 0", "8"},
    {"population = -0", "8"},
    {"population = -0.0", "8"},
    {"area = -0.5", "5"},
    {"area = 141", "2"},
    {"area = 141.0", "2"},
    {"area < 0", "5"},
    /* exact beyond 2^53 */
    {"population = 9007199254740993", "6"},
    {"population = 9007199254740992", ""},
    {"population > 9007199254740992", "6"},
    {"population > 9007199254740992.0", "6"},
    {"population >= 9007199254740994", ""},
    {"anything = 9223372036854775807", "6"},
    {"anything < 9223372036854775808", "1 6"},
    {"anything = 9223372036854775808", ""},
    {"anything >= 9223372036854775808", ""},
    {"anything > -9223372036854775809", "1 6"},
    {"anything < 1e300", "1 6"},
    {"anything > -1e300", "1 6"},
    /* text */
    {"name = 'Bonn'", "2"},
    {"name = 'bonn'", ""},
    {"name < 'C'", "1 2 5 8"},
    {"name = ''", "8"},
    {"name != 'Bonn'", "1 3 5 6 8"},
    {"name = 'Größe'", "6"},
    {"name >= 'Bonn' and name <= 'Bonn'", "2"},
    {"address.city = 'O''Hara'", "2"},
    {"name > 'Berli' and name < 'Berlio'", "1"},
    /* booleans */
    {"capital = true", "1 5"},
    {"capital = FALSE", "2"},
    {"capital != true", "2"},
    {"capital in (true, false)", "1 2 5"},
    {"not capital = true", "2"},
    {"capital not in (true)", "2"},
    /* null */
    {"population is null", "3 4"},
    {"population is not null", "1 2 5 6 7 8"},
    {"not population is null", "1 2 5 6 7 8"},
    {"not population is not null", "3 4"},
    {"population = 1 or not population = 1", "1 2 5 6 8"},
    {"not (population = 1 and name = 'x')", "1 2 3 5 6 8"},
    {"not (population = 1 or id = 4)", "1 2 5 6 8"},
    {"population is null or population < 0", "3 4 5"},
    {"population is null and name is not null", "3"},
    {"tags is null", "3 4 5 6 7"},
    {"tags IS NOT NULL", "1 2 8"},
    {"address is null", "3 4 6 8"},
    {"address.geo is null", "2 3 4 6 7 8"},
    {"address.geo.lat is null", "2 3 4 6 7 8"},
    /* lists */
    {"id in (1)", "1"},
    {"id in (3, 1, 3, 99)", "1 3"},
    {"id not in (1, 2, 3)", "4 5 6 7 8"},
    {"population in (0, -5.0, 330000)", "2 5 8"},
    {"population not in (0, -5)", "1 2 6"},
    {"not population in (0, -5)", "1 2 6"},
    {"name in ('Bonn', 'Berlin', '')", "1 2 8"},
    {"name not in ('Bonn')", "1 3 5 6 8"},
    {"name NOT IN ('Bonn', 'Berlin')", "3 5 6 8"},
    {"not name not in ('Bonn')", "2"},
    {"id = 1 or id = 2 or id in (5, 6)", "1 2 5 6"},
    {"not (id != 1 and id != 2)", "1 2"},
    /* between */
    {"id between 2 and 4", "2 3 4"},
    {"id not between 2 and 4", "1 5 6 7 8"},
    {"id between 4 and 2", ""},
    {"population between -5 and 0", "5 8"},
    {"population not between -5 and 0", "1 2 6"},
    {"name between 'B' and 'C'", "1 2"},
    {"id between 2 and 4 and capital is null", "3 4"},
    {"not id between 2 and 4 or id = 3", "1 3 5 6 7 8"},
    {"area between -0.5 and 141", "2 5 8"},
    /* like */
    {"name like 'B%'", "1 2"},
    {"name like 'b%'", ""},
    {"name like '%n'", "1 2"},
    {"name like '%n%'", "1 2 3"},
    {"name like 'B__n'", "2"},
    {"name like 'B%n'", "1 2"},
    {"name like 'Bonn'", "2"},
    {"name like 'Bon'", ""},
    {"name like '%'", "1 2 3 5 6 8"},
    {"name like ''", "8"},
    {"name like '_%'", "1 2 3 5 6"},
    {"name like 'Gr__e'", "6"},
    {"name like '%ö%'", "6"},
    {"name like '__ö_e'", "6"},
    {"name like '%\\%%'", "5"},
    {"name like '%\\_%'", "5"},
    {"name like '%\\\\%'", "5"},
    {"name like '100\\%\\_\\\\ sure'", "5"},
    {"name like '%i%s%d'", ""},
    {"name like '%l%I%d'", "3"},
    {"name like '%l_I%d'", "3"},
    {"name like '%l_I_l%'", "3"},
    {"name like '%%%'", "1 2 3 5 6 8"},
    {"name like 'B%_n'", "1 2"},
    {"name like '%_onn'", "2"},
    {"name like '%__onn'", ""},
    {"name like '_____%'", "1 3 5 6"},
    {"name not like 'B%'", "3 5 6 8"},
    {"not name like 'B%'", "3 5 6 8"},
    {"founded like '12%'", "1 2"},
    {"seen like '%+02:00'", "2"},
    {"anything like '1'", "2"},
    /* dates */
    {"founded = date '1237-10-28'", "1"},
    {"founded = '1237-10-28'", "1"},
    {"founded < date '2024-02-29'", "1 2 8"},
    {"founded <= date '2024-02-29'", "1 2 5 8"},
    {"founded != date '2024-02-29'", "1 2 8"},
    {"founded between date '1200-01-01' and date '1299-12-31'", "1 2"},
    {"founded in ('1237-10-28', date '2024-02-29')", "1 5"},
    {"founded < datetime '2024-02-29T00:00:01Z'", "1 2 5 8"},
    {"founded > datetime '2024-02-28T23:59:59Z'", "5"},
    {"founded = datetime '2024-02-29T00:00:00Z'", "5"},
    {"founded = datetime '2024-02-29T02:00:00+02:00'", "5"},
    {"founded = datetime '2024-02-29T00:00:01Z'", ""},
    {"seen = datetime '2024-01-31T10:00:00Z'", "1"},
    {"seen = timestamp '2024-01-31t12:00:00+02:00'", "1"},
    {"seen = '2024-01-31T05:00:00-05:00'", "1"},
    {"seen < datetime '2024-01-31T10:00:00Z'", "2 6 8"},
    {"seen >= datetime '2024-01-31T10:00:00Z'", "1 5"},
    {"seen > '2024-01-31T10:00:00.4999Z'", "5"},
    {"seen = '2024-01-31T10:00:00.50Z'", "5"},
    {"seen >= date '2024-01-31'", "1 2 5"},
    {"seen = datetime '2017-01-01T00:00:00Z'", "6"},
    {"seen = datetime '2016-12-31T23:59:60Z'", "6"},
    {"seen < date '0000-01-01'", "8"},
    {"seen is not null", "1 2 5 6 7 8"},
    {"not seen = date '2024-01-31'", "1 2 5 6 8"},
    {"seen in ('2024-01-31T09:00:00Z', '2016-12-31T23:59:60Z')", "2 6"},
    {"date = 'x'", "1"},
    {"date='y'", "2"},
    {"date in ('x','y')", "1 2"},
    /* paths and names */
    {"address.city = 'Mitte'", "1"},
    {"address . city = 'Mitte'", "1"},
    {"\"address\".\"city\" = 'Mitte'", "1"},
    {"address.geo.lat > 0", "1"},
    {"address.geo.lat <= -33", "5"},
    {"address.in = 1", "1"},
    {"\"odd name\" = 7", "1"},
    {"\"or\" = 2", "2"},
    {"\"q\"\"q\" = 2", "2"},
    {"größe = 4", "1"},
    {"\"größe\" > 4", "2"},
    /* without a type */
    {"extra.color = 'red'", "1"},
    {"extra.color = 5", "2"},
    {"extra.color != 'red'", "5"},
    {"extra.color is null", "3 4 6 7 8"},
    {"extra.deep.er is not null", "5"},
    {"anything = 1", "1"},
    {"anything = '1'", "2"},
    {"anything = true", "5"},
    {"anything.a = 1", "7"},
    {"anything is null", "3 4"},
    {"anything != 1", "6"},
    {"anything not in (1, 2)", "6"},
    /* and, or, not */
    {"id = 1 or id = 2 and name = 'x'", "1"},
    {"(id = 1 or id = 2) and name = 'Bonn'", "2"},
    {"not id = 1 and id < 3", "2"},
    {"not (id = 1 and id < 3)", "2 3 4 5 6 7 8"},
    {"not not id = 1", "1"},
    {"not (not (id = 1) or id > 5)", "1"},
    {"NOT(id>1)Or id=8 aNd name=''", "1 8"},
    {"((((id = 1))))", "1"},
    {"id = 1 and id = 2", ""},
    {"id > 1 and id > 2 and id > 3 and id < 8 and (id = 4 or id = 6 or name is null)", "4 6"},
    {"\n\tid\r\n=\t1 ", "1"},
    {"id = 1 or (name like 'B%' and not capital = true) or population is null", "1 2 3 4"},
    {"not (id in (1, 2) or id between 5 and 7)", "3 4 8"},
};

static const struct {
    const char *text;
    unsigned column;
    const char *said;
} filter_faults[] = {
    {"", 1, "found the end, expected an attribute, not, ("},
    {"   ", 4, "found the end, expected an attribute, not, ("},
    {"id", 3,
     "found the end, expected a comparison (= != < <= > >=), ., in, between, like, is, not"},
    {"id =", 5,
     "found the end, expected a value ('text', a number, true, false, date '2024-01-31')"},
    {"id = 1 2", 8, "found 2, expected and, or, the end"},
    {"id = 1)", 7, "found ), expected and, or, the end"},
    {"(id = 1", 8, "found the end, expected and, or, )"},
    {"id == 1", 5, "found =, expected a value"},
    {"= 1", 1, "found =, expected an attribute, not, ("},
    {"1 = id", 1, "found 1, expected an attribute, not, ("},
    {"id = 1 and", 11, "found the end, expected an attribute, not, ("},
    {"id = 1 and or id = 2", 12, "found or, expected an attribute, not, ("},
    {"id = 1 & id = 2", 8, "found &, expected an attribute, a value or an operator"},
    {"id in 1", 7, "found 1, expected ("},
    {"id in ()", 8, "found ), expected a value"},
    {"id in (1, )", 11, "found ), expected a value"},
    {"id in (1 2)", 10, "found 2, expected ,, )"},
    {"id in (1", 9, "found the end, expected ,, )"},
    {"id not 1", 8, "found 1, expected in, between, like"},
    {"id between 1", 13, "found the end, expected and"},
    {"id between 1 or 2", 14, "found or, expected and"},
    {"id between and 2", 12, "found and, expected a value"},
    {"id is 1", 7, "found 1, expected null, not"},
    {"id is not 1", 11, "found 1, expected null"},
    {"name like", 10, "found the end, expected a pattern ('text')"},
    {"name like 5", 11, "found 5, expected a pattern ('text')"},
    {"name like null", 11, "found null, expected a pattern ('text')"},
    {"name = \"Bonn\"", 8,
     "found \"Bonn\", expected a value ('text', a number, true, false, date '2024-01-31'); text "
     "stands in single quotes"},
    {"name = Bonn", 8, "found Bonn, expected a value"},
    {"id = null", 6, "found null, expected a value; null is asked for by: is null"},
    {"id in (1, null)", 11, "found null, expected a value; null is asked for by: is null"},
    {"name = 'Bonn", 8, "found ', expected a string that ends with '"},
    {"\"name = 1", 1, "found \", expected a name that ends with \""},
    {"\"\" = 1", 1, "found \"\", expected a name between the quotes"},
    {"name = 'é' and größe = 'x'", 24,
     "found 'x', expected a number, as the type of größe is integer"},
    {"popultion > 1", 1,
     "found popultion, expected an attribute such as id, name, population, area, capital, founded, "
     "seen, tags, ...; did you mean population?"},
    {"id = 1 and address.town = 'x'", 12, "found address.town, expected an attribute"},
    {"Name = 'x'", 1, "did you mean name?"},
    {"address.citi = 'x'", 1, "did you mean address.city?"},
    {"name.first = 'x'", 1, "found name.first, expected an attribute"},
    {"zzzzzzzzzz = 1", 1, "tags, ..."},
    {"id. = 1", 5, "found =, expected an attribute"},
    {"id.", 4, "found the end, expected an attribute"},
    {".id = 1", 1, "found ., expected an attribute, not, ("},
    {"id = 'x'", 6, "found 'x', expected a number, as the type of id is integer"},
    {"id = true", 6, "found true, expected a number, as the type of id is integer"},
    {"id in (1, 'x')", 11, "found 'x', expected a number, as the type of id is integer"},
    {"id between 1 and 'x'", 18, "found 'x', expected a number"},
    {"area = date '2024-01-31'", 8,
     "found date '2024-01-31', expected a number, as the type of area is number"},
    {"name = 5", 8, "found 5, expected a string, as the type of name is string"},
    {"name = date '2024-01-31'", 8, "expected a string, as the type of name is string"},
    {"capital = 1", 11, "found 1, expected true or false, as the type of capital is boolean"},
    {"capital < true", 9,
     "found <, expected =, !=, in or is null, as the type of capital is boolean"},
    {"capital between true and false", 9, "found between, expected =, !=, in or is null"},
    {"capital like 'x'", 9, "found like, expected =, !=, in or is null"},
    {"anything < true", 12, "found true, expected a number, a string or a date to order by"},
    {"anything in (1, 'a')", 17, "found 'a', expected a value of the same type as the first"},
    {"id like '1%'", 4, "found like, expected a comparison, as the type of id is integer"},
    {"tags = 'big'", 6, "found =, expected is null or is not null, as the type of tags is array"},
    {"tags in ('big')", 6,
     "found in, expected is null or is not null, as the type of tags is array"},
    {"address = 'x'", 9,
     "found =, expected is null or is not null, as the type of address is object"},
    {"address like 'x'", 9,
     "found like, expected is null or is not null, as the type of address is object"},
    {"founded = 'soon'", 11,
     "found 'soon', expected a date ('2024-01-31') or date-time, as the type of founded is date"},
    {"founded = '2024-02-30'", 11,
     "found '2024-02-30', expected a date ('2024-01-31') or date-time"},
    {"founded = 5", 11, "found 5, expected a date ('2024-01-31') or date-time"},
    {"seen = '2024-01-31T10:00:00'", 8,
     "expected a date or date-time ('2024-01-31T10:00:00Z'), as the type of seen is date-time"},
    {"seen = '2024-01-31T24:00:00Z'", 8, "expected a date or date-time"},
    {"seen = '2024-01-31T10:00:60Z'", 8, "expected a date or date-time"},
    {"seen = '9999-12-31T23:59:60Z'", 8, "expected an instant of the years 0000 to 9999, in UTC"},
    {"seen = datetime '0000-01-01T00:00:00+00:01'", 8,
     "expected an instant of the years 0000 to 9999, in UTC"},
    {"founded = date '2023-02-29'", 11,
     "found date '2023-02-29', expected a date that exists, as in date '2024-01-31'"},
    {"founded = date '24-1-1'", 11, "expected a date that exists"},
    {"seen = datetime '2024-01-31'", 8, "expected a date-time of RFC 3339 that exists"},
    {"id = 007", 6, "found 007, expected a number as in JSON"},
    {"id = +1", 6, "found +1, expected a number as in JSON"},
    {"id = .5", 6, "found .5, expected a number as in JSON"},
    {"id = 1.", 6, "found 1., expected a number as in JSON"},
    {"id = 1e", 6, "found 1e, expected a number as in JSON"},
    {"id = 0x10", 6, "found 0x10, expected a number as in JSON"},
    {"id = 12abc", 6, "found 12abc, expected a number as in JSON"},
    {"id = 1e999", 6, "found 1e999, expected a number that a double can hold"},
    {"id = -", 6, "found -, expected an attribute, a value or an operator"},
    {"name like 'a\\'", 11, "expected one of % _ \\ behind a backslash of the pattern"},
    {"name like 'a\\b'", 11, "expected one of % _ \\ behind a backslash of the pattern"},
    {"id = 1 \xff", 8, "found byte ff, expected text in UTF-8 without NUL"},
    {"name = '\xc3'", 8, "found ', expected a string that ends with '"},
    {"id = 1; drop", 7, "found ;, expected an attribute, a value or an operator"},
    {"not", 4, "found the end, expected an attribute, not, ("},
    {"id = 1 not id = 2", 8, "found not, expected and, or, the end"},
    {"()", 2, "found ), expected an attribute, not, ("},
    {"id (1)", 4, "found (, expected a comparison"},
    {"null is null", 1, "found null, expected an attribute, not, ("},
    {"date '2024-01-31' = founded", 1, "found date '2024-01-31', expected an attribute, not, ("},
};

#endif
