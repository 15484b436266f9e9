package io.carillon.internal.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.RandomTrials;
import io.carillon.internal.value.TextCleaner;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.StreamWriteConstraints;

class JsonCodecTest {
    private final JsonCodec codec = new JsonCodec();

    record Order(UUID id, String to, List<String> lines, Map<String, String> tags) {}

    record Numbers(double d, BigDecimal exact, BigInteger huge, long l) {}

    record Times(Instant at, Duration took, ZoneId zone, Optional<String> note) {}

    record Holder(Object any) {}

    record Typed(@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS) Object any) {}

    record Tree(String name, List<Tree> children) {}

    record Node(List<Object> next) {}

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

        assertThat(ring.reads).isLessThanOrEqualTo(StreamWriteConstraints.DEFAULT_MAX_DEPTH);
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
        assertThat(Arrays.equals(codec.encode(order), new JsonCodec().encode(order)))
                .isTrue();
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
