package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.HandlerOptions;
import io.carillon.run.AttemptRecord;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.KitTick;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A Carillon on the virtual clock, driven by the kit: days pass in milliseconds, with the real SQL of the engine. */
@CarillonTest(at = "2026-03-28T00:30:00Z")
class DrivenCarillonTest {
    record Note(String text) {}

    private static final HandlerType<Note> NOTE = HandlerType.of("note", Note.class);
    private static final HandlerType<Note> OLD = HandlerType.of("note.old", Note.class);
    private static final HandlerType<Note> BROKEN = HandlerType.of("broken", Note.class);

    private final CarillonKit kit;
    private final List<Instant> planned = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private Carillon carillon;

    DrivenCarillonTest(CarillonKit kit) {
        this.kit = kit;
    }

    @BeforeEach
    void build() {
        kit.database().clear();
        kit.clock().stopAt(Instant.parse("2026-03-28T00:30:00Z"));
        carillon = Carillon.on(kit.database().dataSource())
                .handle(NOTE, (note, run) -> {
                    events.add(note.text());
                    run.plannedAt().ifPresent(planned::add);
                })
                .handle(OLD, (note, run) -> events.add(note.text()))
                .handle(
                        BROKEN,
                        (note, run) -> {
                            throw new IllegalStateException("broken");
                        },
                        HandlerOptions.defaults()
                                .retry(Retry.exponential(Duration.ofMinutes(10)).attempts(3)))
                .build();
        kit.drive(carillon);
    }

    @AfterEach
    void close() {
        carillon.close();
    }

    @Test
    void a_delayed_run_waits_until_it_is_due_and_runs_once() {
        carillon.enqueue(
                NOTE, new Note("tomorrow"), Enqueue.after(Duration.ofHours(24)).uniqueKey("k"));
        assertThat(kit).enqueued(NOTE).withUniqueKey("k").dueIn(Duration.ofHours(24));

        assertThat(kit.runDue()).isZero();
        kit.advance(Duration.ofHours(24));
        assertThat(kit.runDue()).isEqualTo(1);

        kit.run(NOTE).succeeded().onAttempt(1);
        assertThat(events).containsExactly("tomorrow");
    }

    @Test
    void a_failing_run_is_retried_with_backoff_until_it_is_dead() {
        carillon.enqueue(BROKEN, new Note("x"));

        for (int i = 0; i < 3; i++) {
            kit.runDue();
            kit.advance(Duration.ofMinutes(40));
        }

        kit.run(BROKEN).dead().onAttempt(3);
    }

    @Test
    void a_daily_schedule_runs_once_a_day_across_a_dst_change() {
        carillon.schedules().upsert("nightly", When.cron("30 2 * * *", "Europe/Berlin"), NOTE, new Note("night"));

        for (int hour = 0; hour < 70; hour++) {
            kit.advance(Duration.ofHours(1));
            kit.runDue();
        }

        assertThat(planned)
                .containsExactly(
                        Instant.parse("2026-03-28T01:30:00Z"),
                        Instant.parse("2026-03-29T01:00:00Z"),
                        Instant.parse("2026-03-30T00:30:00Z"));
    }

    @Test
    void a_repeated_hour_runs_a_daily_schedule_once_and_a_quarter_hourly_schedule_in_both_passes() {
        kit.clock().stopAt(Instant.parse("2026-10-24T23:50:00Z"));
        carillon.schedules().upsert("nightly", When.cron("30 2 * * *", "Europe/Berlin"), NOTE, new Note("night"));
        carillon.schedules().upsert("quarters", When.cron("*/15 2 * * *", "Europe/Berlin"), NOTE, new Note("quarter"));

        for (int i = 0; i < 16; i++) {
            kit.advance(Duration.ofMinutes(10));
            kit.runDue();
        }

        assertThat(events).filteredOn("night"::equals).hasSize(1);
        assertThat(events).filteredOn("quarter"::equals).hasSize(8);
        assertThat(carillon.schedules()
                        .ledger("nightly", Instant.MIN, kit.clock().now()))
                .extracting(LedgerEntry::from)
                .containsExactly(Instant.parse("2026-10-25T00:30:00Z"));
    }

    @Test
    void downtime_is_caught_up_once_and_the_ledger_records_the_missed_instants() {
        carillon.schedules().upsert("minutely", When.every(Duration.ofMinutes(1)), NOTE, new Note("m"));
        kit.advance(Duration.ofMinutes(1));
        kit.runDue();
        int before = planned.size();

        kit.advance(Duration.ofHours(2));
        kit.runDue();

        Instant now = kit.clock().now();
        List<LedgerEntry> ledger = carillon.schedules().ledger("minutely", now.minus(Duration.ofHours(3)), now);
        long covered = ledger.stream().mapToLong(LedgerEntry::count).sum();
        long missed = ledger.stream()
                .filter(entry -> entry.state().equals("missed"))
                .mapToLong(LedgerEntry::count)
                .sum();
        assertThat(before).isEqualTo(1);
        assertThat(covered).as("instants with an entry, 00:31 to 02:31").isEqualTo(121);
        // Five instants within the grace period run on time, one older instant runs late, all others are missed.
        assertThat(planned).doesNotHaveDuplicates();
        assertThat(missed).isEqualTo(121 - planned.size());
        assertThat(planned.size() - before).isBetween(5, 7);
    }

