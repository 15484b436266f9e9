package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.carillon.CarillonException;
import io.carillon.run.HandlerType;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@CarillonTest(at = "2026-03-29T00:30:00Z")
class CarillonKitTest {
    private record Mail(String to) {}

    private static final HandlerType<Mail> SEND = HandlerType.of("mail.send", Mail.class);
    private static final HandlerType<Mail> OTHER = HandlerType.of("mail.other", Mail.class);

    private final CarillonKit kit;
    private final SampleRuns runs;

    CarillonKitTest(CarillonKit kit, TestDatabase database) {
        this.kit = kit;
        this.runs = new SampleRuns(database);
    }

    @BeforeEach
    void clear() {
        kit.database().clear();
    }

    @Test
    void asserts_waiting_runs_and_their_due_times() {
        runs.waiting("mail.send", "remind:1", 24 * 3600);

        assertThat(kit)
                .enqueued(SEND)
                .waiting()
                .withUniqueKey("remind:1")
                .inQueue("mail")
                .withPayloadContaining("\"ann\"")
                .dueIn(Duration.ofHours(24))
                .dueAt(Instant.parse("2026-03-30T00:30:00Z"))
                .onAttempt(0)
                .times(1);
        assertThat(kit).notEnqueued(OTHER);
        fails(() -> assertThat(kit).enqueued(SEND).withUniqueKey("remind:2"), "with unique key 'remind:2'");
        fails(() -> assertThat(kit).enqueued(SEND).dueIn(Duration.ofHours(23)), "due in PT23H");
        fails(() -> assertThat(kit).enqueued(SEND).inQueue("other"), "in queue 'other'");
        fails(() -> assertThat(kit).enqueued(SEND).withPayloadContaining("bob"), "containing 'bob'");
        fails(() -> assertThat(kit).enqueued(SEND).dueAt(Instant.EPOCH), "due at 1970");
        fails(() -> assertThat(kit).enqueued(SEND).onAttempt(1), "on attempt 1");
        fails(() -> assertThat(kit).enqueued(SEND).times(2), "2 times, found 1");
        fails(() -> assertThat(kit).enqueued(OTHER), "no run of this handler");
        fails(() -> assertThat(kit).notEnqueued(SEND), "Expected no run of mail.send");
    }

    @Test
    void compares_due_times_exactly_only_while_the_clock_is_stopped() {
        runs.waiting("mail.send", "k", 60);
        kit.advance(Duration.ofNanos(1_000));
        fails(() -> assertThat(kit).enqueued(SEND).dueIn(Duration.ofSeconds(60)), "due in PT1M");

        kit.clock().useRealTime();
        kit.database().clear();
        runs.waiting("mail.send", "k", 60);

        assertThat(kit).enqueued(SEND).dueIn(Duration.ofSeconds(60));
    }

    @Test
    void selects_among_several_runs() {
        runs.waiting("mail.send", "a", 10);
        runs.waiting("mail.send", "b", 20);

        assertThat(kit)
                .enqueued(SEND)
                .times(2)
                .withUniqueKey("b")
                .dueIn(Duration.ofSeconds(20))
                .times(1);
        fails(
                () -> assertThat(kit).enqueued(SEND).withUniqueKey("a").dueIn(Duration.ofSeconds(20)),
                "with unique key 'a' due in PT20S");
        fails(() -> kit.run(SEND), "1 times, found 2");
        assertThat(kit.runs(SEND)).hasSize(2);
    }

    @Test
    void asserts_running_and_ended_runs() {
        runs.waiting("mail.send", "k", 0);
        runs.start("mail.send");
        kit.run(SEND).running().onAttempt(1);
        fails(() -> kit.run(SEND).waiting(), "that is waiting");

        for (String state : List.of("succeeded", "cancelled", "quarantined", "dead")) {
            kit.database().clear();
            runs.ended("mail.send", state, "because of it");
            var run = kit.run(SEND).onAttempt(2).withFailures(1).withReasonContaining("of it");
            switch (state) {
                case "succeeded" -> run.succeeded();
                case "cancelled" -> run.cancelled();
                case "quarantined" -> run.quarantined();
                default -> run.dead().withPayloadContaining("bob");
            }
            fails(() -> kit.run(SEND).running(), "that is running");
        }
    }

    @Test
    void executes_until_no_run_is_due() {
        Deque<Integer> rounds = new ArrayDeque<>(List.of(3, 1, 0, 7));

        assertThat(kit.executeWith(rounds::remove).runDue()).isEqualTo(4);
        assertThat(rounds).containsExactly(7);
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> kit.executeWith(() -> 1).runDue())
                .withMessageContaining("still due runs");
    }

    @Test
    void fails_when_no_carillon_is_driven() {
        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> CarillonKit.on(kit.database()).runDue())
                .withMessageContaining("CarillonKit.drive");
    }

    @Test
    void starts_each_test_at_the_instant_of_its_class() {
        assertThat(kit.clock().now()).isEqualTo(Instant.parse("2026-03-29T00:30:00Z"));
    }

    private static void fails(ThrowingCallable assertion, String text) {
        assertThatExceptionOfType(AssertionError.class).isThrownBy(assertion).withMessageContaining(text);
    }
}
