package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A whole Carillon on the virtual clock, driven by the kit: days pass in milliseconds, through the engine's own SQL. */
@CarillonTest(at = "2026-03-28T00:30:00Z")
class DrivenCarillonTest {
    record Note(String text) {}

    private static final HandlerType<Note> NOTE = HandlerType.of("note", Note.class);
    private static final HandlerType<Note> BROKEN = HandlerType.of("broken", Note.class);

    private final CarillonKit kit;
    private final List<Instant> planned = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();
    private Carillon carillon;

    DrivenCarillonTest(CarillonKit kit) {
        this.kit = kit;
    }

    @BeforeEach
    void build() {
        kit.database().clear();
        kit.clock().at(Instant.parse("2026-03-28T00:30:00Z"));
        carillon = Carillon.on(kit.database().dataSource())
                .handle(NOTE, (note, run) -> {
                    heard.add(note.text());
                    run.plannedAt().ifPresent(planned::add);
                })
                .handle(
                        BROKEN,
                        (note, run) -> {
                            throw new IllegalStateException("broken");
                        },
                        options -> options.retry(
                                Retry.exponential(Duration.ofMinutes(10)).attempts(3)))
                .build();
        kit.driving(carillon);
    }

    @AfterEach
    void close() {
        carillon.close();
    }

    @Test
    void a_delayed_run_waits_for_its_day_and_runs_once() {
        carillon.enqueue(
                NOTE, new Note("tomorrow"), Enqueue.after(Duration.ofHours(24)).key("k"));
        assertThat(kit).enqueued(NOTE).withKey("k").dueIn(Duration.ofHours(24));

        assertThat(kit.runDue()).isZero();
        kit.advance(Duration.ofHours(24));
        assertThat(kit.runDue()).isEqualTo(1);

        kit.run(NOTE).succeeded().onAttempt(1);
        assertThat(heard).containsExactly("tomorrow");
    }

    @Test
    void a_failing_run_backs_off_into_the_dead_letter() {
        carillon.enqueue(BROKEN, new Note("x"));

        for (int i = 0; i < 3; i++) {
            kit.runDue();
            kit.advance(Duration.ofMinutes(40));
        }

        kit.run(BROKEN).dead().onAttempt(3);
    }

    @Test
    void a_daily_schedule_crosses_the_change_of_the_clocks_with_one_run_a_day() {
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
    void the_repeated_hour_runs_a_daily_schedule_once_and_quarter_hours_through_both_passes() {
        kit.clock().at(Instant.parse("2026-10-24T23:50:00Z"));
        carillon.schedules().upsert("nightly", When.cron("30 2 * * *", "Europe/Berlin"), NOTE, new Note("night"));
        carillon.schedules().upsert("quarters", When.cron("*/15 2 * * *", "Europe/Berlin"), NOTE, new Note("quarter"));

        for (int i = 0; i < 16; i++) {
            kit.advance(Duration.ofMinutes(10));
            kit.runDue();
        }

        assertThat(heard).filteredOn("night"::equals).hasSize(1);
        assertThat(heard).filteredOn("quarter"::equals).hasSize(8);
        assertThat(carillon.schedules()
                        .ledger("nightly", Instant.MIN, kit.clock().now()))
                .extracting(LedgerEntry::from)
                .containsExactly(Instant.parse("2026-10-25T00:30:00Z"));
    }

    @Test
    void downtime_is_caught_up_once_and_the_rest_is_on_record() {
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
        // Five minutes of grace run on time, one older instant runs late, all others are missed.
        assertThat(planned).doesNotHaveDuplicates();
        assertThat(missed).isEqualTo(121 - planned.size());
        assertThat(planned.size() - before).isBetween(5, 7);
    }
}
