package io.carillon.it.scale;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.fixture.ApiFixture;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * After an update of the time zone data, a node soon follows the new rules for very many schedules. The test asserts
 * the time for each schedule. Use {@code -Dcarillon.test.schedules=1000000} for the full size.
 */
@Tag("slow")
class ManyZonesTest {
    private static final int SCHEDULES = Integer.getInteger("carillon.test.schedules", 100_000);

    /** At this rate a million schedules take ten minutes. */
    private static final Duration MAX_TIME =
            Duration.ofMinutes(10).multipliedBy(SCHEDULES).dividedBy(1_000_000);

    // The ids have the order of the numbers, so that each batch of a thousand contains a schedule that cannot be read.
    private static final String FILL = """
            INSERT INTO carillon.schedule (project, id, name, kind, expression, zone, gap, repeat, queue, priority,
              target, target_name, payload, codec,
                                           missed, missed_cap, missed_spread, grace, catch_up, overlap, cursor, next_at,
                                           tzdata)
            SELECT 'default', ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 's' || i,
                   'cron', i %% 60 || ' ' || i %% 24 || ' * * *',
                   CASE WHEN i %% 1000 = 500 THEN 'Mars/Olympus'
                        ELSE (ARRAY['Europe/Paris', 'America/New_York', 'Asia/Kolkata', 'Africa/Casablanca'])
                             [1 + i %% 4] END,
                   'run-after', 'first', 'mail', 1, 'handler',
                   'mail.send', '{}', 'json', 'run-once', 100, '0', '5 min', '24 h', 'allow', carillon.clock(),
                   carillon.clock() + interval '1 day', '2000a'
              FROM generate_series(1, %d) i
            """;

    private static final String OUTDATED = """
              FROM carillon.schedule
             WHERE tzdata COLLATE "C" < '2000b' AND kind <> 'once' AND zone <> 'UTC' AND zone <> 'Z'
            """;

    @Test
    void schedules_follow_new_rules_at_a_rate_of_a_million_in_ten_minutes() {
        try (TestDatabase database = TestDatabase.migrated();
                ApiFixture fixture = new ApiFixture(database)) {
            database.clock().stopAt(StoreFixture.NOON);
            database.execute(FILL.formatted(SCHEDULES));
            database.execute("VACUUM ANALYZE carillon.schedule");

            long start = System.nanoTime();
            fixture.node(builder -> builder);
            Awaitility.await()
                    .atMost(MAX_TIME.multipliedBy(2))
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> fixture.query("SELECT count(*) FROM (SELECT 1 " + OUTDATED
                                            + " AND zone <> 'Mars/Olympus' LIMIT 1) one")
                                    .number()
                            == 0);
            Duration took = Duration.ofNanos(System.nanoTime() - start);

            System.out.printf(
                    "replanned for new time zone rules schedules=%d ms=%d microsPerSchedule=%d%n",
                    SCHEDULES, took.toMillis(), took.toNanos() / 1_000 / SCHEDULES);
            assertThat(fixture.query("SELECT count(*)" + OUTDATED).number())
                    .as("schedules that cannot be read")
                    .isEqualTo((SCHEDULES + 500) / 1_000);
            assertThat(took)
                    .as("at this rate a million schedules take ten minutes")
                    .isLessThan(MAX_TIME);
        }
    }
}
