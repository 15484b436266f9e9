package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.postgres.PostgresStorage;
import io.carillon.schedule.TickPlan;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.PlanStore;
import io.carillon.store.Storage;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Five hundred schedules are due again and again, beside a thousand stored ones and beside a million: what planning one tick costs. */
@Tag("slow")
class MillionSchedulesTest {
    private static final int ACTIVE = 500;
    private static final int WARM = 30;
    private static final int ROUNDS = 100;
    private static final double BAR = 1.2;

    // Active ones every two minutes, all of them due in each round; the others a year ahead.
    private static final String FILL = """
            INSERT INTO carillon.schedule (project, id, name, kind, expression, zone, anchor, gap, repeat, queue, class, target, target_name, payload, codec,
                                           missed, missed_cap, missed_spread, grace, catch_up, overlap, cursor, next_at, tzdata)
            SELECT 'default', gen_random_uuid(), 's' || i, 'interval', '120 seconds', 'UTC', '1970-01-01Z', 'run-after', 'first', 'mail', 1, 'handler',
                   'mail.send', '{}', 'json', 'run-once', 100, '0', '5 min', '24 h', 'allow', carillon.clock(),
                   CASE WHEN i <= %d THEN carillon.clock() + interval '2 min' ELSE carillon.clock() + interval '1 year' + i * interval '1 s' END, 'x'
              FROM generate_series(1, %d) i
            """;

    private static final class Side implements AutoCloseable {
        private final TestDatabase database = TestDatabase.migrated();
        private final Storage storage = new PostgresStorage(database.dataSource(), TickPlanner.defaults());
        private final TickPlanner planner = TickPlanner.defaults();
        private final PlanStore.Reach reach = PlanStore.Reach.all(planner.lookAhead(), planner.lookAhead());
        private final List<Double> micros = new ArrayList<>();

        Side(int schedules) {
            database.clock().at(StoreBench.NOON);
            storage.housekeeping().keepPartitions(1);
            database.execute(FILL.formatted(ACTIVE, schedules));
            database.execute("VACUUM ANALYZE");
        }

        /** Two minutes later all that is active needs its next tick; everything a round of planning asks is counted. */
        void round(boolean counts) {
            database.clock().advance(Duration.ofMinutes(2));
            database.execute("DELETE FROM carillon.run");
            long start = System.nanoTime();
            storage.plans().followZones();
            storage.plans().followBacklogs();
            storage.plans().turnPauses(reach);
            PlanStore.DueSchedules due = storage.plans().due(reach, ACTIVE);
            List<TickPlan> plans = due.schedules().stream()
                    .map(schedule -> planner.plan(schedule, List.of(), due.now()))
                    .toList();
            int written = storage.plans().write(plans).size();
            long took = System.nanoTime() - start;
            assertThat(written).isEqualTo(ACTIVE);
            if (counts)
                micros.add(took
                        / 1e3
                        / plans.stream().mapToInt(plan -> plan.ticks().size()).sum());
        }

        double median() {
            return micros.stream().sorted().skip(micros.size() / 2).findFirst().orElseThrow();
        }

        @Override
        public void close() {
            storage.close();
            database.close();
        }
    }

    @Test
    void a_tick_costs_hardly_more_beside_a_million_schedules_than_beside_a_thousand() {
        try (Side thousand = new Side(1_000);
                Side million = new Side(1_000_000)) {
            // By turns, so that whatever else this machine does hits both.
            for (int i = 0; i < WARM + ROUNDS; i++) {
                thousand.round(i >= WARM);
                million.round(i >= WARM);
            }

            System.out.printf(
                    "planning costs %.0f us a tick beside 1 k schedules and %.0f us beside 1 M%n",
                    thousand.median(), million.median());
            assertThat(million.median() / thousand.median()).isLessThanOrEqualTo(BAR);
        }
    }
}
