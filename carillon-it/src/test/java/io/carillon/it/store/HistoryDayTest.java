package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.store.BulkDeed;
import io.carillon.store.Ended;
import io.carillon.store.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Where the history of a run goes: ticks to the day of their instant while it is kept, all others to the day of their ending. */
class HistoryDayTest extends StoreContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    private static final Duration RETENTION = Duration.ofDays(14);

    @Override
    StoreBench bench() {
        return BENCH;
    }

    /** The days that were made for this class only must not be there for the next test. */
    @AfterEach
    void forget() {
        BENCH.clear();
        BENCH.clock().at(StoreBench.NOON.plus(Duration.ofDays(40)));
        BENCH.storage().housekeeping().dropHistory(Duration.ofDays(1));
        BENCH.clock().at(StoreBench.NOON);
        BENCH.storage().housekeeping().keepPartitions(3);
    }

    private String day(String table) {
        return BENCH.rows().text("SELECT DISTINCT day::text FROM carillon." + table);
    }

    private static String after(int days) {
        return StoreBench.NOON.plus(Duration.ofDays(days)).toString().substring(0, 10);
    }

    /** A tick that was planned for noon of the first day. */
    private RunId tick() {
        RunId run = enqueue(Order.mail());
        BENCH.database()
                .execute(
                        "UPDATE carillon.run SET origin = 'tick', planned_at = due_at, schedule_id = gen_random_uuid()");
        return run;
    }

    private void days(int days) {
        for (int day = 0; day < days; day++) {
            advance(Duration.ofDays(1));
            storage().housekeeping().keepPartitions(3);
            storage().housekeeping().dropHistory(RETENTION);
        }
    }

    @Test
    void a_run_that_ends_long_after_its_due_day_is_history_of_the_day_it_ended() {
        RunId run = enqueue(Order.mail());
        UUID node = node();
        days(20);
        Attempt attempt = claimOne(node);
        apply(node, attempt, complete());
        storage().housekeeping().dropHistory(RETENTION);

        assertThat(day("run_history")).isEqualTo(after(20));
        assertThat(get(run).state().text()).isEqualTo("succeeded");
    }

    @Test
    void attempts_that_did_not_end_it_are_kept_from_the_day_they_ended() {
        RunId run = enqueue(Order.mail());
        UUID node = node();
        days(20);
        apply(node, claimOne(node), new Transition.Retry(SECOND, "oops", false));
        storage().housekeeping().dropHistory(RETENTION);

        assertThat(day("attempt")).isEqualTo(after(20));
        assertThat(storage().runDesk().attempts(PROJECT, run)).hasSize(1);
    }

    @Test
    void a_tick_is_history_of_the_day_of_its_instant_while_that_day_is_kept() {
        tick();
        UUID node = node();
        days(5);
        apply(node, claimOne(node), complete());

        assertThat(day("run_history")).isEqualTo(after(0));
    }

    @Test
    void a_tick_whose_day_is_kept_no_longer_is_history_of_the_day_it_ended() {
        RunId run = tick();
        UUID node = node();
        days(20);
        Attempt attempt = claimOne(node);
        apply(node, attempt, new Transition.Retry(SECOND, "oops", false));
        advance(SECOND);
        apply(node, claimOne(node), new Transition.Complete(bytes("1")));
        storage().housekeeping().dropHistory(RETENTION);

        assertThat(List.of(day("run_history"), day("attempt"))).containsExactly(after(20), after(20));
        assertThat(get(run).state().text()).isEqualTo("succeeded");
    }

    @Test
    void a_run_due_in_ten_years_that_is_cancelled_is_history_of_today() {
        RunId run = enqueue(Order.mail().after(Duration.ofDays(3650)));
        storage().runDesk().cancel(PROJECT, run, "enough");

        assertThat(day("run_history")).isEqualTo(after(0));
    }

    @Test
    void a_payload_and_a_delivery_are_kept_where_the_ending_says_so() {
        RunId plain = enqueue(Order.mail());
        RunId kept = enqueue(Order.mail());
        UUID node = node();
        List<Ended> ended = claim(node, 2).stream()
                .map(attempt -> attempt.run().equals(kept)
                        ? new Ended(attempt, complete(), SECOND, null, true, "{}")
                        : ended(attempt, complete()))
                .toList();
        assertThat(storage().runs().apply(node, ended)).containsOnly(Verdict.ACCEPTED);

        assertThat(BENCH.rows().texts("""
                SELECT concat_ws(' ', id, payload IS NOT NULL, payload_codec, delivery, log, codec) FROM carillon.run_history ORDER BY 1
                """))
                .containsExactlyInAnyOrder(plain.value() + " f", kept.value() + " t json {}");
    }

    @Test
    void what_was_to_be_kept_is_kept_when_somebody_outside_completes_it() {
        RunId run = enqueue(Order.mail());
        UUID node = node();
        Transition await = new Transition.Await(Duration.ofHours(1), "digest", SECOND);
        storage().runs().apply(node, List.of(new Ended(claimOne(node), await, SECOND, null, true, "{}")));
        assertThat(storage().runDesk().complete(PROJECT, run, 1, "digest", null))
                .isTrue();

        assertThat(BENCH.rows().text("SELECT concat_ws(' ', state, payload_codec, delivery) FROM carillon.run_history"))
                .isEqualTo("succeeded json {}");
    }

    @Test
    void runs_that_are_redriven_in_bulk_have_ids_in_the_order_of_time() {
        UUID node = node();
        enqueue(Order.mail(), 3);
        claim(node, 3).forEach(attempt -> apply(node, attempt, new Transition.Die("no")));
        RunFilter dead = RunFilter.all().state(RunState.DEAD);
        assertThat(storage().runDesk().bulk(PROJECT, dead, new BulkDeed.Redrive()))
                .isEqualTo(3);

        assertThat(BENCH.rows().texts("SELECT substr(id::text, 15, 1) FROM carillon.run"))
                .containsOnly("7")
                .hasSize(3);
    }
}
