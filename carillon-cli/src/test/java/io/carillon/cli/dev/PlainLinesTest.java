package io.carillon.cli.dev;

import static io.carillon.cli.dev.Attempts.attempt;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Transition;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class PlainLinesTest {
    private static final String RUN = "run_0000000000000000000000000" + "7";
    private static final List<Transition> ALL = List.of(
            new Transition.Complete(null),
            new Transition.Retry(Duration.ofSeconds(1), "java.io.IOException: no\n\tat x", false),
            new Transition.Die("no such address"),
            new Transition.Snooze(Duration.ofMinutes(2)),
            new Transition.Cancel("by hand"),
            new Transition.Await(Duration.ofMinutes(3), "digest", null));

    @Test
    void a_success_says_how_long_it_took() {
        assertThat(line(0, new Transition.Complete(null)))
                .isEqualTo("2026-06-01T12:00:00.120Z demo.hello " + RUN + " succeeded in 12 ms");
    }

    @Test
    void a_failure_says_when_it_is_tried_again_and_the_first_line_of_the_error() {
        assertThat(line(0, ALL.get(1))).endsWith(RUN + " failed, retry in 1 s: java.io.IOException: no");
    }

    @Test
    void a_death_says_after_how_many_attempts() {
        assertThat(line(2, ALL.get(2))).endsWith(RUN + " dead after 3 attempts: no such address");
        assertThat(line(0, ALL.get(2))).endsWith(RUN + " dead after 1 attempt: no such address");
    }

    @Test
    void the_rest_has_words_of_its_own() {
        assertThat(line(0, ALL.get(3))).endsWith(RUN + " snoozed for 2 min");
        assertThat(line(0, ALL.get(4))).endsWith(RUN + " cancelled: by hand");
        assertThat(line(0, ALL.get(5))).endsWith(RUN + " handed over for at most 3 min");
    }

    @Test
    void there_are_words_for_every_transition() {
        assertThat(ALL.stream().map(Object::getClass))
                .containsExactlyInAnyOrder(
                        Arrays.stream(Transition.class.getPermittedSubclasses()).toArray(Class<?>[]::new));
    }

    @Test
    void an_error_cannot_speak_to_the_terminal_and_is_not_endless() {
        String line = line(0, new Transition.Die("\u001b[2Jboo\r" + "x".repeat(500) + "\nmore"));

        assertThat(line).contains(":  [2Jboo xxx").endsWith("xxx...").hasSizeLessThan(300);
        assertThat(line.chars().noneMatch(Character::isISOControl)).isTrue();
    }

    @Test
    void every_line_is_written_at_once() {
        StringWriter out = new StringWriter();
        new PlainLines(new PrintWriter(out, false), () -> {}).accept(event(0, new Transition.Complete(null)));

        assertThat(out.toString()).endsWith("succeeded in 12 ms" + System.lineSeparator());
    }

    @Test
    void says_so_when_nobody_reads_any_more() {
        AtomicBoolean told = new AtomicBoolean();
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int b) throws java.io.IOException {
                throw new java.io.IOException("Broken pipe");
            }
        };
        new PlainLines(new PrintWriter(closed, true, StandardCharsets.UTF_8), () -> told.set(true))
                .accept(event(0, new Transition.Complete(null)));

        assertThat(told).isTrue();
    }

    private static String line(int failures, Transition transition) {
        return PlainLines.line(event(failures, transition));
    }

    private static RunEvent event(int failures, Transition transition) {
        return RunEvent.of(Attempts.NOW, attempt(7, "demo.hello", failures), transition, Duration.ofMillis(12));
    }
}
