package io.carillon.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.RandomTrials;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PolicyTextTest {
    private static final Run.Policy BOTH =
            new Run.Policy(Retry.exponential(Duration.ofSeconds(5)).attempts(3), Duration.ofSeconds(30));

    @Test
    void writes_the_settings_by_name_and_nothing_if_there_are_none() {
        assertThat(PolicyText.of(BOTH)).isEqualTo("attempts=3 first=PT5S factor=2.0 cap=PT1H jitter=1.0 timeout=PT30S");
        assertThat(PolicyText.of(BOTH.withRetry(null))).isEqualTo("timeout=PT30S");
        assertThat(PolicyText.of(Run.Policy.none())).isNull();
        assertThat(PolicyText.parse(null)).isEqualTo(Run.Policy.none());
    }

    @Test
    void reads_back_exactly_what_it_wrote() {
        RandomTrials.run("stored settings are read back", 2_000, random -> {
            Duration cap = Duration.ofNanos(random.nextLong(Duration.ofDays(365).toNanos()));
            Retry retry = Retry.exponential(Duration.ofNanos(random.nextLong(cap.toNanos() + 1)))
                    .cap(cap)
                    .factor(1 + random.nextDouble() * 99)
                    .attempts(1 + random.nextInt(10_000))
                    .jitter(random.nextDouble());
            Duration timeout = Duration.ofNanos(
                    random.nextLong(1_000_000, Duration.ofDays(30).toNanos()));
            Run.Policy policy =
                    new Run.Policy(random.nextBoolean() ? retry : null, random.nextBoolean() ? timeout : null);

            assertThat(PolicyText.parse(PolicyText.of(policy))).isEqualTo(policy);
            assertThat(PolicyText.parseRetry(PolicyText.of(retry))).isEqualTo(retry);
        });
    }

    @Test
    void leaves_out_what_another_version_wrote() {
        assertThat(PolicyText.parse(PolicyText.of(BOTH) + " curve=linear")).isEqualTo(BOTH);
        assertThat(PolicyText.parse("attempts=soon first=PT5S timeout=PT30S")).isEqualTo(BOTH.withRetry(null));
        assertThat(PolicyText.parse(PolicyText.of(BOTH).replace("PT30S", "P99D")))
                .isEqualTo(BOTH.withTimeout(null));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "=", "a", "attempts=", "attempts=0 first=PT5S factor=2 cap=PT1H jitter=1", "timeout=x"})
    void never_fails(String text) {
        assertThat(PolicyText.parse(text)).isEqualTo(Run.Policy.none());
    }
}
