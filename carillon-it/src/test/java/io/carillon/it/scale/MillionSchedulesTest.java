package io.carillon.it.scale;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.schedule.PlanStore;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The cost of planning one tick when 500 schedules are due in each round, among 1,000 stored schedules
 * and among 1,000,000.
 */
@Tag("slow")
class MillionSchedulesTest {
    private static final int ACTIVE = 500;
    private static final int WARM_UP_ROUNDS = 30;
    private static final int ROUNDS = 100;
    private static final double MAX_COST_RATIO = 1.2;

    // Active schedules fire every two minutes and are due in each round; the next instant of the others is
    // a year ahead.
    private static final String FILL = """
            INSERT INTO carillon.schedule (project, id, name, kind, expression, zone, anchor, gap, repeat, queue,
              priority, target, target_name, payload, codec,
                                           missed, missed_cap, missed_spread, grace, catch_up, overlap, cursor, next_at,
                                           tzdata)
            SELECT 'default', gen_random_uuid(), 's' || i, 'interval', '120 seconds', 'UTC', '1970-01-01Z', 'run-after',
                   'first', 'mail', 1, 'handler',
                   'mail.send', '{}', 'json', 'run-once', 100, '0', '5 min', '24 h', 'allow', carillon.clock(),
                   CASE WHEN i <= %d THEN carillon.clock() + interval '2 min'
                     ELSE carillon.clock() + interval '1 year' + i * interval '1 s' END, 'x'
              FROM generate_series(1, %d) i
            """;

    private static final class MeasuredDatabase implements AutoCloseable {
        private final TestDatabase database = TestDatabase.migrated();
        private final Storage storage = new PostgresStorage(database.dataSource(), TickPlanner.defaults());
        private final TickPlanner planner = TickPlanner.defaults();
        private final PlanStore.PlanningWindow planningWindow =
                PlanStore.PlanningWindow.all(planner.lookAhead(), planner.lookAhead());
        private final List<Double> micros = new ArrayList<>();

        MeasuredDatabase(int schedules) {
            database.clock().stopAt(StoreFixture.NOON);
            storage.maintenance().ensurePartitions(1);
            database.execute(FILL.formatted(ACTIVE, schedules));
            database.execute("VACUUM ANALYZE");
        }

        /**
         * Advances two minutes, after which each active schedule needs its next tick, and measures all statements of a
         * planning round.
         */
        void round(boolean counts) {
            database.clock().advance(Duration.ofMinutes(2));
            database.execute("DELETE FROM carillon.run");
            long start = System.nanoTime();
            storage.plans().replanChangedZones(PlanStore.ZonePosition.START);
            storage.plans().adaptIntervals();
            storage.plans().updatePauses(planningWindow);
            PlanStore.DueSchedules due = storage.plans().due(planningWindow, ACTIVE);
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
    void planning_a_tick_costs_at_most_a_fifth_more_with_a_million_schedules_than_with_a_thousand() {
        try (MeasuredDatabase thousand = new MeasuredDatabase(1_000);
                MeasuredDatabase million = new MeasuredDatabase(1_000_000)) {
            // The rounds alternate, so that other load on this machine affects both databases.
            for (int i = 0; i < WARM_UP_ROUNDS + ROUNDS; i++) {
                thousand.round(i >= WARM_UP_ROUNDS);
                million.round(i >= WARM_UP_ROUNDS);
            }

            System.out.printf(
                    "planning time per tick: %.0f us with 1,000 schedules, %.0f us with 1,000,000 schedules%n",
                    thousand.median(), million.median());
            assertThat(million.median() / thousand.median()).isLessThanOrEqualTo(MAX_COST_RATIO);
        }
    }
}
