package io.carillon.internal.json;

import static com.fasterxml.jackson.annotation.JsonInclude.Include.NON_NULL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.RandomTrials;
import io.carillon.internal.value.TextCleaner;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Month;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the codec does with every JSON library. The expected texts are written out, so all libraries write the same. */
abstract class JsonCodecContract {
    private final JsonCodec codec = new JsonCodec(library());

    abstract JsonLibrary library();

    record Order(UUID id, String to, List<String> lines, Map<String, String> tags) {}

    record Numbers(double d, BigDecimal exact, BigInteger huge, long l) {}

    record Times(Instant at, Duration took, ZoneId zone, Optional<String> note) {}

    record Holder(Object any) {}

    record Typed(@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) Object any) {}

    record Tree(String name, List<Tree> children) {}

    record Node(List<Object> next) {}

    record Calendar(
            Instant at,
            LocalDate date,
            LocalTime time,
            LocalDateTime local,
            OffsetDateTime offset,
            ZonedDateTime zoned,
            Duration took,
            Period period,
            Year year,
            YearMonth month,
            DayOfWeek day,
            Month ofYear) {}

    enum Level {
        LOW,
        HIGH;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @SuppressWarnings("ArrayRecordComponent") // handlers may have such payloads
    record Mixed(
            int count,
            Integer boxed,
            boolean on,
            Level level,
            Map<Level, Integer> byLevel,
            Optional<String> some,
            Optional<String> none,
            OptionalInt number,
            byte[] bytes,
            Object nothing,
            UUID id,
            URI uri,
            char letter) {}

    record Empty() {}

    record Getters(String name) {
        public String getTitle() {
            return "the " + name;
        }

        public boolean isShort() {
            return name.length() < 3;
        }
    }

    static final class Bean {
        private String zulu = "z";
        private String alpha = "a";
        private String url = "u";

        public String getZulu() {
            return zulu;
        }

        public void setZulu(String zulu) {
            this.zulu = zulu;
        }

        public String getAlpha() {
            return alpha;
        }

        public void setAlpha(String alpha) {
            this.alpha = alpha;
        }

        public String getURL() {
            return url;
        }

        public void setURL(String url) {
            this.url = url;
        }
    }

    static final class Immutable {
        private final String name;
        private final int size;

        Immutable(int size, String name) {
            this.name = name;
            this.size = size;
        }

        public String getName() {
            return name;
        }

        public int getSize() {
            return size;
        }
    }

    record Annotated(
            @JsonProperty("order_id") int id,
            @JsonIgnore String hidden,
            @JsonInclude(NON_NULL) String note) {}

    record Scores(int goals) {}

    static final class Ring {
        int reads;

        public List<Ring> getNext() {
            reads++;
            return List.of(this);
        }
    }

    @SuppressWarnings("DoNotCallSuggester") // called by the codec in order to throw
    static final class Throwing {
        public String getName() {
            throw new IllegalStateException("no name");
        }
    }

    @Test
    void decodes_what_it_encoded() {
        Order order = new Order(UUID.randomUUID(), "Zoë 😀 \\u0000 \"x\"", List.of("a", ""), Map.of("k/~", "v"));

        assertThat(codec.decode(codec.encode(order), Order.class)).isEqualTo(order);
        assertThat(codec.name()).isEqualTo("json");
    }

    @Test
    void writes_times_as_iso_text() {
        Calendar calendar = new Calendar(
                Instant.parse("2026-01-02T03:04:05Z"),
                LocalDate.of(2026, 1, 2),
                LocalTime.of(3, 4),
                LocalDateTime.of(2026, 1, 2, 3, 4),
                OffsetDateTime.parse("2026-01-02T03:04:05.1+02:00"),
                ZonedDateTime.of(2026, 7, 2, 3, 4, 5, 0, ZoneId.of("Europe/Paris")),
                Duration.ofMinutes(90),
                Period.ofMonths(14),
                Year.of(2026),
                YearMonth.of(2026, 2),
                DayOfWeek.FRIDAY,
                Month.MARCH);

        assertThat(json(calendar)).isEqualTo("""
                {"at":"2026-01-02T03:04:05Z","date":"2026-01-02","time":"03:04:00","local":"2026-01-02T03:04:00",\
                "offset":"2026-01-02T03:04:05.1+02:00","zoned":"2026-07-02T03:04:05+02:00[Europe/Paris]",\
                "took":"PT1H30M","period":"P14M","year":"2026","month":"2026-02","day":"FRIDAY","ofYear":"MARCH"}""");
        assertThat(codec.decode(codec.encode(calendar), Calendar.class)).isEqualTo(calendar);
    }

    @Test
    void writes_values_of_other_types() {
        Mixed mixed = new Mixed(
                1,
                null,
                true,
                Level.HIGH,
                new EnumMap<>(Map.of(Level.LOW, 2)),
                Optional.of("x"),
                Optional.empty(),
                OptionalInt.of(3),
                new byte[] {1, 2, -1},
                null,
                new UUID(1, 2),
                URI.create("https://example.com/a"),
                'c');

        assertThat(json(mixed)).isEqualTo("""
                {"count":1,"boxed":null,"on":true,"level":"HIGH","byLevel":{"LOW":2},"some":"x","none":null,\
                "number":3,"bytes":"AQL/","nothing":null,"id":"00000000-0000-0001-0000-000000000002",\
                "uri":"https://example.com/a","letter":"c"}""");
        Mixed back = codec.decode(codec.encode(mixed), Mixed.class);
        assertThat(back).usingRecursiveComparison().isEqualTo(mixed);
        assertThat(json(new Empty())).isEqualTo("{}");
        assertThat(codec.decode(codec.encode(new Empty()), Empty.class)).isEqualTo(new Empty());
        assertThat(json(new Getters("ann"))).isEqualTo("{\"name\":\"ann\",\"short\":false,\"title\":\"the ann\"}");
        assertThat(json(new Numbers(0.1, new BigDecimal("10.50"), BigInteger.TEN, 1)))
                .isEqualTo("{\"d\":0.1,\"exact\":10.50,\"huge\":10,\"l\":1}");
        assertThat(json("Zoë 😀 <a href='/'> \u2028\t\u007f")).isEqualTo("\"Zoë 😀 <a href='/'> \u2028\\t\u007f\"");
    }

    @Test
    void writes_classes_in_alphabetic_order() {
        Immutable immutable = codec.decode(codec.encode(new Immutable(2, "ann")), Immutable.class);

        assertThat(json(new Bean())).isEqualTo("{\"URL\":\"u\",\"alpha\":\"a\",\"zulu\":\"z\"}");
        assertThat(decode("{\"URL\":\"v\"}", Bean.class).getURL()).isEqualTo("v");
        assertThat(json(immutable)).isEqualTo("{\"name\":\"ann\",\"size\":2}");
    }

    @Test
    void obeys_annotations() {
        assertThat(json(new Annotated(7, "x", null))).isEqualTo("{\"order_id\":7}");
        assertThat(decode("{\"order_id\":8,\"note\":\"n\"}", Annotated.class)).isEqualTo(new Annotated(8, null, "n"));
    }

    @Test
    void writes_every_double_as_java_does() {
        RandomTrials.run("doubles are written as Java does", 2_000, random -> {
            double number = Double.longBitsToDouble(random.nextLong());
            if (Double.isFinite(number)) assertThat(json(number)).isEqualTo(Double.toString(number));
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"goals\":null}"})
    void fills_in_missing_numbers(String json) {
        assertThat(decode(json, Scores.class)).isEqualTo(new Scores(0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"goals\":1} {}", "{\"goals\":1}x"})
    void refuses_trailing_text(String json) {
        assertThat(catchThrowableOfType(CarillonException.class, () -> decode(json, Scores.class))
                        .code())
                .isEqualTo(ErrorCode.PAYLOAD_UNREADABLE);
    }

    @Test
    void gives_back_every_text_it_takes() {
        RandomTrials.run("text comes back unchanged or is refused", 3_000, random -> {
            char[] kinds = {'a', '\0', '\uD83D', '\uDE00', '\\', 'u', '0', '"', '\u2028', '\t', '/', '~', '\uFFFF'};
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(12); i > 0; i--) text.append(kinds[random.nextInt(kinds.length)]);
            Holder holder = new Holder(text.toString());

            if (TextCleaner.isClean(text.toString())) {
                assertThat(codec.decode(codec.encode(holder), Holder.class)).isEqualTo(holder);
            } else {
                assertThat(refused(holder)).hasMessageContaining("'/any'");
            }
        });
    }

    @Test
    void gives_back_numbers_without_loss() {
        Numbers numbers = new Numbers(
                -0.0, new BigDecimal("1e400"), BigInteger.TWO.pow(3_000).negate(), Long.MIN_VALUE);

        Numbers back = codec.decode(codec.encode(numbers), Numbers.class);

        assertThat(back).isEqualTo(numbers);
        assertThat(Double.doubleToRawLongBits(back.d())).isEqualTo(Double.doubleToRawLongBits(-0.0));
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.MIN_VALUE})
    void gives_back_odd_doubles(double odd) {
        Numbers numbers = new Numbers(odd, BigDecimal.ZERO, BigInteger.ZERO, 0);

        assertThat(codec.decode(codec.encode(numbers), Numbers.class)).isEqualTo(numbers);
    }

    @Test
    void gives_back_times() {
        Times times = new Times(
                Instant.parse("2026-01-02T03:04:05.123456789Z"),
                Duration.ofNanos(1),
                ZoneId.of("Europe/Paris"),
                Optional.of("x"));

        assertThat(codec.decode(codec.encode(times), Times.class)).isEqualTo(times);
    }

    @ParameterizedTest
    @CsvSource({"'a\0b'", "'\uD800'", "'\uDC00'", "'x\uD83Dy'", "'\uDE00\uD83D'"})
    void points_at_text_that_cannot_be_stored(String bad) {
        Map<String, String> badKey = new HashMap<>();
        badKey.put(bad, "v");

        assertThat(refused(new Order(null, bad, List.of(), Map.of()))).hasMessageContaining("'/to'");
        assertThat(refused(new Order(null, "", List.of("fine", bad), Map.of()))).hasMessageContaining("'/lines/1'");
        assertThat(refused(new Order(null, "", List.of(), Map.of("a/b~c", bad))))
                .hasMessageContaining("'/tags/a~1b~0c'");
        assertThat(refused(new Order(null, "", List.of(), badKey))).hasMessageContaining("'/tags/");
        assertThat(refused(bad)).hasMessageContaining("'/'");
        assertThat(refused(new Tree("", List.of(new Tree("", List.of(new Tree(bad, List.of())))))))
                .hasMessageContaining("'/children/0/children/0/name'");
    }

    @Test
    void refuses_nesting_that_no_reader_accepts() {
        List<Object> deep = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) deep = new ArrayList<>(List.of(deep));
        Node ring = new Node(new ArrayList<>());
        ring.next().add(ring);
        Map<String, Object> self = new LinkedHashMap<>();
        self.put("self", self);

        assertThat(refused(deep)).hasMessageContaining("JSON");
        assertThat(refused(ring)).hasMessageContaining("JSON");
        assertThat(refused(self)).hasMessageContaining("JSON");
    }

    /** A stack overflow inside a class initialiser of Jackson leaves that class unusable for the whole process. */
    @Test
    void reads_no_further_than_the_limit_of_nesting() {
        Ring ring = new Ring();

        assertThat(refused(ring)).hasMessageContaining("nesting depth");

        assertThat(ring.reads).isLessThanOrEqualTo(JsonLibrary.MAX_DEPTH);
    }

    @Test
    void refuses_what_has_no_json_form() {
        assertThat(refused(new Throwing())).hasMessageContaining("Throwing");
    }

    @Test
    void accepts_large_payloads_and_leaves_the_limit_to_the_api() {
        String large = "é".repeat(300 * 1024);

        assertThat(codec.decode(codec.encode(large), String.class)).isEqualTo(large);
    }

    @Test
    void ignores_fields_it_does_not_know_and_fills_in_missing_ones() {
        Order order = decode("{\"to\":\"ann\",\"since\":{\"deep\":[1,2]},\"x\":null}", Order.class);

        assertThat(order).isEqualTo(new Order(null, "ann", null, null));
    }

    @Test
    void takes_the_last_of_two_equal_keys() {
        assertThat(decode("{\"to\":\"one\",\"to\":\"two\"}", Order.class).to()).isEqualTo("two");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "{",
                "[]",
                "\"text\"",
                "{\"id\":\"no uuid\"}",
                "{\"lines\":{}}",
                "{\"to\":\"a\" \"b\"}",
                "{'to':1}",
                "{\"to\":\"\u0001\"}",
            })
    void refuses_bytes_that_do_not_fit(String json) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, () -> decode(json, Order.class));

        assertThat(refusal).as("%s is accepted as an order", json).isNotNull();
        assertThat(refusal.code()).isEqualTo(ErrorCode.PAYLOAD_UNREADABLE);
        assertThat(refusal).hasMessageContaining("Order").hasMessageContaining("accepting");
    }

    @Test
    void refuses_hostile_bytes_without_harm() {
        List<byte[]> hostile = List.of(
                ("[".repeat(10_000) + "]".repeat(10_000)).getBytes(StandardCharsets.UTF_8),
                ("{\"any\":" + "{\"a\":".repeat(10_000)).getBytes(StandardCharsets.UTF_8),
                ("{\"any\":" + "9".repeat(100_000) + "}").getBytes(StandardCharsets.UTF_8),
                ("{\"any\":1e" + "9".repeat(100) + "}").getBytes(StandardCharsets.UTF_8),
                new byte[] {'"', (byte) 0xFF, (byte) 0xFE, '"'},
                new byte[] {(byte) 0xC0, (byte) 0x80},
                new byte[] {0, 0, 0, 0});

        for (byte[] bytes : hostile) {
            Object read;
            try {
                read = codec.decode(bytes, Holder.class);
            } catch (CarillonException refusal) {
                assertThat(refusal.code()).isEqualTo(ErrorCode.PAYLOAD_UNREADABLE);
                continue;
            }
            assertThat(read).isInstanceOf(Holder.class);
        }
        assertThat(hostile).hasSize(7);
    }

    @Test
    void creates_no_class_named_in_the_payload() {
        String named = "{\"any\":{\"@class\":\"java.io.File\",\"path\":\"/etc/passwd\"}}";
        String wrapped = "{\"any\":[\"java.io.File\",\"/etc/passwd\"]}";

        assertThat(decode(named, Holder.class).any()).isInstanceOf(Map.class);
        assertThat(decode(wrapped, Holder.class).any()).isEqualTo(List.of("java.io.File", "/etc/passwd"));
    }

    @Test
    void creates_no_class_named_in_the_payload_even_if_the_record_allows_it() {
        String named = "{\"any\":{\"@class\":\"java.util.ArrayList\"}}";

        CarillonException reading = catchThrowableOfType(CarillonException.class, () -> decode(named, Typed.class));

        assertThat(reading).isNotNull();
        assertThat(reading.code()).isEqualTo(ErrorCode.PAYLOAD_UNREADABLE);
    }

    @Test
    void writes_the_same_bytes_for_the_same_value() {
        Order order = new Order(new UUID(1, 2), "ann", List.of("x"), Map.of("k", "v"));

        assertThat(codec.encode(order)).isEqualTo(codec.encode(order));
        assertThat(Arrays.equals(codec.encode(order), new JsonCodec(library()).encode(order)))
                .isTrue();
    }

    @Test
    void shows_no_payload_in_errors() {
        CarillonException refusal = catchThrowableOfType(
                CarillonException.class, () -> decode("{\"to\":\"topsecret\",\"lines\":{}}", Order.class));

        for (Throwable cause = refusal; cause != null; cause = cause.getCause())
            assertThat(cause.toString()).doesNotContain("topsecret");
    }

    @Test
    void accepts_the_maximum_depth_and_no_more() {
        String deepest = "[".repeat(JsonLibrary.MAX_DEPTH) + "]".repeat(JsonLibrary.MAX_DEPTH);

        List<?> list = decode(deepest, List.class);

        assertThat(json(list)).isEqualTo(deepest);
        assertThat(refused(List.of(list))).hasMessageContaining("nesting depth");
        assertThat(catchThrowableOfType(CarillonException.class, () -> decode("[" + deepest + "]", List.class)))
                .isNotNull();
    }

    @Test
    void refuses_numbers_and_text_beyond_the_limits() {
        String digits = "9".repeat(JsonLibrary.MAX_NUMBER_LENGTH);
        String text = "a".repeat(JsonLibrary.MAX_TEXT_LENGTH);

        assertThat(decode(digits, BigInteger.class)).isEqualTo(new BigInteger(digits));
        assertThat(decode("\"" + text + "\"", String.class)).hasSize(text.length());
        assertThat(catchThrowableOfType(CarillonException.class, () -> decode(digits + "9", BigInteger.class)))
                .isNotNull();
        assertThat(catchThrowableOfType(CarillonException.class, () -> decode("\"a" + text + "\"", String.class)))
                .isNotNull();
    }

    private String json(Object value) {
        return new String(codec.encode(value), StandardCharsets.UTF_8);
    }

    private <T> T decode(String json, Class<T> type) {
        return codec.decode(json.getBytes(StandardCharsets.UTF_8), type);
    }

    private CarillonException refused(Object value) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, () -> codec.encode(value));
        assertThat(refusal).as("the value was accepted").isNotNull();
        assertThat(refusal.code()).isEqualTo(ErrorCode.PAYLOAD_UNWRITABLE);
        assertThat(TextCleaner.isClean(refusal.getMessage())).isTrue();
        return refusal;
    }
}
