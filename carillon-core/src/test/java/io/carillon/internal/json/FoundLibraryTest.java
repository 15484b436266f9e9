package io.carillon.internal.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.json.FoundLibrary.Candidate;
import java.util.List;
import org.junit.jupiter.api.Test;

class FoundLibraryTest {
    private static final Candidate MISSING = new Candidate("Jackson 3", () -> {
        throw new NoClassDefFoundError("tools/jackson/databind/json/JsonMapper");
    });
    private static final Candidate BROKEN = new Candidate("Jackson 3", () -> new JsonLibrary() {
        @Override
        public byte[] write(Object value) {
            throw new NoClassDefFoundError("com/fasterxml/jackson/annotation/JsonApplyView");
        }

        @Override
        public <T> T read(byte[] json, Class<T> type) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Object toTree(Object value) {
            throw new UnsupportedOperationException();
        }
    });
    private static final Candidate WORKING = new Candidate("Jackson 2", () -> new Jackson2());

    @Test
    void uses_the_first_library_that_works() {
        assertThat(FoundLibrary.onClassPath()).isInstanceOf(Jackson3.class);
        assertThat(FoundLibrary.find(List.of(MISSING, WORKING)).orThrow()).isInstanceOf(Jackson2.class);
    }

    @Test
    void skips_a_library_that_cannot_write_a_record() {
        assertThat(FoundLibrary.find(List.of(BROKEN, WORKING)).orThrow()).isInstanceOf(Jackson2.class);
    }

    @Test
    void names_what_is_missing() {
        FoundLibrary none = FoundLibrary.find(List.of(MISSING, BROKEN));

        assertThatThrownBy(none::orThrow)
                .isInstanceOfSatisfying(
                        CarillonException.class,
                        missing -> assertThat(missing.code()).isEqualTo(ErrorCode.JSON_LIBRARY_MISSING))
                .hasMessageContaining("CarillonBuilder.codec")
                .hasMessageContaining("tools/jackson/databind/json/JsonMapper")
                .hasMessageContaining("JsonApplyView");
    }
}
