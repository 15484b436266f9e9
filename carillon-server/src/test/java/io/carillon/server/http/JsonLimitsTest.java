package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A body cannot become a tree that needs far more memory than the body. */
class JsonLimitsTest {
    private static byte[] body(String value) {
        return ("{\"a\":" + value + "}").getBytes(StandardCharsets.UTF_8);
    }

    private static String repeated(String value, int bytes) {
        return "[" + (value + ",").repeat(bytes / (value.length() + 1)) + value + "]";
    }

    @Test
    void two_megabytes_of_small_values_are_refused() {
        for (String value : List.of("[]", "{}", "1", "[[[]]]", "{\"b\":1}")) {
            byte[] body = body(repeated(value, 2_000_000));
            assertThatThrownBy(() -> Json.parseObject(body))
                    .as(value)
                    .isInstanceOf(Problem.class)
                    .hasMessageContaining("300000 values");
        }
    }

    @Test
    void any_payload_of_the_maximum_size_is_accepted() {
        for (String value : List.of("[]", "1", "[".repeat(60) + "]".repeat(60), "{\"\":1}"))
            assertThat(Json.parseObject(body(repeated(value, 256 * 1024))).size())
                    .isEqualTo(1);
        assertThat(Json.parseObject(body("\"" + "x".repeat(2_000_000) + "\"")).size())
                .isEqualTo(1);
    }

    @Test
    void the_memory_of_a_tree_is_estimated_from_its_tokens() {
        assertThat(Json.treeBytes(body(repeated("[]", 100_000)))).isBetween(4_000_000L, 5_000_000L);
        assertThat(Json.treeBytes(body("\"" + "x".repeat(1_000_000) + "\""))).isLessThan(1_000);
        assertThat(Json.treeBytes(body("[".repeat(20_000)))).isLessThan(10_000);
        assertThat(Json.treeBytes(body("[]"))).isZero();
    }
}
