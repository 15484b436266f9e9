package io.carillon.it.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.BulkAction;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The history partition of a run: ticks go to the day of their planned instant while that day is kept, all other runs
 * to the day they ended.
 */
class HistoryDayTest extends StoreContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final Duration RETENTION = Duration.ofDays(14);

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    /** Drops the partitions that this test created, so that the next test does not find them. */
    @AfterEach
    void dropExtraDays() {
        FIXTURE.clear();
        FIXTURE.clock().stopAt(StoreFixture.NOON.plus(Duration.ofDays(40)));
        FIXTURE.storage().maintenance().dropHistory(Duration.ofDays(1));
        FIXTURE.clock().stopAt(StoreFixture.NOON);
        FIXTURE.storage().maintenance().ensurePartitions(3);
    }

    private String day(String table) {
        return FIXTURE.query("SELECT DISTINCT day::text FROM carillon." + table).text();
    }

    private static String after(int days) {
        return StoreFixture.NOON.plus(Duration.ofDays(days)).toString().substring(0, 10);
    }

    /** Stores a tick planned for noon of the first day. */
    private RunId tick() {
        RunId run = enqueue(RunSpec.mail());
        FIXTURE.database()
                .execute("UPDATE carillon.run SET origin = 'tick', planned_at = due_at,"
                        + " schedule_id = gen_random_uuid()");
        return run;
    }

    private void advanceDays(int days) {
        for (int day = 0; day < days; day++) {
            advance(Duration.ofDays(1));
            storage().maintenance().ensurePartitions(3);
            storage().maintenance().dropHistory(RETENTION);
        }
    }

    @Test
    void a_run_that_ends_long_after_its_due_day_is_stored_under_the_day_it_ended() {
        RunId run = enqueue(RunSpec.mail());
        UUID node = node();
        advanceDays(20);
        Attempt attempt = claimOne(node);
        apply(node, attempt, complete());
        storage().maintenance().dropHistory(RETENTION);

        assertThat(day("run_history")).isEqualTo(after(20));
        assertThat(get(run).state().text()).isEqualTo("succeeded");
    }

    @Test
    void attempts_that_did_not_end_the_run_are_stored_under_the_day_they_ended() {
        RunId run = enqueue(RunSpec.mail());
        UUID node = node();
        advanceDays(20);
        apply(node, claimOne(node), new Transition.Retry(SECOND, "oops", false));
        storage().maintenance().dropHistory(RETENTION);

        assertThat(day("attempt")).isEqualTo(after(20));
        assertThat(storage().runAdmin().attempts(PROJECT, run)).hasSize(1);
    }

    @Test
    void a_tick_is_stored_under_the_day_of_its_planned_instant_while_that_day_is_kept() {
        tick();
        UUID node = node();
        advanceDays(5);
        apply(node, claimOne(node), complete());

        assertThat(day("run_history")).isEqualTo(after(0));
    }

    @Test
    void a_tick_whose_day_is_no_longer_kept_is_stored_under_the_day_it_ended() {
        RunId run = tick();
        UUID node = node();
        advanceDays(20);
        Attempt attempt = claimOne(node);
        apply(node, attempt, new Transition.Retry(SECOND, "oops", false));
        advance(SECOND);
        apply(node, claimOne(node), new Transition.Complete(bytes("1")));
        storage().maintenance().dropHistory(RETENTION);

        assertThat(List.of(day("run_history"), day("attempt"))).containsExactly(after(20), after(20));
        assertThat(get(run).state().text()).isEqualTo("succeeded");
    }

    @Test
    void a_cancelled_run_that_was_due_in_ten_years_is_stored_under_today() {
        RunId run = enqueue(RunSpec.mail().after(Duration.ofDays(3650)));
        storage().runAdmin().cancel(PROJECT, run, "enough");

        assertThat(day("run_history")).isEqualTo(after(0));
    }

    @Test
    void a_payload_and_a_delivery_are_kept_where_the_ending_says_so() {
        RunId plain = enqueue(RunSpec.mail());
        RunId kept = enqueue(RunSpec.mail());
        UUID node = node();
        List<EndedAttempt> ended = claim(node, 2).stream()
                .map(attempt -> attempt.run().equals(kept)
                        ? new EndedAttempt(attempt, complete(), SECOND, null, true, "{}")
                        : ended(attempt, complete()))
                .toList();
        assertThat(storage().runs().apply(node, ended)).containsOnly(WriteResult.ACCEPTED);

        assertThat(FIXTURE.query("""
                SELECT concat_ws(' ', id, payload IS NOT NULL, payload_codec, delivery, log, result_codec)
                  FROM carillon.run_history ORDER BY 1
                """).texts())
                .containsExactlyInAnyOrder(plain.value() + " f", kept.value() + " t json {}");
    }

    @Test
    void a_payload_and_a_delivery_are_kept_when_a_callback_completes_the_run() {
        RunId run = enqueue(RunSpec.mail());
        UUID node = node();
        Transition await = new Transition.AwaitCallback(Duration.ofHours(1), "digest", SECOND);
        storage().runs().apply(node, List.of(new EndedAttempt(claimOne(node), await, SECOND, null, true, "{}")));
        assertThat(storage().runAdmin().complete(PROJECT, run, 1, "digest", null))
                .isTrue();

        assertThat(FIXTURE.query("SELECT concat_ws(' ', state, payload_codec, delivery) FROM carillon.run_history")
                        .text())
                .isEqualTo("succeeded json {}");
    }

    @Test
    void runs_redriven_in_bulk_have_time_ordered_ids() {
        UUID node = node();
        enqueue(RunSpec.mail(), 3);
        claim(node, 3).forEach(attempt -> apply(node, attempt, new Transition.MarkDead("no")));
        RunFilter dead = RunFilter.all().state(RunState.DEAD);
        RunAdmin admin = storage().runAdmin();
        assertThat(admin.bulk(PROJECT, dead, new BulkAction.Redrive(), admin.beginBulk(PROJECT, true))
                        .done())
                .isEqualTo(3);

        assertThat(FIXTURE.query("SELECT substr(id::text, 15, 1) FROM carillon.run")
                        .texts())
                .containsOnly("7")
                .hasSize(3);
    }
}
