package io.carillon.internal.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.RandomTrials;
import java.util.Locale;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PublicIdTest {
    @Test
    void reads_back_every_id_it_wrote() {
        RandomTrials.run("public ids round trip", 5_000, random -> {
            UUID id = new UUID(random.nextLong(), random.nextLong());

            String text = PublicId.format("run", id);

            assertThat(text).matches("run_[0-7][0-9a-hjkmnp-tv-z]{25}");
            assertThat(PublicId.parse("run", text)).isEqualTo(id);
            assertThat(PublicId.parse("run", "run_" + text.substring(4).toUpperCase(Locale.ROOT)))
                    .isEqualTo(id);
        });
    }

    @Test
    void writes_the_extreme_values_of_128_bits() {
        assertThat(PublicId.format("x", new UUID(0, 0))).isEqualTo("x_" + "0".repeat(26));
        assertThat(PublicId.format("x", new UUID(-1, -1))).isEqualTo("x_7" + "z".repeat(25));
        assertThat(PublicId.format("x", new UUID(0, 1))).isEqualTo("x_" + "0".repeat(25) + "1");
        assertThat(PublicId.format("x", new UUID(1, 0))).isEqualTo("x_" + "0".repeat(13) + "g" + "0".repeat(12));
    }

    @Test
    void sorts_as_the_bits_do() {
        RandomTrials.run("public ids keep the order of the bits", 2_000, random -> {
            UUID a = new UUID(random.nextLong(), random.nextLong());
            UUID b = new UUID(random.nextBoolean() ? a.getMostSignificantBits() : random.nextLong(), random.nextLong());

            int bits = Long.compareUnsigned(a.getMostSignificantBits(), b.getMostSignificantBits());
            if (bits == 0) bits = Long.compareUnsigned(a.getLeastSignificantBits(), b.getLeastSignificantBits());

            assertThat(Integer.signum(PublicId.format("x", a).compareTo(PublicId.format("x", b))))
                    .isEqualTo(Integer.signum(bits));
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "run_",
                "run",
                "00000000000000000000000000",
                "sched_00000000000000000000000000",
                "RUN_00000000000000000000000000",
                "run-00000000000000000000000000",
                "run_0000000000000000000000000",
                "run_000000000000000000000000000",
                "run_80000000000000000000000000",
                "run_z0000000000000000000000000",
                "run_0000000000000000000000000i",
                "run_0000000000000000000000000l",
                "run_0000000000000000000000000o",
                "run_0000000000000000000000000u",
                "run_000000000000 0000000000000",
                "run_0000000000000000000000000\0",
                "run_0000000000000000000000000\u212A",
                "run_000000000000000000000000\u0130",
                "run_0000000000000000000000000\u0661",
                "run_0000000000000000000000000\uD800",
            })
    void rejects_malformed_ids(String text) {
        CarillonException refusal = catchThrowableOfType(CarillonException.class, () -> PublicId.parse("run", text));

        assertThat(refusal).as("'%s' is accepted as an id", text).isNotNull();
        assertThat(refusal.code()).isEqualTo(ErrorCode.MALFORMED_ID);
        assertThat(refusal).hasMessageContaining("run_").hasMessageContaining("copy it");
        assertThat(TextCleaner.isClean(refusal.getMessage())).isTrue();
    }

    @Test
    void shows_only_the_start_of_an_absurdly_long_id() {
        CarillonException refusal =
                catchThrowableOfType(CarillonException.class, () -> PublicId.parse("run", "x".repeat(1_000_000)));

        assertThat(refusal.getMessage()).hasSizeLessThan(300);
    }
}
