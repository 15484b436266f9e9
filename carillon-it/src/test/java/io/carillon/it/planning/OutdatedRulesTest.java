package io.carillon.it.planning;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** New time zone rules reach all schedules, although some of them cannot be read, changed or locked. */
@CarillonTest(at = "2026-05-04T12:00:00Z")
class OutdatedRulesTest {
    private static final HandlerType<String> JOB = HandlerType.of("job", String.class);
    private static final Duration BUDGET = Duration.ofSeconds(60);

    // Seven batches of a thousand, in the order of the numbers.
    private static final String FILL = """
            INSERT INTO carillon.schedule (project, id, name, kind, expression, zone, gap, repeat, queue, priority,
              target, target_name, payload, codec, missed, missed_cap, missed_spread, grace, catch_up, overlap, cursor,
              next_at, tzdata)
            SELECT 'default', ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 's' || i,
                   'cron', '0 3 * * *', 'Europe/Paris', 'run-after', 'first', 'mail', 1, 'handler', 'job', '{}', 'json',
                   'run-once', 100, '0', '5 min', '24 h', 'allow', carillon.clock(),
                   carillon.clock() + interval '1 day', '2000a'
              FROM generate_series(1, 7000) i
            """;

    private static final String OUTDATED = "SELECT count(*) FROM carillon.schedule WHERE tzdata = '2000a'";

    private final TestDatabase database;
    private final ApiFixture fixture;

    OutdatedRulesTest(TestDatabase database) {
        this.database = database;
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Carillon client() {
        return fixture.client(builder -> builder.handle(JOB, (text, run) -> {}));
    }

    @Test
    void unreadable_rows_in_each_batch_do_not_end_the_round() {
        database.execute(FILL);
        database.execute("UPDATE carillon.schedule SET zone = 'Mars/Olympus' WHERE substr(name, 2)::int % 500 = 7");

        client().runDue(BUDGET);

        assertThat(fixture.query(OUTDATED).number()).isEqualTo(14);
        assertThat(fixture.query(OUTDATED + " AND zone = 'Mars/Olympus'").number())
                .isEqualTo(14);
    }

    @Test
    void batches_of_unreadable_rows_only_do_not_hide_the_rows_behind_them() {
        database.execute(FILL);
        database.execute("UPDATE carillon.schedule SET zone = 'Mars/Olympus' WHERE substr(name, 2)::int <= 2500");

        client().runDue(BUDGET);

        assertThat(fixture.query(OUTDATED).number()).isEqualTo(2500);
    }

    @Test
    void rows_that_the_database_refuses_in_each_batch_do_not_end_the_round() {
        database.execute(FILL);
        database.execute("""
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  IF substr(OLD.name, 2)::int % 500 = 7 THEN RAISE EXCEPTION 'refused' USING ERRCODE = '23505'; END IF;
                  RETURN NEW;
                END $$;
                CREATE TRIGGER refuse BEFORE UPDATE ON carillon.schedule FOR EACH ROW EXECUTE FUNCTION refuse()""");
        try {
            client().runDue(BUDGET);
        } finally {
            database.execute("DROP TRIGGER refuse ON carillon.schedule; DROP FUNCTION refuse()");
        }

        assertThat(fixture.query(OUTDATED).number()).isEqualTo(14);
    }

    @Test
    void locked_rows_in_each_batch_do_not_end_the_round_and_are_replanned_later() throws SQLException {
        database.execute(FILL);
        // The instants up to the cursor of these have no ticks, so that they are replanned one by one.
        database.execute("UPDATE carillon.schedule SET cursor = cursor + interval '2 days'"
                + " WHERE substr(name, 2)::int % 1000 = 7");
        Carillon carillon = client();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.schedule WHERE substr(name, 2)::int % 500 = 7 FOR UPDATE");

            carillon.runDue(BUDGET);

            assertThat(fixture.query(OUTDATED).number()).isEqualTo(14);
            connection.rollback();
            connection.setAutoCommit(true);
        }

        carillon.runDue(BUDGET);

        assertThat(fixture.query(OUTDATED).number()).isZero();
    }
}
