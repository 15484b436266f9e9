package io.carillon.it.scale;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** After an update of the time zone data, planning soon follows the new rules for very many schedules. */
@Tag("slow")
class ManyZonesTest {
    private static final int SCHEDULES = 100_000;

    private static final String FILL = """
            INSERT INTO carillon.schedule (project, id, name, kind, expression, zone, gap, repeat, queue, priority,
              target, target_name, payload, codec,
                                           missed, missed_cap, missed_spread, grace, catch_up, overlap, cursor, next_at,
                                           tzdata)
            SELECT 'default', gen_random_uuid(), 's' || i, 'cron', i %% 60 || ' ' || i %% 24 || ' * * *',
                   (ARRAY['Europe/Paris', 'America/New_York', 'Asia/Kolkata', 'Africa/Casablanca'])[1 + i %% 4],
                   'run-after', 'first', 'mail', 1, 'handler',
                   'mail.send', '{}', 'json', 'run-once', 100, '0', '5 min', '24 h', 'allow', carillon.clock(),
                   carillon.clock() + interval '1 day', '2000a'
              FROM generate_series(1, %d) i
            """;

    @Test
    void a_hundred_thousand_schedules_follow_new_rules_within_a_minute() {
        try (TestDatabase database = TestDatabase.migrated();
                Storage storage = new PostgresStorage(database.dataSource(), TickPlanner.defaults())) {
            database.clock().stopAt(StoreFixture.NOON);
            database.execute(FILL.formatted(SCHEDULES));
            database.execute("VACUUM ANALYZE carillon.schedule");

            long start = System.nanoTime();
            int followed = 0;
            for (int some = storage.plans().replanChangedZones();
                    some > 0;
                    some = storage.plans().replanChangedZones()) followed += some;
            Duration took = Duration.ofNanos(System.nanoTime() - start);

            System.out.printf("replanned for new time zone rules schedules=%d ms=%d%n", followed, took.toMillis());
            assertThat(followed).isEqualTo(SCHEDULES);
            assertThat(took)
                    .as("at this rate a million schedules take ten minutes")
                    .isLessThan(Duration.ofMinutes(1));
        }
    }
}
