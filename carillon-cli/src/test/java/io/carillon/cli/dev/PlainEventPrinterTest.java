package io.carillon.cli.dev;

import static io.carillon.cli.dev.SampleAttempts.attempt;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.spi.RunEvent;
import io.carillon.spi.RunInfo;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class PlainEventPrinterTest {
    private static final String RUN = "run_0000000000000000000000000" + "7";
    private static final RunInfo FIRST = attempt(7, "demo.hello", 0);
    private static final Duration TOOK = Duration.ofMillis(12);
    private static final List<RunEvent.AttemptEnded> ALL = List.of(
            new RunEvent.Succeeded(FIRST, TOOK),
            new RunEvent.Failed(FIRST, TOOK, "java.io.IOException: no\n\tat x", false, Duration.ofSeconds(1)),
            new RunEvent.Dead(FIRST, TOOK, "no such address"),
            new RunEvent.Snoozed(FIRST, TOOK, Duration.ofMinutes(2)),
            new RunEvent.Cancelled(FIRST, TOOK, "by hand"),
            new RunEvent.AwaitingCallback(FIRST, TOOK, Duration.ofMinutes(3)));

    @Test
    void a_success_shows_its_duration() {
        assertThat(line(ALL.get(0))).isEqualTo("2026-06-01T12:00:00.120Z demo.hello " + RUN + " succeeded in 12 ms");
    }

    @Test
    void a_failure_shows_the_retry_delay_and_the_first_line_of_the_error() {
        assertThat(line(ALL.get(1))).endsWith(RUN + " failed, retry in 1 s: java.io.IOException: no");
    }

    @Test
    void a_dead_run_shows_its_number_of_attempts() {
        assertThat(line(new RunEvent.Dead(attempt(7, "demo.hello", 2), TOOK, "no such address")))
                .endsWith(RUN + " dead after 3 attempts: no such address");
        assertThat(line(ALL.get(2))).endsWith(RUN + " dead after 1 attempt: no such address");
    }

    @Test
    void other_ends_have_their_own_labels() {
        assertThat(line(ALL.get(3))).endsWith(RUN + " snoozed for 2 min");
        assertThat(line(ALL.get(4))).endsWith(RUN + " cancelled: by hand");
        assertThat(line(ALL.get(5))).endsWith(RUN + " accepted, callback within 3 min");
    }

    @Test
    void every_end_has_a_label() {
        assertThat(ALL.stream().map(Object::getClass))
                .containsExactlyInAnyOrder(Arrays.stream(RunEvent.AttemptEnded.class.getPermittedSubclasses())
                        .toArray(Class<?>[]::new));
    }

    @Test
    void an_error_text_is_sanitized_and_shortened() {
        String line = line(new RunEvent.Dead(FIRST, TOOK, "\u001b[2Jboo\r" + "x".repeat(500) + "\nmore"));

        assertThat(line).contains(":  [2Jboo xxx").endsWith("xxx...").hasSizeLessThan(300);
        assertThat(line.chars().noneMatch(Character::isISOControl)).isTrue();
    }

    @Test
    void every_line_is_flushed_immediately() {
        StringWriter out = new StringWriter();
        new PlainEventPrinter(new PrintWriter(out, false), () -> {}).accept(event(ALL.get(0)));

        assertThat(out.toString()).endsWith("succeeded in 12 ms" + System.lineSeparator());
    }

    @Test
    void reports_that_its_output_was_closed() {
        AtomicBoolean reported = new AtomicBoolean();
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int b) throws java.io.IOException {
                throw new java.io.IOException("Broken pipe");
            }
        };
        new PlainEventPrinter(new PrintWriter(closed, true, StandardCharsets.UTF_8), () -> reported.set(true))
                .accept(event(ALL.get(0)));

        assertThat(reported).isTrue();
    }

    private static String line(RunEvent.AttemptEnded ended) {
        return PlainEventPrinter.line(event(ended));
    }

    private static ActivityEvent event(RunEvent.AttemptEnded ended) {
        return ActivityEvent.of(SampleAttempts.NOW, ended);
    }
}
