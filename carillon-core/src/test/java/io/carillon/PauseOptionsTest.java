package io.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class PauseOptionsTest {
    private static final Instant END = Instant.parse("2026-05-04T14:30:00Z");

    @Test
    void a_pause_is_by_the_library_and_has_no_reason_by_default() {
        for (PauseOptions options : List.of(PauseOptions.untilResumed(), PauseOptions.until(END))) {
            assertThat(options.by()).isEqualTo("library");
            assertThat(options.reason()).isNull();
        }
        assertThat(PauseOptions.untilResumed().end()).isNull();
        assertThat(PauseOptions.until(END).end()).isEqualTo(END);
    }

    @Test
    void changing_an_option_keeps_the_others_and_the_original() {
        PauseOptions original = PauseOptions.until(END);

        PauseOptions all = original.by("ann").reason("stocktaking");

        assertThat(all.end()).isEqualTo(END);
        assertThat(all.by()).isEqualTo("ann");
        assertThat(all.reason()).isEqualTo("stocktaking");
        assertThat(original).isEqualTo(PauseOptions.until(END));
    }

    @Test
    void options_are_equal_if_all_values_are_equal() {
        PauseOptions all = PauseOptions.until(END).by("ann").reason("stocktaking");

        assertThat(all)
                .isEqualTo(PauseOptions.until(END).reason("stocktaking").by("ann"))
                .hasSameHashCodeAs(PauseOptions.until(END).reason("stocktaking").by("ann"))
                .hasToString("PauseOptions[end=2026-05-04T14:30:00Z, reason=stocktaking, by=ann]")
                .isNotEqualTo(all.by("bob"))
                .isNotEqualTo(all.reason("audit"))
                .isNotEqualTo(PauseOptions.untilResumed().by("ann").reason("stocktaking"))
                .isNotEqualTo(PauseOptions.until(END.plusSeconds(1)).by("ann").reason("stocktaking"));
    }

    @Test
    void texts_are_cleaned_and_cut() {
        PauseOptions options =
                PauseOptions.untilResumed().by("\0" + "b".repeat(200)).reason("\uD800" + "r".repeat(1_000));

        assertThat(options.by()).hasSize(200).startsWith("\uFFFDb").endsWith("b…");
        assertThat(options.reason()).hasSize(1_000).startsWith("\uFFFDr").endsWith("r…");
    }

    @Test
    void refuses_an_end_that_cannot_be_stored() {
        for (Instant end : List.of(Instant.MIN, Instant.MAX, Instant.parse("+10000-01-01T00:00:00Z"))) {
            CarillonException refusal = catchThrowableOfType(CarillonException.class, () -> PauseOptions.until(end));

            assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_OPTION);
            assertThat(refusal)
                    .hasMessage("end of the pause must be between the years 1 and 9999 (was %s).".formatted(end));
        }
    }
}