    @Test
    void requested_failures_are_retried_by_the_retry_rule() {
        carillon.enqueue(NOTE, new Note("a"));
        kit.failNext(NOTE, new IllegalStateException("first")).failNext(NOTE, 1, new IOException("second"));

        kit.runDue();
        kit.run(NOTE).waiting().withFailures(1);
        kit.advance(Duration.ofHours(1)).runDue();
        kit.run(NOTE).waiting().withFailures(2).withPayload(new Note("a"));
        assertThat(events).as("calls of the handler").isEmpty();
        kit.advance(Duration.ofHours(1)).runDue();

        kit.run(NOTE).succeeded().onAttempt(3).withFailures(2);
        assertThat(events).containsExactly("a");
        assertThat(carillon.runs().attempts(kit.runs(NOTE).get(0).id()))
                .extracting(AttemptRecord::error)
                .satisfiesExactly(
                        first -> assertThat(first).contains("first"),
                        second -> assertThat(second).contains("IOException", "second"));
    }

    @Test
    void requested_failures_apply_to_one_handler_and_are_reset_when_driving_starts_again() {
        kit.failNext(NOTE, 5, new IllegalStateException("never seen"));
        carillon.enqueue(OLD, new Note("other handler"));
        kit.runDue();
        kit.drive(carillon);
        carillon.enqueue(NOTE, new Note("a"));
        kit.runDue();

        assertThat(events).containsExactly("other handler", "a");
        assertThatExceptionOfType(CarillonException.class)
                .isThrownBy(() -> kit.executeWith(() -> 0).failNext(NOTE, new IOException()))
                .withMessageContaining("CarillonKit.drive");
    }

    @Test
    void runs_of_accepted_older_names_belong_to_their_handler() {
        HandlerType<Note> renamed = HandlerType.of("note.renamed", Note.class)
                .accepting("note.old", json -> new Note("read by hand: " + json));
        carillon.enqueue(OLD, new Note("x"), Enqueue.after(Duration.ofHours(1)));
        carillon.enqueue(renamed, new Note("y"), Enqueue.after(Duration.ofHours(1)));
        assertThat(kit).enqueued(OLD).times(1);
        assertThat(kit)
                .enqueued(renamed)
                .times(2)
                .withPayloadThat(note -> note.text().startsWith("read by hand"))
                .times(1);
        assertThat(kit).enqueued(renamed).withPayload(new Note("y")).times(1);
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> assertThat(kit).enqueued(renamed).withPayload(new Note("x")))
                .withMessageContaining("with payload Note[text=x]");

        try (Carillon today = Carillon.on(kit.database().dataSource())
                .handle(renamed, (note, run) -> events.add(note.text()))
                .build()) {
            kit.drive(today).failNext(renamed, 2, new IOException("both"));
            kit.advance(Duration.ofHours(1)).runDue();
        }

        assertThat(kit).enqueued(renamed).waiting().withFailures(1).times(2);
        assertThat(events).isEmpty();
    }

    @Test
    void every_instant_of_a_range_is_reported_with_its_outcome() {
        carillon.schedules().upsert("minutely", When.every(Duration.ofMinutes(1)), NOTE, new Note("m"));
        Instant start = kit.clock().now();
        kit.advance(Duration.ofHours(2)).runDue();
        Instant now = kit.clock().now();

        List<KitTick> ticks = kit.ticksBetween("minutely", start, now);

        assertThat(ticks)
                .hasSize(120)
                .extracting(KitTick::plannedAt)
                .doesNotHaveDuplicates()
                .isSorted();
        assertThat(ticks).filteredOn(tick -> tick.state().equals("succeeded")).hasSameSizeAs(planned);
        assertThat(ticks).extracting(KitTick::state).containsOnly("succeeded", "missed");
        Instant noon = start.plus(Duration.ofMinutes(30));
        assertThat(kit.ticksBetween("minutely", noon, noon.plusSeconds(120)))
                .as("both ends are inclusive")
                .extracting(KitTick::plannedAt)
                .containsExactly(noon, noon.plusSeconds(60), noon.plusSeconds(120));
        assertThat(kit.ticksBetween("minutely", now.plusSeconds(1), now.plusSeconds(61)))
                .as("ticks planned ahead")
                .extracting(KitTick::state)
                .containsExactly("waiting");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> kit.ticksBetween("hourly", start, now))
                .withMessageContaining("Existing schedules: [minutely]");
    }
}
